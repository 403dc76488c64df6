//! The model to ask: from the configuration to a provider.

use std::{collections::BTreeMap, path::PathBuf, sync::Arc, time::Duration};

use deskhand_machine::session::ModelRoles;
use deskhand_model::{
    AnyModel, ApiKeyHeader, CassetteError, Endpoint, EndpointConfig, EndpointSetupError, RelayModel,
    SCRIPT_MODEL, Script, ScriptError, SecretSource, StructuredOutput, Wire,
};
use serde::{Deserialize, Serialize};

use crate::{
    config::{
        Config, ConfigError, ModelSettings, ModelTeamSettings, Provider, ProviderEndpoint,
        StructuredOutputSetting,
    },
    local::{LocalChoice, LocalError, LocalModels, LocalServer},
};

/// A model that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ModelError {
    /// No model is configured.
    #[error("no model is configured")]
    NotConfigured,
    /// An endpoint is configured, but no model.
    #[error("no model is configured for {base_url}")]
    NotNamed {
        /// The address of the endpoint.
        base_url: String,
    },
    /// The provider has no usual address, and none is configured.
    #[error("the address of {title} is not configured")]
    NoAddress {
        /// The provider.
        title: &'static str,
    },
    /// The provider `script` is configured without a script.
    #[error("the provider `script` needs a script")]
    NoScript,
    /// The script does not exist.
    #[error("failed to read the script {}: no such file", file.display())]
    ScriptMissing {
        /// The file.
        file: PathBuf,
    },
    /// The script cannot be read or is not valid.
    #[error(transparent)]
    Script(ScriptError),
    /// The endpoint cannot be used.
    #[error(transparent)]
    Endpoint(EndpointSetupError),
    /// The provider `local` is configured, but no model is pulled.
    #[error("no local model is pulled")]
    NothingPulled,
    /// The model on this machine cannot be used.
    #[error(transparent)]
    Local(LocalError),
    /// One of the models for roles and of the backups cannot be used.
    #[error("the model `{name}`: {error}")]
    Other {
        /// Its name.
        name: String,
        /// Cause of the failure.
        error: Box<ModelError>,
    },
    /// There is a limit on cost, but the price of the model is unknown.
    #[error("the price of the model `{model}` is unknown, so the cost limit cannot be enforced")]
    NoPrice {
        /// The model.
        model: String,
    },
}

impl ModelError {
    /// Returns the suggested next step.
    pub fn help(&self) -> String {
        match self {
            Self::NotConfigured => {
                "set `model.provider` and `model.model`; `deskhand config init` writes a file to fill in"
                    .to_owned()
            }
            Self::NotNamed { .. } => {
                "set `model.model`; the endpoint lists its models under /models".to_owned()
            }
            Self::NoAddress { .. } => {
                "set `model.base_url`, for example with --base-url https://NAME.openai.azure.com".to_owned()
            }
            Self::NoScript => "set `model.script`".to_owned(),
            Self::ScriptMissing { .. } => "check the path of the script".to_owned(),
            Self::Script(_) => "fix the script, or set its variables".to_owned(),
            Self::Endpoint(error) => endpoint_help(error),
            Self::NothingPulled => {
                "`deskhand model list local` shows which there are; `deskhand model pull NAME`".to_owned()
            }
            Self::Local(error) => error.help(),
            Self::Other { error, .. } => error.help().replace("`model.", "the same under [models.NAME]: `"),
            Self::NoPrice { model } => {
                format!("set the price under [prices.\"{model}\"] in the configuration, or remove the limit")
            }
        }
    }

    /// Returns `true` if no usable model was named.
    pub const fn is_usage(&self) -> bool {
        match self {
            Self::NotConfigured
            | Self::NotNamed { .. }
            | Self::NoAddress { .. }
            | Self::NoScript
            | Self::NothingPulled
            | Self::Local(
                LocalError::Unknown { .. } | LocalError::NotPulled { .. } | LocalError::NotChat { .. },
            )
            | Self::NoPrice { .. } => true,
            Self::ScriptMissing { .. } | Self::Script(_) | Self::Endpoint(_) | Self::Local(_) => false,
            Self::Other { error, .. } => error.is_usage(),
        }
    }

