//! Stored sessions: list, show, replay, report.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use deskhand_desktop_act::ActLimits;
use deskhand_desktop_fake::office;
use deskhand_machine::{prompt::PromptSet, session::SessionConfig};
use deskhand_model::Script;
use deskhand_runtime::{SessionRunOptions, StopSwitch, Toolbox, Waits, people::People};
use insta::assert_snapshot;

use crate::support::World;

const OFFICE_SCRIPT: &str = include_str!("../../../runtime/tests/it/office.script.toml");

/// Stores a session on the in-memory office suite where the binary looks for it; returns its id and journal.
pub(crate) fn record(world: &World) -> (String, PathBuf) {
    let store = world.store();
    let desktop = office();
    let variables = BTreeMap::from([("output".to_owned(), "/tmp/sales.ods".to_owned())]);
    let model = Script::parse("office.script.toml", OFFICE_SCRIPT, variables).unwrap();
    let tools = Toolbox::standard(ActLimits::default()).unwrap();
    let options = SessionRunOptions {
        id: None,
        store: &store,
        desktop: &desktop,
        desktop_name: "fake".to_owned(),
        model: &model,
        tools: &tools,
        agents: deskhand_runtime::agents::EnabledAgents::default(),
        config: SessionConfig { ..SessionConfig::default() },
        prompts: PromptSet::default(),
        requests: vec!["Chart the sales table in Calc".into()],
        people: People::nobody(),
        stop: StopSwitch::new(),
        waits: Waits::default(),
        ranker: None,
        retrieve: None,
        program: "test 1".to_owned(),
        setup: serde_json::Value::Null,
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let end = runtime.block_on(deskhand_runtime::run(options, &mut |_| {})).unwrap();
    (end.session.0, end.folder.journal_path())
}

#[test]
fn no_sessions_yet() {
    let world = World::new();
    assert_snapshot!(world.run(&["sessions"]), @r"
    exit 0
    --- error
    no sessions in [home]/.local/state/deskhand/sessions yet
    ");
    assert_snapshot!(world.run(&["show", "last"]), @r"
    exit 1
    --- error
    error: no session `last` in [home]/.local/state/deskhand/sessions
    help: there are no sessions yet; `deskhand run` creates one
    ");
}

#[test]
fn session_is_listed_shown_and_found_by_part_of_its_id() {
    let world = World::new();
    let (id, _) = record(&world);
    let list = world.run(&["sessions"]);
    assert!(list.contains(&id) && list.contains("finished") && list.contains("just now"), "{list}");
    let json: serde_json::Value =
        serde_json::from_str(world.run(&["sessions", "--json"]).strip_prefix("exit 0\n--- out\n").unwrap())
            .unwrap();
    assert_eq!((&json["id"], &json["outcome"], &json["steps"]), (&id.into(), &"finished".into(), &7.into()));
    let id = json["id"].as_str().unwrap();
    for name in ["last", id, &id[..13], &id[28..]] {
        let shown = world.run(&["show", name]);
        assert!(shown.contains("Step 7 · HostAgent") && shown.contains("Outcome: finished"), "{shown}");
    }
}

#[test]
fn unknown_session_is_reported_with_the_closest_id() {
    let world = World::new();
    let (id, _) = record(&world);
    let mut wrong = id.clone();
    wrong.replace_range(35..36, if id.ends_with('0') { "1" } else { "0" });
    let shown = world.run(&["show", &wrong]);
    assert!(shown.starts_with("exit 1\n"), "{shown}");
    assert!(shown.contains(&format!("no session `{wrong}`")), "{shown}");
    assert!(shown.contains(&format!("did you mean {id}?")), "{shown}");
}

#[test]
fn replay_is_equal_until_a_reply_is_edited() {
    let world = World::new();
    let (_, journal) = record(&world);
    let equal = world.run(&["replay", "last"]);
    assert!(equal.starts_with("exit 0\n--- out\n") && equal.ends_with(" effects equal\n"), "{equal}");

    let text = fs::read_to_string(&journal).unwrap();
    let seq = 1 + text.lines().position(|line| line.contains("a bar chart")).unwrap();
    fs::write(&journal, text.replacen("a bar chart", "a pie chart", 1)).unwrap();
    let different = world.run(&["replay", "last"]);
    assert!(different.starts_with(&format!("exit 1\n--- out\ndifferent: record {seq}")), "{different}");
    assert!(world.run(&["show", "last"]).contains(&format!("record {seq} was modified")));
}

#[test]
fn truncated_journal_can_be_read() {
    let world = World::new();
    let (_, journal) = record(&world);
    let text = fs::read(&journal).unwrap();
    fs::write(&journal, &text[..text.len() * 2 / 3]).unwrap();
    let shown = world.run(&["show", "last"]);
    assert!(shown.starts_with("exit 0\n") && shown.contains("did not come to an end"), "{shown}");
    assert!(world.run(&["sessions"]).contains("resumable"));
}

/// Copies of a session under other ids.
fn copies(world: &World, journal: &Path, count: usize) -> Vec<String> {
    let copy = |number: usize| {
        let id = format!("copy-{number:03}");
        let folder = world.store().root().join(&id);
        fs::create_dir_all(&folder).unwrap();
        fs::copy(journal, folder.join("journal.jsonl")).unwrap();
        id
    };
    (0..count).map(copy).collect()
}

fn listed(world: &World, arguments: &[&str]) -> Vec<serde_json::Value> {
    let output = world.command(&[&["sessions", "--json"], arguments].concat()).output().unwrap();
    assert!(output.status.success(), "{}", world.shown(&output));
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn sessions_are_searched_filtered_sorted_and_limited() {
    let world = World::new();
    let (id, journal) = record(&world);
    copies(&world, &journal, 3);
    let bytes = fs::read(&journal).unwrap();
    let torn = world.store().root().join("copy-000/journal.jsonl");
    fs::write(&torn, &bytes[..bytes.len() / 2]).unwrap();
    let check = |arguments: &[&str], expected: &[&str]| {
        let rows = listed(&world, arguments);
        let ids: Vec<&str> = rows.iter().map(|row| row["id"].as_str().unwrap()).collect();
        assert_eq!(ids, expected, "{arguments:?}");
    };
    let all = ["copy-002", "copy-001", "copy-000", id.as_str()];
    check(&[], &all);
    check(&["--limit", "2"], &all[..2]);
    check(&["--outcome", "none"], &["copy-000"]);
    check(&["--outcome", "finished", "--outcome", "none"], &all);
    check(&["--application", "calc", "--outcome", "finished"], &["copy-002", "copy-001", id.as_str()]);
    check(&["--application", "gimp"], &[]);
    check(&["--search", "SALES", "--search", "copy-00"], &all[..3]);
    check(&["--search", "potatoes"], &[]);
    check(&["--sort", "id", "--ascending", "--limit", "1"], &[id.as_str()]);
    check(&["--sort", "steps", "--ascending", "--limit", "1"], &["copy-000"]);
    // Words are looked for in what applications showed, which no table has.
    check(&["Insert", "--limit", "1"], &["copy-002"]);
    let row = listed(&world, &["--outcome", "finished"]).remove(0);
    assert_eq!(row["applications"], serde_json::json!(["LibreOffice Writer", "LibreOffice Calc"]));
    assert_eq!((&row["reason"], &row["model"].is_string()), (&"charted and saved".into(), &true));
    let shown = world.run(&["sessions", "--outcome", "failed"]);
    assert!(shown.contains("no session fits"), "{shown}");
    for (flag, wrong) in [("--outcome", "done"), ("--sort", "price")] {
        let shown = world.run(&["sessions", flag, wrong]);
        assert!(shown.starts_with("exit 2") && shown.contains(wrong), "{shown}");
    }
}

#[test]
fn many_processes_list_at_once_and_some_are_killed() {
    const AT_ONCE: usize = 6;
    let world = World::new();
    let (id, journal) = record(&world);
    let mut expected = copies(&world, &journal, 40);
    expected.push(id);
    expected.sort();
    let index = world.store().root().join("sessions.index");
    for round in 0_u64..4 {
        let mut running: Vec<_> = (0..AT_ONCE)
            .map(|_| {
                let mut command = world.command(&["sessions", "--json"]);
                command.stdout(std::process::Stdio::piped()).spawn().unwrap()
            })
            .collect();
        // Killed while they read, or while they write the index.
        for child in running.iter_mut().skip(AT_ONCE / 2) {
            std::thread::park_timeout(std::time::Duration::from_millis(7 * (round + 1)));
            child.kill().unwrap();
        }
        for (place, child) in running.into_iter().enumerate() {
            let output = child.wait_with_output().unwrap();
            let lines = String::from_utf8(output.stdout).unwrap();
            if place < AT_ONCE / 2 {
                assert!(output.status.success());
                assert_eq!(lines.lines().count(), expected.len(), "round {round}");
            }
        }
        let mut ids: Vec<String> =
            listed(&world, &[]).iter().map(|row| row["id"].as_str().unwrap().to_owned()).collect();
        ids.sort();
        assert_eq!(ids, expected, "round {round}");
        assert!(index.is_file());
        if round == 1 {
            fs::write(&index, "half of a line").unwrap();
        }
    }
}

#[test]
fn unreadable_sessions_are_reported_and_hide_no_others() {
    let world = World::new();
    for _ in 0..5 {
        let (_, journal) = record(&world);
        let text = fs::read_to_string(&journal).unwrap();
        fs::write(&journal, text.replacen("\"record\":", "\"former\":", 3)).unwrap();
    }
    let (good, _) = record(&world);
    let list = world.run(&["sessions"]);
    assert!(list.contains(&good), "{list}");
    assert_eq!(list.matches("missing field").count(), 3, "{list}");
    assert!(list.contains("2 more cannot be read"), "{list}");
}

#[test]
fn report_is_written_and_its_path_printed() {
    let world = World::new();
    let (id, journal) = record(&world);
    let folder = journal.parent().unwrap();
    for (format, name) in [("html", "report.html"), ("markdown", "report.md"), ("jsonl", "report.jsonl")] {
        let printed = world.run(&["report", "last", "--format", format]);
        assert_eq!(
            printed,
            format!("exit 0\n--- out\n[home]/.local/state/deskhand/sessions/{id}/{name}\n"),
            "{format}"
        );
        assert!(folder.join(name).is_file(), "{format}");
    }
    let lines = world.run(&["report", "last", "--format", "jsonl", "--output", "/dev/stdout"]);
    assert_eq!(lines.matches("\"version\":1").count(), 7, "{lines}");
    assert!(lines.contains("--- error\n/dev/stdout"), "{lines}");
    let page = fs::read_to_string(folder.join("report.html")).unwrap();
    assert!(page.contains("No pictures were taken in this session"));
    assert!(world.run(&["report", "last"]).starts_with("exit 0\n"), "a report is replaced by the next one");
    let wrong = world.run(&["report", "last", "--format", "pdf"]);
    assert!(wrong.starts_with("exit 2\n") && wrong.contains("html, markdown, jsonl, ufo"), "{wrong}");
}

#[test]
fn a_session_is_judged_by_the_rules_of_today() {
    let world = World::new();
    record(&world);
    let same = world.run(&["policy", "test", "last"]);
    assert!(same.starts_with("exit 0\n--- out\n0 of "), "{same}");
    let explained = world.run(&["policy", "explain", "last"]);
    for told in
        ["write_table(", "allowed: no rule matches", "application LibreOffice Calc", "label       Finish"]
    {
        assert!(explained.contains(told), "{told}: {explained}");
    }
    world.file("strict.toml", "[[rules]]\nlabel = \"Finish\"\ndecision = \"deny\"\nreason = \"by hand\"\n");
    let strict = world.run(&["policy", "test", "last", "--policy", "strict.toml"]);
    assert!(strict.starts_with("exit 1\n") && strict.contains("then  allowed: no rule matches"), "{strict}");
    assert!(strict.contains("now   denied: by hand") && strict.contains("1 of "), "{strict}");
    let lines = world.run(&["policy", "test", "last", "--policy", "strict.toml", "--json"]);
    let line = lines.lines().find(|line| line.starts_with('{')).unwrap();
    let line: serde_json::Value = serde_json::from_str(line).unwrap();
    assert_eq!((&line["now"]["decision"], &line["subject"]["labels"][0]), (&"deny".into(), &"Finish".into()));
    world.file("wrong.toml", "[[rules]]\nlabels = \"Finish\"\n");
    let wrong = world.run(&["policy", "test", "last", "--policy", "wrong.toml"]);
    assert!(
        wrong.starts_with("exit 2\n") && wrong.contains("unknown key `policy.rules[0].labels` in"),
        "{wrong}"
    );
}
