//! Processing of a task by a worker: takes it if no worker has it, holds it, and stores its outcome.

use std::{
    future::Future,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use tokio::{sync::Mutex, time::Instant, try_join};

pub use crate::{
    calls::{FleetTimeouts, LeaseLost},
    keys::{
        ANSWERS, CANCELS, LEASES, OUTCOMES, QUESTIONS, TASKS, cancel_key, lease_key, outcome_key, task_key,
    },
};
use crate::{
    calls::{append, bounded, put_outcome},
    journal::{TaskJournalChunk, TaskJournalEntries, TaskJournalEntry, TaskOutcome, WorkerId},
    pace::pause,
    plan::{BudgetRecord, OutcomeRecord, TaskAttempt, again, attempts, budget_key, now_ms, time_words},
    store::{FleetRecord, FleetStore, Place, Revision, StoreError, TaskDelivery},
    task::{OnLoss, TaskId, TaskRecord, TaskSpec},
};

/// The way a task begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TaskStart {
    /// Nothing was done with it, or it begins anew.
    New,
    /// Another holder did what the journal says.
    Resumed(TaskJournalEntries),
}

/// An implementation that does tasks.
pub trait TaskRunner: Send + Sync + 'static {
    /// Does a task to its end. Every action is announced to the lease first, and done at once when that returns.
    ///
    /// # Errors
    /// The lease is lost.
    fn run<S: FleetStore>(
        &self,
        task: &TaskSpec,
        beginning: TaskStart,
        lease: &Lease<S>,
    ) -> impl Future<Output = Result<TaskOutcome, LeaseLost>> + Send;

    /// Decides if this worker may do a task. Nothing has been done with the task yet.
    fn admit(&self, task: &TaskSpec) -> impl Future<Output = Admission> + Send {
        let _ = task;
        std::future::ready(Admission::Here)
    }
}

/// The decision on who may do a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Admission {
    /// This worker may do the task.
    Here,
    /// This worker may not do the task; another one may.
    Elsewhere,
    /// None may.
    Nowhere {
        /// Why.
        reason: String,
    },
}

/// The result of a delivery.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DeliveryOutcome {
    /// The task has an outcome.
    Ended(TaskOutcome),
    /// The task did not finish, and is retried later.
    Again(TaskAttempt),
    /// Somebody else has it.
    Elsewhere,
    /// The lease was lost, or the server does not answer: the server gives the task to another worker.
    Lost,
}

/// The right to do a task, as long as it is renewed.
pub struct Lease<S> {
    store: S,
    task: TaskId,
    times: FleetTimeouts,
    /// The place of the last entry of the journal.
    last: Mutex<Place>,
    renewed: std::sync::Mutex<Instant>,
    /// Set once an action has begun in this try.
    has_acted: AtomicBool,
}

impl<S: FleetStore> Lease<S> {
    /// Stores what was said or happened.
    ///
    /// # Errors
    /// The lease is lost.
    pub async fn write(&self, part: impl Into<TaskJournalChunk>) -> Result<(), LeaseLost> {
        self.append(TaskJournalEntry::Lines(part.into())).await
    }

    /// Waits until the lease can be lost before it is renewed: whatever is done for it has to end by then.
    async fn runs_out(&self) {
        loop {
            let left = (self.times.lease * 3 / 4).saturating_sub(self.renewed().elapsed());
            if left.is_zero() {
                return;
            }
            pause(left).await;
        }
    }

