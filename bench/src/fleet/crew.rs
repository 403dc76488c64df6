//! The home folder of the workers, their processes, and the tasks.

use std::{
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
    process::{Child, Command, ExitStatus, Output, Stdio},
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result, ensure};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use super::{
    gate::Gate,
    model::{APPENDS, WRITES},
    servers::Server,
};
use crate::disk::Disk;

/// The lease of the fleet.
pub(super) const LEASE: Duration = Duration::from_secs(4);
/// The workers.
pub(super) const WORKERS: usize = 6;
/// The disk of a worker, in MB.
const DISK_MB: u64 = 64;
/// How often a command is tried while the servers do not answer yet.
const ANSWERS: Duration = Duration::from_secs(60);
/// The application of most tasks.
const APPLICATION: &str = include_str!("ledger.py");

/// What a task does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// It appends a line to the ledger, which is looked at before it is done again.
    Ledger,
    /// The same, but what may have been done in part waits for a person.
    Person,
    /// It writes a word into a document of a real application.
    Note,
}

impl Kind {
    /// The kind of a task: one of ten writes a note, one of twenty is for a person.
    pub(super) const fn of(number: usize) -> Self {
        match number % 20 {
            9 | 19 => Self::Note,
            5 => Self::Person,
            _ => Self::Ledger,
        }
    }

    /// The id of a task.
    pub(super) fn id(self, number: usize) -> String {
        match self {
            Self::Ledger => format!("t{number}"),
            Self::Person => format!("p{number}"),
            Self::Note => format!("n{number}"),
        }
    }
}

/// A home folder, and how the program is started in it.
pub(super) struct Home {
    pub(super) folder: PathBuf,
    binary: PathBuf,
    endpoint: String,
}

impl Home {
    /// A new one.
    pub(super) fn create(folder: &Path, binary: &Path, endpoint: &str) -> Result<Self> {
        let home =
            Self { folder: folder.to_owned(), binary: binary.to_owned(), endpoint: endpoint.to_owned() };
        for part in [".config/deskhand", ".local/share/applications", "runtime", "tasks"] {
            fs::create_dir_all(folder.join(part)).with_context(|| format!("create {part}"))?;
        }
        let program = folder.join("ledger.py");
        fs::write(&program, APPLICATION)?;
        let entry = format!(
            "[Desktop Entry]\nType=Application\nName=Ledger\nExec=/usr/bin/python3 {} {}\n",
            program.display(),
            home.ledger().display()
        );
        fs::write(folder.join(".local/share/applications/ledger.desktop"), entry)?;
        let settings =
            "[desktop]\nkeep = \"never\"\nsize = \"640x480\"\n[people]\napprovals = \"all\"\n".to_owned();
        fs::write(folder.join(".config/deskhand/config.toml"), settings)?;
        Ok(home)
    }

    /// The file outside of everything that the tasks append to.
    pub(super) fn ledger(&self) -> PathBuf {
        self.folder.join("ledger.txt")
    }

