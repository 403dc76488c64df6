//! Firefox, over WebDriver BiDi on a WebSocket.

mod act;
mod events;
mod walk;
mod web_socket;

pub(crate) use act::Bidi;
pub(crate) use events::{first_messages, on_event};
pub(crate) use web_socket::{connect, remove_announcement, serve};
