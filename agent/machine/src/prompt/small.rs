//! The prompts of small models: short messages after worked examples of the same form.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{
    PromptError,
    history::{answers_text, fitting, notes_text, result_line},
    inputs::SubtaskInput,
    marks::Marks,
    set::render,
};
use crate::{
    blackboard::Blackboard,
    memory::{AgentMemory, MemoryItem},
    session::SubtaskRecord,
    small::{ALL_DONE, DONE, FAIL, NOTHING_FITS, SmallModelOffer, parameter_lines},
    workflow::WorkflowOffer,
};
use deskhand_ui::{
    action::words::CallReportFormatter,
    text::{clip, one_line, untrusted},
};

/// Token limit (estimated) for each part of a prompt that grows.
const PART_TOKENS_MAX: usize = 600;
/// The longest line of a step, in characters, and the longest of one that read something.
const LINE_CHARS_MAX: usize = 240;
const READ_CHARS_MAX: usize = 1_200;
/// The longest argument in the line of a step, in characters.
const ARGUMENT_CHARS_MAX: usize = 60;

/// Input of the message to a small model for the HostAgent.
pub(crate) struct SmallHostInput<'a> {
    pub(crate) request: &'a str,
    pub(crate) blackboard: &'a Blackboard,
    pub(crate) subtasks: &'a [SubtaskRecord],
    pub(crate) memory: &'a AgentMemory,
    pub(crate) wording: CallReportFormatter,
    pub(crate) notice: &'a str,
    pub(crate) offer: &'a SmallModelOffer,
    pub(crate) marks: &'a Marks,
}

/// Input of the message to a small model for an AppAgent.
pub(crate) struct SmallAppInput<'a> {
    pub(crate) common: SubtaskInput<'a>,
    pub(crate) application: &'a str,
    pub(crate) secrets: &'a str,
    pub(crate) offer: &'a SmallModelOffer,
}

/// The variables of the template for HostAgents.
#[derive(Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct HostVariables {
    request: String,
    answers: String,
    subtasks: String,
    last_step: String,
    notice: String,
    titles: String,
}

/// The variables of the template for the values of a workflow.
#[derive(Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct ValuesVariables {
    request: String,
    answers: String,
    task: String,
    values: String,
}

/// The variables of the template for AppAgents.
#[derive(Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct AppVariables {
    task: String,
    message: String,
    answers: String,
    secrets: String,
    known: String,
    steps: String,
    notice: String,
    application: String,
    actions: String,
    elements: String,
}

/// A worked example.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Example<I> {
    input: I,
    reply: Map<String, Value>,
}

/// The message for the HostAgent.
///
/// # Errors
/// [`PromptError`] if the template is invalid.
pub(crate) fn small_host_text(template: &str, input: &SmallHostInput<'_>) -> Result<String, PromptError> {
    let marks = input.marks;
    let record = |record: &SubtaskRecord| {
        let result = clip(&one_line(&record.result), LINE_CHARS_MAX);
        marks.line(format!(
            "- “{}” by {}: {} — {result}",
            one_line(&record.subtask),
            record.agent,
            record.status
        ))
    };
    let subtasks: Vec<String> = input.subtasks.iter().map(record).collect();
    let failed = |item: &&MemoryItem| item.actions.iter().any(|info| !info.result.is_success());
    let last_step = input.memory.last().filter(failed).map(|item| step_lines(item, input.wording, marks));
    let variables = HostVariables {
        request: marks.said(input.request),
        answers: answers_text(input.blackboard, marks),
        subtasks: marked(marks, "sub-task results", &subtasks),
        last_step: marked(marks, "tool results", &last_step.unwrap_or_default()),
        notice: marks.told(input.notice),
        titles: titles_text(input.offer, marks),
    };
    render("small_host_user", template, &variables)
}

/// The message about the values of a workflow.
///
/// # Errors
/// [`PromptError`] if the template is invalid.
pub(crate) fn small_values_text(
    template: &str,
    (request, blackboard): (&str, &Blackboard),
    workflow: &WorkflowOffer,
    marks: &Marks,
) -> Result<String, PromptError> {
    let variables = ValuesVariables {
        request: marks.said(request),
        answers: answers_text(blackboard, marks),
        task: marks.said(&one_line(&workflow.request)),
        values: marks.said(&parameter_lines(workflow)),
    };
    render("small_values_user", template, &variables)
}

/// The message for an AppAgent.
///
/// # Errors
/// [`PromptError`] if the template is invalid.
pub(crate) fn small_app_text(template: &str, input: &SmallAppInput<'_>) -> Result<String, PromptError> {
    let (common, marks) = (&input.common, input.common.marks);
    let own = common.memory.items().filter(|item| item.step >= common.first_step);
    let steps: Vec<String> = own.flat_map(|item| step_lines(item, common.wording, marks)).collect();
    let result = |record: &SubtaskRecord| {
        let said = clip(&one_line(&record.result), READ_CHARS_MAX);
        marks.line(format!("- {}: {said}", one_line(&record.subtask)))
    };
    let mut known: Vec<String> = common.subtasks.iter().map(result).collect();
    let notes = notes_text(common.blackboard, &common.agent, marks);
    known.extend(notes.lines().map(str::to_owned));
    let message: Vec<String> = common.message.iter().map(|line| marks.told(line)).collect();
    let variables = AppVariables {
        task: marks.told(common.subtask),
        message: message.join("\n"),
        answers: answers_text(common.blackboard, marks),
        secrets: input.secrets.to_owned(),
        known: marked(marks, "sub-task results", &known),
        steps: marked(marks, "tool results", &steps),
        notice: marks.told(common.notice),
        application: marks.said(&one_line(input.application)),
        actions: input.offer.action_lines(),
        elements: marks.number(&untrusted("screen", &input.offer.lines())),
    };
    render("small_app_user", template, &variables)
}

