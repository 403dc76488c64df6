//! Random actions on applications, with their times and what oracles say of them.

mod editors;
mod figures;
mod forms;
mod judge;
mod observer;
mod office;
mod oracle;
mod run;
mod stage;
mod teeth;

use std::error::Error;

pub(crate) use self::{
    figures::Measured,
    run::{Dice, play},
    stage::APPLICATIONS,
};

/// Any error.
pub(crate) type Failure = Box<dyn Error + Send + Sync>;
