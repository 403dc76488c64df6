//! Small applications in real toolkits whose controls work or fail in known ways, and that report what really
//! happened: the test oracle.
//!
//! The applications are in `fixtures/`. A [`Fixture`] knows how to start one ([`Fixture::program`],
//! [`Fixture::arguments`]), receives its event log over the loopback interface, and sends it commands.

use std::{
    fmt, io,
    path::Path,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant, SystemTime},
};

use rustix::time::{ClockId, clock_gettime};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader},
    net::{TcpListener, TcpStream},
    sync::{broadcast, watch},
    task::JoinSet,
};

/// The program that [`Fixture::prepare_in_firefox`] needs.
pub const FIREFOX: &str = "firefox-esr";

/// The timeout for responses of a fixture.
const BOUND: Duration = Duration::from_secs(60);
/// The maximum size of a page request, in bytes.
const REQUEST_MAX: usize = 1024 * 1024;
/// The capacity of the command channel.
const COMMANDS_MAX: usize = 64;

/// The toolkit of an application.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Toolkit {
    /// GTK 3.
    Gtk3,
    /// GTK 4.
    Gtk4,
    /// Qt 5.
    Qt,
    /// A web page in Chromium.
    Page,
}

impl Toolkit {
    /// All toolkits.
    pub const ALL: [Self; 4] = [Self::Gtk3, Self::Gtk4, Self::Qt, Self::Page];

    /// The program that must be installed.
    pub const fn needs(self) -> &'static str {
        match self {
            Self::Gtk3 | Self::Gtk4 | Self::Qt => "python3",
            Self::Page => "chromium",
        }
    }
}

impl fmt::Display for Toolkit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Gtk3 => "GTK3",
            Self::Gtk4 => "GTK4",
            Self::Qt => "Qt",
            Self::Page => "Chromium page",
        })
    }
}

/// The screen that an application shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Screen {
    /// Working controls beside inert, late, covered and moving ones, and self-changing content.
    Faults,
    /// Every kind of control.
    Form,
    /// A list of 10,000 rows.
    List,
    /// An entry and a text area.
    Text,
    /// Controls that make something of their own of what is written into them, in GTK 3 alone.
    Writing,
    /// A list of which several rows can be selected, with a context menu, in GTK and Qt alone.
    Several,
    /// What real applications expose poorly: an icon view, fields beside labels, a button that is only described in GTK 3;
    /// names, hidden elements and long lists in GTK 4; dates and times in Qt; a list to choose from and a table of links in a page.
    Content,
    /// Icon buttons without names and a canvas without elements.
    Canvas,
    /// Controls on which actions of real applications were misjudged; see `fixtures/teeth.py`.
    Teeth,
}

impl Screen {
    /// The name; the window title is `Fixture ` followed by it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Faults => "faults",
            Self::Form => "form",
            Self::List => "list",
            Self::Text => "text",
            Self::Writing => "writing",
            Self::Several => "several",
            Self::Content => "content",
            Self::Canvas => "canvas",
            Self::Teeth => "teeth",
        }
    }
}

/// An event that really happened in an application.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// The affected control.
    pub control: String,
    /// `clicked`, `checked`, `typed`, `selected`, `adjusted`, `edited`, `expanded`, `dropped`, `chosen`, `sorted`, `raced`,
    /// `late`.
    pub event: String,
    /// Whether the control had its intended effect; faulty controls report false.
    pub effect: bool,
    /// The delay of the effect in milliseconds; it is reported later by the event `late`.
    pub delay_ms: Option<u64>,
    /// The resulting value; null if there is none.
    pub value: Value,
    /// When it happened, in nanoseconds of the monotonic clock.
    pub at_ns: Option<u64>,
    /// When it was reported.
    pub at: Instant,
}

/// The messages received so far.
#[derive(Debug, Default)]
struct Account {
    ready: bool,
    entries: Vec<Entry>,
    replies: Vec<(u64, Value)>,
}

