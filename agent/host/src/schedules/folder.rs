//! The folder of schedules: what is to be done, and what became of the last time.

use std::{
    collections::BTreeMap,
    fs::{self, File, TryLockError},
    io,
    path::{Path, PathBuf},
};

use deskhand_machine::{
    provenance::Provenance,
    workflow::{StepConsequence, SummaryLine, Workflow, WorkflowSummary},
};
use deskhand_runtime::{InstructionKind, SealFolder, now_ms, private};
use deskhand_ui::ids::SessionId;
use jiff::{Timestamp, Zoned, tz::TimeZone};
use serde::{Deserialize, Serialize, de::DeserializeOwned};

use super::{Calendar, ScheduleError};
use crate::{
    instructions::Instructions,
    named_files::{names, write_whole},
};

/// The version of the format that this code writes.
const FORMAT: u32 = 1;
/// File name endings of a schedule: its definition, its last run, and the lock that is held while it runs.
const FILE: &str = ".toml";
const LAST: &str = ".last.json";
const LOCK: &str = ".lock";
/// The largest file that is read, in bytes.
const BYTES_MAX: u64 = 1 << 20;

/// Work that begins at set times.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Schedule {
    /// The version of the format.
    pub format: u32,
    /// When it begins: a calendar expression.
    pub when: String,
    /// If `true`, a time that passed while no process watched the schedule is made up for, once.
    #[serde(default)]
    pub catch_up: bool,
    /// Who begins it.
    pub keeper: Keeper,
    /// When it was made, in milliseconds since 1970.
    pub added_ms: u64,
    /// Documents and addresses to open first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub open: Vec<PathBuf>,
    /// Options of `deskhand run`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<String>,
    /// Work that the schedule starts.
    pub work: ScheduledWork,
    /// Who made its file, by its seal. It is not written into the file.
    #[serde(skip)]
    pub provenance: Provenance,
}

/// Work that a schedule starts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ScheduledWork {
    /// Agents carry out a request.
    Request(String),
    /// A workflow runs.
    Workflow {
        /// Its name.
        name: String,
        /// The values of its parameters.
        #[serde(default)]
        parameters: BTreeMap<String, String>,
    },
}

/// Who begins a schedule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Keeper {
    /// A timer of the systemd user manager.
    Systemd,
    /// `deskhand serve`, as long as it runs.
    Service,
}

/// The last time that a schedule ran.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LastRun {
    /// When it began, in milliseconds since 1970.
    pub begun_ms: u64,
    /// When it ended.
    pub ended_ms: Option<u64>,
    /// Its session, which is there once it has begun.
    pub session: String,
    /// Why it did not come to a session.
    pub problem: Option<String>,
}

/// A run of a schedule: nobody else runs it as long as this is held.
#[derive(Debug)]
pub struct Claim {
    _lock: File,
    path: PathBuf,
    last: LastRun,
}

/// The schedules of a folder, which need not exist.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Schedules {
    folder: PathBuf,
    /// The seals of those that the user made or trusts; without them, all are strangers'.
    seals: Option<SealFolder>,
}

impl Schedule {
    /// Work at set times.
    ///
    /// # Errors
    /// The time is none.
    pub fn new(when: &str, work: ScheduledWork, keeper: Keeper) -> Result<Self, ScheduleError> {
        let calendar: Calendar = when.parse().map_err(ScheduleError::When)?;
        let when = calendar.to_string();
        let added_ms = now_ms();
        Ok(Self {
            format: FORMAT,
            when,
            catch_up: false,
            keeper,
            added_ms,
            open: Vec::new(),
            options: Vec::new(),
            work,
            provenance: Provenance::default(),
        })
    }

