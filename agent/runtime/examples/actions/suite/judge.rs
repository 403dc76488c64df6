//! Plays single actions on an application, times them, and judges their verdicts by an oracle.

use std::time::{Duration, Instant};

use deskhand_desktop::IdleWait as _;
use deskhand_machine::{
    command::{CallResult, CallStatus, ToolCommand},
    policy::Policy,
};
use deskhand_testkit::fixture::{Entry, Fixture};
use deskhand_ui::{action::Verdict, ids::WindowId};
use serde_json::{Value, json};

use super::{Failure, stage::Stage};

/// How often the oracle looks for what is saved or shown late, and how long it waits in between.
const LOOKS_MAX: usize = 8;
const LOOK: Duration = Duration::from_millis(250);

/// An action that takes longer hangs; every wait in the product has a shorter bound.
const HANGS: Duration = Duration::from_secs(100);

/// What an oracle is asked about an action.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Truth {
    /// A control of the fixture has this value.
    State(&'static str, Value),
    /// The fixture logged this event of a control.
    Event(&'static str, &'static str),
    /// A command of the fixture returns this.
    Command(&'static str, Value, Value),
    /// The oracle process answers this question with this.
    Oracle(Value, Value),
    /// The oracle process answers this question with a text that contains this.
    Contains(Value, String),
    /// The document is this text, once the oracle has saved it.
    File(String),
    /// The document on disk is this text already.
    Saved(String),
    /// The output of the tool contains this.
    Output(String),
    /// Nothing happens, so that `seen` is wrong.
    Nothing,
    /// Nobody can tell.
    Unjudged,
}

/// One action.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Deed {
    pub(crate) tool: &'static str,
    pub(crate) arguments: Value,
    pub(crate) truth: Truth,
    /// The names that a change which proves it may be about.
    pub(crate) concerns: Vec<String>,
    /// Whether `unknown` is right, as for a password.
    pub(crate) blind: bool,
    /// Whether it belongs to the `HostAgent`.
    pub(crate) host: bool,
}

impl Deed {
    pub(crate) fn new(tool: &'static str, arguments: Value, truth: Truth) -> Self {
        Self { tool, arguments, truth, concerns: Vec::new(), blind: false, host: false }
    }

    /// What a change that proves it may be about.
    pub(crate) fn about(mut self, names: &[&str]) -> Self {
        self.concerns = names.iter().map(|name| (*name).to_owned()).collect();
        self
    }

    /// Its effect cannot be read.
    pub(crate) const fn blind(mut self) -> Self {
        self.blind = true;
        self
    }

    /// It is a tool of the `HostAgent`.
    pub(crate) const fn host(mut self) -> Self {
        self.host = true;
        self
    }
}

/// What came of one action.
#[derive(Debug, Clone)]
pub(crate) struct Done {
    pub(crate) application: &'static str,
    pub(crate) tool: &'static str,
    pub(crate) verdict: &'static str,
    /// `false_seen`, `missed`, `unrelated_seen`, or none.
    pub(crate) wrong: Option<&'static str>,
    /// Whether an oracle could tell.
    pub(crate) judged: bool,
    pub(crate) begun: Instant,
    pub(crate) ended: Instant,
    /// What the fixture logged, in nanoseconds of the monotonic clock.
    pub(crate) logged: Vec<u64>,
    /// How much later than its first effect the last one comes, as the fixture says, in milliseconds.
    pub(crate) later_ms: u64,
    /// How long a `wait` was asked to take, in milliseconds; 0 for other tools.
    pub(crate) asked_ms: f64,
    /// Processor time of the application during the action.
    pub(crate) processor_ms: u64,
    pub(crate) line: String,
    /// What it did beyond what was meant.
    pub(crate) damage: Option<String>,
}

/// Plays actions on one application.
pub(crate) struct Player<'a> {
    pub(crate) stage: &'a mut Stage,
    pub(crate) application: &'static str,
    pub(crate) done: Vec<Done>,
    /// Actions that could not be played, by what was not there.
    pub(crate) skipped: Vec<String>,
}

