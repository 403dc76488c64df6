//! Passwords that a model writes in clear: they arrive in real fields for passwords, are verified by their length, and from the reply on
//! that types them nothing has them any more.

use std::{
    fs,
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::TcpListener,
    path::Path,
    thread::{self, JoinHandle},
};

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
    // Neither has what was kept of it for the list.
    let index = fs::read_to_string(world.store().root().join("sessions.index")).unwrap();
    assert!(index.contains("log in as ada") && !index.contains("hunter2"), "{index}");
    let report = fs::read_to_string(world.path().join("report.md")).unwrap();
    assert!(report.contains("the password ••••••••1"), "{report}");
    no_file_has_it(world.path(), &log);
}

/// Types into the only field for passwords, which has no name, and sends it.
const UNNAMED: &str = r#"
[[turn]]
agent = "HostAgent"
expect = 'Log in'
reply = '{"thought": "go on", "status": "ASSIGN", "current_subtask": "log in", "control_label": "{{window "Log in"}}"}'

[[turn]]
agent = "AppAgent"
reply = '''
{"thought": "type it", "status": "CONTINUE", "action": [
 {"function": "type_text", "arguments": {"id": "{{element "password text" ""}}", "text": "hunter2-Zaun&7"}}]}
'''

[[turn]]
agent = "AppAgent"
expect = 'seen: .*as many dots as it should'
reply = '''
{"thought": "send it", "status": "CONTINUE", "action": [
 {"function": "click_element", "arguments": {"id": "{{element "push button" "Send"}}", "name": "Send"}}]}
'''

[[turn]]
agent = "AppAgent"
expect = 'Welcome'
reply = '{"thought": "done", "status": "FINISH", "result": "logged in"}'

[[turn]]
agent = "HostAgent"
expect = 'FINISHED'
reply = '{"thought": "done", "status": "FINISH", "result": "logged in"}'
"#;

/// Carries the script out; the password is nowhere afterwards.
fn logs_in_without_a_name(world: &World, first: &str, open: &[&str]) {
    world.file("turns.toml", &format!("{first}{UNNAMED}"));
    world.configure("[people]\napprovals = \"all\"\n");
    let run = ["run", "log in", "--model", "script:turns.toml", "--desktop", "virtual"];
    let shown = world.run(&[&run, open].concat());
    assert!(shown.starts_with("exit 0\n"), "{shown}");
    is_hidden_from_the_reply_on(&journal(world));
    let story = world.run(&["show", "last"]);
    assert!(!shown.contains("hunter2") && !story.contains("hunter2"), "{shown}{story}");
}

#[test]
fn a_field_without_a_name_is_verified_in_chromium() {
    if !has_programs(&["chromium"]) {
        return;
    }
    let world = World::new();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    world.file(
        "login.html",
        &format!(
            "<title>Log in</title><form method=post action=http://{address}/in><input type=password name=p><button>Send</button></form>"
        ),
    );
    let sent = posted(listener);
    logs_in_without_a_name(&world, "", &["--open", "login.html"]);
    assert_eq!(sent.join().unwrap(), "p=hunter2-Zaun%267");
}

/// Answers requests until one has a body, which it returns.
fn posted(listener: TcpListener) -> JoinHandle<String> {
    thread::spawn(move || {
        loop {
            let (stream, _) = listener.accept().unwrap();
            let mut reader = BufReader::new(&stream);
            let (mut line, mut length) = (String::new(), 0);
            while reader.read_line(&mut line).is_ok_and(|count| count > 2) {
                let lower = line.to_lowercase();
                length = lower.strip_prefix("content-length:").map_or(length, |n| n.trim().parse().unwrap());
                line.clear();
            }
            let mut body = vec![0; length];
            reader.read_exact(&mut body).unwrap();
            let page = "<title>Log in</title><h1>Welcome</h1>";
            let head = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nConnection: close";
            // A connection that the browser opened ahead of its request is closed already.
            write!(&stream, "{head}\r\nContent-Length: {}\r\n\r\n{page}", page.len()).ok();
            if length > 0 {
                return String::from_utf8(body).unwrap();
            }
        }
    })
}

/// Logs in by fields that are described and by the keyboard, in one reply, after a button that opens the form.
const DESCRIBED: &str = r#"
[[turn]]
agent = "HostAgent"
expect = 'Log in'
reply = '{"thought": "go on", "status": "ASSIGN", "current_subtask": "log in", "control_label": "{{window "Log in"}}"}'

[[turn]]
agent = "AppAgent"
reply = '''
{"thought": "fill in hunter2-Zaun&7", "comment": "I type hunter2-Zaun&7", "status": "CONTINUE", "action": [
 BEFORE
 {"function": "TOOL", "arguments": {"id": FIELD, "ARGUMENT": "hunter2-Zaun&7"}},
 {"function": "click_element", "arguments": {"id": {"role": "push button", "name": "Send"}}}]}
'''

[[turn]]
agent = "AppAgent"
expect = 'Welcome'
reply = '{"thought": "done", "status": "FINISH", "result": "logged in"}'

[[turn]]
agent = "HostAgent"
expect = 'FINISHED'
reply = '{"thought": "done", "status": "FINISH", "result": "logged in"}'
"#;

