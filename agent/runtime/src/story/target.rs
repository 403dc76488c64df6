//! The targets of commands: controls and windows, with their last observed bounds.

use deskhand_machine::{
    command::ToolCommand,
    observation::{DesktopView, Observation},
};
use deskhand_ui::{
    Element, WindowView,
    geometry::{Rect, Screen},
};

/// The target control or window of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandTarget {
    /// The id.
    pub id: String,
    /// The name or title.
    pub name: String,
    /// The role, or `window`.
    pub kind: String,
    /// `true` if the target is a window.
    pub is_window: bool,
    /// Its label in messages.
    pub label: String,
    /// The bounds; `None` if it has none.
    pub bounds: Option<Rect<Screen>>,
}

/// Finds the target of a command in the last observation.
pub(crate) fn target_of(command: &ToolCommand, seen: Option<&Observation>) -> Option<CommandTarget> {
    match seen? {
        Observation::Desktop(view) => window_of(command, view),
        Observation::Window(view) => element_of(command, view),
        Observation::Agent(_) => None,
    }
}

fn text<'a>(command: &'a ToolCommand, name: &str) -> Option<&'a str> {
    command.arguments.get(name)?.as_str().map(str::trim)
}

fn window_of(command: &ToolCommand, view: &DesktopView) -> Option<CommandTarget> {
    let id = text(command, "id")?.parse().ok()?;
    view.windows.iter().find(|window| window.id == id).map(|window| CommandTarget {
        id: window.id.to_string(),
        name: window.title.clone(),
        kind: "window".to_owned(),
        is_window: true,
        label: window.label(),
        bounds: Some(window.bounds),
    })
}

fn element_of(command: &ToolCommand, view: &WindowView) -> Option<CommandTarget> {
    let element = match text(command, "id") {
        Some(id) => {
            let id = id.parse().ok()?;
            view.elements().find(|element| element.id == id)?
        }
        // Table tools identify a table by name, or use the largest one.
        None if matches!(command.tool.as_str(), "read_table" | "write_table" | "select_cells") => {
            let mut tables = view.elements().filter(|element| element.table.is_some());
            match text(command, "name") {
                Some(name) => tables.find(|table| table.name.contains(name))?,
                None => tables.max_by_key(|table| area(table))?,
            }
        }
        None => return None,
    };
    Some(CommandTarget {
        id: element.id.to_string(),
        name: element.name.clone(),
        kind: element.role.to_string(),
        is_window: false,
        label: element.label(),
        bounds: element.bounds,
    })
}

fn area(element: &Element) -> i64 {
    element.bounds.map_or(0, |bounds| i64::from(bounds.width) * i64::from(bounds.height))
}
