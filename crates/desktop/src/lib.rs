//! The contract of a desktop: what it can do, as small traits, and the plain data that goes in and comes back.
//!
//! - [`capability`]: the traits that every back end implements.
//! - [`keys`]: keys and chords by name; [`picture`]: pixels and what is drawn into them.
//! - [`alike`]: whether two readings of a drawn text are the same text.
//!
//! No back end is here, and nothing knows of agents, models or sessions. Verified actions live in `deskhand-desktop-act`,
//! detection in pictures in `deskhand-desktop-detect`, back ends in `deskhand-desktop-linux` and `deskhand-desktop-fake`.
//!
//! Keys are written as people write them:
//!
//! ```
//! use deskhand_desktop::keys::{Key, KeyChord, Modifier};
//!
//! let chord: KeyChord = "Ctrl+shift+s".parse()?;
//! assert_eq!(chord, KeyChord { modifiers: vec![Modifier::Ctrl, Modifier::Shift], key: Key::Char('s') });
//! assert_eq!(chord.to_string(), "ctrl+shift+s");
//! assert!("ctrl+nothing".parse::<KeyChord>().is_err());
//! # Ok::<(), deskhand_desktop::keys::ParseChordError>(())
//! ```
//!
//! Code that works on any desktop takes the traits that it needs:
//!
//! ```
//! use deskhand_desktop::{DesktopResult, TreeLimits, UiTree, Windowing};
//!
//! /// The title of each window with how many elements it shows.
//! async fn count<D: Windowing + UiTree>(desktop: &D) -> DesktopResult<Vec<(String, usize)>> {
//!     let mut counts = Vec::new();
//!     for window in desktop.windows().await? {
//!         let tree = desktop.tree(window.id, TreeLimits::default()).await?;
//!         counts.push((window.title, tree.elements.len()));
//!     }
//!     Ok(counts)
//! }
//! ```

pub mod alike;
pub mod capability;
mod error;
pub mod picture;

pub use capability::{
    Aspect, Button, Capabilities, Capture, Change, Clipboard, Desktop, ElementAction, Ended, Held, Input,
    LaunchRequest, Launched, Patterns, QuietLimits, Settled, Settling, Sight, TreeLimits, UiTree, WaitedFor,
    Windowing,
};
pub use deskhand_core::keys;
pub use error::{DesktopError, DesktopResult};
pub use picture::Picture;
