//! The question about a step of a workflow that cannot be done as it is written.

use serde::Serialize;

use super::{
    PromptError, PromptSet, ViewListOptions,
    history::{answers_text, step_text},
    marks::Marks,
    set::render,
    view::view_text,
};
use crate::{blackboard::Blackboard, memory::AgentMemory, workflow::WorkflowStep};
use deskhand_ui::{
    WindowView,
    action::words::CallReportFormatter,
    text::{one_line, untrusted},
};

/// The most steps before it that are told.
const STEPS_SHOWN: usize = 3;

/// Input of the question.
pub(crate) struct HealInput<'a> {
    pub(crate) request: &'a str,
    /// The number of the step, as in 3 or 4.2.
    pub(crate) label: String,
    pub(crate) step: &'a WorkflowStep,
    /// Why it cannot be done.
    pub(crate) trouble: &'a str,
    pub(crate) memory: &'a AgentMemory,
    pub(crate) blackboard: &'a Blackboard,
    pub(crate) wording: CallReportFormatter,
    pub(crate) view: &'a WindowView,
    /// Token limit (estimated) of the listing.
    pub(crate) tokens_max: usize,
    pub(crate) marks: &'a Marks,
}

/// The system and the user message.
///
/// # Errors
/// [`PromptError`] if a template is invalid.
pub(crate) fn heal_texts(
    prompts: &PromptSet,
    input: &HealInput<'_>,
) -> Result<(String, String), PromptError> {
    #[derive(Serialize)]
    struct NoHealVariables {}
    #[derive(Serialize)]
    struct HealPromptVariables {
        request: String,
        step: String,
        about: String,
        call: String,
        trouble: String,
        steps: String,
        answers: String,
        application: String,
        surfaces: String,
    }
    let marks = input.marks;
    let last: Vec<String> = input
        .memory
        .items()
        .rev()
        .take(STEPS_SHOWN)
        .map(|item| step_text(item, input.wording, marks))
        .collect();
    let steps = last.into_iter().rev().collect::<Vec<_>>().join("\n");
    let steps = if steps.is_empty() { steps } else { marks.number(&untrusted("tool results", &steps)) };
    let application = input.view.surfaces.first().map_or("", |surface| surface.window.app.name.as_str());
    let aims: Vec<String> = input
        .step
        .aims
        .iter()
        .map(|(argument, selector)| format!("{argument}: {}", selector.describe()))
        .collect();
    let call = format!("{} on {}", input.step.call, aims.join(", "));
    // Words of the step decide what is listed of a large window.
    let words = super::relevant_words([input.step.about.as_str(), call.as_str()].into_iter());
    let options = ViewListOptions { tokens_max: input.tokens_max, words };
    let variables = HealPromptVariables {
        request: marks.said(input.request),
        step: input.label.clone(),
        about: marks.told(&input.step.about),
        call: marks.told(&one_line(&call)),
        trouble: marks.number(&untrusted("tool results", input.trouble)),
        steps,
        answers: answers_text(input.blackboard, marks),
        application: marks.name("desktop", application),
        surfaces: marks.number(&view_text(input.view, &options)),
    };
    let system = render("heal_system", &prompts.heal_system, &NoHealVariables {})?;
    Ok((system, marks.introduced(render("heal_user", &prompts.heal_user, &variables)?)))
}
