//! A person's pointer and keyboard on a desktop.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
        mpsc,
    },
    thread,
    time::Duration,
};

use deskhand_desktop::{DesktopError, DesktopResult};
use tokio::sync::oneshot;

use super::{
    hands::{self, LiveInputJob},
    message::InputMessage,
};
use crate::{
    virtual_desktop::protocol::DesktopHandle,
    x11::{address::X11Address, fault::gone},
};

/// Maximum time for an X server to accept the connection of a person.
const OPEN_BOUND: Duration = Duration::from_secs(5);
/// Maximum time for one input, such as a long text in a slow application.
const INPUT_BOUND: Duration = Duration::from_secs(60);

/// A person's pointer and keyboard. They have a connection of their own to the X server; inputs are sent in order. When this is
/// dropped, what is held is released and keys that were bound are restored.
#[derive(Debug)]
pub struct LiveInput {
    jobs: mpsc::Sender<LiveInputJob>,
    /// Counts what ends a text that is being typed.
    interruptions: Arc<AtomicU64>,
    name: String,
}

impl LiveInput {
    /// Reaches a virtual desktop that a keeper holds. Its session is not involved, and does not know of it.
    ///
    /// # Errors
    /// [`DesktopError`] if its X server is gone, does not answer, or takes no input (no XTEST extension).
    pub async fn open(handle: &DesktopHandle) -> DesktopResult<Self> {
        Self::open_at(handle.address()?, handle.display.clone()).await
    }

    /// Reaches the desktop that `DISPLAY` and `XAUTHORITY` of the environment name.
    ///
    /// # Errors
    /// As [`Self::open`].
    pub async fn open_current() -> DesktopResult<Self> {
        Self::open_at(X11Address::Environment, X11Address::name_of_environment()).await
    }

    async fn open_at(address: X11Address, name: String) -> DesktopResult<Self> {
        let (jobs, queue) = mpsc::channel();
        let (opened, ready) = oneshot::channel();
        let interruptions = Arc::new(AtomicU64::new(0));
        let (called, interrupted) = (name.clone(), Arc::clone(&interruptions));
        thread::Builder::new()
            .name("live-input".to_owned())
            .spawn(move || hands::run(&address, &called, &queue, interrupted, opened))
            .map_err(|error| DesktopError::failed("start a thread for a person's input", error))?;
        tokio::time::timeout(OPEN_BOUND, ready)
            .await
            .map_err(|_| DesktopError::Gone {
                what: format!("the X server of display {name} does not answer"),
            })?
            .map_err(|_| gone(&name))??;
        Ok(Self { jobs, interruptions, name })
    }

    /// Does what a person does, and returns when the X server has it. An input that was sent cannot be cancelled.
    ///
    /// # Errors
    /// [`DesktopError::Failed`] for a place outside of the screen, another button, or a text that is too long;
    /// [`DesktopError::Key`] for a symbol that no key can get; [`DesktopError::NotAnswering`] if an application does not take the keys
    /// of a text; [`DesktopError::Gone`] when the X server has ended or does not answer.
    pub async fn send(&self, input: InputMessage) -> DesktopResult<()> {
        if input == InputMessage::Release {
            self.interrupt();
        }
        let (answer, done) = oneshot::channel();
        let job = LiveInputJob { input, number: self.interruptions.load(Ordering::Relaxed), answer };
        self.jobs.send(job).map_err(|_| gone(&self.name))?;
        match tokio::time::timeout(INPUT_BOUND, done).await {
            Ok(done) => done.map_err(|_| gone(&self.name))?,
            Err(_) => Err(DesktopError::Gone {
                what: format!("the X server of display {} did not answer within {INPUT_BOUND:?}", self.name),
            }),
        }
    }

    /// Releases all keys and buttons that this holds, and ends a text that is being typed. What others hold stays.
    ///
    /// # Errors
    /// [`DesktopError::Gone`] when the X server has ended or does not answer.
    pub async fn release_all(&self) -> DesktopResult<()> {
        self.send(InputMessage::Release).await
    }

    fn interrupt(&self) {
        self.interruptions.fetch_add(1, Ordering::Relaxed);
    }
}

impl Drop for LiveInput {
    fn drop(&mut self) {
        // The thread releases everything once the channel is closed.
        self.interrupt();
    }
}
