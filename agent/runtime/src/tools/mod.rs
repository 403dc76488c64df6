//! The tools of agents: one file each, with the doc comment as the description for models.
//!
//! A tool converts its arguments to one verified action of `deskhand_desktop_act`; it makes no decisions. To add one, write
//! its file and add it to [`Toolbox::standard`]; a program that embeds Deskhand implements [`Tool`] and adds it with
//! [`Toolbox::with_app_tool`].

mod arguments;
mod calculate;
mod choose_file;
mod click_element;
mod click_on_coordinates;
mod close_application;
mod declared;
mod documents;
mod drag;
mod drag_on_coordinates;
mod expand;
mod files;
mod focus_element;
mod hover;
mod invoke_action;
mod launch_application;
mod links;
mod more;
mod paste_text;
mod press_keys;
mod private;
mod read_clipboard;
mod read_table;
mod read_text;
mod recall;
mod registry;
mod run_workflow;
mod save;
mod save_as;
mod scroll;
mod scroll_into_view;
mod select;
mod select_application_window;
mod select_cells;
mod select_text;
mod set_checked;
mod set_value;
mod standard;
mod summary;
mod tool;
mod type_text;
mod visit;
mod wait;
mod wait_for;
mod warrant;
mod write_clipboard;
mod write_table;
mod zoom;

pub use files::FileSettings;
pub(crate) use links::follow;
pub(crate) use registry::Circumstances;
pub use registry::{DuplicateTool, Toolbox};
pub use run_workflow::{ReadWorkflow, Workflows};
pub use tool::{Tool, ToolContext, ToolError, ToolOutput, ToolResult};
