//! The contract of a desktop: its capabilities as small traits, and the plain data that they exchange.
//!
//! - [`capability`]: the traits that every back end implements.
//! - [`keys`]: keys and chords by name; [`picture`]: pixels and what is drawn into them.
//! - [`CancelScope`]: what a call is cancelled by.
//! - [`delegate`]: what a desktop around another one passes through.
//! - [`alike`]: whether two OCR readings are of the same text.
//!
//! No back end is here, and nothing depends on agents, models or sessions. Verified actions are in
//! `deskhand-desktop-act`, detection in pictures in `deskhand-desktop-detect`, back ends in `deskhand-desktop-linux`
//! and `deskhand-desktop-fake`.
//!
//! Keys are written in the usual notation:
//!
//! ```
//! use deskhand_desktop::keys::{ChordKey, KeyChord, KeyModifier};
//!
//! let chord: KeyChord = "Ctrl+shift+s".parse()?;
//! assert_eq!(chord, KeyChord { modifiers: vec![KeyModifier::Ctrl, KeyModifier::Shift], key: ChordKey::Char('s') });
//! assert_eq!(chord.to_string(), "ctrl+shift+s");
//! assert!("ctrl+nothing".parse::<KeyChord>().is_err());
//! # Ok::<(), deskhand_desktop::keys::ParseChordError>(())
//! ```
//!
//! Code that works on any desktop is generic over the traits that it needs:
//!
//! ```
//! use deskhand_desktop::{DesktopResult, TreeLimits, UiTree, WindowManagement};
//!
//! /// The title of each window with how many elements it shows.
//! async fn count<D: WindowManagement + UiTree>(desktop: &D) -> DesktopResult<Vec<(String, usize)>> {
//!     let mut counts = Vec::new();
//!     for window in desktop.windows().await? {
//!         let tree = desktop.tree(window.id, TreeLimits::default()).await?;
//!         counts.push((window.title, tree.elements.len()));
//!     }
//!     Ok(counts)
//! }
//! ```

pub mod alike;
mod cancel;
pub mod capability;
mod delegate;
mod error;
pub mod picture;

pub use cancel::CancelScope;
pub use capability::{
    BROWSERS, Button, Capabilities, Capture, Clipboard, Desktop, Documents, ElementAction, ElementChangeKind,
    ElementPatterns, FileStamp, FileState, IdleReport, IdleWait, InputInjection, LaunchRequest,
    LaunchedProgram, Native, NativeAnswer, NativeCall, NativeEffect, Natives, PERSON_INPUTS_WAITING_MAX,
    PersonInput, PointerChord, ProcessExit, QuietLimits, Quirks, SAID_CHARS_MAX, TimedPersonInput,
    TreeLimits, UiChange, UiTree, WaitedFor, WindowManagement, WindowTreeSnapshot, is_office,
};
#[doc(hidden)]
pub use deskhand_ui as ui;
pub use deskhand_ui::keys;
pub use error::{DesktopError, DesktopResult};
pub use picture::Picture;
