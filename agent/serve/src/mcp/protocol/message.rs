//! JSON-RPC messages before the protocol handles them: each invalid one gets its error code.

use rmcp::model::{
    CallToolRequestParams, CompleteRequestParams, ErrorCode, ErrorData, GetPromptRequestParams,
    InitializeRequestParams, PaginatedRequestParams, ReadResourceRequestParams,
};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use super::wait::ElicitationRoute;

/// The most characters of an unknown method that are repeated.
const METHOD_SHOWN: usize = 80;

/// A message that is none, with the id to answer to if it can be read.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::mcp) struct InvalidJsonRpcMessage {
    error: Box<ErrorData>,
    id: Value,
}

impl InvalidJsonRpcMessage {
    fn new(code: ErrorCode, problem: impl Into<String>, id: Value) -> Self {
        Self { error: Box::new(ErrorData::new(code, problem.into(), None)), id }
    }

    /// One for a message of more bytes than are read.
    pub(in crate::mcp) fn too_large(bytes_max: usize) -> Self {
        let problem = format!("the message is larger than {} MiB", bytes_max >> 20);
        Self::new(ErrorCode::INVALID_REQUEST, problem, Value::Null)
    }

    /// One for a message that has the form of JSON-RPC but not that of the protocol.
    pub(in crate::mcp) fn unknown_form(message: &Value) -> Self {
        let problem = "this is no message of the Model Context Protocol";
        Self::new(ErrorCode::INVALID_REQUEST, problem, known_id(message).unwrap_or_default())
    }

    /// The answer, as the protocol sends it.
    pub(in crate::mcp) fn to_answer(&self) -> Value {
        json!({"jsonrpc": "2.0", "id": self.id, "error": self.error})
    }
}

/// Reads a message.
///
/// # Errors
/// It is not JSON, nested too deep, or has not the form of JSON-RPC.
pub(in crate::mcp) fn check(bytes: &[u8]) -> Result<Value, InvalidJsonRpcMessage> {
    let message: Value = serde_json::from_slice(bytes).map_err(|error| {
        InvalidJsonRpcMessage::new(ErrorCode::PARSE_ERROR, format!("this is not JSON: {error}"), Value::Null)
    })?;
    let Value::Object(fields) = &message else {
        let what = if message.is_array() { "batches are not supported" } else { "a message is an object" };
        return Err(InvalidJsonRpcMessage::new(ErrorCode::INVALID_REQUEST, what, Value::Null));
    };
    let id = known_id(&message).unwrap_or_default();
    let wrong =
        |problem: &str| Err(InvalidJsonRpcMessage::new(ErrorCode::INVALID_REQUEST, problem, id.clone()));
    if fields.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
        return wrong("`jsonrpc` must be \"2.0\"");
    }
    if fields.contains_key("id") && known_id(&message).is_none() && !is_error(fields) {
        return wrong("`id` must be a text or a whole number");
    }
    match fields.get("method") {
        Some(Value::String(_)) => {}
        Some(_) => return wrong("`method` must be a text"),
        None if fields.contains_key("result") != fields.contains_key("error") => return Ok(message),
        None => return wrong("a message has a `method`, a `result` or an `error`"),
    }
    match fields.get("params") {
        Some(Value::Object(params)) if params.get("cursor").is_some_and(|cursor| !cursor.is_string()) => {
            Err(InvalidJsonRpcMessage::new(ErrorCode::INVALID_PARAMS, "`cursor` must be a text", id))
        }
        None | Some(Value::Object(_)) => Ok(message),
        Some(_) => {
            Err(InvalidJsonRpcMessage::new(ErrorCode::INVALID_PARAMS, "`params` must be an object", id))
        }
    }
}

/// Returns `true` if it is an error: its id is null if that of the request could not be read.
fn is_error(fields: &Map<String, Value>) -> bool {
    fields.contains_key("error") && !fields.contains_key("method")
}

fn known_id(message: &Value) -> Option<Value> {
    message.get("id").filter(|id| id.is_string() || id.is_i64()).cloned()
}

