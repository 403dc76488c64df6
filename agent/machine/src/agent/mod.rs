//! The agents of a session: how each is identified, and what an agent of another kind brings with it.

mod definition;
mod identity;

pub use definition::{
    AGENT_SYSTEM_PROMPT, AGENT_USER_PROMPT, AgentDefinition, AgentHome, AgentReport, AgentStatus, AgentSteps,
    DefinitionError, INTRODUCTION_CHARS_MAX, usual_statuses,
};
pub use identity::{AgentRef, SubtaskWorker};
