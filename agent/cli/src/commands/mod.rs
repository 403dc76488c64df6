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
mod fleet_endpoint;
mod fleet_key;
mod fleet_plans;
mod fleet_rows;
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
mod print_options;
mod probe;
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

use crate::{
    args::CliCommand,
    exit::{CliError, CommandResult},
};

/// Runs a command to its end.
pub(crate) fn run(command: CliCommand) -> CommandResult {
    match command {
        CliCommand::Run(args) => block_on(run::run(&args)),
        CliCommand::Follow(args) => block_on(follow::follow(&args)),
        CliCommand::Batch(args) => block_on(batch::batch(&args)),
        CliCommand::Worker(args) => block_on(worker::worker(&args)),
        CliCommand::Fleet(args) => block_on(fleet::fleet(&args)),
        CliCommand::Learn(args) => workflow::learn(&args),
        CliCommand::Record(args) => block_on(record::record(&args)),
        CliCommand::Do(args) => block_on(workflow::perform(&args)),
        CliCommand::Schedule(args) => block_on(schedule::schedule(&args)),
        CliCommand::Workflow(args) => workflow::workflow(&args),
        CliCommand::Knowledge(args) => block_on(knowledge::knowledge(&args)),
        CliCommand::Experience(args) => experience::experience(&args),
        CliCommand::Doctor(args) => block_on(doctor::doctor(&args)),
        CliCommand::Desktop(args) => block_on(desktop::desktop(&args)),
        CliCommand::Windows(args) => block_on(windows::windows(&args)),
        CliCommand::Tree(args) => block_on(tree::tree(&args)),
        CliCommand::Screenshot(args) => block_on(screenshot::screenshot(&args)),
        CliCommand::Act(args) => block_on(act::act(&args)),
        CliCommand::Sessions(args) => sessions::sessions(&args),
        CliCommand::Show(args) => show::show(&args),
        CliCommand::Report(args) => report::report(&args),
        CliCommand::Resume(args) => block_on(resume::resume(&args)),
        CliCommand::Fork(args) => block_on(fork::fork(&args)),
        CliCommand::Verify(args) => verify::verify(&args),
        CliCommand::Gc(args) => gc::gc(&args),
        CliCommand::Replay(args) => replay::replay(&args),
        CliCommand::Policy(args) => policy::policy(&args),
        CliCommand::Serve(args) => block_on(serve::serve(&args)),
        CliCommand::Mcp(args) => block_on(mcp::mcp(&args)),
        CliCommand::Model(args) => block_on(model::model(&args)),
        CliCommand::Agents(args) => block_on(agents::agents(&args)),
        CliCommand::HoldBrowser(args) => block_on(hold_browser::hold_browser(args)),
        CliCommand::ReadFiles => files::read_files(),
        CliCommand::WatchWorker(args) => worker::watch_worker(&args),
        CliCommand::Sandboxed(args) => sandboxed::sandboxed(&args),
        CliCommand::Secret(args) => block_on(secret::secret(&args)),
        CliCommand::States(args) => states::states(&args),
        CliCommand::Config(args) => config::config(&args),
        CliCommand::Completions(args) => packaging::completions(&args),
        CliCommand::Man(args) => packaging::man(&args),
        CliCommand::KeepDesktop(args) => block_on(keep_desktop::keep_desktop(&args)),
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
