//! How a session ends: nothing is lost, nothing is left behind, and it goes on where it stopped.
//!
//! Skipped if the programs of a virtual desktop or the editor are not installed, unless `DESKHAND_ALL_TESTS` is set.

use std::{
    fs,
    io::{Read as _, Write as _},
    net::TcpStream,
    process::{Child, Command, Output, Stdio},
};

use deskhand_testkit::endpoint::{Behaviour, MockEndpoint};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::support::{World, has_desktop, has_programs};

/// Types into the editor that shows `notes.txt`.
const TYPE: &str = r#"
[[turn]]
agent = "HostAgent"
reply = '''
{"observation": "an editor", "thought": "type there", "status": "ASSIGN", "current_subtask": "type the greeting",
 "control_label": "{{window "notes.txt"}}", "next": []}
'''

[[turn]]
agent = "AppAgent"
reply = '''
{"observation": "a document", "thought": "type", "status": "FINISH", "result": "typed",
 "action": [{"function": "type_text", "arguments": {"id": "{{element "text" ""}}", "text": "hello"}, "expect": "hello"}]}
'''
"#;

/// Saves the document of the editor.
const SAVE: &str = r#"
[[turn]]
agent = "HostAgent"
reply = '''
{"observation": "an editor", "thought": "save", "status": "ASSIGN", "current_subtask": "save",
 "control_label": "{{window "notes.txt"}}", "next": []}
'''

[[turn]]
agent = "AppAgent"
reply = '''
{"observation": "a document", "thought": "save", "status": "FINISH", "result": "saved",
 "action": [{"function": "save", "arguments": {}, "expect": "saved"}]}
'''
"#;

/// A request on a desktop that is kept if that is of use.
fn run(world: &World, arguments: &[&str]) -> Command {
    let mut command = world.command(arguments);
    command.env("DESKHAND__DESKTOP__KEEP", "auto").args(["--ask", "never"]);
    command
}

fn output(world: &World, arguments: &[&str]) -> (Output, String) {
    let output = run(world, arguments).output().unwrap();
    let shown = world.shown(&output);
    (output, shown)
}

fn kept(world: &World) -> usize {
    let listed = world.command(&["desktop", "list", "--json"]).output().unwrap();
    String::from_utf8(listed.stdout).unwrap().lines().count()
}

/// The lock files of LibreOffice below the home folder.
fn locks(world: &World) -> Vec<String> {
    let names = fs::read_dir(world.path()).unwrap().map(|entry| entry.unwrap().file_name());
    names.map(|name| name.into_string().unwrap()).filter(|name| name.starts_with(".~lock.")).collect()
}

#[test]
fn unsaved_changes_are_named_and_their_desktop_is_kept_until_they_are_saved() {
    if !has_desktop() {
        return;
    }
    let world = World::new();
    world.file("type.toml", TYPE);
    world.file("save.toml", SAVE);
    let notes = world.file("notes.txt", "");
    let (ran, shown) = output(
        &world,
        &["run", "type hello", "--open", "notes.txt", "--model", "script:type.toml", "--json"],
    );
    assert!(ran.status.success(), "{shown}");
    let summary: Value =
        serde_json::from_str(String::from_utf8(ran.stdout).unwrap().lines().last().unwrap()).unwrap();
    assert_eq!(summary["unsaved"], serde_json::json!([notes.display().to_string()]), "{summary}");
    assert_eq!(
        (&summary["desktop_kept_s"], &summary["resumable"]),
        (&600.into(), &false.into()),
        "{summary}"
    );
    assert!(
        shown.contains("notes.txt has unsaved changes") && shown.contains("deskhand desktop attach"),
        "{shown}"
    );
    assert_eq!(kept(&world), 1);
    assert_eq!(fs::read_to_string(&notes).unwrap(), "", "nobody saved it");

    let (ran, shown) = output(&world, &["resume", "last", "save it", "--model", "script:save.toml"]);
    assert!(ran.status.success() && shown.contains("on the same desktop"), "{shown}");
    assert_eq!(fs::read_to_string(&notes).unwrap().trim_end(), "hello");
    assert_eq!(kept(&world), 0, "nothing is unsaved any more: {shown}");
    assert_eq!(world.orphans(), Vec::<String>::new());
}

