//! How to reach an endpoint.

use std::{env, fmt, fs, path::PathBuf, time::Duration};

use reqwest::{Url, header::HeaderValue};

/// An endpoint and how to speak to it.
#[derive(Debug, Clone, PartialEq)]
pub struct OpenAiConfig {
    /// The base URL: `https://api.openai.com/v1`. A trailing slash or a pasted `/chat/completions` does no harm.
    pub base_url: String,
    /// The model, as the endpoint calls it.
    pub model: String,
    /// Where the key comes from; none for endpoints without one.
    pub key: Option<KeySource>,
    /// The longest that one request may take, from connecting to the last byte.
    pub timeout: Duration,
    /// How many requests one question may cost, 1 for no retry. Repeating a request in other words after a
    /// "not supported" does not count.
    pub attempts_max: u32,
    /// The wait before the first retry; it doubles with each.
    pub retry_wait_first: Duration,
    /// The longest wait between two attempts. A server that asks for more (`Retry-After`) is not waited for.
    pub retry_wait_max: Duration,
    /// How the form of the reply is asked for.
    pub structured_output: StructuredOutput,
    /// Whether the model sees pictures; otherwise they are left out.
    pub vision: bool,
    /// How closely it looks at pictures.
    pub image_detail: ImageDetail,
    /// The sampling temperature; none for the endpoint's own.
    pub temperature: Option<f32>,
    /// Which field limits the length of the reply.
    pub token_limit_field: TokenLimitField,
}

impl OpenAiConfig {
    /// The usual settings for an endpoint and a model.
    pub fn new(base_url: impl Into<String>, model: impl Into<String>) -> Self {
        Self {
            base_url: base_url.into(),
            model: model.into(),
            key: None,
            timeout: Duration::from_secs(120),
            attempts_max: 4,
            retry_wait_first: Duration::from_millis(500),
            retry_wait_max: Duration::from_secs(60),
            structured_output: StructuredOutput::Auto,
            vision: true,
            image_detail: ImageDetail::Auto,
            temperature: None,
            token_limit_field: TokenLimitField::Auto,
        }
    }
}

/// Where a key comes from. Messages name the place, never the key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeySource {
    /// An environment variable.
    Environment(String),
    /// The first line of a file.
    File(PathBuf),
}

impl fmt::Display for KeySource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Environment(name) => write!(f, "the environment variable {name}"),
            Self::File(path) => write!(f, "the file {}", path.display()),
        }
    }
}

/// How the form of the reply is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StructuredOutput {
    /// A JSON schema; when the endpoint refuses it, a JSON object; when it refuses that too, nothing.
    Auto,
    /// A JSON schema, or fail.
    Schema,
    /// A JSON object of any form.
    Object,
    /// Not at all: the prompt alone says it.
    Off,
}

/// How closely the model looks at pictures; it changes what they cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ImageDetail {
    /// The endpoint decides.
    Auto,
    /// Small.
    Low,
    /// Full size.
    High,
}

impl ImageDetail {
    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Low => "low",
            Self::High => "high",
        }
    }
}

/// Which field limits the length of the reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokenLimitField {
    /// `max_tokens`, which most servers know, then the other one when it is refused.
    Auto,
    /// `max_tokens`
    MaxTokens,
    /// `max_completion_tokens`
    MaxCompletionTokens,
}

/// A configuration that no endpoint can be reached with.
#[derive(Debug, thiserror::Error)]
pub enum OpenAiSetupError {
    /// The base URL is none.
    #[error("`{base_url}` is not a base URL ({reason}); it looks like `https://api.openai.com/v1`")]
    BaseUrl {
        /// What was given.
        base_url: String,
        /// What is wrong with it.
        reason: String,
    },
    /// No model is named.
    #[error("no model is named for {base_url}; name one that the endpoint lists under {base_url}/models")]
    NoModel {
        /// The endpoint.
        base_url: String,
    },
    /// There is no key where it should be.
    #[error("no key for {base_url}: {place} {problem}")]
    Key {
        /// The endpoint.
        base_url: String,
        /// Where the key should be.
        place: KeySource,
        /// What is wrong there; never the key.
        problem: String,
    },
    /// The HTTP client could not be set up.
    #[error("the HTTP client could not be set up")]
    Client(#[source] reqwest::Error),
}

/// The base URL without what people paste along: surrounding space, trailing slashes, `/chat/completions`.
///
/// # Errors
///
/// When it is not an absolute `http` or `https` URL, or carries a user name or password.
pub fn normalise_base_url(text: &str) -> Result<String, OpenAiSetupError> {
    let wrong = |reason: String| OpenAiSetupError::BaseUrl { base_url: text.trim().to_owned(), reason };
    let url = Url::parse(text.trim()).map_err(|error| wrong(error.to_string()))?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(wrong(format!("`{}` is not http or https", url.scheme())));
    }
    if !url.username().is_empty() || url.password().is_some() {
        let reason =
            "it carries a user name or password; keys come from the environment or a file".to_owned();
        let base_url = format!("{}://…", url.scheme());
        return Err(OpenAiSetupError::BaseUrl { base_url, reason });
    }
    if url.query().is_some() || url.fragment().is_some() {
        return Err(wrong("it has a query or fragment".to_owned()));
    }
    let mut base = url.as_str().trim_end_matches('/');
    for tail in ["/chat/completions", "/completions"] {
        base = base.strip_suffix(tail).unwrap_or(base).trim_end_matches('/');
    }
    Ok(base.to_owned())
}

/// A key. It has no `Display`, and its `Debug` says nothing.
#[derive(Clone)]
pub(super) struct Key(HeaderValue);

impl Key {
    pub(super) fn read(source: &KeySource, base_url: &str) -> Result<Self, OpenAiSetupError> {
        let wrong = |problem: &str| OpenAiSetupError::Key {
            base_url: base_url.to_owned(),
            place: source.clone(),
            problem: problem.to_owned(),
        };
        let text = match source {
            KeySource::Environment(name) => {
                env::var(name).map_err(|_| wrong("is not set; set it to the key of the endpoint"))?
            }
            KeySource::File(path) => {
                fs::read_to_string(path).map_err(|error| wrong(&format!("could not be read: {error}")))?
            }
        };
        let key = text.trim().lines().next().unwrap_or_default().trim();
        if key.is_empty() {
            return Err(wrong("is empty"));
        }
        let mut value = HeaderValue::from_str(&format!("Bearer {key}"))
            .map_err(|_| wrong("has characters that no key can have"))?;
        value.set_sensitive(true);
        Ok(Self(value))
    }

    pub(super) fn header(&self) -> HeaderValue {
        self.0.clone()
    }

    /// Takes the key out of a text from outside: an endpoint may quote it in its error.
    pub(super) fn redact(&self, text: &str) -> String {
        let key = self.0.to_str().ok().and_then(|value| value.strip_prefix("Bearer "));
        key.map_or_else(|| text.to_owned(), |key| text.replace(key, "[key]"))
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key")
    }
}
