//! Sub-tasks that an agent works on by itself: it takes no steps here, but receives the sub-task and reports.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{
    at_hand::AtHand,
    effect::Effect,
    event::SessionEvent,
    ledgers::Ledgers,
    round::{SubtaskRecord, SubtaskStatus},
    subtask::{subtask_failed, subtask_finished},
    turn::{MachineTurn, NextMove},
    verify::Doubt,
};
use crate::{
    agent::{AgentDefinition, AgentHome, AgentRef, AgentReport},
    command::ToolCommand,
    intent::{CommandAim, Does, Intent},
    known_tools::DELEGATE,
    observation::{DesktopView, Observation},
    policy::{PolicyDecision, Subject, ValueContext},
    prompt::{context_for, relevant_words},
    reply::HostReply,
    states::HostStatus,
};
use deskhand_ui::ids::AgentId;

/// A sub-task in progress at a delegate agent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Delegation {
    agent: AgentId,
    /// The agent's name.
    name: String,
    subtask: String,
}

impl Delegation {
    /// Hands a sub-task to an agent.
    pub(super) fn begin(
        ledgers: &mut Ledgers,
        agent: &AgentDefinition,
        (subtask, message): (String, Vec<String>),
    ) -> MachineTurn<Self> {
        let number = match ledgers.take_step() {
            Ok(number) => number,
            Err(reason) => return NextMove::Exhaust(reason).into(),
        };
        let worker = AgentRef::Agent { name: agent.name.clone() };
        let earlier = ledgers.round.subtasks().iter().filter(|record| record.agent == worker).count();
        let earlier = u32::try_from(earlier).unwrap_or(u32::MAX);
        let context = delegation_context(ledgers, &subtask, &message);
        let step = ledgers.step_ref(number, worker, subtask.clone(), earlier);
        let delegation = Self { agent: agent.id, name: agent.name.clone(), subtask: subtask.clone() };
        let request = ledgers.round.request().to_owned();
        let effect = Effect::Delegate { agent: agent.id, subtask, message, request, context };
        MachineTurn::Wait(delegation, Some(step), effect)
    }

    /// Takes in the report.
    pub(super) fn apply(self, ledgers: &mut Ledgers, event: SessionEvent) -> NextMove {
        let SessionEvent::Delegated { report } = event else {
            return NextMove::BreakOff(format!("unexpected answer of {}: not a report", self.name));
        };
        let AgentReport { status, result } = report;
        let reason = result.clone();
        ledgers.sources.reported(&self.name, &result);
        let agent = AgentRef::Agent { name: self.name };
        ledgers.round.archive(SubtaskRecord { subtask: self.subtask, agent, status, result });
        match status {
            // The effects of a delegate agent were not observed here.
            SubtaskStatus::Finished => subtask_finished(ledgers, Some(Doubt::NothingDone), reason),
            SubtaskStatus::Failed | SubtaskStatus::Rejected => subtask_failed(ledgers, status, &reason),
            SubtaskStatus::Error => NextMove::BreakOff(reason),
        }
    }

    /// Returns `true` if the agent is on another machine.
    pub(super) fn is_elsewhere(&self, ledgers: &Ledgers) -> bool {
        is_machine(ledgers, self.agent)
    }
}

/// Returns `true` if an agent is on another machine.
pub(super) fn is_machine(ledgers: &Ledgers, agent: AgentId) -> bool {
    ledgers.targets.agent(agent).is_some_and(|agent| matches!(agent.home, AgentHome::Machine))
}

/// The agent that a target names; `None` if it names a window or nothing.
pub(super) fn agent_target(ledgers: &Ledgers, id: &str) -> Option<AgentDefinition> {
    ledgers.targets.agent(id.trim().parse().ok()?).cloned()
}

/// The command that stands for handing a sub-task to a delegate agent, unless the policy allows that without a question: what
/// such an agent does is not seen here, so this is the only time that rules can decide on it.
pub(super) fn delegation_to_judge(ledgers: &Ledgers, reply: &HostReply) -> Option<ToolCommand> {
    let command = delegation(ledgers, reply)?;
    let observation = Observation::Desktop(DesktopView::default());
    let subject = Subject::of(&command, &observation);
    let texts = &AtHand::new(ledgers, &observation);
    let (tools, places) = (ledgers.config.host_tools.as_slice(), &ledgers.config.places);
    let reading =
        ValueContext { tools, before: &[], observation: &observation, places, applications: None, texts };
    let subject = subject.with_values(&command, &reading);
    (ledgers.config.policy.decide(&subject).decision != PolicyDecision::Allow).then_some(command)
}

/// The command that stands for handing a sub-task to a delegate agent.
pub(super) fn delegation(ledgers: &Ledgers, reply: &HostReply) -> Option<ToolCommand> {
    let target = reply.target.as_deref().filter(|_| reply.status == HostStatus::Assign)?;
    let agent = agent_target(ledgers, target).filter(|agent| agent.home.reports())?;
    let subtask = reply.subtask.clone().unwrap_or_default();
    let context = delegation_context(ledgers, &subtask, &reply.message);
    let arguments = [
        ("agent", Value::from(agent.name.clone())),
        ("subtask", Value::from(subtask.clone())),
        ("message", Value::from(reply.message.clone())),
    ];
    // Who approves sees all that is handed over.
    let context = (!context.is_empty()).then(|| ("context", Value::from(context)));
    Some(ToolCommand {
        tool: DELEGATE.to_owned(),
        arguments: arguments
            .into_iter()
            .chain(context)
            .map(|(name, value)| (name.to_owned(), value))
            .collect(),
        intent: Intent {
            does: Does::Delegate,
            aims: vec![CommandAim::Program { name: agent.name }, CommandAim::Files { files: vec![subtask] }],
        },
        ..ToolCommand::default()
    })
}

/// Returns the blackboard's entries on a sub-task, for an agent that works on its own.
fn delegation_context(ledgers: &Ledgers, subtask: &str, message: &[String]) -> Vec<String> {
    let said = std::iter::once(subtask).chain(message.iter().map(String::as_str));
    context_for(&ledgers.blackboard, ledgers.round.subtasks(), &relevant_words(said))
}
