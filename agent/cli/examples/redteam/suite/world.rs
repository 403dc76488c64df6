//! The home folder of a case: documents, pages, applications, and the configuration of its user.

use std::{
    collections::BTreeMap,
    ffi::OsString,
    fs,
    os::unix::fs::{PermissionsExt as _, lchown, symlink},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError, Weak},
};

use serde_json::json;
use tempfile::TempDir;
use tokio::{net::TcpListener, process::Command};

use super::{
    Failure,
    case::Case,
    mind::fill,
    mode::{Confinement, Mode},
    web::Web,
};

/// The program of the applications of a case.
const STAGE: &str = include_str!("../programs/stage.py");
/// The agent over MCP that cases may configure.
const AGENT: &str = include_str!("../programs/agent.py");
/// The hostile MCP server that cases may configure.
const SERVER: &str = include_str!("../programs/server.py");
/// What scripts of hostile pages have in common.
const TELL: &str = include_str!("../programs/tell.js");
/// Where these are, below the home folder.
const STAGES: &str = ".stages";

/// The home folder of one run, and the server of its pages.
pub(crate) struct World {
    folder: TempDir,
    /// A folder outside of it.
    outside: TempDir,
    /// Folders that other worlds use, too.
    _shared: Vec<Arc<TempDir>>,
    /// Where programs are found, if not where they usually are.
    path: Option<PathBuf>,
    mode: Mode,
    deskhand: PathBuf,
    environment: BTreeMap<String, String>,
    /// The server.
    pub(crate) web: Web,
    /// What stands for `{{home}}` and `{{port}}`.
    pub(crate) values: BTreeMap<String, String>,
}

