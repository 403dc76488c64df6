//! Stored sessions: `resume`, `fork`, `verify`, `gc`.
//!
//! Tests that need a desktop are skipped if its programs are not installed, unless `DESKHAND_ALL_TESTS` is set.

use std::{fs, path::Path};

use deskhand_runtime::SessionFolder;
use deskhand_ui::ids::SessionId;
use serde_json::Value;

use crate::{
    sessions::record,
    support::{World, has_desktop},
};

/// A model that gets another request after the main job and remembers that job.
const SECOND: &str = r#"
[[turn]]
agent = "HostAgent"
expect = ['what did you do', 'Chart the sales table in Calc']
reply = '{"thought": "it is in the memory", "status": "FINISH", "result": "charted the sales table"}'
"#;

/// A model that only finishes.
const DONE: &str = r#"
[[turn]]
agent = "HostAgent"
reply = '{"thought": "seen", "status": "FINISH", "result": "resumed"}'
"#;

/// A model that follows other prompts and meets a rule.
const PIRATE: &str = r#"
[[turn]]
agent = "HostAgent"
expect = ['SPEAK LIKE A PIRATE', 'resumes on a new desktop']
reply = '''
{"thought": "arr", "status": "CONTINUE", "function": "launch_application", "arguments": {"name": "mousepad"}}
'''

[[turn]]
agent = "HostAgent"
expect = ['SPEAK LIKE A PIRATE', 'denied by the policy', 'no editors today']
reply = '{"thought": "not allowed", "status": "FINISH", "result": "the table is read, and that is enough"}'

[[turn]]
agent = "HostAgent"
expect = 'say goodbye'
reply = '{"thought": "the second request", "status": "FINISH", "result": "goodbye"}'
"#;

/// Runs a command on a virtual desktop with a script.
fn on_desktop(world: &World, arguments: &[&str], script: &str) -> String {
    world.file("turns.toml", script);
    let mut command = world.command(arguments);
    command.args(["--model", "script:turns.toml", "--desktop", "virtual", "--size", "800x600"]);
    world.shown(&command.output().unwrap())
}

/// The first record of a kind of effect or event, counted from 1.
fn record_with(journal: &Path, pointer: &str, value: &str) -> usize {
    let text = fs::read_to_string(journal).unwrap();
    let has = |line: &str| {
        let line: Value = serde_json::from_str(line).unwrap();
        line.pointer(pointer).and_then(Value::as_str) == Some(value)
    };
    1 + text.lines().position(has).unwrap()
}

/// Asserts that the newest session is intact, replays equal, and left no process behind.
fn is_sound(world: &World) {
    for command in ["verify", "replay"] {
        let checked = world.run(&[command, "last"]);
        assert!(checked.starts_with("exit 0\n"), "{command}: {checked}");
    }
    assert_eq!(world.orphans(), Vec::<String>::new());
}

/// A session with the first lines of another one, as after a crash.
fn broken_off(world: &World, journal: &Path, id: &str, lines: usize) -> SessionFolder {
    let source = journal.parent().unwrap();
    let folder = world.store().create(&SessionId(id.to_owned())).unwrap();
    for entry in fs::read_dir(source).unwrap() {
        let entry = entry.unwrap();
        if entry.file_type().unwrap().is_file() {
            fs::copy(entry.path(), folder.path().join(entry.file_name())).unwrap();
        }
    }
    let text = fs::read_to_string(journal).unwrap();
    let kept: Vec<&str> = text.lines().take(lines).collect();
    fs::write(folder.journal_path(), kept.join("\n") + "\n").unwrap();
    folder
}

#[test]
fn ended_session_takes_another_request() {
    let world = World::new();
    let (id, journal) = record(&world);
    let before = fs::read_to_string(&journal).unwrap();
    let shown = world.run(&["resume", "last", "--model", "script:turns.toml"]);
    assert!(shown.starts_with("exit 1\n"), "a script that is not there: {shown}");
    world.file("turns.toml", DONE);
    let shown = world.run(&["resume", "last", "--model", "script:turns.toml"]);
    assert!(shown.starts_with("exit 1\n") && shown.contains("has ended"), "{shown}");
    assert!(shown.contains("deskhand resume last \"…\""), "{shown}");
    assert_eq!(fs::read_to_string(&journal).unwrap(), before, "nothing was written for that");
    if !has_desktop() {
        return;
    }
    let shown = on_desktop(&world, &["resume", "last", "what did you do?"], SECOND);
    assert!(shown.starts_with("exit 0\n") && shown.contains("charted the sales table"), "{shown}");
    let after = fs::read_to_string(&journal).unwrap();
    assert!(after.starts_with(&before) && after.len() > before.len(), "the same journal goes on");
    assert_eq!(world.store().list().unwrap(), [SessionId(id)]);
    is_sound(&world);
}

