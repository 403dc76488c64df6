//! How the process ends: exit codes, and errors as people read them.

use std::{error::Error, fmt, process::ExitCode};

use deskhand_core::{outcome::OutcomeKind, text::error_chain};
use deskhand_desktop::DesktopError;
use deskhand_host::{
    HostError, batch::BatchError, config::ConfigError, model::ModelError, session::SessionError,
    workspace::WorkspaceError,
};
use deskhand_model::{OpenAiSetupError, SecretSource};

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
        Self::new(error_chain(source))
    }

    /// The command was called in a way that cannot work.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self { code: USAGE, ..Self::new(message) }
    }

    /// What to do next, in one text.
    pub(crate) fn help_text(&self) -> String {
        self.help.join("; ")
    }

    /// The error with what to do next.
    #[must_use]
    pub(crate) fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help.push(help.into());
        self
    }
}

impl CliError {
    /// A session that cannot be resumed or forked; `again` is the command with a request.
    pub(crate) fn of_session(error: HostError, again: &str) -> Self {
        let what = match &error {
            HostError::Session(SessionError::NothingToResume { .. }) => "it",
            HostError::Session(SessionError::NothingAfter { .. }) => "the fork",
            HostError::Session(_)
            | HostError::Config(_)
            | HostError::Model(_)
            | HostError::Document(_)
            | HostError::Workspace(_)
            | HostError::Task(_)
            | HostError::Batch(_)
            | HostError::Register(_)
            | HostError::Agents(_)
            | HostError::Tools(_)
            | HostError::Run(_)
            | HostError::Picture { .. } => return error.into(),
        };
        Self::from_error(&error).with_help(format!("give {what} a request: {again}"))
    }
}

impl From<HostError> for CliError {
    fn from(error: HostError) -> Self {
        let code = if error.is_usage() { USAGE } else { FAILED };
        let shown = Self { code, ..Self::from_error(&error) };
        match flag_help(&error).or_else(|| error.help()) {
            Some(help) => shown.with_help(help),
            None => shown,
        }
    }
}

impl From<ConfigError> for CliError {
    fn from(error: ConfigError) -> Self {
        HostError::from(error).into()
    }
}

impl From<WorkspaceError> for CliError {
    fn from(error: WorkspaceError) -> Self {
        HostError::from(error).into()
    }
}

impl From<ModelError> for CliError {
    fn from(error: ModelError) -> Self {
        HostError::from(error).into()
    }
}

impl From<DesktopError> for CliError {
    fn from(error: DesktopError) -> Self {
        WorkspaceError::from(error).into()
    }
}

/// What to do about an error by a flag, where one is the shortest way.
fn flag_help(error: &HostError) -> Option<String> {
    let help = match error {
        HostError::Model(error) => return model_flag(error),
        HostError::Workspace(WorkspaceError::NoDisplay) => {
            "work on a private one: `--desktop virtual`; or run this in a graphical session"
        }
        HostError::Workspace(WorkspaceError::NoSuchWindow { windows, .. }) if windows.is_empty() => {
            "there is none at all; start something first: `--launch PROGRAM`"
        }
        HostError::Workspace(WorkspaceError::NoWindow) => {
            "start something first: `--launch PROGRAM`, or `--open FILE`"
        }
        HostError::Batch(BatchError::SharedDesktop) => "give each one of its own: `--desktop virtual`",
        HostError::Batch(BatchError::HasResults { .. }) => {
            "go on where it ended: `--resume`; or name another folder: `--results DIR`"
        }
        HostError::Batch(BatchError::Form { .. }) => {
            "it is no result of a batch; remove it, or name another folder with `--results DIR`"
        }
        HostError::Session(SessionError::Script(_)) => {
            "name the script that goes on from here: `--model script:FILE`"
        }
        HostError::Run(_) => {
            "check that the folder of the sessions can be written to; `--state-dir DIR` names another"
        }
        HostError::Config(_)
        | HostError::Document(_)
        | HostError::Workspace(_)
        | HostError::Session(_)
        | HostError::Task(_)
        | HostError::Batch(_)
        | HostError::Register(_)
        | HostError::Agents(_)
        | HostError::Tools(_)
        | HostError::Picture { .. } => return None,
    };
    Some(help.to_owned())
}

fn model_flag(error: &ModelError) -> Option<String> {
    let help = match error {
        ModelError::NotConfigured => {
            "name one: `--model openai:MODEL` (with `--base-url URL` for a local server), or `--model script:FILE`; or \
             write it down for good: `deskhand config init`"
        }
        ModelError::NotNamed { .. } => {
            "`--model openai:MODEL`, or set `model.model`; the endpoint lists its models under /models"
        }
        ModelError::NoScript => "`--model script:FILE`, or set `model.script`",
        ModelError::ScriptMissing { .. } => "check the path after `--model script:`",
        ModelError::Script(_) => "correct the script; `--script-var NAME=VALUE` sets its variables",
        ModelError::Endpoint(OpenAiSetupError::Key { place: SecretSource::Environment(name), .. }) => {
            return Some(format!("`export {name}=…`, or name a file with `--api-key-file FILE`"));
        }
        ModelError::Endpoint(OpenAiSetupError::BaseUrl { .. }) => "correct `--base-url` or `model.base_url`",
        ModelError::Endpoint(OpenAiSetupError::NoModel { .. }) => "`--model openai:MODEL`",
        ModelError::Endpoint(_) | ModelError::NoPrice { .. } => return None,
    };
    Some(help.to_owned())
}

impl fmt::Display for CliError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        self.source.as_ref().map_or(Ok(()), |source| write!(f, ": {}", error_chain(&**source)))
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
