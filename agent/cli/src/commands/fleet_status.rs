//! `deskhand fleet status`: where tasks are, and what they took.
//!
//! Of many tasks, the numbers are those of the leading controller, unless it has not written them for more than the time of a lease.

use std::time::Duration;

use deskhand_fleet::{
    nats::{FleetSummarySnapshot, NatsStore},
    plan::SUMMED,
};
use deskhand_serve::fleet::{
    costs::{self, Costs},
    view::{self, Counts, FleetTaskRow},
};
use serde::Serialize;

use super::{
    fleet_plans,
    fleet_rows::{known, line_of, sentence, server, silent},
};
use crate::{
    args::FleetStatusArgs,
    exit::{CliError, CommandResult, Exit},
    output::{Output, OutputStream, OutputTone, StyledLine},
};

/// Of more tasks, only the numbers are shown.
const LISTED_MAX: u64 = 1_000;
/// Numbers that are older are shown with their age.
const FRESH: Duration = Duration::from_secs(3);

/// Output of `status --json`.
#[derive(Serialize)]
struct FleetStatusReport<'a> {
    counts: Counts,
    costs: &'a Costs,
    /// Age of the numbers, if they come from the leading controller.
    #[serde(skip_serializing_if = "Option::is_none")]
    summary: Option<Age>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tasks: Option<&'a [FleetTaskRow]>,
}

#[derive(Serialize)]
struct Age {
    /// In seconds.
    age: f64,
    /// Number of tasks added, started or ended since then.
    changes: u64,
}

pub(super) async fn status(args: &FleetStatusArgs) -> CommandResult {
    let store = server(&args.server).await?;
    if args.ids.is_empty()
        && !args.all
        && let Some(told) = summary(&store).await
    {
        return show(args, &store, &told).await;
    }
    let mut rows = known(view::named(&store, &args.ids).await.map_err(silent)?)?;
    for row in rows.iter_mut().filter(|row| !args.ids.is_empty() && row.attempts.is_empty()) {
        // Of a task without an outcome, only the journal has them.
        row.attempts = view::journal(&store, &row.id).await.map_err(silent)?.attempts;
    }
    let costs = costs::costs(&store, &rows).await.map_err(silent)?;
    let (out, counts) = (Output::to(OutputStream::Out), Counts::of(&rows));
    if args.json {
        out.json(&FleetStatusReport { counts, costs: &costs, summary: None, tasks: Some(&rows) });
        return Ok(Exit::Success);
    }
    let lines: Vec<StyledLine> = rows
        .iter()
        .flat_map(|row| std::iter::once(line_of(row)).chain(fleet_plans::attempt_lines(row)))
        .chain(fleet_plans::cost_lines(&costs))
        .chain([StyledLine::of(OutputTone::Faint, sentence(counts))])
        .collect();
    out.pages(&lines);
    Ok(Exit::Success)
}

/// Returns the summary of the leading controller, if there are many tasks and a controller leads.
async fn summary(store: &NatsStore) -> Option<FleetSummarySnapshot> {
    // Whatever is wrong with it, the tasks themselves can be read.
    let told = store.summary().await.ok()??;
    let is_enough = told.age <= store.times().lease + SUMMED && !told.summary.tally.is_cut;
    (is_enough && told.summary.tally.tasks() > LISTED_MAX).then_some(told)
}

async fn show(
    args: &FleetStatusArgs,
    store: &NatsStore,
    told: &FleetSummarySnapshot,
) -> Result<Exit, CliError> {
    let FleetSummarySnapshot { summary, age, changes } = told;
    let costs = costs::told(store, &summary.tally).await.map_err(silent)?;
    let (out, counts) = (Output::to(OutputStream::Out), Counts::told(summary));
    if args.json {
        let age = Age { age: age.as_secs_f64(), changes: *changes };
        out.json(&FleetStatusReport { counts, costs: &costs, summary: Some(age), tasks: None });
        return Ok(Exit::Success);
    }
    let mut lines = fleet_plans::cost_lines(&costs);
    lines.push(StyledLine::of(OutputTone::Plain, sentence(counts)));
    if *age > FRESH || *changes > 0 {
        let told = format!("as of {} s ago; {changes} changes since are not counted", age.as_secs());
        lines.push(StyledLine::of(OutputTone::Faint, told));
    }
    lines.push(StyledLine::of(OutputTone::Faint, "list the tasks with `deskhand fleet status --all`"));
    out.pages(&lines);
    Ok(Exit::Success)
}
