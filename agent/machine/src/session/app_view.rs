//! Differences between agents that work on sub-tasks: what they see, their tools, and the form of their replies.
//!
//! An AppAgent is the built-in kind, with the prompts and tools of the session; an agent of another kind
//! defines its own.

use std::borrow::Cow;

use serde_json::Value;

use super::{
    app_agent::AppAgent,
    healing::{healed, is_healing},
    ledgers::Ledgers,
    owner::SubtaskOwner,
    phases::ObservedStep,
};
use crate::{
    agent::{AgentHome, AgentSteps, SubtaskWorker},
    command::{ToolCommand, ToolSpec},
    known_tools::ZOOM,
    model::ReplyKind,
    observation::{Observation, ObservationTarget},
    operator::refine,
    prompt::WindowPromptView,
    reply::{
        AppReply, ReplyError, agent_reply_schema, app_reply_schema, operator_reply_schema, parse_agent_reply,
        parse_app_reply, parse_operator_reply, parse_small_app_reply,
    },
};
use deskhand_ui::PictureRef;

/// The definition of an agent of another kind; `None` for AppAgents and delegate agents.
pub(super) fn steps_of(ledgers: &Ledgers, worker: SubtaskWorker) -> Option<&AgentSteps> {
    let SubtaskWorker::Agent(id) = worker else { return None };
    match &ledgers.targets.agent(id)?.home {
        AgentHome::Steps(steps) => Some(steps),
        AgentHome::Delegate | AgentHome::Machine => None,
    }
}

/// Returns `true` if an agent works in pictures of its window.
pub(super) fn operates(ledgers: &Ledgers, worker: SubtaskWorker) -> bool {
    let Some(owner @ SubtaskOwner::Window(window)) = ledgers.agents.app(worker).map(AppAgent::owner) else {
        return false;
    };
    ledgers.config.pictures && ledgers.config.roles.operates(&owner.agent(), Some(&window.app.name))
}

pub(super) fn look_of(ledgers: &Ledgers, worker: SubtaskWorker) -> ObservationTarget {
    let picture = ledgers.config.pictures && !ledgers.plans.acts_without_model();
    match worker {
        // Its picture shows the window as it is.
        SubtaskWorker::Window(window) if operates(ledgers, worker) => {
            ObservationTarget::Window { window, picture, marks: Some(Vec::new()), words: Vec::new() }
        }
        SubtaskWorker::Window(window) => {
            let app = ledgers.agents.app(worker);
            let marks = app.and_then(AppAgent::marks).cloned();
            // Only listed elements are annotated, and these keywords decide what is listed.
            let marks_listed = picture && ledgers.config.view.marks && marks.is_none();
            let words = app.filter(|_| marks_listed).map(AppAgent::words).unwrap_or_default();
            ObservationTarget::Window { window, picture, marks, words }
        }
        SubtaskWorker::Agent(agent) => ObservationTarget::Agent { agent, picture },
    }
}

/// The tools of an agent: for an AppAgent those of its application, and none that shows pictures where there are none.
pub(super) fn tools_of(ledgers: &Ledgers, worker: SubtaskWorker) -> Cow<'_, [ToolSpec]> {
    if let Some(steps) = steps_of(ledgers, worker) {
        return Cow::Borrowed(&steps.tools);
    }
    let all = &ledgers.config.app_tools;
    let Some(window) = ledgers.agents.app(worker).and_then(AppAgent::window) else {
        return Cow::Borrowed(all);
    };
    let sees = ledgers.config.pictures;
    let has = |tool: &ToolSpec| tool.is_for(&window.app) && (sees || tool.name != ZOOM);
    if all.iter().all(has) {
        return Cow::Borrowed(all);
    }
    Cow::Owned(all.iter().filter(|tool| has(tool)).cloned().collect())
}

