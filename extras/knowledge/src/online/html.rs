//! HTML without what a reader does not see: a page must not tell an agent what it does not show to people.
//!
//! What is hidden by a style sheet is not known here; only what the elements themselves say is.

use deskhand_ui::text::collapse_whitespace;
use html5gum::{DefaultEmitter, StartTag, Token, Tokenizer};

/// Elements whose content is no text.
const NO_TEXT: [&str; 6] = ["script", "style", "template", "svg", "object", "iframe"];
/// Elements without content.
const VOID: [&str; 14] = [
    "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track",
    "wbr",
];
/// Elements that end where the next one of them begins.
const ENDED_BY_THE_NEXT: [&str; 10] = ["p", "li", "dt", "dd", "tr", "td", "th", "option", "tbody", "thead"];
/// Declarations that hide an element, without white space.
const HIDING: [&str; 8] = [
    "display:none",
    "visibility:hidden",
    "visibility:collapse",
    "font-size:0",
    "opacity:0",
    "left:-",
    "top:-",
    "text-indent:-",
];
/// Attributes that are kept: what the text needs.
const KEPT: [&str; 3] = ["alt", "charset", "lang"];

/// Tokens of HTML.
fn tokens(html: &str) -> impl Iterator<Item = Token> {
    let mut emitter = DefaultEmitter::default();
    // Scripts and styles contain characters that would be tags elsewhere.
    emitter.naively_switch_states(true);
    Tokenizer::new_with_emitter(html, emitter).map(|token| {
        let Ok(token) = token;
        token
    })
}

/// The text of a snippet, on one line.
pub(super) fn plain(html: &str) -> String {
    let mut text = String::new();
    for token in tokens(html) {
        if let Token::String(part) = token {
            text.push_str(&String::from_utf8_lossy(&part));
        }
    }
    collapse_whitespace(&text)
}

/// A page without what is hidden: elements that say so, comments, scripts.
pub(super) fn visible(html: &str) -> String {
    let mut out = String::with_capacity(html.len());
    // The element whose content is skipped, and how often it is open.
    let mut hidden: Option<(String, usize)> = None;
    for token in tokens(html) {
        match token {
            Token::StartTag(tag) => {
                let name = String::from_utf8_lossy(&tag.name).into_owned();
                let is_empty = tag.self_closing || VOID.contains(&name.as_str());
                if let Some((skipped, depth)) = &mut hidden {
                    if *skipped != name || is_empty {
                        continue;
                    }
                    if !ENDED_BY_THE_NEXT.contains(&name.as_str()) {
                        *depth += 1;
                        continue;
                    }
                    hidden = None;
                }
                if NO_TEXT.contains(&name.as_str()) || is_hidden(&tag) {
                    if !is_empty {
                        hidden = Some((name, 1));
                    }
                } else {
                    write_tag(&mut out, &name, &tag);
                }
            }
            Token::EndTag(tag) => {
                let name = String::from_utf8_lossy(&tag.name);
                match &mut hidden {
                    Some((skipped, depth)) => {
                        *depth -= usize::from(*skipped == name);
                        if *depth == 0 {
                            hidden = None;
                        }
                    }
                    None => out.push_str(&format!("</{name}>")),
                }
            }
            Token::String(text) if hidden.is_none() => escape(&mut out, &String::from_utf8_lossy(&text)),
            Token::String(_) | Token::Comment(_) | Token::Doctype(_) | Token::Error(_) => {}
        }
    }
    out
}

fn is_hidden(tag: &StartTag<()>) -> bool {
    let attribute = |name: &str| {
        let value = tag.attributes.get(name.as_bytes());
        value.map(|value| String::from_utf8_lossy(value).to_lowercase())
    };
    let is = |name: &str, value: &str| attribute(name).is_some_and(|found| found.trim() == value);
    let style = attribute("style").unwrap_or_default();
    attribute("hidden").is_some()
        || is("aria-hidden", "true")
        || (&*tag.name == b"input" && is("type", "hidden"))
        || style.split(';').any(hides)
}

/// Returns `true` if a declaration of a style hides its element.
fn hides(declaration: &str) -> bool {
    let bare: String = declaration.chars().filter(|c| !c.is_whitespace()).collect();
    let Some(found) = HIDING.iter().find(|hiding| bare.starts_with(**hiding)) else { return false };
    let rest = bare.get(found.len()..).unwrap_or_default();
    if found.ends_with('-') {
        // `top: -2px` moves a little, `left: -9999px` away.
        return rest.chars().take_while(char::is_ascii_digit).count() >= 3;
    }
    // `opacity: 0.9` shows, and so does `font-size: 0.8em`; `0`, `0.0` and `0px` do not.
    !found.ends_with('0') || !rest.chars().any(|c| ('1'..='9').contains(&c))
}

fn write_tag(out: &mut String, name: &str, tag: &StartTag<()>) {
    out.push('<');
    out.push_str(name);
    for (key, value) in &tag.attributes {
        let key = String::from_utf8_lossy(key);
        if KEPT.contains(&&*key) {
            let mut escaped = String::new();
            escape(&mut escaped, &String::from_utf8_lossy(value));
            out.push_str(&format!(" {key}=\"{}\"", escaped.replace('"', "&quot;")));
        }
    }
    out.push('>');
}

fn escape(out: &mut String, text: &str) {
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            other => out.push(other),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hidden_elements_are_dropped_and_others_kept() {
        let check = |html: &str, expected: &str| assert_eq!(visible(html), expected, "{html}");
        check("<p>a &lt;b&gt; &amp; c</p>", "<p>a &lt;b&gt; &amp; c</p>");
        check("a<!-- x -->b<script>if (1 < 2) {'</p>'}</script>c<style>x</style>", "abc");
        check("<div hidden>x<div>y</div>z</div>a", "a");
        check("<span style='Display : none !important'>x</span>a", "a");
        check("<span style='color:red;visibility:hidden'>x</span>a", "a");
        check("<b style='opacity:0'>x</b><b style='opacity: 0.5'>a</b>", "<b>a</b>");
        check("<b style='font-size:0px'>x</b><b style='font-size:0.8em'>a</b>", "<b>a</b>");
        check("<b style='position:absolute;left:-9999px'>x</b><b style='top:-2px'>a</b>", "<b>a</b>");
        check("<i aria-hidden=true>x</i><input type=hidden value=x><input>a", "<input>a");
        check("<p hidden>x<p>a", "<p>a");
        check("<img hidden alt=x><img alt='a \"b\"' onerror=x>", "<img alt=\"a &quot;b&quot;\">");
        check("<div hidden>never closed", "");
    }

    #[test]
    fn snippets_become_plain() {
        assert_eq!(plain("use <strong>sort</strong> &amp;\n filter &#39;x&#39;"), "use sort & filter 'x'");
        assert_eq!(plain("a < b"), "a < b");
    }
}