    /// The same with the name of the model, unless it is the usual one.
    fn of(self, name: &str) -> Self {
        if name == ModelTeamSettings::USUAL {
            self
        } else {
            Self::Other { name: name.to_owned(), error: Box::new(self) }
        }
    }
}

fn endpoint_help(error: &EndpointSetupError) -> String {
    match error {
        EndpointSetupError::Key { place: SecretSource::Environment(name), .. } => {
            format!("`export {name}=…`, or set `model.api_key_file`")
        }
        EndpointSetupError::Key { place: SecretSource::File(file), .. } => {
            format!("write the API key into the first line of {}", file.display())
        }
        EndpointSetupError::BaseUrl { .. } => "fix `model.base_url`".to_owned(),
        EndpointSetupError::NoModel { .. } => "set `model.model`".to_owned(),
        EndpointSetupError::Cassette(error) => cassette_help(error),
        EndpointSetupError::Client(_) => "run with `DESKHAND_LOG=debug` for details".to_owned(),
    }
}

fn cassette_help(error: &CassetteError) -> String {
    match error {
        CassetteError::Io { .. } => "check the path in `model.cassette`, or after --cassette".to_owned(),
        CassetteError::Other { .. } | CassetteError::AnotherModel { .. } | CassetteError::TooLong { .. } => {
            "record into a new file, or name the model that the cassette holds".to_owned()
        }
        CassetteError::Newer { .. } => "play it with the version that recorded it".to_owned(),
        CassetteError::Line { .. } => "remove the line, or record the cassette again".to_owned(),
    }
}

/// Access to a model.
#[derive(Debug, Clone, PartialEq)]
pub enum ModelChoice {
    /// An endpoint.
    Endpoint(Box<EndpointConfig>),
    /// A script with its variables.
    Script(PathBuf, BTreeMap<String, String>),
    /// A model that a server of our own runs. The address and the key of the endpoint are those of the server.
    Local(Box<LocalChoice>, Box<EndpointConfig>),
    /// Somebody else, who answers each question.
    Relay(RelayModel),
}

impl ModelChoice {
    /// Its name in the price table.
    pub fn price_name(&self) -> &str {
        match self {
            Self::Endpoint(config) | Self::Local(_, config) => &config.model,
            Self::Script(..) => SCRIPT_MODEL,
            Self::Relay(_) => "",
        }
    }
}

/// Which model to use, as stored in a journal. Names where the API key is found, never the key.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelSetup {
    settings: ModelSettings,
    /// The variables of a script.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    variables: BTreeMap<String, String>,
    /// The other models.
    #[serde(default, skip_serializing_if = "ModelTeamSettings::is_alone")]
    team: ModelTeamSettings,
    /// Those on this machine: of the configuration in force, never of the journal.
    #[serde(skip)]
    local: Option<LocalModels>,
}

impl ModelSetup {
    /// The models of the configuration; the local model that was pulled last if none is configured. Contacts no endpoint.
    ///
    /// # Errors
    /// A role or a backup names a model that does not exist.
    pub fn of(config: &Config, script_variables: BTreeMap<String, String>) -> Result<Self, ConfigError> {
        let local = LocalModels::of(config);
        let mut config = config.clone();
        let settings = &mut config.model;
        let is_open = settings.provider.is_none() && settings.base_url.is_none() && settings.model.is_none();
        if let Some(name) = Some(()).filter(|()| is_open).and_then(|()| local.newest()) {
            (settings.provider, settings.model) = (Some(Provider::Local), Some(name));
        }
        let team = ModelTeamSettings::of(&config)?;
        Ok(Self { settings: config.model, variables: script_variables, team, local: Some(local) })
    }

    /// The settings.
    pub(crate) const fn settings(&self) -> &ModelSettings {
        &self.settings
    }

