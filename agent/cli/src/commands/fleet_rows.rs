//! Tasks of a fleet for the commands of `deskhand fleet`: reading those that are named, and lines about them.

use deskhand_fleet::{journal::TaskOutcome, nats::NatsStore, store::StoreError};
use deskhand_serve::fleet::view::{self, Counts, FleetTaskRow, TaskState};
use deskhand_ui::text::one_line;

use super::fleet_server::FleetEndpoint;
use crate::{
    args::FleetServerArgs,
    exit::CliError,
    output::{OutputTone, StyledLine},
};

/// Connects to the server of a fleet.
///
/// # Errors
/// No server is named or answers, or it refuses.
pub(super) async fn server(args: &FleetServerArgs) -> Result<NatsStore, CliError> {
    FleetEndpoint::by(args, None)?.connect().await
}

pub(super) fn silent(error: StoreError) -> CliError {
    CliError::failed_to("ask the server of the fleet", error)
}

/// The tasks that were named.
pub(super) async fn selected(store: &NatsStore, ids: &[String]) -> Result<Vec<FleetTaskRow>, CliError> {
    known(view::selected(view::tasks(store).await.map_err(silent)?, ids))
}

/// The tasks that were named, if there is each of them.
pub(super) fn known(
    (rows, unknown): (Vec<FleetTaskRow>, Vec<String>),
) -> Result<Vec<FleetTaskRow>, CliError> {
    match unknown.first() {
        Some(unknown) => Err(no_task(unknown)),
        None => Ok(rows),
    }
}

/// The error of an id that the fleet does not know.
pub(super) fn no_task(id: &str) -> CliError {
    CliError::new(format!("the fleet has no task {id}"))
        .with_help("list the tasks with `deskhand fleet status`")
}

pub(super) fn sentence(counts: Counts) -> String {
    let Counts { tasks, waiting, queued, held, finished, unfinished } = counts;
    format!(
        "{tasks} tasks: {finished} finished, {unfinished} ended otherwise, {held} with workers, {queued} queued, {waiting} waiting"
    )
}

pub(super) fn line_of(row: &FleetTaskRow) -> StyledLine {
    let (tone, text) = match &row.state {
        TaskState::Waits => (OutputTone::Faint, "waits for other tasks".to_owned()),
        TaskState::Queued => (OutputTone::Faint, "waits for a worker".to_owned()),
        TaskState::Rows { rows, ended } => (OutputTone::Faint, format!("{ended} of {rows} rows have ended")),
        TaskState::Held { worker } => (OutputTone::Plain, format!("is with {worker}")),
        TaskState::Ended { outcome } => outcome_words(outcome),
    };
    StyledLine::of(OutputTone::Strong, row.id.as_str()).with(tone, format!("  {}", one_line(&text)))
}

/// Describes the outcome of a task.
pub(super) fn outcome_words(outcome: &TaskOutcome) -> (OutputTone, String) {
    match outcome {
        TaskOutcome::Done { result, finished } => {
            let text = |name: &str| result.get(name).and_then(|value| value.as_str()).unwrap_or_default();
            let tone = if *finished { OutputTone::Good } else { OutputTone::Bad };
            (tone, format!("{}: {}", text("outcome"), text("reason")))
        }
        TaskOutcome::Failed { reason } => (OutputTone::Bad, format!("cannot be done: {reason}")),
        TaskOutcome::Refused { reason } => (OutputTone::Bad, format!("refused: {reason}")),
        TaskOutcome::DeadLetter { reason } => (OutputTone::Bad, format!("put aside: {reason}")),
        TaskOutcome::Person { reason } => (OutputTone::Doubtful, format!("somebody has to decide: {reason}")),
        TaskOutcome::Cancelled => (OutputTone::Doubtful, "cancelled".to_owned()),
        TaskOutcome::Expired { reason } => (OutputTone::Bad, format!("expired: {reason}")),
        TaskOutcome::OverBudget { reason } => (OutputTone::Bad, format!("never begun: {reason}")),
        TaskOutcome::Blocked { by } => (OutputTone::Bad, format!("never begun: {by} did not finish")),
    }
}
