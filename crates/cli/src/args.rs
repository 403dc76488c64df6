//! The command line as it is typed. Each command turns its part into types of its own before it does anything.

use std::{path::PathBuf, str::FromStr as _};

use clap::{Args, Parser, Subcommand, ValueEnum};
use deskhand_runtime::ReportFormat;

use crate::config::{DesktopKind, ScreenSize, VerifySetting};

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
    Act(Box<super::commands::act::ActArgs>),
    /// List the sessions, newest first.
    Sessions(SessionsArgs),
    /// Show a session step by step.
    Show(ShowArgs),
    /// Write a report of a session: a page for people, or lines for programs.
    Report(ReportArgs),
    /// Go on with a session after it was stopped or its process died, or give it another request.
    Resume(Box<super::commands::resume::ResumeArgs>),
    /// Go on from a record of a session another way: other model, other prompts, other policy.
    Fork(Box<super::commands::fork::ForkArgs>),
    /// Check that a session is as it was written, and name what was changed.
    Verify(super::commands::verify::VerifyArgs),
    /// Clear old sessions away.
    Gc(super::commands::gc::GcArgs),
    /// Run a session again from its journal, offline; every effect must be the recorded one.
    Replay(ReplayArgs),
    /// List the kinds of agents that sub-tasks can be handed to, and which of them are enabled.
    Agents(super::commands::agents::AgentsArgs),
    /// Show the state machines of the agents.
    States(StatesArgs),
    /// Show what can be configured, and where a value comes from.
    Config(ConfigArgs),
    /// Hold the virtual desktop of a session.
    #[command(hide = true)]
    KeepDesktop(super::commands::keep_desktop::KeepDesktopArgs),
    /// Confine this process and become a program.
    #[command(hide = true)]
    Sandboxed(super::commands::sandboxed::SandboxedArgs),
}

/// Which desktop.
#[derive(Debug, Clone, Args)]
pub(crate) struct DesktopArgs {
    /// Where to work [default: the current one; a virtual one where there is no display].
    #[arg(long, value_enum, value_name = "KIND")]
    pub(crate) desktop: Option<DesktopKind>,
    /// The size of a virtual desktop's screen [default: 1920x1080].
    #[arg(long, value_name = "WxH")]
    pub(crate) size: Option<ScreenSize>,
    /// Open a document first; can be given more than once.
    #[arg(long, value_name = "FILE")]
    pub(crate) open: Vec<PathBuf>,
}

/// Which desktop, and what to start on it.
#[derive(Debug, Clone, Args)]
pub(crate) struct StageArgs {
    #[command(flatten)]
    pub(crate) desktop: DesktopArgs,
    /// Start a program first, by the name of its desktop entry or as a command.
    #[arg(long, value_name = "PROGRAM")]
    pub(crate) launch: Option<String>,
}

/// Where sessions are kept.
#[derive(Debug, Clone, Args)]
pub(crate) struct StoreArgs {
    /// The folder of the sessions [default: ~/.local/state/deskhand/sessions].
    #[arg(long, value_name = "DIR")]
    pub(crate) state_dir: Option<PathBuf>,
}

const RUN_EXAMPLES: &str = "\
Examples:
  deskhand run \"Extract the sales table from the Writer document and chart it in Calc\" --open sales.odt
  deskhand run \"…\" --model openai:gpt-5-mini --api-key-env OPENAI_API_KEY
  deskhand run \"…\" --model openai:qwen3-vl --base-url http://127.0.0.1:8000/v1
  deskhand run \"…\" --model script:turns.toml --script-var out=sales.ods --desktop virtual
  deskhand run \"…\" --json | jq 'select(.kind == \"summary\")'
  deskhand run                             one request after the other, until you type N

While it works: p and Enter pauses, r goes on. The first Ctrl-C stops after the action that is going on, the second
one at once.";

