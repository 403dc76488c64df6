//! The second player: a hostile program. It is told all that a guess or a leak could tell: which processes, folders and displays there are.

use std::{
    fs,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    sync::mpsc::{RecvTimeoutError, Sender, channel},
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::process::{Child, Command};

use super::{
    Failure,
    case::{Case, Runs},
    mind::fill,
    mode::Mode,
    world::World,
};

/// What all programs of the second player have in common.
const PROGRAM: &str = concat!(
    include_str!("../programs/player.py"),
    include_str!("../programs/screen.py"),
    include_str!("../programs/fleet.py"),
    include_str!("../programs/elements.py"),
    include_str!("../programs/window.py")
);
/// The Python with the modules of the desktop.
const PYTHON: &str = "/usr/bin/python3";
/// The last line of its log.
const OVER: &str = "over";
/// The longest that a program may take.
const OVER_MAX: Duration = Duration::from_secs(40);
/// The longest that one may take that goes on after its session.
const TRIED_MAX: Duration = Duration::from_secs(15);
/// How often its log, and what there is to attack, is looked at.
const LOOK: Duration = Duration::from_millis(50);
/// Another user of the machine.
const STRANGER: u32 = 61_184;

/// The program of the second player, and where it is.
pub(crate) struct Player {
    folder: PathBuf,
    /// Where a stranger can read it; gone when dropped.
    _outside: Option<TempDir>,
}

impl Player {
    /// Writes the program; `None` if the case has none.
    pub(crate) fn new(case: &Case, world: &World) -> Result<Option<Self>, Failure> {
        if case.player.is_empty() {
            return Ok(None);
        }
        let outside = match case.runs {
            Runs::Stranger => Some(tempfile::Builder::new().prefix("stranger-").tempdir()?),
            Runs::Application | Runs::Client => None,
        };
        let folder = outside.as_ref().map_or_else(|| world.stages(), |folder| folder.path().to_owned());
        fs::create_dir_all(&folder)?;
        let mut spec = json!(world.values);
        spec["has_window"] = (case.runs == Runs::Application).into();
        spec["no_bridge"] = case.no_bridge.into();
        spec["deskhand"] = world.deskhand().display().to_string().into();
        fs::write(folder.join("player.json"), spec.to_string())?;
        let text = format!(
            "{PROGRAM}\n\ndef attack():\n{}\n\nplay(attack)\n",
            indented(&fill(&case.player, &world.values))
        );
        let program = folder.join("player.py");
        fs::write(&program, text)?;
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755))?;
        if let Some(outside) = &outside {
            let own = |path: &Path| std::os::unix::fs::chown(path, Some(STRANGER), Some(STRANGER));
            own(outside.path())?;
            fs::read_dir(outside.path())?.flatten().try_for_each(|file| own(&file.path()))?;
        }
        if case.runs == Runs::Application {
            world.entry("player", "Player", &program.display().to_string())?;
        }
        Ok(Some(Self { folder, _outside: outside }))
    }

    /// Where its log is.
    pub(crate) fn log(&self) -> PathBuf {
        self.folder.join("player.log")
    }

    /// Starts it as another user of the machine, or as the client of the user.
    pub(crate) fn start(&self, case: &Case, world: &World) -> Result<Option<Child>, Failure> {
        let mut command = match case.runs {
            Runs::Application => return Ok(None),
            Runs::Client => world.command(Path::new(PYTHON)),
            Runs::Stranger => {
                let mut command = Command::new(PYTHON);
                command.uid(STRANGER).gid(STRANGER).env_clear().env("PATH", "/usr/bin:/bin");
                command.env("HOME", &self.folder).current_dir(&self.folder);
                command
            }
        };
        let errors = fs::File::create(self.folder.join("player.err"))?;
        command.arg(self.folder.join("player.py")).stderr(errors).kill_on_drop(true);
        Ok(Some(command.spawn()?))
    }

    /// Waits until it has tried, after its session has ended.
    pub(crate) fn wait_until_tried(&self) {
        wait_for_line(&self.log(), "tried", TRIED_MAX);
    }

    /// What it has logged.
    pub(crate) fn said(&self) -> String {
        let read = |name: &str| fs::read_to_string(self.folder.join(name)).unwrap_or_default();
        read("player.log") + &read("player.err")
    }

    /// Returns `true` if it has done its part.
    pub(crate) fn is_over(&self) -> bool {
        has_line(&self.log(), OVER)
    }
}

