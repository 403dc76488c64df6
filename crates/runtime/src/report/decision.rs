//! What a model decided, for people: read from its reply, whichever agent it was asked for.

use deskhand_core::{
    agent::AgentDefinition,
    reply::{EVALUATION_REPLY, extract_json, parse_evaluation_reply, parse_host_reply, parse_reply_of},
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

/// Reads the reply to a question of that schema, which one of `agents` or a built-in agent was asked.
pub(super) fn decision(schema_name: &str, agent: &str, agents: &[AgentDefinition], text: &str) -> Decision {
    let problem = |error: &dyn std::fmt::Display| Decision { problem: error.to_string(), ..other(text) };
    if schema_name == EVALUATION_REPLY {
        return match parse_evaluation_reply(text) {
            Ok(reply) => Decision {
                status: reply.complete.to_string(),
                thought: reply.reason,
                message: reply
                    .sub_scores
                    .iter()
                    .map(|score| format!("{}: {}", score.name, score.evaluation))
                    .collect(),
                ..Decision::default()
            },
            Err(error) => problem(&error),
        };
    }
    if schema_name == "host_agent_reply" {
        return match parse_host_reply(text) {
            Ok(reply) => Decision {
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
            Err(error) => problem(&error),
        };
    }
    match parse_reply_of(text, agent, agents) {
        Ok(reply) => Decision {
            status: reply.word,
            observation: reply.observation,
            thought: reply.thought,
            subtask: String::new(),
            message: Vec::new(),
            plan: reply.plan,
            comment: reply.comment,
            result: reply.result.unwrap_or_default(),
            problem: String::new(),
        },
        Err(error) => problem(&error),
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
        let read = decision("host_agent_reply", "HostAgent", &[], host);
        assert_eq!((read.status.as_str(), read.result.as_str()), ("FINISH", "done"));
        let read =
            decision("app_agent_reply", "AppAgent/calc", &[], r#"{"thought": "t", "status": "DELEGATE"}"#);
        assert!(read.problem.contains("status"), "{}", read.problem);
        assert_eq!(read.thought, "t", "what there is of it is shown all the same");
        let read =
            decision("evaluation_reply", "EvaluationAgent", &[], r#"{"complete": "no", "reason": "r"}"#);
        assert_eq!((read.status.as_str(), read.thought.as_str()), ("no", "r"));
        let none = decision("any", "any", &[], "no JSON at all");
        assert_eq!((none.status.as_str(), none.thought.as_str()), ("", ""));
        assert!(none.problem.contains("JSON"), "{}", none.problem);
    }
}
