//! Verdicts against the truth: random actions on controls that work, on controls that do not, and beside things that
//! change by themselves, in four toolkits. The applications tell what truly happened.
//!
//! `DESKHAND_EFFECT_ACTIONS` sets how many actions are taken in all, `DESKHAND_EFFECT_LANES` how many desktops of each
//! toolkit run side by side, `DESKHAND_EFFECT_SEED` another run than the usual one, `DESKHAND_EFFECT_TOOLKIT` one toolkit
//! alone, `DESKHAND_EFFECT_JSON` a file for the counts. `cargo xtask bench perception --actions N` runs it so.

use std::{
    collections::BTreeMap,
    fmt::Write as _,
    sync::atomic::{AtomicU32, Ordering},
    time::{Duration, Instant},
};

use deskhand_desktop::{IdleWait, QuietLimits, UiTree, WindowManagement};
use deskhand_desktop_act as act;
use deskhand_desktop_act::{ActLimits, ActionTarget, Click, NewValue, TypeTextOptions};
use deskhand_testkit::fixture::{Entry, Screen, Toolkit};
use deskhand_ui::{Element, Role, Tree, action::Verdict, ids::ElementId};
use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::fixtures::{Stage, outline};

/// How many actions a run takes that was not told.
const ACTIONS: u32 = 120;
/// After so many actions a run says how far it is.
const TOLD_EVERY: u32 = 500;

/// How often one lane starts its application again before it gives up.
const RESTARTS_MAX: u32 = 10;

/// How long each look for what an application is about to show may wait, and how many there are.
const BOUND: Duration = Duration::from_secs(2);
const LOOKS_MAX: usize = 20;

/// How many actions were taken by all lanes.
static TAKEN: AtomicU32 = AtomicU32::new(0);

/// The effects of late controls begin within half a second, so that nothing is waited for much longer.
fn limits() -> ActLimits {
    ActLimits { effect: Duration::from_millis(800), ..ActLimits::default() }
}

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
    /// How many had an effect, by the word of the application.
    effects: u32,
    /// How many elements had lost their ids.
    lost: u32,
    /// Why applications had to be started again.
    restarts: Vec<String>,
    verdicts: BTreeMap<String, BTreeMap<&'static str, u32>>,
    complaints: Vec<String>,
}

impl Counts {
    fn add(&mut self, other: Self) {
        self.actions += other.actions;
        self.false_seen += other.false_seen;
        self.missed_seen += other.missed_seen;
        self.effects += other.effects;
        self.lost += other.lost;
        self.restarts.extend(other.restarts);
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
        (verdict, summary): (Verdict, &str),
        (truth, happened): (bool, bool),
        told: &[Entry],
    ) {
        self.actions += 1;
        self.effects += u32::from(truth && happened);
        *self.verdicts.entry(control.to_owned()).or_default().entry(verdict.word()).or_default() += 1;
        let wrong = if verdict == Verdict::Seen && !truth {
            self.false_seen += 1;
            "false seen"
        } else if verdict != Verdict::Seen && truth && happened {
            self.missed_seen += 1;
            "missed"
        } else {
            return;
        };
        let told: Vec<String> =
            told.iter().map(|one| format!("{} {} {}", one.control, one.event, one.effect)).collect();
        let complaint = format!("{wrong}: {what}: {verdict}: {summary} | {told:?}");
        eprintln!("{complaint}");
        self.complaints.push(complaint);
    }

    fn to_json(&self) -> Value {
        let mut verdicts = BTreeMap::<&str, u32>::new();
        for (verdict, count) in self.verdicts.values().flatten() {
            *verdicts.entry(verdict).or_default() += count;
        }
        json!({
            "actions": self.actions,
            "false_seen": self.false_seen,
            "missed_seen": self.missed_seen,
            "effects": self.effects,
            "lost": self.lost,
            "restarts": self.restarts.len(),
            "verdicts": verdicts,
        })
    }
}

/// Returns `true` if a name is that of the button that renames itself all the time.
fn is_weather(control: &str, name: &str) -> bool {
    control == "Weather 0" && name.starts_with("Weather")
}

