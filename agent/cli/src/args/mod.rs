//! The arguments of the command line. Flags that stand for settings become overrides of the configuration
//! ([`settings`]); nothing else reads them.

mod about;
mod act;
mod desktop;
mod fleet;
mod hidden;
mod knowledge;
mod mcp;
mod model;
mod policy;
mod run;
mod schedule;
mod secret;
mod serve;
mod sessions;
mod settings;
mod trust;
mod work;
mod workflow;

pub(crate) use about::{
    AgentsArgs, CompletionsArgs, ConfigArgs, ConfigCommand, DoctorArgs, ExplainArgs, ManArgs, StatesArgs,
    StatesFormat,
};
pub(crate) use act::{ActArgs, ActCommand, TargetText};
pub(crate) use desktop::{
    AttachDesktopArgs, DesktopCommand, DesktopCommandArgs, EndDesktopArgs, ListDesktopsArgs, ScreenshotArgs,
    TreeArgs, WindowsArgs,
};
pub(crate) use fleet::{
    FleetArgs, FleetCommand, FleetKeyArgs, FleetLimitArgs, FleetResultsArgs, FleetServerArgs,
    FleetStatusArgs, FleetSubmitArgs, FleetTasksArgs, FleetWatchArgs, SignArgs, WorkerArgs,
};
pub(crate) use hidden::{BrowserEngine, HoldBrowserArgs, KeepDesktopArgs, SandboxedArgs, WatchWorkerArgs};
pub(crate) use knowledge::{
    ExperienceArgs, ExperienceCommand, ForgetArgs, KnowledgeAddArgs, KnowledgeArgs, KnowledgeCommand,
    KnowledgeSearchArgs,
};
pub(crate) use mcp::{McpArgs, McpCommand, McpInstallArgs};
pub(crate) use model::{ModelCassetteArgs, ModelCommand, ModelCommandArgs, ModelListArgs, ModelTestArgs};
pub(crate) use policy::{PolicyArgs, PolicyCommand, PolicyReviewArgs};
pub(crate) use run::{BatchArgs, FollowArgs, RunArgs};
pub(crate) use schedule::{AddScheduleArgs, RunScheduleArgs, ScheduleArgs, ScheduleCommand};
pub(crate) use secret::{SecretArgs, SecretCheckArgs, SecretCommand, SecretListArgs};
pub(crate) use serve::ServeArgs;
pub(crate) use sessions::{
    ForkArgs, GcArgs, NumberRange, ReplayArgs, ReportArgs, ResumeArgs, SessionsArgs, ShowArgs, VerifyArgs,
};
pub(crate) use settings::{ModelArgs, SettingArgs, StoreArgs};
pub(crate) use trust::TrustArgs;
pub(crate) use work::{OutputArgs, ScriptArgs, StageArgs, WorkArgs};
pub(crate) use workflow::{DoArgs, DraftArgs, LearnArgs, RecordArgs, WorkflowArgs, WorkflowCommand};

use clap::{Parser, Subcommand};

const EXAMPLES: &str = "\
Examples:
  deskhand doctor                          check this machine, and see what to install
  deskhand config init                     write a configuration file to fill in
  deskhand run \"Make a chart of the sales table\" --open sales.ods
  deskhand run                             ask for requests until you end it
  deskhand batch tasks/                    run many tasks and sum up their results
  deskhand sessions                        list the sessions
  deskhand show last                       show the last session step by step
  deskhand report last                     write it as an HTML page with pictures
  deskhand resume last                     continue an interrupted session

By hand, without a model:
  deskhand tree --desktop virtual --launch mousepad
  deskhand act --desktop virtual --launch mousepad type --into text \"hello\"

Exit codes: 0 success; 1 the command failed; 2 wrong usage. A request that did not finish:
10 failed, 11 rejected, 12 budget exhausted, 13 error, 130 cancelled.";

const COMPLETIONS: &str = "\
Install the script once, then start a new shell:
  bash   deskhand completions bash > ~/.local/share/bash-completion/completions/deskhand
  zsh    deskhand completions zsh > a folder of $fpath, as _deskhand
  fish   deskhand completions fish > ~/.config/fish/completions/deskhand.fish";

const MAN: &str = "\
Examples:
  deskhand man ~/.local/share/man/man1     then: man deskhand-run";