#[test]
fn a_desktop_is_kept_on_request_and_ended_by_hand() {
    if !has_desktop() {
        return;
    }
    let world = World::new();
    world.file("type.toml", TYPE);
    world.file("notes.txt", "");
    let arguments = ["run", "type hello", "--open", "notes.txt", "--model", "script:type.toml"];
    let (_, shown) = output(&world, &[&arguments[..], &["--keep=never"]].concat());
    assert!(shown.contains("notes.txt had unsaved changes"), "lost, and said: {shown}");
    assert_eq!((kept(&world), world.orphans()), (0, Vec::new()));
    let (_, shown) = output(&world, &[&arguments[..], &["--keep"]].concat());
    assert_eq!(kept(&world), 1, "{shown}");
    let shown = world.run(&["desktop", "end", "last"]);
    assert!(shown.starts_with("exit 0\n") && shown.contains("had unsaved changes"), "{shown}");
    assert_eq!((kept(&world), world.orphans()), (0, Vec::new()));
    let shown = world.run(&["desktop", "attach", "last"]);
    assert!(shown.starts_with("exit 1\n") && shown.contains("is not kept"), "{shown}");
}

/// Makes an office document, and says so.
const MAKE: &str = r#"
[[turn]]
agent = "HostAgent"
reply = '''
{"observation": "nothing", "thought": "write", "status": "ASSIGN", "current_subtask": "write and save",
 "function": "launch_application", "arguments": {"name": "LibreOffice Writer"}}
'''

[[turn]]
agent = "AppAgent"
reply = '''
{"observation": "a document", "thought": "save", "status": "FINISH", "result": "saved",
 "action": [{"function": "save_as", "arguments": {"path": "{{var "out"}}"}, "expect": "saved"}]}
'''

[[turn]]
agent = "HostAgent"
reply = '''{"observation": "saved", "thought": "done", "status": "FINISH", "result": "made"}'''
"#;

/// Finishes if the window of the document is there.
const LOOK: &str = r#"
[[turn]]
agent = "HostAgent"
expect = 'window "made\.odt'
reply = '''{"observation": "it is open", "thought": "done", "status": "FINISH", "result": "it is open"}'''
"#;

#[test]
fn an_office_document_has_no_lock_afterwards_and_is_opened_again_with_its_session() {
    if !has_desktop() || !has_programs(&["soffice"]) {
        return;
    }
    let world = World::new();
    world.file("make.toml", MAKE);
    world.file("look.toml", LOOK);
    let made = world.path().join("made.odt");
    let variable = format!("out={}", made.display());
    let (ran, shown) =
        output(&world, &["run", "make it", "--model", "script:make.toml", "--script-var", &variable]);
    assert!(ran.status.success() && made.is_file(), "{shown}");
    let saved = shown.lines().find(|line| line.contains("save as")).unwrap_or_default();
    assert!(
        saved.contains(" seen "),
        "the suite keeps the new file open, and it is saved all the same: {shown}"
    );
    assert_eq!((locks(&world), kept(&world)), (Vec::new(), 0), "{shown}");
    let (ran, shown) = output(&world, &["resume", "last", "now look", "--model", "script:look.toml"]);
    assert!(ran.status.success() && shown.contains("it is open"), "the session made it: {shown}");
    let (ran, shown) = output(&world, &["run", "look", "--open", "made.odt", "--model", "script:look.toml"]);
    assert!(ran.status.success(), "its own result can be opened: {shown}");
    assert_eq!((locks(&world), world.orphans()), (Vec::new(), Vec::new()));
}

