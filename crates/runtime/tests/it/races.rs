//! The target is renamed, replaced, moved or covered between what was judged and what is done; the log of the
//! application tells what was acted on.
//!
//! What changed before the action began is never acted on. What changes while it runs is counted: see the limits in
//! `docs/internals/gate.md`. `DESKHAND_RACES` sets how many races are run in all, in every toolkit.

use std::collections::BTreeMap;

use deskhand_core::{
    action::Condition,
    command::{CallResult, Command, Verdict},
    geometry::Size,
    intent::{Judged, JudgedElement, read},
    policy::Policy,
    ui::{Wanted, WindowInfo},
};
use deskhand_desktop::LaunchRequest;
use deskhand_desktop_act as act;
use deskhand_desktop_act::ActLimits;
use deskhand_desktop_linux::{LinuxDesktop, VirtualOptions};
use deskhand_runtime::Toolbox;
use deskhand_testkit::fixture::{Fixture, Screen, Toolkit};
use serde_json::{Value, json};

use crate::fixture_tools::has_programs;

/// How many races a run has that was not told.
const RACES: u64 = 30;
/// A race during the action comes at most this long after its start, in milliseconds.
const DURING_MS: u64 = 120;
const KINDS: [&str; 4] = ["rename", "replace", "move", "cover"];
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
    /// Acted on something else than what was judged.
    wrong: u32,
    /// Acted on what was judged.
    right: u32,
    verdicts: BTreeMap<&'static str, u32>,
}

struct Stage {
    desktop: LinuxDesktop,
    fixture: Fixture,
    window: WindowInfo,
    tools: Toolbox<LinuxDesktop>,
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
        Some(Self { desktop, fixture, window, tools: Toolbox::standard(ActLimits::default()).unwrap() })
    }

    async fn tell(&self, command: &str, with: Value) {
        self.fixture.ask(command, with).await.unwrap();
    }

    /// What is judged: the target under its first name.
    async fn judged(&self) -> Judged {
        self.tell("reset", json!({})).await;
        let wanted = Wanted::named("Keep");
        let shows = Condition::Appears(wanted.clone());
        let shown = act::wait_for(&self.desktop, self.window.id, &shows, BOUND).await.unwrap();
        assert_eq!(shown.effect(), Verdict::Seen, "{}", shown.summary());
        let found = act::find_element(&self.desktop, self.window.id, &wanted).await.unwrap();
        let (surface, element) = found.unwrap();
        let (id, role, name) = (element.id, element.role, element.name);
        Judged {
            names: vec![name.clone()],
            elements: vec![JudgedElement { id, role, name, window: surface.id, drawn: false }],
            application: self.window.app.name.clone(),
            application_root: self.window.app.root.clone(),
            pid: self.window.app.pid,
            approved: false,
        }
    }

    /// Clicks what was judged.
    async fn click(&self, judged: Judged) -> CallResult {
        let id = judged.elements[0].id.to_string();
        let mut command = Command {
            tool: "click_element".to_owned(),
            arguments: json!({ "id": id, "name": "Keep" }).as_object().cloned().unwrap(),
            window: Some(self.window.id),
            judged: Some(Box::new(judged)),
            ..Command::default()
        };
        read(&mut command, &self.tools.app_specs()).unwrap();
        let policy = Policy { safe_guard: false, ..Policy::default() };
        self.tools.run(&self.desktop, &command, &policy).await
    }

    /// One race; returns whether anything else was acted on.
    async fn race(&self, kind: &str, moment: Moment, after_ms: u64, counts: &mut Counts) -> Option<String> {
        let judged = self.judged().await;
        let mark = self.fixture.mark();
        self.tell("race", json!({ "kind": kind, "after_ms": after_ms })).await;
        if moment == Moment::Before {
            self.fixture.happens(mark, |entry| entry.event == "raced").await.unwrap();
        }
        let result = self.click(judged).await;
        self.fixture.happens(mark, |entry| entry.event == "raced").await.unwrap();
        // Its answer comes after all it has logged.
        self.fixture.state().await.unwrap();
        let clicks: Vec<_> =
            self.fixture.since(mark).into_iter().filter(|entry| entry.event == "clicked").collect();
        let wrong = clicks.iter().find(|entry| !entry.effect);
        counts.races += 1;
        counts.wrong += u32::from(wrong.is_some());
        counts.right += u32::from(wrong.is_none() && !clicks.is_empty());
        let verdict = result.effect.unwrap_or(Verdict::Unknown).word();
        *counts.verdicts.entry(verdict).or_default() += 1;
        let wrong = wrong?;
        Some(format!("{kind} after {after_ms} ms: clicked {}: {}", wrong.value, result.summary()))
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
            if let Some(line) = stage.race(kind, moment, after_ms, counts).await {
                let line = format!("{toolkit}, {moment:?}: {line}");
                println!("{line}");
                assert_ne!(moment, Moment::Before, "the last look came after the change: {line}");
                wrong.push(line);
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
    // What changes within the millisecond between the last look and the input cannot be told; it is counted.
}
