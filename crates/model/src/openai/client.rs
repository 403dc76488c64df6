//! Sends requests with retries and interprets the responses.

use std::{
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

use deskhand_core::{
    duration::milliseconds,
    model::{ModelFailure, ModelFailureKind, ModelReply, ModelRequest, Usage},
};
use deskhand_http::{Bound, Secret, read_body_until};
use jiff::Timestamp;
use reqwest::{
    Client,
    header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, LOCATION, RETRY_AFTER},
};
use serde_json::Value;

use super::{
    config::{OpenAiConfig, OpenAiSetupError, parse_base_url, read_key, strip},
    failure::{Endpoint, Fault, Retry},
    stream::{self, StreamError},
    wait,
    wire::{self, Dialect},
};
use crate::port::{Model, ModelSign, ModelSigns, PictureSource};

/// The maximum response size, in bytes.
const ANSWER_MAX: usize = 8 * 1024 * 1024;

/// How often a request is repeated in another dialect after a "not supported" error.
const DIALECTS_MAX: u32 = 5;

/// The upper bound for the connect timeout.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// A model behind an OpenAI-compatible endpoint.
#[derive(Debug)]
pub struct OpenAi {
    config: OpenAiConfig,
    endpoint: Endpoint,
    name: String,
    key: Option<Secret>,
    client: Client,
    dialect: Mutex<Dialect>,
}

impl OpenAi {
    /// Reads the key and validates the configuration; sends nothing.
    ///
    /// # Errors
    ///
    /// If the base URL is invalid, the model name is empty, or the key cannot be read.
    pub fn new(config: OpenAiConfig) -> Result<Self, OpenAiSetupError> {
        let server = parse_base_url(&config.base_url)?;
        let base_url = strip(&server);
        if config.model.trim().is_empty() {
            return Err(OpenAiSetupError::NoModel { base_url });
        }
        let key = config.key.as_ref().map(|source| read_key(source, &base_url)).transpose()?;
        let client = deskhand_http::client(&server, CONNECT_TIMEOUT, Bound::Silence(config.timeout))
            .map_err(OpenAiSetupError::Client)?;
        let endpoint = Endpoint {
            url: format!("{base_url}/chat/completions"),
            model: config.model.clone(),
            key_place: config.key.as_ref().map(ToString::to_string),
            timeout: config.timeout,
            base_url,
        };
        let name = format!("openai {} at {}", endpoint.model, endpoint.base_url);
        let dialect = Mutex::new(Dialect::new(&config));
        Ok(Self { config, endpoint, name, key, client, dialect })
    }

