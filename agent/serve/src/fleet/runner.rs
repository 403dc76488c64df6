//! One task of a fleet as a session of this machine.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use deskhand_fleet::{
    holder::{Admission, Lease, LeaseLost, TaskRunner, TaskStart, cancel_key},
    journal::{TaskJournalChunk, TaskOutcome},
    nats::NatsStore,
    pace::pause,
    plan::{TaskPayload, now_ms, time_words},
    store::{FleetRecord, FleetStore},
    task::{TaskId, TaskSpec},
};
use deskhand_host::{
    Control, DesktopEnd, EndedSession, Host, HostError, Observer, PreparedSession, SessionRequest, Task,
    TaskResult, config::ChannelSetting, live::ScreenPlace,
};
use deskhand_machine::{outcome::OutcomeKind, record::JournalEntry, session::StopReason};
use deskhand_runtime::{Fence, RunSummary, SessionStore, StopSwitch, UnsealedJournalPolicy, new_id};
use deskhand_ui::{ids::SessionId, text::error_chain};
use futures_util::future::BoxFuture;
use serde_json::Value;
use tokio::{
    sync::{Notify, mpsc, oneshot},
    time::Instant,
};

use super::{
    asking::QuestionRelay,
    copies::{Copies, DOCUMENTS, SESSION, Then},
    inputs::{self, InputError},
    moved::{documents, lay_out, lay_out_session},
    presence::WorkerPresence,
    room::Over,
    show::SessionScreencast,
    view::FleetResult,
};

/// Lines of a journal come in bursts: those within this time are stored together, unless a command waits for them.
const BURST: Duration = Duration::from_millis(20);

/// Delay before a server that did not answer is tried again.
const AGAIN: Duration = Duration::from_secs(1);

/// Runs tasks as sessions.
pub(super) struct SessionRunner {
    pub(super) host: Host,
    pub(super) store: NatsStore,
    pub(super) presence: Arc<WorkerPresence>,
    /// The folder of the tasks: one folder for each that runs.
    pub(super) folder: PathBuf,
    pub(super) stop: StopSwitch,
    /// Something began or ended: there may be room for another task.
    pub(super) changed: Arc<Notify>,
    pub(super) over: Arc<Over>,
    /// Takes why tasks were given up.
    pub(super) problems: mpsc::UnboundedSender<(TaskId, String)>,
}

/// Why there is no outcome.
enum TaskRunFailure {
    /// Another worker has it, or may have it.
    Lost,
    /// The task cannot be done here; another worker tries.
    Here(String),
    /// The task cannot be done, here or elsewhere.
    Task(String),
}

impl From<LeaseLost> for TaskRunFailure {
    fn from(_: LeaseLost) -> Self {
        Self::Lost
    }
}

/// A folder that goes with its task.
struct TaskFolder(PathBuf);

impl Drop for TaskFolder {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_dir_all(&self.0) {
            tracing::debug!(%error, folder = %self.0.display(), "the folder of a task stays");
        }
    }
}

/// A session that goes with its task, with what this machine remembers of it.
struct TaskSessionGuard(SessionStore, SessionId);

impl Drop for TaskSessionGuard {
    fn drop(&mut self) {
        let Self(store, session) = self;
        if let Some(folder) = store.folder(session)
            && let Err(error) = folder.remove()
        {
            tracing::debug!(%error, session = session.0, "the session of a task stays");
        }
    }
}

/// The session of a task.
enum TaskSession {
    Runs(Box<PreparedSession>),
    /// Whoever had it was lost after its end.
    Ended(Box<EndedSession>),
}

/// A session that is ready to run.
struct PreparedTaskSession {
    next: TaskSession,
    task: Task,
    id: SessionId,
    /// Number of bytes of the journal that are stored.
    journal: u64,
    /// The files that are stored.
    files: BTreeMap<String, String>,
}

impl TaskRunner for SessionRunner {
    async fn run<S: FleetStore>(
        &self,
        task: &TaskSpec,
        beginning: TaskStart,
        lease: &Lease<S>,
    ) -> Result<TaskOutcome, LeaseLost> {
        match self.run_task(task, beginning, lease).await {
            Ok(outcome) => Ok(outcome),
            Err(TaskRunFailure::Lost) => Err(LeaseLost),
            Err(TaskRunFailure::Here(reason)) => {
                // Without a worker that listens, nobody is there to hear it.
                let _ = self.problems.send((task.id.clone(), reason));
                Err(LeaseLost)
            }
            Err(TaskRunFailure::Task(reason)) => Ok(TaskOutcome::Failed { reason }),
        }
    }