#[derive(Debug, Args)]
#[command(after_help = RUN_EXAMPLES)]
pub(crate) struct RunArgs {
    /// What to do, in your own words; without it you are asked for one request after the other.
    pub(crate) request: Option<String>,
    /// Save a picture of the screen at the end.
    #[arg(long, value_name = "FILE")]
    pub(crate) screenshot: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) work: WorkArgs,
}

const FOLLOW_EXAMPLES: &str = "\
A plan is a JSON file: {\"task\": \"…\", \"steps\": [\"…\", \"…\"], \"object\": \"letter.odt\", \"close\": true}
  task    what it is all about
  steps   what to do, one step after the other
  object  the document (opened from the plan's folder if it is there) or application to work in; may be left out
  close   whether to close what was opened, at the end; may be left out

Examples:
  deskhand follow plan.json                one plan
  deskhand follow plans/                   every plan of a folder, each in a session of its own";

#[derive(Debug, Args)]
#[command(after_help = FOLLOW_EXAMPLES)]
pub(crate) struct FollowArgs {
    /// A plan, or a folder of plans.
    pub(crate) plan: PathBuf,
    #[command(flatten)]
    pub(crate) work: WorkArgs,
}

const BATCH_EXAMPLES: &str = "\
A folder holds a file a task: `.txt` is the request itself, `.json` is an object. A `.jsonl` file holds an object a line:
  {\"request\": \"…\", \"id\": \"tax-7\", \"open\": [\"tax.ods\"], \"limits\": {\"steps_max\": 20}}
Only `request` is needed. Documents are looked for in the folder of the file.

What came of each task is written to ID.json in the folder of the results, and told in a table at the end.

Examples:
  deskhand batch tasks/
  deskhand batch tasks.jsonl --parallel 3
  deskhand batch tasks/ --resume           leaves out what has a result already

Exit codes: 0 all finished; 1 some did not; 130 cancelled.";

#[derive(Debug, Args)]
#[command(after_help = BATCH_EXAMPLES)]
pub(crate) struct BatchArgs {
    /// A folder of tasks, or a file of JSON lines.
    pub(crate) tasks: PathBuf,
    /// How many tasks are worked on side by side, each on a virtual desktop of its own.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=64))]
    pub(crate) parallel: u16,
    /// Leave out tasks that have come to a result in an earlier run; those that broke or were cancelled are run again.
    #[arg(long)]
    pub(crate) resume: bool,
    /// The folder of the results [default: `results` in the folder of tasks, or FILE.results].
    #[arg(long, value_name = "DIR")]
    pub(crate) results: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) work: WorkArgs,
}

/// What every way to have work done takes.
#[derive(Debug, Clone, Args)]
pub(crate) struct WorkArgs {
    #[command(flatten)]
    pub(crate) model: ModelArgs,
    #[command(flatten)]
    pub(crate) desktop: DesktopArgs,
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
    #[command(flatten)]
    pub(crate) ask: AskArgs,
    /// Judge the request when it is said to be finished: by rules over the record, then by the model.
    #[arg(long)]
    pub(crate) evaluate: bool,
    /// Show the model no pictures.
    #[arg(long)]
    pub(crate) no_pictures: bool,
    /// Speak JSON lines: the journal and a summary on standard output, answers on standard input (docs/guides/protocol.md).
    #[arg(long)]
    pub(crate) json: bool,
    /// Say how it ended and nothing else.
    #[arg(long, short, conflicts_with = "verbose")]
    pub(crate) quiet: bool,
    /// Say more: what the agents think (-v), what they look at and what it costs (-vv).
    #[arg(long, short, action = clap::ArgAction::Count)]
    pub(crate) verbose: u8,
    #[command(flatten)]
    pub(crate) store: StoreArgs,
}

/// Which model.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct ModelArgs {
    /// `openai:MODEL`, `script:FILE`, or the name of a model in the configuration [default: its section `model`].
    #[arg(long, value_name = "SPEC")]
    pub(crate) model: Option<String>,
    /// The address of an OpenAI-compatible endpoint.
    #[arg(long, value_name = "URL")]
    pub(crate) base_url: Option<String>,
    /// The environment variable that holds the endpoint's key.
    #[arg(long, value_name = "NAME", conflicts_with = "api_key_file")]
    pub(crate) api_key_env: Option<String>,
    /// A file whose first line is the endpoint's key.
    #[arg(long, value_name = "FILE")]
    pub(crate) api_key_file: Option<PathBuf>,
    /// A variable of the script; can be given more than once.
    #[arg(long, value_name = "NAME=VALUE", value_parser = parse_pair)]
    pub(crate) script_var: Vec<(String, String)>,
}

