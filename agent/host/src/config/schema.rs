//! The JSON schema of the configuration, and what it says: sections, keys, and the form of each value.

use schemars::generate::SchemaSettings;
use serde_json::Value;

use super::settings::Config;

/// The JSON schema of the configuration, as committed.
pub fn schema_text() -> String {
    let mut text = serde_json::to_string_pretty(&schema()).unwrap_or_default();
    text.push('\n');
    text
}

/// Every key that can be set, without sections: `models.NAME.vision`.
pub fn all_keys() -> Vec<String> {
    every_key(&schema())
}

/// The schema with references resolved, so that a key can be followed down.
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

/// The keys that a section may hold; `None` if any name is allowed.
pub(super) fn keys_of(node: &Value) -> Option<Vec<String>> {
    node.get("properties")?.as_object().map(|keys| keys.keys().cloned().collect())
}

/// Returns `true` if a part of the schema describes a section and not a value.
pub(super) fn is_section(node: &Value) -> bool {
    node.get("properties").is_some() || node.get("additionalProperties").is_some_and(Value::is_object)
}

/// The form of a value, in words.
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
        ("integer", None) => "a whole number from 0".to_owned(),
        ("number", _) => "a number from 0".to_owned(),
        ("boolean", _) => "true or false".to_owned(),
        ("string", _) => "a string in quotes".to_owned(),
        (other, _) => format!("a value of type {other}"),
    }
}

/// The type of a value, ignoring `null`, which means "not set".
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

/// The allowed words with their meanings.
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

/// Every key that can be set, without sections: `models.NAME.vision`.
pub(super) fn every_key(schema: &Value) -> Vec<String> {
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
    collect(schema, "", &mut keys);
    keys
}

/// The value of a key in a tree of objects.
pub(super) fn value_at<'a>(root: &'a Value, path: &[&str]) -> Option<&'a Value> {
    path.iter().try_fold(root, |value, name| value.get(name))
}
