//! What a key means, from the schema of the configuration.

use std::fmt::Write as _;

use schemars::generate::SchemaSettings;
use serde::Serialize;
use serde_json::Value;

use super::{
    ConfigError,
    layers::{nearest, value_at},
    load::Loaded,
    settings::Config,
};

/// Everything about one key.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Explanation {
    /// The key: `model.base_url`.
    pub(crate) key: String,
    /// What it means.
    pub(crate) meaning: String,
    /// What its value must be.
    pub(crate) expects: String,
    /// The value that is in force; null where there is none.
    pub(crate) value: Value,
    /// Where that value comes from.
    pub(crate) comes_from: String,
    /// The value without any configuration; null where there is none.
    pub(crate) default: Value,
    /// The environment variable that sets it.
    pub(crate) environment: String,
    /// The words that it may have, each with its meaning; empty where any value of its type will do.
    pub(crate) allowed: Vec<(String, String)>,
}

/// The JSON schema of the configuration, as it is committed.
pub(crate) fn schema_text() -> String {
    let mut text = serde_json::to_string_pretty(&schema()).unwrap_or_default();
    text.push('\n');
    text
}

/// The schema with everything in place, so that a key can be followed down.
pub(super) fn schema() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| settings.inline_subschemas = true);
    let mut schema = settings.into_generator().into_root_schema_for::<Config>().to_value();
    if let Some(object) = schema.as_object_mut() {
        object.insert("title".to_owned(), Value::String("Deskhand configuration".to_owned()));
    }
    schema
}

/// The part of the schema that describes a key.
pub(super) fn node<'a>(schema: &'a Value, path: &[&str]) -> Option<&'a Value> {
    path.iter().try_fold(schema, |node, name| match node.get("properties") {
        Some(properties) => properties.get(name),
        None => node.get("additionalProperties").filter(|node| node.is_object()),
    })
}

/// The keys that a section may hold; none where any name will do.
pub(super) fn keys_of(node: &Value) -> Option<Vec<String>> {
    node.get("properties")?.as_object().map(|keys| keys.keys().cloned().collect())
}

/// Whether a part of the schema describes a section and not a value.
pub(super) fn is_section(node: &Value) -> bool {
    node.get("properties").is_some() || node.get("additionalProperties").is_some_and(Value::is_object)
}

/// What a value must be, in words.
pub(super) fn expects(node: &Value) -> String {
    if let Some(words) = node.get("x-expects").and_then(Value::as_str) {
        return words.to_owned();
    }
    let words = allowed(node);
    if !words.is_empty() {
        let words: Vec<String> = words.iter().map(|(word, _)| format!("\"{word}\"")).collect();
        return format!("one of {}", words.join(", "));
    }
    if is_section(node) {
        return "a section".to_owned();
    }
    let least = node.get("minimum").and_then(Value::as_u64).unwrap_or(0);
    let most = node.get("maximum").and_then(Value::as_u64);
    match (type_word(node), most) {
        ("integer", Some(most)) => format!("a whole number from {least} to {most}"),
        ("integer", None) if least > 0 => format!("a whole number from {least}"),
        ("integer", None) => "a whole number, not negative".to_owned(),
        ("number", _) => "a number, not negative".to_owned(),
        ("boolean", _) => "true or false".to_owned(),
        ("string", _) => "a text in quotes".to_owned(),
        (other, _) => format!("a value of type {other}"),
    }
}

/// The type of a value; `null`, which stands for "not set", left out.
pub(super) fn type_word(node: &Value) -> &str {
    match node.get("type") {
        Some(Value::String(word)) => word,
        Some(Value::Array(words)) => {
            words.iter().filter_map(Value::as_str).find(|word| *word != "null").unwrap_or("any")
        }
        _ => node
            .get("anyOf")
            .and_then(Value::as_array)
            .and_then(|nodes| nodes.iter().map(type_word).find(|word| *word != "null"))
            .unwrap_or("any"),
    }
}

/// The words that a value may have, each with its meaning.
pub(super) fn allowed(node: &Value) -> Vec<(String, String)> {
    let text = |node: &Value, name: &str| node.get(name).and_then(Value::as_str).map(str::to_owned);
    if let Some(word) = text(node, "const") {
        return vec![(word, text(node, "description").unwrap_or_default())];
    }
    if let Some(words) = node.get("enum").and_then(Value::as_array) {
        return words.iter().filter_map(Value::as_str).map(|word| (word.to_owned(), String::new())).collect();
    }
    ["oneOf", "anyOf"]
        .iter()
        .filter_map(|name| node.get(name).and_then(Value::as_array))
        .flatten()
        .flat_map(allowed)
        .collect()
}

/// Every key that can be set, sections left out.
pub(crate) fn every_key() -> Vec<String> {
    fn collect(node: &Value, path: &str, keys: &mut Vec<String>) {
        let name = |key: &str| if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
        if let Some(properties) = node.get("properties").and_then(Value::as_object) {
            for (key, node) in properties {
                collect(node, &name(key), keys);
            }
        } else if let Some(node) = node.get("additionalProperties").filter(|node| node.is_object()) {
            collect(node, &name("NAME"), keys);
        } else {
            keys.push(path.to_owned());
        }
    }
    let mut keys = Vec::new();
    collect(&schema(), "", &mut keys);
    keys
}

/// Explains a key.
///
/// # Errors
/// [`ConfigError::NoSuchKey`] with the nearest one.
pub(crate) fn explain(loaded: &Loaded, key: &str) -> Result<Explanation, ConfigError> {
    let schema = schema();
    let path: Vec<&str> = key.split('.').collect();
    let found = node(&schema, &path)
        .filter(|node| !is_section(node))
        .ok_or_else(|| ConfigError::NoSuchKey { key: key.to_owned(), nearest: nearest(key, &every_key()) })?;
    let meaning = found.get("description").and_then(Value::as_str).unwrap_or_default();
    let in_force = serde_json::to_value(&loaded.config).unwrap_or_default();
    let template = serde_json::to_value(super::settings::ModelSettings::default()).unwrap_or_default();
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
        meaning: meaning.split_whitespace().collect::<Vec<_>>().join(" "),
        expects: expects(found),
        value,
        comes_from: loaded.sources.get(key).map_or_else(|| "the default".to_owned(), ToString::to_string),
        default,
        environment,
        allowed: allowed(found),
    })
}
