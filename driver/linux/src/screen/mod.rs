//! Common parts of X11 and Wayland: a screen with windows, and drawing on it.
//!
//! `events` are the reported events, `rhythm` finds content that draws by itself, `window_ids` numbers
//! windows, `monitors` places them, `dragging` is the path of a drag, `pace` the number of symbols typed at
//! once.

pub(crate) mod dragging;
pub(crate) mod events;
pub(crate) mod monitors;
pub(crate) mod pace;
pub(crate) mod rhythm;
pub(crate) mod window_ids;

pub use events::ScreenEvent;
