//! Requests from people who watch a session of a fleet. A worker accepts nothing else from them: no input to its
//! desktop, no words to its agents, no other request.

use std::sync::Arc;

use deskhand_fleet::{
    holder::{ANSWERS, QUESTIONS, task_key},
    nats::NatsStore,
    pace::pause,
    signed::{FleetSignature, FleetSigningKey, KeyError},
    store::{FleetStore as _, StoreError},
    task::{TaskId, TaskRecord, TaskSpec},
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::view;

/// Maximum number of attempts to store an answer while others write at the same time.
const TRIES: usize = 5;

/// A question of a session: a record with the task's id in its key.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FleetQuestion {
    /// Another question has another number: that of its own session's process, and its place there.
    pub key: String,
    /// The line of the protocol that asks.
    pub line: Value,
}

impl FleetQuestion {
    /// The id that an answer carries.
    pub fn id(&self) -> Value {
        self.line.get("id").cloned().unwrap_or_default()
    }
}

/// Why a session does not do what is wanted.
#[derive(Debug, thiserror::Error)]
pub enum WishError {
    /// The input is not a line of the protocol, or not one that workers take.
    #[error(
        "a session of the fleet takes `stop`, `answer` and `decide`; everything else is for sessions of this machine"
    )]
    NotHere,
    /// Only who signed it can end it or answer it, and nothing here has the key.
    #[error("the task {0} is signed, and only the key that signed it ends or answers it")]
    Signed(TaskId),
    /// The key cannot sign.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// The session has no such question open.
    #[error("the session does not ask for {0}, or not any more")]
    NotAsked(Value),
    /// Another answer came first.
    #[error("somebody has answered already")]
    Answered,
    /// The server does not answer.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// An answer to a question: a record that is written once.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FleetAnswer {
    /// The line of the protocol.
    line: String,
    /// Who signed it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    signed: Option<FleetSignature>,
}

impl FleetAnswer {
    /// The line of the protocol in a record, if it counts.
    pub(super) fn read(record: &[u8], task: &TaskSpec, question: &FleetQuestion) -> Option<String> {
        let Self { line, signed } = serde_json::from_slice(record).ok()?;
        let is_one = !line.contains('\n') && task.is_answered_by(&question.key, &line, signed.as_ref());
        is_one.then_some(line)
    }
}

/// The key of the record with the answer to a question.
pub(super) fn answer_key(task: &TaskId, question: &FleetQuestion) -> String {
    format!("{ANSWERS}{task}.{}", question.key)
}

/// A task that somebody looks at, and who they are.
#[derive(Clone)]
pub struct FleetSteering {
    /// The server of its fleet.
    pub store: NatsStore,
    /// The task.
    pub task: TaskId,
    /// Signs what is wanted of a signed task.
    pub key: Option<Arc<FleetSigningKey>>,
}

impl FleetSteering {
    /// Carries out a line of the protocol, as far as a worker takes it.
    ///
    /// # Errors
    /// [`WishError`]: it is none that goes to a worker, is answered already, is not signed by the right key, or the server does not answer.
    pub async fn wish(&self, line: &str) -> Result<(), WishError> {
        let line: Value = serde_json::from_str(line).map_err(|_| WishError::NotHere)?;
        match line.get("do").and_then(Value::as_str) {
            Some("stop") => self.stop().await,
            Some("answer" | "decide") => self.answer(&line).await,
            Some(_) | None => Err(WishError::NotHere),
        }
    }

    /// The task as it is stored; `None` if that cannot be read.
    async fn spec(&self) -> Result<Option<TaskSpec>, StoreError> {
        let record = self.store.get(&task_key(&self.task)).await?;
        let record = record.and_then(|record| TaskRecord::stored_as(&self.task, &record.value));
        Ok(record.map(|record| record.spec))
    }

    /// The key that signs what is wanted; none for a task that is not signed.
    fn signs(&self, spec: &TaskSpec) -> Result<Option<&FleetSigningKey>, WishError> {
        let Some(signed) = &spec.signed else { return Ok(None) };
        let key = self.key.as_deref().filter(|key| key.public() == signed.key);
        key.map(Some).ok_or_else(|| WishError::Signed(self.task.clone()))
    }

    async fn stop(&self) -> Result<(), WishError> {
        let spec = self.spec().await?;
        let key = spec.as_ref().map(|spec| self.signs(spec)).transpose()?.flatten();
        let signed = key.map(|key| key.sign_cancel(self.store.fleet(), &self.task)).transpose()?;
        Ok(view::cancel(&self.store, &self.task, signed.as_ref()).await?)
    }

    async fn answer(&self, line: &Value) -> Result<(), WishError> {
        let id = line.get("id").cloned().unwrap_or_default();
        let asked = self.store.get(&format!("{QUESTIONS}{}", self.task)).await?;
        let question = asked.and_then(|record| record.read::<FleetQuestion>());
        let question = question.filter(|question| question.id() == id);
        let (Some(question), Some(spec)) = (question, self.spec().await?) else {
            return Err(WishError::NotAsked(id));
        };
        let line = line.to_string();
        let sign =
            |key: &FleetSigningKey| key.sign_answer(self.store.fleet(), &self.task, &question.key, &line);
        let signed = self.signs(&spec)?.map(sign).transpose()?;
        let answer = serde_json::to_vec(&FleetAnswer { line, signed });
        let answer = answer.map_err(|error| StoreError::Unknown(error.to_string()))?;
        self.put(&answer, &spec, &question).await
    }

    /// Stores an answer unless there is one that counts.
    async fn put(&self, answer: &[u8], spec: &TaskSpec, question: &FleetQuestion) -> Result<(), WishError> {
        let key = answer_key(&self.task, question);
        let mut failed = StoreError::Changed;
        for _ in 0..TRIES {
            let known = self.store.get(&key).await?;
            if known.as_ref().is_some_and(|known| FleetAnswer::read(&known.value, spec, question).is_some()) {
                return Err(WishError::Answered);
            }
            // One that does not count may be there already, and others may write at the same time.
            let revision = known.map_or(0, |known| known.revision);
            match self.store.put(&key, revision, answer).await {
                Ok(_) => return Ok(()),
                Err(error @ (StoreError::Changed | StoreError::Unknown(_))) => failed = error,
            }
            pause(self.store.times().again).await;
        }
        Err(failed.into())
    }
}
