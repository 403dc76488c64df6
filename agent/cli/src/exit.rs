//! Process exit: exit codes and error messages.

use std::{error::Error, fmt, process::ExitCode};

use deskhand_desktop::DesktopError;
use deskhand_host::{
    HostError, ProviderCandidate, batch::BatchError, config::ConfigError, found_providers, local::LocalError,
    model::ModelError, session::SessionError, workspace::WorkspaceError,
};
use deskhand_machine::outcome::OutcomeKind;
use deskhand_model::{EndpointSetupError, SecretSource};
use deskhand_runtime::{ForkError, HoldError, ReportError, RunError};
use deskhand_ui::text::error_chain;

use crate::output::{Output, OutputStream, OutputTone, StyledLine};

/// The exit code of a command that failed. Outcomes of a request have their own
/// ([`OutcomeKind::exit_code`]).
const FAILED: u8 = 1;
/// The exit code of wrong usage, the same as that of clap.
const USAGE: u8 = 2;
/// The exit code of a check without a result.
const UNDECIDED: u8 = 3;

/// Result of a command that did not fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Success.
    Success,
    /// The command worked, but its result is negative: a failed check, an effect that was not seen.
    Negative,
    /// The command worked, but could not decide: a journal that nothing proves.
    Undecided,
    /// A request ended.
    Outcome(OutcomeKind),
    /// A program in the sandbox ended with that exit code.
    Program(u8),
}

impl Exit {
    /// The exit code.
    pub(crate) const fn code(self) -> u8 {
        match self {
            Self::Success => 0,
            Self::Negative => FAILED,
            Self::Undecided => UNDECIDED,
            Self::Outcome(kind) => kind.exit_code(),
            Self::Program(code) => code,
        }
    }
}

/// The result of a command.
pub(crate) type CommandResult = Result<Exit, CliError>;

/// An error message: what failed, why, and what to do next.
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

    /// Something failed because of `source`; `operation` continues after "failed to".
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

    /// An error with the message of `source` and its causes.
    pub(crate) fn from_error(source: &(dyn Error + 'static)) -> Self {
        Self::new(error_chain(source))
    }

    /// Wrong usage.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self { code: USAGE, ..Self::new(message) }
    }

    /// Something that was not started, because the user did not agree or nobody could be asked.
    pub(crate) fn refused(message: impl Into<String>) -> Self {
        Self { code: OutcomeKind::Rejected.exit_code(), ..Self::new(message) }
    }

    /// Formats the error and its causes as one text.
    pub(crate) fn words(&self) -> String {
        match &self.source {
            Some(source) => format!("{}: {}", self.message, error_chain(&**source)),
            None => self.message.clone(),
        }
    }

    /// Formats the advice on the next step as one text.
    pub(crate) fn help_text(&self) -> String {
        self.help.join("; ")
    }

    /// Adds what to do next.
    #[must_use]
    pub(crate) fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help.push(help.into());
        self
    }
}

