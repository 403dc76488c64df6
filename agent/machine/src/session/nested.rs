//! Workflows that an agent runs within a round: how they begin, what they leave, and who goes on after them.
//!
//! The call of the agent returns the whole workflow with its values. From then on the round is performed like one that is a workflow
//! (`workflow.rs`), until all steps are done or one cannot be done. Then the HostAgent is asked again, or the AppAgent that ran it goes on
//! with its sub-task.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{
    commands::unknown_workflow,
    host::HostAgentKind,
    phases::RecordedStep,
    round::{SubtaskRecord, SubtaskStatus},
    state::Session,
    subtask::assigns,
};
use crate::{
    agent::{AgentRef, SubtaskWorker},
    command::{CallResult, ToolCommand},
    known_tools::RUN_WORKFLOW,
    reply::{AppReply, HostReply, NextSubtask},
    states::{AppStatus, AppTrigger, HostStatus, HostTrigger},
    workflow::{WorkflowEnd, WorkflowExecution, WorkflowRun, given_values},
};
use deskhand_ui::{
    WindowInfo,
    action::Verdict,
    ids::WindowId,
    text::{clip, one_line},
};

/// The longest value of a parameter in the record of a workflow, in characters.
const VALUE_CHARS_MAX: usize = 60;

/// The workflows that agents run within a round.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct NestedWorkflows {
    /// The one whose call has just returned.
    begun: Option<Box<WorkflowRun>>,
    /// The agent that runs the one in progress.
    by: Option<AgentRef>,
    /// The texts of the one in progress that count as the user's.
    words: Vec<String>,
    /// The sub-task that is gone on with afterwards.
    interrupted: Option<InterruptedSubtask>,
    /// Ends of the earlier workflows.
    ended: Vec<WorkflowEnd>,
    /// The steps that they took. They are as many as the workflow has, so they count for no limit of the round.
    pub(super) steps: u32,
}

/// A sub-task whose AppAgent ran a workflow.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct InterruptedSubtask {
    window: WindowId,
    agent: AgentRef,
    subtask: String,
    message: Vec<String>,
    /// The first step of the sub-task.
    first_step: u32,
    /// Sub-tasks planned after it.
    next: Option<VecDeque<NextSubtask>>,
    /// Set once its window was selected again.
    tried: bool,
    /// Notice to its agent when it continues.
    notice: String,
}

impl NestedWorkflows {
    /// The most ends that are kept.
    const ENDED_MAX: usize = 20;

    /// Returns `true` if a workflow that an agent ran is in progress.
    pub(super) const fn is_running(&self) -> bool {
        self.by.is_some()
    }

    /// The texts of the workflow in progress that count as the user's.
    pub(super) fn words(&self) -> impl Iterator<Item = &str> {
        self.words.iter().map(String::as_str)
    }

    /// Allows decisions that were made without a model and not carried out to be made once more.
    pub(super) fn anew(&mut self) {
        if let Some(interrupted) = &mut self.interrupted {
            interrupted.tried = false;
        }
    }

    fn end(&mut self, end: WorkflowEnd) {
        if self.ended.len() < Self::ENDED_MAX {
            self.ended.push(end);
        }
    }
}

