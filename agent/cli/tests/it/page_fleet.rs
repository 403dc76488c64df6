//! Sessions of a fleet on the page of `deskhand serve`, with a real server, a real application and a real browser. Judged by the DOM, and by a
//! subscriber that speaks the protocol of NATS itself.
//!
//! Skipped if the programs are not installed, unless `DESKHAND_ALL_TESTS` is set.

use std::{
    fs,
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::TcpStream,
    process::{Child, Command, Stdio},
    sync::{Arc, Condvar, Mutex},
    time::{Duration, Instant},
};

use deskhand_fleet::{
    holder::{ANSWERS, QUESTIONS},
    nats::{NatsOptions, NatsStore},
    store::FleetStore as _,
};
use deskhand_testkit::nats_server::Server;
use serde_json::{Value, json};

use crate::{
    browser::{Browser, Kind},
    page::Service,
    people::GREETING,
    support::{World, has_desktop},
};

/// Far more than anything here takes.
const BOUND: Duration = Duration::from_secs(180);

/// How many replies type something into the first document again and again: its desktop changes for longer than somebody watches it.
const REPLIES: usize = 6;
/// How often each of them does, with a rest before.
const TYPED: usize = 28;
/// Who waits for news looks at least this often.
const LOOK: Duration = Duration::from_secs(1);
/// A request that would be an element if it were not text.
const MARKUP: &str = "<img id=evil src=x onerror=alert(1)>";

/// Types a word into a document, saves it, and then goes on typing.
fn typing() -> String {
    let field = r#""id": "{{element "text" ""}}""#;
    let rest = format!(
        r#"{{"function": "wait", "arguments": {{"seconds": 0.4}}}}, {{"function": "type_text", "arguments": {{{field}, "text": "."}}}}"#
    );
    let rests = vec![rest; TYPED].join(",\n ");
    let first = format!(
        r#"{{"function": "type_text", "arguments": {{{field}, "text": "first"}}}}, {{"function": "press_keys", "arguments": {{"keys": "ctrl+s"}}}}"#
    );
    let reply = |number: usize, actions: &str| {
        format!(
            r#"
[[turn]]
agent = "AppAgent"
reply = '''
{{"observation": "Text {number}.", "thought": "More of it.", "status": "CONTINUE", "action": [
 {actions}]}}
'''
"#
        )
    };
    let begins = r#"
[[turn]]
agent = "HostAgent"
reply = '''
{"observation": "An editor is open.", "thought": "It can be used.", "status": "ASSIGN", "current_subtask": "Type it",
 "control_label": "{{window "Mousepad"}}", "next": []}
'''
"#;
    let further = (1..=REPLIES).map(|number| reply(number, &rests));
    std::iter::once(begins.to_owned()).chain([reply(0, &first)]).chain(further).collect()
}

/// Counts the messages of a subject.
struct Subscriber {
    stream: TcpStream,
    heard: Arc<(Mutex<usize>, Condvar)>,
}

impl Subscriber {
    fn of(server: &Server, subject: &str) -> Self {
        let stream = TcpStream::connect(("127.0.0.1", server.port)).unwrap();
        let (mut lines, heard) =
            (BufReader::new(stream.try_clone().unwrap()), Arc::<(Mutex<usize>, Condvar)>::default());
        let subscriber = Self { stream, heard: Arc::clone(&heard) };
        subscriber.says(&format!(
            "CONNECT {{\"verbose\":false,\"pedantic\":false,\"headers\":true}}\r\nSUB {subject} 1\r\n"
        ));
        std::thread::spawn(move || {
            loop {
                let mut line = String::new();
                if lines.read_line(&mut line).is_ok_and(|bytes| bytes == 0) {
                    return;
                }
                if line.starts_with("PING") {
                    lines.get_mut().write_all(b"PONG\r\n").unwrap();
                } else if line.starts_with("HMSG") || line.starts_with("MSG") {
                    let size: usize = line.split_whitespace().last().unwrap().parse().unwrap();
                    lines.read_exact(&mut vec![0; size + 2]).unwrap();
                    *heard.0.lock().unwrap() += 1;
                    heard.1.notify_all();
                }
            }
        });
        subscriber
    }

    fn heard(&self) -> usize {
        *self.heard.0.lock().unwrap()
    }

    /// Waits until there are more than this.
    fn hears(&self, known: usize) {
        let heard = self.heard.0.lock().unwrap();
        drop(self.heard.1.wait_timeout_while(heard, LOOK, |heard| *heard == known).unwrap());
    }

