//! Puts tasks into the queue once they may begin. Any number of controllers may run; one leads.
//!
//! A leader that was stopped and does not know that another one leads does no harm: it puts tasks into the queue that are there already,
//! which the lease of a task makes harmless.

mod known;

use std::{collections::BTreeMap, convert::Infallible, future::Future, pin::pin};

use futures_util::{
    FutureExt as _, Stream, StreamExt as _,
    future::join_all,
    stream::{FuturesUnordered, select, unfold},
};
use tokio::time::{Instant, timeout};

use crate::{
    calls::put_outcome,
    graph::Graph,
    holder::{CANCELS, FleetTimeouts, OUTCOMES, TASKS, cancel_key, lease_key, task_key},
    journal::{TaskJournalEntry, TaskOutcome},
    pace::pause,
    plan::{BUDGETS, LIMITS},
    store::{FleetRecord, FleetStore, Revision, StoreError},
    task::{TaskId, TaskRecord},
};

use known::{
    ControllerStep, ControllerStepOutcome, LeaderState, ObservedLease, RawTaskRecord, ReleasableTask,
};

/// The key of the record of who leads.
pub(crate) const LEADER: &str = "leader";
/// The most tasks that are put into the queue at once.
const STEPS_MAX: usize = 256;

/// A controller.
pub struct Controller<S> {
    /// The server.
    pub store: S,
    /// Its name: another one each time that it starts.
    pub name: String,
    /// The times of the fleet.
    pub times: FleetTimeouts,
}

/// Why a leader leads no more.
#[derive(Debug)]
struct LeadershipLost;

impl<S: FleetStore> Controller<S> {
    /// Leads whenever nobody else does.
    pub async fn run(&self) -> Infallible {
        loop {
            if let Ok(Some(revision)) = self.try_to_lead().await {
                let LeadershipLost = self.lead(revision).await;
            }
            pause(self.times.again).await;
        }
    }

    pub(crate) async fn call<T>(
        &self,
        call: impl Future<Output = Result<T, StoreError>> + Send,
    ) -> Result<T, StoreError> {
        timeout(self.times.call, call)
            .await
            .unwrap_or_else(|_| Err(StoreError::Unknown(format!("no answer within {:?}", self.times.call))))
    }

    /// Becomes the leader if the one that is does not renew its record for the time of a lease.
    async fn try_to_lead(&self) -> Result<Option<Revision>, StoreError> {
        let leader = self.call(self.store.get(LEADER)).await?;
        let revision = leader.as_ref().map_or(0, |leader| leader.revision);
        if leader.is_some_and(|leader| leader.value != self.name.as_bytes()) {
            pause(self.times.lease).await;
        }
        match self.call(self.store.put(LEADER, revision, self.name.as_bytes())).await {
            Ok(revision) => Ok(Some(revision)),
            Err(StoreError::Changed) => Ok(None),
            Err(error @ StoreError::Unknown(_)) => Err(error),
        }
    }

    /// Leads as long as nobody else does.
    async fn lead(&self, revision: Revision) -> LeadershipLost {
        tokio::select! {
            biased;
            deposed = self.renew(revision) => deposed,
            deposed = self.schedule() => deposed,
        }
    }

    /// Says that it still leads; returns once somebody else does, or may.
    async fn renew(&self, mut revision: Revision) -> LeadershipLost {
        let mut renewed = Instant::now();
        while renewed.elapsed() < self.times.lease {
            pause(self.times.renewal()).await;
            let begun = Instant::now();
            match self.call(self.store.put(LEADER, revision, self.name.as_bytes())).await {
                Ok(now) => (revision, renewed) = (now, begun),
                // An earlier renewal may have had no answer.
                Err(StoreError::Changed) => match self.call(self.store.get(LEADER)).await {
                    Ok(Some(leader)) if leader.value == self.name.as_bytes() => revision = leader.revision,
                    Ok(_) => return LeadershipLost,
                    Err(StoreError::Changed | StoreError::Unknown(_)) => {}
                },
                Err(StoreError::Unknown(_)) => {}
            }
        }
        LeadershipLost
    }

