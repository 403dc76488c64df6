//! An agent on another machine: hands a sub-task over once, and waits for what becomes of it.

use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use deskhand_fleet::{
    holder::{lease_key, outcome_key, task_key},
    journal::WorkerId,
    nats::{NatsStore, RecordStream},
    pace::pause,
    plan::{OutcomeRecord, now_ms},
    store::{FleetStore as _, Revision, StoreError},
    task::{TaskId, TaskRecord, TaskSpec},
};
use deskhand_host::config::MachineAgentSettings;
use deskhand_machine::{agent::AgentReport, session::SubtaskStatus};
use deskhand_runtime::{
    agents::{Assignment, DelegateAgent, DelegateProgress},
    private,
};
use deskhand_ui::text::error_chain;
use tokio::time::{Instant, timeout};

use super::{
    came::report,
    compose::{TaskHandover, compose, named, task_of},
    error::MachineError,
    fit::WorkerCandidates,
    outside::{name_of, tame},
    progress::SubtaskProgress,
    reach::FleetConnector,
};

/// Maximum time to try a server before a sub-task counts as not handed over.
const PATIENCE: Duration = Duration::from_secs(10);
/// Maximum time to withdraw a sub-task.
const WITHDRAW: Duration = Duration::from_secs(5);
/// A worker ends a task at its deadline. So many leases after it, nobody is waited for any more.
const LATE_LEASES: u32 = 2;

/// An agent on another machine.
pub(super) struct MachineAgent {
    pub(super) settings: MachineAgentSettings,
    pub(super) reach: Arc<FleetConnector>,
    /// The folder of notes about sub-tasks that were handed over.
    pub(super) notes: PathBuf,
    /// The files that the session was begun with.
    pub(super) documents: Vec<PathBuf>,
    /// The folder for files that come back.
    pub(super) results: PathBuf,
}

impl DelegateAgent for MachineAgent {
    async fn work(&self, assignment: Assignment, progress: DelegateProgress) -> AgentReport {
        let said = &mut SubtaskProgress::new(progress);
        match self.hand_over(&assignment, said).await {
            Ok(report) => report,
            Err(error) => AgentReport { status: SubtaskStatus::Failed, result: error_chain(&error) },
        }
    }

    async fn withdraw(&self, number: &str) {
        let Ok(id) = TaskId::new(number) else { return };
        // What was never written down was never sent.
        if !matches!(self.noted(&id), Ok(Some(_))) {
            return;
        }
        match timeout(WITHDRAW, self.reach.cancel(&id)).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => tracing::warn!(error = error_chain(&error), %id, "the task is not cancelled"),
            Err(_) => tracing::warn!(%id, "the task is not cancelled: the fleet does not answer"),
        }
    }

    async fn close(&self) {}
}

impl MachineAgent {
    async fn hand_over(
        &self,
        assignment: &Assignment,
        said: &mut SubtaskProgress,
    ) -> Result<AgentReport, MachineError> {
        let id = TaskId::new(assignment.number.as_str())?;
        let (store, spec) = match self.noted(&id)? {
            // It may have been sent before the process ended.
            Some(spec) => {
                let left =
                    Duration::from_millis(spec.deadline_ms.unwrap_or_default().saturating_sub(now_ms()));
                (self.reach.store_within(left.max(PATIENCE), said).await?, spec)
            }
            None => {
                let new = async {
                    let store = self.reach.store_within(PATIENCE, said).await?;
                    Ok((store, self.prepare(store, &id, assignment, said).await?))
                };
                new.await.map_err(|error: MachineError| MachineError::NotSent(Box::new(error)))?
            }
        };
        submit(store, &spec).await?;
        let record = self.outcome(store, &spec, said).await?;
        said.say("its files are fetched");
        Ok(report(store, &spec, &record.outcome, &self.results.join(id.as_str())).await)
    }

    fn note(&self, id: &TaskId) -> PathBuf {
        self.notes.join(format!("{id}.json"))
    }

