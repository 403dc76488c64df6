//! The description of the API: complete, and as it is committed.

use std::{collections::BTreeSet, fs, path::Path};

use serde_json::Value;

use super::DESCRIPTION;

/// The description as a file, of which a page of the book is made.
const FILE: &str = "../../docs/reference/openapi.json";

/// Set `UPDATE_DOCS=1` to write the file.
#[test]
fn the_openapi_document_is_current() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(FILE);
    let mut text = serde_json::to_string_pretty(&*DESCRIPTION).unwrap();
    text.push('\n');
    if std::env::var_os("UPDATE_DOCS").is_some() {
        fs::write(&path, &text).unwrap();
    }
    assert!(
        fs::read_to_string(&path).unwrap_or_default() == text,
        "docs/reference/openapi.json differs from the routes; update it with\n  \
         UPDATE_DOCS=1 cargo nextest run -p deskhand-serve openapi && UPDATE_DOCS=1 cargo nextest run -p deskhand-cli reference"
    );
}

#[test]
fn each_route_of_the_api_is_described() {
    let described: BTreeSet<String> = DESCRIPTION.operations().map(|(path, ..)| path.to_owned()).collect();
    let routes = include_str!("mod.rs").split('"').filter(|text| text.starts_with("/api/"));
    let routes: BTreeSet<String> = routes.map(str::to_owned).collect();
    assert_eq!(described, routes, "add a route with `api_route`");
    let mut ids = BTreeSet::new();
    for (path, method, operation) in DESCRIPTION.operations() {
        let id = operation.operation_id.as_deref().unwrap_or_default();
        assert!(!id.is_empty() && ids.insert(id), "{method} {path} has no id of its own");
        assert!(operation.summary.as_deref().is_some_and(|text| !text.is_empty()), "{id} has no summary");
        assert!(
            operation.responses.as_ref().is_some_and(|all| !all.responses.is_empty()),
            "{id} answers nothing"
        );
    }
}

#[test]
fn parameters_of_paths_are_described_and_references_lead_somewhere() {
    let whole = serde_json::to_value(&*DESCRIPTION).unwrap();
    for (path, method, operation) in DESCRIPTION.operations() {
        let parameters = serde_json::to_value(&operation.parameters).unwrap();
        let named: BTreeSet<&str> = parameters
            .as_array()
            .unwrap()
            .iter()
            .filter(|parameter| parameter["in"] == "path")
            .filter_map(|parameter| parameter["name"].as_str())
            .collect();
        let wanted: BTreeSet<&str> = path.split(['{', '}']).skip(1).step_by(2).collect();
        assert_eq!(named, wanted, "{method} {path}");
    }
    let mut missing = Vec::new();
    collect_missing(&whole, &whole, &mut missing);
    assert_eq!(missing, Vec::<String>::new());
}

/// The references that lead nowhere.
fn collect_missing(whole: &Value, part: &Value, missing: &mut Vec<String>) {
    match part {
        Value::Object(fields) => {
            if let Some(reference) = fields.get("$ref").and_then(Value::as_str)
                && whole.pointer(reference.trim_start_matches('#')).is_none()
            {
                missing.push(reference.to_owned());
            }
            fields.values().for_each(|field| collect_missing(whole, field, missing));
        }
        Value::Array(items) => items.iter().for_each(|item| collect_missing(whole, item, missing)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}
