//! Sends requests with retries and interprets the responses.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use deskhand_http::HttpTimeout;
use deskhand_machine::model::{ModelFailure, ModelFailureKind, ModelReply, ModelRequest, Usage};
use deskhand_ui::{duration::milliseconds, text::clip};
use jiff::Timestamp;
use reqwest::Method;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::{
    breaker::Breaker,
    config::{EndpointConfig, EndpointSetupError, parse_base_url, read_key, strip},
    failure::{AttemptFailure, EndpointIdentity, RetryDecision},
    transport::{EndpointRequest, EndpointTransport},
    wait,
};
use crate::{
    cassette::{Cassette, CassetteResponse},
    port::{Model, ModelSign, ModelSigns, PictureSource},
    wire::{
        Computer, DETAILS, Dialect, EndpointModel, ReasoningEffort, Stop, StreamError, StreamedReply, Wire,
        WireMessage, WireReply, WireRequest, detailed, listed, said, said_with_hashes,
    },
};

/// The longest text of thoughts that is kept, in characters.
const REASONING_CHARS_MAX: usize = 20_000;

/// Maximum number of repetitions of a request in another dialect after a "not supported" error.
const DIALECTS_MAX: u32 = 5;

/// A model behind an endpoint.
#[derive(Debug)]
pub struct Endpoint {
    config: EndpointConfig,
    pub(super) endpoint: EndpointIdentity,
    name: String,
    transport: EndpointTransport,
    dialect: Mutex<Dialect>,
    breaker: Arc<Breaker>,
}

impl Endpoint {
    /// Reads the key and validates the configuration; sends nothing.
    ///
    /// # Errors
    ///
    /// If the base URL is invalid, the model name is empty, or the key or the cassette cannot be read.
    pub fn new(config: EndpointConfig) -> Result<Self, EndpointSetupError> {
        let server = parse_base_url(&config.base_url)?;
        let base_url = strip(&server, config.wire);
        if config.model.trim().is_empty() {
            return Err(EndpointSetupError::NoModel { base_url, list: config.wire.usual().1 });
        }
        let plays = matches!(config.cassette, Some(Cassette::Play(_)));
        let key = config.key.as_ref().filter(|_| !plays);
        let key = key.map(|source| read_key(source, &base_url)).transpose()?;
        let client = deskhand_http::client(&server, config.connect_timeout, HttpTimeout::Callers)
            .map_err(EndpointSetupError::Client)?;
        let dialect = Dialect::new(&config);
        let endpoint = EndpointIdentity {
            wire: config.wire,
            url: config.wire.url(&base_url, &config.model, dialect.stream),
            model: config.model.clone(),
            key_place: config.key.as_ref().map(ToString::to_string),
            base_url,
        };
        let place = match &config.cassette {
            Some(Cassette::Play(file)) => format!("in the cassette {}", file.display()),
            Some(Cassette::Record(_)) | None => format!("at {}", endpoint.base_url),
        };
        let name = format!("{} {} {place}", config.provider, endpoint.model);
        let breaker = Breaker::of(&place, &endpoint.model);
        let transport = EndpointTransport::new(&config, client, key, &endpoint.base_url)?;
        Ok(Self { config, endpoint, name, transport, dialect: Mutex::new(dialect), breaker })
    }

    /// The models that the endpoint says it has.
    ///
    /// # Errors
    ///
    /// If it does not answer, does not accept the key, or lists nothing. It is asked once.
    pub async fn models(&self) -> Result<Vec<EndpointModel>, ModelFailure> {
        let wire = self.config.wire;
        self.facts(Method::GET, wire.usual().1, None, |answer| listed(wire, answer)).await
    }

    /// Returns the endpoint's description of its model; `None` if the endpoint does not have it.
    ///
    /// # Errors
    ///
    /// As [`Endpoint::models`].
    pub async fn about(&self) -> Result<Option<EndpointModel>, ModelFailure> {
        let model = &self.config.model;
        if self.config.wire == Wire::Ollama {
            let body = json!({"model": model});
            let of = |answer: &Value| Some(Some(detailed(model, answer)));
            return self.facts(Method::POST, DETAILS, Some(body), of).await;
        }
        Ok(self.models().await?.into_iter().find(|one| one.name == *model))
    }

    /// Asks for something about models.
    async fn facts<T>(
        &self,
        method: Method,
        path: &str,
        body: Option<Value>,
        read: impl FnOnce(&Value) -> Option<T>,
    ) -> Result<T, ModelFailure> {
        let start = Instant::now();
        let failed = |fault: AttemptFailure| ModelFailure {
            attempts: 1,
            elapsed_ms: milliseconds(start.elapsed()),
            ..ModelFailure::new(fault.kind, self.redact(&fault.message))
        };
        let url = format!("{}{path}", self.endpoint.base_url);
        let endpoint = EndpointIdentity { url, model: String::new(), ..self.endpoint.clone() };
        let outgoing = EndpointRequest { method, body: body.as_ref().map(Value::to_string), shown: body };
        let response = self.transport.send(outgoing, &endpoint, |_| false).await.map_err(failed)?;
        let text = self.redact(&response.body);
        let status = response.status();
        if !status.is_success() {
            return Err(failed(endpoint.status(status, &text, None, None)));
        }
        let found = serde_json::from_str(&text).ok().and_then(|answer| read(&answer));
        found.ok_or_else(|| failed(endpoint.not_json(&text)))
    }

