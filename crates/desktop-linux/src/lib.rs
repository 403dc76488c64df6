//! Linux: X11, AT-SPI, and private virtual desktops.
//!
//! - [`LinuxDesktop`] is the desktop; `virtual_desktop` starts a private one, with `processes`,
//!   `environment` and `programs`.
//! - `keeper` is the process that holds a virtual desktop so that it outlives its owner; `kept` is the owner's side.
//! - `display` owns the connection to the X server, `events` reads what it tells; `windows` and `windowing`
//!   manage windows, `capture` takes pictures, `input`, `keyboard` and `drag` send clicks, keys and drags.
//! - `desktop_entries` knows the installed applications.
//! - [`diagnose`] tells what works on this machine and what to install.

mod accessibility_bus;
mod atspi;
mod capture;
mod clipboard;
mod desktop;
mod desktop_entries;
mod display;
mod doctor;
mod drag;
mod environment;
mod events;
mod history;
mod input;
mod keeper;
mod kept;
mod keyboard;
mod processes;
mod programs;
mod rhythm;
mod settling;
mod ui_tree;
mod virtual_desktop;
mod windowing;
mod windows;

pub use atspi::Difference;
pub use desktop::{LinuxDesktop, StartupTimes};
pub use doctor::{Finding, diagnose, find_program};
pub use environment::Environment;
pub use events::XEvent;
pub use keeper::{DesktopHandle, keep_desktop};
pub use kept::IdsGiven;
pub use settling::Watch;
pub use virtual_desktop::VirtualOptions;
