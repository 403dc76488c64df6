//! What can be configured of models, and which one a specification such as `openai:gpt-5-mini` names.

use std::{collections::BTreeMap, path::PathBuf};

use deskhand_core::suggest::nearest;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ConfigError;

/// How to reach a model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ModelSettings {
    /// Which kind of model it is; without it there is none.
    pub provider: Option<Provider>,
    /// The name of the model, as the endpoint calls it.
    pub model: Option<String>,
    /// The address of an OpenAI-compatible endpoint, up to and with `/v1`.
    pub base_url: String,
    /// The environment variable that holds the key. Without it, `OPENAI_API_KEY` is used for api.openai.com and no
    /// key for any other endpoint.
    pub api_key_env: Option<String>,
    /// A file whose first line is the key; wins over `api_key_env`.
    pub api_key_file: Option<PathBuf>,
    /// The file of turns, for the provider `script`.
    pub script: Option<PathBuf>,
    /// The longest that one request to the endpoint may take, in seconds.
    #[schemars(range(min = 1))]
    pub timeout_s: u64,
    /// How many requests one question may cost, the first one included.
    #[schemars(range(min = 1))]
    pub attempts_max: u32,
    /// How the endpoint is told the form of a reply.
    pub structured_output: StructuredOutputSetting,
    /// Whether the model is shown pictures of the screen.
    pub vision: bool,
}

impl ModelSettings {
    /// The endpoint that is used when none is configured.
    pub const DEFAULT_BASE_URL: &'static str = "https://api.openai.com/v1";

    /// What a specification means: the name of one of `models`, `openai:MODEL` or `script:FILE`. What `configured` says of
    /// an endpoint holds for every model on it.
    ///
    /// # Errors
    /// [`ConfigError::NoSuchModel`] with the nearest name.
    pub fn from_spec(
        spec: &str,
        configured: &Self,
        models: &BTreeMap<String, Self>,
    ) -> Result<Self, ConfigError> {
        let spec = spec.trim();
        if let Some(settings) = models.get(spec) {
            return Ok(settings.clone());
        }
        let (kind, rest) = spec.split_once(':').map_or((spec, ""), |(kind, rest)| (kind, rest));
        let of = |provider| {
            let same = configured.provider.is_none_or(|other| other == provider);
            let settings = if same { configured.clone() } else { Self::default() };
            Self { provider: Some(provider), ..settings }
        };
        match kind {
            "openai" => {
                let settings = of(Provider::OpenAi);
                let model = if rest.is_empty() { settings.model } else { Some(rest.to_owned()) };
                Ok(Self { model, ..settings })
            }
            "script" => {
                let settings = of(Provider::Script);
                let script = if rest.is_empty() { settings.script } else { Some(PathBuf::from(rest)) };
                Ok(Self { script, ..settings })
            }
            _ => {
                let known: Vec<String> = models.keys().cloned().collect();
                let candidates = known.iter().map(String::as_str).chain(["openai", "script"]);
                let nearest = nearest(kind, candidates).map(str::to_owned);
                Err(ConfigError::NoSuchModel { spec: spec.to_owned(), nearest, known })
            }
        }
    }
}

impl Default for ModelSettings {
    fn default() -> Self {
        Self {
            provider: None,
            model: None,
            base_url: Self::DEFAULT_BASE_URL.to_owned(),
            api_key_env: None,
            api_key_file: None,
            script: None,
            timeout_s: 120,
            attempts_max: 4,
            structured_output: StructuredOutputSetting::Auto,
            vision: true,
        }
    }
}

/// A kind of model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Provider {
    /// Any OpenAI-compatible chat endpoint, local ones included.
    #[serde(rename = "openai")]
    OpenAi,
    /// A file of turns; no model at all.
    Script,
}

/// How an endpoint is told the form of a reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StructuredOutputSetting {
    /// A JSON schema, and less where the endpoint does not accept one.
    Auto,
    /// A JSON schema, or fail.
    Schema,
    /// A JSON object of any form.
    Object,
    /// Not at all; the prompt alone says it.
    Off,
}
