//! The typed inputs of the templates, and the messages made of them.

use std::fmt::Write as _;

use serde::Serialize;
use serde_json::Value;

use super::{PromptError, PromptSet, set::render, surfaces_text, targets_text};
use crate::{
    agent::{AgentStatus, AgentSteps},
    blackboard::Blackboard,
    command::{ActionCommandInfo, ToolSpec},
    memory::{Memory, MemoryItem},
    observation::{AgentView, WindowView},
    session::SubtaskRecord,
    target::TargetRegistry,
    text::{clip, one_line, untrusted},
};

/// The longest result of a call in a prompt, in characters.
const RESULT_CHARS_MAX: usize = 6_000;
/// The longest view of an agent without a window, in characters.
const VIEW_CHARS_MAX: usize = 12_000;
/// How many own steps an agent is shown.
const STEPS_SHOWN: usize = 8;
/// How many steps of the blackboard an agent is shown.
const TRAJECTORIES_SHOWN: usize = 12;

/// The tools, as they are described to a model.
pub fn tools_text(tools: &[ToolSpec]) -> String {
    let mut text = String::new();
    for tool in tools {
        let _ = writeln!(text, "## {}\n{}", tool.name, tool.description.trim());
        let properties = tool.parameters.get("properties").and_then(Value::as_object);
        let required = tool.parameters.get("required").and_then(Value::as_array);
        for (name, schema) in properties.into_iter().flatten() {
            let must = required.is_some_and(|names| names.iter().any(|known| known == name.as_str()));
            let about = schema.get("description").and_then(Value::as_str).unwrap_or_default();
            let _ = writeln!(
                text,
                "- `{name}` ({}{}): {}",
                type_text(schema, &tool.parameters),
                if must { "" } else { ", optional" },
                one_line(about).replace('⏎', " ")
            );
        }
        text.push('\n');
    }
    text.trim_end().to_owned()
}

/// `string`, `list of string`, `one of "left", "right"`; what a schema allows, in words.
fn type_text(schema: &Value, root: &Value) -> String {
    if let Some(name) = schema.get("$ref").and_then(Value::as_str).and_then(|path| path.rsplit('/').next()) {
        let target = root.get("$defs").and_then(|definitions| definitions.get(name));
        return target.map_or_else(|| name.to_owned(), |target| type_text(target, root));
    }
    if let Some(options) = schema.get("enum").and_then(Value::as_array) {
        let words: Vec<String> = options.iter().map(Value::to_string).collect();
        return format!("one of {}", words.join(", "));
    }
    for key in ["anyOf", "oneOf", "allOf"] {
        if let Some(options) = schema.get(key).and_then(Value::as_array) {
            let mut words: Vec<String> = options
                .iter()
                .filter(|option| option.get("type").and_then(Value::as_str) != Some("null"))
                .map(|option| match option.get("const") {
                    Some(constant) => constant.to_string(),
                    None => type_text(option, root),
                })
                .collect();
            words.dedup();
            return words.join(" or ");
        }
    }
    let named = match schema.get("type") {
        Some(Value::String(name)) => name.clone(),
        Some(Value::Array(names)) => {
            names.iter().filter_map(Value::as_str).find(|name| *name != "null").unwrap_or("any").to_owned()
        }
        _ => "any".to_owned(),
    };
    match schema.get("items").filter(|_| named == "array") {
        Some(items) => format!("list of {}", type_text(items, root)),
        None => named,
    }
}

/// What a call did and what came back.
fn action_text(info: &ActionCommandInfo) -> String {
    let target = info.target.as_ref().map(|target| format!(" on {target}")).unwrap_or_default();
    let effect = info.result.effect.map(|effect| format!(" [effect: {effect}]")).unwrap_or_default();
    let status = match info.result.status {
        crate::command::CallStatus::Success => "ok",
        crate::command::CallStatus::Failure => "FAILED",
        crate::command::CallStatus::Skipped => "skipped",
    };
    format!("{}{target} → {status}{effect} {}", info.command.to_line(), result_text(info))
}

/// The summary and data of a result, capped.
pub(crate) fn result_text(info: &ActionCommandInfo) -> String {
    let mut text = one_line(&info.result.summary);
    if !info.result.output.is_null() {
        let _ = write!(text, " {}", info.result.output);
    }
    clip(&text, RESULT_CHARS_MAX)
}

fn step_text(item: &MemoryItem) -> String {
    let mut text = format!("Step {} ({}): {}", item.step, item.status, one_line(&item.thought));
    for action in &item.actions {
        let _ = write!(text, "\n- {}", action_text(action));
    }
    text
}

