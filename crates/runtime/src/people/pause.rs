//! The pause switch.

use tokio::sync::watch;

/// Pauses a session before its next effect. Cheap to clone; clones share the state.
#[derive(Debug, Clone)]
pub struct PauseSwitch {
    on: watch::Sender<bool>,
}

impl Default for PauseSwitch {
    fn default() -> Self {
        Self { on: watch::Sender::new(false) }
    }
}

impl PauseSwitch {
    /// Pauses the session; returns false if it was paused already.
    pub fn pause(&self) -> bool {
        self.set(true)
    }

    /// Resumes the session; returns false if it was not paused.
    pub fn resume(&self) -> bool {
        self.set(false)
    }

    fn set(&self, to: bool) -> bool {
        self.on.send_if_modified(|on| std::mem::replace(on, to) != to)
    }

    /// Whether the session is paused.
    pub fn is_paused(&self) -> bool {
        *self.on.borrow()
    }

    /// Waits until the session is resumed.
    pub async fn wait_until_resumed(&self) {
        // `self` holds the sender, so waiting cannot fail.
        self.on.subscribe().wait_for(|on| !on).await.ok();
    }
}
