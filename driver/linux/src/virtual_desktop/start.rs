//! Starts a private desktop: its own X server, window manager, session bus and accessibility bus.
//!
//! Independent parts start side by side, and each wait is for an event: the X server writes its display number, the
//! bus its address, the window manager a property.

use std::{
    ffi::OsString,
    fs, io,
    os::{fd::OwnedFd, unix::fs::PermissionsExt as _},
    path::{Path, PathBuf},
    process::ChildStdout,
    time::Duration,
};

use deskhand_desktop::{DesktopError, DesktopResult};
use deskhand_process::{LEAVINGS, STARTING, find_helper, leaving};
use deskhand_ui::geometry::Size;
use tokio::{
    io::{AsyncBufReadExt, BufReader},
    net::{UnixStream, unix::pipe},
    time::Instant,
};

use crate::{
    blocking::run_blocking,
    doctor,
    parts::{DesktopComponents, read_entries},
    screen::ScreenEvent,
    server::DisplayServer,
    times::{StartupTimes, elapsed_ms},
    virtual_desktop::{
        abandoned, accessibility_bus, configuration,
        confine::{Confine, NamespaceHolder, Profile, SandboxEnvironment},
        environment::Environment,
        folders::{desktops_of_user, log_of, write_private},
        processes::{Privileges, Processes, ProgramStart, StartedProgram},
    },
    x11::{
        address::{X11Address, socket_of},
        display::X11Display,
        worker::X11Worker,
    },
};

/// The longest line that a starting program may write, in bytes.
const LINE_MAX: u64 = 4096;
/// Maximum length of a program's log in an error, in bytes.
const MESSAGES_MAX: usize = 600;

/// Maximum time for the window manager to answer before the request is repeated.
const ASK_AGAIN: Duration = Duration::from_millis(20);

/// Options of a virtual desktop to start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VirtualOptions {
    /// The size of its screen.
    pub size: Size,
    /// The longest wait for each part to start.
    pub start_bound: Duration,
    /// Confinement of its applications and of its session bus with all services that the bus starts.
    pub confine: Confine,
}

impl Default for VirtualOptions {
    fn default() -> Self {
        Self {
            size: Size { width: 1920, height: 1080 },
            start_bound: Duration::from_secs(20),
            confine: Confine::off(),
        }
    }
}

/// The names that the X server chooses one of when it starts.
const SERVER_FILES: &str = "/tmp/.X11-unix/X*\n/tmp/.X*-lock\n/tmp/.tX*-lock\n";

/// State shared by all steps of a start.
struct DesktopStartContext {
    folder: PathBuf,
    processes: Processes,
    bound: Duration,
    privileges: Privileges,
}

/// Starts a private desktop; after a failure nothing of it is left.
pub(crate) async fn start(options: VirtualOptions) -> DesktopResult<DesktopComponents> {
    let begun = Instant::now();
    let user = Environment::of_this_process();
    if let Some(error) = doctor::missing_programs(&user) {
        return Err(error);
    }
    let desktops = desktops_of_user().map_err(|error| cannot_prepare(&error))?;
    abandoned::remove(&desktops, user.path()).await;
    let private = fs::Permissions::from_mode(0o700);
    let folder =
        tempfile::Builder::new().prefix(abandoned::PREFIX).permissions(private).tempdir_in(&desktops);
    let folder = folder.map_err(|error| cannot_prepare(&error))?;
    let held = abandoned::hold(folder.path()).map_err(|error| cannot_prepare(&error))?;
    let mut cookie = [0; 16];
    getrandom::fill(&mut cookie).map_err(|error| cannot_prepare(&io::Error::other(error.to_string())))?;
    configuration::write_files(folder.path(), &cookie, &user).map_err(|error| cannot_prepare(&error))?;
    let environment = user.of_virtual_desktop(folder.path());
    let processes = Processes::guarded(folder.path(), environment.path(), held)
        .map_err(|error| cannot_prepare(&error))?;
    // From here on the guard removes the folder.
    let privileges = options.confine.privileges();
    let starting =
        DesktopStartContext { folder: folder.keep(), processes, bound: options.start_bound, privileges };
    match start_parts(&starting, environment, &options, cookie, begun).await {
        Ok(up) => Ok(DesktopComponents {
            server: DisplayServer::X11(up.display),
            environment: up.environment,
            private_folder: Some(starting.folder),
            processes: starting.processes,
            session_bus_address: Some(up.session_bus_address),
            accessibility_address: Some(up.accessibility_address),
            entries: up.entries,
            startup: StartupTimes { total_ms: elapsed_ms(begun), ..up.startup },
            handle: None,
            elements_given: 0,
        }),
        Err(error) => {
            starting.processes.end_all().await;
            Err(error)
        }
    }
}

