//! Rounds that are a workflow: HostAgent and AppAgents decide by its steps, and a model is only asked about a step that cannot be done as
//! it is written.

use super::{
    app_view::tools_of,
    decisions::{app_reply, assigns, ends, stopped, with_action},
    ledgers::Ledgers,
    nested::{end_nested, returns_to_interrupted},
    round::SubtaskStatus,
};
use crate::{
    agent::SubtaskWorker,
    command::ActionCommandInfo,
    intent::Does,
    observation::Observation,
    reply::{AppReply, HealReply, HostReply},
    states::{AppStatus, HostStatus},
    workflow::{NextWindowStep, Where, WorkflowCalls, WorkflowExecution, WorkflowRun, stranger_of},
};
use deskhand_ui::WindowView;

/// Begins a round that is a workflow. Its values and the texts of its steps are the user's, who has made or trusts the file. Of a
/// stranger's, only the values that were given are; it opens its documents itself, so that each goes through the gate.
pub(super) fn begin_workflow(ledgers: &mut Ledgers, run: WorkflowRun) {
    let performing = if run.provenance.is_users() {
        for text in run.values.values().cloned().chain(run.workflow.texts()) {
            ledgers.people.says(&text);
        }
        WorkflowExecution::new(run)
    } else {
        run.given().for_each(|text| ledgers.people.says(text));
        ledgers.sources.add_foreign(stranger_of(&run.workflow.name), &run.workflow.texts());
        WorkflowExecution::opening_documents(run)
    };
    ledgers.plans.perform(performing);
}

/// The HostAgent's decision by the workflow of the round; `None` if the round is none.
pub(super) fn workflow_decides(ledgers: &mut Ledgers) -> Option<HostReply> {
    let windows = ledgers.targets.windows().to_vec();
    let Some(performing) = ledgers.plans.performing_mut() else {
        return returns_to_interrupted(ledgers, &windows);
    };
    let label = performing.label();
    let thought = format!("step {label} of the workflow");
    let name = performing.run.workflow.name.clone();
    let place = performing.place(&windows);
    if ledgers.plans.is_nested() {
        match &place {
            Where::Done => end_nested(ledgers, SubtaskStatus::Finished, "all steps are done"),
            Where::Stuck(trouble) => end_nested(ledgers, SubtaskStatus::Failed, &stopped(&label, trouble)),
            Where::Window(..) | Where::Start(_) | Where::Host(..) => {}
        }
        if ledgers.plans.performing().is_none() {
            return returns_to_interrupted(ledgers, &windows);
        }
    }
    Some(match place {
        Where::Window(window, about) => {
            let subtask = format!("Workflow {name}, from step {label}: {about}");
            assigns(&thought, subtask, Some(window.to_string()), None)
        }
        Where::Start(action) => with_action(&thought, action),
        Where::Host(action, about) => with_action(&about, *action),
        Where::Done => {
            ends(HostStatus::Finish, "all steps of the workflow are done", format!("{name} is done"))
        }
        Where::Stuck(trouble) => ends(HostStatus::Fail, "a step cannot be done", stopped(&label, &trouble)),
    })
}

/// An AppAgent's decision by the workflow of the round; `None` if the round is none, or a model is to be asked about the step.
pub(super) fn workflow_acts(
    ledgers: &mut Ledgers,
    worker: SubtaskWorker,
    observation: &Observation,
) -> Option<AppReply> {
    let (SubtaskWorker::Window(window), Observation::Window(view)) = (worker, observation) else {
        return None;
    };
    let tools = tools_of(ledgers, worker).into_owned();
    let does = |name: &str| tools.iter().find(|tool| tool.name == name).map_or(Does::Other, |tool| tool.does);
    let performing = ledgers.plans.performing_mut()?;
    let label = performing.label();
    let next = performing.next_in(window, view, &does);
    Some(match next {
        NextWindowStep::Act(WorkflowCalls { actions, about, are_last }) => {
            let status = if are_last { AppStatus::Finish } else { AppStatus::Continue };
            let result = are_last.then(|| about.clone());
            AppReply { result, ..app_reply(status, &about, actions) }
        }
        NextWindowStep::Elsewhere => {
            app_reply(AppStatus::Finish, "nothing of the workflow is left to do here", Vec::new())
        }
        NextWindowStep::Stuck(trouble) => {
            if performing.heals() {
                return None;
            }
            let result = Some(stopped(&label, &trouble));
            AppReply { result, ..app_reply(AppStatus::Fail, "the step cannot be done", Vec::new()) }
        }
    })
}

/// Takes in what came of a step.
pub(super) fn workflow_recorded(
    ledgers: &mut Ledgers,
    heal: Option<(&HealReply, &WindowView)>,
    actions: &[ActionCommandInfo],
) {
    if let Some(performing) = ledgers.plans.performing_mut() {
        if let Some((reply, view)) = heal {
            performing.choose(reply, view);
        }
        performing.recorded(actions);
    }
}
