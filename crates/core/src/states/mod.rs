//! The two state machines: one enum an agent, one table an enum.
//!
//! A table is a total function from (state, trigger) to state, so that every pair is defined; what an agent
//! does in a state is the [`crate::session`]'s work. The decisions behind the tables are in
//! `docs/design/decisions.md`.

mod app;
mod host;
mod print;

pub use app::{AppStatus, AppTrigger, next_app};
pub use host::{HostStatus, HostTrigger, next_host};
pub use print::{Transition, app_transitions, host_transitions, mermaid, table};

/// A status word that a model said and that no machine knows.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{said}` is not a status; use one of {allowed}")]
pub struct UnknownStatus {
    /// What the model said.
    pub said: String,
    /// The words that it may say, joined by commas.
    pub allowed: String,
}

fn parse<T: Copy>(said: &str, table: &[(&'static str, T)]) -> Result<T, UnknownStatus> {
    let folded = said.trim().trim_matches(['"', '\'', '.', '*', '`']).to_ascii_uppercase();
    table.iter().find(|(word, _)| *word == folded).map(|(_, status)| *status).ok_or_else(|| UnknownStatus {
        said: said.chars().take(60).collect(),
        allowed: sayable(table).join(", "),
    })
}

/// The words of a table that a model may say; ERROR is the system's alone.
fn sayable<T>(table: &[(&'static str, T)]) -> Vec<&'static str> {
    table.iter().map(|(word, _)| *word).filter(|word| *word != "ERROR").collect()
}
