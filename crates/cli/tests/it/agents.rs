//! Agents without a window: listing, configuration, sandbox, and sub-tasks.

use crate::support::{World, has_desktop};

const TURNS: &str = r#"
[[turn]]
agent = "HostAgent"
expect = '- \[a1\] agent "shell"'
reply = '''
{"thought": "files are the shell's", "status": "ASSIGN", "control_label": "a1", "current_subtask": "write it down"}
'''

[[turn]]
agent = "shell"
expect = 'Programs can change files in the working folder alone, and cannot use the network'
reply = '''
{"thought": "write", "status": "CONTINUE", "action": [{"function": "run_command", "arguments": {"program": "sh",
 "arguments": ["-c", "echo hello > note.txt; echo spoilt > ../outside.txt; cat ../secret.txt; ls -d $HOME"]}}]}
'''

[[turn]]
agent = "shell"
expect = 'outside.txt: Permission denied(?s:.*)secret.txt: Permission denied'
reply = '''
{"thought": "no network either", "status": "CONTINUE", "action": [{"function": "run_command", "arguments":
 {"program": "/usr/bin/python3", "arguments": ["-c", "import socket; socket.socket()"]}}]}
'''

[[turn]]
agent = "shell"
expect = 'PermissionError'
reply = '{"thought": "it is written", "status": "FINISH", "result": "note.txt"}'

[[turn]]
agent = "HostAgent"
expect = 'write it down. by shell: FINISHED — note.txt'
reply = '{"thought": "done", "status": "FINISH", "result": "the note is there"}'
"#;

#[test]
fn agents_are_listed_with_their_statuses_and_tools() {
    let world = World::new();
    world.configure(
        "[agents]\nenabled = [\"shell\"]\n[agents.programs.printer]\ncommand = [\"printer-agent\"]\n",
    );
    let shown = world.run(&["agents"]);
    for line in [
        "host  built in",
        "app  built in",
        "printer  disabled, in a separate program",
        "shell  enabled, in this program",
        "statuses: CONTINUE, FINISH, FAIL, PENDING, CONFIRM",
        "tools: run_command",
    ] {
        assert!(shown.contains(line), "{line}: {shown}");
    }
    assert!(world.run(&["agents", "--json"]).contains(r#""name":"shell","state":"enabled""#));
}

#[test]
fn unknown_agent_is_reported_with_the_closest_name() {
    let world = World::new();
    world.configure("[agents]\nenabled = [\"shel\"]\n");
    let shown = world.run(&["agents"]);
    assert!(shown.starts_with("exit 1\n") && shown.contains("did you mean `shell`?"), "{shown}");
}

#[test]
fn sandboxed_program_that_cannot_start_prints_only_the_reason() {
    let world = World::new();
    let confinement = r#"{"confined": true, "write": [], "read": [], "network": false, "mark": "mark-1"}"#;
    let shown = world.run(&["sandboxed", confinement, "/bin/no-such-program"]);
    assert!(
        shown.starts_with("exit 125\n--- error\nmark-1: failed to start /bin/no-such-program"),
        "{shown}"
    );
}

#[test]
fn shell_agent_works_only_in_its_folder() {
    if !has_desktop() {
        return;
    }
    let world = World::new();
    world.file("turns.toml", TURNS);
    world.file("work/empty", "");
    world.file("secret.txt", "the secret");
    world.configure(&format!(
        "[agents]\nenabled = [\"shell\"]\n[agents.shell]\nfolder = \"{}\"\n[people]\napprovals = \"all\"\n",
        world.path().join("work").display()
    ));
    let shown = world.run(&["run", "write it down", "--model", "script:turns.toml", "--desktop", "virtual"]);
    assert!(shown.starts_with("exit 0\n"), "{shown}");
    let note = std::fs::read_to_string(world.path().join("work/note.txt")).unwrap();
    assert_eq!(note, "hello\n");
    assert!(!world.path().join("outside.txt").exists());
    assert!(world.run(&["replay", "last"]).starts_with("exit 0\n"));
    assert_eq!(world.orphans(), Vec::<String>::new());
}
