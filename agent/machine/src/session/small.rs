//! Requests of agents to a small model ([`crate::small`]).

use super::{
    app_prompt::input_of, app_view::tools_of, ledgers::Ledgers, round::SubtaskStatus, step_agent::StepPrompt,
};
use crate::{
    agent::{AgentRef, SubtaskWorker},
    memory::MemoryItem,
    observation::Observation,
    prompt::{
        PromptError, SmallAppInput, SmallHostInput, SmallPromptPrefix, escape_name, small_app_text,
        small_host_text, small_values_text, titled_elements,
    },
    secret,
    small::{ALL_DONE, DONE, FAIL, NONE, NOTHING_FITS, OfferTarget, SmallModelOffer, Thing, ToolForm},
    workflow::WorkflowOffer,
};
use deskhand_ui::{
    WindowInfo,
    text::{clip, one_line},
};

/// The longest introduction of an agent in an offer, in characters.
const INTRODUCTION_CHARS_MAX: usize = 100;

/// Returns the choices of the HostAgent: windows, topmost first, agents, and applications to start. `None` if
/// its model is not small.
pub(super) fn host_offer(ledgers: &Ledgers) -> Option<SmallModelOffer> {
    if !ledgers.config.roles.is_small(&AgentRef::HostAgent, None) {
        return None;
    }
    let window = |window: &WindowInfo| {
        Thing::new(&title_of(window), "", OfferTarget::Target(window.id.to_string())).kept(window.active)
    };
    let windows = ledgers.targets.windows().iter().rev().map(window);
    let agents = ledgers.targets.agents().iter().map(|agent| {
        let introduction = clip(&one_line(&agent.introduction), INTRODUCTION_CHARS_MAX);
        Thing::new(&agent.name, format!("— {introduction}"), OfferTarget::Target(agent.id.to_string()))
    });
    let applications = ledgers.config.applications.iter().flatten().map(|application| {
        let name = application.name.clone();
        Thing::new(&format!("start {name}"), "", OfferTarget::Launch(name))
    });
    let workflows = ledgers.targets.workflows().iter().map(|workflow| {
        let about = clip(&one_line(&workflow.about), INTRODUCTION_CHARS_MAX);
        let title = format!("do {}", workflow.name);
        Thing::new(&title, format!("— {about}"), OfferTarget::Workflow(Box::new(workflow.clone())))
    });
    let things: Vec<Thing> = windows.chain(agents).chain(workflows).chain(applications).collect();
    let ended = |status: SubtaskStatus| ledgers.round.subtasks().iter().any(|one| one.status == status);
    let failed = ledgers.agents.host().desk().memory().last().is_some_and(has_failed)
        && ledgers.round.subtasks().is_empty();
    let fails = ended(SubtaskStatus::Failed) || failed || things.is_empty();
    let ends = [(ended(SubtaskStatus::Finished), ALL_DONE), (fails, NOTHING_FITS)];
    let ends = ends.into_iter().filter_map(|(is_offered, end)| is_offered.then_some(end));
    let offer = SmallModelOffer::new(
        ledgers.round.request().to_owned(),
        things,
        Vec::new(),
        &[ALL_DONE, NOTHING_FITS],
    );
    Some(offer.ending(ends))
}

/// Returns the choices of an AppAgent. `None` if its model is not small, or it has no window.
pub(super) fn app_offer(
    ledgers: &Ledgers,
    worker: SubtaskWorker,
    observation: &Observation,
) -> Option<SmallModelOffer> {
    let (SubtaskWorker::Window(_), Observation::Window(view)) = (worker, observation) else {
        return None;
    };
    let app = ledgers.agents.app(worker)?;
    let application = observation.application().map(|app| app.name.as_str());
    if !ledgers.config.roles.is_small(&app.agent(), application) {
        return None;
    }
    let elements = titled_elements(view).into_iter().map(|element| {
        Thing::new(&element.title, element.more, OfferTarget::Element(element.id)).only_read(!element.acts)
    });
    let tools: Vec<ToolForm> = tools_of(ledgers, worker).iter().filter_map(ToolForm::of).collect();
    let own = || app.own_steps();
    let worked = own().any(|item| !item.actions.is_empty() && !has_failed(item));
    let fails = own().next().is_some() || tools.is_empty();
    let ends = [(worked, DONE), (fails, FAIL)];
    let ends = ends.into_iter().filter_map(|(is_offered, end)| is_offered.then_some(end));
    let offer =
        SmallModelOffer::new(app.subtask().to_owned(), elements.collect(), tools, &[NONE, DONE, FAIL]);
    Some(offer.ending(ends))
}

