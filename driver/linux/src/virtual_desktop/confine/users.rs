//! The user namespaces of a virtual desktop, which keep its programs from looking at what is outside.
//!
//! Linux lets a process look into another one of the same user that has no more capabilities, and through `/proc/PID/root` see what that
//! one sees (ptrace(2), "Ptrace access mode checking"): the monitor of bubblewrap, for which nothing is hidden. It does not let it look
//! out of its user namespace. A namespace for each program would do, but the desktop portal looks into the programs that call it, and
//! refuses those that it cannot. So all programs of a desktop share one. Bubblewrap and its monitors stay outside of it, in the namespace
//! above, in which bubblewrap may make mounts: that of root, or one that this module makes.

use std::{
    ffi::{OsStr, OsString},
    fs,
    io::{self, BufRead as _, BufReader},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

use deskhand_process::{OWN_FOLDER, find_helper};

use crate::virtual_desktop::folders::write_private;

/// The file that names processes in the namespaces, in the folder that applications do not see.
const FILE: &str = "users";
/// Each id stands for itself; the last one means none: user_namespaces(7).
const ALL_IDS: &str = "0 0 4294967295\n";
/// Prints its process id and stays in a namespace until its input ends. It starts no program, which could be one that an application put
/// on the path.
const HOLD: &str = "echo $$; read -r _";
/// Executes bubblewrap with the namespace of a process as the descriptor of [`DESCRIPTOR`].
const OPEN: &str = r#"exec 9<"/proc/$0/ns/user" && exec "$@""#;
/// The option of bubblewrap that makes it enter that namespace.
const DESCRIPTOR: [&str; 2] = ["--userns", "9"];
/// Executes a program without the descriptor.
const CLOSE: &str = r#"exec 9<&- && exec "$@""#;

/// The capabilities that root keeps to work with files of every user; all others are dropped, so that no mount can be undone.
pub(super) const KEPT_PRIVILEGES: &[&str] =
    &["CAP_CHOWN", "CAP_DAC_OVERRIDE", "CAP_FOWNER", "CAP_FSETID", "CAP_KILL", "CAP_SETGID", "CAP_SETUID"];

/// Processes in the user namespaces of a desktop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Namespaces {
    /// One in that of the programs.
    programs: u32,
    /// One in that of the monitors; none if root starts them, which stay in its own.
    monitors: Option<u32>,
}

/// The commands around bubblewrap by which a program gets into its user namespace; none if it stays in ours.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct NamespaceEntry {
    /// The command before bubblewrap; empty if there is none.
    pub(super) before: Vec<OsString>,
    /// Options of bubblewrap.
    pub(super) options: Vec<OsString>,
    /// The command before the program.
    pub(super) inside: Vec<OsString>,
}

impl Namespaces {
    /// The namespaces of the desktop with this private folder; `None` if it has none. Blocking.
    pub(super) fn of_desktop(private: &Path) -> io::Result<Option<Self>> {
        let text = match fs::read_to_string(file_in(private)) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        let mut pids = text.split_whitespace().map(|pid| pid.parse::<u32>().map_err(io::Error::other));
        let programs = pids.next().ok_or(io::ErrorKind::InvalidData)??;
        Ok(Some(Self { programs, monitors: pids.next().transpose()? }))
    }

    fn write(self, private: &Path) -> io::Result<()> {
        let file = file_in(private);
        // Not in place: it could be read half written.
        let new = file.with_extension("new");
        let monitors = self.monitors.map(|pid| format!(" {pid}")).unwrap_or_default();
        write_private(&new, format!("{}{monitors}", self.programs).as_bytes())?;
        fs::rename(&new, &file)
    }

