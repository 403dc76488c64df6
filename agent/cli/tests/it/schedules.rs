//! Schedules: added, listed and run by the program and on the page; kept by the service where no systemd user manager answers, and by
//! timers where one does. Judged by journals and by files on disk.
//!
//! Skipped in part if the programs of a virtual desktop are not installed, unless `DESKHAND_ALL_TESTS` is set.

use std::{fs, os::unix::fs::PermissionsExt as _};

use deskhand_machine::provenance::Provenance;
use deskhand_runtime::{InstructionKind, now_ms};
use serde_json::{Value, json};

use crate::{
    batches::until,
    page::{Ending, Service},
    starting::{GREETS, scripted, started, wrong},
    support::{World, has_desktop},
};

/// An agent that is done at once.
const DONE: &str = r#"
[[turn]]
agent = "HostAgent"
reply = '{"observation": "nothing", "thought": "done", "status": "FINISH", "result": "done"}'
"#;

/// A world in which no systemd user manager answers, whatever the machine has.
fn alone(script: &str) -> World {
    let world = scripted(script);
    stand_in(&world, "exit 1");
    world
}

/// Puts a program in the place of `systemctl` for who finds programs by this world.
fn stand_in(world: &World, does: &str) {
    let file = world.file("bin/systemctl", &format!("#!/bin/sh\n{does}\n"));
    fs::set_permissions(file, fs::Permissions::from_mode(0o755)).unwrap();
}

fn run(world: &World, arguments: &[&str]) -> String {
    let mut command = world.command(&[]);
    let path = std::env::join_paths(
        [world.path().join("bin")]
            .into_iter()
            .chain(std::env::split_paths(&std::env::var_os("PATH").unwrap())),
    );
    world.shown(&command.args(["schedule"]).args(arguments).env("PATH", path.unwrap()).output().unwrap())
}

fn rows(service: &Service) -> Vec<Value> {
    let answer = service.get("/api/schedules");
    assert_eq!(answer.status, 200, "{}", answer.body);
    answer.json().as_array().unwrap().clone()
}

#[test]
fn what_cannot_be_kept_is_refused_before_the_night() {
    let world = alone(DONE);
    let refused = |arguments: &[&str], words: &str| {
        let said = run(&world, arguments);
        assert!(said.starts_with("exit 2\n") && said.contains(words), "{arguments:?}: {said}");
    };
    refused(&["add", "../x", "do it", "--when", "daily"], "no name of a schedule");
    refused(&["add", "x", "do it", "--when", "at noon"], "`Mon..Fri 07:00`");
    refused(&["add", "x", "do it", "--when", "07:00\nExecStart=/bin/sh"], "no time that can be kept");
    refused(&["add", "x", "do it", "--when", "daily", "--", "--max-cots=1"], "--max-cots");
    refused(&["add", "x", "--workflow", "nothing", "--when", "daily"], "nothing");
    refused(&["add", "x", "--when", "daily"], "<REQUEST>");
    refused(&["remove", "x"], "there is no schedule `x`");
    refused(&["run", "..%2fx"], "no name of a schedule");
    assert!(!world.path().join(".local/state/deskhand/schedules").exists());
    let added = run(&world, &["add", "x", "do it", "--when", "Mon..Fri 07:00"]);
    assert!(added.starts_with("exit 0\n") && added.contains("while `deskhand serve` runs"), "{added}");
    refused(&["add", "x", "do it", "--when", "daily"], "already");
    let listed = run(&world, &["list"]);
    assert!(listed.contains("Mon..Fri *-*-* 07:00:00") && listed.contains("not run yet"), "{listed}");
    assert!(run(&world, &["remove", "x"]).starts_with("exit 0\n"));
    assert!(run(&world, &["list"]).contains("no schedule yet"));
}

#[test]
fn where_systemd_answers_a_timer_keeps_it() {
    let world = scripted(DONE);
    // What is asked of it is written down; whether units are right is verified by systemd itself in another test.
    stand_in(&world, "echo \"$*\" >> \"$HOME/asked\"");
    let added =
        run(&world, &["add", "night", "50% of $HOME\nExecStart=/bin/sh", "--when", "daily", "--catch-up"]);
    assert!(added.starts_with("exit 0\n") && added.contains("systemd keeps it"), "{added}");
    let units = world.path().join(".config/systemd/user");
    let service = fs::read_to_string(units.join("deskhand-night.service")).unwrap();
    let timer = fs::read_to_string(units.join("deskhand-night.timer")).unwrap();
    assert!(timer.contains("OnCalendar=*-*-* 00:00:00\nPersistent=true\n"), "{timer}");
    assert!(
        service.contains(" run night\n") && !service.contains("50%") && !service.contains("/bin/sh"),
        "{service}"
    );
    let asked = || fs::read_to_string(world.path().join("asked")).unwrap();
    assert!(
        asked().contains("--user daemon-reload\n--user enable --now deskhand-night.timer\n"),
        "{}",
        asked()
    );
    assert!(run(&world, &["remove", "night"]).starts_with("exit 0\n"));
    assert!(asked().contains("--user disable --now deskhand-night.timer\n"), "{}", asked());
    assert_eq!(fs::read_dir(units).unwrap().count(), 0);
    // A manager that refuses leaves nothing.
    stand_in(&world, "test \"$2\" != enable || { echo no such unit >&2; exit 1; }");
    let refused = run(&world, &["add", "night", "do it", "--when", "daily"]);
    assert!(refused.starts_with("exit 1\n") && refused.contains("no such unit"), "{refused}");
    assert!(run(&world, &["list"]).contains("no schedule yet"));
}

