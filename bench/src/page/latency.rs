//! `cargo xtask bench page`: how long actions on the page take, and what those who watch cost the agents.

use std::{
    collections::BTreeMap,
    fs,
    net::{Shutdown, TcpStream},
    path::{Path, PathBuf},
    process::ExitCode,
    thread::{JoinHandle, park_timeout},
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use anyhow::{Context as _, Result, bail, ensure};
use clap::Args;
use serde_json::{Value, json};

use super::{
    service::{self, BOUND, Service},
    sessions::{asked_ms, asking_script, has_ended, outcome, records, script},
    watcher::{frame, open_socket},
};
use crate::chance::Chance;
use xtask::{console, product::Build};

/// The longest time of an action at the 95th percentile, in milliseconds.
const ACTION_MS_MAX: f64 = 100.0;
/// More steps than a session gets to.
const STEPS: usize = 2_000;
/// What is left out at the beginning of a window, until all have come or gone.
const SETTLE: Duration = Duration::from_secs(1);

/// Options of `cargo xtask bench page`.
#[derive(Args)]
pub(crate) struct PageArguments {
    /// Sessions in the table.
    #[arg(long, value_name = "N", default_value_t = 50)]
    sessions: usize,
    /// Sessions that run at once, each on a desktop of its own.
    #[arg(long, value_name = "N", default_value_t = 8)]
    live: usize,
    /// Windows with watchers, and as many without.
    #[arg(long, value_name = "N", default_value_t = 5)]
    windows: usize,
    /// The length of a window, in seconds.
    #[arg(long, value_name = "N", default_value_t = 6)]
    seconds: u64,
    /// How often each action is done.
    #[arg(long, value_name = "N", default_value_t = 40)]
    times: usize,
    /// Use this program instead of building one with optimisations.
    #[arg(long, value_name = "FILE")]
    binary: Option<PathBuf>,
    /// Also write the results to this file, as JSON.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

/// Runs the benchmark, prints the figures as JSON, and fails if an action takes too long.
pub(crate) fn run(arguments: &PageArguments) -> Result<ExitCode> {
    let binary = service::binary(arguments.binary.as_deref(), Build::Release)?;
    let mut service = Service::start(binary, &mut Chance::new(u64::from(std::process::id())))?;
    console::progress("filling the table …");
    fill(&service, arguments.sessions.saturating_sub(arguments.live))?;
    let mut live = Vec::new();
    for number in 1..=arguments.live {
        let script = script(service.home(), number, STEPS)?;
        live.push(service.start_session(&format!("live session {number}"), &script, STEPS)?);
    }
    let asking = asking_script(service.home(), STEPS)?;
    let asking = service.start_session("a session that asks", &asking, STEPS)?;
    console::progress("measuring the agents, with and without watchers …");
    let windows = steps(&service, &live, arguments).with_context(|| {
        let outcomes = live.iter().map(|id| outcome(&records(&service.sessions(), id)));
        format!("the sessions: {:?}", outcomes.collect::<Vec<_>>())
    })?;
    console::progress("measuring the page …");
    let watchers = Watchers::come(&service, &live)?;
    let actions = actions(&service, &live, &asking, arguments.times);
    watchers.go();
    for id in live.iter().chain([&asking]) {
        service.asks(&format!("POST /api/sessions/{id}/do"), r#"{"do": "stop"}"#)?;
    }
    wait(&service, &live)?;
    service.kill()?;
    let mut actions = actions?;
    let figures = figures(arguments, &windows, &mut actions);
    console::result(&serde_json::to_string_pretty(&figures)?);
    console::write_figures(arguments.json.as_deref(), &figures)?;
    let p95 = figures.pointer("/actions/all/p95").and_then(Value::as_f64).context("no figures")?;
    Ok(if p95 <= ACTION_MS_MAX { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Stores finished sessions: one that was really run, and copies of it.
fn fill(service: &Service, count: usize) -> Result<()> {
    let script = script(service.home(), 0, 5)?;
    let id = service.start_session("an earlier session", &script, 20)?;
    wait(service, std::slice::from_ref(&id))?;
    let journal = fs::read_to_string(service.sessions().join(&id).join("journal.jsonl"))?;
    for number in 1..count {
        let other = format!("{}{number:012x}", id.get(..24).context("a short id")?);
        let folder = service.sessions().join(&other);
        fs::create_dir(&folder).context("copy a session")?;
        fs::write(folder.join("journal.jsonl"), journal.replace(&id, &other))?;
    }
    Ok(())
}

/// Waits until sessions have ended.
fn wait(service: &Service, ids: &[String]) -> Result<()> {
    let begun = Instant::now();
    while !ids.iter().all(|id| has_ended(&records(&service.sessions(), id))) {
        ensure!(begun.elapsed() < BOUND, "a session does not end");
        park_timeout(Duration::from_millis(100));
    }
    Ok(())
}

/// Everybody who watches: the story and the desktop of each session.
struct Watchers {
    streams: Vec<TcpStream>,
    reading: Vec<JoinHandle<()>>,
}

impl Watchers {
    fn come(service: &Service, live: &[String]) -> Result<Self> {
        let mut watchers = Self { streams: Vec::new(), reading: Vec::new() };
        for path in
            live.iter().flat_map(|id| ["watch", "screen"].map(|what| format!("/api/sessions/{id}/{what}")))
        {
            let mut reader = open_socket(&service.address(), &service.token, &path)?;
            watchers.streams.push(reader.get_ref().try_clone()?);
            watchers.reading.push(std::thread::spawn(move || while let Ok(Some(_)) = frame(&mut reader) {}));
        }
        Ok(watchers)
    }

    fn go(self) {
        for stream in &self.streams {
            stream.shutdown(Shutdown::Both).ok();
        }
        for reading in self.reading {
            reading.join().ok();
        }
    }
}

fn now_ms() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |now| u64::try_from(now.as_millis()).unwrap_or(u64::MAX))
}

/// A part of the time that is measured, with watchers or without.
struct Window {
    is_watched: bool,
    /// From when to when, in milliseconds of the clock of journals.
    begun_ms: u64,
    ended_ms: u64,
    /// How long the steps took that were done in it, in milliseconds.
    steps: Vec<f64>,
}

/// The steps without and with watchers, in windows that alternate.
fn steps(service: &Service, live: &[String], arguments: &PageArguments) -> Result<Vec<Window>> {
    let mut windows = Vec::new();
    for number in 0..arguments.windows.saturating_mul(2) {
        // Without, with, with, without: a drift costs both the same.
        let is_watched = matches!(number % 4, 1 | 2);
        let watchers = is_watched.then(|| Watchers::come(service, live)).transpose()?;
        park_timeout(SETTLE);
        let begun_ms = now_ms();
        park_timeout(Duration::from_secs(arguments.seconds));
        windows.push(Window { is_watched, begun_ms, ended_ms: now_ms(), steps: Vec::new() });
        if let Some(watchers) = watchers {
            watchers.go();
        }
    }
    for id in live {
        for pair in asked_ms(&records(&service.sessions(), id)).windows(2) {
            let [begun, ended] = *pair else { continue };
            let window = windows.iter_mut().find(|it| it.begun_ms <= begun && ended <= it.ended_ms);
            let Some(window) = window else { continue };
            window.steps.push(Duration::from_millis(ended.saturating_sub(begun)).as_secs_f64() * 1e3);
        }
    }
    Ok(windows)
}

/// The mean time of a step with watchers over that without, and the standard error of this ratio: what chance does to it, as far as
/// the windows of a kind differ from each other.
fn ratio(windows: &[Window]) -> (f64, f64) {
    let of = |is_watched: bool| {
        let means = windows.iter().filter(|it| it.is_watched == is_watched && !it.steps.is_empty());
        let means: Vec<f64> = means.map(|it| mean(&it.steps)).collect();
        let (mean, count) = (mean(&means), float(means.len()));
        let spread = means.iter().map(|one| (one - mean).powi(2)).sum::<f64>() / (count - 1.0);
        (mean, spread / count / mean.powi(2))
    };
    let ((without, without_error), (with, with_error)) = (of(false), of(true));
    let ratio = with / without;
    (ratio, ratio * (without_error + with_error).sqrt())
}

fn mean(times: &[f64]) -> f64 {
    times.iter().sum::<f64>() / float(times.len().max(1))
}

fn float(count: usize) -> f64 {
    f64::from(u32::try_from(count).unwrap_or(u32::MAX))
}

type Times = BTreeMap<&'static str, Vec<f64>>;

/// Does each action so often, one after the other, and takes its time in milliseconds.
fn actions(service: &Service, live: &[String], asking: &str, times: usize) -> Result<Times> {
    let mut taken = Times::new();
    for number in 0..times {
        let id = live.get(number % live.len().max(1)).context("no sessions")?;
        let say = json!({"do": "say", "text": format!("word {number}")}).to_string();
        let answer =
            json!({"do": "answer", "id": question(service, asking)?, "answers": ["yes"]}).to_string();
        let last = records(&service.sessions(), id).len();
        let asked = [
            ("home", "GET /".to_owned(), ""),
            ("table as data", "GET /api/sessions?q=earlier".to_owned(), ""),
            ("session", format!("GET /sessions/{id}"), ""),
            ("time line", format!("GET /api/sessions/{id}/moments"), ""),
            ("moment", format!("GET /api/sessions/{id}/moments/{last}"), ""),
            ("say", format!("POST /api/sessions/{id}/do"), say.as_str()),
            ("pause", format!("POST /api/sessions/{id}/do"), r#"{"do": "pause"}"#),
            ("go on", format!("POST /api/sessions/{id}/do"), r#"{"do": "resume"}"#),
            ("answer", format!("POST /api/sessions/{asking}/do"), answer.as_str()),
        ];
        for (name, line, body) in asked {
            let begun = Instant::now();
            let answer = service.asks(&line, body)?;
            let took = begun.elapsed().as_secs_f64() * 1e3;
            ensure!(answer.status < 300 || name == "moment", "{name}: {} {}", answer.status, answer.body);
            taken.entry(name).or_default().push(took);
        }
    }
    Ok(taken)
}

/// The id of what a session asks, once it asks something.
fn question(service: &Service, id: &str) -> Result<Value> {
    let mut reader = open_socket(&service.address(), &service.token, &format!("/api/sessions/{id}/watch"))?;
    while let Some((_, message)) = frame(&mut reader)? {
        let message: Value = serde_json::from_slice(&message)?;
        match message.pointer("/state/prompt/id") {
            Some(id) if !id.is_null() => return Ok(id.clone()),
            Some(_) | None => {}
        }
    }
    bail!("the session that asks has ended")
}

/// Sorts the times, and takes what is of interest.
fn spread(times: &mut [f64]) -> Value {
    times.sort_by(f64::total_cmp);
    let rounded = |time: f64| (time * 10.0).round() / 10.0;
    let at = |percent: usize| {
        let place = times.len().saturating_sub(1).saturating_mul(percent).div_ceil(100);
        times.get(place).copied().map(rounded)
    };
    json!({"times": times.len(), "p50": at(50), "p95": at(95), "max": at(100)})
}

fn figures(arguments: &PageArguments, windows: &[Window], actions: &mut Times) -> Value {
    let mut all: Vec<f64> = actions.values().flatten().copied().collect();
    let mut spreads = serde_json::Map::new();
    for (name, times) in actions {
        spreads.insert((*name).to_owned(), spread(times));
    }
    spreads.insert("all".to_owned(), spread(&mut all));
    let steps = |is_watched: bool| {
        let steps = windows.iter().filter(|it| it.is_watched == is_watched);
        spread(&mut steps.flat_map(|it| &it.steps).copied().collect::<Vec<_>>())
    };
    let (ratio, error) = ratio(windows);
    json!({
        "sessions": arguments.sessions, "live": arguments.live, "load": load(),
        "step_ms": {"without_watchers": steps(false), "with_watchers": steps(true)},
        "ratio_of_means": ratio, "standard_error": error,
        "actions": spreads,
    })
}

/// The load of the machine.
fn load() -> String {
    fs::read_to_string(Path::new("/proc/loadavg")).unwrap_or_default().trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_of_the_slow_side() {
        let mut times: Vec<f64> = (1..=100).rev().map(f64::from).collect();
        assert_eq!(spread(&mut times), json!({"times": 100, "p50": 51.0, "p95": 96.0, "max": 100.0}));
        assert_eq!(spread(&mut [7.0]), json!({"times": 1, "p50": 7.0, "p95": 7.0, "max": 7.0}));
    }

    #[test]
    fn the_error_of_the_ratio_is_that_of_means_of_windows() {
        let window = |is_watched: bool, steps: &[f64]| Window {
            is_watched,
            begun_ms: 0,
            ended_ms: 0,
            steps: steps.to_vec(),
        };
        let windows = [
            window(false, &[98.0, 100.0]),
            window(false, &[101.0]),
            window(true, &[105.0]),
            window(true, &[115.0, 105.0]),
            window(true, &[]),
        ];
        // Means 99 and 101, and 105 and 110: standard errors 1 of 100, and 2.5 of 107.5.
        let (ratio, error) = ratio(&windows);
        assert!((ratio - 1.075).abs() < 1e-9, "{ratio}");
        assert!(
            (error - 1.075 * (0.01_f64.powi(2) + (2.5_f64 / 107.5).powi(2)).sqrt()).abs() < 1e-9,
            "{error}"
        );
    }
}
