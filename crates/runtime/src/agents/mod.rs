//! Agents that own no window: kinds, the registry that knows them by name, and those that work in a session.
//!
//! - [`kind`]: what to implement for a new kind of agent.
//! - [`registry`]: kinds by name, and which of them are enabled.
//! - [`open`](crate::agents::OpenAgents): the agents of one session, from its first line to its end.
//! - [`shell`]: the built-in agent of the command line; [`mcp`]: agents in processes of their own.
//!
//! Core drives their steps from data alone (`deskhand_core::agent`). What is here does what it is told.

pub mod kind;
pub mod mcp;
mod open;
mod process;
pub mod registry;
pub mod shell;

pub use kind::{AgentError, AgentKind, AgentSetup, Assignment, DelegateAgent, OpenAgent, Sight, StepsAgent};
pub use open::OpenAgents;
pub use registry::{AgentRegistry, EnabledAgents, KindInfo, RegistryError};