/// The HostAgent's question.
///
/// # Errors
/// A prompt cannot be rendered.
pub(super) fn small_host_asking(
    ledgers: &Ledgers,
    notice: &str,
    offer: &SmallModelOffer,
) -> Result<StepPrompt, PromptError> {
    let (prompts, marks) = (&ledgers.prompts, ledgers.small_marks());
    let begins = SmallPromptPrefix {
        system: &prompts.small_host_system,
        examples: &prompts.small_host_examples,
        user: &prompts.small_host_user,
        can_end: offer.ends().next().is_some(),
        marks: &marks,
    };
    let input = SmallHostInput {
        request: ledgers.round.request(),
        blackboard: &ledgers.blackboard,
        subtasks: ledgers.round.subtasks(),
        memory: ledgers.agents.host().desk().memory(),
        wording: ledgers.wording,
        notice,
        offer,
        marks: &marks,
    };
    let (system, examples) = begins.of_host()?;
    Ok(StepPrompt {
        system,
        examples,
        user: small_host_text(begins.user, &input)?,
        kept: Vec::new(),
        picture: None,
    })
}

/// The question for the values of a workflow.
///
/// # Errors
/// A prompt cannot be rendered.
pub(super) fn small_values_asking(
    ledgers: &Ledgers,
    workflow: &WorkflowOffer,
) -> Result<StepPrompt, PromptError> {
    let (prompts, marks) = (&ledgers.prompts, ledgers.small_marks());
    let begins = SmallPromptPrefix {
        system: &prompts.small_values_system,
        examples: &prompts.small_values_examples,
        user: &prompts.small_values_user,
        can_end: true,
        marks: &marks,
    };
    let (system, examples) = begins.of_values()?;
    let user =
        small_values_text(begins.user, (ledgers.round.request(), &ledgers.blackboard), workflow, &marks)?;
    Ok(StepPrompt { system, examples, user, kept: Vec::new(), picture: None })
}

/// An AppAgent's question.
///
/// # Errors
/// A prompt cannot be rendered.
pub(super) fn small_app_asking(
    ledgers: &Ledgers,
    worker: SubtaskWorker,
    observation: &Observation,
    offer: &SmallModelOffer,
) -> Result<StepPrompt, PromptError> {
    let gone = || PromptError { name: "small_app_user", problem: format!("agent {worker} is gone") };
    let app = ledgers.agents.app(worker).ok_or_else(gone)?;
    let (prompts, marks) = (&ledgers.prompts, ledgers.small_marks());
    let begins = SmallPromptPrefix {
        system: &prompts.small_app_system,
        examples: &prompts.small_app_examples,
        user: &prompts.small_app_user,
        can_end: offer.ends().next().is_some(),
        marks: &marks,
    };
    let shown = observation.application();
    let secrets = shown.map(|app| secret::listing(&ledgers.secrets(), &app.name, &app.root));
    let input = SmallAppInput {
        common: input_of(ledgers, app, &marks),
        application: shown.map_or("", |app| &app.name),
        secrets: &secrets.unwrap_or_default(),
        offer,
    };
    let (system, examples) = begins.of_app()?;
    Ok(StepPrompt {
        system,
        examples,
        user: small_app_text(begins.user, &input)?,
        kept: Vec::new(),
        picture: None,
    })
}

/// Returns `true` if a call of a step failed or was not run.
fn has_failed(item: &MemoryItem) -> bool {
    item.actions.iter().any(|info| !info.result.is_success())
}

/// The title of a window, with the name of its application.
fn title_of(window: &WindowInfo) -> String {
    let (title, application) = (window.title.trim(), window.app.name.trim());
    if title.to_lowercase().contains(&application.to_lowercase()) {
        return escape_name(title);
    }
    if title.is_empty() { application.to_owned() } else { format!("{} - {application}", escape_name(title)) }
}