impl Session {
    /// Takes the workflow out of the result of its call: agents are told how it ends, not what it is.
    pub(super) fn take_workflow(&mut self, tool: &str, result: &mut CallResult) {
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
            Ok(run) => self.round.nesting.begun = Some(Box::new(run)),
            Err(problem) => {
                let why = format!("the workflow cannot be run: {problem}");
                *result = CallResult::failure(Some(Verdict::Refused), why);
            }
        }
    }

    /// The workflow whose call has just returned.
    pub(super) fn begun_workflow(&mut self) -> Option<WorkflowRun> {
        self.round.nesting.begun.take().map(|run| *run)
    }

    /// The command for a target that is a workflow, with the parameters of the reply's action; `None` for other targets.
    pub(super) fn workflow_command(&self, reply: &HostReply) -> Option<ToolCommand> {
        let assigns = matches!(reply.status, HostStatus::Assign | HostStatus::Continue | HostStatus::Confirm);
        let target = reply.target.as_deref().filter(|_| assigns)?;
        let offer = self.targets.workflow(target)?;
        let action = reply.action.as_ref().filter(|action| action.function == RUN_WORKFLOW);
        let mut arguments = Map::from_iter([("name".to_owned(), Value::from(offer.name.clone()))]);
        let parameters = action.and_then(|action| action.arguments.get("parameters"));
        arguments.extend(parameters.map(|given| ("parameters".to_owned(), given.clone())));
        Some(ToolCommand { tool: RUN_WORKFLOW.to_owned(), arguments, ..ToolCommand::default() })
    }

    /// Refuses the call of a workflow that is not offered, or whose values are missing or wrong.
    pub(super) fn unfit_workflow(&self, command: &ToolCommand) -> Option<CallResult> {
        if command.tool != RUN_WORKFLOW {
            return None;
        }
        let refused = |why: String| Some(CallResult::failure(Some(Verdict::Refused), why));
        if self.round.performing.is_some() {
            return refused("a workflow does not run another one".to_owned());
        }
        let name = command.arguments.get("name").and_then(Value::as_str).unwrap_or_default().trim();
        let offers = &self.config.workflows;
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
        &mut self,
        run: WorkflowRun,
        recorded: &RecordedStep<HostReply>,
        is_trusted: bool,
    ) {
        self.host.moves(match recorded.approved {
            true => HostTrigger::Approved,
            false => HostTrigger::Said(HostStatus::Continue),
        });
        self.begin_nested(run, AgentRef::HostAgent, is_trusted || recorded.approved);
    }

    /// An AppAgent runs a workflow: its sub-task waits until that has ended.
    pub(super) fn app_runs(
        &mut self,
        worker: SubtaskWorker,
        run: WorkflowRun,
        recorded: &RecordedStep<AppReply>,
    ) {
        self.app_moves(
            worker,
            match recorded.approved {
                true => AppTrigger::Approved,
                false => AppTrigger::Said(AppStatus::Continue),
            },
        );
        let next = self.round.next.take();
        let (SubtaskWorker::Window(window), Some(app)) = (worker, self.app(worker)) else {
            self.break_off(format!("{worker} has no window that a workflow could return to"));
            return;
        };
        let (agent, subtask, message) = (app.owner.agent(), app.subtask.clone(), app.message.clone());
        let interrupted = InterruptedSubtask {
            window,
            agent: agent.clone(),
            subtask,
            message,
            first_step: app.first_step,
            next,
            tried: false,
            notice: String::new(),
        };
        self.round.nesting.interrupted = Some(interrupted);
        self.host.moves(HostTrigger::SubtaskEnded);
        self.begin_nested(run, agent, recorded.approved);
    }

    /// Begins a workflow within the round. Its values are those of a model, never the user's words. Its texts are the user's, who has made
    /// or trusts the file, as long as no text from outside can have led to it: otherwise a page could have something sent to whom a file
    /// names.
    fn begin_nested(&mut self, run: WorkflowRun, by: AgentRef, is_trusted: bool) {
        let is_users = run.provenance.is_users();
        let nesting = &mut self.round.nesting;
        nesting.by = Some(by);
        if is_trusted && is_users {
            nesting.words = run.workflow.texts();
            nesting.words.extend(run.workflow.applications());
        }
        let performing = WorkflowExecution::opening_documents(run);
        self.round.performing = Some(performing);
        self.begin_step(HostAgentKind);
    }

    /// Ends the workflow in progress because the user wants something else; `false` if there is none.
    pub(super) fn instructed_instead(&mut self, instruction: &str) -> bool {
        let is_running = self.round.nesting.is_running();
        if is_running {
            self.end_nested(SubtaskStatus::Rejected, &format!("the user said: {instruction}"));
        }
        is_running
    }

    /// Ends the workflow in progress, with what came of it.
    pub(super) fn end_nested(&mut self, status: SubtaskStatus, reason: &str) {
        let Some(performing) = self.round.performing.take() else { return };
        let by = self.round.nesting.by.take().unwrap_or(AgentRef::HostAgent);
        self.round.nesting.words.clear();
        let end = performing.end();
        let (name, calls) = (end.name.clone(), end.done);
        let values = performing.run.values.iter();
        let values: Vec<String> = values
            .map(|(name, value)| format!("{name}: {}", clip(&one_line(value), VALUE_CHARS_MAX)))
            .collect();
        let with = if values.is_empty() { String::new() } else { format!(" ({})", values.join(", ")) };
        let unseen = match end.unseen {
            0 => String::new(),
            unseen => format!("; the effect of {unseen} of them was not seen"),
        };
        let result = format!("{reason}; calls that were done: {calls}{unseen}");
        self.archive(SubtaskRecord { subtask: format!("workflow {name}{with}"), agent: by, status, result });
        let ended = match status {
            SubtaskStatus::Finished => "is done",
            SubtaskStatus::Failed | SubtaskStatus::Rejected | SubtaskStatus::Error => {
                "stopped before its end; what was done stays done"
            }
        };
        let notice = format!("The workflow `{name}` {ended}. Its sub-task tells more. Go on from there.");
        match &mut self.round.nesting.interrupted {
            Some(interrupted) => interrupted.notice = notice,
            None => self.host.notice = notice,
        }
        self.round.nesting.end(end);
    }

    /// The step that goes back to the AppAgent whose sub-task ran a workflow; `None` if there is none, or its window is gone.
    pub(super) fn returns_to_interrupted(&mut self, windows: &[WindowInfo]) -> Option<HostReply> {
        let interrupted = self.round.nesting.interrupted.as_mut()?;
        let is_open = windows.iter().any(|window| window.id == interrupted.window);
        if !is_open || std::mem::replace(&mut interrupted.tried, true) {
            let InterruptedSubtask { agent, subtask, notice, .. } = self.round.nesting.interrupted.take()?;
            let result = "its window is gone since the workflow that it ran".to_owned();
            self.archive(SubtaskRecord { subtask, agent, status: SubtaskStatus::Failed, result });
            self.host.notice = notice;
            return None;
        }
        let window = Some(interrupted.window.to_string());
        let thought = "back to the sub-task that ran the workflow";
        let reply = assigns(thought, interrupted.subtask.clone(), window, None);
        let next = interrupted.next.clone().map(Vec::from);
        Some(HostReply { message: interrupted.message.clone(), next, ..reply })
    }

    /// An AppAgent goes on with the sub-task that it was at before the workflow.
    pub(super) fn returned_to(&mut self, window: WindowId) {
        // The workflow itself may work in the same window.
        let is_over = !self.round.nesting.is_running();
        let interrupted = &mut self.round.nesting.interrupted;
        let Some(interrupted) = interrupted.take_if(|one| is_over && one.window == window) else { return };
        if let Some(app) = self.app_mut(SubtaskWorker::Window(window)) {
            app.notice = interrupted.notice;
            app.first_step = interrupted.first_step;
        }
    }

    /// Returns `true` if the memory of an agent goes on after the workflow in progress, because that interrupted its sub-task.
    pub(super) fn is_interrupted(&self, worker: SubtaskWorker) -> bool {
        let interrupted = self.round.nesting.interrupted.as_ref();
        interrupted.is_some_and(|one| SubtaskWorker::Window(one.window) == worker)
    }

    /// Returns the ends of the workflows that agents ran in the round.
    pub(super) fn nested_ends(&mut self) -> Vec<WorkflowEnd> {
        let mut ends = std::mem::take(&mut self.round.nesting.ended);
        if self.round.nesting.is_running() {
            ends.extend(self.round.performing.as_ref().map(WorkflowExecution::end));
        }
        ends
    }
}
