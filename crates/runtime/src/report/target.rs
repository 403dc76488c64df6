//! What a command was about: the control or window, and where it was when it was last seen.

use deskhand_core::{
    command::Command,
    geometry::{Rect, Screen},
    observation::{DesktopView, Observation, WindowView},
    ui::{Element, PictureRef, WindowInfo},
};

/// A control or window that a command is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Target {
    pub(super) id: String,
    pub(super) name: String,
    /// Its role, or `window`.
    pub(super) kind: String,
    pub(super) label: String,
    /// Where it was; none where it has no extents.
    pub(super) bounds: Option<Rect<Screen>>,
}

/// The target of a command among what was seen before it.
pub(super) fn target_of(command: &Command, seen: Option<&Observation>) -> Option<Target> {
    match seen? {
        Observation::Desktop(view) => window_of(command, view),
        Observation::Window(view) => element_of(command, view),
        Observation::Agent(_) => None,
    }
}

fn text<'a>(command: &'a Command, name: &str) -> Option<&'a str> {
    command.arguments.get(name)?.as_str().map(str::trim)
}

fn window_of(command: &Command, view: &DesktopView) -> Option<Target> {
    let id = text(command, "id")?.parse().ok()?;
    view.windows.iter().find(|window| window.id == id).map(|window| Target {
        id: window.id.to_string(),
        name: window.title.clone(),
        kind: "window".to_owned(),
        label: window.label(),
        bounds: Some(window.bounds),
    })
}

fn element_of(command: &Command, view: &WindowView) -> Option<Target> {
    let element = match text(command, "id") {
        Some(id) => {
            let id = id.parse().ok()?;
            view.elements().find(|element| element.id == id)?
        }
        // Tools for tables name a table, or mean the largest one.
        None if matches!(command.tool.as_str(), "read_table" | "write_table" | "select_cells") => {
            let mut tables = view.elements().filter(|element| element.table.is_some());
            match text(command, "name") {
                Some(name) => tables.find(|table| table.name.contains(name))?,
                None => tables.max_by_key(|table| area(table))?,
            }
        }
        None => return None,
    };
    Some(Target {
        id: element.id.to_string(),
        name: element.name.clone(),
        kind: element.role.to_string(),
        label: element.label(),
        bounds: element.bounds,
    })
}

fn area(element: &Element) -> i64 {
    element.bounds.map_or(0, |bounds| i64::from(bounds.width) * i64::from(bounds.height))
}

/// The picture of an observation.
pub(super) fn picture_of(seen: &Observation) -> Option<&PictureRef> {
    match seen {
        Observation::Desktop(view) => view.picture.as_ref(),
        Observation::Window(view) => view.picture.as_ref(),
        Observation::Agent(view) => view.picture.as_ref(),
    }
}

/// The windows of an observation.
pub(super) fn windows_of(seen: &Observation) -> Vec<&WindowInfo> {
    match seen {
        Observation::Desktop(view) => view.windows.iter().collect(),
        Observation::Window(view) => view.surfaces.iter().map(|surface| &surface.window).collect(),
        Observation::Agent(_) => Vec::new(),
    }
}

/// The elements of an observation.
pub(super) fn elements_of(seen: &Observation) -> Vec<&Element> {
    match seen {
        Observation::Desktop(_) | Observation::Agent(_) => Vec::new(),
        Observation::Window(view) => view.elements().collect(),
    }
}

/// The part of the screen that an observation is about: that of its picture, else all its windows.
pub(super) fn region_of(seen: &Observation) -> Option<Rect<Screen>> {
    picture_of(seen).map(|picture| picture.region).or_else(|| {
        windows_of(seen).iter().map(|window| window.bounds).reduce(|a, b| {
            let (x, y) = (a.x.min(b.x), a.y.min(b.y));
            Rect::new(x, y, a.right().max(b.right()) - x, a.bottom().max(b.bottom()) - y)
        })
    })
}
