//! `cargo xtask bench learning`: what was done once is done again without a model, and still after the application has changed.
//!
//! - `tasks.rs` is the table of ten tasks on real applications, `trial.rs` does one of them: first by a script, then as the workflow that
//!   was learnt from it, then on an upgraded desktop. `reading.rs` reads the resulting files, without code of the product.
//! - `drifts.rs` is the table of 40 changes of one window, `changes.rs` makes them, `drift.rs` runs the workflow on each. The window is
//!   drawn by `fixtures/parts_desk.py`, which logs the identity of every control that was used: a wrong one is seen there.
//! - `command.rs` runs both and prints the figures of `figures.rs`.

mod changes;
mod command;
mod desk;
mod documents;
mod drift;
mod drifts;
mod figures;
mod home;
mod posts;
mod reading;
mod tasks;
mod trial;

pub(super) use command::{LearningArguments, run};
