//! A client of `deskhand mcp` for tests of the protocol: it sends what it likes, and keeps every message with its time.
#![expect(clippy::needless_pass_by_value, reason = "values made by `json!` read better where they are made")]

use std::{
    fs::{self, File},
    io::{BufRead as _, BufReader, Write as _},
    path::PathBuf,
    process::{Child, ChildStdin, Stdio},
    sync::mpsc,
    thread,
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use crate::support::World;

/// How long an answer may take on a machine under load.
pub(crate) const BOUND: Duration = Duration::from_secs(180);

/// The metadata of a request since 2026-07-28.
pub(crate) fn meta(capabilities: Value) -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "a modern test", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": capabilities,
    })
}

/// A client.
pub(crate) struct Peer {
    child: Child,
    input: Option<ChildStdin>,
    lines: mpsc::Receiver<(Instant, Value)>,
    /// What came and was not asked for yet.
    held: Vec<(Instant, Value)>,
    last: u64,
    /// What each request carries since 2026-07-28.
    meta: Option<Value>,
    log: PathBuf,
}

impl Peer {
    fn started(world: &World, meta: Option<Value>) -> Self {
        let log = world.path().join("log.txt");
        let mut command = world.command(&["mcp"]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(File::create(&log).unwrap());
        let mut child = command.spawn().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        let (send, lines) = mpsc::channel();
        thread::spawn(move || {
            for line in output.lines().map_while(Result::ok) {
                let message = serde_json::from_str(&line).unwrap_or_else(|_| panic!("not a message: {line}"));
                if send.send((Instant::now(), message)).is_err() {
                    return;
                }
            }
        });
        let input = child.stdin.take();
        Self { child, input, lines, held: Vec::new(), last: 0, meta, log }
    }

    /// A client of 2026-07-28.
    pub(crate) fn modern(world: &World, capabilities: Value) -> Self {
        Self::started(world, Some(meta(capabilities)))
    }

    /// A client of 2025-11-25.
    pub(crate) fn start(world: &World, capabilities: Value) -> Self {
        let mut peer = Self::started(world, None);
        let info = json!({"name": "a test", "version": "1"});
        let params =
            json!({"protocolVersion": "2025-11-25", "capabilities": capabilities, "clientInfo": info});
        let greeting = peer.request("initialize", params);
        assert_eq!(greeting["result"]["protocolVersion"], "2025-11-25", "{greeting}");
        peer.send(json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        peer
    }

    /// Writes a line as it is.
    pub(crate) fn write(&mut self, line: &str) {
        writeln!(self.input.as_mut().unwrap(), "{line}").unwrap();
    }

    pub(crate) fn send(&mut self, message: Value) {
        self.write(&message.to_string());
    }

    /// Sends a request; its id.
    pub(crate) fn post(&mut self, method: &str, mut params: Value) -> u64 {
        self.last += 1;
        if let Some(Value::Object(fields)) = &self.meta {
            let all = params["_meta"].as_object().cloned().unwrap_or_default();
            let all: serde_json::Map<_, _> = fields.clone().into_iter().chain(all).collect();
            params["_meta"] = Value::Object(all);
        }
        self.send(json!({"jsonrpc": "2.0", "id": self.last, "method": method, "params": params}));
        self.last
    }

    pub(crate) fn post_call(&mut self, tool: &str, arguments: Value, meta: Value) -> u64 {
        self.post("tools/call", json!({"name": tool, "arguments": arguments, "_meta": meta}))
    }

    /// The next message that is meant.
    pub(crate) fn wait(&mut self, what: &str, is_it: impl Fn(&Value) -> bool) -> (Instant, Value) {
        if let Some(at) = self.held.iter().position(|(_, message)| is_it(message)) {
            return self.held.remove(at);
        }
        let until = Instant::now() + BOUND;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            let (at, message) =
                self.lines.recv_timeout(left).unwrap_or_else(|_| panic!("no {what}: {:?}", self.held));
            if is_it(&message) {
                return (at, message);
            }
            self.held.push((at, message));
        }
    }

    /// The answer to a request.
    pub(crate) fn answer(&mut self, id: u64) -> Value {
        self.wait("answer", |message| message["id"] == id && message["method"].is_null()).1
    }

    pub(crate) fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.post(method, params);
        self.answer(id)
    }

    /// Calls a tool; its result.
    pub(crate) fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let id = self.post_call(tool, arguments, json!({}));
        let answer = self.answer(id);
        assert!(answer["error"].is_null(), "{tool}: {answer}");
        answer["result"].clone()
    }

    /// The same for a call that must work.
    pub(crate) fn does(&mut self, tool: &str, arguments: Value) -> String {
        let result = self.call(tool, arguments);
        assert!(result["isError"] != true, "{tool}: {result}");
        text(&result)
    }

    /// The same for a call that must not work.
    pub(crate) fn fails(&mut self, tool: &str, arguments: Value) -> String {
        let result = self.call(tool, arguments);
        assert!(result["isError"] == true, "{tool}: {result}");
        text(&result)
    }

    pub(crate) fn cancel(&mut self, id: u64) {
        let params = json!({"requestId": id, "reason": "the test"});
        self.send(json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}));
    }

    /// What was notified so far and not read.
    pub(crate) fn notified(&mut self, method: &str) -> Vec<(Instant, Value)> {
        self.held.extend(self.lines.try_iter());
        let (notified, held) =
            std::mem::take(&mut self.held).into_iter().partition(|(_, one)| one["method"] == method);
        self.held = held;
        notified
    }

    /// A desktop with an editor.
    pub(crate) fn with_editor(&mut self) {
        self.does("start_desktop", json!({"task": "write a note"}));
        self.does("open", json!({"application": "mousepad"}));
    }

    /// Closes the streams; the exit code of the server and what it wrote on the terminal.
    pub(crate) fn close(mut self) -> (Option<i32>, String) {
        drop(self.input.take());
        let code = self.child.wait().unwrap().code();
        (code, fs::read_to_string(&self.log).unwrap())
    }
}

/// The texts of a result.
pub(crate) fn text(result: &Value) -> String {
    let parts = result["content"].as_array().unwrap_or_else(|| panic!("{result}")).iter();
    parts.filter_map(|part| part["text"].as_str()).collect::<Vec<_>>().join("\n")
}

/// Arguments of `act` that type a text.
pub(crate) fn typing(text: &str) -> Value {
    json!({"actions": [{"tool": "type_text", "arguments": {"text": text}}]})
}
