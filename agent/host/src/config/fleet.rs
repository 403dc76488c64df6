//! Settings of a fleet: how it is reached, and what a worker of it takes.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::PathBuf,
};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::expanded;

/// Connection to the fleet, unless flags or variables set it, and the tasks that a worker of it takes. The model,
/// policy, secrets and limits of a worker are those of this file, whatever a task says.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct FleetSettings {
    /// The servers, such as `nats://10.0.0.1:4222` or `tls://hub:4222`.
    pub servers: Vec<String>,
    /// The name of the fleet. No value: `deskhand`.
    pub name: Option<String>,
    /// A file with credentials for the servers: `.creds`, or one that `deskhand fleet key` made.
    pub credentials: Option<PathBuf>,
    /// A file with root certificates (PEM) for servers whose certificates the system does not know.
    pub roots: Option<PathBuf>,
    /// A certificate (PEM) for servers that ask for one.
    pub certificate: Option<PathBuf>,
    /// The key of the certificate (PEM).
    pub certificate_key: Option<PathBuf>,
    /// A key of `deskhand fleet key` that signs what is submitted.
    pub key: Option<PathBuf>,
    /// Who may submit tasks: public keys of `deskhand fleet key`, by names. Without any, every task is taken, signed or not.
    pub accept: BTreeMap<String, String>,
    /// The applications that tasks may need, by their desktop entries. No value: all that are installed.
    pub applications: Option<BTreeSet<String>>,
    /// The agents that tasks get, of those in `agents.enabled`. No value: all of these.
    pub agents: Option<BTreeSet<String>>,
    /// Only tasks with one of these labels are taken. Empty: all tasks.
    pub labels: BTreeSet<String>,
    /// The most steps that a task may ask for. No value: any number. A task that asks for none gets those of `limits`.
    pub steps_max: Option<u64>,
    /// The most model calls that a task may ask for.
    pub model_calls_max: Option<u64>,
    /// The most tokens that a task may ask for.
    pub tokens_max: Option<u64>,
    /// The most minutes that a task may ask for.
    pub minutes_max: Option<u64>,
}

impl FleetSettings {
    /// The files of these settings, with `~` written out.
    #[must_use]
    pub fn with_paths(&self) -> Self {
        let full = |path: &Option<PathBuf>| path.as_deref().map(expanded);
        Self {
            credentials: full(&self.credentials),
            roots: full(&self.roots),
            certificate: full(&self.certificate),
            certificate_key: full(&self.certificate_key),
            key: full(&self.key),
            ..self.clone()
        }
    }
}
