//! Who submitted a task: an Ed25519 key, and what it signs.
//!
//! Keys are written as NATS writes those of its users: a seed begins with `SU`, a public key with `U`. So one file may also be what its
//! owner connects to the server with.
//!
//! A signature is over the whole task as JSON, without the signature itself, and over the name of the fleet: nobody can change the task,
//! give it another id, or send it to another fleet. Fields that are added later are covered too; for tasks that do not use them, they must
//! not be written, so that workers of both versions see the same bytes. Only how many rows a table of another task has is not covered: that
//! is known once it is there. The tasks of these rows are not signed themselves, but follow from the one that is (`plan::is_row_of`).

use std::fmt;

use base64::{Engine as _, prelude::BASE64_STANDARD};
use nkeys::KeyPair;

pub use crate::signature::{FleetSignature, KeyError, check_public};
use crate::{
    signature::message,
    task::{TaskId, TaskSpec},
};

/// Prefix of the seed of a user.
const SEED: &str = "SU";

/// A key that signs.
pub struct FleetSigningKey(KeyPair);

impl fmt::Debug for FleetSigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Key").field(&self.public()).finish()
    }
}

impl FleetSigningKey {
    /// A new one.
    pub fn generate() -> Self {
        Self(KeyPair::new_user())
    }

    /// The key in the text of a file: a line of its own, also among credentials of NATS (`.creds`).
    ///
    /// # Errors
    /// There is none, or it is damaged.
    pub fn of_text(text: &str) -> Result<Self, KeyError> {
        let seed = text.lines().map(str::trim).find(|line| line.starts_with(SEED)).ok_or(KeyError::NoSeed)?;
        KeyPair::from_seed(seed).map(Self).map_err(|error| KeyError::Seed(error.to_string()))
    }

    /// Returns the content of its file, which is secret.
    ///
    /// # Errors
    /// It was made without one.
    pub fn seed(&self) -> Result<String, KeyError> {
        self.0.seed().map_err(|error| KeyError::Seed(error.to_string()))
    }

    /// Returns its public form, by which others identify it.
    pub fn public(&self) -> String {
        self.0.public_key()
    }

    /// Signs a task of a fleet.
    ///
    /// # Errors
    /// It cannot sign.
    pub fn sign(&self, fleet: &str, spec: TaskSpec) -> Result<TaskSpec, KeyError> {
        let signed = self.signature(fleet, "task", &content(&spec)?)?;
        Ok(TaskSpec { signed: Some(signed), ..spec })
    }

    /// Signs that a task of a fleet is not wanted any more.
    ///
    /// # Errors
    /// It cannot sign.
    pub fn sign_cancel(&self, fleet: &str, task: &TaskId) -> Result<FleetSignature, KeyError> {
        self.signature(fleet, "cancel", task.as_str().as_bytes())
    }

    /// Signs the answer to a question of a task of a fleet.
    ///
    /// # Errors
    /// It cannot sign.
    pub fn sign_answer(
        &self,
        fleet: &str,
        task: &TaskId,
        question: &str,
        answer: &str,
    ) -> Result<FleetSignature, KeyError> {
        self.signature(fleet, "answer", &answer_content(task, question, answer))
    }

    fn signature(&self, fleet: &str, kind: &str, content: &[u8]) -> Result<FleetSignature, KeyError> {
        let made = self.0.sign(&message(fleet, kind, content));
        let made = made.map_err(|error| KeyError::Sign(error.to_string()))?;
        Ok(FleetSignature {
            key: self.public(),
            fleet: fleet.to_owned(),
            signature: BASE64_STANDARD.encode(made),
        })
    }
}

impl TaskSpec {
    /// Returns `true` if it is as its signature says; one without a signature is not.
    pub fn is_as_signed(&self) -> bool {
        let content = content(self);
        self.signed
            .as_ref()
            .is_some_and(|signed| content.is_ok_and(|content| signed.covers("task", &content)))
    }

    /// Returns `true` if the record of a cancellation counts: that of a signed task only if the same key signed it.
    pub fn is_cancelled_by(&self, record: &[u8]) -> bool {
        let Some(signed) = &self.signed else { return true };
        serde_json::from_slice::<FleetSignature>(record)
            .is_ok_and(|cancel| cancel.is_of(signed) && cancel.covers("cancel", self.id.as_str().as_bytes()))
    }

    /// Returns `true` if the answer to a question counts: that to a signed task only if the same key signed it.
    pub fn is_answered_by(&self, question: &str, answer: &str, by: Option<&FleetSignature>) -> bool {
        let Some(signed) = &self.signed else { return true };
        by.is_some_and(|by| {
            by.is_of(signed) && by.covers("answer", &answer_content(&self.id, question, answer))
        })
    }
}

/// Returns the signed content of an answer. Neither ids nor questions have line endings.
fn answer_content(task: &TaskId, question: &str, answer: &str) -> Vec<u8> {
    format!("{task}\n{question}\n{answer}").into_bytes()
}

/// Returns the signed content of a task.
fn content(spec: &TaskSpec) -> Result<Vec<u8>, KeyError> {
    let mut unsigned = TaskSpec { signed: None, ..spec.clone() };
    if let Some(table) = unsigned.for_each.as_mut().filter(|table| table.of.is_some()) {
        table.rows = None;
    }
    serde_json::to_vec(&unsigned).map_err(|error| KeyError::Sign(error.to_string()))
}

#[cfg(test)]
#[path = "signed_tests.rs"]
mod tests;
