//! The page of the book about the API, made of its OpenAPI document. A test of the service holds the document against the code.

use std::{collections::BTreeMap, fmt::Write as _, fs, path::Path};

use serde_json::{Map, Value};

/// The document and the page, below this crate.
const DOCUMENT: &str = "../../docs/reference/openapi.json";
const PAGE: &str = "../../docs/reference/api.md";

#[test]
fn the_reference_of_the_api_is_current() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let document = serde_json::from_str(&fs::read_to_string(here.join(DOCUMENT)).unwrap()).unwrap();
    let page = page(&document);
    if std::env::var_os("UPDATE_DOCS").is_some() {
        fs::write(here.join(PAGE), &page).unwrap();
    }
    assert!(
        fs::read_to_string(here.join(PAGE)).unwrap_or_default() == page,
        "docs/reference/api.md differs from docs/reference/openapi.json; update it with\n  \
         UPDATE_DOCS=1 cargo nextest run -p deskhand reference"
    );
}

fn page(document: &Value) -> String {
    let mut page = format!(
        "# API\n\nGenerated from the OpenAPI document, [openapi.json](openapi.json), which `deskhand serve` also sends as \
         `/api/openapi.json`; tests\ncompare the three. [Web interface](../guides/serve.md) says how to start the \
         service and where its token is.\n\n{}\n",
        text(&document["info"], "description")
    );
    let mut groups: BTreeMap<&str, Vec<(String, &Value)>> = BTreeMap::new();
    for (path, methods) in entries(&document["paths"]) {
        let group = path.trim_start_matches("/api/").split('/').next().unwrap_or_default();
        for (method, operation) in entries(methods) {
            groups.entry(group).or_default().push((format!("{} {path}", method.to_uppercase()), operation));
        }
    }
    for (group, operations) in groups {
        writeln!(page, "\n## {}\n\n| request | what it does |\n| --- | --- |", title(group)).unwrap();
        for (request, operation) in &operations {
            let link = anchor(request);
            writeln!(page, "| [`{request}`](#{link}) | {} |", text(operation, "summary")).unwrap();
        }
        for (request, operation) in operations {
            write_operation(&mut page, &request, operation);
        }
    }
    page.push_str("\n## Types\n");
    for (name, schema) in entries(&document["components"]["schemas"]) {
        writeln!(page, "\n### {name}\n\n{}", text(schema, "description")).unwrap();
        write_schema(&mut page, schema);
    }
    page
}

fn write_operation(page: &mut String, request: &str, operation: &Value) {
    let (summary, more) = (text(operation, "summary"), text(operation, "description"));
    let more = if more.is_empty() { more } else { format!(" {more}") };
    writeln!(page, "\n### `{request}`\n\n{summary} (`{}`).{more}", text(operation, "operationId")).unwrap();
    let parameters = operation["parameters"].as_array().map(Vec::as_slice).unwrap_or_default();
    if !parameters.is_empty() {
        page.push_str("\n| parameter | in | type | meaning |\n| --- | --- | --- | --- |\n");
    }
    for parameter in parameters {
        let (name, place) = (text(parameter, "name"), text(parameter, "in"));
        let (kind, meaning) = (kind(&parameter["schema"]), text(parameter, "description"));
        writeln!(page, "| `{name}` | {place} | {kind} | {meaning} |").unwrap();
    }
    let content = |value: &Value| -> Vec<String> {
        let words = |(media, body): (&String, &Value)| match body.get("schema") {
            Some(schema) => format!("{} as `{media}`", kind(schema)),
            None => format!("`{media}`"),
        };
        entries(&value["content"]).map(words).collect()
    };
    page.push('\n');
    for body in content(&operation["requestBody"]) {
        writeln!(page, "- Body: {body}").unwrap();
    }
    for (status, response) in entries(&operation["responses"]).filter(|(status, _)| *status != "default") {
        let bodies = content(response).join(", ");
        let bodies = if bodies.is_empty() { text(response, "description") } else { bodies };
        writeln!(page, "- {status}: {bodies}").unwrap();
    }
    if let Some(messages) = operation.get("x-messages") {
        writeln!(
            page,
            "- Messages: reads {}, writes {}",
            kind(&messages["reads"]),
            kind(&messages["writes"])
        )
        .unwrap();
    }
}

