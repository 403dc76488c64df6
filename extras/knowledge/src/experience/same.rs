//! Comparison of experiences: two are equal if they have the same request apart from numbers and quoted values,
//! in the same applications.

use super::model::{Experience, ExperienceKind};

/// Properties shared by experiences that replace each other.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Same {
    request: String,
    applications: Vec<String>,
    /// Kind of the experience: a demonstration of the user is never replaced by the work of a session.
    kind: ExperienceKind,
}

impl Same {
    pub(crate) fn of(experience: &Experience) -> Self {
        let mut applications: Vec<String> =
            experience.applications.iter().map(|name| name.to_lowercase()).collect();
        applications.sort_unstable();
        applications.dedup();
        Self { request: shape(&experience.request), applications, kind: experience.kind }
    }
}

/// Signs that begin a quoted value, and those that end it.
const QUOTES: [(char, char); 7] =
    [('"', '"'), ('“', '”'), ('„', '“'), ('«', '»'), ('‘', '’'), ('\'', '\''), ('`', '`')];

/// A request in lower case with `#` for each number and `""` for each quoted value.
fn shape(request: &str) -> String {
    let text: Vec<char> = request.to_lowercase().chars().collect();
    let mut shape = String::new();
    let mut at = 0;
    while let Some(&c) = text.get(at) {
        let before = at.checked_sub(1).and_then(|at| text.get(at)).copied();
        let rest = text.get(at + 1..).unwrap_or_default();
        if let Some(length) = quoted(c, before, rest) {
            shape.push_str("\"\"");
            at += length + 2;
        } else if c.is_ascii_digit() {
            let is_number = |c: &char| c.is_ascii_digit() || ['.', ',', ':', '/', '%'].contains(c);
            let length = rest.iter().take_while(|c| is_number(c)).count();
            shape.push('#');
            at += length + 1;
        } else {
            shape.push(if c.is_alphanumeric() { c } else { ' ' });
            at += 1;
        }
    }
    shape.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The length of the value behind a quote; `None` if it is none, such as an apostrophe.
fn quoted(quote: char, before: Option<char>, rest: &[char]) -> Option<usize> {
    let (_, end) = QUOTES.iter().find(|(begin, _)| *begin == quote)?;
    if before.is_some_and(char::is_alphanumeric) {
        return None;
    }
    let is_end = |at: &usize| {
        let after = rest.get(at + 1).copied();
        rest.get(*at) == Some(end) && !(quote == '\'' && after.is_some_and(char::is_alphanumeric))
    };
    (0..rest.len()).find(is_end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_quoted_values_do_not_count() {
        let same = |one: &str, other: &str| assert_eq!(shape(one), shape(other));
        same("Set A1 to 5 and save", "set a2 to 1,234.50 and  save.");
        same("Write \"hello world\" into the cell", "Write “x” into the cell");
        same("Rename it to 'a b' now", "rename it to `c` now");
        let different = |one: &str, other: &str| assert_ne!(shape(one), shape(other));
        different("sort by name", "sort by size");
        different("don't save", "don't print");
        different("write hello into it", "write bye into it");
        assert_eq!(shape("the user's file's name"), "the user s file s name");
        assert_eq!(shape("open \"unfinished"), "open unfinished");
        assert_eq!(shape(""), "");
    }
}
