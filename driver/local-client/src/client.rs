//! The program as a client sees it: started when it is first called, shared by all who call it, and ended with the last of them.

use std::{
    collections::HashMap,
    io::{self, BufReader},
    path::{Path, PathBuf},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError, Weak,
        atomic::{AtomicU64, Ordering},
        mpsc::{self, Receiver, Sender},
    },
    thread,
};

use crate::protocol::{self, ClientMessage, Hello, LocalOutput, LocalRequest, LocalResponse};

/// The name of the program.
pub const NAME: &str = "deskhand-local";

/// Work that the program did not do.
#[derive(Debug, thiserror::Error)]
pub enum LocalCallError {
    /// The program is not installed.
    #[error("`{NAME}` is not installed; install it with `cargo xtask setup --with local`")]
    Missing,
    /// The program cannot be started.
    #[error("cannot start {}: {source}", program.display())]
    Start {
        /// The program.
        program: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// The program belongs to another version of Deskhand.
    #[error(
        "{} has the version {version}, and Deskhand has {}; install it again with `cargo xtask setup --with local`",
        program.display(),
        env!("CARGO_PKG_VERSION")
    )]
    Version {
        /// The program.
        program: PathBuf,
        /// Its version.
        version: String,
    },
    /// The program ended before it answered.
    #[error("`{NAME}` ended before it answered")]
    Ended,
    /// The program reports why it cannot do the work.
    #[error("{0}")]
    Refused(String),
}

/// The program, which runs from its first call until this is dropped. After it has ended by itself, the next call starts it again.
#[derive(Debug)]
pub struct LocalProgram {
    path: Option<PathBuf>,
    running: Mutex<Option<Arc<ProgramProcess>>>,
}

impl LocalProgram {
    /// The program at a path; without one, calls fail with [`LocalCallError::Missing`]. All who use the same path at the same time share it.
    pub fn shared(path: Option<&Path>) -> Arc<Self> {
        static PROGRAMS: Mutex<Option<HashMap<PathBuf, Weak<LocalProgram>>>> = Mutex::new(None);
        let new = || Arc::new(Self { path: path.map(Path::to_owned), running: Mutex::default() });
        let Some(path) = path else { return new() };
        let mut programs = locked(&PROGRAMS);
        let programs = programs.get_or_insert_default();
        programs.retain(|_, program| program.strong_count() > 0);
        if let Some(program) = programs.get(path).and_then(Weak::upgrade) {
            return program;
        }
        let program = new();
        programs.insert(path.to_owned(), Arc::downgrade(&program));
        program
    }

    /// Begins a call. Blocking until the program has started and the picture of the call is written.
    ///
    /// # Errors
    /// The program is missing, cannot be started, or ends.
    pub fn call(&self, request: LocalRequest, picture: &[u8]) -> Result<LocalCall, LocalCallError> {
        let running = self.running()?;
        running.call(request, picture)
    }

    fn running(&self) -> Result<Arc<ProgramProcess>, LocalCallError> {
        let path = self.path.as_deref().ok_or(LocalCallError::Missing)?;
        let mut running = locked(&self.running);
        if let Some(running) = running.as_ref().filter(|running| !running.has_ended()) {
            return Ok(Arc::clone(running));
        }
        let started = ProgramProcess::start(path)?;
        *running = Some(Arc::clone(&started));
        Ok(started)
    }
}

/// The receivers of answers, by the number of their call; `None` once the program has ended.
type PendingCalls = Mutex<Option<HashMap<u64, Sender<Result<LocalOutput, String>>>>>;

/// A process of the program. It ends when its input is closed, and with it this value.
#[derive(Debug)]
struct ProgramProcess {
    input: Mutex<ChildStdin>,
    waiting: Arc<PendingCalls>,
    next: AtomicU64,
}

