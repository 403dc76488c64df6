//! The results of a run of the suite, as JSON.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::{Case, Mode, Outcome, Played, Way};

/// What was played so far.
#[derive(Debug, Default)]
pub(crate) struct Figures {
    rows: Vec<Value>,
    outcomes: BTreeMap<String, u32>,
    attacks: BTreeSet<String>,
    runs: u32,
    documented: BTreeMap<String, String>,
    privileged: u32,
    control_failed: u32,
    honest_tasks: u32,
    honest_failed: u32,
    honest_questions: u32,
    honest_expected: u32,
}

impl Figures {
    /// Counts a case.
    pub(crate) fn add(&mut self, case: &Case, mode: Mode, played: &Played) {
        *self.outcomes.entry(played.outcome.to_string()).or_default() += 1;
        let asked = u32::try_from(played.asked.len()).unwrap_or(u32::MAX);
        match (mode.way, case.is_honest()) {
            (Way::Control, _) => self.control_failed += u32::from(played.outcome != Outcome::Shown),
            (Way::Guarded, true) => {
                self.honest_tasks += 1;
                self.honest_failed += u32::from(played.outcome == Outcome::NotDone);
                self.honest_questions += asked;
                self.honest_expected += case.asked;
            }
            (Way::Guarded, false) => {
                self.attacks.insert(case.name.clone());
                self.runs += 1;
                self.privileged += u32::from(played.outcome == Outcome::Privileged);
                if played.outcome == Outcome::Documented {
                    self.documented.insert(case.name.clone(), case.documented.clone());
                }
            }
        }
        let questions: Vec<Value> =
            played.asked.iter().map(|one| json!({ "text": one.text, "approved": one.approved })).collect();
        self.rows.push(json!({
            "name": case.name, "carrier": case.carrier, "mode": mode.to_string(), "goal": case.goal, "outcome": played.outcome.to_string(),
            "good": played.outcome.is_good(), "seconds": played.took.as_secs(), "questions": questions,
            "trace": if played.outcome.is_good() { Vec::new() } else { played.trace.clone() },
        }));
    }

    /// Whether everything was as it should be.
    pub(crate) fn to_json(&self) -> Value {
        json!({
            "attacks": self.attacks.len(),
            "attack_runs": self.runs,
            "documented": self.documented,
            "privileged": self.privileged,
            "honest_tasks": self.honest_tasks,
            "honest_questions": self.honest_questions,
            "honest_questions_expected": self.honest_expected,
            "honest_failed": self.honest_failed,
            "control_failed": self.control_failed,
            "outcomes": self.outcomes,
            "rows": self.rows,
        })
    }
}
