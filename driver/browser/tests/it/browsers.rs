//! Starts a screen and a browser, and calls it as clients do.

use std::{
    ffi::OsString,
    fs, io,
    path::{Path, PathBuf},
    process::Stdio,
    time::Duration,
};

use deskhand_browser::{BrowserLaunchOptions, BrowserProtocol, PROTOCOL_ARGUMENT, hold};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader},
    net::{
        UnixStream,
        unix::{OwnedReadHalf, OwnedWriteHalf},
    },
    process::{Child, Command},
    task::JoinSet,
    time::{Instant, timeout},
};
use x11rb::{
    connection::Connection as _,
    protocol::{
        xproto::{BUTTON_PRESS_EVENT, BUTTON_RELEASE_EVENT, MOTION_NOTIFY_EVENT},
        xtest::ConnectionExt as _,
    },
    rust_connection::RustConnection,
};

/// How long anything may take: several tests run on few processors.
pub(crate) const BOUND: Duration = Duration::from_secs(90);
/// How often something without an event is asked again.
const AGAIN: Duration = Duration::from_millis(50);

/// A virtual screen, a folder and a running browser.
pub(crate) struct Running {
    pub(crate) display: String,
    pub(crate) folder: TempDir,
    pub(crate) held: JoinSet<io::Result<u8>>,
    _screen: Child,
    _bus: Option<Child>,
}

impl Running {
    /// Starts a browser that shows a page, and waits until the page can be read.
    pub(crate) async fn start(engine: BrowserProtocol, url: &str) -> Self {
        let mut running = Self::prepared(engine).await;
        running.held.spawn(hold(running.hold(engine, url)));
        running.until_shown(url).await;
        running
    }

    /// A screen and a folder without a browser.
    pub(crate) async fn prepared(engine: BrowserProtocol) -> Self {
        let mut screen = Command::new("Xvfb")
            .args(["-displayfd", "1", "-screen", "0", "1280x900x24", "-nolisten", "tcp"])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let mut number = String::new();
        BufReader::new(screen.stdout.take().unwrap()).read_line(&mut number).await.unwrap();
        let display = format!(":{}", number.trim());
        let folder = tempfile::tempdir().unwrap();
        prepare(engine, folder.path());
        let bus = match engine {
            BrowserProtocol::Chromium => None,
            BrowserProtocol::Firefox => Some(bus(folder.path()).await),
        };
        Self { display, folder, held: JoinSet::new(), _screen: screen, _bus: bus }
    }

    /// Waits until an address is shown.
    pub(crate) async fn until_shown(&self, url: &str) {
        let wanted = url.to_owned();
        self.until("tabs", "", move |tabs| {
            tabs.as_array().is_some_and(|tabs| tabs.iter().any(|tab| tab["url"] == wanted))
        })
        .await;
    }

    pub(crate) fn hold(&self, engine: BrowserProtocol, url: &str) -> BrowserLaunchOptions {
        described(engine, self.folder.path(), &self.display, url)
    }

    pub(crate) fn socket(&self) -> PathBuf {
        self.folder.path().join("socket")
    }

    pub(crate) async fn client(&self) -> Client {
        let start = Instant::now();
        loop {
            match UnixStream::connect(self.socket()).await {
                Ok(stream) => {
                    let (reading, writing) = stream.into_split();
                    return Client { reading: BufReader::new(reading), writing, calls: 0 };
                }
                Err(error) => assert!(start.elapsed() < BOUND, "{error}"),
            }
            tokio::time::sleep(AGAIN).await;
        }
    }

    /// Makes one call on the page of a title; returns the whole answer.
    pub(crate) async fn call(&self, title: &str, tool: &str, arguments: Value) -> Value {
        self.client().await.call(title, tool, arguments).await
    }

    /// Makes one call that succeeds.
    pub(crate) async fn ok(&self, title: &str, tool: &str, arguments: Value) -> Value {
        let answer = self.call(title, tool, arguments).await;
        assert!(answer["error"].is_null(), "{tool}: {answer}");
        answer["ok"].clone()
    }

    /// The kind and message of a call that fails.
    pub(crate) async fn refused(&self, title: &str, tool: &str, arguments: Value) -> (String, String) {
        let answer = self.call(title, tool, arguments).await;
        let text =
            |name: &str| answer["error"][name].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned();
        (text("kind"), text("message"))
    }

    /// Repeats a call until its output is as wanted.
    pub(crate) async fn until(&self, tool: &str, title: &str, wanted: impl Fn(&Value) -> bool) -> Value {
        let start = Instant::now();
        loop {
            let answer = self.call(title, tool, json!({})).await;
            if wanted(&answer["ok"]["output"]) {
                return answer["ok"].clone();
            }
            assert!(start.elapsed() < BOUND, "{tool}: {answer}");
            tokio::time::sleep(AGAIN).await;
        }
    }

    /// Opens an address in the page of a title.
    pub(crate) async fn open(&self, title: &str, url: &str) -> Value {
        self.ok(title, "open_url", json!({"url": url})).await
    }

    /// Ends the browser and waits for its holder.
    pub(crate) async fn end(mut self) {
        self.held.shutdown().await;
    }
}

