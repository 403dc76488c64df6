//! One file a command. Shared by several: the desktop to work on ([`stage`]), documents to open
//! ([`documents`]), the model to ask ([`model`]), the sessions ([`store`]).

pub(crate) mod act;
mod config;
mod desktop;
mod doctor;
mod documents;
mod model;
mod replay;
mod run;
mod screenshot;
mod sessions;
mod show;
mod signals;
mod stage;
mod states;
mod store;
mod target;
mod tree;
mod windows;

use crate::{
    args::Command,
    exit::{CliError, CommandResult},
};

/// Runs a command to its end.
pub(crate) fn run(command: Command) -> CommandResult {
    match command {
        Command::Run(args) => block_on(run::run(&args)),
        Command::Doctor(args) => block_on(doctor::doctor(&args)),
        Command::Desktop(args) => block_on(desktop::desktop(&args)),
        Command::Windows(args) => block_on(windows::windows(&args)),
        Command::Tree(args) => block_on(tree::tree(&args)),
        Command::Screenshot(args) => block_on(screenshot::screenshot(&args)),
        Command::Act(args) => block_on(act::act(&args)),
        Command::Sessions(args) => sessions::sessions(&args),
        Command::Show(args) => show::show(&args),
        Command::Replay(args) => replay::replay(&args),
        Command::States(args) => states::states(&args),
        Command::Config(args) => config::config(&args),
    }
}

fn block_on(command: impl Future<Output = CommandResult>) -> CommandResult {
    tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| CliError::failed_to("start the runtime", error))?
        .block_on(command)
}
