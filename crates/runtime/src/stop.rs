//! The stop switch.

use deskhand_core::session::StopReason;
use tokio::sync::watch;

/// How urgent a stop is; ordered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Urgency {
    /// A running call may complete first.
    AfterCall,
    /// At once; a running call is dropped.
    Now,
}

/// Stops a session. Cheap to clone; clones share the state. It cannot be reset, except for a user stop before the next
/// request.
#[derive(Debug, Clone)]
pub struct StopSwitch {
    state: watch::Sender<Option<(Urgency, StopReason)>>,
}

impl Default for StopSwitch {
    fn default() -> Self {
        Self { state: watch::Sender::new(None) }
    }
}

impl StopSwitch {
    /// A switch that is off.
    pub fn new() -> Self {
        Self::default()
    }

    /// Stops after the running call, if any; nothing new is started.
    pub fn after_call(&self, reason: StopReason) {
        self.raise(Urgency::AfterCall, reason);
    }

    /// Stops at once: drops the running call without waiting for its result.
    pub fn now(&self, reason: StopReason) {
        self.raise(Urgency::Now, reason);
    }

    fn raise(&self, urgency: Urgency, reason: StopReason) {
        self.state.send_if_modified(|state| {
            let raised = (*state).max(Some((urgency, reason)));
            std::mem::replace(state, raised) != raised
        });
    }

    /// Clears a stop by the user before their next request. Other stops remain.
    pub(crate) fn clear_user_stop(&self) {
        self.state.send_if_modified(|state| match state {
            Some((_, StopReason::User)) => {
                *state = None;
                true
            }
            Some((_, StopReason::WallTime | StopReason::Signal)) | None => false,
        });
    }

    /// The reason, once stopped.
    pub fn reason(&self) -> Option<StopReason> {
        self.state.borrow().map(|(_, reason)| reason)
    }

    /// Waits for a stop.
    pub async fn wait(&self) -> StopReason {
        self.wait_for(Urgency::AfterCall).await
    }

    /// Waits for an immediate stop.
    pub async fn wait_now(&self) -> StopReason {
        self.wait_for(Urgency::Now).await
    }

    async fn wait_for(&self, least: Urgency) -> StopReason {
        let mut receiver = self.state.subscribe();
        let on = receiver.wait_for(|state| state.is_some_and(|(urgency, _)| urgency >= least)).await;
        // `self` holds the sender, so waiting cannot fail; a value that passed the test is present.
        on.ok().and_then(|state| *state).map_or(StopReason::Signal, |(_, reason)| reason)
    }
}