    /// Returns a summary of the work, without the steps of its workflow.
    pub fn summary(&self) -> WorkflowSummary {
        let mut texts = Vec::new();
        let mut lines = Vec::new();
        match &self.work {
            ScheduledWork::Request(request) => texts.push(request.clone()),
            ScheduledWork::Workflow { name, parameters } => {
                let values = parameters.iter().map(|(name, value)| format!(" --{name} “{value}”"));
                texts.push(format!("runs the workflow {name}{}", values.collect::<String>()));
            }
        }
        if !self.options.is_empty() {
            texts.push(format!("with the options {}", self.options.join(" ")));
        }
        for text in &texts {
            lines.push(SummaryLine::new(StepConsequence::Asks, text));
            lines.extend(SummaryLine::reached(text, "the schedule"));
        }
        for document in &self.open {
            let document = document.display().to_string();
            lines.push(SummaryLine::new(StepConsequence::Opens, &document));
            lines.extend(SummaryLine::reached(&document, "opened first"));
        }
        WorkflowSummary::new(lines)
    }

    /// When it is due for the first time after a moment, in milliseconds since 1970.
    pub fn due_after(&self, ms: u64) -> Option<u64> {
        let calendar: Calendar = self.when.parse().ok()?;
        let after = Timestamp::from_millisecond(i64::try_from(ms).ok()?).ok()?;
        let after: Zoned = after.to_zoned(TimeZone::system());
        u64::try_from(calendar.next(&after)?.timestamp().as_millisecond()).ok()
    }
}

