//! A minimal lexer that separates Rust code from comments and strings.

/// Blanks out comments and string contents, keeping line breaks.
pub(super) fn without_comments_and_strings(text: &str) -> String {
    let mut scanner = Scanner { rest: text, previous: ' ', blanked: String::with_capacity(text.len()) };
    while !scanner.rest.is_empty() {
        scanner.advance();
    }
    scanner.blanked
}

/// Scans Rust source for code, comments and strings.
struct Scanner<'a> {
    rest: &'a str,
    /// The last character of code.
    previous: char,
    blanked: String,
}

impl Scanner<'_> {
    fn advance(&mut self) {
        let rest = self.rest;
        if rest.starts_with("//") {
            self.blank(rest.find('\n').unwrap_or(rest.len()));
        } else if rest.starts_with("/*") {
            self.blank(block_comment_length(rest));
        } else if rest.starts_with('"') {
            self.blank(string_length(rest));
        } else if let Some(length) = raw_string_length(rest).filter(|_| !is_word(self.previous)) {
            self.blank(length);
        } else if rest.starts_with('\'') {
            self.blank(character_length(rest));
        } else if let Some(character) = rest.chars().next() {
            // The `b` of `br"…"` is not part of a preceding word.
            self.previous = if character == 'b' && !is_word(self.previous) { ' ' } else { character };
            self.blanked.push(character);
            self.rest = rest.get(character.len_utf8()..).unwrap_or_default();
        }
    }

    fn blank(&mut self, length: usize) {
        let (blank, rest) = self.rest.split_at_checked(length).unwrap_or((self.rest, ""));
        self.blanked.extend(blank.chars().map(|character| if character == '\n' { '\n' } else { ' ' }));
        self.previous = ' ';
        self.rest = rest;
    }
}

pub(super) fn is_word(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

fn block_comment_length(text: &str) -> usize {
    let mut depth = 0_usize;
    let mut position = 0;
    while let Some(rest) = text.get(position..).filter(|rest| !rest.is_empty()) {
        if rest.starts_with("/*") {
            depth += 1;
            position += 2;
        } else if rest.starts_with("*/") {
            depth = depth.saturating_sub(1);
            position += 2;
            if depth == 0 {
                return position;
            }
        } else {
            position += rest.chars().next().map_or(1, char::len_utf8);
        }
    }
    text.len()
}

fn string_length(text: &str) -> usize {
    let mut escaped = false;
    for (position, character) in text.char_indices().skip(1) {
        match character {
            '"' if !escaped => return position + 1,
            '\\' => escaped = !escaped,
            _ => escaped = false,
        }
    }
    text.len()
}

fn raw_string_length(text: &str) -> Option<usize> {
    let after = text.strip_prefix('r')?;
    let hashes = after.len() - after.trim_start_matches('#').len();
    let body = after.get(hashes..)?.strip_prefix('"')?;
    let end = format!("\"{}", "#".repeat(hashes));
    let length = body.find(&end).map_or(body.len(), |position| position + end.len());
    Some(1 + hashes + 1 + length)
}

/// The length of a character literal, or 1 for the tick of a lifetime.
fn character_length(text: &str) -> usize {
    let mut characters = text.char_indices().skip(1);
    match (characters.next(), characters.next()) {
        (Some((_, '\\')), Some((escape, _))) => text
            .get(escape + 1..)
            .and_then(|rest| rest.find('\''))
            .map_or(text.len(), |position| escape + 1 + position + 1),
        (Some(_), Some((end, '\''))) => end + 1,
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blanking_keeps_line_breaks() {
        let check = |text: &str, expected: &str| assert_eq!(without_comments_and_strings(text), expected);
        check("a // b\nc", "a     \nc");
        check("\"a\nb\" c", "  \n   c");
        check("/* a\n b */c", "    \n     c");
        check("r\"a\\\"b", "     b");
        check("'x' 'a y", "     a y");
        check("\"ü\"z", "   z");
        check("\"open", "     ");
    }
}
