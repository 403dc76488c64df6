//! X11: windows, screenshots, input and clipboard.
//!
//! `address` says where a server is. `display` owns the threads: one runs requests on a `worker`, one reads `events`. `fault` is why a request fails.

pub(crate) mod address;
pub(crate) mod capture;
pub(crate) mod clipboard;
pub(crate) mod display;
mod drag;
pub(crate) mod events;
pub(crate) mod fault;
pub(crate) mod input;
pub(crate) mod keyboard;
pub(crate) mod keymap;
mod kinds;
mod monitors;
mod own_messages;
mod watching;
mod windowing;
pub(crate) mod windows;
pub(crate) mod worker;

pub use watching::InputWatch;
