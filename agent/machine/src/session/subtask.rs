//! The end of a sub-task and what follows: the next step of a plan, the next sub-task planned by the HostAgent, the end of
//! the round, or the HostAgent.

use std::collections::VecDeque;

use super::{
    agent_state::Owner,
    config::Verify,
    host::HostAgentKind,
    phases::{ObservedStep, RecordedStep},
    plan::PlanWorker,
    round::{SubtaskRecord, SubtaskStatus},
    state::Session,
    verify::Doubt,
};
use crate::{
    agent::AgentRef,
    known_tools::LAUNCH,
    observation::{DesktopView, Observation},
    outcome::OutcomeKind,
    prompt::result_text,
    reply::{AppReply, HostReply, NextSubtask, ProposedAction},
    states::{HostStatus, HostTrigger},
};
use deskhand_ui::{WindowInfo, action::words::CallReportFormatter, ids::AgentId, text::clip};

/// The most sub-tasks of a round kept for prompts. The journal keeps all of them.
const SUBTASKS_MAX: usize = 30;
/// The longest kept result of a sub-task, in characters.
const RESULT_CHARS_MAX: usize = 6_000;

impl Session {
    /// Archives a sub-task.
    pub(super) fn archive(&mut self, mut record: SubtaskRecord) {
        record.result = clip(&record.result, RESULT_CHARS_MAX);
        if self.round.subtasks.len() >= SUBTASKS_MAX {
            self.round.subtasks.remove(0);
        }
        self.round.subtasks.push(record);
    }

    /// Continues after a sub-task that did not succeed: with the HostAgent, unless too many failed in a row. A failed step
    /// ends a plan.
    pub(super) fn subtask_failed(&mut self, status: SubtaskStatus, reason: &str) {
        self.round.unverified = true;
        self.round.failures_in_row = self.round.failures_in_row.saturating_add(1);
        if self.round.nesting.is_running() {
            // The agent that ran the workflow goes on from there.
            self.end_nested(status, reason);
            self.back_to_host();
        } else if self.round.performing.is_some() {
            self.host.moves(HostTrigger::PlanFailed);
            let kind =
                if status == SubtaskStatus::Rejected { OutcomeKind::Rejected } else { OutcomeKind::Failed };
            self.finish(kind, reason);
        } else if let Some(following) = &self.round.following {
            let number = following.count.saturating_sub(following.steps.len());
            let text = format!("step {number} of {} of the plan failed: {reason}", following.count);
            self.host.moves(HostTrigger::PlanFailed);
            let kind =
                if status == SubtaskStatus::Rejected { OutcomeKind::Rejected } else { OutcomeKind::Failed };
            self.finish(kind, text);
        } else if self.round.failures_in_row >= self.config.limits.subtask_failures_max {
            self.host.moves(HostTrigger::SubtasksExhausted);
            let count = self.round.failures_in_row;
            self.finish(
                OutcomeKind::Failed,
                format!("{count} sub-tasks in a row failed; the last: {reason}"),
            );
        } else {
            self.back_to_host();
        }
    }

    /// Continues after a sub-task that its agent reports as done, with the doubt that is left of it.
    pub(super) fn subtask_finished(&mut self, doubt: Option<Doubt>, result: String) {
        self.round.failures_in_row = 0;
        self.round.unverified |= doubt.is_some();
        if self.round.performing.is_some() {
            self.back_to_host();
            return;
        }
        if self.follows_plan() {
            return;
        }
        if self.round.unheard {
            self.back_to_host();
            return;
        }
        let trusted = match self.config.verify {
            Verify::Always => false,
            Verify::Auto => !self.round.unverified,
            Verify::Never => true,
        };
        let next = self.round.next.take();
        match next {
            Some(mut next) if trusted => match next.pop_front() {
                Some(first) => self.next_subtask(first, next),
                None => self.fulfilled(result),
            },
            None if self.config.verify == Verify::Never && self.host_has_no_plan() => self.fulfilled(result),
            next => {
                if let (Some(_), Some(doubt)) = (next, doubt) {
                    self.host.notice = doubt.notice();
                }
                self.back_to_host();
            }
        }
    }

    pub(super) fn back_to_host(&mut self) {
        self.round.next = None;
        self.host.moves(HostTrigger::SubtaskEnded);
        self.begin_step(HostAgentKind);
    }

