//! `deskhand mcp --http`: who gets in, what is refused, and what becomes of clients that go away.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::TcpStream,
    process::{Child, Stdio},
    thread,
    time::Instant,
};

use serde_json::{Value, json};

use crate::{
    mcp_peer::{BOUND, meta, typing},
    support::{World, has_desktop, has_programs},
};

/// A server over HTTP, with its address and token.
pub(crate) struct HttpServer {
    child: Child,
    pub(crate) url: String,
    pub(crate) token: String,
}

/// The answer to a request over HTTP.
struct Answered {
    status: u16,
    session: Option<String>,
    /// The messages in it, of a stream or alone.
    messages: Vec<Value>,
}

impl HttpServer {
    pub(crate) fn start(world: &World, arguments: &[&str]) -> Self {
        let mut command = world.command(&["mcp", "--http"]);
        command.args(arguments);
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let url = lines.next().unwrap().unwrap();
        let token = lines.next().unwrap().unwrap();
        let token = token.strip_prefix("Authorization: Bearer ").unwrap().to_owned();
        Self { child, url, token }
    }

    fn address(&self) -> &str {
        self.url.strip_prefix("http://").unwrap().strip_suffix("/mcp").unwrap()
    }

    /// Sends a request and leaves its answer to be read.
    fn open(&self, method: &str, headers: &[(&str, &str)], body: &str) -> TcpStream {
        let address = self.address();
        let mut request = format!(
            "{method} /mcp HTTP/1.1\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n\
             Connection: close\r\nContent-Length: {}\r\n",
            body.len()
        );
        if !headers.iter().any(|(name, _)| *name == "Host") {
            request.push_str(&format!("Host: {address}\r\n"));
        }
        for (name, value) in headers {
            request.push_str(&format!("{name}: {value}\r\n"));
        }
        let mut stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(BOUND)).unwrap();
        write!(stream, "{request}\r\n{body}").unwrap();
        stream
    }

    fn answer(&self, method: &str, headers: &[(&str, &str)], body: &str) -> Answered {
        let mut text = String::new();
        self.open(method, headers, body).read_to_string(&mut text).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        let session = head.lines().find_map(|line| {
            let (name, value) = line.split_once(": ")?;
            name.eq_ignore_ascii_case("mcp-session-id").then(|| value.to_owned())
        });
        let messages = body
            .lines()
            .map(|line| line.strip_prefix("data:").unwrap_or(line).trim())
            .filter_map(|line| serde_json::from_str(line).ok())
            .filter(Value::is_object)
            .collect();
        Answered { status, session, messages }
    }

    /// The same with the token, for a message.
    fn send(&self, headers: &[(&str, &str)], message: &Value) -> Answered {
        let bearer = format!("Bearer {}", self.token);
        let mut all = vec![("Authorization", bearer.as_str())];
        all.extend(headers);
        self.answer("POST", &all, &message.to_string())
    }

    /// Initialises the protocol; the session.
    fn begin(&self) -> String {
        let greeting = self.send(&[], &initialize());
        let session = greeting.session.unwrap();
        let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        assert_eq!(self.send(&[("Mcp-Session-Id", &session)], &ready).status, 202);
        session
    }

    /// Calls a tool in a session; its result.
    fn call(&self, session: &str, tool: &str, arguments: &Value) -> Value {
        let params = json!({"name": tool, "arguments": arguments});
        let message = json!({"jsonrpc": "2.0", "id": tool, "method": "tools/call", "params": params});
        let answered = self.send(&[("Mcp-Session-Id", session)], &message);
        let answer = answered.messages.into_iter().find(|message| message["id"] == tool);
        answer.unwrap_or_else(|| panic!("no answer to {tool}"))["result"].clone()
    }

    pub(crate) fn end(mut self) {
        let pid = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
        let begun = Instant::now();
        while self.child.try_wait().unwrap().is_none() {
            assert!(begun.elapsed() < BOUND, "the server did not end");
            thread::yield_now();
        }
    }
}

fn initialize() -> Value {
    let info = json!({"name": "t", "version": "1"});
    let params = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": info});
    json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params})
}

/// Waits until nothing of a desktop runs but the server.
fn wait_until_ended(world: &World) {
    let begun = Instant::now();
    loop {
        let left: Vec<_> =
            world.processes().into_iter().filter(|(_, line)| !line.contains(" mcp --http")).collect();
        if left.is_empty() {
            return;
        }
        assert!(begun.elapsed() < BOUND, "the desktop stays: {left:?}");
        thread::yield_now();
    }
}

#[test]
fn nobody_gets_in_without_the_token_or_from_elsewhere() {
    let world = World::new();
    let server = HttpServer::start(&world, &[]);
    assert!(server.url.starts_with("http://127.0.0.1:"), "{}", server.url);
    let token = server.token.clone();
    let bearer = format!("Bearer {token}");
    let greet = |headers: &[(&str, &str)]| server.answer("POST", headers, &initialize().to_string()).status;
    let with = |more: &[(&str, &str)]| {
        let mut headers = vec![("Authorization", bearer.as_str())];
        headers.extend(more);
        greet(&headers)
    };
    assert_eq!(with(&[]), 200);
    // The scheme has no case, the token has.
    for scheme in ["bearer", "BEARER", "Bearer "] {
        assert_eq!(greet(&[("Authorization", &format!("{scheme} {token}"))]), 200, "{scheme}");
    }
    assert_eq!(greet(&[]), 401);
    for wrong in [
        "Bearer guessed".to_owned(),
        token.clone(),
        format!("Basic {token}"),
        format!("Bearer{token}"),
        bearer.to_uppercase(),
    ] {
        assert_eq!(greet(&[("Authorization", &wrong)]), 401, "{wrong}");
    }
    assert_eq!(with(&[("Host", "evil.example")]), 403);
    assert_eq!(with(&[("Origin", "http://evil.example")]), 403);
    server.end();
    assert_eq!(world.processes(), [], "processes are left");
}

