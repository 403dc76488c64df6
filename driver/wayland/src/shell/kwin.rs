//! The windows of KWin. Its scripts know them; a script calls back over the session bus what it has found.

use std::{
    path::PathBuf,
    sync::atomic::{AtomicU32, Ordering},
    time::Duration,
};

use deskhand_desktop::{DesktopError, DesktopResult};
use tokio::{
    sync::mpsc::{Receiver, Sender, channel},
    time::timeout,
};
use zbus::{Connection, interface};

use crate::events::{CompositorEvent, Sink};

pub(crate) const SERVICE: &str = "org.kde.KWin";
const SCRIPTING: &str = "/Scripting";
const SCRIPTS: &str = "org.kde.kwin.Scripting";
const SCRIPT: &str = "org.kde.kwin.Script";
/// Object path that scripts call.
const PATH: &str = "/org/deskhand/Windows";
/// Maximum time for KWin to run a script.
const BOUND: Duration = Duration::from_secs(4);
/// The most answers that wait. One script is asked at a time, so more than one is late, or is from somebody else on the bus.
const ANSWERS_MAX: usize = 8;

/// The common start of all scripts, and the scripts that list and follow windows.
const COMMON: &str = include_str!("kwin/common.js");
const LIST: &str = "reply(JSON.stringify(windows().map(listed)));";
const FOLLOW: &str = include_str!("kwin/follow.js");

/// The number of the last script of this process.
static LAST: AtomicU32 = AtomicU32::new(0);

/// The interface that scripts call.
struct KWinCallbackService {
    answers: Sender<(String, String)>,
    sink: Sink,
}

#[interface(name = "org.deskhand.Windows")]
impl KWinCallbackService {
    /// A script has an answer.
    fn answer(&self, number: &str, text: String) {
        if let Err(error) = self.answers.try_send((number.to_owned(), text)) {
            // Too many wait that nobody asked for, or the connection ends. Who waits for this one gets a timeout.
            tracing::debug!(number, %error, "an answer of KWin is dropped");
        }
    }

    /// Something changed.
    fn changed(&self) {
        (self.sink)(CompositorEvent::WindowsChanged);
    }
}

/// KWin, asked by scripts.
pub(super) struct KWin {
    bus: Connection,
    answers: tokio::sync::Mutex<Receiver<(String, String)>>,
    /// The script that follows the windows.
    follow: String,
}

impl KWin {
    pub(super) async fn open(bus: &Connection, sink: &Sink) -> DesktopResult<Self> {
        let failed = |error: zbus::Error| DesktopError::failed("follow the windows of KWin", error);
        let (sender, answers) = channel(ANSWERS_MAX);
        let object = KWinCallbackService { answers: sender, sink: sink.clone() };
        bus.object_server().at(PATH, object).await.map_err(failed)?;
        let number = LAST.fetch_add(1, Ordering::Relaxed);
        let follow = load(bus, number, FOLLOW).await?;
        Ok(Self { bus: bus.clone(), answers: tokio::sync::Mutex::new(answers), follow })
    }

    /// Runs a script and returns what it answers.
    async fn ask(&self, operation: &'static str, script: &str) -> DesktopResult<String> {
        let number = LAST.fetch_add(1, Ordering::Relaxed);
        let mut answers = self.answers.lock().await;
        // Those that came too late for who asked leave room for this one.
        while answers.try_recv().is_ok() {}
        let name = load(&self.bus, number, script).await?;
        let answer = async {
            loop {
                match answers.recv().await {
                    Some((known, text)) if known == number.to_string() => return Some(text),
                    // One that came too late.
                    Some(_) => {}
                    None => return None,
                }
            }
        };
        let answer = timeout(BOUND, answer).await;
        unload(&self.bus, &name).await;
        match answer {
            Ok(Some(text)) => Ok(text),
            Ok(None) | Err(_) => Err(DesktopError::failed(operation, "KWin did not run the script for it")),
        }
    }

    /// Ends following the windows.
    pub(super) async fn end(&self) {
        unload(&self.bus, &self.follow).await;
    }

    pub(super) async fn list(&self) -> DesktopResult<String> {
        self.ask("list the windows", LIST).await
    }

    pub(super) async fn change(
        &self,
        operation: &'static str,
        what: &'static str,
        id: &str,
    ) -> DesktopResult<bool> {
        let id = serde_json::Value::from(id);
        let script = format!("reply(String(change({id}, \"{what}\")));");
        Ok(self.ask(operation, &script).await? == "true")
    }
}

/// Loads a script and runs it; returns its name.
async fn load(bus: &Connection, number: u32, script: &str) -> DesktopResult<String> {
    const OPERATION: &str = "run a script in KWin";
    let failed = |error: zbus::Error| DesktopError::failed(OPERATION, error);
    let us = bus.unique_name().map(ToString::to_string).unwrap_or_default();
    let text = format!("var SERVICE = \"{us}\", PATH = \"{PATH}\", NUMBER = {number};\n{COMMON}\n{script}\n");
    let name = format!("deskhand-{}-{number}", std::process::id());
    let file = folder().join(format!("{name}.js"));
    write(&file, &text).map_err(|error| DesktopError::failed(OPERATION, error))?;
    let run = async {
        let path = file.to_string_lossy().into_owned();
        let loaded = bus
            .call_method(Some(SERVICE), SCRIPTING, Some(SCRIPTS), "loadScript", &(path, name.as_str()))
            .await?;
        let id: i32 = loaded.body().deserialize()?;
        // Where Plasma 6 has it, then where Plasma 5 has it.
        let run = async |path: String| {
            bus.call_method(Some(SERVICE), path.as_str(), Some(SCRIPT), "run", &()).await.map(drop)
        };
        match run(format!("{SCRIPTING}/Script{id}")).await {
            Ok(()) => Ok(()),
            Err(_) => run(format!("/{id}")).await,
        }
    };
    let ran = timeout(BOUND, run).await;
    std::fs::remove_file(&file).ok();
    match ran {
        Ok(ran) => ran.map_err(failed)?,
        Err(_) => return Err(DesktopError::failed(OPERATION, "KWin did not answer")),
    }
    Ok(name)
}

async fn unload(bus: &Connection, name: &str) {
    let body = (name,);
    let call = bus.call_method(Some(SERVICE), SCRIPTING, Some(SCRIPTS), "unloadScript", &body);
    if !matches!(timeout(BOUND, call).await, Ok(Ok(_))) {
        tracing::debug!(name, "a script is not unloaded");
    }
}

/// Returns the folder in which scripts are written for KWin to read: a private folder of the user.
fn folder() -> PathBuf {
    std::env::var_os("XDG_RUNTIME_DIR").map_or_else(std::env::temp_dir, PathBuf::from)
}

/// Writes a file that did not exist, for its owner alone.
fn write(file: &std::path::Path, text: &str) -> std::io::Result<()> {
    use std::{io::Write as _, os::unix::fs::OpenOptionsExt as _};
    let mut new = std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(file)?;
    new.write_all(text.as_bytes())
}

/// Returns `true` if KWin runs scripts.
pub(super) async fn is_there(bus: &Connection) -> bool {
    let body = ("deskhand",);
    let call = bus.call_method(Some(SERVICE), SCRIPTING, Some(SCRIPTS), "isScriptLoaded", &body);
    matches!(timeout(BOUND, call).await, Ok(Ok(_)))
}
