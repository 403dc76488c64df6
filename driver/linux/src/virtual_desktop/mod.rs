//! Private desktops: an X server, window manager, session bus and accessibility bus of their own.
//!
//! - `start` brings one up with its `environment`, `programs`, `session_bus` and `accessibility_bus`; `processes` ends everything on
//!   it and removes its files. `abandoned` does so for desktops whose processes were all killed.
//! - `confine` keeps secrets and our own files from its applications; `folders` says where the files of a desktop are.
//! - `keeper` is the process that holds a desktop for its next owner. `kept` is the owner's end of their connection,
//!   `protocol` what is sent over it.
//! - `vnc` shows a desktop to a person.

mod abandoned;
pub(crate) mod accessibility_bus;
mod configuration;
pub(crate) mod confine;
pub(crate) mod environment;
pub(crate) mod folders;
pub(crate) mod keeper;
pub(crate) mod kept;
pub(crate) mod processes;
pub(crate) mod programs;
pub(crate) mod protocol;
mod session_bus;
mod share;
pub(crate) mod start;
mod vnc;

pub use confine::{Confine, ConfineMode, KeptOut};
pub use environment::Environment;
pub use keeper::keep_desktop;
pub use programs::BrowserHolder;
pub use protocol::DesktopHandle;
pub use start::VirtualOptions;
pub use vnc::{VncInput, VncServer};
