//! The server of the fleet, connected when it is first needed, and the key that signs.

use std::{fs, path::PathBuf, time::Duration};

use deskhand_fleet::{
    nats::{NatsOptions, NatsStore},
    pace::pause,
    signed::FleetSigningKey,
    task::{TaskId, TaskSpec},
};
use tokio::{sync::OnceCell, time::Instant};

use super::{
    error::{KeyFileError, MachineError},
    progress::SubtaskProgress,
};
use crate::fleet::view;

/// Delay before a server is tried again.
const AGAIN: Duration = Duration::from_secs(1);

/// The connection to a fleet.
pub(super) struct FleetConnector {
    options: NatsOptions,
    key: Option<PathBuf>,
    store: OnceCell<NatsStore>,
}

impl FleetConnector {
    pub(super) fn new(options: NatsOptions, key: Option<PathBuf>) -> Self {
        Self { options, key, store: OnceCell::new() }
    }

    /// The servers, without passwords.
    pub(super) fn shown(&self) -> String {
        self.options.shown()
    }

    /// The server.
    pub(super) async fn store(&self) -> Result<&NatsStore, MachineError> {
        if self.options.servers.is_empty() {
            return Err(MachineError::NoFleet);
        }
        let connected = self.store.get_or_try_init(|| NatsStore::connect(&self.options)).await;
        connected.map_err(|error| MachineError::Connect { error })
    }

    /// The server, which is tried for so long.
    pub(super) async fn store_within(
        &self,
        patience: Duration,
        said: &mut SubtaskProgress,
    ) -> Result<&NatsStore, MachineError> {
        let begun = Instant::now();
        loop {
            match self.store().await {
                Err(MachineError::Connect { error }) if begun.elapsed() < patience => {
                    said.say(&format!("{error}; it is tried again"));
                    pause(AGAIN).await;
                }
                reached => return reached,
            }
        }
    }

    fn key(&self) -> Result<Option<FleetSigningKey>, MachineError> {
        let Some(file) = &self.key else { return Ok(None) };
        let failed = |source: KeyFileError| MachineError::Key { file: file.clone(), source };
        let text = fs::read_to_string(file).map_err(|error| failed(error.into()))?;
        FleetSigningKey::of_text(&text).map(Some).map_err(|error| failed(error.into()))
    }

    fn failed(&self, error: deskhand_fleet::signed::KeyError) -> MachineError {
        MachineError::Key { file: self.key.clone().unwrap_or_default(), source: error.into() }
    }

    /// The task with its signature, if there is a key.
    pub(super) fn signed(&self, spec: TaskSpec) -> Result<TaskSpec, MachineError> {
        match self.key()? {
            Some(key) => key.sign(&self.options.prefix, spec).map_err(|error| self.failed(error)),
            None => Ok(spec),
        }
    }

    /// Says that a task is not wanted any more.
    pub(super) async fn cancel(&self, id: &TaskId) -> Result<(), MachineError> {
        let key = self.key()?;
        let signed = key.map(|key| key.sign_cancel(&self.options.prefix, id)).transpose();
        let signed = signed.map_err(|error| self.failed(error))?;
        let cancelled = view::cancel(self.store().await?, id, signed.as_ref()).await;
        cancelled.map_err(|source| MachineError::Silent { id: id.clone(), source })
    }
}
