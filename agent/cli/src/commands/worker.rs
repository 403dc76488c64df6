//! `deskhand worker`: carries out tasks of a fleet on this machine.

use std::{collections::BTreeMap, time::Duration};

use deskhand_fleet::{holder::DeliveryOutcome, task::TaskId};
use deskhand_host::{HostError, config::FleetSettings, model::ModelSetup};
use deskhand_runtime::StopSwitch;
use deskhand_serve::fleet::{
    metrics::MetricsListener,
    watchdog,
    worker::{WorkerObserver, WorkerOptions, work},
};
use deskhand_ui::text::one_line;
use tokio::sync::watch;

use super::{fleet_rows::outcome_words, fleet_server::FleetEndpoint, host::load, signals::StopSignals};
use crate::{
    args::{WatchWorkerArgs, WorkerArgs},
    exit::{CliError, CommandResult, Exit},
    output::{Output, OutputStream, OutputTone, StyledLine},
};

/// The folder for tasks in the home folder. It is not a hidden one: what is written there would have to be approved of.
const FOLDER: &str = "deskhand-fleet";

pub(crate) async fn worker(args: &WorkerArgs) -> CommandResult {
    let host = load(args.overrides())?;
    // Without a model it would fail the tasks that other workers can do.
    let models = ModelSetup::of(host.config(), BTreeMap::new()).map_err(HostError::from)?;
    for (_, model) in models.choices() {
        model?;
    }
    let helper = std::env::current_exe()
        .map_err(|error| CliError::failed_to("find the path of this program", error))?;
    let reached = FleetEndpoint::by(&args.server, None)?;
    let mut signals = StopSignals::catch()?;
    let store = tokio::select! {
        store = reached.connect() => store?,
        _ = signals.next() => return Ok(Exit::Success),
    };
    let name = args.name.clone().unwrap_or_else(machine);
    let options = WorkerOptions {
        folder: args
            .folder
            .clone()
            .unwrap_or_else(|| std::env::home_dir().unwrap_or_default().join(FOLDER).join(&name)),
        name,
        labels: args.labels(),
        most: args.most.map(usize::from),
    };
    let people = Output::to(OutputStream::Error);
    let say = |text: String| {
        if !args.output.quiet {
            people.line(&StyledLine::of(OutputTone::Faint, text));
        }
    };
    let metrics = match args.metrics {
        Some(address) => {
            let listener = MetricsListener::bind(address, &options.folder).await;
            let listener =
                listener.map_err(|error| CliError::failed_to(format!("give figures at {address}"), error))?;
            say(format!("figures at {} for who has {}", listener.url, listener.token_file.display()));
            Some(listener)
        }
        None => None,
    };
    say(format!("{} takes tasks of {}", options.name, reached.options.shown()));
    say(who_submits(&host.config().fleet));
    let (drain, drains) = watch::channel(false);
    let stop = StopSwitch::new();
    let mut observer = Printer { out: Output::to(OutputStream::Out), json: args.output.json };
    let working = work(&host, helper, store, &options, metrics, (drains, stop.clone()), &mut observer);
    tokio::pin!(working);
    loop {
        tokio::select! {
            ended = &mut working => {
                ended.map_err(|error| CliError::failed_to("work for the fleet", error))?;
                return Ok(Exit::Success);
            }
            reason = signals.next() => {
                if drain.send_replace(true) {
                    say("stopping; other workers go on with what is not done".to_owned());
                    stop.cancel(reason);
                } else {
                    say("no more tasks; it ends when the last one has ended (again: stop them)".to_owned());
                }
            }
        }
    }
}

/// Ends a worker that is stopped for too long.
pub(crate) fn watch_worker(args: &WatchWorkerArgs) -> CommandResult {
    let watched = watchdog::watch(args.process, Duration::from_millis(args.silence_ms));
    watched.map_err(|error| CliError::failed_to("watch over a worker", error))?;
    Ok(Exit::Success)
}

/// Whose tasks are taken.
fn who_submits(settings: &FleetSettings) -> String {
    if settings.accept.is_empty() {
        return "it takes tasks of everybody who reaches the server; `fleet.accept` in the configuration changes that"
            .to_owned();
    }
    let names: Vec<&str> = settings.accept.keys().map(String::as_str).collect();
    format!("it takes tasks that {} signed", names.join(" or "))
}

/// The name of this machine as a name of a worker.
fn machine() -> String {
    let name = rustix::system::uname().nodename().to_string_lossy().into_owned();
    let plain: String =
        name.chars().filter(|c| c.is_ascii_alphanumeric() || "-_".contains(*c)).take(40).collect();
    if plain.is_empty() { "worker".to_owned() } else { plain }
}

/// Prints which tasks come and go.
struct Printer {
    out: Output,
    json: bool,
}

impl Printer {
    fn say(&self, task: &TaskId, state: &str, tone: OutputTone, words: &str) {
        if self.json {
            self.out.json(&serde_json::json!({ "task": task, "state": state, "words": words }));
        } else {
            let line = StyledLine::of(OutputTone::Strong, task.as_str());
            self.out.line(&line.with(tone, format!("  {}", one_line(words))));
        }
    }
}

impl WorkerObserver for Printer {
    fn taken(&mut self, task: &TaskId) {
        self.say(task, "taken", OutputTone::Plain, "taken");
    }

    fn given_up(&mut self, task: &TaskId, reason: &str) {
        self.say(task, "given_up", OutputTone::Doubtful, &format!("cannot be done here: {reason}"));
    }

    fn left(&mut self, task: &TaskId, held: &DeliveryOutcome) {
        match held {
            DeliveryOutcome::Ended(outcome) => {
                let (tone, words) = outcome_words(outcome);
                self.say(task, "ended", tone, &words);
            }
            DeliveryOutcome::Again(attempt) => {
                let words = format!("{}: {}; it is tried again", attempt.outcome, attempt.reason);
                self.say(task, "again", OutputTone::Doubtful, &words);
            }
            DeliveryOutcome::Elsewhere => {
                self.say(task, "elsewhere", OutputTone::Faint, "another worker has it");
            }
            DeliveryOutcome::Lost => {
                self.say(task, "lost", OutputTone::Doubtful, "given up; another worker goes on with it");
            }
        }
    }
}
