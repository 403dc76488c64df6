//! Cancelling a call while it acts.
//!
//! Inputs lie deep below the action that sends them. So the scope of a call goes with its task, as a task-local value: whatever runs
//! in [`CancelScope::run`] finds it by [`CancelScope::current`]. Back ends look at it between the smallest inputs, and waits end with
//! it. An input that has begun is completed: no key or button stays pressed, and no half of a chord is sent. What was sent is counted,
//! so that an action can report exactly what was done; it reads back in [`CancelScope::shielded`].

use std::sync::{Arc, Mutex, PoisonError};

use deskhand_ui::action::InputCounts;
use tokio_util::sync::CancellationToken;

use crate::{DesktopError, DesktopResult};

tokio::task_local! {
    static SCOPE: CancelScope;
}

/// The cancellation of a call, and the inputs it has sent so far. Clones share both.
#[derive(Debug, Clone, Default)]
pub struct CancelScope {
    token: CancellationToken,
    inputs: Arc<Mutex<InputCounts>>,
}

impl CancelScope {
    /// The scope of a call that has sent nothing.
    pub fn new(token: CancellationToken) -> Self {
        Self { token, inputs: Arc::default() }
    }

    /// The scope of a call that has sent nothing, and that is cancelled with this one.
    pub fn call(&self) -> Self {
        Self::new(self.token.child_token())
    }

    /// The scope of the running call; one that is never cancelled outside of a call.
    pub fn current() -> Self {
        SCOPE.try_with(Clone::clone).unwrap_or_default()
    }

    /// Runs a call in this scope.
    pub fn run<F: Future>(&self, call: F) -> impl Future<Output = F::Output> + use<F> {
        // On the heap: these futures are large, and callers nest them.
        SCOPE.scope(self.clone(), Box::pin(call))
    }

    /// Runs what has to be done after a cancellation too, such as reading back or restoring the clipboard. What it sends counts for
    /// the call. It must be bounded.
    pub fn shielded<F: Future>(work: F) -> impl Future<Output = F::Output> + use<F> {
        let shield = Self { token: CancellationToken::new(), ..Self::current() };
        SCOPE.scope(shield, Box::pin(work))
    }

    /// Cancels the call: no further input is begun.
    pub fn cancel(&self) {
        self.token.cancel();
    }

    /// Returns `true` if it was cancelled.
    pub fn is_cancelled(&self) -> bool {
        self.token.is_cancelled()
    }

    /// Returns once it is cancelled.
    pub async fn cancelled(&self) {
        self.token.cancelled().await;
    }

    /// Succeeds if an input may begin.
    ///
    /// # Errors
    /// [`DesktopError::Cancelled`] with what was `done` of the input before.
    pub fn check(&self, done: u64) -> DesktopResult<()> {
        if self.is_cancelled() { Err(DesktopError::Cancelled { done }) } else { Ok(()) }
    }

    /// Waits for something, unless the call is cancelled first, which drops the wait. It must send nothing.
    ///
    /// # Errors
    /// [`DesktopError::Cancelled`] with what was `done` of the input before; errors of `wait`.
    pub async fn wait<T>(&self, done: u64, wait: impl Future<Output = DesktopResult<T>>) -> DesktopResult<T> {
        tokio::select! {
            biased;
            () = self.token.cancelled() => Err(DesktopError::Cancelled { done }),
            came = wait => came,
        }
    }

    /// Counts inputs that were sent.
    pub fn note(&self, sent: InputCounts) {
        self.inputs.lock().unwrap_or_else(PoisonError::into_inner).add(sent);
    }

    /// Returns the inputs that the call has sent so far.
    pub fn inputs(&self) -> InputCounts {
        *self.inputs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_wait_ends_when_its_call_is_cancelled() {
        let scope = CancelScope::new(CancellationToken::new());
        let call = scope.run(async {
            let scope = CancelScope::current();
            scope.note(InputCounts { clicks: 1, ..InputCounts::default() });
            scope.wait(7, std::future::pending::<DesktopResult<()>>()).await
        });
        let (waited, ()) = tokio::join!(call, async { scope.cancel() });
        assert!(matches!(waited, Err(DesktopError::Cancelled { done: 7 })), "{waited:?}");
        assert_eq!(scope.inputs().clicks, 1);
    }

    #[tokio::test]
    async fn a_shield_lasts_beyond_the_cancellation() {
        let scope = CancelScope::new(CancellationToken::new());
        scope.cancel();
        let call = scope.run(async {
            let within = CancelScope::shielded(async {
                CancelScope::current().note(InputCounts { edits: 1, ..InputCounts::default() });
                CancelScope::current().check(0)
            });
            (within.await, CancelScope::current().check(0))
        });
        let (within, outside) = call.await;
        assert!(within.is_ok() && outside.is_err());
        assert_eq!(scope.inputs().edits, 1, "a shield counts for the call");
    }

    #[test]
    fn nothing_is_cancelled_outside_of_a_call() {
        assert!(CancelScope::current().check(0).is_ok());
    }
}