    fn says(&self, text: &str) {
        (&self.stream).write_all(text.as_bytes()).unwrap();
    }

    /// Sends a frame of one piece.
    fn sends_frame(&self, subject: &str, bytes: &[u8]) {
        let header = "NATS/1.0\r\nDeskhand-Frame: 1/0/1\r\n\r\n";
        let head = format!("HPUB {subject} {} {}\r\n{header}", header.len(), header.len() + bytes.len());
        (&self.stream).write_all(&[head.as_bytes(), bytes, b"\r\n"].concat()).unwrap();
    }
}

/// A fleet, and the page that shows it.
struct Shown {
    world: World,
    server: Server,
    service: Service,
    browser: Browser,
    /// Everything that is said in the fleet.
    all: Subscriber,
    /// Frames of the first task.
    frames: Subscriber,
    _data: tempfile::TempDir,
}

impl Shown {
    /// A worker with a script of its own.
    fn worker(&self, name: &str, turns: &str, label: &str) -> Worker {
        let script = self.world.file(&format!("{name}.toml"), turns);
        let model = format!("script:{}", script.display());
        let mut command =
            self.world.command(&["worker", "--name", name, "--model", &model, "--labels", label]);
        command.args(reached(&self.server)).stdin(Stdio::null());
        let log = fs::File::create(self.world.path().join(format!("{name}.log"))).unwrap();
        Worker(command.stdout(log.try_clone().unwrap()).stderr(log).spawn().unwrap())
    }

    fn log(&self, name: &str) -> String {
        fs::read_to_string(self.world.path().join(format!("{name}.log"))).unwrap_or_default()
    }

    /// Waits until the API says this.
    fn until(&self, path: &str, is_so: impl Fn(&Value) -> bool) -> Value {
        let begun = Instant::now();
        loop {
            let known = self.all.heard();
            let answer = self.service.get(path);
            if answer.status == 200 && is_so(&answer.json()) {
                return answer.json();
            }
            let logs = || ["lab-1", "lab-2"].map(|name| self.log(name)).concat();
            assert!(begun.elapsed() < BOUND, "{path}: {} {}{}", answer.status, answer.body, logs());
            self.all.hears(known);
        }
    }

    fn open(&self, path: &str) {
        self.browser.open(&format!("http://{}{path}", self.service.address));
    }
}

struct Worker(Child);

impl Drop for Worker {
    fn drop(&mut self) {
        // The first signal waits for its tasks.
        for _ in 0..2 {
            Command::new("kill").arg(self.0.id().to_string()).status().ok();
        }
        self.0.wait().ok();
    }
}

/// How the server is reached.
fn reached(server: &Server) -> [String; 4] {
    ["--fleet", &format!("nats://127.0.0.1:{}", server.port), "--lease", "3"].map(str::to_owned)
}

/// What stands for a session in the table.
fn row(browser: &Browser, id: &str) -> Value {
    browser.reads(&format!(
        "[...document.querySelector('.sessions a[href=\"/sessions/fleet.{id}\"]').closest('tr').cells].map((one) => one.innerText)"
    ))
}

const BADGE: &str = "document.querySelector('#now .badge')?.textContent";

/// How often something was typed so far.
fn typed(moments: &Value) -> usize {
    let all = moments["moments"].as_array().map(Vec::as_slice).unwrap_or_default();
    all.iter().filter(|one| one["words"] == "type text “.”").count()
}