    fn renewed(&self) -> Instant {
        *self.renewed.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    async fn begin_anew(&self) -> Result<(), LeaseLost> {
        self.append(TaskJournalEntry::Afresh).await
    }

    /// Stores that an action is about to be done. It may be done at once when this has returned, and not later.
    ///
    /// # Errors
    /// The lease is lost: the action must not be done.
    pub async fn act(&self, part: impl Into<TaskJournalChunk>) -> Result<(), LeaseLost> {
        // What is not going to be done had better not be announced.
        self.may_act()?;
        self.has_acted.store(true, Ordering::Relaxed);
        self.append(TaskJournalEntry::Acts(part.into())).await?;
        self.may_act()
    }

    fn may_act(&self) -> Result<(), LeaseLost> {
        if self.renewed().elapsed() > self.times.acting() { Err(LeaseLost) } else { Ok(()) }
    }

    async fn append(&self, entry: TaskJournalEntry) -> Result<(), LeaseLost> {
        let mut last = self.last.lock().await;
        *last = append(&self.store, &self.times, &self.task, *last, &entry).await?;
        Ok(())
    }
}

/// A worker: what it is called and what it can do.
pub struct FleetWorker<S, R> {
    /// The server.
    pub store: S,
    /// The runner that does the tasks.
    pub runner: Arc<R>,
    /// Its name.
    pub id: WorkerId,
    /// The times of the fleet.
    pub times: FleetTimeouts,
}

impl<S: FleetStore, R: TaskRunner> FleetWorker<S, R> {
    /// Does what has to be done with a task that the worker was given.
    pub async fn hold(&self, delivery: &TaskDelivery) -> DeliveryOutcome {
        match self.try_hold(delivery).await {
            Ok(held) => held,
            // The server gives it to somebody once nobody keeps it.
            Err(LeaseFailure) => DeliveryOutcome::Lost,
        }
    }

    async fn try_hold(&self, delivery: &TaskDelivery) -> Result<DeliveryOutcome, LeaseFailure> {
        let task = &delivery.task;
        let (task_key, lease_key) = (task_key(task), lease_key(task));
        let (record, mut entries, lease) = try_join!(
            self.call(self.store.get(&task_key)),
            self.call(self.store.journal(task)),
            self.call(self.store.get(&lease_key)),
        )?;
        let Some(record) = record else {
            // A server that is behind the others does not know it yet.
            self.call(self.store.give_back(delivery, self.times.lease)).await?;
            return Ok(DeliveryOutcome::Elsewhere);
        };
        let record: TaskRecord = serde_json::from_slice(&record.value).map_err(|_| LeaseFailure)?;
        if !matches!(
            entries.last(),
            Some((_, TaskJournalEntry::Ended { .. } | TaskJournalEntry::Again(_))) | None
        ) {
            if self.is_held(delivery, lease.as_ref()).await? {
                self.call(self.store.give_back(delivery, self.times.lease)).await?;
                return Ok(DeliveryOutcome::Elsewhere);
            }
            entries = self.call(self.store.journal(task)).await?;
        }
        let last = entries.last().map_or(0, |(place, _)| *place);
        let journal = TaskJournalEntries::new(entries.into_iter().map(|(_, entry)| entry).collect());
        if let Some(outcome) = journal.outcome() {
            // Its holder was lost before it could say so.
            return self.ended(delivery, outcome.clone(), &record.spec, &journal).await;
        }
        let admission = self.admission(task, &record.spec).await;
        // Others count from when they see the lease in the server, however long it takes until this worker is in the journal.
        let renewed = std::sync::Mutex::new(Instant::now());
        let taken = match admission {
            Admission::Elsewhere => None,
            Admission::Here | Admission::Nowhere { .. } => self.take(task, lease, last).await?,
        };
        let Some((revision, place)) = taken else {
            self.call(self.store.give_back(delivery, self.times.lease)).await?;
            return Ok(DeliveryOutcome::Elsewhere);
        };
        let lease = Lease {
            store: self.store.clone(),
            task: task.clone(),
            times: self.times,
            last: Mutex::new(place),
            renewed,
            has_acted: AtomicBool::new(journal.has_acted()),
        };
        if let Some(outcome) = self.unwanted(&record.spec, &journal).await? {
            lease.append(TaskJournalEntry::Ended { outcome: outcome.clone() }).await?;
            return self.ended(delivery, outcome, &record.spec, &journal).await;
        }
        let beginning = match admission {
            Admission::Nowhere { reason } => Err(TaskOutcome::Refused { reason }),
            Admission::Here | Admission::Elsewhere => beginning(&record.spec, &journal),
        };
        let outcome = match beginning {
            Ok(beginning) => {
                if beginning == TaskStart::New && !journal.entries().is_empty() {
                    lease.begin_anew().await?;
                }
                tokio::select! {
                    biased;
                    () = lease.runs_out() => return Ok(DeliveryOutcome::Lost),
                    outcome = self.runner.run(&record.spec, beginning, &lease) => outcome?,
                    stopped = self.renew(delivery, &record.spec, &lease, revision) => stopped?,
                }
            }
            Err(outcome) => outcome,
        };
        self.tried(delivery, &lease, outcome, &record.spec, &journal).await
    }

