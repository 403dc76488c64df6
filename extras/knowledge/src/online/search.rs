//! A search.

use deskhand_http::{BodyError, HttpTimeout, client, read_body, root_cause};
use deskhand_machine::retrieval::Hit;
use deskhand_ui::text::{clip, excerpt};
use tokio::time::timeout;

use super::{engine::SearchEngine, error::OnlineError, limits::OnlineLimits, replies::hits};

/// The most characters of what is searched for: Brave takes 400.
const WANTED_MAX: usize = 400;
/// Maximum length of a quote from an unexpected reply, in characters.
const QUOTE_MAX: usize = 120;

/// A search engine that can be asked.
#[derive(Debug, Clone)]
pub struct Online {
    engine: SearchEngine,
    limits: OnlineLimits,
}

impl Online {
    /// Takes an engine; sends nothing.
    ///
    /// # Errors
    /// The engine is not configured as it must be.
    pub fn new(engine: SearchEngine, limits: OnlineLimits) -> Result<Self, OnlineError> {
        engine.check()?;
        Ok(Self { engine, limits })
    }

    /// The engine.
    #[must_use]
    pub const fn engine(&self) -> &SearchEngine {
        &self.engine
    }

    /// Searches: results in the order of the engine, with a snippet as their text.
    ///
    /// # Errors
    /// The engine cannot be reached, refuses, fails, or answers with something else than results.
    pub async fn search(&self, wanted: &str) -> Result<Vec<Hit>, OnlineError> {
        let limit = self.limits.time_max;
        timeout(limit, self.try_search(wanted)).await.unwrap_or_else(|_| Err(self.timed_out()))
    }

    async fn try_search(&self, wanted: &str) -> Result<Vec<Hit>, OnlineError> {
        let wanted = clip(wanted.trim(), WANTED_MAX);
        if wanted.is_empty() {
            return Ok(Vec::new());
        }
        let count = self.limits.results_max;
        let url = self.engine.address(&wanted, count)?;
        let host = url.host_str().unwrap_or_default().to_owned();
        let unreachable = |error: &reqwest::Error| {
            if error.is_timeout() {
                return self.timed_out();
            }
            OnlineError::Unreachable { engine: self.name(), host: host.clone(), reason: root_cause(error) }
        };
        let limit = self.limits.time_max;
        let client = client(&url, limit, HttpTimeout::Whole(limit)).map_err(|error| unreachable(&error))?;
        let request = self.engine.request(&client, url, &wanted, count);
        let mut response = request.send().await.map_err(|error| unreachable(&error))?;
        let body =
            read_body(&mut response, self.limits.reply_bytes_max).await.map_err(|error| match error {
                BodyError::Truncated { source, .. } => unreachable(&source),
                BodyError::Silent { .. } => self.timed_out(),
                BodyError::TooLong { limit } => self.unknown(&format!("it is longer than {limit} bytes")),
            })?;
        match response.status().as_u16() {
            200..=299 => hits(&self.engine, &body, count).map_err(|reason| self.unknown(&reason)),
            status @ (401 | 403 | 429) => {
                let next = self.engine.next_step(status).to_owned();
                Err(OnlineError::Refused { engine: self.name(), status, next })
            }
            // Its key would go there as well.
            300..=399 => Err(self.unknown("it redirects to another address, which is not followed")),
            status => Err(OnlineError::Status { engine: self.name(), status, quote: self.quote(&body) }),
        }
    }

    /// The beginning of what an engine said. It is redacted first: a key that is cut in two is still a key.
    fn quote(&self, body: &[u8]) -> String {
        let text = String::from_utf8_lossy(body);
        let text = self.engine.key().map_or_else(|| text.to_string(), |key| key.redact(&text));
        excerpt(&text, QUOTE_MAX)
    }

    fn name(&self) -> String {
        self.engine.name().to_owned()
    }

    fn timed_out(&self) -> OnlineError {
        OnlineError::TimedOut { engine: self.name(), limit: self.limits.time_max }
    }

    fn unknown(&self, reason: &str) -> OnlineError {
        let reason = self.engine.key().map_or_else(|| reason.to_owned(), |key| key.redact(reason));
        OnlineError::Reply { engine: self.name(), reason }
    }
}
