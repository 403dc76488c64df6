//! Workflows that an agent runs within a round: how they begin, what they leave, and who goes on after them.
//!
//! The call of the agent returns the whole workflow with its values. From then on the round is performed like one that is a workflow
//! (`workflow.rs`), until all steps are done or one cannot be done. Then the HostAgent is asked again, or the AppAgent that ran it goes on
//! with its sub-task.

use serde_json::{Map, Value};

use super::{
    commands::unknown_workflow,
    decisions::assigns,
    interrupted::InterruptedSubtask,
    ledgers::Ledgers,
    phases::RecordedStep,
    planned_work::PlannedWork,
    round::{SubtaskRecord, SubtaskStatus},
    turn::NextMove,
};
use crate::{
    agent::{AgentRef, SubtaskWorker},
    command::{CallResult, ToolCommand},
    known_tools::RUN_WORKFLOW,
    reply::{AppReply, HostReply},
    states::{AppStatus, AppTrigger, HostStatus, HostTrigger},
    workflow::{WorkflowExecution, WorkflowRun, given_values},
};
use deskhand_ui::{
    WindowInfo,
    action::Verdict,
    ids::WindowId,
    text::{clip, one_line},
};

/// The longest value of a parameter in the record of a workflow, in characters.
const VALUE_CHARS_MAX: usize = 60;

/// Takes the workflow out of the result of its call: agents are told how it ends, not what it is.
pub(super) fn take_workflow(plans: &mut PlannedWork, tool: &str, result: &mut CallResult) {
    if tool != RUN_WORKFLOW || !result.is_success() {
        return;
    }
    let output = std::mem::take(&mut result.output);
    let read = serde_json::from_value::<WorkflowRun>(output).map_err(|error| error.to_string());
    let checked = read.and_then(|run| match run.workflow.check() {
        Ok(()) => Ok(run),
        Err(error) => Err(error.to_string()),
    });
    match checked {
        Ok(run) => plans.nesting_mut().called(run),
        Err(problem) => {
            let why = format!("the workflow cannot be run: {problem}");
            *result = CallResult::failure(Some(Verdict::Refused), why);
        }
    }
}

/// The command for a target that is a workflow, with the parameters of the reply's action; `None` for other targets.
pub(super) fn workflow_command(ledgers: &Ledgers, reply: &HostReply) -> Option<ToolCommand> {
    let assigns = matches!(reply.status, HostStatus::Assign | HostStatus::Continue | HostStatus::Confirm);
    let target = reply.target.as_deref().filter(|_| assigns)?;
    let offer = ledgers.targets.workflow(target)?;
    let action = reply.action.as_ref().filter(|action| action.function == RUN_WORKFLOW);
    let mut arguments = Map::from_iter([("name".to_owned(), Value::from(offer.name.clone()))]);
    let parameters = action.and_then(|action| action.arguments.get("parameters"));
    arguments.extend(parameters.map(|given| ("parameters".to_owned(), given.clone())));
    Some(ToolCommand { tool: RUN_WORKFLOW.to_owned(), arguments, ..ToolCommand::default() })
}

/// Refuses the call of a workflow that is not offered, or whose values are missing or wrong.
pub(super) fn unfit_workflow(ledgers: &Ledgers, command: &ToolCommand) -> Option<CallResult> {
    if command.tool != RUN_WORKFLOW {
        return None;
    }
    let refused = |why: String| Some(CallResult::failure(Some(Verdict::Refused), why));
    if ledgers.plans.performing().is_some() {
        return refused("a workflow does not run another one".to_owned());
    }
    let name = command.arguments.get("name").and_then(Value::as_str).unwrap_or_default().trim();
    let offers = &ledgers.config.workflows;
    let Some(offer) = offers.iter().find(|offer| offer.name == name) else {
        return refused(unknown_workflow(name, offers));
    };
    let given = match given_values(&command.arguments) {
        Ok(given) => given,
        Err(problem) => return refused(problem),
    };
    match offer.values(&given) {
        Ok(_) => None,
        Err(problem) => refused(format!("{problem}; values are given in `parameters`, nothing was done")),
    }
}

/// The HostAgent runs a workflow. `is_trusted` says whether nothing from outside can have led it to that.
pub(super) fn host_runs(
    ledgers: &mut Ledgers,
    run: WorkflowRun,
    recorded: &RecordedStep<HostReply>,
    is_trusted: bool,
) -> NextMove {
    ledgers.agents.host_mut().moves(match recorded.approved {
        true => HostTrigger::Approved,
        false => HostTrigger::Said(HostStatus::Continue),
    });
    begin_nested(ledgers, run, AgentRef::HostAgent, is_trusted || recorded.approved)
}

