//! What a model decided, for people: read from its reply, whichever agent it was asked for.

use deskhand_core::reply::{extract_json, parse_app_reply, parse_host_reply};
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

/// Reads the reply to a question of that schema.
pub(super) fn decision(schema_name: &str, text: &str) -> Decision {
    let problem = |error: &dyn std::fmt::Display| Decision { problem: error.to_string(), ..other(text) };
    match schema_name {
        "host_agent_reply" => match parse_host_reply(text) {
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
        },
        "app_agent_reply" => match parse_app_reply(text) {
            Ok(reply) => Decision {
                status: reply.status.to_string(),
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
        },
        _ => other(text),
    }
}

/// Replies of agents that this module does not know, as far as they use the common words.
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
        let read = decision("host_agent_reply", host);
        assert_eq!((read.status.as_str(), read.result.as_str()), ("FINISH", "done"));
        let read = decision("app_agent_reply", r#"{"thought": "t", "status": "DELEGATE"}"#);
        assert!(read.problem.contains("status"), "{}", read.problem);
        assert_eq!(read.thought, "t", "what there is of it is shown all the same");
        let read = decision("evaluation_reply", r#"{"complete": "no", "reason": "r"}"#);
        assert_eq!((read.status.as_str(), read.thought.as_str()), ("no", "r"));
        assert_eq!(decision("any", "no JSON at all"), Decision::default());
    }
}
