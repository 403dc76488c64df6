//! The connection to the accessibility bus.

use std::{
    collections::HashSet,
    sync::{Arc, Mutex, PoisonError, RwLock},
    time::Duration,
};

use deskhand_ui::{
    ElementTreePath,
    geometry::{Rect, Screen},
    ids::ElementId,
};
use tokio::{
    sync::{Notify, broadcast, mpsc, oneshot},
    task::JoinSet,
};

use super::{
    application::{Application, CoordinateOrigin},
    bus::{ACCESSIBLE, AtspiCallError, Bus, gone},
    event::Announcement,
    events,
    ids::{ElementIds, ElementObject},
    mirror::AtspiMirror,
    shared::AtspiSharedState,
    wire::ObjectRef,
};
use deskhand_desktop::{DesktopError, DesktopResult};

/// Maximum number of announcements that a slow reader may lag behind before it misses some.
const ANNOUNCEMENTS_MAX: usize = 8_192;

/// The most looks that can wait for pending events at a time; further ones queue.
const BARRIERS_MAX: usize = 64;
/// The shorter timeout of an application that did not answer last time.
const SLOW_BOUND: Duration = Duration::from_millis(200);

/// The elements of all applications of one accessibility bus. Its tasks end when it is dropped.
pub(crate) struct Accessibility {
    pub(crate) shared: Arc<AtspiSharedState>,
    /// Requests to the event task for a signal once it has processed all pending events.
    barriers: mpsc::Sender<oneshot::Sender<()>>,
    _tasks: Arc<JoinSet<()>>,
}

impl Accessibility {
    /// Connects to the accessibility bus at `address` and registers for events, so that applications expose
    /// everything. They count positions from `origin`. The processes found on the bus are kept in `accessible_pids`.
    ///
    /// # Errors
    /// [`DesktopError::Start`] when the bus refuses the connection, `Gone` when it ends meanwhile.
    pub(crate) async fn connect(
        address: &str,
        screen: Rect<Screen>,
        origin: CoordinateOrigin,
        accessible_pids: Arc<RwLock<HashSet<u32>>>,
    ) -> DesktopResult<Self> {
        let bus = Bus::connect(address).await?;
        let shared = Arc::new(AtspiSharedState {
            bus,
            ids: Mutex::default(),
            last_focus: Mutex::default(),
            mirror: Mutex::default(),
            applications: Mutex::default(),
            accessible_pids,
            announcements: broadcast::Sender::new(ANNOUNCEMENTS_MAX),
            applications_changed: Notify::new(),
            screen,
            origin,
        });
        let stream = events::subscribe(&shared.bus).await?;
        let mut tasks = JoinSet::new();
        let (barriers, barriers_asked) = mpsc::channel(BARRIERS_MAX);
        tasks.spawn(events::read(stream, barriers_asked, Arc::clone(&shared)));
        let this = Self { shared: Arc::clone(&shared), barriers: barriers.clone(), _tasks: Arc::default() };
        let watching = barriers.clone();
        this.refresh_applications().await?;
        tasks.spawn(async move {
            let watcher = Self { shared, barriers: watching, _tasks: Arc::default() };
            while !watcher.shared.bus.gone().is_cancelled() {
                watcher.shared.applications_changed.notified().await;
                if let Err(error) = watcher.refresh_applications().await {
                    tracing::debug!(error = error.chain(), "cannot list the applications");
                }
            }
        });
        Ok(Self { shared: this.shared, barriers, _tasks: Arc::new(tasks) })
    }

    /// A receiver of the announcements from now on.
    pub(crate) fn announcements(&self) -> broadcast::Receiver<Announcement> {
        self.shared.announcements.subscribe()
    }

    /// Returns when the bus has ended.
    pub(crate) async fn gone(&self) {
        self.shared.bus.gone().cancelled().await;
    }

