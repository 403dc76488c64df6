//! The store of experiences.

use std::{
    fmt, fs,
    path::{Path, PathBuf},
    sync::{Mutex, MutexGuard, PoisonError},
};

use deskhand_machine::retrieval::Hit;

use super::{
    error::ExperienceError,
    find::{ExperienceLookup, ExperienceLookupCost},
    forgetting::{Forget, is_stale, stale},
    index::ExperienceIndex,
    log::{ExperienceLog, ExperienceLogWriter, ExperienceRecord, Position},
    model::Experience,
    state::ExperienceSet,
};
use crate::clock::now_ms;

/// Maximum number of records that may be missing in the index: fewer are searched one by one.
pub(crate) const UNINDEXED_MAX: usize = 64;
/// The records are written anew when there are more than twice as many as experiences, and this many more.
const SURPLUS_MAX: usize = 500;

/// State read from the records so far.
#[derive(Default)]
struct ExperienceSnapshot {
    state: ExperienceSet,
    position: Position,
    version: u32,
}

/// The experiences in a folder. Several processes, and threads of each, may use it at once.
///
/// What [`add`](Self::add) and its siblings have returned is on the disk. A process that is killed at any moment leaves a store that can
/// be used; of what it was doing, either all is there or nothing.
pub struct ExperienceStore {
    folder: PathBuf,
    log: ExperienceLog,
    index: ExperienceIndex,
    seen: Mutex<ExperienceSnapshot>,
}

impl ExperienceStore {
    /// Opens the store in a folder, which is made if it is missing.
    ///
    /// # Errors
    /// The folder cannot be made, or its records cannot be read.
    pub fn open(folder: &Path) -> Result<Self, ExperienceError> {
        let failed = |problem| ExperienceError::File { action: "make", path: folder.to_owned(), problem };
        fs::create_dir_all(folder).map_err(failed)?;
        let store = Self {
            folder: folder.to_owned(),
            log: ExperienceLog::new(folder),
            index: ExperienceIndex::new(folder),
            seen: Mutex::default(),
        };
        drop(store.current()?);
        Ok(store)
    }

    /// Adds an experience in place of those with the same request (apart from numbers and quoted values) in the same applications, whose
    /// counters it keeps. False if the store has a later one. What is [stale](super::AGE_DAYS_MAX) is forgotten.
    ///
    /// # Errors
    /// The experience has no id or request, or it cannot be written.
    pub fn add(&self, experience: Experience) -> Result<bool, ExperienceError> {
        Ok(self.add_all(vec![experience])? == 1)
    }

    /// Adds many; how many were not left out for later ones. If the process is killed, the first of them may be there.
    ///
    /// # Errors
    /// As [`add`](Self::add).
    pub fn add_all(&self, experiences: Vec<Experience>) -> Result<usize, ExperienceError> {
        let experiences: Vec<Experience> = experiences.into_iter().map(Experience::clipped).collect();
        experiences.iter().try_for_each(check)?;
        let now_ms = now_ms();
        let added = self.write(|writer, seen| {
            let mut added = 0;
            let mut records = Vec::new();
            for experience in experiences {
                if let Some(record) = seen.state.adding(experience) {
                    added += 1;
                    seen.state.apply(record.clone());
                    records.push(record);
                }
            }
            let ids = stale(seen.state.all(), now_ms);
            if !ids.is_empty() {
                let record = ExperienceRecord::Forget { ids };
                seen.state.apply(record.clone());
                records.push(record);
            }
            Self::append(writer, seen, &records)?;
            Ok(added)
        })?;
        self.index_soon();
        Ok(added)
    }

