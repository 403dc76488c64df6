//! Chromium, over its own protocol (CDP) on two pipes.

mod act;
mod events;
mod pipe;
mod walk;

pub(crate) use act::Cdp;
pub(crate) use events::{first_messages, on_event};
pub(crate) use pipe::{Pipes, serve};
