//! Every action on the desktop in memory, with all its faults.
#![cfg(test)]

mod click;
mod main_job;
mod others;
mod tables;
mod truth;
mod typing;
