//! What X11 and Wayland have in common: a screen with windows, on which something is drawn.
//!
//! `events` is what is told of it, `rhythm` finds what draws by itself, `window_ids` numbers windows, `monitors` places them, `dragging` is
//! the way of a drag, `pace` how much is typed at once.

pub(crate) mod dragging;
pub(crate) mod events;
pub(crate) mod monitors;
pub(crate) mod pace;
pub(crate) mod rhythm;
pub(crate) mod window_ids;

pub use events::ScreenEvent;