    async fn schedule(&self) -> LeadershipLost {
        let (Ok(limits), Ok((slots, revision))) = (self.limits().await, self.slots().await) else {
            return LeadershipLost;
        };
        let mut known = LeaderState::new(Graph::new(limits, slots), revision);
        let ended = select(self.news(OUTCOMES), self.news(CANCELS));
        let tasks = select(self.news(TASKS), ended);
        let mut news = pin!(select(tasks, select(self.news(LIMITS), self.news(BUDGETS))));
        let mut doing = FuturesUnordered::new();
        let mut looked = Instant::now();
        loop {
            if looked.elapsed() > self.times.renewal() {
                self.end_cancelled(&mut known.cancelled).await;
                looked = Instant::now();
            }
            self.tend(&mut known.plans, |task| known.graph.is_open(task)).await;
            while doing.len() < STEPS_MAX
                && let Some(step) = known.step()
            {
                doing.push(self.carry_out(step));
            }
            tokio::select! {
                biased;
                Some((prefix, records)) = news.next() => known.learn(prefix, records),
                Some(done) = doing.next() => match done {
                    Ok(done) => known.done(done),
                    Err(_) => return LeadershipLost,
                },
                () = pause(self.times.renewal()) => {}
            }
            // However much news there is, what is done makes room for more.
            while let Some(Some(done)) = doing.next().now_or_never() {
                match done {
                    Ok(done) => known.done(done),
                    Err(_) => return LeadershipLost,
                }
            }
        }
    }

    /// Asks until the server answers: else, all that was read would have to be read anew.
    pub(crate) async fn insist<T, F>(&self, call: impl Fn() -> F) -> Result<T, StoreError>
    where
        F: Future<Output = Result<T, StoreError>> + Send,
    {
        let begun = Instant::now();
        loop {
            match timeout(self.times.call, call()).await {
                Ok(Err(StoreError::Unknown(_))) | Err(_) if begun.elapsed() < self.times.lease => {
                    pause(self.times.again).await;
                }
                Ok(done) => return done,
                Err(_) => {
                    return Err(StoreError::Unknown(format!("no answer within {:?}", self.times.lease)));
                }
            }
        }
    }

    /// Records of a kind as they are written, from the first on.
    fn news(&self, prefix: &'static str) -> impl Stream<Item = (&'static str, Vec<FleetRecord>)> + Send {
        Box::pin(unfold(0, move |seen: Revision| async move {
            loop {
                // Without news it waits, for the time of a call at most.
                if let Ok(records) = self.call(self.store.changes(prefix, seen)).await {
                    let seen = records.iter().map(|record| record.revision).fold(seen, Revision::max);
                    return Some(((prefix, records), seen));
                }
                pause(self.times.again).await;
            }
        }))
    }

    async fn carry_out(&self, step: ControllerStep) -> Result<ControllerStepOutcome, StoreError> {
        match step {
            ControllerStep::Release(ReleasableTask { task, record }) => self.release(&task, record).await?,
            ControllerStep::Block { task, by } => {
                let outcome = TaskOutcome::Blocked { by };
                // Who cancels it meanwhile finds that in its journal.
                self.insist(|| self.end_unbegun(&task, outcome.clone())).await?;
            }
            ControllerStep::Spread(ReleasableTask { task, record }) => {
                let (revision, record) = self.record(&task, record).await?;
                self.spread(revision, record).await?;
            }
            ControllerStep::Close { task, rows, finished } => {
                self.insist(|| self.close(&task, rows, finished)).await?;
            }
            ControllerStep::Limited { slots, revision, begin } => {
                let revision = self.write_slots(revision, &slots).await?;
                return Ok(ControllerStepOutcome::Allowed { revision, begin });
            }
            ControllerStep::Sum(summary) => {
                let read = (summary.tasks, summary.outcomes);
                return Ok(ControllerStepOutcome::Summed(
                    self.write_summary(summary).await.ok().map(|_| read),
                ));
            }
        }
        Ok(ControllerStepOutcome::Step)
    }

    /// The record of a task: the one that is at hand, or as it is stored.
    async fn record(
        &self,
        task: &TaskId,
        at_hand: Option<RawTaskRecord>,
    ) -> Result<(Revision, TaskRecord), StoreError> {
        let RawTaskRecord { revision, value } = match at_hand {
            Some(stored) => stored,
            None => self.stored(task).await?,
        };
        let record =
            serde_json::from_slice(&value).map_err(|error| StoreError::Unknown(error.to_string()))?;
        Ok((revision, record))
    }

