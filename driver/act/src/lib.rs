//! Verified actions, written against the contract of a desktop alone: no X11, no AT-SPI.
//!
//! Each action waits until the application has handled what was sent before, and checks its target (attached, showing,
//! enabled, not covered, at rest, nothing modal in front); it sends nothing when a check fails. It then goes one way: by
//! pointer or keys where they reach the target, through the accessibility interface where they do not. Another way is only
//! tried if the first one was not offered or rejected. Its verdict is about the thing that was asked for: an unrelated
//! change in the same window is no effect.
//!
//! ```
//! use deskhand_ui::{Role, action::Verdict};
//! use deskhand_desktop::WindowManagement as _;
//! use deskhand_desktop_act::{ActLimits, TypeTextOptions, type_text};
//! use deskhand_desktop_fake::{FakeApp, FakeDesktop, FakeElement, FakeWindow};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> deskhand_desktop::DesktopResult<()> {
//! let entry = FakeElement::new(Role::ENTRY, "Name").key("name");
//! let locked = FakeElement::new(Role::ENTRY, "Total").key("total").disabled();
//! let form = FakeWindow::normal("Form").elements([entry, locked]);
//! let desktop = FakeDesktop::new([FakeApp::new("Forms", "forms", [form])], []);
//! let window = desktop.windows().await?[0].id;
//! let into = |key| TypeTextOptions { element: desktop.find_key(key), name: None, text: "Ada".to_owned(), clear: true };
//!
//! // The text is read back before the action counts as done.
//! let report = type_text(&desktop, window, &into("name"), &ActLimits::default()).await?;
//! assert_eq!(report.effect(), Verdict::Seen);
//!
//! // A disabled element refuses the action, and nothing is sent to it.
//! let report = type_text(&desktop, window, &into("total"), &ActLimits::default()).await?;
//! assert_eq!(report.effect(), Verdict::Refused);
//! # Ok(())
//! # }
//! ```

mod before;
mod calendar;
mod caret;
mod cell_write;
mod checks;
mod click;
mod clipboard;
mod close_all;
mod date;
mod date_fields;
mod date_parts;
mod date_sections;
mod difference;
mod documents;
mod drag;
mod drawn;
mod drawn_table;
mod effect;
mod expand;
mod expected;
mod find;
mod focus;
mod hidden;
mod hover;
mod ink;
mod invoke;
mod launching;
mod meaning;
mod menus;
mod news;
mod observed;
mod opened_menus;
mod oracle;
mod order;
mod paste_cells;
mod patience;
mod permitted;
mod place;
mod press_again;
mod press_keys;
mod proof;
mod read_table;
mod read_text;
mod recover;
mod report;
mod row_roles;
mod rows;
mod scroll;
mod scroll_to;
mod select;
mod select_cells;
mod select_drawn;
mod select_drop_down;
mod select_items;
mod select_options;
mod select_range;
mod select_ranges;
mod select_text;
mod set_checked;
mod set_value;
mod summary;
mod surfaces;
mod suspects;
mod table;
mod text;
mod type_drawn;
mod type_text;
mod veiled;
mod visit;
mod wait;
mod wait_for;
mod window;
mod words;
mod write_table;
mod zoom;

pub use click::{Click, click};
pub use clipboard::{paste, read_clipboard, write_clipboard};
pub use close_all::{UnclosedWindow, close_all};
pub use documents::{SaveAsOptions, choose_file, save, save_as};
pub use drag::drag;
pub use expand::expand;
pub use find::find_element;
pub use focus::focus;
pub use hover::hover;
pub use invoke::invoke;
pub use launching::{DocumentLaunch, DocumentLaunchOutcome, launch, open};
pub use meaning::cells_equal;
pub use permitted::{ByHand, Live, Permit, PermittedDesktop, SecretUse};
pub use press_again::press_again;
pub use press_keys::press_keys;
pub use read_table::read_table;
pub use read_text::read_text;
pub use report::{ActLimits, ActionReport, ActionTarget};
pub use scroll::{ScrollDistance, scroll, scroll_into_view};
pub use scroll_to::scroll_to;
pub use select::select;
pub use select_cells::select_cells;
pub use select_items::select_items;
pub use select_text::select_text;
pub use set_checked::set_checked;
pub use set_value::{NewValue, set_value};
pub use summary::summary;
pub use table::TableTarget;
pub use type_text::{TypeTextOptions, type_text};
pub use veiled::VeiledDesktop;
pub use visit::{visit, visit_context_menu};
pub use wait::wait;
pub use wait_for::wait_for;
pub use window::{activate, close};
pub use write_table::write_table;
pub use zoom::{WindowZoom, ZoomTarget, zoom};
