//! State that is retained between calls, shared by the parts and tasks of the accessibility bus.

use std::{
    collections::HashSet,
    sync::{Arc, Mutex, PoisonError, RwLock},
    time::Duration,
};

use deskhand_ui::geometry::{Rect, Screen};
use tokio::sync::{Notify, broadcast};

use super::{
    application::{Applications, CoordinateOrigin},
    bus::Bus,
    event::Announcement,
    ids::ElementIds,
    mirror::AtspiMirror,
    wire::ObjectRef,
};

/// State shared by callers and tasks. The locks are held for a look-up and never across an await.
pub(crate) struct AtspiSharedState {
    pub(crate) bus: Bus,
    pub(crate) ids: Mutex<ElementIds>,
    pub(crate) mirror: Mutex<AtspiMirror>,
    pub(crate) applications: Mutex<Applications>,
    /// The object that was last announced to have the focus.
    pub(crate) last_focus: Mutex<Option<ObjectRef>>,
    pub(crate) accessible_pids: Arc<RwLock<HashSet<u32>>>,
    pub(crate) announcements: broadcast::Sender<Announcement>,
    /// Notified when applications may have connected or disconnected.
    pub(crate) applications_changed: Notify,
    pub(crate) screen: Rect<Screen>,
    /// Origin that applications count positions from.
    pub(crate) origin: CoordinateOrigin,
}

impl AtspiSharedState {
    /// Returns the time after an input within which a change of an object counts as immediate.
    pub(crate) fn at_once(&self, object: &ObjectRef) -> Duration {
        let applications = self.applications.lock().unwrap_or_else(PoisonError::into_inner);
        applications.toolkit_of(object).map(|toolkit| toolkit.at_once).unwrap_or_default()
    }
}
