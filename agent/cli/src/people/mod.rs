//! The user: prompts on a terminal, and the choice of the user channel.

mod choice;
mod editor;
mod terminal;

pub(crate) use choice::Answerer;
