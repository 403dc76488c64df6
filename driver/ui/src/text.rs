//! Text helpers for prompts and messages.

use std::{error::Error, fmt::Write as _};

/// The first `max` characters of `text`; a cut is marked with `…`.
pub fn clip(text: &str, max: usize) -> String {
    match text.char_indices().nth(max) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
    }
}

/// `text` with each run of white space, line breaks included, as one space, and none at its ends.
pub fn collapse_whitespace(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The first `max` characters of `text` as they are quoted in a message: [white space collapsed](collapse_whitespace),
/// [a cut marked](clip).
pub fn excerpt(text: &str, max: usize) -> String {
    clip(&collapse_whitespace(text), max)
}

/// The message of an error, followed by those of its sources: `save the picture: permission denied`.
pub fn error_chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(error) = source {
        text = format!("{text}: {error}");
        source = error.source();
    }
    text
}

/// An estimate of the number of tokens: one per four ASCII characters, one per other character. Tokenizers differ by
/// model and kind of text; for limits and comparisons this is close enough and deterministic.
pub fn tokens(text: &str) -> usize {
    let ascii = text.bytes().filter(u8::is_ascii).count();
    let other = text.chars().filter(|c| !c.is_ascii()).count();
    ascii.div_ceil(4) + other
}

/// `text` on one line: line breaks become `⏎`, other control characters spaces.
pub fn one_line(text: &str) -> String {
    text.chars()
        .map(|c| match c {
            '\n' => '⏎',
            c if c.is_control() => ' ',
            c => c,
        })
        .collect()
}

/// Returns `true` if a character of a text from outside could hide, move or reorder what stands around it: C0 and C1 controls, marks,
/// embeddings, overrides and isolates of the direction of writing (Unicode Standard Annex 9), separators of lines and paragraphs,
/// and what [shows nothing](shows_nothing).
pub fn is_forbidden_outside(c: char) -> bool {
    c.is_control()
        || shows_nothing(c)
        || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Returns `true` if a character shows nothing and spells nothing: zero-width spaces, invisible operators, and tags, in which a text can be
/// hidden. Joiners and variation selectors are not among them: words of some languages and many pictographs need them.
pub fn shows_nothing(c: char) -> bool {
    matches!(
        c,
        '\u{200b}' | '\u{2060}'..='\u{2065}' | '\u{206a}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e00ff}'
    )
}

/// The text with each character that [could hide, move or reorder others](is_forbidden_outside) as an escape; line breaks and
/// tabs stay.
pub fn escape_hidden(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' | '\t' => safe.push(c),
            c if is_forbidden_outside(c) => safe.extend(c.escape_unicode()),
            c => safe.push(c),
        }
    }
    safe
}

/// JSON in which each character of a text that [could hide, move or reorder others](is_forbidden_outside) is an escape, so that it
/// has the same value and can be shown; `serde_json` escapes C0 controls only. Line breaks between values stay.
pub fn escape_hidden_json(json: &str) -> String {
    let mut safe = String::with_capacity(json.len());
    for c in json.chars() {
        if c != '\n' && is_forbidden_outside(c) {
            for unit in c.encode_utf16(&mut [0; 2]) {
                let _ = write!(safe, "\\u{unit:04x}");
            }
        } else {
            safe.push(c);
        }
    }
    safe
}

/// Wraps text that came from a screen, a document or a tool in marks, so that a model can tell it from instructions.
/// The text cannot close the mark.
pub fn untrusted(source: &str, text: &str) -> String {
    let inside =
        text.replace("</untrusted", "<\u{200b}/untrusted").replace("<untrusted", "<\u{200b}untrusted");
    format!("<untrusted source=\"{source}\">\n{inside}\n</untrusted>")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn excerpts_are_one_line_and_mark_a_cut() {
        let check =
            |text: &str, max: usize, expected: &str| assert_eq!(excerpt(text, max), expected, "{text:?}");
        check(" two\n\t words ", 9, "two words");
        check("two words", 8, "two word…");
        check("für Ärzte", 5, "für Ä…");
        check(" \n", 5, "");
    }

    #[test]
    fn what_hides_or_reorders_text_is_shown() {
        assert_eq!(
            escape_hidden("a\u{1b}[2K\u{202e}b\r\u{2028}\u{9b}\u{e0066}"),
            "a\\u{1b}[2K\\u{202e}b\\u{d}\\u{2028}\\u{9b}\\u{e0066}"
        );
        // Joiners are a part of words and pictographs.
        let honest = "two\nlines\tשלום می\u{200c}خواهم 👩\u{200d}💻";
        assert_eq!(escape_hidden(honest), honest);
        for (what, text) in deskhand_testkit::forgeries::all() {
            assert_eq!(deskhand_testkit::forgeries::hidden_in(&escape_hidden(&text)), None, "{what}");
        }
    }

    #[test]
    fn escaped_json_has_the_same_value() {
        for (what, text) in deskhand_testkit::forgeries::all() {
            let json = escape_hidden_json(&serde_json::to_string(&text).unwrap());
            assert!(!json.chars().any(deskhand_testkit::forgeries::is_hidden), "{what}: {json}");
            assert_eq!(serde_json::from_str::<String>(&json).unwrap(), text, "{what}");
        }
    }

    #[test]
    fn a_chain_names_every_source() {
        #[derive(Debug, thiserror::Error)]
        #[error("{0}")]
        struct Step(&'static str, #[source] Option<Box<Step>>);
        let chain = Step("save", Some(Box::new(Step("open", Some(Box::new(Step("denied", None)))))));
        assert_eq!(error_chain(&chain), "save: open: denied");
        assert_eq!(error_chain(&Step("denied", None)), "denied");
    }
}