    /// The same with the other models of `before`, and missing variables taken from it.
    pub(crate) fn going_on_from(mut self, before: &Self) -> Self {
        self.team = before.team.clone();
        for (name, value) in &before.variables {
            self.variables.entry(name.clone()).or_insert_with(|| value.clone());
        }
        self
    }

    /// The same with absolute paths, for a session that may be resumed in another working directory.
    pub(crate) fn absolute(mut self) -> Self {
        let absolute = |file: PathBuf| std::path::absolute(&file).unwrap_or(file);
        for settings in std::iter::once(&mut self.settings).chain(self.team.others.values_mut()) {
            settings.script = settings.script.take().map(absolute);
            settings.api_key_file = settings.api_key_file.take().map(absolute);
            settings.cassette = settings.cassette.take().map(|cassette| cassette.map(absolute));
        }
        self
    }

    /// Returns the access to the model.
    ///
    /// # Errors
    /// No model is named.
    pub fn choice(self) -> Result<ModelChoice, ModelError> {
        choice(self.settings, self.variables, self.local.as_ref())
    }

    /// Returns the access to each model: the usual one, then those of roles and backups, by name.
    pub fn choices(self) -> Vec<(String, Result<ModelChoice, ModelError>)> {
        let all =
            std::iter::once((ModelTeamSettings::USUAL.to_owned(), self.settings)).chain(self.team.others);
        let variables = self.variables;
        all.map(|(name, settings)| {
            let choice = choice(settings, variables.clone(), self.local.as_ref());
            let choice = choice.map_err(|error| error.of(&name));
            (name, choice)
        })
        .collect()
    }

    /// Returns the access to all models.
    ///
    /// # Errors
    /// No model is named, or one of the others is not configured.
    pub(crate) fn team(self) -> Result<TeamChoice, ModelError> {
        let all = std::iter::once(&self.settings).chain(self.team.others.values());
        let reasoning_tokens = all.map(|settings| settings.reasoning.to_reasoning().tokens()).max();
        let reasoning_tokens = reasoning_tokens.unwrap_or_default();
        let mut roles = self.team.roles.clone();
        let embeddings =
            self.local.as_ref().filter(|_| !roles.small.is_empty()).and_then(LocalModels::embeddings);
        let members = self.choices().into_iter().map(|(name, member)| Ok((name, member?)));
        let members = members.collect::<Result<BTreeMap<_, _>, ModelError>>()?;
        if !roles.is_empty() {
            roles.names =
                members.iter().map(|(name, member)| (name.clone(), member.price_name().to_owned())).collect();
        }
        Ok(TeamChoice { members, roles, reasoning_tokens, embeddings })
    }
}

/// Determines the access to one model.
fn choice(
    settings: ModelSettings,
    variables: BTreeMap<String, String>,
    local: Option<&LocalModels>,
) -> Result<ModelChoice, ModelError> {
    let provider = settings.provider.ok_or(ModelError::NotConfigured)?;
    if let Some(service) = provider.service() {
        return Ok(ModelChoice::Endpoint(Box::new(endpoint(provider, service, settings)?)));
    }
    match local.filter(|_| provider == Provider::Local) {
        None => Ok(ModelChoice::Script(settings.script.ok_or(ModelError::NoScript)?, variables)),
        Some(models) => {
            let name = settings.model.clone().or_else(|| models.newest()).ok_or(ModelError::NothingPulled)?;
            let local = LocalChoice::of(models, &name).map_err(ModelError::Local)?;
            let settings = ModelSettings { model: Some(name), vision: false, ..settings };
            let config =
                EndpointConfig { temperature: Some(0.0), ..endpoint(provider, OWN_SERVER, settings)? };
            Ok(ModelChoice::Local(Box::new(local), Box::new(config)))
        }
    }
}

/// A server that we start: its address is known when it is.
const OWN_SERVER: ProviderEndpoint = ProviderEndpoint {
    title: "local",
    base_url: Some("http://127.0.0.1/v1"),
    wire: Wire::Chat,
    key_header: ApiKeyHeader::Bearer,
    key_env: None,
};

