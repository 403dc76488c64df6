//! Commands to tools, and their actual results.

use deskhand_ui::action::{ActionRoute, Verdict};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{
    intent::{Does, Intent, JudgementBasis, Takes},
    provenance::CarriedValue,
};
use deskhand_ui::{
    AppInfo, PictureRef, WindowInfo,
    action::CallReport,
    ids::{AgentId, ReadingId, WindowId},
    pattern::matches,
};

/// A command for one tool.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ToolCommand {
    /// The name of the tool.
    pub tool: String,
    /// Its arguments; after the gate in canonical form. The tool checks them against its schema before anything happens.
    #[serde(default)]
    pub arguments: Map<String, Value>,
    /// The window that the acting agent owns; none for agents without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window: Option<WindowId>,
    /// The acting agent, where it is neither the HostAgent nor an AppAgent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<AgentId>,
    /// Effect and targets, read from the arguments by the gate.
    #[serde(default, skip_serializing_if = "Intent::is_default")]
    pub intent: Intent,
    /// Facts on which it was judged, stamped by the gate; `None` before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub judged: Option<Box<JudgementBasis>>,
    /// Values that it carries away from the place where a step of a workflow has read them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub carries: Vec<CarriedValue>,
}

impl ToolCommand {
    /// Its tool among these; `None` if it is none of them.
    pub fn tool_in<'a>(&self, tools: &'a [ToolSpec]) -> Option<&'a ToolSpec> {
        tools.iter().find(|tool| tool.name == self.tool)
    }

    /// Returns the kinds of its arguments, as declared by its tool among these.
    pub fn takes_in<'a>(&self, tools: &'a [ToolSpec]) -> &'a [(String, Takes)] {
        self.tool_in(tools).map_or(&[], |tool| &tool.takes)
    }

    /// The command as one line: `click_element(id="e5", name="Finish")`; long values are cut.
    pub fn to_line(&self) -> String {
        const VALUE_MAX: usize = 80;
        let arguments: Vec<String> = self
            .arguments
            .iter()
            .map(|(name, value)| {
                let text = value.to_string();
                if text.chars().count() > VALUE_MAX {
                    let head: String = text.chars().take(VALUE_MAX).collect();
                    format!("{name}={head}…")
                } else {
                    format!("{name}={text}")
                }
            })
            .collect();
        format!("{}({})", self.tool, arguments.join(", "))
    }
}

/// Status of a finished call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallStatus {
    /// The call did what was requested, as far as can be determined (see the verdict).
    Success,
    /// The call failed.
    Failure,
    /// The call was not run because an earlier call of the same step failed.
    Skipped,
}

/// Actual result of a tool call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CallResult {
    /// Status of the call.
    pub status: CallStatus,
    /// The verdict, for calls that act; none for calls that only read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effect: Option<Verdict>,
    /// Which way it went; `None` if nothing was sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub route: Option<ActionRoute>,
    /// Effect of the call, or the reason for its failure, as data.
    pub report: CallReport,
    /// Data returned by the tool, such as the cells of a table; null if there is none.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub output: Value,
    /// A picture that the tool returns. The agent's next question shows it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub picture: Option<PictureRef>,
    /// The window that the call opened or selected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window: Option<WindowInfo>,
    /// Wall time, in milliseconds.
    pub elapsed_ms: u64,
}

impl CallResult {
    /// A call that failed before or while it ran, with a message that says why.
    pub fn failure(effect: Option<Verdict>, message: impl Into<String>) -> Self {
        Self {
            status: CallStatus::Failure,
            effect,
            route: None,
            report: CallReport::text(message),
            output: Value::Null,
            picture: None,
            window: None,
            elapsed_ms: 0,
        }
    }

    /// A delegation that the gate released; its assignment follows.
    pub(crate) fn permitted() -> Self {
        Self { status: CallStatus::Success, ..Self::failure(None, "permitted") }
    }

    /// A call that was not run because an earlier one of its step failed.
    pub fn skipped() -> Self {
        Self::skipped_because("not run, because an earlier action of this step failed")
    }

    /// A call that was not run, with the reason.
    pub fn skipped_because(reason: impl Into<String>) -> Self {
        Self { status: CallStatus::Skipped, ..Self::failure(None, reason) }
    }

    /// One or two sentences for people: what happened, or why not and what to do.
    pub fn summary(&self) -> String {
        self.report.sentence()
    }

    /// Returns `true` if the step may build on it.
    pub fn is_success(&self) -> bool {
        self.status == CallStatus::Success
    }
}

/// One call of a step with its result: what memory, blackboard and prompts keep.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ActionCommandInfo {
    /// Requested command.
    pub command: ToolCommand,
    /// The name of the target, where the command names one: `push button "Finish"`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// Result of the call.
    pub result: CallResult,
    /// By what it is looked up again, if it told something; the call was sent then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reading: Option<ReadingId>,
}

/// Amount of detail about a tool in prompts. Models can call all tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolListingLevel {
    /// Everything: what it does, its arguments and what they mean.
    #[default]
    Whole,
    /// Its name and the names of its arguments, because they say enough for what is seldom needed.
    Name,
    /// Nothing. It is for those who know of it from elsewhere, or is named where it helps.
    Nothing,
}

impl ToolListingLevel {
    /// The same, but no more than the name.
    #[must_use]
    pub const fn at_most_named(self) -> Self {
        match self {
            Self::Whole | Self::Name => Self::Name,
            Self::Nothing => Self::Nothing,
        }
    }

    /// Returns `true` if it is the usual one.
    pub const fn is_whole(&self) -> bool {
        matches!(self, Self::Whole)
    }
}

/// A tool, as it is shown to a model.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ToolSpec {
    /// A verb in `snake_case`.
    pub name: String,
    /// Description of its effect, its use and its result.
    pub description: String,
    /// JSON schema of its arguments.
    pub parameters: Value,
    /// `true` if it changes the desktop, `false` if it only reads it.
    pub acts: bool,
    /// Kind of its effect, for the policy.
    #[serde(default)]
    pub does: Does,
    /// Kinds of its arguments, in the order of the schema, without those that say neither where nor with what.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub takes: Vec<(String, Takes)>,
    /// Amount of detail about it in prompts.
    #[serde(default, skip_serializing_if = "ToolListingLevel::is_whole")]
    pub listing: ToolListingLevel,
    /// The applications whose AppAgents have it, as patterns of rules: roots or display names. Empty for all of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub only_in: Vec<String>,
    /// Source of a tool that is none of ours: `MCP server weather`. Its effect is not visible here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
}

impl ToolSpec {
    /// Returns `true` if AppAgents of an application have it.
    pub fn is_for(&self, application: &AppInfo) -> bool {
        let is =
            |pattern: &String| matches(pattern, &application.root) || matches(pattern, &application.name);
        self.only_in.is_empty() || self.only_in.iter().any(is)
    }
}
