//! What the user has running beside the session: the page, a worker of a fleet. Each ends when it is dropped.

use std::{
    collections::BTreeMap,
    process::Stdio,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use regex::Regex;
use tokio::{
    io::{AsyncBufReadExt as _, AsyncRead, BufReader},
    process::{Child, Command},
    sync::Notify,
    task::JoinSet,
};

use super::Failure;

/// The longest that one may take until it is ready.
const READY_MAX: Duration = Duration::from_secs(40);

/// A command that runs.
pub(crate) struct Companion {
    child: Child,
    said: Arc<Printout>,
    _reading: JoinSet<()>,
}

/// What it has printed.
#[derive(Default)]
struct Printout {
    text: Mutex<String>,
    more: Notify,
}

impl Printout {
    fn text(&self) -> String {
        self.text.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    async fn read(self: Arc<Self>, source: impl AsyncRead + Unpin) {
        let mut lines = BufReader::new(source).lines();
        while let Ok(Some(line)) = lines.next_line().await {
            let mut text = self.text.lock().unwrap_or_else(PoisonError::into_inner);
            text.push_str(&line);
            text.push('\n');
            drop(text);
            self.more.notify_one();
        }
        self.more.notify_one();
    }
}

impl Companion {
    /// Starts a command, and waits until it says what it says once it is ready. Returns the groups of that pattern, too.
    pub(crate) async fn start(
        mut command: Command,
        says: &str,
    ) -> Result<(Self, BTreeMap<String, String>), Failure> {
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
        let mut child = command.spawn()?;
        let said = Arc::<Printout>::default();
        let mut reading = JoinSet::new();
        if let (Some(out), Some(error)) = (child.stdout.take(), child.stderr.take()) {
            reading.spawn(Arc::clone(&said).read(out));
            reading.spawn(Arc::clone(&said).read(error));
        }
        let ready = Regex::new(says)?;
        let running = Self { child, said, _reading: reading };
        let waited = tokio::time::timeout(READY_MAX, async {
            loop {
                let text = running.said.text();
                if let Some(found) = ready.captures(&text) {
                    let names = ready.capture_names().flatten();
                    let values = names
                        .filter_map(|name| Some((name.to_owned(), found.name(name)?.as_str().to_owned())));
                    return values.collect();
                }
                running.said.more.notified().await;
            }
        })
        .await;
        match waited {
            Ok(values) => Ok((running, values)),
            Err(_) => Err(format!("it is not ready ({says}): {}", running.said.text()).into()),
        }
    }

    /// What it has printed, for people.
    pub(crate) fn said(&self) -> String {
        self.said.text()
    }
}

impl Drop for Companion {
    fn drop(&mut self) {
        let pid = self.child.id().and_then(|id| i32::try_from(id).ok());
        if let Some(pid) = pid.and_then(rustix::process::Pid::from_raw) {
            // It ends what it has started; if it does not, it is killed.
            let _ = rustix::process::kill_process(pid, rustix::process::Signal::TERM);
            super::wait_until(|| !matches!(self.child.try_wait(), Ok(None)));
        }
    }
}
