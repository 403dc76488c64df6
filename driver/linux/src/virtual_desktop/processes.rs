//! Programs, and the promise that none of them stays behind.
//!
//! Each program is started and awaited by a thread of its own, so that it can be told to end when that thread
//! does: `setpriv --pdeathsig` asks it to end even if we are killed. Programs, and what they start in turn, are found by a mark in
//! their environment, by their parents and by a list, by a [`Guard`]: closing, dropping and being killed all take that one way.

use std::{
    collections::HashMap,
    ffi::{OsStr, OsString},
    fs::File,
    io::{self, Read as _, Seek as _, SeekFrom, Write as _},
    os::unix::{fs::OpenOptionsExt as _, process::CommandExt},
    path::{Path, PathBuf},
    process::{Child, ChildStdout, Command, Stdio},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use deskhand_desktop::{ProcessExit, SAID_CHARS_MAX};
use deskhand_process::{Guard, PROGRAMS, ProcessMark, find_helper, give_up_privileges, noted_program};
use tokio::sync::{oneshot, watch};

use crate::{
    blocking::run_blocking,
    native::OfficePipe,
    office_locks::OfficeLock,
    virtual_desktop::{
        environment::{Environment, MARK},
        kept::LifeLine,
        share,
    },
};

/// The X server: it removes its lock file when it is asked to end.
const SERVER: &str = "Xvfb";
/// Maximum time for the guard to end everything.
const END_BOUND: Duration = Duration::from_secs(10);
/// The most ended programs that are remembered.
const ENDED_MAX: usize = 256;
/// The most of a program's messages that is read, in bytes, from the end.
const LOG_BYTES_MAX: u64 = 8 * 1024;
/// Parts of messages that say nothing about a failure: toolkits and Java say so of the variables with which they expose elements.
const SAID_BY_ALL: [&str; 2] = ["Not loading module", "Picked up JAVA_TOOL_OPTIONS"];

/// The lifetime of programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lifetime {
    /// As long as the virtual desktop.
    OfDesktop,
    /// As long as they like: they belong to the person at this desktop.
    Own,
}

/// A program to start.
pub(crate) struct ProgramStart<'a> {
    pub(crate) program: &'a Path,
    pub(crate) arguments: Vec<OsString>,
    pub(crate) environment: &'a Environment,
    pub(crate) folder: Option<PathBuf>,
    /// Log file for its messages; they are discarded without one.
    pub(crate) log: Option<PathBuf>,
    /// `true` if this process reads its standard output.
    pub(crate) read_output: bool,
    /// `true` if it gives precedence to other programs that start at the same time.
    pub(crate) yields: bool,
    /// Privileges of the program and of the programs it starts.
    pub(crate) privileges: Privileges,
}

/// Privileges that decide whether a program, and every program it starts, counts as one started for an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Privileges {
    /// The program has `no_new_privs`, by which our sockets refuse it ([`deskhand_process::check_peer`]).
    Confined,
    /// The program is started like any program of the user: one of ours that confines the programs it starts, or
    /// confinement is off.
    OfUser,
}

/// A program that runs.
pub(crate) struct StartedProgram {
    pub(crate) pid: u32,
    pub(crate) output: Option<ChildStdout>,
}

/// A program that was started.
#[derive(Debug)]
struct SupervisedProgram {
    state: ProgramState,
    /// Its messages, if they are stored.
    log: Option<ProgramLog>,
}

#[derive(Debug, Clone, Copy)]
enum ProgramState {
    Runs,
    Ended(ProcessExit),
}

/// Location of the messages of a program. Messages of an earlier start may precede them.
#[derive(Debug, Clone)]
struct ProgramLog {
    file: PathBuf,
    from: u64,
}

impl ProgramLog {
    fn begin(file: PathBuf) -> Self {
        let from = file.metadata().map_or(0, |about| about.len());
        Self { file, from }
    }

