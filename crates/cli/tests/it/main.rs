#![cfg(test)]
//! The binary as a person uses it: what it prints, what it leaves behind, and how it exits.

mod agents;
mod book;
mod configuration;
mod crash;
mod desktops;
mod durable;
mod help;
mod keeper;
mod main_job;
mod packaging;
mod people;
mod reference;
mod runs;
mod sessions;
mod support;
mod talk;
mod tasks;
mod wrong_usage;
