//! Runs the binary in an isolated home folder.

use std::{
    ffi::OsString,
    fs,
    os::unix::{fs::chown, process::CommandExt as _},
    path::{Path, PathBuf},
    process::{Command, Output},
    time::{Duration, Instant},
};

use deskhand_runtime::SessionStore;
use deskhand_testkit::programs::can_run;
use tempfile::TempDir;

/// An empty home folder, without a display.
pub(crate) struct World {
    folder: TempDir,
    /// The locale of its user; without one, that of the test.
    locale: Option<&'static str>,
    /// Whether its user has no rights.
    unprivileged: bool,
}

/// The user and group of somebody without rights.
const NOBODY: u32 = 65_534;

impl World {
    pub(crate) fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap(), locale: None, unprivileged: false }
    }

    /// The home of a user who speaks another language.
    pub(crate) fn speaking(locale: &'static str) -> Self {
        Self { locale: Some(locale), ..Self::new() }
    }

    /// The home of a user without rights; the test must run as root.
    pub(crate) fn unprivileged() -> Self {
        let world = Self { unprivileged: true, ..Self::new() };
        chown(world.path(), Some(NOBODY), Some(NOBODY)).unwrap();
        // The folder of the build may be closed to others.
        let binary = world.path().join("bin/deskhand");
        fs::create_dir(binary.parent().unwrap()).unwrap();
        fs::copy(env!("CARGO_BIN_EXE_deskhand"), &binary).unwrap();
        world
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        if self.unprivileged {
            let above = path.ancestors().take_while(|folder| *folder != self.path());
            above.for_each(|path| chown(path, Some(NOBODY), Some(NOBODY)).unwrap());
        }
        path
    }

    pub(crate) fn configure(&self, text: &str) {
        self.file(".config/deskhand/config.toml", text);
    }

    /// The stored sessions.
    pub(crate) fn store(&self) -> SessionStore {
        let state = self.path().join(".local/state/deskhand");
        SessionStore::at(state.join("sessions"), state.join("seals"))
    }

    /// A command for the binary, not started.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_deskhand"));
        command.args(arguments);
        self.prepare(&mut command);
        command
    }

    /// Prepares a command: runs in the home folder, finds the binary first, and inherits no settings.
    pub(crate) fn prepare(&self, command: &mut Command) {
        let binary = Path::new(env!("CARGO_BIN_EXE_deskhand")).parent().unwrap();
        let binary = if self.unprivileged { self.path().join("bin") } else { binary.to_owned() };
        command.current_dir(self.path()).env("HOME", self.path()).env("PATH", path_with(&binary));
        if self.unprivileged {
            command.uid(NOBODY).gid(NOBODY);
        }
        if let Some(locale) = self.locale {
            command.env("LANG", locale).env_remove("LC_ALL").env_remove("LANGUAGE");
        }
        for (name, _) in std::env::vars_os() {
            let name = name.to_string_lossy().into_owned();
            let ours =
                name.starts_with("DESKHAND_") || name.starts_with("XDG_") || name.ends_with("_API_KEY");
            if ours || ["DISPLAY", "WAYLAND_DISPLAY", "NO_COLOR", "COLUMNS"].contains(&name.as_str()) {
                command.env_remove(name);
            }
        }
        // Desktops end with their run, so that no test leaves one behind; tests of kept ones say otherwise.
        if command.get_args().next().is_none_or(|first| first != "config") {
            command.env("DESKHAND__DESKTOP__KEEP", "never");
        }
    }

    /// Runs the binary and returns its exit code and output, with paths replaced.
    pub(crate) fn run(&self, arguments: &[&str]) -> String {
        self.shown(&self.command(arguments).output().unwrap())
    }

    pub(crate) fn shown(&self, output: &Output) -> String {
        let text = |bytes: &[u8]| self.scrub(&String::from_utf8_lossy(bytes), "[home]");
        let code = output.status.code().map_or_else(|| output.status.to_string(), |code| code.to_string());
        let (out, error) = (text(&output.stdout), text(&output.stderr));
        let mut shown = format!("exit {code}\n");
        for (name, text) in [("out", out), ("error", error)] {
            if !text.is_empty() {
                shown.push_str(&format!("--- {name}\n{text}"));
            }
        }
        shown
    }
}

impl World {
    /// Replaces the path of the home folder.
    pub(crate) fn scrub(&self, text: &str, home: &str) -> String {
        let root = fs::canonicalize(self.path()).unwrap();
        text.replace(root.to_str().unwrap(), home).replace(self.path().to_str().unwrap(), home)
    }

    /// Running processes of this world: number and command line.
    pub(crate) fn processes(&self) -> Vec<(i32, String)> {
        let mark = format!("HOME={}\0", self.path().display());
        let of = |entry: fs::DirEntry| {
            let pid = entry.file_name().to_str()?.parse().ok()?;
            let environment = fs::read(entry.path().join("environ")).ok()?;
            let line = fs::read_to_string(entry.path().join("cmdline")).ok()?.replace('\0', " ");
            String::from_utf8_lossy(&environment).contains(&mark).then_some((pid, line))
        };
        fs::read_dir("/proc").unwrap().filter_map(Result::ok).filter_map(of).collect()
    }

    /// Command lines of running processes, of any origin, that contain this path of the world.
    pub(crate) fn lines_with(&self, path: &str) -> Vec<String> {
        let wanted = self.path().join(path).display().to_string();
        let lines = fs::read_dir("/proc").unwrap().filter_map(Result::ok);
        let lines = lines.filter_map(|entry| fs::read_to_string(entry.path().join("cmdline")).ok());
        lines.map(|line| line.replace('\0', " ")).filter(|line| line.contains(&wanted)).collect()
    }

    /// The command lines of processes that were left behind.
    pub(crate) fn orphans(&self) -> Vec<String> {
        let start = Instant::now();
        loop {
            let left: Vec<String> = self.processes().into_iter().map(|(_, line)| line).collect();
            // A keeper that another command has told to end is on its way out.
            if left.is_empty() || start.elapsed() > Duration::from_secs(20) {
                return left;
            }
            std::thread::park_timeout(Duration::from_millis(20));
        }
    }
}

/// `PATH` with a folder in front.
fn path_with(folder: &Path) -> OsString {
    let paths = std::env::var_os("PATH").unwrap_or_default();
    std::env::join_paths([folder.to_owned()].into_iter().chain(std::env::split_paths(&paths))).unwrap()
}

/// Returns `true` if a virtual desktop with an editor can be started; required where all tests must run.
pub(crate) fn has_desktop() -> bool {
    has_programs(&["mousepad"])
}

/// Returns `true` if a virtual desktop with these programs can be started; required where all tests must run.
pub(crate) fn has_programs(programs: &[&str]) -> bool {
    can_run(Vec::new(), &[&["Xvfb", "openbox", "dbus-daemon"], programs].concat())
}
