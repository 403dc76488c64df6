//! Capabilities of a desktop, one small trait each. Every back end implements all of them and passes the same
//! contract suite; verified actions are written against these traits alone.
//!
//! Nothing here waits for a fixed time: every wait is for an event, with a timeout.

mod capture;
mod clipboard;
mod desktop;
mod documents;
mod input;
mod native;
mod patterns;
mod settling;
mod ui_tree;
mod watching;
mod windowing;

pub use capture::Capture;
pub use clipboard::Clipboard;
pub use desktop::{Capabilities, Desktop, WindowTreeSnapshot};
pub use documents::{Documents, FileStamp, FileState};
pub use input::{Button, InputInjection, PointerChord};
pub use native::{BROWSERS, Native, NativeAnswer, NativeCall, NativeEffect, Natives, is_office};
pub use patterns::{ElementAction, ElementPatterns, Quirks};
pub use settling::{ElementChangeKind, IdleReport, IdleWait, QuietLimits, UiChange, WaitedFor};
pub use ui_tree::{TreeLimits, UiTree};
pub use watching::{PERSON_INPUTS_WAITING_MAX, PersonInput, TimedPersonInput};
pub use windowing::{LaunchRequest, LaunchedProgram, ProcessExit, SAID_CHARS_MAX, WindowManagement};
