//! The end of a sub-task and what follows: the next step of a plan, the next sub-task planned by the HostAgent, the end of
//! the round, or the HostAgent.

use std::collections::VecDeque;

use super::{
    config::Verify,
    decisions::assigns,
    ledgers::Ledgers,
    nested::end_nested,
    owner::SubtaskOwner,
    phases::{ObservedStep, RecordedStep},
    plan::PlanWorker,
    round::SubtaskStatus,
    turn::NextMove,
    verify::Doubt,
};
use crate::{
    agent::{AgentDefinition, AgentHome, AgentRef},
    known_tools::LAUNCH,
    observation::{DesktopView, Observation},
    outcome::OutcomeKind,
    prompt::result_text,
    reply::{AppReply, HostReply, NextSubtask, ProposedAction},
    states::HostTrigger,
};
use deskhand_ui::{WindowInfo, action::words::CallReportFormatter, ids::AgentId};

/// Continues after a sub-task that did not succeed: with the HostAgent, unless too many failed in a row. A failed step
/// ends a plan.
pub(super) fn subtask_failed(ledgers: &mut Ledgers, status: SubtaskStatus, reason: &str) -> NextMove {
    ledgers.round.failed();
    let kind = if status == SubtaskStatus::Rejected { OutcomeKind::Rejected } else { OutcomeKind::Failed };
    if ledgers.plans.is_nested() {
        // The agent that ran the workflow goes on from there.
        end_nested(ledgers, status, reason);
        back_to_host(ledgers)
    } else if ledgers.plans.performing().is_some() {
        ledgers.agents.host_mut().moves(HostTrigger::PlanFailed);
        NextMove::Finish(kind, reason.to_owned())
    } else if let Some(plan) = ledgers.plans.plan() {
        let (number, count) = plan.progress();
        ledgers.agents.host_mut().moves(HostTrigger::PlanFailed);
        NextMove::Finish(kind, format!("step {number} of {count} of the plan failed: {reason}"))
    } else if ledgers.round.failures_in_row() >= ledgers.config.limits.subtask_failures_max {
        ledgers.agents.host_mut().moves(HostTrigger::SubtasksExhausted);
        let count = ledgers.round.failures_in_row();
        NextMove::Finish(
            OutcomeKind::Failed,
            format!("{count} sub-tasks in a row failed; the last: {reason}"),
        )
    } else {
        back_to_host(ledgers)
    }
}

/// Continues after a sub-task that its agent reports as done, with the doubt that is left of it.
pub(super) fn subtask_finished(ledgers: &mut Ledgers, doubt: Option<Doubt>, result: String) -> NextMove {
    ledgers.round.succeeded(doubt.is_some());
    if ledgers.plans.performing().is_some() {
        return back_to_host(ledgers);
    }
    if let Some(next) = follows_plan(ledgers) {
        return next;
    }
    if ledgers.round.is_unheard() {
        return back_to_host(ledgers);
    }
    let trusted = match ledgers.config.verify {
        Verify::Always => false,
        Verify::Auto => !ledgers.round.is_unverified(),
        Verify::Never => true,
    };
    let next = ledgers.plans.take_next();
    match next {
        Some(mut next) if trusted => match next.pop_front() {
            Some(first) => next_subtask(ledgers, first, next),
            None => fulfilled(ledgers, result),
        },
        None if ledgers.config.verify == Verify::Never && host_has_no_plan(ledgers) => {
            fulfilled(ledgers, result)
        }
        next => {
            if let (Some(_), Some(doubt)) = (next, doubt) {
                ledgers.agents.host_mut().desk_mut().set_notice(doubt.notice());
            }
            back_to_host(ledgers)
        }
    }
}

/// Continues with the HostAgent, whose plans do not hold any more.
pub(super) fn back_to_host(ledgers: &mut Ledgers) -> NextMove {
    ledgers.plans.set_next(None);
    ledgers.agents.host_mut().moves(HostTrigger::SubtaskEnded);
    NextMove::HostStep
}

fn fulfilled(ledgers: &mut Ledgers, result: String) -> NextMove {
    ledgers.agents.host_mut().moves(HostTrigger::SubtaskVerified);
    NextMove::Finish(OutcomeKind::Finished, result)
}

fn host_has_no_plan(ledgers: &Ledgers) -> bool {
    ledgers.agents.host().desk().memory().last().is_some_and(|item| item.plan.is_empty())
}