    async fn admit(&self, task: &TaskSpec) -> Admission {
        let (admission, reason) = self.presence.admit(task).await;
        if let Some(reason) = reason {
            let _ = self.problems.send((task.id.clone(), reason));
        }
        admission
    }
}

impl SessionRunner {
    /// The folder of the sessions.
    fn sessions(&self) -> PathBuf {
        self.host.sessions().root().to_owned()
    }

    async fn run_task<S: FleetStore>(
        &self,
        spec: &TaskSpec,
        beginning: TaskStart,
        lease: &Lease<S>,
    ) -> Result<TaskOutcome, TaskRunFailure> {
        let work: TaskPayload = serde_json::from_value(spec.work.clone())
            .map_err(|error| TaskRunFailure::Task(error.to_string()))?;
        let folder = TaskFolder(self.folder.join(format!("{}-{}", spec.id, new_id().0)));
        let documents = folder.0.join("documents");
        let PreparedTaskSession { next, task, id, journal, files } =
            self.prepare(spec, &work, beginning, &documents).await?;
        let _stored = TaskSessionGuard(self.host.sessions(), id.clone());
        let session = match next {
            TaskSession::Runs(session) => session,
            TaskSession::Ended(ended) => {
                let documents = files.iter().filter_map(|(name, hash)| {
                    Some((name.strip_prefix(DOCUMENTS)?.to_owned(), hash.clone()))
                });
                let documents = documents.collect();
                return done(self.result(&task, Ok(Some(*ended)), documents, None)?);
            }
        };
        let (fence, asked) = ChannelFence::new();
        let grew = Arc::new(Notify::new());
        let copies =
            Copies::new((&self.store, lease), (self.sessions().join(&id.0), documents), journal, &files);
        let stop = StopSwitch::new();
        let control = Control { stop: stop.clone(), ..Control::unattended() };
        let (mut is_late, mut is_unwanted) = (false, false);
        let mut observer =
            JournalGrowthWatcher { grew: Arc::clone(&grew), changed: Arc::clone(&self.changed) };
        let session = session.with_fence(Arc::new(fence));
        let begun = Instant::now();
        let running = session.run(&control, &mut observer);
        let ended = tokio::select! {
            biased;
            ended = running => ended,
            Err(lost) = serve(&copies, asked, &grew) => return Err(lost.into()),
            never = stop_in_time(&self.stop, &stop, spec.deadline_ms, &mut is_late) => match never {},
            never = self.looked_at((spec, &id), &control.screen) => match never {},
            never = self.stop_when_unwanted(spec, &stop, &mut is_unwanted) => match never {},
        };
        // Its desktop is gone: another one may begin while the rest is stored.
        self.over.add(&spec.id);
        self.changed.notify_one();
        copies.store(Then::GoesOn).await?;
        if is_unwanted {
            return Ok(TaskOutcome::Cancelled);
        }
        let late = spec.deadline_ms.filter(|_| is_late);
        let result = self.result(&task, ended, copies.documents().await, late)?;
        self.presence.figures.used(spec, &result.result, begun.elapsed());
        done(result)
    }

    /// Serves those who look at a session from elsewhere: shows its desktop, and passes on what it asks.
    async fn looked_at(
        &self,
        (task, session): (&TaskSpec, &SessionId),
        screen: &ScreenPlace,
    ) -> std::convert::Infallible {
        let (store, worker) = (&self.store, &self.presence.worker);
        let shown = SessionScreencast { store, screen, task: &task.id, worker };
        let waits = self.host.config().people.channel == ChannelSetting::Socket;
        let folder = self.sessions().join(&session.0);
        let asking = QuestionRelay { store, task, worker, folder: &folder, waits };
        tokio::select! {
            never = shown.show() => never,
            never = asking.ask() => never,
        }
    }