    /// The last lines that it has said, without empty ones.
    fn end(&self) -> io::Result<String> {
        let mut file = File::open(&self.file)?;
        let length = file.metadata()?.len();
        file.seek(SeekFrom::Start(self.from.max(length.saturating_sub(LOG_BYTES_MAX))))?;
        let mut bytes = Vec::new();
        file.take(LOG_BYTES_MAX).read_to_end(&mut bytes)?;
        let text = String::from_utf8_lossy(&bytes);
        let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        let mut kept: Vec<&str> = Vec::new();
        let mut characters = 0;
        for line in lines.into_iter().rev().filter(|line| !SAID_BY_ALL.iter().any(|part| line.contains(part)))
        {
            characters += line.chars().count() + 1;
            if characters > SAID_CHARS_MAX && !kept.is_empty() {
                break;
            }
            kept.push(line);
        }
        kept.reverse();
        Ok(kept.join("\n").chars().take(SAID_CHARS_MAX).collect())
    }
}

/// All programs that were started for one desktop.
pub(crate) struct Processes {
    lifetime: Lifetime,
    /// The private folder of the desktop, if programs end with it.
    folder: Option<PathBuf>,
    set_death_signal: Option<PathBuf>,
    /// `setsid`, for programs that yield.
    set_session: Option<PathBuf>,
    programs: Arc<Mutex<HashMap<u32, SupervisedProgram>>>,
    /// Number of running programs, to await the end of the last one.
    running: Arc<watch::Sender<usize>>,
    ended_by: Mutex<Option<EndedBy>>,
}

/// Who ends the programs of a virtual desktop.
enum EndedBy {
    /// A process of ours. The lock shows that the desktop is not abandoned.
    Guard(Guard, File),
    /// The keeper of the desktop, at the other end of the line. If it was killed together with its guard, a guard of ours.
    Keeper(LifeLine, DesktopGuardConfig),
}

/// The desktop that a guard looks after.
struct DesktopGuardConfig {
    /// The private folder of the desktop.
    folder: PathBuf,
    /// Search path for the programs of the guard.
    path: OsString,
}

impl DesktopGuardConfig {
    fn new(folder: &Path, path: &OsStr) -> Self {
        Self { folder: folder.to_owned(), path: path.to_owned() }
    }

    fn guard(&self) -> io::Result<Guard> {
        Guard::start(&ProcessMark::new(MARK, &self.folder), &self.folder, SERVER, &self.path)
    }
}

/// Ends what is left of the desktop of a private folder, and removes the folder.
pub(super) async fn end_abandoned(folder: &Path, path: &OsStr) -> io::Result<()> {
    DesktopGuardConfig::new(folder, path).guard()?.end().await;
    Ok(())
}

impl Processes {
    /// Programs that live as they like.
    pub(crate) fn unguarded() -> Self {
        Self::with(Lifetime::Own, None, None)
    }

    /// Programs that end with the desktop of the private `folder`, which is removed then. `held` is its lock.
    pub(crate) fn guarded(folder: &Path, path: &OsStr, held: File) -> io::Result<Self> {
        let guard = DesktopGuardConfig::new(folder, path).guard()?;
        let ended_by = Some(EndedBy::Guard(guard, held));
        Ok(Self {
            set_death_signal: find_helper("setpriv", path),
            set_session: find_helper("setsid", path),
            ..Self::with(Lifetime::OfDesktop, Some(folder.to_owned()), ended_by)
        })
    }

    /// Programs on a desktop that a keeper holds, with that private `folder`: they outlive this process, and end with the
    /// desktop.
    pub(crate) fn kept(line: LifeLine, folder: &Path, path: &OsStr) -> Self {
        let ended_by = Some(EndedBy::Keeper(line, DesktopGuardConfig::new(folder, path)));
        Self {
            set_session: find_helper("setsid", path),
            ..Self::with(Lifetime::OfDesktop, Some(folder.to_owned()), ended_by)
        }
    }