/// Starts a request whose model does not answer, and waits until it is asked.
async fn asking(world: &World) -> (Child, MockEndpoint) {
    let endpoint = MockEndpoint::start([Behaviour::Hang]).await.unwrap();
    let address = endpoint.base_url();
    let arguments =
        ["run", "type hello", "--open", "notes.txt", "--model", "openai:mock", "--base-url", &address];
    let child = run(world, &arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    endpoint.wait_for_requests(1).await;
    (child, endpoint)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_closed_terminal_loses_nothing() {
    if !has_desktop() {
        return;
    }
    for signal in [Signal::HUP, Signal::TERM] {
        let world = World::new();
        world.file("notes.txt", "");
        world.file("type.toml", &format!("{TYPE}{SAVE}"));
        let (child, endpoint) = asking(&world).await;
        kill_process(Pid::from_child(&child), signal).unwrap();
        let ended = tokio::task::spawn_blocking(|| child.wait_with_output()).await.unwrap().unwrap();
        let shown = world.shown(&ended);
        assert!(shown.starts_with("exit 130\n") && shown.contains("deskhand resume"), "{shown}");
        drop(endpoint);
        assert_eq!(kept(&world), 1, "{shown}");
        let sessions = world.run(&["sessions"]);
        assert!(sessions.contains("resumable"), "{sessions}");
        let (ran, shown) = output(&world, &["resume", "last", "--model", "script:type.toml", "--keep=never"]);
        assert!(ran.status.success() && shown.contains("on the same desktop"), "{shown}");
        assert!(shown.contains("typed"), "the round went on: {shown}");
        assert!(world.run(&["replay", "last"]).starts_with("exit 0\n"));
        assert_eq!((kept(&world), world.orphans()), (0, Vec::new()));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_that_is_down_leaves_a_session_that_goes_on() {
    if !has_desktop() {
        return;
    }
    let world = World::new();
    world.configure("[model]\nattempts_max = 1\n");
    world.file("notes.txt", "");
    world.file("type.toml", TYPE);
    let (child, mut endpoint) = asking(&world).await;
    endpoint.kill().await;
    let ended = tokio::task::spawn_blocking(|| child.wait_with_output()).await.unwrap().unwrap();
    let shown = world.shown(&ended);
    assert!(shown.starts_with("exit 13\n") && shown.contains("deskhand resume"), "{shown}");
    let story = world.run(&["show", "last"]);
    assert!(story.contains("suspended"), "{story}");
    assert_eq!((kept(&world), world.orphans()), (0, Vec::new()), "nothing was done on its desktop");
    let (ran, shown) = output(&world, &["resume", "last", "--model", "script:type.toml", "--keep=never"]);
    assert!(ran.status.success() && shown.contains("typed"), "{shown}");
    assert!(world.run(&["verify", "last"]).starts_with("exit 0\n"));
    assert_eq!((kept(&world), world.orphans()), (0, Vec::new()));
}

#[test]
fn a_desktop_on_which_nothing_was_done_is_not_kept_after_an_error_of_the_model() {
    if !has_desktop() {
        return;
    }
    let world = World::new();
    world.file("notes.txt", "");
    world.configure("[model]\nattempts_max = 1\nprovider = \"openai\"\nmodel = \"none\"\nbase_url = \"http://127.0.0.1:9/v1\"\n");
    world.file("no.toml", "");
    for arguments in [
        &["run", "write"][..],
        &["run", "write", "--open", "notes.txt"],
        &["run", "write", "--open", "new.txt"],
        &["run", "write", "--open", "new.odt"],
        &["run", "write", "--model", "script:no.toml"],
    ] {
        let (ran, shown) = output(&world, arguments);
        assert!(!ran.status.success() && !shown.contains("the desktop stays"), "{shown}");
        assert_eq!((kept(&world), world.orphans()), (0, Vec::new()), "{shown}");
    }
    // One on which something is unsaved is kept.
    world.file("types.toml", &TYPE.replace("\"FINISH\"", "\"CONTINUE\""));
    let (ran, shown) =
        output(&world, &["run", "write", "--open", "notes.txt", "--model", "script:types.toml"]);
    assert!(!ran.status.success() && kept(&world) == 1, "{shown}");
    world.run(&["desktop", "end", "last"]);
    assert_eq!((kept(&world), world.orphans()), (0, Vec::new()));
}

#[test]
fn a_request_that_ran_out_of_its_budget_goes_on_with_another() {
    if !has_desktop() {
        return;
    }
    let world = World::new();
    world.file("notes.txt", "");
    world.file("type.toml", TYPE);
    let arguments = ["run", "type hello", "--open", "notes.txt", "--model", "script:type.toml"];
    let (ran, shown) = output(&world, &[&arguments[..], &["--max-steps", "1"]].concat());
    assert_eq!(ran.status.code(), Some(12), "{shown}");
    assert_eq!(kept(&world), 1, "{shown}");
    // The script answers from its first turn, as a model would that is asked anew.
    let again = ["resume", "last", "--max-steps", "9", "--model", "script:type.toml", "--keep=never"];
    let (ran, shown) = output(&world, &again);
    assert!(ran.status.success() && shown.contains("going on with “type hello”"), "{shown}");
    assert!(shown.contains("on the same desktop"), "{shown}");
    let shown = world.run(&["resume", "last"]);
    assert!(shown.contains("nothing to resume"), "it has finished: {shown}");
    assert_eq!((kept(&world), world.orphans()), (0, Vec::new()));
}

/// Runs `deskhand desktop attach` and returns it with the lines up to the one about Ctrl-C.
fn attach(world: &World) -> (Child, String) {
    let mut child = world
        .command(&["desktop", "attach", "last"])
        .stdout(Stdio::piped())
        .stderr(Stdio::inherit())
        .spawn()
        .unwrap();
    let mut shown = String::new();
    let output = child.stdout.as_mut().unwrap();
    let mut byte = [0];
    while !(shown.contains("vncviewer") && shown.ends_with('\n')) {
        assert_eq!(output.read(&mut byte).unwrap(), 1, "it ended: {shown}");
        shown.push(char::from(byte[0]));
    }
    (child, shown)
}

/// The local addresses that listen on a TCP port, as the kernel lists them.
fn listeners(port: u16) -> Vec<String> {
    let mark = format!(":{port:04X} ");
    let tables =
        ["/proc/net/tcp", "/proc/net/tcp6"].map(|table| fs::read_to_string(table).unwrap_or_default());
    let lines = tables.iter().flat_map(|table| table.lines());
    let listening = lines.filter(|line| line.split_whitespace().nth(3) == Some("0A"));
    listening
        .filter_map(|line| line.split_whitespace().nth(1))
        .filter(|local| format!("{local} ").contains(&mark))
        .map(str::to_owned)
        .collect()
}

#[test]
fn a_kept_desktop_can_be_looked_at_and_is_held_meanwhile() {
    if !has_desktop() || !has_programs(&["x11vnc"]) {
        return;
    }
    let world = World::new();
    world.file("type.toml", TYPE);
    world.file("notes.txt", "");
    output(&world, &["run", "type hello", "--open", "notes.txt", "--model", "script:type.toml"]);
    let (mut child, shown) = attach(&world);
    assert!(shown.contains("export DISPLAY=:"), "{shown}");
    let port: u16 =
        shown.split("127.0.0.1::").nth(1).unwrap().split_whitespace().next().unwrap().parse().unwrap();
    assert_eq!(listeners(port), [format!("0100007F:{port:04X}")], "on the loopback address alone");
    let mut viewer = TcpStream::connect(("127.0.0.1", port)).unwrap();
    let mut version = [0; 12];
    viewer.read_exact(&mut version).unwrap();
    viewer.write_all(&version).unwrap();
    let mut offered = [0; 2];
    viewer.read_exact(&mut offered).unwrap();
    // One type of security, and it asks for a password (RFC 6143, section 7.1.2).
    assert_eq!(offered, [1, 2]);
    let shown = world.run(&["resume", "last", "go on", "--model", "script:type.toml"]);
    assert!(shown.contains("it is in use by process"), "{shown}");
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    assert!(child.wait().unwrap().success());
    assert_eq!(kept(&world), 1, "it was left, not ended");
    assert!(world.run(&["desktop", "end", "--all"]).starts_with("exit 0\n"));
    assert_eq!((kept(&world), world.orphans()), (0, Vec::new()));
}
