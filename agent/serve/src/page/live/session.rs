//! One session that is watched.
//!
//! Those who watch hold a number up to which they know everything, and ask what is new when it grows. So one who is slow gets one answer
//! with all that came meanwhile, and nothing is queued for anybody.

use std::{
    collections::{HashMap, VecDeque},
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
    time::Duration,
};

use deskhand_machine::record::JournalEntry;
use deskhand_runtime::{JournalTail, LiveChapter, LivePage, LivePart, SessionFolder};
use serde_json::Value;
use tokio::{
    sync::{Notify, mpsc, oneshot, watch},
    task::{JoinSet, spawn_blocking},
    time::{Instant, timeout},
};

use super::{
    attending::{ControlConnection, OutgoingControlLine},
    now::LiveSessionStatus,
};
use crate::page::error::PageApiError;

/// Maximum time to receive the open question of a session for a new watcher.
const ASKS_BOUND: Duration = Duration::from_secs(3);
/// The shortest and the longest time between two looks at the journal, and at what the session says.
const REST_MIN: Duration = Duration::from_millis(100);
const REST_MAX: Duration = Duration::from_millis(500);
/// After a look there is a rest for so many times as long as that took: where processors are busy, it took long.
const REST: u32 = 40;
/// The most parts that are made for who comes: those of the last steps.
const PARTS_FIRST: usize = 60;
/// The most parts that are kept.
const PARTS_MAX: usize = 400;

/// News for a watcher.
#[derive(Debug, Clone, Default)]
pub(crate) struct LiveSessionUpdate {
    /// The parts that were added or changed, in the order of the page.
    pub(crate) parts: Vec<LivePart>,
    /// `true` if everything rendered before is void.
    pub(crate) anew: bool,
    /// The state beside the journal, if it is another one.
    pub(crate) now: Option<LiveSessionStatus>,
    /// The number of the last record.
    pub(crate) seq: u64,
    /// Up to where this goes.
    pub(crate) version: u64,
}

/// A session that is watched.
pub(crate) struct LiveSession {
    name: String,
    state: Mutex<LiveSessionState>,
    version: watch::Sender<u64>,
    /// The sender of lines to the session; `None` if it does not run.
    wishes: Mutex<Option<mpsc::Sender<OutgoingControlLine>>>,
    /// Notified when somebody waits for what the session says.
    hurry: Arc<Notify>,
    /// Aborted when nobody watches any more.
    reading: Mutex<JoinSet<()>>,
}

#[derive(Default)]
struct LiveSessionState {
    /// Steps before the first part, which are left out.
    left_out: OmittedLiveParts,
    parts: Vec<(u64, LivePart)>,
    places: HashMap<String, usize>,
    /// The version in which all was made anew.
    anew: u64,
    now: LiveSessionStatus,
    now_version: u64,
    /// The last request.
    request: String,
    seq: u64,
    version: u64,
    over: bool,
}

/// Parts that are not shown.
#[derive(Debug, Clone, Copy, Default)]
struct OmittedLiveParts {
    count: usize,
    /// The number of the last record that they show.
    seq: u64,
}

/// The result of one look at the journal.
#[derive(Default)]
struct LiveJournalScan {
    left_out: OmittedLiveParts,
    parts: Vec<LivePart>,
    /// `true` if everything found before is void.
    anew: bool,
}

impl LiveSessionState {
    /// Takes in what was found; returns whether any part is new or another.
    fn take_in(&mut self, found: LiveJournalScan) -> bool {
        if found.anew {
            (self.parts, self.places, self.anew) = (Vec::new(), HashMap::new(), self.version);
        }
        if self.parts.is_empty() {
            self.left_out = found.left_out;
        }
        let mut is_news = found.anew;
        for part in found.parts {
            is_news |= self.add(part);
        }
        self.shorten();
        is_news
    }

    /// Adds a part or puts it in the place of the one with its id; returns whether it is another.
    fn add(&mut self, part: LivePart) -> bool {
        let version = self.version;
        match self.places.get(&part.id).and_then(|place| self.parts.get_mut(*place)) {
            // A record that changes nothing of what is shown is no news.
            Some((_, known)) if known.html == part.html => return false,
            Some(known) => *known = (version, part),
            None => {
                self.places.insert(part.id.clone(), self.parts.len());
                self.parts.push((version, part));
            }
        }
        true
    }

    /// Forgets the parts of the first steps of a long session.
    fn shorten(&mut self) {
        if self.parts.len() > PARTS_MAX.saturating_mul(2) {
            let first = self.parts.len().saturating_sub(PARTS_MAX);
            self.left_out.count = self.left_out.count.saturating_add(first);
            self.left_out.seq =
                self.parts.drain(..first).next_back().map_or(self.left_out.seq, |(_, part)| part.seq);
            let places = self.parts.iter().enumerate().map(|(place, (_, part))| (part.id.clone(), place));
            self.places = places.collect();
        }
    }
}

