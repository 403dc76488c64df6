//! That a worker is there: others read what it takes, and how many sessions it has.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use deskhand_fleet::{
    holder::Admission,
    journal::WorkerId,
    nats::NatsStore,
    pace::pause,
    store::StoreError,
    task::{TaskId, TaskSpec},
};
use deskhand_machine::provenance::Provenance;
use serde::{Deserialize, Serialize};
use tokio::time::Instant;

use super::{
    admission::{Rules, TaskRefusal},
    figures::WorkerFigures,
    rows::RowTableCache,
};

/// For so many leases others may take what a worker refuses, although none is there that does.
const WAIT_LEASES: u32 = 2;
/// The most refused tasks that are remembered.
const REFUSED_MAX: usize = 10_000;

/// The announcement of a worker.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct WorkerAnnouncement {
    pub(super) rules: Rules,
    /// The sessions that run.
    pub(super) sessions: u64,
}

/// A worker among the others of its fleet.
pub(super) struct WorkerPresence {
    pub(super) store: NatsStore,
    pub(super) worker: WorkerId,
    pub(super) rules: Rules,
    pub(super) figures: Arc<WorkerFigures>,
    /// Since when tasks were refused here.
    pub(super) refused: Mutex<HashMap<TaskId, Instant>>,
    pub(super) rows: RowTableCache,
}

impl WorkerPresence {
    /// Says that the worker is there, for as long as this is waited for.
    pub(super) async fn run(&self) -> std::convert::Infallible {
        loop {
            if let Err(error) = self.announce().await {
                tracing::debug!(%error, "the fleet does not hear that this worker is there");
            }
            pause(self.store.announcement()).await;
        }
    }

    /// Says it once.
    pub(super) async fn announce(&self) -> Result<(), StoreError> {
        let present = WorkerAnnouncement { rules: self.rules.clone(), sessions: self.figures.sessions() };
        let value = serde_json::to_vec(&present).map_err(|error| StoreError::Unknown(error.to_string()))?;
        self.store.announce(&self.worker, value).await
    }

    /// The workers that are there.
    pub(super) async fn all(&self) -> Result<Vec<WorkerAnnouncement>, StoreError> {
        let all = self.store.workers(&self.worker).await?;
        Ok(all.iter().filter_map(|(_, value)| serde_json::from_slice(value).ok()).collect())
    }

    /// Decides whether the worker may do a task, with the reason if not.
    pub(super) async fn admit(&self, spec: &TaskSpec) -> (Admission, Option<String>) {
        let signed = self.rows.signed(&self.store, spec).await;
        let judged = signed.as_ref().map_err(Clone::clone).and_then(|signed| self.rules.judge(spec, signed));
        let reason = match judged {
            Ok(()) => return (Admission::Here, None),
            Err(TaskRefusal::Everywhere(reason)) => return (Admission::Nowhere { reason }, None),
            Err(TaskRefusal::Here(reason)) => reason,
        };
        // Whether it is a row may not be known yet.
        let Ok(signed) = signed else { return (Admission::Elsewhere, Some(reason)) };
        // One that takes it may just be starting.
        let may_come = self.refused_for(&spec.id) < self.store.times().lease * WAIT_LEASES;
        let others = self.all().await;
        let takes = |others: &[WorkerAnnouncement]| {
            others.iter().any(|other| other.rules.judge(spec, &signed).is_ok())
        };
        match others {
            Ok(others) if !may_come && !takes(&others) => {
                let reason =
                    format!("{reason}; none of the {} workers that are there takes it", others.len());
                (Admission::Nowhere { reason }, None)
            }
            Ok(_) | Err(_) => (Admission::Elsewhere, Some(reason)),
        }
    }

    /// Who made a task.
    pub(super) async fn provenance(&self, spec: &TaskSpec) -> Provenance {
        let signed = self.rows.signed(&self.store, spec).await;
        signed.map_or(Provenance::Stranger, |signed| self.rules.provenance(&signed))
    }

    /// Returns the time since the task was first refused.
    fn refused_for(&self, task: &TaskId) -> std::time::Duration {
        let mut refused = self.refused.lock().unwrap_or_else(PoisonError::into_inner);
        if refused.len() > REFUSED_MAX {
            refused.clear();
        }
        refused.entry(task.clone()).or_insert_with(Instant::now).elapsed()
    }
}
