//! Extracts the displayable parts of model replies, for any agent.

use deskhand_machine::{
    evaluation::Judgement,
    reply::{AgentReply, HealChoice, ReplyError, extract_json},
    states::{AppStatus, HostStatus},
};
use serde::Serialize;
use serde_json::Value;

/// The meaning of a reply's status.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Meaning {
    /// A HostAgent status.
    Host(HostStatus),
    /// The status of an agent that works on a sub-task.
    App(AppStatus),
    /// The decision on a workflow step.
    Healed,
    /// An evaluation.
    Judged(Judgement),
}

/// The parts of a reply; empty if absent.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct DecisionSummary {
    /// The status, in the agent's own word.
    pub status: String,
    /// Its meaning; `None` if the reply is invalid.
    #[serde(skip)]
    pub meaning: Option<Meaning>,
    /// The agent's observation.
    pub observation: String,
    /// The reasoning.
    pub thought: String,
    /// The assigned sub-task.
    pub subtask: String,
    /// The message to the assigned agent, or the sub-scores of an evaluation.
    pub message: Vec<String>,
    /// The plan.
    pub plan: Vec<String>,
    /// The comment to the user.
    pub comment: String,
    /// The facts that it wrote down.
    pub notes: Vec<String>,
    /// The result.
    pub result: String,
    /// Why the reply is invalid; empty if it is valid.
    pub problem: String,
}

impl DecisionSummary {
    /// Extracts the parts of a reply from `text`, valid or not.
    pub(super) fn of(read: &Result<AgentReply, ReplyError>, text: &str) -> Self {
        match read {
            Ok(AgentReply::Evaluation(reply)) => Self {
                status: reply.complete.to_string(),
                meaning: Some(Meaning::Judged(reply.complete)),
                thought: reply.reason.clone(),
                message: reply
                    .sub_scores
                    .iter()
                    .map(|score| format!("{}: {}", score.name, score.evaluation))
                    .collect(),
                ..Self::default()
            },
            Ok(AgentReply::Heal(reply)) => Self {
                status: match reply.choice {
                    HealChoice::Use(element) => format!("USE {element}"),
                    HealChoice::Press(element) => format!("PRESS {element}"),
                    HealChoice::Skip => "SKIP".to_owned(),
                    HealChoice::Stop => "STOP".to_owned(),
                },
                meaning: Some(Meaning::Healed),
                thought: reply.thought.clone(),
                ..Self::default()
            },
            Ok(AgentReply::Host(reply)) => Self {
                status: reply.status.to_string(),
                meaning: Some(Meaning::Host(reply.status)),
                observation: reply.observation.clone(),
                thought: reply.thought.clone(),
                subtask: reply.subtask.clone().unwrap_or_default(),
                message: reply.message.clone(),
                plan: reply.plan.clone(),
                comment: reply.comment.clone(),
                notes: reply.notes.clone(),
                result: reply.result.clone().unwrap_or_default(),
                problem: String::new(),
            },
            Ok(AgentReply::App(reply)) => Self {
                status: reply.word.clone(),
                meaning: Some(Meaning::App(reply.status)),
                observation: reply.observation.clone(),
                thought: reply.thought.clone(),
                plan: reply.plan.clone(),
                comment: reply.comment.clone(),
                notes: reply.notes.clone(),
                result: reply.result.clone().unwrap_or_default(),
                ..Self::default()
            },
            Err(error) => Self { problem: error.to_string(), ..other(text) },
        }
    }
}

/// Extracts the parts of an invalid reply, as far as possible.
fn other(text: &str) -> DecisionSummary {
    let Ok(extracted) = extract_json(text) else { return DecisionSummary::default() };
    let word = |names: &[&str]| {
        let value = names.iter().find_map(|name| extracted.value.get(name));
        value.and_then(Value::as_str).unwrap_or_default().to_owned()
    };
    DecisionSummary {
        status: word(&["status", "complete"]),
        observation: word(&["observation"]),
        thought: word(&["thought", "reason"]),
        comment: word(&["comment"]),
        result: word(&["result"]),
        ..DecisionSummary::default()
    }
}

#[cfg(test)]
mod tests {
    use deskhand_machine::{agent::AgentRef, model::ReplyKind};

    use super::*;

    fn decision(kind: ReplyKind, agent: &AgentRef, text: &str) -> DecisionSummary {
        DecisionSummary::of(&AgentReply::read(kind, agent, &[], text), text)
    }

    #[test]
    fn replies_of_any_agent_are_read() {
        let host = r#"{"thought": "t", "status": "finish", "result": "done"}"#;
        let read = decision(ReplyKind::HostAgent, &AgentRef::HostAgent, host);
        assert_eq!((read.status.as_str(), read.result.as_str()), ("FINISH", "done"));
        let app = AgentRef::from_name("AppAgent/calc");
        let read = decision(ReplyKind::AppAgent, &app, r#"{"thought": "t", "status": "DELEGATE"}"#);
        assert!(read.problem.contains("status"), "{}", read.problem);
        assert_eq!(read.thought, "t", "the valid parts are shown");
        let judged = r#"{"complete": "no", "reason": "r"}"#;
        let read = decision(ReplyKind::Evaluation, &AgentRef::EvaluationAgent, judged);
        assert_eq!((read.status.as_str(), read.thought.as_str()), ("no", "r"));
        let none = decision(ReplyKind::AppAgent, &app, "no JSON at all");
        assert_eq!((none.status.as_str(), none.thought.as_str()), ("", ""));
        assert!(none.problem.contains("JSON"), "{}", none.problem);
    }
}
