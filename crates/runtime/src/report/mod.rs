//! Reports: a session for people, and for other programs. Readers of the journal and nothing else.
//!
//! - [`ReportFormat::Html`]: one file that holds everything and asks no server for anything.
//! - [`ReportFormat::Markdown`]: the trajectory, with pictures beside it.
//! - [`ReportFormat::Jsonl`]: a line of flat fields for each step.
//! - [`ReportFormat::Ufo`]: a folder of logs as the reference implementation writes it.
//!
//! A journal is read twice, line by line: once for what is said of the whole, once to write. No more than one step
//! is in memory.

mod error;
mod figure;
mod html;
mod html_head;
mod html_step;
mod jsonl;
mod markdown;
mod overview;
mod pictures;
mod render;
mod target;
mod ufo;
mod ufo_log;
mod words;
mod write;

pub use error::ReportError;
pub use write::{ReportFormat, write_report};