/// Why a request that no method took is refused: its parameters have the wrong form, or there is no such method.
pub(super) fn explained(method: &str, params: Option<Value>, asks: ElicitationRoute) -> ErrorData {
    const REMOVED: [&str; 5] =
        ["initialize", "ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe"];
    let params = params.unwrap_or_else(|| json!({}));
    let wrong = |problem: Option<String>| {
        let problem = problem.unwrap_or_else(|| "they have the wrong form".to_owned());
        ErrorData::new(ErrorCode::INVALID_PARAMS, format!("the parameters of `{method}`: {problem}"), None)
    };
    let unknown = || {
        let known: String = method.chars().take(METHOD_SHOWN).collect();
        ErrorData::new(ErrorCode::METHOD_NOT_FOUND, format!("there is no method `{known}`"), None)
    };
    if asks == ElicitationRoute::ByResult && REMOVED.contains(&method) {
        return unknown();
    }
    match method {
        "tools/call" => wrong(problem::<CallToolRequestParams>(params)),
        "prompts/get" => wrong(problem::<GetPromptRequestParams>(params)),
        "resources/read" => wrong(problem::<ReadResourceRequestParams>(params)),
        "completion/complete" => wrong(problem::<CompleteRequestParams>(params)),
        "initialize" => wrong(problem::<InitializeRequestParams>(params)),
        "tools/list" | "prompts/list" | "resources/list" | "resources/templates/list" => {
            wrong(problem::<PaginatedRequestParams>(params))
        }
        "subscriptions/listen"
        | "resources/subscribe"
        | "resources/unsubscribe"
        | "logging/setLevel"
        | "server/discover"
        | "ping" => wrong(None),
        _ => unknown(),
    }
}

fn problem<T: DeserializeOwned>(params: Value) -> Option<String> {
    serde_json::from_value::<T>(params).err().map(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(message: &str) -> (i32, Value) {
        let refusal = check(message.as_bytes()).unwrap_err();
        (refusal.error.code.0, refusal.to_answer()["id"].clone())
    }

    #[test]
    fn each_wrong_message_gets_its_code() {
        let deep = format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"x","params":{}1{}}}"#,
            "[".repeat(500),
            "]".repeat(500)
        );
        for (message, expected) in [
            ("garbage", (-32700, Value::Null)),
            ("", (-32700, Value::Null)),
            (r#"{"jsonrpc":"2.0","id":1,"#, (-32700, Value::Null)),
            (deep.as_str(), (-32700, Value::Null)),
            ("[]", (-32600, Value::Null)),
            (r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#, (-32600, Value::Null)),
            ("7", (-32600, Value::Null)),
            (r#"{"id":1,"method":"ping"}"#, (-32600, json!(1))),
            (r#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#, (-32600, json!(1))),
            (r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, (-32600, Value::Null)),
            (r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#, (-32600, Value::Null)),
            (r#"{"jsonrpc":"2.0","id":{},"method":"ping"}"#, (-32600, Value::Null)),
            (r#"{"jsonrpc":"2.0","id":"a","method":7}"#, (-32600, json!("a"))),
            (r#"{"jsonrpc":"2.0","id":"a"}"#, (-32600, json!("a"))),
            (r#"{"jsonrpc":"2.0","id":1,"result":{},"error":{}}"#, (-32600, json!(1))),
            (r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}"#, (-32602, json!(1))),
            (r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":"x"}"#, (-32602, json!(1))),
            (r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":7}}"#, (-32602, json!(1))),
        ] {
            assert_eq!(code(message), expected, "{message}");
        }
    }

    #[test]
    fn right_messages_pass() {
        for message in [
            r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#,
            r#"{"jsonrpc":"2.0","id":"a","method":"tools/list","params":{}}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
            r#"{"jsonrpc":"2.0","id":1,"result":{}}"#,
            r#"{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"m"}}"#,
        ] {
            assert!(check(message.as_bytes()).is_ok(), "{message}");
        }
    }
}