struct Up {
    display: X11Display,
    environment: Environment,
    session_bus_address: String,
    accessibility_address: String,
    entries: crate::desktop_entries::DesktopEntries,
    startup: StartupTimes,
}

async fn start_parts(
    starting: &DesktopStartContext,
    mut environment: Environment,
    options: &VirtualOptions,
    cookie: [u8; 16],
    begun: Instant,
) -> DesktopResult<Up> {
    let first = environment.clone();
    // Made before the display runs, which is not to be kept from services.
    let (profile, holder) = starting.profile(&options.confine, &first).await?;
    let (server, session) = tokio::try_join!(
        async {
            let number = start_server(starting, &first, options.size).await?;
            Ok((number, elapsed_ms(begun)))
        },
        async {
            let (address, pid) = start_session_bus(starting, &first, profile).await?;
            if let Some(holder) = holder {
                starting.leave_namespaces(holder, pid).await?;
            }
            Ok((address, elapsed_ms(begun)))
        },
    )?;
    let (name, display_ms) = server;
    let (session_bus_address, session_bus_ms) = session;
    environment.set("DISPLAY", &name);
    let ready = Instant::now();
    let ((display, window_manager_ms), (accessibility_address, accessibility_ms), entries) = tokio::try_join!(
        async {
            let address = X11Address::Own { socket: socket_of(&name), cookie };
            let opened = name.clone();
            let display = run_blocking(move || X11Display::open(&address, opened));
            let (manager, display) = tokio::join!(start_window_manager(starting, &environment), display);
            manager?;
            let display = display??;
            await_window_manager(starting, &display).await?;
            Ok((display, elapsed_ms(ready)))
        },
        async {
            let address = enable_accessibility(starting, &session_bus_address, &name).await?;
            Ok((address, elapsed_ms(ready)))
        },
        read_entries(&environment),
    )?;
    let startup =
        StartupTimes { display_ms, session_bus_ms, window_manager_ms, accessibility_ms, total_ms: 0 };
    Ok(Up { display, environment, session_bus_address, accessibility_address, entries, startup })
}

/// Starts the X server, which chooses a display number, and checks that its socket belongs to it.
async fn start_server(
    starting: &DesktopStartContext,
    environment: &Environment,
    size: Size,
) -> DesktopResult<String> {
    let screen = format!("{size}x24");
    let authority = starting.folder.join("Xauthority");
    let arguments: Vec<OsString> = [
        "-displayfd",
        "1",
        "-screen",
        "0",
        &screen,
        "-dpi",
        "96",
        "-nolisten",
        "tcp",
        "-noreset",
        "-s",
        "0",
        "-auth",
    ]
    .iter()
    .map(OsString::from)
    .chain([authority.into_os_string()])
    .collect();
    starting.note(STARTING, SERVER_FILES)?;
    let started = starting.program("Xvfb", arguments, environment, true).await?;
    let line = starting.first_line("Xvfb", started.output).await?;
    let number: u32 =
        line.trim().parse().map_err(|_| starting.broken("Xvfb", "it did not print a display number"))?;
    let name = format!(":{number}");
    let socket = socket_of(&name);
    let stream = UnixStream::connect(&socket).await.map_err(|error| {
        starting.broken("Xvfb", &format!("cannot connect to {}: {error}", socket.display()))
    })?;
    if listener_of(&stream) != Some(started.pid) {
        return Err(starting.broken("Xvfb", &format!("{} belongs to another process", socket.display())));
    }
    // A server that is killed leaves them.
    let lock = socket.ancestors().nth(2).unwrap_or(&socket).join(format!(".X{number}-lock"));
    let leavings: String = [socket.as_path(), &lock].into_iter().filter_map(leaving).collect();
    starting.note(LEAVINGS, &leavings)?;
    fs::remove_file(starting.folder.join(STARTING)).map_err(|error| cannot_prepare(&error))?;
    Ok(name)
}

