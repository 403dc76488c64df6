//! The catalogue: what is known of every session of a store, kept up to date with their journals.

use std::{
    collections::{BTreeMap, HashMap},
    num::NonZero,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use deskhand_ui::text::error_chain;

use super::{
    facts::SessionFacts,
    index::{self, CatalogueEntry, ReadFacts},
    reading::{JournalFollower, JournalStamp, facts_of, is_of_content, use_of},
    row::{CatalogueRow, SessionState, Unreadable},
};
use crate::{
    clock::now_ms,
    journal::{JournalError, SessionFolder, SessionStore},
};

/// The most sessions in progress that are followed, each with its journal open; the others are read whole each time.
const FOLLOWED_MAX: usize = 64;
/// The most journals that are read at the same time.
const READERS_MAX: usize = 8;
/// Number of journals read before the index may be replaced again.
const READ_AT_ONCE: usize = 256;
/// Minimum interval between replacements of the index, unless it lacks many sessions.
const SAVED_EVERY: Duration = Duration::from_secs(5);
/// Maximum number of sessions that the index may lack for that interval.
const UNSAVED_MAX: usize = 64;

/// Catalogue of the sessions of a store. [`Catalogue::refresh`] brings it up to date; all other functions answer
/// from memory.
///
/// The catalogue is stored in an index beside the sessions, so that a journal is read once, and again when it
/// changed. A process that holds a catalogue in memory reads only the new part of sessions in progress.
pub struct Catalogue {
    store: SessionStore,
    entries: BTreeMap<String, CataloguedSession>,
    followed: HashMap<String, JournalFollower>,
    /// The number of sessions about which the index is wrong or says nothing.
    unsaved: usize,
    saved_at: Option<Instant>,
}

/// Catalogue entry of a session.
struct CataloguedSession {
    entry: CatalogueEntry,
    in_use: bool,
}

/// A session to read.
struct CatalogueReadJob {
    folder: SessionFolder,
    name: String,
    stamp: JournalStamp,
    in_use: bool,
    free_since: Option<i64>,
    following: Option<JournalFollower>,
}

/// A session that was read.
struct CatalogueReadResult {
    name: String,
    known: CataloguedSession,
    following: Option<JournalFollower>,
}

impl Catalogue {
    /// The catalogue of a store as the index has it; it may be out of date until the first [`refresh`](Self::refresh).
    pub fn open(store: SessionStore) -> Self {
        let entries = index::read(store.root())
            .into_iter()
            .map(|(name, entry)| (name, CataloguedSession { entry, in_use: false }))
            .collect();
        Self { store, entries, followed: HashMap::new(), unsaved: 0, saved_at: None }
    }

    /// A catalogue that knows these sessions, for tests of what is asked of it.
    #[cfg(test)]
    pub(super) fn of(sessions: impl IntoIterator<Item = (String, SessionFacts, bool)>) -> Self {
        let known = |facts, in_use| CataloguedSession {
            entry: CatalogueEntry {
                read: ReadFacts::Facts(Box::new(facts)),
                stamp: JournalStamp::default(),
                read_ms: 0,
                free_since: None,
            },
            in_use,
        };
        let entries = sessions.into_iter().map(|(name, facts, in_use)| (name, known(facts, in_use)));
        Self { entries: entries.collect(), ..Self::open(SessionStore::at("/nonexistent", "/nonexistent")) }
    }

    /// The store.
    pub const fn store(&self) -> &SessionStore {
        &self.store
    }

    /// Compares with the journals on disk: reads what is new or changed, and forgets what is gone. Blocking; replaces the index at most
    /// every few seconds. A session that cannot be read hides no others.
    ///
    /// # Errors
    /// [`JournalError::File`] if the folder of the sessions cannot be read. A missing one is empty.
    pub fn refresh(&mut self) -> Result<(), JournalError> {
        let now_ms = now_ms();
        let folders = self.store.folders()?;
        let mut jobs = Vec::new();
        let mut before = std::mem::take(&mut self.entries);
        for folder in folders {
            let name = folder.name();
            let known = before.remove(&name);
            let free_since = known.as_ref().and_then(|known| known.entry.free_since);
            // In this order, what was written before the lock was released is not missed.
            let (in_use, free_since) = use_of(&folder, free_since, now_ms);
            let Ok(Some(stamp)) = JournalStamp::of(&folder) else {
                self.unsaved += usize::from(known.is_some());
                continue;
            };
            match known {
                Some(known) if is_current(&known.entry, stamp, in_use) => {
                    self.unsaved += usize::from(known.in_use && !in_use);
                    let entry = CatalogueEntry { free_since, ..known.entry };
                    self.entries.insert(name, CataloguedSession { in_use, entry });
                }
                Some(_) | None => {
                    let following = self.followed.remove(&name);
                    jobs.push(CatalogueReadJob { folder, name, stamp, in_use, free_since, following });
                }
            }
        }
        self.unsaved += before.len();
        self.read(jobs, now_ms);
        let entries = &self.entries;
        self.followed.retain(|name, _| entries.get(name).is_some_and(|known| known.in_use));
        if self.is_due() || self.unsaved >= UNSAVED_MAX {
            self.save();
        }
        Ok(())
    }

    /// Reads sessions. What was read of many is saved now and then, so that an interruption does not lose it.
    fn read(&mut self, jobs: Vec<CatalogueReadJob>, now_ms: u64) {
        let mut jobs = jobs.into_iter().peekable();
        while jobs.peek().is_some() {
            for done in read_all(jobs.by_ref().take(READ_AT_ONCE).collect(), now_ms) {
                let CatalogueReadResult { name, known, following } = done;
                self.unsaved += usize::from(!known.in_use);
                if let Some(following) = following
                    && known.in_use
                    && self.followed.len() < FOLLOWED_MAX
                {
                    self.followed.insert(name.clone(), following);
                }
                self.entries.insert(name, known);
            }
            if jobs.peek().is_some() && self.is_due() {
                self.save();
            }
        }
    }

    /// Every session, newest first.
    pub fn rows(&self) -> impl Iterator<Item = CatalogueRow<'_>> {
        self.entries.iter().rev().filter_map(|(name, known)| match &known.entry.read {
            ReadFacts::Facts(facts) => Some(row(name, facts, known.in_use)),
            ReadFacts::Problem(_) => None,
        })
    }

    /// The sessions that cannot be read, newest first.
    pub fn unreadable(&self) -> impl Iterator<Item = Unreadable> {
        self.entries.iter().rev().filter_map(|(name, known)| match &known.entry.read {
            ReadFacts::Facts(_) => None,
            ReadFacts::Problem(problem) => Some(Unreadable { id: name.clone(), problem: problem.clone() }),
        })
    }

    /// One session; `None` if there is none of that id, or if it cannot be read.
    pub fn row(&self, id: &str) -> Option<CatalogueRow<'_>> {
        let (name, known) = self.entries.get_key_value(id)?;
        match &known.entry.read {
            ReadFacts::Facts(facts) => Some(row(name, facts, known.in_use)),
            ReadFacts::Problem(_) => None,
        }
    }

    /// Returns `true` if the index may be replaced again.
    fn is_due(&self) -> bool {
        self.saved_at.is_none_or(|at| at.elapsed() >= SAVED_EVERY)
    }

    /// Replaces the index if it lacks something. Failures are only logged: without it, journals are read again.
    fn save(&mut self) {
        if self.unsaved == 0 {
            return;
        }
        // What is in progress will have changed when it is read back.
        let settled = self.entries.iter().filter(|(_, known)| !known.in_use);
        match index::write(self.store.root(), settled.map(|(name, known)| (name.as_str(), &known.entry))) {
            Ok(true) => self.unsaved = 0,
            Ok(false) => {}
            Err(error) => tracing::debug!(%error, "failed to write the index of the sessions"),
        }
        self.saved_at = Some(Instant::now());
    }
}

