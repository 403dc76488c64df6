//! Test questions for a model, and the model as a trial uses it.

use std::time::Duration;

use deskhand_host::model::ModelChoice;
use deskhand_machine::{
    agent::AgentRef,
    model::{MessagePart, ModelMessage, ModelRequest, ReplyKind, Speaker},
};
use serde_json::json;

/// Timeout for each trial.
pub(super) const TRIAL_BOUND: Duration = Duration::from_secs(15);

/// Without the retries of a request, which a check should not wait for.
pub(super) fn quick(choice: ModelChoice) -> ModelChoice {
    match choice {
        ModelChoice::Endpoint(mut config) => {
            config.attempts_max = 1;
            config.timeout = config.timeout.min(TRIAL_BOUND);
            config.idle_timeout = config.idle_timeout.min(TRIAL_BOUND);
            ModelChoice::Endpoint(config)
        }
        // A slow machine is no reason to say that its own model does not answer.
        other @ (ModelChoice::Script(..) | ModelChoice::Local(..) | ModelChoice::Relay(_)) => other,
    }
}

/// A question whose reply is an object with one field, of a type of JSON schema.
pub(super) fn probe(
    parts: Vec<MessagePart>,
    field: &str,
    kind: &str,
    completion_tokens_max: u32,
) -> ModelRequest {
    ModelRequest {
        agent: AgentRef::Unnamed,
        messages: vec![ModelMessage { speaker: Speaker::User, parts }],
        reply: ReplyKind::Probe,
        schema: json!({
            "type": "object",
            "properties": {field: {"type": kind}},
            "required": [field],
            "additionalProperties": false,
        }),
        completion_tokens_max,
        attempts_max: u32::MAX,
        models: Vec::new(),
    }
}
