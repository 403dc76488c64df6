//! What an endpoint's failures mean, what to tell, and whether to try again.

use std::{error::Error, time::Duration};

use deskhand_core::model::{ModelFailureKind as Kind, Usage};
use reqwest::StatusCode;
use serde_json::Value;

/// The longest piece of an answer that a message quotes, in characters.
const QUOTE_MAX: usize = 300;

/// Whether a failed attempt is worth another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Retry {
    /// It would fail again.
    No,
    /// After a wait that grows.
    BackOff,
    /// After the wait that the server asked for.
    After(Duration),
}

/// One failed attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Fault {
    pub(super) kind: Kind,
    pub(super) message: String,
    pub(super) retry: Retry,
    /// What the refusal says, where another way of asking may help (400, 422).
    pub(super) refusal: Option<String>,
    /// Tokens that the attempt cost all the same.
    pub(super) usage: Usage,
}

impl Fault {
    fn new(kind: Kind, retry: Retry, message: String) -> Self {
        Self { kind, message, retry, refusal: None, usage: Usage::default() }
    }

    pub(super) fn costing(mut self, usage: Usage) -> Self {
        self.usage = usage;
        self
    }
}

/// Who was asked, for messages.
#[derive(Debug)]
pub(super) struct Asked {
    pub(super) url: String,
    pub(super) base_url: String,
    pub(super) model: String,
    /// Where the key comes from, in words.
    pub(super) key_place: Option<String>,
    pub(super) timeout: Duration,
}

impl Asked {
    /// A request that got no answer.
    pub(super) fn not_sent(&self, error: &reqwest::Error) -> Fault {
        let (url, cause) = (&self.url, root_cause(error));
        if error.is_timeout() {
            return self.timed_out();
        }
        if error.is_connect() {
            let message = format!(
                "cannot connect to {url}: {cause}; check that the server runs and that base_url ({}) is right",
                self.base_url
            );
            return Fault::new(Kind::Unreachable, Retry::BackOff, message);
        }
        let message =
            format!("{url} closed the connection before it answered ({cause}); check the server's log");
        Fault::new(Kind::CutShort, Retry::BackOff, message)
    }

    /// An answer whose body did not come whole.
    pub(super) fn cut(&self, error: &reqwest::Error, received: usize) -> Fault {
        if error.is_timeout() {
            return self.timed_out();
        }
        let message = format!(
            "the answer of {} broke off after {received} bytes ({}); check the server's log and the proxies between",
            self.url,
            root_cause(error)
        );
        Fault::new(Kind::CutShort, Retry::BackOff, message)
    }

    fn timed_out(&self) -> Fault {
        let message = format!(
            "no answer from {} for model {} within {} s; raise the timeout, or use a faster model",
            self.url,
            self.model,
            self.timeout.as_secs_f64()
        );
        Fault::new(Kind::TimedOut, Retry::BackOff, message)
    }

    /// An answer that is longer than any reply.
    pub(super) fn too_long(&self, max: usize) -> Fault {
        let message = format!(
            "the answer of {} is longer than {max} bytes; is this a chat-completions endpoint?",
            self.url
        );
        Fault::new(Kind::Malformed, Retry::No, message)
    }

    /// An answer with a status that is no success. `retry_after` is what its header asks for.
    pub(super) fn status(
        &self,
        status: StatusCode,
        body: &str,
        location: Option<&str>,
        retry_after: Option<Duration>,
    ) -> Fault {
        let said = said(body);
        let code = status.as_u16();
        let (url, model) = (&self.url, &self.model);
        let answer = format!("{url} answered {code} for model {model}{}", said.suffix());
        let later = retry_after.map_or(Retry::BackOff, Retry::After);
        match code {
            401 | 403 => {
                let place = self.key_place.as_deref().map_or_else(
                    || "no key is configured; name the environment variable or file that holds it".to_owned(),
                    |place| {
                        format!(
                            "the key comes from {place}; check that it is valid for this endpoint and model"
                        )
                    },
                );
                Fault::new(Kind::Unauthorized, Retry::No, format!("{answer}; {place}"))
            }
            404 => {
                let message = format!(
                    "{answer}; check base_url ({}; it usually ends in /v1) and the model's name (see {}/models)",
                    self.base_url, self.base_url
                );
                Fault::new(Kind::NotFound, Retry::No, message)
            }
            300..=399 => {
                let to = location.unwrap_or("another address");
                let message =
                    format!("{url} answered {code}: it has moved to {to}; set base_url to the new address");
                Fault::new(Kind::NotFound, Retry::No, message)
            }
            429 if said.is_quota() => Fault::new(
                Kind::RateLimited,
                Retry::No,
                format!("{answer}; the account's quota is used up: check its plan and billing"),
            ),
            429 => Fault::new(
                Kind::RateLimited,
                later,
                format!("{answer}; too many requests: try later, or raise the account's limit"),
            ),
            408 => Fault::new(Kind::TimedOut, later, format!("{answer}; the server gave up waiting")),
            409 | 425 => Fault::new(Kind::Server, later, answer),
            500..=599 => Fault::new(
                Kind::Server,
                later,
                format!("{answer}; the server failed: try later, or look at its log"),
            ),
            _ => {
                let mut fault =
                    Fault::new(Kind::Rejected, Retry::No, format!("{answer}; the request was not accepted"));
                if matches!(code, 400 | 422) {
                    fault.refusal = Some(said.all());
                }
                fault
            }
        }
    }

