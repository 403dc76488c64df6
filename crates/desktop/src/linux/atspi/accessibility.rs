//! The connection to the accessibility bus, and what is remembered between calls.

use std::{
    collections::HashSet,
    sync::{Arc, Mutex, PoisonError, RwLock},
};

use deskhand_core::{
    geometry::{Rect, Screen},
    ids::ElementId,
};
use tokio::{
    sync::{Notify, broadcast},
    task::JoinSet,
};

use super::{
    applications::{Application, Applications},
    bus::{ACCESSIBLE, Bus, CallError, gone},
    events::{self, Announcement},
    ids::{ElementIds, Known},
    wire::ObjectRef,
};
use crate::{DesktopError, DesktopResult};

/// How many announcements a slow reader may lag behind before it misses some.
const ANNOUNCEMENTS_MAX: usize = 8_192;

/// What the parts and tasks share. The locks are held for a look-up and never across an await.
pub(crate) struct Shared {
    pub(crate) bus: Bus,
    pub(crate) ids: Mutex<ElementIds>,
    pub(crate) applications: Mutex<Applications>,
    pub(crate) accessible_pids: Arc<RwLock<HashSet<u32>>>,
    pub(crate) announcements: broadcast::Sender<Announcement>,
    /// Told when applications may have come or gone.
    pub(crate) applications_changed: Notify,
    pub(crate) screen: Rect<Screen>,
}

/// The elements of all applications of one accessibility bus. Its tasks end when it is dropped.
pub(crate) struct Accessibility {
    pub(crate) shared: Arc<Shared>,
    _tasks: Arc<JoinSet<()>>,
}

impl Accessibility {
    /// Connects to the accessibility bus at `address` and asks for events, so that applications answer in full.
    /// The processes that are found there are kept in `accessible_pids`.
    ///
    /// # Errors
    /// [`DesktopError::Start`] when the bus does not let us in, `Gone` when it ends meanwhile.
    pub(crate) async fn connect(
        address: &str,
        screen: Rect<Screen>,
        accessible_pids: Arc<RwLock<HashSet<u32>>>,
    ) -> DesktopResult<Self> {
        let bus = Bus::connect(address).await?;
        let shared = Arc::new(Shared {
            bus,
            ids: Mutex::default(),
            applications: Mutex::default(),
            accessible_pids,
            announcements: broadcast::Sender::new(ANNOUNCEMENTS_MAX),
            applications_changed: Notify::new(),
            screen,
        });
        let streams = events::subscribe(&shared.bus).await?;
        let mut tasks = JoinSet::new();
        tasks.spawn(events::read(streams, Arc::clone(&shared)));
        let this = Self { shared: Arc::clone(&shared), _tasks: Arc::default() };
        this.refresh_applications().await?;
        tasks.spawn(async move {
            let watcher = Self { shared, _tasks: Arc::default() };
            while !watcher.shared.bus.gone().is_cancelled() {
                watcher.shared.applications_changed.notified().await;
                if let Err(error) = watcher.refresh_applications().await {
                    tracing::debug!(error = error.chain(), "the applications could not be listed");
                }
            }
        });
        Ok(Self { shared: this.shared, _tasks: Arc::new(tasks) })
    }

    /// What applications announce from now on.
    pub(crate) fn announcements(&self) -> broadcast::Receiver<Announcement> {
        self.shared.announcements.subscribe()
    }

    /// Returns when the bus has ended.
    pub(crate) async fn gone(&self) {
        self.shared.bus.gone().cancelled().await;
    }

    /// Asks an application for something trivial, and so waits until it has done what it was at.
    /// An application that is gone, or declines, has nothing left to do; `false` when there was no answer.
    pub(crate) async fn round_trip(&self, application: &Application) -> DesktopResult<bool> {
        match self.shared.bus.call::<_, u32>(&application.root, ACCESSIBLE, "GetRole", &()).await {
            Ok(_) | Err(CallError::NoObject | CallError::NotOffered | CallError::Refused(_)) => Ok(true),
            Err(CallError::NotAnswering { .. }) => Ok(false),
            Err(CallError::BusGone) => Err(gone()),
        }
    }

    /// The id of an object that was read before.
    pub(crate) fn find_id(&self, object: &ObjectRef) -> Option<ElementId> {
        self.with_ids(|ids| ids.find_id(object))
    }

    pub(crate) fn with_ids<T>(&self, work: impl FnOnce(&mut ElementIds) -> T) -> T {
        work(&mut self.shared.ids.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// What is known of an element.
    pub(crate) fn known(&self, id: ElementId) -> DesktopResult<Known> {
        self.with_ids(|ids| ids.find(id)).ok_or(DesktopError::NoElement(id))
    }

    /// The application of an element.
    pub(crate) fn owner(&self, id: ElementId, object: &ObjectRef) -> DesktopResult<Application> {
        self.application_of(object).ok_or(DesktopError::NoElement(id))
    }

    /// An error of the desktop from one of a call; forgets the element when it is gone.
    pub(crate) fn error(&self, operation: &'static str, id: ElementId, error: CallError) -> DesktopError {
        if matches!(error, CallError::NoObject)
            && let Ok(known) = self.known(id)
        {
            self.with_ids(|ids| ids.forget(&known.object));
        }
        error.into_desktop(operation, &id.to_string(), || DesktopError::NoElement(id))
    }
}
