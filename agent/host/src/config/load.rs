//! Finding, reading and merging the configuration.

use std::{
    collections::BTreeMap,
    fs, io,
    path::{Path, PathBuf},
};

use deskhand_desktop_linux::{Confine, ConfineMode};
use deskhand_runtime::SessionStore;
use serde_json::Value;

use super::{
    ConfigError, FleetSettings, Overrides,
    desktop::{ConfineSetting, DesktopKind, ScreenSize},
    environment::{variable, xdg},
    layers::{Layers, SettingOrigin},
    local::check_local,
    model::ModelSettings,
    programs::programs_dir,
    rules::check_rules,
    schema::{schema, value_at},
    settings::Config,
    team::ModelTeamSettings,
};

/// The environment variables that this program reads.
const CONFIG_VARIABLE: &str = "DESKHAND_CONFIG";
const PREFIX: &str = "DESKHAND__";

/// The sources of a configuration. Later ones win: the file, environment variables, overrides.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Sources {
    /// A TOML file; may be missing.
    pub file: Option<PathBuf>,
    /// Environment variables; those that do not begin with `DESKHAND__` are ignored.
    pub variables: Vec<(String, String)>,
    /// Overrides for this run.
    pub overrides: Overrides,
}

impl Sources {
    /// The file and environment of the current user.
    pub fn of_user() -> Self {
        let variables = std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
        Self { file: Some(config_path()), variables: variables.collect(), overrides: Overrides::default() }
    }

    /// The same sources with overrides for this run.
    #[must_use]
    pub fn with(self, overrides: Overrides) -> Self {
        Self { overrides, ..self }
    }
}

/// A configuration that was read and merged.
#[derive(Debug, Clone)]
pub struct LoadedConfig {
    /// The merged values.
    pub config: Config,
    /// The source of each value that is not a default, by key.
    pub origins: BTreeMap<String, SettingOrigin>,
    /// The file and the environment.
    base: Layers,
    overrides: Overrides,
}

/// The settings of a resumed session: stronger than file and environment, weaker than overrides.
#[derive(Debug, Clone, PartialEq)]
pub struct SessionLayer {
    /// The id of the session.
    pub session: String,
    /// The model that it was started with.
    pub model: ModelSettings,
    /// The desktop that it was started on.
    pub desktop: DesktopKind,
    /// The size of its screen.
    pub size: ScreenSize,
}

/// The path of the configuration file, which may not exist.
pub fn config_path() -> PathBuf {
    variable(CONFIG_VARIABLE)
        .map_or_else(|| xdg("XDG_CONFIG_HOME", ".config").join("deskhand/config.toml"), PathBuf::from)
}

/// The sessions on disk. The key that seals them is one per user, wherever the sessions are.
pub fn session_store(config: &Config) -> SessionStore {
    let state = || xdg("XDG_STATE_HOME", ".local/state").join("deskhand");
    let settings = &config.sessions;
    SessionStore::at(
        settings.dir.clone().unwrap_or_else(|| state().join("sessions")),
        settings.seals_dir.clone().unwrap_or_else(|| state().join("seals")),
    )
}

/// The folder of workflows.
pub(crate) fn workflows_dir(config: &Config) -> PathBuf {
    let usual = || xdg("XDG_DATA_HOME", ".local/share").join("deskhand/workflows");
    config.workflows.dir.as_deref().map_or_else(usual, expanded)
}

/// The folder of the index of help and of the experiences.
pub(crate) fn knowledge_dir(config: &Config) -> PathBuf {
    let usual = || xdg("XDG_DATA_HOME", ".local/share").join("deskhand/knowledge");
    config.knowledge.dir.as_deref().map_or_else(usual, expanded)
}

/// The folder of the models that run on this machine.
pub(crate) fn local_dir(config: &Config) -> PathBuf {
    let usual = || xdg("XDG_DATA_HOME", ".local/share").join("deskhand/local");
    config.local.dir.as_deref().map_or_else(usual, expanded)
}

