//! Reads a cassette for a person.

use std::path::Path;

use serde_json::Value;

use super::{
    client::Endpoint,
    config::{EndpointConfig, EndpointSetupError},
    failure::{AttemptFailure, EndpointIdentity},
};
use crate::{
    cassette::{Exchange, ExchangeEnd, read_cassette},
    port::Model as _,
};

/// An exchange of a cassette.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExchangeSummary {
    /// Method and path of the request: `POST /chat/completions`.
    pub request: String,
    /// The status of the response; `None` if there was no whole one.
    pub status: Option<u16>,
    /// The text of the reply, or what is wrong with it.
    pub reading: Result<String, String>,
    /// Duration of the exchange, in milliseconds.
    pub took_ms: u64,
}

/// The model of a cassette, and its exchanges as the wire formats of this version read them.
///
/// # Errors
///
/// If the file cannot be read or is no cassette.
pub fn recorded(path: &Path) -> Result<(String, Vec<ExchangeSummary>), EndpointSetupError> {
    let (label, exchanges) = read_cassette(path)?;
    let config = EndpointConfig {
        provider: label.provider,
        wire: label.wire,
        ..EndpointConfig::new(label.base_url, label.model)
    };
    let endpoint = Endpoint::new(config)?;
    let read = |Exchange { request, end, took_ms }: Exchange| {
        let url = format!("{}{}", endpoint.endpoint.base_url, request.path);
        let named = EndpointIdentity { url, ..endpoint.endpoint.clone() };
        let (status, reading) = match end {
            ExchangeEnd::Response(response) => {
                (
                    Some(response.status),
                    endpoint.read(&named, response, /*computer*/ None, tokens_max(&request.body)),
                )
            }
            ExchangeEnd::Failed(failed) => {
                (None, Err(AttemptFailure::recorded(failed.kind, failed.message, failed.is_retried)))
            }
        };
        let reading = reading.map(|answer| answer.text).map_err(|fault| fault.message);
        ExchangeSummary { request: format!("{} {}", request.method, request.path), status, reading, took_ms }
    };
    Ok((endpoint.name().to_owned(), exchanges.into_iter().map(read).collect()))
}

/// The limit of a reply in a request, by the names that wire formats have for it.
fn tokens_max(body: &Value) -> u32 {
    let places = [
        "/max_tokens",
        "/max_completion_tokens",
        "/max_output_tokens",
        "/generationConfig/maxOutputTokens",
        "/options/num_predict",
    ];
    let found = places.iter().find_map(|place| body.pointer(place)?.as_u64());
    found.and_then(|tokens| u32::try_from(tokens).ok()).unwrap_or_default()
}