/// The reader of the journal.
struct LiveJournalReader {
    folder: SessionFolder,
    tail: JournalTail,
    page: LivePage,
}

impl LiveJournalReader {
    fn new(folder: &SessionFolder) -> Result<Self, PageApiError> {
        let pictures = format!("/sessions/{}/pictures/", folder.name());
        let page = LivePage::new(folder, &pictures)
            .map_err(|error| PageApiError::failed("make the page", &error))?;
        Ok(Self { folder: folder.clone(), tail: JournalTail::of(folder), page })
    }

    /// Reads what was written since. Blocking.
    fn read(mut self) -> Result<(Self, LiveJournalScan), PageApiError> {
        let found = self.read_on()?;
        if !self.page.is_stale() {
            return Ok((self, found));
        }
        let mut again = Self::new(&self.folder)?;
        let found = LiveJournalScan { anew: true, ..again.read_on()? };
        Ok((again, found))
    }

    fn read_on(&mut self) -> Result<LiveJournalScan, PageApiError> {
        let failed = |error| PageApiError::failed("make the page", &error);
        let (mut chapters, mut found, mut problem) = (VecDeque::new(), LiveJournalScan::default(), None);
        let before = self.tail.seq();
        let page = &mut self.page;
        let mut read_line = |line: &JournalEntry| match page.read(line) {
            Ok(new) => {
                chapters.extend(new);
                let over = chapters.len().saturating_sub(PARTS_FIRST);
                if let Some(LiveChapter { seq, .. }) = chapters.drain(..over).next_back() {
                    found.left_out =
                        OmittedLiveParts { count: found.left_out.count.saturating_add(over), seq };
                }
            }
            Err(error) => problem = Some(failed(error)),
        };
        let read = self.tail.read_new(&mut read_line);
        read.map_err(|error| PageApiError::failed("read the journal", &error))?;
        if let Some(problem) = problem {
            return Err(problem);
        }
        for chapter in &chapters {
            found.parts.push(self.page.part(chapter).map_err(failed)?);
        }
        let seq = self.tail.seq();
        if seq > before {
            found.parts.extend(self.page.step(seq).map_err(failed)?);
        }
        Ok(found)
    }
}

impl LiveSession {
    /// Reads a session, and goes on as long as it is held and the session runs.
    pub(super) async fn watch(folder: SessionFolder) -> Result<Arc<Self>, PageApiError> {
        // First: what is recorded from here on is reported.
        let attending = ControlConnection::of(&folder).await;
        let (wishes, attending) = match attending {
            Some((attending, wishes)) => (Some(wishes), Some(attending)),
            None => (None, None),
        };
        let reader = LiveJournalReader::new(&folder)?;
        let session = Arc::new(Self {
            name: folder.name().to_owned(),
            state: Mutex::default(),
            version: watch::Sender::new(0),
            wishes: Mutex::new(wishes),
            hurry: Arc::default(),
            reading: Mutex::default(),
        });
        session.state().now.running = attending.is_some();
        let reader = session.take_in(Vec::new(), reader).await?;
        match attending {
            Some(attending) => {
                let weak = Arc::downgrade(&session);
                let follow = async move { Self::follow(&weak, attending, reader).await };
                session.reading.lock().unwrap_or_else(PoisonError::into_inner).spawn(follow);
            }
            None => session.state().over = true,
        }
        Ok(session)
    }

    fn state(&self) -> MutexGuard<'_, LiveSessionState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes in what the session has said and written since.
    async fn take_in(
        &self,
        lines: Vec<Value>,
        reader: LiveJournalReader,
    ) -> Result<LiveJournalReader, PageApiError> {
        let read = spawn_blocking(move || reader.read()).await;
        let (reader, found) = read.map_err(|error| PageApiError::failed("read the journal", &error))??;
        let seq = reader.tail.seq();
        let request = reader.page.story().summary().rounds.last().map(|round| round.request.clone());
        self.change(|state| {
            let is_news = state.take_in(found);
            state.seq = seq;
            state.request = request.unwrap_or_default();
            let before = state.now.clone();
            lines.into_iter().for_each(|line| state.now.read(line));
            state.now.see(&reader.page);
            let is_otherwise = state.now != before;
            if is_otherwise {
                state.now_version = state.version;
            }
            is_news || is_otherwise
        });
        Ok(reader)
    }

    /// Changes the state, and wakes those who watch if `change` says that they see it.
    fn change(&self, change: impl FnOnce(&mut LiveSessionState) -> bool) {
        let mut state = self.state();
        let before = state.version;
        state.version = before.saturating_add(1);
        if !change(&mut state) {
            state.version = before;
            return;
        }
        let version = state.version;
        drop(state);
        self.version.send_replace(version);
    }