#[derive(Debug)]
struct Shared {
    account: Mutex<Account>,
    /// Counts received messages.
    news: watch::Sender<u64>,
    commands: broadcast::Sender<String>,
}

impl Shared {
    fn account(&self) -> MutexGuard<'_, Account> {
        self.account.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take(&self, line: &str) {
        let Ok(message) = serde_json::from_str::<Value>(line) else { return };
        let text = |name: &str| message.get(name).and_then(Value::as_str).map(ToOwned::to_owned);
        let mut account = self.account();
        if let Some(id) = message.get("reply").and_then(Value::as_u64) {
            account.replies.push((id, message.get("value").cloned().unwrap_or_default()));
        } else if message.get("ready").is_some() {
            account.ready = true;
        } else if let (Some(control), Some(event)) = (text("control"), text("event")) {
            account.entries.push(Entry {
                control,
                event,
                effect: message.get("effect").and_then(Value::as_bool).unwrap_or(false),
                delay_ms: message.get("delay_ms").and_then(Value::as_u64),
                value: message.get("value").cloned().unwrap_or_default(),
                at_ns: at_ns(&message),
                at: Instant::now(),
            });
        }
        drop(account);
        self.news.send_modify(|count| *count += 1);
    }
}

/// When an event happened by the monotonic clock. A page knows the time of day alone.
fn at_ns(message: &Value) -> Option<u64> {
    let wall_ms = message.get("at_wall_ms").and_then(Value::as_f64);
    let ago = wall_ms.and_then(|ms| {
        let then = SystemTime::UNIX_EPOCH + Duration::try_from_secs_f64(ms / 1e3).ok()?;
        SystemTime::now().duration_since(then).ok()
    });
    let now = clock_gettime(ClockId::Monotonic);
    let now = Duration::new(u64::try_from(now.tv_sec).ok()?, u32::try_from(now.tv_nsec).ok()?);
    let then = ago.and_then(|ago| now.checked_sub(ago)).and_then(|then| u64::try_from(then.as_nanos()).ok());
    message.get("at_ns").and_then(Value::as_u64).or(then)
}

/// An application and its event log.
#[derive(Debug)]
pub struct Fixture {
    program: String,
    arguments: Vec<String>,
    title: String,
    shared: Arc<Shared>,
    last_id: AtomicU64,
    /// Stopped with the fixture.
    _tasks: JoinSet<()>,
}

