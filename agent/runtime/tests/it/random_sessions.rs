//! Randomised sessions: random model replies, user answers, desktop faults and crashes. Each session must end in a typed
//! outcome, with a valid journal that replays equal, within its budgets, and without unapproved actions.
//!
//! Every session is determined by its seed. A failure prints it; `DESKHAND_SEED=17 cargo nextest run -p deskhand-runtime
//! random_sessions` repeats that session and prints its journal.

mod audit;
mod chance;
mod mind;
mod person;
mod world;

use std::{
    collections::{BTreeMap, BTreeSet},
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    sync::{
        Mutex,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use deskhand_desktop_act::ActLimits;
use deskhand_desktop_fake::FakeDesktop;
use deskhand_machine::{
    policy::{Policy, PolicyDecision, PolicyRule},
    prompt::PromptSet,
    provenance::Provenance,
    record::{JournalEntry, JournalRecord},
    session::{Effect, FollowerPlan, RoundLimits, SessionConfig, SessionEvent, StopReason, Verify},
};
use deskhand_runtime::{
    HeldSession, RunEnd, SessionRunOptions, SessionStore, StopSwitch, Toolbox, UnsealedJournalPolicy, Waits,
    agents::EnabledAgents,
    people::{Approvals, People, UserRequest},
    replay, resume, run, verify,
};

use audit::audit;
pub(crate) use chance::Chance;
use mind::RandomModel;
use person::RandomPerson;
use world::Stage;

use crate::{support::tear_last_line, wording::assert_decides_the_same};

const SESSIONS: u64 = 1_000;
/// How many seeds are run twice to check determinism.
const TWICE: u64 = 20;
/// What must happen at least once across all sessions, to prove coverage.
const MUST_HAPPEN: [(&str, &[&str]); 8] = [
    ("outcome", &["finished", "failed", "rejected", "budget_exhausted", "cancelled", "error"]),
    (
        "fault",
        &[
            "stale control",
            "modal dialog opens",
            "delayed window",
            "application vanishes",
            "application does not respond",
            "application responds again",
            "window closes",
            "display gone",
            "model error",
            "failed observation",
            "inert control",
            "disabled control",
            "control that ignores its action",
            "control that fails",
            "control that ignores clicks",
            "slow control",
            "control that goes away",
            "control that renames itself",
        ],
    ),
    (
        "person",
        &[
            "approved",
            "rejected",
            "rejected with an instruction",
            "answered",
            "no answer: TimedOut",
            "no answer: NoChannel",
            "said something",
            "took over",
            "handed back",
        ],
    ),
    ("call", &["free", "approved", "approved for the session"]),
    ("verdict", &["none", "seen", "not_seen", "refused", "unknown"]),
    ("stop", &["User", "Signal", "Model", "WallTime"]),
    ("resumed", &["same desktop", "new desktop"]),
    ("model", &["failure", "nonsense", "silence"]),
];

/// Counts of what happened.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Counts(BTreeMap<(String, String), u64>);

impl Counts {
    fn note(&mut self, kind: &str, what: &str) {
        *self.0.entry((kind.to_owned(), what.to_owned())).or_default() += 1;
    }

    fn add(&mut self, other: &Self) {
        for (key, count) in &other.0 {
            *self.0.entry(key.clone()).or_default() += count;
        }
    }

    fn of(&self, kind: &str, what: &str) -> u64 {
        self.0.get(&(kind.to_owned(), what.to_owned())).copied().unwrap_or(0)
    }
}

/// The panic payload that simulates the death of a process.
struct ProcessEnds;

/// A session of a seed, which may span several processes.
struct Life {
    chance: Chance,
    stage: Stage,
    model: RandomModel,
    person: RandomPerson,
    config: SessionConfig,
    approvals: Approvals,
    converse: bool,
    requests: Vec<UserRequest>,
    store: SessionStore,
    folder: tempfile::TempDir,
    counts: Counts,
    /// The keys of guarded controls that were really pressed.
    pressed: BTreeSet<&'static str>,
    shows_lines: bool,
}

fn never_delete() -> PolicyRule {
    PolicyRule { label: "Delete".to_owned(), ..PolicyRule::new(PolicyDecision::Deny, "nothing is deleted") }
}

fn policy(chance: &mut Chance) -> Policy {
    let fixed = [
        never_delete(),
        PolicyRule { tool: "click_element".to_owned(), ..PolicyRule::new(PolicyDecision::Ask, "it clicks") },
        PolicyRule { label: "Send".to_owned(), ..PolicyRule::new(PolicyDecision::Allow, "") },
    ];
    let tools = ["*", "click_element", "press_keys", "set_value", "launch_application", "type_text"];
    let decisions = [PolicyDecision::Allow, PolicyDecision::Ask, PolicyDecision::Ask, PolicyDecision::Deny];
    let mut rules = Vec::new();
    for _ in 0..chance.below(4) {
        if chance.percent(40) {
            rules.push(chance.pick(&fixed));
        } else {
            rules.push(PolicyRule {
                tool: chance.pick(&tools).to_owned(),
                application: chance.pick(&["*", "*", "Notes", "Mail"]).to_owned(),
                label: chance.pick(&["*", "Save", "Delete", "Send", "OK", "Subject"]).to_owned(),
                ..PolicyRule::new(chance.pick(&decisions), "")
            });
        }
    }
    Policy { rules, safe_guard: chance.percent(80), ..Policy::default() }
}

fn config(chance: &mut Chance) -> SessionConfig {
    let limits = RoundLimits {
        steps_max: chance.pick(&[1, 4, 25, 30, 30, 30]),
        model_calls_max: chance.pick(&[1, 8, 60, 60, 60, 60]),
        tokens_max: chance.pick(&[None, None, None, None, None, Some(5_000)]),
        wall_ms_max: chance.pick(&[None, None, Some(60_000)]),
        repairs_max: chance.pick(&[0, 1, 2]),
        ..RoundLimits::default()
    };
    SessionConfig {
        limits,
        policy: policy(chance),
        verify: chance.pick(&[Verify::Always, Verify::Auto, Verify::Never]),
        ask_questions: chance.percent(85),
        // Encoding pictures dominates the cost of sessions on this desktop.
        pictures: chance.percent(2),
        marks_secret: "random sessions".to_owned(),
        ..SessionConfig::default()
    }
}

fn requests(chance: &mut Chance) -> Vec<UserRequest> {
    let count = 1 + chance.below(2);
    (0..count)
        .map(|_| {
            let object = chance.pick(&[None, Some("Notes"), Some("Mail"), Some("Nothing")]);
            let plan = chance.percent(15).then(|| FollowerPlan {
                object: object.map(ToOwned::to_owned),
                steps: (0..chance.below(4)).map(|step| format!("step {step}")).collect(),
                ..FollowerPlan::of_file(Provenance::Made)
            });
            UserRequest { text: "do what chance wants".to_owned(), plan }
        })
        .collect()
}

impl Life {
    fn new(seed: u64, shows_lines: bool) -> Self {
        let mut chance = Chance::new(seed);
        let config = config(&mut chance);
        let folder = tempfile::tempdir().unwrap();
        Self {
            stage: Stage::new(chance.child()),
            model: RandomModel::new(chance.child(), config.limits.wall_ms_max.is_some()),
            person: RandomPerson::new(chance.child()),
            approvals: chance.pick(&[
                Approvals::Ask,
                Approvals::Ask,
                Approvals::Ask,
                Approvals::All,
                Approvals::None,
            ]),
            converse: chance.percent(25),
            requests: requests(&mut chance),
            store: SessionStore::at(folder.path().join("sessions"), folder.path().join("seals")),
            folder,
            config,
            chance,
            counts: Counts::default(),
            pressed: BTreeSet::new(),
            shows_lines,
        }
    }

    /// Runs one process until it dies or the session ends.
    fn process(&mut self, held: Option<(HeldSession, bool)>, requests: Vec<UserRequest>) -> Option<RunEnd> {
        let runtime =
            tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().unwrap();
        let tools = Toolbox::<FakeDesktop>::standard(ActLimits::default()).unwrap();
        let stop = StopSwitch::new();
        let mut ends_at = self.chance.percent(30).then(|| 1 + self.chance.below(60));
        let mut stops_at = self.chance.percent(15).then(|| 1 + self.chance.below(80));
        let how = self.chance.below(4);
        let mut meddling = self.chance.child();
        let person = &self.person;
        // The session observes the stage, and faults are injected between its lines.
        let desktop = std::mem::replace(&mut self.stage.desktop, FakeDesktop::new([], []));
        let (stage, counts, shows) = (&mut self.stage, &mut self.counts, self.shows_lines);
        let options = SessionRunOptions {
            id: None,
            store: &self.store,
            desktop: &desktop,
            desktop_name: "fake".to_owned(),
            model: &self.model,
            tools: &tools,
            agents: EnabledAgents::default(),
            config: self.config.clone(),
            prompts: PromptSet::default(),
            requests,
            people: people(&self.person, self.converse, self.approvals),
            stop: stop.clone(),
            waits: Waits::default(),
            ranker: None,
            retrieve: None,
            program: "test".to_owned(),
            setup: serde_json::Value::Null,
        };
        let mut observer = |line: &JournalEntry| {
            if shows {
                eprintln!("{}", shown(line));
            }
            stage.meddle(&desktop, line, counts);
            person.meddles(&mut meddling);
            if let Some(left) = &mut ends_at {
                *left -= 1;
                if *left == 0 {
                    resume_unwind(Box::new(ProcessEnds));
                }
            }
            if let Some(left) = &mut stops_at {
                *left -= 1;
                if *left == 0 {
                    match how {
                        0 => stop.now(StopReason::User),
                        1 => stop.now(StopReason::Signal),
                        2 => stop.cancel(StopReason::Signal),
                        _ => stop.cancel(StopReason::User),
                    }
                    stops_at = None;
                }
            }
        };
        let work = async {
            match held {
                None => run(options, &mut observer).await.unwrap(),
                Some((held, kept)) => resume(held, kept, options, &mut observer).await.unwrap(),
            }
        };
        let ended = catch_unwind(AssertUnwindSafe(|| runtime.block_on(work)));
        self.stage.desktop = desktop;
        match ended {
            Ok(end) => Some(end),
            Err(payload) if payload.is::<ProcessEnds>() => None,
            Err(payload) => resume_unwind(payload),
        }
    }

    /// Starts the next process, perhaps with a truncated last line or on a new desktop.
    fn take_up(&mut self) -> (HeldSession, bool, Vec<UserRequest>) {
        let folder = self.store.find("last").unwrap();
        if self.chance.percent(40) {
            tear_last_line(&folder);
        }
        let mut known = 0;
        let held = HeldSession::take(folder, UnsealedJournalPolicy::Refuse, &mut |line| {
            known += usize::from(is_request(line));
        })
        .unwrap();
        let kept = self.chance.percent(60);
        if !kept {
            self.close_stage();
            self.stage = Stage::new(self.chance.child());
        }
        let rest = self.requests.iter().skip(known).cloned().collect();
        (held, kept, rest)
    }

    /// Records what really happened on a desktop.
    fn close_stage(&mut self) {
        let truth = self.stage.desktop.truth();
        for (key, id) in &self.stage.guarded {
            if truth.iter().any(|truth| truth.element == Some(*id)) {
                self.pressed.insert(key);
            }
        }
    }
}

fn is_request(line: &JournalEntry) -> bool {
    matches!(&line.record, JournalRecord::Event(record) if matches!(record.event, SessionEvent::Requested { .. }))
}

fn shown(line: &JournalEntry) -> String {
    let text = serde_json::to_string(&line.record).unwrap();
    format!("{:>4} {}", line.seq, deskhand_ui::text::clip(&text, 400))
}

/// Runs the session of a seed and checks its invariants. Returns what happened and the requested effects.
fn session(seed: u64, shows_lines: bool) -> (Counts, Vec<Effect>) {
    let mut life = Life::new(seed, shows_lines);
    let mut ended = life.process(None, life.requests.clone());
    let end = loop {
        if let Some(end) = ended.filter(|end| end.suspended.is_none()) {
            break end;
        }
        let (held, kept, rest) = life.take_up();
        ended = life.process(Some((held, kept)), rest);
    };
    life.close_stage();

    let journal = end.folder.read().unwrap();
    assert_eq!(journal.problems, []);
    assert_eq!(verify(&end.folder).unwrap().findings, []);
    let prompts = end.folder.prompts(&journal.header.prompts_sha256).unwrap();
    assert_decides_the_same(&journal.header.config, &prompts, &journal.lines);
    let replayed = replay(&journal, prompts);
    assert_eq!(replayed.difference, None, "the replay differs");
    assert!(replayed.complete, "the session did not end");
    let rounds = journal.lines.iter().any(is_request);
    assert_eq!(end.outcome.is_some(), rounds, "every request has an outcome");
    audit(&journal.lines, &life.config, &mut life.counts);
    life.counts.add(&life.model.counts());
    check_truth(&mut life);
    let effects = journal.lines.iter().filter_map(|line| match &line.record {
        JournalRecord::Effect(record) => Some(record.effect.clone()),
        JournalRecord::Header(_) | JournalRecord::Event(_) | JournalRecord::Changed(_) => None,
    });
    let effects = effects.collect();
    drop(life.folder);
    (life.counts, effects)
}

/// Checks the real state of the desktops, independently of the journal.
fn check_truth(life: &mut Life) {
    let policy = &life.config.policy;
    let approved = life.counts.of("person", "approved");
    let allows = policy.rules.iter().any(|rule| rule.decision == PolicyDecision::Allow);
    if policy.safe_guard && !allows && approved == 0 {
        assert_eq!(life.pressed, BTreeSet::new(), "unapproved actions were performed");
    }
    if policy.rules.first() == Some(&never_delete()) {
        assert!(!life.pressed.contains("delete"), "denied actions were performed");
        life.counts.note("truth", "session in which Delete is denied");
    }
    if !life.pressed.is_empty() {
        life.counts.note("truth", "session in which a guarded control was pressed");
    }
}

/// Runs all sessions concurrently; returns the counts, or the seeds that failed.
fn run_all() -> Result<Counts, Vec<u64>> {
    let next = AtomicU64::new(1);
    let (all, failed) = (Mutex::new(Counts::default()), Mutex::new(Vec::new()));
    let threads = std::thread::available_parallelism().map_or(2, usize::from).min(8);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed > SESSIONS {
                        break;
                    }
                    match catch_unwind(|| session(seed, /*shows_lines*/ false)) {
                        Ok((counts, _)) => all.lock().unwrap().add(&counts),
                        Err(_) => failed.lock().unwrap().push(seed),
                    }
                }
            });
        }
    });
    let mut failed = failed.into_inner().unwrap();
    failed.sort_unstable();
    if failed.is_empty() { Ok(all.into_inner().unwrap()) } else { Err(failed) }
}

