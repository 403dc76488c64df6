//! Files from servers, without a secret, from any place in them.

use std::time::Duration;

use reqwest::{
    Response, StatusCode, Url,
    header::{CONTENT_RANGE, RANGE},
    redirect::Policy,
};
use tokio::time::timeout;

use crate::{
    client::{builder, root_cause},
    url::{UrlError, http_url, is_loopback},
};

/// Maximum number of redirects: public addresses of large files usually have one or two.
const REDIRECTS_MAX: usize = 5;

/// A file that does not come, or no longer.
#[derive(Debug, thiserror::Error)]
pub enum DownloadError {
    /// The text is no address, or contains a password.
    #[error("it is not an address to download from: {0}")]
    Url(UrlError),
    /// The address is not encrypted, and not on this machine.
    #[error("it is not an https address")]
    Insecure,
    /// The request failed.
    #[error("{0}")]
    NotSent(String),
    /// The server has no such file, or does not give it.
    #[error("the server returned {0}")]
    Status(StatusCode),
    /// The connection ended before the file did.
    #[error("the connection was cut: {0}")]
    Cut(String),
    /// The server sent nothing for too long.
    #[error("nothing came for {} s", .0.as_secs())]
    Silent(Duration),
}

/// A file that is being downloaded.
#[derive(Debug)]
pub struct FileDownload {
    response: Response,
    silence: Duration,
    starts_at: u64,
    total: Option<u64>,
}

impl FileDownload {
    /// Asks for a file from its byte `from` on; `None` if it has no more bytes. Connecting, and each wait for more, may take
    /// `silence`.
    ///
    /// # Errors
    /// If the address is neither https nor on this machine, or the server does not give the file. A redirect from https to anything
    /// else is not followed.
    pub async fn start(url: &str, from: u64, silence: Duration) -> Result<Option<Self>, DownloadError> {
        let url = http_url(url).map_err(DownloadError::Url)?;
        if url.scheme() != "https" && !is_loopback(&url) {
            return Err(DownloadError::Insecure);
        }
        let failed = |error: reqwest::Error| DownloadError::NotSent(root_cause(&error));
        let client = builder(&url).connect_timeout(silence).redirect(redirects()).build().map_err(failed)?;
        let mut request = client.get(url);
        if from > 0 {
            request = request.header(RANGE, format!("bytes={from}-"));
        }
        let sent = timeout(silence, request.send()).await.map_err(|_| DownloadError::Silent(silence))?;
        let response = sent.map_err(failed)?;
        match response.status() {
            StatusCode::PARTIAL_CONTENT => {
                let range = response.headers().get(CONTENT_RANGE).and_then(|range| range.to_str().ok());
                let (starts_at, total) = range.and_then(parse_range).unwrap_or((from, None));
                Ok(Some(Self { response, silence, starts_at, total }))
            }
            StatusCode::RANGE_NOT_SATISFIABLE if from > 0 => Ok(None),
            status if status.is_success() => {
                let total = response.content_length();
                Ok(Some(Self { response, silence, starts_at: 0, total }))
            }
            status => Err(DownloadError::Status(status)),
        }
    }

    /// The place of the first byte in the file. 0 if the server cannot begin elsewhere.
    #[must_use]
    pub const fn starts_at(&self) -> u64 {
        self.starts_at
    }

    /// The length of the file in bytes, if the server says it.
    #[must_use]
    pub const fn total(&self) -> Option<u64> {
        self.total
    }

    /// The next bytes; `None` at the end of the file.
    ///
    /// # Errors
    /// If the connection is cut, or nothing comes for too long.
    pub async fn next_part(&mut self) -> Result<Option<Vec<u8>>, DownloadError> {
        let part = timeout(self.silence, self.response.chunk()).await;
        let part = part.map_err(|_| DownloadError::Silent(self.silence))?;
        let part = part.map_err(|error| DownloadError::Cut(root_cause(&error)))?;
        Ok(part.map(|part| part.to_vec()))
    }
}

/// Follows redirects, but none from https to anything else.
fn redirects() -> Policy {
    Policy::custom(|attempt| {
        let was_https = attempt.previous().iter().any(|url: &Url| url.scheme() == "https");
        if attempt.previous().len() > REDIRECTS_MAX || (was_https && attempt.url().scheme() != "https") {
            attempt.stop()
        } else {
            attempt.follow()
        }
    })
}

/// The first byte and the length of the file, of `bytes 5-9/10`.
fn parse_range(range: &str) -> Option<(u64, Option<u64>)> {
    let (place, total) = range.trim().strip_prefix("bytes ")?.split_once('/')?;
    let (first, _) = place.split_once('-')?;
    Some((first.parse().ok()?, total.parse().ok()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_read() {
        assert_eq!(parse_range("bytes 5-9/10"), Some((5, Some(10))));
        assert_eq!(parse_range("bytes 0-9/*"), Some((0, None)));
        assert_eq!(parse_range("bytes */10"), None);
        assert_eq!(parse_range("lines 5-9/10"), None);
    }

    #[tokio::test]
    async fn files_come_from_https_or_this_machine() {
        let start = |url: &'static str| async move {
            FileDownload::start(url, 0, Duration::from_secs(5)).await.unwrap_err().to_string()
        };
        assert_eq!(start("http://models.example/a.gguf").await, "it is not an https address");
        assert!(start("https://me:canary@models.example/a").await.contains("password"));
        assert!(start("a.gguf").await.starts_with("it is not an address to download from"));
    }
}
