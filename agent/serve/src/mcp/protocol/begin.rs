//! From a request to its call: a new one, or the one that it repeats or answers.

use std::sync::Arc;

use rmcp::{
    ErrorData,
    model::{ErrorCode, InputResponses, RequestId, RequestMetaObject},
};
use serde_json::Value;

use super::{
    call::{ClientInfo, McpCall},
    calls::{Calls, McpCallKey, RUNNING_MAX},
    catalog::Catalog,
    requests::CatalogRequest,
};

/// The field of a request with the key that identifies repetitions.
const KEY: &str = "deskhand/idempotencyKey";
/// The longest key, in bytes.
const KEY_MAX: usize = 255;
/// The code of a request for which there is no room now; outside of what JSON-RPC reserves.
const BUSY: ErrorCode = ErrorCode(429);

/// A request as it came.
pub(super) struct IncomingMcpRequest {
    pub(super) id: RequestId,
    pub(super) wanted: CatalogRequest,
    pub(super) client: ClientInfo,
    pub(super) key: Option<String>,
    pub(super) state: Option<String>,
    pub(super) responses: Option<InputResponses>,
}

/// The key of a request.
///
/// # Errors
/// It is none.
pub(super) fn key_of(meta: &RequestMetaObject) -> Result<Option<String>, ErrorData> {
    match meta.get(KEY) {
        None => Ok(None),
        Some(Value::String(key)) if !key.is_empty() && key.len() <= KEY_MAX => Ok(Some(key.clone())),
        Some(_) => {
            let problem = format!("`_meta` has a `{KEY}` that is no text of 1 to {KEY_MAX} bytes");
            Err(ErrorData::invalid_params(problem, None))
        }
    }
}

impl Calls {
    /// The call of a request.
    ///
    /// # Errors
    /// The request refers to a call that it does not repeat, or too many calls run.
    pub(super) async fn for_request<C: Catalog>(
        self: &Arc<Self>,
        catalog: &Arc<C>,
        incoming: IncomingMcpRequest,
    ) -> Result<Arc<McpCall>, ErrorData> {
        let IncomingMcpRequest { id, wanted, client, key, state, responses } = incoming;
        let digest = Self::digest(&wanted);
        if let Some(state) = state {
            return self.answered(&state, digest, &responses.unwrap_or_default());
        }
        let mut keys = Vec::new();
        if let Some(key) = key {
            let key = McpCallKey::Given(key);
            match self.with_key(&key) {
                Some(call) if call.digest == digest => return Ok(call),
                Some(_) => {
                    let problem = format!("this `{KEY}` was used for another request; nothing was done");
                    return Err(ErrorData::invalid_params(problem, None));
                }
                None => keys.push(key),
            }
        }
        let repeatable = match &wanted {
            CatalogRequest::Tool { name, .. } => catalog.is_repeatable(name),
            CatalogRequest::Prompt { .. } | CatalogRequest::Resource { .. } => true,
        };
        if let Some(client) = client.id.filter(|_| !repeatable) {
            let key = McpCallKey::Request(client, id);
            match self.with_key(&key) {
                Some(call) if call.digest == digest => return Ok(call),
                Some(_) | None => keys.push(key),
            }
        }
        self.begin(Arc::clone(catalog), wanted, (client, responses.unwrap_or_default()), keys).await.ok_or_else(|| {
            let problem =
                format!("{RUNNING_MAX} calls are in progress, the most at once; nothing was done, wait for an answer first");
            ErrorData::new(BUSY, problem, None)
        })
    }

    /// Gives answers to the call that asked for them.
    fn answered(
        &self,
        state: &str,
        digest: [u8; 32],
        responses: &InputResponses,
    ) -> Result<Arc<McpCall>, ErrorData> {
        let call = self.with_state(state).ok_or_else(|| {
            let problem = "`requestState` is none of this server, or its call was given up; send the request without it";
            ErrorData::invalid_params(problem, None)
        })?;
        if call.digest != digest {
            let problem =
                "`requestState` belongs to another request; repeat the request that it was an answer to";
            return Err(ErrorData::invalid_params(problem, None));
        }
        if let Some(asked) = call.asked().filter(|asked| asked.state == state) {
            // With answers missing, the call asks again.
            asked.answer(responses);
        }
        Ok(call)
    }
}
