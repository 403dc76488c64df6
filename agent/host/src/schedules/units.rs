//! Timers of the systemd user manager.

use std::{
    env, fs, io,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use super::{Schedule, ScheduleError};
use crate::named_files::write_whole;

/// The timers of the user, where a systemd user manager answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Timers {
    /// The folder of the unit files.
    folder: PathBuf,
    /// The program that a timer runs.
    program: PathBuf,
    /// The folder of the sessions.
    state: PathBuf,
}

impl Timers {
    /// Those of the user; `None` if there is no user manager that answers.
    pub fn of_user(program: &Path, state: &Path) -> Option<Self> {
        let folder = match env::var_os("XDG_CONFIG_HOME").filter(|folder| !folder.is_empty()) {
            Some(folder) => PathBuf::from(folder),
            None => PathBuf::from(env::var_os("HOME")?).join(".config"),
        };
        let answers = manager(&["show-environment"]).is_ok();
        answers.then(|| Self::new(&folder.join("systemd/user"), program, state))
    }

    fn new(folder: &Path, program: &Path, state: &Path) -> Self {
        let state = std::path::absolute(state).unwrap_or_else(|_| state.to_owned());
        Self { folder: folder.to_owned(), program: program.to_owned(), state }
    }

    /// Makes the timer of a schedule.
    ///
    /// # Errors
    /// There is a unit of this name already, its files cannot be written, or the manager refuses them.
    pub fn add(&self, name: &str, schedule: &Schedule) -> Result<(), ScheduleError> {
        let written = self.units(name, schedule);
        if written.iter().any(|(path, _)| path.exists()) {
            return Err(ScheduleError::Exists { name: unit(name, "timer") });
        }
        for (path, text) in &written {
            let write = || {
                fs::create_dir_all(&self.folder)?;
                write_whole(path, text.as_bytes())
            };
            write().map_err(|source| ScheduleError::File { what: "write", path: path.clone(), source })?;
        }
        let timer = unit(name, "timer");
        let begun = manager(&["daemon-reload"]).and_then(|()| manager(&["enable", "--now", &timer]));
        if begun.is_err() {
            self.remove(name).ok();
        }
        begun
    }

    /// Removes the timer of a schedule. What runs goes on.
    ///
    /// # Errors
    /// A file cannot be removed.
    pub fn remove(&self, name: &str) -> Result<(), ScheduleError> {
        manager(&["disable", "--now", &unit(name, "timer")]).ok();
        for kind in ["timer", "service"] {
            let path = self.folder.join(unit(name, kind));
            match fs::remove_file(&path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    return Err(ScheduleError::File { what: "remove", path, source: error });
                }
                Ok(()) | Err(_) => {}
            }
        }
        manager(&["daemon-reload"]).ok();
        Ok(())
    }

    /// The unit files. Of the schedule, only its name and time stand in them: both can be nothing else.
    fn units(&self, name: &str, schedule: &Schedule) -> [(PathBuf, String); 2] {
        let (program, state) = (quoted(&self.program), quoted(&self.state));
        let service = format!(
            "[Unit]\nDescription=Deskhand schedule {name}\n\n[Service]\nType=oneshot\n\
             # A desktop that is kept for you outlives the run.\nKillMode=process\n\
             # By way of another program: the name of the first one may have no special characters.
             ExecStart=/usr/bin/env {program} schedule --state-dir {state} run {name}\n"
        );
        let timer = format!(
            "[Unit]\nDescription=Deskhand schedule {name}\n\n[Timer]\nOnCalendar={}\nPersistent={}\n\n\
             [Install]\nWantedBy=timers.target\n",
            schedule.when, schedule.catch_up
        );
        let file = |kind| self.folder.join(unit(name, kind));
        [(file("service"), service), (file("timer"), timer)]
    }
}

fn unit(name: &str, kind: &str) -> String {
    format!("deskhand-{name}.{kind}")
}

/// A path as a word of `ExecStart=`, in which `%`, `$`, quotes and backslashes stand for themselves.
fn quoted(path: &Path) -> String {
    let mut quoted = String::from("\"");
    for c in path.to_string_lossy().chars() {
        match c {
            '%' => quoted.push_str("%%"),
            '$' => quoted.push_str("$$"),
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

/// Asks the user manager for something.
fn manager(arguments: &[&str]) -> Result<(), ScheduleError> {
    let failed = |problem: String| ScheduleError::Manager { what: arguments.join(" "), problem };
    let asked = Command::new("systemctl").arg("--user").args(arguments).stdin(Stdio::null()).output();
    let asked = asked.map_err(|error| failed(error.to_string()))?;
    if asked.status.success() {
        return Ok(());
    }
    Err(failed(String::from_utf8_lossy(&asked.stderr).trim().to_owned()))
}

#[cfg(test)]
mod tests {
    use super::{
        super::{Keeper, ScheduledWork},
        *,
    };

    #[test]
    fn a_request_cannot_add_anything_to_a_unit() {
        let home = tempfile::tempdir().unwrap();
        // The program of a test stands for ours: what is verified is that systemd reads the unit as it is meant.
        let odd = home.path().join("a $HOME %h \"b\" \\c");
        fs::create_dir(&odd).unwrap();
        let program = odd.join("deskhand");
        std::os::unix::fs::symlink("/bin/true", &program).unwrap();
        let timers = Timers::new(home.path(), &program, &odd);
        let evil = "x\nExecStart=/bin/sh -c evil\n%n $HOME";
        let schedule =
            Schedule::new("Mon..Fri 07:00", ScheduledWork::Request(evil.to_owned()), Keeper::Systemd)
                .unwrap();
        let units = timers.units("report", &Schedule { catch_up: true, ..schedule });
        for (path, text) in &units {
            assert!(!text.contains("evil") && !text.contains("%n"), "{text}");
            fs::write(path, text).unwrap();
        }
        let [(service, text), (timer, timed)] = &units;
        assert!(timed.contains("OnCalendar=Mon..Fri *-*-* 07:00:00\nPersistent=true\n"), "{timed}");
        assert_eq!(text.matches("ExecStart=").count(), 1);
        let mut verify = Command::new("systemd-analyze");
        verify.args(["--user", "verify"]).args([service, timer]).env("XDG_RUNTIME_DIR", home.path());
        // Where systemd is not installed, it is not asked.
        if let Ok(verified) = verify.output() {
            let said = String::from_utf8_lossy(&verified.stderr);
            assert!(verified.status.success() && !said.contains("deskhand-report"), "{said}");
        }
    }
}