    /// Counts a use of an experience, and what came of it. One that keeps failing is forgotten. False if there is none with this id.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn note_result(&self, id: &str, worked: bool) -> Result<bool, ExperienceError> {
        let at_ms = now_ms();
        self.write(|writer, seen| {
            if seen.state.get(id).is_none() {
                return Ok(false);
            }
            let mut records = vec![ExperienceRecord::Result { id: id.to_owned(), worked, at_ms }];
            records.iter().for_each(|record| seen.state.apply(record.clone()));
            if seen.state.get(id).is_some_and(|experience| is_stale(experience, at_ms)) {
                let record = ExperienceRecord::Forget { ids: vec![id.to_owned()] };
                seen.state.apply(record.clone());
                records.push(record);
            }
            Self::append(writer, seen, &records)?;
            Ok(true)
        })
    }

    /// Forgets; how many there were.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn forget(&self, what: &Forget) -> Result<usize, ExperienceError> {
        self.forget_if(|state| {
            state.all().filter(|experience| what.is_about(experience)).map(|one| one.id.clone()).collect()
        })
    }

    /// Forgets what is stale at this time, in milliseconds since 1970; how many there were. [`add`](Self::add) does so too.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn forget_stale(&self, now_ms: u64) -> Result<usize, ExperienceError> {
        self.forget_if(|state| stale(state.all(), now_ms))
    }

    fn forget_if(
        &self,
        choose: impl FnOnce(&ExperienceSet) -> Vec<String>,
    ) -> Result<usize, ExperienceError> {
        let count = self.write(|writer, seen| {
            let ids = choose(&seen.state);
            let count = ids.len();
            if count > 0 {
                let record = ExperienceRecord::Forget { ids };
                seen.state.apply(record.clone());
                Self::append(writer, seen, &[record])?;
                // What is to be forgotten must not stay in the file.
                Self::rewrite(writer, seen)?;
            }
            Ok(count)
        })?;
        if count > 0 {
            self.index_soon();
        }
        Ok(count)
    }

    /// All experiences, by id.
    ///
    /// # Errors
    /// The records cannot be read.
    pub fn list(&self) -> Result<Vec<Experience>, ExperienceError> {
        Ok(self.current()?.state.all().cloned().collect())
    }

    /// The experience with this id.
    ///
    /// # Errors
    /// The records cannot be read.
    pub fn show(&self, id: &str) -> Result<Option<Experience>, ExperienceError> {
        Ok(self.current()?.state.get(id).cloned())
    }

    /// The experiences that fit what is wanted, at most `hits_max`: what worked first, then warnings of what failed and why. Those of
    /// other applications come later.
    ///
    /// # Errors
    /// The records cannot be read.
    pub fn find(
        &self,
        wanted: &str,
        application: Option<&str>,
        hits_max: usize,
    ) -> Result<Vec<Hit>, ExperienceError> {
        Ok(self.find_counted(wanted, application, hits_max)?.0)
    }

    /// The same, with the work that it took.
    pub(crate) fn find_counted(
        &self,
        wanted: &str,
        application: Option<&str>,
        hits_max: usize,
    ) -> Result<(Vec<Hit>, ExperienceLookupCost), ExperienceError> {
        let mut finder = ExperienceLookup::new(wanted, application);
        finder.choose(&self.index, &self.log)?;
        if finder.unindexed() > UNINDEXED_MAX && self.index.catch_up(&self.log)? {
            finder.choose(&self.index, &self.log)?;
        }
        let seen = self.current()?;
        Ok(finder.hits(&seen.state, hits_max))
    }

    /// The experiences as the records are now.
    fn current(&self) -> Result<MutexGuard<'_, ExperienceSnapshot>, ExperienceError> {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        self.refresh(&mut seen)?;
        Ok(seen)
    }

    fn refresh(&self, seen: &mut ExperienceSnapshot) -> Result<(), ExperienceError> {
        let read = self.log.read_since(&seen.position)?;
        if read.is_all {
            seen.state = ExperienceSet::default();
        }
        if read.unknown > 0 {
            let folder = self.folder.display();
            tracing::warn!(%folder, lines = read.unknown, "lines of the experiences are damaged or unknown");
        }
        seen.version = read.version;
        seen.position = read.position;
        read.records.into_iter().for_each(|record| seen.state.apply(record));
        Ok(())
    }

    /// Runs a change of the records, alone among all processes.
    fn write<T>(
        &self,
        change: impl FnOnce(&ExperienceLogWriter<'_>, &mut ExperienceSnapshot) -> Result<T, ExperienceError>,
    ) -> Result<T, ExperienceError> {
        let writer = self.log.lock()?;
        let mut seen = self.current()?;
        writer.check_version(seen.version)?;
        if seen.position.generation.is_empty() {
            // There is no file yet, or its first line is damaged.
            writer.rewrite(&records(&seen.state))?;
            self.refresh(&mut seen)?;
        }
        let result = change(&writer, &mut seen);
        let count = seen.state.records();
        if result.is_ok() && count > seen.state.len().saturating_mul(2).saturating_add(SURPLUS_MAX) {
            Self::rewrite(&writer, &mut seen)?;
        }
        if result.is_err() {
            // What was applied may not be on the disk.
            *seen = ExperienceSnapshot::default();
        }
        result
    }

    fn append(
        writer: &ExperienceLogWriter<'_>,
        seen: &mut ExperienceSnapshot,
        records: &[ExperienceRecord],
    ) -> Result<(), ExperienceError> {
        if !records.is_empty() {
            seen.position.offset += writer.append(records, &seen.position)?;
        }
        Ok(())
    }

    fn rewrite(
        writer: &ExperienceLogWriter<'_>,
        seen: &mut ExperienceSnapshot,
    ) -> Result<(), ExperienceError> {
        writer.rewrite(&records(&seen.state))?;
        // It is read anew with the next call.
        *seen = ExperienceSnapshot::default();
        Ok(())
    }

    /// Brings the index up if much is missing. A failure is no failure of what was stored: a look-up tries again.
    fn index_soon(&self) {
        let is_due = || -> Result<bool, ExperienceError> {
            let mut finder = ExperienceLookup::new("", None);
            finder.choose(&self.index, &self.log)?;
            Ok(finder.unindexed() > UNINDEXED_MAX / 2)
        };
        if let Err(error) = is_due().and_then(|is_due| Ok(is_due && self.index.catch_up(&self.log)?)) {
            tracing::warn!(%error, "the index of experiences is not up to date");
        }
    }
}

/// The records that lead to a state.
fn records(state: &ExperienceSet) -> Vec<ExperienceRecord> {
    let all = state.all().cloned();
    all.map(|experience| ExperienceRecord::Add { experience: Box::new(experience), replaces: Vec::new() })
        .collect()
}

fn check(experience: &Experience) -> Result<(), ExperienceError> {
    let problem = match experience {
        Experience { id, .. } if id.trim().is_empty() || id.len() > 200 => {
            "its id must have 1 to 200 bytes; give it another one"
        }
        Experience { request, .. } if request.is_empty() => "its request is empty; say what was done",
        _ => return Ok(()),
    };
    Err(ExperienceError::Invalid { id: experience.id.clone(), problem: problem.to_owned() })
}

impl fmt::Debug for ExperienceStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ExperienceStore").field("folder", &self.folder).finish_non_exhaustive()
    }
}

#[cfg(test)]
#[path = "store_tests.rs"]
mod tests;
