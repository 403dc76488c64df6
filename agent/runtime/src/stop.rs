//! The stop switch.

use deskhand_desktop::CancelScope;
use deskhand_machine::session::StopReason;
use tokio::sync::watch;

/// The urgency of a stop; ordered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Urgency {
    /// A running call is cancelled, and reports what it did.
    Cancel,
    /// At once; a running call is dropped.
    Now,
}

#[derive(Debug, Default)]
struct StopState {
    stop: Option<(Urgency, StopReason)>,
    interrupted: bool,
    /// Cancels the running call. It is cancelled exactly while there is a stop or an interruption.
    calls: CancelScope,
}

impl StopState {
    /// Makes `calls` fit after a change.
    fn settle(&mut self) {
        if self.stop.is_some() || self.interrupted {
            self.calls.cancel();
        } else if self.calls.is_cancelled() {
            self.calls = CancelScope::default();
        }
    }
}

/// Why a running call has to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CallEnd {
    /// Its session, or the request, is stopped.
    Stopped(StopReason),
    /// The calls of its reply are interrupted.
    Interrupted,
}

/// Stops a session, or interrupts its calls. Cheap to clone; clones share the state. A stop cannot be reset, except for a user stop
/// before the next request.
#[derive(Debug, Clone)]
pub struct StopSwitch {
    state: watch::Sender<StopState>,
}

impl Default for StopSwitch {
    fn default() -> Self {
        Self { state: watch::Sender::new(StopState::default()) }
    }
}

impl StopSwitch {
    /// A switch that is off.
    pub fn new() -> Self {
        Self::default()
    }

    /// Stops: a running call sends nothing more and returns with what it did; nothing new is started.
    pub fn cancel(&self, reason: StopReason) {
        self.raise(Urgency::Cancel, reason);
    }

    /// Stops at once: drops the running call without waiting for its result.
    pub fn now(&self, reason: StopReason) {
        self.raise(Urgency::Now, reason);
    }

    /// Interrupts: a running call sends nothing more and returns with what it did, and no call is started until
    /// [`Self::end_interruption`]. The session and its request go on: its agents learn that the calls were cancelled.
    pub fn interrupt(&self) {
        self.set_interrupted(true);
    }

    /// Lets calls run again.
    pub fn end_interruption(&self) {
        self.set_interrupted(false);
    }

    /// Returns `true` if calls are interrupted.
    pub fn is_interrupted(&self) -> bool {
        self.state.borrow().interrupted
    }

    /// The scope of a call that is about to run. A stop or an interruption cancels it at once, without waiting for the task of the
    /// call to be polled.
    pub(crate) fn call_scope(&self) -> CancelScope {
        self.state.borrow().calls.call()
    }

    fn set_interrupted(&self, interrupted: bool) {
        self.state.send_if_modified(|state| {
            let before = std::mem::replace(&mut state.interrupted, interrupted);
            state.settle();
            before != interrupted
        });
    }

    fn raise(&self, urgency: Urgency, reason: StopReason) {
        self.state.send_if_modified(|state| {
            let raised = state.stop.max(Some((urgency, reason)));
            let before = std::mem::replace(&mut state.stop, raised);
            state.settle();
            before != raised
        });
    }

    /// Clears a stop by the user before their next request. Other stops remain.
    pub(crate) fn clear_user_stop(&self) {
        self.state.send_if_modified(|state| match state.stop {
            Some((_, StopReason::User)) => {
                state.stop = None;
                state.settle();
                true
            }
            Some((_, StopReason::WallTime | StopReason::Signal)) | None => false,
        });
    }

    /// The reason, once stopped.
    pub fn reason(&self) -> Option<StopReason> {
        self.state.borrow().stop.map(|(_, reason)| reason)
    }

    /// Waits for a stop.
    pub async fn wait(&self) -> StopReason {
        self.wait_for(Urgency::Cancel).await
    }

    /// Waits for an immediate stop.
    pub async fn wait_now(&self) -> StopReason {
        self.wait_for(Urgency::Now).await
    }

    /// Waits for what ends a running call.
    pub(crate) async fn wait_for_call_end(&self) -> CallEnd {
        let mut receiver = self.state.subscribe();
        let on = receiver.wait_for(|state| state.stop.is_some() || state.interrupted).await;
        match on.map(|state| state.stop) {
            Ok(Some((_, reason))) => CallEnd::Stopped(reason),
            Ok(None) => CallEnd::Interrupted,
            // `self` holds the sender, so waiting cannot fail.
            Err(_) => CallEnd::Stopped(StopReason::Signal),
        }
    }

    /// Waits until calls are interrupted.
    pub(crate) async fn wait_for_interruption(&self) {
        let mut receiver = self.state.subscribe();
        // `self` holds the sender, so waiting cannot fail.
        let _ = receiver.wait_for(|state| state.interrupted).await;
    }

    async fn wait_for(&self, least: Urgency) -> StopReason {
        let mut receiver = self.state.subscribe();
        let is_on = |state: &StopState| state.stop.is_some_and(|(urgency, _)| urgency >= least);
        let on = receiver.wait_for(is_on).await;
        // `self` holds the sender, so waiting cannot fail; a value that passed the test is present.
        on.ok().and_then(|state| state.stop).map_or(StopReason::Signal, |(_, reason)| reason)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_is_cancelled_by_a_stop_and_by_an_interruption_until_they_end() {
        let switch = StopSwitch::new();
        let first = switch.call_scope();
        assert!(!first.is_cancelled());
        switch.interrupt();
        assert!(first.is_cancelled() && switch.call_scope().is_cancelled());
        switch.cancel(StopReason::User);
        switch.end_interruption();
        assert!(switch.call_scope().is_cancelled(), "the stop holds");
        switch.clear_user_stop();
        assert!(!switch.call_scope().is_cancelled());
        assert!(first.is_cancelled(), "a call that was cancelled stays so");
        switch.now(StopReason::Signal);
        switch.clear_user_stop();
        assert!(switch.call_scope().is_cancelled());
    }
}
