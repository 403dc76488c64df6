//! A headless session of GNOME or KDE of a test's own: the compositor without a screen, PipeWire, a session bus and the portals. All end when
//! it is dropped. A script answers the dialog of the portal over the accessibility bus, as a person with a screen reader would.

use std::{
    env,
    ffi::OsString,
    fs,
    io::{Error, Result},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use crate::compositor::{ACCESSIBILITY, make_private, start_bus};

/// How long something may take to come up.
const BOUND: Duration = Duration::from_secs(40);
/// How often it is looked for.
const LOOK: Duration = Duration::from_millis(50);
const DISPLAY: &str = "wayland-0";
const ANSWER: &str = include_str!("../fixtures/answer.py");
/// The services of the portals. Not that of documents, which mounts a file system that would outlive the test.
const PORTALS: [&str; 2] =
    ["org.freedesktop.portal.Desktop.service", "org.freedesktop.impl.portal.PermissionStore.service"];
/// The settings of GNOME.
const SETTINGS: &str = "[org/gnome/shell]\n\
    enabled-extensions=['windows@deskhand']\n\
    welcome-dialog-last-shown-version='99'\n\
    [org/gnome/desktop/interface]\n\
    enable-animations=false\n\
    toolkit-accessibility=true\n";

/// Which desktop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shell {
    /// GNOME Shell.
    Gnome,
    /// KWin, without Plasma.
    KWin,
}

impl Shell {
    /// The programs that it needs.
    #[must_use]
    pub const fn needs(self) -> [&'static str; 6] {
        let compositor = match self {
            Self::Gnome => "gnome-shell",
            Self::KWin => "kwin_wayland",
        };
        [compositor, "dbus-daemon", "pipewire", "wireplumber", "gst-launch-1.0", "gdbus"]
    }

    const fn desktop(self) -> &'static str {
        match self {
            Self::Gnome => "GNOME",
            Self::KWin => "KDE",
        }
    }

    const fn portal(self) -> &'static str {
        match self {
            Self::Gnome => "org.freedesktop.impl.portal.desktop.gnome.service",
            Self::KWin => "org.freedesktop.impl.portal.desktop.kde.service",
        }
    }

    /// How it is started, and what calls it to see whether it has come up.
    fn command(self, folder: &Path) -> Result<Command> {
        let mut command = match self {
            Self::Gnome => {
                let mut command = Command::new("gnome-shell");
                command.args(["--headless", "--virtual-monitor", "1280x800", "--no-x11"]);
                command.args(["--wayland-display", DISPLAY]);
                command
            }
            Self::KWin => {
                // A copy has not the capability of the file, which not every test may have.
                let copy = folder.join("kwin_wayland");
                fs::copy("/usr/bin/kwin_wayland", &copy)?;
                let mut command = Command::new(copy);
                command.args(["--virtual", "--width", "1280", "--height", "800", "--socket", DISPLAY]);
                command.args(["--no-lockscreen", "--no-global-shortcuts"]);
                command
            }
        };
        command.env_remove("WAYLAND_DISPLAY");
        Ok(command)
    }

    const fn question(self) -> [&'static str; 3] {
        match self {
            Self::Gnome => ["org.gnome.Shell", "/org/deskhand/Windows", "org.deskhand.Windows.List"],
            Self::KWin => ["org.kde.KWin", "/KWin", "org.kde.KWin.currentDesktop"],
        }
    }
}

/// A session that runs.
pub struct PortalSession {
    folder: PathBuf,
    /// In the order in which they end.
    children: Vec<Child>,
    variables: Vec<(OsString, OsString)>,
}