#[test]
fn sessions_of_a_fleet_are_listed_watched_cancelled_and_answered() {
    if !has_desktop() || !Kind::Chromium.has_programs(&[]) {
        return;
    }
    let data = tempfile::tempdir().unwrap();
    let Some(server) = Server::start(data.path(), "").unwrap() else { return };
    // It takes a while.
    let browser = std::thread::spawn(|| Browser::start(Kind::Chromium, "fleet"));
    let (world, long) = (World::new(), "n".repeat(100));
    let key = world.run(&["fleet", "key", "anna.key"]);
    let public = key.split_whitespace().find(|word| word.starts_with('U') && word.len() == 56).unwrap();
    world.configure(&format!("[people]\nchannel = \"socket\"\n[fleet.accept]\nanna = \"{public}\"\n"));
    world.file("tasks/first.md", "");
    let first = json!({"request": format!("Write first into the note {MARKUP}"), "open": ["first.md"], "needs": {"labels": ["notes"]}});
    world.file("tasks/first.json", &first.to_string());
    world.file(
        &format!("tasks/{long}.json"),
        r#"{"request": "Nobody does this", "needs": {"labels": ["none"]}}"#,
    );
    world.file("tasks/asks.json", r#"{"request": "write the greeting", "needs": {"labels": ["talks"]}}"#);
    let mut submit = world.command(&["fleet", "submit", "--trust", "tasks", "--key", "anna.key"]);
    let submitted = world.shown(&submit.args(reached(&server)).output().unwrap());
    assert!(submitted.contains("3 tasks submitted"), "{submitted}");

    // Queued tasks are in the table before any worker is there.
    let arguments = reached(&server);
    let arguments = arguments.iter().map(String::as_str).chain(["--key", "anna.key"]).collect::<Vec<_>>();
    let service = Service::start(&world, &arguments);
    let (all, frames) = (Subscriber::of(&server, ">"), Subscriber::of(&server, "deskhand.screen.first.*"));
    let browser = browser.join().unwrap();
    let shown = Shown { world, server, service, browser, all, frames, _data: data };
    shown.until("/api/sessions", |table| table["total"] == 3);
    shown.open(&format!("/?token={}", shown.service.token));
    let cells = row(&shown.browser, "first");
    assert_eq!((&cells[2], &cells[3]), (&json!("queued"), &json!("fleet")), "{cells}");
    assert!(cells[1].as_str().unwrap().contains(MARKUP), "{cells}");
    assert_eq!(shown.browser.reads("document.querySelector('#evil')"), Value::Null, "a request is text");
    assert_eq!(row(&shown.browser, &long)[2], "queued");
    shown.browser.picture("queued");

    let _workers = [shown.worker("lab-1", &typing(), "notes"), shown.worker("lab-2", GREETING, "talks")];
    watches(&shown);
    answers(&shown);
    is_quiet(&shown);
    cancels(&shown);
    assert_eq!(shown.browser.complaints(), Vec::<String>::new());
}

const MOMENTS: &str = "/api/sessions/fleet.first/moments";

/// One session: its desktop while somebody looks, its documents and pictures.
fn watches(shown: &Shown) {
    let Shown { service, browser, frames, .. } = shown;
    shown.until(MOMENTS, |moments| typed(moments) > 0);
    shown.open("/?place=lab-1");
    let cells = row(browser, "first");
    assert_eq!((&cells[2], &cells[3]), (&json!("running"), &json!("lab-1")), "{cells}");
    assert_eq!(browser.reads("document.querySelectorAll('.sessions tbody tr').length"), 1);
    assert_eq!(frames.heard(), 0, "frames while nobody watches");

    shown.open("/sessions/fleet.first");
    browser.until("document.querySelector('#screen').dataset.updates > 1");
    let colours = "(() => { const { width, height } = document.querySelector('#screen'); \
        const { data } = document.querySelector('#screen').getContext('2d').getImageData(0, 0, width, height); \
        return new Set(new Uint32Array(data.buffer)).size; })()";
    assert!(browser.reads(colours).as_u64().unwrap() > 20, "the desktop is blank");
    browser.picture("watched");
    // Another worker shows something else of the same task; then the screen goes on.
    let width = browser.reads("document.querySelector('#screen').width");
    frames.sends_frame("deskhand.screen.first.other-worker", &[1, 1, 16, 0, 16, 0, 0, 0, 0, 0, 0, 0]);
    let updates = browser.reads("Number(document.querySelector('#screen').dataset.updates)");
    browser.until(&format!("Number(document.querySelector('#screen').dataset.updates) > {updates} + 1"));
    assert_eq!(browser.reads("document.querySelector('#screen').width"), width);

    let all = service.get(MOMENTS).json();
    let pictured = all["moments"].as_array().unwrap().iter().find(|one| one["picture"].is_string()).unwrap();
    shown.open(&format!("/sessions/fleet.first/moments#{}", pictured["record"]));
    browser.until("document.querySelector('#picture').naturalWidth > 0");
    assert_eq!(browser.reads("document.querySelector('#fork')"), Value::Null);
    browser.picture("time-line");

    let document = service.get("/sessions/fleet.first/documents/first.md");
    assert_eq!((document.status, document.body.as_str()), (200, "first"), "as the agent saved it");
    assert!(document.head.to_lowercase().contains("content-disposition: attachment"), "{}", document.head);
    for path in
        ["documents/..%2f..%2fetc%2fpasswd", "documents/other.md", &format!("pictures/{}", "0".repeat(64))]
    {
        assert_eq!(service.get(&format!("/sessions/fleet.first/{path}")).status, 404, "{path}");
    }
    is_bounded(service);
}

/// Once nobody watches any more, the desktop goes on changing and no frame is sent.
fn is_quiet(shown: &Shown) {
    let Shown { service, frames, .. } = shown;
    let begun = Instant::now();
    loop {
        let (heard, known) = (frames.heard(), typed(&service.get(MOMENTS).json()));
        shown.until(MOMENTS, |moments| typed(moments) > known + 1);
        if frames.heard() == heard {
            return;
        }
        assert!(begun.elapsed() < BOUND, "frames after the last one has left");
    }
}

/// A session is cancelled, and sent again.
fn cancels(shown: &Shown) {
    let browser = &shown.browser;
    shown.open("/sessions/fleet.first");
    browser.click("#cancel");
    browser.until(&format!("{BADGE} === 'cancelled'"));
    browser.picture("cancelled");
    browser.click("#again");
    browser.until("location.pathname === '/sessions/fleet.first-2'");
    browser.click("#cancel");
    browser.until(&format!("{BADGE} === 'cancelled'"));
}

/// What nobody may do with a session of a worker.
fn is_bounded(service: &Service) {
    assert_eq!(service.status("GET /sessions/fleet.first", &[]), 401, "who has no token sees nothing");
    let wants = |line: Value| service.post("/api/sessions/fleet.first/do", &line);
    for line in [
        json!({"do": "take_over"}),
        json!({"do": "say", "text": "stop"}),
        json!({"do": "request", "text": "x"}),
    ] {
        assert_eq!(wants(line.clone()).status, 400, "{line}");
    }
    assert_eq!(wants(json!({"do": "decide", "id": 1, "approve": "once"})).status, 409, "it asks nothing");
    assert_eq!(service.get("/sessions/fleet.nothing").status, 404);
}

/// Somebody else who reaches the server answers what a signed task asks.
fn forges(server: &Server, line: &Value) {
    let options = NatsOptions {
        servers: vec![format!("nats://127.0.0.1:{}", server.port)],
        prefix: "deskhand".to_owned(),
        replicas: 1,
        lease: Duration::from_secs(3),
        ..NatsOptions::default()
    };
    tokio::runtime::Runtime::new().unwrap().block_on(async {
        let eve = NatsStore::connect(&options).await.unwrap();
        let question = eve.get(&format!("{QUESTIONS}asks")).await.unwrap().unwrap();
        let question: Value = serde_json::from_slice(&question.value).unwrap();
        let key = format!("{ANSWERS}asks.{}", question["key"].as_str().unwrap());
        let answer = json!({"line": line.to_string()}).to_string();
        eve.put(&key, 0, answer.as_bytes()).await.unwrap();
    });
}

/// A session that asks: the question is on its page, and one answer counts.
fn answers(shown: &Shown) {
    let Shown { server, service, browser, .. } = shown;
    shown.open("/sessions/fleet.asks");
    browser.until("document.querySelector('#prompt form[data-kind=questions]')");
    assert_eq!(browser.reads(BADGE), "asks you");
    let rows = service.get("/api/sessions?q=answer").json();
    assert_eq!(rows["rows"][0]["id"], "fleet.asks", "{rows}");
    browser.picture("asked");
    browser.click("#prompt input[value='Guten Tag']");
    browser.fills("#prompt input[name=q2]", "Ada");
    browser.click("#prompt button");
    browser.until("document.querySelector('#prompt form[data-kind=approval]')");
    browser.picture("approval");
    let id: Value = serde_json::from_str(
        browser.reads("document.querySelector('#prompt form').dataset.id").as_str().unwrap(),
    )
    .unwrap();
    let decides = |approve: &str| json!({"do": "decide", "id": id, "approve": approve});
    forges(server, &decides("once"));
    // Two at once: one of them counts.
    let decide = || service.post("/api/sessions/fleet.asks/do", &decides("no")).status;
    let statuses = std::thread::scope(|scope| {
        let both = [scope.spawn(decide), scope.spawn(decide)];
        both.map(|one| one.join().unwrap())
    });
    assert!(statuses.contains(&202) && statuses.contains(&409), "{statuses:?}");
    browser.until("!document.querySelector('#prompt form')");
    service.post("/api/sessions/fleet.asks/do", &json!({"do": "stop"}));
    browser.until(&format!("{BADGE} === 'cancelled'"));
}