#[test]
fn a_session_whose_key_is_lost_is_resumed_with_consent() {
    if !has_desktop() {
        return;
    }
    let world = World::new();
    record(&world);
    let key = world.store().find("last").unwrap().seals().key_path();
    fs::remove_file(key).unwrap();
    let shown = on_desktop(&world, &["resume", "last", "and now?"], DONE);
    assert!(shown.starts_with("exit 1\n") && shown.contains("there is no key at"), "{shown}");
    assert!(shown.contains("`--unsealed`"), "{shown}");
    let shown = on_desktop(&world, &["resume", "last", "and now?", "--unsealed"], DONE);
    assert!(shown.starts_with("exit 0\n") && shown.contains("resumed"), "{shown}");
    is_sound(&world);
}

#[test]
fn session_in_use_is_neither_resumed_nor_removed() {
    let world = World::new();
    let (id, _) = record(&world);
    world.file("turns.toml", DONE);
    let lock = world.store().find("last").unwrap().lock().unwrap();
    let shown = world.run(&["resume", "last", "go on", "--model", "script:turns.toml"]);
    let holder = format!("in use by process {}", std::process::id());
    assert!(shown.starts_with("exit 1\n") && shown.contains(&holder), "{shown}");
    assert!(shown.contains("help: wait until it ends"), "{shown}");
    let shown = world.run(&["gc", "--keep", "0", "--unfinished", "--older-than", "0s"]);
    assert!(shown.starts_with("exit 0\n") && shown.contains(&format!("{id}  in use")), "{shown}");
    assert!(shown.contains("0 sessions removed, freeing 0 B; 1 kept"), "{shown}");
    drop(lock);
    let shown = world.run(&["resume", "last", "--model", "script:turns.toml"]);
    assert!(shown.contains("has ended"), "it can be had now: {shown}");
}

#[test]
fn fork_uses_other_prompts_and_rules() {
    if !has_desktop() {
        return;
    }
    let world = World::new();
    let (id, journal) = record(&world);
    let before = fs::read_to_string(&journal).unwrap();
    let set = fs::read_dir(journal.parent().unwrap()).unwrap().map(|entry| entry.unwrap().path());
    let set = set.filter(|path| path.file_name().unwrap().to_string_lossy().starts_with("prompts-"));
    let prompts: Value = serde_json::from_str(&fs::read_to_string(set.last().unwrap()).unwrap()).unwrap();
    let host = prompts["host_system"].as_str().unwrap();
    world.file("prompts/host_system.md", &format!("{host}\nSPEAK LIKE A PIRATE\n"));
    world.file(
        "rules.toml",
        "[[rules]]\ntool = \"launch_application\"\ndecision = \"deny\"\nreason = \"no editors today\"\n",
    );
    // After the table was read.
    let at = 1 + record_with(&journal, "/record/effect/command/tool", "read_table");
    let at = at.to_string();
    let fork = ["fork", &id, "--at", &at, "say goodbye", "--prompts", "prompts", "--policy", "rules.toml"];
    let shown = on_desktop(&world, &fork, PIRATE);
    assert!(shown.starts_with("exit 0\n"), "{shown}\n{}", world.run(&["show", "last"]));
    let forked = world.store().list().unwrap().remove(0);
    assert_ne!(forked.0, id);
    assert!(shown.contains(&format!("forked as session {forked}")), "{shown}");
    let story = world.run(&["show", "last"]);
    assert!(story.contains("the table is read, and that is enough") && story.contains("goodbye"), "{story}");
    assert_eq!(fs::read_to_string(&journal).unwrap(), before, "the session itself is as it was");
    is_sound(&world);
}