/// Who is asked.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct AskArgs {
    /// Whether agents may ask you questions [default: auto].
    #[arg(long, value_enum, value_name = "WHEN")]
    pub(crate) ask: Option<AskWhen>,
    /// What becomes of an action that needs approval [default: ask].
    #[arg(long, value_enum, value_name = "HOW")]
    pub(crate) approve: Option<ApproveWhen>,
    /// How long a question waits for an answer, in seconds; 0 for ever [default: 0].
    #[arg(long, value_name = "N")]
    pub(crate) question_timeout: Option<u64>,
    /// How long an action waits for approval, in seconds; 0 for ever [default: 0].
    #[arg(long, value_name = "N")]
    pub(crate) approval_timeout: Option<u64>,
}

/// Whether agents may ask.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum AskWhen {
    /// They may, where somebody can answer: on a terminal, or over --json.
    Auto,
    /// They decide for themselves.
    Never,
}

/// What becomes of an action that needs approval.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ApproveWhen {
    /// You are asked; where nobody can be, it is not done.
    Ask,
    /// It is done without asking. What the policy denies is not.
    All,
    /// It is not done, and nobody is asked.
    None,
}

/// What the request may use up.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct LimitArgs {
    /// The most steps of all agents together [default: 50].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) max_steps: Option<u32>,
    /// The most requests to the model [default: 100].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) max_model_calls: Option<u32>,
    /// The most tokens, read and written [default: no limit].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) max_tokens: Option<u64>,
    /// The most money for the model, in US dollars [default: no limit].
    #[arg(long, value_name = "DOLLARS")]
    pub(crate) max_cost: Option<f64>,
    /// The longest it may take, in minutes [default: no limit].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) max_minutes: Option<u64>,
    /// Whether the HostAgent judges what an AppAgent says is done [default: auto].
    #[arg(long, value_enum, value_name = "WHEN")]
    pub(crate) verify: Option<VerifySetting>,
    /// Ask for no approvals; what the policy denies is still not done, and what its rules ask about is still asked.
    #[arg(long)]
    pub(crate) no_safe_guard: bool,
}