impl CliError {
    /// A session that cannot be resumed or forked; `again` is the same command with a request.
    pub(crate) fn of_session(error: HostError, again: &str) -> Self {
        match &error {
            HostError::Session(SessionError::NothingToResume { .. } | SessionError::NothingAfter { .. }) => {
                Self::from_error(&error).with_help(format!("add a request: {again}"))
            }
            HostError::Session(_)
            | HostError::Config(_)
            | HostError::Model(_)
            | HostError::Local(_)
            | HostError::Document(_)
            | HostError::Workspace(_)
            | HostError::Task(_)
            | HostError::Batch(_)
            | HostError::Workflow(_)
            | HostError::Schedule(_)
            | HostError::Knowledge(_)
            | HostError::Demonstration(_)
            | HostError::Register(_)
            | HostError::Agents(_)
            | HostError::Tools(_)
            | HostError::Run(_)
            | HostError::Picture { .. } => error.into(),
        }
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

impl From<LocalError> for CliError {
    fn from(error: LocalError) -> Self {
        HostError::from(error).into()
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

impl From<SessionError> for CliError {
    fn from(error: SessionError) -> Self {
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

/// Returns the advice to use a flag, if one helps.
fn flag_help(error: &HostError) -> Option<String> {
    let help = match error {
        HostError::Model(error) => return model_flag(error),
        HostError::Session(error) => return session_flag(error),
        HostError::Workspace(WorkspaceError::NoDisplay) => {
            "use a private desktop with `--desktop virtual`, or run this in a graphical session"
        }
        HostError::Workspace(WorkspaceError::NoSuchWindow { windows, .. }) if windows.is_empty() => {
            "no window is open; start a program with `--launch PROGRAM`"
        }
        HostError::Workspace(WorkspaceError::NoWindow) => {
            "start a program with `--launch PROGRAM`, or open a document with `--open FILE`"
        }
        HostError::Batch(BatchError::SharedDesktop) => {
            "give each session its own desktop with `--desktop virtual`"
        }
        HostError::Batch(BatchError::HasResults { .. }) => {
            "continue with `--resume`, or use another folder with `--results DIR`"
        }
        HostError::Batch(BatchError::Form { .. }) => {
            "it is not a batch result; remove it, or use another folder with `--results DIR`"
        }
        HostError::Run(RunError::Agent(_)) => return None,
        HostError::Run(_) => {
            "check that the sessions folder is writable, or use another with `--state-dir DIR`"
        }
        HostError::Config(_)
        | HostError::Local(_)
        | HostError::Document(_)
        | HostError::Workspace(_)
        | HostError::Task(_)
        | HostError::Batch(_)
        | HostError::Workflow(_)
        | HostError::Schedule(_)
        | HostError::Knowledge(_)
        | HostError::Demonstration(_)
        | HostError::Register(_)
        | HostError::Agents(_)
        | HostError::Tools(_)
        | HostError::Picture { .. } => return None,
    };
    Some(help.to_owned())
}

fn session_flag(error: &SessionError) -> Option<String> {
    Some(match error {
        SessionError::Script(_) => {
            "use a script that continues from here with `--model script:FILE`".to_owned()
        }
        SessionError::Report(ReportError::Write { .. }) => {
            "write it to another path with `--output PATH`".to_owned()
        }
        SessionError::Hold { session, error: HoldError::Fold { seq, .. } } => format!(
            "another version of Deskhand wrote it; resume it with that version, or fork it before that record: \
             `deskhand fork {session} --at {}`",
            seq.saturating_sub(1)
        ),
        SessionError::Hold { error: HoldError::Unproven { .. }, .. }
        | SessionError::Fork { error: ForkError::Unproven { .. }, .. } => {
            "if nobody else could write to the journal, accept it as it is with `--unsealed`".to_owned()
        }
        SessionError::Fork { error: ForkError::NoRecord { session, last, .. }, .. } => {
            format!("fork at an existing record: `deskhand fork {session} --at {last}`")
        }
        SessionError::Fork { error: ForkError::Between { record, .. }, .. } => format!(
            "fork before the effect with `--at {}`, or after its event with `--at {}`",
            record.saturating_sub(1),
            record + 1
        ),
        SessionError::Missing { .. }
        | SessionError::Ambiguous { .. }
        | SessionError::Journal(_)
        | SessionError::Report(_)
        | SessionError::Hold { .. }
        | SessionError::NothingToResume { .. }
        | SessionError::NoDesktop { .. }
        | SessionError::Fork { .. }
        | SessionError::NothingAfter { .. }
        | SessionError::Prompts { .. }
        | SessionError::NoPrompts { .. }
        | SessionError::UnknownPrompt { .. }
        | SessionError::Prompt { .. } => return None,
    })
}

/// Proposes the next step if no model is configured, based on the local setup.
fn proposal() -> Option<String> {
    let ProviderCandidate { provider, why } = found_providers().into_iter().next()?;
    let name = provider.name();
    Some(format!(
        "use `--model {name}:MODEL`, since {why}: `deskhand model list` lists its models, and `deskhand config init` writes it down"
    ))
}

fn model_flag(error: &ModelError) -> Option<String> {
    let help = match error {
        ModelError::NotConfigured => {
            if let Some(proposal) = proposal() {
                return Some(proposal);
            }
            "use `--model PROVIDER:MODEL`, such as `openai:gpt-5-mini`, `anthropic:…`, `gemini:…` or `ollama:…` (with `--base-url URL` for a local server) or `--model script:FILE`, or configure \
             one: `deskhand config init`, or get one that runs on this machine: `deskhand model pull NAME`"
        }
        ModelError::NotNamed { .. } => {
            "use `--model PROVIDER:MODEL`, or set `model.model`; `deskhand model list PROVIDER` lists them"
        }
        ModelError::NoAddress { .. } => {
            "use `--base-url https://NAME.openai.azure.com`, or set `model.base_url`"
        }
        ModelError::NoScript => "use `--model script:FILE`, or set `model.script`",
        ModelError::ScriptMissing { .. } => "check the path after `--model script:`",
        ModelError::Script(_) => "fix the script; `--script-var NAME=VALUE` sets its variables",
        ModelError::Endpoint(EndpointSetupError::Key { place: SecretSource::Environment(name), .. }) => {
            return Some(format!("`export {name}=…`, or use `--api-key-file FILE`"));
        }
        ModelError::Endpoint(EndpointSetupError::BaseUrl { .. }) => "fix `--base-url` or `model.base_url`",
        ModelError::Endpoint(EndpointSetupError::NoModel { .. }) => "use `--model PROVIDER:MODEL`",
        ModelError::Endpoint(_)
        | ModelError::NothingPulled
        | ModelError::Local(_)
        | ModelError::NoPrice { .. }
        | ModelError::Other { .. } => return None,
    };
    Some(help.to_owned())
}

impl fmt::Display for CliError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        self.source.as_ref().map_or(Ok(()), |source| write!(f, ": {}", error_chain(&**source)))
    }
}

/// Prints the error, if any, and returns the exit code.
pub(crate) fn end(result: CommandResult) -> ExitCode {
    match result {
        Ok(exit) => ExitCode::from(exit.code()),
        Err(error) => {
            let output = Output::to(OutputStream::Error);
            output.line(
                &StyledLine::of(OutputTone::Bad, "error:").with(OutputTone::Plain, format!(" {error}")),
            );
            for help in &error.help {
                output.line(
                    &StyledLine::of(OutputTone::Strong, "help:").with(OutputTone::Plain, format!(" {help}")),
                );
            }
            ExitCode::from(error.code)
        }
    }
}
