//! The applications on the accessibility bus, and the properties of windows that they are matched by.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

use deskhand_core::{
    geometry::{Rect, Screen},
    ui::WindowKind,
};

use super::{quirks::Toolkit, wire::ObjectRef};

/// One application on the accessibility bus.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Application {
    /// The root object.
    pub(crate) root: ObjectRef,
    /// The process behind its connection.
    pub(crate) pid: u32,
    /// Its toolkit.
    pub(crate) toolkit: Toolkit,
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

    /// What the application of an object is made with.
    pub(super) fn toolkit_of(&self, object: &ObjectRef) -> Option<Toolkit> {
        self.by_bus.get(&object.bus).map(|application| application.toolkit)
    }

    /// Whether a connection belongs to an excluded program.
    pub(crate) fn excludes(&self, bus: &str) -> bool {
        self.excluded_buses.contains(bus)
    }

    pub(super) fn pids(&self) -> HashSet<u32> {
        self.by_bus.values().map(|application| application.pid).collect()
    }
}

/// The properties of an X window that its frame is found by.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct WindowFacts {
    /// Its title.
    pub(crate) title: String,
    /// Its client area.
    pub(crate) bounds: Rect<Screen>,
    /// Its kind.
    pub(crate) kind: WindowKind,
    /// The process that owns it.
    pub(crate) pid: Option<u32>,
}