    /// The program in the home folder, with nothing of our environment.
    pub(super) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.binary);
        let beside = self.binary.parent().unwrap_or(Path::new("/")).to_owned();
        let path = std::env::var_os("PATH").unwrap_or_default();
        let path = std::env::join_paths([beside].into_iter().chain(std::env::split_paths(&path)))
            .unwrap_or_else(|_| OsString::from("/usr/bin:/bin"));
        command.args(arguments).current_dir(&self.folder).env_clear().env("PATH", path);
        command.env("HOME", &self.folder).env("XDG_RUNTIME_DIR", self.folder.join("runtime"));
        command.env("LANG", "C.UTF-8").stdin(Stdio::null());
        command
    }

    /// What sets the model, for commands that run sessions.
    pub(super) fn model(&self) -> [&str; 5] {
        ["--model", "openai:mock", "--base-url", &self.endpoint, "--no-pictures"]
    }

    /// `deskhand fleet …`, again as long as the servers do not answer.
    pub(super) fn fleet(&self, arguments: &[&str], servers: &[Server]) -> Result<Output> {
        let ports: Vec<u16> = servers.iter().map(|server| server.port).collect();
        let (begun, fleet) = (Instant::now(), fleet(&ports));
        loop {
            let mut command = self.command(&["fleet"]);
            let output = command.args(arguments).args(&fleet).output().context("run deskhand fleet")?;
            if output.status.success() || begun.elapsed() > ANSWERS {
                let said = String::from_utf8_lossy(&output.stderr);
                ensure!(output.status.success(), "deskhand fleet {arguments:?}: {said}");
                return Ok(output);
            }
        }
    }

    /// Writes so many tasks into a folder; `for_fleet` with what only a fleet asks for.
    pub(super) fn write_tasks(&self, folder: &str, tasks: usize, for_fleet: bool) -> Result<()> {
        fs::create_dir_all(self.folder.join(folder))?;
        for number in 0..tasks {
            let kind = Kind::of(number);
            let id = kind.id(number);
            let mut task = match kind {
                Kind::Ledger | Kind::Person => json!({ "request": format!("{APPENDS}{id}") }),
                Kind::Note => json!({ "request": format!("{WRITES}{id}"), "open": [format!("{id}.md")] }),
            };
            if kind == Kind::Note {
                fs::write(self.folder.join(folder).join(format!("{id}.md")), "")?;
            }
            if for_fleet && let Some(task) = task.as_object_mut() {
                task.insert("attempts_max".to_owned(), 1_000.into());
                if kind == Kind::Person {
                    task.insert("on_loss".to_owned(), "person".into());
                }
                if number % 10 == 3 {
                    task.insert("after".to_owned(), json!([Kind::of(number - 1).id(number - 1)]));
                }
            }
            fs::write(self.folder.join(folder).join(format!("{id}.json")), task.to_string())?;
        }
        Ok(())
    }
}

/// The options that name a fleet.
fn fleet(ports: &[u16]) -> [String; 6] {
    let addresses: Vec<String> = ports.iter().map(|port| format!("nats://127.0.0.1:{port}")).collect();
    let lease = LEASE.as_secs().to_string();
    ["--fleet", &addresses.join(","), "--replicas", "3", "--lease", &lease].map(str::to_owned)
}

/// A worker.
pub(super) struct Worker {
    pub(super) name: String,
    pub(super) gate: Gate,
    pub(super) disk: Option<Disk>,
    folder: PathBuf,
    child: Option<Child>,
}

impl Worker {
    /// A worker with a gate and a disk of its own. It does not run yet.
    pub(super) fn new(home: &Home, number: usize, servers: &[Server]) -> Result<Self> {
        let folder = home.folder.join(format!("worker{number}"));
        fs::create_dir_all(&folder)?;
        let ports: Vec<u16> = servers.iter().map(|server| server.port).collect();
        let disk = Disk::mount(&folder, DISK_MB, "0700").ok();
        Ok(Self { name: format!("w{number}"), gate: Gate::open(&ports)?, disk, folder, child: None })
    }

    /// Starts it, if it does not run; says how it ended if it did. This is what a service manager does.
    pub(super) fn start(&mut self, home: &Home, more: &[&str]) -> Result<Option<ExitStatus>> {
        let ended = match &mut self.child {
            Some(child) => match child.try_wait()? {
                Some(ended) => Some(ended),
                None => return Ok(None),
            },
            None => None,
        };
        let log = home.folder.join(format!("{}.log", self.name));
        let log = fs::File::options().create(true).append(true).open(log)?;
        let folder = self.folder.display().to_string();
        let mut command = home.command(&["worker", "--name", &self.name, "--json", "--folder", &folder]);
        command.args(home.model()).args(fleet(&self.gate.ports)).args(more);
        command.stdout(log.try_clone()?).stderr(log);
        self.child = Some(command.spawn().context("start a worker")?);
        Ok(ended)
    }

    pub(super) fn kill(&mut self) -> Result<()> {
        if let Some(mut child) = self.child.take() {
            child.kill().context("kill a worker")?;
            child.wait()?;
        }
        Ok(())
    }

    /// Its process.
    pub(super) fn pid(&self) -> Option<Pid> {
        self.child.as_ref().and_then(|child| Pid::from_raw(child.id().try_into().ok()?))
    }

    pub(super) fn signal(&self, signal: Signal) -> Result<()> {
        kill_process(self.pid().context("the worker does not run")?, signal)
            .context("send a signal to a worker")
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.kill().ok();
    }
}

/// The records of a file of JSON lines.
pub(super) fn json_lines(file: &Path) -> Vec<Value> {
    let text = fs::read_to_string(file).unwrap_or_default();
    text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}