impl ProgramProcess {
    fn start(program: &Path) -> Result<Arc<Self>, LocalCallError> {
        let failed = |source: io::Error| LocalCallError::Start { program: program.to_owned(), source };
        let mut command = Command::new(program);
        // Nothing in the environment is for it.
        command.env_clear().stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().map_err(failed)?;
        match greeted(&mut child, program) {
            Ok((input, output)) => {
                let waiting = Arc::new(Mutex::new(Some(HashMap::new())));
                let answered = Arc::clone(&waiting);
                let read = move || {
                    pass_on(output, &answered);
                    // Who waits gets an error.
                    *locked(&answered) = None;
                    let _ = child.wait();
                };
                thread::Builder::new().name(NAME.to_owned()).spawn(read).map_err(failed)?;
                Ok(Arc::new(Self { input: Mutex::new(input), waiting, next: AtomicU64::new(1) }))
            }
            Err(error) => {
                let _ = child.kill();
                let _ = child.wait();
                Err(error)
            }
        }
    }

    fn has_ended(&self) -> bool {
        locked(&self.waiting).is_none()
    }

    fn call(self: Arc<Self>, request: LocalRequest, picture: &[u8]) -> Result<LocalCall, LocalCallError> {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let (sender, answer) = mpsc::channel();
        locked(&self.waiting).as_mut().ok_or(LocalCallError::Ended)?.insert(id, sender);
        let message = ClientMessage::Call { id, request, picture_bytes: picture.len() };
        let written = protocol::write(&mut *locked(&self.input), &message, picture);
        written.map_err(|_| LocalCallError::Ended)?;
        Ok(LocalCall { id, answer, running: self })
    }
}

/// Reads the first line of a program that has just started.
fn greeted(
    child: &mut Child,
    program: &Path,
) -> Result<(ChildStdin, BufReader<ChildStdout>), LocalCallError> {
    let failed = |source: io::Error| LocalCallError::Start { program: program.to_owned(), source };
    let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
        return Err(failed(io::ErrorKind::BrokenPipe.into()));
    };
    let mut output = BufReader::new(output);
    let hello = protocol::read::<Hello>(&mut output).map_err(failed)?;
    let Hello { version } = hello.ok_or_else(|| failed(io::ErrorKind::UnexpectedEof.into()))?;
    if version == env!("CARGO_PKG_VERSION") {
        Ok((input, output))
    } else {
        Err(LocalCallError::Version { program: program.to_owned(), version })
    }
}

/// Passes answers on until the program ends.
fn pass_on(mut output: BufReader<ChildStdout>, waiting: &PendingCalls) {
    while let Ok(Some(LocalResponse { id, result })) = protocol::read(&mut output) {
        let caller = locked(waiting).as_mut().and_then(|waiting| waiting.remove(&id));
        if let Some(caller) = caller {
            // It may wait no more.
            let _ = caller.send(result);
        }
    }
}

/// A call that was begun.
#[derive(Debug)]
pub struct LocalCall {
    id: u64,
    answer: Receiver<Result<LocalOutput, String>>,
    running: Arc<ProgramProcess>,
}

impl LocalCall {
    /// Stops the work of this call when it is dropped.
    #[must_use]
    pub fn stop_on_drop(&self) -> CancelOnDrop {
        CancelOnDrop { id: self.id, running: Arc::clone(&self.running) }
    }

    /// Waits for the answer. Blocking.
    ///
    /// # Errors
    /// The program cannot do the work, or ends.
    pub fn wait(self) -> Result<LocalOutput, LocalCallError> {
        self.answer.recv().map_err(|_| LocalCallError::Ended)?.map_err(LocalCallError::Refused)
    }
}

/// Tells the program, when it is dropped, that nobody waits for a call.
#[derive(Debug)]
pub struct CancelOnDrop {
    id: u64,
    running: Arc<ProgramProcess>,
}

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        let answered =
            !locked(&self.running.waiting).as_ref().is_some_and(|calls| calls.contains_key(&self.id));
        // While another call is being written, this one goes on for nothing rather than to block here.
        if let (false, Ok(mut input)) = (answered, self.running.input.try_lock()) {
            // A program that has ended has stopped.
            let _ = protocol::write(&mut *input, &ClientMessage::Stop { id: self.id }, &[]);
        }
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