#[test]
fn failed_fork_leaves_nothing_behind() {
    let world = World::new();
    let (id, journal) = record(&world);
    let last = fs::read_to_string(&journal).unwrap().lines().count();
    let call = record_with(&journal, "/record/effect/command/tool", "read_table");
    world.file("turns.toml", DONE);
    world.file("unknown/captain_system.md", "Arr.");
    world.file("none/notes.txt", "no prompt");
    world.file("rules.toml", "[[rules]]\ntool = \"*\"\ndecision = \"maybe\"\n");
    let refused = |at: usize, more: &[&str], expected: &[&str]| {
        let mut command = world.command(&["fork", &id, "--at", &at.to_string()]);
        command.args(["--model", "script:turns.toml", "--desktop", "virtual"]).args(more);
        let shown = world.shown(&command.output().unwrap());
        assert!(shown.starts_with("exit 1\n") || shown.starts_with("exit 2\n"), "{shown}");
        assert!(expected.iter().all(|words| shown.contains(words)), "{expected:?} in {shown}");
        assert_eq!(world.store().list().unwrap(), [SessionId(id.clone())], "{shown}");
    };
    let records = format!("it has records 1 to {last}");
    refused(last + 1, &[], &[&records, &format!("--at {last}")]);
    refused(0, &[], &[&records]);
    refused(call, &[], &["an effect was in progress (call read_table)", &format!("--at {}", call + 1)]);
    refused(last, &[], &["nothing is in progress after record", "add a request: deskhand fork"]);
    refused(call + 1, &["--prompts", "unknown"], &["unknown prompt `captain_system`", "host_system"]);
    refused(call + 1, &["--prompts", "none"], &["no prompts in none"]);
    refused(call + 1, &["--prompts", "gone"], &["failed to read the prompts of gone"]);
    refused(call + 1, &["--policy", "rules.toml"], &["policy.rules", "rules.toml:1", "maybe", "allow"]);
    fs::remove_file(world.path().join("turns.toml")).unwrap();
    refused(call + 1, &[], &["turns.toml"]);
}

#[test]
fn modified_byte_is_reported_with_its_record() {
    let world = World::new();
    let (id, journal) = record(&world);
    let text = fs::read_to_string(&journal).unwrap();
    let records = text.lines().count();
    let shown = world.run(&["verify", "last"]);
    assert!(shown.starts_with("exit 0\n--- out\nintact: "), "{shown}");
    assert!(shown.contains(&format!("intact: {records} records")), "{shown}");

    let seq = 1 + text.lines().position(|line| line.contains("a bar chart")).unwrap();
    fs::write(&journal, text.replacen("a bar chart", "a bat chart", 1)).unwrap();
    let shown = world.run(&["verify", "last"]);
    assert!(shown.starts_with(&format!("exit 1\n--- out\nnot intact: record {seq}: ")), "{shown}");
    assert_eq!(shown.matches("not intact: ").count(), 1, "{shown}");
    let json = world.run(&["verify", "last", "--json"]);
    let found: Value = serde_json::from_str(json.strip_prefix("exit 1\n--- out\n").unwrap()).unwrap();
    assert_eq!((&found["session"], &found["intact"]), (&id.into(), &false.into()), "{found}");
    assert_eq!(found["findings"].as_array().unwrap().len(), 1, "{found}");
    world.file("turns.toml", DONE);
    let shown = world.run(&["resume", "last", "go on", "--model", "script:turns.toml"]);
    assert!(shown.starts_with("exit 1\n"), "{shown}");
    assert!(shown.contains(&format!("record {seq} was modified")), "nothing is built on it: {shown}");

    fs::write(&journal, &text).unwrap();
    let prompts = fs::read_dir(journal.parent().unwrap()).unwrap().map(|entry| entry.unwrap().path());
    let mut prompts =
        prompts.filter(|path| path.file_name().unwrap().to_string_lossy().starts_with("prompts-"));
    fs::write(prompts.next().unwrap(), "{}").unwrap();
    let shown = world.run(&["verify", "last"]);
    assert!(shown.starts_with("exit 1\n--- out\nnot intact: record 1: prompt set"), "{shown}");
    assert!(world.run(&["verify", "nobody"]).starts_with("exit 1\n--- error\nerror: no session"));
}