/// The process that listens at the other end of a connection, if the kernel tells.
fn listener_of(stream: &UnixStream) -> Option<u32> {
    stream.peer_cred().ok()?.pid().and_then(|pid| u32::try_from(pid).ok())
}

async fn start_session_bus(
    starting: &DesktopStartContext,
    environment: &Environment,
    profile: Option<Profile>,
) -> DesktopResult<(String, u32)> {
    let mut configuration = OsString::from("--config-file=");
    configuration.push(starting.folder.join("bus.conf"));
    let arguments = vec![configuration, "--nofork".into(), "--print-address".into()];
    let program = starting.find("dbus-daemon", environment)?;
    // Services that it starts are confined with it.
    let (program, arguments) = match profile {
        Some(profile) => (profile.program().to_owned(), profile.arguments(&program, arguments)),
        None => (program, arguments),
    };
    let started = starting.start("dbus-daemon", &program, arguments, environment, true).await?;
    let line = starting.first_line("dbus-daemon", started.output).await?;
    // The bus opens its socket to everyone.
    let private = fs::set_permissions(starting.folder.join("bus"), fs::Permissions::from_mode(0o600));
    private.map_err(|error| starting.broken("dbus-daemon", &error.to_string()))?;
    Ok((line.trim().to_owned(), started.pid))
}

async fn start_window_manager(
    starting: &DesktopStartContext,
    environment: &Environment,
) -> DesktopResult<()> {
    let configuration = starting.folder.join("openbox.xml").into_os_string();
    let arguments = vec!["--sm-disable".into(), "--config-file".into(), configuration];
    starting.program("openbox", arguments, environment, false).await.map(drop)
}

/// Waits until the window manager answers. A running one is not enough: what openbox receives while it starts may
/// stay in its queue until the next event, so the request is repeated.
async fn await_window_manager(starting: &DesktopStartContext, display: &X11Display) -> DesktopResult<()> {
    let mut events = display.subscribe();
    let ready = async {
        let ask = |worker: &mut X11Worker| {
            let answered = worker.window_manager_answered()?;
            if !answered && worker.has_window_manager()? {
                worker.ask_window_manager()?;
            }
            Ok(answered)
        };
        while !display.call("ask the window manager", ask).await? {
            // A reader that fell behind asks again, too.
            let next = tokio::time::timeout(ASK_AGAIN, events.recv()).await;
            if matches!(next, Ok(Ok(ScreenEvent::DisplayGone))) {
                return Err(display.gone_error());
            }
        }
        Ok(())
    };
    starting.within("openbox", ready).await?
}

async fn enable_accessibility(
    starting: &DesktopStartContext,
    session_bus_address: &str,
    display: &str,
) -> DesktopResult<String> {
    let enable = async {
        let session = accessibility_bus::connect(session_bus_address).await?;
        accessibility_bus::update_environment(&session, &[("DISPLAY", display)]).await?;
        accessibility_bus::enable(&session).await
    };
    starting
        .within("the accessibility bus", enable)
        .await?
        .map_err(|error| starting.broken("the accessibility bus", &error.to_string()))
}

impl DesktopStartContext {
    fn log(&self, name: &str) -> PathBuf {
        log_of(&self.folder, name.as_ref())
    }

    /// Writes a file for the guard.
    fn note(&self, name: &str, lines: &str) -> DesktopResult<()> {
        write_private(&self.folder.join(name), lines.as_bytes()).map_err(|error| cannot_prepare(&error))
    }

    /// Leaves the user namespaces to the session bus and its monitor, before any program can look into the holder.
    async fn leave_namespaces(&self, holder: NamespaceHolder, monitor: u32) -> DesktopResult<()> {
        let bus = UnixStream::connect(self.folder.join("bus")).await;
        let bus = bus.map_err(|error| self.broken("dbus-daemon", &error.to_string()))?;
        let pid = listener_of(&bus);
        let pid = pid.ok_or_else(|| self.broken("dbus-daemon", "the kernel does not tell its process id"))?;
        let left = run_blocking(move || holder.leave_to(pid, monitor)).await?;
        left.map_err(|error| cannot_prepare(&error))
    }

