//! The screen, the windows, the input and the clipboard of a Wayland compositor: what `x11` of `deskhand-desktop-linux` is for an X
//! server, with the same file names. Elements, applications and files are not its business.
//!
//! - [`WaylandDisplay`] is the connection: one thread runs requests, one reads `events`. `client` is one connection with what arrived on it.
//! - `windows` are read over the socket of sway (`sway`), which alone gives places and processes: no protocol of Wayland does.
//! - `capture` takes pictures (`wlr-screencopy`), `monitors` places them, `input` and `keyboard` press keys and buttons
//!   (`virtual-keyboard`, `wlr-virtual-pointer`), `clipboard` is `wlr-data-control`.
//! - GNOME and KDE have none of these. There, `portal` takes pictures and sends input once a person has allowed it, and `shell` reads windows
//!   over the session bus. `worker` and `hands` choose between the two ways.
//! - [`CompositorSupport`] tells what a compositor offers of it.
//!
//! Coordinates are those of the layout of monitors, in its own units: a monitor with a scale factor of 2 has half as many of them as pixels,
//! and its pictures are scaled down to them. Applications and input count in the same units.

mod address;
mod capture;
mod client;
mod clipboard;
mod display;
mod events;
mod frame;
mod hands;
mod input;
mod keyboard;
mod monitors;
mod portal;
mod selection;
mod shell;
mod state;
mod support;
mod sway;
mod windows;
mod worker;

pub use address::CompositorAddress;
pub use display::{CompositorBackend, HeldButton, WaylandDisplay};
pub use events::CompositorEvent;
pub use input::symbols_of;
pub use keyboard::Symbol;
pub use shell::gnome::{GNOME_EXTENSION, gnome_shell_version, write_gnome_extension};
pub use support::CompositorSupport;
pub use windows::Toplevel;
