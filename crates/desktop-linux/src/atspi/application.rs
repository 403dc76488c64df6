//! The applications on the accessibility bus, and what a window is matched to them by.

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
    /// The programs that nothing is read of, in lower case.
    pub(super) excluded: HashSet<String>,
    /// Their connections.
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

    /// Whether a connection is one of a program that nothing is read of.
    pub(crate) fn excludes(&self, bus: &str) -> bool {
        self.excluded_buses.contains(bus)
    }

    pub(super) fn pids(&self) -> HashSet<u32> {
        self.by_bus.values().map(|application| application.pid).collect()
    }
}

/// What is known of an X window, to find its frame by.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct WindowFacts {
    /// Its title.
    pub(crate) title: String,
    /// Its client area.
    pub(crate) bounds: Rect<Screen>,
    /// What it is for.
    pub(crate) kind: WindowKind,
    /// The process that owns it.
    pub(crate) pid: Option<u32>,
}
