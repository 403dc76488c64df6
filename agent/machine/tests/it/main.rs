//! Tests of core through its public API, without IO.
#![cfg(test)]

mod agents;
mod amounts;
mod budgets;
mod calls;
mod decisions;
mod described;
mod diffs;
mod envelope;
mod evaluation;
mod forgeries;
mod gate;
mod guard;
mod hands;
mod harness;
mod launching;
mod listing;
mod machine;
mod memory;
mod nested;
mod operators;
mod origins;
mod passwords;
mod prompts;
mod properties;
mod provenance;
mod replies;
mod resuming;
mod selectors;
mod small;
mod spellings;
mod states;
mod workflows;