/// The titles that a HostAgent may choose from, and how its work may end.
fn titles_text(offer: &SmallModelOffer, marks: &Marks) -> String {
    let titles = marks.number(&untrusted("desktop", &offer.lines()));
    std::iter::once(titles).chain(offer.ends().map(|end| format!("- {end}"))).collect::<Vec<_>>().join("\n")
}

/// Lines from outside, the last ones that fit.
fn marked(marks: &Marks, source: &str, lines: &[String]) -> String {
    let text = fitting(lines, PART_TOKENS_MAX);
    if text.is_empty() { text } else { marks.number(&untrusted(source, &text)) }
}

/// The calls of a step, a line each, by the names of their targets: `- click_element push button "Save" → seen`.
fn step_lines(item: &MemoryItem, wording: CallReportFormatter, marks: &Marks) -> Vec<String> {
    let line = |info: &crate::command::ActionCommandInfo| {
        let command = &info.command;
        let target = info.target.as_ref().map(|target| format!(" {target}")).unwrap_or_default();
        let arguments = command.arguments.iter().filter(|(name, _)| !["id", "name"].contains(&name.as_str()));
        let arguments: String = arguments
            .map(|(_, value)| format!(" {}", clip(&value.to_string(), ARGUMENT_CHARS_MAX)))
            .collect();
        let result = result_line(info, wording);
        let most = if info.result.effect.is_none() { READ_CHARS_MAX } else { LINE_CHARS_MAX };
        marks.line(format!("- {}{target}{arguments} → {}", command.tool, clip(&result, most)))
    };
    item.actions.iter().map(line).collect()
}

/// Beginning of every question of a kind: the system prompt, which explains the marks, and worked examples with
/// the same marks. A server that caches its input computes it once in a session.
pub(crate) struct SmallPromptPrefix<'a> {
    pub(crate) system: &'a str,
    pub(crate) examples: &'a str,
    /// The template of the message.
    pub(crate) user: &'a str,
    /// `true` if the work can end. Otherwise examples that end it are omitted.
    pub(crate) can_end: bool,
    pub(crate) marks: &'a Marks,
}

/// A system message, and turns of what was shown and the reply to it.
type Begun = (String, Vec<(String, String)>);

impl SmallPromptPrefix<'_> {
    /// That of a HostAgent's questions.
    ///
    /// # Errors
    /// [`PromptError`] if the examples are not valid, or the template is not.
    pub(crate) fn of_host(&self) -> Result<Begun, PromptError> {
        let turns = self.turns::<HostVariables>("small_host_examples", "window", |mut shown| {
            let (ends, titles): (Vec<&str>, Vec<&str>) =
                shown.titles.lines().partition(|line| line.starts_with("- nothing: "));
            let titles = self.marked("desktop", &titles.join("\n"));
            shown.titles = [titles.as_str(), &ends.join("\n")].join("\n").trim().to_owned();
            shown.subtasks = self.marked("sub-task results", &shown.subtasks);
            render("small_host_user", self.user, &shown)
        })?;
        Ok((self.marks.introduced(self.system.to_owned()), turns))
    }

    /// That of the questions for the values of workflows.
    ///
    /// # Errors
    /// [`PromptError`] if the examples are not valid, or the template is not.
    pub(crate) fn of_values(&self) -> Result<Begun, PromptError> {
        let turns = self.turns::<ValuesVariables>("small_values_examples", "", |shown| {
            render("small_values_user", self.user, &shown)
        })?;
        Ok((self.marks.introduced(self.system.to_owned()), turns))
    }

    /// That of an AppAgent's questions.
    ///
    /// # Errors
    /// [`PromptError`] if the examples are not valid, or the template is not.
    pub(crate) fn of_app(&self) -> Result<Begun, PromptError> {
        let turns = self.turns::<AppVariables>("small_app_examples", "action", |mut shown| {
            shown.elements = self.marked("screen", &shown.elements);
            shown.steps = self.marked("tool results", &shown.steps);
            render("small_app_user", self.user, &shown)
        })?;
        Ok((self.marks.introduced(self.system.to_owned()), turns))
    }

    fn marked(&self, source: &str, text: &str) -> String {
        if text.is_empty() { String::new() } else { self.marks.number(&untrusted(source, text)) }
    }

    /// The turns of examples; `choice` is the field of a reply that may end the work.
    fn turns<I: for<'de> Deserialize<'de>>(
        &self,
        name: &'static str,
        choice: &str,
        render: impl Fn(I) -> Result<String, PromptError>,
    ) -> Result<Vec<(String, String)>, PromptError> {
        let wrong = |error: serde_json::Error| PromptError { name, problem: error.to_string() };
        let examples: Vec<Example<I>> = serde_json::from_str(self.examples).map_err(wrong)?;
        let ends = |example: &Example<I>| {
            let chosen = example.reply.get(choice).and_then(Value::as_str).unwrap_or_default();
            [ALL_DONE, NOTHING_FITS, DONE, FAIL].contains(&chosen)
        };
        let fitting = examples.into_iter().filter(|example| self.can_end || !ends(example));
        fitting
            .map(|example| Ok((render(example.input)?, Value::Object(example.reply).to_string())))
            .collect()
    }
}