impl PortalSession {
    /// Starts one. `prepare` gets the folder of its data before the compositor starts. Blocking.
    ///
    /// # Errors
    /// If something does not start within a generous bound.
    pub fn start(shell: Shell, prepare: impl FnOnce(&Path) -> Result<()>) -> Result<Self> {
        let unique = SystemTime::now().duration_since(UNIX_EPOCH).map_err(Error::other)?.as_nanos();
        let folder = env::temp_dir().join(format!("deskhand-portals-{}-{unique}", std::process::id()));
        for name in ["home", "run", "data", "config/glib-2.0/settings", "state", "cache"] {
            fs::create_dir_all(folder.join(name))?;
        }
        make_private(&folder.join("run"))?;
        fs::write(folder.join("config/glib-2.0/settings/keyfile"), SETTINGS)?;
        prepare(&folder.join("data"))?;
        let mut session = Self { variables: variables(shell, &folder), folder, children: Vec::new() };
        let services = [&[ACCESSIBILITY, shell.portal()], PORTALS.as_slice()].concat();
        let (bus, address) = start_bus(&session.folder, &session.variables, &services)?;
        session.children.push(bus);
        session.variables.push(("DBUS_SESSION_BUS_ADDRESS".into(), address.clone().into()));
        session.add(Command::new("pipewire"), "pipewire")?;
        session.await_true("pipewire", |session| session.folder.join("run/pipewire-0").exists())?;
        session.add(Command::new("wireplumber"), "wireplumber")?;
        let mut compositor = shell.command(&session.folder)?;
        // GNOME Shell wants a system bus, and gets one without services.
        compositor.env("DBUS_SYSTEM_BUS_ADDRESS", &address);
        session.add(compositor, "compositor")?;
        let [service, path, method] = shell.question();
        session.await_true("compositor", |session| {
            let mut ask = session.command("gdbus");
            ask.args(["call", "--session", "--dest", service, "--object-path", path, "--method", method]);
            ask.stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok_and(|status| status.success())
        })?;
        Ok(session)
    }

    /// Answers the next dialog of the portal: shares the screen and allows remote interaction, or refuses.
    ///
    /// # Errors
    /// If the script does not start.
    pub fn answer(&mut self, allow: bool) -> Result<()> {
        let mut command = Command::new("/usr/bin/python3");
        command.args(["-c", ANSWER, if allow { "allow" } else { "refuse" }]);
        self.add(command, "answer")
    }

    /// The environment of programs in it.
    #[must_use]
    pub fn variables(&self) -> &[(OsString, OsString)] {
        &self.variables
    }

    /// A folder of its own, which is removed at the end.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command.env_clear().envs(self.variables.iter().cloned()).stdin(Stdio::null());
        command
    }

    /// Starts a program that ends with the session.
    fn add(&mut self, mut command: Command, name: &str) -> Result<()> {
        let log = fs::File::create(self.folder.join(name).with_extension("log"))?;
        // What was set before holds besides.
        let own: Vec<(OsString, Option<OsString>)> =
            command.get_envs().map(|(name, value)| (name.to_owned(), value.map(Into::into))).collect();
        command.env_clear().envs(self.variables.iter().cloned());
        for (name, value) in own {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        command.stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log).current_dir(&self.folder);
        self.children.insert(0, command.spawn()?);
        Ok(())
    }

    #[expect(clippy::disallowed_methods, reason = "no event tells when programs of others have come up")]
    fn await_true(&self, name: &str, is: impl Fn(&Self) -> bool) -> Result<()> {
        let deadline = Instant::now() + BOUND;
        while !is(self) {
            if Instant::now() >= deadline {
                let log = fs::read_to_string(self.folder.join(name).with_extension("log"));
                return Err(Error::other(format!("{name} did not come up: {}", log.unwrap_or_default())));
            }
            thread::sleep(LOOK);
        }
        Ok(())
    }
}

impl Drop for PortalSession {
    fn drop(&mut self) {
        for child in &mut self.children {
            // It may have ended.
            child.kill().ok();
            child.wait().ok();
        }
        fs::remove_dir_all(&self.folder).ok();
    }
}

fn variables(shell: Shell, folder: &Path) -> Vec<(OsString, OsString)> {
    let mut variables: Vec<(OsString, OsString)> = [
        ("HOME", "home"),
        ("XDG_RUNTIME_DIR", "run"),
        ("XDG_DATA_HOME", "data"),
        ("XDG_CONFIG_HOME", "config"),
        ("XDG_STATE_HOME", "state"),
        ("XDG_CACHE_HOME", "cache"),
    ]
    .map(|(name, part)| (name.into(), folder.join(part).into_os_string()))
    .into();
    let fixed = [
        ("LC_CTYPE", "C.UTF-8"),
        ("WAYLAND_DISPLAY", DISPLAY),
        ("XDG_SESSION_TYPE", "wayland"),
        ("XDG_CURRENT_DESKTOP", shell.desktop()),
        ("GDK_BACKEND", "wayland"),
        ("QT_QPA_PLATFORM", "wayland"),
        ("GSETTINGS_BACKEND", "keyfile"),
        ("SAL_USE_VCLPLUGIN", "gtk3"),
    ];
    variables.extend(fixed.map(|(name, value)| (name.into(), value.into())));
    variables.push(("PATH".into(), env::var_os("PATH").unwrap_or_default()));
    variables
}
