//! What a model decided, for people: read from its reply, whichever agent it was asked for.

use deskhand_core::{
    agent::{AgentDefinition, AgentRef},
    model::ReplyKind,
    reply::{Reply, extract_json},
};
use serde::Serialize;
use serde_json::Value;

/// A reply in its parts; empty where it does not say.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub(super) struct Decision {
    pub(super) status: String,
    pub(super) observation: String,
    pub(super) thought: String,
    pub(super) subtask: String,
    pub(super) message: Vec<String>,
    pub(super) plan: Vec<String>,
    pub(super) comment: String,
    pub(super) result: String,
    /// Why the reply could not be used; empty where it could.
    pub(super) problem: String,
}

/// Reads the reply to a question, which one of `agents` or a built-in agent was asked.
pub(super) fn decision(
    kind: ReplyKind,
    agent: &AgentRef,
    agents: &[AgentDefinition],
    text: &str,
) -> Decision {
    match Reply::read(kind, agent, agents, text) {
        Ok(Reply::Evaluation(reply)) => Decision {
            status: reply.complete.to_string(),
            thought: reply.reason,
            message: reply
                .sub_scores
                .iter()
                .map(|score| format!("{}: {}", score.name, score.evaluation))
                .collect(),
            ..Decision::default()
        },
        Ok(Reply::Host(reply)) => Decision {
            status: reply.status.to_string(),
            observation: reply.observation,
            thought: reply.thought,
            subtask: reply.subtask.unwrap_or_default(),
            message: reply.message,
            plan: reply.plan,
            comment: reply.comment,
            result: reply.result.unwrap_or_default(),
            problem: String::new(),
        },
        Ok(Reply::App(reply)) => Decision {
            status: reply.word,
            observation: reply.observation,
            thought: reply.thought,
            plan: reply.plan,
            comment: reply.comment,
            result: reply.result.unwrap_or_default(),
            ..Decision::default()
        },
        Err(error) => Decision { problem: error.to_string(), ..other(text) },
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
    use super::*;

    #[test]
    fn replies_of_any_agent_are_read() {
        let host = r#"{"thought": "t", "status": "finish", "result": "done"}"#;
        let read = decision(ReplyKind::HostAgent, &AgentRef::HostAgent, &[], host);
        assert_eq!((read.status.as_str(), read.result.as_str()), ("FINISH", "done"));
        let app = AgentRef::from_name("AppAgent/calc");
        let read = decision(ReplyKind::AppAgent, &app, &[], r#"{"thought": "t", "status": "DELEGATE"}"#);
        assert!(read.problem.contains("status"), "{}", read.problem);
        assert_eq!(read.thought, "t", "what there is of it is shown all the same");
        let judged = r#"{"complete": "no", "reason": "r"}"#;
        let read = decision(ReplyKind::Evaluation, &AgentRef::EvaluationAgent, &[], judged);
        assert_eq!((read.status.as_str(), read.thought.as_str()), ("no", "r"));
        let none = decision(ReplyKind::AppAgent, &app, &[], "no JSON at all");
        assert_eq!((none.status.as_str(), none.thought.as_str()), ("", ""));
        assert!(none.problem.contains("JSON"), "{}", none.problem);
    }
}
