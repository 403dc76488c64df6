//! Starts browsers, and ends them.

use std::{
    fs, io,
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::TcpStream,
    os::unix::process::CommandExt as _,
    process::{Child, Command, Stdio},
    thread,
};

use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::BOUND;
use crate::support::has_programs;

/// Which browser it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Chromium,
    Firefox,
}

impl Kind {
    /// Returns `true` if it is installed, with what drives it, and a virtual desktop with these programs can be started; required where all tests
    /// must run.
    pub(crate) fn has_programs(self, programs: &[&str]) -> bool {
        let own: &[&str] = match self {
            Self::Chromium => &["chromium", "chromedriver"],
            Self::Firefox => &["firefox-esr"],
        };
        has_programs(&[own, programs].concat())
    }
}

/// Settings of Firefox without which it opens pages of its own.
const PREFERENCES: &str = r#"
user_pref("browser.aboutwelcome.enabled", false);
user_pref("browser.shell.checkDefaultBrowser", false);
user_pref("datareporting.policy.dataSubmissionEnabled", false);
"#;

/// A browser, or the driver that has started one, in a process group of its own.
pub(super) struct Started {
    child: Child,
    profile: TempDir,
    /// The address of the driver, and the session that it has started.
    driven: Option<(String, String)>,
}

impl Started {
    /// Starts it; returns the address of its WebSocket as well.
    pub(super) fn start(kind: Kind) -> (Self, String) {
        let profile = tempfile::tempdir().unwrap();
        match kind {
            Kind::Firefox => Self::firefox(profile),
            Kind::Chromium => Self::chromium(profile),
        }
    }

    fn firefox(profile: TempDir) -> (Self, String) {
        fs::write(profile.path().join("user.js"), PREFERENCES).unwrap();
        let mut command = Command::new("firefox-esr");
        command.args(["--headless", "--no-remote", "--remote-debugging-port", "0", "--profile"]);
        command.arg(profile.path()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = spawn(command, &profile);
        let announced = first_line(child.stderr.take().unwrap(), "WebDriver BiDi listening on ");
        (Self { child, profile, driven: None }, format!("{announced}/session"))
    }

    fn chromium(profile: TempDir) -> (Self, String) {
        let mut command = Command::new("chromedriver");
        command.arg("--port=0").stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = spawn(command, &profile);
        let announced =
            first_line(child.stdout.take().unwrap(), "ChromeDriver was started successfully on port ");
        let driver = format!("127.0.0.1:{}", announced.trim_end_matches('.'));
        // Without a sandbox: tests may run as root, in a container.
        let arguments = [
            "--headless=new".to_owned(),
            "--no-sandbox".to_owned(),
            "--disable-dev-shm-usage".to_owned(),
            format!("--user-data-dir={}", profile.path().join("profile").display()),
        ];
        let wanted = json!({"webSocketUrl": true, "goog:chromeOptions": {"args": arguments}});
        let capabilities = json!({"capabilities": {"alwaysMatch": wanted}});
        let answer = drives(&driver, "POST /session", &capabilities.to_string()).unwrap();
        let answer: Value = serde_json::from_str(&answer).unwrap();
        let value = &answer["value"];
        let socket = value["capabilities"]["webSocketUrl"].as_str();
        let socket = socket.unwrap_or_else(|| panic!("no session of Chromium: {answer}")).to_owned();
        let session = value["sessionId"].as_str().unwrap().to_owned();
        (Self { child, profile, driven: Some((driver, session)) }, socket)
    }
}

fn spawn(mut command: Command, home: &TempDir) -> Child {
    command.stdin(Stdio::null()).process_group(0).env("HOME", home.path()).current_dir(home.path());
    for name in ["DISPLAY", "WAYLAND_DISPLAY", "DBUS_SESSION_BUS_ADDRESS", "XDG_RUNTIME_DIR"] {
        command.env_remove(name);
    }
    command.spawn().unwrap()
}

/// What follows a text in the first line that has it. The rest is read away, so that the program is never held up.
fn first_line(output: impl std::io::Read + Send + 'static, begin: &str) -> String {
    let mut lines = BufReader::new(output).lines();
    let mut seen = Vec::new();
    let found = loop {
        let line = lines.next().unwrap_or_else(|| panic!("it ended: {seen:#?}")).unwrap();
        if let Some((_, found)) = line.split_once(begin) {
            break found.trim().to_owned();
        }
        seen.push(line);
    };
    thread::spawn(move || lines.for_each(drop));
    found
}

/// A request to the driver. It does not close the connection after its answer.
fn drives(driver: &str, line: &str, body: &str) -> io::Result<String> {
    let mut stream = TcpStream::connect(driver)?;
    stream.set_read_timeout(Some(BOUND))?;
    write!(stream, "{line} HTTP/1.1\r\nHost: {driver}\r\nContent-Length: {}\r\n\r\n{body}", body.len())?;
    let mut reader = BufReader::new(stream);
    let mut length = 0;
    loop {
        let mut header = String::new();
        reader.read_line(&mut header)?;
        if let Some(value) = header.to_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
        if header.trim().is_empty() {
            break;
        }
    }
    let mut answer = vec![0; length];
    reader.read_exact(&mut answer)?;
    Ok(String::from_utf8(answer).unwrap())
}

impl Drop for Started {
    fn drop(&mut self) {
        if let Some((driver, session)) = &self.driven {
            drives(driver, &format!("DELETE /session/{session}"), "").ok();
        }
        if let Some(group) = Pid::from_raw(i32::try_from(self.child.id()).unwrap_or_default()) {
            kill_process_group(group, Signal::KILL).ok();
        }
        self.child.wait().ok();
        // Helpers of a browser leave its process group; its profile stands in their command lines.
        let profile = self.profile.path().display().to_string();
        let entries = fs::read_dir("/proc").into_iter().flatten().filter_map(Result::ok);
        for entry in entries {
            let line = fs::read_to_string(entry.path().join("cmdline")).unwrap_or_default();
            let pid = entry.file_name().to_str().and_then(|name| name.parse().ok()).and_then(Pid::from_raw);
            if let Some(pid) = pid
                && line.contains(&profile)
            {
                kill_process(pid, Signal::KILL).ok();
            }
        }
    }
}