    /// Uses the line to the keeper, where there is one.
    pub(crate) fn with_life_line<T>(&self, work: impl FnOnce(&LifeLine) -> T) -> Option<T> {
        match self.ended_by.lock().unwrap_or_else(PoisonError::into_inner).as_ref() {
            Some(EndedBy::Keeper(line, _)) => Some(work(line)),
            Some(EndedBy::Guard(..)) | None => None,
        }
    }

    fn with(lifetime: Lifetime, folder: Option<PathBuf>, ended_by: Option<EndedBy>) -> Self {
        Self {
            lifetime,
            folder,
            set_death_signal: None,
            set_session: None,
            programs: Arc::default(),
            running: Arc::new(watch::channel(0).0),
            ended_by: Mutex::new(ended_by),
        }
    }

    /// Starts a program in a process group of its own and looks after its end.
    pub(crate) async fn start(&self, start: ProgramStart<'_>) -> io::Result<StartedProgram> {
        let (read_output, yields, privileges) = (start.read_output, start.yields, start.privileges);
        let log = start.log.clone().map(ProgramLog::begin);
        let command = self.command(start)?;
        let (sender, answer) = oneshot::channel();
        let programs = Arc::clone(&self.programs);
        let running = Arc::clone(&self.running);
        let list = self.folder.as_ref().map(|folder| folder.join(PROGRAMS));
        // The thread lives as long as the program: the death signal is tied to the thread that starts it.
        std::thread::Builder::new().name("program".to_owned()).spawn(move || {
            let mut command = command;
            let given_up = match privileges {
                // Of this thread and what it starts alone.
                Privileges::Confined => give_up_privileges(),
                Privileges::OfUser => Ok(()),
            };
            let child = given_up.and_then(|()| command.spawn()).inspect(|child| {
                if let Some(list) = &list {
                    append(list, child.id());
                }
                began(&programs, child.id(), log);
                running.send_modify(|count| *count = count.saturating_add(1));
            });
            let mut child = match child {
                Ok(child) => child,
                Err(error) => {
                    let _ = sender.send(Err(error));
                    return;
                }
            };
            let output = if read_output { child.stdout.take() } else { None };
            let _ = sender.send(Ok(StartedProgram { pid: child.id(), output }));
            if yields {
                share::share_equally_later(&child);
            }
            let how = wait(&mut child);
            ended(&programs, child.id(), how);
            running.send_modify(|count| *count = count.saturating_sub(1));
        })?;
        answer.await.unwrap_or_else(|_| Err(io::Error::other("the thread of the program ended")))
    }

    fn command(&self, start: ProgramStart<'_>) -> io::Result<Command> {
        let set_session = self.set_session.as_deref().filter(|_| start.yields);
        let mut words: Vec<&OsStr> = Vec::new();
        if let Some(set_death_signal) = &self.set_death_signal {
            // One that confines another program ends that first.
            words.push(set_death_signal.as_os_str());
            words.extend(["--pdeathsig", "TERM", "--"].map(OsStr::new));
        }
        words.extend(set_session.into_iter().flat_map(share::yielding));
        words.push(start.program.as_os_str());
        let mut words = words.into_iter();
        let mut command = Command::new(words.next().unwrap_or_default());
        command.args(words).args(start.arguments).env_clear().envs(start.environment.variables());
        if let Some(folder) = start.folder {
            command.current_dir(folder);
        }
        let messages = |log: &Path| File::options().create(true).append(true).mode(0o600).open(log);
        let (output, errors) = match &start.log {
            Some(log) => (messages(log)?.into(), messages(log)?.into()),
            None => (Stdio::null(), Stdio::null()),
        };
        if set_session.is_none() {
            command.process_group(0);
        }
        command.stdin(Stdio::null()).stderr(errors);
        command.stdout(if start.read_output { Stdio::piped() } else { output });
        Ok(command)
    }

    /// Returns how a program ended; `None` while it runs or if it was not started here.
    pub(crate) fn ended(&self, pid: u32) -> Option<ProcessExit> {
        match self.programs.lock().unwrap_or_else(PoisonError::into_inner).get(&pid)?.state {
            ProgramState::Runs => None,
            ProgramState::Ended(how) => Some(how),
        }
    }

