//! `cargo xtask bench survival`: the service is killed at random moments while sessions run and clients read.

use std::{
    path::PathBuf,
    process::ExitCode,
    sync::atomic::{AtomicBool, Ordering},
    thread::park_timeout,
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result, ensure};
use clap::Args;
use serde_json::json;

use super::{
    service::{self, BOUND, Service},
    sessions::{self, has_ended, mark, outcome, records, script, seq},
    watcher::{Seen, Way, open_socket, watch},
};
use crate::chance::Chance;
use xtask::{console, product::Build};

/// Steps of a session.
const STEPS: usize = 40;
/// The longest time between a start of the service and its end, in milliseconds.
const LIFE_MS: u64 = 1_500;
/// How soon is looked whether a session has ended.
const LOOK: Duration = Duration::from_millis(100);

/// Options of `cargo xtask bench survival`.
#[derive(Args)]
pub(crate) struct SurvivalArguments {
    /// How often the service is killed.
    #[arg(long, value_name = "N", default_value_t = 50)]
    kills: usize,
    /// Sessions at once.
    #[arg(long, value_name = "N", default_value_t = 4)]
    sessions: usize,
    /// The seed of the random moments.
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Use this program instead of building one.
    #[arg(long, value_name = "FILE")]
    binary: Option<PathBuf>,
    /// Also write the results to this file, as JSON.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

/// What came of it.
#[derive(Default)]
struct Tally {
    kills: usize,
    sessions: usize,
    finished: usize,
    records: usize,
    clients: usize,
    connections: usize,
    problems: Vec<String>,
}

/// Runs sessions in waves until the service was killed often enough; fails if anything was lost.
pub(crate) fn run(arguments: &SurvivalArguments) -> Result<ExitCode> {
    let mut chance = Chance::new(arguments.seed);
    let mut service =
        Service::start(service::binary(arguments.binary.as_deref(), Build::Tests)?, &mut chance)?;
    let (begun, mut tally) = (Instant::now(), Tally::default());
    while tally.kills < arguments.kills {
        wave(&mut service, arguments, &mut chance, &mut tally)?;
        console::progress(&format!("{} kills, {} sessions", tally.kills, tally.sessions));
    }
    service.kill()?;
    console::result(&format!(
        "seed {}: {} kills of the service in {}; {} of {} sessions finished, with {} records; {} clients read them over {} connections",
        arguments.seed,
        tally.kills,
        console::duration(begun.elapsed()),
        tally.finished,
        tally.sessions,
        tally.records,
        tally.clients,
        tally.connections
    ));
    tally.problems.iter().for_each(|problem| console::result(problem));
    console::write_figures(
        arguments.json.as_deref(),
        &json!({
            "seed": arguments.seed, "kills": tally.kills, "sessions": tally.sessions, "finished": tally.finished,
            "records": tally.records, "clients": tally.clients, "connections": tally.connections, "problems": tally.problems,
        }),
    )?;
    Ok(if tally.problems.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Some sessions at once, from their start to their end.
fn wave(
    service: &mut Service,
    arguments: &SurvivalArguments,
    chance: &mut Chance,
    tally: &mut Tally,
) -> Result<()> {
    let first = tally.sessions;
    let mut ids = Vec::new();
    for number in first..first + arguments.sessions {
        let script = script(service.home(), number, STEPS)?;
        ids.push((
            number,
            service.start_session(&format!("wave {first}, session {number}"), &script, STEPS * 2)?,
        ));
    }
    let (address, token, folder) = (service.address(), service.token.clone(), service.sessions());
    // Somebody who opens the page and reads nothing holds up nobody.
    let unread: Vec<_> = ids
        .iter()
        .flat_map(|(_, id)| ["watch", "screen"].map(|what| format!("/api/sessions/{id}/{what}")))
        .filter_map(|path| open_socket(&address, &token, &path).ok())
        .collect();
    let is_over = AtomicBool::new(false);
    let (address, token, is_over) = (&address, &token, &is_over);
    let seen = std::thread::scope(|scope| {
        let clients: Vec<_> = ids
            .iter()
            .flat_map(|(number, id)| [Way::Events, Way::Socket].map(|way| (*number, id, way)))
            .map(|(number, id, way)| {
                (number, id, way, scope.spawn(move || watch(address, token, id, way, is_over)))
            })
            .collect();
        let all_ended = || ids.iter().all(|(_, id)| has_ended(&records(&folder, id)));
        let killed = kill_at_random(service, arguments.kills, chance, tally, &all_ended);
        let begun = Instant::now();
        while killed.is_ok() && !all_ended() && begun.elapsed() < BOUND {
            park_timeout(LOOK);
        }
        let waited = Instant::now();
        while clients.iter().any(|(.., client)| !client.is_finished())
            && waited.elapsed() < Duration::from_secs(20)
        {
            park_timeout(LOOK);
        }
        is_over.store(true, Ordering::Relaxed);
        if clients.iter().any(|(.., client)| !client.is_finished()) {
            service.kill().ok();
        }
        let seen = clients
            .into_iter()
            .filter_map(|(number, id, way, client)| Some((number, id, way, client.join().ok()?)));
        let seen: Vec<_> = seen.collect();
        killed.map(|()| seen)
    })?;
    drop(unread);
    for (number, id) in &ids {
        let records = records(&folder, id);
        tally.sessions += 1;
        tally.records += records.len();
        match outcome(&records).as_deref() {
            Some(outcome) if outcome.starts_with("finished:") && has_ended(&records) => tally.finished += 1,
            other => tally.problems.push(format!("session {number} did not finish: {other:?}")),
        }
    }
    for (number, id, way, seen) in &seen {
        tally.clients += 1;
        tally.connections += seen.connections;
        let problems = judge(*number, *way, &sessions::records(&folder, id), seen);
        tally
            .problems
            .extend(problems.into_iter().map(|problem| format!("session {number}, {way:?}: {problem}")));
    }
    ensure!(seen.len() == 2 * ids.len(), "a client failed");
    Ok(())
}

/// Kills the service at random moments and starts it again, until it was done often enough or the sessions have ended.
fn kill_at_random(
    service: &mut Service,
    kills: usize,
    chance: &mut Chance,
    tally: &mut Tally,
    is_over: &dyn Fn() -> bool,
) -> Result<()> {
    while tally.kills < kills && !is_over() {
        park_timeout(Duration::from_millis(chance.below(LIFE_MS)));
        service.kill()?;
        tally.kills += 1;
        service.start_again().context("start the service again")?;
    }
    Ok(())
}

/// What a client has seen, compared with the journal on the disk.
fn judge(number: usize, way: Way, records: &[serde_json::Value], seen: &Seen) -> Vec<String> {
    let mut problems = seen.problems.clone();
    let last = records.last().map_or(0, seq);
    // Over a WebSocket only parts have a number, and the last record is in none.
    if seen.seq > last || (way == Way::Events && seen.seq != last) {
        problems.push(format!("it has seen records up to {}, and there are {last}", seen.seq));
    }
    let order: Vec<u64> = records.iter().map(seq).collect();
    if order != (1..=last).collect::<Vec<_>>() {
        problems.push("the records on the disk are not one after the other".to_owned());
    }
    for step in 1..=STEPS {
        let mark = mark(number, step);
        let shown = seen.parts.values().filter(|html| html.contains(&mark)).count();
        let is_recorded = records.iter().any(|record| record.to_string().contains(&mark));
        if !is_recorded || shown != 1 {
            problems.push(format!("{mark} is in {shown} parts of the page; recorded: {is_recorded}"));
        }
    }
    problems
}
