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

use deskhand_desktop::{
    Capabilities, Capture, Clipboard, Desktop, DesktopError, DesktopResult, Picture, TreeLimits, UiTree as _,
    WindowTreeSnapshot,
};
use deskhand_ui::{
    geometry::{Rect, Screen},
    ids::{ElementId, IdsSeen, WindowId},
};
use tokio::{
    sync::{Mutex, OnceCell, broadcast},
    task::JoinSet,
};

use crate::{
    atspi::Accessibility,
    blocking::run_blocking,
    desktop_entries::DesktopEntries,
    documents::known::KnownDocuments,
    history::History,
    kernel::peer_process,
    native::OfficeWorker,
    parts::{DesktopComponents, read_entries},
    screen::ScreenEvent,
    server::DisplayServer,
    times::StartupTimes,
    virtual_desktop::{
        confine::Confine,
        environment::Environment,
        processes::Processes,
        programs::BrowserHolder,
        protocol::DesktopHandle,
        start::{self, VirtualOptions},
    },
    x11::{InputWatch, clipboard::ClipboardState},
};

/// A desktop: a private virtual one on X11, or the current user's on X11 or Wayland.
///
/// Dropping it ends a virtual desktop with everything that runs on it; [`Self::shut_down`] also waits for that.
pub struct LinuxDesktop {
    server: DisplayServer,
    environment: Environment,
    processes: Processes,
    /// The private folder of a virtual desktop.
    private_folder: Option<PathBuf>,
    /// Confinement of the applications of a virtual desktop.
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
    /// Handle to attach to it again, for a desktop that a keeper holds.
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

