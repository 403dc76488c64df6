//! Programs, and the promise that none of them stays behind.
//!
//! Each program is started and awaited by a thread of its own, so that it can be told to end when that thread
//! does: `setpriv --pdeathsig` ends it even if we are killed. What programs start in turn is found by a mark in
//! its environment: a guard process waits for the end of a pipe that only we hold, then ends every process with
//! the mark and removes the private folder. Closing, dropping and being killed all take that one way.

use std::{
    collections::HashMap,
    ffi::{OsStr, OsString},
    fs::File,
    io,
    os::unix::process::CommandExt,
    path::{Path, PathBuf},
    process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use tokio::sync::{oneshot, watch};

use crate::{
    desktop_entries::find_on_path,
    virtual_desktop::{environment::Environment, kept::LifeLine},
};

/// The variable that marks every process of a virtual desktop.
pub(crate) const MARK: &str = "DESKHAND_DESKTOP";
/// How long the guard may take to end everything.
const END_BOUND: Duration = Duration::from_secs(10);
/// The most ended programs that are remembered.
const ENDED_MAX: usize = 256;

/// Ends everything with the mark `$1` and removes the folder `$2` once its input ends. The X server gets the
/// chance to remove its lock file; all others are ended at once, again and again until none is left. One that is becoming
/// another program shows no environment for a moment, so that none has to be seen twice.
const GUARD: &str = r#"
trap '' HUP INT TERM
while read -r _; do :; done
round=0
seen_none=
while [ "$round" -lt 500 ]; do
    round=$((round + 1))
    files=$(grep -lszxF -e "$1" /proc/[0-9]*/environ)
    if [ -z "$files" ]; then
        [ "$seen_none" = yes ] && break
        seen_none=yes
        sleep 0.05
        continue
    fi
    seen_none=
    for file in $files; do
        process=${file#/proc/}
        process=${process%/environ}
        name=
        read -r name 2>/dev/null < "/proc/$process/comm"
        signal=KILL
        [ "$name" = Xvfb ] && [ "$round" -lt 50 ] && signal=TERM
        kill -s "$signal" "$process" 2>/dev/null
    done
done
rm -rf -- "$2"
"#;

/// How long programs may live.
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
    /// Where its messages go; nowhere without one.
    pub(crate) log: Option<PathBuf>,
    /// Whether its standard output is read by us.
    pub(crate) read_output: bool,
}

/// A program that runs.
pub(crate) struct Started {
    pub(crate) pid: u32,
    pub(crate) output: Option<ChildStdout>,
}

#[derive(Debug, Clone)]
enum ProgramState {
    Runs,
    Ended(String),
}

/// All programs that were started for one desktop.
pub(crate) struct Processes {
    lifetime: Lifetime,
    set_death_signal: Option<PathBuf>,
    programs: Arc<Mutex<HashMap<u32, ProgramState>>>,
    /// How many run; for whoever waits for the last one.
    running: Arc<watch::Sender<usize>>,
    guard: Mutex<Option<Guard>>,
}

/// Who ends the programs of a virtual desktop.
enum Guard {
    /// A process of ours; closing its input is the signal.
    Own { input: ChildStdin, ended: oneshot::Receiver<()> },
    /// The keeper of the desktop, at the other end of the line.
    Keeper(LifeLine),
}

impl Processes {
    /// Programs that live as they like.
    pub(crate) fn unguarded() -> Self {
        Self::with(Lifetime::Own, None, None)
    }

    /// Programs that end with the desktop of the private `folder`, which is removed then.
    pub(crate) fn guarded(folder: &Path, path: &OsStr) -> io::Result<Self> {
        let shell = find_on_path(OsStr::new("sh"), path)
            .ok_or_else(|| io::Error::new(io::ErrorKind::NotFound, "there is no `sh`"))?;
        let mut mark = OsString::from(MARK);
        mark.push("=");
        mark.push(folder);
        let mut command = Command::new(shell);
        command
            .args([
                OsStr::new("-c"),
                OsStr::new(GUARD),
                OsStr::new("deskhand-guard"),
                &mark,
                folder.as_os_str(),
            ])
            .env_clear()
            .env("PATH", path)
            .env("LC_ALL", "C")
            .current_dir("/")
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let mut child = command.spawn()?;
        let input = child.stdin.take().ok_or_else(|| io::Error::other("the guard has no input"))?;
        let (sender, ended) = oneshot::channel();
        std::thread::Builder::new().name("desktop-guard".to_owned()).spawn(move || {
            // However it ended, there is nothing more to wait for.
            let _ = child.wait();
            let _ = sender.send(());
        })?;
        let set_death_signal = find_on_path(OsStr::new("setpriv"), path);
        Ok(Self::with(Lifetime::OfDesktop, set_death_signal, Some(Guard::Own { input, ended })))
    }

    /// Programs on a desktop that a keeper holds: they outlive this process, and end with the desktop.
    pub(crate) fn kept(line: LifeLine) -> Self {
        Self::with(Lifetime::OfDesktop, None, Some(Guard::Keeper(line)))
    }

    /// Uses the line to the keeper, where there is one.
    pub(crate) fn with_life_line<T>(&self, work: impl FnOnce(&LifeLine) -> T) -> Option<T> {
        match self.guard.lock().unwrap_or_else(PoisonError::into_inner).as_ref() {
            Some(Guard::Keeper(line)) => Some(work(line)),
            Some(Guard::Own { .. }) | None => None,
        }
    }

    fn with(lifetime: Lifetime, set_death_signal: Option<PathBuf>, guard: Option<Guard>) -> Self {
        Self {
            lifetime,
            set_death_signal,
            programs: Arc::default(),
            running: Arc::new(watch::channel(0).0),
            guard: Mutex::new(guard),
        }
    }

    /// Starts a program in a process group of its own and looks after its end.
    pub(crate) async fn start(&self, start: ProgramStart<'_>) -> io::Result<Started> {
        let read_output = start.read_output;
        let command = self.command(start)?;
        let (sender, answer) = oneshot::channel();
        let programs = Arc::clone(&self.programs);
        let running = Arc::clone(&self.running);
        // The thread lives as long as the program: the death signal is tied to the thread that starts it.
        std::thread::Builder::new().name("program".to_owned()).spawn(move || {
            let mut command = command;
            let child = command.spawn().inspect(|child| {
                note(&programs, child.id(), ProgramState::Runs);
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
            let _ = sender.send(Ok(Started { pid: child.id(), output }));
            let how = wait(&mut child);
            note(&programs, child.id(), ProgramState::Ended(how));
            running.send_modify(|count| *count = count.saturating_sub(1));
        })?;
        answer.await.unwrap_or_else(|_| Err(io::Error::other("the thread of the program ended")))
    }

    fn command(&self, start: ProgramStart<'_>) -> io::Result<Command> {
        let mut command = match &self.set_death_signal {
            Some(set_death_signal) => {
                let mut command = Command::new(set_death_signal);
                // The X server removes its lock file when it is asked to end.
                let asks = start.program.file_name() == Some(OsStr::new("Xvfb"));
                command.args(["--pdeathsig", if asks { "TERM" } else { "KILL" }, "--"]);
                command.arg(start.program);
                command
            }
            None => Command::new(start.program),
        };
        command.args(start.arguments).env_clear().envs(start.environment.variables());
        if let Some(folder) = start.folder {
            command.current_dir(folder);
        }
        let messages = |log: &Path| File::options().create(true).append(true).open(log);
        let (output, errors) = match &start.log {
            Some(log) => (messages(log)?.into(), messages(log)?.into()),
            None => (Stdio::null(), Stdio::null()),
        };
        command.process_group(0).stdin(Stdio::null()).stderr(errors);
        command.stdout(if start.read_output { Stdio::piped() } else { output });
        Ok(command)
    }

    /// How a program ended; nothing while it runs or when it was not started here.
    pub(crate) fn ended(&self, pid: u32) -> Option<String> {
        match self.programs.lock().unwrap_or_else(PoisonError::into_inner).get(&pid)? {
            ProgramState::Runs => None,
            ProgramState::Ended(how) => Some(how.clone()),
        }
    }

    /// Ends everything and waits until it is gone. Does nothing for programs that live as they like.
    pub(crate) async fn end_all(&self) {
        if self.lifetime == Lifetime::Own {
            return;
        }
        let guard = self.guard.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(guard) = guard else { return };
        let mut running = self.running.subscribe();
        let all = async {
            match guard {
                Guard::Own { input, ended } => {
                    drop(input);
                    // An error says that the other side is gone, which is what is waited for.
                    let _ = ended.await;
                }
                Guard::Keeper(line) => line.close().await,
            }
            let _ = running.wait_for(|count| *count == 0).await;
        };
        if tokio::time::timeout(END_BOUND, all).await.is_err() {
            tracing::warn!("some processes of the virtual desktop did not end");
        }
    }
}

fn note(programs: &Mutex<HashMap<u32, ProgramState>>, pid: u32, state: ProgramState) {
    let mut programs = programs.lock().unwrap_or_else(PoisonError::into_inner);
    if programs.len() >= ENDED_MAX {
        programs.retain(|_, state| matches!(state, ProgramState::Runs));
    }
    programs.insert(pid, state);
}

fn wait(child: &mut Child) -> String {
    child.wait().as_ref().map_or_else(ToString::to_string, ExitStatus::to_string)
}
