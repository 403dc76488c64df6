//! The contract of a desktop: what it can do, as small traits, and the plain data that goes in and comes back.
//!
//! - [`capability`]: the traits that every back end implements.
//! - [`keys`]: keys and chords by name; [`picture`]: pixels and what is drawn into them.
//! - [`alike`]: whether two readings of a drawn text are the same text.
//!
//! No back end is here, and nothing knows of agents, models or sessions. Verified actions live in `deskhand-desktop-act`,
//! detection in pictures in `deskhand-desktop-detect`, back ends in `deskhand-desktop-linux` and `deskhand-desktop-fake`.

pub mod alike;
pub mod capability;
mod error;
pub mod keys;
pub mod picture;

pub use capability::{
    Aspect, Button, Capabilities, Capture, Change, Clipboard, Desktop, ElementAction, Held, Input,
    LaunchRequest, Launched, Patterns, QuietLimits, Settled, Settling, Sight, TreeLimits, UiTree, WaitedFor,
    Windowing, tells_of_content,
};
pub use error::{DesktopError, DesktopResult};
pub use picture::Picture;
