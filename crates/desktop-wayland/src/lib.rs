//! The screen, the windows, the input and the clipboard of a Wayland compositor: what `x11` of `deskhand-desktop-linux` is for an X
//! server, with the same file names. Elements, applications and files are not its business.
//!
//! - [`Display`] is the connection: one thread runs requests, one reads `events`. `client` is one connection with what arrived on it.
//! - `windows` are read over the socket of sway (`sway`), which alone gives places and processes: no protocol of Wayland does.
//! - `capture` takes pictures (`wlr-screencopy`), `monitors` places them, `input` and `keyboard` press keys and buttons
//!   (`virtual-keyboard`, `wlr-virtual-pointer`), `clipboard` is `wlr-data-control`.
//! - [`Support`] tells what a compositor offers of it.
//!
//! Coordinates are those of the layout of monitors, in its own units: a monitor with a scale factor of 2 has half as many of them as pixels,
//! and its pictures are scaled down to them. Applications and input count in the same units.

mod address;
mod capture;
mod client;
mod clipboard;
mod display;
mod events;
mod input;
mod keyboard;
mod monitors;
mod support;
mod sway;
mod windows;

pub use address::Address;
pub use display::Display;
pub use events::Event;
pub use input::{Pointing, symbols_of};
pub use keyboard::Symbol;
pub use support::Support;
pub use windows::Toplevel;
