//! Deskhand's host: puts a session together out of configuration, model, desktop, agents and people.

pub mod config;