    /// The last lines of what a program that was started here has said; empty if that is not kept.
    pub(crate) fn last_words(&self, pid: u32) -> String {
        let log = |programs: &HashMap<u32, SupervisedProgram>| programs.get(&pid)?.log.clone();
        let log = log(&self.programs.lock().unwrap_or_else(PoisonError::into_inner));
        log.and_then(|log| log.end().ok()).unwrap_or_default()
    }

    /// Leaves everything to the keeper for this long. False, and nothing happens, if there is none.
    pub(crate) fn leave(&self, grace: Duration) -> io::Result<bool> {
        let mut ended_by = self.ended_by.lock().unwrap_or_else(PoisonError::into_inner);
        match ended_by.take() {
            Some(EndedBy::Keeper(line, _)) => line.leave(grace).map(|()| true),
            other => {
                *ended_by = other;
                Ok(false)
            }
        }
    }

    /// Ends everything, waits until it is gone, and removes the locks of documents that were open. Does nothing for programs that
    /// live as they like.
    pub(crate) async fn end_all(&self) {
        if self.lifetime == Lifetime::Own {
            return;
        }
        let ended_by = self.ended_by.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(ended_by) = ended_by else { return };
        let locks = match self.folder.clone() {
            Some(folder) => run_blocking(move || OfficeLock::of_desktop(&folder)).await.unwrap_or_default(),
            None => Vec::new(),
        };
        // Its name goes with the folder.
        let pipe = self.folder.as_deref().and_then(OfficePipe::of);
        let mut running = self.running.subscribe();
        let all = async {
            match ended_by {
                EndedBy::Guard(guard, _held) => guard.end().await,
                EndedBy::Keeper(line, guarded) => {
                    line.close().await;
                    end_what_is_left(&guarded).await;
                }
            }
            let _ = running.wait_for(|count| *count == 0).await;
        };
        if tokio::time::timeout(END_BOUND, all).await.is_err() {
            tracing::warn!("some processes of the virtual desktop did not end");
        }
        if let Some(pipe) = pipe {
            run_blocking(move || pipe.remove()).await.ok();
        }
        for lock in locks {
            if let Err(error) = lock.remove() {
                tracing::warn!(%error, lock = %lock.file.display(), "failed to remove the lock of a document");
            }
        }
    }
}

/// A keeper that closes its desktop removes the folder. One that was killed leaves that to its guard, which may have been killed
/// too.
async fn end_what_is_left(guarded: &DesktopGuardConfig) {
    if !guarded.folder.exists() {
        return;
    }
    match guarded.guard() {
        Ok(guard) => guard.end().await,
        Err(error) => tracing::warn!(%error, "failed to remove what is left of a virtual desktop"),
    }
}

/// Adds a program to the list of the guard. Without it, the mark of the program is what it is found by.
fn append(list: &Path, pid: u32) {
    let Some(line) = noted_program(pid) else { return };
    let opened = File::options().create(true).append(true).mode(0o600).open(list);
    if let Err(error) = opened.and_then(|mut file| file.write_all(line.as_bytes())) {
        tracing::warn!(%error, "failed to list a program");
    }
}

fn began(programs: &Mutex<HashMap<u32, SupervisedProgram>>, pid: u32, log: Option<ProgramLog>) {
    let mut programs = programs.lock().unwrap_or_else(PoisonError::into_inner);
    if programs.len() >= ENDED_MAX {
        programs.retain(|_, program| matches!(program.state, ProgramState::Runs));
    }
    programs.insert(pid, SupervisedProgram { state: ProgramState::Runs, log });
}

fn ended(programs: &Mutex<HashMap<u32, SupervisedProgram>>, pid: u32, how: ProcessExit) {
    if let Some(program) = programs.lock().unwrap_or_else(PoisonError::into_inner).get_mut(&pid) {
        program.state = ProgramState::Ended(how);
    }
}

fn wait(child: &mut Child) -> ProcessExit {
    child.wait().map_or(ProcessExit::Unknown, ProcessExit::Status)
}
