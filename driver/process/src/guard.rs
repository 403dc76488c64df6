//! A separate process that kills what this one leaves behind, even if this one is killed.

use std::{
    ffi::{OsStr, OsString},
    io,
    os::unix::{fs::MetadataExt as _, process::CommandExt as _},
    path::{Path, PathBuf},
    process::{Child, ChildStdin, Command, ExitStatus, Stdio},
    sync::{Arc, Mutex, PoisonError},
};

use tokio::sync::oneshot;

use crate::{
    mark::{ProcessMark, started_at},
    program::find_helper,
};

/// Kills every process with the mark `$1`, and every descendant of one, and removes the folder `$2` when its input ends. The program `$3`
/// gets the chance to clean up after itself; all others are killed at once, again and again until none is left. A process in the
/// middle of `exec` shows no environment for a moment, so that none has to be seen twice.
///
/// A descendant may show no mark: Chromium writes its title over its environment. It is found below its parent, so that no parent may
/// end before it was looked for: all are stopped first, which also keeps them from starting others.
///
/// Then what stays when a program is killed: file systems that a program mounted in the folder, the sockets that it had bound to files
/// elsewhere, and files that the file `leavings` in its folder `own` names, one `INODE-MTIME PATH` a line. Another inode or time says that a
/// file belongs to somebody else by now. While a server starts, nobody knows yet which names it will take: the file `starting` has
/// patterns of them, one a line, and what fits one of them goes if it is not older than that file and is of no use any more, as a
/// socket that nobody has bound or a lock whose process has ended. The file `programs` names processes that belong here without a
/// mark and without a parent that has one, one `PID START` a line, with the start time of `/proc/PID/stat`.
const SCRIPT: &str = r#"
trap '' HUP INT TERM
while read -r _; do :; done
round=0
seen_none=
sockets=
# Removes the files of these lines that are still the same.
remove() {
    while read -r known path; do
        [ -n "$known" ] && [ "$(stat -c %i-%.9Y -- "$path")" = "$known" ] && rm -f -- "$path"
    done
}
# Whether a process runs the program of that name.
has_name() {
    name=
    read -r name 2>/dev/null < "/proc/$1/comm"
    [ "$name" = "$2" ]
}
# Prints the sockets that these processes have bound to files outside of the folder, as `remove` takes them.
bound_by() {
    folder=$1
    shift
    descriptors=
    for process; do descriptors="$descriptors /proc/$process/fd"; done
    [ -z "$descriptors" ] && return
    inodes=" $(ls -l $descriptors 2>/dev/null | sed -n 's/.*socket:\[\([0-9]*\)\]$/\1/p' | tr '\n' ' ')"
    grep ' /' /proc/net/unix | {
        set --
        while read -r _ _ _ _ _ _ inode path; do
            case $path in "$folder"/* | "$1") continue ;; esac
            case $inodes in *" $inode "*) set -- "$path" "$@" ;; esac
        done
        [ $# -gt 0 ] && stat -c '%i-%.9Y %n' -- "$@" 2>/dev/null
    }
}
# Prints the processes that run and are to end, one a line.
find_all() {
    all=' '
    for file in $(grep -lszxF -e "$1" /proc/[0-9]*/environ); do
        process=${file#/proc/}
        all="$all${process%/environ} "
    done
    [ -f "$2/own/programs" ] && while read -r process start; do
        fields=
        # The name of a program may have line breaks.
        while read -r line; do fields="$fields $line"; done 2>/dev/null < "/proc/$process/stat"
        set -- "$1" "$2" ${fields##*) }
        [ "${22}" = "$start" ] && all="$all$process "
    done < "$2/own/programs"
    [ "$all" = ' ' ] && return
    status=$(grep -hsE '^(State|Pid|PPid):' /proc/[0-9]*/status | tr -s '\t ' ':')
    before=
    while [ "$before" != "$all" ]; do
        before=$all
        for word in $status; do
            case $word in
                State:*) state=${word#State:} ;;
                Pid:*) process=${word#Pid:} ;;
                PPid:*)
                    case "$state $process" in [ZX]* | *" $$") continue ;; esac
                    case $all in *" $process "*) continue ;; *" ${word#PPid:} "*) all="$all$process " ;; esac
                    ;;
            esac
        done
    done
    printf '%s\n' $all
}
while [ "$round" -lt 500 ]; do
    round=$((round + 1))
    found=$(find_all "$1" "$2")
    if [ -z "$found" ]; then
        [ "$seen_none" = yes ] && break
        seen_none=yes
        sleep 0.05
        continue
    fi
    seen_none=
    # All before the first one is killed: others end with it. One whose parent somebody else kills meanwhile is found no more.
    stopped=
    ever=
    looks=0
    while [ "$found" != "$stopped" ] && [ "$looks" -lt 20 ]; do
        looks=$((looks + 1))
        stopped=$found
        for process in $found; do
            has_name "$process" "$3" || { kill -s STOP "$process" 2>/dev/null && ever="$ever $process"; }
        done
        found=$(find_all "$1" "$2")
    done
    bound=$(bound_by "$2" $found)
    sockets="$sockets$bound