fn list(items: &[String]) -> String {
    items
        .iter()
        .enumerate()
        .map(|(index, item)| format!("{}. {item}", index + 1))
        .collect::<Vec<_>>()
        .join("\n")
}

fn answers_text(blackboard: &Blackboard) -> String {
    let lines: Vec<String> = blackboard
        .answers()
        .map(|answer| format!("- {} → {}", one_line(&answer.question), one_line(&answer.answer)))
        .collect();
    lines.join("\n")
}

fn trajectories_text(blackboard: &Blackboard, without: &str) -> String {
    let all: Vec<_> = blackboard.trajectories().filter(|step| step.agent != without).collect();
    let shown = all.get(all.len().saturating_sub(TRAJECTORIES_SHOWN)..).unwrap_or_default();
    let mut text = String::new();
    for step in shown {
        let _ = write!(text, "Step {}, {}", step.step, step.agent);
        if !step.subtask.is_empty() {
            let _ = write!(text, ", on “{}”", one_line(&step.subtask));
        }
        let _ = writeln!(text, ": {}", step.status);
        for (action, result) in step.actions.iter().zip(&step.results) {
            let _ = writeln!(text, "- {action} → {result}");
        }
    }
    if text.is_empty() { text } else { untrusted("results of tools", text.trim_end()) }
}

fn subtasks_text(records: &[SubtaskRecord]) -> String {
    let lines: Vec<String> = records
        .iter()
        .map(|record| {
            format!(
                "- “{}” by {}: {} — {}",
                one_line(&record.subtask),
                record.agent,
                record.status,
                clip(&one_line(&record.result), RESULT_CHARS_MAX)
            )
        })
        .collect();
    if lines.is_empty() { String::new() } else { untrusted("results of sub-tasks", &lines.join("\n")) }
}

/// The instructions of an agent.
///
/// # Errors
/// [`PromptError`] when the template is broken.
pub fn system_message(name: &'static str, template: &str, tools: &[ToolSpec]) -> Result<String, PromptError> {
    #[derive(Serialize)]
    struct Input {
        tools: String,
    }
    render(name, template, &Input { tools: tools_text(tools) })
}

/// What the HostAgent is shown at a step.
pub(crate) struct HostInput<'a> {
    pub(crate) request: &'a str,
    pub(crate) targets: &'a TargetRegistry,
    pub(crate) subtasks: &'a [SubtaskRecord],
    pub(crate) blackboard: &'a Blackboard,
    pub(crate) memory: &'a Memory,
    pub(crate) notice: &'a str,
}

/// The HostAgent's user message.
///
/// # Errors
/// [`PromptError`] when the template is broken.
pub(crate) fn host_user_text(prompts: &PromptSet, input: &HostInput<'_>) -> Result<String, PromptError> {
    #[derive(Serialize)]
    struct Input {
        requests: String,
        answers: String,
        trajectories: String,
        subtasks: String,
        plan: String,
        last_step: String,
        notice: String,
        targets: String,
        request: String,
    }
    let last = input.memory.last();
    let requests: Vec<String> =
        input.blackboard.requests().map(|request| format!("- {}", one_line(request))).collect();
    render(
        "host_user",
        &prompts.host_user,
        &Input {
            requests: requests.join("\n"),
            answers: answers_text(input.blackboard),
            trajectories: trajectories_text(input.blackboard, "HostAgent"),
            subtasks: subtasks_text(input.subtasks),
            plan: last.map(|item| list(&item.plan)).unwrap_or_default(),
            last_step: last
                .map(step_text)
                .map(|text| untrusted("results of tools", &text))
                .unwrap_or_default(),
            notice: input.notice.to_owned(),
            targets: targets_text(input.targets),
            request: input.request.to_owned(),
        },
    )
}

/// What every agent is shown that works on a sub-task.
pub(crate) struct SubtaskInput<'a> {
    pub(crate) agent: String,
    pub(crate) request: &'a str,
    pub(crate) subtask: &'a str,
    pub(crate) message: &'a [String],
    pub(crate) subtasks: &'a [SubtaskRecord],
    pub(crate) blackboard: &'a Blackboard,
    pub(crate) memory: &'a Memory,
    /// The first step of this sub-task; earlier steps of the cached agent are not repeated.
    pub(crate) first_step: u32,
    pub(crate) notice: &'a str,
}

/// The fields of both user templates for work on a sub-task.
struct SubtaskTexts {
    answers: String,
    trajectories: String,
    subtasks: String,
    message: String,
    plan: String,
    steps: String,
}

