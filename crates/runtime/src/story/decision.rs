//! What a model decided, for people: read from its reply, whichever agent it was asked for.

use deskhand_core::{
    evaluation::Judgement,
    reply::{Reply, ReplyError, extract_json},
    states::{AppStatus, HostStatus},
};
use serde::Serialize;
use serde_json::Value;

/// What the status of a reply means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Meaning {
    /// To the machine of the HostAgent.
    Host(HostStatus),
    /// To the machine of an agent that works on a sub-task, whatever its word for it.
    App(AppStatus),
    /// A judgement.
    Judged(Judgement),
}

/// A reply in its parts; empty where it does not say.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Decision {
    /// The status in the agent's own word.
    pub status: String,
    /// What it means; `None` where the reply could not be used.
    #[serde(skip)]
    pub meaning: Option<Meaning>,
    /// What it sees.
    pub observation: String,
    /// Why it decides so.
    pub thought: String,
    /// The sub-task that it hands out.
    pub subtask: String,
    /// What the agent of that should know; the parts of a judgement.
    pub message: Vec<String>,
    /// What follows.
    pub plan: Vec<String>,
    /// A word to the user.
    pub comment: String,
    /// What came of it.
    pub result: String,
    /// Why the reply could not be used; empty where it could.
    pub problem: String,
}

impl Decision {
    /// The parts of a reply that was read from `text`, or could not be.
    pub(super) fn of(read: &Result<Reply, ReplyError>, text: &str) -> Self {
        match read {
            Ok(Reply::Evaluation(reply)) => Self {
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
            Ok(Reply::Host(reply)) => Self {
                status: reply.status.to_string(),
                meaning: Some(Meaning::Host(reply.status)),
                observation: reply.observation.clone(),
                thought: reply.thought.clone(),
                subtask: reply.subtask.clone().unwrap_or_default(),
                message: reply.message.clone(),
                plan: reply.plan.clone(),
                comment: reply.comment.clone(),
                result: reply.result.clone().unwrap_or_default(),
                problem: String::new(),
            },
            Ok(Reply::App(reply)) => Self {
                status: reply.word.clone(),
                meaning: Some(Meaning::App(reply.status)),
                observation: reply.observation.clone(),
                thought: reply.thought.clone(),
                plan: reply.plan.clone(),
                comment: reply.comment.clone(),
                result: reply.result.clone().unwrap_or_default(),
                ..Self::default()
            },
            Err(error) => Self { problem: error.to_string(), ..other(text) },
        }
    }
}

/// What there is of a reply that cannot be used.
fn other(text: &str) -> Decision {
    let Ok(extracted) = extract_json(text) else { return Decision::default() };
    let word = |names: &[&str]| {
        let value = names.iter().find_map(|name| extracted.value.get(name));
        value.and_then(Value::as_str).unwrap_or_default().to_owned()
    };
    Decision {
        status: word(&["status", "complete"]),
        observation: word(&["observation"]),
        thought: word(&["thought", "reason"]),
        comment: word(&["comment"]),
        result: word(&["result"]),
        ..Decision::default()
    }
}

#[cfg(test)]
mod tests {
    use deskhand_core::{agent::AgentRef, model::ReplyKind};

    use super::*;

    fn decision(kind: ReplyKind, agent: &AgentRef, text: &str) -> Decision {
        Decision::of(&Reply::read(kind, agent, &[], text), text)
    }

    #[test]
    fn replies_of_any_agent_are_read() {
        let host = r#"{"thought": "t", "status": "finish", "result": "done"}"#;
        let read = decision(ReplyKind::HostAgent, &AgentRef::HostAgent, host);
        assert_eq!((read.status.as_str(), read.result.as_str()), ("FINISH", "done"));
        let app = AgentRef::from_name("AppAgent/calc");
        let read = decision(ReplyKind::AppAgent, &app, r#"{"thought": "t", "status": "DELEGATE"}"#);
        assert!(read.problem.contains("status"), "{}", read.problem);
        assert_eq!(read.thought, "t", "what there is of it is shown all the same");
        let judged = r#"{"complete": "no", "reason": "r"}"#;
        let read = decision(ReplyKind::Evaluation, &AgentRef::EvaluationAgent, judged);
        assert_eq!((read.status.as_str(), read.thought.as_str()), ("no", "r"));
        let none = decision(ReplyKind::AppAgent, &app, "no JSON at all");
        assert_eq!((none.status.as_str(), none.thought.as_str()), ("", ""));
        assert!(none.problem.contains("JSON"), "{}", none.problem);
    }
}