impl Schedules {
    /// The schedules of this folder.
    pub fn at(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into(), seals: None }
    }

    /// The same, which knows by their seals which of them the user made or trusts.
    #[must_use]
    pub fn with_seals(self, seals: SealFolder) -> Self {
        Self { seals: Some(seals), ..self }
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// All names, sorted.
    ///
    /// # Errors
    /// The folder cannot be read.
    pub fn names(&self) -> Result<Vec<String>, ScheduleError> {
        let failed = |source| ScheduleError::File { what: "read", path: self.folder.clone(), source };
        names(&self.folder, FILE).map_err(failed)
    }

    /// A schedule by its name.
    ///
    /// # Errors
    /// There is none, or its file is no schedule.
    pub fn find(&self, name: &str) -> Result<Schedule, ScheduleError> {
        self.read(name).map(|(schedule, _)| schedule)
    }

    /// Seals a schedule, as one that the user has looked at and trusts: this content of it, and no other one.
    ///
    /// # Errors
    /// It is gone or was changed since it was looked at, or the seal cannot be written.
    pub fn trust(&self, name: &str, looked_at: &Schedule) -> Result<Schedule, ScheduleError> {
        let (found, mut file) = self.read(name)?;
        if found != *looked_at {
            let problem = "it was changed while it was looked at".to_owned();
            return Err(ScheduleError::Form { path: file.path, problem });
        }
        let path = file.path.clone();
        let sealed = self.seals.as_ref().map_or(Ok(()), |seals| file.trust(seals));
        sealed.map_err(|source| ScheduleError::Seal { path, source })?;
        Ok(Schedule { provenance: file.provenance, ..found })
    }

    fn read(&self, name: &str) -> Result<(Schedule, Instructions), ScheduleError> {
        let path = self.path(name, FILE)?;
        let kind = InstructionKind::Schedule;
        let failed = |source: io::Error| {
            if source.kind() == io::ErrorKind::NotFound {
                ScheduleError::Missing { name: name.to_owned() }
            } else {
                ScheduleError::File { what: "read", path: path.clone(), source }
            }
        };
        let file = Instructions::read(&path, kind, BYTES_MAX, self.seals.as_ref()).map_err(failed)?;
        let form = |problem: String| ScheduleError::Form { path: path.clone(), problem };
        let text = file.text().map_err(|error| form(error.to_string()))?;
        let schedule: Schedule = toml::from_str(text).map_err(|error| form(error.to_string()))?;
        schedule.when.parse::<Calendar>().map_err(form)?;
        Ok((Schedule { provenance: file.provenance, ..schedule }, file))
    }

    /// Returns the result of the last run; `None` if the schedule never ran.
    pub fn last(&self, name: &str) -> Option<LastRun> {
        read_json(&self.path(name, LAST).ok()?)
    }

    /// Returns `true` if it runs.
    pub fn is_running(&self, name: &str) -> bool {
        let lock = self.path(name, LOCK).ok().and_then(|path| File::open(path).ok());
        lock.is_some_and(|lock| matches!(lock.try_lock_shared(), Err(TryLockError::WouldBlock)))
    }

    /// Checks that a schedule of this name can be added.
    ///
    /// # Errors
    /// The name is none, or there is one of it.
    pub fn check_new(&self, name: &str) -> Result<(), ScheduleError> {
        let taken = self.path(name, FILE)?.exists();
        if taken { Err(ScheduleError::Exists { name: name.to_owned() }) } else { Ok(()) }
    }

    /// Writes a new schedule of the user, and seals it.
    ///
    /// # Errors
    /// The name is none, there is one of it, or it cannot be written.
    pub fn add(&self, name: &str, schedule: &Schedule) -> Result<(), ScheduleError> {
        self.check_new(name)?;
        let path = self.path(name, FILE)?;
        let form =
            |error: toml::ser::Error| ScheduleError::Form { path: path.clone(), problem: error.to_string() };
        let text = toml::to_string_pretty(schedule).map_err(form)?;
        self.write(&path, text.as_bytes())?;
        let (kind, made) = (InstructionKind::Schedule, Provenance::Made);
        let sealed = self.seals.as_ref().map_or(Ok(()), |seals| seals.vouch(kind, text.as_bytes(), made));
        sealed.map_err(|source| ScheduleError::Seal { path, source })
    }

    /// Removes a schedule. What runs goes on.
    ///
    /// # Errors
    /// There is none, or it cannot be removed.
    pub fn remove(&self, name: &str) -> Result<(), ScheduleError> {
        let path = self.path(name, FILE)?;
        match fs::remove_file(&path) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(ScheduleError::Missing { name: name.to_owned() });
            }
            Err(source) => return Err(ScheduleError::File { what: "remove", path, source }),
        }
        // The lock stays: who holds it must not be joined by somebody with another one.
        fs::remove_file(self.path(name, LAST)?).ok();
        Ok(())
    }

    /// Begins a run in a session. `due` is the time that it is for, if it is for one: nobody begins it twice.
    ///
    /// # Errors
    /// It runs already, or began for that time; or the folder cannot be written to.
    pub fn claim(&self, name: &str, session: &SessionId, due: Option<u64>) -> Result<Claim, ScheduleError> {
        let path = self.path(name, LOCK)?;
        let failed = |source| ScheduleError::File { what: "lock", path: path.clone(), source };
        let lock = File::options()
            .create(true)
            .truncate(false)
            .write(true)
            .read(true)
            .open(&path)
            .map_err(failed)?;
        let running = || ScheduleError::Running { name: name.to_owned() };
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(running()),
            Err(TryLockError::Error(source)) => return Err(failed(source)),
        }
        if let (Some(last), Some(due)) = (self.last(name), due)
            && last.begun_ms >= due
        {
            return Err(running());
        }
        let last = LastRun { begun_ms: now_ms(), ended_ms: None, session: session.0.clone(), problem: None };
        let claim = Claim { _lock: lock, path: self.path(name, LAST)?, last };
        self.write(&claim.path, &serde_json::to_vec(&claim.last).unwrap_or_default())?;
        Ok(claim)
    }

    /// A file of a schedule. Only a name is a name of one.
    fn path(&self, name: &str, end: &str) -> Result<PathBuf, ScheduleError> {
        if !Workflow::is_name(name) {
            return Err(ScheduleError::Name { name: name.to_owned() });
        }
        Ok(self.folder.join(format!("{name}{end}")))
    }

    fn write(&self, path: &Path, bytes: &[u8]) -> Result<(), ScheduleError> {
        let write = || {
            private::create_folders(&self.folder)?;
            write_whole(path, bytes)
        };
        write().map_err(|source| ScheduleError::File { what: "write", path: path.to_owned(), source })
    }
}

impl Claim {
    /// The session of the run.
    pub fn session(&self) -> &str {
        &self.last.session
    }