    /// Ends a try: the task is tried again, or has its outcome.
    async fn tried(
        &self,
        delivery: &TaskDelivery,
        lease: &Lease<S>,
        outcome: TaskOutcome,
        spec: &TaskSpec,
        journal: &TaskJournalEntries,
    ) -> Result<DeliveryOutcome, LeaseFailure> {
        let has_acted = lease.has_acted.load(Ordering::Relaxed);
        if let Some(attempt) = again(spec, journal, &outcome, has_acted, &self.id) {
            lease.append(TaskJournalEntry::Again(attempt.clone())).await?;
            let wait = spec.retry.as_ref().map_or(0, |retry| retry.wait_ms);
            self.call(self.store.give_back(delivery, Duration::from_millis(wait))).await?;
            return Ok(DeliveryOutcome::Again(attempt));
        }
        lease.append(TaskJournalEntry::Ended { outcome: outcome.clone() }).await?;
        self.ended(delivery, outcome, spec, journal).await
    }

    /// Decides if the task is done here. A task may have been stored under the id of another.
    async fn admission(&self, task: &TaskId, spec: &TaskSpec) -> Admission {
        match &spec.id {
            id if id == task => self.runner.admit(spec).await,
            id => Admission::Nowhere { reason: format!("it is stored as {task}, and says that it is {id}") },
        }
    }

    /// The outcome of a task that need not begin or go on: it is cancelled, it is too late, or its batch has no budget left.
    async fn unwanted(
        &self,
        spec: &TaskSpec,
        journal: &TaskJournalEntries,
    ) -> Result<Option<TaskOutcome>, LeaseFailure> {
        let batch = spec.batch.as_ref().filter(|_| journal.is_new());
        let (cancel, budget) = (cancel_key(&spec.id), batch.map(|batch| budget_key(batch)));
        let budget = async {
            match &budget {
                Some(budget) => self.store.get(budget).await,
                None => Ok(None),
            }
        };
        let (cancel, budget) = try_join!(self.call(self.store.get(&cancel)), self.call(budget))?;
        if cancel.is_some_and(|cancel| spec.is_cancelled_by(&cancel.value)) {
            return Ok(Some(TaskOutcome::Cancelled));
        }
        if let Some(deadline) = spec.deadline_ms.filter(|deadline| *deadline <= now_ms()) {
            return Ok(Some(expired(deadline, journal)));
        }
        let budget = budget.and_then(|record| record.read::<BudgetRecord>());
        let reached = batch.zip(budget.and_then(|budget| budget.reached));
        Ok(reached.map(|(batch, limit)| TaskOutcome::OverBudget {
            reason: format!("the budget of {batch} is used up: its limit of {limit} is reached"),
        }))
    }

    async fn call<T>(&self, call: impl Future<Output = Result<T, StoreError>>) -> Result<T, LeaseFailure> {
        Ok(bounded(&self.times, call).await?)
    }