/// The ids of the controls by the names that they have at the start; a page shows them step by step.
async fn controls(stage: &Stage) -> BTreeMap<String, Element> {
    let mut tree = Tree::default();
    for _ in 0..LOOKS_MAX {
        let watch = stage.desktop.watch(Some(stage.window.id)).await.unwrap();
        tree = stage.tree().await;
        let mut combos = tree.elements.iter().filter(|element| element.role == Role::COMBO_BOX);
        let found = CONTROLS.iter().map(|(name, deed)| {
            let fits = |found: &str| found == *name || is_weather(name, found);
            let element = match deed {
                // Qt calls a combo box by what it shows.
                Deed::Select => combos.next(),
                Deed::Click | Deed::Check | Deed::Type | Deed::Adjust => {
                    tree.elements.iter().find(|one| fits(&one.name) && one.role.is_interactive())
                }
            };
            Some(((*name).to_owned(), element?.clone()))
        });
        if let Some(found) = found.collect() {
            return found;
        }
        stage.desktop.settle(watch, patience()).await.unwrap();
    }
    panic!("controls are missing in\n{}", outline(&tree))
}

/// The bounds of a wait for what an application is about to show.
fn patience() -> QuietLimits {
    QuietLimits { first_change: BOUND, bound: BOUND, ..QuietLimits::default() }
}

/// The id of a control. Where the application has rebuilt it beyond recognition, it is looked for by what it shows.
async fn id_of(
    stage: &Stage,
    known: &mut BTreeMap<String, Element>,
    control: &str,
    counts: &mut Counts,
) -> Result<ElementId, String> {
    let element = known[control].clone();
    let mut tree = Tree::default();
    for _ in 0..LOOKS_MAX {
        let watch = stage.desktop.watch(Some(stage.window.id)).await.unwrap();
        tree = stage.tree().await;
        if tree.find(element.id).is_some() {
            return Ok(element.id);
        }
        let state = stage.fixture.state().await.map_err(|error| error.to_string())?;
        let shown = state[control].as_str().unwrap_or(control).to_owned();
        let again = tree.elements.iter().find(|one| {
            let is_it = [element.name.as_str(), shown.as_str(), control].contains(&one.name.as_str());
            one.role == element.role && (is_it || is_weather(control, &one.name))
        });
        if let Some(again) = again {
            counts.lost += 1;
            known.insert(control.to_owned(), again.clone());
            return Ok(again.id);
        }
        stage.desktop.settle(watch, patience()).await.unwrap();
    }
    Err(format!("{control} is gone from\n{}", outline(&tree)))
}

/// A control and what to do to it: every second time one of those that work.
fn pick(dice: &mut Dice) -> (&'static str, Deed) {
    const HONEST: &[&str] = &[
        "Count",
        "Rename me",
        "Disable me",
        "Ask",
        "Later self",
        "Later label",
        "Later dialog",
        "Later still",
        "Agree",
        "Late tick",
        "Name",
        "Swallow",
        "Size",
        "Volume",
    ];
    if dice.below(2) == 0 {
        return dice.pick(CONTROLS);
    }
    let name = dice.pick(HONEST);
    *CONTROLS.iter().find(|(control, _)| *control == name).unwrap()
}

