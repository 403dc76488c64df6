//! Asking: one request for each attempt, and what follows from the answer.

use std::{
    net::IpAddr,
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

use deskhand_core::model::{ModelFailure, ModelFailureKind, ModelReply, ModelRequest, Usage};
use jiff::Timestamp;
use reqwest::{
    Client, Response, Url,
    header::{AUTHORIZATION, CONTENT_TYPE, LOCATION, RETRY_AFTER},
    redirect::Policy,
};
use serde_json::Value;

use super::{
    config::{Key, OpenAiConfig, OpenAiSetupError, normalise_base_url},
    failure::{Asked, Fault, Retry},
    wait,
    wire::{self, Dialect},
};
use crate::port::{Model, PictureSource};

/// The longest answer that is read, in bytes.
const ANSWER_MAX: usize = 8 * 1024 * 1024;

/// How often one question may be repeated in other words after a "not supported".
const DIALECTS_MAX: u32 = 4;

/// The longest time that connecting may take.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// Chooses the TLS provider of the whole process; to be called before any TLS is used. Further calls do nothing.
pub fn install_tls() {
    // An error means that there is one already, which is what is wanted.
    drop(rustls::crypto::ring::default_provider().install_default());
}

/// A model behind an OpenAI-compatible endpoint.
#[derive(Debug)]
pub struct OpenAi {
    config: OpenAiConfig,
    asked: Asked,
    name: String,
    key: Option<Key>,
    client: Client,
    dialect: Mutex<Dialect>,
}

impl OpenAi {
    /// Prepares for an endpoint: reads the key and checks the configuration; sends nothing.
    ///
    /// # Errors
    ///
    /// When the base URL is none, no model is named, or the key is not where it should be.
    pub fn new(config: OpenAiConfig) -> Result<Self, OpenAiSetupError> {
        let base_url = normalise_base_url(&config.base_url)?;
        if config.model.trim().is_empty() {
            return Err(OpenAiSetupError::NoModel { base_url });
        }
        let key = config.key.as_ref().map(|source| Key::read(source, &base_url)).transpose()?;
        // The client wants a provider even where it never speaks TLS.
        install_tls();
        let mut builder = Client::builder()
            .connect_timeout(CONNECT_TIMEOUT.min(config.timeout))
            .timeout(config.timeout)
            // A redirected POST would become a GET, or carry the key elsewhere.
            .redirect(Policy::none());
        if is_loopback(&base_url) {
            builder = builder.no_proxy();
        }
        let client = builder.build().map_err(OpenAiSetupError::Client)?;
        let asked = Asked {
            url: format!("{base_url}/chat/completions"),
            model: config.model.clone(),
            key_place: config.key.as_ref().map(ToString::to_string),
            timeout: config.timeout,
            base_url,
        };
        let name = format!("openai {} at {}", asked.model, asked.base_url);
        let dialect = Mutex::new(Dialect::new(&config));
        Ok(Self { config, asked, name, key, client, dialect })
    }

    fn dialect(&self) -> Dialect {
        *self.dialect.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// One request and its answer.
    async fn attempt(
        &self,
        request: &ModelRequest,
        messages: &[Value],
        dialect: Dialect,
    ) -> Result<Answer, Fault> {
        let body = wire::body(request, messages, &self.config, dialect).to_string();
        let mut builder =
            self.client.post(&self.asked.url).header(CONTENT_TYPE, "application/json").body(body);
        if let Some(key) = &self.key {
            builder = builder.header(AUTHORIZATION, key.header());
        }
        let response = builder.send().await.map_err(|error| self.asked.not_sent(&error))?;
        let status = response.status();
        let header =
            |name| response.headers().get(name).and_then(|value| value.to_str().ok()).map(str::to_owned);
        let (location, after) = (header(LOCATION), header(RETRY_AFTER));
        let bytes = self.read(response).await?;
        let text = String::from_utf8_lossy(&bytes);
        if !status.is_success() {
            let after = after.and_then(|header| wait::retry_after(&header, Timestamp::now()));
            let location = location.map(|address| self.redact(&address));
            return Err(self.asked.status(status, &self.redact(&text), location.as_deref(), after));
        }
        self.interpret(request, &text)
    }

    /// Reads a body, as far as a reply can be long.
    async fn read(&self, mut response: Response) -> Result<Vec<u8>, Fault> {
        let mut bytes = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(|error| self.asked.cut(&error, bytes.len()))? {
            if bytes.len() + chunk.len() > ANSWER_MAX {
                return Err(self.asked.too_long(ANSWER_MAX));
            }
            bytes.extend_from_slice(&chunk);
        }
        Ok(bytes)
    }

    /// What an answer of status 200 says.
    fn interpret(&self, request: &ModelRequest, text: &str) -> Result<Answer, Fault> {
        let Ok(answer) = serde_json::from_str::<Value>(text) else {
            return Err(self.asked.not_json(&self.redact(text)));
        };
        if let Some(fault) = self.asked.error_in_success(&answer, &self.redact(text)) {
            return Err(fault);
        }
        let usage = wire::usage(&answer);
        let Some(choice) = wire::first_choice(&answer) else {
            return Err(self.asked.no_choice(&self.redact(text)).costing(usage));
        };
        let fault = if let Some(refusal) = &choice.refusal {
            self.asked.refused(&self.redact(refusal))
        } else if choice.finish_reason == "content_filter" {
            self.asked.refused("its content filter stepped in")
        } else if choice.finish_reason == "length" {
            self.asked.limit(request.completion_tokens_max)
        } else if choice.text.trim().is_empty() {
            self.asked.empty(&choice.finish_reason)
        } else {
            let model = answer.get("model").and_then(Value::as_str).unwrap_or(&self.config.model).to_owned();
            return Ok(Answer { text: choice.text, model, usage });
        };
        Err(fault.costing(usage))
    }

    /// The wait before the next attempt, or the fault made final.
    fn next_wait(&self, fault: &mut Fault, attempt: u32) -> Option<Duration> {
        let longest = self.config.retry_wait_max;
        match fault.retry {
            Retry::No => None,
            Retry::After(time) if time > longest => {
                let asked = format!(
                    "; it asked to wait {} s, longer than the {} s that are allowed",
                    time.as_secs(),
                    longest.as_secs_f64()
                );
                fault.message.push_str(&asked);
                None
            }
            _ if attempt >= self.config.attempts_max => None,
            Retry::After(time) => Some(time),
            Retry::BackOff => Some(wait::back_off(self.config.retry_wait_first, attempt, longest)),
        }
    }

    /// Takes the key out of a text from outside, before any of it is quoted.
    fn redact(&self, text: &str) -> String {
        self.key.as_ref().map_or_else(|| text.to_owned(), |key| key.redact(text))
    }
}

/// A good answer.
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
    ) -> Result<ModelReply, ModelFailure> {
        let start = Instant::now();
        let elapsed_ms = || u64::try_from(start.elapsed().as_millis()).unwrap_or(u64::MAX);
        let messages = wire::messages(request, &self.config, pictures).map_err(|error| ModelFailure {
            kind: ModelFailureKind::Rejected,
            message: format!("the question to model {} was not sent: {error}", self.config.model),
            attempts: 0,
            usage: Usage::default(),
            elapsed_ms: elapsed_ms(),
        })?;
        let (mut sent, mut attempt, mut dialects) = (0_u32, 1_u32, 0_u32);
        let mut usage = Usage::default();
        loop {
            let dialect = self.dialect();
            sent += 1;
            let mut fault = match self.attempt(request, &messages, dialect).await {
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
                tracing::info!(url = self.asked.url, from = ?dialect, to = ?other, "the endpoint wants to be asked differently");
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
                "asking the model again"
            );
            wait::before_retry(time).await;
            attempt += 1;
        }
    }

    fn name(&self) -> &str {
        &self.name
    }
}

/// Whether a URL names this machine; such an endpoint is never reached through a proxy.
fn is_loopback(base_url: &str) -> bool {
    let host =
        Url::parse(base_url).ok().and_then(|url| url.host_str().map(str::to_owned)).unwrap_or_default();
    let address = host.trim_matches(['[', ']']).parse::<IpAddr>();
    host == "localhost" || address.is_ok_and(|address| address.is_loopback())
}
