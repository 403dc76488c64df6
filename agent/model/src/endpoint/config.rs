//! Configuration of an endpoint.

use std::time::Duration;

use deskhand_http::{HttpCredential, SecretError, SecretSource, http_url};
use reqwest::Url;

use crate::{
    cassette::{Cassette, CassetteError},
    wire::{ComputerUse, ImageDetail, ReasoningEffort, StructuredOutput, TokenLimitField, Wire},
};

/// An endpoint and how requests are sent to it.
#[derive(Debug, Clone, PartialEq)]
pub struct EndpointConfig {
    /// The name of the provider, as messages show it: `openai`.
    pub provider: String,
    /// The wire format.
    pub wire: Wire,
    /// The header that takes the API key.
    pub key_header: ApiKeyHeader,
    /// The base URL: `https://api.openai.com/v1`. A trailing slash, and what the wire format adds, is stripped.
    pub base_url: String,
    /// The model name at the endpoint.
    pub model: String,
    /// The source of the API key; `None` if the endpoint needs none.
    pub key: Option<SecretSource>,
    /// Maximum time to connect.
    pub connect_timeout: Duration,
    /// Maximum time that the endpoint may send nothing before the first part of its response.
    pub timeout: Duration,
    /// Maximum time that the endpoint may send nothing between two parts of its response.
    pub idle_timeout: Duration,
    /// The maximum number of requests per question, 1 for no retry. A request repeated in another dialect after "not
    /// supported" does not count.
    pub attempts_max: u32,
    /// The delay before the first retry; it doubles with each. The last half of a delay is left to chance, so that clients which
    /// failed together do not come back together.
    pub retry_wait_first: Duration,
    /// The maximum delay between attempts, if the endpoint names none.
    pub retry_wait_max: Duration,
    /// The longest `Retry-After` that is waited for.
    pub retry_after_max: Duration,
    /// Method for requesting structured output.
    pub structured_output: StructuredOutput,
    /// If `true`, pictures are sent.
    pub vision: bool,
    /// The detail level of pictures.
    pub image_detail: ImageDetail,
    /// The sampling temperature; `None` for the endpoint's default.
    pub temperature: Option<f32>,
    /// The field that limits the reply length.
    pub token_limit_field: TokenLimitField,
    /// Amount of reasoning before a reply.
    pub reasoning: ReasoningEffort,
    /// Cassette to which exchanges are recorded, or from which they are played instead of sent.
    pub cassette: Option<Cassette>,
    /// If `true`, the part that stays the same from one request to the next is marked for the endpoint's cache.
    /// [`Wire::Messages`] always marks it, [`Wire::Chat`] does with this setting, the others have no marks.
    pub cache_marks: bool,
    /// Protocol by which the model works in pictures. [`ComputerUse::OpenAi`] is for [`Wire::Responses`] alone,
    /// [`ComputerUse::Anthropic`] for [`Wire::Messages`].
    pub computer_use: ComputerUse,
}

impl EndpointConfig {
    /// Default settings for an OpenAI-compatible endpoint and a model.
    pub fn new(base_url: impl Into<String>, model: impl Into<String>) -> Self {
        Self {
            provider: "openai".to_owned(),
            wire: Wire::Chat,
            key_header: ApiKeyHeader::Bearer,
            base_url: base_url.into(),
            model: model.into(),
            key: None,
            connect_timeout: Duration::from_secs(10),
            timeout: Duration::from_secs(1_800),
            idle_timeout: Duration::from_secs(1_800),
            attempts_max: 8,
            retry_wait_first: Duration::from_secs(1),
            retry_wait_max: Duration::from_secs(60),
            retry_after_max: Duration::from_secs(600),
            structured_output: StructuredOutput::Auto,
            vision: true,
            image_detail: ImageDetail::Auto,
            temperature: None,
            token_limit_field: TokenLimitField::Auto,
            reasoning: ReasoningEffort::Auto,
            cassette: None,
            cache_marks: false,
            computer_use: ComputerUse::Off,
        }
    }
}

/// The header that takes an API key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ApiKeyHeader {
    /// `Authorization: Bearer`
    Bearer,
    /// `api-key`, of Azure.
    ApiKey,
    /// `x-api-key`, of Anthropic.
    XApiKey,
    /// `x-goog-api-key`, of Google.
    XGoogApiKey,
}

impl ApiKeyHeader {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Bearer => "authorization",
            Self::ApiKey => "api-key",
            Self::XApiKey => "x-api-key",
            Self::XGoogApiKey => "x-goog-api-key",
        }
    }
}

/// An invalid endpoint configuration.
#[derive(Debug, thiserror::Error)]
pub enum EndpointSetupError {
    /// The base URL is invalid.
    #[error("`{base_url}` is not a base URL ({reason}); use a form like `https://api.openai.com/v1`")]
    BaseUrl {
        /// The configured URL.
        base_url: String,
        /// Why it is invalid.
        reason: String,
    },
    /// No model is configured.
    #[error("no model is configured for {base_url}; set one of those listed at {base_url}{list}")]
    NoModel {
        /// The endpoint.
        base_url: String,
        /// Path of the endpoint's list of models.
        list: &'static str,
    },
    /// The key cannot be read or is invalid.
    #[error("no key for {base_url}: {place} {problem}")]
    Key {
        /// The endpoint.
        base_url: String,
        /// The source of the key.
        place: SecretSource,
        /// The problem; never contains the key.
        problem: String,
    },
    /// The HTTP client cannot be built.
    #[error("cannot build the HTTP client")]
    Client(#[source] reqwest::Error),
    /// The cassette cannot be used.
    #[error(transparent)]
    Cassette(#[from] CassetteError),
}

/// Strips surrounding space, trailing slashes, and what requests add to a base URL.
///
/// # Errors
///
/// If it is not an absolute `http` or `https` URL, or contains a user name or password.
pub fn normalise_base_url(text: &str, wire: Wire) -> Result<String, EndpointSetupError> {
    parse_base_url(text).map(|url| strip(&url, wire))
}

pub(super) fn parse_base_url(text: &str) -> Result<Url, EndpointSetupError> {
    let wrong = |base_url: String, reason: String| EndpointSetupError::BaseUrl { base_url, reason };
    let url = http_url(text).map_err(|error| wrong(error.redacted(text), error.to_string()))?;
    if url.query().is_some() || url.fragment().is_some() {
        return Err(wrong(text.trim().to_owned(), "it has a query or fragment".to_owned()));
    }
    Ok(url)
}

/// Strips trailing slashes and the paths that requests add.
pub(super) fn strip(url: &Url, wire: Wire) -> String {
    let mut base = url.as_str().trim_end_matches('/');
    for tail in wire.tails() {
        base = base.strip_suffix(tail).unwrap_or(base).trim_end_matches('/');
    }
    base.to_owned()
}

/// Reads the API key for an endpoint.
pub(super) fn read_key(source: &SecretSource, base_url: &str) -> Result<HttpCredential, EndpointSetupError> {
    HttpCredential::read(source).map_err(|error| {
        let fix = if matches!(error, SecretError::NotSet) { "; set it to the API key" } else { "" };
        EndpointSetupError::Key {
            base_url: base_url.to_owned(),
            place: source.clone(),
            problem: format!("{error}{fix}"),
        }
    })
}
