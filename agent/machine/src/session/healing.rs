//! Questions about a step of a workflow that cannot be done as it is written.

use super::{
    decisions::{app_reply, stopped},
    ledgers::Ledgers,
    phases::ObservedStep,
    step_agent::StepPrompt,
};
use crate::{
    agent::SubtaskWorker,
    observation::Observation,
    prompt::{HealInput, Marks, PromptError, heal_texts},
    reply::{AppReply, HealChoice, HealReply, ReplyError},
    states::AppStatus,
    workflow::Heal,
};

/// The question about the step that cannot be done; `None` if there is none.
pub(super) fn heal_asking(
    ledgers: &Ledgers,
    worker: SubtaskWorker,
    observation: &Observation,
    marks: &Marks,
) -> Option<Result<StepPrompt, PromptError>> {
    let performing = ledgers.plans.performing()?;
    let (trouble, Observation::Window(view)) = (performing.trouble()?, observation) else { return None };
    let (app, step) = (ledgers.agents.app(worker)?, performing.step()?);
    let input = HealInput {
        request: ledgers.round.request(),
        label: performing.label(),
        step,
        trouble: &trouble.text,
        memory: app.desk().memory(),
        blackboard: &ledgers.blackboard,
        wording: ledgers.wording,
        view,
        tokens_max: ledgers.config.view.tokens_max,
        marks,
    };
    let asking = heal_texts(&ledgers.prompts, &input).map(|(system, user)| StepPrompt {
        system,
        examples: Vec::new(),
        user,
        kept: Vec::new(),
        picture: view.picture.clone(),
    });
    Some(asking)
}

/// Returns `true` if an agent is asked about a step of a workflow, rather than for its decision.
pub(super) fn is_healing(ledgers: &Ledgers, worker: SubtaskWorker) -> bool {
    matches!(worker, SubtaskWorker::Window(_)) && ledgers.plans.is_stuck()
}

/// Converts a model's reply about a step into the reply of the agent.
///
/// # Errors
/// The element is not in the window, or the reply is not valid.
pub(super) fn healed(ledgers: &Ledgers, observed: &ObservedStep, text: &str) -> Result<AppReply, ReplyError> {
    let reply = HealReply::parse(text)?;
    let (Some(performing), Observation::Window(view)) = (ledgers.plans.performing(), &observed.observation)
    else {
        return Err(ReplyError::field("choice", "there is no step to repair"));
    };
    let action = performing.chosen(reply.choice, view);
    let action = action.map_err(|problem| ReplyError::field("element", problem))?;
    let asks = performing.run.heal == Heal::Ask && action.is_some();
    let status = match &action {
        Some(_) if asks => AppStatus::Confirm,
        None if reply.choice == HealChoice::Stop => AppStatus::Fail,
        Some(_) | None => AppStatus::Continue,
    };
    let trouble = performing.trouble().map(|trouble| stopped(&performing.label(), trouble));
    let result = trouble
        .filter(|_| status == AppStatus::Fail)
        .map(|text| format!("{text} A model was asked: {}", reply.thought));
    let reply_to = app_reply(status, &reply.thought, action.into_iter().collect());
    Ok(AppReply { result, heal: Some(reply), ..reply_to })
}
