//! The Linux desktop: the state that its capabilities share.

use std::{
    collections::{BTreeSet, HashSet},
    os::unix::net::UnixStream,
    path::{Path, PathBuf},
    sync::{
        Arc, PoisonError, RwLock,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use deskhand_core::{
    geometry::{Rect, Screen},
    ids::{ElementId, IdsSeen, WindowId},
};
use deskhand_desktop::{
    Capabilities, Capture, Clipboard, Desktop, DesktopError, DesktopResult, Picture, Sight, TreeLimits,
    UiTree as _,
};
use tokio::{
    sync::{Mutex, OnceCell, broadcast},
    task::JoinSet,
};

use crate::{
    atspi::Accessibility,
    blocking::run_blocking,
    desktop_entries::DesktopEntries,
    documents::KnownDocuments,
    history::History,
    kernel::peer_process,
    native::OfficeWorker,
    parts::{Parts, read_entries},
    times::{StartupTimes, elapsed_ms},
    virtual_desktop::{
        accessibility_bus,
        confine::Confine,
        environment::Environment,
        processes::Processes,
        programs::BrowserHolder,
        protocol::DesktopHandle,
        start::{self, VirtualOptions},
    },
    x11::{
        InputWatch,
        clipboard::ClipboardState,
        display::{Address, Display},
        events::XEvent,
        worker::Worker,
    },
};

/// How long the session bus of the user may take to return the address of the accessibility bus.
const BUS_BOUND: Duration = Duration::from_secs(10);

/// An X11 desktop: a private virtual one, or the current user's.
///
/// Dropping it ends a virtual desktop with everything that runs on it; [`Self::shut_down`] also waits for that.
pub struct LinuxDesktop {
    display: Display,
    environment: Environment,
    processes: Processes,
    /// The private folder of a virtual desktop.
    private_folder: Option<PathBuf>,
    /// How the applications of a virtual desktop are confined.
    confine: Confine,
    session_bus_address: Option<String>,
    accessibility_address: Option<String>,
    accessible_pids: Arc<RwLock<HashSet<u32>>>,
    accessibility: Option<Accessibility>,
    history: Arc<History>,
    clipboard: ClipboardState,
    /// Aborted when the desktop is dropped.
    _tasks: JoinSet<()>,
    entries: RwLock<Arc<DesktopEntries>>,
    documents: KnownDocuments,
    /// Held while keys are sent, so that two texts do not interleave.
    typing: Mutex<()>,
    last_ping: AtomicU32,
    /// The highest number of an element, if there is no accessibility bus to assign one.
    elements_given: AtomicU32,
    startup: StartupTimes,
    /// How to attach to it again, for a desktop that a keeper holds.
    handle: Option<DesktopHandle>,
    /// The processes that serve every application, once asked for.
    servers: OnceCell<Vec<u32>>,
    /// The program that calls LibreOffice.
    office: OfficeWorker,
    /// The program that starts browsers and tells their pages.
    browser_holder: Option<BrowserHolder>,
}

impl LinuxDesktop {
    /// Starts a private desktop with its own X server, window manager, session bus and accessibility bus.
    ///
    /// # Errors
    /// [`DesktopError::Start`] if a program is missing or does not start, with the next step.
    pub async fn start_virtual(options: VirtualOptions) -> DesktopResult<Self> {
        let confine = options.confine.clone();
        let desktop = Self::of_parts(start::start(options).await?).await;
        Ok(desktop.with_confined_applications(confine))
    }

    /// Connects to the desktop that `DISPLAY` names. Its programs keep running when this is dropped.
    ///
    /// # Errors
    /// [`DesktopError::Start`] if there is no display, or it refuses the connection.
    pub async fn connect_current() -> DesktopResult<Self> {
        let begun = tokio::time::Instant::now();
        let mut environment = Environment::of_this_process();
        let name = environment.find("DISPLAY").filter(|name| !name.is_empty()).ok_or_else(|| {
            DesktopError::Start {
                what: "DISPLAY is not set".to_owned(),
                fix: "use `--desktop virtual` for a private desktop, or run this in a graphical session"
                    .to_owned(),
            }
        })?;
        let name = name.to_string_lossy().into_owned();
        let opened = name.clone();
        let display = run_blocking(move || Display::open(&Address::Environment, opened)).await?;
        let display = display.map_err(|error| DesktopError::Start {
            what: format!("display {name} refused the connection ({})", error.chain()),
            fix: "check DISPLAY and XAUTHORITY, or use `--desktop virtual` for a private desktop".to_owned(),
        })?;
        let display_ms = elapsed_ms(begun);
        environment.expose_elements();
        let find = || async {
            let session = zbus::Connection::session().await?;
            accessibility_bus::enable(&session).await
        };
        let accessibility_address = match tokio::time::timeout(BUS_BOUND, find()).await {
            Ok(Ok(address)) => Some(address),
            Ok(Err(error)) => {
                tracing::warn!(%error, "cannot reach the accessibility bus; elements are not available");
                None
            }
            Err(_) => {
                tracing::warn!("the session bus did not answer; elements are not available");
                None
            }
        };
        let session_bus_address = environment
            .find("DBUS_SESSION_BUS_ADDRESS")
            .map(|address| address.to_string_lossy().into_owned());
        let entries = read_entries(&environment).await?;
        let total_ms = elapsed_ms(begun);
        let parts = Parts {
            display,
            environment,
            processes: Processes::unguarded(),
            private_folder: None,
            session_bus_address,
            accessibility_address,
            entries,
            startup: StartupTimes { display_ms, total_ms, ..StartupTimes::default() },
            handle: None,
            elements_given: 0,
        };
        Ok(Self::of_parts(parts).await)
    }

    pub(crate) async fn of_parts(parts: Parts) -> Self {
        let accessible_pids = Arc::default();
        let accessibility = match &parts.accessibility_address {
            Some(address) => connect_accessibility(address, &parts.display, &accessible_pids).await,
            None => None,
        };
        if let Some(accessibility) = &accessibility {
            accessibility.with_ids(|ids| ids.start_above(parts.elements_given));
        }
        let (history, tasks) = accessibility.as_ref().map(History::follow).unwrap_or_default();
        Self {
            accessibility,
            history,
            clipboard: ClipboardState::default(),
            _tasks: tasks,
            accessible_pids,
            display: parts.display,
            environment: parts.environment,
            processes: parts.processes,
            private_folder: parts.private_folder,
            confine: Confine::off(),
            session_bus_address: parts.session_bus_address,
            accessibility_address: parts.accessibility_address,
            entries: RwLock::new(Arc::new(parts.entries)),
            documents: KnownDocuments::default(),
            typing: Mutex::new(()),
            last_ping: AtomicU32::new(0),
            elements_given: AtomicU32::new(parts.elements_given),
            startup: parts.startup,
            handle: parts.handle,
            servers: OnceCell::new(),
            office: OfficeWorker::default(),
            browser_holder: None,
        }
    }

    /// The same desktop; applications that are started on it from now on are confined. Those on the user's own desktop are not.
    #[must_use]
    pub fn with_confined_applications(self, confine: Confine) -> Self {
        Self { confine, ..self }
    }

    /// The same desktop; browsers that are started on it from now on, if it is a virtual one, are started by this program, which tells
    /// their pages.
    #[must_use]
    pub fn with_browser_holder(self, holder: BrowserHolder) -> Self {
        Self { browser_holder: Some(holder), ..self }
    }

    /// The program that starts browsers and tells their pages.
    pub(crate) const fn browser_holder(&self) -> Option<&BrowserHolder> {
        self.browser_holder.as_ref()
    }

    /// How applications are confined.
    pub(crate) fn confine(&self) -> &Confine {
        &self.confine
    }

    /// Ends a virtual desktop and returns once nothing of it is left; disconnects from the user's own.
    pub async fn shut_down(self) {
        let Self { display, processes, .. } = self;
        drop(display);
        processes.end_all().await;
    }

    /// Waits until these processes have ended, at most `bound`.
    ///
    /// # Errors
    /// [`DesktopError::Failed`] if no thread is left to wait.
    pub async fn await_ended(&self, pids: BTreeSet<u32>, bound: Duration) -> DesktopResult<()> {
        run_blocking(move || deskhand_process::await_ended(&pids, bound)).await
    }

    /// Excludes programs: their elements and announcements are no longer read. A program is named by its file name
    /// (`keepassxc`), in any case. Its windows are still listed, without elements.
    ///
    /// # Errors
    /// [`DesktopError::Gone`] if the accessibility bus does not answer.
    pub async fn exclude(&self, programs: &[String]) -> DesktopResult<()> {
        match &self.accessibility {
            Some(accessibility) if !programs.is_empty() => accessibility.exclude(programs).await,
            Some(_) | None => Ok(()),
        }
    }

    /// What is known of documents.
    pub(crate) const fn known_documents(&self) -> &KnownDocuments {
        &self.documents
    }

    /// How many calls were made to applications so far, which is the cost of looks.
    pub fn questions(&self) -> u64 {
        self.accessibility.as_ref().map_or(0, |accessibility| accessibility.shared.bus.calls())
    }

    /// New windows and elements get numbers above those that were `seen` before, on another desktop.
    pub fn start_ids_above(&self, seen: IdsSeen) {
        self.display.with_registry(|registry| registry.start_above(seen.window));
        if let Some(accessibility) = &self.accessibility {
            accessibility.with_ids(|ids| ids.start_above(seen.element));
        }
        self.elements_given.fetch_max(seen.element, Ordering::Relaxed);
    }

    /// How to attach to it again, for a desktop that a keeper holds.
    pub fn handle(&self) -> Option<&DesktopHandle> {
        self.handle.as_ref()
    }

    /// The environment of applications on this desktop; they get no other variables.
    pub fn environment(&self) -> &Environment {
        &self.environment
    }

    /// The name of the display, such as `:3`.
    pub fn display_name(&self) -> &str {
        self.display.name()
    }

    /// The private folder of a virtual desktop; removed together with it.
    pub fn private_folder(&self) -> Option<&Path> {
        self.private_folder.as_deref()
    }

    /// The address of the session bus, if there is one.
    pub fn session_bus_address(&self) -> Option<&str> {
        self.session_bus_address.as_deref()
    }

    /// The address of the accessibility bus, if there is one.
    pub fn accessibility_address(&self) -> Option<&str> {
        self.accessibility_address.as_deref()
    }

    /// How long this desktop took to start.
    pub fn startup(&self) -> StartupTimes {
        self.startup
    }

    /// The processes that expose their elements to assistive technology; `WindowInfo::accessible` is derived from it.
    pub fn accessible_pids(&self) -> &Arc<RwLock<HashSet<u32>>> {
        &self.accessible_pids
    }

    /// The X id of a window that was listed and still exists.
    pub fn x_window(&self, window: WindowId) -> Option<u32> {
        self.display.with_registry(|registry| registry.find_window(window))
    }

    /// The id of an X window that was listed.
    pub fn window_id(&self, x_window: u32) -> Option<WindowId> {
        self.display.with_registry(|registry| registry.find_id(x_window))
    }

    /// Watches what a person does with mouse and keyboard, on any window. Nothing is taken from applications.
    ///
    /// # Errors
    /// [`DesktopError`] if the X server is gone or has no XInput 2.
    pub async fn watch_input(&self) -> DesktopResult<InputWatch> {
        let address = self.display.address().clone();
        run_blocking(move || InputWatch::begin(&address)).await?
    }

    /// A receiver of the events of the X server from now on. A reader that falls behind misses some.
    pub fn x_events(&self) -> broadcast::Receiver<XEvent> {
        self.display.subscribe()
    }

    /// Waits until the X server has ended.
    pub async fn display_ended(&self) {
        self.display.gone().cancelled().await;
    }

    /// Whether its display has ended.
    pub fn has_ended(&self) -> bool {
        self.display.gone().is_cancelled()
    }

    /// The processes that serve every application, as far as they are known: X server, window manager, session bus.
    pub(crate) async fn servers(&self) -> DesktopResult<&[u32]> {
        let find = async || {
            let mut found =
                self.display.call("find the X server", |worker| worker.server_processes()).await?;
            if let Some(address) = self.session_bus_address.clone() {
                found.extend(run_blocking(move || bus_process(&address)).await?);
            }
            Ok(found)
        };
        self.servers.get_or_try_init(find).await.map(Vec::as_slice)
    }

    /// The elements of applications, if there is an accessibility bus.
    pub(crate) fn accessibility(&self) -> Option<&Accessibility> {
        self.accessibility.as_ref()
    }

    async fn picture(&self, operation: &'static str, region: Option<Rect<Screen>>) -> DesktopResult<Picture> {
        let take = move |worker: &mut Worker| {
            let Worker { camera, connection, root, .. } = worker;
            camera.picture(connection, *root, region)
        };
        self.display.call(operation, take).await
    }

    pub(crate) const fn office(&self) -> &OfficeWorker {
        &self.office
    }

    /// The recent changes of elements.
    pub(crate) fn history(&self) -> &History {
        &self.history
    }

    pub(crate) fn display(&self) -> &Display {
        &self.display
    }

    pub(crate) fn processes(&self) -> &Processes {
        &self.processes
    }

    pub(crate) fn typing(&self) -> &Mutex<()> {
        &self.typing
    }

    pub(crate) fn next_ping(&self) -> u32 {
        self.last_ping.fetch_add(1, Ordering::Relaxed).wrapping_add(1)
    }

    pub(crate) fn entries(&self) -> Arc<DesktopEntries> {
        Arc::clone(&self.entries.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Reads the installed applications again, in case one was installed since.
    pub(crate) async fn refresh_entries(&self) -> DesktopResult<Arc<DesktopEntries>> {
        let entries = Arc::new(read_entries(&self.environment).await?);
        *self.entries.write().unwrap_or_else(PoisonError::into_inner) = Arc::clone(&entries);
        Ok(entries)
    }
}

/// The process that listens at a bus address such as `unix:path=/run/bus,guid=…`; `None` if that is no socket in the file
/// system.
fn bus_process(address: &str) -> Option<u32> {
    let path = address.strip_prefix("unix:path=")?.split([',', ';']).next()?;
    peer_process(UnixStream::connect(path).ok()?)
}

/// Connects to the accessibility bus. Without it a desktop still has windows, input and screenshots.
async fn connect_accessibility(
    address: &str,
    display: &Display,
    accessible_pids: &Arc<RwLock<HashSet<u32>>>,
) -> Option<Accessibility> {
    let size = display.size();
    let screen = Rect::new(0, 0, i32::from(size.width), i32::from(size.height));
    match Accessibility::connect(address, screen, Arc::clone(accessible_pids)).await {
        Ok(accessibility) => Some(accessibility),
        Err(error) => {
            tracing::warn!(
                error = error.chain(),
                "cannot connect to the accessibility bus; elements are not available"
            );
            None
        }
    }
}

impl Capture for LinuxDesktop {
    async fn screen(&self) -> DesktopResult<Picture> {
        self.picture("take a screenshot", None).await
    }

    async fn region(&self, region: Rect<Screen>) -> DesktopResult<Picture> {
        self.picture("take a screenshot of a region", Some(region)).await
    }

    async fn drawn_text(&self, _region: Rect<Screen>) -> DesktopResult<Option<String>> {
        Ok(None)
    }
}

impl Clipboard for LinuxDesktop {
    async fn clipboard(&self) -> DesktopResult<Option<String>> {
        self.clipboard.read(&self.display).await
    }

    async fn set_clipboard(&self, text: Option<&str>) -> DesktopResult<()> {
        self.clipboard.write(&self.display, text, None).await
    }

    async fn set_clipboard_as(&self, format: &str, content: &str) -> DesktopResult<()> {
        self.clipboard.write(&self.display, Some(content), Some(format)).await
    }

    async fn clipboard_taken(&self, bound: Duration) -> DesktopResult<bool> {
        Ok(self.clipboard.was_taken(bound).await)
    }
}

impl Desktop for LinuxDesktop {
    fn capabilities(&self) -> Capabilities {
        Capabilities {
            platform: "linux-x11",
            screen: self.display.size(),
            windowing: true,
            ui_tree: self.accessibility.is_some(),
            input: true,
            capture: true,
        }
    }

    async fn see(&self, window: WindowId, limits: TreeLimits) -> DesktopResult<Sight> {
        Ok(Sight { tree: self.tree(window, limits).await?, notices: Vec::new() })
    }

    fn reserve_element_id(&self) -> ElementId {
        match &self.accessibility {
            Some(accessibility) => accessibility.reserve_id(),
            None => ElementId(self.elements_given.fetch_add(1, Ordering::Relaxed).saturating_add(1)),
        }
    }
}
