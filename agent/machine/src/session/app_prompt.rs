//! Prompts of agents that work on sub-tasks.

use super::{
    app_agent::AppAgent,
    app_view::{operates, steps_of, tools_of},
    ledgers::Ledgers,
};
use crate::{
    agent::{AgentRef, SubtaskWorker},
    blackboard::SavedPicture,
    known_tools::RECALL,
    observation::Observation,
    prompt::{
        AgentInput, AppInput, Marks, PromptError, SubtaskInput, WindowPromptView, ZoomedPictures,
        agent_system_text, agent_user_text, app_user_text, operator_texts, system_message,
    },
    secret,
};

/// The most pictures of others in one question.
const KEPT_PICTURES_MAX: usize = 3;

/// The system and the user message of an agent with a sub-task.
///
/// # Errors
/// A prompt cannot be rendered, or the agent is gone.
pub(super) fn prompt_of(
    ledgers: &Ledgers,
    worker: SubtaskWorker,
    observation: &Observation,
    (sight, pictures, zoomed): (&WindowPromptView, &[SavedPicture], ZoomedPictures),
) -> Result<(String, String), PromptError> {
    let gone = || PromptError { name: "app_user", problem: format!("agent {worker} is gone") };
    let app = ledgers.agents.app(worker).ok_or_else(gone)?;
    let marks = marks_of(ledgers, app);
    match observation {
        Observation::Window(view) if matches!(worker, SubtaskWorker::Window(_)) => {
            let shown = view.surfaces.first().map(|surface| &surface.window.app);
            let application = shown.map_or("", |app| &app.name);
            let secrets = shown.map(|app| secret::listing(&ledgers.secrets(), &app.name, &app.root));
            let secrets = secrets.unwrap_or_default();
            let common = SubtaskInput { pictures, zoomed, ..input_of(ledgers, app, &marks) };
            let input = AppInput { common, application, secrets, sight };
            if operates(ledgers, worker) {
                return operator_texts(&ledgers.prompts, &input);
            }
            let tools = tools_of(ledgers, worker);
            let prompts = ledgers.prompts.app(shown);
            let system = system_message("app_system", prompts.system, &tools, prompts.examples)?;
            Ok((system, app_user_text(prompts.user, &input)?))
        }
        Observation::Agent(view) => {
            let steps = steps_of(ledgers, worker).ok_or_else(gone)?;
            let common = SubtaskInput { pictures, ..input_of(ledgers, app, &marks) };
            let word = app.word();
            let input = AgentInput { common, word, steps, view };
            Ok((agent_system_text(&app.agent().to_string(), steps)?, agent_user_text(&input)?))
        }
        Observation::Window(_) | Observation::Desktop(_) => Err(gone()),
    }
}

/// The pictures that others kept for an agent after a step, the newest ones.
pub(super) fn pictures_for(
    ledgers: &Ledgers,
    agent: &AgentRef,
    application: Option<&str>,
    after: u32,
) -> Vec<SavedPicture> {
    if !ledgers.config.pictures {
        return Vec::new();
    }
    let is_for = |saved: &&SavedPicture| {
        saved.step > after && saved.agent != *agent && saved.audience.is(agent, application)
    };
    let all: Vec<&SavedPicture> = ledgers.blackboard.pictures().filter(is_for).collect();
    all.into_iter().rev().take(KEPT_PICTURES_MAX).rev().cloned().collect()
}

/// The pictures that are kept for an agent with a sub-task, and that it was not shown yet.
pub(super) fn pictures_of(ledgers: &Ledgers, worker: SubtaskWorker) -> Vec<SavedPicture> {
    let Some(app) = ledgers.agents.app(worker).filter(|_| !operates(ledgers, worker)) else {
        return Vec::new();
    };
    let application = app.window().map(|window| window.app.name.as_str());
    pictures_for(ledgers, &app.agent(), application, app.desk().pictures_to())
}

/// The marks in the prompts of an agent: the same ones for a whole sub-task, because what its prompts begin with is cached.
pub(super) fn marks_of(ledgers: &Ledgers, app: &AppAgent) -> Marks {
    ledgers.marks(&format!("{} {}", app.worker(), app.first_step()))
}

/// The marks in the last prompt of an agent.
pub(super) fn marks_shown_to(ledgers: &Ledgers, app: &AppAgent) -> Marks {
    let Some(window) = app.window() else { return marks_of(ledgers, app) };
    let is_small = ledgers.config.roles.is_small(&app.agent(), Some(&window.app.name));
    if is_small { ledgers.small_marks() } else { marks_of(ledgers, app) }
}

/// The part of the input that all prompts of an agent with a sub-task have.
pub(super) fn input_of<'a>(ledgers: &'a Ledgers, app: &'a AppAgent, marks: &'a Marks) -> SubtaskInput<'a> {
    SubtaskInput {
        agent: app.agent(),
        request: ledgers.round.request(),
        subtask: app.subtask(),
        message: app.message(),
        subtasks: ledgers.round.subtasks(),
        blackboard: &ledgers.blackboard,
        memory: app.desk().memory(),
        wording: ledgers.wording,
        first_step: app.first_step(),
        notice: app.desk().notice(),
        hits: app.desk().hits(),
        hits_tokens: ledgers.config.retrieval.tokens_max,
        pictures: &[],
        zoomed: ZoomedPictures::default(),
        recalls: tools_of(ledgers, app.worker()).iter().any(|tool| tool.name == RECALL),
        marks,
    }
}