#[derive(Debug, Args)]
pub(crate) struct DoctorArgs {
    #[command(flatten)]
    pub(crate) model: ModelArgs,
    /// Ask the model one short question, which costs a few tokens.
    #[arg(long)]
    pub(crate) ask: bool,
    /// Write the findings as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  deskhand desktop --launch mousepad       prints three export lines; type them into another shell, then
  deskhand windows                         works on that desktop")]
pub(crate) struct DesktopCommandArgs {
    /// The size of the screen [default: 1920x1080].
    #[arg(long, value_name = "WxH")]
    pub(crate) size: Option<ScreenSize>,
    /// Start a program on it, by the name of its desktop entry or as a command.
    #[arg(long, value_name = "PROGRAM")]
    pub(crate) launch: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct WindowsArgs {
    #[command(flatten)]
    pub(crate) stage: StageArgs,
    /// Write the windows as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  deskhand tree                            the active window
  deskhand tree Calc                       by a part of the title, or the application
  deskhand tree --desktop virtual --launch mousepad
  deskhand tree Calc --ocr                 with the text that is drawn and not among the elements
  deskhand tree Calc --verify              is what is remembered what is there?")]
pub(crate) struct TreeArgs {
    /// The window, by id, title or application [default: the active one].
    pub(crate) window: Option<String>,
    #[command(flatten)]
    pub(crate) stage: StageArgs,
    /// The most elements.
    #[arg(long, value_name = "N", default_value_t = 4_000)]
    pub(crate) nodes_max: usize,
    /// Hold the mirror of the window against the application itself, and show every difference.
    #[arg(long, conflicts_with = "ocr")]
    pub(crate) verify: bool,
    /// Also read the text in its picture, whatever `control_backend` says; marked "by ocr".
    #[arg(long)]
    pub(crate) ocr: bool,
    /// Write the window and its elements as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ScreenshotArgs {
    /// Where to write the picture.
    pub(crate) file: PathBuf,
    /// The window, by id, title or application [default: the whole screen].
    #[arg(long, short)]
    pub(crate) window: Option<String>,
    #[command(flatten)]
    pub(crate) stage: StageArgs,
}

#[derive(Debug, Args)]
pub(crate) struct SessionsArgs {
    #[command(flatten)]
    pub(crate) store: StoreArgs,
    /// Write a line of JSON for each.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ShowArgs {
    /// The session: its id, the beginning or end of it, or `last`.
    pub(crate) session: String,
    /// List the records of the journal by their numbers, a line each.
    #[arg(long)]
    pub(crate) records: bool,
    #[command(flatten)]
    pub(crate) store: StoreArgs,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Formats:
  html       one page that holds everything: time line, pictures with the controls that were acted on, thoughts, prompts,
             replies, effects, tokens, cost; opens offline
  markdown   the trajectory as text, with the pictures in a folder beside it
  jsonl      a line of JSON for each step, for other programs; docs/guides/reports.md explains the fields
  ufo        a folder of logs with the names of the reference implementation: request.log, response.log, output.md, …

Examples:
  deskhand report last                     writes report.html into the folder of the session and prints where it is
  deskhand report last --format jsonl --output /dev/stdout | jq .thought
  deskhand report 0199 --format ufo --output logs/sales

A report holds what was on the screen and what was asked: share it as you would share those.")]
pub(crate) struct ReportArgs {
    /// The session: its id, the beginning or end of it, or `last`.
    pub(crate) session: String,
    /// What to write.
    #[arg(long, value_name = "FORMAT", default_value = "html", value_parser = ReportFormat::from_str)]
    pub(crate) format: ReportFormat,
    /// The file to write, or the folder for `ufo` [default: report.… in the folder of the session].
    #[arg(long, short, value_name = "PATH")]
    pub(crate) output: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) store: StoreArgs,
}

#[derive(Debug, Args)]
pub(crate) struct ReplayArgs {
    /// The session: its id, the beginning or end of it, or `last`.
    pub(crate) session: String,
    #[command(flatten)]
    pub(crate) store: StoreArgs,
}

#[derive(Debug, Args)]
pub(crate) struct StatesArgs {
    /// How to show them.
    #[arg(long, value_enum, default_value_t = StatesFormat::Table)]
    pub(crate) format: StatesFormat,
}

/// How state machines are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum StatesFormat {
    /// A Markdown table of what leads to another state.
    Table,
    /// Mermaid state diagrams.
    Mermaid,
}

#[derive(Debug, Args)]
pub(crate) struct ConfigArgs {
    #[command(subcommand)]
    pub(crate) command: ConfigCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ConfigCommand {
    /// Explain a key: its value, where that comes from, what it means. Without a key, list all of them.
    Explain {
        /// The key, such as `model.base_url`.
        key: Option<String>,
        /// Write it as JSON.
        #[arg(long)]
        json: bool,
    },
    /// Print where the file is.
    Path,
    /// Write a file to fill in, where there is none yet.
    Init,
    /// Print the JSON schema of the file.
    Schema,
}

fn parse_pair(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.trim().is_empty() => Ok((name.trim().to_owned(), value.to_owned())),
        _ => Err(format!("`{text}` is not NAME=VALUE")),
    }
}
