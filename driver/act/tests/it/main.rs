//! Every action on the desktop in memory, with all its faults.
#![cfg(test)]

mod cancelling;
mod click;
mod documents;
mod main_job;
mod others;
mod ranks;
mod recovering;
mod tables;
mod truth;
mod typing;
mod writing;