pub(super) fn reply_schema_of(ledgers: &Ledgers, worker: SubtaskWorker) -> (ReplyKind, Value) {
    match (steps_of(ledgers, worker), ledgers.agents.app(worker)) {
        (Some(steps), Some(app)) => (ReplyKind::Agent, agent_reply_schema(&steps.words_after(app.word()))),
        (None, Some(_)) if operates(ledgers, worker) => (ReplyKind::Operator, operator_reply_schema()),
        (Some(_) | None, _) => (ReplyKind::AppAgent, app_reply_schema()),
    }
}

/// Reads the reply to a question about `seen`.
pub(super) fn read_reply(
    ledgers: &Ledgers,
    worker: SubtaskWorker,
    seen: &Observation,
    text: &str,
) -> Result<AppReply, ReplyError> {
    let before = ledgers.agents.app(worker).and_then(AppAgent::word);
    match (steps_of(ledgers, worker), seen) {
        (Some(steps), _) => parse_agent_reply(text, steps, before),
        (None, Observation::Window(view)) if operates(ledgers, worker) => {
            let reply = parse_operator_reply(text)?;
            let actions = refine(&reply, view)?;
            Ok(reply.deciding(actions))
        }
        (None, _) => parse_app_reply(text),
    }
}

/// Returns the view of an agent's observation at `step`: all of it, or the changes.
pub(super) fn sight_of(
    ledgers: &mut Ledgers,
    worker: SubtaskWorker,
    observation: &Observation,
    step: u32,
) -> WindowPromptView {
    let config = ledgers.config.view.clone();
    let operates = operates(ledgers, worker);
    let Some(app) = ledgers.agents.app_mut(worker) else { return WindowPromptView::default() };
    match observation {
        // Each question shows it the picture: what it sees is nowhere else.
        Observation::Window(view) if operates => WindowPromptView {
            picture: view.picture.clone(),
            notices: view.notices.clone(),
            ..WindowPromptView::default()
        },
        Observation::Window(view) => app.see(view, step, &config),
        Observation::Agent(view) => {
            WindowPromptView { picture: view.picture.clone(), ..WindowPromptView::default() }
        }
        Observation::Desktop(_) => WindowPromptView::default(),
    }
}

/// The picture of an observation and its application.
pub(super) fn picture_of(
    ledgers: &Ledgers,
    worker: SubtaskWorker,
    seen: &Observation,
) -> (Option<PictureRef>, String) {
    match seen {
        Observation::Window(view) => {
            let name = view.surfaces.first().map(|surface| surface.window.app.name.clone());
            (view.picture.clone(), name.unwrap_or_default())
        }
        Observation::Agent(view) => {
            let app = ledgers.agents.app(worker);
            (view.picture.clone(), app.map(|app| app.agent().to_string()).unwrap_or_default())
        }
        Observation::Desktop(_) => (None, String::new()),
    }
}

/// Reads the reply to a question of an agent with a sub-task.
///
/// # Errors
/// The reply is not valid.
pub(super) fn read_app_reply(
    ledgers: &Ledgers,
    worker: SubtaskWorker,
    observed: &ObservedStep,
    text: &str,
) -> Result<AppReply, ReplyError> {
    match &observed.offer {
        _ if is_healing(ledgers, worker) => healed(ledgers, observed, text),
        Some(offer) => parse_small_app_reply(text)?.decided(offer),
        None => read_reply(ledgers, worker, &observed.observation, text),
    }
}

/// The commands of a reply, attributed to its agent.
pub(super) fn commands_of(reply: &AppReply, worker: SubtaskWorker) -> Vec<ToolCommand> {
    let (window, agent) = match worker {
        SubtaskWorker::Window(id) => (Some(id), None),
        SubtaskWorker::Agent(id) => (None, Some(id)),
    };
    reply
        .actions
        .iter()
        .map(|action| ToolCommand {
            tool: action.function.clone(),
            arguments: action.arguments.clone(),
            window,
            agent,
            carries: action.carries.clone(),
            ..ToolCommand::default()
        })
        .collect()
}
