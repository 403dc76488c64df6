//! The model to ask: from the configuration to something that answers.

use std::{collections::BTreeMap, path::PathBuf, time::Duration};

use deskhand_model::{
    AnyModel, OpenAi, OpenAiConfig, OpenAiSetupError, SCRIPT_MODEL, Script, ScriptError, SecretSource,
    StructuredOutput,
};
use serde::{Deserialize, Serialize};

use crate::config::{Config, ModelSettings, Provider, StructuredOutputSetting};

/// A model that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ModelError {
    /// None is configured.
    #[error("no model is configured")]
    NotConfigured,
    /// An endpoint is configured, and no model on it.
    #[error("no model is named for {base_url}")]
    NotNamed {
        /// The address of the endpoint.
        base_url: String,
    },
    /// Replies are to come from a script, and none is named.
    #[error("the provider `script` needs a file of turns")]
    NoScript,
    /// The script is missing.
    #[error("failed to read the script {}: there is no such file", file.display())]
    ScriptMissing {
        /// The file.
        file: PathBuf,
    },
    /// The script cannot be read or is not valid.
    #[error(transparent)]
    Script(ScriptError),
    /// The endpoint cannot be asked.
    #[error(transparent)]
    Endpoint(OpenAiSetupError),
    /// There is a limit on cost, and the price of the model is not known.
    #[error("the price of the model `{model}` is not known, so that a limit on its cost cannot be kept")]
    NoPrice {
        /// The model.
        model: String,
    },
}

impl ModelError {
    /// What to do about it.
    pub fn help(&self) -> String {
        match self {
            Self::NotConfigured => {
                "set `model.provider` and `model.model`; `deskhand config init` writes a file to fill in"
                    .to_owned()
            }
            Self::NotNamed { .. } => {
                "set `model.model`; the endpoint lists its models under /models".to_owned()
            }
            Self::NoScript => "set `model.script`".to_owned(),
            Self::ScriptMissing { .. } => "check the path of the script".to_owned(),
            Self::Script(_) => "correct the script, or set its variables".to_owned(),
            Self::Endpoint(error) => endpoint_help(error),
            Self::NoPrice { model } => format!(
                "write it down in the configuration, under [prices.\"{model}\"], or take the limit away"
            ),
        }
    }

    /// Whether no model was named that could be tried.
    pub const fn is_usage(&self) -> bool {
        match self {
            Self::NotConfigured | Self::NotNamed { .. } | Self::NoScript | Self::NoPrice { .. } => true,
            Self::ScriptMissing { .. } | Self::Script(_) | Self::Endpoint(_) => false,
        }
    }
}

fn endpoint_help(error: &OpenAiSetupError) -> String {
    match error {
        OpenAiSetupError::Key { place: SecretSource::Environment(name), .. } => {
            format!("`export {name}=…`, or name a file in `model.api_key_file`")
        }
        OpenAiSetupError::Key { place: SecretSource::File(file), .. } => {
            format!("put the key into the first line of {}", file.display())
        }
        OpenAiSetupError::BaseUrl { .. } => "correct `model.base_url`".to_owned(),
        OpenAiSetupError::NoModel { .. } => "set `model.model`".to_owned(),
        OpenAiSetupError::Client(_) => "`DESKHAND_LOG=debug` says more".to_owned(),
    }
}

/// A model by what it takes to reach it.
#[derive(Debug, Clone, PartialEq)]
pub enum ModelChoice {
    /// An OpenAI-compatible endpoint.
    OpenAi(Box<OpenAiConfig>),
    /// A file of turns, with the variables in it.
    Script(PathBuf, BTreeMap<String, String>),
}

impl ModelChoice {
    /// The name under which the price table knows it.
    pub fn price_name(&self) -> &str {
        match self {
            Self::OpenAi(config) => &config.model,
            Self::Script(..) => SCRIPT_MODEL,
        }
    }
}

