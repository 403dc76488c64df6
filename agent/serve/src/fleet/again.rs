//! Sends a task once more that did not finish.

use deskhand_fleet::{
    holder::task_key,
    journal::TaskOutcome,
    nats::NatsStore,
    signed::FleetSigningKey,
    store::{FleetStore as _, StoreError},
    task::{TaskId, TaskRecord, TaskSpec},
};

use super::view::TaskState;

/// Why a task is not sent again.
#[derive(Debug, thiserror::Error)]
pub enum AgainError {
    /// The task has finished.
    #[error("the task {0} has finished")]
    Finished(TaskId),
    /// The task stands for the rows of a table.
    #[error("the task {0} stands for the rows of a table")]
    Rows(TaskId),
    /// The task is signed, and there is no key to sign the new one.
    #[error("the task {0} is signed, and so has to be the new one")]
    Unsigned(TaskId),
    /// The task has no outcome.
    #[error("the task {0} has no outcome yet")]
    Open(TaskId),
    /// Its record says nothing that can be sent.
    #[error("the record of {id} cannot be read: {problem}")]
    Damaged {
        /// The task.
        id: TaskId,
        /// Why.
        problem: String,
    },
    /// The server does not answer.
    #[error("ask the server of the fleet")]
    Store(#[from] StoreError),
}

impl AgainError {
    /// Returns the next step, as a command line.
    pub fn help(&self) -> Option<String> {
        match self {
            Self::Rows(id) => Some(format!("send its rows once more, such as {id}-0001")),
            Self::Unsigned(_) => Some("sign it with --key FILE".to_owned()),
            Self::Open(id) => Some(format!("end it first with `deskhand fleet cancel {id}`")),
            Self::Finished(_) | Self::Damaged { .. } | Self::Store(_) => None,
        }
    }
}

/// Sends a task again under an id of its own: `ID-2`, `ID-3`. Nothing of its first journal is changed. A signed one is signed with `key`.
///
/// # Errors
/// [`AgainError`]: it has finished or has no outcome yet, or the server does not answer.
pub async fn once_more(
    store: &NatsStore,
    id: &TaskId,
    state: &TaskState,
    key: Option<&FleetSigningKey>,
) -> Result<TaskId, AgainError> {
    match state {
        TaskState::Ended { outcome: TaskOutcome::Done { finished: true, .. } } => {
            return Err(AgainError::Finished(id.clone()));
        }
        TaskState::Ended { .. } => {}
        TaskState::Waits | TaskState::Queued | TaskState::Rows { .. } | TaskState::Held { .. } => {
            return Err(AgainError::Open(id.clone()));
        }
    }
    let damaged = |problem: &dyn std::fmt::Display| AgainError::Damaged {
        id: id.clone(),
        problem: problem.to_string(),
    };
    let record = store.get(&task_key(id)).await?.ok_or_else(|| damaged(&"it is gone"))?;
    let TaskRecord { spec, .. } = serde_json::from_slice(&record.value).map_err(|error| damaged(&error))?;
    if spec.for_each.is_some() {
        return Err(AgainError::Rows(id.clone()));
    }
    if spec.signed.is_some() && key.is_none() {
        return Err(AgainError::Unsigned(id.clone()));
    }
    for number in 2_u32.. {
        let again = TaskId::new(format!("{id}-{number}")).map_err(|error| damaged(&error))?;
        let spec = TaskSpec {
            id: again.clone(),
            after: Default::default(),
            deadline_ms: None,
            row_of: None,
            signed: None,
            ..spec.clone()
        };
        let spec = match key {
            Some(key) => key.sign(store.fleet(), spec).map_err(|error| damaged(&error))?,
            None => spec,
        };
        let value = serde_json::to_vec(&TaskRecord { spec, released: 0 }).map_err(|error| damaged(&error))?;
        match store.put(&task_key(&again), 0, &value).await {
            Ok(_) => return Ok(again),
            Err(StoreError::Changed) => {}
            Err(error @ StoreError::Unknown(_)) => return Err(error.into()),
        }
    }
    Err(damaged(&"it was sent too often"))
}