    /// A success whose body is not JSON.
    pub(super) fn not_json(&self, body: &str) -> Fault {
        let start =
            if body.trim().is_empty() { "nothing".to_owned() } else { format!("`{}`", quote(body, 80)) };
        let message = format!(
            "{} answered with something that is not JSON: {start}; is base_url ({}) a chat-completions endpoint, and not a web page or a proxy?",
            self.url, self.base_url
        );
        Fault::new(Kind::Malformed, Retry::No, message)
    }

    /// JSON without a choice.
    pub(super) fn no_choice(&self, answer: &str) -> Fault {
        let message = format!(
            "the answer of {} has no `choices`: `{}`; is it a chat-completions endpoint?",
            self.url,
            quote(answer, 120)
        );
        Fault::new(Kind::Malformed, Retry::No, message)
    }

    /// An error that came with status 200, as some routers send it.
    pub(super) fn error_in_success(&self, answer: &Value, body: &str) -> Option<Fault> {
        let error = answer.get("error").filter(|error| !error.is_null())?;
        let code = error.get("code").and_then(Value::as_u64).and_then(|code| u16::try_from(code).ok());
        let status =
            code.and_then(|code| StatusCode::from_u16(code).ok()).filter(|status| !status.is_success());
        Some(self.status(status.unwrap_or(StatusCode::BAD_REQUEST), body, None, None))
    }

    /// A reply without text.
    pub(super) fn empty(&self, finish_reason: &str) -> Fault {
        let message = format!(
            "{} gave an empty reply of model {} (finish_reason `{finish_reason}`)",
            self.url, self.model
        );
        Fault::new(Kind::Malformed, Retry::BackOff, message)
    }

    /// A reply that hit its limit.
    pub(super) fn limit(&self, tokens_max: u32) -> Fault {
        let message = format!(
            "the reply of model {} at {} hit the limit of {tokens_max} tokens and is cut short; raise the limit for replies",
            self.model, self.url
        );
        Fault::new(Kind::CutShort, Retry::No, message)
    }

    /// A model that will not answer.
    pub(super) fn refused(&self, reason: &str) -> Fault {
        let message = format!(
            "model {} at {} refused to answer: {}; word the request differently",
            self.model,
            self.url,
            quote(reason, QUOTE_MAX)
        );
        Fault::new(Kind::Rejected, Retry::No, message)
    }
}

/// What the body of a failure says.
struct Said {
    message: String,
    code: String,
}

impl Said {
    fn suffix(&self) -> String {
        if self.message.is_empty() { String::new() } else { format!(": {}", quote(&self.message, QUOTE_MAX)) }
    }

    fn is_quota(&self) -> bool {
        self.code.contains("insufficient_quota") || self.message.contains("insufficient_quota")
    }

    fn all(&self) -> String {
        format!("{} {}", self.message, self.code)
    }
}

/// Reads the message of an error in any of the forms in use; a body in no such form is its own message.
fn said(body: &str) -> Said {
    let Ok(value) = serde_json::from_str::<Value>(body) else {
        return Said { message: body.trim().to_owned(), code: String::new() };
    };
    let error = value.get("error").unwrap_or(&value);
    let word = |name: &str| match error.get(name) {
        Some(Value::String(text)) => Some(text.clone()),
        _ => None,
    };
    let message = error.as_str().map(str::to_owned).or_else(|| word("message")).or_else(|| word("detail"));
    let code = ["code", "type", "param"].into_iter().filter_map(word).collect::<Vec<_>>().join(" ");
    Said { message: message.unwrap_or_else(|| value.to_string()), code }
}

/// The beginning of a text on one line.
fn quote(text: &str, max: usize) -> String {
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if words.chars().count() <= max {
        return words;
    }
    words.chars().take(max).chain(['…']).collect()
}

/// The innermost cause, which is the one that helps.
fn root_cause(error: &reqwest::Error) -> String {
    let mut cause: &dyn Error = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    cause.to_string()
}
