//! The session of one task as a folder of this machine, while somebody looks at it.
//!
//! The journal is copied as it is stored; pictures and documents stay in the object store until they are asked for. The folder has a control
//! socket like that of a session that runs here, which says what is new: whoever shows sessions of this machine shows this one.

use std::{
    collections::BTreeMap,
    fs, io,
    path::{Path, PathBuf},
    sync::{Arc, MutexGuard, PoisonError},
};

use deskhand_fleet::{
    holder::{QUESTIONS, task_key},
    journal::{TaskJournalChunk, TaskJournalEntry, TaskOutcome, WorkerId},
    nats::{FollowedJournal, NatsStore},
    plan::TaskPayload,
    store::{FleetStore as _, Place, StoreError},
    task::{TaskId, TaskRecord, TaskSpec},
};
use deskhand_host::{Host, config::Config};
use deskhand_runtime::{SessionFolder, new_id, people::ControlListener, private};
use deskhand_ui::ids::SessionId;
use futures_util::{Stream, StreamExt as _};
use tokio::{fs::File, io::AsyncWriteExt as _, sync::oneshot, task::JoinSet};

use super::{
    FLEET,
    copies::{DOCUMENTS, SESSION},
    followed::OverviewFollower,
    news::{MirrorSharedState, MirrorTaskState, accept, attend},
    view::FleetResult,
    wish::{FleetQuestion, FleetSteering},
};

/// The longest journal that is copied, in bytes.
const JOURNAL_BYTES_MAX: u64 = 1 << 30;
/// The most pictures that are fetched at once.
const PICTURES_MAX: usize = 2_000;
/// The prefix of the names of files that describe the contents of prompts.
const PROMPTS: &str = "prompts-";

/// Why a task cannot be looked at.
#[derive(Debug, thiserror::Error)]
pub enum MirrorError {
    /// There is no such task.
    #[error("the fleet has no task {0}")]
    Missing(TaskId),
    /// The server does not answer.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The folder cannot be written to.
    #[error("copy the journal of the task")]
    Folder(#[from] io::Error),
}

/// The folder, which goes with it.
#[derive(Debug)]
struct Root(PathBuf);

impl Drop for Root {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_dir_all(&self.0) {
            tracing::debug!(%error, folder = %self.0.display(), "the copy of a session stays");
        }
    }
}

/// A copy.
pub struct SessionMirror {
    /// Reads it.
    pub host: Host,
    /// Its folder. The name is that of the session on the page.
    pub folder: SessionFolder,
    /// The task.
    pub spec: TaskSpec,
    store: NatsStore,
    shared: Arc<MirrorSharedState>,
    _root: Root,
    /// Aborted with it.
    _working: JoinSet<()>,
}

impl SessionMirror {
    /// Copies what is stored of a task so far, and goes on as more comes.
    ///
    /// # Errors
    /// [`MirrorError`]: there is no such task, the server does not answer, or the folder cannot be written to.
    pub async fn open(
        steering: FleetSteering,
        followed: Arc<OverviewFollower>,
        config: &Config,
        root: &Path,
    ) -> Result<Self, MirrorError> {
        let FleetSteering { store, task, .. } = &steering;
        let missing = || MirrorError::Missing(task.clone());
        let record = store.get(&task_key(task)).await?.ok_or_else(missing)?;
        let TaskRecord { spec, .. } = serde_json::from_slice(&record.value).map_err(|_| missing())?;
        // Somebody may have stored one as another.
        if spec.id != *task {
            return Err(missing());
        }
        let root = Root(root.join(new_id().0));
        let mut config = config.clone();
        config.sessions.dir = Some(root.0.join("sessions"));
        config.sessions.seals_dir = Some(root.0.join("seals"));
        let host = Host::new(&config);
        let name = SessionId(format!("{FLEET}{task}"));
        let folder = host.sessions().folder(&name).ok_or_else(missing)?;
        private::create_folders(&folder.path().join("pictures"))?;
        let journal = File::from_std(fs::File::create(folder.journal_path())?);
        let shared = Arc::new(MirrorSharedState::default());
        let read = store.follow_journal(task).await?;
        let (ready, is_ready) = oneshot::channel();
        let copying = JournalCopier {
            store: store.clone(),
            followed,
            task: task.clone(),
            folder: folder.clone(),
            shared: Arc::clone(&shared),
            journal,
            bytes: 0,
            question: None,
            asked: None,
            ready: Some(ready),
        };
        let mut working = JoinSet::new();
        working.spawn(copying.copy(read));
        // It is dropped without a word if the copy failed: what there is is shown.
        let _ = is_ready.await;
        if !shared.news.borrow().is_over {
            let listener = ControlListener::bind(folder.path())?;
            working.spawn(accept(listener, name, steering.clone(), Arc::clone(&shared)));
            working.spawn(attend(steering.clone(), Arc::clone(&shared)));
        }
        Ok(Self { host, folder, spec, store: steering.store, shared, _root: root, _working: working })
    }