impl Fixture {
    /// Listens for an application, to be started with [`Self::program`] and [`Self::arguments`].
    ///
    /// # Errors
    /// If no loopback port can be opened.
    pub async fn prepare(toolkit: Toolkit, screen: Screen) -> io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let port = listener.local_addr()?.port();
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
        let script = |name: &str| folder.join(name).display().to_string();
        let python = |name: &str| vec!["-B".to_owned(), script(name), screen.name().into(), port.to_string()];
        let (program, arguments) = match toolkit {
            // The system's Python, since the toolkits are system packages.
            Toolkit::Gtk3 => ("/usr/bin/python3", python("gtk3.py")),
            Toolkit::Gtk4 => ("/usr/bin/python3", python("gtk4.py")),
            Toolkit::Qt => ("/usr/bin/python3", python("qt.py")),
            Toolkit::Page => {
                let address = format!("--app=http://127.0.0.1:{port}/?screen={}", screen.name());
                ("chromium", vec![address, "--window-size=1040,760".to_owned()])
            }
        };
        let shared = Arc::new(Shared {
            account: Mutex::default(),
            news: watch::Sender::new(0),
            commands: broadcast::Sender::new(COMMANDS_MAX),
        });
        let mut tasks = JoinSet::new();
        let serving = Arc::clone(&shared);
        tasks.spawn(async move { serve(&listener, toolkit, &serving).await });
        Ok(Self {
            program: program.to_owned(),
            arguments,
            title: format!("Fixture {}", screen.name()),
            shared,
            last_id: AtomicU64::new(0),
            _tasks: tasks,
        })
    }

    /// Listens for the page in Firefox.
    ///
    /// # Errors
    /// If no loopback port can be opened.
    pub async fn prepare_in_firefox(screen: Screen) -> io::Result<Self> {
        let mut fixture = Self::prepare(Toolkit::Page, screen).await?;
        FIREFOX.clone_into(&mut fixture.program);
        let address =
            fixture.arguments.first().and_then(|first| first.strip_prefix("--app=").map(Into::into));
        fixture.arguments = address.into_iter().collect();
        Ok(fixture)
    }

    /// Listens for a GTK 3 application that draws its content and exposes no elements; see `fixtures/drawn.py`.
    ///
    /// # Errors
    /// If no loopback port can be opened.
    pub async fn prepare_drawn() -> io::Result<Self> {
        let mut fixture = Self::prepare(Toolkit::Gtk3, Screen::Canvas).await?;
        let port = fixture.arguments.pop().unwrap_or_default();
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/drawn.py");
        fixture.arguments = vec!["-B".to_owned(), script.display().to_string(), port];
        fixture.title = "Fixture drawn".to_owned();
        Ok(fixture)
    }

    /// The program to start.
    pub fn program(&self) -> &str {
        &self.program
    }

    /// Its arguments.
    pub fn arguments(&self) -> &[String] {
        &self.arguments
    }

    /// The title of the window.
    pub fn title(&self) -> &str {
        &self.title
    }

    /// Waits until the application shows its controls.
    ///
    /// # Errors
    /// If that takes over a minute.
    pub async fn ready(&self) -> io::Result<()> {
        self.until("the fixture to start", |account| account.ready.then_some(())).await
    }

    /// The current position in the event log, for [`Self::since`].
    pub fn mark(&self) -> usize {
        self.shared.account().entries.len()
    }

    /// The events after a mark that were reported so far.
    pub fn since(&self, mark: usize) -> Vec<Entry> {
        self.shared.account().entries.iter().skip(mark).cloned().collect()
    }

    /// Waits for an event after `mark`.
    ///
    /// # Errors
    /// If that takes over a minute.
    pub async fn happens(&self, mark: usize, fits: impl Fn(&Entry) -> bool) -> io::Result<Entry> {
        let find = |account: &mut Account| account.entries.iter().skip(mark).find(|one| fits(one)).cloned();
        self.until("an event", find).await
    }

    /// Sends a command and waits for its reply, by when all earlier events of the application are reported.
    ///
    /// # Errors
    /// If the application does not reply within a minute.
    pub async fn ask(&self, command: &str, with: Value) -> io::Result<Value> {
        let id = self.last_id.fetch_add(1, Ordering::Relaxed);
        let line = json!({ "command": command, "id": id, "with": with }).to_string();
        self.shared
            .commands
            .send(line)
            .map_err(|_| io::Error::new(io::ErrorKind::NotConnected, "the fixture is not connected"))?;
        self.until("a reply of the fixture", |account| {
            let at = account.replies.iter().position(|(reply, _)| *reply == id)?;
            Some(account.replies.swap_remove(at).1)
        })
        .await
    }

    /// The true values of the controls, by name.
    ///
    /// # Errors
    /// As [`Self::ask`].
    pub async fn state(&self) -> io::Result<Value> {
        self.ask("state", json!({})).await
    }

    async fn until<T>(&self, what: &str, mut find: impl FnMut(&mut Account) -> Option<T>) -> io::Result<T> {
        let mut news = self.shared.news.subscribe();
        let found = async {
            loop {
                news.mark_unchanged();
                if let Some(found) = find(&mut self.shared.account()) {
                    return Ok(found);
                }
                if news.changed().await.is_err() {
                    return Err(io::Error::other("the fixture has exited"));
                }
            }
        };
        tokio::time::timeout(BOUND, found).await.unwrap_or_else(|_| {
            Err(io::Error::new(io::ErrorKind::TimedOut, format!("timed out waiting for {what}")))
        })
    }
}

