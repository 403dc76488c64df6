//! Agents without a window, in whole sessions.

mod elsewhere;
mod kinds;
mod rounds;
mod shell;
