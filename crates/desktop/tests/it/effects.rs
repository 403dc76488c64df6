//! Verdicts against the truth: random actions on controls that work, on controls that do not, and beside things that
//! change by themselves, in four toolkits. The applications tell what truly happened.
//!
//! `DESKHAND_EFFECT_ACTIONS` sets how many actions each run takes in all, `DESKHAND_EFFECT_LANES` how many desktops of
//! each toolkit run side by side, `DESKHAND_EFFECT_JSON` a file for the counts.

use std::{collections::BTreeMap, fmt::Write as _};

use deskhand_core::{
    command::Verdict,
    ids::ElementId,
    ui::{Element, Role},
};
use deskhand_desktop::{
    UiTree,
    act::{self, ActLimits, ActionReport, Click, NewValue, Route, Target, TypeText},
};
use deskhand_testkit::fixture::{Entry, Screen, Toolkit};
use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::fixtures::{Stage, outline};

/// A small generator (splitmix64), so that a run can be repeated from its seed.
struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((mixed ^ (mixed >> 31)) % u64::try_from(bound).unwrap()).unwrap()
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }
}

/// What is done to a control.
#[derive(Debug, Clone, Copy)]
enum Deed {
    Click,
    Check,
    Type,
    Select,
    Adjust,
}

const CONTROLS: &[(&str, Deed)] = &[
    ("Count", Deed::Click),
    ("Inert", Deed::Click),
    ("Weather 0", Deed::Click),
    ("Moody", Deed::Click),
    ("Rename me", Deed::Click),
    ("Disable me", Deed::Click),
    ("Disabled", Deed::Click),
    ("Ask", Deed::Click),
    ("Later self", Deed::Click),
    ("Later label", Deed::Click),
    ("Later dialog", Deed::Click),
    ("Later still", Deed::Click),
    ("Covered", Deed::Click),
    ("Moving", Deed::Click),
    ("Agree", Deed::Check),
    ("Stuck", Deed::Check),
    ("Late tick", Deed::Check),
    ("Name", Deed::Type),
    ("Upper", Deed::Type),
    ("Deaf", Deed::Type),
    ("Swallow", Deed::Type),
    ("Size", Deed::Select),
    ("Stuck size", Deed::Select),
    ("Volume", Deed::Adjust),
    ("Stuck volume", Deed::Adjust),
];

/// What came of a run.
#[derive(Debug, Default)]
struct Counts {
    actions: u32,
    false_seen: u32,
    missed_seen: u32,
    verdicts: BTreeMap<String, BTreeMap<&'static str, u32>>,
    complaints: Vec<String>,
}

impl Counts {
    fn add(&mut self, other: Self) {
        self.actions += other.actions;
        self.false_seen += other.false_seen;
        self.missed_seen += other.missed_seen;
        for (control, verdicts) in other.verdicts {
            for (verdict, count) in verdicts {
                *self.verdicts.entry(control.clone()).or_default().entry(verdict).or_default() += count;
            }
        }
        self.complaints.extend(other.complaints);
    }

    fn count(
        &mut self,
        (what, control): (&str, &str),
        report: &ActionReport,
        (truth, happened): (bool, bool),
        told: &[Entry],
    ) {
        self.actions += 1;
        *self.verdicts.entry(control.to_owned()).or_default().entry(report.effect.word()).or_default() += 1;
        let wrong = if report.effect == Verdict::Seen && !truth {
            self.false_seen += 1;
            "false seen"
        } else if report.effect != Verdict::Seen && truth && happened {
            self.missed_seen += 1;
            "missed"
        } else {
            return;
        };
        let told: Vec<String> =
            told.iter().map(|one| format!("{} {} {}", one.control, one.event, one.effect)).collect();
        self.complaints.push(format!("{wrong}: {what}: {}: {} | {told:?}", report.effect, report.summary));
    }

    fn to_json(&self) -> Value {
        json!({ "actions": self.actions, "false_seen": self.false_seen, "missed_seen": self.missed_seen })
    }
}

/// The ids of the controls by the names that they have at the start.
async fn controls(stage: &Stage) -> BTreeMap<String, Element> {
    let tree = stage.tree().await;
    let mut combos = tree.elements.iter().filter(|element| element.role == Role::COMBO_BOX);
    let mut found = BTreeMap::new();
    for (name, deed) in CONTROLS {
        let element = match deed {
            // Qt calls a combo box by what it shows.
            Deed::Select => combos.next(),
            Deed::Click | Deed::Check | Deed::Type | Deed::Adjust => {
                let word = name.split(' ').next().unwrap();
                tree.elements.iter().find(|element| {
                    let exact = element.name == *name;
                    (exact || (*name == "Weather 0" && element.name.starts_with(word)))
                        && element.role.is_interactive()
                })
            }
        };
        let element = element.unwrap_or_else(|| panic!("no {name} in\n{}", outline(&tree)));
        found.insert((*name).to_owned(), element.clone());
    }
    found
}