    /// Makes a trivial call, and so waits until the application has handled what came before. An application that is
    /// gone or refuses has nothing left to do; `false` if there was no answer.
    pub(crate) async fn round_trip(&self, application: &Application) -> DesktopResult<bool> {
        match self.shared.bus.call::<_, u32>(&application.root, ACCESSIBLE, "GetRole", &()).await {
            Ok(_)
            | Err(AtspiCallError::NoObject | AtspiCallError::NotOffered | AtspiCallError::Refused(_)) => {
                Ok(true)
            }
            Err(AtspiCallError::NotAnswering { .. }) => Ok(false),
            Err(AtspiCallError::BusGone) => Err(gone()),
        }
    }

    /// Waits until everything that an application announced so far is in the mirror: it answers in the same loop as
    /// it announces, and on the same connection. `false` if it does not answer.
    pub(crate) async fn catch_up(&self, bus: &Bus, application: &Application) -> DesktopResult<bool> {
        let slow = self
            .with_mirror(|mirror| mirror.find(&application.root.bus).is_some_and(|store| store.is_slow()));
        let asked = if slow { &bus.until_at_most(SLOW_BOUND) } else { bus };
        let answered = match asked.call::<_, u32>(&application.root, ACCESSIBLE, "GetRole", &()).await {
            Ok(_)
            | Err(AtspiCallError::NoObject | AtspiCallError::NotOffered | AtspiCallError::Refused(_)) => true,
            Err(AtspiCallError::NotAnswering { .. }) => false,
            Err(AtspiCallError::BusGone) => return Err(gone()),
        };
        let (sender, passed) = oneshot::channel();
        if self.barriers.send(sender).await.is_ok() {
            // The event task ends only with the bus.
            let _ = passed.await;
        }
        self.with_mirror(|mirror| {
            if let Some(store) = mirror.find(&application.root.bus) {
                store.set_slow(!answered);
            }
        });
        Ok(answered)
    }

    /// Marks areas of the screen as drawn, each by a process if that is known.
    pub(crate) fn drawn(&self, areas: &[(Option<u32>, Rect<Screen>)]) {
        let pids = self.pids_by_bus();
        self.with_mirror(|mirror| {
            for (bus, store) in mirror.all() {
                let own = pids.get(bus).copied();
                for (pid, area) in areas {
                    if pid.is_none() || own.is_none() || *pid == own {
                        store.draw(*area);
                    }
                }
            }
        });
    }

    /// Marks everything as drawn.
    pub(crate) fn drawn_unknown(&self) {
        self.with_mirror(|mirror| {
            for (_, store) in mirror.all() {
                store.mark_all();
            }
        });
    }

    pub(crate) fn with_mirror<T>(&self, work: impl FnOnce(&mut AtspiMirror) -> T) -> T {
        work(&mut self.shared.mirror.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The id of an object that was read before.
    pub(crate) fn find_id(&self, object: &ObjectRef) -> Option<ElementId> {
        self.with_ids(|ids| ids.find_id(object))
    }

    pub(crate) fn with_ids<T>(&self, work: impl FnOnce(&mut ElementIds) -> T) -> T {
        work(&mut self.shared.ids.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// An id that no element has or will get.
    pub(crate) fn reserve_id(&self) -> ElementId {
        self.with_ids(ElementIds::reserve)
    }

    /// Returns the place where an element was last listed.
    pub(crate) fn last_place(&self, id: ElementId) -> Option<ElementTreePath> {
        self.with_ids(|ids| ids.last_place(id))
    }

    /// Returns the stored data of an element.
    pub(crate) fn known(&self, id: ElementId) -> DesktopResult<ElementObject> {
        self.with_ids(|ids| ids.find(id)).ok_or(DesktopError::NoElement(id))
    }

    /// The application of an element.
    pub(crate) fn owner(&self, id: ElementId, object: &ObjectRef) -> DesktopResult<Application> {
        self.application_of(object).ok_or(DesktopError::NoElement(id))
    }

    /// Turns the error of a call into one of the desktop; forgets the element if it is gone.
    pub(crate) fn error(
        &self,
        operation: &'static str,
        id: ElementId,
        error: AtspiCallError,
    ) -> DesktopError {
        if matches!(error, AtspiCallError::NoObject)
            && let Ok(known) = self.known(id)
        {
            self.with_ids(|ids| ids.forget(&known.object));
        }
        error.into_desktop(operation, &id.to_string(), || DesktopError::NoElement(id))
    }
}
