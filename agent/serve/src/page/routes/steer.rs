//! Input of a person to a running session: a line of the protocol, checked by the session itself.

use std::sync::Arc;

use axum::extract::{Path, State};
use deskhand_machine::command::ToolCommand;
use deskhand_runtime::{
    people::protocol::ToSession,
    words::{action_details, command_words},
};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::api::{AcceptedResponse, OfSession};
use crate::page::{
    PageService,
    error::PageApiError,
    fleet::task_of,
    json::JsonBody,
    live::{PromptPicture, SessionPrompt},
    once::IdempotentAttempt,
};

/// The most actions of an approval that are listed.
const ACTIONS_MAX: usize = 50;

/// The API description of the line.
pub(super) const LINES: &str =
    "Passes a line of the [protocol](../guides/protocol.md) on to the session, which checks it.";

/// A line of the protocol. The session checks it: that may be one of another version.
#[derive(Debug, Deserialize)]
pub(super) struct SteeringRequest(Value);

impl JsonSchema for SteeringRequest {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        ToSession::schema_name()
    }

    fn schema_id() -> std::borrow::Cow<'static, str> {
        ToSession::schema_id()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        ToSession::json_schema(generator)
    }
}

/// Passes a line of the protocol on.
pub(super) async fn wish(
    State(service): State<Arc<PageService>>,
    Path(OfSession { id }): Path<OfSession>,
    _attempt: IdempotentAttempt,
    JsonBody(SteeringRequest(line)): JsonBody<SteeringRequest>,
) -> Result<AcceptedResponse, PageApiError> {
    if !line.get("do").is_some_and(Value::is_string) {
        return Err(PageApiError::wrong("a line of the protocol has a field `do`: docs/guides/protocol.md"));
    }
    match (&service.fleet, task_of(&id)) {
        (Some(fleet), Some(task)) => fleet.wish(&task, &line.to_string()).await?,
        (Some(_), None) | (None, _) if line.get("do").is_some_and(|what| what == "stop") => {
            let located = service.locate(&id).await?;
            service.hub.send_at_once(&located.folder, &line.to_string()).await?;
        }
        (Some(_), None) | (None, _) => service.session(&id).await?.1.wish(&line).await?,
    }
    Ok(AcceptedResponse)
}

/// The open question of a session, for the form that answers it.
#[derive(Debug, Default, Serialize)]
pub(super) struct PromptView<'a> {
    session: &'a str,
    meant: Option<&'a PromptPicture>,
    kind: &'static str,
    /// The id, as JSON.
    id: String,
    questions: Vec<QuestionView>,
    agent: String,
    reason: String,
    rule: String,
    covers: Vec<String>,
    actions: Vec<ActionView>,
}

#[derive(Debug, Default, Deserialize, Serialize)]
#[serde(default)]
struct QuestionView {
    text: String,
    required: bool,
    choices: Vec<String>,
    default: Option<String>,
}

#[derive(Debug, Serialize)]
struct ActionView {
    application: String,
    what: String,
    details: Vec<(String, String)>,
}

#[derive(Deserialize)]
struct ApprovalAction {
    command: ToolCommand,
    target: Option<String>,
    application: Option<String>,
}

/// The form of a prompt.
pub(super) fn prompt_view<'a>(session: &'a str, prompt: &'a SessionPrompt) -> PromptView<'a> {
    let line = &prompt.line;
    let text = |name: &str| line.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    let list = |name: &str| line.get(name).and_then(Value::as_array).cloned().unwrap_or_default();
    let rule = line.pointer("/asked_by/policy/rule").or_else(|| line.pointer("/asked_by/rule"));
    let planned = list("actions").into_iter().take(ACTIONS_MAX);
    let planned = planned.filter_map(|action| serde_json::from_value::<ApprovalAction>(action).ok());
    let actions = planned.map(|planned| ActionView {
        application: planned.application.unwrap_or_default(),
        what: command_words(&planned.command, planned.target.as_deref()),
        details: action_details(&planned.command),
    });
    PromptView {
        session,
        meant: prompt.meant.as_ref(),
        kind: prompt.kind,
        id: prompt.id.as_ref().map(ToString::to_string).unwrap_or_default(),
        questions: list("questions")
            .into_iter()
            .map(|one| serde_json::from_value(one).unwrap_or_default())
            .collect(),
        agent: text("agent"),
        reason: text("reason"),
        rule: rule.and_then(Value::as_str).unwrap_or_default().to_owned(),
        covers: list("covers").iter().filter_map(|one| one.as_str().map(str::to_owned)).collect(),
        actions: actions.collect(),
    }
}