    /// Writes down that the run is over, and why it did not come to a session if it did not.
    ///
    /// # Errors
    /// That cannot be written.
    pub fn end(mut self, problem: Option<String>) -> Result<(), ScheduleError> {
        (self.last.ended_ms, self.last.problem) = (Some(now_ms()), problem);
        let bytes = serde_json::to_vec(&self.last).unwrap_or_default();
        let written = write_whole(&self.path, &bytes);
        written.map_err(|source| ScheduleError::File { what: "write", path: self.path.clone(), source })
    }
}

fn read_json<T: DeserializeOwned>(path: &Path) -> Option<T> {
    let is_small = fs::metadata(path).ok()?.len() <= BYTES_MAX;
    serde_json::from_slice(&private::read_deciding(path).ok().filter(|_| is_small)?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schedules_are_kept_claimed_and_removed() {
        let folder = tempfile::tempdir().unwrap();
        let schedules = Schedules::at(folder.path().join("schedules"));
        let work = ScheduledWork::Workflow {
            name: "chart".to_owned(),
            parameters: BTreeMap::from([("quarter".to_owned(), "Q3\n%n $HOME".to_owned())]),
        };
        let schedule = Schedule {
            options: vec!["--max-cost=1".to_owned()],
            ..Schedule::new("Mon..Fri 07:00", work, Keeper::Service).unwrap()
        };
        schedules.add("report", &schedule).unwrap();
        assert_eq!(schedules.find("report").unwrap(), schedule);
        assert!(matches!(schedules.add("report", &schedule), Err(ScheduleError::Exists { .. })));
        for name in ["../report", "", "a b", ".x", "x.y"] {
            assert!(matches!(schedules.add(name, &schedule), Err(ScheduleError::Name { .. })), "{name}");
            assert!(matches!(schedules.remove(name), Err(ScheduleError::Name { .. })), "{name}");
        }
        fs::write(folder.path().join("schedules/broken.toml"), "when = 1").unwrap();
        assert_eq!(schedules.names().unwrap(), ["broken", "report"]);
        assert!(matches!(schedules.find("broken"), Err(ScheduleError::Form { .. })));
        let due = schedule.due_after(now_ms()).unwrap();
        assert!(due > now_ms());

        let sealing = schedules.clone().with_seals(SealFolder::at(folder.path().join("seals")));
        let of = |name: &str| sealing.find(name).unwrap().provenance;
        sealing.add("own", &schedule).unwrap();
        assert_eq!([of("own"), of("report")], [Provenance::Made; 2], "they have the same content");
        let path = folder.path().join("schedules/own.toml");
        let text = fs::read_to_string(&path).unwrap();
        fs::write(&path, text.replace("Mon..Fri", "Sat")).unwrap();
        let changed = sealing.find("own").unwrap();
        assert_eq!(changed.provenance, Provenance::Stranger);
        fs::write(&path, text.replace("Mon..Fri", "Sun")).unwrap();
        assert!(sealing.trust("own", &changed).is_err(), "another one than was looked at");
        let changed = sealing.find("own").unwrap();
        assert_eq!(sealing.trust("own", &changed).unwrap().provenance, Provenance::Trusted);
        assert_eq!(of("own"), Provenance::Trusted);
        let summary = changed.summary().to_string();
        assert!(summary.contains("runs the workflow chart") && summary.contains("--max-cost=1"), "{summary}");
        sealing.remove("own").unwrap();

        let session = SessionId("5".to_owned());
        let claim = schedules.claim("report", &session, None).unwrap();
        assert!(schedules.is_running("report"));
        assert!(matches!(schedules.claim("report", &session, None), Err(ScheduleError::Running { .. })));
        claim.end(Some("no model".to_owned())).unwrap();
        let last = schedules.last("report").unwrap();
        assert!(last.ended_ms.is_some() && last.problem.as_deref() == Some("no model"), "{last:?}");
        assert!(!schedules.is_running("report"));
        // What was due before is begun already; what is due later is not.
        assert!(matches!(schedules.claim("report", &session, Some(1)), Err(ScheduleError::Running { .. })));
        drop(schedules.claim("report", &session, Some(due)).unwrap());
        schedules.remove("report").unwrap();
        assert!(matches!(schedules.remove("report"), Err(ScheduleError::Missing { .. })));
        assert_eq!(schedules.last("report"), None);
    }
}
