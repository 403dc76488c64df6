//! Settings of models, and which model a specification such as `openai:gpt-5-mini` names.

use std::{collections::BTreeMap, path::PathBuf};

use deskhand_model::{ComputerUse, ReasoningEffort, Wire};
use deskhand_ui::suggest::nearest;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{CassetteSetting, ConfigError, Provider};

/// Settings of a model and its endpoint.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ModelSettings {
    /// The kind of model.
    pub provider: Option<Provider>,
    /// The name of the model at the endpoint.
    pub model: Option<String>,
    /// The address of the endpoint, for OpenAI-compatible ones including `/v1`. By default that of the provider.
    pub base_url: Option<String>,
    /// The environment variable that holds the API key. By default that of the provider, such as `OPENAI_API_KEY`, if the endpoint is
    /// the provider's own, and no key for any other endpoint.
    pub api_key_env: Option<String>,
    /// A file whose first line is the API key. Takes precedence over `api_key_env`.
    pub api_key_file: Option<PathBuf>,
    /// The script, for the provider `script`.
    pub script: Option<PathBuf>,
    /// Maximum time to connect to the endpoint, in seconds.
    #[schemars(range(min = 1))]
    pub connect_timeout_s: u64,
    /// Maximum time that the endpoint may be silent before its reply, in seconds. An accepted request is not repeated
    /// after that.
    #[schemars(range(min = 1))]
    pub timeout_s: u64,
    /// Maximum time that the endpoint may be silent between two parts of a reply, in seconds. By default the same as
    /// before the reply.
    #[schemars(range(min = 1))]
    pub idle_timeout_s: Option<u64>,
    /// The most requests for one question, including the first. The waits between them double, from one second to a minute.
    #[schemars(range(min = 1))]
    pub attempts_max: u32,
    /// Method for requesting the format of a reply from the endpoint.
    pub structured_output: StructuredOutputSetting,
    /// Amount of reasoning before a reply.
    pub reasoning: ReasoningSetting,
    /// Makes it an operator: AppAgents that it answers for are shown a picture of their window and say where to click in it, instead
    /// of a list of controls. Other agents ask it as usual.
    pub computer_use: ComputerUseSetting,
    /// Use of the small-model mode: short questions with worked examples, and few options to choose from, by their
    /// titles.
    pub small: SmallSetting,
    /// Models to ask instead, in order, if this one does not answer: names of `models`, or `PROVIDER:MODEL`. With a backup, it is asked
    /// at most twice for one question, and not at all for a while if it keeps failing.
    pub backups: Vec<String>,
    /// A file for what is sent to the endpoint and what comes back: `record:FILE` adds to it, `play:FILE` takes the replies from it and
    /// sends nothing. It holds what the model is shown, with pictures by their hash and without keys.
    pub cassette: Option<CassetteSetting>,
    /// If `true`, the model accepts pictures.
    pub vision: bool,
}

impl ModelSettings {
    /// The model that a specification names: a name in `models`, `PROVIDER:MODEL` or `script:FILE`. The endpoint settings of
    /// `configured` hold for every model of its provider.
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
        match Provider::named(kind) {
            Some(Provider::Script) => {
                let settings = of(Provider::Script);
                let script = if rest.is_empty() { settings.script } else { Some(PathBuf::from(rest)) };
                Ok(Self { script, ..settings })
            }
            Some(provider) => {
                let settings = of(provider);
                let model = if rest.is_empty() { settings.model } else { Some(rest.to_owned()) };
                Ok(Self { model, ..settings })
            }
            None => {
                let known: Vec<String> = models.keys().cloned().collect();
                let candidates = known.iter().map(String::as_str).chain(Provider::ALL.map(Provider::name));
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
            base_url: None,
            api_key_env: None,
            api_key_file: None,
            script: None,
            connect_timeout_s: 10,
            timeout_s: 1_800,
            idle_timeout_s: None,
            attempts_max: 8,
            structured_output: StructuredOutputSetting::Auto,
            reasoning: ReasoningSetting::Auto,
            computer_use: ComputerUseSetting::Off,
            small: SmallSetting::Auto,
            backups: Vec::new(),
            cassette: None,
            vision: true,
        }
    }
}