/// Which model is meant, as a journal keeps it. No key is in it, only where one is found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelSetup {
    settings: ModelSettings,
    /// The variables of a script.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    variables: BTreeMap<String, String>,
}

impl ModelSetup {
    /// The model of the configuration. Looks at no file and no endpoint.
    pub fn of(config: &Config, script_variables: BTreeMap<String, String>) -> Self {
        Self { settings: config.model.clone(), variables: script_variables }
    }

    /// The settings.
    pub(crate) const fn settings(&self) -> &ModelSettings {
        &self.settings
    }

    /// The same with those variables of `before` that are not given.
    pub(crate) fn with_variables_of(mut self, before: &Self) -> Self {
        for (name, value) in &before.variables {
            self.variables.entry(name.clone()).or_insert_with(|| value.clone());
        }
        self
    }

    /// The same for a session that may be resumed in another working directory.
    pub(crate) fn absolute(mut self) -> Self {
        let absolute = |file: PathBuf| std::path::absolute(&file).unwrap_or(file);
        self.settings.script = self.settings.script.map(absolute);
        self.settings.api_key_file = self.settings.api_key_file.map(absolute);
        self
    }

    /// What it takes to reach the model.
    ///
    /// # Errors
    /// No model is named.
    pub fn choice(self) -> Result<ModelChoice, ModelError> {
        let settings = self.settings;
        match settings.provider {
            None => Err(ModelError::NotConfigured),
            Some(Provider::Script) => {
                Ok(ModelChoice::Script(settings.script.ok_or(ModelError::NoScript)?, self.variables))
            }
            Some(Provider::OpenAi) => to_openai(settings).map(|config| ModelChoice::OpenAi(Box::new(config))),
        }
    }
}

fn to_openai(settings: ModelSettings) -> Result<OpenAiConfig, ModelError> {
    let named = settings.model.filter(|model| !model.trim().is_empty());
    let model = named.ok_or_else(|| ModelError::NotNamed { base_url: settings.base_url.clone() })?;
    // A key is only sent where it was meant to go.
    let usual_key =
        || (settings.base_url == ModelSettings::DEFAULT_BASE_URL).then(|| "OPENAI_API_KEY".to_owned());
    let key = match settings.api_key_file {
        Some(file) => Some(SecretSource::File(file)),
        None => settings.api_key_env.or_else(usual_key).map(SecretSource::Environment),
    };
    let mut config = OpenAiConfig::new(settings.base_url, model);
    config.key = key;
    config.timeout = Duration::from_secs(settings.timeout_s);
    config.attempts_max = settings.attempts_max;
    config.vision = settings.vision;
    config.structured_output = match settings.structured_output {
        StructuredOutputSetting::Auto => StructuredOutput::Auto,
        StructuredOutputSetting::Schema => StructuredOutput::Schema,
        StructuredOutputSetting::Object => StructuredOutput::Object,
        StructuredOutputSetting::Off => StructuredOutput::Off,
    };
    Ok(config)
}

impl ModelChoice {
    /// Whether it looks at pictures.
    pub fn sees(&self) -> bool {
        match self {
            Self::OpenAi(config) => config.vision,
            // A script is stopped by nothing in a picture, but what is kept of the session is better with them.
            Self::Script(..) => true,
        }
    }

    /// Makes it ready to answer: reads the script, or the key. Sends nothing.
    ///
    /// # Errors
    /// The script is missing or not valid, the address is not a URL, or the key is missing.
    pub fn open(self) -> Result<AnyModel, ModelError> {
        match self {
            Self::OpenAi(config) => OpenAi::new(*config).map(AnyModel::OpenAi).map_err(ModelError::Endpoint),
            Self::Script(file, _) if !file.is_file() => Err(ModelError::ScriptMissing { file }),
            Self::Script(file, variables) => {
                Script::load(&file, variables).map(AnyModel::Script).map_err(ModelError::Script)
            }
        }
    }
}