impl World {
    /// Makes everything that a case needs, for the program at `deskhand`.
    pub(crate) async fn new(case: &Case, mode: Mode, deskhand: &Path) -> Result<Self, Failure> {
        let folder = tempfile::Builder::new().prefix("redteam-").tempdir()?;
        let home = fs::canonicalize(folder.path())?;
        let outside = tempfile::Builder::new().prefix("redteam-outside-").tempdir()?;
        fs::create_dir(outside.path().join("place"))?;
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let port = listener.local_addr()?.port();
        let values = BTreeMap::from([
            ("home".to_owned(), home.display().to_string()),
            ("outside".to_owned(), outside.path().join("place").display().to_string()),
            ("nonce".to_owned(), nonce()?),
            ("port".to_owned(), port.to_string()),
            ("agent".to_owned(), AGENT.to_owned()),
            ("tell".to_owned(), TELL.to_owned()),
            ("server".to_owned(), SERVER.to_owned()),
        ]);
        let web = Web::start(listener);
        let mut shared = Vec::new();
        let mut deskhand = deskhand.to_owned();
        if mode.user().is_some() && !is_reachable(&deskhand) {
            let folder = copied(&deskhand)?;
            deskhand = folder.path().join("deskhand");
            shared.push(folder);
        }
        let mut path = None;
        if mode.confinement == Confinement::Bare {
            let folder = without_bubblewrap()?;
            path = Some(folder.path().to_owned());
            shared.push(folder);
        }
        let environment =
            case.environment.iter().map(|(name, value)| (name.clone(), fill(value, &values))).collect();
        let deskhand = if case.own_program { installed(&home, &deskhand)? } else { deskhand };
        let world = Self { folder, outside, _shared: shared, path, mode, deskhand, environment, web, values };
        for (name, text) in &case.files {
            world.write(name, &fill(text, &world.values))?;
        }
        for (name, text) in &case.programs {
            let path = world.write(name, &fill(text, &world.values))?;
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755))?;
        }
        for (name, target) in &case.links {
            let path = world.path(name);
            make_parent(&path)?;
            symlink(fill(target, &world.values), path)?;
        }
        for (name, stage) in &case.stages {
            let text = fill(&json!(stage).to_string(), &world.values);
            world.write(&format!("{STAGES}/{name}.json"), &text)?;
            let program = world.write(&format!("{STAGES}/{name}.py"), STAGE)?;
            fs::set_permissions(&program, fs::Permissions::from_mode(0o755))?;
            world.entry(name, name, &program.display().to_string())?;
        }
        // Every host is the server of the pages; for the second player but this machine.
        let but = if case.second { ", EXCLUDE 127.0.0.1, EXCLUDE localhost" } else { "" };
        let chromium = format!("/usr/bin/chromium --host-resolver-rules=\"MAP * 127.0.0.1:{port}{but}\" %U");
        world.entry("chromium", "Chromium Web Browser", &chromium)?;
        Ok(world)
    }

    /// The home folder.
    pub(crate) fn home(&self) -> &Path {
        self.folder.path()
    }

    /// A path below it.
    pub(crate) fn path(&self, below: &str) -> PathBuf {
        self.home().join(below)
    }

    /// Where the stages and their logs are.
    pub(crate) fn stages(&self) -> PathBuf {
        self.path(STAGES)
    }

    /// Writes a file below the home folder; one whose name ends with `/` is a folder.
    pub(crate) fn write(&self, name: &str, text: &str) -> Result<PathBuf, Failure> {
        let path = self.path(name);
        make_parent(&path)?;
        if name.ends_with('/') {
            fs::create_dir_all(&path)?;
        } else {
            fs::write(&path, text)?;
        }
        Ok(path)
    }

    /// Serves the pages of a case, with all values that are known by now.
    pub(crate) fn serve_pages(&self, case: &Case) {
        self.web
            .show(case.pages.iter().map(|(name, page)| (name.clone(), fill(page, &self.values))).collect());
    }

    /// Gives everything below the home folder to its user.
    pub(crate) fn hand_over(&self) -> Result<(), Failure> {
        match self.mode.user() {
            Some(user) => {
                give(self.home(), user)?;
                give(self.outside.path(), user)
            }
            None => Ok(()),
        }
    }

    /// The home folder, without links.
    pub(crate) fn real_home(&self) -> PathBuf {
        fs::canonicalize(self.home()).unwrap_or_else(|_| self.home().to_owned())
    }

    /// The program.
    pub(crate) fn deskhand(&self) -> &Path {
        &self.deskhand
    }

    /// Makes an application of the menu.
    pub(crate) fn entry(&self, id: &str, name: &str, exec: &str) -> Result<(), Failure> {
        let text = format!("[Desktop Entry]\nType=Application\nName={name}\nExec={exec}\n");
        self.write(&format!(".local/share/applications/{id}.desktop"), &text)?;
        Ok(())
    }

    /// A command with this home folder and without settings of ours.
    pub(crate) fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command.current_dir(self.home()).env("HOME", self.real_home());
        for (name, _) in std::env::vars_os() {
            if is_setting(&name) {
                command.env_remove(name);
            }
        }
        // Nobody looks at what an attack that was stopped has left.
        command.env("DESKHAND__DESKTOP__KEEP", "never").envs(&self.environment);
        if let Some(path) = &self.path {
            // What the user has there of their own stays first.
            let own = self.environment.get("PATH").map(String::as_str).unwrap_or_default();
            let own = own.split(':').map(Path::new).filter(|folder| folder.starts_with(self.real_home()));
            command.env("PATH", std::env::join_paths(own.chain([path.as_path()])).unwrap_or_default());
        }
        if let Some(user) = self.mode.user() {
            command.uid(user).gid(user);
        }
        command
    }
}

impl Drop for World {
    /// Ends what an attack has left: a kept desktop with its applications.
    fn drop(&mut self) {
        let mark = format!("HOME={}", self.real_home().display()).into_bytes();
        super::wait_until(|| left(&mark).is_empty());
        for pid in left(&mark) {
            let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
        }
    }
}

