//! The client, and what is read of a response.

use std::{error::Error, time::Duration};

use reqwest::{Client, ClientBuilder, Response, Url, redirect::Policy};
use tokio::time::{Instant, timeout_at};

use crate::url::is_loopback;

/// Installs the TLS provider of the process; call it before TLS is used. Further calls do nothing.
pub fn install_tls() {
    // An error means that a provider is already installed.
    drop(rustls::crypto::ring::default_provider().install_default());
}

/// Time limit of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HttpTimeout {
    /// From connecting to the last byte.
    Whole(Duration),
    /// As long as the caller waits: for the response itself, and for its body by [`Silence`]. A server that is gone is noticed
    /// earlier, by TCP keep-alive.
    Callers,
}

/// Limits on the time in which the body of a response brings nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Silence {
    /// When its first part must be there.
    pub first: Instant,
    /// The longest time between two parts.
    pub between: Duration,
}

/// Builds a client for requests to one server. Connecting may take `connect_timeout`, and no longer than a bound
/// of the whole request.
///
/// # Errors
/// If the client cannot be built.
pub fn client(server: &Url, connect_timeout: Duration, bound: HttpTimeout) -> reqwest::Result<Client> {
    let builder = match bound {
        HttpTimeout::Whole(time) => builder(server).timeout(time).connect_timeout(connect_timeout.min(time)),
        HttpTimeout::Callers => builder(server).connect_timeout(connect_timeout),
    };
    // Following a redirect would turn a POST into a GET or send the secret elsewhere.
    builder.redirect(Policy::none()).build()
}

/// Creates a builder with the settings common to all clients.
pub(crate) fn builder(server: &Url) -> ClientBuilder {
    // The client requires a provider even without TLS.
    install_tls();
    if is_loopback(server) { Client::builder().no_proxy() } else { Client::builder() }
}

/// A body that was not read to its end.
#[derive(Debug, thiserror::Error)]
pub enum BodyError {
    /// The body is longer than the limit.
    #[error("read a body of more than {limit} bytes")]
    TooLong {
        /// The limit.
        limit: usize,
    },
    /// The connection ended or timed out.
    #[error("read a body after {received} bytes")]
    Truncated {
        /// Number of bytes received.
        received: usize,
        /// The reason.
        #[source]
        source: reqwest::Error,
    },
    /// The server sent nothing for too long.
    #[error("read a body after {received} bytes: nothing more came")]
    Silent {
        /// Number of bytes received.
        received: usize,
    },
}

/// Reads a body of at most `limit` bytes.
///
/// # Errors
/// If it is longer, or the connection ends or times out before its end.
pub async fn read_body(response: &mut Response, limit: usize) -> Result<Vec<u8>, BodyError> {
    let mut bytes = Vec::new();
    while next_part(response, &mut bytes, limit).await? {}
    Ok(bytes)
}

/// Reads a body of at most `limit` bytes, until its end or until `is_whole` says so of what was received so far.
///
/// # Errors
/// If it is longer, the connection ends before its end, or the server is silent for too long.
pub async fn read_body_until(
    response: &mut Response,
    limit: usize,
    silence: Silence,
    mut is_whole: impl FnMut(&[u8]) -> bool,
) -> Result<Vec<u8>, BodyError> {
    let mut bytes = Vec::new();
    let mut until = silence.first;
    loop {
        let received = bytes.len();
        let part = timeout_at(until, next_part(response, &mut bytes, limit)).await;
        let has_more = part.map_err(|_| BodyError::Silent { received })??;
        if !has_more || is_whole(&bytes) {
            return Ok(bytes);
        }
        until = Instant::now() + silence.between;
    }
}

/// Adds the next part of a body to `bytes`; false at its end.
async fn next_part(response: &mut Response, bytes: &mut Vec<u8>, limit: usize) -> Result<bool, BodyError> {
    let part = response.chunk().await;
    let part = part.map_err(|source| BodyError::Truncated { received: bytes.len(), source })?;
    let Some(part) = part else { return Ok(false) };
    if bytes.len().saturating_add(part.len()) > limit {
        return Err(BodyError::TooLong { limit });
    }
    bytes.extend_from_slice(&part);
    Ok(true)
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