    /// Follows a running session to its end.
    async fn follow(weak: &Weak<Self>, mut attending: ControlConnection, mut reader: LiveJournalReader) {
        let Some(hurry) = weak.upgrade().map(|session| Arc::clone(&session.hurry)) else { return };
        let mut next_look = Instant::now();
        while let Some(first) = attending.next().await {
            // A step has some ten records and says as many lines: those who watch are woken once for what comes together.
            attending.send_until(next_look, &hurry).await;
            let lines = std::iter::once(first).chain(attending.rest()).collect();
            let Some(session) = weak.upgrade() else { return };
            let begun = Instant::now();
            reader = match session.take_in(lines, reader).await {
                Ok(reader) => reader,
                Err(_) => return session.ended(),
            };
            next_look = Instant::now() + begun.elapsed().saturating_mul(REST).clamp(REST_MIN, REST_MAX);
        }
        let Some(session) = weak.upgrade() else { return };
        let _ = session.take_in(Vec::new(), reader).await;
        session.ended();
    }

    fn ended(&self) {
        self.wishes.lock().unwrap_or_else(PoisonError::into_inner).take();
        self.change(|state| {
            state.now = LiveSessionStatus::default();
            (state.now_version, state.over) = (state.version, true);
            true
        });
    }

    /// Returns `true` if its process does not run.
    pub(crate) fn is_over(&self) -> bool {
        self.state().over
    }

    /// The last request.
    pub(crate) fn request(&self) -> String {
        self.state().request.clone()
    }

    /// The state beside the journal.
    pub(crate) fn now(&self) -> LiveSessionStatus {
        self.state().now.clone()
    }

    /// Returns the news since a version; of the parts, only those made after a record.
    pub(crate) fn news(&self, since: u64, after: u64) -> LiveSessionUpdate {
        let state = self.state();
        let anew = since > 0 && state.anew > since;
        let is_new = |(version, part): &&(u64, LivePart)| anew || (*version > since && part.seq > after);
        let earlier = (anew || since == 0).then(|| self.earlier(state.left_out)).flatten();
        let parts = earlier.iter().filter(|part| part.seq > after);
        LiveSessionUpdate {
            parts: parts.chain(state.parts.iter().filter(is_new).map(|(_, part)| part)).cloned().collect(),
            anew,
            now: (state.now_version > since || since == 0).then(|| state.now.clone()),
            seq: state.seq,
            version: state.version,
        }
    }

    /// The part that says where to find what is left out.
    fn earlier(&self, left_out: OmittedLiveParts) -> Option<LivePart> {
        let OmittedLiveParts { count, seq } = left_out;
        let left_out =
            if count == 1 { "one earlier part".to_owned() } else { format!("{count} earlier parts") };
        let at = format!("/sessions/{}", self.name);
        let html = format!(
            r#"<p class="meta">Without {left_out}: <a href="{at}/moments">time line</a>, <a href="{at}/report">report</a></p>"#
        );
        (count > 0).then(|| LivePart { id: "earlier".to_owned(), seq, html })
    }

    /// Becomes another number whenever something is new.
    pub(crate) fn versions(&self) -> watch::Receiver<u64> {
        self.version.subscribe()
    }

    /// Returns the number of watchers.
    pub(super) fn watchers(&self) -> usize {
        self.version.receiver_count()
    }

    /// Waits until the session is known to ask this: who has just come hears of it in a moment.
    async fn asks(&self, id: &Value) -> Result<(), PageApiError> {
        let mut versions = self.versions();
        let asks = async {
            while self.now().prompt.is_none_or(|prompt| prompt.id.as_ref() != Some(id)) {
                self.hurry.notify_one();
                versions.changed().await.ok()?;
            }
            Some(())
        };
        let asked = timeout(ASKS_BOUND, asks).await.ok().flatten();
        asked.ok_or_else(|| {
            PageApiError::conflict(format!("the session does not ask for {id}, or not any more"))
        })
    }

    /// Sends a line of the protocol to the session. A prompt that it answers is not shown any more.
    ///
    /// # Errors
    /// The session does not run, or does not take lines in.
    pub(crate) async fn wish(&self, line: &Value) -> Result<(), PageApiError> {
        let gone = || PageApiError::conflict("the session does not run");
        if let Some(id) = line.get("id") {
            self.asks(id).await?;
        }
        let wishes = self.wishes.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let wishes = wishes.ok_or_else(gone)?;
        let (sent, is_sent) = oneshot::channel();
        let wish = OutgoingControlLine { line: line.to_string(), sent };
        wishes
            .try_send(wish)
            .map_err(|_| PageApiError::conflict("the session takes nothing in at the moment"))?;
        is_sent.await.map_err(|_| gone())?;
        let id = line.get("id").cloned();
        self.change(|state| {
            if id.is_some() && state.now.prompt.as_ref().is_some_and(|prompt| prompt.id == id) {
                (state.now.prompt, state.now.waiting) = (None, None);
            }
            state.now.problem = None;
            state.now_version = state.version;
            true
        });
        Ok(())
    }
}