    fn known(&self) -> MutexGuard<'_, MirrorTaskState> {
        self.shared.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns `true` if whoever looks next needs another copy.
    pub fn is_stale(&self) -> bool {
        self.known().is_stale
    }

    /// Returns `true` if somebody looks at it right now.
    pub fn is_used(&self) -> bool {
        *self.shared.clients.borrow() > 0
    }

    /// Returns `true` if its session has written anything.
    pub fn has_begun(&self) -> bool {
        self.shared.news.borrow().seq > 0
    }

    /// The outcome, once the journal has it.
    pub fn outcome(&self) -> Option<TaskOutcome> {
        self.known().outcome.clone()
    }

    /// Who had it, in order.
    pub fn workers(&self) -> Vec<WorkerId> {
        self.known().workers.clone()
    }

    /// The documents of the task as they are stored now: names, and the hashes under which they are stored.
    pub fn documents(&self) -> BTreeMap<String, String> {
        let work: Option<TaskPayload> = serde_json::from_value(self.spec.work.clone()).ok();
        let mut all = work.map(|work| work.documents).unwrap_or_default();
        let known = self.known();
        let changed =
            known.files.iter().filter_map(|(name, hash)| Some((name.strip_prefix(DOCUMENTS)?, hash)));
        all.extend(changed.map(|(name, hash)| (name.to_owned(), hash.clone())));
        if let Some(TaskOutcome::Done { result, .. }) = &known.outcome
            && let Ok(result) = serde_json::from_value::<FleetResult>(result.clone())
        {
            all.extend(result.documents);
        }
        all
    }

    /// A file by its hash.
    ///
    /// # Errors
    /// The server does not answer, or has it not.
    pub async fn file(&self, hash: &str) -> Result<Vec<u8>, StoreError> {
        self.store.file(hash).await
    }

    /// Fetches a picture, by its SHA-256, unless it is there or there is none.
    ///
    /// # Errors
    /// The server does not answer, or the picture cannot be written.
    pub async fn fetch_picture(&self, sha256: &str) -> Result<(), MirrorError> {
        let path = self.folder.picture_path(sha256);
        if path.is_file() {
            return Ok(());
        }
        let found = ["png", "jpg"].into_iter().find_map(|kind| {
            let hash = self.known().files.get(&format!("{SESSION}pictures/{sha256}.{kind}")).cloned()?;
            Some((hash, path.with_extension(kind)))
        });
        // What is called otherwise than it is stored is another picture.
        let Some((_, path)) = found.filter(|(hash, _)| hash == sha256) else { return Ok(()) };
        let bytes = self.store.file(sha256).await?;
        tokio::task::spawn_blocking(move || private::write_file(&path, &bytes))
            .await
            .map_err(io::Error::other)??;
        Ok(())
    }

    /// Fetches the pictures, for who shows all of them; the first 2,000.
    ///
    /// # Errors
    /// As [`Self::fetch_picture`].
    pub async fn fetch_pictures(&self) -> Result<(), MirrorError> {
        let prefix = format!("{SESSION}pictures/");
        let names: Vec<String> = self
            .known()
            .files
            .keys()
            .filter_map(|name| Some(name.strip_prefix(&prefix)?.split('.').next()?.to_owned()))
            .take(PICTURES_MAX)
            .collect();
        for name in names.iter().filter(|name| name.bytes().all(|byte| byte.is_ascii_hexdigit())) {
            self.fetch_picture(name).await?;
        }
        Ok(())
    }
}

/// Copies a journal.
struct JournalCopier {
    store: NatsStore,
    followed: Arc<OverviewFollower>,
    task: TaskId,
    folder: SessionFolder,
    shared: Arc<MirrorSharedState>,
    journal: File,
    /// Length of the journal, in bytes.
    bytes: u64,
    /// The open question; its number in the records is in `asked`.
    question: Option<FleetQuestion>,
    asked: Option<u64>,
    /// Hears that all is copied that was there at the beginning.
    ready: Option<oneshot::Sender<()>>,
}