    /// Stops the session at once when its task is not wanted any more: its last call reports what it did.
    async fn stop_when_unwanted(
        &self,
        task: &TaskSpec,
        stop: &StopSwitch,
        is_unwanted: &mut bool,
    ) -> std::convert::Infallible {
        let (key, mut seen) = (cancel_key(&task.id), 0);
        while !*is_unwanted {
            // Without news this waits, and without an answer the lease will be lost.
            match self.store.changes(&key, seen).await {
                Ok(records) => {
                    seen = records.iter().map(|record| record.revision).fold(seen, u64::max);
                    let cancels =
                        |record: &FleetRecord| record.key == key && task.is_cancelled_by(&record.value);
                    *is_unwanted = records.iter().any(cancels);
                }
                Err(_) => pause(AGAIN).await,
            }
        }
        stop.cancel(StopReason::User);
        std::future::pending().await
    }

    fn result(
        &self,
        task: &Task,
        ended: Result<Option<EndedSession>, HostError>,
        documents: BTreeMap<String, String>,
        late: Option<u64>,
    ) -> Result<FleetResult, TaskRunFailure> {
        match &ended {
            // It goes on elsewhere.
            Ok(None) => return Err(TaskRunFailure::Lost),
            Ok(Some(ended)) => {
                if let Some(reason) = &ended.suspended {
                    return Err(TaskRunFailure::Here(reason.to_string()));
                }
            }
            // The machine may be the cause. A task that fails like this everywhere is put aside in the end.
            Err(error) => return Err(TaskRunFailure::Here(error_chain(error))),
        }
        let mut result = TaskResult::of(task, ended);
        if let Some(deadline) = late.filter(|_| result.outcome == OutcomeKind::BudgetExhausted) {
            result.reason = format!("its deadline was reached: {}", time_words(deadline));
        }
        Ok(FleetResult { result, worker: self.presence.worker.0.clone(), documents })
    }

    /// Fetches what belongs to the task, and makes its session of it.
    async fn prepare(
        &self,
        spec: &TaskSpec,
        work: &TaskPayload,
        beginning: TaskStart,
        folder: &Path,
    ) -> Result<PreparedTaskSession, TaskRunFailure> {
        let mut work = work.clone();
        inputs::take(&self.store, &mut work).await.map_err(|error| match error {
            InputError::Missing(problem) => TaskRunFailure::Task(problem),
            InputError::Store(error) => TaskRunFailure::Here(error_chain(&error)),
        })?;
        if work.names_folder {
            name_folder(&mut work, folder);
        }
        let whole = match &beginning {
            TaskStart::New => TaskJournalChunk::default(),
            TaskStart::Resumed(journal) => journal.whole(),
        };
        let here = |error: &dyn std::error::Error| TaskRunFailure::Here(error_chain(error));
        let current = documents(&work.documents, &whole.files);
        lay_out(&self.store, folder, &current).await.map_err(|error| here(&error))?;
        let mut files: BTreeMap<String, String> =
            current.into_iter().map(|(name, hash)| (format!("{DOCUMENTS}{name}"), hash)).collect();
        let id = spec.id.as_str();
        let task = Task::of_json(&work.task, id, id, folder)
            .map_err(|error| TaskRunFailure::Task(error_chain(&error)))?
            .made_by(self.presence.provenance(spec).await);
        let sessions = self.host.sessions();
        let moved = lay_out_session(&self.store, &sessions, &whole).await.map_err(|error| here(&error))?;
        let Some(moved) = moved else {
            let session = new_id();
            let made = self.host.start_task(&task, session.clone());
            let made = made.map_err(|error| unbegun(&error))?;
            return Ok(PreparedTaskSession {
                next: TaskSession::Runs(Box::new(made)),
                task,
                id: session,
                journal: 0,
                files,
            });
        };
        files.extend(whole.files.into_iter().filter(|(name, _)| name.starts_with(SESSION)));
        if let Some(ended) = self.ended(&moved.session, &whole.lines) {
            let next = TaskSession::Ended(Box::new(ended));
            return Ok(PreparedTaskSession { next, task, id: moved.session, journal: moved.journal, files });
        }
        let request =
            SessionRequest { open: task.documents().collect(), moved: true, ..SessionRequest::default() };
        // Another machine sealed it. Who may write into the fleet's journals is the server's to say.
        let resumed = self.host.resume(&moved.session.0, UnsealedJournalPolicy::Accept, request);
        let session = resumed.map_err(|error| unbegun(&error))?;
        let next = TaskSession::Runs(Box::new(session));
        Ok(PreparedTaskSession { next, task, id: moved.session, journal: moved.journal, files })
    }

