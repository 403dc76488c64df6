//! Finding and reading the configuration.

use std::{
    collections::BTreeMap,
    ffi::OsString,
    fs, io,
    path::{Path, PathBuf},
};

use super::{
    ConfigError,
    explain::schema,
    layers::{Layers, Source},
    settings::Config,
};

/// The variables that this program reads itself, all in one place.
const CONFIG_VARIABLE: &str = "DESKHAND_CONFIG";
const PREFIX: &str = "DESKHAND__";

/// A configuration that was read.
#[derive(Debug)]
pub(crate) struct Loaded {
    /// The values in force.
    pub(crate) config: Config,
    /// Where each value comes from that is not a default, by its key.
    pub(crate) sources: BTreeMap<String, Source>,
}

/// Where the file is, or would be.
pub(crate) fn config_path() -> PathBuf {
    variable(CONFIG_VARIABLE)
        .map_or_else(|| xdg("XDG_CONFIG_HOME", ".config").join("deskhand/config.toml"), PathBuf::from)
}

/// The folder under which sessions are kept.
pub(crate) fn state_root(config: &Config) -> PathBuf {
    config
        .sessions
        .dir
        .clone()
        .unwrap_or_else(|| xdg("XDG_STATE_HOME", ".local/state").join("deskhand/sessions"))
}

/// Reads the file, where there is one, and the environment.
///
/// # Errors
/// [`ConfigError`] names the place of what is wrong.
pub(crate) fn load() -> Result<Loaded, ConfigError> {
    let variables = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
    load_from(&config_path(), variables)
}

pub(super) fn load_from(
    path: &Path,
    variables: impl Iterator<Item = (String, String)>,
) -> Result<Loaded, ConfigError> {
    let schema = schema();
    let mut layers = Layers::default();
    match fs::read_to_string(path) {
        Ok(text) => layers.add_file(path, &text, &schema)?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(source) => return Err(ConfigError::Read { path: path.to_owned(), source }),
    }
    let mut variables: Vec<(String, String)> =
        variables.filter(|(name, _)| name.starts_with(PREFIX)).collect();
    variables.sort();
    for (name, value) in variables {
        if let Some(rest) = name.strip_prefix(PREFIX) {
            layers.add_variable(&name, rest, &value, &schema)?;
        }
    }
    let config = layers.parse(&schema)?;
    Ok(Loaded { config, sources: layers.sources })
}

fn variable(name: &str) -> Option<OsString> {
    std::env::var_os(name).filter(|value| !value.is_empty())
}

/// An XDG folder; relative paths do not count, as the specification says.
fn xdg(name: &str, below_home: &str) -> PathBuf {
    variable(name).map(PathBuf::from).filter(|path| path.is_absolute()).unwrap_or_else(|| {
        variable("HOME").map_or_else(|| PathBuf::from("/"), PathBuf::from).join(below_home)
    })
}

/// What `config init` writes.
pub(crate) const fn starter_text() -> &'static str {
    include_str!("starter.toml")
}
