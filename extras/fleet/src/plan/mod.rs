//! Plans: what a task takes from others, tasks for the rows of a table, further tries, deadlines, and budgets for many tasks.
//!
//! - `facts`: what the result of a task says of it: how it ended, what it took, which documents it left.
//! - `fill`: values in the texts of a task, marked as data.
//! - `table`: tables with a header, and the tasks of their rows.
//! - `groups`: when all rows have ended.
//! - `lead`: what the leading controller does for them.
//! - `retry`: whether a task is tried again.
//! - `budget`: limits for all tasks of a batch, and limits of labels.
//! - `slots`: which tasks count for the limits of labels.
//! - `tally`: how many tasks are where, and what they took.
//! - `work`: what a worker does, and what it takes from other tasks.
//! - `times`: times as people write them.

mod budget;
mod facts;
mod fill;
pub(crate) mod groups;
pub(crate) mod lead;
mod retry;
mod slots;
mod table;
mod tally;
mod times;
mod work;

pub use budget::{
    BUDGETS, BatchBudget, BatchBudgetLimit, BudgetRecord, LABEL_LIMITS, LIMITS, Limits, TaskUsage, budget_key,
};
pub use facts::{OutcomeRecord, TaskResultFacts};
pub use fill::{FillError, fill_name, fill_results, fill_row, name_results, plain, value, with_note};
pub use lead::no_document;
pub(crate) use retry::again;
pub use retry::{RETRIED, TaskAttempt, TaskRetryPolicy, attempts};
pub use slots::Slots;
pub(crate) use slots::{SLOTS, TaskIdHash};
pub use table::{ForEach, ROWS_MAX, RowError, TableError, TaskTable, is_row_of, row_id, row_task};
pub use tally::{FleetSummary, SUMMARY, SUMMED, Share, TaskTally};
pub use times::{TimeError, deadline_ms, duration_ms, now_ms, time_words};
pub use work::{DocumentInput, TaskPayload};
