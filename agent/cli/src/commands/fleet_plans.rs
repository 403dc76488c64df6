//! Output of `deskhand fleet` about plans: limits, costs, budgets and tries.

use std::collections::BTreeSet;

use deskhand_fleet::{
    nats::NatsStore,
    plan::{BatchBudget, TaskUsage, row_id},
};
use deskhand_machine::money::{Cost, Money};
use deskhand_serve::fleet::{
    costs::{self, BatchCosts, Costs, LabelCosts},
    view::{self, FleetTaskRow, TaskState},
};
use deskhand_ui::text::one_line;

use super::fleet_rows::{selected, server, silent};
use crate::{
    args::FleetLimitArgs,
    exit::{CliError, CommandResult, Exit},
    output::{Output, OutputStream, OutputTone, StyledLine},
};

pub(super) async fn limit(args: &FleetLimitArgs) -> CommandResult {
    let store = server(&args.server).await?;
    let limits = costs::set_limits(&store, &args.limits).await.map_err(silent)?;
    let out = Output::to(OutputStream::Out);
    if args.json {
        out.json(&limits);
        return Ok(Exit::Success);
    }
    for (label, limit) in &limits {
        out.line(
            &StyledLine::of(OutputTone::Strong, label)
                .with(OutputTone::Plain, format!("  at most {limit} at once")),
        );
    }
    if limits.is_empty() {
        Output::to(OutputStream::Error).line(&StyledLine::of(OutputTone::Faint, "no label has a limit"));
    }
    Ok(Exit::Success)
}

/// The tasks that were named, those of their rows included.
pub(super) async fn with_rows(store: &NatsStore, ids: &[String]) -> Result<Vec<FleetTaskRow>, CliError> {
    let named = selected(store, ids).await?;
    let mut wanted: BTreeSet<String> = named.iter().map(|row| row.id.to_string()).collect();
    for row in &named {
        if let TaskState::Rows { rows, .. } = row.state {
            let rows = (1..=rows).filter_map(|number| row_id(&row.id, usize::try_from(number).ok()?).ok());
            wanted.extend(rows.map(String::from));
        }
    }
    let all = view::tasks(store).await.map_err(silent)?;
    // What stands for rows ends when they have.
    let is_wanted =
        |row: &FleetTaskRow| wanted.contains(row.id.as_str()) && !matches!(row.state, TaskState::Rows { .. });
    Ok(all.into_iter().filter(is_wanted).collect())
}

/// A line for each try before the last one.
pub(super) fn attempt_lines(row: &FleetTaskRow) -> impl Iterator<Item = StyledLine> + '_ {
    (1..).zip(&row.attempts).map(|(number, attempt)| {
        let text = format!(
            "  try {number}: {}: {} ({})",
            attempt.outcome,
            one_line(&attempt.reason),
            attempt.worker.0
        );
        StyledLine::of(OutputTone::Faint, text)
    })
}

/// Renders the usage of labels and batches that is not zero or has a limit.
pub(super) fn cost_lines(costs: &Costs) -> Vec<StyledLine> {
    let labels = costs.labels.iter().map(|(label, LabelCosts { tasks, used, limit })| {
        let limit = limit.map(|limit| format!("; at most {limit} at once")).unwrap_or_default();
        let text = format!("  {}, {}{limit}", task_words(*tasks), used_words(*used));
        StyledLine::of(OutputTone::Strong, format!("label {label}")).with(OutputTone::Plain, text)
    });
    let batches = costs.batches.iter().map(|(batch, BatchCosts { tasks, used, budget })| {
        let line = StyledLine::of(OutputTone::Strong, format!("batch {batch}"));
        let Some(budget) = budget else {
            return line.with(OutputTone::Plain, format!("  {}, {}", task_words(*tasks), used_words(*used)));
        };
        let line = line.with(
            OutputTone::Plain,
            format!("  {}, {}", task_words(*tasks), of_allowed(*used, budget.allowed)),
        );
        match budget.reached {
            Some(limit) => line
                .with(OutputTone::Bad, format!("; its limit of {limit} is reached, nothing further begins")),
            None => line,
        }
    });
    labels.chain(batches).collect()
}

fn cost(used: TaskUsage) -> Cost {
    let unknown_calls = u32::try_from(used.unpriced_calls).unwrap_or(u32::MAX);
    Cost { known: Money(used.cost_micros), unknown_calls }
}

fn task_words(tasks: usize) -> String {
    if tasks == 1 { "1 task".to_owned() } else { format!("{tasks} tasks") }
}

fn used_words(used: TaskUsage) -> String {
    format!("{} model calls, {} tokens, cost {}", used.model_calls, used.tokens, cost(used))
}

/// Describes the usage relative to the budget.
fn of_allowed(used: TaskUsage, allowed: BatchBudget) -> String {
    let of = |most: Option<String>| most.map(|most| format!(" of {most}")).unwrap_or_default();
    format!(
        "{}{} model calls, {}{} tokens, cost {}{}",
        used.model_calls,
        of(allowed.model_calls.map(|most| most.to_string())),
        used.tokens,
        of(allowed.tokens.map(|most| most.to_string())),
        cost(used),
        of(allowed.cost_micros.map(|most| Money(most).to_string())),
    )
}
