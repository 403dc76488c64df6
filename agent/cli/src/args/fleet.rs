//! Arguments of `deskhand worker` and `deskhand fleet`.

use std::{collections::BTreeSet, net::SocketAddr, path::PathBuf};

use clap::{Args, Subcommand, ValueHint};
use deskhand_fleet::plan::BatchBudget;
use deskhand_host::config::Overrides;
use deskhand_machine::money::Money;

use super::{OutputArgs, TrustArgs, settings::SettingArgs, work::parse_pair};

/// The server of a fleet.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Fleet")]
pub(crate) struct FleetServerArgs {
    /// The servers of the fleet, such as `nats://10.0.0.1:4222` or `tls://hub:4222`; several with commas between them
    /// [default: `fleet.servers` of the configuration].
    #[arg(
        long = "fleet",
        value_name = "ADDRESS",
        env = "DESKHAND_FLEET",
        value_delimiter = ',',
        hide_env_values = true
    )]
    pub(crate) servers: Vec<String>,
    /// A file with credentials for the servers: `.creds`, or one that `deskhand fleet key` made.
    #[arg(long, value_name = "FILE", env = "DESKHAND_FLEET_CREDENTIALS", value_hint = ValueHint::FilePath)]
    pub(crate) credentials: Option<PathBuf>,
    /// A file with root certificates (PEM) for servers whose certificates the system does not know.
    #[arg(long, value_name = "FILE", env = "DESKHAND_FLEET_ROOTS", value_hint = ValueHint::FilePath)]
    pub(crate) roots: Option<PathBuf>,
    /// A certificate (PEM) for servers that ask for one.
    #[arg(long, value_name = "FILE", requires = "certificate_key", value_hint = ValueHint::FilePath)]
    pub(crate) certificate: Option<PathBuf>,
    /// The key of the certificate (PEM).
    #[arg(long, value_name = "FILE", requires = "certificate", value_hint = ValueHint::FilePath)]
    pub(crate) certificate_key: Option<PathBuf>,
    /// The name of the fleet [default: deskhand]. Fleets with different names on the same servers do not see each other.
    #[arg(long, value_name = "NAME", value_parser = parse_name)]
    pub(crate) fleet_name: Option<String>,
    /// On how many servers of a cluster everything is stored; only the first connection of a fleet decides.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u8).range(1..=5))]
    pub(crate) replicas: u8,
    /// After how many seconds of silence another worker takes over a task; only the first connection of a fleet decides.
    #[arg(long, value_name = "SECONDS", default_value_t = 15, value_parser = clap::value_parser!(u16).range(2..=600))]
    pub(crate) lease: u16,
}

const WORKER_EXAMPLES: &str = "\
Examples:
  deskhand worker --fleet nats://hub:4222
  deskhand worker --fleet tls://hub:4222 --credentials worker.creds --labels lab,gpu --most 4

A worker takes tasks that need nothing that it does not have, and runs each as a session on a
virtual desktop of its own, as many at once as memory and processors allow. Model, policy and
secrets are those of its own configuration. SIGTERM or Ctrl-C: it takes no more tasks and ends
when the last one has ended; a second one stops them, and other workers go on with them.";

#[derive(Debug, Args)]
#[command(after_help = WORKER_EXAMPLES)]
pub(crate) struct WorkerArgs {
    #[command(flatten)]
    pub(crate) server: FleetServerArgs,
    /// Name of this worker [default: the name of the machine].
    #[arg(long, value_name = "NAME", value_parser = parse_name)]
    pub(crate) name: Option<String>,
    /// Words of this worker: tasks may need them.
    #[arg(long, value_name = "WORD", value_delimiter = ',')]
    labels: Vec<String>,
    /// The most sessions at once [default: as many as memory and processors allow].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) most: Option<u16>,
    /// Folder for tasks while they run [default: ~/deskhand-fleet/NAME].
    #[arg(long, value_name = "FOLDER", value_hint = ValueHint::DirPath)]
    pub(crate) folder: Option<PathBuf>,
    /// Give figures for Prometheus at this loopback address, such as `127.0.0.1:9464`; port 0 takes a free one.
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) metrics: Option<SocketAddr>,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
    #[command(flatten)]
    pub(crate) settings: SettingArgs,
}

impl WorkerArgs {
    /// The settings that these flags stand for.
    pub(crate) fn overrides(&self) -> Overrides {
        self.settings.overrides()
    }

