//! A device as a Deskhand agent: a simulated robot arm over a keypad that reports truthfully.

pub mod arm;
pub mod kind;
pub mod server;

pub use arm::{Arm, Done};
pub use kind::ArmKind;
