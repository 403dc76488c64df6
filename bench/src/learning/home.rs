//! A home folder, and runs of the product in it.

use std::{
    ffi::OsStr,
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::Instant,
};

use anyhow::{Context as _, Result, ensure};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// How long a command may take, in seconds. Only a failure takes that long.
const SECONDS_MAX: &str = "240";
/// How long it may take to end after that.
const END_SECONDS_MAX: &str = "30";

/// What is different from one desktop to another, whatever runs on it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Surroundings {
    /// The locale.
    pub(super) language: &'static str,
    /// The theme of GTK.
    pub(super) theme: Option<&'static str>,
    /// The size of the screen; windows that fill it have another size, too.
    pub(super) screen: Option<&'static str>,
}

impl Surroundings {
    /// Those in which tasks are learnt.
    pub(super) const USUAL: Self = Self { language: "C.UTF-8", theme: None, screen: None };
}

/// A home folder without anything in it but what the tasks put there.
#[derive(Debug)]
pub(super) struct Home {
    folder: PathBuf,
    binary: PathBuf,
}

/// The last line of a run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Summary {
    pub(super) outcome: String,
    pub(super) reason: String,
    pub(super) model_calls: u64,
    pub(super) calls: u64,
    pub(super) prompt_tokens: u64,
    pub(super) completion_tokens: u64,
    /// All time that was not spent waiting for a model or a person.
    pub(super) framework_ms: f64,
    pub(super) phases_ms: Phases,
}

/// The time of a run by phase.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Phases {
    pub(super) observe: f64,
    pub(super) act: f64,
    pub(super) record: f64,
}

/// A run that has ended.
#[derive(Debug, Clone, Default, Serialize)]
pub(super) struct Ran {
    pub(super) summary: Summary,
    /// From the start of the command to its end, with the start and end of the desktop.
    pub(super) seconds: f64,
}

impl Ran {
    pub(super) fn is_finished(&self) -> bool {
        self.summary.outcome == "finished"
    }
}

impl Home {
    pub(super) fn create(folder: PathBuf, binary: &Path) -> Result<Self> {
        fs::create_dir_all(&folder).with_context(|| format!("create {}", folder.display()))?;
        Ok(Self { folder, binary: binary.to_owned() })
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// Writes a file below the folder.
    pub(super) fn write(&self, name: &str, text: &str) -> Result<PathBuf> {
        let path = self.path(name);
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).with_context(|| format!("create {}", folder.display()))?;
        }
        fs::write(&path, text).with_context(|| format!("write {}", path.display()))?;
        Ok(path)
    }

    /// A command in this home folder that inherits no settings, and is ended if it hangs.
    pub(super) fn command(&self, program: impl AsRef<OsStr>, surroundings: &Surroundings) -> Command {
        let mut command = Command::new("timeout");
        command.args(["--kill-after", END_SECONDS_MAX, SECONDS_MAX]).arg(program);
        command.current_dir(&self.folder).env_clear().env("HOME", &self.folder);
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command.env("LANG", surroundings.language).env("DESKHAND__DESKTOP__KEEP", "never");
        if let Some(theme) = surroundings.theme {
            command.env("GTK_THEME", theme);
        }
        command.stdin(Stdio::null());
        command
    }

    /// Runs `deskhand run` or `deskhand do`, on a private desktop; `then` are the arguments after the options.
    pub(super) fn session(
        &self,
        verb: &str,
        surroundings: &Surroundings,
        options: &[String],
        then: &[String],
    ) -> Result<Ran> {
        let mut command = self.command(&self.binary, surroundings);
        command.args([verb, "--desktop", "virtual", "--approve", "all", "--json"]);
        if let Some(screen) = surroundings.screen {
            command.args(["--size", screen]);
        }
        command.args(options).args(then);
        let begun = Instant::now();
        let output = command.output().context("run deskhand")?;
        let seconds = begun.elapsed().as_secs_f64();
        let text = String::from_utf8_lossy(&output.stdout);
        let summary = text.lines().rev().find_map(summary_in);
        let errors = String::from_utf8_lossy(&output.stderr);
        let summary = summary.with_context(|| {
            format!("`deskhand {verb}` ended without a summary ({}): {}", output.status, errors.trim())
        })?;
        Ok(Ran { summary, seconds })
    }

    /// Learns a workflow from the last session, with a parameter for everything that may be one.
    pub(super) fn learn(&self, name: &str) -> Result<()> {
        let mut command = self.command(&self.binary, &Surroundings::USUAL);
        let output = command
            .args(["learn", "last", "--yes", "--force", "--name", name])
            .output()
            .context("run deskhand learn")?;
        let errors = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "`deskhand learn` failed: {}", errors.trim());
        Ok(())
    }

    /// The parameters of a workflow, each with its value in the session that it was learnt from.
    pub(super) fn parameters(&self, workflow: &str) -> Result<Vec<(String, String)>> {
        let path = self.path(&format!(".local/share/deskhand/workflows/{workflow}.toml"));
        let text = fs::read_to_string(&path).with_context(|| format!("read {}", path.display()))?;
        Ok(parameters_in(&text))
    }
}

