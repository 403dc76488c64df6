//! The target is renamed, replaced, moved or covered between what was judged and what is done; the log of the
//! application tells what was acted on.
//!
//! What changed before the action began is never acted on. What changes while it runs is counted, apart by whether it came before the
//! input, as the X server told a process of its own: see the limits in `docs/internals/gate.md`. `DESKHAND_RACES` sets how many races are run in all, in every toolkit.

use std::{
    collections::BTreeMap,
    path::Path,
    process::Stdio,
    sync::{Arc, Mutex},
};

use deskhand_desktop::LaunchRequest;
use deskhand_desktop_act as act;
use deskhand_desktop_act::ActLimits;
use deskhand_desktop_linux::{LinuxDesktop, VirtualOptions};
use deskhand_machine::{
    command::{CallResult, ToolCommand},
    intent::{JudgedElement, JudgementBasis, read},
    policy::Policy,
};
use deskhand_runtime::Toolbox;
use deskhand_testkit::fixture::{Fixture, Screen, Toolkit};
use deskhand_ui::{
    ElementQuery, WindowInfo,
    action::{Condition, Verdict},
    geometry::Size,
};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt as _, BufReader},
    process::{Child, Command},
    task::JoinSet,
};

use crate::fixture_tools::has_programs;

/// How many races a run has that was not told.
const RACES: u64 = 30;
/// A race during the action comes at most this long after its start, in milliseconds.
const DURING_MS: u64 = 120;
const KINDS: [&str; 4] = ["rename", "replace", "move", "cover"];
/// A change that comes less than this before the input comes too late for any look, in milliseconds.
const UNTOLD_MS: i64 = 1;
const BOUND: std::time::Duration = std::time::Duration::from_secs(30);

/// When the application changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Moment {
    /// After the judgement and before the action.
    Before,
    /// While the action runs.
    During,
}

/// What came of the races of one kind.
#[derive(Debug, Default)]
struct Counts {
    races: u32,
    /// Acted on something else than what was judged, although that had changed before the input.
    wrong: u32,
    /// The same where it changed after the input had gone out.
    later: u32,
    /// Acted on what was judged.
    right: u32,
    verdicts: BTreeMap<&'static str, u32>,
}

struct Stage {
    desktop: LinuxDesktop,
    fixture: Fixture,
    window: WindowInfo,
    tools: Toolbox<LinuxDesktop>,
    /// When inputs went out, in nanoseconds of the monotonic clock.
    inputs: Arc<Mutex<Vec<u64>>>,
    /// Prints them, and who reads that; both end with the stage.
    _observer: (Child, JoinSet<()>),
}

/// Starts a process that sees the inputs as the X server passes them on, and collects their times.
fn observe(desktop: &LinuxDesktop, inputs: Arc<Mutex<Vec<u64>>>) -> (Child, JoinSet<()>) {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/actions/suite/observer.py");
    let mut command = Command::new("/usr/bin/python3");
    command.arg("-B").arg(script).arg(desktop.accessibility_address().unwrap()).env_clear();
    command.envs(desktop.environment().variables()).stdin(Stdio::null()).stdout(Stdio::piped());
    // It complains when the display ends.
    command.stderr(Stdio::null()).kill_on_drop(true);
    let mut observer = command.spawn().unwrap();
    let mut lines = BufReader::new(observer.stdout.take().unwrap()).lines();
    let mut reading = JoinSet::new();
    reading.spawn(async move {
        while let Ok(Some(line)) = lines.next_line().await {
            if let Some(ns) = line.strip_prefix("input ").and_then(|ns| ns.trim().parse().ok()) {
                inputs.lock().unwrap().push(ns);
            }
        }
    });
    (observer, reading)
}

impl Stage {
    async fn start(toolkit: Toolkit) -> Option<Self> {
        if !has_programs(&[toolkit.needs()]) {
            return None;
        }
        let size = Size { width: 1280, height: 900 };
        let options = VirtualOptions { size, ..VirtualOptions::default() };
        let desktop = LinuxDesktop::start_virtual(options).await.unwrap();
        let fixture = Fixture::prepare(toolkit, Screen::Teeth).await.unwrap();
        let request =
            LaunchRequest { program: fixture.program().to_owned(), arguments: fixture.arguments().to_vec() };
        let launched = act::launch(&desktop, &request, &ActLimits::default()).await.unwrap();
        let window = launched.window.clone().unwrap_or_else(|| panic!("{}", launched.summary()));
        fixture.ready().await.unwrap();
        let inputs = Arc::new(Mutex::new(Vec::new()));
        let observer = observe(&desktop, Arc::clone(&inputs));
        let tools = Toolbox::standard(ActLimits::default()).unwrap();
        Some(Self { desktop, fixture, window, tools, inputs, _observer: observer })
    }

    async fn tell(&self, command: &str, with: Value) {
        self.fixture.ask(command, with).await.unwrap();
    }

