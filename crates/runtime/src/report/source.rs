//! From a journal to its story.

use deskhand_core::record::{Header, Line};

use super::{
    ReportError,
    story::{Chapter, End, Teller},
};
use crate::journal::{JournalProblem, Lines, Read, SessionFolder};

/// What a listener is told.
pub(super) enum Told<'a> {
    /// A line, as it stands in the journal.
    Line(&'a Line),
    /// A part of the session that is whole with the lines so far.
    Chapter(Chapter),
}

/// What is known of a journal after it was read.
pub(super) struct Whole {
    pub(super) header: Header,
    pub(super) problems: Vec<JournalProblem>,
    pub(super) end: End,
}

/// Reads a journal and tells its story.
pub(super) fn tell(
    folder: &SessionFolder,
    mut listen: impl FnMut(Told<'_>) -> Result<(), ReportError>,
) -> Result<Whole, ReportError> {
    let mut lines = Lines::open(&folder.journal_path())?;
    let header = lines.header()?;
    let mut teller = Teller::new(&header);
    let mut problems = Vec::new();
    while let Some(read) = lines.next()? {
        match read {
            Read::Problem(problem) => problems.push(problem),
            Read::Line(line) => {
                listen(Told::Line(&line))?;
                for chapter in teller.read(*line) {
                    listen(Told::Chapter(chapter))?;
                }
            }
        }
    }
    let (chapters, end) = teller.end();
    for chapter in chapters {
        listen(Told::Chapter(chapter))?;
    }
    Ok(Whole { header, problems, end })
}
