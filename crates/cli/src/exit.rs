//! How the process ends: exit codes, and errors as people read them.

use std::{error::Error, fmt, process::ExitCode};

use deskhand_core::outcome::OutcomeKind;
use deskhand_host::config::ConfigError;

use crate::output::{Line, Output, Stream, Tone};

/// The exit code of a command that could not do its work. Outcomes of a request have their own
/// ([`OutcomeKind::exit_code`]).
const FAILED: u8 = 1;
/// The exit code of wrong usage, as clap has it.
const USAGE: u8 = 2;

/// How a command ended that could do its work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// All is well.
    Success,
    /// The command worked, and what it found is not well: a check that failed, an effect that was not seen.
    Negative,
    /// A request came to its end.
    Outcome(OutcomeKind),
    /// The program that this process was to become could not be started.
    NotStarted,
}

impl Exit {
    /// The number.
    pub(crate) const fn code(self) -> u8 {
        match self {
            Self::Success => 0,
            Self::Negative => FAILED,
            Self::Outcome(kind) => kind.exit_code(),
            Self::NotStarted => deskhand_runtime::agents::shell::sandbox::NOT_STARTED,
        }
    }
}

/// The result of a command.
pub(crate) type CommandResult = Result<Exit, CliError>;

/// An error for the person who typed the command: what failed, why, and what to do next.
#[derive(Debug)]
pub(crate) struct CliError {
    code: u8,
    message: String,
    source: Option<Box<dyn Error + Send + Sync>>,
    help: Vec<String>,
}

impl CliError {
    /// Something failed; `message` says what.
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self { code: FAILED, message: message.into(), source: None, help: Vec::new() }
    }

    /// Something failed because of `source`; `operation` goes on after "failed to".
    pub(crate) fn failed_to(
        operation: impl fmt::Display,
        source: impl Into<Box<dyn Error + Send + Sync>>,
    ) -> Self {
        Self {
            code: FAILED,
            message: format!("failed to {operation}"),
            source: Some(source.into()),
            help: Vec::new(),
        }
    }

    /// An error whose message says it all (its causes are printed after it).
    pub(crate) fn from_error(source: &(dyn Error + 'static)) -> Self {
        let mut message = source.to_string();
        let mut cause = source.source();
        while let Some(error) = cause {
            message = format!("{message}: {error}");
            cause = error.source();
        }
        Self::new(message)
    }

    /// The command was called in a way that cannot work.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self { code: USAGE, ..Self::new(message) }
    }

    /// What to do next, in one text.
    pub(crate) fn help_text(&self) -> String {
        self.help.join("; ")
    }

    /// The error with the place that it comes from.
    #[must_use]
    pub(crate) fn in_place(mut self, place: &str) -> Self {
        self.message = format!("{place}: {}", self.message);
        self
    }

    /// The error with what to do next.
    #[must_use]
    pub(crate) fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help.push(help.into());
        self
    }
}

impl From<ConfigError> for CliError {
    fn from(error: ConfigError) -> Self {
        let help = error.help();
        Self { code: USAGE, ..Self::from_error(&error) }.with_help(help)
    }
}

impl fmt::Display for CliError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        let mut cause: Option<&dyn Error> = self.source.as_ref().map(|source| &**source as &dyn Error);
        while let Some(error) = cause {
            write!(f, ": {error}")?;
            cause = error.source();
        }
        Ok(())
    }
}

/// Prints an error, once, and gives the process its exit code.
pub(crate) fn end(result: CommandResult) -> ExitCode {
    match result {
        Ok(exit) => ExitCode::from(exit.code()),
        Err(error) => {
            let output = Output::to(Stream::Error);
            output.line(&Line::of(Tone::Bad, "error:").with(Tone::Plain, format!(" {error}")));
            for help in &error.help {
                output.line(&Line::of(Tone::Strong, "help:").with(Tone::Plain, format!(" {help}")));
            }
            ExitCode::from(error.code)
        }
    }
}
