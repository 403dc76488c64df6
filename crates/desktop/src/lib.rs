//! Deskhand's hands and eyes: desktops behind small traits, and actions that tell the truth.
//!
//! - [`capability`]: what a desktop can do, as traits; the contract of every back end.
//! - [`act`]: verified actions, written against the traits alone.
//! - [`detect`]: what the elements of applications lack, found in pictures.
//! - [`fake`]: a desktop in memory, a real back end with the same contract suite.
//! - `linux`: X11 with EWMH and XTEST, AT-SPI, and private virtual desktops.
//!
//! Nothing here knows of agents, models or sessions.

pub mod act;
pub mod capability;
pub mod detect;
mod error;
pub mod fake;
pub mod keys;
#[cfg(target_os = "linux")]
pub mod linux;
pub mod picture;

pub use capability::{
    Aspect, Button, Capabilities, Capture, Change, Clipboard, Desktop, ElementAction, Held, Input,
    LaunchRequest, Launched, QuietLimits, Settled, Settling, Sight, TreeLimits, UiTree, WaitedFor, Windowing,
};
pub use error::{DesktopError, DesktopResult};
pub use picture::Picture;
