//! A client of `deskhand mcp`: lines of JSON over the pipes of the process. It shares no code with the server.

use std::{
    fs::File,
    io::{BufRead as _, BufReader, Write as _},
    path::Path,
    process::{Child, ChildStdin, Command, Stdio},
    sync::{Arc, Mutex, PoisonError, mpsc},
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result, bail};
use serde_json::{Value, json};

/// How long a call may take. One that takes longer hangs.
pub(super) const CALL_MAX: Duration = Duration::from_secs(90);

/// What the server logs once a window that opens has elements, and what makes it do so.
const SHOWS: &str = "a window shows its first elements";
const LOGS: &str = "error,deskhand_desktop_act::launching=debug";

/// A server, and the desktop that it serves.
pub(super) struct Client {
    child: Child,
    input: Option<ChildStdin>,
    lines: mpsc::Receiver<Value>,
    last: u64,
    /// When windows that opened had elements.
    shown: Arc<Mutex<Vec<Instant>>>,
}

/// What a call returned.
pub(super) struct Called {
    pub(super) text: String,
    /// Whether what was asked was not done, or not all of it.
    pub(super) failed: bool,
    pub(super) took: Duration,
}

impl Client {
    /// Starts the server for a user whose home is `home`. Everything is approved: it is about applications, not about the gate.
    pub(super) fn start(binary: &Path, home: &Path) -> Result<Self> {
        let mut log = File::create(home.join("deskhand.log")).context("make the log of the server")?;
        let mut child = Command::new(binary)
            .args(["mcp", "--approve", "all", "--no-safe-guard", "--keep=never", "--size", "1280x900"])
            .env("HOME", home)
            .env("DESKHAND_LOG", LOGS)
            // Java takes the home of the user from elsewhere.
            .env("JAVA_TOOL_OPTIONS", format!("-Duser.home={}", home.display()))
            .env_remove("DISPLAY")
            .env_remove("DBUS_SESSION_BUS_ADDRESS")
            .env_remove("XDG_RUNTIME_DIR")
            .current_dir(home)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .with_context(|| format!("start {}", binary.display()))?;
        let output = BufReader::new(child.stdout.take().context("read what the server says")?);
        let (send, lines) = mpsc::channel();
        thread::spawn(move || {
            let messages = output.lines().map_while(Result::ok);
            let mut parsed = messages.filter_map(|line| serde_json::from_str(&line).ok());
            // It ends with the server, or with the client.
            parsed.all(|message| send.send(message).is_ok());
        });
        let logged = BufReader::new(child.stderr.take().context("read what the server logs")?);
        let shown: Arc<Mutex<Vec<Instant>>> = Arc::default();
        let noted = Arc::clone(&shown);
        thread::spawn(move || {
            for line in logged.lines().map_while(Result::ok) {
                if line.contains(SHOWS) {
                    noted.lock().unwrap_or_else(PoisonError::into_inner).push(Instant::now());
                }
                // A log that cannot be written is no reason to end.
                let _ = writeln!(log, "{line}");
            }
        });
        let input = child.stdin.take();
        let mut client = Self { child, input, lines, last: 0, shown };
        client.request(
            "initialize",
            &json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}),
        )?;
        client.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))?;
        Ok(client)
    }

    /// The process of the server.
    pub(super) fn id(&self) -> u32 {
        self.child.id()
    }

    /// When a window that opened after `came` had its first elements; `None` if the server noted none.
    pub(super) fn elements_since(&self, came: Instant) -> Option<Instant> {
        let shown = self.shown.lock().unwrap_or_else(PoisonError::into_inner);
        shown.iter().find(|at| **at >= came).copied()
    }

    fn send(&mut self, message: &Value) -> Result<()> {
        let input = self.input.as_mut().context("the server has been closed")?;
        writeln!(input, "{message}").context("write to the server")
    }

    fn request(&mut self, method: &str, params: &Value) -> Result<Value> {
        self.last += 1;
        let id = self.last;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))?;
        let until = Instant::now() + CALL_MAX;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            let message = self.lines.recv_timeout(left).with_context(|| format!("no answer to {method}"))?;
            if message.get("id").is_some_and(|answered| *answered == id) {
                if let Some(error) = message.pointer("/error/message") {
                    bail!("{method}: {error}");
                }
                return Ok(message.get("result").cloned().unwrap_or_default());
            }
        }
    }

    /// Calls a tool. An error if there is no answer within [`CALL_MAX`].
    pub(super) fn call(&mut self, tool: &str, arguments: &Value) -> Result<Called> {
        let begun = Instant::now();
        let result = self.request("tools/call", &json!({"name": tool, "arguments": arguments}))?;
        let parts = result.get("content").and_then(Value::as_array).into_iter().flatten();
        let texts: Vec<&str> = parts.filter_map(|part| part.get("text").and_then(Value::as_str)).collect();
        let failed = result.get("isError").and_then(Value::as_bool).unwrap_or_default();
        Ok(Called { text: texts.join("\n"), failed, took: begun.elapsed() })
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        // It ends its desktops when its input ends.
        drop(self.input.take());
        let _ = self.child.wait();
    }
}