    /// The commands by which a program gets into them.
    ///
    /// # Errors
    /// A command for it is not installed.
    pub(super) fn entry(self, path: &OsStr) -> io::Result<NamespaceEntry> {
        let words = |words: &[&str]| words.iter().map(OsString::from).collect::<Vec<_>>();
        let mut entry = NamespaceEntry::default();
        if let Some(monitors) = self.monitors {
            let shell = helper("sh", path)?;
            entry.before = vec![shell.clone(), "-c".into(), OPEN.into(), monitors.to_string().into()];
            entry.options = words(&DESCRIPTOR);
            entry.inside = vec![shell, "-c".into(), CLOSE.into(), "sh".into()];
        }
        entry.inside.push(helper("nsenter", path)?);
        let target = self.programs.to_string();
        entry.inside.extend(words(&["--target", &target, "--user", "--preserve-credentials", "--"]));
        if self.monitors.is_none() {
            // Root that enters a user namespace has all capabilities in it.
            let kept =
                KEPT_PRIVILEGES.iter().map(|name| name.trim_start_matches("CAP_").to_ascii_lowercase());
            let kept: String = kept.map(|name| format!(",+{name}")).collect();
            entry.inside.push(helper("setpriv", path)?);
            entry.inside.extend(words(&["--bounding-set", &format!("-all{kept}"), "--"]));
        }
        Ok(entry)
    }
}

/// A program for this, where no application can have put it.
fn helper(name: &str, path: &OsStr) -> io::Result<OsString> {
    let found = find_helper(name, path).map(PathBuf::into_os_string);
    found.ok_or_else(|| io::Error::other(format!("`{name}` is not on PATH")))
}

fn file_in(private: &Path) -> PathBuf {
    private.join(OWN_FOLDER).join(FILE)
}

/// Makes the namespaces of a desktop, and holds them until a program is in them.
#[derive(Debug)]
pub(crate) struct NamespaceHolder {
    private: PathBuf,
    /// The namespaces that the file currently names.
    namespaces: Namespaces,
    /// The process above that in the namespace of the programs, or the same if root starts them. It ends with its input.
    process: Child,
}

impl NamespaceHolder {
    /// Makes the namespaces of the desktop with this private folder; those for root map all ids, the others that of this user. Blocking.
    ///
    /// # Errors
    /// The kernel refuses them, `unshare` is not installed, or the folder cannot be written.
    pub(super) fn start(private: &Path, path: &OsStr, superuser: bool) -> io::Result<Self> {
        let (unshare, shell) = (helper("unshare", path)?, helper("sh", path)?);
        let mut command = Command::new(&unshare);
        if superuser {
            command.arg("--user");
        } else {
            let both = ["--user", "--map-current-user"];
            command.args(both).args(["--fork", "--"]).arg(&unshare).args(both);
        }
        command.arg("--").arg(shell).args(["-c", HOLD]).env_clear();
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let process = command.spawn()?;
        let outer = process.id();
        let namespaces = Namespaces { programs: outer, monitors: (!superuser).then_some(outer) };
        // From here on its end is that of the process.
        let mut holder = Self { private: private.to_owned(), namespaces, process };
        let programs = holder.programs()?;
        holder.namespaces.programs = programs;
        if superuser {
            for map in ["uid_map", "gid_map"] {
                fs::write(format!("/proc/{programs}/{map}"), ALL_IDS)?;
            }
        }
        holder.namespaces.write(private)?;
        Ok(holder)
    }

    /// The namespaces that it holds.
    pub(super) const fn namespaces(&self) -> Namespaces {
        self.namespaces
    }

    /// Waits until the namespaces are there.
    fn programs(&mut self) -> io::Result<u32> {
        let mut line = String::new();
        if let Some(output) = self.process.stdout.as_mut() {
            BufReader::new(output).read_line(&mut line)?;
        }
        line.trim().parse().map_err(|_| io::Error::other("`unshare --user` failed"))
    }

    /// Leaves the namespaces to a program that is in them and stays as long as the desktop, with its monitor.
    ///
    /// # Errors
    /// The folder cannot be written.
    pub(crate) fn leave_to(self, program: u32, monitor: u32) -> io::Result<()> {
        let monitors = self.namespaces.monitors.map(|_| monitor);
        Namespaces { programs: program, monitors }.write(&self.private)
    }

    /// Gives the namespaces up.
    pub(super) fn give_up(self) -> io::Result<()> {
        fs::remove_file(file_in(&self.private))
    }
}

impl Drop for NamespaceHolder {
    fn drop(&mut self) {
        // It sees what is hidden, and the programs could look into it.
        drop(self.process.stdin.take());
        let _ = self.process.wait();
    }
}
