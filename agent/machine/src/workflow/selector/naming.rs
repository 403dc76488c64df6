//! Names with blanks for what changes by itself: counters, dates, names of documents.

use std::fmt;

use serde::{Deserialize, Serialize};

use deskhand_ui::fold_name;

/// A name or title in which `#` stands for a number, date or time and `*` for any text. `\` takes the meaning from the next
/// character. Compared without case, mnemonics and a trailing `…` or `:`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct NamePattern(String);

enum NamePatternToken {
    Char(char),
    Number,
    Any,
}

impl NamePattern {
    /// The longest text that is compared, in characters.
    const CHARS_MAX: usize = 300;

    /// A pattern as a person writes it.
    pub fn new(pattern: impl Into<String>) -> Self {
        Self(pattern.into())
    }

    /// The pattern that only this name matches.
    pub fn literal(name: &str) -> Self {
        Self(escaped(name))
    }

    /// The name with blanks for counters in brackets, leading counts, times, dates and percentages.
    pub fn without_counters(name: &str) -> Self {
        let words: Vec<&str> = name.split_whitespace().collect();
        let blank = |(at, word): (usize, &&str)| {
            let is_count = at == 0 && words.len() > 1 && word.chars().all(|c| c.is_ascii_digit());
            if is_count || is_counter(word) { blanked(word) } else { escaped(word) }
        };
        Self(words.iter().enumerate().map(blank).collect::<Vec<_>>().join(" "))
    }

    /// The pattern of a window's title: without the name of its document, without what is quoted, and without counters.
    pub fn of_title(title: &str, application: &str, document: Option<&str>) -> Option<Self> {
        let title = title.trim().trim_start_matches(['*', '•', '●']).trim();
        if title.is_empty() {
            return None;
        }
        let dashes = [" - ", " — ", " – ", " | "];
        let cut = dashes.iter().filter_map(|dash| title.rfind(dash).map(|at| (at, *dash))).max();
        if let Some((at, dash)) = cut {
            let last = title.get(at + dash.len()..).unwrap_or_default();
            return Some(Self(format!("*{dash}{}", Self::without_counters(last).0)));
        }
        if fold_name(title) == fold_name(application) {
            return Some(Self::literal(title));
        }
        if let Some(document) = document.filter(|document| !document.is_empty() && title.contains(document)) {
            let (before, after) = title.split_once(document).unwrap_or_default();
            return Some(Self(format!("{}*{}", escaped(before), escaped(after))));
        }
        Some(Self(without_quotes(&Self::without_counters(title).0)))
    }

    /// The pattern as a person reads it.
    pub fn text(&self) -> &str {
        &self.0
    }

    /// Returns `true` if it has no blank, so that one name matches it.
    pub fn is_literal(&self) -> bool {
        self.parts().iter().all(|part| matches!(part, NamePatternToken::Char(_)))
    }

    /// The name, with each blank as the sign that stands for it.
    pub fn plain(&self) -> String {
        self.parts()
            .into_iter()
            .map(|part| match part {
                NamePatternToken::Char(c) => c,
                NamePatternToken::Number => '#',
                NamePatternToken::Any => '*',
            })
            .collect()
    }

    /// Returns `true` if a name matches.
    pub fn matches(&self, name: &str) -> bool {
        self.matches_folded(&fold_name(name))
    }

    /// Returns `true` if a name in the form of [`fold_name`] matches.
    pub(super) fn matches_folded(&self, name: &str) -> bool {
        let text: Vec<char> = name.chars().take(Self::CHARS_MAX).collect();
        let mut ends = vec![false; text.len() + 1];
        if let Some(start) = ends.first_mut() {
            *start = true;
        }
        for part in Self(fold_name(&self.0)).parts() {
            ends = step(&part, &ends, &text);
        }
        ends.last().copied().unwrap_or(false)
    }

    fn parts(&self) -> Vec<NamePatternToken> {
        let mut parts = Vec::new();
        let mut characters = self.0.chars().take(Self::CHARS_MAX);
        while let Some(c) = characters.next() {
            parts.push(match c {
                '\\' => NamePatternToken::Char(characters.next().unwrap_or('\\')),
                '#' => NamePatternToken::Number,
                '*' => NamePatternToken::Any,
                c => NamePatternToken::Char(c),
            });
        }
        parts
    }
}

