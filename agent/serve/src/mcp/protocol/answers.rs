//! Questions to a client and its answers, in both forms of the protocol: as requests of the server, and since 2026-07-28 as results that
//! say what is needed.

use std::collections::BTreeMap;

use rmcp::{
    Peer, RoleServer,
    model::{
        ClientResult, ElicitRequest, ElicitResult, InputRequest, InputRequests, InputResponses, ServerRequest,
    },
};
use serde_json::Value;

/// Returns `true` if each question has an answer of its form. Answers to questions that were not asked are ignored.
pub(super) fn are_complete(requests: &InputRequests, responses: &InputResponses) -> bool {
    requests.iter().all(|(key, request)| responses.get(key).is_some_and(|answer| fits(request, answer)))
}

fn fits(request: &InputRequest, answer: &Value) -> bool {
    match request {
        InputRequest::Elicitation(_) => serde_json::from_value::<ElicitResult>(answer.clone()).is_ok(),
        InputRequest::CreateMessage(_) => answer.get("content").is_some() && answer.get("role").is_some(),
        InputRequest::ListRoots(_) => answer.get("roots").is_some_and(Value::is_array),
        _ => false,
    }
}

/// Asks a client of a protocol before 2026-07-28, one question after the other; `None` if it does not answer.
pub(super) async fn ask_peer(peer: &Peer<RoleServer>, requests: &InputRequests) -> Option<InputResponses> {
    let mut responses = BTreeMap::new();
    for (key, request) in requests {
        let request = match request {
            InputRequest::Elicitation(one) => {
                ServerRequest::ElicitRequest(ElicitRequest::new(one.params.clone()))
            }
            InputRequest::CreateMessage(one) => ServerRequest::CreateMessageRequest(one.clone()),
            InputRequest::ListRoots(one) => ServerRequest::ListRootsRequest(one.clone()),
            _ => return None,
        };
        let answer = match peer.send_request(request).await {
            Ok(ClientResult::ElicitResult(answer)) => serde_json::to_value(answer),
            Ok(ClientResult::CreateMessageResult(answer)) => serde_json::to_value(answer),
            Ok(ClientResult::ListRootsResult(answer)) => serde_json::to_value(answer),
            Ok(_) => return None,
            Err(error) => {
                tracing::debug!(%error, "asking a client");
                return None;
            }
        };
        responses.insert(key.clone(), answer.ok()?);
    }
    Some(responses)
}
