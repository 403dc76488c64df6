//! A separate process that kills what this one leaves behind, even if this one is killed.

use std::{
    ffi::OsStr,
    io,
    os::unix::process::CommandExt as _,
    path::Path,
    process::{Child, ChildStdin, Command, Stdio},
};

use tokio::sync::oneshot;

use crate::{mark::Mark, program::find_program};

/// Kills every process with the mark `$1` and removes the folder `$2` when its input ends. The program `$3` gets the
/// chance to clean up after itself; all others are killed at once, again and again until none is left. A process in the
/// middle of `exec` shows no environment for a moment, so that none has to be seen twice.
const SCRIPT: &str = r#"
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
        [ "$name" = "$3" ] && [ "$round" -lt 50 ] && signal=TERM
        kill -s "$signal" "$process" 2>/dev/null
    done
done
rm -rf -- "$2"
"#;

/// One end of a pipe; a guard process reads the other. When this end is closed, also because this process is killed, the
/// guard kills the marked processes and removes their folder.
#[derive(Debug)]
pub struct Guard {
    input: ChildStdin,
    ended: oneshot::Receiver<()>,
}

impl Guard {
    /// Starts a guard of all processes with that mark and of their `folder`. It needs `sh`, `grep`, `sleep` and `rm` on
    /// `path`. The program named `asked` gets a termination signal before it is killed.
    ///
    /// # Errors
    /// If there is no shell, or a process or thread cannot be started.
    pub fn start(mark: &Mark, folder: &Path, asked: &str, path: &OsStr) -> io::Result<Self> {
        let shell = find_program("sh", path, Path::new(""))
            .ok_or_else(|| io::Error::new(io::ErrorKind::NotFound, "there is no `sh`"))?;
        let mut child = Command::new(shell)
            .args(["-c", SCRIPT, "deskhand-guard"])
            .arg(mark.assignment())
            .arg(folder)
            .arg(asked)
            .env_clear()
            .env("PATH", path)
            .env("LC_ALL", "C")
            .current_dir("/")
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        let input = child.stdin.take().ok_or_else(|| io::Error::other("the guard has no input"))?;
        Ok(Self { input, ended: await_exit(child, "guard")? })
    }

    /// Kills the processes, and returns when they and their folder are gone.
    pub async fn end(self) {
        drop(self.input);
        // An error means that the guard is gone, which is what is waited for.
        self.ended.await.ok();
    }
}

/// Reaps a child on a thread of that name; the receiver gets a message when the child has exited.
///
/// # Errors
/// If the thread cannot be started.
pub fn await_exit(mut child: Child, thread: &str) -> io::Result<oneshot::Receiver<()>> {
    let (sender, exited) = oneshot::channel();
    std::thread::Builder::new().name(thread.to_owned()).spawn(move || {
        // However it ended, there is nothing more to wait for.
        child.wait().ok();
        sender.send(()).ok();
    })?;
    Ok(exited)
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::ExitStatusExt as _;

    use super::*;

    #[tokio::test]
    async fn marked_processes_and_their_folder_are_removed() {
        let folder = std::env::temp_dir().join(format!("deskhand-guard-{}", uuid::Uuid::now_v7()));
        std::fs::create_dir(&folder).unwrap();
        let value = folder.as_os_str();
        let sleep =
            |value: &OsStr| Command::new("sleep").arg("600").env("DESKHAND_TEST", value).spawn().unwrap();
        let (mut marked, mut other) = (sleep(value), sleep(OsStr::new("another")));
        let path = std::env::var_os("PATH").unwrap();
        let guard = Guard::start(&Mark::new("DESKHAND_TEST", value), &folder, "Xvfb", &path).unwrap();
        assert_eq!(marked.try_wait().unwrap(), None);
        // The guard sees an unreaped process for a moment without its environment only.
        let exited = std::thread::spawn(move || marked.wait().unwrap());
        guard.end().await;
        assert_eq!(exited.join().unwrap().signal(), Some(9));
        assert!(!folder.exists());
        assert_eq!(other.try_wait().unwrap(), None);
        other.kill().unwrap();
        other.wait().unwrap();
    }

    #[tokio::test]
    async fn one_program_is_asked_before_it_is_killed() {
        let folder = std::env::temp_dir().join(format!("deskhand-guard-{}", uuid::Uuid::now_v7()));
        std::fs::create_dir(&folder).unwrap();
        let value = folder.as_os_str();
        let mut sleep = Command::new("sleep").arg("600").env("DESKHAND_TEST", value).spawn().unwrap();
        let path = std::env::var_os("PATH").unwrap();
        let guard = Guard::start(&Mark::new("DESKHAND_TEST", value), &folder, "sleep", &path).unwrap();
        let exited = std::thread::spawn(move || sleep.wait().unwrap());
        guard.end().await;
        assert_eq!(exited.join().unwrap().signal(), Some(15));
    }
}