    pub(crate) async fn of_parts(parts: DesktopComponents) -> Self {
        let accessible_pids = Arc::default();
        let accessibility = match &parts.accessibility_address {
            Some(address) => connect_accessibility(address, &parts.server, &accessible_pids).await,
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
            server: parts.server,
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

    /// Returns the confinement of applications.
    pub(crate) fn confine(&self) -> &Confine {
        &self.confine
    }

    /// Ends a virtual desktop and returns once nothing of it is left; disconnects from the user's own.
    pub async fn shut_down(self) {
        let Self { server, processes, .. } = self;
        drop(server);
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

    /// Returns the stored information about documents.
    pub(crate) const fn known_documents(&self) -> &KnownDocuments {
        &self.documents
    }

    /// Returns the number of calls made to applications so far, which is the cost of looks.
    pub fn questions(&self) -> u64 {
        self.accessibility.as_ref().map_or(0, |accessibility| accessibility.shared.bus.calls())
    }

    /// New windows and elements get numbers above those that were `seen` before, on another desktop.
    pub fn start_ids_above(&self, seen: IdsSeen) {
        self.server.with_registry(|registry| registry.start_above(seen.window));
        if let Some(accessibility) = &self.accessibility {
            accessibility.with_ids(|ids| ids.start_above(seen.element));
        }
        self.elements_given.fetch_max(seen.element, Ordering::Relaxed);
    }

    /// Returns the handle to attach to it again, for a desktop that a keeper holds.
    pub fn handle(&self) -> Option<&DesktopHandle> {
        self.handle.as_ref()
    }

    /// The environment of applications on this desktop; they get no other variables.
    pub fn environment(&self) -> &Environment {
        &self.environment
    }

    /// The name of the display, such as `:3` or `wayland-1`.
    pub fn display_name(&self) -> &str {
        self.server.name()
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

    /// Returns the time that this desktop took to start.
    pub fn startup(&self) -> StartupTimes {
        self.startup
    }

    /// The processes that expose their elements to assistive technology; `WindowInfo::accessible` is derived from it.
    pub fn accessible_pids(&self) -> &Arc<RwLock<HashSet<u32>>> {
        &self.accessible_pids
    }

    /// The id that the server has for a window that was listed and still exists: that of X11, or of a container of sway.
    pub fn x_window(&self, window: WindowId) -> Option<u32> {
        self.server.with_registry(|registry| registry.find_window(window))
    }

    /// The id of an X window that was listed.
    pub fn window_id(&self, x_window: u32) -> Option<WindowId> {
        self.server.with_registry(|registry| registry.find_id(x_window))
    }

    /// Watches what a person does with mouse and keyboard, on any window. Nothing is taken from applications.
    ///
    /// # Errors
    /// [`DesktopError`] if the X server is gone or has no XInput 2, and on Wayland, where no compositor tells what a person does in the
    /// windows of others.
    pub async fn watch_input(&self) -> DesktopResult<InputWatch> {
        let DisplayServer::X11(display) = &self.server else {
            let reason = "a Wayland compositor tells nobody what a person does in the windows of others; \
                          use `--desktop virtual`";
            return Err(DesktopError::failed("watch mouse and keyboard", reason));
        };
        let address = display.address().clone();
        run_blocking(move || InputWatch::begin(&address)).await?
    }

    /// A receiver of what happens on the screen from now on. A reader that falls behind misses some.
    pub fn screen_events(&self) -> broadcast::Receiver<ScreenEvent> {
        self.server.subscribe()
    }

    /// Waits until the display has ended.
    pub async fn display_ended(&self) {
        self.server.gone().cancelled().await;
    }

    /// Returns `true` if its display has ended.
    pub fn has_ended(&self) -> bool {
        self.server.gone().is_cancelled()
    }

    /// The processes that serve every application, as far as they are known: X server and window manager, or compositor, and session bus.
    pub(crate) async fn servers(&self) -> DesktopResult<&[u32]> {
        let find = async || {
            let mut found = self.server.processes().await?;
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

    pub(crate) const fn office(&self) -> &OfficeWorker {
        &self.office
    }

    /// The recent changes of elements.
    pub(crate) fn history(&self) -> &History {
        &self.history
    }

    pub(crate) fn server(&self) -> &DisplayServer {
        &self.server
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
    server: &DisplayServer,
    accessible_pids: &Arc<RwLock<HashSet<u32>>>,
) -> Option<Accessibility> {
    let size = server.size();
    let screen = Rect::new(0, 0, i32::from(size.width), i32::from(size.height));
    match Accessibility::connect(address, screen, server.origin(), Arc::clone(accessible_pids)).await {
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
        self.server.picture("take a screenshot", None).await
    }

    async fn region(&self, region: Rect<Screen>) -> DesktopResult<Picture> {
        self.server.picture("take a screenshot of a region", Some(region)).await
    }

    async fn drawn_text(&self, _region: Rect<Screen>) -> DesktopResult<Option<String>> {
        Ok(None)
    }
}

impl Clipboard for LinuxDesktop {
    async fn clipboard(&self) -> DesktopResult<Option<String>> {
        match &self.server {
            DisplayServer::X11(display) => self.clipboard.read(display).await,
            DisplayServer::Wayland(compositor) => compositor.display.clipboard().await,
        }
    }

    async fn set_clipboard(&self, text: Option<&str>) -> DesktopResult<()> {
        match &self.server {
            DisplayServer::X11(display) => self.clipboard.write(display, text, None).await,
            DisplayServer::Wayland(compositor) => compositor.display.set_clipboard(text, None).await,
        }
    }

    async fn set_clipboard_as(&self, format: &str, content: &str) -> DesktopResult<()> {
        match &self.server {
            DisplayServer::X11(display) => self.clipboard.write(display, Some(content), Some(format)).await,
            DisplayServer::Wayland(compositor) => {
                compositor.display.set_clipboard(Some(content), Some(format)).await
            }
        }
    }

    async fn clipboard_taken(&self, bound: Duration) -> DesktopResult<bool> {
        Ok(match &self.server {
            DisplayServer::X11(_) => self.clipboard.was_taken(bound).await,
            DisplayServer::Wayland(compositor) => compositor.display.clipboard_taken(bound).await,
        })
    }
}

impl Desktop for LinuxDesktop {
    fn capabilities(&self) -> Capabilities {
        Capabilities {
            platform: self.server.platform(),
            screen: self.server.size(),
            windowing: true,
            ui_tree: self.accessibility.is_some(),
            input: true,
            capture: self.server.takes_pictures(),
        }
    }

    async fn see(&self, window: WindowId, limits: TreeLimits) -> DesktopResult<WindowTreeSnapshot> {
        Ok(WindowTreeSnapshot { tree: self.tree(window, limits).await?, notices: Vec::new() })
    }

    fn reserve_element_id(&self) -> ElementId {
        match &self.accessibility {
            Some(accessibility) => accessibility.reserve_id(),
            None => ElementId(self.elements_given.fetch_add(1, Ordering::Relaxed).saturating_add(1)),
        }
    }
}
