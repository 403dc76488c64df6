//! Starts sessions: each in a process of its own, which this one does not hold. It goes on when the service ends.

use std::{
    fs, io,
    os::unix::fs::OpenOptionsExt as _,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::{Mutex, PoisonError},
    time::Duration,
};

use deskhand_runtime::{new_id, people::CONTROL_SOCKET, private};
use deskhand_ui::ids::SessionId;
use tokio::{process::Child, sync::Semaphore, task::JoinSet, time::timeout};

use super::{PageOptions, appears::appears, error::PageApiError};

/// The folder of the logs.
const LOGS: &str = "logs";
/// Maximum time for a session to begin: its desktop and its documents.
const BEGIN_BOUND: Duration = Duration::from_secs(180);
/// The message about a session that takes longer.
const TAKES_LONG: &str = "the session takes long to begin; it may still come";
/// Maximum length of the log's end that explains why a session did not begin, in bytes.
const LOG_TAIL: usize = 4_000;
/// The most sessions that begin at once.
const AT_ONCE: usize = 4;

/// Starts the program that runs sessions.
pub(crate) struct SessionLauncher {
    program: PathBuf,
    arguments: Vec<String>,
    folder: PathBuf,
    documents: PathBuf,
    sessions: PathBuf,
    starting: Semaphore,
    /// The programs that were started, and have perhaps not ended.
    running: Mutex<JoinSet<()>>,
}

impl SessionLauncher {
    pub(super) fn new(options: &PageOptions, sessions: PathBuf) -> Self {
        Self {
            program: options.program.clone(),
            arguments: options.arguments.clone(),
            folder: options.folder.clone(),
            documents: options.documents.clone(),
            sessions,
            starting: Semaphore::new(AT_ONCE),
            running: Mutex::default(),
        }
    }

    /// The folder of documents that were dropped into the page.
    pub(crate) fn documents(&self) -> &Path {
        &self.documents
    }

    /// A new folder in one of the service, which only its owner can read.
    ///
    /// # Errors
    /// It cannot be made.
    pub(crate) fn new_folder(&self, name: &str) -> io::Result<PathBuf> {
        let folder = self.folder.join(name).join(new_id().0);
        private::create_folders(&folder)?;
        Ok(folder)
    }

    /// Runs a command of the program for a session, and returns once the session runs. `own` are the arguments of this one.
    ///
    /// # Errors
    /// The program does not start, or ends before the session begins: the error has what it said.
    pub(crate) async fn start(
        &self,
        command: &str,
        own: &[String],
        session: &SessionId,
    ) -> Result<(), PageApiError> {
        let [folder, listens] = self.signs_of(session);
        self.start_until(command, own, &session.0, &[&folder, &listens]).await
    }

    /// Runs a command of the program, and returns once these files are there, one after the other. `id` is the name of its log.
    ///
    /// # Errors
    /// The program does not start, or ends before that: the error has what it said.
    pub(crate) async fn start_until(
        &self,
        command: &str,
        own: &[String],
        id: &str,
        files: &[&Path],
    ) -> Result<(), PageApiError> {
        self.await_files(self.command(command, own), id, files).await
    }

    async fn await_files(&self, command: Command, id: &str, files: &[&Path]) -> Result<(), PageApiError> {
        let failed = |error: &io::Error| PageApiError::failed("start the session", error);
        let _turn = self.starting.acquire().await;
        let log = self.log_of(id).map_err(|error| failed(&error))?;
        let mut child = spawn(command, &log).map_err(|error| {
            // Programs take no such argument.
            if error.kind() == io::ErrorKind::InvalidInput {
                PageApiError::conflict("a text has a NUL character")
            } else {
                failed(&error)
            }
        })?;
        let begun = timeout(BEGIN_BOUND, async {
            tokio::select! {
                appeared = all_appear(files) => appeared.map(|()| None),
                ended = child.wait() => ended.map(Some),
            }
        });
        match begun.await {
            Ok(Ok(None)) => {}
            Ok(Ok(Some(_))) => return Err(PageApiError::conflict(tail_of(&log))),
            Ok(Err(error)) => return Err(failed(&error)),
            // It may still come; the page shows it once it does.
            Err(_) => return Err(PageApiError::conflict(TAKES_LONG)),
        }
        self.leave(child);
        Ok(())
    }

