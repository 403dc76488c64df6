//! Reads the pages of Chromium and Firefox: text, forms, frames, dialogs, downloads, addresses.
//!
//! [`hold`] starts a browser as a child, keeps the only connection to its debugging protocol, and answers calls on a Unix socket until the
//! browser ends. Input is not part of this crate: it reads pages, answers JavaScript dialogs and opens addresses.
//!
//! Chromium is asked over a pipe (`--remote-debugging-pipe`), so nothing listens on the network. It accepts this argument only together
//! with `--user-data-dir`.
//!
//! Firefox is asked over WebDriver BiDi (`--remote-debugging-port=0`): it listens on a port of this machine, but has one session only,
//! which the holder takes as soon as Firefox has started. Its profile needs these preferences in `user.js`:
//!
//! - `remote.active-protocols` 1: BiDi alone.
//! - `remote.prefs.recommended` false: it does not change other preferences, as it would for tests.
//! - `dom.successive_dialog_time_limit` 0: otherwise a dialog that follows another one within seconds has a box to tick, and is not
//!   reported.
//!
//! Pages of both engines see `navigator.webdriver` as true: browsers set it themselves when a program may ask them.
//!
//! Scripts run in a world of their own, where functions that a page has replaced are not used.

mod arguments;
mod bidi;
mod browser;
mod call;
mod cdp;
mod compose;
mod framing;
mod geometry;
mod hold;
mod link;
mod page_of;
mod page_state;
mod requests;
mod socket;
mod state;
mod titles;
mod tools;
mod tools_act;
mod wire;

pub use hold::{BrowserLaunchOptions, BrowserProtocol, PROTOCOL_ARGUMENT, hold};
