//! A private desktop: an X server, window manager, session bus and accessibility bus of our own, the keeper that holds
//! them for the next owner, and the promise that nothing of them stays behind.

pub(crate) mod accessibility_bus;
pub(crate) mod environment;
pub(crate) mod keeper;
pub(crate) mod kept;
pub(crate) mod processes;
pub(crate) mod programs;
pub(crate) mod start;

pub use environment::Environment;
pub use keeper::{DesktopHandle, keep_desktop};
pub use kept::IdsGiven;
pub use start::VirtualOptions;
