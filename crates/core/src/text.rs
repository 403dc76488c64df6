//! Small helpers for text that is shown to models and people.

/// The first `max` characters of `text`, with `…` in place of the rest.
pub fn clip(text: &str, max: usize) -> String {
    match text.char_indices().nth(max) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
    }
}

/// About how many tokens a text is for a model: one for four ASCII characters, one for each other character. Real
/// tokenizers differ by kind of text and model; as a measure of one text against another, and for limits, this is
/// close enough and the same everywhere.
pub fn tokens(text: &str) -> usize {
    let ascii = text.bytes().filter(u8::is_ascii).count();
    let other = text.chars().filter(|c| !c.is_ascii()).count();
    ascii.div_ceil(4) + other
}

/// `text` as one line: line breaks become `⏎`, other control characters spaces.
pub fn one_line(text: &str) -> String {
    text.chars()
        .map(|c| match c {
            '\n' => '⏎',
            c if c.is_control() => ' ',
            c => c,
        })
        .collect()
}

/// Marks text that came from a screen, a document or a tool, so that a model can tell it from instructions.
/// The mark cannot be closed from inside.
pub fn untrusted(source: &str, text: &str) -> String {
    let inside =
        text.replace("</untrusted", "<\u{200b}/untrusted").replace("<untrusted", "<\u{200b}untrusted");
    format!("<untrusted source=\"{source}\">\n{inside}\n</untrusted>")
}
