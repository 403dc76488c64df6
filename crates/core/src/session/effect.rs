//! What the machine wants to have done.

use serde::{Deserialize, Serialize};

use crate::{
    agent::AgentRef,
    command::Command,
    ids::{AgentId, EffectId},
    model::ModelRequest,
    observation::Look,
    outcome::Outcome,
    reply::Question,
};

/// One thing to do. The runtime does it and answers with exactly one event.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "want", rename_all = "snake_case")]
pub enum Effect {
    /// Get the next request of the user, or the end of the session.
    AwaitRequest,
    /// Look at the desktop or a window.
    Observe {
        /// At what.
        look: Look,
    },
    /// Ask the model.
    Ask {
        /// What.
        request: ModelRequest,
    },
    /// Run one command. Its record is written before it goes out, so that after a crash a command without a
    /// result is known and never sent again blindly.
    Call {
        /// Which.
        command: Command,
    },
    /// Ask the user.
    AskUser {
        /// What.
        questions: Vec<Question>,
    },
    /// Ask for the approval of a parked action. Nothing of it was executed.
    AwaitApproval {
        /// Which.
        approval: Approval,
    },
    /// Hand a sub-task to an agent that works outside of the machine, and wait for its report. Like a command, its
    /// record is written before it goes out, and it is never sent again blindly.
    Delegate {
        /// To whom.
        agent: AgentId,
        /// The sub-task.
        subtask: String,
        /// What the agent should know.
        message: Vec<String>,
        /// The request of which the sub-task is a part.
        #[serde(default)]
        request: String,
    },
    /// The round is over: clean up, tell the user, acknowledge.
    Finish {
        /// How it ended.
        outcome: Outcome,
    },
}

/// An action that waits for a person's word.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Approval {
    /// What would be run.
    pub commands: Vec<Command>,
    /// Why it is asked.
    pub reason: String,
    /// Who wants it to be asked.
    #[serde(default)]
    pub asked_by: AskedBy,
}

/// Who wants a person to be asked.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(tag = "by", rename_all = "snake_case")]
pub enum AskedBy {
    /// The model said CONFIRM.
    #[default]
    Model,
    /// The policy.
    Policy {
        /// The rule, in words.
        rule: String,
    },
}

/// Which step an effect belongs to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepRef {
    /// The number of the step in its session, from 1.
    pub number: u32,
    /// The agent that takes it.
    pub agent: AgentRef,
    /// What it works on; empty for the HostAgent.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub subtask: String,
}

/// An effect with its place in the session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EffectRecord {
    /// Its number.
    pub id: EffectId,
    /// The round, from 1; 0 before the first.
    pub round: u32,
    /// The step, for effects that belong to one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<StepRef>,
    /// What is wanted.
    pub effect: Effect,
}
