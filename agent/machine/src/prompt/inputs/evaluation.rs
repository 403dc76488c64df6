//! The EvaluationAgent's message.

use serde::Serialize;

use crate::{
    agent::AgentRef,
    blackboard::Blackboard,
    prompt::{
        PromptError, PromptSet,
        history::{InFull, RESULT_CHARS_MAX, answers_text, others_texts},
        marks::Marks,
        set::render,
        window_line,
    },
    session::SubtaskRecord,
};
use deskhand_ui::{
    WindowInfo,
    text::{clip, untrusted},
};

/// Input of the EvaluationAgent's user message.
pub(crate) struct EvaluationInput<'a> {
    pub(crate) request: &'a str,
    pub(crate) blackboard: &'a Blackboard,
    pub(crate) subtasks: &'a [SubtaskRecord],
    /// The result that the agents report.
    pub(crate) result: &'a str,
    /// The findings of the rules.
    pub(crate) findings: &'a str,
    /// The desktop, if it could be observed.
    pub(crate) windows: &'a [WindowInfo],
    pub(crate) marks: &'a Marks,
}

/// The EvaluationAgent's user message.
///
/// # Errors
/// [`PromptError`] if the template is invalid.
pub(crate) fn evaluation_user_text(
    prompts: &PromptSet,
    input: &EvaluationInput<'_>,
) -> Result<String, PromptError> {
    #[derive(Serialize)]
    struct EvaluationPromptVariables {
        request: String,
        answers: String,
        subtasks: String,
        trajectories: String,
        result: String,
        findings: String,
        windows: String,
    }
    let windows: Vec<String> = input.windows.iter().rev().map(window_line).collect();
    let windows = if windows.is_empty() { String::new() } else { untrusted("desktop", &windows.join("\n")) };
    let marks = input.marks;
    let reader = (&AgentRef::EvaluationAgent, marks);
    let (trajectories, subtasks) =
        others_texts(input.blackboard, input.subtasks, reader, &mut InFull::default());
    let message = render(
        "evaluation_user",
        &prompts.evaluation_user,
        &EvaluationPromptVariables {
            request: marks.said(input.request),
            answers: answers_text(input.blackboard, marks),
            subtasks: marks.number(&subtasks),
            trajectories: marks.number(&trajectories),
            result: marks.number(&untrusted("agents", &clip(input.result, RESULT_CHARS_MAX))),
            findings: marks.number(&untrusted("tool results", input.findings)),
            windows: marks.number(&windows),
        },
    )?;
    Ok(marks.introduced(message))
}
