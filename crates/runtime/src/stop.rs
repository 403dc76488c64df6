//! The one stop switch.

use deskhand_core::session::StopReason;
use tokio::sync::watch;

/// How urgently to stop; ordered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Urgency {
    /// A call that is out may come back first.
    AfterCall,
    /// At once; what is out is dropped.
    Now,
}

/// Stops a session. Cheap to clone; every clone is the same switch. Once on, it stays on; only a user who stopped one
/// request and goes on to the next takes it back.
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

    /// Stops after the call that is out now, if any; nothing is begun any more.
    pub fn after_call(&self, reason: StopReason) {
        self.raise(Urgency::AfterCall, reason);
    }

    /// Stops at once: what is out is dropped, its result is not awaited.
    pub fn now(&self, reason: StopReason) {
        self.raise(Urgency::Now, reason);
    }

    fn raise(&self, urgency: Urgency, reason: StopReason) {
        self.state.send_if_modified(|state| {
            let raised = (*state).max(Some((urgency, reason)));
            std::mem::replace(state, raised) != raised
        });
    }

    /// Takes back a stop by the user: their next request is about to come. Any other stays.
    pub(crate) fn forgive_user(&self) {
        self.state.send_if_modified(|state| match state {
            Some((_, StopReason::User)) => {
                *state = None;
                true
            }
            Some((_, StopReason::WallTime | StopReason::Signal)) | None => false,
        });
    }

    /// Why to stop, once the switch is on.
    pub fn reason(&self) -> Option<StopReason> {
        self.state.borrow().map(|(_, reason)| reason)
    }

    /// Waits until the switch is on.
    pub async fn wait(&self) -> StopReason {
        self.wait_for(Urgency::AfterCall).await
    }

    /// Waits until the switch is on and says that what is out must be dropped.
    pub async fn wait_now(&self) -> StopReason {
        self.wait_for(Urgency::Now).await
    }

    async fn wait_for(&self, least: Urgency) -> StopReason {
        let mut receiver = self.state.subscribe();
        let on = receiver.wait_for(|state| state.is_some_and(|(urgency, _)| urgency >= least)).await;
        // The sender lives in `self`, so waiting cannot fail; and a value that passed the test is there.
        on.ok().and_then(|state| *state).map_or(StopReason::Signal, |(_, reason)| reason)
    }
}
