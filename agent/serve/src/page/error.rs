//! Responses to requests that fail.

use aide::{
    OperationOutput,
    generate::GenContext,
    openapi::{Operation, Response as Described, StatusCode as Code},
};
use axum::{
    Json,
    body::to_bytes,
    extract::Request,
    http::{
        HeaderValue, StatusCode,
        header::{CONTENT_LENGTH, CONTENT_TYPE},
    },
    middleware::Next,
    response::{IntoResponse, Response},
};
use deskhand_host::HostError;
use deskhand_ui::text::error_chain;
use schemars::JsonSchema;
use serde::Serialize;

use super::described::described;

/// The kind of a body that is JSON.
const JSON: &str = "application/json";
/// The most bytes of the words of an error that is no JSON.
const WORDS_MAX: usize = 16 * 1024;

/// A request that failed, with what to tell about it.
#[derive(Debug)]
pub(crate) struct PageApiError {
    status: StatusCode,
    message: String,
    /// The field of the form that is wrong.
    field: Option<&'static str>,
}

/// A request that failed.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Error")]
struct PageErrorBody<'a> {
    /// The failed operation, its cause, and the next step.
    error: &'a str,
    /// The field of the request that is wrong, where one is.
    #[serde(skip_serializing_if = "Option::is_none")]
    field: Option<&'static str>,
}

impl PageApiError {
    pub(crate) fn new(status: StatusCode, message: impl Into<String>) -> Self {
        Self { status, message: message.into(), field: None }
    }

    /// The message.
    pub(crate) fn words(&self) -> &str {
        &self.message
    }

    /// Creates the error for a resource that does not exist.
    pub(crate) fn missing(message: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, message)
    }

    /// The request says something that cannot be.
    pub(crate) fn wrong(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, message)
    }

    /// Something else prevents it.
    pub(crate) fn conflict(message: impl Into<String>) -> Self {
        Self::new(StatusCode::CONFLICT, message)
    }

    /// The service failed.
    pub(crate) fn failed(what: &str, error: &(dyn std::error::Error + 'static)) -> Self {
        let message = format!("{what}: {}", error_chain(error));
        tracing::error!("{message}");
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, message)
    }

    /// A field of a form says something that cannot be.
    pub(crate) fn in_field(field: &'static str, message: impl Into<String>) -> Self {
        Self { field: Some(field), ..Self::wrong(message) }
    }

    /// The same, about this field of a form.
    pub(crate) fn about(self, field: &'static str) -> Self {
        Self { field: Some(field), ..self }
    }

    /// The same without something that says nothing to who reads it.
    pub(crate) fn without(self, text: &str) -> Self {
        Self { message: self.message.replace(text, ""), ..self }
    }

    /// The field of the form that is wrong.
    #[cfg(test)]
    pub(crate) fn field(&self) -> Option<&'static str> {
        self.field
    }
}

impl From<HostError> for PageApiError {
    fn from(error: HostError) -> Self {
        Self::wrong(error_chain(&error))
    }
}

/// What a response failed with, for the page that tells it to a person.
#[derive(Debug, Clone)]
pub(super) struct InternalFailure(pub(super) String);

impl IntoResponse for PageApiError {
    fn into_response(self) -> Response {
        let mut response =
            (self.status, Json(PageErrorBody { error: &self.message, field: self.field })).into_response();
        response.extensions_mut().insert(InternalFailure(self.message));
        response
    }
}

impl OperationOutput for PageApiError {
    type Inner = Self;

    fn inferred_responses(context: &mut GenContext, _: &mut Operation) -> Vec<(Option<Code>, Described)> {
        vec![(None, described::<PageErrorBody<'_>>(context, JSON, "It failed"))]
    }
}

/// Answers requests to the API that fail with JSON, also those that fail before they come to a handler.
pub(super) async fn in_json(request: Request, next: Next) -> Response {
    let is_api = request.uri().path().starts_with("/api/");
    let response = next.run(request).await;
    let is_error = response.status().is_client_error() || response.status().is_server_error();
    let is_json = response.headers().get(CONTENT_TYPE).is_some_and(|kind| kind == JSON);
    if !is_api || !is_error || is_json {
        return response;
    }
    let (mut parts, body) = response.into_parts();
    let words = to_bytes(body, WORDS_MAX).await.unwrap_or_default();
    let words = String::from_utf8_lossy(&words);
    let reason = parts.status.canonical_reason().unwrap_or_default();
    let body = PageErrorBody { error: if words.is_empty() { reason } else { &words }, field: None };
    parts.headers.insert(CONTENT_TYPE, HeaderValue::from_static(JSON));
    parts.headers.remove(CONTENT_LENGTH);
    Response::from_parts(parts, serde_json::to_vec(&body).unwrap_or_default().into())
}
