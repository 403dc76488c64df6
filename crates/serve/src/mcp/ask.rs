//! Questions to the user of a client, by elicitation.

use std::sync::Arc;

use deskhand_runtime::{
    people::{ApprovalRequest, Questions},
    words::whole_command_words,
};
use rmcp::{
    Peer, RoleServer,
    model::{ElicitRequestParams, ElicitResult, ElicitationAction, ElicitationSchema},
};
use serde_json::{Map, Value, json};

use crate::desk::{Asking, Attending, Said};

/// The reason for the model of the client when its user cannot be asked.
const NOBODY: &str = "this needs the user's approval, and this client cannot ask (it does not offer elicitation); the user can \
    allow it with a rule under [[policy.rules]] in Deskhand's configuration. Do it another way, or tell the user";
/// The same when the user said no.
const REFUSED: &str = "the user did not approve it";

/// Asks the user of this client.
pub(super) fn attending(peer: Peer<RoleServer>) -> Attending {
    Arc::new(move |asking| {
        let peer = peer.clone();
        Box::pin(async move {
            match asking {
                Asking::Approval(request) => approve(&peer, &request).await,
                Asking::Questions(questions) => answer(&peer, &questions).await,
            }
        })
    })
}

async fn approve(peer: &Peer<RoleServer>, request: &ApprovalRequest) -> Said {
    let actions = request.actions.iter().map(|action| {
        let within = action.application.as_ref().map(|name| format!(" in {name}")).unwrap_or_default();
        format!("- {}{within}", whole_command_words(&action.command, action.target.as_deref()))
    });
    let actions: Vec<String> = actions.collect();
    let message = format!("Deskhand asks to approve:\n{}\nReason: {}", actions.join("\n"), request.reason);
    match elicit(peer, message, Map::new(), &[]).await {
        None => Said::No(NOBODY.to_owned()),
        Some(result) if result.action == ElicitationAction::Accept => Said::Approved,
        Some(_) => Said::No(REFUSED.to_owned()),
    }
}

async fn answer(peer: &Peer<RoleServer>, questions: &Questions) -> Said {
    let name = |number: usize| format!("answer_{}", number + 1);
    let property = |question: &deskhand_core::reply::Question| match question.choices.as_slice() {
        [] => json!({"type": "string", "title": question.text}),
        choices => json!({"type": "string", "title": question.text, "enum": choices}),
    };
    let all = questions.questions.iter().enumerate();
    let properties: Map<String, Value> = all.clone().map(|(at, one)| (name(at), property(one))).collect();
    let required: Vec<String> = all.clone().filter(|(_, one)| one.required).map(|(at, _)| name(at)).collect();
    let message = "Deskhand asks you to answer.".to_owned();
    match elicit(peer, message, properties, &required).await {
        Some(ElicitResult { action: ElicitationAction::Accept, content: Some(content), .. }) => {
            let text = |at| content.get(name(at)).and_then(Value::as_str).unwrap_or_default().to_owned();
            Said::Answers(all.map(|(at, _)| text(at)).collect())
        }
        _ => Said::No(REFUSED.to_owned()),
    }
}

/// Shows a form; `None` if the client cannot.
async fn elicit(
    peer: &Peer<RoleServer>,
    message: String,
    properties: Map<String, Value>,
    required: &[String],
) -> Option<ElicitResult> {
    peer.peer_info()?.capabilities.elicitation.as_ref()?;
    let schema = json!({"type": "object", "properties": properties, "required": required});
    let schema = schema.as_object().cloned().unwrap_or_default();
    let requested_schema = ElicitationSchema::from_json_schema(schema).ok()?;
    let form = ElicitRequestParams::FormElicitationParams { meta: None, message, requested_schema };
    match peer.create_elicitation(form).await {
        Ok(result) => Some(result),
        Err(error) => {
            tracing::warn!(%error, "asking the user of a client");
            None
        }
    }
}
