//! Windows and programs behind the [`Windowing`] trait.

use std::{
    collections::{BTreeMap, HashSet},
    ffi::{OsStr, OsString},
    path::{Path, PathBuf},
    sync::PoisonError,
    time::Duration,
};

use deskhand_core::{
    duration::milliseconds,
    ids::WindowId,
    ui::{InstalledApplication, WindowInfo},
};
use deskhand_desktop::{DesktopError, DesktopResult, Ended, LaunchRequest, Launched, Windowing};
use tokio::{
    sync::broadcast::{Receiver, error::RecvError},
    time::{Instant, timeout_at},
};
use x11rb::{
    connection::Connection,
    protocol::xproto::{
        ClientMessageEvent, ConfigureWindowAux, ConnectionExt as _, EventMask, InputFocus, StackMode,
    },
};

use crate::{
    blocking::run_blocking,
    desktop::LinuxDesktop,
    desktop_entries::{DesktopEntry, Meant},
    opening::{Openers, Target},
    toolkits::{self, Extras},
    virtual_desktop::{
        confine::{Profile, Surroundings},
        processes::ProgramStart,
        programs::{self, BrowserHolder},
        start::socket_of,
    },
    x11::{events::XEvent, fault::WorkResult, window_ids::Registry, windows::WindowList, worker::Worker},
};

/// How long a window may take to get the focus.
const FOCUS_BOUND: Duration = Duration::from_secs(3);
/// How long a focused window may take to come to the front; another may be kept above all others.
const FRONT_BOUND: Duration = Duration::from_millis(300);
/// The source of a request in EWMH: a tool that acts for the user.
const SOURCE_PAGER: u32 = 2;

impl Windowing for LinuxDesktop {
    async fn windows(&self) -> DesktopResult<Vec<WindowInfo>> {
        let list = self.display().call("list the windows", |worker| worker.list_windows()).await?;
        let infos = self.infos(&list);
        let unmarked = self.display().with_registry(Registry::take_unmarked);
        if !unmarked.is_empty() {
            self.display().call("mark windows", move |worker| worker.mark_windows(&unmarked)).await?;
        }
        Ok(infos)
    }

    async fn windows_changed(&self, known: &[WindowInfo], bound: Duration) -> DesktopResult<Vec<WindowInfo>> {
        let deadline = Instant::now() + bound;
        let mut events = self.x_events();
        let before = essence(known);
        loop {
            let now = self.windows().await?;
            if essence(&now) != before || !self.await_windows(&mut events, deadline).await? {
                return Ok(now);
            }
        }
    }

    async fn activate(&self, window: WindowId) -> DesktopResult<()> {
        let mut deadline = Instant::now() + FOCUS_BOUND;
        let mut events = self.x_events();
        let x_window = self.existing(window)?;
        let pop_up = self
            .display()
            .call("activate a window", move |worker| worker.ask_for_focus(x_window))
            .await
            .map_err(|error| self.unless_gone(window, error))?;
        if pop_up {
            // A pop-up has the input as long as it is open; no window manager focuses it.
            return Ok(());
        }
        // The current state may predate pending events: a window that has just opened may be about to take the focus.
        self.await_window_manager(&mut events, deadline).await?;
        loop {
            let list = self.display().call("list the windows", |worker| worker.list_windows()).await?;
            let has_focus = list.has_focus(x_window);
            if has_focus {
                if list.is_in_front(x_window) {
                    return Ok(());
                }
                deadline = deadline.min(Instant::now() + FRONT_BOUND);
            }
            self.existing(window)?;
            if !self.await_windows(&mut events, deadline).await? {
                if has_focus {
                    return Ok(());
                }
                let application = self
                    .infos(&list)
                    .into_iter()
                    .find(|info| info.id == window)
                    .map_or_else(|| window.to_string(), |info| info.app.name);
                return Err(DesktopError::NotAnswering {
                    operation: "give the focus to a window",
                    application,
                    limit_ms: milliseconds(FOCUS_BOUND),
                });
            }
        }
    }

