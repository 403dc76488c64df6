//! Classifies endpoint failures: kind, message, and whether to retry.

use std::time::Duration;

use deskhand_http::{BodyError, root_cause};
use deskhand_machine::model::{ModelFailureKind as Kind, Usage};
use deskhand_ui::text::excerpt;
use reqwest::StatusCode;
use serde_json::Value;

use crate::{cassette::NoExchange, wire::Wire};

/// The most characters of an answer quoted in a message.
const QUOTE_MAX: usize = 300;

/// Decision on retrying a failed attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RetryDecision {
    /// A retry would fail again.
    No,
    /// After an exponential back-off.
    BackOff,
    /// After the delay in `Retry-After`.
    After(Duration),
}

/// One failed attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct AttemptFailure {
    pub(super) kind: Kind,
    pub(super) message: String,
    pub(super) retry: RetryDecision,
    /// The text of a refusal (400, 422) that another dialect may avoid.
    pub(super) refusal: Option<String>,
    /// Tokens charged for the failed attempt.
    pub(super) usage: Usage,
}

impl AttemptFailure {
    fn new(kind: Kind, retry: RetryDecision, message: String) -> Self {
        Self { kind, message, retry, refusal: None, usage: Usage::default() }
    }

    /// A fault that a cassette holds.
    pub(super) fn recorded(kind: Kind, message: String, is_retried: bool) -> Self {
        Self::new(kind, if is_retried { RetryDecision::BackOff } else { RetryDecision::No }, message)
    }

    /// Returns `true` if the request is sent again after it.
    pub(super) fn is_retried(&self) -> bool {
        self.retry != RetryDecision::No
    }

    pub(super) fn costing(mut self, usage: Usage) -> Self {
        self.usage = usage;
        self
    }
}

/// The endpoint, as messages name it.
#[derive(Debug, Clone)]
pub(super) struct EndpointIdentity {
    pub(super) wire: Wire,
    pub(super) url: String,
    pub(super) base_url: String,
    /// The model; empty in a request that is about none.
    pub(super) model: String,
    /// Source of the key, as messages name it.
    pub(super) key_place: Option<String>,
}

impl EndpointIdentity {
    /// A cassette that has no reply to a request.
    pub(super) fn not_recorded(&self, none: &NoExchange) -> AttemptFailure {
        AttemptFailure::new(
            Kind::Rejected,
            RetryDecision::No,
            format!("no reply of model {}: {none}", self.model),
        )
    }

    /// No response.
    pub(super) fn not_sent(&self, error: &reqwest::Error) -> AttemptFailure {
        let (url, cause) = (&self.url, root_cause(error));
        if error.is_connect() {
            let message = format!(
                "cannot connect to {url}: {cause}; check that the server runs and that base_url ({}) is right",
                self.base_url
            );
            return AttemptFailure::new(Kind::Unreachable, RetryDecision::BackOff, message);
        }
        let message =
            format!("{url} closed the connection before responding ({cause}); check the server's log");
        AttemptFailure::new(Kind::CutShort, RetryDecision::BackOff, message)
    }

    /// The response body was not read to its end: it may be silent for `first` before it starts, and for `between` later.
    pub(super) fn not_read(&self, error: &BodyError, first: Duration, between: Duration) -> AttemptFailure {
        let url = &self.url;
        match error {
            BodyError::Silent { received: 0 } => self.silent(0, first),
            BodyError::Silent { received } => self.silent(*received, between),
            BodyError::Truncated { received, source } => {
                let message = format!(
                    "the response from {url} was truncated after {received} bytes ({}); check the server log and any proxies",
                    root_cause(source)
                );
                AttemptFailure::new(Kind::CutShort, RetryDecision::BackOff, message)
            }
            BodyError::TooLong { limit } => {
                let message = format!(
                    "the response from {url} exceeds {limit} bytes; check that it is {}",
                    self.wire.noun()
                );
                AttemptFailure::new(Kind::Malformed, RetryDecision::No, message)
            }
        }
    }

