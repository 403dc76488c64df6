//! An experience.

use std::fmt::Write as _;

use deskhand_ui::text::{clip, collapse_whitespace, excerpt};
use serde::{Deserialize, Serialize};

/// The version of the format. A reader takes later ones and leaves out what it does not know.
pub(crate) const VERSION: u32 = 1;
/// The most characters of a request.
const REQUEST_MAX: usize = 2_000;
/// The most characters of any other text.
const TEXT_MAX: usize = 500;
/// The most entries of a list.
const ENTRIES_MAX: usize = 60;
/// The most characters of an experience as a hit.
const SHOWN_MAX: usize = 4_000;
/// The most characters of the title of a hit.
const TITLE_MAX: usize = 120;

/// Lesson of a session or a demonstration.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Experience {
    /// The version of the format.
    #[serde(default = "version")]
    pub version: u32,
    /// Its id, unique in the store.
    pub id: String,
    /// The session that it is from.
    #[serde(default)]
    pub session: String,
    /// When it was made, in milliseconds since 1970.
    #[serde(default)]
    pub at_ms: u64,
    /// Request that was to be done.
    pub request: String,
    /// The roots of the applications that it was done in.
    #[serde(default)]
    pub applications: Vec<String>,
    /// The agent that did it.
    #[serde(default)]
    pub agent: String,
    /// The plan.
    #[serde(default)]
    pub plan: Vec<String>,
    /// The steps in short.
    #[serde(default)]
    pub steps: Vec<String>,
    /// Steps that worked.
    #[serde(default)]
    pub worked: Vec<String>,
    /// Steps that did not work, with the reasons.
    #[serde(default)]
    pub failed: Vec<FailedApproach>,
    /// Outcome of the work.
    pub outcome: ExperienceOutcome,
    /// Who showed it.
    #[serde(default)]
    pub kind: ExperienceKind,
    /// The workflow that does the same, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workflow: Option<String>,
    /// Number of later uses, and their results.
    #[serde(default)]
    pub uses: Uses,
}

/// The version of an experience that does not say it.
const fn version() -> u32 {
    VERSION
}

/// Something that did not work.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailedApproach {
    /// Attempted step.
    pub what: String,
    /// Why it failed.
    #[serde(default)]
    pub why: String,
}

/// Outcome of the work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ExperienceOutcome {
    /// The request was fulfilled.
    Worked,
    /// The work failed: a warning.
    Failed,
}

/// Who showed it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ExperienceKind {
    /// A session of agents.
    #[default]
    Session,
    /// The user.
    Demonstration,
}

/// Usage counts of an experience.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Uses {
    /// Number of uses.
    #[serde(default)]
    pub used: u32,
    /// Number of uses for which the work succeeded.
    #[serde(default)]
    pub succeeded: u32,
    /// Number of uses for which the work failed.
    #[serde(default)]
    pub failed: u32,
    /// When it was used last, in milliseconds since 1970; 0 if never.
    #[serde(default)]
    pub last_ms: u64,
}

impl Uses {
    /// Counts one use.
    pub(crate) fn note(&mut self, worked: bool, at_ms: u64) {
        self.used = self.used.saturating_add(1);
        let counter = if worked { &mut self.succeeded } else { &mut self.failed };
        *counter = counter.saturating_add(1);
        self.last_ms = self.last_ms.max(at_ms);
    }

    /// The uses of both.
    pub(crate) fn plus(self, other: Self) -> Self {
        Self {
            used: self.used.saturating_add(other.used),
            succeeded: self.succeeded.saturating_add(other.succeeded),
            failed: self.failed.saturating_add(other.failed),
            last_ms: self.last_ms.max(other.last_ms),
        }
    }
}

impl Experience {
    /// When it was of use last: when it was made, or used.
    pub(crate) fn last_ms(&self) -> u64 {
        self.at_ms.max(self.uses.last_ms)
    }

    /// The same, with texts and lists within their limits.
    pub(crate) fn clipped(mut self) -> Self {
        let short = |text: &String| excerpt(text, TEXT_MAX);
        let all = |list: &Vec<String>| list.iter().take(ENTRIES_MAX).map(short).collect::<Vec<_>>();
        self.version = VERSION;
        self.request = clip(&collapse_whitespace(&self.request), REQUEST_MAX);
        self.session = short(&self.session);
        self.agent = short(&self.agent);
        self.applications = all(&self.applications);
        self.plan = all(&self.plan);
        self.steps = all(&self.steps);
        self.worked = all(&self.worked);
        self.failed.truncate(ENTRIES_MAX);
        for lesson in &mut self.failed {
            *lesson = FailedApproach { what: short(&lesson.what), why: short(&lesson.why) };
        }
        self.workflow = self.workflow.as_ref().map(short);
        self
    }

    /// Everything that is searched besides the request.
    pub(crate) fn body(&self) -> String {
        let lessons = self.failed.iter().flat_map(|lesson| [&lesson.what, &lesson.why]);
        let lists = [&self.applications, &self.plan, &self.steps, &self.worked];
        let texts: Vec<&str> =
            lists.into_iter().flatten().chain(lessons).chain(&self.workflow).map(String::as_str).collect();
        texts.join("\n")
    }

    /// The title of a hit.
    pub(crate) fn title(&self) -> String {
        let request = excerpt(&self.request, TITLE_MAX);
        match self.outcome {
            ExperienceOutcome::Worked => request,
            ExperienceOutcome::Failed => format!("warning, this failed before: {request}"),
        }
    }

    /// Returns the text for agents: steps to take, or to avoid.
    #[must_use]
    pub fn shown(&self) -> String {
        let mut text = format!("Request: {}\n", self.request);
        if self.outcome == ExperienceOutcome::Worked {
            list(&mut text, "Plan", &self.plan);
            list(&mut text, "Steps", &self.steps);
        }
        list(&mut text, "What worked", &self.worked);
        let why = |lesson: &FailedApproach| match lesson.why.as_str() {
            "" => lesson.what.clone(),
            why => format!("{}: {why}", lesson.what),
        };
        list(&mut text, "What failed and why", &self.failed.iter().map(why).collect::<Vec<_>>());
        // Writing to a string cannot fail.
        if let Some(workflow) = &self.workflow {
            let _ = writeln!(text, "Workflow: {workflow}");
        }
        if self.uses.used > 0 {
            let Uses { used, succeeded, .. } = self.uses;
            let _ = writeln!(text, "Used {used} times since, {succeeded} of them with success");
        }
        clip(text.trim_end(), SHOWN_MAX)
    }
}

fn list(text: &mut String, name: &str, entries: &[String]) {
    if entries.is_empty() {
        return;
    }
    // Writing to a string cannot fail.
    let _ = writeln!(text, "{name}:");
    for entry in entries {
        let _ = writeln!(text, "- {entry}");
    }
}
