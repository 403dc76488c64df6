//! A session that this process holds: its journal folded, so that it can go on where it was.

use deskhand_core::{
    ids::{EffectId, SessionId},
    outcome::Outcome,
    prompt::PromptSet,
    record::{Change, Header, Line, Record},
    session::{ApplyError, Session, SessionConfig},
};
use serde_json::Value;

use crate::{
    journal::{JournalError, JournalProblem, JournalWriter, Lines, Read, SessionFolder},
    story::{IdsSeen, Story},
};

/// A session that cannot be gone on with.
#[derive(Debug, thiserror::Error)]
pub enum HoldError {
    /// Its journal cannot be read, or another process holds it.
    #[error("read the journal")]
    Journal(#[from] JournalError),
    /// A record is not as it was written; nothing is built on it.
    #[error("go on with session {session}: record {seq} was changed after it was written")]
    Changed {
        /// The session.
        session: String,
        /// The record.
        seq: u64,
    },
    /// The machine wanted something else at that point than what the journal says.
    #[error("go on with session {session}: record {seq} does not fit what this program would do there")]
    Fold {
        /// The session.
        session: String,
        /// The record.
        seq: u64,
        /// What does not fit.
        #[source]
        source: ApplyError,
    },
}

/// What a session runs with: what its header says, or the last change after it.
#[derive(Debug, Clone, PartialEq)]
pub struct InForce {
    /// The configuration.
    pub config: SessionConfig,
    /// The prompts.
    pub prompts: PromptSet,
    /// The model, as it is shown to people.
    pub model: String,
    /// The desktop, as it is shown to people.
    pub desktop: String,
    /// What the program that wrote it kept for itself.
    pub setup: Value,
}

/// A session that this process holds; no other one can write to it.
#[derive(Debug)]
pub struct HeldSession {
    pub(crate) folder: SessionFolder,
    pub(crate) journal: JournalWriter,
    pub(crate) session: Session,
    pub(crate) in_force: InForce,
    pub(crate) begun: Option<EffectId>,
    pub(crate) outcome: Option<Outcome>,
    header: Header,
    ids: IdsSeen,
    cut_off: Option<u64>,
}

impl HeldSession {
    /// Takes a session: folds its journal line by line. `observer` is given every line. A last line that was cut off
    /// by a crash is removed from the file.
    ///
    /// # Errors
    /// [`HoldError`] when another process holds the session, or its journal cannot be built on.
    pub fn take(folder: SessionFolder, observer: &mut dyn FnMut(&Line)) -> Result<Self, HoldError> {
        let lock = folder.lock()?;
        let mut lines = Lines::open(&folder.journal_path())?;
        let header = lines.header()?;
        let mut fold = Fold::of(&folder, &header)?;
        let mut cut_off = None;
        while let Some(read) = lines.next()? {
            match read {
                Read::Line(line) => {
                    fold.line(&folder, &line)?;
                    observer(&line);
                }
                Read::Problem(JournalProblem::CutOff { seq }) => cut_off = Some(seq),
                Read::Problem(JournalProblem::Changed { seq }) => {
                    return Err(HoldError::Changed { session: folder.name(), seq });
                }
            }
        }
        let journal =
            JournalWriter::reopen(folder.journal_path(), lock, lines.whole(), lines.last_hash().to_owned())?;
        let Fold { session, in_force, story } = fold;
        let (begun, ids) = (story.unanswered(), story.ids());
        let outcome = story.into_summary().outcome;
        Ok(Self { folder, journal, session, in_force, begun, outcome, header, ids, cut_off })
    }

    /// Its id.
    pub fn id(&self) -> SessionId {
        self.header.session.clone()
    }

    /// Its folder.
    pub fn folder(&self) -> &SessionFolder {
        &self.folder
    }

    /// The header of its journal.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// What it runs with.
    pub fn in_force(&self) -> &InForce {
        &self.in_force
    }

    /// Whether it came to its end, so that only another request makes it go on.
    pub fn has_ended(&self) -> bool {
        self.session.has_ended()
    }

    /// Whether a request is not carried out to its end.
    pub fn in_round(&self) -> bool {
        self.session.in_round()
    }

    /// How many records there are.
    pub fn records(&self) -> u64 {
        self.journal.len()
    }

    /// The record that was removed because it had been cut off by a crash.
    pub fn cut_off(&self) -> Option<u64> {
        self.cut_off
    }

    /// The ids that it gave.
    pub fn ids(&self) -> IdsSeen {
        self.ids
    }
}

/// What the lines so far come to.
struct Fold {
    session: Session,
    in_force: InForce,
    story: Story,
}

impl Fold {
    fn of(folder: &SessionFolder, header: &Header) -> Result<Self, JournalError> {
        let prompts = folder.prompts(&header.prompts_sha256)?;
        Ok(Self {
            session: Session::new(header.config.clone(), prompts.clone()),
            in_force: InForce {
                config: header.config.clone(),
                prompts,
                model: header.model.clone(),
                desktop: header.desktop.clone(),
                setup: header.setup.clone(),
            },
            story: Story::default(),
        })
    }

    fn line(&mut self, folder: &SessionFolder, line: &Line) -> Result<(), HoldError> {
        self.story.read(line);
        match &line.record {
            Record::Header(_) | Record::Effect(_) => {}
            Record::Event(record) => {
                self.session.apply(record).map_err(|source| HoldError::Fold {
                    session: folder.name(),
                    seq: line.seq,
                    source,
                })?;
            }
            Record::Changed(change) => {
                let Change { config, prompts, model, desktop, program: _, setup } = change.as_ref().clone();
                self.session.change(config.clone(), prompts.clone());
                self.in_force = InForce { config, prompts, model, desktop, setup };
            }
        }
        Ok(())
    }
}