    /// The server accepted the request and has sent nothing more for `timeout`. It is not sent again: the model may still work on it,
    /// and would be paid twice.
    pub(super) fn silent(&self, received: usize, timeout: Duration) -> AttemptFailure {
        let seconds = timeout.as_secs_f64();
        let more = (seconds * 4.0).ceil();
        let (since, setting) = if received == 0 {
            let of_model =
                if self.model.is_empty() { String::new() } else { format!(" for model {}", self.model) };
            (format!("after it accepted the request{of_model}"), "model.timeout_s")
        } else {
            (format!("after {received} bytes of a reply of model {}", self.model), "model.idle_timeout_s")
        };
        let message = format!(
            "{} sent nothing for {seconds} s {since}; if the model needs longer, set {setting}, for example with --timeout {more}",
            self.url
        );
        AttemptFailure::new(Kind::TimedOut, RetryDecision::No, message)
    }

    /// A streamed response that ended before the reply did.
    pub(super) fn stream_cut(&self, received: usize) -> AttemptFailure {
        let message = format!(
            "the stream from {} ended after {received} bytes, before the reply did; check the server log and any proxies",
            self.url
        );
        AttemptFailure::new(Kind::CutShort, RetryDecision::BackOff, message)
    }

    /// A non-success status. `retry_after` is the value of that header.
    pub(super) fn status(
        &self,
        status: StatusCode,
        body: &str,
        location: Option<&str>,
        retry_after: Option<Duration>,
    ) -> AttemptFailure {
        let error = error_body(body);
        let code = status.as_u16();
        let url = &self.url;
        let of_model =
            if self.model.is_empty() { String::new() } else { format!(" for model {}", self.model) };
        let answer = format!("{url} returned {code}{of_model}{}", error.suffix());
        let later = retry_after.map_or(RetryDecision::BackOff, RetryDecision::After);
        match code {
            401 | 403 => {
                let place = self.about_key();
                AttemptFailure::new(Kind::Unauthorized, RetryDecision::No, format!("{answer}; {place}"))
            }
            400..=499 if error.is_about_pictures() && !matches!(code, 408 | 429) => AttemptFailure::new(
                Kind::Rejected,
                RetryDecision::No,
                format!(
                    "{answer}; if the model takes no pictures, send none: --no-pictures, or model.vision = false in the configuration"
                ),
            ),
            404 => {
                let (end, list) = self.wire.usual();
                let message = format!(
                    "{answer}; check base_url ({}, which usually ends in {end}) and the model name (see {}{list})",
                    self.base_url, self.base_url
                );
                AttemptFailure::new(Kind::NotFound, RetryDecision::No, message)
            }
            300..=399 => {
                let to = location.unwrap_or("another URL");
                let message = format!("{url} returned {code}: moved to {to}; set base_url to the new URL");
                AttemptFailure::new(Kind::NotFound, RetryDecision::No, message)
            }
            429 if error.is_quota() => AttemptFailure::new(
                Kind::RateLimited,
                RetryDecision::No,
                format!("{answer}; the quota of the account is exhausted: check its plan and billing"),
            ),
            429 => AttemptFailure::new(
                Kind::RateLimited,
                later,
                format!("{answer}; rate limited: retry later or raise the limit of the account"),
            ),
            408 => AttemptFailure::new(
                Kind::TimedOut,
                later,
                format!("{answer}; the server timed out waiting for the request"),
            ),
            409 | 425 => AttemptFailure::new(Kind::Server, later, answer),
            500..=599 => AttemptFailure::new(
                Kind::Server,
                later,
                format!("{answer}; the server failed: retry later or check its log"),
            ),
            _ => {
                let mut fault = AttemptFailure::new(
                    Kind::Rejected,
                    RetryDecision::No,
                    format!("{answer}; the endpoint rejected the request"),
                );
                if matches!(code, 400 | 422) {
                    fault.refusal = Some(error.all());
                }
                fault
            }
        }
    }

    /// Describes the source of the key, and the next check.
    fn about_key(&self) -> String {
        self.key_place.as_deref().map_or_else(
            || "no key is configured; set the environment variable or file that holds it".to_owned(),
            |place| format!("the key comes from {place}; check that it is valid for this endpoint and model"),
        )
    }

