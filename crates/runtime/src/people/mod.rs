//! Channels to the user of a session.
//!
//! - [`port`]: the port [`UserChannel`], and [`Nobody`] for sessions without a user.
//! - [`console`]: a channel over lines of text; a [`Frontend`] shows prompts and parses lines.
//! - [`json`]: the frontend for programs; its lines are [`protocol`]. The frontend for terminals is in the CLI.
//! - [`attend`]: asks on behalf of the driver, with timeouts; [`pause`] pauses a session.
//!
//! Core decides what an answer means.

mod attend;
mod console;
mod json;
mod lines;
mod pause;
mod port;
pub mod protocol;

pub use attend::{Approvals, People};
pub use console::{Console, Frontend, Listener, Prompt, REQUESTS_WAITING_MAX, UserInput, console};
pub use json::{JsonFrontend, WriteLine};
use lines::LINES_WAITING_MAX;
pub use lines::{InputLine, InputLines, LINE_BYTES_MAX};
pub use pause::PauseSwitch;
pub use port::{
    Answered, AnyUserChannel, ApprovalRequest, Decided, Nobody, PauseNotice, Questions, Request, UserChannel,
};