    fn dialect(&self) -> Dialect {
        *self.dialect.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sends one request.
    async fn attempt(
        &self,
        request: &ModelRequest,
        messages: &[Value],
        dialect: Dialect,
        signs: &dyn ModelSigns,
    ) -> Result<Answer, Fault> {
        let body = wire::body(request, messages, &self.config, dialect).to_string();
        let mut builder = self.client.post(&self.endpoint.url);
        builder = builder.header(CONTENT_TYPE, "application/json").body(body);
        builder = builder.header(ACCEPT, "application/json, text/event-stream");
        if let Some(key) = &self.key {
            builder = builder.header(AUTHORIZATION, key.bearer());
        }
        signs.sign(ModelSign::Asked);
        let mut response = builder.send().await.map_err(|error| self.endpoint.not_sent(&error))?;
        let status = response.status();
        let header =
            |name| response.headers().get(name).and_then(|value| value.to_str().ok()).map(str::to_owned);
        let (location, after, media_type) = (header(LOCATION), header(RETRY_AFTER), header(CONTENT_TYPE));
        let received = |bytes: &[u8]| {
            signs.sign(ModelSign::Receiving { bytes: bytes.len() });
            stream::is_whole(bytes)
        };
        let bytes = read_body_until(&mut response, ANSWER_MAX, received)
            .await
            .map_err(|error| self.endpoint.not_read(&error))?;
        let text = String::from_utf8_lossy(&bytes);
        if !status.is_success() {
            let after = after.and_then(|header| wait::retry_after(&header, Timestamp::now()));
            let location = location.map(|address| self.redact(&address));
            return Err(self.endpoint.status(status, &self.redact(&text), location.as_deref(), after));
        }
        self.interpret(request, media_type.as_deref(), &text)
    }

    /// Interprets a success response.
    fn interpret(
        &self,
        request: &ModelRequest,
        media_type: Option<&str>,
        text: &str,
    ) -> Result<Answer, Fault> {
        let answer = if stream::is_stream(media_type, text) {
            stream::assemble(text).map_err(|error| match error {
                StreamError::CutShort => self.endpoint.stream_cut(text.len()),
                StreamError::NotJson(data) => self.endpoint.not_json(&self.redact(&data)),
            })?
        } else {
            serde_json::from_str(text).map_err(|_| self.endpoint.not_json(&self.redact(text)))?
        };
        if let Some(fault) = self.endpoint.error_in_success(&answer, &self.redact(text)) {
            return Err(fault);
        }
        let usage = wire::usage(&answer);
        let Some(choice) = wire::first_choice(&answer) else {
            return Err(self.endpoint.no_choice(&self.redact(text)).costing(usage));
        };
        let fault = if let Some(refusal) = &choice.refusal {
            self.endpoint.refused(&self.redact(refusal))
        } else if choice.finish_reason == "content_filter" {
            self.endpoint.refused("its content filter blocked the reply")
        } else if choice.finish_reason == "length" {
            self.endpoint.limit(request.completion_tokens_max)
        } else if choice.text.trim().is_empty() {
            self.endpoint.empty(&choice.finish_reason)
        } else {
            let model = answer.get("model").and_then(Value::as_str).unwrap_or(&self.config.model).to_owned();
            return Ok(Answer { text: choice.text, model, usage });
        };
        Err(fault.costing(usage))
    }

    /// Returns the delay before the next attempt, or `None` if the fault is final.
    fn next_wait(&self, fault: &mut Fault, attempt: u32) -> Option<Duration> {
        let longest = self.config.retry_wait_max;
        match fault.retry {
            Retry::No => None,
            Retry::After(time) if time > longest => {
                let cause = format!(
                    "; `Retry-After` is {} s, above the maximum of {} s",
                    time.as_secs(),
                    longest.as_secs_f64()
                );
                fault.message.push_str(&cause);
                None
            }
            _ if attempt >= self.config.attempts_max => None,
            Retry::After(time) => Some(time),
            Retry::BackOff => Some(wait::back_off(self.config.retry_wait_first, attempt, longest)),
        }
    }

    /// Removes the key from external text, so that it cannot be quoted.
    fn redact(&self, text: &str) -> String {
        self.key.as_ref().map_or_else(|| text.to_owned(), |key| key.redact(text))
    }
}

/// A successful response.
struct Answer {
    text: String,
    model: String,
    usage: Usage,
}

impl Model for OpenAi {
    async fn ask(
        &self,
        request: &ModelRequest,
        pictures: &dyn PictureSource,
        signs: &dyn ModelSigns,
    ) -> Result<ModelReply, ModelFailure> {
        let start = Instant::now();
        let elapsed_ms = || milliseconds(start.elapsed());
        let messages = wire::messages(request, &self.config, pictures).map_err(|error| ModelFailure {
            kind: ModelFailureKind::Rejected,
            message: format!("request to model {} not sent: {error}", self.config.model),
            attempts: 0,
            usage: Usage::default(),
            elapsed_ms: elapsed_ms(),
        })?;
        let (mut sent, mut attempt, mut dialects) = (0_u32, 1_u32, 0_u32);
        let mut usage = Usage::default();
        loop {
            let dialect = self.dialect();
            sent += 1;
            let mut fault = match self.attempt(request, &messages, dialect, signs).await {
                Ok(answer) => {
                    return Ok(ModelReply {
                        text: answer.text,
                        model: answer.model,
                        usage: wire::add_usage(usage, answer.usage),
                        attempts: sent,
                        elapsed_ms: elapsed_ms(),
                    });
                }
                Err(fault) => fault,
            };
            usage = wire::add_usage(usage, fault.usage);
            let other =
                fault.refusal.as_deref().and_then(|refusal| dialect.after_refusal(refusal, &self.config));
            let spent = sent >= request.attempts_max;
            if let Some(other) = other.filter(|_| dialects < DIALECTS_MAX && !spent) {
                dialects += 1;
                tracing::info!(url = self.endpoint.url, from = ?dialect, to = ?other, "switching the request dialect");
                *self.dialect.lock().unwrap_or_else(PoisonError::into_inner) = other;
                continue;
            }
            let Some(time) = self.next_wait(&mut fault, attempt).filter(|_| !spent) else {
                let tries = if sent > 1 { format!(" (after {sent} requests)") } else { String::new() };
                let message = self.redact(&format!("{}{tries}", fault.message));
                return Err(ModelFailure {
                    kind: fault.kind,
                    message,
                    attempts: sent,
                    usage,
                    elapsed_ms: elapsed_ms(),
                });
            };
            tracing::warn!(
                kind = ?fault.kind,
                message = self.redact(&fault.message),
                wait_ms = time.as_millis(),
                "retrying the request"
            );
            attempt += 1;
            signs.sign(ModelSign::Retrying {
                reason: self.redact(&fault.message),
                after: time,
                attempt,
                attempts_max: self.config.attempts_max,
            });
            wait::before_retry(time).await;
        }
    }

    fn name(&self) -> &str {
        &self.name
    }
}