/// The summary in a line, if it is one.
fn summary_in(line: &str) -> Option<Summary> {
    let event: Value = serde_json::from_str(line).ok()?;
    let is_summary = event.get("kind").is_some_and(|kind| kind == "summary");
    is_summary.then(|| {
        let text = |name: &str| event.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
        let count = |name: &str| event.get(name).and_then(Value::as_u64).unwrap_or_default();
        let phase = |path: &str| event.pointer(path).and_then(Value::as_f64).unwrap_or_default();
        Summary {
            outcome: text("outcome"),
            reason: text("reason"),
            model_calls: count("model_calls"),
            calls: count("calls"),
            prompt_tokens: count("prompt_tokens"),
            completion_tokens: count("completion_tokens"),
            framework_ms: phase("/framework_ms"),
            phases_ms: Phases {
                observe: phase("/phases_ms/observe"),
                act: phase("/phases_ms/act"),
                record: phase("/phases_ms/record"),
            },
        }
    })
}

/// Names and examples of the tables `[parameters.NAME]` of a workflow.
fn parameters_in(text: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut name = None;
    for line in text.lines() {
        if line.starts_with('[') {
            name = line.strip_prefix("[parameters.").and_then(|rest| rest.strip_suffix(']'));
        }
        let example = line.strip_prefix("example = \"").and_then(|rest| rest.strip_suffix('"'));
        if let (Some(name), Some(example)) = (name, example) {
            found.push((name.to_owned(), example.to_owned()));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_line_of_a_run_is_read() {
        let line = r#"{"kind":"summary","outcome":"failed","reason":"stopped at step 2","model_calls":0,"calls":3,
            "prompt_tokens":0,"framework_ms":12.5,"phases_ms":{"observe":2,"ask":0,"act":10,"record":0.5}}"#;
        let summary = summary_in(line).unwrap();
        assert_eq!((summary.outcome.as_str(), summary.calls, summary.framework_ms), ("failed", 3, 12.5));
        assert_eq!(summary.phases_ms, Phases { observe: 2.0, act: 10.0, record: 0.5 });
        assert_eq!(summary_in(r#"{"kind":"outcome"}"#), None);
    }

    #[test]
    fn parameters_come_with_their_examples() {
        let text = "name = \"x\"\n\n[parameters.part]\nkind = \"text\"\nexample = \"A-100\"\ndefault = \"A-100\"\n\n\
                    [parameters.output]\nkind = \"file\"\nexample = \"/x/y.ods\"\n\n[[steps]]\nexample = \"no\"\n";
        let expected = [("part", "A-100"), ("output", "/x/y.ods")];
        assert_eq!(
            parameters_in(text),
            expected.map(|(name, example)| (name.to_owned(), example.to_owned()))
        );
    }
}
