//! Explains a key from the schema of the configuration.

use std::fmt::Write as _;

use deskhand_core::{suggest::nearest, text::collapse_whitespace};
use serde::Serialize;
use serde_json::Value;

use super::{
    ConfigError,
    load::Loaded,
    model::ModelSettings,
    schema::{allowed, every_key, expects, is_section, node, schema, value_at},
    settings::Config,
};

/// Everything about one key.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Explanation {
    /// The key: `model.base_url`.
    pub key: String,
    /// What it means.
    pub meaning: String,
    /// The type or form that its value must have.
    pub expects: String,
    /// The current value; null if not set.
    pub value: Value,
    /// The source of that value.
    pub comes_from: String,
    /// The default value; null if there is none.
    pub default: Value,
    /// The environment variable that sets it.
    pub environment: String,
    /// The allowed words with their meanings; empty if any value of its type is allowed.
    pub allowed: Vec<(String, String)>,
}

/// Explains a key.
///
/// # Errors
/// [`ConfigError::NoSuchKey`] with the closest one.
pub fn explain(loaded: &Loaded, key: &str) -> Result<Explanation, ConfigError> {
    let schema = schema();
    let path: Vec<&str> = key.split('.').collect();
    let found = node(&schema, &path).filter(|node| !is_section(node)).ok_or_else(|| {
        ConfigError::NoSuchKey { key: key.to_owned(), nearest: nearest(key, every_key(&schema)) }
    })?;
    let described = |node: &Value| node.get("description").and_then(Value::as_str).map(str::to_owned);
    // An entry of a map means what the map says.
    let map = path.split_last().and_then(|(_, map)| node(&schema, map));
    let meaning = described(found).or_else(|| map.and_then(described)).unwrap_or_default();
    let in_force = serde_json::to_value(&loaded.config).unwrap_or_default();
    let template = serde_json::to_value(ModelSettings::default()).unwrap_or_default();
    let default = match path.as_slice() {
        ["models", _, last] => template.get(*last).cloned().unwrap_or_default(),
        _ => {
            let defaults = serde_json::to_value(Config::default()).unwrap_or_default();
            value_at(&defaults, &path).cloned().unwrap_or_default()
        }
    };
    let value = value_at(&in_force, &path).cloned().unwrap_or_else(|| default.clone());
    let mut environment = "DESKHAND".to_owned();
    for part in &path {
        let _ = write!(environment, "__{}", part.to_ascii_uppercase());
    }
    Ok(Explanation {
        key: key.to_owned(),
        meaning: collapse_whitespace(&meaning),
        expects: expects(found),
        value,
        comes_from: loaded.origins.get(key).map_or_else(|| "the default".to_owned(), ToString::to_string),
        default,
        environment,
        allowed: allowed(found),
    })
}