#[test]
fn random_sessions_keep_all_invariants() {
    if let Ok(seed) = std::env::var("DESKHAND_SEED") {
        let (counts, _) = session(seed.parse().unwrap(), /*shows_lines*/ true);
        eprintln!("{counts:#?}");
        return;
    }
    let counts = run_all().unwrap_or_else(|seeds| {
        panic!("failed seeds; repeat one with DESKHAND_SEED={}: {seeds:?}", seeds[0])
    });
    for ((kind, what), count) in &counts.0 {
        println!("{kind:>10} {what:<34} {count:>7}");
    }
    for (kind, all) in MUST_HAPPEN {
        for what in all {
            assert!(counts.of(kind, what) > 0, "never happened in {SESSIONS} sessions: {kind} {what}");
        }
    }
}

#[test]
fn random_sessions_are_deterministic() {
    for seed in 1..=TWICE {
        let (first, second) = (session(seed, /*shows_lines*/ false), session(seed, /*shows_lines*/ false));
        assert_eq!(first.0, second.0, "seed {seed}");
        let differs = first.1.iter().zip(&second.1).position(|(a, b)| a != b);
        assert_eq!((differs, first.1.len()), (None, second.1.len()), "seed {seed}");
    }
}

fn people(channel: &RandomPerson, converse: bool, approvals: Approvals) -> People<'_> {
    People {
        channel,
        converse,
        approvals,
        question_timeout: Some(Duration::from_secs(30)),
        approval_timeout: Some(Duration::from_secs(30)),
        pause: channel.pause.clone(),
        hands: None,
    }
}
