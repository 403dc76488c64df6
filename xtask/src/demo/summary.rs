//! Parses and prints the summary of a run.

use std::{collections::BTreeMap, path::Path};

use serde::Deserialize;
use serde_json::{Value, json};

use super::checks::Checks;

/// The summary line of `deskhand run --json`; missing values are `None`.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct RunSummary {
    pub(super) outcome: Option<String>,
    reason: Option<String>,
    session_id: Option<String>,
    steps: Option<u64>,
    model_calls: Option<u64>,
    prompt_tokens: Option<u64>,
    completion_tokens: Option<u64>,
    desktop_start_ms: Option<f64>,
    framework_ms: Option<f64>,
    framework_ms_per_step_p50: Option<f64>,
    phases_ms: BTreeMap<String, f64>,
    session_path: Option<String>,
    screenshot: Option<String>,
}

impl RunSummary {
    /// Parses an event line; `None` if it is not the summary.
    pub(super) fn in_line(line: &str) -> Option<Self> {
        let event: Value = serde_json::from_str(line).ok()?;
        if event.get("kind")? != "summary" {
            return None;
        }
        serde_json::from_value(event).ok()
    }

    /// The summary of a run that ended without one.
    pub(super) fn interrupted(reason: String) -> Self {
        Self { outcome: Some("error".to_owned()), reason: Some(reason), ..Self::default() }
    }

    /// The content of the `--json` file.
    pub(super) fn to_json(&self, result: Option<&Path>, checks: &Checks) -> Value {
        json!({
            "outcome": self.outcome,
            "steps": self.steps,
            "model_calls": self.model_calls,
            "prompt_tokens": self.prompt_tokens,
            "desktop_start_ms": self.desktop_start_ms,
            "framework_ms_per_step_p50": self.framework_ms_per_step_p50,
            "result_path": result.map(|path| path.to_string_lossy()),
            "session_id": self.session_id,
            "checks_passed": checks.passed,
            "checks_failed": checks.failed.len(),
        })
    }

    /// The lines to print.
    pub(super) fn to_lines(&self, result: Option<&Path>, checks: &Checks) -> Vec<String> {
        let mut lines = Vec::new();
        let mut add = |name: &str, value: Option<String>| {
            lines.extend(value.map(|value| format!("{name:18} {value}")));
        };
        let outcome = self.outcome.as_deref().unwrap_or("unknown");
        let reason = self.reason.as_ref().map(|reason| format!(": {reason}")).unwrap_or_default();
        add("outcome", Some(format!("{outcome}{reason}")));
        add("steps", count(self.steps));
        add("model calls", count(self.model_calls));
        add(
            "tokens",
            self.prompt_tokens
                .map(|read| format!("{read} read, {} written", self.completion_tokens.unwrap_or(0))),
        );
        add("desktop started in", milliseconds(self.desktop_start_ms));
        let phases: Vec<String> =
            self.phases_ms.iter().map(|(name, ms)| format!("{name} {ms:.0} ms")).collect();
        add("time by phase", (!phases.is_empty()).then(|| phases.join(" · ")));
        add("framework in all", milliseconds(self.framework_ms));
        add("framework a step", self.framework_ms_per_step_p50.map(|ms| format!("{ms:.0} ms (median)")));
        let failed = checks.failed.len();
        add("checks", Some(format!("{} passed, {failed} failed", checks.passed)));
        add("result", result.map(|path| path.display().to_string()));
        add("screenshot", self.screenshot.clone());
        add("session", self.session_path.clone().or_else(|| self.session_id.clone()));
        lines
    }
}

fn count(value: Option<u64>) -> Option<String> {
    value.map(|value| value.to_string())
}

fn milliseconds(value: Option<f64>) -> Option<String> {
    value.map(|ms| format!("{ms:.0} ms"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: &str = r#"{"kind":"summary","outcome":"finished","session_id":"0199","steps":7,"model_calls":6,
        "prompt_tokens":14000,"completion_tokens":210,"desktop_start_ms":480,"framework_ms_per_step_p50":21.5,
        "framework_ms":900.0,"phases_ms":{"observe":300.0,"ask":5.0,"act":590.0,"record":5.0},
        "session_path":"sessions/0199","screenshot":"out/final.png","exit_code":0}"#;

    #[test]
    fn the_json_file_has_the_documented_keys() {
        let summary = RunSummary::in_line(LINE).unwrap();
        let checks = Checks { passed: 23, failed: vec!["B3".to_owned()] };
        let expected = json!({
            "outcome": "finished", "steps": 7, "model_calls": 6, "prompt_tokens": 14000, "desktop_start_ms": 480.0,
            "framework_ms_per_step_p50": 21.5, "result_path": "out/sales.ods", "session_id": "0199",
            "checks_passed": 23, "checks_failed": 1,
        });
        assert_eq!(summary.to_json(Some(Path::new("out/sales.ods")), &checks), expected);
    }

    #[test]
    fn an_interrupted_run_is_an_error() {
        let json = RunSummary::interrupted("killed by signal 9".to_owned()).to_json(None, &Checks::default());
        assert_eq!(json["outcome"], "error");
        assert_eq!(json["steps"], Value::Null);
        assert_eq!(json["result_path"], Value::Null);
    }

    #[test]
    fn other_events_are_not_a_summary() {
        for line in ["", "not json", "{}", r#"{"kind":"step","outcome":"finished"}"#, "[1]"] {
            assert!(RunSummary::in_line(line).is_none(), "{line}");
        }
    }

    #[test]
    fn prints_every_figure_once() {
        let summary = RunSummary::in_line(LINE).unwrap();
        let lines =
            summary.to_lines(Some(Path::new("out/sales.ods")), &Checks { passed: 23, failed: Vec::new() });
        let expected = [
            "outcome            finished",
            "steps              7",
            "model calls        6",
            "tokens             14000 read, 210 written",
            "desktop started in 480 ms",
            "time by phase      act 590 ms · ask 5 ms · observe 300 ms · record 5 ms",
            "framework in all   900 ms",
            "framework a step   22 ms (median)",
            "checks             23 passed, 0 failed",
            "result             out/sales.ods",
            "screenshot         out/final.png",
            "session            sessions/0199",
        ];
        assert_eq!(lines, expected);
    }
}
