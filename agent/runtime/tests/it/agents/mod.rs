//! Agents without a window, in whole sessions.

mod elsewhere;
mod kinds;
mod machines;
mod rounds;
mod shell;
