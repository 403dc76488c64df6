//! Agents without a window: kinds, their registry, and the open agents of a session.
//!
//! - [`kind`]: the traits of a new kind of agent.
//! - [`registry`]: kinds by name, and which are enabled.
//! - [`open`](crate::agents::OpenAgents): the open agents of one session.
//! - [`shell`]: the built-in command-line agent; [`mcp`]: agents in separate processes. Their programs are confined ([`programs`](crate::programs)).
//!
//! Core decides their steps (`deskhand_machine::agent`); this module carries them out.

pub mod kind;
pub mod mcp;
mod open;
pub mod registry;
pub mod shell;

pub use kind::{
    AgentError, AgentKind, AgentObservation, AgentSetup, Assignment, DelegateAgent, DelegateProgress,
    OpenAgent, StepsAgent,
};
pub use open::OpenAgents;
pub use registry::{AgentRegistry, EnabledAgents, KindInfo, RegistryError};