    /// A success response whose body is not JSON.
    pub(super) fn not_json(&self, body: &str) -> AttemptFailure {
        let start = if body.trim().is_empty() {
            "an empty body".to_owned()
        } else {
            format!("`{}`", excerpt(body, 80))
        };
        let message = format!(
            "{} returned something other than JSON: {start}; check that base_url ({}) is {}, not a web page or a proxy",
            self.url,
            self.base_url,
            self.wire.noun()
        );
        AttemptFailure::new(Kind::Malformed, RetryDecision::No, message)
    }

    /// A JSON response that is no reply.
    pub(super) fn no_reply(&self, answer: &str) -> AttemptFailure {
        let message = format!(
            "the response from {} has no `{}`: `{}`; check that it is {}",
            self.url,
            self.wire.reply_field(),
            excerpt(answer, 120),
            self.wire.noun()
        );
        AttemptFailure::new(Kind::Malformed, RetryDecision::No, message)
    }

    /// An error returned with status 200, as some routers do.
    pub(super) fn error_in_success(&self, answer: &Value, body: &str) -> Option<AttemptFailure> {
        let error = answer.get("error").filter(|error| !error.is_null())?;
        let code = error.get("code").and_then(Value::as_u64).and_then(|code| u16::try_from(code).ok());
        let status =
            code.and_then(|code| StatusCode::from_u16(code).ok()).filter(|status| !status.is_success());
        Some(self.status(status.unwrap_or(StatusCode::BAD_REQUEST), body, None, None))
    }

    /// An empty reply.
    pub(super) fn empty(&self, reason: &str) -> AttemptFailure {
        let message = format!(
            "{} returned an empty reply from model {} (it ended with `{reason}`)",
            self.url, self.model
        );
        AttemptFailure::new(Kind::Malformed, RetryDecision::BackOff, message)
    }

    /// A reply truncated at the token limit.
    pub(super) fn limit(&self, tokens_max: u32) -> AttemptFailure {
        let message = format!(
            "the reply from model {} at {} was truncated at {tokens_max} tokens; raise limits.completion_tokens_max, for example with --max-reply-tokens {}",
            self.model,
            self.url,
            tokens_max.saturating_mul(4)
        );
        AttemptFailure::new(Kind::CutShort, RetryDecision::No, message)
    }

    /// The model refused to answer.
    pub(super) fn refused(&self, reason: &str) -> AttemptFailure {
        let message = format!(
            "model {} at {} refused to answer: {}; rephrase the request",
            self.model,
            self.url,
            excerpt(reason, QUOTE_MAX)
        );
        AttemptFailure::new(Kind::Rejected, RetryDecision::No, message)
    }
}

/// The error in a response body.
struct ErrorBody {
    message: String,
    code: String,
}

impl ErrorBody {
    fn suffix(&self) -> String {
        if self.message.is_empty() {
            String::new()
        } else {
            format!(": {}", excerpt(&self.message, QUOTE_MAX))
        }
    }

    fn is_quota(&self) -> bool {
        self.code.contains("insufficient_quota") || self.message.contains("insufficient_quota")
    }

    fn is_about_pictures(&self) -> bool {
        let text = self.all().to_ascii_lowercase();
        ["image", "vision", "multimodal", "multi-modal"].iter().any(|word| text.contains(word))
    }

    fn all(&self) -> String {
        format!("{} {}", self.message, self.code)
    }
}

/// Parses an error body in any of the common formats; other bodies become the message.
fn error_body(body: &str) -> ErrorBody {
    let Ok(value) = serde_json::from_str::<Value>(body) else {
        return ErrorBody { message: body.trim().to_owned(), code: String::new() };
    };
    let error = value.get("error").unwrap_or(&value);
    let word = |name: &str| match error.get(name) {
        Some(Value::String(text)) => Some(text.clone()),
        _ => None,
    };
    let message = error.as_str().map(str::to_owned).or_else(|| word("message")).or_else(|| word("detail"));
    let code = ["code", "type", "param"].into_iter().filter_map(word).collect::<Vec<_>>().join(" ");
    ErrorBody { message: message.unwrap_or_else(|| value.to_string()), code }
}