    /// Runs a schedule now, and returns once its session runs.
    ///
    /// # Errors
    /// The program does not start, or ends before the session begins: the error has what it said.
    pub(crate) async fn start_schedule(&self, name: &str, session: &SessionId) -> Result<(), PageApiError> {
        let words = [format!("--as={}", session.0), name.to_owned()];
        let [folder, listens] = self.signs_of(session);
        self.await_files(self.schedule(&words), &session.0, &[&folder, &listens]).await
    }

    /// Begins a schedule that is due, and does not wait for it.
    ///
    /// # Errors
    /// The program does not start.
    pub(crate) fn begin_schedule(&self, name: &str, due_ms: u64) -> io::Result<()> {
        let log = self.log_of(&format!("schedule-{name}"))?;
        let child = spawn(self.schedule(&[format!("--due={due_ms}"), name.to_owned()]), &log)?;
        self.leave(child);
        Ok(())
    }

    /// Has a program waited for, so that nothing is left of it when it ends before the service.
    fn leave(&self, mut child: Child) {
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        while running.try_join_next().is_some() {}
        running.spawn(async move {
            child.wait().await.ok();
        });
    }

    /// Returns `true` if a program that was started with a command for a session runs, be it by a service before this one.
    pub(crate) fn runs(&self, command: &str, session: &SessionId) -> bool {
        let named = format!("--as={}", session.0);
        let is_it = |line: &[u8]| {
            let mut arguments = line.split(|byte| *byte == 0).skip(1);
            arguments.next() == Some(command.as_bytes())
                && arguments.any(|one| one == named.as_bytes() || one == session.0.as_bytes())
        };
        let processes = fs::read_dir("/proc").into_iter().flatten().filter_map(Result::ok);
        let lines = processes.filter_map(|process| fs::read(process.path().join("cmdline")).ok());
        lines.into_iter().any(|line| is_it(&line))
    }

    /// Waits until a session that was started runs.
    ///
    /// # Errors
    /// It does not within the time that one may take.
    pub(crate) async fn begun(&self, session: &SessionId) -> Result<(), PageApiError> {
        let [folder, listens] = self.signs_of(session);
        let begun = timeout(BEGIN_BOUND, all_appear(&[&folder, &listens])).await;
        let begun = begun.map_err(|_| PageApiError::conflict(TAKES_LONG))?;
        begun.map_err(|error| PageApiError::failed("start the session", &error))
    }

    /// The files whose appearance says that a session has begun.
    fn signs_of(&self, session: &SessionId) -> [PathBuf; 2] {
        let folder = self.sessions.join(&session.0);
        let listens = folder.join(CONTROL_SOCKET);
        [folder, listens]
    }

    fn command(&self, name: &str, own: &[String]) -> Command {
        let mut command = Command::new(&self.program);
        command.arg(name).args(&self.arguments).args(own).env("DESKHAND__PEOPLE__CHANNEL", "socket");
        command.current_dir(&self.folder);
        command
    }

    fn schedule(&self, own: &[String]) -> Command {
        let mut command = Command::new(&self.program);
        command.args(["schedule", "--state-dir"]).arg(&self.sessions).arg("run").args(own);
        command.current_dir(&self.folder);
        command
    }

    fn log_of(&self, id: &str) -> io::Result<PathBuf> {
        let folder = self.folder.join(LOGS);
        fs::create_dir_all(&folder)?;
        Ok(folder.join(format!("{id}.log")))
    }
}

/// Starts a program whose output goes to a log.
fn spawn(mut command: Command, log: &Path) -> io::Result<Child> {
    let output = fs::OpenOptions::new().create(true).append(true).mode(0o600).open(log)?;
    command.stdin(Stdio::null()).stdout(output.try_clone()?).stderr(output);
    tokio::process::Command::from(command).kill_on_drop(false).spawn()
}

/// Waits until files are there, in this order. The folder of the first one is made.
async fn all_appear(files: &[&Path]) -> io::Result<()> {
    for (number, file) in files.iter().enumerate() {
        let (Some(folder), Some(name)) = (file.parent(), file.file_name()) else { continue };
        if number == 0 {
            private::create_folders(folder)?;
        }
        appears(folder, &name.to_string_lossy()).await?;
    }
    Ok(())
}

/// The end of a log.
fn tail_of(log: &Path) -> String {
    let text = fs::read(log).unwrap_or_default();
    let tail = text.get(text.len().saturating_sub(LOG_TAIL)..).unwrap_or(&text);
    let text = String::from_utf8_lossy(tail);
    let text = text.trim().trim_start_matches("error: ").to_owned();
    if text.is_empty() { "the session ended before it began, and said nothing".to_owned() } else { text }
}
