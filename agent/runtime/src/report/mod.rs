//! Reports of a session, for people and other programs; readers of the journal.
//!
//! - [`ReportFormat::Html`]: one self-contained file.
//! - [`ReportFormat::Markdown`]: the trajectory, with pictures in a folder.
//! - [`ReportFormat::Jsonl`]: one flat line per step.
//! - [`ReportFormat::Ufo`]: a folder of logs in the format of the reference implementation.
//!
//! A journal is read twice, line by line: once for the overview, once to write. At most one step is in memory.

mod error;
mod figure;
mod html;
mod html_head;
mod html_parts;
mod html_step;
mod jsonl;
mod live;
mod markdown;
mod overview;
mod pictures;
mod render;
mod sink;
mod target;
mod times;
mod ufo;
mod ufo_log;
mod words;
mod write;

pub use error::ReportError;
pub use live::{LiveChapter, LivePage, LivePart};
pub(crate) use overview::cost_of;
pub use render::{CSS as STYLE, template_environment};
pub(crate) use words::{NoteLine, TalkLine, reply_words};
pub use write::{ReportFormat, write_report};
