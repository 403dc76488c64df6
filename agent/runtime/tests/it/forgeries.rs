//! Forged texts in every place of a journal that a text from outside can reach: no report shows them as anything but text.

use std::{fs, path::Path};

use deskhand_desktop_fake::office;
use deskhand_machine::session::SessionConfig;
use deskhand_runtime::{ReportFormat, StopSwitch, write_report};
use deskhand_testkit::forgeries;
use serde_json::Value;

use crate::support::{Ran, config, office_script, run_with};

/// The reports of the session with this text in its journal, as the names of files with what they hold.
fn reports_of(ran: &Ran, whole: &[Value], text: &str) -> Vec<(String, String)> {
    let mut count = 0;
    let lines: Vec<String> = whole
        .iter()
        .map(|line| {
            let mut line = line.clone();
            count += forgeries::put_into(&mut line, text);
            format!("{line}\n")
        })
        .collect();
    assert!(count > 200, "{count} places");
    fs::write(ran.end.folder.journal_path(), lines.concat()).unwrap();
    let mut reports = Vec::new();
    for format in ReportFormat::ALL {
        let path = write_report(&ran.end.folder, format, None).unwrap();
        read_all(&path, &mut reports);
    }
    reports.sort();
    reports
}

fn read_all(path: &Path, into: &mut Vec<(String, String)>) {
    if path.is_dir() {
        for entry in fs::read_dir(path).unwrap() {
            read_all(&entry.unwrap().path(), into);
        }
    } else {
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        into.push((name, fs::read_to_string(path).unwrap()));
    }
}

/// The tags of a page without the values of their attributes.
fn tags(page: &str) -> Vec<String> {
    let mut tags = Vec::new();
    for part in
        page.split('<').skip(1).filter(|part| part.starts_with(|c: char| c.is_ascii_alphabetic() || c == '/'))
    {
        let mut tag = String::new();
        let mut quoted = false;
        for c in part.chars() {
            match c {
                '"' => quoted = !quoted,
                '>' if !quoted => break,
                c if !quoted => tag.push(c),
                _ => {}
            }
        }
        tags.push(tag);
    }
    tags
}

fn check(name: &str, found: &str, honest: &str, case: &str) {
    let (_, kind) = name.rsplit_once('.').unwrap();
    assert_eq!(forgeries::hidden_in(found), None, "{case}");
    // Long texts are clipped, folded up, or left out.
    let is_long = found.len() > 5 * honest.len();
    match kind {
        "html" => {
            let tags_found = tags(found);
            assert!(!tags_found.iter().any(|tag| tag.contains("forged")), "{case}: {tags_found:?}");
            if !is_long {
                assert_eq!(tags_found, tags(honest), "{case}");
            }
        }
        "md" => {
            assert!(!found.contains('<') && !found.contains("](javascript"), "{case}: {found}");
            let headings = |text: &str| text.lines().filter(|line| line.starts_with('#')).count();
            assert_eq!(headings(found), headings(honest), "{case}: {found}");
            if is_long {
                return;
            }
            assert_eq!(found.lines().count(), honest.lines().count(), "{case}: {found}");
            let starts = |text: &str| -> Vec<String> {
                text.lines()
                    .map(|line| line.chars().take_while(|c| !c.is_alphanumeric()).take(4).collect())
                    .collect()
            };
            let is_same = |(one, other): (&String, &String)| one == other || one.starts_with(other.as_str());
            assert!(starts(found).iter().zip(&starts(honest)).all(is_same), "{case}: {found}");
        }
        "json" => check_json(found, case),
        "log" | "jsonl" => {
            assert_eq!(found.lines().count(), honest.lines().count(), "{case}");
            found.lines().for_each(|line| check_json(line, case));
        }
        other => panic!("{case}: an unknown kind of report, {other}"),
    }
}

/// Whether it is whole, and has no field of the forgery.
fn check_json(text: &str, case: &str) {
    fn fields(value: &Value, case: &str) {
        match value {
            Value::Object(all) => all.iter().for_each(|(name, field)| {
                assert_ne!(name, "forged", "{case}");
                fields(field, case);
            }),
            Value::Array(items) => items.iter().for_each(|item| fields(item, case)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
    fields(&serde_json::from_str(text).unwrap(), case);
}

#[tokio::test]
async fn no_forgery_is_more_than_text_in_a_report() {
    let config = SessionConfig { pictures: false, ..config() };
    let ran = run_with(&office_script(), config, office(), &StopSwitch::new(), |_, _| {}).await;
    let journal = fs::read_to_string(ran.end.folder.journal_path()).unwrap();
    let whole: Vec<Value> = journal.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let honest = reports_of(&ran, &whole, "honest");
    for name in ["report.html", "report.jsonl", "request.log", "response.log", "output.md", "ui_tree_step"] {
        assert!(honest.iter().any(|(found, _)| found.starts_with(name)), "no {name}");
    }
    for (what, text) in forgeries::all() {
        let reports = reports_of(&ran, &whole, &text);
        let names = |reports: &[(String, String)]| -> Vec<String> {
            reports.iter().map(|(name, _)| name.clone()).collect()
        };
        assert_eq!(names(&reports), names(&honest), "{what}");
        for ((name, found), (_, honest)) in reports.iter().zip(&honest) {
            check(name, found, honest, &format!("{what} in {name}"));
        }
    }
}