pub(crate) struct Client {
    reading: BufReader<OwnedReadHalf>,
    pub(crate) writing: OwnedWriteHalf,
    calls: u64,
}

impl Client {
    pub(crate) async fn call(&mut self, title: &str, tool: &str, arguments: Value) -> Value {
        self.calls += 1;
        let window = json!({"xid": 0, "title": format!("{title} - Chromium")});
        let request = json!({"id": self.calls, "window": window, "tool": tool, "arguments": arguments});
        let answer = self.line(&request.to_string()).await;
        assert_eq!(answer["id"], self.calls, "{answer}");
        answer
    }

    /// Sends a line and reads the answer.
    pub(crate) async fn line(&mut self, line: &str) -> Value {
        self.writing.write_all(format!("{line}\n").as_bytes()).await.unwrap();
        let mut answer = String::new();
        timeout(BOUND, self.reading.read_line(&mut answer)).await.expect("the call is bounded").unwrap();
        serde_json::from_str(&answer).unwrap_or_else(|error| panic!("{error}: {answer:?}"))
    }
}

/// Firefox hands an address over to the one that runs by the session bus. This bus starts no services.
async fn bus(folder: &Path) -> Child {
    let address = format!("unix:path={}", folder.join("bus").display());
    let configuration = format!(
        "<busconfig><listen>{address}</listen><auth>EXTERNAL</auth><policy context='default'>\
         <allow send_destination='*' eavesdrop='true'/><allow eavesdrop='true'/><allow own='*'/></policy></busconfig>"
    );
    fs::write(folder.join("bus.conf"), configuration).unwrap();
    let mut bus = Command::new("dbus-daemon")
        .args(["--nofork", "--print-address=1", "--config-file"])
        .arg(folder.join("bus.conf"))
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let mut address = String::new();
    BufReader::new(bus.stdout.take().unwrap()).read_line(&mut address).await.unwrap();
    bus
}

/// Presses the first button of the mouse at a place of the screen.
pub(crate) fn click(display: &str, (x, y): (i16, i16)) {
    let (connection, screen) = RustConnection::connect(Some(display)).unwrap();
    let root = connection.setup().roots[screen].root;
    for (event, detail) in [(MOTION_NOTIFY_EVENT, 0), (BUTTON_PRESS_EVENT, 1), (BUTTON_RELEASE_EVENT, 1)] {
        connection.xtest_fake_input(event, detail, 0, root, x, y, 0).unwrap().check().unwrap();
    }
}

fn prepare(engine: BrowserProtocol, folder: &Path) {
    fs::create_dir_all(folder.join("home")).unwrap();
    fs::create_dir_all(folder.join("downloads")).unwrap();
    let downloads = folder.join("downloads");
    match engine {
        BrowserProtocol::Chromium => {
            fs::create_dir_all(folder.join("profile/Default")).unwrap();
            let preferences =
                json!({"download": {"default_directory": downloads, "prompt_for_download": false}});
            fs::write(folder.join("profile/Default/Preferences"), preferences.to_string()).unwrap();
        }
        BrowserProtocol::Firefox => {
            fs::create_dir_all(folder.join("profile")).unwrap();
            let preferences = [
                ("remote.active-protocols", json!(1)),
                ("remote.prefs.recommended", json!(false)),
                ("dom.successive_dialog_time_limit", json!(0)),
                ("browser.download.folderList", json!(2)),
                ("browser.download.dir", json!(downloads)),
                ("browser.download.useDownloadDir", json!(true)),
                ("browser.aboutwelcome.enabled", json!(false)),
                ("datareporting.policy.dataSubmissionPolicyBypassNotification", json!(true)),
                ("app.normandy.enabled", json!(false)),
                ("browser.shell.checkDefaultBrowser", json!(false)),
            ];
            let lines: String =
                preferences.iter().map(|(name, value)| format!("user_pref({name:?}, {value});\n")).collect();
            fs::write(folder.join("profile/user.js"), lines).unwrap();
        }
    }
}

pub(crate) fn described(
    engine: BrowserProtocol,
    folder: &Path,
    display: &str,
    url: &str,
) -> BrowserLaunchOptions {
    let profile = folder.join("profile");
    let mut arguments: Vec<OsString> =
        vec![format!("DISPLAY={display}").into(), format!("HOME={}", folder.join("home").display()).into()];
    let bus = folder.join("bus");
    arguments.push(format!("DBUS_SESSION_BUS_ADDRESS=unix:path={}", bus.display()).into());
    match engine {
        BrowserProtocol::Chromium => {
            arguments.extend(
                ["chromium", "--no-sandbox", "--no-first-run", "--password-store=basic", "--disable-gpu"]
                    .map(Into::into),
            );
            arguments.push(format!("--user-data-dir={}", profile.display()).into());
        }
        BrowserProtocol::Firefox => {
            arguments.extend(["firefox".into(), "--profile".into(), profile.clone().into()]);
        }
    }
    arguments.extend([PROTOCOL_ARGUMENT, url].map(Into::into));
    // The environment of a test cannot be changed, so another program sets it.
    BrowserLaunchOptions {
        confined: true,
        engine,
        socket: folder.join("socket"),
        profile,
        program: "/usr/bin/env".into(),
        arguments,
    }
}