/// Models that can be asked once their servers have started. The servers end with this.
pub struct ServedModel<M> {
    /// The model, or the models.
    pub model: M,
    servers: Vec<Arc<LocalServer>>,
}

impl<M> ServedModel<M> {
    /// Returns `true` if there is a server to start.
    pub fn has_server(&self) -> bool {
        !self.servers.is_empty()
    }

    /// Starts the servers, and waits until they have loaded their models.
    ///
    /// # Errors
    /// A server does not start.
    pub async fn start(&self) -> Result<(), ModelError> {
        for server in &self.servers {
            server.start().await.map_err(ModelError::Local)?;
        }
        Ok(())
    }

    /// Ends the servers that nobody else uses, and returns when they are gone.
    pub async fn end(self) {
        for server in self.servers.into_iter().filter_map(Arc::into_inner) {
            server.end().await;
        }
    }
}

/// Access to the models of a session.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct TeamChoice {
    /// By name; [`ModelTeam::USUAL`] is one of them.
    members: BTreeMap<String, ModelChoice>,
    /// Which of them answer whom; empty if there is only one.
    pub(crate) roles: ModelRoles,
    /// The most tokens that one of them may think before it replies.
    pub(crate) reasoning_tokens: u32,
    /// The file of the model that ranks what small ones are offered; `None` if none is pulled, or none of them is small.
    pub(crate) embeddings: Option<PathBuf>,
}

impl TeamChoice {
    /// Somebody else alone.
    pub(crate) fn relay(relay: RelayModel) -> Self {
        Self {
            members: BTreeMap::from([(ModelTeamSettings::USUAL.to_owned(), ModelChoice::Relay(relay))]),
            roles: ModelRoles::default(),
            reasoning_tokens: 0,
            embeddings: None,
        }
    }

    /// The name of the usual model in the price table.
    pub(crate) fn price_name(&self) -> &str {
        self.members.get(ModelTeamSettings::USUAL).map_or("", ModelChoice::price_name)
    }

    /// Returns `true` if one of them accepts pictures. Those that do not are sent none.
    pub(crate) fn sees(&self) -> bool {
        self.members.values().any(ModelChoice::sees)
    }

    /// Opens the models: reads scripts and API keys. Sends nothing.
    ///
    /// # Errors
    /// A script is missing or not valid, an address is not a URL, or an API key is missing.
    pub(crate) fn open(&self) -> Result<ServedModel<deskhand_model::ModelTeam>, ModelError> {
        let mut servers = Vec::new();
        let mut open = |(name, member): (&String, &ModelChoice)| {
            let opened = member.clone().open().map_err(|error| error.of(name))?;
            servers.extend(opened.servers);
            Ok((name.clone(), opened.model))
        };
        let members = self.members.iter().map(&mut open).collect::<Result<_, ModelError>>()?;
        let model = deskhand_model::ModelTeam::new(ModelTeamSettings::USUAL, members)
            .ok_or(ModelError::NotConfigured)?;
        Ok(ServedModel { model, servers })
    }
}

/// The endpoint of these settings, to ask which models it has: which one is configured does not matter.
///
/// # Errors
/// The address is not a URL, or the API key is missing.
pub fn endpoint_of(mut settings: ModelSettings) -> Result<Endpoint, ModelError> {
    let provider = settings.provider.ok_or(ModelError::NotConfigured)?;
    let service = provider.service().ok_or(ModelError::NotConfigured)?;
    settings.model = settings.model.or_else(|| Some("any".to_owned()));
    let config = endpoint(provider, service, settings)?;
    Endpoint::new(EndpointConfig { timeout: LISTING_MAX, idle_timeout: LISTING_MAX, ..config })
        .map_err(ModelError::Endpoint)
}

/// Maximum time for an endpoint to list its models.
const LISTING_MAX: Duration = Duration::from_secs(20);