    /// Its words.
    pub(crate) fn labels(&self) -> BTreeSet<String> {
        self.labels.iter().cloned().collect()
    }
}

/// Tasks on many machines.
#[derive(Debug, Args)]
pub(crate) struct FleetArgs {
    #[command(subcommand)]
    pub(crate) command: FleetCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum FleetCommand {
    /// Send tasks to the fleet, with their documents.
    Submit(FleetSubmitArgs),
    /// Show where the tasks are; of more than 1,000, how many are where.
    Status(FleetStatusArgs),
    /// Show what becomes of tasks until all have an outcome.
    Watch(FleetWatchArgs),
    /// Fetch results, documents and journals; of a task that a worker has, what is stored so far.
    Results(FleetResultsArgs),
    /// Say that tasks are not wanted any more.
    Cancel(FleetTasksArgs),
    /// Send tasks once more that did not finish.
    Retry(FleetTasksArgs),
    /// Set how many tasks with a label run at once in the whole fleet, and show all such limits.
    Limit(FleetLimitArgs),
    /// Make a key that signs tasks and connects to the servers, and print its public half.
    Key(FleetKeyArgs),
}

const KEY_EXAMPLES: &str = "\
The file is secret: who has it submits tasks in your name. Workers accept it once their configuration
has `fleet.accept.NAME = \"UABC…\"`, and a server lets it in once it is one of its users (`nkey`).

Examples:
  deskhand fleet key anna.key
  deskhand fleet submit tasks/ --key anna.key --fleet nats://hub:4222";

#[derive(Debug, Args)]
#[command(after_help = KEY_EXAMPLES)]
pub(crate) struct FleetKeyArgs {
    /// The file of the key. One that exists is read, and its public half is printed.
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) file: PathBuf,
}

/// Who signs.
#[derive(Debug, Clone, Args)]
pub(crate) struct SignArgs {
    /// Sign with this key (`deskhand fleet key`).
    #[arg(long, value_name = "FILE", env = "DESKHAND_FLEET_KEY", value_hint = ValueHint::FilePath)]
    pub(crate) key: Option<PathBuf>,
}

