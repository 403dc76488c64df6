//! Timings of the store for a benchmark.

use std::{path::Path, time::Instant};

use serde::Serialize;

use super::{
    error::ExperienceError,
    model::{Experience, ExperienceKind, ExperienceOutcome, FailedApproach, Uses},
    store::ExperienceStore,
};
use crate::clock::now_ms;

/// Number of measured look-ups.
const LOOK_UPS: usize = 100;
/// Actions of the experiences.
const ACTIONS: [&str; 8] = ["sort", "filter", "format", "export", "rename", "chart", "merge", "translate"];
/// Objects of the actions.
const THINGS: [&str; 10] = [
    "rows",
    "columns",
    "invoices",
    "pictures",
    "slides",
    "folders",
    "bookmarks",
    "messages",
    "tables",
    "headings",
];
/// Applications of the experiences.
const APPLICATIONS: [&str; 5] = ["calc", "writer", "firefox", "gimp", "nautilus"];

/// Measurements, times in microseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct ExperienceBenchmark {
    /// Number of experiences.
    pub experiences: usize,
    /// To add all in one step, index included.
    pub add_all_us: u128,
    /// To add one more.
    pub add_us: u128,
    /// To open the store and look up for the first time.
    pub first_look_up_us: u128,
    /// The median look-up.
    pub look_up_median_us: u128,
    /// The slowest look-up.
    pub look_up_max_us: u128,
}

/// Fills a store in an empty folder with experiences, and measures.
///
/// # Errors
/// The store cannot be used.
pub fn measure(folder: &Path, count: usize) -> Result<ExperienceBenchmark, ExperienceError> {
    let store = ExperienceStore::open(folder)?;
    let began = Instant::now();
    store.add_all((0..count).map(sample).collect())?;
    let add_all_us = began.elapsed().as_micros();
    let began = Instant::now();
    store.add(sample(count))?;
    let add_us = began.elapsed().as_micros();
    let began = Instant::now();
    let store = ExperienceStore::open(folder)?;
    store.find("sort the invoices", Some("calc"), 5)?;
    let first_look_up_us = began.elapsed().as_micros();
    let mut times = Vec::new();
    for number in 0..LOOK_UPS {
        let wanted = sample(number * 97).request;
        let began = Instant::now();
        store.find(&wanted, Some("calc"), 5)?;
        times.push(began.elapsed().as_micros());
    }
    times.sort_unstable();
    Ok(ExperienceBenchmark {
        experiences: store.list()?.len(),
        add_all_us,
        add_us,
        first_look_up_us,
        look_up_median_us: times.get(LOOK_UPS / 2).copied().unwrap_or_default(),
        look_up_max_us: times.last().copied().unwrap_or_default(),
    })
}

/// An experience for tests and measurements; each number gives another request.
#[must_use]
pub fn sample(number: usize) -> Experience {
    let pick =
        |list: &'static [&'static str], at: usize| list.get(at % list.len()).copied().unwrap_or_default();
    let (action, thing) = (pick(&ACTIONS, number), pick(&THINGS, number / 8));
    let application = pick(&APPLICATIONS, number / 80);
    let name = word(number);
    let outcome = if number % 7 == 3 { ExperienceOutcome::Failed } else { ExperienceOutcome::Worked };
    Experience {
        version: 1,
        id: format!("sample-{number}"),
        session: format!("session-{number}"),
        at_ms: now_ms(),
        request: format!("{action} the {thing} of project {name} in {application}"),
        applications: vec![application.to_owned()],
        agent: "app".to_owned(),
        plan: vec![
            format!("Open the {thing} of {name}"),
            format!("Use the menu to {action} them"),
            "Save".to_owned(),
        ],
        steps: (0..6)
            .map(|step| format!("step {step}: click `{}` in the {thing} panel", word(number * 31 + step)))
            .collect(),
        worked: vec![format!("the menu Data had the command to {action}")],
        failed: vec![FailedApproach {
            what: format!("typing {name} into the search"),
            why: "the field was disabled".to_owned(),
        }],
        outcome,
        kind: ExperienceKind::Session,
        workflow: None,
        uses: Uses::default(),
    }
}

/// A word of letters for each number.
fn word(number: usize) -> String {
    let mut rest = number;
    let mut word = String::from("q");
    loop {
        let letter = u8::try_from(rest % 26).unwrap_or_default();
        word.push(char::from(b'a' + letter));
        rest /= 26;
        if rest == 0 {
            return word;
        }
    }
}