    /// The profile of the session bus and what holds the namespaces that it enters; `None` if it is not confined, or enters none.
    async fn profile(
        &self,
        confine: &Confine,
        environment: &Environment,
    ) -> DesktopResult<(Option<Profile>, Option<NamespaceHolder>)> {
        let (confine, environment) = (confine.clone(), environment.clone());
        let private = self.folder.clone();
        let made = run_blocking(move || {
            let mut profile = confine.profile(&SandboxEnvironment {
                home: environment.find("HOME"),
                path: environment.path(),
                private: Some(&private),
                display: None,
                files: &[],
            })?;
            let holder = match &mut profile {
                Some(profile) => {
                    let superuser = rustix::process::geteuid().is_root();
                    profile.enter_new_namespaces(&private, environment.path(), superuser)
                }
                None => Ok(None),
            };
            Ok((profile, holder.map_err(|error| format!("cannot confine it: {error}"))?))
        });
        made.await?.map_err(|reason: String| DesktopError::Start {
            what: format!("cannot start the session bus: {reason}"),
            fix: "see `deskhand doctor`".to_owned(),
        })
    }

    async fn program(
        &self,
        name: &str,
        arguments: Vec<OsString>,
        environment: &Environment,
        read_output: bool,
    ) -> DesktopResult<StartedProgram> {
        let program = self.find(name, environment)?;
        self.start(name, &program, arguments, environment, read_output).await
    }

    fn find(&self, name: &str, environment: &Environment) -> DesktopResult<PathBuf> {
        find_helper(name, environment.path()).ok_or_else(|| {
            self.broken(name, "it is not on PATH outside of folders that applications can write to")
        })
    }

    async fn start(
        &self,
        name: &str,
        program: &Path,
        arguments: Vec<OsString>,
        environment: &Environment,
        read_output: bool,
    ) -> DesktopResult<StartedProgram> {
        let log = Some(self.log(name));
        let start = ProgramStart {
            program,
            arguments,
            environment,
            folder: None,
            log,
            read_output,
            yields: false,
            privileges: self.privileges,
        };
        self.processes.start(start).await.map_err(|error| self.broken(name, &error.to_string()))
    }

    /// The line that a program prints when it is ready.
    async fn first_line(&self, name: &str, output: Option<ChildStdout>) -> DesktopResult<String> {
        let read = async {
            let output = output.ok_or_else(|| io::Error::other("no output"))?;
            let pipe = pipe::Receiver::from_owned_fd(OwnedFd::from(output))?;
            let mut line = String::new();
            let limited = tokio::io::AsyncReadExt::take(pipe, LINE_MAX);
            BufReader::new(limited).read_line(&mut line).await?;
            Ok::<_, io::Error>(line)
        };
        let line = self.within(name, read).await?.map_err(|error| self.broken(name, &error.to_string()))?;
        if line.trim().is_empty() {
            return Err(self.broken(name, "it exited before it was ready"));
        }
        Ok(line)
    }

    async fn within<T>(&self, name: &str, wait: impl Future<Output = T>) -> DesktopResult<T> {
        tokio::time::timeout(self.bound, wait).await.map_err(|_| {
            self.broken(name, &format!("it was not ready within {} s", self.bound.as_secs_f32()))
        })
    }

    /// The error of a part that did not start, with the end of its log.
    fn broken(&self, name: &str, what: &str) -> DesktopError {
        let messages = fs::read(self.log(name)).unwrap_or_default();
        let tail = messages.get(messages.len().saturating_sub(MESSAGES_MAX)..).unwrap_or_default();
        let tail = String::from_utf8_lossy(tail);
        let log_end =
            if tail.trim().is_empty() { String::new() } else { format!(" (its log ends: {})", tail.trim()) };
        DesktopError::Start {
            what: format!("cannot start {name}: {what}{log_end}"),
            fix: "see `deskhand doctor`".to_owned(),
        }
    }
}

fn cannot_prepare(error: &io::Error) -> DesktopError {
    DesktopError::Start {
        what: format!("cannot create a private folder: {error}"),
        fix: "check that TMPDIR is writable and not full".to_owned(),
    }
}
