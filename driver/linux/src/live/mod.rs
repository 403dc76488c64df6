//! Live view and control of a desktop for a web page: its pixels as they change, and the input of a person.
//!
//! - `screen` is a viewer: it hands out the changes since its last update. `eye` is the thread behind it,
//!   `frame` compares pixels, `pace` sets the interval, `update` is the data handed out and its encoding.
//! - `input` is a pointer and a keyboard, `hands` the thread behind them, `message` what a page sends.
//!
//! Each has its own connection to the X server and shares nothing with the process of a session: a slow
//! viewer slows no agent and does not disturb the event stream of a session.

mod eye;
mod frame;
mod hands;
mod input;
mod message;
mod pace;
mod screen;
mod update;

pub use input::LiveInput;
pub use message::InputMessage;
pub use screen::LiveScreen;
pub use update::{ScreenUpdate, ScreenUpdateRegion};
