//! X11: one connection behind a thread, what the server announces, and windows, pictures, input and clipboard over it.

pub(crate) mod capture;
pub(crate) mod clipboard;
pub(crate) mod display;
mod drag;
pub(crate) mod events;
mod input;
mod keyboard;
mod rhythm;
pub(crate) mod window_ids;
pub(crate) mod windows;

pub use events::XEvent;
