//! Reports of calls whose answer reached no client, because they were cancelled or their client went away. The
//! next call delivers them.

use std::{
    fmt,
    sync::{Arc, Mutex, PoisonError},
};

use super::protocol::{AnswerDelivery, McpCall};

/// The report of a call until its answer is delivered.
#[derive(Debug, Clone)]
pub(super) struct UndeliveredReport {
    tool: &'static str,
    digest: [u8; 32],
    delivery: AnswerDelivery,
    report: String,
}

impl UndeliveredReport {
    pub(super) fn new(call: &McpCall, tool: &'static str, report: impl Into<String>) -> Self {
        Self { tool, digest: call.digest, delivery: call.delivery(), report: report.into() }
    }

    /// The same, reported by another call.
    pub(super) fn again(self, call: &McpCall) -> Self {
        Self { delivery: call.delivery(), ..self }
    }

    /// Returns `true` if the client has the answer.
    pub(super) fn is_read(&self) -> bool {
        self.delivery.is_done()
    }

    /// Returns `true` if the client never gets the answer.
    pub(super) fn is_lost(&self) -> bool {
        self.delivery.has_failed()
    }

    /// Returns `true` if a call asks for the same.
    pub(super) fn is_of(&self, call: &McpCall) -> bool {
        self.digest == call.digest
    }
}

impl fmt::Display for UndeliveredReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { tool, report, .. } = self;
        write!(
            f,
            "The answer of an earlier call of `{tool}` did not reach you: it was cancelled. What it did:\n{report}"
        )
    }
}

/// Reports that the answer of a call has to carry.
#[derive(Debug, Clone, Default)]
pub(super) struct Reports(Arc<Mutex<Vec<UndeliveredReport>>>);

impl Reports {
    pub(super) fn add(&self, unread: UndeliveredReport) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(unread);
    }

    pub(super) fn take(&self) -> Vec<UndeliveredReport> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
