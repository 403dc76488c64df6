//! What a request is answered with when it fails.

use axum::{
    Json,
    http::StatusCode,
    response::{IntoResponse, Response},
};
use deskhand_core::text::error_chain;
use deskhand_host::HostError;
use serde::Serialize;

/// A request that failed, with what to tell about it.
#[derive(Debug)]
pub(crate) struct PageError {
    status: StatusCode,
    message: String,
}

#[derive(Serialize)]
struct Body<'a> {
    error: &'a str,
}

impl PageError {
    pub(crate) fn new(status: StatusCode, message: impl Into<String>) -> Self {
        Self { status, message: message.into() }
    }

    /// What the request asks for is not there.
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
}

impl From<HostError> for PageError {
    fn from(error: HostError) -> Self {
        Self::wrong(error_chain(&error))
    }
}

impl IntoResponse for PageError {
    fn into_response(self) -> Response {
        (self.status, Json(Body { error: &self.message })).into_response()
    }
}