    /// Returns the end of a session whose round is over.
    fn ended(&self, session: &SessionId, lines: &str) -> Option<EndedSession> {
        let lines: Vec<JournalEntry> =
            lines.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
        let summary = RunSummary::of(&lines);
        Some(EndedSession {
            session: session.clone(),
            folder: self.host.find(&session.0).ok()?,
            outcome: Some(summary.outcome.clone()?),
            suspended: None,
            desktop: DesktopEnd::default(),
            desktop_start_ms: 0,
            elapsed_ms: summary.elapsed_ms,
            screenshot: None,
            workflows: Vec::new(),
            summary,
        })
    }
}

/// Why a session does not begin: this machine is the cause, or the task.
fn unbegun(error: &HostError) -> TaskRunFailure {
    let words = error_chain(error);
    if error.is_of_its_folder() { TaskRunFailure::Here(words) } else { TaskRunFailure::Task(words) }
}

/// Says in the request where files have to be that go back.
fn name_folder(work: &mut TaskPayload, folder: &Path) {
    if let Some(Value::String(request)) = work.task.get_mut("request") {
        request.push_str(&format!(
            "\n\nWhere files are to be handed back, save them in the folder {}.",
            folder.display()
        ));
    }
}

/// The outcome of a task whose session came to its end.
fn done(result: FleetResult) -> Result<TaskOutcome, TaskRunFailure> {
    let finished = result.result.outcome == OutcomeKind::Finished;
    let result = serde_json::to_value(result).map_err(|error| TaskRunFailure::Task(error.to_string()))?;
    Ok(TaskOutcome::Done { result, finished })
}

/// Stops a session when the worker is stopped, and at its deadline.
async fn stop_in_time(
    all: &StopSwitch,
    one: &StopSwitch,
    deadline_ms: Option<u64>,
    is_late: &mut bool,
) -> std::convert::Infallible {
    let deadline = async {
        match deadline_ms {
            Some(deadline) => pause(Duration::from_millis(deadline.saturating_sub(now_ms()))).await,
            None => std::future::pending().await,
        }
    };
    tokio::select! {
        reason = all.wait() => one.cancel(reason),
        () = deadline => {
            *is_late = true;
            one.now(StopReason::WallTime);
        }
    }
    one.now(all.wait_now().await);
    std::future::pending().await
}

/// Stores what is new soon after the session wrote something, and before each of its commands.
async fn serve<S: FleetStore>(
    copies: &Copies<'_, S>,
    mut asked: mpsc::Receiver<oneshot::Sender<()>>,
    grew: &Notify,
) -> Result<std::convert::Infallible, LeaseLost> {
    loop {
        tokio::select! {
            biased;
            Some(answer) = asked.recv() => {
                copies.store(Then::Acts).await?;
                // The session may have ended.
                let _ = answer.send(());
            }
            () = burst(grew) => copies.store(Then::GoesOn).await?,
        }
    }
}

/// Returns some time after something was written.
async fn burst(grew: &Notify) {
    grew.notified().await;
    pause(BURST).await;
}

/// Notes that the journal of a session has grown.
struct JournalGrowthWatcher {
    grew: Arc<Notify>,
    changed: Arc<Notify>,
}

impl Observer for JournalGrowthWatcher {
    fn record(&mut self, line: &JournalEntry) {
        if line.seq == 1 {
            self.changed.notify_one();
        }
        self.grew.notify_one();
    }
}

/// A fence at the other end of a channel.
#[derive(Debug)]
struct ChannelFence(mpsc::Sender<oneshot::Sender<()>>);

impl ChannelFence {
    fn new() -> (Self, mpsc::Receiver<oneshot::Sender<()>>) {
        let (sender, receiver) = mpsc::channel(1);
        (Self(sender), receiver)
    }
}

impl Fence for ChannelFence {
    fn may_act(&self) -> BoxFuture<'_, Result<(), deskhand_runtime::SessionOwnershipLost>> {
        Box::pin(async move {
            let (sender, answer) = oneshot::channel();
            self.0.send(sender).await.map_err(|_| deskhand_runtime::SessionOwnershipLost)?;
            answer.await.map_err(|_| deskhand_runtime::SessionOwnershipLost)
        })
    }
}
