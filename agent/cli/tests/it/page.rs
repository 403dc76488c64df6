//! `deskhand serve`: who comes in, and a session that is started, asked about, steered and looked back at over the page's own API, by
//! a client that shares no code with the service.
//!
//! The second part is skipped if the programs of a virtual desktop or the editor are not installed, unless `DESKHAND_ALL_TESTS` is set.

use std::{
    fs,
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::TcpStream,
    process::{Child, Stdio},
    thread::park_timeout,
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use crate::{
    people::GREETING,
    support::{World, has_desktop},
};

/// How long anything may take.
pub(crate) const BOUND: Duration = Duration::from_secs(120);

/// A service, and what its first line says.
pub(crate) struct Service {
    pub(crate) child: Child,
    /// Host and port.
    pub(crate) address: String,
    pub(crate) token: String,
}

/// What came back.
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Answer {
    /// What came over a connection.
    pub(crate) fn of(bytes: &[u8]) -> Self {
        let answer = String::from_utf8_lossy(bytes).into_owned();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap_or((&answer, ""));
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        let body = if head.to_lowercase().contains("transfer-encoding: chunked") {
            joined(body)
        } else {
            body.to_owned()
        };
        Answer { status, head: head.to_owned(), body }
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.body))
    }
}

impl Service {
    pub(crate) fn start(world: &World, arguments: &[&str]) -> Self {
        Self::start_at(world, "0", arguments)
    }

    pub(crate) fn start_at(world: &World, port: &str, arguments: &[&str]) -> Self {
        let mut command = world.command(&["serve", "--port", port]);
        // No systemd user manager of who runs the tests is asked for anything.
        command.env_remove("DBUS_SESSION_BUS_ADDRESS");
        let mut child = command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
        let url = BufReader::new(child.stdout.take().unwrap()).lines().next().unwrap().unwrap();
        let (address, token) = url.strip_prefix("http://").unwrap().split_once("/?token=").unwrap();
        Self { child, address: address.to_owned(), token: token.to_owned() }
    }

    /// A request with these headers, and a connection of its own.
    pub(crate) fn asks(&self, line: &str, headers: &[(&str, &str)], body: &str) -> Answer {
        let mut request =
            format!("{line} HTTP/1.1\r\nConnection: close\r\nContent-Length: {}\r\n", body.len());
        if headers.iter().all(|(name, _)| *name != "Host") {
            request.push_str(&format!("Host: {}\r\n", self.address));
        }
        for (name, value) in headers {
            request.push_str(&format!("{name}: {value}\r\n"));
        }
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(BOUND)).unwrap();
        write!(stream, "{request}\r\n{body}").unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        Answer::of(&answer)
    }

    pub(crate) fn status(&self, line: &str, headers: &[(&str, &str)]) -> u16 {
        self.asks(line, headers, "").status
    }

    /// The cookie that a browser gets for the address with the token.
    pub(crate) fn cookie(&self) -> String {
        let let_in = self.asks(&format!("GET /?token={}", self.token), &[], "");
        let cookie = let_in.head.lines().find_map(|line| line.strip_prefix("set-cookie: ")).unwrap();
        cookie.split(';').next().unwrap().to_owned()
    }

    pub(crate) fn bearer(&self) -> String {
        format!("Bearer {}", self.token)
    }

    pub(crate) fn get(&self, path: &str) -> Answer {
        self.asks(&format!("GET {path}"), &[("Authorization", &self.bearer())], "")
    }

    pub(crate) fn post(&self, path: &str, body: &Value) -> Answer {
        let headers = [("Authorization", &*self.bearer()), ("Content-Type", "application/json")];
        self.asks(&format!("POST {path}"), &headers, &body.to_string())
    }

    /// Server-sent events of a session, until one of them is what is looked for.
    pub(crate) fn waits_for(&self, session: &str, is_it: impl Fn(&str, &Value) -> bool) -> Value {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(BOUND)).unwrap();
        let head = format!(
            "GET /api/sessions/{session}/events HTTP/1.1\r\nHost: {}\r\nAuthorization: {}\r\n\r\n",
            self.address,
            self.bearer()
        );
        stream.write_all(head.as_bytes()).unwrap();
        let begun = Instant::now();
        let (mut name, mut seen) = (String::new(), Vec::new());
        for line in BufReader::new(stream).lines() {
            let line = line.unwrap();
            assert!(begun.elapsed() < BOUND, "it does not come: {seen:#?}");
            if let Some(event) = line.strip_prefix("event: ") {
                event.clone_into(&mut name);
            } else if let Some(data) = line.strip_prefix("data: ") {
                let data: Value = serde_json::from_str(data).unwrap();
                if is_it(&name, &data) {
                    return data;
                }
                seen.push(data["state"].clone());
            }
        }
        panic!("the events ended: {seen:#?}")
    }

    /// The id of what a session asks, once it asks something of this kind.
    pub(crate) fn asked(&self, session: &str, kind: &str) -> Value {
        let is_it = |_: &str, data: &Value| data["state"]["prompt"]["kind"] == kind;
        self.waits_for(session, is_it)["state"]["prompt"].clone()
    }

    /// Ends it as by `kill -9`.
    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