impl fmt::Display for NamePattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Returns the positions where a part may end in the text, given those where it may start.
fn step(part: &NamePatternToken, starts: &[bool], text: &[char]) -> Vec<bool> {
    let mut ends = vec![false; starts.len()];
    for (start, _) in starts.iter().enumerate().filter(|(_, may)| **may) {
        let rest = text.get(start..).unwrap_or_default();
        let lengths: Vec<usize> = match part {
            NamePatternToken::Char(c) => {
                if rest.first() == Some(c) {
                    vec![1]
                } else {
                    Vec::new()
                }
            }
            NamePatternToken::Any => (0..=rest.len()).collect(),
            NamePatternToken::Number => {
                let run = rest.iter().take_while(|c| is_of_number(**c)).count();
                let digits = rest.iter().take(run).enumerate().filter(|(_, c)| c.is_ascii_digit());
                let starts_so = rest.first().is_some_and(char::is_ascii_digit);
                digits.filter(|_| starts_so).map(|(at, _)| at + 1).collect()
            }
        };
        for length in lengths {
            if let Some(end) = ends.get_mut(start + length) {
                *end = true;
            }
        }
    }
    ends
}

const fn is_of_number(c: char) -> bool {
    c.is_ascii_digit() || matches!(c, '.' | ',' | ':' | '/' | '-' | '%' | '\u{a0}' | '\u{202f}')
}

fn escaped(name: &str) -> String {
    let mut text = String::with_capacity(name.len());
    for c in name.chars() {
        if matches!(c, '*' | '#' | '\\') {
            text.push('\\');
        }
        text.push(c);
    }
    text
}

/// A number in brackets, a time, a date or a percentage.
fn is_counter(word: &str) -> bool {
    let inner = word.trim_matches(|c| matches!(c, '(' | ')' | '[' | ']'));
    let digits = inner.chars().filter(char::is_ascii_digit).count();
    let is_number = digits > 0 && inner.chars().all(is_of_number);
    is_number && (inner.len() < word.len() || digits < inner.chars().count())
}

/// A word with its number as one blank.
fn blanked(word: &str) -> String {
    let first = word.find(|c: char| c.is_ascii_digit()).unwrap_or(0);
    let end = word.rfind(|c: char| c.is_ascii_digit()).map_or(word.len(), |at| at + 1);
    format!(
        "{}#{}",
        escaped(word.get(..first).unwrap_or_default()),
        escaped(word.get(end..).unwrap_or_default())
    )
}

/// A pattern with a blank for each text in quotation marks.
fn without_quotes(pattern: &str) -> String {
    let mut text = pattern.to_owned();
    for (open, close) in [('“', '”'), ('„', '“'), ('«', '»'), ('"', '"'), ('‘', '’')] {
        let Some((before, rest)) = text.split_once(open) else { continue };
        let Some((_, after)) = rest.split_once(close) else { continue };
        text = format!("{before}{open}*{close}{after}");
    }
    text
}

/// Returns `true` if a name contains a value that changes by itself, and so identifies nothing.
pub(super) fn is_volatile(name: &str) -> bool {
    const LANDMARK_CHARS_MAX: usize = 60;
    name.chars().any(|c| c.is_ascii_digit()) || name.chars().count() > LANDMARK_CHARS_MAX
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_become_blanks_and_other_numbers_stay() {
        for (name, expected) in [
            ("Inbox (3)", "Inbox (#)"),
            ("12 unread messages", "# unread messages"),
            ("Heading 1", "Heading 1"),
            ("Updated 2024-05-01 at 12:30", "Updated # at #"),
            ("Zoom 100%", "Zoom #%"),
            ("Name *", "Name \\*"),
            ("#general", "\\#general"),
        ] {
            assert_eq!(NamePattern::without_counters(name).text(), expected);
            assert!(NamePattern::without_counters(name).matches(name), "{name}");
        }
        assert!(NamePattern::new("Inbox (#)").matches("inbox (1,204)"));
        assert!(!NamePattern::new("Inbox (#)").matches("Inbox (all)"));
        assert!(NamePattern::new("* - Editor").matches("a - b - Editor"));
        assert!(!NamePattern::literal("Name *").matches("Name of it"));
    }

    #[test]
    fn titles_lose_their_documents() {
        let title =
            |title: &str| NamePattern::of_title(title, "Editor", Some("a.txt")).map(|one| one.to_string());
        assert_eq!(title("*notes.txt - Mousepad").as_deref(), Some("* - Mousepad"));
        assert_eq!(title("Editor").as_deref(), Some("Editor"));
        assert_eq!(title("Close a.txt?").as_deref(), Some("Close *?"));
        assert_eq!(
            title("Save changes to “x y” before closing?").as_deref(),
            Some("Save changes to “*” before closing?")
        );
        assert_eq!(title(" "), None);
    }
}
