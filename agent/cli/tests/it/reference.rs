//! The configuration reference in the book, generated from its JSON schema.

use std::{fmt::Write as _, fs, path::Path};

use serde_json::{Map, Value};

/// The schema and the page, below this crate. Another test holds the schema against the code.
const SCHEMA: &str = "../../docs/config.schema.json";
const PAGE: &str = "../../docs/reference/configuration.md";

#[test]
fn the_reference_of_the_configuration_is_current() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let schema = serde_json::from_str(&fs::read_to_string(here.join(SCHEMA)).unwrap()).unwrap();
    let page = page(&schema);
    if std::env::var_os("UPDATE_DOCS").is_some() {
        fs::write(here.join(PAGE), &page).unwrap();
    }
    assert!(
        fs::read_to_string(here.join(PAGE)).unwrap_or_default() == page,
        "docs/reference/configuration.md differs from docs/config.schema.json; update it with\n  \
         UPDATE_DOCS=1 cargo nextest run -p deskhand reference"
    );
}

fn page(schema: &Value) -> String {
    let mut page = String::from(
        "# Configuration\n\nGenerated from the schema of the configuration file, [config.schema.json](../config.schema.json); a test \
         compares the two.\n\nThe file is `~/.config/deskhand/config.toml`; `deskhand config path` prints where it is, and \
         `deskhand config init` writes one to\nfill in. Unknown keys are errors. A value comes from, in this order: a flag of the \
         command, an environment variable,\nthe file, the default. The variable of a key is its path in capitals, as in \
         `DESKHAND__LIMITS__STEPS_MAX=20` for\n`limits.steps_max`. `deskhand config explain` prints every value and where it comes \
         from.\n",
    );
    let mut simple = Map::new();
    let mut sections = Vec::new();
    for (name, field) in properties(schema) {
        if is_section(field) {
            sections.push((section_path("", name, field), field));
        } else {
            simple.insert(name.clone(), field.clone());
        }
    }
    page.push_str("\n## Top level\n");
    write_table(&mut page, &simple);
    for (path, field) in sections {
        write_section(&mut page, &path, field);
    }
    page
}

/// The name of a table in the file; `NAME` stands for names that users choose.
fn section_path(parent: &str, name: &str, field: &Value) -> String {
    let path = if parent.is_empty() { name.to_owned() } else { format!("{parent}.{name}") };
    if is_map(field) { format!("{path}.NAME") } else { path }
}

/// Writes a section of the file, and the sections inside it.
fn write_section(page: &mut String, path: &str, field: &Value) {
    let is_list = field.get("items").is_some();
    let (open, close) = if is_list { ("[[", "]]") } else { ("[", "]") };
    let description = text(field, "description");
    let inner = field.get("additionalProperties").filter(|inner| inner.is_object());
    let field = inner.or_else(|| field.get("items")).unwrap_or(field);
    let mut simple = Map::new();
    let mut sections = Vec::new();
    for (name, inner) in properties(field) {
        if is_section(inner) {
            sections.push((section_path(path, name, inner), inner.clone()));
        } else {
            simple.insert(name.clone(), inner.clone());
        }
    }
    if !simple.is_empty() {
        writeln!(page, "\n## `{open}{path}{close}`\n\n{description}").unwrap();
        write_table(page, &simple);
    }
    for (path, inner) in sections {
        write_section(page, &path, &inner);
    }
}

fn properties(field: &Value) -> impl Iterator<Item = (&String, &Value)> {
    field.get("properties").and_then(Value::as_object).into_iter().flatten()
}

fn is_map(field: &Value) -> bool {
    field.get("additionalProperties").is_some_and(|inner| inner.get("properties").is_some())
}

fn is_section(field: &Value) -> bool {
    let has = |value: &Value| value.get("properties").is_some();
    has(field) || is_map(field) || field.get("items").is_some_and(has)
}

fn write_table(page: &mut String, fields: &Map<String, Value>) {
    page.push_str("\n| key | type | default | meaning |\n| --- | --- | --- | --- |\n");
    for (name, field) in fields {
        let default = match field.get("default") {
            None => "required".to_owned(),
            Some(Value::Null) => String::new(),
            Some(value) => format!("`{value}`"),
        };
        let meaning = [text(field, "description"), choices(field)].concat();
        writeln!(page, "| `{name}` | {} | {default} | {meaning} |", kind(field)).unwrap();
    }
}

/// The type as in TOML, with its range.
fn kind(field: &Value) -> String {
    let alternatives = ["anyOf", "oneOf"].iter().find_map(|key| field.get(key)?.as_array());
    let name = match field.get("type") {
        Some(Value::String(name)) => name.clone(),
        Some(Value::Array(names)) => {
            names.iter().filter_map(Value::as_str).find(|name| *name != "null").unwrap_or_default().to_owned()
        }
        _ if alternatives.is_some() => "string".to_owned(),
        _ => String::new(),
    };
    let number = |key: &str| field.get(key).and_then(Value::as_f64).filter(|number| *number != 0.0);
    match (name.as_str(), number("minimum"), number("maximum")) {
        ("array", ..) => "list of strings".to_owned(),
        (_, Some(least), Some(most)) => format!("{name}, {least} to {most}"),
        (_, Some(least), None) => format!("{name}, at least {least}"),
        (_, None, Some(most)) => format!("{name}, at most {most}"),
        (_, None, None) => name,
    }
}

/// The allowed values of a field with their meanings.
fn choices(field: &Value) -> String {
    let items = field.get("items").unwrap_or(field);
    let mut lists: Vec<&Value> = ["oneOf", "anyOf"].iter().filter_map(|key| items.get(key)).collect();
    let mut text = String::new();
    while let Some(list) = lists.pop() {
        for choice in list.as_array().into_iter().flatten() {
            if let Some(word) = choice.get("const").and_then(Value::as_str) {
                write!(text, "<br>`{word}`: {}", self::text(choice, "description")).unwrap();
            }
            lists.extend(choice.get("oneOf"));
        }
    }
    text
}

fn text(field: &Value, key: &str) -> String {
    field.get(key).and_then(Value::as_str).unwrap_or_default().replace('\n', " ").replace('|', "\\|")
}
