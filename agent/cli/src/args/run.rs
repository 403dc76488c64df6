//! Arguments of the commands that carry out requests: run, follow, batch.

use std::path::PathBuf;

use clap::{Args, Command, FromArgMatches as _};
use deskhand_host::config::Overrides;

use super::{TrustArgs, WorkArgs};

const RUN_EXAMPLES: &str = "\
Examples:
  deskhand run \"Chart the sales table of this document in Calc\" --open sales.odt
  deskhand run \"…\" --model openai:gpt-5-mini --api-key-env OPENAI_API_KEY
  deskhand run \"…\" --model openai:qwen3-vl --base-url http://127.0.0.1:8000/v1
  deskhand run \"…\" --model script:turns.toml --script-var out=sales.ods --desktop virtual
  deskhand run \"…\" --json | jq 'select(.kind == \"summary\")'
  deskhand run                             asks for requests until you type N

While a request runs, type p and Enter to pause, r to continue, t to take over mouse and
keyboard, h to hand back, or a sentence to tell the agents something (a single word: say WORD).
Ctrl-C stops: nothing more is sent, and what was done is reported. A second Ctrl-C does not wait
for the report.";

#[derive(Debug, Args)]
#[command(after_help = RUN_EXAMPLES)]
pub(crate) struct RunArgs {
    /// Task in your own words. Without it, deskhand prompts for requests until you end it.
    pub(crate) request: Option<String>,
    /// Save a final screenshot.
    #[arg(long, value_name = "FILE")]
    pub(crate) screenshot: Option<PathBuf>,
    /// Handling of a workflow that matches the words of the request: propose it, or run it in place of agents
    /// [default: propose].
    #[arg(long, value_name = "HOW", value_parser = ["propose", "auto"])]
    workflow: Option<String>,
    #[command(flatten)]
    pub(crate) work: WorkArgs,
}

impl RunArgs {
    /// The arguments of these words, without a name of the program before them.
    ///
    /// # Errors
    /// What `deskhand run` would say about them.
    pub(crate) fn of_words(words: impl IntoIterator<Item = String>) -> Result<Self, String> {
        let command = Self::augment_args(Command::new("run").no_binary_name(true).disable_help_flag(true));
        let parsed = command.try_get_matches_from(words).and_then(|found| Self::from_arg_matches(&found));
        parsed.map_err(|error| {
            let text = error.to_string();
            text.lines().next().unwrap_or_default().trim_start_matches("error: ").to_owned()
        })
    }

    /// The settings that these flags stand for.
    pub(crate) fn overrides(&self) -> Overrides {
        let auto = self.workflow.as_deref().map(|how| how == "auto");
        self.work.overrides().set_if("workflows.auto", auto, "--workflow")
    }
}

const FOLLOW_EXAMPLES: &str = "\
A plan is a JSON file:
  {\"task\": \"…\", \"steps\": [\"…\", \"…\"], \"object\": \"letter.odt\", \"close\": true}

Its fields:
  task    the goal
  steps   the steps, in order
  object  the document, relative to the plan, or the application to work in; optional
  close   whether to close at the end what was opened; optional

Examples:
  deskhand follow plan.json                one plan
  deskhand follow plans/                   every plan of a folder, each in its own session";

#[derive(Debug, Args)]
#[command(after_help = FOLLOW_EXAMPLES)]
pub(crate) struct FollowArgs {
    /// Plan file, or folder of plans.
    pub(crate) plan: PathBuf,
    #[command(flatten)]
    pub(crate) trust: TrustArgs,
    #[command(flatten)]
    pub(crate) work: WorkArgs,
}

const BATCH_EXAMPLES: &str = "\
TASKS is a folder with one file per task, or a JSON Lines file with one task per line. A `.txt` file
is the request itself. JSON tasks look like this:
  {\"request\": \"…\", \"id\": \"tax-7\", \"open\": [\"tax.ods\"], \"limits\": {\"steps_max\": 20}}
Only `request` is required. Documents are looked up in the folder of the file.

The result of each task is written to ID.json in the results folder. A table at the end lists them.

Examples:
  deskhand batch tasks/
  deskhand batch tasks.jsonl --parallel 3
  deskhand batch tasks/ --resume           skips tasks that already have a result
  deskhand batch --trust tasks/            trusts the tasks as they are; without it you are asked first

Exit codes: 0 all tasks finished; 1 some did not; 130 cancelled.";

#[derive(Debug, Args)]
#[command(after_help = BATCH_EXAMPLES)]
pub(crate) struct BatchArgs {
    /// Folder of tasks, or JSON Lines file.
    pub(crate) tasks: PathBuf,
    /// Number of tasks to run in parallel, each on its own virtual desktop.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=64))]
    pub(crate) parallel: u16,
    /// Skip tasks that have a result of an earlier run. Tasks that were cancelled or ended in an error run again.
    #[arg(long)]
    pub(crate) resume: bool,
    /// Results folder [default: `results` in the folder of tasks, or FILE.results].
    #[arg(long, value_name = "DIR")]
    pub(crate) results: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) trust: TrustArgs,
    #[command(flatten)]
    pub(crate) work: WorkArgs,
}