/// Returns the confinement for applications of a virtual desktop: files that control us, or that we pass to
/// agents, do not exist for them.
pub fn confine(config: &Config) -> Confine {
    let store = session_store(config);
    let file = config_path();
    // The folder of the usual file, so that an application cannot make one either; else the file, which the user named.
    let configuration = match file.parent() {
        Some(folder) if variable(CONFIG_VARIABLE).is_none() => Some(folder.to_owned()),
        Some(_) | None => Some(file).filter(|file| file.exists()),
    };
    let files = secret_files(config).chain(config.policy.file.clone()).chain([history_file(&store)]);
    let files = files.filter(|file| file.exists());
    Confine {
        mode: match config.desktop.confine {
            ConfineSetting::Required => ConfineMode::Required,
            ConfineSetting::IfPossible => ConfineMode::IfPossible,
            ConfineSetting::Off => ConfineMode::Off,
        },
        allow: config.desktop.allow.clone(),
        hidden: configuration
            .into_iter()
            .chain(files)
            .chain(seals(&store))
            .chain(own_folders(config, &store))
            .collect(),
        read_only: Vec::new(),
        programs: std::env::current_exe().into_iter().collect(),
        documents: vec![documents_dir(&store)],
    }
}

/// The folders of schedules, of notes of batches, of the page, and of lines that were typed in conversations, beside that of the sessions.
pub(crate) const SCHEDULES: &str = "schedules";
pub(crate) const BATCHES: &str = "batches";
const SERVE: &str = "serve";
const HISTORY: &str = "history";
/// The folder of documents that were dropped into the page. Applications open and save them, so it is in none of the others.
const DOCUMENTS: &str = "documents";

/// The folder of the page: its keys, its address, logs, tasks and plans that were given to it.
pub fn serve_dir(store: &SessionStore) -> PathBuf {
    beside(store, SERVE)
}

/// The file with the lines that were typed in conversations.
pub fn history_file(store: &SessionStore) -> PathBuf {
    beside(store, HISTORY)
}

/// The folder of documents that were dropped into the page.
pub fn documents_dir(store: &SessionStore) -> PathBuf {
    beside(store, DOCUMENTS)
}

/// Our folders: what steers sessions, what happened in them, and what agents are told.
fn own_folders(config: &Config, store: &SessionStore) -> [PathBuf; 8] {
    [
        store.root().to_owned(),
        beside(store, SCHEDULES),
        beside(store, BATCHES),
        serve_dir(store),
        local_dir(config),
        programs_dir(),
        workflows_dir(config),
        knowledge_dir(config),
    ]
}

/// A folder beside that of the sessions.
pub(crate) fn beside(store: &SessionStore, name: &str) -> PathBuf {
    store.root().with_file_name(name)
}

/// Our own files and folders, which nothing that we start may write to: configuration, journals, their key, local models, workflows,
/// schedules, what agents look up, and keys.
pub(crate) fn own_files(config: &Config) -> Vec<PathBuf> {
    let store = session_store(config);
    let mut all = vec![config_path(), history_file(&store)];
    all.extend(own_folders(config, &store));
    all.extend(seals(&store));
    all.extend(secret_files(config));
    all.extend(config.policy.file.clone());
    all
}

/// The files with keys and secrets.
fn secret_files(config: &Config) -> impl Iterator<Item = PathBuf> {
    let secrets = config.secrets.values().filter_map(|secret| secret.file.clone());
    let models = std::iter::once(&config.model).chain(config.models.values());
    let keys = models.filter_map(|model| model.api_key_file.clone());
    let engine = config.knowledge.engine.key.as_ref().and_then(|key| key.file.clone());
    let webhook = config.notify.webhook_from.as_ref().and_then(|address| address.file.clone());
    let FleetSettings { credentials, key, certificate_key, .. } = &config.fleet;
    let fleet = [credentials, key, certificate_key].into_iter().flatten().cloned();
    keys.chain(secrets.chain(engine).chain(webhook).chain(fleet).map(|file| expanded(&file)))
}

