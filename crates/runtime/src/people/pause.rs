//! The pause switch.

use tokio::sync::watch;

/// Holds a session before what it would do next. Cheap to clone; every clone is the same switch.
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
    /// Holds the session; false if it was to be held already.
    pub fn pause(&self) -> bool {
        self.set(true)
    }

    /// Lets the session go on; false if it was not to be held.
    pub fn go_on(&self) -> bool {
        self.set(false)
    }

    fn set(&self, to: bool) -> bool {
        self.on.send_if_modified(|on| std::mem::replace(on, to) != to)
    }

    /// Whether the session is to be held.
    pub fn is_on(&self) -> bool {
        *self.on.borrow()
    }

    /// Waits until the session may go on.
    pub async fn wait_until_off(&self) {
        // The sender lives in `self`, so waiting cannot fail.
        self.on.subscribe().wait_for(|on| !on).await.ok();
    }
}
