//! `deskhand schedule`: work that begins by itself at set times.

use std::{
    collections::BTreeMap,
    io::{self, IsTerminal as _},
    path::{Path, PathBuf},
};

use deskhand_host::{
    Host, HostError, NewsKind, Notice, WorkEndNotification,
    schedules::{Keeper, Schedule, ScheduledWork},
    workflows::Perform,
};
use deskhand_machine::outcome::OutcomeKind;
use deskhand_runtime::{
    new_id, now_ms,
    words::{duration, local_time},
};
use deskhand_ui::ids::SessionId;

use super::{
    consent::{ConsentChoice, admit_workflow, consent},
    host::{load, warn},
    print_options::SessionPrintOptions,
    run::run as run_request,
    session::{carry_out_then, request},
    workflow::propose,
};
use crate::{
    args::{AddScheduleArgs, RunArgs, RunScheduleArgs, ScheduleArgs, ScheduleCommand, TrustArgs},
    exit::{CliError, CommandResult, Exit},
    output::{Output, OutputStream, OutputTone, StyledLine},
};

pub(crate) async fn schedule(args: &ScheduleArgs) -> CommandResult {
    let host = load(args.store.overrides())?;
    match &args.command {
        ScheduleCommand::Add(added) => add(&host, args, added),
        ScheduleCommand::List => list(&host),
        ScheduleCommand::Remove { name } => {
            host.remove_schedule(name)?;
            Ok(Exit::Success)
        }
        ScheduleCommand::Run(wanted) => run(&host, args, wanted).await,
    }
}

fn add(host: &Host, args: &ScheduleArgs, added: &AddScheduleArgs) -> CommandResult {
    let work = match (&added.workflow, &added.request) {
        (Some(name), _) => ScheduledWork::Workflow {
            name: name.clone(),
            parameters: added.parameters.iter().cloned().collect(),
        },
        (None, request) => ScheduledWork::Request(request.clone().unwrap_or_default()),
    };
    let schedule = Schedule::new(&added.when, work, Keeper::Service).map_err(HostError::from)?;
    let open = added.open.iter().map(|document| absolute(document)).collect();
    let schedule = Schedule { catch_up: added.catch_up, open, options: added.options.clone(), ..schedule };
    // What is wrong with the options is said now, not in the night.
    words_of(args, &schedule, &new_id()).map_err(CliError::usage)?;
    if let ScheduledWork::Workflow { name, parameters } = &schedule.work {
        let mut shelved = host.workflows().named(name).map_err(HostError::from)?;
        admit_workflow(host, &mut shelved, parameters, (added.trust, ConsentChoice::Trust))?;
    }
    let schedule = host.add_schedule(&added.name, schedule)?;
    let notes = Output::to(OutputStream::Error);
    let next = schedule.due_after(now_ms()).map(local_time).unwrap_or_default();
    notes.line(&StyledLine::of(OutputTone::Good, format!("{} runs next at {next}", added.name)));
    match schedule.keeper {
        Keeper::Systemd => {
            let text = format!("systemd keeps it: systemctl --user status deskhand-{}.timer", added.name);
            notes.line(&StyledLine::of(OutputTone::Faint, text));
        }
        Keeper::Service => {
            let text = "no systemd user manager answers: it runs while `deskhand serve` runs";
            notes.line(&StyledLine::of(OutputTone::Doubtful, text));
        }
    }
    Ok(Exit::Success)
}

/// A document wherever it is named from. Addresses are as they are.
fn absolute(document: &Path) -> PathBuf {
    if document.to_string_lossy().contains("://") {
        return document.to_owned();
    }
    std::path::absolute(document).unwrap_or_else(|_| document.to_owned())
}

fn list(host: &Host) -> CommandResult {
    let schedules = host.schedules();
    let names = schedules.names().map_err(HostError::from)?;
    let out = Output::to(OutputStream::Out);
    if names.is_empty() {
        Output::to(OutputStream::Error)
            .text("there is no schedule yet; `deskhand schedule add --help` shows how to add one");
    }
    for name in names {
        let schedule = match schedules.find(&name) {
            Ok(schedule) => schedule,
            Err(error) => {
                out.line(&StyledLine::of(OutputTone::Bad, format!("{name:<20} {error}")));
                continue;
            }
        };
        let next = schedule.due_after(now_ms()).map_or_else(|| "never".to_owned(), local_time);
        let what = match &schedule.work {
            ScheduledWork::Request(request) => request.clone(),
            ScheduledWork::Workflow { name, .. } => format!("the workflow {name}"),
        };
        let last = match schedules.last(&name) {
            None => "not run yet".to_owned(),
            Some(last) => match (last.problem, last.ended_ms) {
                (Some(problem), _) => format!("last {}: {problem}", local_time(last.begun_ms)),
                (None, Some(ended)) => {
                    let took = duration(ended.saturating_sub(last.begun_ms));
                    format!("last {} for {took}: deskhand show {}", local_time(last.begun_ms), last.session)
                }
                (None, None) => {
                    format!("began {}: deskhand show {}", local_time(last.begun_ms), last.session)
                }
            },
        };
        let line = StyledLine::of(OutputTone::Strong, format!("{name:<20} "))
            .with(OutputTone::Plain, format!("next {next}  {}  ", schedule.when))
            .with(OutputTone::Faint, format!("{last}  {}", deskhand_ui::text::one_line(&what)));
        out.line(&line);
    }
    Ok(Exit::Success)
}

