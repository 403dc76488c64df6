//! Phase 4: what a step leaves in the agent's memory and on the blackboard.

use super::{
    effect::StepRef,
    phases::{ActedStep, RecordedStep},
};
use crate::{
    agent::AgentRef,
    blackboard::{AgentNote, Blackboard, HistoryKey, ReadingEntry, Trajectory},
    memory::{AgentMemory, MemoryItem},
    prompt::{brief_text, call_text, digest, reads, result_line},
    reply::{AppReply, HostReply},
};
use deskhand_ui::action::words::CallReportFormatter;

/// Statements of an agent in a step, for its memory.
pub(super) struct StepStatement {
    pub(super) observation: String,
    pub(super) thought: String,
    pub(super) plan: Vec<String>,
    pub(super) notes: Vec<String>,
    pub(super) status: String,
    pub(super) result: Option<String>,
    /// The sub-task that a HostAgent assigned.
    pub(super) assigned: Option<String>,
}

impl StepStatement {
    pub(super) fn by_host(reply: &HostReply, status: String) -> Self {
        let HostReply { observation, thought, plan, notes, result, subtask, .. } = reply.clone();
        Self { observation, thought, plan, notes, status, result, assigned: subtask }
    }

    pub(super) fn by_app(reply: &AppReply, status: String) -> Self {
        let AppReply { observation, thought, plan, notes, result, .. } = reply.clone();
        Self { observation, thought, plan, notes, status, result, assigned: None }
    }
}

/// Stores that a step is recorded in.
pub(super) struct StepRecorder<'a> {
    pub(super) memory: &'a mut AgentMemory,
    pub(super) blackboard: &'a mut Blackboard,
    /// Keys that a step puts on the blackboard for other agents.
    pub(super) keys: &'a [HistoryKey],
    pub(super) wording: CallReportFormatter,
    pub(super) round: u32,
}

impl<R> ActedStep<R> {
    /// Phase 4: records the step in the agent's memory and on the blackboard.
    pub(super) fn record(self, said: StepStatement, keeping: StepRecorder<'_>) -> RecordedStep<R> {
        let StepRef { number, round_step, agent_step, agent, subtask } = self.replied.step;
        let StepStatement { observation, thought, plan, notes, status, result, assigned } = said;
        let StepRecorder { memory, blackboard, keys, wording, round } = keeping;
        let went_to = self.actions.iter().rev().find_map(|info| info.result.window.as_ref());
        let application = match &agent {
            AgentRef::AppAgent { application, .. } => application.clone(),
            AgentRef::HostAgent | AgentRef::Agent { .. } | AgentRef::EvaluationAgent | AgentRef::Unnamed => {
                went_to.map(|window| window.app.root.clone()).unwrap_or_default()
            }
        };
        let subtask = assigned.unwrap_or(subtask);
        for text in notes {
            blackboard.add_note(AgentNote { step: number, agent: agent.clone(), text });
        }
        for info in &self.actions {
            if let Some(id) = info.reading {
                let (call, what) = (call_text(info), digest(&info.result.output));
                blackboard.add_reading(ReadingEntry { id, step: number, agent: agent.clone(), call, what });
            }
        }
        let trajectory = Trajectory {
            step: number,
            agent,
            subtask: subtask.clone(),
            observation: observation.clone(),
            thought: thought.clone(),
            actions: self.actions.iter().map(|info| info.command.to_line()).collect(),
            results: self.actions.iter().map(|info| result_line(info, wording)).collect(),
            reads: self.actions.iter().map(reads).collect(),
            readings: self.actions.iter().map(|info| info.reading).collect(),
            status: status.clone(),
            result,
        };
        blackboard.add_trajectory(trajectory.only(keys));
        memory.add(MemoryItem {
            step: number,
            round,
            round_step,
            agent_step,
            application,
            subtask,
            brief: brief_text(number, &thought, &self.actions),
            observation,
            thought,
            actions: self.actions.clone(),
            status,
            plan,
        });
        RecordedStep { reply: self.replied.reply, actions: self.actions, approved: self.approved }
    }
}