impl JournalCopier {
    async fn copy(
        mut self,
        read: FollowedJournal<impl Stream<Item = Result<(Place, TaskJournalEntry), StoreError>> + Unpin>,
    ) {
        let FollowedJournal { last, mut entries } = read;
        let mut changes = self.followed.changes();
        let mut is_over = last == 0 && self.looks_at_records().await;
        if last == 0 {
            self.is_ready();
        }
        while !is_over {
            tokio::select! {
                entry = entries.next() => {
                    let taken = match entry {
                        Some(Ok((place, entry))) => self.take(entry).await.map(|is_over| (place, is_over)),
                        Some(Err(error)) => Err(error.to_string()),
                        None => Err("the connection has ended".to_owned()),
                    };
                    let place;
                    (place, is_over) = match taken {
                        Ok(taken) => taken,
                        Err(problem) => {
                            tracing::warn!(task = %self.task, "the journal of a task is not shown any more: {problem}");
                            self.known(|known| known.is_stale = true);
                            (last, true)
                        }
                    };
                    if place >= last || is_over {
                        is_over |= self.looks_at_records().await;
                        self.is_ready();
                    }
                }
                // Before everything is there nobody looks.
                Ok(()) = changes.changed(), if self.ready.is_none() => is_over = self.looks_at_records().await,
            }
        }
        self.shared.news.send_modify(|news| news.is_over = true);
        self.is_ready();
    }

    fn is_ready(&mut self) {
        if let Some(ready) = self.ready.take() {
            // Who asked for it may have left.
            ready.send(()).ok();
        }
    }

    fn known<T>(&self, change: impl FnOnce(&mut MirrorTaskState) -> T) -> T {
        change(&mut self.shared.known.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Takes in an entry; returns whether it is the last one.
    async fn take(&mut self, entry: TaskJournalEntry) -> Result<bool, String> {
        match entry {
            TaskJournalEntry::Taken { worker } => self.known(|known| known.workers.push(worker)),
            TaskJournalEntry::Acts(part) | TaskJournalEntry::Lines(part) => {
                self.part(part).await.map_err(|error| format!("copy it: {error}"))?;
            }
            TaskJournalEntry::Afresh | TaskJournalEntry::Again(_) if self.ready.is_none() => {
                self.known(|known| known.is_stale = true);
                return Ok(true);
            }
            TaskJournalEntry::Afresh | TaskJournalEntry::Again(_) => {
                self.known(|known| known.files.clear());
                self.begins_anew().await.map_err(|error| format!("begin anew: {error}"))?;
            }
            TaskJournalEntry::Ended { outcome } => {
                self.known(|known| known.outcome = Some(outcome));
                return Ok(true);
            }
        }
        Ok(false)
    }

    async fn begins_anew(&mut self) -> io::Result<()> {
        self.journal = File::create(self.folder.journal_path()).await?;
        self.bytes = 0;
        self.shared.news.send_modify(|news| news.seq = 0);
        Ok(())
    }

    async fn part(&mut self, part: TaskJournalChunk) -> io::Result<()> {
        let TaskJournalChunk { lines, files } = part;
        for (name, hash) in &files {
            let name = name.strip_prefix(SESSION).filter(|name| name.starts_with(PROMPTS));
            // They say which words are passwords.
            if let Some(name) = name.filter(|name| !name.contains('/')) {
                let bytes = self.store.file(hash).await.map_err(io::Error::other)?;
                private::write_file(&self.folder.path().join(name), &bytes)?;
            }
        }
        self.known(|known| known.files.extend(files));
        self.bytes = self.bytes.saturating_add(lines.len() as u64);
        if self.bytes > JOURNAL_BYTES_MAX {
            return Err(io::Error::other("it is larger than a gigabyte"));
        }
        self.journal.write_all(lines.as_bytes()).await?;
        self.journal.flush().await?;
        let count = lines_in(&lines);
        if count > 0 {
            self.shared.news.send_modify(|news| news.seq = news.seq.saturating_add(count));
        }
        Ok(())
    }

    /// Takes in where the task is and what it asks; returns whether it ended without anybody having begun it.
    async fn looks_at_records(&mut self) -> bool {
        let Some(now) = self.followed.whereabouts(&self.task) else { return false };
        if now.asks != self.asked {
            self.asked = now.asks;
            let record = self.store.get(&format!("{QUESTIONS}{}", self.task)).await;
            let record = record.ok().flatten().filter(|_| now.asks.is_some());
            self.question = record.and_then(|record| record.read());
        }
        let (place, question) = (now.words(), self.question.clone());
        self.shared.news.send_if_modified(|news| {
            let is_new = news.place != place || news.question != question;
            (news.place, news.question) = (place, question);
            is_new
        });
        now.is_ended && self.known(|known| known.workers.is_empty())
    }
}

/// The number of lines that end in a text.
fn lines_in(text: &str) -> u64 {
    text.matches('\n').count() as u64
}
