//! The figures of the bench, and the lines that are printed.

use serde_json::{Value, json};

use super::{
    drift::{Drifted, Ending},
    home::Ran,
    trial::{Judged, Trial},
};

/// The part of the first run's framework time that a second run may take besides the application's own time.
const FRAMEWORK_SHARE: f64 = 1.0 / 3.0;

/// All that was measured.
#[derive(Debug, Clone, Default)]
pub(super) struct Figures {
    pub(super) trials: Vec<Trial>,
    pub(super) drifts: Vec<Drifted>,
    /// The load of the machine before and after.
    pub(super) load: [f64; 2],
}

impl Figures {
    fn second_runs_right(&self) -> usize {
        self.count_right(Trial::second)
    }

    /// The questions to models in all second runs.
    fn second_run_calls(&self) -> u64 {
        self.trials.iter().filter_map(Trial::second).map(|second| second.ran.summary.model_calls).sum()
    }

    fn count(&self, ending: Ending) -> usize {
        self.drifts.iter().filter(|drift| drift.ending == ending).count()
    }

    fn wrong_elements(&self) -> usize {
        self.drifts.iter().map(|drift| drift.wrong.len()).sum()
    }

    fn count_right(&self, run: impl Fn(&Trial) -> Option<&Judged>) -> usize {
        self.trials.iter().filter(|trial| run(trial).is_some_and(|judged| judged.right)).count()
    }

    fn upgraded_right(&self) -> usize {
        self.count_right(|trial| trial.upgraded.as_ref())
    }

    fn translated_right(&self) -> usize {
        self.count_right(|trial| trial.translated.as_ref())
    }

    fn all_runs_right(&self) -> bool {
        self.trials
            .iter()
            .all(|trial| !trial.again.is_empty() && trial.again.iter().all(|judged| judged.right))
    }

    /// The median over the tasks of [`time_ratio`].
    fn time_ratio(&self) -> Option<f64> {
        median(
            self.trials
                .iter()
                .filter_map(|trial| time_ratio(&trial.first.ran, &trial.second()?.ran))
                .collect(),
        )
    }

    /// The time of the second run over that of the first, without the answers of the model; the median over the tasks.
    fn second_over_first(&self) -> Option<f64> {
        let share = |trial: &Trial| {
            let first = trial.first.ran.summary.framework_ms;
            (first > 0.0).then_some(trial.second()?.ran.summary.framework_ms / first)
        };
        median(self.trials.iter().filter_map(share).collect())
    }

    /// What keeps it from being a proof; empty if it is one.
    pub(super) fn shortfalls(&self) -> Vec<String> {
        let (tasks, right, calls) = (self.trials.len(), self.second_runs_right(), self.second_run_calls());
        let (drifts, alone, wrong) = (self.drifts.len(), self.count(Ending::Alone), self.wrong_elements());
        let mut found = Vec::new();
        let mut check = |is_met: bool, text: String| found.extend((!is_met).then_some(text));
        check(right == tasks, format!("{} of {tasks} second runs are not right", tasks - right));
        check(self.all_runs_right(), "a later run is not right".to_owned());
        check(calls == 0, format!("second runs asked a model {calls} times"));
        check(self.time_ratio().is_none_or(|ratio| ratio <= 1.0), "second runs take too long".to_owned());
        check(
            alone * 4 >= drifts * 3,
            format!("only {alone} of {drifts} drifts were healed without a model"),
        );
        check(wrong == 0, format!("{wrong} wrong elements were acted on"));
        check(self.count(Ending::Wrong) == 0, "a run ended with a wrong result".to_owned());
        found
    }

    /// The content of the `--json` file.
    pub(super) fn to_json(&self) -> Value {
        json!({
            "tasks": self.trials.len(),
            "second_runs_right": self.second_runs_right(),
            "second_run_calls": self.second_run_calls(),
            "time_ratio": self.time_ratio(),
            "drifts": self.drifts.len(),
            "healed_alone": self.count(Ending::Alone),
            "healed_with_model": self.count(Ending::WithModel),
            "wrong_element": self.wrong_elements(),
            "second_over_first": self.second_over_first(),
            "upgraded_right": self.upgraded_right(),
            "translated_right": self.translated_right(),
            "wrong_results": self.count(Ending::Wrong),
            "load": { "before": self.load[0], "after": self.load[1] },
            "task_table": self.trials,
            "drift_table": self.drifts,
        })
    }

    /// The lines to print.
    pub(super) fn lines(&self) -> Vec<String> {
        let [before, after] = self.load;
        let mut lines = vec![format!("machine load: {before} before, {after} after")];
        if !self.trials.is_empty() {
            lines.push(format!(
                "{:<9} {:<17} {:<10} {:>6} {:>6} {:>6} {:>8} {:>7}  result",
                "task", "applications", "run", "model", "calls", "tokens", "frame ms", "s"
            ));
        }
        lines.extend(self.trials.iter().flat_map(trial_lines));
        lines.extend(self.drifts.iter().map(drift_line));
        if !self.trials.is_empty() {
            lines.push(format!(
                "{} tasks: {} second runs right with {} model calls, {} right after an upgrade, {} in another \
                 language; time {} of what is allowed, {} of \
                 the first run",
                self.trials.len(),
                self.second_runs_right(),
                self.second_run_calls(),
                self.upgraded_right(),
                self.translated_right(),
                share(self.time_ratio()),
                share(self.second_over_first()),
            ));
        }
        if !self.drifts.is_empty() {
            lines.push(format!(
                "{} drifts: {} healed alone, {} with one model call, {} stopped, {} with a wrong result; {} wrong elements acted on",
                self.drifts.len(),
                self.count(Ending::Alone),
                self.count(Ending::WithModel),
                self.count(Ending::Stopped),
                self.count(Ending::Wrong),
                self.wrong_elements(),
            ));
        }
        lines
    }
}

