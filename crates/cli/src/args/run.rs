//! Arguments of the commands that carry out requests: run, follow, batch.

use std::path::PathBuf;

use clap::Args;

use super::WorkArgs;

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