/// Builds the endpoint configuration of a provider.
fn endpoint(
    provider: Provider,
    service: ProviderEndpoint,
    settings: ModelSettings,
) -> Result<EndpointConfig, ModelError> {
    let usual = || service.base_url.map(str::to_owned);
    let base_url = settings.base_url.or_else(usual).ok_or(ModelError::NoAddress { title: service.title })?;
    let base_url = if provider == Provider::Azure { azure_url(&base_url) } else { base_url };
    let named = settings.model.filter(|model| !model.trim().is_empty());
    let model = named.ok_or_else(|| ModelError::NotNamed { base_url: base_url.clone() })?;
    // A key is sent only to the endpoint that it is for.
    let usual_key = || service.key_env.filter(|_| service.is_at(&base_url)).map(str::to_owned);
    let key = match settings.api_key_file {
        Some(file) => Some(SecretSource::File(file)),
        None => settings.api_key_env.or_else(usual_key).map(SecretSource::Environment),
    };
    let mut config = EndpointConfig::new(base_url, model);
    provider.name().clone_into(&mut config.provider);
    config.wire = service.wire;
    config.key_header = service.key_header;
    config.key = key;
    config.connect_timeout = Duration::from_secs(settings.connect_timeout_s);
    config.timeout = Duration::from_secs(settings.timeout_s);
    config.idle_timeout = Duration::from_secs(settings.idle_timeout_s.unwrap_or(settings.timeout_s));
    config.attempts_max = settings.attempts_max;
    config.vision = settings.vision;
    config.cache_marks = provider.wants_cache_marks(&config.model);
    config.cassette = settings.cassette.map(|cassette| cassette.0);
    config.reasoning = settings.reasoning.to_reasoning();
    config.computer_use = settings.computer_use.to_computer_use();
    config.structured_output = match settings.structured_output {
        StructuredOutputSetting::Auto => StructuredOutput::Auto,
        StructuredOutputSetting::Schema => StructuredOutput::Schema,
        StructuredOutputSetting::Object => StructuredOutput::Object,
        StructuredOutputSetting::Off => StructuredOutput::Off,
    };
    Ok(config)
}

/// The address of the interface that Azure calls v1, from that of a resource.
fn azure_url(given: &str) -> String {
    let base = given.trim().trim_end_matches('/');
    let is_resource = base.split_once("://").is_some_and(|(_, rest)| !rest.contains('/'));
    if is_resource { format!("{base}/openai/v1") } else { base.to_owned() }
}

impl ModelChoice {
    /// Returns `true` if it accepts pictures.
    pub fn sees(&self) -> bool {
        match self {
            Self::Endpoint(config) | Self::Local(_, config) => config.vision,
            // A script ignores pictures, but the journal and reports need them.
            Self::Script(..) | Self::Relay(_) => true,
        }
    }

    /// Opens the model: reads the script or the API key. Sends nothing, and starts no server.
    ///
    /// # Errors
    /// The script is missing or not valid, the address is not a URL, or the API key is missing.
    pub fn open(self) -> Result<ServedModel<AnyModel>, ModelError> {
        let endpoint = |config| Endpoint::new(config).map(AnyModel::Endpoint).map_err(ModelError::Endpoint);
        let (model, servers) = match self {
            Self::Endpoint(config) => (endpoint(*config)?, Vec::new()),
            Self::Script(file, _) if !file.is_file() => return Err(ModelError::ScriptMissing { file }),
            Self::Script(file, variables) => {
                let script = Script::load(&file, variables).map_err(ModelError::Script)?;
                (AnyModel::Script(script), Vec::new())
            }
            Self::Relay(relay) => (AnyModel::Relay(relay), Vec::new()),
            Self::Local(local, mut config) => {
                let server = LocalServer::of(*local).map_err(ModelError::Local)?;
                config.base_url = server.base_url();
                config.key = Some(SecretSource::File(server.key_file()));
                (endpoint(*config)?, vec![server])
            }
        };
        Ok(ServedModel { model, servers })
    }
}