const SUBMIT_EXAMPLES: &str = "\
Tasks are those of `deskhand batch`. A JSON object may also have
  needs         {\"applications\": [\"libreoffice-calc\"], \"agents\": [\"shell\"], \"labels\": [\"lab\"]}
  after         ids of tasks that have to be finished before
  priority      0 to 9; the highest goes first
  labels        words that limits are for
  on_loss       what becomes of it if its worker is lost: resume (default), afresh, or person if
                what was done cannot be done again
  attempts_max  how many workers may be lost with it until it is put aside [default: 5]
  inputs        [{\"of\": \"extract\", \"document\": \"table.csv\", \"as\": \"data.csv\"}]: documents of tasks
                before it; the text of a result is put in for {result:extract} in the request
  for_each      \"rows.csv\", or {\"of\": \"extract\", \"document\": \"rows.csv\"}: one task for each row, with
                {column} in the request filled in
  retry         {\"on\": [\"failed\", \"error\"], \"most\": 3, \"wait\": \"30s\"}
  deadline      \"2026-12-24T18:00Z\"; within: \"30m\" after it was submitted

Examples:
  deskhand fleet submit tasks/ --fleet nats://hub:4222
  deskhand fleet submit night.jsonl --batch monday --budget cost=20 && deskhand fleet watch";

#[derive(Debug, Args)]
#[command(after_help = SUBMIT_EXAMPLES)]
pub(crate) struct FleetSubmitArgs {
    /// A folder of tasks, or a file.
    #[arg(value_name = "TASKS", value_hint = ValueHint::AnyPath)]
    pub(crate) tasks: PathBuf,
    /// Put this before the ids of the tasks.
    #[arg(long, value_name = "NAME", value_parser = parse_name)]
    pub(crate) batch: Option<String>,
    /// Budget for all tasks of the batch together: cost=DOLLARS, tokens=N or model_calls=N; can be repeated. Once
    /// it is reached, no further task of the batch begins.
    #[arg(long = "budget", value_name = "WHAT=MOST", value_parser = parse_budget, requires = "batch")]
    budgets: Vec<BatchBudget>,
    #[command(flatten)]
    pub(crate) trust: TrustArgs,
    #[command(flatten)]
    pub(crate) sign: SignArgs,
    #[command(flatten)]
    pub(crate) server: FleetServerArgs,
}

impl FleetSubmitArgs {
    /// Returns the budget for all tasks of the batch together.
    pub(crate) fn budget(&self) -> BatchBudget {
        self.budgets.iter().fold(BatchBudget::default(), |all, one| BatchBudget {
            model_calls: one.model_calls.or(all.model_calls),
            tokens: one.tokens.or(all.tokens),
            cost_micros: one.cost_micros.or(all.cost_micros),
        })
    }
}

#[derive(Debug, Args)]
pub(crate) struct FleetStatusArgs {
    /// Only these tasks.
    #[arg(value_name = "ID")]
    pub(crate) ids: Vec<String>,
    /// List all tasks, however many there are.
    #[arg(long, conflicts_with = "ids")]
    pub(crate) all: bool,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) server: FleetServerArgs,
}

#[derive(Debug, Args)]
pub(crate) struct FleetWatchArgs {
    /// Only these tasks.
    #[arg(value_name = "ID")]
    pub(crate) ids: Vec<String>,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) server: FleetServerArgs,
}

#[derive(Debug, Args)]
pub(crate) struct FleetResultsArgs {
    /// Only these tasks.
    #[arg(value_name = "ID")]
    pub(crate) ids: Vec<String>,
    /// Folder for the results; each task gets a subfolder with `result.json`, `journal.jsonl` with its pictures,
    /// and `documents`.
    #[arg(long, short, value_name = "FOLDER", default_value = "results", value_hint = ValueHint::DirPath)]
    pub(crate) output: PathBuf,
    #[command(flatten)]
    pub(crate) server: FleetServerArgs,
}

#[derive(Debug, Args)]
pub(crate) struct FleetTasksArgs {
    /// The tasks.
    #[arg(value_name = "ID", required = true)]
    pub(crate) ids: Vec<String>,
    #[command(flatten)]
    pub(crate) sign: SignArgs,
    #[command(flatten)]
    pub(crate) server: FleetServerArgs,
}

const LIMIT_EXAMPLES: &str = "\
Examples:
  deskhand fleet limit sap=2         two tasks with the label `sap` at once, whoever runs them
  deskhand fleet limit sap=none      as many as there is room for
  deskhand fleet limit               show the limits";

#[derive(Debug, Args)]
#[command(after_help = LIMIT_EXAMPLES)]
pub(crate) struct FleetLimitArgs {
    /// The most tasks with a label that are with workers or wait for one at once; `none` for no limit. What waits for a worker when a
    /// limit is set is not held back by it.
    #[arg(value_name = "LABEL=N", value_parser = parse_limit)]
    pub(crate) limits: Vec<(String, Option<usize>)>,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) server: FleetServerArgs,
}

/// A name is a part of subjects and keys.
fn parse_name(text: &str) -> Result<String, String> {
    let is_plain = text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte));
    let is_name = !text.is_empty() && text.len() <= 40 && is_plain;
    is_name.then(|| text.to_owned()).ok_or_else(|| "use 1 to 40 letters, digits, `-` and `_`".to_owned())
}

fn parse_limit(text: &str) -> Result<(String, Option<usize>), String> {
    let (label, most) = parse_pair(text)?;
    if most.trim() == "none" {
        return Ok((label, None));
    }
    let most =
        most.trim().parse().map_err(|_| format!("`{most}` in `{text}` is neither a number nor `none`"))?;
    Ok((label, Some(most)))
}

fn parse_budget(text: &str) -> Result<BatchBudget, String> {
    let (what, most) = parse_pair(text)?;
    let most = most.trim();
    let number =
        || most.replace('_', "").parse().map(Some).map_err(|_| format!("`{most}` in `{text}` is no number"));
    match what.as_str() {
        "cost" => {
            let cost = most.trim_start_matches('$').parse().ok().and_then(Money::from_dollars);
            let cost = cost.ok_or_else(|| format!("`{most}` in `{text}` is no number of dollars"))?;
            Ok(BatchBudget { cost_micros: Some(cost.0), ..BatchBudget::default() })
        }
        "tokens" => Ok(BatchBudget { tokens: number()?, ..BatchBudget::default() }),
        "model_calls" => Ok(BatchBudget { model_calls: number()?, ..BatchBudget::default() }),
        _ => Err(format!("`{what}` is none of cost, tokens, model_calls; write it as `cost=20`")),
    }
}