/// Ends the sessions of a world whose test failed: they outlive the service.
pub(crate) struct Ending<'a>(pub(crate) &'a World);

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        for (pid, line) in self.0.processes() {
            let commands = ["run", "resume", "follow", "do", "batch", "schedule"];
            let is_one = commands.iter().any(|command| line.contains(&format!("deskhand {command} ")));
            if (is_one || line.contains("keep-desktop"))
                && let Some(pid) = rustix::process::Pid::from_raw(pid)
            {
                rustix::process::kill_process(pid, rustix::process::Signal::TERM).ok();
            }
        }
    }
}

/// A body in chunks as one.
fn joined(body: &str) -> String {
    let (mut whole, mut rest) = (String::new(), body);
    while let Some((size, more)) = rest.split_once("\r\n") {
        let size = usize::from_str_radix(size.trim(), 16).unwrap_or(0);
        let (Some(chunk), true) = (more.get(..size), size > 0) else { break };
        whole.push_str(chunk);
        rest = more.get(size + 2..).unwrap_or_default();
    }
    whole
}

#[test]
fn only_who_has_the_token_comes_in_and_from_no_other_page() {
    let world = World::new();
    let service = Service::start(&world, &[]);
    let (bearer, own) = (service.bearer(), format!("http://{}", service.address));
    assert_eq!(service.status("GET /", &[]), 401);
    assert_eq!(service.status("GET /assets/page.css", &[]), 401);
    assert_eq!(service.status("GET /", &[("Authorization", "Bearer 0000")]), 401);
    assert_eq!(service.status("GET /", &[("Authorization", &bearer)]), 200);
    let rebound = [("Host", "evil.example:4587"), ("Authorization", &*bearer)];
    assert_eq!(service.status("GET /", &rebound), 421, "another host name");
    assert_eq!(service.status(&format!("GET /?token={}", service.token), &[("Host", "evil.example")]), 421);

    let let_in = service.asks(&format!("GET /?token={}", service.token), &[], "");
    assert_eq!(let_in.status, 303);
    let cookie = let_in.head.lines().find_map(|line| line.strip_prefix("set-cookie: ")).unwrap();
    assert!(cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict"), "{cookie}");
    assert!(!cookie.contains(&service.token), "the cookie is not the token");
    let pair = cookie.split(';').next().unwrap();
    let page = service.asks("GET /", &[("Cookie", pair)], "");
    assert_eq!(page.status, 200);
    let policy = page.head.lines().find(|line| line.starts_with("content-security-policy")).unwrap();
    assert!(policy.contains("default-src 'none'") && policy.contains("script-src 'self'"), "{policy}");
    assert!(!page.body.contains("<script>"), "no script stands in the page itself");

    let post = |headers: &[(&str, &str)]| {
        let headers: Vec<(&str, &str)> = [headers, &[("Content-Type", "application/json")]].concat();
        service.asks("POST /api/sessions", &headers, "{}").status
    };
    assert_eq!(post(&[("Cookie", pair), ("Origin", "http://evil.example")]), 403, "another page");
    assert_eq!(post(&[("Cookie", pair), ("Origin", "null")]), 403, "a page without an origin");
    assert_eq!(post(&[("Cookie", pair)]), 403, "a cookie without an origin");
    assert_eq!(post(&[("Authorization", &bearer), ("Origin", "http://evil.example")]), 403);
    assert_eq!(post(&[("Cookie", pair), ("Origin", &own)]), 400, "its own page, without a request");
    let upgrade = [("Cookie", pair), ("Origin", "http://evil.example"), ("Upgrade", "websocket")];
    assert_eq!(service.status("GET /api/sessions/x/watch", &upgrade), 403, "WebSockets of other pages");

    for path in
        ["/sessions/..", "/sessions/%2e%2e%2f%2e%2e", "/sessions/0", "/assets/..%2fpage.css", "/nothing"]
    {
        assert_eq!(service.get(path).status, 404, "{path}");
    }
    // Errors of the API are JSON, whoever refuses.
    for (status, answer) in [
        (401, service.asks("GET /api/sessions", &[], "")),
        (404, service.get("/api/nothing")),
        (404, service.get("/api/sessions/0/moments")),
        (405, service.asks("PUT /api/sessions", &[("Authorization", &bearer)], "")),
        (415, service.asks("POST /api/sessions", &[("Authorization", &bearer)], "{}")),
        (422, service.post("/api/sessions", &json!({"request": 7}))),
    ] {
        assert_eq!(answer.status, status, "{}", answer.body);
        assert!(answer.json()["error"].as_str().is_some_and(|words| !words.is_empty()), "{}", answer.body);
    }
    let described = service.get("/api/openapi.json").json();
    let kept = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/openapi.json"));
    assert_eq!(described, serde_json::from_str::<Value>(&kept.unwrap()).unwrap());
    let keys = world.path().join(".local/state/deskhand/serve/keys");
    let mode = std::os::unix::fs::PermissionsExt::mode(&fs::metadata(keys).unwrap().permissions());
    assert_eq!(mode & 0o777, 0o600);

    for _ in 0..30 {
        service.status("GET /", &[("Authorization", "Bearer guess")]);
    }
    assert_eq!(service.status("GET /", &[("Authorization", "Bearer guess")]), 429);
}

#[test]
fn what_is_sent_is_bounded() {
    let world = World::new();
    let service = Service::start(&world, &[]);
    let bearer = service.bearer();
    // A document of a gigabyte is refused before it is there.
    let head = format!(
        "POST /api/documents?name=big.bin HTTP/1.1\r\nHost: {}\r\nAuthorization: {bearer}\r\nContent-Length: 1073741824\r\n\r\n",
        service.address
    );
    let mut stream = TcpStream::connect(&service.address).unwrap();
    stream.set_read_timeout(Some(BOUND)).unwrap();
    stream.write_all(head.as_bytes()).unwrap();
    let part = vec![b'x'; 1 << 20];
    let sent = (0..1024).take_while(|_| stream.write_all(&part).is_ok()).count();
    assert!(sent < 1024, "it was not refused");
    let kept = fs::read_dir(world.path().join(".local/state/deskhand/documents")).unwrap();
    assert_eq!(kept.count(), 0, "nothing is left of it");

    let long = "x".repeat(2 << 20);
    let answer = service.post("/api/sessions", &json!({"request": long}));
    assert_eq!(answer.status, 413, "{}", answer.body);
    for name in ["../x", "..", ".bashrc", "a%00b"] {
        let line = format!("POST /api/documents?name={name}");
        let answer = service.asks(&line, &[("Authorization", &bearer)], "text");
        assert!(answer.status == 400 || answer.json()["path"].as_str().unwrap().ends_with("/x"), "{name}");
    }
    // More connections than there is room for, which say nothing: those for which there is no room are closed, and the service goes on.
    let idle: Vec<TcpStream> = (0..600).filter_map(|_| TcpStream::connect(&service.address).ok()).collect();
    drop(idle);
    let begun = Instant::now();
    loop {
        let connected = TcpStream::connect(&service.address).is_ok();
        if connected
            && std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| service.get("/").status)).is_ok()
        {
            break;
        }
        assert!(begun.elapsed() < BOUND, "the service does not recover");
        park_timeout(Duration::from_millis(50));
    }
}