#[test]
fn the_service_runs_what_is_due_and_makes_up_for_what_it_missed() {
    if !has_desktop() {
        return;
    }
    let world = alone(DONE);
    let _ending = Ending(&world);
    for (name, catch_up) in [("missed", true), ("left-out", false)] {
        let mut arguments = vec!["add", name, "look at the desktop", "--when", "*-*-01 00:00"];
        arguments.extend(catch_up.then_some("--catch-up"));
        assert!(run(&world, &arguments).starts_with("exit 0\n"));
        // As if it had been added a year ago, and nobody had run it since.
        let file = world.path().join(format!(".local/state/deskhand/schedules/{name}.toml"));
        let text = fs::read_to_string(&file).unwrap();
        let added = text.lines().find(|line| line.starts_with("added_ms")).unwrap().to_owned();
        let earlier = now_ms() - 365 * 24 * 3_600_000;
        let text = text.replace(&added, &format!("added_ms = {earlier}"));
        fs::write(&file, &text).unwrap();
        let store = world.store();
        store.seals().vouch(InstructionKind::Schedule, text.as_bytes(), Provenance::Made).unwrap();
    }
    let service = Service::start(&world, &[]);
    let find =
        |service: &Service, name: &str| rows(service).into_iter().find(|row| row["name"] == name).unwrap();
    let row = until("the run", || {
        let row = find(&service, "missed");
        (row["outcome"] == "finished").then_some(row)
    });
    assert_eq!((&row["running"], &row["keeper"]), (&json!(false), &json!("service")), "{row}");
    let session = row["session"].as_str().unwrap();
    assert!(world.run(&["show", session]).contains("look at the desktop"));
    service.kill();
    // The next service does not make up for it again; nor did any for what is not to be made up for.
    let service = Service::start(&world, &[]);
    let page = service.get("/schedules").body;
    assert!(page.contains(session), "{page}");
    assert_eq!(find(&service, "left-out")["last"], "");
    assert_eq!(find(&service, "missed")["session"], session);
    assert_eq!(
        fs::read_dir(world.store().root())
            .unwrap()
            .filter(|entry| entry.as_ref().unwrap().path().is_dir())
            .count(),
        1
    );
    service.kill();
    assert_eq!(world.orphans(), Vec::<String>::new());
}

#[test]
fn a_schedule_is_made_run_and_removed_on_the_page() {
    if !has_desktop() {
        return;
    }
    let world = scripted(GREETS);
    let _ending = Ending(&world);
    let service = Service::start(&world, &[]);
    let add = |wanted: Value| service.post("/api/schedules", &wanted);
    let wanted =
        json!({"name": "report", "when": "Mon..Fri 07:00", "request": "write <b>it</b>", "max_steps": 20});
    let with = |change: Value| {
        let mut wanted = wanted.clone();
        wanted.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
        wrong(&add(wanted))
    };
    assert_eq!(with(json!({"name": "<script>"})), (409, "name".to_owned()));
    assert_eq!(with(json!({"name": "../../x"})), (409, "name".to_owned()));
    assert_eq!(with(json!({"when": "now"})), (409, "when".to_owned()));
    assert_eq!(with(json!({"request": " "})), (409, "request".to_owned()));
    assert_eq!(with(json!({"max_steps": 0})), (400, "max_steps".to_owned()));
    assert_eq!(with(json!({"workflow": "../x"})), (409, "workflow".to_owned()));
    assert_eq!(add(wanted.clone()).status, 201);
    assert_eq!(wrong(&add(wanted.clone())), (409, "name".to_owned()), "there is one already");
    let page = service.get("/schedules").body;
    assert!(page.contains("write &lt;b&gt;it") && !page.contains("<b>it"), "{page}");
    let asks = |line: &str| service.asks(line, &[("Authorization", &service.bearer())], "");
    for name in ["..%2f..%2fkeys", "nothing", "%2e%2e"] {
        assert_eq!(asks(&format!("DELETE /api/schedules/{name}")).status, 404, "{name}");
        assert_eq!(service.post(&format!("/api/schedules/{name}/run"), &json!({})).status, 404, "{name}");
    }
    let session = started(&service.post("/api/schedules/report/run", &json!({})));
    service.waits_for(&session, |_, data| data["running"] == false);
    let row = until("its end", || rows(&service).into_iter().find(|row| row["running"] == false));
    assert_eq!((&row["outcome"], &row["session"]), (&json!("finished"), &json!(session)), "{row}");
    assert_eq!(asks("DELETE /api/schedules/report").status, 204);
    assert_eq!(rows(&service), Vec::<Value>::new());
    service.kill();
    assert_eq!(world.orphans(), Vec::<String>::new());
}