impl Player<'_> {
    /// The id of an element; its absence is noted.
    pub(crate) async fn id(&mut self, name: &str) -> Result<Option<String>, Failure> {
        let found = self.stage.named(name).await?.map(|element| element.id.to_string());
        if found.is_none() {
            self.skipped.push(format!("{}: no element {name:?}", self.application));
        }
        Ok(found)
    }

    /// Notes that the last action did more than was meant, such as two clicks for one.
    pub(crate) fn damaged(&mut self, what: &str) {
        if let Some(last) = self.done.last_mut() {
            eprintln!("damage: {}: {what}", last.line);
            last.damage = Some(what.to_owned());
        }
    }

    /// Plays an action in the window of the application.
    pub(crate) async fn play(&mut self, deed: Deed) -> Result<CallResult, Failure> {
        let window = (!deed.host).then_some(self.stage.window.id);
        self.play_in(window, deed).await
    }

    /// Plays an action in a window.
    pub(crate) async fn play_in(
        &mut self,
        window: Option<WindowId>,
        deed: Deed,
    ) -> Result<CallResult, Failure> {
        let arguments = deed.arguments.as_object().cloned().unwrap_or_default();
        let command = ToolCommand { tool: deed.tool.to_owned(), arguments, window, ..ToolCommand::default() };
        let held = self.holds(&deed.truth, None).await.unwrap_or(false);
        let mark = self.stage.fixture.as_ref().map_or(0, Fixture::mark);
        let processor = self.processor_ms();
        let begun = Instant::now();
        let policy = Policy { safe_guard: false, ..Policy::default() };
        let running = self.stage.tools.run(&self.stage.desktop, &command, &policy);
        let result = tokio::time::timeout(HANGS, running).await;
        let result = result.map_err(|_| format!("hangs: {}", command.to_line()))?;
        let ended = Instant::now();
        let processor_ms = self.processor_ms().saturating_sub(processor);
        let verdict = result.effect.unwrap_or(match result.status {
            CallStatus::Success => Verdict::Seen,
            CallStatus::Failure | CallStatus::Skipped => Verdict::NotSeen,
        });
        let truth = if deed.truth == Truth::Unjudged {
            Ok(None)
        } else if matches!(deed.truth, Truth::Event(..) | Truth::Nothing) {
            self.logged(&deed.truth, mark).await.map(Some)
        } else {
            self.holds(&deed.truth, Some(&result)).await.map(Some)
        };
        // UNO may be missing; a fixture that does not answer has broken.
        let truth = match truth {
            Err(error) if self.stage.fixture.is_none() => {
                self.skipped.push(format!("{}: no oracle: {error}", self.application));
                None
            }
            truth => truth?,
        };
        let wrong = truth.and_then(|truth| wrong(&deed, &result, verdict, truth, held));
        let entries = self.stage.fixture.as_ref().map(|fixture| fixture.since(mark)).unwrap_or_default();
        let line = format!(
            "{} {} {}: {}: {} | truth {truth:?}{}",
            self.application,
            deed.tool,
            deed.arguments,
            verdict.word(),
            result.summary(),
            told(&deed.truth, &entries),
        );
        if let Some(wrong) = wrong {
            eprintln!("{wrong}: {line}");
        }
        self.done.push(Done {
            application: self.application,
            tool: deed.tool,
            verdict: verdict.word(),
            wrong,
            judged: truth.is_some(),
            begun,
            ended,
            logged: entries.iter().filter_map(|entry| entry.at_ns).collect(),
            later_ms: entries.iter().filter_map(|entry| entry.delay_ms).max().unwrap_or_default(),
            asked_ms: deed.arguments["seconds"].as_f64().filter(|_| deed.tool == "wait").unwrap_or_default()
                * 1e3,
            processor_ms,
            damage: twice(&deed.truth, &entries),
            line,
        });
        Ok(result)
    }

    /// Whether the fixture logged the event after `mark`; for [`Truth::Nothing`], never.
    async fn logged(&self, truth: &Truth, mark: usize) -> Result<bool, Failure> {
        let Truth::Event(control, event) = truth else { return Ok(false) };
        let fixture = self.stage.fixture.as_ref().ok_or("no fixture")?;
        // Its answer comes after all it has logged.
        fixture.state().await?;
        Ok(fixture.since(mark).iter().any(|entry| entry.control == *control && entry.event == *event))
    }

    /// Whether what was meant holds; `result` is none before the action.
    async fn holds(&mut self, truth: &Truth, result: Option<&CallResult>) -> Result<bool, Failure> {
        let fixture = || self.stage.fixture.as_ref().ok_or("no fixture");
        match truth {
            Truth::State(control, wanted) => Ok(equal(&fixture()?.state().await?[*control], wanted)),
            Truth::Command(command, with, wanted) => {
                Ok(equal(&fixture()?.ask(command, with.clone()).await?, wanted))
            }
            Truth::Oracle(question, wanted) => {
                for _ in 0..LOOKS_MAX {
                    if equal(&self.stage.oracle.ask(question).await?, wanted) {
                        return Ok(true);
                    }
                    if result.is_none() {
                        break;
                    }
                    self.wait().await?;
                }
                Ok(false)
            }
            Truth::Contains(question, part) => {
                let answer = self.stage.oracle.ask(question).await?;
                let text = answer.as_str().map_or_else(|| answer.to_string(), str::to_owned);
                Ok(text.contains(part.as_str()))
            }
            Truth::File(text) => {
                if result.is_some() {
                    self.stage.oracle.ask(&json!({ "ask": "press", "key": "s" })).await?;
                }
                self.reads(text, result.is_some()).await
            }
            Truth::Saved(text) => self.reads(text, false).await,
            Truth::Output(part) => {
                Ok(result.is_some_and(|result| result.output.to_string().contains(part.as_str())))
            }
            Truth::Event(..) | Truth::Nothing => Ok(false),
            Truth::Unjudged => Err("nobody can tell".into()),
        }
    }

    /// Whether the document on disk is this text; editors may end it with a line break.
    async fn reads(&self, text: &str, patiently: bool) -> Result<bool, Failure> {
        for _ in 0..LOOKS_MAX {
            let found = std::fs::read_to_string(&self.stage.file).unwrap_or_default();
            if found.trim_end_matches('\n') == text.trim_end_matches('\n') {
                return Ok(true);
            }
            if !patiently {
                break;
            }
            self.wait().await?;
        }
        Ok(false)
    }

    /// Waits for the next change of the window, for a moment at most.
    async fn wait(&self) -> Result<(), Failure> {
        use deskhand_desktop::QuietLimits;
        let watch = self.stage.desktop.watch(Some(self.stage.window.id)).await?;
        let limits = QuietLimits { first_change: LOOK, bound: LOOK, ..QuietLimits::default() };
        self.stage.desktop.settle(watch, limits).await?;
        Ok(())
    }

    /// The processor time that the application has used.
    fn processor_ms(&self) -> u64 {
        const TICK_MS: u64 = 10;
        let times = || {
            let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.stage.window.app.pid?)).ok()?;
            // The name of the program may contain spaces.
            let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
            let ticks = |at: usize| fields.get(at).and_then(|ticks| ticks.parse::<u64>().ok());
            Some(ticks(11)? + ticks(12)?)
        };
        times().unwrap_or_default() * TICK_MS
    }
}