fn row<'a>(name: &'a str, facts: &'a SessionFacts, in_use: bool) -> CatalogueRow<'a> {
    let state = match (in_use, facts.is_broken_off()) {
        (true, _) => SessionState::Running,
        (false, true) => SessionState::Interrupted,
        (false, false) => SessionState::Ended,
    };
    CatalogueRow { id: name, state, place: "", facts }
}

/// Returns `true` if an entry says what there is now. Who holds the lock of a session only appends to its journal, which then is longer; others
/// could replace it within one tick of the clock of the file system.
fn is_current(entry: &CatalogueEntry, stamp: JournalStamp, in_use: bool) -> bool {
    entry.stamp == stamp && (in_use || !entry.stamp.is_fresh(entry.read_ms))
}

/// Reads sessions side by side.
fn read_all(jobs: Vec<CatalogueReadJob>, now_ms: u64) -> Vec<CatalogueReadResult> {
    let readers = thread::available_parallelism().map_or(1, NonZero::get).min(READERS_MAX).min(jobs.len());
    if readers <= 1 {
        return jobs.into_iter().filter_map(|job| read(job, now_ms)).collect();
    }
    let jobs: Vec<Mutex<Option<CatalogueReadJob>>> =
        jobs.into_iter().map(|job| Mutex::new(Some(job))).collect();
    let next = AtomicUsize::new(0);
    let work = || {
        let mut done = Vec::new();
        while let Some(job) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
            let job = job.lock().unwrap_or_else(PoisonError::into_inner).take();
            done.extend(job.and_then(|job| read(job, now_ms)));
        }
        done
    };
    thread::scope(|scope| {
        let readers: Vec<_> = (0..readers).map(|_| scope.spawn(work)).collect();
        // A reader that panicked has read nothing.
        readers.into_iter().filter_map(|reader| reader.join().ok()).flatten().collect()
    })
}

/// Reads one session; `None` if it was removed meanwhile.
fn read(job: CatalogueReadJob, now_ms: u64) -> Option<CatalogueReadResult> {
    let CatalogueReadJob { folder, name, stamp, in_use, free_since, following } = job;
    let (facts, following) = match read_facts(&folder, stamp, in_use, following) {
        Ok((facts, following)) => (ReadFacts::Facts(Box::new(facts)), following),
        Err(error) => {
            JournalStamp::of(&folder).ok()??;
            // Other problems may be gone next time.
            let read_ms = if is_of_content(&error) { now_ms } else { 0 };
            let problem = ReadFacts::Problem(error_chain(&error));
            let known = CataloguedSession {
                entry: CatalogueEntry { stamp, read_ms, free_since, read: problem },
                in_use,
            };
            return Some(CatalogueReadResult { name, known, following: None });
        }
    };
    let entry = CatalogueEntry { stamp, read_ms: now_ms, free_since, read: facts };
    Some(CatalogueReadResult { name, known: CataloguedSession { entry, in_use }, following })
}

fn read_facts(
    folder: &SessionFolder,
    stamp: JournalStamp,
    in_use: bool,
    following: Option<JournalFollower>,
) -> Result<(SessionFacts, Option<JournalFollower>), JournalError> {
    if let Some(mut following) = following
        && following.go_on(stamp)?
    {
        return Ok((following.facts(), Some(following)));
    }
    if in_use && let Some(following) = JournalFollower::begin(folder, stamp)? {
        return Ok((following.facts(), Some(following)));
    }
    Ok((facts_of(folder)?, None))
}
