//! The two state machines: one status enum and one transition table per agent.
//!
//! A table is a total function from (state, trigger) to state: every pair is defined. What an agent does in a state
//! is in [`crate::session`]. `docs/design/decisions.md` has the decisions behind the tables.

mod app;
mod host;
mod print;

pub use app::{AppStatus, AppTrigger, next_app};
pub use host::{HostStatus, HostTrigger, next_host};
pub use print::{Transition, app_transitions, host_transitions, mermaid, table};

/// An unknown status in a model's reply.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{said}` is not a status; use one of {allowed}")]
pub struct UnknownStatus {
    /// The text of the reply.
    pub said: String,
    /// The valid statuses, separated by commas.
    pub allowed: String,
}

fn parse<T: Copy>(said: &str, table: &[(&'static str, T)]) -> Result<T, UnknownStatus> {
    let folded = said.trim().trim_matches(['"', '\'', '.', '*', '`']).to_ascii_uppercase();
    table.iter().find(|(word, _)| *word == folded).map(|(_, status)| *status).ok_or_else(|| UnknownStatus {
        said: said.chars().take(60).collect(),
        allowed: sayable(table).join(", "),
    })
}

/// The statuses of a table without ERROR, which is reserved for the system.
fn sayable<T>(table: &[(&'static str, T)]) -> Vec<&'static str> {
    table.iter().map(|(word, _)| *word).filter(|word| *word != "ERROR").collect()
}
