//! Arguments of `deskhand schedule`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueHint};
use deskhand_ui::ids::SessionId;

use super::{
    settings::StoreArgs,
    trust::TrustArgs,
    work::{parse_id, parse_pair},
};

const EXAMPLES: &str = "\
Where a systemd user manager answers, a timer of it begins the work; elsewhere `deskhand serve` does, as long as it runs.

Examples:
  deskhand schedule add report \"Put the new orders into orders.ods\" --when \"Mon..Fri 07:00\" --open ~/orders.ods
  deskhand schedule add chart --workflow quarterly-chart --parameter quarter=Q3 --when monthly --catch-up
  deskhand schedule add check \"Is the site up?\" --when \"*:00/30\" -- --max-cost 0.05 --max-minutes 5
  deskhand schedule list
  deskhand schedule run report             run it now";

/// Work that begins by itself at set times.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ScheduleArgs {
    #[command(subcommand)]
    pub(crate) command: ScheduleCommand,
    #[command(flatten)]
    pub(crate) store: StoreArgs,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ScheduleCommand {
    /// Add a schedule.
    Add(AddScheduleArgs),
    /// List the schedules: when each is due, and what became of the last time.
    List,
    /// Remove a schedule. What runs goes on.
    Remove {
        /// Its name.
        name: String,
    },
    /// Run a schedule now. Timers call this.
    Run(RunScheduleArgs),
}

#[derive(Debug, Args)]
pub(crate) struct AddScheduleArgs {
    /// Its name: letters, digits, `-` and `_`.
    pub(crate) name: String,
    /// Task in your own words.
    #[arg(required_unless_present = "workflow", conflicts_with = "workflow")]
    pub(crate) request: Option<String>,
    /// When: `hourly`, `daily`, `weekly`, `monthly`, or days and a time, such as `Mon..Fri 07:00`, `*-*-01 09:30`, `*:00/15`.
    #[arg(long, value_name = "WHEN")]
    pub(crate) when: String,
    /// Make up once for a time that passed while the machine or the service was off.
    #[arg(long)]
    pub(crate) catch_up: bool,
    /// Run this workflow in place of a request.
    #[arg(long, value_name = "NAME")]
    pub(crate) workflow: Option<String>,
    /// A parameter of the workflow; can be repeated.
    #[arg(long = "parameter", value_name = "NAME=VALUE", value_parser = parse_pair, requires = "workflow")]
    pub(crate) parameters: Vec<(String, String)>,
    /// Open a file, a folder or an address first; can be repeated.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::AnyPath)]
    pub(crate) open: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) trust: TrustArgs,
    /// Options of `deskhand run`.
    #[arg(last = true, value_name = "OPTIONS")]
    pub(crate) options: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct RunScheduleArgs {
    /// Its name.
    pub(crate) name: String,
    #[command(flatten)]
    pub(crate) trust: TrustArgs,
    /// The id of the session, for whoever starts it and wants to find it.
    #[arg(long = "as", value_name = "ID", hide = true, value_parser = parse_id)]
    pub(crate) id: Option<SessionId>,
    /// The time that it is for, in milliseconds since 1970; it runs only once for that.
    #[arg(long, value_name = "MS", hide = true)]
    pub(crate) due: Option<u64>,
}
