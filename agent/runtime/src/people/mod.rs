//! Channels to the user of a session.
//!
//! - [`port`]: the port [`UserChannel`], and [`Nobody`] for sessions without a user.
//! - [`console`]: a channel over lines of text; a [`Frontend`] shows prompts and parses lines.
//! - [`json`]: the frontend for programs; its lines are [`protocol`]. The frontend for terminals is in the CLI.
//! - [`socket`]: the channel to all who use the control socket of a session; [`everybody`] asks two channels at once.
//! - [`attend`]: asks on behalf of the driver, with timeouts; [`pause`] pauses a session and hands its desktop over.
//! - [`hands`]: watches what a person does who has taken over.
//!
//! Core decides what an answer means.

mod attend;
mod console;
mod everybody;
pub(crate) mod hands;
mod json;
mod lines;
mod pause;
mod port;
pub mod protocol;
mod socket;

pub use attend::{Approvals, People};
pub(crate) use attend::{held_by_hands, held_by_pause};
pub use console::{
    Console, ConsoleListener, Frontend, REQUESTS_WAITING_MAX, SteeringScope, UserInput, UserPrompt,
    WORDS_WAITING_MAX, console,
};
pub use everybody::Everybody;
pub use hands::{HandsWatch, WatchHands};
pub use json::{JsonFrontend, WriteLine};
use lines::LINES_WAITING_MAX;
pub use lines::{InputLine, InputLines, LINE_BYTES_MAX};
pub use pause::PauseSwitch;
pub use port::{
    AnyUserChannel, ApprovalReply, ApprovalRequest, Nobody, PauseNotice, QuestionReply, QuestionRequest,
    UserChannel, UserRequest, words_problem,
};
pub use socket::{
    CONTROL_SOCKET, ControlListener, ControlSocket, Patience, SessionControls, connect_control,
};
