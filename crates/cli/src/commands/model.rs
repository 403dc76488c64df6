//! The model to ask: from a spec, flags and the configuration to something that answers.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    time::Duration,
};

use deskhand_host::config::{Config, ModelSettings, Provider, StructuredOutputSetting};
use deskhand_model::{
    AnyModel, KeySource, OpenAi, OpenAiConfig, OpenAiSetupError, SCRIPT_MODEL, Script, StructuredOutput,
};
use serde::{Deserialize, Serialize};

use crate::{args::ModelArgs, exit::CliError};

/// A model by what it takes to reach it.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum ModelChoice {
    /// An OpenAI-compatible endpoint.
    OpenAi(Box<OpenAiConfig>),
    /// A file of turns, with the variables in it.
    Script(PathBuf, BTreeMap<String, String>),
}

impl ModelChoice {
    /// The name under which the price table knows it.
    pub(super) fn price_name(&self) -> &str {
        match self {
            Self::OpenAi(config) => &config.model,
            Self::Script(..) => SCRIPT_MODEL,
        }
    }
}

const NO_MODEL_HELP: &str = "name one: `--model openai:MODEL` (with `--base-url URL` for a local server), or \
     `--model script:FILE`; or write it down for good: `deskhand config init`";

/// Which model is meant, as a journal keeps it. No key is in it, only where one is found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ModelSetup {
    settings: ModelSettings,
    /// The variables of a script.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    variables: BTreeMap<String, String>,
}

impl ModelSetup {
    /// The model of the configuration. Looks at no file and no endpoint.
    pub(super) fn of(args: &ModelArgs, config: &Config) -> Self {
        Self { settings: config.model.clone(), variables: args.script_var.iter().cloned().collect() }
    }

    /// The settings.
    pub(super) const fn settings(&self) -> &ModelSettings {
        &self.settings
    }

    /// The same with the variables of before where none of that name is given.
    pub(super) fn with_variables_of(mut self, before: &Self) -> Self {
        for (name, value) in &before.variables {
            self.variables.entry(name.clone()).or_insert_with(|| value.clone());
        }
        self
    }

    /// The same for a session that may go on in another folder than it was begun in.
    pub(super) fn absolute(mut self) -> Self {
        let absolute = |file: PathBuf| std::path::absolute(&file).unwrap_or(file);
        self.settings.script = self.settings.script.map(absolute);
        self.settings.api_key_file = self.settings.api_key_file.map(absolute);
        self
    }

    /// What it takes to reach the model.
    ///
    /// # Errors
    /// No model is named.
    pub(super) fn choice(self) -> Result<ModelChoice, CliError> {
        let settings = self.settings;
        match settings.provider {
            None => Err(CliError::usage("no model is configured").with_help(NO_MODEL_HELP)),
            Some(Provider::Script) => {
                let file = settings.script.ok_or_else(|| {
                    CliError::usage("the provider `script` needs a file of turns")
                        .with_help("`--model script:FILE`, or set `model.script`")
                })?;
                Ok(ModelChoice::Script(file, self.variables))
            }
            Some(Provider::OpenAi) => to_openai(settings).map(|config| ModelChoice::OpenAi(Box::new(config))),
        }
    }
}

fn to_openai(settings: ModelSettings) -> Result<OpenAiConfig, CliError> {
    let model = settings.model.filter(|model| !model.trim().is_empty()).ok_or_else(|| {
        CliError::usage(format!("no model is named for {}", settings.base_url)).with_help(
            "`--model openai:MODEL`, or set `model.model`; the endpoint lists its models under /models",
        )
    })?;
    // A key is only sent where it was meant to go.
    let usual_key =
        || (settings.base_url == ModelSettings::DEFAULT_BASE_URL).then(|| "OPENAI_API_KEY".to_owned());
    let key = match settings.api_key_file {
        Some(file) => Some(KeySource::File(file)),
        None => settings.api_key_env.or_else(usual_key).map(KeySource::Environment),
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
    pub(super) fn sees(&self) -> bool {
        match self {
            Self::OpenAi(config) => config.vision,
            // A script is stopped by nothing in a picture, but what is kept of the session is better with them.
            Self::Script(..) => true,
        }
    }

    /// Makes it ready to answer: reads the script, or the key. Sends nothing.
    ///
    /// # Errors
    /// The script is missing or wrong, the address is none, or the key is missing.
    pub(super) fn open(self) -> Result<AnyModel, CliError> {
        match self {
            Self::OpenAi(config) => {
                OpenAi::new(*config).map(AnyModel::OpenAi).map_err(|error| setup_error(&error))
            }
            Self::Script(file, variables) => open_script(&file, variables).map(AnyModel::Script),
        }
    }
}

fn open_script(file: &Path, variables: BTreeMap<String, String>) -> Result<Script, CliError> {
    if !file.is_file() {
        return Err(CliError::new(format!(
            "failed to read the script {}: there is no such file",
            file.display()
        ))
        .with_help("check the path after `--model script:`"));
    }
    Script::load(file, variables).map_err(|error| {
        CliError::from_error(&error)
            .with_help("correct the script; `--script-var NAME=VALUE` sets its variables")
    })
}

fn setup_error(error: &OpenAiSetupError) -> CliError {
    let help = match error {
        OpenAiSetupError::Key { place: KeySource::Environment(name), .. } => {
            format!("`export {name}=…`, or name a file with `--api-key-file FILE`")
        }
        OpenAiSetupError::Key { place: KeySource::File(file), .. } => {
            format!("put the key into the first line of {}", file.display())
        }
        OpenAiSetupError::BaseUrl { .. } => "correct `--base-url` or `model.base_url`".to_owned(),
        OpenAiSetupError::NoModel { .. } => "`--model openai:MODEL`".to_owned(),
        OpenAiSetupError::Client(_) => "`DESKHAND_LOG=debug` says more".to_owned(),
    };
    CliError::from_error(error).with_help(help)
}