    /// Returns `true` if the holder of a task renews its lease. A negative result takes the time of a lease by
    /// the clock of this machine.
    async fn is_held(
        &self,
        delivery: &TaskDelivery,
        lease: Option<&FleetRecord>,
    ) -> Result<bool, LeaseFailure> {
        let begun = Instant::now();
        while begun.elapsed() < self.times.lease {
            pause(self.times.renewal()).await;
            self.call(self.store.keep(delivery)).await?;
            let now = self.call(self.store.get(&lease_key(&delivery.task))).await?;
            if now.map(|now| now.revision) != lease.map(|lease| lease.revision) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Takes a task; `None` if somebody else does.
    async fn take(
        &self,
        task: &TaskId,
        lease: Option<FleetRecord>,
        last: Place,
    ) -> Result<Option<(Revision, Place)>, LeaseFailure> {
        let revision = lease.map_or(0, |lease| lease.revision);
        let name = self.id.0.as_bytes();
        let revision = match bounded(&self.times, self.store.put(&lease_key(task), revision, name)).await {
            Ok(revision) => revision,
            Err(StoreError::Changed) => return Ok(None),
            Err(error @ StoreError::Unknown(_)) => return Err(error.into()),
        };
        let taken = TaskJournalEntry::Taken { worker: self.id.clone() };
        Ok(append(&self.store, &self.times, task, last, &taken).await.ok().map(|place| (revision, place)))
    }

    /// Renews the lease; returns when the task is not wanted any more.
    async fn renew(
        &self,
        delivery: &TaskDelivery,
        spec: &TaskSpec,
        lease: &Lease<S>,
        mut revision: Revision,
    ) -> Result<TaskOutcome, LeaseFailure> {
        let name = self.id.0.as_bytes();
        let key = lease_key(&delivery.task);
        loop {
            pause(self.times.renewal()).await;
            let begun = Instant::now();
            match bounded(&self.times, self.store.put(&key, revision, name)).await {
                Ok(now) => {
                    revision = now;
                    *lease.renewed.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = begun;
                }
                Err(StoreError::Changed | StoreError::Unknown(_)) => {
                    // An earlier renewal may have had no answer.
                    match bounded(&self.times, self.store.get(&key)).await {
                        Ok(Some(record)) if record.value == name => revision = record.revision,
                        Ok(_) => return Err(LeaseFailure),
                        Err(StoreError::Changed | StoreError::Unknown(_)) => {}
                    }
                }
            }
            // What the queue does not hear is for the lease to tell.
            let _ = bounded(&self.times, self.store.keep(delivery)).await;
            if let Ok(Some(cancel)) = bounded(&self.times, self.store.get(&cancel_key(&delivery.task))).await
                && spec.is_cancelled_by(&cancel.value)
            {
                return Ok(TaskOutcome::Cancelled);
            }
        }
    }

    /// Says what the outcome is, and that the task need not be given to anybody.
    async fn ended(
        &self,
        delivery: &TaskDelivery,
        outcome: TaskOutcome,
        spec: &TaskSpec,
        journal: &TaskJournalEntries,
    ) -> Result<DeliveryOutcome, LeaseFailure> {
        let record = OutcomeRecord {
            outcome: outcome.clone(),
            attempts: attempts(journal),
            batch: spec.batch.clone(),
        };
        put_outcome(&self.store, &self.times, &delivery.task, record).await?;
        self.call(self.store.finish(delivery)).await?;
        Ok(DeliveryOutcome::Ended(outcome))
    }
}

/// Returns how a task that was begun before begins again, or its outcome if it does not.
fn beginning(spec: &TaskSpec, journal: &TaskJournalEntries) -> Result<TaskStart, TaskOutcome> {
    let lost = u32::try_from(journal.lost()).unwrap_or(u32::MAX);
    if lost >= spec.taken_max {
        let reason = format!("{lost} workers were lost with it");
        return Err(TaskOutcome::DeadLetter { reason });
    }
    match spec.on_loss {
        OnLoss::Person if journal.is_acting() => {
            let reason =
                "its holder was lost while it acted, and what was done cannot be done again".to_owned();
            Err(TaskOutcome::Person { reason })
        }
        OnLoss::Afresh => Ok(TaskStart::New),
        OnLoss::Resume | OnLoss::Person if journal.is_new() => Ok(TaskStart::New),
        OnLoss::Resume | OnLoss::Person => Ok(TaskStart::Resumed(journal.clone())),
    }
}

/// The outcome of a task whose deadline is over.
pub(crate) fn expired(deadline_ms: u64, journal: &TaskJournalEntries) -> TaskOutcome {
    let deadline = time_words(deadline_ms);
    let reason = if journal.is_new() {
        format!("it did not begin before {deadline}")
    } else {
        format!("its worker was lost, and no other one had it before {deadline}")
    };
    TaskOutcome::Expired { reason }
}

/// The lease is lost, or the server does not answer.
#[derive(Debug)]
struct LeaseFailure;

impl From<LeaseLost> for LeaseFailure {
    fn from(_: LeaseLost) -> Self {
        Self
    }
}

impl From<StoreError> for LeaseFailure {
    fn from(_: StoreError) -> Self {
        Self
    }
}