/// A path whose `~` stands for the home folder.
pub(crate) fn expanded(path: &Path) -> PathBuf {
    let home = || variable("HOME").map(PathBuf::from);
    match path.strip_prefix("~") {
        Ok(rest) => home().map_or_else(|| path.to_owned(), |home| home.join(rest)),
        Err(_) => path.to_owned(),
    }
}

/// The folder of the key that seals journals.
fn seals(store: &SessionStore) -> Option<PathBuf> {
    store.seals().key_path().parent().map(Path::to_owned)
}

/// Reads the configuration.
///
/// # Errors
/// [`ConfigError`] if a source cannot be read or is not valid.
pub fn load(sources: &Sources) -> Result<LoadedConfig, ConfigError> {
    let schema = schema();
    let mut base = Layers::default();
    if let Some(path) = &sources.file {
        add_file(&mut base, path, &schema)?;
    }
    let mut variables: Vec<_> =
        sources.variables.iter().filter(|(name, _)| name.starts_with(PREFIX)).collect();
    variables.sort();
    for (name, value) in variables {
        if let Some(rest) = name.strip_prefix(PREFIX) {
            base.add_variable(name, rest, value, &schema)?;
        }
    }
    merge(base, None, &sources.overrides, &schema)
}

impl LoadedConfig {
    /// A configuration made by the caller.
    pub fn of(config: &Config) -> Self {
        let values = to_value(config).as_object().cloned().unwrap_or_default();
        Self {
            config: config.clone(),
            origins: BTreeMap::new(),
            base: Layers { values, origins: BTreeMap::new() },
            overrides: Overrides::default(),
        }
    }

    /// The configuration of a resumed session: its own settings hold unless this run overrides them.
    ///
    /// # Errors
    /// [`ConfigError`] if the values do not fit together.
    pub fn for_session(&self, session: &SessionLayer) -> Result<Self, ConfigError> {
        merge(self.base.clone(), Some(session), &self.overrides, &schema())
    }

    /// Returns `true` if this run overrides a key.
    pub fn overrides(&self, key: &str) -> bool {
        matches!(self.origins.get(key), Some(SettingOrigin::Override(_)))
    }

    /// Returns `true` if this run names a model.
    pub fn chooses_model(&self) -> bool {
        self.overrides.model.is_some()
    }
}

fn add_file(layers: &mut Layers, path: &Path, schema: &Value) -> Result<(), ConfigError> {
    match fs::read_to_string(path) {
        Ok(text) => layers.add_file(path, &text, schema),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(source) => Err(ConfigError::Read { path: path.to_owned(), source }),
    }
}

fn merge(
    base: Layers,
    session: Option<&SessionLayer>,
    overrides: &Overrides,
    schema: &Value,
) -> Result<LoadedConfig, ConfigError> {
    let configured: Config = base.parse(schema)?;
    let mut layers = base.clone();
    if let Some(session) = session {
        let origin = || SettingOrigin::Session(session.session.clone());
        layers.add_value("desktop.kind", to_value(&session.desktop), origin(), schema)?;
        layers.add_value("desktop.size", to_value(&session.size), origin(), schema)?;
    }
    match (&overrides.model, session) {
        (Some(chosen), _) => {
            let spec = chosen.value.as_str().unwrap_or_default();
            let model = ModelSettings::from_spec(spec, &configured.model, &configured.models)?;
            set_model(
                &mut layers,
                &configured.model,
                &model,
                &SettingOrigin::Override(chosen.name.clone()),
                schema,
            )?;
        }
        (None, Some(session)) => {
            let origin = SettingOrigin::Session(session.session.clone());
            set_model(&mut layers, &configured.model, &session.model, &origin, schema)?;
        }
        (None, None) => {}
    }
    add_overrides(&mut layers, overrides, schema, |_| true)?;
    add_policy_file(&mut layers, overrides, schema)?;
    imply_provider(&mut layers, schema)?;
    let mut config: Config = layers.parse(schema)?;
    if overrides.model.is_some() {
        config.roles = config.roles.of_one_model();
    }
    check_rules(&config)?;
    check_local(&config.local_models)?;
    ModelTeamSettings::of(&config)?;
    Ok(LoadedConfig { config, origins: layers.origins, base, overrides: overrides.clone() })
}

