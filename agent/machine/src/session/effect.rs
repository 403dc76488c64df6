//! The effects that the machine requests.

use serde::{Deserialize, Serialize};

use crate::{
    agent::AgentRef,
    command::{CallResult, ToolCommand},
    model::ModelRequest,
    observation::ObservationTarget,
    outcome::Outcome,
    reply::UserQuestion,
    retrieval::Lookup,
};
use deskhand_ui::ids::{AgentId, EffectId};

/// An effect. The runtime performs it and answers with exactly one event.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "want", rename_all = "snake_case")]
pub enum Effect {
    /// Get the next request of the user, or the end of the session.
    AwaitRequest,
    /// Observe the desktop or a window.
    Observe {
        /// The object.
        look: ObservationTarget,
    },
    /// Find out how near texts are in meaning to what is wanted, by their embeddings: a small model is offered the nearest alone.
    Rank {
        /// Description that the texts are compared with.
        wanted: String,
        /// The texts.
        texts: Vec<String>,
    },
    /// Ask retrievers for what could help with a piece of work, before its first step.
    Retrieve {
        /// Request to the retrievers.
        lookup: Lookup,
    },
    /// Ask the model.
    Ask {
        /// The request.
        request: ModelRequest,
    },
    /// Run one command. Its record is written first, so that after a crash a command without a result is known and never
    /// sent again blindly.
    Call {
        /// The command.
        command: ToolCommand,
    },
    /// Ask the user.
    AskUser {
        /// The questions.
        questions: Vec<UserQuestion>,
    },
    /// Ask for the approval of parked actions. None of them has run.
    AwaitApproval {
        /// The approval.
        approval: Approval,
    },
    /// Hand a sub-task to a delegate agent and wait for its report. As for a command, the record is written first and the
    /// sub-task is never sent again blindly. On another machine, where it is known by its number, it is waited for again.
    Delegate {
        /// The agent.
        agent: AgentId,
        /// The sub-task.
        subtask: String,
        /// Context for the agent.
        message: Vec<String>,
        /// The request that the sub-task is a part of.
        #[serde(default)]
        request: String,
        /// Entries of the blackboard on it, a paragraph each: text that users, agents and tools gave, and no
        /// instructions.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        context: Vec<String>,
    },
    /// The round is over: clean up, inform the user, acknowledge.
    Finish {
        /// The outcome.
        outcome: Outcome,
    },
}

/// An action that waits for an approval.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Approval {
    /// The commands.
    pub commands: Vec<ToolCommand>,
    /// The reason.
    pub reason: String,
    /// Who requires the approval.
    #[serde(default)]
    pub asked_by: AskedBy,
    /// Coverage of an approval for the session, one text for each command that needs it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub covers: Vec<String>,
}

/// Who requires an approval.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(tag = "by", rename_all = "snake_case")]
pub enum AskedBy {
    /// The model replied CONFIRM.
    #[default]
    Model,
    /// The policy.
    Policy {
        /// The rule as text.
        rule: String,
    },
}

/// The step that an effect belongs to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepRef {
    /// The number of the step in its session, from 1.
    pub number: u32,
    /// Its number in its round, from 1.
    pub round_step: u32,
    /// Its number among the steps of its agent, from 1.
    pub agent_step: u32,
    /// The agent.
    pub agent: AgentRef,
    /// Its sub-task; empty for the HostAgent.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub subtask: String,
}

/// An effect with its place in the session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EffectRecord {
    /// Its id.
    pub id: EffectId,
    /// The round, from 1; 0 before the first.
    pub round: u32,
    /// The step, for effects that belong to one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<StepRef>,
    /// The effect.
    pub effect: Effect,
    /// The commands that were refused since the effect before: the policy denies them, or they cannot be run as they are.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub refused: Vec<RefusedCommand>,
}

/// A command that was never sent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RefusedCommand {
    /// The command.
    pub command: ToolCommand,
    /// Why not.
    pub result: CallResult,
}