fn write_schema(page: &mut String, schema: &Value) {
    if schema["properties"].is_object() {
        write_fields(page, schema);
    }
    let of = |key: &str| schema[key].as_array().cloned().unwrap_or_default();
    let is_word = |variant: &Value| variant["const"].is_string() && variant.get("properties").is_none();
    for variant in of("oneOf").into_iter().chain(of("anyOf")) {
        let meaning = text(&variant, "description");
        if is_word(&variant) {
            writeln!(page, "\n- `{}`: {meaning}", text(&variant, "const")).unwrap();
            continue;
        }
        let tag =
            entries(&variant["properties"]).find_map(|(name, field)| Some((name, field["const"].as_str()?)));
        let tag = tag.map_or_else(String::new, |(name, word)| format!("`{name}` is `{word}`. "));
        let like = variant["$ref"]
            .as_str()
            .map_or_else(String::new, |_| format!("Has the fields of {}.", kind(&variant)));
        writeln!(page, "\n{}", format!("{tag}{meaning} {like}").trim()).unwrap();
        write_fields(page, &variant);
    }
}

fn write_fields(page: &mut String, schema: &Value) {
    let fields: Vec<_> =
        entries(&schema["properties"]).filter(|(_, field)| !field["const"].is_string()).collect();
    if fields.is_empty() {
        return;
    }
    let required =
        |name: &str| schema["required"].as_array().is_some_and(|all| all.iter().any(|one| one == name));
    page.push_str("\n| field | type | meaning |\n| --- | --- | --- |\n");
    for (name, field) in fields {
        let needed = if required(name) { "" } else { ", optional" };
        writeln!(page, "| `{name}` | {}{needed} | {} |", kind(field), text(field, "description")).unwrap();
    }
}

/// A type in a word or two.
fn kind(schema: &Value) -> String {
    if let Some(reference) = schema["$ref"].as_str() {
        let name = reference.rsplit('/').next().unwrap_or_default();
        return format!("[{name}](#{})", anchor(name));
    }
    if let Some(words) = schema["enum"].as_array() {
        return words
            .iter()
            .map(|word| format!("`{}`", word.as_str().unwrap_or("null")))
            .collect::<Vec<_>>()
            .join(", ");
    }
    let alternatives = ["anyOf", "oneOf"].iter().find_map(|key| schema[*key].as_array());
    if let Some(alternatives) = alternatives {
        return alternatives.iter().map(kind).collect::<Vec<_>>().join(" or ");
    }
    let name = match &schema["type"] {
        Value::String(name) => name.clone(),
        Value::Array(names) => names.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" or "),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => "any".to_owned(),
    };
    match schema.get("items").filter(|items| items.is_object()) {
        Some(items) => format!("{name} of {}", kind(items)),
        None => name,
    }
}

/// What a text is linked by.
fn anchor(heading: &str) -> String {
    let kept = heading.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
    kept.collect::<String>().to_lowercase().replace(' ', "-")
}

fn title(word: &str) -> String {
    match word {
        "openapi.json" => "Description".to_owned(),
        word => word.get(..1).unwrap_or_default().to_uppercase() + word.get(1..).unwrap_or_default(),
    }
}

/// A text on one line of a table.
fn text(value: &Value, key: &str) -> String {
    value[key].as_str().unwrap_or_default().replace('\n', " ").replace('|', "\\|")
}

fn entries(value: &Value) -> impl Iterator<Item = (&String, &Value)> {
    value.as_object().into_iter().flat_map(Map::iter)
}