    /// Returns the task handed over under this id; `None` if there is none.
    fn noted(&self, id: &TaskId) -> Result<Option<TaskSpec>, MachineError> {
        let path = self.note(id);
        match fs::read(&path) {
            Ok(text) => Ok(Some(serde_json::from_slice(&text)?)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(source) => Err(MachineError::Note { path, source }),
        }
    }

    /// Makes the task, if somebody takes it: stores its documents, and writes it down.
    async fn prepare(
        &self,
        store: &NatsStore,
        id: &TaskId,
        assignment: &Assignment,
        said: &mut SubtaskProgress,
    ) -> Result<TaskSpec, MachineError> {
        let documents = match self.settings.documents {
            true => named(assignment, &self.documents, &self.results)?,
            false => Default::default(),
        };
        let TaskHandover { work, documents } = compose(id, assignment, &documents)?;
        let within = Duration::from_secs(self.settings.within_minutes.saturating_mul(60));
        let within_ms = u64::try_from(within.as_millis()).unwrap_or(u64::MAX);
        let spec = self.reach.signed(TaskSpec {
            deadline_ms: Some(now_ms().saturating_add(within_ms)),
            work: serde_json::to_value(work)?,
            ..task_of(id.clone(), &self.settings)
        })?;
        let silent = |source: StoreError| MachineError::Silent { id: id.clone(), source };
        said.say("workers that take it are looked for");
        let fit = WorkerCandidates::of(store, &spec).await.map_err(silent)?;
        fit.words(&spec.needs).map_err(MachineError::NobodyTakesIt)?;
        said.say("its documents are sent");
        for document in documents.values() {
            store.put_file(&document.bytes).await.map_err(silent)?;
        }
        let path = self.note(id);
        write_down(&path, &serde_json::to_vec(&spec)?)
            .map_err(|source| MachineError::Note { path, source })?;
        Ok(spec)
    }

    /// Waits for the outcome.
    async fn outcome(
        &self,
        store: &NatsStore,
        spec: &TaskSpec,
        said: &mut SubtaskProgress,
    ) -> Result<OutcomeRecord, MachineError> {
        let (id, lease) = (&spec.id, store.times().lease);
        let outcome = outcome_key(id);
        let keys = [outcome.clone(), lease_key(id)];
        let mut followed: Option<RecordStream> = None;
        let mut holder: Option<(String, Revision)> = None;
        said.say("it is queued");
        loop {
            let next = async {
                match &mut followed {
                    Some(followed) => followed.next().await,
                    None => followed.insert(store.follow(&keys).await?).next().await,
                }
            };
            match timeout(lease, next).await {
                Ok(Ok(record)) if record.key == outcome => return Ok(serde_json::from_slice(&record.value)?),
                // It is followed anew, and nothing has come meanwhile.
                Ok(Ok(record)) if holder.as_ref().is_some_and(|(_, known)| *known == record.revision) => {}
                Ok(Ok(record)) => {
                    let worker = name_of(&WorkerId(String::from_utf8_lossy(&record.value).into_owned()));
                    said.say(&format!("the worker {worker} has it"));
                    holder = Some((worker, record.revision));
                }
                Ok(Err(error)) => {
                    followed = None;
                    said.say(&format!("the fleet does not answer: {}", tame(&error.to_string(), 200)));
                    pause(store.times().again).await;
                }
                // Nothing is heard for long: it waits, its worker is gone, or the connection is.
                Err(_) => {
                    followed = None;
                    said.say(&silence(store, spec, holder.as_ref().map(|(worker, _)| worker.as_str())).await);
                }
            }
            let latest = spec.deadline_ms.unwrap_or_default();
            let grace = u64::try_from((lease * LATE_LEASES).as_millis()).unwrap_or(u64::MAX);
            if now_ms() > latest.saturating_add(grace) {
                // One that cannot be cancelled now ends at its deadline all the same.
                let _ = timeout(WITHDRAW, self.reach.cancel(id)).await;
                return Err(MachineError::Late { id: id.clone(), last: said.last().to_owned() });
            }
        }
    }
}

/// Describes a task that has sent nothing for the time of a lease.
async fn silence(store: &NatsStore, spec: &TaskSpec, holder: Option<&str>) -> String {
    let fit = timeout(store.times().call, WorkerCandidates::of(store, spec)).await;
    let fit = fit.unwrap_or_else(|_| Err(StoreError::Unknown("it is silent".to_owned())));
    match (fit.map(|fit| fit.words(&spec.needs)), holder) {
        (Err(error), _) => format!("the fleet does not answer: {}", tame(&error.to_string(), 200)),
        (Ok(Ok(_)), Some(holder)) => format!("the worker {holder} is silent; another one goes on with it"),
        (Ok(Err(nobody)), Some(holder)) => format!("the worker {holder} is silent, and {nobody}"),
        (Ok(Ok(_)), None) => "it is queued".to_owned(),
        (Ok(Err(nobody)), None) => format!("it is queued, but {nobody}"),
    }
}

/// Writes a file that is there after a crash.
fn write_down(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let new = path.with_extension("new");
    private::write_file(&new, bytes)?;
    fs::File::open(&new)?.sync_all()?;
    fs::rename(&new, path)?;
    fs::File::open(path.parent().unwrap_or(Path::new(".")))?.sync_all()
}

/// Sends a task. The same one is sent once, however often this is done.
async fn submit(store: &NatsStore, spec: &TaskSpec) -> Result<(), MachineError> {
    let (begun, key) = (Instant::now(), task_key(&spec.id));
    let value = serde_json::to_vec(&TaskRecord { spec: spec.clone(), released: 0 })?;
    loop {
        let sent = match store.put(&key, 0, &value).await {
            Err(StoreError::Changed) => match store.get(&key).await {
                Ok(Some(known)) => {
                    let is_same = known.read::<TaskRecord>().is_some_and(|known| known.spec == *spec);
                    return if is_same { Ok(()) } else { Err(MachineError::Another(spec.id.clone())) };
                }
                Ok(None) => Err(StoreError::Unknown("the task cannot be read".to_owned())),
                Err(error) => Err(error),
            },
            sent => sent.map(|_| ()),
        };
        match sent {
            Ok(()) => return Ok(()),
            Err(source) if begun.elapsed() > store.times().lease + PATIENCE => {
                return Err(MachineError::Silent { id: spec.id.clone(), source });
            }
            Err(_) => pause(store.times().again).await,
        }
    }
}