    /// What is judged: the target under its first name.
    async fn judged(&self) -> JudgementBasis {
        self.tell("reset", json!({})).await;
        let wanted = ElementQuery::named("Keep");
        let shows = Condition::Appears(wanted.clone());
        let shown = act::wait_for(&self.desktop, self.window.id, &shows, BOUND).await.unwrap();
        assert_eq!(shown.effect(), Verdict::Seen, "{}", shown.summary());
        let found = act::find_element(&self.desktop, self.window.id, &wanted).await.unwrap();
        let (surface, element) = found.unwrap();
        let (id, role, name) = (element.id, element.role, element.name);
        JudgementBasis {
            names: vec![name.clone()],
            elements: vec![JudgedElement {
                id,
                role,
                name,
                window: surface.id,
                drawn: false,
                in_page: false,
            }],
            application: self.window.app.name.clone(),
            application_root: self.window.app.root.clone(),
            pid: self.window.app.pid,
            ..JudgementBasis::default()
        }
    }

    /// Clicks what was judged.
    async fn click(&self, judged: JudgementBasis) -> CallResult {
        let id = judged.elements[0].id.to_string();
        let mut command = ToolCommand {
            tool: "click_element".to_owned(),
            arguments: json!({ "id": id, "name": "Keep" }).as_object().cloned().unwrap(),
            window: Some(self.window.id),
            judged: Some(Box::new(judged)),
            ..ToolCommand::default()
        };
        read(&mut command, &self.tools.app_specs()).unwrap();
        let policy = Policy { safe_guard: false, ..Policy::default() };
        self.tools.run(&self.desktop, &command, &policy).await
    }

    /// One race; returns whether anything else was acted on.
    async fn race(
        &self,
        kind: &str,
        moment: Moment,
        after_ms: u64,
        counts: &mut Counts,
    ) -> Option<(String, bool)> {
        let judged = self.judged().await;
        let mark = self.fixture.mark();
        self.tell("race", json!({ "kind": kind, "after_ms": after_ms })).await;
        if moment == Moment::Before {
            self.fixture.happens(mark, |entry| entry.event == "raced").await.unwrap();
        }
        self.inputs.lock().unwrap().clear();
        let result = self.click(judged).await;
        let raced = self.fixture.happens(mark, |entry| entry.event == "raced").await.unwrap();
        // Its answer comes after all it has logged.
        self.fixture.state().await.unwrap();
        let clicks: Vec<_> =
            self.fixture.since(mark).into_iter().filter(|entry| entry.event == "clicked").collect();
        let wrong = clicks.iter().find(|entry| !entry.effect);
        let pressed = self.inputs.lock().unwrap().first().copied();
        // Before the input by so much, in milliseconds.
        let before_ms = pressed.zip(raced.at_ns).map(|(pressed, raced)| {
            let ns = i64::try_from(pressed).unwrap() - i64::try_from(raced).unwrap();
            ns / 1_000_000
        });
        let is_later = before_ms.is_some_and(|before| before < UNTOLD_MS);
        counts.races += 1;
        counts.wrong += u32::from(wrong.is_some() && !is_later);
        counts.later += u32::from(wrong.is_some() && is_later);
        counts.right += u32::from(wrong.is_none() && !clicks.is_empty());
        let verdict = result.effect.unwrap_or(Verdict::Unknown).word();
        *counts.verdicts.entry(verdict).or_default() += 1;
        let wrong = wrong?;
        let line = format!(
            "{kind} {before_ms:?} ms before the input: clicked {}: {}",
            wrong.value,
            result.summary()
        );
        Some((line, is_later))
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_changed_since_it_was_judged_is_not_acted_on() {
    let told = std::env::var("DESKHAND_RACES").ok().map(|text| text.parse::<u64>().unwrap());
    let races = told.unwrap_or(RACES);
    let toolkits = if told.is_some() { Toolkit::ALL.to_vec() } else { vec![Toolkit::Gtk3, Toolkit::Qt] };
    let share = races.div_ceil(toolkits.len() as u64);
    let mut all = BTreeMap::<(Moment, &str), Counts>::new();
    let mut wrong = Vec::new();
    for toolkit in toolkits {
        let Some(stage) = Stage::start(toolkit).await else { return };
        for number in 0..share {
            let kind = KINDS[usize::try_from(number % 4).unwrap()];
            // Steps without a common divisor with the bound spread the moments evenly.
            let (moment, after_ms) = match number / 4 % 2 {
                0 => (Moment::Before, 0),
                _ => (Moment::During, number * 37 % DURING_MS),
            };
            let counts = all.entry((moment, kind)).or_default();
            if let Some((line, is_later)) = stage.race(kind, moment, after_ms, counts).await {
                println!("{toolkit}, {moment:?}: {line}");
                if !is_later {
                    assert_ne!(moment, Moment::Before, "the last look came after the change: {line}");
                    wrong.push(line);
                }
            }
        }
        stage.desktop.shut_down().await;
    }
    for ((moment, kind), counts) in &all {
        println!("{moment:?} {kind}: {counts:?}");
    }
    println!("{} of {races} races acted on the wrong thing", wrong.len());
    let played: u32 = all.values().map(|counts| counts.races).sum();
    assert!(u64::from(played) >= races, "only {played} of {races} races were run");
    // What changes during the last look, some milliseconds before the input, cannot always be told; it is counted.
}
