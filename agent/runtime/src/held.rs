//! A session held by this process: its journal is folded to resume it.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::PathBuf,
};

use deskhand_machine::{
    outcome::{Outcome, OutcomeKind},
    prompt::PromptSet,
    record::{JournalEntry, JournalHeader, JournalRecord, SettingsChange},
    secret::secret_of,
    session::{ApplyError, Effect, Session, SessionConfig, SessionEvent, SubtaskStatus, TypedPassword},
};
use deskhand_secret::SecretValue;
use deskhand_ui::ids::{EffectId, ElementId, IdsSeen, SessionId};
use serde_json::Value;

use crate::{
    hidden::with_values,
    journal::{
        JournalError, JournalItem, JournalLines, JournalProblem, JournalWriter, SealProof, SessionFolder,
        Unproven, is_durable, records,
    },
    people::UserRequest,
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
    /// A record was written without the key.
    #[error("resume session {session}: record {seq} was forged: its seal does not match")]
    Forged {
        /// The session.
        session: String,
        /// The record.
        seq: u64,
    },
    /// The last records were removed.
    #[error("resume session {session}: {} missing at its end", records(*.from, *.to, "is", "are"))]
    Truncated {
        /// The session.
        session: String,
        /// The first missing record.
        from: u64,
        /// The last missing record.
        to: u64,
    },
    /// Nothing proves that the journal is as it was written.
    #[error("resume session {session}: its journal is consistent with itself, but not proven")]
    Unproven {
        /// The session.
        session: String,
        /// Why.
        #[source]
        why: Unproven,
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

/// Handling of a journal that is consistent with itself, but not [proven](Proof).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum UnsealedJournalPolicy {
    /// Refuse it: anybody could have written it.
    #[default]
    Refuse,
    /// Accept it as it is. What is appended seals it.
    Accept,
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
    /// The secrets that were typed, and into which elements.
    pub(crate) typed: BTreeMap<String, BTreeSet<ElementId>>,
    /// The passwords that were typed without a reference, as far as the session had them in clear.
    pub(crate) passwords: Vec<(TypedPassword, SecretValue)>,
    /// The files that windows showed when they were last seen.
    documents: Vec<PathBuf>,
    /// The request of the last round.
    request: Option<UserRequest>,
    header: JournalHeader,
    ids: IdsSeen,
    cut_off: Option<u64>,
}

impl HeldSession {
    /// Takes hold of a session by folding its journal line by line; each line is passed to `observer`. A truncated last line
    /// is removed from the file.
    ///
    /// # Errors
    /// [`HoldError`] if another process holds the session, its journal was modified, is not proven and `unsealed` refuses that,
    /// or cannot be resumed.
    pub fn take(
        folder: SessionFolder,
        unsealed: UnsealedJournalPolicy,
        observer: &mut dyn FnMut(&JournalEntry),
    ) -> Result<Self, HoldError> {
        let lock = folder.lock()?;
        let mut lines = JournalLines::open(&folder)?;
        let header = lines.header()?;
        let mut fold = HeldSessionFold::of(&folder, &header)?;
        let mut cut_off = None;
        // The pictures that may not be on the disk yet.
        let mut pictures = Vec::new();
        while let Some(read) = lines.next()? {
            match read {
                JournalItem::Line(line) => {
                    fold.line(&folder, &line)?;
                    observer(&line);
                    if is_durable(&line.record) {
                        pictures.clear();
                    }
                    pictures.extend(line.picture().map(|picture| picture.sha256.clone()));
                }
                JournalItem::Problem(problem) => cut_off = accept(&problem, &folder)?.or(cut_off),
            }
        }
        if let (SealProof::Consistent(why), UnsealedJournalPolicy::Refuse) = (lines.proof(), unsealed) {
            return Err(HoldError::Unproven { session: folder.name(), why });
        }
        let journal = JournalWriter::reopen(folder.clone(), lock, lines.end(), &pictures)?;
        let HeldSessionFold { session, in_force, story, typed, passwords, request } = fold;
        let (begun, ids) = (story.unanswered(), story.ids());
        let documents = story.documents().map(PathBuf::from).collect();
        let outcome = story.into_summary().outcome;
        Ok(Self {
            folder,
            journal,
            session,
            in_force,
            begun,
            outcome,
            typed,
            passwords,
            documents,
            request,
            header,
            ids,
            cut_off,
        })
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
    pub fn header(&self) -> &JournalHeader {
        &self.header
    }

    /// The current settings.
    pub fn in_force(&self) -> &InForce {
        &self.in_force
    }

    /// Returns `true` if it has ended, so that only a new request continues it.
    pub fn has_ended(&self) -> bool {
        self.session.has_ended()
    }

    /// Returns `true` if a round is unfinished.
    pub fn in_round(&self) -> bool {
        self.session.in_round()
    }

    /// Returns `true` if the round in progress is a workflow that asks no model.
    pub fn performs_without_model(&self) -> bool {
        self.session.performs_without_model()
    }

    /// The files that windows showed when they were last seen.
    pub fn documents(&self) -> &[PathBuf] {
        &self.documents
    }

    /// The request of the last round if that is over but did not finish, to go on with it in another round. Of a plan, the steps that
    /// are left.
    pub fn unfinished_request(&self) -> Option<UserRequest> {
        let finished = self.outcome.as_ref().is_none_or(|outcome| outcome.kind == OutcomeKind::Finished);
        let mut request = self.request.clone().filter(|_| !finished && !self.in_round())?;
        if let Some(plan) = &mut request.plan {
            let done = self.session.subtasks().iter().filter(|one| one.status == SubtaskStatus::Finished);
            plan.steps.drain(..done.count().min(plan.steps.len()));
        }
        request.plan = request.plan.filter(|plan| !plan.steps.is_empty());
        Some(request)
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

/// Accepts what a crash leaves behind, and nothing else; returns the record that was cut off, if that is the problem.
fn accept(problem: &JournalProblem, folder: &SessionFolder) -> Result<Option<u64>, HoldError> {
    let session = folder.name();
    match *problem {
        JournalProblem::CutOff { seq } => Ok(Some(seq)),
        JournalProblem::Lost { from, to } => {
            tracing::warn!(from, to, "the last records were lost when the machine restarted");
            Ok(None)
        }
        JournalProblem::Changed { seq } => Err(HoldError::Changed { session, seq }),
        JournalProblem::Forged { seq } => Err(HoldError::Forged { session, seq }),
        JournalProblem::Truncated { from, to } => Err(HoldError::Truncated { session, from, to }),
    }
}

/// The totals so far.
struct HeldSessionFold {
    session: Session,
    in_force: InForce,
    story: Story,
    typed: BTreeMap<String, BTreeSet<ElementId>>,
    passwords: Vec<(TypedPassword, SecretValue)>,
    request: Option<UserRequest>,
}

impl HeldSessionFold {
    fn of(folder: &SessionFolder, header: &JournalHeader) -> Result<Self, JournalError> {
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
            typed: BTreeMap::new(),
            passwords: Vec::new(),
            request: None,
        })
    }

    fn line(&mut self, folder: &SessionFolder, line: &JournalEntry) -> Result<(), HoldError> {
        self.story.read(line);
        match &line.record {
            JournalRecord::Header(_) => {}
            JournalRecord::Effect(record) => {
                if let Effect::Call { command } = &record.effect
                    && let Some((name, field)) = secret_of(command)
                {
                    self.typed.entry(name.to_owned()).or_default().insert(field);
                }
            }
            JournalRecord::Event(record) => {
                if let SessionEvent::Requested { text, plan } = &record.event {
                    self.request = Some(UserRequest { text: text.clone(), plan: plan.clone() });
                }
                self.passwords.extend(with_values(self.session.passwords_of(record)));
                self.session.apply(record).map_err(|source| HoldError::Fold {
                    session: folder.name(),
                    seq: line.seq,
                    source,
                })?;
            }
            JournalRecord::Changed(change) => {
                let SettingsChange { config, prompts, model, desktop, program: _, setup } =
                    change.as_ref().clone();
                self.session.change(config.clone(), prompts.clone());
                self.in_force = InForce { config, prompts, model, desktop, setup };
            }
        }
        Ok(())
    }
}