"
    for process in $found $ever; do
        signal=KILL
        has_name "$process" "$3" && [ "$round" -lt 50 ] && signal=TERM
        kill -s "$signal" "$process" 2>/dev/null
    done
done
while read -r _ place _; do
    case $place in
        "$2"/*) fusermount3 -u -z "$place" || fusermount -u -z "$place" || umount -l "$place" ;;
    esac
done < /proc/self/mounts
printf %s "$sockets" | remove
[ -f "$2/own/leavings" ] && remove < "$2/own/leavings"
# Whether a file that a server left is of no use any more.
is_stale() {
    if [ -S "$1" ]; then
        ! grep -q " $1\$" /proc/net/unix
    else
        holder=
        [ -f "$1" ] && read -r holder < "$1"
        case $holder in '' | *[!0-9]*) false ;; *) ! [ -e "/proc/$holder" ] ;; esac
    fi
}
[ -f "$2/own/starting" ] && while read -r pattern; do
    for path in $pattern; do
        [ -O "$path" ] && ! [ "$2/own/starting" -nt "$path" ] && is_stale "$path" && rm -f -- "$path"
    done
done < "$2/own/starting"
rm -rf -- "$2"
"#;

/// The folder in the guarded folder with the files that steer the guard. The programs that it ends must not see it: it removes files and
/// ends processes that are named there.
pub const OWN_FOLDER: &str = "own";

/// The file in the guarded folder that names files elsewhere, to be removed with it.
pub const LEAVINGS: &str = "own/leavings";

/// The line that names a file elsewhere in [`LEAVINGS`]; `None` if it does not exist.
pub fn leaving(file: &Path) -> Option<String> {
    let data = std::fs::symlink_metadata(file).ok()?;
    Some(format!("{}-{}.{:09} {}\n", data.ino(), data.mtime(), data.mtime_nsec(), file.display()))
}

/// The file in the guarded folder that has patterns of the names that a starting server may take.
pub const STARTING: &str = "own/starting";

/// The file in the guarded folder that names processes which belong to it.
pub const PROGRAMS: &str = "own/programs";

/// The line that names a process in [`PROGRAMS`]; `None` if it has ended.
pub fn noted_program(pid: u32) -> Option<String> {
    let started = started_at(&Path::new("/proc").join(pid.to_string()))?;
    Some(format!("{pid} {started}\n"))
}

/// Maximum number of guards that are started one after the other, if they are killed.
const GUARDS_MAX: u32 = 100;

/// Parameters for starting a guard process.
#[derive(Debug)]
struct Start {
    shell: PathBuf,
    assignment: OsString,
    folder: PathBuf,
    asked: String,
    path: OsString,
}

impl Start {
    /// Starts a guard process that waits for the end of its input; with [`Stdio::null`] it does not wait.
    fn spawn(&self, input: Stdio) -> io::Result<Child> {
        Command::new(&self.shell)
            .args(["-c", SCRIPT, "deskhand-guard"])
            .arg(&self.assignment)
            .arg(&self.folder)
            .arg(&self.asked)
            .env_clear()
            .env("PATH", &self.path)
            .env("LC_ALL", "C")
            .current_dir("/")
            .process_group(0)
            .stdin(input)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
    }
}

/// This end of the pipe to the guard process; `None` once it is closed.
type Input = Arc<Mutex<Option<ChildStdin>>>;

/// One end of a pipe; a guard process reads the other. When this end is closed, also because this process is killed, the
/// guard kills the marked processes and removes their folder. A guard process that is killed itself is replaced.
#[derive(Debug)]
pub struct Guard {
    input: Input,
    ended: Option<oneshot::Receiver<()>>,
}

impl Guard {
    /// Starts a guard of all processes with that mark and of their `folder`. It needs `sh`, `grep`, `ls`, `rm`, `sed`, `sleep`,
    /// `stat` and `tr` on `path`. The program named `asked` gets a termination signal before it is killed.
    ///
    /// # Errors
    /// If there is no shell, or a process or thread cannot be started.
    pub fn start(mark: &ProcessMark, folder: &Path, asked: &str, path: &OsStr) -> io::Result<Self> {
        let shell = find_helper("sh", path)
            .ok_or_else(|| io::Error::new(io::ErrorKind::NotFound, "there is no `sh`"))?;
        let (assignment, folder) = (mark.assignment(), folder.to_owned());
        let start = Start { shell, assignment, folder, asked: asked.to_owned(), path: path.to_owned() };
        let mut child = start.spawn(Stdio::piped())?;
        let input: Input = Arc::new(Mutex::new(child.stdin.take()));
        let (sender, ended) = oneshot::channel();
        let kept = Arc::clone(&input);
        std::thread::Builder::new().name("guard".to_owned()).spawn(move || {
            watch(&start, child, &kept);
            sender.send(()).ok();
        })?;
        Ok(Self { input, ended: Some(ended) })
    }

    /// Kills the processes, and returns when they and their folder are gone.
    pub async fn end(mut self) {
        self.close();
        if let Some(ended) = self.ended.take() {
            // An error means that no guard is left, which is what is waited for.
            ended.await.ok();
        }
    }

    fn close(&self) {
        drop(self.input.lock().unwrap_or_else(PoisonError::into_inner).take());
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        self.close();
    }
}

/// Waits until a guard has done its work, and replaces one that is killed before.
fn watch(start: &Start, mut child: Child, input: &Input) {
    for _ in 0..GUARDS_MAX {
        // One that exits has done what it can.
        if child.wait().as_ref().map_or(None, ExitStatus::code).is_some() {
            return;
        }
        let mut input = input.lock().unwrap_or_else(PoisonError::into_inner);
        // A closed input stays closed: then the next guard does the work at once.
        let next = if input.is_some() { Stdio::piped() } else { Stdio::null() };
        match start.spawn(next) {
            Ok(next) => child = next,
            Err(error) => {
                tracing::warn!(%error, "failed to replace the guard, which was killed");
                return;
            }
        }
        if input.is_some() {
            *input = child.stdin.take();
        }
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

    fn new_folder() -> PathBuf {
        let folder = std::env::temp_dir().join(format!("deskhand-guard-{}", uuid::Uuid::now_v7()));
        std::fs::create_dir(&folder).unwrap();
        folder
    }

    #[tokio::test]
    async fn marked_processes_and_their_folder_are_removed() {
        let folder = new_folder();
        let value = folder.as_os_str();
        let sleep =
            |value: &OsStr| Command::new("sleep").arg("600").env("DESKHAND_TEST", value).spawn().unwrap();
        let (mut marked, mut other) = (sleep(value), sleep(OsStr::new("another")));
        let path = std::env::var_os("PATH").unwrap();
        let guard = Guard::start(&ProcessMark::new("DESKHAND_TEST", value), &folder, "Xvfb", &path).unwrap();
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
        let folder = new_folder();
        let value = folder.as_os_str();
        let mut sleep = Command::new("sleep").arg("600").env("DESKHAND_TEST", value).spawn().unwrap();
        let path = std::env::var_os("PATH").unwrap();
        let guard = Guard::start(&ProcessMark::new("DESKHAND_TEST", value), &folder, "sleep", &path).unwrap();
        let exited = std::thread::spawn(move || sleep.wait().unwrap());
        guard.end().await;
        assert_eq!(exited.join().unwrap().signal(), Some(15));
    }

    /// The guard of that folder that runs, if one does.
    fn process_of(folder: &Path) -> Option<rustix::process::Pid> {
        let is = |entry: &std::fs::DirEntry| {
            let line = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
            let mut words = line.split(|byte| *byte == 0);
            words.any(|word| word == b"deskhand-guard")
                && words.any(|word| word == folder.as_os_str().as_encoded_bytes())
        };
        let found = std::fs::read_dir("/proc").unwrap().filter_map(Result::ok).find(is)?;
        found.file_name().to_str()?.parse().ok().and_then(rustix::process::Pid::from_raw)
    }

    #[tokio::test]
    async fn a_guard_that_is_killed_is_replaced_and_leaves_nothing() {
        let [folder, elsewhere] = [(); 2].map(|()| new_folder());
        let value = folder.as_os_str();
        let mut sleep = Command::new("sleep").arg("600").env("DESKHAND_TEST", value).spawn().unwrap();
        let path = std::env::var_os("PATH").unwrap();
        let guard = Guard::start(&ProcessMark::new("DESKHAND_TEST", value), &folder, "Xvfb", &path).unwrap();
        let killed = loop {
            // It shows no arguments in the middle of `exec`.
            if let Some(pid) = process_of(&folder) {
                break pid;
            }
        };
        rustix::process::kill_process(killed, rustix::process::Signal::KILL).unwrap();
        while process_of(&folder).is_none_or(|pid| pid == killed) {
            std::thread::yield_now();
        }
        assert_eq!(sleep.try_wait().unwrap(), None, "the next one waits");
        // A file that a program left, a socket, and a file that belongs to somebody else by now.
        let [own, other, socket] = ["own", "other", "a socket"].map(|name| elsewhere.join(name));
        std::fs::write(&own, "").unwrap();
        std::fs::write(&other, "").unwrap();
        drop(std::os::unix::net::UnixListener::bind(&socket).unwrap());
        let mut lines: String = [&own, &socket].into_iter().filter_map(|file| leaving(file)).collect();
        lines.push_str(&leaving(&own).unwrap().replace("/own", "/other"));
        std::fs::create_dir(folder.join(OWN_FOLDER)).unwrap();
        std::fs::write(folder.join(LEAVINGS), lines).unwrap();
        let exited = std::thread::spawn(move || sleep.wait().unwrap());
        guard.end().await;
        assert_eq!(exited.join().unwrap().signal(), Some(9));
        let is_left = [&folder, &own, &socket, &other].map(|path| path.exists());
        assert_eq!(is_left, [false, false, false, true]);
        std::fs::remove_dir_all(elsewhere).unwrap();
    }

    /// What a server leaves that is killed before anybody knows which names it took.
    #[tokio::test]
    async fn what_a_starting_server_left_is_removed() {
        let [folder, elsewhere] = [(); 2].map(|()| new_folder());
        let [socket, used, lock, kept, other] =
            ["X1", "X2", ".X1-lock", ".X2-lock", "Y1"].map(|name| elsewhere.join(name));
        let [old, new] = ["X0", "X3"].map(|name| elsewhere.join(name));
        let listen = |path: &Path| std::os::unix::net::UnixListener::bind(path).unwrap();
        let starting = folder.join(STARTING);
        let patterns = format!("{0}/X*\n{0}/.X*-lock\n", elsewhere.display());
        std::fs::create_dir(folder.join(OWN_FOLDER)).unwrap();
        std::fs::write(&starting, patterns).unwrap();
        drop([&socket, &old, &other].map(|path| listen(path)));
        let _bound = listen(&used);
        let aged = Command::new("touch").args(["-d", "yesterday"]).arg(&old).status();
        assert!(aged.unwrap().success());
        let ended =
            Command::new("true").spawn().and_then(|mut child| child.wait().map(|_| child.id())).unwrap();
        std::fs::write(&lock, format!("{ended:>10}\n")).unwrap();
        std::fs::write(&kept, format!("{:>10}\n", std::process::id())).unwrap();
        std::fs::write(&new, "no process").unwrap();
        let path = std::env::var_os("PATH").unwrap();
        let mark = ProcessMark::new("DESKHAND_TEST", folder.as_os_str());
        Guard::start(&mark, &folder, "Xvfb", &path).unwrap().end().await;
        let is_left = [&folder, &socket, &lock, &used, &kept, &other, &old, &new].map(|path| path.exists());
        assert_eq!(is_left, [false, false, false, true, true, true, true, true]);
        std::fs::remove_dir_all(elsewhere).unwrap();
    }

    /// A marked program, and the one below it, which shows no mark.
    fn with_an_unmarked_child(mark: &OsStr) -> (Child, rustix::process::Pid) {
        let mut command = Command::new("sh");
        command.args(["-c", "env -i sleep 600 & echo $!; read -r _"]).env("DESKHAND_TEST", mark);
        let mut parent = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        io::BufRead::read_line(&mut io::BufReader::new(parent.stdout.take().unwrap()), &mut line).unwrap();
        (parent, rustix::process::Pid::from_raw(line.trim().parse().unwrap()).unwrap())
    }

    /// A program without a mark, whose parent somebody else kills as soon as both are stopped.
    #[tokio::test]
    async fn what_was_stopped_is_killed_though_its_parent_is_gone() {
        let folder = new_folder();
        let value = folder.as_os_str();
        let (mut parent, below) = with_an_unmarked_child(value);
        let below = PathBuf::from("/proc").join(below.as_raw_nonzero().to_string());
        let path = std::env::var_os("PATH").unwrap();
        let guard = Guard::start(&ProcessMark::new("DESKHAND_TEST", value), &folder, "Xvfb", &path).unwrap();
        let status = below.join("status");
        let killer = std::thread::spawn(move || {
            let is_stopped =
                || std::fs::read_to_string(&status).is_ok_and(|status| status.contains("State:\tT"));
            while status.exists() && !is_stopped() {}
            parent.kill().unwrap();
            parent.wait().unwrap();
        });
        guard.end().await;
        killer.join().unwrap();
        let is_gone = |stat: io::Result<String>| stat.map_or(true, |stat| stat.contains(") Z "));
        assert!(is_gone(std::fs::read_to_string(below.join("stat"))), "it is left, stopped");
        assert!(!folder.exists());
    }

    /// A program below a marked one that shows no mark, also while both are stopped; and one that only the list names.
    #[tokio::test]
    async fn programs_without_a_mark_are_found_below_their_parents_and_in_the_list() {
        let folder = new_folder();
        let value = folder.as_os_str();
        let (mut parent, below) = with_an_unmarked_child(value);
        rustix::process::kill_process(below, rustix::process::Signal::STOP).unwrap();
        let sleep = || Command::new("sleep").arg("600").spawn().unwrap();
        let (mut listed, mut other) = (sleep(), sleep());
        let lines = format!("{}{} 1\n", noted_program(listed.id()).unwrap(), other.id());
        std::fs::create_dir(folder.join(OWN_FOLDER)).unwrap();
        std::fs::write(folder.join(PROGRAMS), lines).unwrap();
        let path = std::env::var_os("PATH").unwrap();
        let guard = Guard::start(&ProcessMark::new("DESKHAND_TEST", value), &folder, "Xvfb", &path).unwrap();
        let input = parent.stdin.take();
        let exited = std::thread::spawn(move || (parent.wait().unwrap(), listed.wait().unwrap()));
        guard.end().await;
        drop(input);
        let (parent, listed) = exited.join().unwrap();
        assert_eq!((parent.signal(), listed.signal()), (Some(9), Some(9)));
        // It belongs to nobody who would wait for it.
        let state = std::fs::read_to_string(format!("/proc/{}/stat", below.as_raw_nonzero()));
        assert!(state.as_ref().map_or(true, |stat| stat.contains(") Z ")), "{state:?}");
        assert_eq!(other.try_wait().unwrap(), None, "it started at another time than the one in the list");
        other.kill().unwrap();
        other.wait().unwrap();
        assert!(!folder.exists());
    }

    #[tokio::test]
    async fn sockets_that_a_killed_program_has_bound_are_removed() {
        let [folder, elsewhere] = [(); 2].map(|()| new_folder());
        let (value, socket) = (folder.as_os_str(), elsewhere.join("a [socket]"));
        let script = "import socket, sys; s = socket.socket(socket.AF_UNIX); s.bind(sys.argv[1]); s.listen(); \
                      print(flush=True); sys.stdin.read()";
        let mut command = Command::new("python3");
        command.args(["-c", script]).arg(&socket).env("DESKHAND_TEST", value);
        let mut program = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut ready = [0];
        io::Read::read_exact(&mut program.stdout.take().unwrap(), &mut ready).unwrap();
        let path = std::env::var_os("PATH").unwrap();
        let guard = Guard::start(&ProcessMark::new("DESKHAND_TEST", value), &folder, "Xvfb", &path).unwrap();
        let input = program.stdin.take();
        let exited = std::thread::spawn(move || program.wait().unwrap());
        guard.end().await;
        drop(input);
        assert_eq!(exited.join().unwrap().signal(), Some(9));
        assert!(!socket.exists());
        std::fs::remove_dir_all(elsewhere).unwrap();
    }
}