/// Returns `true` if the log of a program has this line.
fn has_line(log: &Path, line: &str) -> bool {
    fs::read_to_string(log).is_ok_and(|text| text.lines().any(|known| known == line))
}

/// Waits until the program with this log has done its part; gives up after some time.
pub(crate) fn wait_for(log: &Path) {
    wait_for_line(log, OVER, OVER_MAX);
}

fn wait_for_line(log: &Path, line: &str, most: Duration) {
    let begun = Instant::now();
    while !has_line(log, line) && begun.elapsed() < most {
        thread::park_timeout(LOOK);
    }
}

fn indented(text: &str) -> String {
    text.lines().map(|line| format!("    {line}\n")).collect()
}

/// Writes down all the while what there is to attack, beside the program; ends when dropped.
pub(crate) struct Scout {
    end: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Scout {
    /// Begins to look for processes of the user with this home folder.
    pub(crate) fn start(player: &Player, world: &World, mode: Mode) -> Self {
        let (file, home) = (player.folder.join("prey.json"), world.real_home());
        let (end, ended) = channel();
        let thread = thread::spawn(move || {
            while matches!(ended.recv_timeout(LOOK), Err(RecvTimeoutError::Timeout)) {
                // The folder goes with the case.
                drop(write_prey(&file, &home, mode));
            }
        });
        Self { end: Some(end), thread: Some(thread) }
    }
}

impl Drop for Scout {
    fn drop(&mut self) {
        self.end.take();
        if let Some(thread) = self.thread.take() {
            drop(thread.join());
        }
    }
}

fn write_prey(file: &Path, home: &Path, mode: Mode) -> Result<(), Failure> {
    let mark = format!("HOME={}", home.display());
    let processes = fs::read_dir("/proc")?.flatten().filter_map(|entry| {
        let pid: u32 = entry.file_name().to_str()?.parse().ok()?;
        let parts = |name: &str| -> Option<Vec<String>> {
            let bytes = fs::read(entry.path().join(name)).ok()?;
            Some(bytes.split(|byte| *byte == 0).map(|part| String::from_utf8_lossy(part).into_owned()).collect())
        };
        let environment = parts("environ")?;
        if !environment.contains(&mark) {
            return None;
        }
        let of = |name: &str| {
            let start = format!("{name}=");
            environment.iter().find_map(|line| line.strip_prefix(&start)).unwrap_or_default().to_owned()
        };
        let line: Vec<String> = parts("cmdline")?.into_iter().filter(|part| !part.is_empty()).collect();
        Some(json!({
            "pid": pid, "line": line, "display": of("DISPLAY"), "cookie": of("XAUTHORITY"),
            "bus": of("DBUS_SESSION_BUS_ADDRESS"), "run": of("XDG_RUNTIME_DIR"), "desktop": of("DESKHAND_DESKTOP"),
        }))
    });
    let processes: Vec<Value> = processes.collect();
    let sessions = fs::read_dir(home.join(".local/state/deskhand/sessions")).into_iter().flatten().flatten();
    let sessions: Vec<PathBuf> = sessions.map(|entry| entry.path()).filter(|path| path.is_dir()).collect();
    let known = json!({ "processes": processes, "sessions": sessions });
    let begun = file.with_extension("new");
    fs::write(&begun, known.to_string())?;
    fs::set_permissions(&begun, fs::Permissions::from_mode(0o644))?;
    if let Some(user) = mode.user() {
        std::os::unix::fs::chown(&begun, Some(user), Some(user))?;
    }
    Ok(fs::rename(begun, file)?)
}
