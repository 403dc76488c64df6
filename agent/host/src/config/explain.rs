//! Explains a key from the schema of the configuration.

use std::fmt::Write as _;

use deskhand_ui::{suggest::nearest, text::collapse_whitespace};
use serde::Serialize;
use serde_json::Value;

use super::{
    ConfigError,
    load::LoadedConfig,
    model::ModelSettings,
    schema::{allowed, every_key, expects, is_section, node, schema, value_at},
    settings::Config,
};

/// Everything about one key.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Explanation {
    /// The key: `model.base_url`.
    pub key: String,
    /// Description of the key.
    pub meaning: String,
    /// The type or form that its value must have.
    pub expects: String,
    /// The current value; null if not set.
    pub value: Value,
    /// The source of that value.
    pub comes_from: String,
    /// The default value; null if there is none.
    pub default: Value,
    /// The environment variable that sets it; `None` if none can, because its name would not be one.
    pub environment: Option<String>,
    /// The allowed words with their meanings; empty if any value of its type is allowed.
    pub allowed: Vec<(String, String)>,
}

/// Explains a key.
///
/// # Errors
/// [`ConfigError::NoSuchKey`] with the closest one.
pub fn explain(loaded: &LoadedConfig, key: &str) -> Result<Explanation, ConfigError> {
    let schema = schema();
    let parts = parts_of(key);
    let path: Vec<&str> = parts.iter().map(String::as_str).collect();
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
    Ok(Explanation {
        key: key.to_owned(),
        meaning: collapse_whitespace(&meaning),
        expects: expects(found),
        value,
        comes_from: loaded.origins.get(key).map_or_else(|| "the default".to_owned(), ToString::to_string),
        default,
        environment: environment(&path),
        allowed: allowed(found),
    })
}

/// The keys of a section, or all keys without one.
///
/// # Errors
/// [`ConfigError::NoSuchKey`] with the closest key.
pub fn keys_below(section: &str) -> Result<Vec<String>, ConfigError> {
    let start = format!("{section}.");
    let keys: Vec<String> = every_key(&schema()).into_iter().filter(|key| key.starts_with(&start)).collect();
    if keys.is_empty() {
        let nearest = nearest(section, every_key(&schema()));
        return Err(ConfigError::NoSuchKey { key: section.to_owned(), nearest });
    }
    Ok(keys)
}

/// Returns `true` if a key is a section, which has keys of its own.
pub fn is_section_key(key: &str) -> bool {
    let parts = parts_of(key);
    let path: Vec<&str> = parts.iter().map(String::as_str).collect();
    node(&schema(), &path).is_some_and(is_section)
}

/// The parts of a key as it is written in TOML: a name in quotes may have dots.
fn parts_of(key: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut quote = None;
    for letter in key.chars() {
        match (letter, quote) {
            ('"' | '\'', None) => quote = Some(letter),
            (letter, Some(open)) if letter == open => quote = None,
            ('.', None) => parts.push(String::new()),
            (letter, _) => parts.iter_mut().last().into_iter().for_each(|part| part.push(letter)),
        }
    }
    parts
}

/// The environment variable of a key. Variables are read in lower case, and hold letters, digits and `_` alone.
fn environment(path: &[&str]) -> Option<String> {
    let is_sayable = |part: &&str| {
        !part.is_empty()
            && !part.contains("__")
            && part.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
    };
    if !path.iter().all(is_sayable) {
        return None;
    }
    let mut name = "DESKHAND".to_owned();
    for part in path {
        let _ = write!(name, "__{}", part.to_ascii_uppercase());
    }
    Some(name)
}