/// An AppAgent runs a workflow: its sub-task waits until that has ended.
pub(super) fn app_runs(
    ledgers: &mut Ledgers,
    worker: SubtaskWorker,
    run: WorkflowRun,
    recorded: &RecordedStep<AppReply>,
) -> NextMove {
    ledgers.agents.app_moves(
        worker,
        match recorded.approved {
            true => AppTrigger::Approved,
            false => AppTrigger::Said(AppStatus::Continue),
        },
    );
    let next = ledgers.plans.take_next();
    let (SubtaskWorker::Window(window), Some(app)) = (worker, ledgers.agents.app(worker)) else {
        return NextMove::BreakOff(format!("{worker} has no window that a workflow could return to"));
    };
    let (agent, subtask, message) = (app.agent(), app.subtask().to_owned(), app.message().to_vec());
    let first_step = app.first_step();
    let interrupted = InterruptedSubtask::new((window, agent.clone()), (subtask, message), first_step, next);
    ledgers.plans.nesting_mut().interrupt(interrupted);
    ledgers.agents.host_mut().moves(HostTrigger::SubtaskEnded);
    begin_nested(ledgers, run, agent, recorded.approved)
}

/// Begins a workflow within the round. Its values are those of a model, never the user's words. Its texts are the user's, who has made
/// or trusts the file, as long as no text from outside can have led to it: otherwise a page could have something sent to whom a file
/// names.
fn begin_nested(ledgers: &mut Ledgers, run: WorkflowRun, by: AgentRef, is_trusted: bool) -> NextMove {
    let is_users = run.provenance.is_users();
    let words = (is_trusted && is_users).then(|| {
        let mut words = run.workflow.texts();
        words.extend(run.workflow.applications());
        words
    });
    ledgers.plans.nesting_mut().begin(by, words);
    ledgers.plans.perform(WorkflowExecution::opening_documents(run));
    NextMove::HostStep
}

/// Ends the workflow in progress because the user wants something else; `false` if there is none.
pub(super) fn instructed_instead(ledgers: &mut Ledgers, instruction: &str) -> bool {
    let is_running = ledgers.plans.is_nested();
    if is_running {
        end_nested(ledgers, SubtaskStatus::Rejected, &format!("the user said: {instruction}"));
    }
    is_running
}

/// Ends the workflow in progress, with what came of it.
pub(super) fn end_nested(ledgers: &mut Ledgers, status: SubtaskStatus, reason: &str) {
    let Some(performing) = ledgers.plans.take_performing() else { return };
    let by = ledgers.plans.nesting_mut().stop();
    let end = performing.end();
    let (name, calls) = (end.name.clone(), end.done);
    let values = performing.run.values.iter();
    let values: Vec<String> =
        values.map(|(name, value)| format!("{name}: {}", clip(&one_line(value), VALUE_CHARS_MAX))).collect();
    let with = if values.is_empty() { String::new() } else { format!(" ({})", values.join(", ")) };
    let unseen = match end.unseen {
        0 => String::new(),
        unseen => format!("; the effect of {unseen} of them was not seen"),
    };
    let result = format!("{reason}; calls that were done: {calls}{unseen}");
    ledgers.round.archive(SubtaskRecord {
        subtask: format!("workflow {name}{with}"),
        agent: by,
        status,
        result,
    });
    let ended = match status {
        SubtaskStatus::Finished => "is done",
        SubtaskStatus::Failed | SubtaskStatus::Rejected | SubtaskStatus::Error => {
            "stopped before its end; what was done stays done"
        }
    };
    let notice = format!("The workflow `{name}` {ended}. Its sub-task tells more. Go on from there.");
    if let Some(notice) = ledgers.plans.nesting_mut().notify(notice) {
        ledgers.agents.host_mut().desk_mut().set_notice(notice);
    }
    ledgers.plans.nesting_mut().end(end);
}

/// The step that goes back to the AppAgent whose sub-task ran a workflow; `None` if there is none, or its window is gone.
pub(super) fn returns_to_interrupted(ledgers: &mut Ledgers, windows: &[WindowInfo]) -> Option<HostReply> {
    let nesting = ledgers.plans.nesting_mut();
    let window = nesting.interrupted()?.window;
    let is_open = windows.iter().any(|one| one.id == window);
    if !is_open || !nesting.try_return() {
        let (InterruptedSubtask { agent, subtask, .. }, notice) = nesting.give_up()?;
        let result = "its window is gone since the workflow that it ran".to_owned();
        ledgers.round.archive(SubtaskRecord { subtask, agent, status: SubtaskStatus::Failed, result });
        ledgers.agents.host_mut().desk_mut().set_notice(notice);
        return None;
    }
    let interrupted = nesting.interrupted()?;
    let window = Some(interrupted.window.to_string());
    let thought = "back to the sub-task that ran the workflow";
    let reply = assigns(thought, interrupted.subtask.clone(), window, None);
    let next = interrupted.next.clone().map(Vec::from);
    Some(HostReply { message: interrupted.message.clone(), next, ..reply })
}

/// An AppAgent goes on with the sub-task that it was at before the workflow.
pub(super) fn returned_to(ledgers: &mut Ledgers, window: WindowId) {
    let Some(resumed) = ledgers.plans.nesting_mut().resumed_in(window) else { return };
    if let Some(app) = ledgers.agents.app_mut(SubtaskWorker::Window(window)) {
        app.resume(resumed);
    }
}

/// Returns `true` if the memory of an agent goes on after the workflow in progress, because that interrupted its sub-task.
pub(super) fn is_interrupted(ledgers: &Ledgers, worker: SubtaskWorker) -> bool {
    let interrupted = ledgers.plans.nesting().interrupted();
    interrupted.is_some_and(|one| SubtaskWorker::Window(one.window) == worker)
}