/// Method for requesting the format of a reply from an endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StructuredOutputSetting {
    /// Send a JSON schema; fall back to less if the endpoint rejects it.
    Auto,
    /// Send a JSON schema; fail if the endpoint rejects it.
    Schema,
    /// Ask for a JSON object of any form.
    Object,
    /// Send nothing; only the prompt describes the format.
    Off,
}

/// Amount of reasoning before a reply. Reasoning is billed like the reply, and the reply limit is raised by the
/// maximum of the chosen amount.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReasoningSetting {
    /// As the endpoint has it.
    Auto,
    /// Not at all, or as little as the model allows.
    Off,
    /// A little: up to 4,096 tokens.
    Low,
    /// Some: up to 16,384 tokens.
    Medium,
    /// Much: up to 32,768 tokens.
    High,
}

impl ReasoningSetting {
    /// The setting for requests.
    pub const fn to_reasoning(self) -> ReasoningEffort {
        match self {
            Self::Auto => ReasoningEffort::Auto,
            Self::Off => ReasoningEffort::Off,
            Self::Low => ReasoningEffort::Low,
            Self::Medium => ReasoningEffort::Medium,
            Self::High => ReasoningEffort::High,
        }
    }
}

/// Use of the small-model mode.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SmallSetting {
    /// Models of the provider `local`.
    Auto,
    /// Yes.
    On,
    /// No.
    Off,
}

/// Protocol by which a model works in pictures of windows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ComputerUseSetting {
    /// Not at all: it is shown lists of controls.
    Off,
    /// By the tool `computer_use_preview`, with the provider `openai_responses`.
    #[serde(rename = "openai")]
    OpenAi,
    /// By the tool `computer_20250124`, with the provider `anthropic`.
    Anthropic,
    /// By text as UI-TARS writes it, with places from 0 to 1000 across and down the picture.
    UiTars,
    /// The same with pixels of the picture.
    UiTarsPixels,
    /// By JSON with pixels of the picture, which any model that sees can be asked for.
    Json,
}

impl ComputerUseSetting {
    /// The setting for requests.
    pub const fn to_computer_use(self) -> ComputerUse {
        match self {
            Self::Off => ComputerUse::Off,
            Self::OpenAi => ComputerUse::OpenAi,
            Self::Anthropic => ComputerUse::Anthropic,
            Self::UiTars => ComputerUse::UiTars,
            Self::UiTarsPixels => ComputerUse::UiTarsPixels,
            Self::Json => ComputerUse::Json,
        }
    }

    /// Returns the requirement that a model with this setting lacks, and the fix. `pictures` is `true` if models are
    /// sent pictures at all.
    pub(super) fn lack(
        self,
        settings: &ModelSettings,
        pictures: bool,
    ) -> Option<(&'static str, &'static str)> {
        let wire = settings.provider.and_then(Provider::service).map(|service| service.wire);
        let speaks = match self {
            Self::Off => return None,
            Self::OpenAi => wire == Some(Wire::Responses),
            Self::Anthropic => wire == Some(Wire::Messages),
            Self::UiTars | Self::UiTarsPixels => wire.is_some(),
            Self::Json => true,
        };
        if !speaks {
            let problem = "its provider does not speak that protocol";
            let fix = "`openai` needs the provider `openai_responses`, `anthropic` the provider `anthropic`; `json` works with any";
            return Some((problem, fix));
        }
        let sees = pictures && settings.vision;
        (!sees).then_some(("it is sent no pictures", "set `view.pictures` and the model's `vision` to true"))
    }
}
