//! A session held by this process: its journal is folded to resume it.

use deskhand_core::{
    ids::{EffectId, IdsSeen, SessionId},
    outcome::Outcome,
    prompt::PromptSet,
    record::{Change, Header, Line, Record},
    session::{ApplyError, Session, SessionConfig},
};
use serde_json::Value;

use crate::{
    journal::{JournalError, JournalProblem, JournalWriter, Lines, Read, SessionFolder},
    story::Story,
};

/// A session that cannot be resumed.
#[derive(Debug, thiserror::Error)]
pub enum HoldError {
    /// Its journal cannot be read, or another process holds it.
    #[error("read the journal")]
    Journal(#[from] JournalError),
    /// A record was modified.
    #[error("resume session {session}: record {seq} was modified")]
    Changed {
        /// The session.
        session: String,
        /// The record.
        seq: u64,
    },
    /// The replay of the journal differs from its records.
    #[error("resume session {session}: the replay differs at record {seq}")]
    Fold {
        /// The session.
        session: String,
        /// The record.
        seq: u64,
        /// The difference.
        #[source]
        source: ApplyError,
    },
}

/// The settings of a session: those of its header, or of the last change.
#[derive(Debug, Clone, PartialEq)]
pub struct InForce {
    /// The configuration.
    pub config: SessionConfig,
    /// The prompts.
    pub prompts: PromptSet,
    /// The display name of the model.
    pub model: String,
    /// The display name of the desktop.
    pub desktop: String,
    /// The setup data of the program that wrote it.
    pub setup: Value,
}

/// A session held by this process; no other process can write to it.
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
    /// Takes hold of a session by folding its journal line by line; each line is passed to `observer`. A truncated last line
    /// is removed from the file.
    ///
    /// # Errors
    /// [`HoldError`] if another process holds the session, or its journal cannot be resumed.
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

    /// The session id.
    pub fn id(&self) -> SessionId {
        self.header.session.clone()
    }

    /// The session folder.
    pub fn folder(&self) -> &SessionFolder {
        &self.folder
    }

    /// The journal's header.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// The current settings.
    pub fn in_force(&self) -> &InForce {
        &self.in_force
    }

    /// Whether it has ended, so that only a new request continues it.
    pub fn has_ended(&self) -> bool {
        self.session.has_ended()
    }

    /// Whether a round is unfinished.
    pub fn in_round(&self) -> bool {
        self.session.in_round()
    }

    /// The number of records.
    pub fn records(&self) -> u64 {
        self.journal.len()
    }

    /// The truncated record that was removed.
    pub fn cut_off(&self) -> Option<u64> {
        self.cut_off
    }

    /// The ids in use.
    pub fn ids(&self) -> IdsSeen {
        self.ids
    }
}

/// The totals so far.
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