/// The words of `deskhand run` for a schedule, without its request.
fn words_of(args: &ScheduleArgs, schedule: &Schedule, session: &SessionId) -> Result<RunArgs, String> {
    let state = args.store.state_dir().map(|folder| format!("--state-dir={folder}"));
    let open = schedule.open.iter().map(|document| format!("--open={}", document.display()));
    let words = state.into_iter().chain(schedule.options.iter().cloned()).chain(open);
    let request = match &schedule.work {
        ScheduledWork::Request(request) => vec!["--".to_owned(), request.clone()],
        ScheduledWork::Workflow { .. } => Vec::new(),
    };
    RunArgs::of_words(words.chain([format!("--as={}", session.0)]).chain(request))
}

async fn run(host: &Host, args: &ScheduleArgs, wanted: &RunScheduleArgs) -> CommandResult {
    let schedules = host.schedules();
    let mut schedule = schedules.find(&wanted.name).map_err(HostError::from)?;
    let session = wanted.id.clone().unwrap_or_else(new_id);
    let claim = schedules.claim(&wanted.name, &session, wanted.due).map_err(HostError::from)?;
    if !io::stdin().is_terminal() {
        // Out of the reach of what ends the service that began it. Who is a leader already is not in its reach.
        rustix::process::setsid().ok();
    }
    let ran = match admit(host, &mut schedule, wanted) {
        Ok(()) => match words_of(args, &schedule, &session) {
            Ok(mut run) => {
                run.work.schedule = Some(wanted.name.clone());
                work(&schedule.work, &run, wanted.trust).await
            }
            Err(problem) => Err(CliError::usage(problem)),
        },
        Err(refused) => Err(refused),
    };
    let problem = ran.as_ref().err().map(CliError::words);
    if let Some(problem) = &problem {
        tell_that_it_failed(host, &wanted.name, &schedule, problem).await;
    }
    claim.end(problem).map_err(HostError::from)?;
    ran
}

/// Sees to it that a schedule may run: one that was not added here, or was changed since, is a stranger's.
fn admit(host: &Host, schedule: &mut Schedule, wanted: &RunScheduleArgs) -> Result<(), CliError> {
    if !schedule.provenance.is_users() {
        let what = format!("the schedule {}", wanted.name);
        consent(&what, &schedule.summary(), wanted.trust, ConsentChoice::Trust)?;
        *schedule = host.schedules().trust(&wanted.name, schedule).map_err(HostError::from)?;
    }
    Ok(())
}

/// Tells that a schedule did not come to the end of a session, which would have told it.
async fn tell_that_it_failed(host: &Host, name: &str, schedule: &Schedule, problem: &str) {
    let request = match &schedule.work {
        ScheduledWork::Request(request) => request.clone(),
        ScheduledWork::Workflow { name, .. } => format!("the workflow {name}"),
    };
    let mut news =
        WorkEndNotification::new(NewsKind::Session, OutcomeKind::Error, problem.to_owned(), request);
    news.schedule = Some(name.to_owned());
    for problem in host.tell(&news).await {
        warn(&Notice::NotTold { problem });
    }
}

async fn work(work: &ScheduledWork, run: &RunArgs, trust: TrustArgs) -> CommandResult {
    match work {
        ScheduledWork::Request(_) => run_request(run).await,
        ScheduledWork::Workflow { name, parameters } => perform(name, parameters, run, trust).await,
    }
}

async fn perform(
    name: &str,
    parameters: &BTreeMap<String, String>,
    run: &RunArgs,
    trust: TrustArgs,
) -> CommandResult {
    let host = load(run.overrides())?;
    let shown = SessionPrintOptions::of(&run.work, host.config());
    let shelf = host.workflows();
    let mut shelved = shelf.named(name).map_err(HostError::from)?;
    admit_workflow(&host, &mut shelved, parameters, (trust, ConsentChoice::GoOn))?;
    let session = host.perform(Perform {
        shelved: shelved.clone(),
        values: parameters.clone(),
        heal: host.config().workflows.heal.to_heal(),
        session: request(&run.work, None, run.screenshot.as_ref()),
    })?;
    carry_out_then(session, &shown, /*history*/ None, |ended| propose(&shelf, &shelved, ended)).await
}
