//! Renders the results of several tasks as a table.

use deskhand_host::TaskResult;
use deskhand_machine::outcome::OutcomeKind;

use super::describe::{number, seconds};
use crate::output::{OutputTone, StyledLine};

/// The widest column of ids.
const ID_WIDTH_MAX: usize = 40;

/// One task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TaskResultRow {
    pub(crate) id: String,
    pub(crate) outcome: OutcomeKind,
    pub(crate) steps: u32,
    pub(crate) model_calls: u32,
    pub(crate) tokens: u64,
    pub(crate) cost: String,
    pub(crate) time: String,
}

impl TaskResultRow {
    /// The row of a result.
    pub(crate) fn of(result: &TaskResult) -> Self {
        Self {
            id: result.id.clone(),
            outcome: result.outcome,
            steps: result.steps,
            model_calls: result.model_calls,
            tokens: result.prompt_tokens.saturating_add(result.completion_tokens),
            cost: result.cost.to_string(),
            time: seconds(result.elapsed_ms),
        }
    }
}

/// The tone of an outcome.
pub(crate) const fn outcome_tone(kind: OutcomeKind) -> OutputTone {
    match kind {
        OutcomeKind::Finished => OutputTone::Good,
        OutcomeKind::Cancelled | OutcomeKind::Rejected => OutputTone::Doubtful,
        OutcomeKind::Failed | OutcomeKind::BudgetExhausted | OutcomeKind::Error => OutputTone::Bad,
    }
}

/// The table, and how many tasks finished.
pub(crate) fn task_lines(rows: &[TaskResultRow]) -> Vec<StyledLine> {
    let longest =
        |texts: &mut dyn Iterator<Item = &str>| texts.map(|text| text.chars().count()).max().unwrap_or(0);
    let id = longest(&mut rows.iter().map(|row| row.id.as_str())).clamp(4, ID_WIDTH_MAX);
    let cost = longest(&mut rows.iter().map(|row| row.cost.as_str())).max(4);
    let numbers = |steps: &str, calls: &str, tokens: &str, money: &str, time: &str| {
        format!("{steps:>6} {calls:>12} {tokens:>10} {money:>cost$} {time:>9}")
    };
    let head = format!("{:<id$}  {:<16} ", "task", "outcome");
    let mut lines = vec![StyledLine::of(
        OutputTone::Faint,
        head + &numbers("steps", "model calls", "tokens", "cost", "time"),
    )];
    for row in rows {
        let name: String = row.id.chars().take(id).collect();
        lines.push(
            StyledLine::of(OutputTone::Strong, format!("{name:<id$}  "))
                .with(outcome_tone(row.outcome), format!("{:<16} ", row.outcome.word()))
                .with(
                    OutputTone::Plain,
                    numbers(
                        &row.steps.to_string(),
                        &row.model_calls.to_string(),
                        &number(row.tokens),
                        &row.cost,
                        &row.time,
                    ),
                ),
        );
    }
    let finished = rows.iter().filter(|row| row.outcome == OutcomeKind::Finished).count();
    lines.push(StyledLine::of(OutputTone::Plain, format!("{finished} of {} finished", rows.len())));
    lines
}