#[test]
fn wrong_messages_over_http_get_their_codes() {
    let world = World::new();
    let server = HttpServer::start(&world, &[]);
    let bearer = format!("Bearer {}", server.token);
    let large = "x".repeat(5 << 20);
    for (body, status, code) in [
        ("garbage", 400, -32700),
        ("", 400, -32700),
        ("[]", 400, -32600),
        ("{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":\"ping\"}", 400, -32600),
        (large.as_str(), 413, -32600),
    ] {
        let answered = server.answer("POST", &[("Authorization", &bearer)], body);
        let shown = &body[..body.len().min(60)];
        assert_eq!(answered.status, status, "{shown}");
        assert_eq!(answered.messages[0]["error"]["code"], code, "{shown}: {:?}", answered.messages);
    }
    let headers = [("MCP-Protocol-Version", "2026-07-28"), ("Mcp-Method", "tools/call"), ("Mcp-Name", "fly")];
    let params = json!({"name": "fly", "_meta": meta(json!({}))});
    let unknown =
        server.send(&headers, &json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}));
    assert_eq!(unknown.messages[0]["error"]["code"], -32602, "{:?}", unknown.messages);
    server.end();
}

#[test]
fn the_desktop_of_a_client_that_goes_away_ends() {
    if !has_desktop() || !has_programs(&["mousepad"]) {
        return;
    }
    let world = World::new();
    // A client that says so.
    let server = HttpServer::start(&world, &[]);
    let session = server.begin();
    server.call(&session, "start_desktop", &json!({"task": "write a note"}));
    let bearer = format!("Bearer {}", server.token);
    let gone = server.answer("DELETE", &[("Authorization", &bearer), ("Mcp-Session-Id", &session)], "");
    assert!(gone.status < 300, "{}", gone.status);
    wait_until_ended(&world);
    server.end();
    // One that closes its connections, and one that only sends nothing any more.
    for holds_stream in [true, false] {
        let server = HttpServer::start(&world, &["--idle-minutes", "0.05"]);
        let session = server.begin();
        let bearer = format!("Bearer {}", server.token);
        let headers = [("Authorization", bearer.as_str()), ("Mcp-Session-Id", session.as_str())];
        let stream = holds_stream.then(|| server.open("GET", &headers, ""));
        server.call(&session, "start_desktop", &json!({"task": "write a note"}));
        assert!(world.processes().len() > 1);
        drop(stream);
        wait_until_ended(&world);
        // Its session has ended with it.
        let asked = json!({"jsonrpc": "2.0", "id": 9, "method": "tools/list", "params": {}});
        assert_eq!(server.send(&[("Mcp-Session-Id", &session)], &asked).status, 404);
        server.end();
    }
    assert_eq!(world.processes(), [], "processes are left");
}

#[test]
fn an_answer_that_nobody_reads_cancels_its_call() {
    if !has_desktop() || !has_programs(&["mousepad"]) {
        return;
    }
    let world = World::new();
    let server = HttpServer::start(&world, &[]);
    let bearer = format!("Bearer {}", server.token);
    let post = |tool: &str, arguments: Value, token: &str| {
        let mut meta = meta(json!({}));
        meta["progressToken"] = json!(token);
        let params = json!({"name": tool, "arguments": arguments, "_meta": meta});
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).to_string();
        let headers = [
            ("Authorization", bearer.as_str()),
            ("MCP-Protocol-Version", "2026-07-28"),
            ("Mcp-Method", "tools/call"),
            ("Mcp-Name", tool),
        ];
        server.open("POST", &headers, &body)
    };
    let whole = |tool: &str, arguments: Value| {
        let mut answer = String::new();
        post(tool, arguments, "p").read_to_string(&mut answer).unwrap();
        answer
    };
    whole("start_desktop", json!({"task": "write a note"}));
    whole("open", json!({"application": "mousepad"}));
    let wait = json!({"actions": [
        {"tool": "type_text", "arguments": {"text": "before"}},
        {"tool": "wait_for", "arguments": {"title": "what never shows", "seconds": 100}},
    ]});
    let stream = post("act", wait, "p");
    let mut lines = BufReader::new(stream.try_clone().unwrap()).lines();
    lines.find(|line| line.as_ref().unwrap().contains("wait for")).unwrap().unwrap();
    stream.shutdown(std::net::Shutdown::Both).unwrap();
    drop((stream, lines));
    let begun = Instant::now();
    let told = whole("act", typing(" after"));
    assert!(told.contains("did not reach you") && told.contains("1. type_text: seen"), "{told}");
    assert!(begun.elapsed().as_secs() < 90, "the desktop was held for {:?}", begun.elapsed());
    server.end();
    assert_eq!(world.processes(), [], "processes are left");
}
