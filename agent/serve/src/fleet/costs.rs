//! Usage of a fleet's tasks, by label and by batch, and the limits for both.

use std::collections::BTreeMap;

use deskhand_fleet::{
    nats::NatsStore,
    plan::{
        BUDGETS, BatchBudget, BudgetRecord, LABEL_LIMITS, Limits, Share, TaskTally, TaskUsage, budget_key,
    },
    store::{FleetStore as _, Revision, StoreError},
};
use serde::Serialize;

use super::view::FleetTaskRow;

/// The usage of tasks.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Costs {
    /// By label. A task counts for each of its labels.
    pub labels: BTreeMap<String, LabelCosts>,
    /// By batch.
    pub batches: BTreeMap<String, BatchCosts>,
    /// Of all tasks.
    pub all: TaskUsage,
}

/// The usage of the tasks with a label.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct LabelCosts {
    /// Number of tasks.
    pub tasks: usize,
    /// The usage of these tasks.
    pub used: TaskUsage,
    /// Maximum number of tasks in the queue or running at once.
    pub limit: Option<usize>,
}

/// The usage of the tasks of a batch.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct BatchCosts {
    /// Number of tasks.
    pub tasks: usize,
    /// The usage of these tasks.
    pub used: TaskUsage,
    /// The budget of the batch.
    pub budget: Option<BudgetRecord>,
}

/// Returns the usage of these tasks.
///
/// # Errors
/// The server does not answer.
pub async fn costs(store: &NatsStore, rows: &[FleetTaskRow]) -> Result<Costs, StoreError> {
    let mut costs = Costs::default();
    for row in rows {
        costs.all = costs.all.plus(row.used);
        // What stands for rows is no task of its own.
        let tasks = usize::from(!row.has_rows);
        for label in &row.labels {
            let of = costs.labels.entry(label.clone()).or_default();
            (of.tasks, of.used) = (of.tasks + tasks, of.used.plus(row.used));
        }
        if let Some(batch) = &row.batch {
            let of = costs.batches.entry(batch.clone()).or_default();
            (of.tasks, of.used) = (of.tasks + tasks, of.used.plus(row.used));
        }
    }
    with_limits(store, costs).await
}

/// Returns the usage of tasks from the tally of a leading controller.
///
/// # Errors
/// The server does not answer.
pub async fn told(store: &NatsStore, tally: &TaskTally) -> Result<Costs, StoreError> {
    let tasks = |share: &Share| usize::try_from(share.tasks).unwrap_or(usize::MAX);
    let label = |(name, share): (&String, &Share)| {
        (name.clone(), LabelCosts { tasks: tasks(share), used: share.used, limit: None })
    };
    let batch = |(name, share): (&String, &Share)| {
        (name.clone(), BatchCosts { tasks: tasks(share), used: share.used, budget: None })
    };
    let costs = Costs {
        labels: tally.labels.iter().map(label).collect(),
        batches: tally.batches.iter().map(batch).collect(),
        all: tally.used,
    };
    with_limits(store, costs).await
}

async fn with_limits(store: &NatsStore, mut costs: Costs) -> Result<Costs, StoreError> {
    for (label, limit) in limits(store).await?.1 {
        costs.labels.entry(label).or_default().limit = Some(limit);
    }
    for record in store.records(BUDGETS).await? {
        let Some(batch) = record.key.strip_prefix(BUDGETS) else { continue };
        if let Some(of) = costs.batches.get_mut(batch) {
            of.budget = serde_json::from_slice(&record.value).ok();
        }
    }
    Ok(costs)
}

/// The limits of labels, with the revision of their record.
async fn limits(store: &NatsStore) -> Result<(Revision, Limits), StoreError> {
    let record = store.get(LABEL_LIMITS).await?;
    let revision = record.as_ref().map_or(0, |record| record.revision);
    let limits = record.and_then(|record| record.read());
    Ok((revision, limits.unwrap_or_default()))
}

/// Sets limits of labels, or removes them, and returns all. It holds for all workers, from when the leading one reads it.
///
/// # Errors
/// The server does not answer.
pub async fn set_limits(store: &NatsStore, wanted: &[(String, Option<usize>)]) -> Result<Limits, StoreError> {
    loop {
        let (revision, mut limits) = limits(store).await?;
        if wanted.is_empty() {
            return Ok(limits);
        }
        for (label, limit) in wanted {
            match limit {
                Some(limit) => limits.insert(label.clone(), *limit),
                None => limits.remove(label),
            };
        }
        match store.put(LABEL_LIMITS, revision, &bytes(&limits)?).await {
            Ok(_) => return Ok(limits),
            Err(StoreError::Changed) => {}
            Err(error @ StoreError::Unknown(_)) => return Err(error),
        }
    }
}

/// Sets the limits of a batch that are named; others stay as they are. A budget that was reached is so again once the next task has ended
/// and it still is.
///
/// # Errors
/// The server does not answer.
pub async fn set_budget(store: &NatsStore, batch: &str, wanted: BatchBudget) -> Result<(), StoreError> {
    let key = budget_key(batch);
    loop {
        let known = store.get(&key).await?;
        let revision = known.as_ref().map_or(0, |known| known.revision);
        let known = known.and_then(|known| known.read::<BudgetRecord>());
        let before = known.unwrap_or_default();
        let allowed = BatchBudget {
            model_calls: wanted.model_calls.or(before.allowed.model_calls),
            tokens: wanted.tokens.or(before.allowed.tokens),
            cost_micros: wanted.cost_micros.or(before.allowed.cost_micros),
        };
        if known.is_some() && allowed == before.allowed {
            return Ok(());
        }
        match store.put(&key, revision, &bytes(&BudgetRecord { allowed, reached: None })?).await {
            Ok(_) => return Ok(()),
            Err(StoreError::Changed) => {}
            Err(error @ StoreError::Unknown(_)) => return Err(error),
        }
    }
}

fn bytes(record: &impl Serialize) -> Result<Vec<u8>, StoreError> {
    serde_json::to_vec(record).map_err(|error| StoreError::Unknown(error.to_string()))
}
