//! A home folder with a service, and requests to it.

use std::{
    ffi::OsString,
    fs,
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::{TcpListener, TcpStream},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::Duration,
};

use anyhow::{Context as _, Result, ensure};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::chance::Chance;
use xtask::{
    product::{self, Build},
    workspace,
};

/// How long anything may take. Only a failure takes that long.
pub(super) const BOUND: Duration = Duration::from_secs(120);
/// Ports that no outgoing connection has: one to a port where nobody listens could otherwise be connected to itself.
const PORTS: std::ops::Range<u64> = 20_000..30_000;
/// The programs of a session.
const PROGRAMS: &[&str] = &["Xvfb", "openbox", "dbus-daemon", "mousepad"];

/// A service that can be killed and started again, at the same address.
pub(super) struct Service {
    home: tempfile::TempDir,
    binary: PathBuf,
    port: u16,
    child: Option<Child>,
    pub(super) token: String,
}

/// What was answered.
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) body: String,
}

impl Answer {
    pub(super) fn json(&self) -> Result<Value> {
        serde_json::from_str(&self.body).with_context(|| format!("read {}", self.body))
    }
}

/// The program to measure: the given one, or one that is built with a profile.
pub(super) fn binary(given: Option<&Path>, build: Build) -> Result<PathBuf> {
    for program in PROGRAMS {
        ensure!(workspace::is_program(program), "{program} is not installed; run `cargo xtask setup`");
    }
    product::executable(given, build)
}

/// More calls of the model than a session gets to.
const MODEL_CALLS_MAX: u32 = 1_000_000;

impl Service {
    /// A service in a new home folder. `chance` chooses its port.
    pub(super) fn start(binary: PathBuf, chance: &mut Chance) -> Result<Self> {
        let home = tempfile::tempdir().context("create a home folder")?;
        let settings = home.path().join(".config/deskhand");
        fs::create_dir_all(&settings)?;
        fs::write(settings.join("config.toml"), "[desktop]\nkeep = \"never\"\nsize = \"800x600\"\n")?;
        let port = loop {
            let port = u16::try_from(PORTS.start + chance.below(PORTS.end - PORTS.start))?;
            if TcpListener::bind(("127.0.0.1", port)).is_ok() {
                break port;
            }
        };
        let mut service = Self { home, binary, port, child: None, token: String::new() };
        service.start_again()?;
        Ok(service)
    }

    pub(super) fn home(&self) -> &Path {
        self.home.path()
    }

    /// The folder of the sessions.
    pub(super) fn sessions(&self) -> PathBuf {
        self.home().join(".local/state/deskhand/sessions")
    }

    pub(super) fn address(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// The program in the home folder, with nothing of our environment.
    pub(super) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.binary);
        let folder = self.binary.parent().unwrap_or(Path::new("/")).to_owned();
        let path = std::env::var_os("PATH").unwrap_or_default();
        let path = std::env::join_paths([folder].into_iter().chain(std::env::split_paths(&path)))
            .unwrap_or_else(|_| OsString::from("/usr/bin:/bin"));
        command.args(arguments).current_dir(self.home()).env_clear().env("PATH", path);
        command.env("HOME", self.home()).env("LANG", "C.UTF-8").stdin(Stdio::null());
        command
    }

    /// Starts the service, which does not run.
    pub(super) fn start_again(&mut self) -> Result<()> {
        let (port, calls) = (self.port.to_string(), MODEL_CALLS_MAX.to_string());
        let mut command = self.command(&["serve", "--port", &port, "--", "--max-model-calls", &calls]);
        let log = fs::OpenOptions::new().create(true).append(true).open(self.home().join("serve.log"))?;
        let mut child = command.stdout(Stdio::piped()).stderr(log).spawn().context("start the service")?;
        let output = child.stdout.take().context("read the service")?;
        self.child = Some(child);
        let url = BufReader::new(output).lines().next().context("the service says nothing")??;
        let (_, token) = url.split_once("/?token=").with_context(|| format!("no token in {url}"))?;
        token.clone_into(&mut self.token);
        Ok(())
    }

    /// Ends it as by `kill -9`.
    pub(super) fn kill(&mut self) -> Result<()> {
        if let Some(mut child) = self.child.take() {
            child.kill().context("kill the service")?;
            child.wait().context("wait for the service")?;
        }
        Ok(())
    }

    /// A request with a connection of its own.
    pub(super) fn asks(&self, line: &str, body: &str) -> Result<Answer> {
        let mut stream = connect(&self.address())?;
        let head = head(line, &self.address(), &self.token, "Content-Type: application/json\r\n");
        write!(stream, "{head}Content-Length: {}\r\n\r\n{body}", body.len())?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        let (head, body) = answer.split_once("\r\n\r\n").context("half an answer")?;
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).context("no status")?;
        Ok(Answer { status, body: body.to_owned() })
    }

    /// Starts a session; returns its id.
    pub(super) fn start_session(&self, request: &str, script: &Path, steps_max: usize) -> Result<String> {
        let wanted = serde_json::json!({
            "request": request, "model": format!("script:{}", script.display()), "max_steps": steps_max,
        });
        let answer = self.asks("POST /api/sessions", &wanted.to_string())?;
        ensure!(answer.status == 201, "no session was started: {}", answer.body);
        let id = answer.json()?.get("id").and_then(Value::as_str).map(str::to_owned);
        id.context("a session without an id")
    }
}

/// The head of a request, up to its own headers. Answers to HTTP/1.0 are not in chunks.
pub(super) fn head(line: &str, address: &str, token: &str, more: &str) -> String {
    format!("{line} HTTP/1.0\r\nHost: {address}\r\nAuthorization: Bearer {token}\r\n{more}")
}

pub(super) fn connect(address: &str) -> Result<TcpStream> {
    let stream = TcpStream::connect(address).context("connect to the service")?;
    stream.set_read_timeout(Some(BOUND))?;
    stream.set_nodelay(true)?;
    Ok(stream)
}

impl Service {
    /// Ends what still runs of this home folder: sessions outlive the service.
    fn end_sessions(&self) {
        let mark = format!("HOME={}\0", self.home().display());
        for entry in fs::read_dir("/proc").into_iter().flatten().filter_map(Result::ok) {
            let pid = entry.file_name().to_str().and_then(|name| name.parse().ok()).and_then(Pid::from_raw);
            let environment = fs::read(entry.path().join("environ")).unwrap_or_default();
            if let Some(pid) = pid
                && String::from_utf8_lossy(&environment).contains(&mark)
            {
                kill_process(pid, Signal::TERM).ok();
            }
        }
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        self.kill().ok();
        self.end_sessions();
    }
}