fn add_overrides(
    layers: &mut Layers,
    overrides: &Overrides,
    schema: &Value,
    wanted: impl Fn(&str) -> bool,
) -> Result<(), ConfigError> {
    overrides.values.iter().filter(|one| wanted(&one.key)).try_for_each(|one| {
        layers.add_value(&one.key, one.value.clone(), SettingOrigin::Override(one.name.clone()), schema)
    })
}

/// Replaces the policy by that of its file, if there is one. Overrides of its keys hold.
fn add_policy_file(layers: &mut Layers, overrides: &Overrides, schema: &Value) -> Result<(), ConfigError> {
    const KEY: &str = "policy.file";
    let root = Value::Object(layers.values.clone());
    let Some(named) = value_at(&root, &["policy", "file"]).and_then(Value::as_str) else { return Ok(()) };
    let Some(origin) = layers.origins.get(KEY).cloned() else { return Ok(()) };
    let unfit = |problem: String| {
        ConfigError::Unfit {
        key: KEY.to_owned(),
        problem,
        fix: "name a file with the keys of [policy]: safe_guard, and [[rules]] with a decision (allow, ask or deny)"
            .to_owned(),
    }
    };
    let path = std::path::absolute(expanded(Path::new(named))).map_err(|error| unfit(error.to_string()))?;
    let text = fs::read_to_string(&path)
        .map_err(|error| unfit(format!("failed to read the policy {named}: {error}")))?;
    layers.add_section_file("policy", &path, &text, schema)?;
    if layers.origins.contains_key(KEY) {
        return Err(unfit(format!("{named} names another file")));
    }
    layers.add_value(KEY, Value::from(path.to_string_lossy()), origin, schema)?;
    add_overrides(layers, overrides, schema, |key| key.starts_with("policy.") && key != KEY)
}

/// Sets the fields of a model that differ from the configured ones, so that every other value keeps its origin.
fn set_model(
    layers: &mut Layers,
    configured: &ModelSettings,
    model: &ModelSettings,
    origin: &SettingOrigin,
    schema: &Value,
) -> Result<(), ConfigError> {
    let before = to_value(configured);
    let Value::Object(fields) = to_value(model) else { return Ok(()) };
    for (name, value) in fields {
        if before.get(&name) != Some(&value) {
            layers.add_value(&format!("model.{name}"), value, origin.clone(), schema)?;
        }
    }
    Ok(())
}

/// A `model.base_url` override implies the provider `openai` if no provider is configured.
fn imply_provider(layers: &mut Layers, schema: &Value) -> Result<(), ConfigError> {
    let root = Value::Object(layers.values.clone());
    let named = value_at(&root, &["model", "provider"]).is_some_and(|provider| !provider.is_null());
    match layers.origins.get("model.base_url") {
        Some(origin @ SettingOrigin::Override(_)) if !named => {
            let origin = origin.clone();
            layers.add_value("model.provider", Value::from("openai"), origin, schema)
        }
        _ => Ok(()),
    }
}

fn to_value(value: &impl serde::Serialize) -> Value {
    serde_json::to_value(value).unwrap_or_default()
}

/// A commented configuration to start from.
pub const fn starter_text() -> &'static str {
    include_str!("starter.toml")
}