    fn fulfilled(&mut self, result: String) {
        self.host.moves(HostTrigger::SubtaskVerified);
        self.finish(OutcomeKind::Finished, result);
    }

    fn host_has_no_plan(&self) -> bool {
        self.host.memory.last().is_some_and(|item| item.plan.is_empty())
    }

    /// Assigns a sub-task that the HostAgent planned ahead, in a step that needs no model.
    fn next_subtask(&mut self, next: NextSubtask, rest: VecDeque<NextSubtask>) {
        self.host.moves(HostTrigger::SubtaskEnded);
        let Some(number) = self.next_step() else { return };
        let step = self.step_ref(number, AgentRef::HostAgent, String::new(), self.host.memory.steps());
        let windows = self.targets.windows().to_vec();
        let observation = Observation::Desktop(DesktopView { windows, ..DesktopView::default() });
        let mut reply = assigns("as planned", next.subtask, next.target, next.launch);
        reply.message = next.message;
        reply.plan = rest.iter().map(|next| next.subtask.clone()).collect();
        reply.next = Some(rest.into());
        self.decided(HostAgentKind, ObservedStep::without_model(step, observation).replied(reply));
    }

    /// Assigns the next step of a plan; false if there is no plan, or no step left.
    fn follows_plan(&mut self) -> bool {
        let Some(following) = &mut self.round.following else { return false };
        let (Some(place), Some(step)) = (following.place.clone(), following.steps.pop_front()) else {
            return false;
        };
        let message = following.message();
        match place {
            PlanWorker::Window(window) => self.assign(Owner::Window(window), step, message),
            PlanWorker::Agent(id) => match self.targets.agent(id).cloned() {
                Some(agent) => self.assign_to_agent(agent, step, message),
                None => self.break_off(format!("the agent {id} of the plan is gone")),
            },
        }
        true
    }

    /// The HostAgent's decision without a model: select the window of the plan, or start its application.
    pub(super) fn plan_decides(&mut self) -> Option<HostReply> {
        let following = self.round.following.as_mut()?;
        if following.tried || !following.is_waiting() {
            return None;
        }
        following.tried = true;
        let object = following.object.clone()?;
        let step = following.steps.front().cloned().unwrap_or_default();
        let agent = self.targets.agents().iter().find(|agent| agent.name.eq_ignore_ascii_case(&object));
        if let Some(agent) = agent {
            let id = Some(agent.id.to_string());
            return Some(assigns("the plan names this agent", step, id, None));
        }
        if let Some(window) = self.targets.windows().iter().rev().find(|window| shows(window, &object)) {
            let id = Some(window.id.to_string());
            return Some(assigns("the plan names this window", step, id, None));
        }
        // Choosing an application for a document needs a model.
        if object.contains(['/', '\\', '.']) {
            return None;
        }
        let mut arguments = serde_json::Map::new();
        arguments.insert("name".to_owned(), object.into());
        let launch =
            ProposedAction { function: LAUNCH.to_owned(), arguments, expect: None, carries: Vec::new() };
        Some(assigns("the plan names this application", step, None, Some(launch)))
    }

    /// Assigns the first step of a plan to the window or agent that was selected.
    pub(super) fn plan_begins(&mut self, window: Option<WindowInfo>, agent: Option<AgentId>) -> bool {
        let Some(following) = self.round.following.as_mut().filter(|following| following.is_waiting()) else {
            return false;
        };
        following.place = agent.map(PlanWorker::Agent).or(window.map(PlanWorker::Window));
        // Nothing follows the last step.
        self.round.next = Some(VecDeque::new());
        self.follows_plan()
    }
}

/// A synthetic reply of the HostAgent that assigns a sub-task.
pub(super) fn assigns(
    thought: &str,
    subtask: String,
    target: Option<String>,
    action: Option<ProposedAction>,
) -> HostReply {
    HostReply {
        observation: String::new(),
        thought: thought.to_owned(),
        status: HostStatus::Assign,
        subtask: Some(subtask),
        message: Vec::new(),
        target,
        target_name: None,
        plan: Vec::new(),
        comment: String::new(),
        notes: Vec::new(),
        questions: Vec::new(),
        action,
        next: None,
        result: None,
    }
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
