//! People at the other end: how prompts look on a terminal, and which way to the user a command takes.

mod choice;
mod terminal;

pub(crate) use choice::Asked;