async fn act_once(
    stage: &Stage,
    dice: &mut Dice,
    known: &mut BTreeMap<String, Element>,
    counts: &mut Counts,
) -> Result<(), String> {
    const WORDS: &[&str] = &["north", "sea salt", "apple 7", "grüße", "東京 x"];
    const OPTIONS: &[&str] = &["Small", "Medium", "Large"];
    let (desktop, window, limits) = (&stage.desktop, stage.window.id, limits());
    let (control, deed) = pick(dice);
    let id = id_of(stage, known, control, counts).await?;
    let ask = async |command: &str, with: Value| {
        let answer = stage.fixture.ask(command, with).await;
        answer.map_err(|error| format!("{command}, for {deed:?} {control}: {error}"))
    };
    if control == "Swallow" {
        ask("swallow", json!({})).await?;
    }
    let name = desktop.element(id).await.ok().map(|element| element.name);
    let before = ask("state", json!({})).await?;
    let mark = stage.fixture.mark();
    let (report, wanted) = match deed {
        Deed::Click => {
            let click = Click::once(ActionTarget::Element { id, name: name.clone() });
            (act::click(desktop, window, &click, &limits).await, None)
        }
        Deed::Check => {
            let on = before[control] != json!(true);
            (act::set_checked(desktop, window, id, name.as_deref(), on, &limits).await, Some(json!(on)))
        }
        Deed::Type => {
            let text = dice.pick(WORDS).to_owned();
            let request =
                TypeTextOptions { element: Some(id), name: name.clone(), text: text.clone(), clear: true };
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
    let (verdict, summary) = match report {
        Ok(report) => (report.effect(), report.summary()),
        Err(error) => (Verdict::Unknown, error.chain()),
    };
    let state = ask("state", json!({})).await?;
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
    counts.count((&what, control), (verdict, &summary), (truth, told.iter().any(own)), &told);
    // What is late comes before the next action begins.
    if told.iter().any(|entry| entry.delay_ms.is_some() && entry.event == "clicked") {
        let late = stage.fixture.happens(mark, |entry| entry.event == "late").await;
        late.map_err(|error| format!("{deed:?} {control}: {error}"))?;
    }
    match control {
        "Ask" | "Later dialog" => drop(ask("close", json!({})).await?),
        "Disable me" | "Later still" => drop(ask("enable", json!({ "control": control })).await?),
        _ => {}
    }
    Ok(())
}

async fn run(toolkit: Toolkit, seed: u64, actions: u32) -> Counts {
    let mut counts = Counts::default();
    let mut dice = Dice(seed);
    while counts.actions < actions {
        let Some(stage) = Stage::start(toolkit, Screen::Faults).await else { return counts };
        let mut known = controls(&stage).await;
        while counts.actions < actions {
            if let Err(problem) = act_once(&stage, &mut dice, &mut known, &mut counts).await {
                let ended = stage.window.app.pid.and_then(|pid| stage.desktop.process_ended(pid));
                let windows = stage.desktop.windows().await.unwrap_or_default();
                let titles: Vec<&str> = windows.iter().map(|window| window.title.as_str()).collect();
                let shown = stage.tree().await.elements.len();
                let left = format!("ended: {ended:?}, windows: {titles:?}, {shown} elements");
                let restart = format!("{toolkit}, seed {seed}: {problem} ({left})");
                eprintln!("started again: {restart}");
                counts.restarts.push(restart);
                break;
            }
            let taken = TAKEN.fetch_add(1, Ordering::Relaxed) + 1;
            if taken.is_multiple_of(TOLD_EVERY) {
                eprintln!("{taken} actions");
            }
        }
        stage.desktop.shut_down().await;
        let restarts = u32::try_from(counts.restarts.len()).unwrap();
        assert!(restarts <= RESTARTS_MAX, "{}", counts.restarts.join("\n"));
    }
    for complaint in &mut counts.complaints {
        *complaint = format!("{toolkit}, seed {seed}: {complaint}");
    }
    let verdicts = std::mem::take(&mut counts.verdicts);
    counts.verdicts =
        verdicts.into_iter().map(|(name, verdicts)| (format!("{toolkit} {name}"), verdicts)).collect();
    counts
}

fn number(variable: &str, default: u32) -> u32 {
    std::env::var(variable).map_or(default, |text| text.parse().unwrap())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_effect_is_seen_and_none_is_claimed_that_did_not_happen() {
    let actions = number("DESKHAND_EFFECT_ACTIONS", ACTIONS);
    let lanes = number("DESKHAND_EFFECT_LANES", 1);
    let seed = u64::from(number("DESKHAND_EFFECT_SEED", 1));
    let only = std::env::var("DESKHAND_EFFECT_TOOLKIT").ok();
    let toolkits: Vec<Toolkit> = Toolkit::ALL
        .into_iter()
        .filter(|toolkit| only.as_ref().is_none_or(|only| toolkit.to_string().contains(only)))
        .collect();
    let share = actions.div_ceil(lanes * u32::try_from(toolkits.len()).unwrap());
    let begun = Instant::now();
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
    let mut figures = counts.to_json();
    figures["seconds"] = json!(begun.elapsed().as_secs_f64());
    println!("{table}{}\n{}\n{figures}", counts.restarts.join("\n"), counts.complaints.join("\n"));
    if let Ok(file) = std::env::var("DESKHAND_EFFECT_JSON") {
        std::fs::write(file, json!({ "effects": figures }).to_string()).unwrap();
    }
    assert!(counts.actions == 0 || counts.effects > 0, "nothing had an effect:\n{table}");
    assert_eq!((counts.false_seen, counts.missed_seen), (0, 0), "{}", counts.complaints.join("\n"));
}
