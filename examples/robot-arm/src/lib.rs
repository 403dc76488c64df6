//! A device as an agent of Deskhand: a robot arm over a keypad, simulated, whose word can be trusted.

pub mod arm;
pub mod kind;
pub mod server;

pub use arm::{Arm, Done};
pub use kind::ArmKind;