impl SubtaskInput<'_> {
    fn texts(&self) -> SubtaskTexts {
        let own: Vec<&MemoryItem> = self.memory.items().filter(|item| item.step >= self.first_step).collect();
        let shown = own.get(own.len().saturating_sub(STEPS_SHOWN)..).unwrap_or_default();
        let steps = shown.iter().map(|item| step_text(item)).collect::<Vec<_>>().join("\n");
        SubtaskTexts {
            answers: answers_text(self.blackboard),
            trajectories: trajectories_text(self.blackboard, &self.agent),
            subtasks: subtasks_text(self.subtasks),
            message: self.message.iter().map(|line| format!("- {line}")).collect::<Vec<_>>().join("\n"),
            plan: own.last().map(|item| list(&item.plan)).unwrap_or_default(),
            steps: if steps.is_empty() { steps } else { untrusted("results of tools", &steps) },
        }
    }
}

/// What an AppAgent is shown at a step.
pub(crate) struct AppInput<'a> {
    pub(crate) common: SubtaskInput<'a>,
    pub(crate) view: &'a WindowView,
}

/// An AppAgent's user message.
///
/// # Errors
/// [`PromptError`] when the template is broken.
pub(crate) fn app_user_text(prompts: &PromptSet, input: &AppInput<'_>) -> Result<String, PromptError> {
    #[derive(Serialize)]
    struct Input {
        answers: String,
        trajectories: String,
        subtasks: String,
        request: String,
        subtask: String,
        message: String,
        plan: String,
        steps: String,
        notice: String,
        application: String,
        surfaces: String,
    }
    let texts = input.common.texts();
    let application =
        input.view.surfaces.first().map(|surface| surface.window.app.name.clone()).unwrap_or_default();
    render(
        "app_user",
        &prompts.app_user,
        &Input {
            answers: texts.answers,
            trajectories: texts.trajectories,
            subtasks: texts.subtasks,
            request: input.common.request.to_owned(),
            subtask: input.common.subtask.to_owned(),
            message: texts.message,
            plan: texts.plan,
            steps: texts.steps,
            notice: input.common.notice.to_owned(),
            application,
            surfaces: surfaces_text(input.view),
        },
    )
}

/// What an agent of another kind is shown at a step.
pub(crate) struct AgentInput<'a> {
    pub(crate) common: SubtaskInput<'a>,
    /// What it said at its last step on the sub-task.
    pub(crate) word: Option<&'a str>,
    pub(crate) steps: &'a AgentSteps,
    pub(crate) view: &'a AgentView,
}

/// The instructions of an agent of another kind.
///
/// # Errors
/// [`PromptError`] when the template is broken.
pub(crate) fn agent_system_text(name: &str, steps: &AgentSteps) -> Result<String, PromptError> {
    #[derive(Serialize)]
    struct Input<'a> {
        name: &'a str,
        instructions: &'a str,
        statuses: String,
        tools: String,
    }
    let line = |status: &AgentStatus| {
        let next = match status.next.as_slice() {
            [] => String::new(),
            next => format!(" Then only {} may follow.", next.join(", ")),
        };
        format!("- {}: {}{next}", status.word, status.description)
    };
    render(
        "agent_system",
        &steps.system_prompt,
        &Input {
            name,
            instructions: steps.instructions.trim(),
            statuses: steps.statuses.iter().map(line).collect::<Vec<_>>().join("\n"),
            tools: tools_text(&steps.tools),
        },
    )
}

/// The user message of an agent of another kind.
///
/// # Errors
/// [`PromptError`] when the template is broken.
pub(crate) fn agent_user_text(input: &AgentInput<'_>) -> Result<String, PromptError> {
    #[derive(Serialize)]
    struct Input<'a> {
        answers: String,
        trajectories: String,
        subtasks: String,
        request: &'a str,
        subtask: &'a str,
        message: String,
        plan: String,
        steps: String,
        notice: &'a str,
        status: &'a str,
        view: String,
    }
    let texts = input.common.texts();
    let first = input.steps.statuses.first().map(|status| status.word.as_str()).unwrap_or_default();
    let view = input.view.text.trim();
    render(
        "agent_user",
        &input.steps.user_prompt,
        &Input {
            answers: texts.answers,
            trajectories: texts.trajectories,
            subtasks: texts.subtasks,
            request: input.common.request,
            subtask: input.common.subtask,
            message: texts.message,
            plan: texts.plan,
            steps: texts.steps,
            notice: input.common.notice,
            status: input.word.unwrap_or(first),
            view: if view.is_empty() {
                String::new()
            } else {
                untrusted(&input.common.agent, &clip(view, VIEW_CHARS_MAX))
            },
        },
    )
}