/// The processes with this in their environment.
fn left(mark: &[u8]) -> Vec<rustix::process::Pid> {
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    let marked = processes.filter(|entry| {
        let environment = fs::read(entry.path().join("environ")).unwrap_or_default();
        environment.split(|byte| *byte == 0).any(|part| part == mark)
    });
    marked
        .filter_map(|entry| rustix::process::Pid::from_raw(entry.file_name().to_str()?.parse().ok()?))
        .collect()
}

/// A folder that worlds share, and that is gone with the last of them.
struct Shared(Mutex<Weak<TempDir>>);

impl Shared {
    const fn new() -> Self {
        Self(Mutex::new(Weak::new()))
    }

    fn get(&self, make: impl FnOnce(&Path) -> Result<(), Failure>) -> Result<Arc<TempDir>, Failure> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(folder) = kept.upgrade() {
            return Ok(folder);
        }
        let folder = Arc::new(open_folder()?);
        make(folder.path())?;
        *kept = Arc::downgrade(&folder);
        Ok(folder)
    }
}

/// A folder with links to all programs of the system but bubblewrap.
fn without_bubblewrap() -> Result<Arc<TempDir>, Failure> {
    static FOLDER: Shared = Shared::new();
    FOLDER.get(|folder| {
        for place in ["/usr/local/bin", "/usr/bin", "/bin", "/usr/sbin", "/sbin"] {
            for program in fs::read_dir(place).into_iter().flatten().flatten() {
                if program.file_name() != "bwrap" {
                    // The first one of a name counts.
                    drop(symlink(program.path(), folder.join(program.file_name())));
                }
            }
        }
        Ok(())
    })
}

/// Returns `true` if a user without rights can start the program: the folder of the build may be closed to others.
fn is_reachable(deskhand: &Path) -> bool {
    let is_open =
        |path: &Path| fs::metadata(path).is_ok_and(|found| found.permissions().mode() & 0o005 == 0o005);
    deskhand.ancestors().all(is_open)
}

/// A copy of the program that everybody can start.
fn copied(deskhand: &Path) -> Result<Arc<TempDir>, Failure> {
    static FOLDER: Shared = Shared::new();
    FOLDER.get(|folder| Ok(fs::copy(deskhand, folder.join("deskhand")).map(|_| ())?))
}

/// A copy of the program in the home folder.
fn installed(home: &Path, deskhand: &Path) -> Result<PathBuf, Failure> {
    let copy = home.join(".local/bin/deskhand");
    make_parent(&copy)?;
    fs::copy(deskhand, &copy)?;
    Ok(copy)
}

/// A folder that everybody can read.
fn open_folder() -> Result<TempDir, Failure> {
    let folder = tempfile::Builder::new().prefix("redteam-bin-").tempdir()?;
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755))?;
    Ok(folder)
}

/// Gives a folder with all that is in it to a user.
fn give(path: &Path, user: u32) -> Result<(), Failure> {
    lchown(path, Some(user), Some(user))?;
    if fs::symlink_metadata(path)?.is_dir() {
        for entry in fs::read_dir(path)? {
            give(&entry?.path(), user)?;
        }
    }
    Ok(())
}

/// A word that nobody can guess: who knows it has read it.
fn nonce() -> Result<String, Failure> {
    use std::io::Read as _;
    let mut bytes = [0; 8];
    fs::File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(format!("nonce{:016x}", u64::from_ne_bytes(bytes)))
}

/// Returns `true` if a variable would change what is run.
fn is_setting(name: &OsString) -> bool {
    let name = name.to_string_lossy();
    let ours = ["DESKHAND_", "XDG_", "OPENAI_"].iter().any(|start| name.starts_with(start));
    ours || ["DISPLAY", "WAYLAND_DISPLAY", "NO_COLOR", "COLUMNS"].contains(&name.as_ref())
}

fn make_parent(path: &Path) -> Result<(), Failure> {
    Ok(path.parent().map(fs::create_dir_all).transpose().map(|_| ())?)
}
