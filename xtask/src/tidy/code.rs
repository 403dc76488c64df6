//! Rules for Rust sources.

use super::files::{Finding, SourceFile};

/// A file that is longer is named by `cargo xtask tidy`.
pub(super) const LINES_AIM: usize = 400;
/// A file that is longer breaks the rule.
pub(super) const LINES_MAX: usize = 600;

/// Code that is not wanted anywhere, and what to do instead.
const UNWANTED: &[(&str, &str)] = &[
    ("#[allow(", "use #[expect(lint, reason = \"…\")]"),
    ("#![allow(", "use #[expect(lint, reason = \"…\")]"),
    ("#[ignore", "a test that does not run proves nothing: make it run or delete it"),
    ("todo!(", "finish it"),
    ("unimplemented!(", "finish it"),
    ("dbg!(", "use tracing"),
];

/// Waits for a fixed time; the product waits for events, with a bound.
const FIXED_WAITS: &[&str] = &[
    "thread::sleep",
    "time::sleep",
    "sleep(",
    "sleep_until(",
    "sleep_ms(",
    "time::interval",
    "interval_at(",
];

/// Product files that may wait for a fixed time all the same, with the reason.
const FIXED_WAITS_ALLOWED: &[(&str, &str)] = &[(
    "crates/model/src/openai/wait.rs",
    "an endpoint that says when to ask again sends no event when it is ready",
)];

/// Conditions on the operating system belong to the crate that speaks to it.
const SYSTEM_CONDITIONS: &[&str] = &["target_os", "target_family", "cfg(unix)", "cfg(windows)"];
const SYSTEM_CONDITIONS_HOME: &str = "crates/desktop-linux/src/lib.rs";
/// The tests of that crate choose their back ends likewise.
const SYSTEM_CONDITIONS_TESTS: &str = "crates/desktop-linux/tests/it/main.rs";

/// Checks one file.
pub(super) fn check(file: &SourceFile) -> Vec<Finding> {
    if !file.is_rust() {
        return Vec::new();
    }
    let code = without_comments_and_strings(file.text());
    [
        length(file),
        module_documentation(file),
        unwanted(file, &code),
        fixed_waits(file, &code),
        systems(file, &code),
    ]
    .concat()
}

fn length(file: &SourceFile) -> Vec<Finding> {
    let lines = file.text().lines().count();
    if lines <= LINES_MAX {
        return Vec::new();
    }
    vec![file.finding(LINES_MAX + 1, format!("{lines} lines; split it, {LINES_MAX} is the limit"))]
}

fn module_documentation(file: &SourceFile) -> Vec<Finding> {
    let first = file.text().lines().find(|line| !line.trim().is_empty() && !line.starts_with("#!["));
    if first.is_some_and(|line| line.starts_with("//!")) {
        return Vec::new();
    }
    vec![file.finding(1, "a module starts with `//!`: what it is for, what it must not do")]
}

fn unwanted(file: &SourceFile, code: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (number, line) in numbered(code) {
        for (pattern, advice) in UNWANTED {
            if line.contains(pattern) {
                findings.push(file.finding(number, format!("`{pattern}`: {advice}")));
            }
        }
    }
    findings
}

fn fixed_waits(file: &SourceFile, code: &str) -> Vec<Finding> {
    let product = file.path.starts_with("crates/") && file.path.contains("/src/") && !file.is_test();
    if !product || FIXED_WAITS_ALLOWED.iter().any(|(path, _)| *path == file.path) {
        return Vec::new();
    }
    numbered(code)
        .take_while(|(number, _)| *number < first_test_line(file.text()))
        .filter(|(_, line)| FIXED_WAITS.iter().any(|pattern| line.contains(pattern)))
        .map(|(number, _)| file.finding(number, "a fixed wait: wait for an event, with a bound"))
        .collect()
}

fn systems(file: &SourceFile, code: &str) -> Vec<Finding> {
    let home = [SYSTEM_CONDITIONS_HOME, SYSTEM_CONDITIONS_TESTS].contains(&file.path.as_str());
    if home || !file.path.starts_with("crates/") {
        return Vec::new();
    }
    numbered(code)
        .filter(|(_, line)| SYSTEM_CONDITIONS.iter().any(|pattern| line.contains(pattern)))
        .map(|(number, _)| {
            file.finding(
                number,
                format!("a condition on the operating system; {SYSTEM_CONDITIONS_HOME} is its place"),
            )
        })
        .collect()
}

fn numbered(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.lines().enumerate().map(|(index, line)| (index + 1, line))
}

/// The number of the line where the test module of a file begins; past its end where it has none.
pub(super) fn first_test_line(text: &str) -> usize {
    let lines: Vec<&str> = text.lines().collect();
    let is_start = |index: &usize| {
        let mut following = lines.iter().skip(*index).map(|line| line.trim());
        following.next() == Some("#[cfg(test)]")
            && following
                .find(|line| !line.starts_with("#["))
                .is_some_and(|line| line.starts_with("mod ") && line.ends_with('{'))
    };
    (0..lines.len()).find(is_start).map_or(usize::MAX, |index| index + 1)
}

/// The text with every comment and every content of a string blanked out, line by line as before.
fn without_comments_and_strings(text: &str) -> String {
    let mut scanner = Scanner { rest: text, previous: ' ', blanked: String::with_capacity(text.len()) };
    while !scanner.rest.is_empty() {
        scanner.advance();
    }
    scanner.blanked
}

/// Walks through Rust source; knows just enough of it to tell code from comments and strings.
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
            // The `b` of `br"…"` is not a word that the `r` belongs to.
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

fn is_word(character: char) -> bool {
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
#[path = "code_tests.rs"]
mod tests;