/// An agent for the Linux desktop: say what you want done, and it operates real applications, verifies every action,
/// and records everything in a journal that can be replayed.
#[derive(Debug, Parser)]
#[command(name = "deskhand", version, after_help = EXAMPLES, arg_required_else_help = true)]
pub(crate) struct CliArgs {
    #[command(subcommand)]
    pub(crate) command: CliCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum CliCommand {
    /// Carry out a request. Without one, ask for requests until you end it.
    #[command(visible_alias = "chat")]
    Run(Box<RunArgs>),
    /// Follow a plan, or each plan of a folder, step by step.
    Follow(Box<FollowArgs>),
    /// Run many tasks, in order or in parallel.
    Batch(Box<BatchArgs>),
    /// Carry out tasks of a fleet on this machine, each on a virtual desktop of its own.
    Worker(Box<WorkerArgs>),
    /// Send tasks to a fleet of machines, and look at what becomes of them.
    Fleet(FleetArgs),
    /// Learn a workflow from a finished session, to do it again without a model.
    Learn(LearnArgs),
    /// Watch a person do something, and make a workflow of it.
    Record(Box<RecordArgs>),
    /// Run a workflow that was learnt, without a model.
    Do(Box<DoArgs>),
    /// Look at workflows and change them.
    Workflow(WorkflowArgs),
    /// Begin work by itself at set times.
    Schedule(Box<ScheduleArgs>),
    /// Add help that agents look up, and see what they would find.
    Knowledge(KnowledgeArgs),
    /// Look at what earlier sessions taught, or forget it.
    Experience(ExperienceArgs),
    /// Check this machine and the configuration, and say how to fix what is missing.
    Doctor(DoctorArgs),
    /// Start a virtual desktop and keep it until Ctrl-C, or look at the desktop of a session.
    Desktop(DesktopCommandArgs),
    /// List the windows of a desktop.
    Windows(WindowsArgs),
    /// Show the elements of a window: every control with its role, name and state.
    Tree(TreeArgs),
    /// Save the screen or a window as a PNG file.
    Screenshot(ScreenshotArgs),
    /// Run one action by hand, and see whether it had an effect.
    Act(Box<ActArgs>),
    /// List the sessions, newest first.
    Sessions(SessionsArgs),
    /// Show a session step by step.
    Show(ShowArgs),
    /// Write a report of a session: an HTML page, or lines for other programs.
    Report(ReportArgs),
    /// Resume a session that was stopped or whose process died, or give it another request.
    Resume(Box<ResumeArgs>),
    /// Continue a session from one of its records with another model, prompts or policy.
    Fork(Box<ForkArgs>),
    /// Check that a session was not modified since it was written.
    Verify(VerifyArgs),
    /// Remove old sessions.
    Gc(GcArgs),
    /// Replay a session offline from its journal, and check that every effect is the recorded one.
    Replay(ReplayArgs),
    /// Judge a recorded session by today's rules.
    Policy(PolicyArgs),
    /// Serve desktops to another agent, over the Model Context Protocol.
    Mcp(Box<McpArgs>),
    /// Serve a page to watch, steer and look back at sessions.
    Serve(ServeArgs),
    /// List the models that can be used, or try one.
    Model(ModelCommandArgs),
    /// List the agents that can work on sub-tasks, and which of them are enabled.
    Agents(AgentsArgs),
    /// List the secrets that agents may type by their names, or try to read them.
    Secret(SecretArgs),
    /// Print the state machines of the agents.
    States(StatesArgs),
    /// Explain the configuration, or write a file to start from.
    Config(ConfigArgs),
    /// Print a shell completion script.
    #[command(after_help = COMPLETIONS)]
    Completions(CompletionsArgs),
    /// Write a man page for each command.
    #[command(after_help = MAN)]
    Man(ManArgs),
    /// Hold the virtual desktop of a session (internal).
    #[command(hide = true)]
    KeepDesktop(KeepDesktopArgs),
    /// Start a browser and answer calls about its pages (internal).
    #[command(hide = true)]
    HoldBrowser(HoldBrowserArgs),
    /// Do one job on files (internal).
    #[command(hide = true)]
    ReadFiles,
    /// Enter a sandbox and execute a program (internal).
    #[command(hide = true)]
    Sandboxed(SandboxedArgs),
    /// End a worker that is stopped for too long (internal).
    #[command(hide = true)]
    WatchWorker(WatchWorkerArgs),
}