#[test]
fn a_session_is_started_answered_and_looked_back_at_and_outlives_the_service() {
    if !has_desktop() {
        return;
    }
    let world = World::new();
    let _ending = Ending(&world);
    let script = world.file("turns.toml", GREETING);
    let service = Service::start(&world, &[]);
    let wrong = service.post("/api/sessions", &json!({"request": "x", "model": "script:/no/such/file"}));
    assert_eq!(wrong.status, 409, "{}", wrong.body);
    assert!(wrong.json()["error"].as_str().unwrap().contains("/no/such/file"), "{}", wrong.body);

    let model = format!("script:{}", script.display());
    let started = service.post("/api/sessions", &json!({"request": "write the greeting", "model": model}));
    assert_eq!(started.status, 201, "{}", started.body);
    let id = started.json()["id"].as_str().unwrap().to_owned();
    let asked = service.asked(&id, "questions");
    assert_eq!(asked["line"]["questions"][0]["text"], "Which greeting?");
    let page = service.get(&format!("/sessions/{id}"));
    assert!(page.body.contains("Which greeting?") && page.body.contains("To whom?"), "{}", page.body);
    let answer = json!({"do": "answer", "id": asked["id"], "answers": ["Guten Tag", "Ada"]});
    let path = format!("/api/sessions/{id}/do");
    assert_eq!(service.post(&path, &answer).status, 202);

    // The service is gone and comes again; the session has not noticed.
    let asked = service.asked(&id, "approval");
    service.kill();
    let service = Service::start(&world, &[]);
    let again = service.asked(&id, "approval");
    assert_eq!(again["id"], asked["id"]);
    let no =
        json!({"do": "decide", "id": asked["id"], "approve": "no", "instruction": "write it in capitals"});
    assert_eq!(service.post(&path, &no).status, 202);
    let mut last = asked["id"].clone();
    for _ in 0..2 {
        let is_next = |_: &str, data: &Value| {
            let prompt = &data["state"]["prompt"];
            prompt["kind"] == "approval" && prompt["id"] != last
        };
        let prompt = service.waits_for(&id, is_next)["state"]["prompt"].clone();
        let yes = json!({"do": "decide", "id": prompt["id"], "approve": "once"});
        assert_eq!(service.post(&path, &yes).status, 202);
        last = prompt["id"].clone();
    }
    service.waits_for(&id, |_, data| data["running"] == false);
    let shown = world.run(&["show", &id]);
    assert!(shown.contains("GUTEN TAG, ADA") && shown.contains("finished"), "{shown}");
    let page = service.get(&format!("/sessions/{id}"));
    assert!(
        page.body.contains("write it in capitals") && page.body.contains("the greeting is written"),
        "{}",
        page.body
    );
    let report = service.get(&format!("/sessions/{id}/report"));
    assert_eq!(report.status, 200);
    assert!(report.head.contains("default-src 'none'") && report.body.contains("the greeting is written"));
    assert_eq!(service.post(&path, &answer).status, 409, "it does not run any more");
    service.kill();
    assert_eq!(world.orphans(), Vec::<String>::new());
}

