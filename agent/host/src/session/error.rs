//! Session errors.

use std::{io, path::PathBuf};

use deskhand_machine::{model::ModelFailure, prompt::PromptError};
use deskhand_runtime::{ForkError, HoldError, JournalError, ReportError};

/// A session that cannot be found, read, resumed or forked.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    /// No session matches.
    #[error("no session `{name}` in {}", root.display())]
    Missing {
        /// The requested name.
        name: String,
        /// The folder of the sessions.
        root: PathBuf,
        /// The closest id.
        nearest: Option<String>,
        /// `true` if there are no sessions at all.
        is_empty: bool,
    },
    /// Several sessions match.
    #[error("{} sessions match `{name}`", matches.len())]
    Ambiguous {
        /// The requested name.
        name: String,
        /// Their ids.
        matches: Vec<String>,
    },
    /// Its journal cannot be read.
    #[error("failed to {}", deskhand_ui::text::error_chain(.0))]
    Journal(JournalError),
    /// Its report cannot be written.
    #[error("failed to write the report")]
    Report(#[source] ReportError),
    /// The session cannot be resumed.
    #[error("failed to {}", deskhand_ui::text::error_chain(.error))]
    Hold {
        /// Its id.
        session: String,
        /// The cause.
        error: HoldError,
    },
    /// Nothing was interrupted, and there is no further request.
    #[error("nothing to resume: session {session} {}", if *.has_ended { "has ended" } else { "is waiting for a request" })]
    NothingToResume {
        /// Its id.
        session: String,
        /// `true` if the session has ended.
        has_ended: bool,
    },
    /// Its desktop is not there any more.
    #[error("the desktop of session {session} is not kept")]
    NoDesktop {
        /// Its id.
        session: String,
    },
    /// The session cannot be forked at that record.
    #[error("failed to {}", deskhand_ui::text::error_chain(.error))]
    Fork {
        /// Its id.
        session: String,
        /// The cause.
        error: ForkError,
    },
    /// Nothing is in progress after that record, and there is no further request.
    #[error("nothing is in progress after record {record} of session {session}")]
    NothingAfter {
        /// The requested name.
        session: String,
        /// The record.
        record: u64,
    },
    /// The script differs from the replies in the journal.
    #[error("the script does not match the replies of this session: {0}")]
    Script(Box<ModelFailure>),
    /// Prompts could not be read.
    #[error("failed to read the prompts of {}", path.display())]
    Prompts {
        /// The file or folder.
        path: PathBuf,
        /// The cause.
        #[source]
        source: io::Error,
    },
    /// The prompts folder of a fork has no prompts.
    #[error("no prompts in {}", path.display())]
    NoPrompts {
        /// The folder.
        path: PathBuf,
    },
    /// A prompt of a fork has an unknown name.
    #[error("unknown prompt `{name}`")]
    UnknownPrompt {
        /// Its name.
        name: String,
        /// The names of the prompts.
        known: Vec<String>,
    },
    /// A prompt of the user cannot be used.
    #[error("the prompt {} cannot be used", path.display())]
    Prompt {
        /// The file.
        path: PathBuf,
        /// Problem with the prompt.
        #[source]
        error: PromptError,
    },
}

impl From<JournalError> for SessionError {
    fn from(error: JournalError) -> Self {
        Self::Journal(error)
    }
}

impl SessionError {
    /// Returns the suggested next step.
    pub fn help(&self) -> Option<String> {
        Some(match self {
            Self::Missing { is_empty: true, .. } => {
                "there are no sessions yet; `deskhand run` creates one".to_owned()
            }
            Self::Missing { nearest: Some(id), .. } => {
                format!("did you mean {id}? `deskhand sessions` lists all sessions")
            }
            Self::Missing { .. } => "`deskhand sessions` lists all sessions; `last` is the newest".to_owned(),
            Self::Ambiguous { matches, .. } => format!("use more of the id: {}", matches.join(", ")),
            Self::Hold { session, error } => hold_help(session, error)?,
            Self::NothingToResume { .. } => "add a request".to_owned(),
            Self::NoDesktop { session } => format!(
                "`deskhand desktop list` lists those that are; `deskhand resume {session} \"…\"` opens its documents again"
            ),
            Self::NothingAfter { .. } => "add a request".to_owned(),
            Self::Fork { session, error } => fork_help(session, error),
            Self::Script(_) => "use a script that continues from here".to_owned(),
            Self::Prompt { .. } => "fix the template, or leave it out to use that of Deskhand".to_owned(),
            Self::NoPrompts { .. } => "prompts are files such as `host_system.md`".to_owned(),
            Self::UnknownPrompt { known, .. } => format!("prompts: {}", known.join(", ")),
            Self::Report(ReportError::Write { .. }) => "name another output file".to_owned(),
            Self::Report(_) | Self::Journal(_) | Self::Prompts { .. } => return None,
        })
    }
}

const FORK_BEFORE: &str = "fork it at a record before that";
const UNPROVEN: &str = "accept the journal as it is only if nobody else could write to it";

fn lists(session: &str) -> String {
    format!("`deskhand verify {session}` lists everything that was modified")
}

fn hold_help(session: &str, error: &HoldError) -> Option<String> {
    Some(match error {
        HoldError::Journal(JournalError::InUse { .. }) => {
            "wait until it ends, or stop it with Ctrl-C in its terminal".to_owned()
        }
        HoldError::Changed { .. } | HoldError::Forged { .. } | HoldError::Truncated { .. } => {
            format!("{}; {FORK_BEFORE}", lists(session))
        }
        HoldError::Unproven { .. } => UNPROVEN.to_owned(),
        HoldError::Fold { .. } => {
            "another version of Deskhand wrote it; resume it with that version, or fork it before that record"
                .to_owned()
        }
        HoldError::Journal(_) => return None,
    })
}

fn fork_help(session: &str, error: &ForkError) -> String {
    match error {
        ForkError::NoRecord { last, .. } => {
            format!("choose a record from 1 to {last}")
        }
        ForkError::Between { record, .. } => {
            format!(
                "fork before the effect, at record {}, or after its event, at record {}",
                record.saturating_sub(1),
                record + 1
            )
        }
        ForkError::Changed { session, .. } | ForkError::Forged { session, .. } => {
            format!("{}; {FORK_BEFORE}", lists(session))
        }
        ForkError::Unproven { .. } => UNPROVEN.to_owned(),
        ForkError::Journal(_) | ForkError::Hold(_) => {
            format!("check that the sessions folder is writable, and run `deskhand verify {session}`")
        }
    }
}