/// Carries out [`DESCRIBED`]: nothing that the program wrote or printed has the password.
fn nothing_has_it(
    world: &World,
    first: &str,
    open: &[&str],
    log: &Path,
    (before, tool, field): (&str, &str, &str),
) {
    let argument = if tool == "set_value" { "value" } else { "text" };
    let field = if field.is_empty() { "null" } else { field };
    let turns = DESCRIBED.replace("BEFORE", before).replace("TOOL", tool).replace("FIELD", field);
    world.file("turns.toml", &format!("{first}{}", turns.replace("ARGUMENT", argument)));
    world.configure("[people]\napprovals = \"all\"\n");
    let run = ["run", "log in", "--model", "script:turns.toml", "--desktop", "virtual", "--json"];
    let shown = world.run(&[&run, open].concat());
    assert!(shown.starts_with("exit 0\n"), "{tool} {field}: {shown}");
    assert!(!shown.contains("hunter2"), "{tool} {field}: {shown}");
    for arguments in [
        &["show", "last"][..],
        &["show", "last", "--records"],
        &["report", "last", "--format", "html", "--output", "report.html"],
        &["report", "last", "--format", "jsonl", "--output", "report.jsonl"],
        &["replay", "last"],
        &["verify", "last"],
    ] {
        let output = world.command(arguments).output().unwrap();
        let shown = world.shown(&output);
        assert!(output.status.success() && !shown.contains("hunter2"), "{arguments:?}: {shown}");
    }
    assert!(journal(world).iter().all(|line| !line.contains("hunter2")), "{tool} {field}");
    no_file_has_it(world.path(), log);
}

#[test]
fn a_password_for_a_field_that_is_described_is_hidden_in_gtk_3() {
    if !has_programs(&["python3"]) {
        return;
    }
    let user = r#"{"function": "type_text", "arguments": {"id": {"name": "User"}, "text": "ada"}},"#;
    let tab = r#"{"function": "type_text", "arguments": {"id": {"name": "User"}, "text": "ada\t"}},"#;
    let keys = r#"{"function": "type_text", "arguments": {"id": {"name": "User"}, "text": "ada"}}, {"function": "press_keys", "arguments": {"keys": "Tab"}},"#;
    for way in [
        (user, "type_text", r#"{"name": "Password"}"#),
        (user, "set_value", r#"{"role": "password text"}"#),
        (user, "type_text", r#"{"role": "field", "name": "Password", "in": "Log in"}"#),
        (tab, "type_text", ""),
        (keys, "type_text", ""),
    ] {
        let world = World::new();
        let log = world.file("oracle/log.json", "");
        let first = format!(
            "[[turn]]\nagent = \"HostAgent\"\nreply = '{{\"thought\": \"start\", \"status\": \"CONTINUE\", \"function\": \
             \"launch_application\", \"arguments\": {{\"name\": \"/usr/bin/python3\", \"files\": [\"-B\", {FORM:?}, {log:?}]}}}}'\n"
        );
        nothing_has_it(&world, &first, &[], &log, way);
        let arrived: Value = serde_json::from_str(&fs::read_to_string(&log).unwrap()).unwrap();
        assert_eq!(arrived, json!({"user": "ada", "password": PASSWORD, "token": ""}), "{way:?}");
    }
}

#[test]
fn a_password_for_a_field_that_a_button_brings_is_hidden_in_chromium() {
    if !has_programs(&["chromium"]) {
        return;
    }
    let opens =
        r#"{"function": "click_element", "arguments": {"id": {"role": "push button", "name": "Next"}}},"#;
    for field in [r#"{"name": "Password"}"#, ""] {
        let world = World::new();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        world.file(
            "login.html",
            &format!(
                "<title>Log in</title><button onclick=\"this.hidden=true;document.forms[0].hidden=false;p.focus()\">Next</button>\
                 <form hidden method=post action=http://{address}/in><input id=p type=password name=p aria-label=Password><button>Send</button></form>"
            ),
        );
        let sent = posted(listener);
        nothing_has_it(
            &world,
            "",
            &["--open", "login.html"],
            &world.path().join("none"),
            (opens, "type_text", field),
        );
        assert_eq!(sent.join().unwrap(), "p=hunter2-Zaun%267", "{field}");
    }
}

/// A form of Qt with one field, which writes what was sent to a file.
const QT_FORM: &str = r#"
import sys
from PyQt5 import QtWidgets
application = QtWidgets.QApplication(sys.argv)
window = QtWidgets.QWidget()
window.setWindowTitle("Log in")
rows = QtWidgets.QVBoxLayout(window)
field = QtWidgets.QLineEdit()
field.setEchoMode(QtWidgets.QLineEdit.Password)
button = QtWidgets.QPushButton("Send")
said = QtWidgets.QLabel("")
for row in field, button, said:
    rows.addWidget(row)
def sent():
    with open(sys.argv[1], "w") as log:
        log.write(field.text())
    said.setText("Welcome")
button.clicked.connect(sent)
window.show()
application.exec()
"#;

#[test]
fn a_field_without_a_name_is_verified_in_qt() {
    if !has_programs(&["python3"]) {
        return;
    }
    let world = World::new();
    let log = world.file("oracle/log.txt", "");
    let form = world.file("form.py", QT_FORM);
    let launch = format!(
        "[[turn]]\nagent = \"HostAgent\"\nreply = '{{\"thought\": \"start\", \"status\": \"CONTINUE\", \"function\": \
         \"launch_application\", \"arguments\": {{\"name\": \"/usr/bin/python3\", \"files\": [\"-B\", {form:?}, {log:?}]}}}}'\n"
    );
    logs_in_without_a_name(&world, &launch, &[]);
    assert_eq!(fs::read_to_string(&log).unwrap(), PASSWORD);
}

/// No file of a folder has the password, besides journals and what the test wrote.
pub(crate) fn no_file_has_it(folder: &Path, log: &Path) {
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
