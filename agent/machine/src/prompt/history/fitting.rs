//! Lists that are bounded in tokens: the newest entries whole, older ones in brief, and how many are missing.

use std::collections::BTreeSet;

use deskhand_ui::{ids::ReadingId, text::tokens};

/// An entry of a list.
#[derive(Debug, Clone, Default)]
pub(in crate::prompt) struct HistoryEntry {
    /// The entry.
    pub(in crate::prompt) text: String,
    /// The same in brief, for when it does not fit; empty if there is nothing to say.
    pub(in crate::prompt) brief: String,
    /// Readings that the text contains in full.
    pub(in crate::prompt) readings: Vec<ReadingId>,
}

/// The readings that a prompt tells in full.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(in crate::prompt) struct InFull(BTreeSet<ReadingId>);

impl InFull {
    /// Notes what a prompt tells.
    pub(in crate::prompt) fn add(&mut self, readings: impl IntoIterator<Item = ReadingId>) {
        self.0.extend(readings);
    }

    /// Returns `true` if the prompt contains this reading.
    pub(in crate::prompt) fn has(&self, reading: ReadingId) -> bool {
        self.0.contains(&reading)
    }
}

/// Returns how many of the last `entries` fit.
fn fit<'a>(entries: impl DoubleEndedIterator<Item = &'a str>, tokens_max: usize) -> usize {
    let mut left = tokens_max;
    let fits = |entry: &&str| left.checked_sub(tokens(entry) + 1).map(|rest| left = rest).is_some();
    entries.rev().take_while(fits).count()
}

/// The last of `entries` that fit.
pub(in crate::prompt) fn fitting(entries: &[String], tokens_max: usize) -> String {
    let count = fit(entries.iter().map(String::as_str), tokens_max);
    let shown = entries.get(entries.len() - count..).unwrap_or_default();
    let text = shown.join("\n");
    if count < entries.len() { format!("{}\n{text}", missing(entries.len() - count)) } else { text }
}

/// The last of `entries` that fit; those before them in brief, in a quarter more. What is told whole is noted.
pub(in crate::prompt) fn fitting_entries(
    entries: &[HistoryEntry],
    before: u32,
    tokens_max: usize,
    in_full: &mut InFull,
) -> String {
    let count = fit(entries.iter().map(|entry| entry.text.as_str()), tokens_max);
    let (older, whole) = entries.split_at(entries.len() - count);
    let briefs = fit(older.iter().map(|entry| entry.brief.as_str()), tokens_max / 4);
    let (left_out, older) = older.split_at(older.len() - briefs);
    let left_out = left_out.len().saturating_add(usize::try_from(before).unwrap_or(usize::MAX));
    in_full.add(whole.iter().flat_map(|entry| entry.readings.iter().copied()));
    let mut lines = Vec::new();
    if left_out > 0 {
        lines.push(missing(left_out));
    }
    lines.extend(older.iter().map(|entry| entry.brief.clone()).filter(|brief| !brief.is_empty()));
    lines.extend(whole.iter().map(|entry| entry.text.clone()));
    lines.join("\n")
}

/// Formats the notice about omitted entries.
fn missing(count: usize) -> String {
    format!("({count} earlier ones are not listed)")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(number: u32, words: usize) -> HistoryEntry {
        HistoryEntry {
            text: format!("{number} {}", "word ".repeat(words)),
            brief: format!("{number} in brief"),
            readings: vec![ReadingId(number)],
        }
    }

    #[test]
    fn what_does_not_fit_is_told_in_brief_and_then_counted() {
        let entries: Vec<HistoryEntry> = (1..=40).map(|number| entry(number, 40)).collect();
        let mut in_full = InFull::default();
        let text = fitting_entries(&entries, 3, 200, &mut in_full);
        let whole: Vec<&str> = text.lines().filter(|line| line.contains("word")).collect();
        assert!(whole.first().unwrap().starts_with("38 ") && whole.len() == 3, "{text}");
        let briefs: Vec<&str> = text.lines().filter(|line| line.ends_with("in brief")).collect();
        assert!(briefs.last() == Some(&"37 in brief") && briefs.len() > 5, "{text}");
        let missing = 40 + 3 - whole.len() - briefs.len();
        assert!(text.starts_with(&format!("({missing} earlier ones are not listed)")), "{text}");
        assert!(in_full.has(ReadingId(38)) && !in_full.has(ReadingId(37)));
    }

    #[test]
    fn what_fits_is_told_whole() {
        let mut in_full = InFull::default();
        let text = fitting_entries(&[entry(1, 3), entry(2, 3)], 0, 100, &mut in_full);
        assert_eq!(text, "1 word word word \n2 word word word ");
        assert_eq!(fitting(&["a".to_owned(), "b".to_owned()], 2), "(1 earlier ones are not listed)\nb");
    }
}
