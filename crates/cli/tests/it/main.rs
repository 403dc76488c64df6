#![cfg(test)]
//! The binary from outside: its output, what it leaves behind, and its exit codes.

mod agents;
mod book;
mod configuration;
mod crash;
mod desktops;
mod durable;
mod endings;
mod help;
mod keeper;
mod knowledge;
mod local;
mod main_job;
mod mcp;
mod models;
mod opening;
mod operators;
mod packaging;
mod pages;
mod passwords;
mod people;
mod power;
mod record;
mod redteam;
mod reference;
mod runs;
mod secrets;
mod sessions;
mod signs;
mod support;
mod talk;
mod tasks;
mod told;
mod tools;
mod workflows;
mod wrong_usage;