/// The page begins with the last steps of a long session and says where the others are.
#[test]
fn the_page_of_a_long_session_begins_with_its_last_steps() {
    if !has_desktop() {
        return;
    }
    let world = World::new();
    let mut script = String::new();
    for number in 1..=70 {
        fs::create_dir(world.path().join(format!("folder{number}"))).unwrap();
        let call = json!({"function": "list_folder", "arguments": {"path": format!("folder{number}")}});
        let reply = json!({"thought": format!("look into folder{number}."), "status": "CONTINUE",
            "function": call["function"], "arguments": call["arguments"]});
        script.push_str(&format!("[[turn]]\nagent = \"HostAgent\"\nreply = '{reply}'\n\n"));
    }
    let last = json!({"thought": "all are empty", "status": "FINISH", "result": "nothing is there"});
    script.push_str(&format!("[[turn]]\nagent = \"HostAgent\"\nreply = '{last}'\n"));
    world.file("script.toml", &script);
    let arguments = ["look into all folders", "--model", "script:script.toml", "--max-steps", "100"];
    let shown = world.run(&[&["run", "--approve", "all"], &arguments[..]].concat());
    assert!(shown.contains("nothing is there"), "{shown}");

    let id = world.store().list().unwrap().remove(0).0;
    let service = Service::start(&world, &[]);
    let page = service.get(&format!("/sessions/{id}")).body;
    let has = |text: &str, number: u32| text.contains(&format!("look into folder{number}."));
    assert!(has(&page, 70) && has(&page, 30) && !has(&page, 1) && !has(&page, 9), "{page}");
    let (_, told) = page.split_once("<p class=\"meta\">Without ").expect("it says that parts are left out");
    let (count, links) = told.split_once(" earlier parts: ").unwrap();
    assert!(count.parse::<u32>().unwrap() >= 10, "{count}");
    let report = format!("/sessions/{id}/report");
    assert!(links.contains(&format!("<a href=\"{report}\">")), "{links}");
    let report = service.get(&report).body;
    assert!((1..=70).all(|number| has(&report, number)), "{report}");
}
