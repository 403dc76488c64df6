//! Errors of schedules.

use std::{io, path::PathBuf};

use deskhand_runtime::JournalError;

/// A schedule that cannot be kept, found or run.
#[derive(Debug, thiserror::Error)]
pub enum ScheduleError {
    /// The name is none.
    #[error("`{name}` is no name of a schedule")]
    Name {
        /// The name.
        name: String,
    },
    /// There is one of this name already.
    #[error("there is already a schedule `{name}`")]
    Exists {
        /// The name.
        name: String,
    },
    /// There is none of this name.
    #[error("there is no schedule `{name}`")]
    Missing {
        /// The name.
        name: String,
    },
    /// Its time is none.
    #[error("{0}")]
    When(String),
    /// The schedule runs already, or another process just began the work that is due.
    #[error("the schedule `{name}` runs already")]
    Running {
        /// The name.
        name: String,
    },
    /// A file cannot be read or written.
    #[error("failed to {what} {}", path.display())]
    File {
        /// Attempted operation.
        what: &'static str,
        /// The file.
        path: PathBuf,
        /// The cause.
        #[source]
        source: io::Error,
    },
    /// A file cannot be sealed.
    #[error("failed to seal {}", path.display())]
    Seal {
        /// The file.
        path: PathBuf,
        /// The cause.
        #[source]
        source: JournalError,
    },
    /// A file is no schedule.
    #[error("{} is no schedule: {problem}", path.display())]
    Form {
        /// The file.
        path: PathBuf,
        /// The problem.
        problem: String,
    },
    /// The systemd user manager refused something.
    #[error("`systemctl --user {what}` failed: {problem}")]
    Manager {
        /// Command for `systemctl`.
        what: String,
        /// Error output of the command.
        problem: String,
    },
}

impl ScheduleError {
    /// Returns the suggested next step.
    pub fn help(&self) -> Option<String> {
        match self {
            Self::Name { .. } => {
                Some("use letters, digits, `-` and `_`, such as `morning-report`".to_owned())
            }
            Self::Exists { name } => Some(format!("`deskhand schedule remove {name}` removes it")),
            Self::Missing { .. } => Some("`deskhand schedule list` lists them".to_owned()),
            Self::When(_) => Some("docs/guides/schedules.md describes the forms".to_owned()),
            Self::Running { .. } => Some("`deskhand sessions` shows what runs".to_owned()),
            Self::File { .. } | Self::Seal { .. } | Self::Form { .. } | Self::Manager { .. } => None,
        }
    }

    /// Returns `true` if the caller asked for something impossible.
    pub const fn is_usage(&self) -> bool {
        matches!(self, Self::Name { .. } | Self::Exists { .. } | Self::Missing { .. } | Self::When(_))
    }
}