    async fn stored(&self, task: &TaskId) -> Result<RawTaskRecord, StoreError> {
        let key = task_key(task);
        // A server that is behind the others may not know it yet.
        let stored = self.insist(async || {
            let record = self.store.get(&key).await?;
            record.ok_or_else(|| StoreError::Unknown(format!("{task} has no record")))
        });
        let FleetRecord { revision, value, .. } = stored.await?;
        Ok(RawTaskRecord { revision, value })
    }

    /// Puts a task into the queue, and then into its record that it is there: in the other order it could be lost.
    async fn release(&self, task: &TaskId, at_hand: Option<RawTaskRecord>) -> Result<(), StoreError> {
        let (revision, mut record) = self.record(task, at_hand).await?;
        if record.released > 0 {
            // Another leader was faster.
            return Ok(());
        }
        record.released = 1;
        let TaskRecord { spec, released } = &record;
        let message = format!("{task}/{released}");
        self.insist(|| self.store.release(task, &spec.needs, spec.priority, &message)).await?;
        let value = serde_json::to_vec(&record).map_err(|error| StoreError::Unknown(error.to_string()))?;
        let key = task_key(task);
        match self.insist(|| self.store.put(&key, revision, &value)).await {
            // An earlier try had no answer, or another leader was faster: the task is in the queue.
            Ok(_) | Err(StoreError::Changed) => Ok(()),
            Err(error @ StoreError::Unknown(_)) => Err(error),
        }
    }

    /// Ends tasks that are not wanted any more and that nobody holds: there may be no worker that could take them.
    async fn end_cancelled(&self, cancelled: &mut BTreeMap<TaskId, Option<ObservedLease>>) {
        let ended = cancelled.iter_mut().map(async |(task, held)| {
            let ended = self.end_unless_held(task, held).await;
            ended.unwrap_or_default().then(|| task.clone())
        });
        for task in join_all(ended).await.into_iter().flatten() {
            cancelled.remove(&task);
        }
    }

    /// Returns `true` if a cancellation counts: that of a signed task only if the same key signed it.
    async fn is_cancelled(&self, task: &TaskId) -> Result<bool, StoreError> {
        let record = self.call(self.store.get(&task_key(task))).await?;
        let record = record.and_then(|record| record.read::<TaskRecord>());
        let cancel = self.call(self.store.get(&cancel_key(task))).await?;
        let is_by = |record: TaskRecord, cancel: FleetRecord| record.spec.is_cancelled_by(&cancel.value);
        Ok(record.zip(cancel).is_none_or(|(record, cancel)| is_by(record, cancel)))
    }

    /// Ends a task, as its holder would, unless somebody renews its lease. Returns whether nothing is left to be done.
    async fn end_unless_held(
        &self,
        task: &TaskId,
        held: &mut Option<ObservedLease>,
    ) -> Result<bool, StoreError> {
        if !self.is_cancelled(task).await? {
            return Ok(true);
        }
        let lease = self.call(self.store.get(&lease_key(task))).await?.map_or(0, |lease| lease.revision);
        let since = match held {
            Some(held) if held.lease == lease => held.since,
            Some(_) | None => held.insert(ObservedLease { lease, since: Instant::now() }).since,
        };
        if lease != 0 && since.elapsed() < self.times.lease {
            return Ok(false);
        }
        let entries = self.call(self.store.journal(task)).await?;
        let outcome = match entries.last() {
            Some((_, TaskJournalEntry::Ended { outcome })) => outcome.clone(),
            last => {
                let place = last.map_or(0, |(place, _)| *place);
                let ended = TaskJournalEntry::Ended { outcome: TaskOutcome::Cancelled };
                // Whoever takes it meanwhile cannot append, and sees that it is not wanted.
                self.call(self.store.append(task, place, &ended)).await?;
                TaskOutcome::Cancelled
            }
        };
        put_outcome(&self.store, &self.times, task, outcome).await?;
        Ok(true)
    }
}
