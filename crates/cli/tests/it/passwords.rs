//! Passwords that a model writes in clear: they arrive in real fields for passwords, are verified by their length, and from the reply on
//! that types them nothing has them any more.

use std::{fs, path::Path};

use serde_json::{Value, json};

use crate::support::{World, has_programs};

const PASSWORD: &str = "hunter2-Zaun&7";
const FORM: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/secrets/login.py");

/// The journals of a world, line by line.
fn journal(world: &World) -> Vec<String> {
    let folders = fs::read_dir(world.store().root()).unwrap().map(|entry| entry.unwrap().path());
    let journals = folders.map(|folder| folder.join("journal.jsonl")).filter(|path| path.is_file());
    journals
        .flat_map(|path| fs::read_to_string(path).unwrap().lines().map(str::to_owned).collect::<Vec<_>>())
        .collect()
}

/// The reply that types a password is the first record with its dots; neither it nor what follows has the password.
#[track_caller]
fn is_hidden_from_the_reply_on(lines: &[String]) {
    let first =
        lines.iter().position(|line| line.contains(r#""passwords":["#)).expect("a reply types a password");
    for line in lines.iter().skip(first) {
        assert!(!line.contains(PASSWORD) && !line.contains("hunter2"), "{line}");
    }
}

#[test]
fn a_password_in_clear_arrives_in_gtk_3_and_is_shown_as_dots() {
    if !has_programs(&["python3"]) {
        return;
    }
    let world = World::new();
    let log = world.file("oracle/log.json", "");
    world.file("turns.toml", include_str!("secrets/clear.toml"));
    world.configure("[people]\napprovals = \"all\"\n");
    let request = format!("log in as ada with the password {PASSWORD}");
    let output = world
        .command(&["run", &request, "--model", "script:turns.toml", "--desktop", "virtual", "--json"])
        .args(["--script-var", &format!("form={FORM}"), "--script-var", &format!("log={}", log.display())])
        .output()
        .unwrap();
    let shown = world.shown(&output);
    assert!(output.status.success(), "{shown}");
    let arrived: Value = serde_json::from_str(&fs::read_to_string(&log).unwrap()).unwrap();
    assert_eq!(arrived, json!({"user": "ada", "password": PASSWORD, "token": ""}));

    let lines = journal(&world);
    is_hidden_from_the_reply_on(&lines);
    // A line of the program is a line of the journal.
    let printed = String::from_utf8_lossy(&output.stdout);
    let first = printed.lines().position(|line| line.contains(r#""passwords":["#)).unwrap();
    assert!(printed.lines().skip(first).all(|line| !line.contains("hunter2")), "{printed}");
    // The prompts of later steps have dots where the user's request has the password.
    let asks: Vec<&String> = lines.iter().filter(|line| line.contains(r#""want":"ask""#)).collect();
    assert!(asks.first().unwrap().contains(PASSWORD));
    assert!(asks.last().unwrap().contains("the password ••••••••1"), "{}", asks.last().unwrap());

    for arguments in [
        &["show", "last"][..],
        &["show", "last", "--records"],
        &["sessions"],
        &["report", "last", "--format", "html", "--output", "report.html"],
        &["report", "last", "--format", "markdown", "--output", "report.md"],
        &["report", "last", "--format", "jsonl", "--output", "report.jsonl"],
        &["report", "last", "--format", "ufo", "--output", "report-ufo"],
        &["replay", "last"],
        &["verify", "last"],
    ] {
        let output = world.command(arguments).output().unwrap();
        let shown = world.shown(&output);
        assert!(output.status.success() && !shown.contains("hunter2"), "{arguments:?}: {shown}");
    }
    let report = fs::read_to_string(world.path().join("report.md")).unwrap();
    assert!(report.contains("the password ••••••••1"), "{report}");
    no_file_has_it(world.path(), &log);
}

/// No file of a folder has the password, besides journals and what the test wrote.
fn no_file_has_it(folder: &Path, log: &Path) {
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let (path, kind) = (entry.path(), entry.file_type().unwrap());
        if kind.is_dir() {
            no_file_has_it(&path, log);
        } else if kind.is_file()
            && path != log
            && !path.ends_with("journal.jsonl")
            && !path.ends_with("turns.toml")
        {
            let content = fs::read(&path).unwrap();
            assert!(!String::from_utf8_lossy(&content).contains("hunter2"), "{}", path.display());
        }
    }
}
