//! What can go wrong with a session that is there, or should be.

use std::{io, path::PathBuf};

use deskhand_core::model::ModelFailure;
use deskhand_runtime::{ForkError, HoldError, JournalError};

/// A session that cannot be found, read, resumed or forked.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    /// None is called so.
    #[error("there is no session `{name}` in {}", root.display())]
    Missing {
        /// What was asked for.
        name: String,
        /// The folder of the sessions.
        root: PathBuf,
        /// The id that was probably meant.
        nearest: Option<String>,
        /// Whether there is no session at all.
        is_empty: bool,
    },
    /// Several are called so.
    #[error("{} sessions are called `{name}`", matches.len())]
    Ambiguous {
        /// What was asked for.
        name: String,
        /// Their ids.
        matches: Vec<String>,
    },
    /// Its journal cannot be read.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// It cannot be resumed.
    #[error("{}", deskhand_core::text::error_chain(.error))]
    Hold {
        /// Its id.
        session: String,
        /// Why.
        error: HoldError,
    },
    /// Nothing of it was broken off, and there is no further request.
    #[error("session {session} {}: there is nothing to go on with", if *.has_ended { "has ended" } else { "waits for a request" })]
    NothingToResume {
        /// Its id.
        session: String,
        /// Whether it has ended.
        has_ended: bool,
    },
    /// It cannot be forked there.
    #[error("{}", deskhand_core::text::error_chain(.error))]
    Fork {
        /// Its id.
        session: String,
        /// Why.
        error: ForkError,
    },
    /// Nothing goes on after that record, and there is no further request.
    #[error("nothing is going on after record {record} of session {session}")]
    NothingAfter {
        /// What was asked for.
        session: String,
        /// The record.
        record: u64,
    },
    /// The script gave other replies than the journal holds.
    #[error("the script did not give the replies of this session: {0}")]
    Script(ModelFailure),
    /// The policy of a fork could not be read.
    #[error("failed to read the policy {}", path.display())]
    Policy {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The prompts of a fork could not be read.
    #[error("failed to read the prompts of {}", path.display())]
    Prompts {
        /// The folder.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// There is no prompt in the folder of a fork.
    #[error("there is no prompt in {}", path.display())]
    NoPrompts {
        /// The folder.
        path: PathBuf,
    },
    /// A prompt of a fork takes the place of none.
    #[error("there is no prompt `{name}`")]
    UnknownPrompt {
        /// Its name.
        name: String,
        /// The names of the prompts.
        known: Vec<String>,
    },
    /// The prompts do not fit together.
    #[error("failed to put the prompts together")]
    PromptSet(#[source] serde_json::Error),
}

impl SessionError {
    /// What to do about it.
    pub fn help(&self) -> Option<String> {
        Some(match self {
            Self::Missing { is_empty: true, .. } => {
                "there is none at all yet; `deskhand run` makes the first".to_owned()
            }
            Self::Missing { nearest: Some(id), .. } => {
                format!("did you mean {id}? `deskhand sessions` lists them")
            }
            Self::Missing { .. } => "`deskhand sessions` lists them; `last` is the newest".to_owned(),
            Self::Ambiguous { matches, .. } => format!("give more of the id: {}", matches.join(", ")),
            Self::Hold { session, error } => hold_help(session, error)?,
            Self::NothingToResume { .. } => "give it a request".to_owned(),
            Self::NothingAfter { .. } => "give the fork a request".to_owned(),
            Self::Fork { session, error } => fork_help(session, error),
            Self::Script(_) => "name the script that goes on from here".to_owned(),
            Self::Policy { source, .. } if source.is::<toml::de::Error>() => {
                "a rule is a section [[rules]] with `tool`, `application`, `role`, `label`, and `decision` (allow, ask \
                 or deny)"
                    .to_owned()
            }
            Self::NoPrompts { .. } => "a prompt is a file such as `host_system.md`".to_owned(),
            Self::UnknownPrompt { known, .. } => format!("the prompts are {}", known.join(", ")),
            Self::Journal(_) | Self::Policy { .. } | Self::Prompts { .. } | Self::PromptSet(_) => {
                return None;
            }
        })
    }
}

fn hold_help(session: &str, error: &HoldError) -> Option<String> {
    Some(match error {
        HoldError::Journal(JournalError::InUse { .. }) => {
            "wait until it ends, or stop it with Ctrl-C where it runs".to_owned()
        }
        HoldError::Changed { .. } => format!("`deskhand verify {session}` names all that was changed"),
        HoldError::Fold { seq, .. } => format!(
            "another version of Deskhand wrote it; go on with that one, or fork the session before that record: \
             `deskhand fork {session} --at {}`",
            seq.saturating_sub(1)
        ),
        HoldError::Journal(_) => return None,
    })
}

fn fork_help(session: &str, error: &ForkError) -> String {
    match error {
        ForkError::NoRecord { session, last, .. } => {
            format!("name one of them: `deskhand fork {session} --at {last}`")
        }
        ForkError::Between { record, .. } => format!(
            "fork before it, `--at {}`, or after what came of it, `--at {}`",
            record.saturating_sub(1),
            record + 1
        ),
        ForkError::Changed { session, .. } => {
            format!("`deskhand verify {session}` names all that was changed")
        }
        ForkError::Journal(_) | ForkError::Hold(_) => format!(
            "check that the folder of the sessions can be written to, and `deskhand verify {session}`"
        ),
    }
}