/// Assigns a sub-task that the HostAgent planned ahead, in a step that needs no model.
fn next_subtask(ledgers: &mut Ledgers, next: NextSubtask, rest: VecDeque<NextSubtask>) -> NextMove {
    ledgers.agents.host_mut().moves(HostTrigger::SubtaskEnded);
    let number = match ledgers.take_step() {
        Ok(number) => number,
        Err(reason) => return NextMove::Exhaust(reason),
    };
    let taken = ledgers.agents.host().desk().memory().steps();
    let step = ledgers.step_ref(number, AgentRef::HostAgent, String::new(), taken);
    let windows = ledgers.targets.windows().to_vec();
    let observation = Observation::Desktop(DesktopView { windows, ..DesktopView::default() });
    let mut reply = assigns("as planned", next.subtask, next.target, next.launch);
    reply.message = next.message;
    reply.plan = rest.iter().map(|next| next.subtask.clone()).collect();
    reply.next = Some(rest.into());
    NextMove::HostDecision(Box::new(ObservedStep::without_model(step, observation).replied(reply)))
}

/// Assigns the next step of a plan; `None` if there is no plan, or no step left.
fn follows_plan(ledgers: &mut Ledgers) -> Option<NextMove> {
    let (place, step, message) = ledgers.plans.plan_mut()?.next_step()?;
    Some(match place {
        PlanWorker::Window(window) => assign(ledgers, SubtaskOwner::Window(window), step, message),
        PlanWorker::Agent(id) => match ledgers.targets.agent(id).cloned() {
            Some(agent) => assign_to_agent(ledgers, agent, step, message),
            None => NextMove::BreakOff(format!("the agent {id} of the plan is gone")),
        },
    })
}

/// Assigns a sub-task to an agent with steps.
pub(super) fn assign(
    ledgers: &mut Ledgers,
    owner: SubtaskOwner,
    subtask: String,
    message: Vec<String>,
) -> NextMove {
    let worker = owner.worker();
    let first_step = ledgers.budget.steps().saturating_add(1);
    ledgers.agents.assign(owner, (subtask, message), first_step);
    NextMove::AppStep(worker)
}

/// Assigns a sub-task to an agent without a window.
pub(super) fn assign_to_agent(
    ledgers: &mut Ledgers,
    agent: AgentDefinition,
    subtask: String,
    message: Vec<String>,
) -> NextMove {
    match agent.home {
        AgentHome::Steps(_) => assign(ledgers, SubtaskOwner::Agent(agent.id, agent.name), subtask, message),
        AgentHome::Delegate | AgentHome::Machine => NextMove::Delegate(Box::new(agent), subtask, message),
    }
}

/// The HostAgent's decision without a model: select the window of the plan, or start its application.
pub(super) fn plan_decides(ledgers: &mut Ledgers) -> Option<HostReply> {
    let (object, step) = ledgers.plans.plan_mut()?.try_object()?;
    let agent = ledgers.targets.agents().iter().find(|agent| agent.name.eq_ignore_ascii_case(&object));
    if let Some(agent) = agent {
        let id = Some(agent.id.to_string());
        return Some(assigns("the plan names this agent", step, id, None));
    }
    if let Some(window) = ledgers.targets.windows().iter().rev().find(|window| shows(window, &object)) {
        let id = Some(window.id.to_string());
        return Some(assigns("the plan names this window", step, id, None));
    }
    // Choosing an application for a document needs a model.
    if object.contains(['/', '\\', '.']) {
        return None;
    }
    let mut arguments = serde_json::Map::new();
    arguments.insert("name".to_owned(), object.into());
    let launch = ProposedAction { function: LAUNCH.to_owned(), arguments, expect: None, carries: Vec::new() };
    Some(assigns("the plan names this application", step, None, Some(launch)))
}

/// Assigns the first step of a plan to the window or agent that was selected; `None` if no plan waits for that.
pub(super) fn plan_begins(
    ledgers: &mut Ledgers,
    window: Option<WindowInfo>,
    agent: Option<AgentId>,
) -> Option<NextMove> {
    let plan = ledgers.plans.plan_mut().filter(|plan| plan.is_waiting())?;
    plan.place(agent.map(PlanWorker::Agent).or(window.map(PlanWorker::Window)));
    // Nothing follows the last step.
    ledgers.plans.set_next(Some(VecDeque::new()));
    follows_plan(ledgers)
}

/// Returns `true` if a window matches the object of a plan: an application, a document or a part of the title.
fn shows(window: &WindowInfo, object: &str) -> bool {
    let object = object.trim().to_lowercase();
    let file = object.rsplit(['/', '\\']).next().unwrap_or(&object);
    let (title, app) = (window.title.to_lowercase(), window.app.name.to_lowercase());
    title.contains(file) || app == object || app.contains(&object) || window.app.root.to_lowercase() == object
}

/// The result of a sub-task: the agent's own, and the output of its last actions.
pub(super) fn subtask_result(recorded: &RecordedStep<AppReply>, wording: CallReportFormatter) -> String {
    let mut parts: Vec<String> = recorded.reply.result.clone().into_iter().collect();
    parts.extend(recorded.actions.iter().map(|info| result_text(info, wording)));
    if parts.is_empty() {
        parts.push(recorded.reply.thought.clone());
    }
    parts.join("; ")
}
