//! Renders journals, trees and findings as lines. Pure: reads values and returns lines.

mod describe;
mod progress;
mod records;
mod sessions;
mod tasks;
mod trajectory;
mod tree;
mod waiting;

pub(crate) use describe::{action_details, command_words, number, seconds, verdict_tone};
pub(crate) use progress::{RunProgressView, Verbosity};
pub(crate) use records::record_lines;
pub(crate) use sessions::{SessionListRow, session_lines};
pub(crate) use tasks::{TaskResultRow, outcome_tone, task_lines};
pub(crate) use trajectory::trajectory_lines;
pub(crate) use tree::{tree_lines, window_lines};
pub(crate) use waiting::waiting_line;

#[cfg(test)]
mod tests;
