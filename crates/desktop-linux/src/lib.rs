//! Linux: X11, AT-SPI, and private virtual desktops.
//!
//! - [`LinuxDesktop`] is the desktop: `windowing`, `ui_tree` and `settling` (with `history`) put its parts together.
//! - `x11`: the connection to the X server, its events, windows by EWMH, pictures, input, clipboard.
//! - `atspi`: the accessibility bus, and the mirror of what applications show on it.
//! - `virtual_desktop`: a display, buses and accessibility bus of our own; the keeper that holds them; clean-up.
//! - `desktop_entries` knows the installed applications; [`diagnose`] reports what works on this machine and what to
//!   install.

#![cfg(target_os = "linux")]

mod atspi;
mod clock;
mod desktop;
mod desktop_entries;
mod doctor;
mod history;
mod settling;
mod ui_tree;
mod virtual_desktop;
mod windowing;
mod x11;

pub use atspi::Difference;
pub use desktop::{LinuxDesktop, StartupTimes};
pub use doctor::{Finding, diagnose, find_program};
pub use settling::Watch;
pub use virtual_desktop::{DesktopHandle, Environment, IdsGiven, VirtualOptions, keep_desktop};
pub use x11::XEvent;
