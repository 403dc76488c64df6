//! The way to a server over streamable HTTP.

use std::{collections::HashMap, time::Duration};

use deskhand_http::{HttpTimeout, client};
use rmcp::transport::{
    StreamableHttpClientTransport, streamable_http_client::StreamableHttpClientTransportConfig,
};

use super::{error::McpError, settings::HttpSettings};

/// Maximum time to connect.
const CONNECT_BOUND: Duration = Duration::from_secs(10);

/// The transport to a server. Nothing is sent yet.
pub(super) fn transport(
    settings: &HttpSettings,
) -> Result<StreamableHttpClientTransport<reqwest::Client>, McpError> {
    let client = client(&settings.url, CONNECT_BOUND, HttpTimeout::Callers)
        .map_err(|error| McpError::Start(format!("set up a client for {}: {error}", settings.url)))?;
    let mut headers = HashMap::new();
    for (name, value) in &settings.headers {
        let name =
            name.parse().map_err(|_| McpError::Start(format!("send the header `{name}`: no such name")))?;
        headers.insert(name, value.plain());
    }
    if let Some(token) = &settings.token {
        headers.insert(reqwest::header::AUTHORIZATION, token.bearer());
    }
    let config = StreamableHttpClientTransportConfig::with_uri(settings.url.as_str()).custom_headers(headers);
    Ok(StreamableHttpClientTransport::with_client(client, config))
}