/// The time of a second run over what it may take: a third of the first run's framework time, and the application's own time.
///
/// The framework time of a run is all of it but the start of the desktop and the wait for a model. The application's own time is that
/// of the phase in which actions run: what the application needs to start and to react, with the checks of the effects. What is
/// compared is thus mostly what Deskhand adds around the actions. A script answers at once, so the time that a real model takes in the
/// first run is in neither; with one, a second run is faster by all of it.
fn time_ratio(first: &Ran, second: &Ran) -> Option<f64> {
    let allowed = first.summary.framework_ms * FRAMEWORK_SHARE + second.summary.phases_ms.act;
    (allowed > 0.0).then_some(second.summary.framework_ms / allowed)
}

fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}

fn share(value: Option<f64>) -> String {
    value.map_or_else(|| "-".to_owned(), |value| format!("{:.0} %", value * 100.0))
}

/// The first run, the second, the last and the one after an upgrade, and every run that is not right.
fn trial_lines(trial: &Trial) -> Vec<String> {
    let applications = &trial.applications;
    let line = |run: &str, judged: &Judged| {
        let summary = &judged.ran.summary;
        let result = judged.problem.as_deref().unwrap_or("right");
        format!(
            "{:<9} {applications:<17} {run:<10} {:>6} {:>6} {:>6} {:>8.0} {:>7.1}  {result}",
            trial.task,
            summary.model_calls,
            summary.calls,
            summary.prompt_tokens + summary.completion_tokens,
            summary.framework_ms,
            judged.ran.seconds,
        )
    };
    let mut lines = vec![line("first", &trial.first)];
    let last = trial.again.len();
    for (number, judged) in (1..).zip(&trial.again) {
        if number == 1 || number == last || !judged.right {
            let changed = if trial.changes { "*" } else { "" };
            lines.push(line(&format!("{}{changed}", number + 1), judged));
        }
    }
    lines.extend(trial.upgraded.as_ref().map(|judged| line("upgraded", judged)));
    lines.extend(trial.translated.as_ref().map(|judged| line("in German", judged)));
    lines.extend(trial.problem.as_ref().map(|problem| format!("{:<9} {problem}", trial.task)));
    lines
}

fn drift_line(drift: &Drifted) -> String {
    let ending = match drift.ending {
        Ending::Alone => "healed alone".to_owned(),
        Ending::WithModel => format!("healed with a model, after {}", drift.alone.summary.reason),
        Ending::Stopped => {
            let with_model = drift.with_model.as_ref().map_or("", |ran| ran.summary.reason.as_str());
            format!("stopped: {}; with a model: {with_model}", drift.alone.summary.reason)
        }
        Ending::Wrong => "WRONG RESULT".to_owned(),
    };
    let wrong = if drift.wrong.is_empty() {
        String::new()
    } else {
        format!("; WRONG ELEMENTS: {}", drift.wrong.join(", "))
    };
    format!("{:<9} {:<45} {ending}{wrong}", drift.kind.to_string(), drift.name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::learning::{
        drifts::Kind,
        home::{Phases, Summary},
    };

    fn ran(framework_ms: f64, act: f64, model_calls: u64) -> Ran {
        let phases_ms = Phases { act, ..Phases::default() };
        let outcome = "finished".to_owned();
        Ran {
            summary: Summary { outcome, framework_ms, phases_ms, model_calls, ..Summary::default() },
            seconds: 1.0,
        }
    }

    fn drifted(ending: Ending, wrong: &[&str]) -> Drifted {
        Drifted {
            name: "x".to_owned(),
            kind: Kind::Moved,
            ending,
            wrong: wrong.iter().map(|text| (*text).to_owned()).collect(),
            alone: Ran::default(),
            with_model: None,
        }
    }

    #[test]
    fn figures_are_counted_and_shortfalls_named() {
        let judged = |ran| Judged { ran, right: true, problem: None };
        let trial = Trial {
            first: judged(ran(3000.0, 2000.0, 4)),
            again: vec![judged(ran(1500.0, 1000.0, 0))],
            ..Trial::default()
        };
        let mut figures = Figures {
            trials: vec![trial],
            drifts: vec![
                drifted(Ending::Alone, &[]),
                drifted(Ending::Alone, &[]),
                drifted(Ending::Alone, &[]),
                drifted(Ending::Stopped, &[]),
            ],
            load: [0.0, 0.0],
        };
        assert_eq!(figures.shortfalls(), [""; 0]);
        let json = figures.to_json();
        assert_eq!(
            (&json["tasks"], &json["second_runs_right"], &json["second_run_calls"]),
            (&1.into(), &1.into(), &0.into())
        );
        assert_eq!(
            (&json["time_ratio"], &json["healed_alone"], &json["wrong_element"]),
            (&0.75.into(), &3.into(), &0.into())
        );
        figures.drifts.push(drifted(Ending::Wrong, &["reset"]));
        figures.trials.push(Trial::default());
        let shortfalls = figures.shortfalls().join("\n");
        for part in ["1 of 2 second runs", "later run", "only 3 of 5", "1 wrong elements", "wrong result"] {
            assert!(shortfalls.contains(part), "{part} in {shortfalls}");
        }
        assert!(figures.lines().join("\n").contains("WRONG ELEMENTS: reset"));
    }
}
