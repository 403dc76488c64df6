//! Linux: X11, Wayland, AT-SPI, and private virtual desktops.
//!
//! - [`LinuxDesktop`] is the desktop. `windowing`, `ui_tree`, `input` and `settling` (with `history`) implement its capabilities;
//!   `attach` starts or takes over a desktop that a keeper process holds, `current` connects to the one that the user sits at.
//! - `parts` is what a desktop is made of, `times` how long that took to come up.
//! - `server` is what shows windows and takes input: an X server or a Wayland compositor, and `on` a desktop with its server; `screen` is
//!   what the two have in common.
//! - `x11`: the connection to the X server, its events, EWMH windows, screenshots, input, clipboard.
//! - `wayland`: the same over `deskhand-desktop-wayland`, with pop-ups as the accessibility bus tells them.
//! - `atspi`: the accessibility bus, and the mirror of what applications expose on it.
//! - `virtual_desktop`: a private display with its own buses, the keeper process that holds it, and clean-up.
//! - `kernel`: the processes of an application as the kernel reports them: whether they sleep, and what could wake them.
//! - `toolkits`: how programs of each toolkit are recognised, and what they need to expose their elements, and what is particular to these.
//! - `live`: what a page needs to show a desktop and to let a person work on it, on connections of its own.
//! - `catalogues` reads the labels that toolkits translate, for the safe guard.
//! - `key_ring` reads secrets of the user over the Secret Service.
//! - `native`: the interfaces of applications of their own: UNO of LibreOffice.
//! - `office_locks`: the lock files of LibreOffice, and which of them are stale.
//! - `opening` chooses the application for a file, a folder or an address, as `xdg-open` would.
//! - `desktop_entries` finds the installed applications; [`diagnose`] reports what works on this machine and what to
//!   install.

#![cfg(target_os = "linux")]

mod atspi;
mod attach;
mod blocking;
mod catalogues;
mod current;
mod desktop;
mod desktop_entries;
mod doctor;
mod documents;
mod history;
mod input;
mod kernel;
mod key_ring;
mod live;
mod native;
mod notification;
mod office_locks;
mod on;
mod opening;
mod parts;
mod screen;
mod server;
mod settling;
mod times;
mod toolkits;
mod ui_tree;
mod virtual_desktop;
mod wayland;
mod windowing;
mod x11;

pub use atspi::MirrorDiff;
pub use catalogues::each_translation;
pub use current::{install_gnome_extension, portal_support};
pub use deskhand_desktop_wayland::{CompositorSupport, GNOME_EXTENSION, write_gnome_extension};
pub use desktop::LinuxDesktop;
pub use doctor::{DependencyCheck, diagnose, find_program};
pub use key_ring::{KeyRingError, read_key_ring};
pub use live::{InputMessage, LiveInput, LiveScreen, ScreenUpdate, ScreenUpdateRegion};
pub use notification::{Notification, NotificationError, notify};
pub use office_locks::OfficeLock;
pub use opening::{NewFileMethod, NoOpener, OpenTarget, Opener, Openers};
pub use screen::ScreenEvent;
pub use settling::ActivitySubscription;
pub use times::StartupTimes;
pub use virtual_desktop::{
    BrowserHolder, Confine, ConfineMode, DesktopHandle, Environment, KeptOut, VirtualOptions, VncInput,
    VncServer, keep_desktop,
};
pub use x11::InputWatch;
