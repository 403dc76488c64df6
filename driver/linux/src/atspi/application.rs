//! The applications on the accessibility bus, and the properties of windows that they are matched by.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

use deskhand_ui::{
    Role, WindowKind,
    geometry::{Rect, Screen},
};

use super::{
    quirks::AtspiToolkit,
    shift::{Shift, Within},
    wire::ObjectRef,
};

/// One application on the accessibility bus.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Application {
    /// The root object.
    pub(crate) root: ObjectRef,
    /// The process behind its connection.
    pub(crate) pid: u32,
    /// Its toolkit.
    pub(crate) toolkit: AtspiToolkit,
    /// Origin that it counts positions from.
    pub(crate) origin: CoordinateOrigin,
    /// `true` if it shows pages, which come up without an announcement.
    pub(crate) has_pages: bool,
}

impl Application {
    /// The shift of the top-level object of a window of this kind.
    pub(crate) fn frame_shift(
        &self,
        reported: Option<Rect<Screen>>,
        window: Rect<Screen>,
        kind: WindowKind,
    ) -> Shift {
        let shift = self.toolkit.frame_shift(reported, window, self.origin);
        // The place of a pop-up is that of all of it, with its shadow.
        let is_pop_up = kind.is_popup() && self.origin == CoordinateOrigin::Window;
        if is_pop_up { Shift { within: Within::PopUp, ..shift } } else { shift }
    }

    /// The shift of an element, given the role of its parent, the shift of that, and the extents of both.
    pub(crate) fn shift(
        &self,
        (role, parent_role): (&Role, &Role),
        reported: Option<Rect<Screen>>,
        parent_shift: Shift,
        parent_reported: Option<Rect<Screen>>,
    ) -> Shift {
        let shift = self.toolkit.shift(role, reported, parent_shift, parent_reported);
        match self.origin {
            CoordinateOrigin::Screen => shift,
            CoordinateOrigin::Window => self.toolkit.pop_up_shift(role, parent_role, shift),
        }
    }
}

/// The applications by bus name. One process may have several connections.
#[derive(Debug, Default)]
pub(crate) struct Applications {
    pub(super) by_bus: HashMap<Arc<str>, Application>,
    /// Excluded programs, in lower case: nothing is read of them.
    pub(super) excluded: HashSet<String>,
    /// The connections of excluded programs.
    pub(super) excluded_buses: HashSet<Arc<str>>,
}

impl Applications {
    /// The applications of a process.
    pub(crate) fn of_process(&self, pid: u32) -> Vec<Application> {
        self.by_bus.values().filter(|application| application.pid == pid).cloned().collect()
    }

    /// The application of an object.
    pub(crate) fn of_object(&self, object: &ObjectRef) -> Option<Application> {
        self.by_bus.get(&object.bus).cloned()
    }

    /// Returns the toolkit of the application that an object belongs to.
    pub(super) fn toolkit_of(&self, object: &ObjectRef) -> Option<AtspiToolkit> {
        self.by_bus.get(&object.bus).map(|application| application.toolkit)
    }

    /// Returns `true` if a connection belongs to an excluded program.
    pub(crate) fn excludes(&self, bus: &str) -> bool {
        self.excluded_buses.contains(bus)
    }

    pub(super) fn pids(&self) -> HashSet<u32> {
        self.by_bus.values().map(|application| application.pid).collect()
    }
}

/// Origin of the positions that an application reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum CoordinateOrigin {
    /// The screen, as on X11.
    Screen,
    /// The surface of the window, with its shadow if it draws one: on Wayland no application learns where its windows are.
    Window,
}

/// The properties of a window that its frame is found by.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct AtspiFrameCriteria {
    /// Its title.
    pub(crate) title: String,
    /// Its client area.
    pub(crate) bounds: Rect<Screen>,
    /// Its kind.
    pub(crate) kind: WindowKind,
    /// The process that owns it.
    pub(crate) pid: Option<u32>,
}
