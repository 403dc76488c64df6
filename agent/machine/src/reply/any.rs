//! A recorded reply of any agent.

use super::{
    AppReply, EvaluationReply, HealReply, HostReply, ReplyError, parse_agent_reply, parse_app_reply,
    parse_evaluation_reply, parse_host_reply, parse_operator_reply, parse_small_app_reply,
    parse_small_host_reply, parse_small_values_reply,
};
use crate::{
    agent::{AgentDefinition, AgentHome, AgentRef},
    model::ReplyKind,
};

/// An agent's reply, by the kind that was requested.
#[derive(Debug, Clone, PartialEq)]
pub enum AgentReply {
    /// The HostAgent's decision.
    Host(HostReply),
    /// The decision of an agent that works on a sub-task.
    App(AppReply),
    /// Decision about a step of a workflow.
    Heal(HealReply),
    /// The judgement of a finished round.
    Evaluation(EvaluationReply),
}

impl AgentReply {
    /// Parses a recorded reply. Agents with their own statuses are looked up in `agents`; each of their statuses is
    /// accepted, whatever the previous one was. The replies of an operator and of a small model come without actions: they depend on what
    /// it was shown.
    ///
    /// # Errors
    /// If a field is missing or invalid.
    pub fn read(
        kind: ReplyKind,
        agent: &AgentRef,
        agents: &[AgentDefinition],
        text: &str,
    ) -> Result<Self, ReplyError> {
        match kind {
            ReplyKind::HostAgent => parse_host_reply(text).map(Self::Host),
            ReplyKind::Operator => {
                parse_operator_reply(text).map(|reply| Self::App(reply.deciding(Vec::new())))
            }
            ReplyKind::SmallHost => parse_small_host_reply(text).map(|reply| Self::Host(reply.unresolved())),
            ReplyKind::SmallValues => {
                parse_small_values_reply(text).map(|reply| Self::Host(reply.unresolved()))
            }
            ReplyKind::SmallApp => parse_small_app_reply(text).map(|reply| Self::App(reply.unresolved())),
            ReplyKind::Heal => HealReply::parse(text).map(Self::Heal),
            ReplyKind::Evaluation => parse_evaluation_reply(text).map(Self::Evaluation),
            ReplyKind::AppAgent | ReplyKind::Agent | ReplyKind::Probe => match own_steps(agent, agents) {
                Some(AgentHome::Steps(steps)) => parse_agent_reply(text, steps, None),
                Some(AgentHome::Delegate | AgentHome::Machine) | None => parse_app_reply(text),
            }
            .map(Self::App),
        }
    }
}

fn own_steps<'a>(agent: &AgentRef, agents: &'a [AgentDefinition]) -> Option<&'a AgentHome> {
    let AgentRef::Agent { name } = agent else { return None };
    agents.iter().find(|known| known.name == *name).map(|known| &known.home)
}
