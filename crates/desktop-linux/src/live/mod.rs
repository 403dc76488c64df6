//! What a page needs to show a desktop and to let a person work on it: its pixels as they change, and a person's hands.
//!
//! - `screen` is a viewer: it hands out what changed since its last update. `eye` is the thread behind it, `frame` compares
//!   pixels, `pace` says how often, `update` is what is handed out and how it is sent.
//! - `input` is a pointer and a keyboard, `hands` the thread behind them.
//!
//! Each has a connection of its own to the X server and shares nothing with the process of a session: a slow viewer slows
//! no agent, and what a session listens to is not disturbed.

mod eye;
mod frame;
mod hands;
mod input;
mod pace;
mod screen;
mod update;

pub use input::{InputMessage, LiveInput};
pub use screen::LiveScreen;
pub use update::{Part, Update};
