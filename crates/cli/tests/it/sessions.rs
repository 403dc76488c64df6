//! Stored sessions: list, show, replay, report.

use std::{collections::BTreeMap, fs, path::PathBuf};

use deskhand_core::{prompt::PromptSet, session::SessionConfig};
use deskhand_desktop_act::ActLimits;
use deskhand_desktop_fake::office;
use deskhand_model::Script;
use deskhand_runtime::{RunOptions, StopSwitch, Toolbox, Waits, people::People};
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
    let options = RunOptions {
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
        wrong.starts_with("exit 1\n") && wrong.contains("wrong.toml") && wrong.contains("labels"),
        "{wrong}"
    );
}
