//! Agents on other machines: a sub-task that a HostAgent hands over becomes a task of the fleet.
//!
//! - `kind`: the kind of such an agent, as the configuration names it.
//! - `agent`: hands a sub-task over once, waits for its outcome, and cancels it.
//! - `compose`: the task of a sub-task, with the documents that go along.
//! - `came`: the report and the files that come back. They may be hostile.
//! - `fit`: which workers would take a task.
//! - `reach`: the server, and the key that signs.
//!
//! The id of the task is the number of the sub-task. What is sent is written beside the journal before it is sent, so that a session that
//! crashed and is resumed sends the same task, of which the fleet does one, and waits for it.

mod agent;
mod came;
mod compose;
mod error;
mod fit;
mod kind;
mod outside;
mod progress;
mod reach;

use std::{path::PathBuf, sync::Arc};

use deskhand_fleet::nats::NatsOptions;
use deskhand_host::config::Config;
use deskhand_runtime::agents::{AgentRegistry, RegistryError};

use self::{kind::MachineKind, reach::FleetConnector};

/// The kinds of agents on other machines that a configuration has, in the fleet that is reached so. `key` is a file whose key signs. Nothing
/// is connected yet.
///
/// # Errors
/// A name is not valid.
pub fn kinds(
    config: &Config,
    options: &NatsOptions,
    key: Option<PathBuf>,
) -> Result<AgentRegistry, RegistryError> {
    let mut registry = AgentRegistry::default();
    let reach = Arc::new(FleetConnector::new(options.clone(), key));
    for (name, settings) in &config.agents.machines {
        registry.register(MachineKind::new(name, settings.clone(), Arc::clone(&reach)))?;
    }
    Ok(registry)
}
