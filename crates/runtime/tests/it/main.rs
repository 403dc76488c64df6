//! Tests of the runtime's public API: whole sessions on the in-memory desktop.
#![cfg(test)]

mod actions;
mod agents;
mod binding;
mod careful;
mod costs;
mod crashes;
mod demonstration;
mod durable;
mod endpoint;
mod evaluation;
mod faults;
mod fixture_tools;
mod flow;
mod forgeries;
mod journals;
mod people;
mod prompts;
mod protocol;
mod races;
mod random_sessions;
mod reference;
mod reports;
mod sealed;
mod secrets;
mod sources;
mod stateless;
mod stopping;
mod story;
mod support;
mod tools;
mod versions;
mod view_tokens;
mod wording;