/// One click acts once.
fn twice(truth: &Truth, entries: &[Entry]) -> Option<String> {
    let Truth::Event(control, "clicked") = truth else { return None };
    let is_it = |entry: &&Entry| entry.control == *control && entry.event == "clicked";
    let clicks = entries.iter().filter(is_it).count();
    (clicks > 1).then(|| format!("one action clicked {clicks} times"))
}

/// What the fixture logged, where the oracle is its log.
fn told(truth: &Truth, entries: &[Entry]) -> String {
    if !matches!(truth, Truth::State(..) | Truth::Event(..) | Truth::Nothing | Truth::Command(..)) {
        return String::new();
    }
    let told: Vec<String> = entries
        .iter()
        .map(|one| format!("{} {} {} {}", one.control, one.event, one.effect, one.value))
        .collect();
    format!(", logged {told:?}")
}

/// What is wrong with a verdict. `held` says that what was meant held before the action.
fn wrong(
    deed: &Deed,
    result: &CallResult,
    verdict: Verdict,
    truth: bool,
    held: bool,
) -> Option<&'static str> {
    match verdict {
        Verdict::Seen if !truth => Some("false_seen"),
        Verdict::Seen if !is_related(deed, result) => Some("unrelated_seen"),
        Verdict::Unknown | Verdict::NotSeen | Verdict::Refused if truth && !held && !deed.blind => {
            Some("missed")
        }
        Verdict::Seen | Verdict::NotSeen | Verdict::Refused | Verdict::Unknown => None,
    }
}

/// Returns `true` if a proof is about what was meant: a state that was read back always is; a change must name what the action
/// concerns.
fn is_related(deed: &Deed, result: &CallResult) -> bool {
    /// Proofs by a change.
    const BY_CHANGE: &[&str] = &["changed", "window_opened", "window_closed", "title_changed", "gone"];
    let about_change = |proof: &Value| proof["proof"].as_str().is_some_and(|kind| BY_CHANGE.contains(&kind));
    let actions = result.report.actions().iter().map(|action| json!(action.evidence));
    let mut proofs =
        actions.filter(|evidence| evidence["verdict"] == "seen").map(|mut seen| seen["proof"].take());
    deed.concerns.is_empty()
        || proofs.all(|proof| {
            !about_change(&proof) || texts(&proof).iter().any(|text| names(&deed.concerns, text))
        })
}

fn names(concerns: &[String], text: &str) -> bool {
    concerns.iter().any(|concern| text.contains(concern.as_str()))
}

/// All texts inside of a value.
fn texts(value: &Value) -> Vec<String> {
    match value {
        Value::String(text) => vec![text.clone()],
        Value::Array(values) => values.iter().flat_map(texts).collect(),
        Value::Object(fields) => fields.values().flat_map(texts).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) => Vec::new(),
    }
}

/// Returns `true` if two values are equal; numbers by value.
fn equal(one: &Value, other: &Value) -> bool {
    match (one.as_f64(), other.as_f64()) {
        (Some(one), Some(other)) => (one - other).abs() < 0.01,
        (_, _) => one == other,
    }
}
