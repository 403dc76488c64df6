//! One request and what came of it, as a line of a cassette.

use deskhand_machine::model::ModelFailureKind;
use reqwest::StatusCode;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A request and its response.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Exchange {
    pub(crate) request: CassetteRequest,
    #[serde(flatten)]
    pub(crate) end: ExchangeEnd,
    /// Duration of the exchange, in milliseconds.
    pub(crate) took_ms: u64,
}

/// Recorded request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct CassetteRequest {
    pub(crate) method: String,
    /// The address without the base URL: `/chat/completions`.
    pub(crate) path: String,
    /// The body; pictures are in it by their hash.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub(crate) body: Value,
}

/// Result of an exchange.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ExchangeEnd {
    /// With a response.
    Response(CassetteResponse),
    /// Without a whole one.
    Failed(CassetteFailure),
}

/// A whole response.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct CassetteResponse {
    pub(crate) status: u16,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) content_type: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) retry_after: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) location: Option<String>,
    /// The body, whole or as it was streamed.
    pub(crate) body: String,
}

/// No whole response.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct CassetteFailure {
    pub(crate) kind: ModelFailureKind,
    pub(crate) message: String,
    /// `true` if the request is sent again after this failure.
    pub(crate) is_retried: bool,
}

impl CassetteResponse {
    /// The status; that of a server that failed, where the number is none.
    pub(crate) fn status(&self) -> StatusCode {
        StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
    }
}
