//! Reads a journal on disk into its story.

use deskhand_machine::record::{JournalEntry, JournalHeader};

use super::{Chapter, JournalEnd, RunSummary, Story, StoryUpdate};
use crate::{
    journal::{JournalError, JournalItem, JournalLines, JournalProblem, SessionFolder},
    passwords::{hidden, veil_of},
};

/// Facts about a journal after reading it.
pub(crate) struct StorySummary {
    pub(crate) header: JournalHeader,
    pub(crate) problems: Vec<JournalProblem>,
    pub(crate) end: JournalEnd,
    pub(crate) summary: RunSummary,
}

/// Reads a journal line by line and passes its chapters on, with dots in place of passwords.
///
/// # Errors
/// If the journal cannot be read, and errors of `listen`.
pub(crate) fn tell<E: From<JournalError>>(
    folder: &SessionFolder,
    mut listen: impl FnMut(Chapter) -> Result<(), E>,
) -> Result<StorySummary, E> {
    let veil = veil_of(folder)?;
    let mut lines = JournalLines::open(folder)?;
    let header = lines.header()?;
    let mut story = Story::default();
    let mut problems = Vec::new();
    while let Some(read) = lines.next()? {
        match read {
            JournalItem::Problem(problem) => problems.push(problem),
            JournalItem::Line(line) => {
                let line = if veil.is_empty() { *line } else { hidden(*line, &veil) };
                for update in story.read(&line) {
                    match update {
                        StoryUpdate::Chapter(chapter) => listen(chapter)?,
                        StoryUpdate::Moment(_) => {}
                    }
                }
            }
        }
    }
    let summary = story.summary().clone();
    let (chapters, end) = story.end();
    for chapter in chapters {
        listen(chapter)?;
    }
    Ok(StorySummary { header, problems, end, summary })
}

impl RunSummary {
    /// The totals of some lines.
    pub fn of<'a>(lines: impl IntoIterator<Item = &'a JournalEntry>) -> Self {
        let mut story = Story::default();
        for line in lines {
            story.read(line);
        }
        story.into_summary()
    }
}