async fn serve(listener: &TcpListener, toolkit: Toolkit, shared: &Arc<Shared>) {
    let mut connections = JoinSet::new();
    while let Ok((stream, _)) = listener.accept().await {
        let shared = Arc::clone(shared);
        connections.spawn(async move {
            // An application that exits breaks its connection.
            let _: io::Result<()> = match toolkit {
                Toolkit::Gtk3 | Toolkit::Gtk4 | Toolkit::Qt => speak_lines(stream, &shared).await,
                Toolkit::Page => speak_http(stream, &shared).await,
            };
        });
    }
}

async fn speak_lines(stream: TcpStream, shared: &Shared) -> io::Result<()> {
    let mut commands = shared.commands.subscribe();
    let (reader, mut writer) = stream.into_split();
    let mut lines = BufReader::new(reader).lines();
    loop {
        tokio::select! {
            line = lines.next_line() => match line? {
                Some(line) => {
                    shared.take(&line);
                    // Confirmed, so that the application waits for nothing.
                    writer.write_all(b"\n").await?;
                }
                None => return Ok(()),
            },
            Ok(command) = commands.recv() => writer.write_all(format!("{command}\n").as_bytes()).await?,
        }
    }
}

/// Serves the page, its command stream (`/commands`) and its event log (`/account`).
async fn speak_http(mut stream: TcpStream, shared: &Shared) -> io::Result<()> {
    const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/page.html");
    let mut commands = shared.commands.subscribe();
    let mut request = Vec::new();
    loop {
        let Some((head, body)) = read_request(&mut stream, &mut request).await? else { return Ok(()) };
        let path = head.split(' ').nth(1).unwrap_or_default();
        if path == "/commands" {
            // Firefox regards a stream as open only after its first bytes.
            let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nCache-Control: no-store\r\n\r\n: open\n\n";
            stream.write_all(head.as_bytes()).await?;
            while let Ok(command) = commands.recv().await {
                stream.write_all(format!("data: {command}\n\n").as_bytes()).await?;
            }
            return Ok(());
        }
        let mut status = "200 OK";
        let mut answer = String::new();
        if path == "/account" {
            body.lines().for_each(|line| shared.take(line));
        } else if path == "/" || path.starts_with("/?") {
            answer = tokio::fs::read_to_string(PAGE).await?;
        } else {
            status = "404 Not Found";
        }
        let head = format!(
            "HTTP/1.1 {status}\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: {}\r\n\r\n",
            answer.len()
        );
        stream.write_all((head + &answer).as_bytes()).await?;
    }
}

/// The head and body of the next request; `None` if the client disconnected.
async fn read_request(stream: &mut TcpStream, rest: &mut Vec<u8>) -> io::Result<Option<(String, String)>> {
    const END: &[u8] = b"\r\n\r\n";
    loop {
        let end = rest.windows(END.len()).position(|window| window == END);
        if let Some(end) = end {
            let head = String::from_utf8_lossy(rest.get(..end).unwrap_or_default()).into_owned();
            let length = head
                .lines()
                .filter_map(|line| line.split_once(':'))
                .find(|(name, _)| name.eq_ignore_ascii_case("content-length"))
                .and_then(|(_, value)| value.trim().parse::<usize>().ok())
                .unwrap_or(0);
            let start = end + END.len();
            if let Some(body) = rest.get(start..start.saturating_add(length)) {
                let body = String::from_utf8_lossy(body).into_owned();
                rest.drain(..start + length);
                return Ok(Some((head, body)));
            }
        }
        if rest.len() > REQUEST_MAX {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "request too large"));
        }
        if stream.read_buf(rest).await? == 0 {
            return Ok(None);
        }
    }
}
