//! Sends requests with retries and interprets the responses.

use std::{
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

use deskhand_core::{
    duration::milliseconds,
    model::{ModelFailure, ModelFailureKind, ModelReply, ModelRequest, Usage},
};
use deskhand_http::{Bound, Secret, read_body, read_body_until};
use jiff::Timestamp;
use reqwest::{
    Client, RequestBuilder,
    header::{ACCEPT, CONTENT_TYPE, LOCATION, RETRY_AFTER},
};

use super::{
    config::{EndpointConfig, EndpointSetupError, KeyHeader, parse_base_url, read_key, strip},
    failure::{Fault, Named, Retry},
    wait,
};
use crate::{
    port::{Model, ModelSign, ModelSigns, PictureSource},
    wire::{Answer, Asked, Dialect, Listed, Said, Stop, StreamError, listed, said},
};

/// The maximum response size, in bytes.
const ANSWER_MAX: usize = 8 * 1024 * 1024;

/// How often a request is repeated in another dialect after a "not supported" error.
const DIALECTS_MAX: u32 = 5;

/// The upper bound for the connect timeout.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// A model behind an endpoint.
#[derive(Debug)]
pub struct Endpoint {
    config: EndpointConfig,
    endpoint: Named,
    name: String,
    key: Option<Secret>,
    client: Client,
    dialect: Mutex<Dialect>,
}

impl Endpoint {
    /// Reads the key and validates the configuration; sends nothing.
    ///
    /// # Errors
    ///
    /// If the base URL is invalid, the model name is empty, or the key cannot be read.
    pub fn new(config: EndpointConfig) -> Result<Self, EndpointSetupError> {
        let server = parse_base_url(&config.base_url)?;
        let base_url = strip(&server, config.wire);
        if config.model.trim().is_empty() {
            return Err(EndpointSetupError::NoModel { base_url, list: config.wire.usual().1 });
        }
        let key = config.key.as_ref().map(|source| read_key(source, &base_url)).transpose()?;
        let client = deskhand_http::client(&server, CONNECT_TIMEOUT, Bound::Silence(config.timeout))
            .map_err(EndpointSetupError::Client)?;
        let dialect = Dialect::new(&config);
        let endpoint = Named {
            wire: config.wire,
            url: config.wire.url(&base_url, &config.model, dialect.stream),
            model: config.model.clone(),
            key_place: config.key.as_ref().map(ToString::to_string),
            timeout: config.timeout,
            base_url,
        };
        let name = format!("{} {} at {}", config.provider, endpoint.model, endpoint.base_url);
        Ok(Self { config, endpoint, name, key, client, dialect: Mutex::new(dialect) })
    }

    /// The models that the endpoint says it has.
    ///
    /// # Errors
    ///
    /// If it does not answer, does not accept the key, or lists nothing. It is asked once.
    pub async fn models(&self) -> Result<Vec<Listed>, ModelFailure> {
        let start = Instant::now();
        let failed = |fault: Fault| ModelFailure {
            kind: fault.kind,
            message: self.redact(&fault.message),
            attempts: 1,
            usage: Usage::default(),
            elapsed_ms: milliseconds(start.elapsed()),
        };
        let wire = self.config.wire;
        let url = format!("{}{}", self.endpoint.base_url, wire.usual().1);
        let endpoint = Named { url, model: String::new(), ..self.endpoint.clone() };
        let request = self.with_headers(self.client.get(&endpoint.url));
        let mut response = request.send().await.map_err(|error| failed(endpoint.not_sent(&error)))?;
        let status = response.status();
        let bytes =
            read_body(&mut response, ANSWER_MAX).await.map_err(|error| failed(endpoint.not_read(&error)))?;
        let text = self.redact(&String::from_utf8_lossy(&bytes));
        if !status.is_success() {
            return Err(failed(endpoint.status(status, &text, None, None)));
        }
        let models = serde_json::from_str(&text).ok().and_then(|response| listed(wire, &response));
        models.ok_or_else(|| failed(endpoint.not_json(&text)))
    }

    /// Adds the key and what the wire format needs.
    fn with_headers(&self, builder: RequestBuilder) -> RequestBuilder {
        let mut builder = builder.header(ACCEPT, "application/json, text/event-stream");
        for (name, value) in self.config.wire.headers() {
            builder = builder.header(*name, *value);
        }
        match (&self.key, self.config.key_header) {
            (None, _) => builder,
            (Some(key), header @ KeyHeader::Bearer) => builder.header(header.name(), key.bearer()),
            (Some(key), header) => builder.header(header.name(), key.plain()),
        }
    }

    fn dialect(&self) -> Dialect {
        *self.dialect.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sends one request.
    async fn attempt(
        &self,
        request: &ModelRequest,
        said: &[Said],
        dialect: Dialect,
        signs: &dyn ModelSigns,
    ) -> Result<Answer, Fault> {
        let (wire, config) = (self.config.wire, &self.config);
        let asked = Asked {
            request,
            said,
            model: &config.model,
            detail: config.image_detail,
            temperature: config.temperature.filter(|_| dialect.temperature),
            dialect,
        };
        let body = wire.body(asked).to_string();
        let url = wire.url(&self.endpoint.base_url, &config.model, dialect.stream);
        let builder = self.with_headers(self.client.post(url));
        let builder = builder.header(CONTENT_TYPE, "application/json").body(body);
        signs.sign(ModelSign::Asked);
        let mut response = builder.send().await.map_err(|error| self.endpoint.not_sent(&error))?;
        let status = response.status();
        let header =
            |name| response.headers().get(name).and_then(|value| value.to_str().ok()).map(str::to_owned);
        let (location, after, media_type) = (header(LOCATION), header(RETRY_AFTER), header(CONTENT_TYPE));
        let received = |bytes: &[u8]| {
            signs.sign(ModelSign::Receiving { bytes: bytes.len() });
            wire.is_whole(bytes)
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
        let wire = self.config.wire;
        let reply = wire.reply(media_type, text).map_err(|error| match error {
            StreamError::CutShort => self.endpoint.stream_cut(text.len()),
            StreamError::NotJson(data) => self.endpoint.not_json(&self.redact(&data)),
        })?;
        if let Some(fault) = self.endpoint.error_in_success(&reply, &self.redact(&reply.to_string())) {
            return Err(fault);
        }
        let Some(answer) = wire.answer(&reply) else {
            return Err(self.endpoint.no_reply(&self.redact(text)).costing(wire.usage(&reply)));
        };
        let fault = match &answer.stop {
            Stop::Refused(reason) => self.endpoint.refused(&self.redact(reason)),
            Stop::Length => self.endpoint.limit(request.completion_tokens_max),
            Stop::Done(reason) if answer.text.trim().is_empty() => self.endpoint.empty(reason),
            Stop::Done(_) => return Ok(answer),
        };
        Err(fault.costing(answer.usage))
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

impl Model for Endpoint {
    async fn ask(
        &self,
        request: &ModelRequest,
        pictures: &dyn PictureSource,
        signs: &dyn ModelSigns,
    ) -> Result<ModelReply, ModelFailure> {
        let start = Instant::now();
        let elapsed_ms = || milliseconds(start.elapsed());
        let said = said(request, self.config.vision, pictures).map_err(|error| ModelFailure {
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
            let mut fault = match self.attempt(request, &said, dialect, signs).await {
                Ok(answer) => {
                    return Ok(ModelReply {
                        text: answer.text,
                        model: answer.model.unwrap_or_else(|| self.config.model.clone()),
                        usage: add_usage(usage, answer.usage),
                        attempts: sent,
                        elapsed_ms: elapsed_ms(),
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