#[test]
fn without_the_key_a_session_is_consistent_with_itself_and_no_more() {
    let world = World::new();
    let (_, journal) = record(&world);
    let key = world.path().join(".local/state/deskhand/seals/journal.key");
    fs::remove_file(&key).unwrap();
    let shown = world.run(&["verify", "last"]);
    assert!(shown.starts_with("exit 3\n--- out\nconsistent with itself: "), "{shown}");
    let place = "there is no key at [home]/.local/state/deskhand/seals/journal.key";
    assert!(shown.contains(place) && shown.contains("recompute its hashes"), "{shown}");
    let json = world.run(&["verify", "last", "--json"]);
    let found: Value = serde_json::from_str(json.strip_prefix("exit 3\n--- out\n").unwrap()).unwrap();
    assert_eq!((&found["intact"], &found["consistent"]), (&false.into(), &true.into()), "{found}");
    assert!(found["unproven"].as_str().unwrap().contains("there is no key"), "{found}");
    world.file("turns.toml", DONE);
    let shown = world.run(&["resume", "last", "go on", "--model", "script:turns.toml"]);
    assert!(
        shown.starts_with("exit 1\n") && shown.contains("consistent with itself, but not proven"),
        "{shown}"
    );
    assert!(shown.contains("`--unsealed`") && !key.exists(), "{shown}");

    let text = fs::read_to_string(&journal).unwrap();
    fs::write(&journal, text.replacen("a bar chart", "a bat chart", 1)).unwrap();
    assert!(world.run(&["verify", "last"]).starts_with("exit 1\n--- out\nnot intact: record "));
}

#[test]
fn removed_end_is_reported_and_not_resumed() {
    let world = World::new();
    let (_, journal) = record(&world);
    let text = fs::read_to_string(&journal).unwrap();
    let (kept, last) = (20, text.lines().count());
    let lines: Vec<&str> = text.lines().take(kept).collect();
    fs::write(&journal, lines.join("\n") + "\n").unwrap();
    let shown = world.run(&["verify", "last"]);
    let missing = format!("not intact: records {} to {last} are missing", kept + 1);
    assert!(shown.starts_with("exit 1\n") && shown.contains(&missing), "{shown}");
    world.file("turns.toml", DONE);
    let shown = world.run(&["resume", "last", "--model", "script:turns.toml"]);
    let missing = format!("records {} to {last} are missing at its end", kept + 1);
    assert!(shown.starts_with("exit 1\n") && shown.contains(&missing), "{shown}");
    assert!(shown.contains("fork it at a record before that"), "{shown}");
}

#[test]
fn old_sessions_are_removed_and_needed_ones_kept() {
    let world = World::new();
    let (ended, journal) = record(&world);
    let crashed = broken_off(&world, &journal, "0-crashed", 30);
    let in_use = broken_off(&world, &journal, "0-in-use", usize::MAX);
    let lock = in_use.lock().unwrap();
    let shown = world.run(&["gc"]);
    assert!(shown.starts_with("exit 0\n") && shown.contains("0 sessions removed"), "young: {shown}");

    let verdicts = |shown: &str| {
        let verdict = |id: &str| {
            let line = shown.lines().find(|line| line.starts_with(id));
            line.unwrap_or_else(|| panic!("{id} in {shown}")).split("  ").nth(1).unwrap().to_owned()
        };
        [verdict(&ended), verdict("0-crashed"), verdict("0-in-use")]
    };
    let shown = world.run(&["gc", "--keep", "0", "--dry-run"]);
    assert_eq!(verdicts(&shown), ["would be removed", "kept, can be resumed", "in use"], "{shown}");
    assert!(shown.contains("1 session would be removed, freeing") && shown.contains("2 kept"), "{shown}");
    assert_eq!(world.store().list().unwrap().len(), 3, "a dry run removes nothing");

    let shown = world.run(&["gc", "--keep", "0"]);
    assert_eq!(verdicts(&shown), ["removed", "kept, can be resumed", "in use"], "{shown}");
    assert!(shown.contains("1 session removed, freeing") && !shown.contains("freeing 0 B"), "{shown}");
    assert!(!journal.parent().unwrap().exists(), "nothing is left of it");

    let json = world.run(&["gc", "--keep", "0", "--unfinished", "--json"]);
    let rows: Vec<Value> = json.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let row = |id: &str| rows.iter().find(|row| row["session"] == id).unwrap();
    assert_eq!(row("0-crashed")["removed"], true, "{json}");
    assert_eq!(row("0-in-use")["kept_because"], "in use", "{json}");
    assert!(!crashed.path().exists() && in_use.journal_path().is_file());
    drop(lock);
    let shown = world.run(&["gc", "--older-than", "0s"]);
    assert!(shown.contains("1 session removed") && shown.contains("; 0 kept"), "{shown}");
    assert_eq!(world.store().list().unwrap(), []);
    assert!(world.run(&["gc", "--older-than", "soon"]).starts_with("exit 2\n"));
}
