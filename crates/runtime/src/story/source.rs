//! Reads a journal on disk into its story.

use deskhand_core::record::Header;

use super::{Chapter, End, RunSummary, Story, Update};
use crate::journal::{JournalError, JournalProblem, Lines, Read, SessionFolder};

/// What is known of a journal after reading it.
pub(crate) struct Told {
    pub(crate) header: Header,
    pub(crate) problems: Vec<JournalProblem>,
    pub(crate) end: End,
    pub(crate) summary: RunSummary,
}

/// Reads a journal line by line and passes its chapters on.
///
/// # Errors
/// If the journal cannot be read, and errors of `listen`.
pub(crate) fn tell<E: From<JournalError>>(
    folder: &SessionFolder,
    mut listen: impl FnMut(Chapter) -> Result<(), E>,
) -> Result<Told, E> {
    let mut lines = Lines::open(folder)?;
    let header = lines.header()?;
    let mut story = Story::default();
    let mut problems = Vec::new();
    while let Some(read) = lines.next()? {
        match read {
            Read::Problem(problem) => problems.push(problem),
            Read::Line(line) => {
                for update in story.read(&line) {
                    match update {
                        Update::Chapter(chapter) => listen(chapter)?,
                        Update::Moment(_) => {}
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
    Ok(Told { header, problems, end, summary })
}
