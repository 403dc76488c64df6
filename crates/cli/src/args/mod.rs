//! The command line as it is typed. Flags that stand for settings become overrides of the configuration ([`work`]);
//! nothing else reads them.

mod about;
mod act;
mod desktop;
mod hidden;
mod run;
mod sessions;
mod work;

pub(crate) use about::{
    AgentsArgs, CompletionsArgs, ConfigArgs, ConfigCommand, DoctorArgs, ManArgs, StatesArgs, StatesFormat,
};
pub(crate) use act::{ActArgs, Action, TargetText};
pub(crate) use desktop::{DesktopCommandArgs, ScreenshotArgs, TreeArgs, WindowsArgs};
pub(crate) use hidden::{KeepDesktopArgs, SandboxedArgs};
pub(crate) use run::{BatchArgs, FollowArgs, RunArgs};
pub(crate) use sessions::{
    ForkArgs, GcArgs, ReplayArgs, ReportArgs, ResumeArgs, SessionsArgs, ShowArgs, VerifyArgs,
};
pub(crate) use work::{ModelArgs, StageArgs, StoreArgs, WorkArgs};

use clap::{Parser, Subcommand};

const EXAMPLES: &str = "\
Examples:
  deskhand doctor                          what works on this machine, and what to install for the rest
  deskhand config init                     write a configuration to fill in
  deskhand run \"Make a chart of the sales table\" --open sales.ods
  deskhand run                             one request after the other
  deskhand batch tasks/                    many tasks, with a table of what came of them
  deskhand sessions                        what was done so far
  deskhand show last                       the last session, step by step
  deskhand report last                     the same as a page to look at, with pictures
  deskhand resume last                     go on with what was broken off

By hand, without any model:
  deskhand tree --desktop virtual --launch mousepad
  deskhand act --desktop virtual --launch mousepad type --into text \"hello\"

Exit codes: 0 finished; 1 the command failed; 2 wrong usage; of a request: 10 failed, 11 rejected,
12 out of budget, 13 error, 130 cancelled.";

const COMPLETIONS: &str = "\
Set it up once, then start a new shell:
  bash   deskhand completions bash > ~/.local/share/bash-completion/completions/deskhand
  zsh    deskhand completions zsh > a folder of $fpath, as _deskhand
  fish   deskhand completions fish > ~/.config/fish/completions/deskhand.fish";

const MAN: &str = "\
Examples:
  deskhand man ~/.local/share/man/man1     then: man deskhand-run";

/// A desktop agent whose actions tell the truth: say what you want done, and it works on real applications,
/// checks every step, and keeps a record that can be replayed.
#[derive(Debug, Parser)]
#[command(name = "deskhand", version, after_help = EXAMPLES, arg_required_else_help = true)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Do what a request says; without one, ask for requests until you end it.
    #[command(visible_alias = "chat")]
    Run(Box<RunArgs>),
    /// Follow a plan step by step, or a folder of plans.
    Follow(Box<FollowArgs>),
    /// Do many tasks, one after the other or side by side.
    Batch(Box<BatchArgs>),
    /// Check what works here, with the fix for what does not.
    Doctor(DoctorArgs),
    /// Start a virtual desktop and keep it until Ctrl-C.
    Desktop(DesktopCommandArgs),
    /// List the windows of a desktop.
    Windows(WindowsArgs),
    /// Show what is in a window: every control with its role, name and state.
    Tree(TreeArgs),
    /// Take a picture of the screen or of a window, as a PNG file.
    Screenshot(ScreenshotArgs),
    /// Do one thing by hand, and see whether it had an effect.
    Act(Box<ActArgs>),
    /// List the sessions, newest first.
    Sessions(SessionsArgs),
    /// Show a session step by step.
    Show(ShowArgs),
    /// Write a report of a session: a page for people, or lines for programs.
    Report(ReportArgs),
    /// Go on with a session after it was stopped or its process died, or give it another request.
    Resume(Box<ResumeArgs>),
    /// Go on from a record of a session another way: other model, other prompts, other policy.
    Fork(Box<ForkArgs>),
    /// Check that a session is as it was written, and name what was changed.
    Verify(VerifyArgs),
    /// Clear old sessions away.
    Gc(GcArgs),
    /// Run a session again from its journal, offline; every effect must be the recorded one.
    Replay(ReplayArgs),
    /// List the kinds of agents that sub-tasks can be handed to, and which of them are enabled.
    Agents(AgentsArgs),
    /// Show the state machines of the agents.
    States(StatesArgs),
    /// Show what can be configured, and where a value comes from.
    Config(ConfigArgs),
    /// Print the completion script of a shell.
    #[command(after_help = COMPLETIONS)]
    Completions(CompletionsArgs),
    /// Write man pages, one for each command.
    #[command(after_help = MAN)]
    Man(ManArgs),
    /// Hold the virtual desktop of a session.
    #[command(hide = true)]
    KeepDesktop(KeepDesktopArgs),
    /// Confine this process and become a program.
    #[command(hide = true)]
    Sandboxed(SandboxedArgs),
}
