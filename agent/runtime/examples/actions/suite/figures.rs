//! The counts and times of all actions, as JSON.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{judge::Done, observer::Observer, stage::Application};

/// An action over this is listed with what the application was doing.
const SLOW_MS: f64 = 1_000.0;

/// The times of some actions.
#[derive(Debug, Default)]
struct Times {
    ms: Vec<f64>,
    over_ms: Vec<f64>,
    verdicts: BTreeMap<&'static str, u32>,
}

/// Everything measured.
#[derive(Debug, Default)]
pub(crate) struct Measured {
    all: Times,
    by_tool: BTreeMap<&'static str, Times>,
    by_application: BTreeMap<&'static str, Times>,
    by_toolkit: BTreeMap<&'static str, u32>,
    wrong: BTreeMap<&'static str, Vec<String>>,
    damage: Vec<String>,
    judged: u32,
    slow: Vec<Value>,
    /// Applications that are not installed.
    pub(crate) missing: Vec<Value>,
    /// What was not there to act on.
    pub(crate) skipped: Vec<String>,
    /// Why applications were started again.
    pub(crate) restarts: Vec<String>,
    load_before: Option<f64>,
    /// Whether every action is printed with its times.
    pub(crate) tells_all: bool,
}

/// The load average of the last minute.
fn load() -> Option<f64> {
    std::fs::read_to_string("/proc/loadavg").ok()?.split(' ').next()?.parse().ok()
}

impl Times {
    fn add(&mut self, ms: f64, over_ms: f64, verdict: &'static str) {
        self.ms.push(ms);
        self.over_ms.push(over_ms);
        *self.verdicts.entry(verdict).or_default() += 1;
    }

    fn to_json(&self) -> Value {
        json!({
            "count": self.ms.len(),
            "p50_ms": share(&self.ms, 50),
            "p90_ms": share(&self.ms, 90),
            "over_p50_ms": share(&self.over_ms, 50),
            "over_p90_ms": share(&self.over_ms, 90),
        })
    }

    fn with_verdicts(&self) -> Value {
        let mut value = self.to_json();
        value["verdicts"] = json!(self.verdicts);
        value
    }
}

/// The value that `percent` of the values do not exceed, rounded to tenths.
fn share(values: &[f64], percent: usize) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let at = (sorted.len().saturating_sub(1) * percent).div_ceil(100);
    (sorted.get(at).copied().unwrap_or_default() * 10.0).round() / 10.0
}

impl Measured {
    /// Begins to measure.
    pub(crate) fn start() -> Self {
        Self { load_before: load(), ..Self::default() }
    }

    /// Adds an action.
    pub(crate) fn add(&mut self, application: &Application, observer: &Observer, done: Done) {
        let ms = done.ended.duration_since(done.begun).as_secs_f64() * 1e3;
        let spent = observer.spent(&done);
        let over_ms = (ms - spent.own_ms - done.asked_ms).max(0.0);
        let by_tool = self.by_tool.entry(done.tool).or_default();
        let by_application = self.by_application.entry(done.application).or_default();
        for times in [&mut self.all, by_tool, by_application] {
            times.add(ms, over_ms, done.verdict);
        }
        *self.by_toolkit.entry(application.toolkit).or_default() += 1;
        self.judged += u32::from(done.judged);
        if self.tells_all {
            eprintln!("{ms:6.0} ms, {over_ms:6.0} over: {}", done.line);
        }
        if ms > SLOW_MS {
            self.slow.push(json!({
                "ms": ms.round(),
                "own_ms": spent.own_ms.round(),
                "over_ms": over_ms.round(),
                "inputs": spent.inputs,
                "changes": spent.changes,
                "processor_ms": done.processor_ms,
                "action": done.line,
            }));
        }
        if let Some(damage) = done.damage {
            self.damage.push(format!("{}: {damage}", done.line));
        }
        if let Some(wrong) = done.wrong {
            self.wrong.entry(wrong).or_default().push(done.line);
        }
    }

    /// The results.
    pub(crate) fn to_json(&self) -> Value {
        let mut actions = self.all.to_json();
        let all: f64 = self.all.ms.iter().sum();
        let slow: f64 = self.all.ms.iter().filter(|ms| **ms > SLOW_MS).sum();
        actions["over_1s_share"] = json!((slow / all.max(1.0) * 1e4).round() / 1e4);
        let by = |times: &BTreeMap<&'static str, Times>| -> BTreeMap<&'static str, Value> {
            times.iter().map(|(name, times)| (*name, times.with_verdicts())).collect()
        };
        let count = |kind: &str| self.wrong.get(kind).map_or(0, Vec::len);
        let mut skipped = BTreeMap::<&str, u32>::new();
        for one in &self.skipped {
            *skipped.entry(one).or_default() += 1;
        }
        json!({
            "actions": actions,
            "by_tool": by(&self.by_tool),
            "by_application": by(&self.by_application),
            "by_toolkit": self.by_toolkit,
            "false_seen": count("false_seen"),
            "missed": count("missed"),
            "unrelated_seen": count("unrelated_seen"),
            "damage": self.damage,
            "judged": self.judged,
            "wrong": self.wrong,
            "slow": self.slow,
            "skipped": skipped,
            "restarts": self.restarts,
            "not_installed": self.missing,
            "load": { "before": self.load_before, "after": load() },
        })
    }
}