async fn act_once(stage: &Stage, dice: &mut Dice, known: &BTreeMap<String, Element>, counts: &mut Counts) {
    const WORDS: &[&str] = &["north", "sea salt", "apple 7", "grüße", "東京 x"];
    const OPTIONS: &[&str] = &["Small", "Medium", "Large"];
    let (desktop, window, limits) = (&stage.desktop, stage.window.id, ActLimits::default());
    let (control, deed) = dice.pick(CONTROLS);
    let id: ElementId = known[control].id;
    let ask = |command: &'static str, with: Value| stage.fixture.ask(command, with);
    if control == "Swallow" {
        ask("swallow", json!({})).await.unwrap();
    }
    let name = desktop.element(id).await.ok().map(|element| element.name);
    let before = stage.fixture.state().await.unwrap();
    let mark = stage.fixture.mark();
    let (report, wanted) = match deed {
        Deed::Click => {
            let click = Click::once(Target::Element { id, name: name.clone() });
            (act::click(desktop, window, &click, &limits).await, None)
        }
        Deed::Check => {
            let on = before[control] != json!(true);
            (act::set_checked(desktop, window, id, name.as_deref(), on, &limits).await, Some(json!(on)))
        }
        Deed::Type => {
            let text = dice.pick(WORDS).to_owned();
            let request = TypeText { element: Some(id), name: name.clone(), text: text.clone(), clear: true };
            (act::type_text(desktop, window, &request, &limits).await, Some(json!(text)))
        }
        Deed::Select => {
            let option = dice.pick(OPTIONS);
            (act::select(desktop, window, id, option, &limits).await, Some(json!(option)))
        }
        Deed::Adjust => {
            let value = f64::from(u32::try_from(dice.below(11)).unwrap());
            let new = NewValue::Number(value);
            (act::set_value(desktop, window, id, name.as_deref(), &new, &limits).await, Some(json!(value)))
        }
    };
    let report =
        report.unwrap_or_else(|error| ActionReport::new(Verdict::Unknown, Route::None, error.chain()));
    let state = stage.fixture.state().await.unwrap();
    let told = stage.fixture.since(mark);
    let own = |entry: &Entry| entry.effect && control.starts_with(&entry.control);
    let truth = match &wanted {
        Some(wanted) => match (wanted.as_f64(), state[control].as_f64()) {
            (Some(wanted), Some(found)) => (wanted - found).abs() < 0.01,
            (_, _) => state[control] == *wanted,
        },
        None => told.iter().any(own),
    };
    let what = format!("{deed:?} {control} ({wanted:?})");
    // What was so before and was not touched is no effect that could be missed.
    counts.count((&what, control), &report, (truth, told.iter().any(own)), &told);
    // What is late comes before the next action begins.
    if told.iter().any(|entry| entry.delay_ms.is_some() && entry.event == "clicked") {
        stage.fixture.happens(mark, |entry| entry.event == "late").await.unwrap();
    }
    match control {
        "Ask" | "Later dialog" => drop(ask("close", json!({})).await.unwrap()),
        "Disable me" | "Later still" => drop(ask("enable", json!({ "control": control })).await.unwrap()),
        _ => {}
    }
}

async fn run(toolkit: Toolkit, seed: u64, actions: u32) -> Counts {
    let mut counts = Counts::default();
    let Some(stage) = Stage::start(toolkit, Screen::Faults).await else { return counts };
    let known = controls(&stage).await;
    let mut dice = Dice(seed);
    for _ in 0..actions {
        act_once(&stage, &mut dice, &known, &mut counts).await;
    }
    for complaint in &mut counts.complaints {
        *complaint = format!("{toolkit}, seed {seed}: {complaint}");
    }
    let verdicts = std::mem::take(&mut counts.verdicts);
    counts.verdicts =
        verdicts.into_iter().map(|(name, verdicts)| (format!("{toolkit} {name}"), verdicts)).collect();
    stage.desktop.shut_down().await;
    counts
}

fn number(variable: &str, default: u32) -> u32 {
    std::env::var(variable).map_or(default, |text| text.parse().unwrap())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_effect_is_seen_that_did_not_happen_and_none_is_missed() {
    let actions = number("DESKHAND_EFFECT_ACTIONS", 0);
    if actions == 0 {
        println!("not run: DESKHAND_EFFECT_ACTIONS sets how many actions to take");
        return;
    }
    let lanes = number("DESKHAND_EFFECT_LANES", 1);
    let seed = u64::from(number("DESKHAND_EFFECT_SEED", 1));
    let only = std::env::var("DESKHAND_EFFECT_TOOLKIT").ok();
    let toolkits: Vec<Toolkit> = Toolkit::ALL
        .into_iter()
        .filter(|toolkit| only.as_ref().is_none_or(|only| toolkit.to_string().contains(only)))
        .collect();
    let share = actions.div_ceil(lanes * u32::try_from(toolkits.len()).unwrap());
    let mut running = JoinSet::new();
    for toolkit in toolkits {
        for lane in 0..lanes {
            running.spawn(run(toolkit, seed * 1_000 + u64::from(lane), share));
        }
    }
    let mut counts = Counts::default();
    while let Some(one) = running.join_next().await {
        counts.add(one.unwrap());
    }
    let mut table = String::new();
    for (control, verdicts) in &counts.verdicts {
        writeln!(table, "{control:28} {verdicts:?}").unwrap();
    }
    println!("{table}{}\n{}", counts.complaints.join("\n"), counts.to_json());
    if let Ok(file) = std::env::var("DESKHAND_EFFECT_JSON") {
        std::fs::write(file, json!({ "effects": counts.to_json() }).to_string()).unwrap();
    }
    assert_eq!((counts.false_seen, counts.missed_seen), (0, 0), "{}", counts.complaints.join("\n"));
}
