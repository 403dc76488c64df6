//! Text helpers for prompts and messages.

/// The first `max` characters of `text`; a cut is marked with `…`.
pub fn clip(text: &str, max: usize) -> String {
    match text.char_indices().nth(max) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
    }
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

/// Wraps text that came from a screen, a document or a tool in marks, so that a model can tell it from instructions.
/// The text cannot close the mark.
pub fn untrusted(source: &str, text: &str) -> String {
    let inside =
        text.replace("</untrusted", "<\u{200b}/untrusted").replace("<untrusted", "<\u{200b}untrusted");
    format!("<untrusted source=\"{source}\">\n{inside}\n</untrusted>")
}