    fn dialect(&self) -> Dialect {
        *self.dialect.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sends one request.
    async fn attempt(
        &self,
        request: &ModelRequest,
        said: &[WireMessage],
        dialect: Dialect,
        signs: &dyn ModelSigns,
    ) -> Result<WireReply, AttemptFailure> {
        let (wire, config) = (self.config.wire, &self.config);
        let computer = Computer::of(config.computer_use, request);
        let dialect = computer.map_or(dialect, |computer| computer.dialect(dialect));
        let asked = WireRequest {
            request,
            said,
            model: &config.model,
            detail: config.image_detail,
            cache_marks: config.cache_marks,
            temperature: config.temperature.filter(|_| dialect.temperature),
            reasoning: if dialect.reasoning { config.reasoning } else { ReasoningEffort::Auto },
            dialect,
            computer,
        };
        let shown = self.transport.is_taped().then(|| {
            let mut said = said_with_hashes(request, config.vision);
            if let Some(computer) = computer {
                computer.instruct(&mut said);
            }
            wire.body(WireRequest { said: &said, ..asked })
        });
        let url = wire.url(&self.endpoint.base_url, &config.model, dialect.stream);
        let endpoint = EndpointIdentity { url, ..self.endpoint.clone() };
        signs.sign(ModelSign::Asked { model: self.name.clone() });
        let mut streamed = StreamedReply::of(wire);
        let received = |bytes: &[u8]| {
            streamed.read(bytes);
            let words = self.redact(streamed.words());
            signs.sign(ModelSign::Receiving { bytes: bytes.len(), words });
            wire.is_whole(bytes)
        };
        let outgoing =
            EndpointRequest { method: Method::POST, body: Some(wire.body(asked).to_string()), shown };
        let response = self.transport.send(outgoing, &endpoint, received).await?;
        self.read(&endpoint, response, computer, request.completion_tokens_max)
    }

    /// Reads the answer from a response.
    pub(super) fn read(
        &self,
        endpoint: &EndpointIdentity,
        response: CassetteResponse,
        computer: Option<Computer>,
        tokens_max: u32,
    ) -> Result<WireReply, AttemptFailure> {
        let status = response.status();
        if status.is_success() {
            return self.interpret(tokens_max, computer, response.content_type.as_deref(), &response.body);
        }
        let after = response.retry_after.and_then(|header| wait::retry_after(&header, Timestamp::now()));
        let location = response.location.map(|address| self.redact(&address));
        let text = self.redact(&response.body);
        Err(endpoint.status(status, &text, location.as_deref(), after))
    }

    /// Interprets a success response.
    fn interpret(
        &self,
        tokens_max: u32,
        computer: Option<Computer>,
        media_type: Option<&str>,
        text: &str,
    ) -> Result<WireReply, AttemptFailure> {
        let wire = self.config.wire;
        let reply = wire.reply(media_type, text).map_err(|error| match error {
            StreamError::CutShort => self.endpoint.stream_cut(text.len()),
            StreamError::NotJson(data) => self.endpoint.not_json(&self.redact(&data)),
        })?;
        if let Some(fault) = self.endpoint.error_in_success(&reply, &self.redact(&reply.to_string())) {
            return Err(fault);
        }
        let Some(mut answer) = wire.answer(&reply) else {
            return Err(self.endpoint.no_reply(&self.redact(text)).costing(wire.usage(&reply)));
        };
        if let Some(computer) = computer {
            answer.text = computer.told(&reply, answer.text);
        }
        let fault = match &answer.stop {
            Stop::Refused(reason) => self.endpoint.refused(&self.redact(reason)),
            Stop::Length => self.endpoint.limit(tokens_max),
            Stop::Done(reason) if answer.text.trim().is_empty() => self.endpoint.empty(reason),
            Stop::Done(_) => return Ok(answer),
        };
        Err(fault.costing(answer.usage))
    }

    /// Returns the delay before the next attempt, or `None` if the fault is final.
    fn next_wait(&self, fault: &mut AttemptFailure, attempt: u32, attempts_max: u32) -> Option<Duration> {
        let longest = self.config.retry_after_max;
        match fault.retry {
            RetryDecision::No => None,
            RetryDecision::After(time) if time > longest => {
                let cause = format!(
                    "; `Retry-After` is {} s, above the maximum of {} s",
                    time.as_secs(),
                    longest.as_secs_f64()
                );
                fault.message.push_str(&cause);
                None
            }
            _ if attempt >= attempts_max => None,
            RetryDecision::After(time) => Some(time),
            RetryDecision::BackOff => {
                let (first, longest) = (self.config.retry_wait_first, self.config.retry_wait_max);
                Some(wait::back_off(first, attempt, longest, fastrand::f64()))
            }
        }
    }

    /// Returns the time for which requests are not worthwhile, because the endpoint keeps failing; `None` if it may
    /// be used.
    pub(crate) fn rests(&self) -> Option<Duration> {
        self.breaker.rests(Instant::now())
    }

    /// As [`Model::ask`], with at most `attempts_max` requests.
    pub(crate) async fn ask_within(
        &self,
        request: &ModelRequest,
        pictures: &dyn PictureSource,
        signs: &dyn ModelSigns,
        attempts_max: u32,
    ) -> Result<ModelReply, ModelFailure> {
        let start = Instant::now();
        let elapsed_ms = || milliseconds(start.elapsed());
        let mut said = said(request, self.config.vision, pictures).map_err(|error| {
            let message = format!("request to model {} not sent: {error}", self.config.model);
            ModelFailure::new(ModelFailureKind::Rejected, message)
        })?;
        if let Some(computer) = Computer::of(self.config.computer_use, request) {
            if !self.config.vision {
                let message = format!(
                    "request to model {} not sent: it takes no pictures, and an operator works in them",
                    self.config.model
                );
                return Err(ModelFailure::new(ModelFailureKind::Rejected, message));
            }
            computer.instruct(&mut said);
        }
        let tripped = self.breaker.is_tripped();
        // An endpoint that keeps failing is tried once a question, until it answers again.
        let attempts_max = if tripped.is_some() { 1 } else { self.config.attempts_max.min(attempts_max) };
        let (mut sent, mut attempt, mut dialects) = (0_u32, 1_u32, 0_u32);
        let mut usage = Usage::default();
        loop {
            let dialect = self.dialect();
            sent += 1;
            let mut fault = match self.attempt(request, &said, dialect, signs).await {
                Ok(answer) => {
                    self.breaker.succeeded();
                    return Ok(ModelReply {
                        text: answer.text,
                        reasoning: clip(&answer.reasoning, REASONING_CHARS_MAX),
                        model: answer.model.unwrap_or_else(|| self.config.model.clone()),
                        usage: add_usage(usage, answer.usage),
                        attempts: sent,
                        elapsed_ms: elapsed_ms(),
                        ..ModelReply::default()
                    });
                }
                Err(fault) => fault,
            };
            usage = add_usage(usage, fault.usage);
            let other =
                fault.refusal.as_deref().and_then(|refusal| dialect.after_refusal(refusal, &self.config));
            let spent = sent >= request.attempts_max;
            if let Some(other) = other.filter(|_| dialects < DIALECTS_MAX && !spent) {
                dialects += 1;
                tracing::info!(url = self.endpoint.url, from = ?dialect, to = ?other, "switching the request dialect");
                *self.dialect.lock().unwrap_or_else(PoisonError::into_inner) = other;
                continue;
            }
            let Some(time) = self.next_wait(&mut fault, attempt, attempts_max).filter(|_| !spent) else {
                self.breaker.failed(fault.kind, Instant::now());
                let tries = match tripped {
                    Some(failures) => format!(" (asked once: the last {failures} questions failed as well)"),
                    None if sent > 1 => format!(" (after {sent} requests)"),
                    None => String::new(),
                };
                let message = self.redact(&format!("{}{tries}", fault.message));
                let failure = ModelFailure::new(fault.kind, message);
                return Err(ModelFailure { attempts: sent, usage, elapsed_ms: elapsed_ms(), ..failure });
            };
            attempt += 1;
            self.tell_retry(signs, &fault, time, (attempt, attempts_max));
            if !self.transport.is_played() {
                wait::before_retry(time).await;
            }
        }
    }

    /// Tells that a request failed, and when the next one is sent: its number, and how many there may be.
    fn tell_retry(
        &self,
        signs: &dyn ModelSigns,
        fault: &AttemptFailure,
        after: Duration,
        (attempt, attempts_max): (u32, u32),
    ) {
        let reason = self.redact(&fault.message);
        tracing::warn!(kind = ?fault.kind, message = reason, wait_ms = after.as_millis(), "retrying the request");
        signs.sign(ModelSign::Retrying { reason, after, attempt, attempts_max });
    }

    /// Removes the key from external text, so that it cannot be quoted.
    fn redact(&self, text: &str) -> String {
        self.transport.redact(text)
    }
}

impl Model for Endpoint {
    async fn ask(
        &self,
        request: &ModelRequest,
        pictures: &dyn PictureSource,
        signs: &dyn ModelSigns,
    ) -> Result<ModelReply, ModelFailure> {
        self.ask_within(request, pictures, signs, u32::MAX).await
    }

    fn name(&self) -> &str {
        &self.name
    }
}

/// Sums the token counts of two attempts.
fn add_usage(first: Usage, second: Usage) -> Usage {
    let add = |a: Option<u64>, b: Option<u64>| match (a, b) {
        (Some(a), Some(b)) => Some(a.saturating_add(b)),
        (one, None) | (None, one) => one,
    };
    Usage {
        prompt_tokens: add(first.prompt_tokens, second.prompt_tokens),
        cached_tokens: add(first.cached_tokens, second.cached_tokens),
        completion_tokens: add(first.completion_tokens, second.completion_tokens),
    }
}