    async fn close(&self, window: WindowId) -> DesktopResult<()> {
        let x_window = self.existing(window)?;
        self.display()
            .call("close a window", move |worker| worker.ask_to_close(x_window))
            .await
            .map_err(|error| self.unless_gone(window, error))
    }

    async fn launch(&self, request: &LaunchRequest) -> DesktopResult<Launched> {
        let command = self.command_of(request).await?;
        let fails = |reason: String| DesktopError::Launch { program: request.program.clone(), reason };
        let mut needs = programs::Needs::default();
        let superuser = rustix::process::geteuid().is_root();
        if let Some(private) = self.private_folder() {
            let (program, private) = (command.program.clone(), private.to_owned());
            needs = run_blocking(move || programs::prepare(&program, &private, superuser))
                .await?
                .map_err(|error| fails(format!("cannot write its settings: {error}")))?;
        }
        let known = self.known_documents().clone();
        let begun = request.arguments.clone();
        run_blocking(move || known.begin(&begun)).await?;
        let environment = self.environment().clone();
        let mut environment = match &needs.settings {
            Some(folder) => environment.with_settings(folder),
            None => environment,
        };
        if needs.browser.is_none() {
            let extras = self.extras_of_toolkit(&command, superuser).await?;
            needs.arguments.extend(extras.arguments);
            extras.variables.into_iter().for_each(|(name, value)| environment.set(name, value));
        }
        let holder = needs.browser.zip(self.browser_holder()).zip(self.private_folder());
        let mut arguments = needs.arguments;
        if holder.is_some() {
            arguments.push(BrowserHolder::PLACEHOLDER.into());
        }
        arguments.extend(command.arguments.iter().map(OsString::from));
        let log_name = command.program.file_name().unwrap_or(OsStr::new("program")).to_owned();
        let profile = self.profile(&command).await?.map_err(fails)?;
        if let (Some(_), Some((name, value))) = (&profile, needs.confined) {
            environment.set(name, value);
        }
        let program = match &profile {
            Some(profile) => {
                arguments = profile.arguments(&command.program, arguments);
                profile.program()
            }
            None => &command.program,
        };
        let (program, arguments) = match holder {
            Some(((browser, holder), private)) => {
                (holder.program.as_path(), holder.arguments(browser, private, program, arguments))
            }
            None => (program, arguments),
        };
        let start = ProgramStart {
            program,
            arguments,
            environment: &environment,
            folder: command.folder,
            log: self.private_folder().map(|private| private.join("logs").join(log_name)),
            read_output: false,
        };
        let started = self.processes().start(start).await.map_err(|error| fails(error.to_string()))?;
        Ok(Launched { pid: started.pid, name: command.name, wm_class: command.wm_class })
    }

    fn applications(&self) -> Vec<InstalledApplication> {
        self.entries().applications()
    }

    fn process_ended(&self, pid: u32) -> Option<Ended> {
        self.processes().ended(pid)
    }

    fn last_words(&self, pid: u32) -> String {
        self.processes().last_words(pid)
    }
}

/// A program to run, found.
struct FoundCommand {
    program: PathBuf,
    arguments: Vec<String>,
    name: String,
    wm_class: Option<String>,
    folder: Option<PathBuf>,
}

impl LinuxDesktop {
    fn infos(&self, list: &WindowList) -> Vec<WindowInfo> {
        let accessible: HashSet<u32> =
            self.accessible_pids().read().unwrap_or_else(PoisonError::into_inner).clone();
        let entries = self.entries();
        self.display().with_registry(|registry| list.to_infos(registry, &entries, &accessible))
    }

    pub(crate) fn existing(&self, window: WindowId) -> DesktopResult<u32> {
        self.x_window(window).ok_or(DesktopError::NoWindow(window))
    }

    /// A request that the X server refused because the window is gone.
    fn unless_gone(&self, window: WindowId, error: DesktopError) -> DesktopError {
        let refused = matches!(
            &error,
            DesktopError::Failed { source, .. } if source.is::<x11rb::errors::ReplyOrIdError>()
        );
        if refused { DesktopError::NoWindow(window) } else { error }
    }

