//! A driver for Linux desktops: it starts private desktops, operates real applications on them, and reports for each action
//! whether its effect was seen.
//!
//! No agent, model or session is part of it. It is for tests of applications, and for agents of any kind.
//!
//! - [`linux`] starts a desktop or attaches to one.
//! - [`act`] has the actions; each returns a report with a [verdict](ui::action::Verdict).
//! - [`desktop`] is the contract of all back ends: windows, elements, input, pictures, idle detection.
//! - [`ui`] is the data: windows, elements, geometry, keys, evidence.
//!
//! `examples/notes.rs` opens an application, types a text and asserts the verdict.

pub use deskhand_desktop as desktop;
pub use deskhand_desktop_act as act;
pub use deskhand_desktop_linux as linux;
pub use deskhand_ui as ui;
