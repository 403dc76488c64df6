//! One file per command. Shared: the host with the configuration of this run ([`host`]), running and printing sessions
//! ([`session`]), elements named on the command line ([`target`]), signals ([`signals`]).

mod act;
mod agents;
mod batch;
mod config;
mod consent;
mod desktop;
mod doctor;
mod experience;
mod files;
mod fleet;
mod fleet_key;
mod fleet_plans;
mod fleet_server;
mod fleet_status;
mod follow;
mod fork;
mod gc;
mod hold_browser;
mod host;
mod keep_desktop;
mod knowledge;
mod local;
mod mcp;
mod model;
mod packaging;
mod policy;
mod record;
mod replay;
mod report;
mod resume;
mod run;
mod sandboxed;
mod schedule;
mod screenshot;
mod secret;
mod serve;
mod session;
mod sessions;
mod show;
mod signals;
mod signs;
mod states;
mod target;
mod tree;
mod verify;
mod windows;
mod worker;
mod workflow;

pub(crate) use model::proposal;

use crate::{
    args::Command,
    exit::{CliError, CommandResult},
};

/// Runs a command to its end.
pub(crate) fn run(command: Command) -> CommandResult {
    match command {
        Command::Run(args) => block_on(run::run(&args)),
        Command::Follow(args) => block_on(follow::follow(&args)),
        Command::Batch(args) => block_on(batch::batch(&args)),
        Command::Worker(args) => block_on(worker::worker(&args)),
        Command::Fleet(args) => block_on(fleet::fleet(&args)),
        Command::Learn(args) => workflow::learn(&args),
        Command::Record(args) => block_on(record::record(&args)),
        Command::Do(args) => block_on(workflow::perform(&args)),
        Command::Schedule(args) => block_on(schedule::schedule(&args)),
        Command::Workflow(args) => workflow::workflow(&args),
        Command::Knowledge(args) => block_on(knowledge::knowledge(&args)),
        Command::Experience(args) => experience::experience(&args),
        Command::Doctor(args) => block_on(doctor::doctor(&args)),
        Command::Desktop(args) => block_on(desktop::desktop(&args)),
        Command::Windows(args) => block_on(windows::windows(&args)),
        Command::Tree(args) => block_on(tree::tree(&args)),
        Command::Screenshot(args) => block_on(screenshot::screenshot(&args)),
        Command::Act(args) => block_on(act::act(&args)),
        Command::Sessions(args) => sessions::sessions(&args),
        Command::Show(args) => show::show(&args),
        Command::Report(args) => report::report(&args),
        Command::Resume(args) => block_on(resume::resume(&args)),
        Command::Fork(args) => block_on(fork::fork(&args)),
        Command::Verify(args) => verify::verify(&args),
        Command::Gc(args) => gc::gc(&args),
        Command::Replay(args) => replay::replay(&args),
        Command::Policy(args) => policy::policy(&args),
        Command::Serve(args) => block_on(serve::serve(&args)),
        Command::Mcp(args) => block_on(mcp::mcp(&args)),
        Command::Model(args) => block_on(model::model(&args)),
        Command::Agents(args) => block_on(agents::agents(&args)),
        Command::HoldBrowser(args) => block_on(hold_browser::hold_browser(args)),
        Command::ReadFiles => files::read_files(),
        Command::WatchWorker(args) => worker::watch_worker(&args),
        Command::Sandboxed(args) => sandboxed::sandboxed(&args),
        Command::Secret(args) => block_on(secret::secret(&args)),
        Command::States(args) => states::states(&args),
        Command::Config(args) => config::config(&args),
        Command::Completions(args) => packaging::completions(&args),
        Command::Man(args) => packaging::man(&args),
        Command::KeepDesktop(args) => block_on(keep_desktop::keep_desktop(&args)),
    }
}

/// The stack of a worker thread, as large as that of the main thread: calls that are not optimised need much of it.
const STACK_BYTES: usize = 8 << 20;

fn block_on(command: impl Future<Output = CommandResult>) -> CommandResult {
    tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .thread_stack_size(STACK_BYTES)
        .build()
        .map_err(|error| CliError::failed_to("start the runtime", error))?
        .block_on(command)
}
