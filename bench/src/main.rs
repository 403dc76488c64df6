//! `cargo xtask bench`: benchmarks, with the machine load.
//!
//! Their judges share no code with the product.

mod actions;
mod applications;
mod cancellations;
mod cells;
mod chance;
mod choices;
mod disk;
mod endpoint;
mod endurance;
mod fleet;
mod fleet_simulation;
mod learning;
mod live;
mod machines;
mod memory;
mod ocr;
mod opening;
mod pace;
mod page;
mod perception;
mod prompts;
mod sessions;
mod spellings;
mod table;

use std::process::ExitCode;

use anyhow::Result;
use clap::{Parser, Subcommand};
use xtask::console;

/// The benchmarks.
#[derive(Subcommand)]
enum Bench {
    /// Measure memory and time of many concurrent sessions and of a long one, on the in-memory desktop.
    Sessions(sessions::SessionsArguments),
    /// Measure speed and accuracy of perception: trees, pictures, idle detection, tokens, steps, verdicts.
    ///
    /// Starts each application on a private desktop and prints the cost of observing its window through the mirror, by one
    /// bulk read, by a naive walk and by the same walk with pyatspi; its responsiveness to input meanwhile; pictures; the
    /// time to detect a no-op click; the tokens of views; a whole step of the framework; and how many random actions were
    /// judged wrongly. Compare ratios within one run; the machine load is printed with them. Missing programs are reported
    /// and skipped; `cargo xtask setup` installs them.
    ///
    /// A full run takes about ten minutes. For a short one: `--only calc --edits 50 --actions 0`.
    Perception(perception::PerceptionArguments),
    /// Measure and judge actions of every tool on fixtures and real applications.
    ///
    /// Plays random actions through the tools, as an agent does, each application on a private desktop. Prints by tool and
    /// by application: verdicts, the time of the whole action, and what of it is over the application's own time, which
    /// an observer process measures from each input to the last change that belongs to it. Verdicts are compared with
    /// what happened by the word of oracles that share no code with the product: event logs, files, UNO. `--real` adds
    /// applications of more toolkits, where they are installed.
    ///
    /// A short run: `--only gtk3 --only calc --actions 40`.
    Actions(actions::ActionsArguments),
    /// Start and operate real applications of many toolkits, and write `docs/applications.md`.
    ///
    /// Each is installed from its Debian package, started by the name that a person would use, on a desktop of its own, and operated
    /// over `deskhand mcp`: menus, dialogs, lists, text, saving. The X server, files and the clipboard judge. Fails if something was
    /// said to be done that was not, a call hung, or a file was damaged.
    ///
    /// `--tasks` does tasks of several steps in five of them by workflows, and judges the files that they leave.
    ///
    /// A full run takes about half an hour and installs two gigabytes. For a part of it: `--only GIMP`, `--only "Qt 5"`, `--installed`.
    Applications(applications::ApplicationsArguments),
    /// Measure memory and time of a desktop with each of 15 applications, and write the table of `docs/guides/fleet-capacity.md`.
    ///
    /// Takes about 15 minutes. What is not installed is left out. For a part of it: `--only calc`.
    Capacity(applications::CapacityArguments),
    /// Cancel random actions at random moments over the terminal, the API and MCP, and judge what follows by the log of an application.
    ///
    /// Long texts, keys, drags, scrolls, values and waits. Fails if the application got an input more than 100 ms after a cancellation, or
    /// if a report of what was done differs from what the application has. 1,000 cancellations take about an hour.
    Cancellations(cancellations::CancellationsArguments),
    /// Write cells into a spreadsheet by its own interface and through its window, and compare the times.
    Cells(cells::CellsArguments),
    /// Count how often the configured model chooses the right window and the right element.
    ///
    /// Asks it 68 questions in the usual way, and in the small-model mode with what shares most words and, if a model for embeddings is
    /// pulled, with what is nearest in meaning. For a local model: `deskhand model pull NAME` and `deskhand model pull all-minilm-l6-v2`
    /// first. Takes as long as the model needs.
    Choices(choices::ChoicesArguments),
    /// Run sessions with random faults, and look at what is left, lost or done twice.
    ///
    /// Each run is a real session on a private desktop, in namespaces of its own. At a random moment processes are killed, a
    /// signal arrives, or a disk is full. Then mounts, processes, files and permissions are compared with those before, the
    /// journal is verified, resumed and replayed, and side effects are counted in the files on disk. A run is repeated with
    /// its seed: `--runs 1 --seed N`. The folder of a run with a problem stays in `target/endurance/N`.
    Endurance(endurance::EnduranceArguments),
    /// Kill, pause and cut off the workers and servers of a fleet while it does its tasks.
    ///
    /// Three servers, six workers, and an endpoint as the model. Each task appends a line to a ledger through an application of its
    /// desktop; one of ten writes a note in Mousepad instead. First without faults, then in rounds of chaos: workers, the one that leads
    /// and servers are killed or stopped for longer than a lease, connections are silent or closed, disks are full. Ledger, notes and
    /// journals tell whether each task was done exactly once. Then the same tasks by `deskhand batch`, and a long queue. A round with a
    /// problem stays in `target/fleet`; its chaos is repeated with its seed.
    ///
    /// For a short run: `--tasks 30 --rounds 1 --queued 2000`. Needs root for disks that can be full.
    Fleet(fleet::FleetArguments),
    /// Follow the guide of fleets on three "machines", and cut the link of one while it works.
    ///
    /// The machines are network namespaces, joined by a switch in another one; nothing of this machine's own network is changed, and all
    /// is removed at the end. The commands are those of `docs/guides/fleet.md`, word for word. Fails if a task was not done exactly
    /// once, by what stands in its document. Skipped without root.
    Machines(machines::MachinesArguments),
    /// Do ten tasks on real applications again without a model, and one of them on an application that changes in 40 ways.
    ///
    /// Each task is done by a script, learnt, and done again, half of them with another document and other values; then once more
    /// with another theme, screen and language. Files are judged without code of the product. The 40 drifts rename, move, redraw,
    /// translate and remove the controls of a form, which logs what was really used. Fails if a second run asks a model or its
    /// result is another one, if less than three quarters of the drifts are healed without a model, or if a wrong control is used.
    ///
    /// Takes about eight minutes, with `--long` twenty. For a part of it: `--only chart`, `--only moved`.
    Learning(learning::LearningArguments),
    /// Measure how old the picture of a live screen is when a viewer has it.
    ///
    /// Draws areas of three sizes on a private desktop, and takes the time until each is in a decoded update; beside it, the time that
    /// one whole picture takes to be read and decoded in the same run.
    Live(live::LiveArguments),
    /// Do ten long tasks with a model that remembers nothing.
    ///
    /// What is needed at the end of each was read 20 to 60 steps earlier in another application: LibreOffice, Mousepad or Chromium. The
    /// values are typed into forms of GTK 3, GTK 4 and Qt, whose own log is the judge. Takes about two minutes.
    Memory,
    /// Compare readers of text in pictures (OCR): which words of real programs' windows they find, and how long they take.
    ///
    /// Starts each program on a private desktop. What is drawn is known from its accessibility tree, or from what it was told to show.
    /// PP-OCR and `tesseract` look at the same windows, and again after a small change. Prints recall and precision in words. Missing
    /// programs are reported and skipped. Takes about six minutes; for a part of it: `--only calc`.
    Ocr(ocr::OcrArguments),
    /// Open ten documents of ten types, each alone and all in one go, and compare the times.
    Opening(opening::OpeningArguments),
    /// Measure how long actions on the page take while eight sessions run, and what those who watch cost the agents.
    ///
    /// Fifty sessions are in the table, and eight run on desktops of their own. Prints the times of each action as JSON; the ratio is the
    /// time of a step with a watcher on each session to that without, in windows of time that alternate within one run. Fails if an
    /// action takes more than 100 ms at the 95th percentile.
    Page(page::PageArguments),
    /// Simulate a fleet of thousands of workers on a virtual clock, with everything that can go wrong.
    ///
    /// Controllers, holders and graph are the real ones; servers, network, clocks and tasks are simulated. Workers, the leader and
    /// servers are killed, stopped and cut off; messages are lost, late and repeated; disks are slow and clocks are off. Prints a row
    /// for each run, and fails if a task is not accounted for, an action was done twice, or a line of a journal was lost or doubled.
    /// docs/internals/fleet-simulation.md explains the columns.
    ///
    /// A full run takes about ten minutes and 4 GB. For a short one: `--workers 100 --tasks 1000`.
    FleetSimulation(fleet_simulation::FleetSimulationArguments),
    /// Count the tokens of the prompts of recorded sessions by part, as recorded and as today.
    ///
    /// Folds the journals of recorded sessions with the prompts and tools of today. Each decision of the recorded model must find what it
    /// used in today's prompt as well. Prints which share of a prompt begins an earlier one in the same way, so that a provider's cache
    /// would serve it.
    Prompts(prompts::PromptsArguments),
    /// Kill the page's service at random moments while sessions run and clients read.
    ///
    /// Four sessions at once work on desktops of their own; for each, one client reads server-sent events and one a WebSocket, and both
    /// come again with the number of the last record they know. Fails if a session does not finish, or if what a client has seen is not
    /// exactly what is in the journal on the disk. The moments follow from the seed. Takes about three minutes.
    Survival(page::SurvivalArguments),
    /// Measure how long a page of 10,000 stored sessions takes, sorted and filtered: with and without the index, and in memory.
    ///
    /// Stores copies of sessions that were really run, which takes some hundred MB of disk. Prints the figures as JSON, and fails if a page
    /// takes more than 300 ms although the index is there.
    Table(table::TableArguments),
    /// Look for spellings of names and keys that are carried out although a policy denies them.
    Spellings(spellings::SpellingsArguments),
}

