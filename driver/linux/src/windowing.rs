//! Windows and programs behind the [`WindowManagement`] trait.

use std::{
    collections::BTreeMap,
    ffi::{OsStr, OsString},
    path::{Path, PathBuf},
    time::Duration,
};

use deskhand_desktop::{
    DesktopError, DesktopResult, LaunchRequest, LaunchedProgram, ProcessExit, WindowManagement,
};
use deskhand_ui::{InstalledApplication, WindowInfo, ids::WindowId};
use futures_util::future::try_join_all;
use tokio::{
    sync::broadcast::{Receiver, error::RecvError},
    time::{Instant, timeout_at},
};

use crate::{
    blocking::run_blocking,
    desktop::LinuxDesktop,
    desktop_entries::{ApplicationNameMatch, DesktopEntry},
    on::On,
    opening::{OpenTarget, Openers},
    screen::ScreenEvent,
    toolkits::{self, Extras},
    virtual_desktop::{
        confine::{Profile, SandboxEnvironment},
        folders::log_of,
        processes::{Privileges, ProgramStart},
        programs::{self, BrowserHolder},
    },
    x11::address::socket_of,
};

/// Maximum time for a window to get the focus.
pub(crate) const FOCUS_BOUND: Duration = Duration::from_secs(3);
/// Maximum time for a focused window to come to the front; another may stay above all others.
pub(crate) const FRONT_BOUND: Duration = Duration::from_millis(300);

impl WindowManagement for LinuxDesktop {
    async fn windows(&self) -> DesktopResult<Vec<WindowInfo>> {
        match self.on() {
            On::X11(x11) => x11.windows().await,
            On::Wayland(wayland) => wayland.windows().await,
        }
    }

    async fn windows_changed(&self, known: &[WindowInfo], bound: Duration) -> DesktopResult<Vec<WindowInfo>> {
        let deadline = Instant::now() + bound;
        let mut events = self.screen_events();
        let before = essence(known);
        loop {
            let now = self.windows().await?;
            if essence(&now) != before || !self.await_windows(&mut events, deadline).await? {
                return Ok(now);
            }
        }
    }

    async fn activate(&self, window: WindowId) -> DesktopResult<()> {
        match self.on() {
            On::X11(x11) => x11.activate(window).await,
            On::Wayland(wayland) => wayland.activate(window).await,
        }
    }

    async fn close(&self, window: WindowId) -> DesktopResult<()> {
        match self.on() {
            On::X11(x11) => x11.close(window).await,
            On::Wayland(wayland) => wayland.close(window).await,
        }
    }

    async fn launch(&self, request: &LaunchRequest) -> DesktopResult<LaunchedProgram> {
        self.start(request, Company::None).await
    }

    async fn launch_all(&self, requests: &[LaunchRequest]) -> DesktopResult<Vec<LaunchedProgram>> {
        let company = if requests.len() > 1 { Company::Others } else { Company::None };
        try_join_all(requests.iter().map(|request| self.start(request, company))).await
    }

    fn applications(&self) -> Vec<InstalledApplication> {
        self.entries().applications()
    }

    fn process_ended(&self, pid: u32) -> Option<ProcessExit> {
        self.processes().ended(pid)
    }

    fn last_words(&self, pid: u32) -> String {
        self.processes().last_words(pid)
    }
}

/// The other programs that start together with a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Company {
    /// Alone.
    None,
    /// Other programs start at the same time.
    Others,
}

impl LinuxDesktop {
    async fn start(&self, request: &LaunchRequest, company: Company) -> DesktopResult<LaunchedProgram> {
        let command = self.command_of(request).await?;
        let fails = |reason: String| DesktopError::Launch { program: request.program.clone(), reason };
        let mut needs = programs::ProgramRequirements::default();
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
        let yields = needs.browser.is_some() && company == Company::Others;
        let (program, arguments, privileges) = match holder {
            // It is one of ours, and confines the browser.
            Some(((browser, holder), private)) => {
                let arguments = holder.arguments(browser, private, self.confine(), program, arguments);
                (holder.program.as_path(), arguments, Privileges::OfUser)
            }
            None => (program, arguments, self.confine().privileges()),
        };
        let start = ProgramStart {
            program,
            arguments,
            environment: &environment,
            folder: command.folder,
            log: self.private_folder().map(|private| log_of(private, &log_name)),
            read_output: false,
            yields,
            privileges,
        };
        let started = self.processes().start(start).await.map_err(|error| fails(error.to_string()))?;
        Ok(LaunchedProgram { pid: started.pid, name: command.name, wm_class: command.wm_class })
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
    /// The number that the server has for a window.
    pub(crate) fn existing(&self, window: WindowId) -> DesktopResult<u32> {
        self.x_window(window).ok_or(DesktopError::NoWindow(window))
    }

    /// Waits for a change of windows; `false` if there was none before the deadline.
    pub(crate) async fn await_windows(
        &self,
        events: &mut Receiver<ScreenEvent>,
        deadline: Instant,
    ) -> DesktopResult<bool> {
        loop {
            match timeout_at(deadline, events.recv()).await {
                Err(_) => return Ok(false),
                // A reader that fell behind reads the windows again.
                Ok(Ok(ScreenEvent::WindowsChanged) | Err(RecvError::Lagged(_))) => return Ok(true),
                // It may be a pop-up, of which no compositor tells.
                Ok(Ok(ScreenEvent::Damage { window: 0, .. })) => return Ok(true),
                Ok(Ok(ScreenEvent::Damage { .. })) => {}
                Ok(Ok(ScreenEvent::DisplayGone) | Err(RecvError::Closed)) => {
                    return Err(self.server().gone_error());
                }
            }
        }
    }

    /// Returns the extras that a program needs so that its toolkit exposes elements.
    async fn extras_of_toolkit(&self, command: &FoundCommand, superuser: bool) -> DesktopResult<Extras> {
        let (program, arguments) = (command.program.clone(), command.arguments.clone());
        let java_options = self.environment().find(toolkits::JAVA_OPTIONS).map(OsStr::to_owned);
        run_blocking(move || toolkits::extras(&program, &arguments, superuser, java_options.as_deref())).await
    }

    /// Returns the profile that protects secrets and our own files from an application; `None` if it is not
    /// confined.
    async fn profile(&self, command: &FoundCommand) -> DesktopResult<Result<Option<Profile>, String>> {
        let Some(private) = self.private_folder().map(Path::to_owned) else { return Ok(Ok(None)) };
        let confine = self.confine().clone();
        let environment = self.environment().clone();
        let display = Some(socket_of(self.display_name()));
        let files = command.arguments.clone();
        run_blocking(move || {
            confine.profile(&SandboxEnvironment {
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
            ApplicationNameMatch::One(entry) => return self.command_of_entry(entry, request),
            ApplicationNameMatch::Several(several) => {
                let candidates = ApplicationNameMatch::candidates(&several);
                return Err(fails(format!("several applications have this name; give one of {candidates}")));
            }
            ApplicationNameMatch::None => {}
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
        let target = OpenTarget::parse(Path::new(&first)).map_err(fails)?;
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