    /// Waits for a change of windows; `false` if there was none before the deadline.
    async fn await_windows(&self, events: &mut Receiver<XEvent>, deadline: Instant) -> DesktopResult<bool> {
        loop {
            match timeout_at(deadline, events.recv()).await {
                Err(_) => return Ok(false),
                // A reader that fell behind reads the windows again.
                Ok(Ok(XEvent::WindowsChanged) | Err(RecvError::Lagged(_))) => return Ok(true),
                Ok(Ok(XEvent::Damage { .. })) => {}
                Ok(Ok(XEvent::DisplayGone) | Err(RecvError::Closed)) => {
                    return Err(self.display().gone_error());
                }
            }
        }
    }

    /// Waits until the window manager has handled its requests and seen their effects, or the deadline. Its first
    /// answer comes after its own requests; what the server reports to it about them comes before the second round
    /// trip.
    async fn await_window_manager(
        &self,
        events: &mut Receiver<XEvent>,
        deadline: Instant,
    ) -> DesktopResult<()> {
        for _ in 0..2 {
            let ask = |worker: &mut Worker| {
                let answers = worker.has_answering_window_manager()?;
                if answers {
                    worker.ask_window_manager()?;
                }
                Ok(answers)
            };
            if !self.display().call("ask the window manager", ask).await? {
                return Ok(());
            }
            let answered = |worker: &mut Worker| worker.window_manager_answered();
            while !self.display().call("wait for the window manager", answered).await? {
                if !self.await_windows(events, deadline).await? {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// What a program needs so that its toolkit exposes elements.
    async fn extras_of_toolkit(&self, command: &FoundCommand, superuser: bool) -> DesktopResult<Extras> {
        let (program, arguments) = (command.program.clone(), command.arguments.clone());
        let java_options = self.environment().find(toolkits::JAVA_OPTIONS).map(OsStr::to_owned);
        run_blocking(move || toolkits::extras(&program, &arguments, superuser, java_options.as_deref())).await
    }

    /// What keeps secrets and our own files from an application; `None` if it is not confined.
    async fn profile(&self, command: &FoundCommand) -> DesktopResult<Result<Option<Profile>, String>> {
        let Some(private) = self.private_folder().map(Path::to_owned) else { return Ok(Ok(None)) };
        let confine = self.confine().clone();
        let environment = self.environment().clone();
        let display = Some(socket_of(self.display_name()));
        let files = command.arguments.clone();
        run_blocking(move || {
            confine.profile(&Surroundings {
                home: environment.find("HOME"),
                path: environment.path(),
                private: Some(&private),
                display,
                files: &files,
            })
        })
        .await
    }

    async fn command_of(&self, request: &LaunchRequest) -> DesktopResult<FoundCommand> {
        if request.program.is_empty() {
            return self.command_that_opens(request).await;
        }
        let wanted = request.program.as_str();
        let entries = self.entries();
        if let Some(entry) = entries.find(wanted).or_else(|| entries.named(wanted)) {
            return self.command_of_entry(entry, request);
        }
        if let Some(program) = self.environment().find_program(wanted) {
            let name = program.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let arguments = request.arguments.clone();
            return Ok(FoundCommand { program, arguments, name, wm_class: None, folder: None });
        }
        let entries = self.refresh_entries().await?;
        let fails = |reason: String| DesktopError::Launch { program: wanted.to_owned(), reason };
        match entries.meant(wanted) {
            Meant::One(entry) => return self.command_of_entry(entry, request),
            Meant::Several(several) => {
                let candidates = Meant::candidates(&several);
                return Err(fails(format!("several applications have this name; give one of {candidates}")));
            }
            Meant::None => {}
        }
        let near: Vec<String> = entries.nearest(wanted).iter().map(|name| format!("`{name}`")).collect();
        let hint = if near.is_empty() {
            "give the name of an installed application or a command on PATH".to_owned()
        } else {
            format!("did you mean {}?", near.join(" or "))
        };
        Err(fails(format!("no application or command has this name; {hint}")))
    }

    /// The application that is registered for the first argument.
    async fn command_that_opens(&self, request: &LaunchRequest) -> DesktopResult<FoundCommand> {
        let first = request.arguments.first().cloned().unwrap_or_default();
        let fails = |reason: String| DesktopError::Launch { program: first.clone(), reason };
        let target = Target::parse(Path::new(&first)).map_err(fails)?;
        let chosen = run_blocking(move || Openers::of_this_system().choose(&target)).await?;
        let opener = chosen.map_err(|none| {
            let install = none.package.map(|package| format!("; install the package {package}"));
            let else_named = "; or give the name of an application";
            fails(format!(
                "nothing that is installed opens {}{}{else_named}",
                none.mime,
                install.unwrap_or_default()
            ))
        })?;
        let request = LaunchRequest { program: opener.entry.clone(), ..request.clone() };
        let entries = self.refresh_entries().await?;
        let missing = || fails(format!("{} is registered for it and not installed", opener.name));
        self.command_of_entry(entries.find(&opener.entry).ok_or_else(missing)?, &request)
    }

    fn command_of_entry(&self, entry: &DesktopEntry, request: &LaunchRequest) -> DesktopResult<FoundCommand> {
        let fails = |reason: String| DesktopError::Launch { program: request.program.clone(), reason };
        if entry.terminal {
            return Err(fails(format!("{} runs in a terminal and has no window", entry.name)));
        }
        let address =
            |argument: &&String| argument.starts_with("http://") || argument.starts_with("https://");
        if let Some(address) = request.arguments.iter().find(address).filter(|_| !entry.takes_addresses()) {
            return Err(fails(format!("{} opens files and no addresses such as {address}", entry.name)));
        }
        let mut words = entry.command_line(&request.arguments).into_iter();
        let command = words.next().unwrap_or_default();
        let program = self.environment().find_program(&command).ok_or_else(|| {
            fails(format!("its command `{command}` is not installed; install {} again", entry.name))
        })?;
        Ok(FoundCommand {
            program,
            arguments: words.collect(),
            name: entry.name.clone(),
            wm_class: entry.wm_class.as_ref().map(|class| class.to_lowercase()),
            folder: entry.folder.clone(),
        })
    }
}

/// The properties of windows that count as a change.
fn essence(windows: &[WindowInfo]) -> BTreeMap<WindowId, (&str, bool)> {
    windows.iter().map(|window| (window.id, (window.title.as_str(), window.active))).collect()
}

impl Worker {
    /// Requests the focus; `true` for a window that the window manager does not manage.
    fn ask_for_focus(&self, window: u32) -> WorkResult<bool> {
        if self.connection.get_window_attributes(window)?.reply()?.override_redirect {
            return Ok(true);
        }
        if self.has_window_manager()? {
            let active = self.active_window()?.unwrap_or(0);
            let data = [SOURCE_PAGER, x11rb::CURRENT_TIME, active, 0, 0];
            self.tell_window_manager(window, self.atoms._NET_ACTIVE_WINDOW, data)?;
        } else {
            let raise = ConfigureWindowAux::new().stack_mode(StackMode::ABOVE);
            self.connection.configure_window(window, &raise)?;
            self.connection
                .set_input_focus(InputFocus::POINTER_ROOT, window, x11rb::CURRENT_TIME)?
                .check()?;
        }
        Ok(false)
    }

    fn ask_to_close(&self, window: u32) -> WorkResult<()> {
        let managed = !self.connection.get_window_attributes(window)?.reply()?.override_redirect;
        if managed && self.has_window_manager()? {
            let data = [x11rb::CURRENT_TIME, SOURCE_PAGER, 0, 0, 0];
            return self.tell_window_manager(window, self.atoms._NET_CLOSE_WINDOW, data);
        }
        if !self.has_protocol(window, self.atoms.WM_DELETE_WINDOW)? {
            let what = "it is a pop-up and cannot be asked to close; press Escape instead";
            return Err(DesktopError::failed("close a window", what).into());
        }
        let data = [self.atoms.WM_DELETE_WINDOW, x11rb::CURRENT_TIME, 0, 0, 0];
        let event = ClientMessageEvent::new(32, window, self.atoms.WM_PROTOCOLS, data);
        self.connection.send_event(false, window, EventMask::NO_EVENT, event)?;
        self.connection.flush()?;
        self.round_trip()
    }
}
