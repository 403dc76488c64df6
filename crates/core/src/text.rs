//! Text helpers for prompts and messages.

use std::error::Error;

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

/// Whether a character of a text from outside could hide, move or reorder what stands around it: C0 and C1 controls, bidirectional
/// embeddings, overrides and isolates (Unicode Standard Annex 9), and the separators of lines and paragraphs.
pub fn is_forbidden_outside(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{2028}' | '\u{2029}' | '\u{feff}')
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
            escape_hidden("a\u{1b}[2K\u{202e}b\r\u{2028}\u{9b}"),
            "a\\u{1b}[2K\\u{202e}b\\u{d}\\u{2028}\\u{9b}"
        );
        assert_eq!(escape_hidden("two\nlines\tשלום"), "two\nlines\tשלום");
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
