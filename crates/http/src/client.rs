//! The client, and what is read of a response.

use std::{error::Error, time::Duration};

use reqwest::{Client, Response, Url, redirect::Policy};

use crate::url::is_loopback;

/// Installs the TLS provider of the process; call it before TLS is used. Further calls do nothing.
pub fn install_tls() {
    // An error means that a provider is already installed.
    drop(rustls::crypto::ring::default_provider().install_default());
}

/// Builds a client for requests to one server. Each request may take `timeout`, connecting `connect_timeout` of it.
///
/// # Errors
/// If the client cannot be built.
pub fn client(server: &Url, connect_timeout: Duration, timeout: Duration) -> reqwest::Result<Client> {
    // The client requires a provider even without TLS.
    install_tls();
    let mut builder = Client::builder()
        .connect_timeout(connect_timeout.min(timeout))
        .timeout(timeout)
        // Following a redirect would turn a POST into a GET or send the secret elsewhere.
        .redirect(Policy::none());
    if is_loopback(server) {
        builder = builder.no_proxy();
    }
    builder.build()
}

/// A body that was not read to its end.
#[derive(Debug, thiserror::Error)]
pub enum BodyError {
    /// It is longer than the limit.
    #[error("read a body of more than {limit} bytes")]
    TooLong {
        /// The limit.
        limit: usize,
    },
    /// The connection ended or timed out.
    #[error("read a body after {received} bytes")]
    Truncated {
        /// How many bytes were received.
        received: usize,
        /// The reason.
        #[source]
        source: reqwest::Error,
    },
}

/// Reads a body of at most `limit` bytes.
///
/// # Errors
/// If it is longer, or the connection ends or times out before its end.
pub async fn read_body(response: &mut Response, limit: usize) -> Result<Vec<u8>, BodyError> {
    let mut bytes = Vec::new();
    loop {
        let chunk = response.chunk().await;
        let chunk = chunk.map_err(|source| BodyError::Truncated { received: bytes.len(), source })?;
        let Some(chunk) = chunk else { return Ok(bytes) };
        if bytes.len().saturating_add(chunk.len()) > limit {
            return Err(BodyError::TooLong { limit });
        }
        bytes.extend_from_slice(&chunk);
    }
}

/// The innermost cause of an error, usually the most specific.
#[must_use]
pub fn root_cause(error: &reqwest::Error) -> String {
    let mut cause: &dyn Error = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    cause.to_string()
}
