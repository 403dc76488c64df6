//! A confinement for one test: its folders, its user, and what enforces it.

use std::{
    ffi::OsStr,
    fs, io,
    os::unix::fs::{PermissionsExt as _, chown},
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
    time::{Duration, Instant},
};

use deskhand_confine::{Confinement, ConfinementLimits, ConfinementStage, Enforcement, support};

/// The user id of an ordinary user.
const NOBODY: u32 = 65_534;
/// How long anything may take. Only a failure takes that long.
const BOUND: Duration = Duration::from_secs(60);
/// The prefix of messages from the helper.
pub(crate) const MARK: &str = "mark-of-this-test";

/// The user that runs the programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum User {
    /// The one that runs the tests.
    Own,
    /// An ordinary user, if root runs the tests.
    Nobody,
}

/// Folders and settings of a confinement. `work` is writable, `outside` is out of reach.
pub(crate) struct World {
    root: tempfile::TempDir,
    pub(crate) user: User,
    pub(crate) confinement: Confinement,
}

impl World {
    /// Runs the check for each user and each enforcement that this machine has.
    pub(crate) fn each(check: impl Fn(World)) {
        let found = support(&std::env::var_os("PATH").unwrap());
        let mut enforcements = vec![Enforcement::Rules];
        enforcements.extend(found.bubblewrap.map(|bubblewrap| Enforcement::Namespaces { bubblewrap }));
        let users: &[User] =
            if rustix::process::geteuid().is_root() { &[User::Own, User::Nobody] } else { &[User::Own] };
        for enforcement in enforcements {
            for user in users {
                println!("as {user:?} with {enforcement:?}");
                check(World::new(*user, enforcement.clone()));
            }
        }
    }

    fn new(user: User, enforcement: Enforcement) -> Self {
        let root = tempfile::tempdir().unwrap();
        fs::set_permissions(root.path(), fs::Permissions::from_mode(0o755)).unwrap();
        for name in ["work", "outside"] {
            fs::create_dir(root.path().join(name)).unwrap();
        }
        // The program may be where an ordinary user cannot read it.
        let helper = root.path().join("confined");
        fs::copy(example(), &helper).unwrap();
        // A process that another test forked meanwhile has it open for writing until it starts its program.
        until("the helper can be started", || match Command::new(&helper).output() {
            Err(error) => error.kind() != io::ErrorKind::ExecutableFileBusy,
            Ok(_) => true,
        });
        let confinement = Confinement {
            stage: ConfinementStage::Supervisor,
            owner: None,
            enforcement,
            write: vec![root.path().join("work")],
            read: Vec::new(),
            network: false,
            limits: ConfinementLimits::default(),
            mark: MARK.to_owned(),
        };
        let world = Self { root, user, confinement };
        world.own("work");
        world.own("outside");
        world
    }

    pub(crate) fn path(&self, below: &str) -> PathBuf {
        self.root.path().join(below)
    }

    pub(crate) fn has_namespaces(&self) -> bool {
        matches!(self.confinement.enforcement, Enforcement::Namespaces { .. })
    }

    /// Makes the user the owner of the file.
    pub(crate) fn own(&self, below: &str) {
        if self.user == User::Nobody {
            chown(self.path(below), Some(NOBODY), Some(NOBODY)).unwrap();
        }
    }

    /// Writes a file that belongs to the user.
    pub(crate) fn file(&self, below: &str, text: &str) -> PathBuf {
        fs::write(self.path(below), text).unwrap();
        self.own(below);
        self.path(below)
    }

    /// A command of the user, unconfined.
    pub(crate) fn as_user(&self, program: impl AsRef<OsStr>) -> Command {
        if self.user == User::Own {
            return Command::new(program);
        }
        let mut command = Command::new("setpriv");
        let id = NOBODY.to_string();
        command.args(["--reuid", &id, "--regid", &id, "--clear-groups"]).arg(program);
        command
    }

    /// A command of the user in the confinement.
    pub(crate) fn confined(&self, program: &str, arguments: &[&str]) -> Command {
        let mut command = self.as_user(self.path("confined"));
        command
            .arg(serde_json::to_string(&self.confinement).unwrap())
            .arg(found(program))
            .args(arguments)
            .env_clear()
            .env("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin")
            .env("HOME", self.path("work"))
            .env("TMPDIR", self.path("work"))
            .env("LC_ALL", "C")
            .current_dir(self.path("work"))
            .stdin(Stdio::null());
        command
    }

    /// Runs a program in the confinement to its end.
    pub(crate) fn run(&self, program: &str, arguments: &[&str]) -> Output {
        self.confined(program, arguments).output().unwrap()
    }

    /// The descriptors that the tests inherited, and pass on: those that are not closed on `exec`.
    pub(crate) fn inherited() -> Vec<String> {
        let is_kept = |name: &str| {
            let info = fs::read_to_string(format!("/proc/self/fdinfo/{name}")).unwrap_or_default();
            let flags = info.lines().find_map(|line| line.strip_prefix("flags:")).unwrap_or_default().trim();
            u32::from_str_radix(flags, 8).is_ok_and(|flags| flags & 0o2_000_000 == 0)
        };
        let entries = fs::read_dir("/proc/self/fd").unwrap().filter_map(Result::ok);
        let kept = entries.filter(|entry| entry.file_name().to_str().is_some_and(is_kept));
        kept.filter_map(|entry| Some(fs::read_link(entry.path()).ok()?.display().to_string())).collect()
    }

    /// The running processes of this program with a path of this world in their arguments, by id.
    pub(crate) fn processes(&self, program: &str, below: &str) -> Vec<String> {
        let wanted = self.path(below);
        let wanted = wanted.as_os_str().as_encoded_bytes();
        let of = |entry: fs::DirEntry| {
            let line = fs::read(entry.path().join("cmdline")).ok()?;
            let stat = fs::read_to_string(entry.path().join("stat")).ok()?;
            let runs = !stat.contains(") Z ");
            let named = line.starts_with(program.as_bytes())
                && line.split(|byte| *byte == 0).any(|word| word == wanted);
            (runs && named).then(|| entry.file_name().to_string_lossy().into_owned())
        };
        fs::read_dir("/proc").unwrap().filter_map(Result::ok).filter_map(of).collect()
    }
}

/// Waits until the condition holds.
pub(crate) fn until(what: &str, condition: impl Fn() -> bool) {
    let started = Instant::now();
    while !condition() {
        assert!(started.elapsed() < BOUND, "{what}");
        std::thread::yield_now();
    }
}

/// The program on the system path; the path of the tests may begin with folders that are not readable.
pub(crate) fn found(program: &str) -> PathBuf {
    let path = OsStr::new("/usr/local/bin:/usr/bin:/bin:/usr/sbin");
    std::env::split_paths(path)
        .map(|folder| folder.join(program))
        .find(|file| file.exists())
        .unwrap_or_else(|| program.into())
}

/// Returns `true` if the program is installed.
pub(crate) fn can_run(program: &str) -> bool {
    found(program).is_absolute()
}

/// The helper program, which is built beside the tests.
fn example() -> PathBuf {
    let tests = std::env::current_exe().unwrap();
    let profile = tests.parent().and_then(Path::parent).unwrap();
    profile.join("examples").join("confined")
}

/// What a program printed, for messages and comparisons.
pub(crate) fn text(output: &Output) -> String {
    format!(
        "{}{}{}",
        output.status,
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    )
}
