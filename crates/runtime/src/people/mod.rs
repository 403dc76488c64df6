//! People: the ways to the user of a session.
//!
//! - [`port`]: what a session may want of a person ([`UserChannel`]), and [`Nobody`] for when there is none.
//! - [`console`]: a person or a program at the other end of lines of text; a [`Face`] says how that looks.
//! - [`json`]: the face for programs; its lines are [`protocol`]. The face for people is the command line's.
//! - [`attend`]: what the driver asks, with time-outs; [`pause`] holds a session.
//!
//! Nothing here decides what an answer means: that is core's.

mod attend;
mod console;
mod json;
mod lines;
mod pause;
mod port;
pub mod protocol;

pub use attend::{Approvals, People};
pub use console::{Console, Face, Heard, Listener, Prompt, REQUESTS_WAITING_MAX, console};
pub use json::{JsonFace, WriteLine};
use lines::LINES_WAITING_MAX;
pub use lines::{InputLine, InputLines, LINE_BYTES_MAX};
pub use pause::PauseSwitch;
pub use port::{
    Answered, AnyUserChannel, ApprovalRequest, Boxed, Decided, Nobody, Notice, Questions, Request,
    UserChannel,
};