#[derive(Parser)]
#[command(
    name = "cargo xtask bench",
    about = "Run benchmarks and print the machine load with the results",
    disable_help_subcommand = true
)]
struct Arguments {
    #[command(subcommand)]
    bench: Bench,
}

fn main() -> ExitCode {
    run(&Arguments::parse().bench).unwrap_or_else(|error| {
        console::problem(&format!("{error:#}"));
        ExitCode::FAILURE
    })
}

/// Runs a benchmark.
fn run(bench: &Bench) -> Result<ExitCode> {
    match bench {
        Bench::Sessions(arguments) => sessions::run(arguments),
        Bench::Perception(arguments) => perception::run(arguments),
        Bench::Actions(arguments) => actions::run(arguments),
        Bench::Applications(arguments) => applications::run(arguments),
        Bench::Capacity(arguments) => applications::run_capacity(arguments),
        Bench::Cancellations(arguments) => cancellations::run(arguments),
        Bench::Cells(arguments) => cells::run(arguments),
        Bench::Endurance(arguments) => endurance::run(arguments),
        Bench::Fleet(arguments) => fleet::run(arguments),
        Bench::FleetSimulation(arguments) => fleet_simulation::run(arguments),
        Bench::Learning(arguments) => learning::run(arguments),
        Bench::Live(arguments) => live::run(arguments),
        Bench::Machines(arguments) => machines::run(arguments),
        Bench::Memory => memory::run(),
        Bench::Ocr(arguments) => ocr::run(arguments),
        Bench::Opening(arguments) => opening::run(arguments),
        Bench::Page(arguments) => page::run_page(arguments),
        Bench::Survival(arguments) => page::run_survival(arguments),
        Bench::Choices(arguments) => choices::run(arguments),
        Bench::Prompts(arguments) => prompts::run(arguments),
        Bench::Table(arguments) => table::run(arguments),
        Bench::Spellings(arguments) => spellings::run(arguments),
    }
}

#[cfg(test)]
mod tests {
    use xtask::book::{all_pages, own_commands};

    use super::*;

    #[test]
    fn the_benchmarks_that_pages_name_exist() {
        for (name, text) in &all_pages().unwrap() {
            for arguments in own_commands(text).filter(|words| words.first() == Some(&"bench")) {
                let words = ["cargo xtask bench"].into_iter().chain(arguments.iter().skip(1).copied());
                let parsed = Arguments::try_parse_from(words);
                let is_help = arguments.len() == 1 || arguments.contains(&"--help");
                assert!(parsed.is_ok() || is_help, "{name}: `cargo xtask {}`", arguments.join(" "));
            }
        }
    }
}
