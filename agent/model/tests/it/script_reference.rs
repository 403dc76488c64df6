//! The reference of scripts in the book says what the code does: its fields, placeholders, replies and errors.

use std::{collections::BTreeMap, fs, path::Path};

use deskhand_machine::reply::{app_reply_schema, evaluation_reply_schema, host_reply_schema};
use deskhand_model::Script;
use regex::Regex;
use serde_json::Value;

use crate::request;

/// The page of the book.
const PAGE: &str = include_str!("../../../../docs/reference/scripts.md");

/// The sources with the messages of scripts.
const SOURCES: [&str; 4] = [
    include_str!("../../src/script/file.rs"),
    include_str!("../../src/script/mismatch.rs"),
    include_str!("../../src/script/model.rs"),
    include_str!("../../src/script/placeholder.rs"),
];

/// The patterns that the page names for its placeholders.
const PATTERNS: &str = r#"expect = ['rows: (?<rows>\[.*\])', 'menu item "(?<entry>.*)"']"#;

fn variables() -> BTreeMap<String, String> {
    BTreeMap::from([("out".to_owned(), r#"my "own".ods"#.to_owned())])
}

/// The rows of the table below `<!-- table: NAME -->`, without its head.
fn table(name: &str) -> Vec<Vec<String>> {
    let mark = format!("<!-- table: {name} -->");
    let (_, after) = PAGE.split_once(&mark).unwrap_or_else(|| panic!("the page has no {mark}"));
    let lines = after.trim_start().lines().take_while(|line| line.starts_with('|')).skip(2);
    let cells = |line: &str| {
        let inside = line.trim_start_matches("| ");
        let inside = inside.strip_suffix('|').unwrap_or(inside);
        inside.split(" | ").map(|cell| cell.trim().to_owned()).collect()
    };
    lines.map(cells).collect()
}

/// The text of a cell such as `` `expect` ``.
fn code(cell: &str) -> &str {
    cell.strip_prefix('`').and_then(|rest| rest.strip_suffix('`')).unwrap_or(cell)
}

/// The first cells of a table.
fn names(table_name: &str) -> Vec<String> {
    table(table_name).iter().map(|row| code(&row[0]).to_owned()).collect()
}

/// The example prompt.
fn prompt() -> &'static str {
    let (_, after) = PAGE.split_once("<!-- prompt -->\n```text\n").unwrap();
    after.split("```").next().unwrap()
}

fn load_error(script: &str) -> String {
    Script::parse("note.toml", script, variables()).unwrap_err().to_string()
}

/// The names that serde expects in place of an unknown field.
fn known_fields(script: &str) -> Vec<String> {
    let error = load_error(script);
    let expected = error.lines().find_map(|line| line.split_once(", expected ")).unwrap().1;
    expected.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

fn sorted(mut names: Vec<String>) -> Vec<String> {
    names.sort();
    names
}

#[test]
fn its_fields_are_those_of_the_code() {
    for (table_name, script) in [
        ("file", "unknown = 1"),
        ("turn", "[[turn]]\nreply = 'x'\nunknown = 1"),
        ("usage", "[[turn]]\nreply = 'x'\nusage = { unknown = 1 }"),
    ] {
        assert_eq!(sorted(names(table_name)), sorted(known_fields(script)), "{table_name}");
    }
}

#[test]
fn its_examples_and_defaults_are_accepted() {
    for row in table("turn") {
        let [name, _, default, example, _] = row.as_slice() else { panic!("{row:?}") };
        let others = if code(name) == "reply" { "" } else { "reply = 'x'\n" };
        let script = |field: &str| Script::parse("note.toml", &format!("[[turn]]\n{field}"), variables());
        script(&format!("{others}{}", code(example))).unwrap();
        match default.as_str() {
            "required" => assert!(script(others).is_err(), "{name}"),
            _ if default.starts_with('`') => {
                script(&format!("{others}{} = {}", code(name), code(default))).unwrap();
            }
            _ => assert!(script(others).is_ok(), "{name}"),
        }
    }
}

#[test]
fn its_placeholders_become_what_it_says() {
    assert!(PAGE.contains(PATTERNS));
    for row in table("placeholders") {
        let placeholder = code(&row[0]);
        let script = format!("[[turn]]\n{PATTERNS}\nreply = '''{placeholder}'''");
        let script = Script::parse("note.toml", &script, variables()).unwrap();
        match (script.answer(&request(prompt())), row[1].strip_prefix("error: ")) {
            (Ok(reply), None) => assert_eq!(reply.text, code(&row[1]), "{placeholder}"),
            (Err(failure), Some(part)) => {
                assert!(failure.message.contains(code(part)), "{placeholder}: {}", failure.message);
            }
            (Ok(reply), Some(_)) => panic!("{placeholder} became {}", reply.text),
            (Err(failure), None) => panic!("{placeholder}: {}", failure.message),
        }
    }
}

/// The fields of a schema, those of nested objects included: `action[].function`. An object without properties has none.
fn schema_fields(schema: &Value, before: &str, fields: &mut Vec<String>) {
    let Some(properties) = schema["properties"].as_object() else { return };
    for (name, field) in properties {
        let path = format!("{before}{name}");
        schema_fields(field, &format!("{path}."), fields);
        schema_fields(&field["items"], &format!("{path}[]."), fields);
        fields.push(path);
    }
}

#[test]
fn its_replies_are_those_that_models_are_asked_for() {
    for (agent, schema) in [
        ("HostAgent", host_reply_schema()),
        ("AppAgent", app_reply_schema()),
        ("EvaluationAgent", evaluation_reply_schema()),
    ] {
        let mut fields = Vec::new();
        schema_fields(&schema, "", &mut fields);
        assert_eq!(sorted(names(agent)), sorted(fields), "{agent}");
        if let Some(statuses) = schema["properties"]["status"]["enum"].as_array() {
            let words = statuses.iter().map(|word| word.as_str().unwrap().to_owned()).collect();
            assert_eq!(sorted(names(&format!("statuses of {agent}"))), sorted(words), "{agent}");
        }
    }
}

/// The messages that the page shows: the text blocks of its sections on errors.
fn messages() -> Vec<String> {
    let sections = PAGE.split("\n## ").filter(|section| section.starts_with("Errors"));
    let blocks = sections.flat_map(|section| section.split("```text\n").skip(1));
    blocks.map(|block| block.split("\n```").next().unwrap().to_owned()).collect()
}

fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A pattern for texts with these fixed parts and anything between them.
fn pattern(parts: impl Iterator<Item = String>, is_whole: bool) -> Regex {
    let parts: Vec<String> = parts.map(|part| regex::escape(part.trim())).collect();
    let inside = parts.join(".*");
    Regex::new(&if is_whole { format!("^{inside}$") } else { inside }).unwrap()
}

/// Every error that a script can cause.
fn provoked() -> Vec<String> {
    let load = [
        "",
        "[[turn]]\nreply = 'x'\nexpects = 'y'",
        "[[turn]]\nexpect = 'y'",
        "[[turn]]\nreply = 'x'\nrepeat = 0",
        "[[turn]]\nreply = 'x'\nexpect = 3",
        "[[turn]]\nexpect = '(open'\nreply = 'x'",
        "[[turn]]\nexpect = 'x'\nreply = '{{capture \"rows\"}}'",
    ];
    let placeholders = [
        r#"{{click "x"}}"#,
        r#"{{"Save"}}"#,
        "{{element button}}",
        r#"{{var "out" as=json}}"#,
        r#"{{window "a" "b"}}"#,
        r#"{{window "Calc}}"#,
        r#"{{window "Calc"} "#,
        r#"{{window "Calc""#,
    ];
    let of_placeholders = placeholders.map(|text| format!("[[turn]]\nreply = '{text}'"));
    let mut all: Vec<String> =
        load.iter().copied().chain(of_placeholders.iter().map(String::as_str)).map(load_error).collect();
    let unset = "[[turn]]\nreply = '{{var \"out\"}}'";
    let set = BTreeMap::from([("path".to_owned(), String::new())]);
    all.push(Script::parse("note.toml", unset, set).unwrap_err().to_string());
    let folder = tempfile::tempdir().unwrap();
    let latin = folder.path().join("note.toml");
    fs::write(&latin, [0xff]).unwrap();
    let unreadable = Script::load(&latin, BTreeMap::new()).unwrap_err().to_string();
    all.push(unreadable.replace(&format!("{}/", folder.path().display()), ""));
    all.extend(provoked_while_running());
    for script in ["[[turn]]\nreply = 'x'", "[[turn]]\nrepeat = true\nreply = 'x'"] {
        let script = Script::parse("note.toml", script, BTreeMap::new()).unwrap();
        all.push(script.skip(2).unwrap_err().to_string());
    }
    all
}

fn provoked_while_running() -> Vec<String> {
    let many: String = (1..=15).map(|id| format!("[e{id}] push button \"{id}\"\n")).collect();
    let cases = [
        ("title = 'type'\nagent = 'HostAgent'\nreply = 'x'", prompt()),
        ("expect = 'menu item \"Insert Chart…\"'\nreply = 'x'", prompt()),
        ("reject = 'check box .*checked'\nreply = 'x'", prompt()),
        ("reply = '{{element \"push button\" \"Finish\"}}'", prompt()),
        ("reply = '{{element \"push button\"}}'", many.as_str()),
        ("reply = '{{agent \"shell\"}}'", "nothing"),
        ("reply = '{{element \"entry\" \"Name:\"}}'", prompt()),
        ("reply = '{{element \"entry\" \"Name:\" nth=3}}'", prompt()),
        ("expect = '(?<rows>cells)?'\nreply = '{{capture \"rows\"}}'", prompt()),
        ("expect = '(?<rows>menu item)'\nreply = '{{capture \"rows\" as=json}}'", prompt()),
    ];
    let fail = |(turn, prompt): (&str, &str)| {
        let script = Script::parse("note.toml", &format!("[[turn]]\n{turn}"), variables()).unwrap();
        script.answer(&request(prompt)).unwrap_err().message
    };
    let mut all: Vec<String> = cases.into_iter().map(fail).collect();
    let short = Script::parse("note.toml", "[[turn]]\nreply = 'x'", BTreeMap::new()).unwrap();
    short.answer(&request(prompt())).unwrap();
    all.push(short.answer(&request(prompt())).unwrap_err().message);
    all
}

#[test]
fn its_errors_are_those_of_the_code() {
    let provoked: Vec<String> = provoked().iter().map(|text| words(text)).collect();
    let mut unseen = provoked.clone();
    for message in messages() {
        let shown = pattern(words(&message).split('…').map(str::to_owned), true);
        assert!(
            provoked.iter().any(|text| shown.is_match(text)),
            "no script causes:\n{message}\n{provoked:#?}"
        );
        unseen.retain(|text| !shown.is_match(text));
    }
    assert_eq!(unseen, Vec::<String>::new(), "the page does not have these");
}

/// The texts with a space in the code of a source file, without its comments.
fn literals(source: &str) -> Vec<String> {
    let code: String =
        source.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n");
    // A quote as a character would open a text.
    let code = Regex::new(r"'(?:\\.|[^'\\])'").unwrap().replace_all(&code, "");
    let literal = Regex::new(r#""((?:[^"\\]|\\(?s:.))*)""#).unwrap();
    let all = literal
        .captures_iter(&code)
        .map(|found| found[1].replace("\\\n", "").replace("\\n", " ").replace("\\\"", "\""));
    all.filter(|text| text.trim().contains(' ')).collect()
}

/// No message can be added to the code without the page.
#[test]
fn it_has_every_text_of_the_code() {
    // What no reader sees: an agent without a name, and a case that cannot occur.
    let internal = ["an unnamed agent", "not an id placeholder"];
    let page: Vec<String> = messages().iter().map(|message| words(message)).collect();
    let hole = Regex::new(r"\{[a-zA-Z_.()]*(?::\?)?\}").unwrap();
    let mut checked = 0;
    for text in SOURCES.iter().flat_map(|source| literals(source)) {
        let text = words(&text);
        if internal.contains(&text.as_str()) {
            continue;
        }
        let wanted = pattern(hole.split(&text).map(str::to_owned), false);
        assert!(page.iter().any(|message| wanted.is_match(message)), "the page lacks: {text}");
        checked += 1;
    }
    assert!(checked >= 25, "only {checked} texts were found in the code");
}

#[test]
fn the_page_is_in_the_book() {
    let summary = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/SUMMARY.md");
    assert!(fs::read_to_string(summary).unwrap().contains("(reference/scripts.md)"));
}
