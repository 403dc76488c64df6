//! `worker` and `fleet`, with real servers and a real application.
//!
//! Skipped if the programs are not installed, unless `DESKHAND_ALL_TESTS` is set.

use std::{
    fs,
    path::Path,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use deskhand_testkit::{nats::Cluster, programs::can_run};
use serde_json::Value;

use crate::support::{World, has_desktop};

/// Far more than anything here takes.
const BOUND: Duration = Duration::from_secs(180);

/// Types a word into a document, saves it, and waits for a title.
const TURNS: &str = r#"
[[turn]]
agent = "HostAgent"
expect = 'Write ⟦?(?<what>[^\s⟧]+)⟧? into the note'
reply = '''
{"observation": "An editor is open.", "thought": "It can be used as it is.", "status": "ASSIGN", "current_subtask": "Type {{capture "what"}}",
 "control_label": "{{window "Mousepad"}}", "next": []}
'''

[[turn]]
agent = "AppAgent"
expect = 'Type (?<what>\S+)'
reply = '''
{"observation": "A document.", "thought": "Type, save, and see that it is saved.", "status": "FINISH", "result": "saved", "action": [
 {"function": "type_text", "arguments": {"id": "{{element "text" ""}}", "text": "{{capture "what"}}"}},
 {"function": "press_keys", "arguments": {"keys": "ctrl+s"}},
 {"function": "wait_for", "arguments": {"title": "TITLE", "seconds": 120}}]}
'''

[[turn]]
agent = "HostAgent"
repeat = true
reply = '''
{"observation": "The note is written.", "thought": "Nothing is left.", "status": "FINISH", "result": "written"}
'''
"#;

/// A fleet, and the home of those who use it.
pub(crate) struct Fleet {
    pub(crate) world: World,
    cluster: Cluster,
    _data: tempfile::TempDir,
}

impl Fleet {
    pub(crate) fn start() -> Option<Self> {
        if !has_desktop() || !can_run(Vec::new(), &["mousepad"]) {
            return None;
        }
        let data = tempfile::tempdir().unwrap();
        let (world, cluster) = (World::new(), Cluster::start(data.path()).unwrap()?);
        world.file("turns.toml", TURNS);
        let fleet = Self { world, cluster, _data: data };
        // The servers have to find each other first.
        let begun = Instant::now();
        let mut shown = fleet.run("status", &[]);
        while !shown.starts_with("exit 0") {
            assert!(begun.elapsed() < BOUND, "{shown}");
            shown = fleet.run("status", &[]);
        }
        Some(fleet)
    }

    fn server(&self) -> [String; 6] {
        let words = ["--fleet", &self.cluster.addresses().join(","), "--replicas", "3", "--lease", "3"];
        words.map(ToOwned::to_owned)
    }

    pub(crate) fn run(&self, command: &str, more: &[&str]) -> String {
        let output = self.world.command(&["fleet", command]).args(more).args(self.server()).output();
        self.world.shown(&output.unwrap())
    }

    /// A worker whose tasks wait for a title.
    pub(crate) fn worker(&self, name: &str, title: &str) -> Worker {
        let mut command =
            self.world.command(&["worker", "--name", name, "--model", "script:turns.toml", "--no-pictures"]);
        self.world.file("turns.toml", &TURNS.replace("TITLE", title));
        command.args(self.server()).stdin(Stdio::null());
        let log = fs::File::create(self.world.path().join(format!("{name}.log"))).unwrap();
        Worker(command.stdout(log.try_clone().unwrap()).stderr(log).spawn().unwrap())
    }

    pub(crate) fn task(&self, id: &str, more: &str) {
        self.world.file(&format!("tasks/{id}.md"), "");
        let task = format!(r#"{{"request": "Write {id} into the note", "open": ["{id}.md"]{more}}}"#);
        self.world.file(&format!("tasks/{id}.json"), &task);
    }

    /// Waits until the tasks look like this.
    pub(crate) fn until(&self, what: &str, is_so: impl Fn(&Value) -> bool) -> Value {
        let begun = Instant::now();
        loop {
            let shown = self.run("status", &["--json"]);
            let line = shown.lines().find(|line| line.starts_with('{'));
            let status = line.map(|line| serde_json::from_str::<Value>(line).unwrap());
            match status {
                Some(status) if is_so(&status) => return status,
                Some(_) | None => assert!(begun.elapsed() < BOUND, "{what}: {shown}{}", self.logs()),
            }
        }
    }

    /// What the workers have said.
    pub(crate) fn logs(&self) -> String {
        let files = fs::read_dir(self.world.path()).unwrap().filter_map(Result::ok);
        let logs = files.filter(|file| file.path().extension().is_some_and(|extension| extension == "log"));
        logs.filter_map(|log| fs::read_to_string(log.path()).ok()).collect()
    }

    fn document(&self, id: &str) -> String {
        fs::read_to_string(self.world.path().join(format!("out/{id}/documents/{id}.md"))).unwrap()
    }
}

pub(crate) struct Worker(Child);

impl Worker {
    /// Asks it to end, and waits for that.
    pub(crate) fn drain(mut self) {
        assert!(Command::new("kill").arg(self.0.id().to_string()).status().unwrap().success());
        assert!(self.0.wait().unwrap().success());
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

/// The lines of a journal that a worker stored: each follows the one before it.
fn records(folder: &Path) -> Vec<Value> {
    let text = fs::read_to_string(folder.join("journal.jsonl")).unwrap();
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    for (index, line) in lines.iter().enumerate() {
        assert_eq!(line["seq"], index + 1);
    }
    lines
}

#[test]
fn workers_carry_out_the_tasks_of_a_fleet_in_order() {
    let Some(fleet) = Fleet::start() else { return };
    fleet.task("first", "");
    fleet.task("second", r#", "after": ["first"]"#);
    fleet.task("nowhere", r#", "needs": {"labels": ["gpu"]}"#);
    let shown = fleet.run("submit", &["tasks"]);
    assert!(shown.starts_with("exit 0") && shown.contains("3 tasks submitted"), "{shown}");
    let shown = fleet.run("submit", &["tasks"]);
    assert!(shown.starts_with("exit 0"), "the same tasks are the same: {shown}");
    let worker = fleet.worker("one", "Mousepad");
    let status = fleet.until("two are done", |status| status["counts"]["finished"] == 2);
    assert_eq!(status["counts"]["queued"], 1, "nobody has the label: {status}");
    assert!(fleet.run("cancel", &["nowhere"]).starts_with("exit 0"));
    fleet.until("it has ended, though nobody takes it", |status| status["counts"]["unfinished"] == 1);
    worker.drain();
    let shown = fleet.run("results", &["--output", "out"]);
    assert!(shown.starts_with("exit 0"), "{shown}");
    for id in ["first", "second"] {
        assert_eq!(fleet.document(id), id, "{}", fleet.logs());
        records(&fleet.world.path().join("out").join(id));
    }
    assert!(fleet.run("cancel", &["none"]).contains("the fleet has no task none"));
    assert_eq!(fleet.world.orphans(), Vec::<String>::new());
}

#[test]
fn many_tasks_are_counted_by_the_leading_worker_and_without_one_by_reading_them() {
    let Some(fleet) = Fleet::start() else { return };
    let task =
        |number| format!(r#"{{"id": "q{number}", "request": "wait", "needs": {{"labels": ["gpu"]}}}}"#);
    let tasks: Vec<String> = (0..1_001).map(task).collect();
    fleet.world.file("many.jsonl", &tasks.join("\n"));
    assert!(fleet.run("submit", &["many.jsonl", "--batch", "all"]).starts_with("exit 0"));
    let read = fleet.until("nobody counts them", |status| status["tasks"].is_array());
    let worker = fleet.worker("one", "none");
    let told = fleet.until("the worker counts them", |status| {
        status["summary"]["changes"] == 0 && status["counts"]["queued"] == 1_001
    });
    assert!(told["tasks"].is_null(), "{told}");
    assert_eq!((&told["costs"], &told["counts"]["tasks"]), (&read["costs"], &read["counts"]["tasks"]));
    let shown = fleet.run("status", &[]);
    assert!(shown.contains("1001 queued") && shown.contains("status --all"), "{shown}");
    let all = fleet.run("status", &["--all"]);
    assert!(all.contains("all-q1000  waits for a worker") && all.contains("1001 queued"), "{all}");
    assert!(fleet.run("status", &["all-q7"]).contains("all-q7  waits for a worker"));
    assert!(fleet.run("status", &["all-q7", "q7"]).contains("the fleet has no task q7"));
    worker.drain();
    fleet.until("nobody has counted them for a lease", |status| status["tasks"][0]["state"] == "queued");
}

#[test]
fn another_worker_goes_on_with_the_task_of_one_that_was_killed() {
    let Some(fleet) = Fleet::start() else { return };
    fleet.task("note", "");
    fleet.run("submit", &["tasks"]);
    let mut killed = fleet.worker("one", "what never comes");
    // It waits once it has typed and saved, and everything up to there is stored.
    fleet.until("it is with a worker", |status| status["tasks"][0]["state"] == "held");
    let begun = Instant::now();
    let journal = fleet.world.path().join("so-far/note/journal.jsonl");
    let waits = || {
        fleet.run("results", &["--output", "so-far"]);
        fs::read_to_string(&journal).is_ok_and(|text| text.contains(r#""tool":"wait_for""#))
    };
    while !waits() {
        assert!(begun.elapsed() < BOUND, "{}", fleet.logs());
    }
    killed.0.kill().unwrap();
    killed.0.wait().unwrap();
    let worker = fleet.worker("two", "what never comes");
    fleet.until("it is done", |status| status["counts"]["finished"] == 1);
    worker.drain();
    let shown = fleet.run("results", &["--output", "out"]);
    assert!(shown.starts_with("exit 0"), "{shown}");
    assert_eq!(fleet.document("note"), "note", "it was typed once");
    let records = records(&fleet.world.path().join("out/note"));
    let came = |what: &str| records.iter().filter(|line| line["record"]["event"]["came"] == what).count();
    assert_eq!((came("requested"), came("resumed")), (1, 1));
    let result: Value =
        serde_json::from_str(&fs::read_to_string(fleet.world.path().join("out/note/result.json")).unwrap())
            .unwrap();
    assert!(result["result"]["worker"].as_str().unwrap().starts_with("two-"), "{result}");
    // It replays offline, as a session of one machine does.
    let session = records[0]["record"]["session"].as_str().unwrap();
    let folder = fleet.world.path().join(".local/state/deskhand/sessions").join(session);
    fs::create_dir_all(folder.parent().unwrap()).unwrap();
    fs::rename(fleet.world.path().join("out/note"), &folder).unwrap();
    let shown = fleet.world.run(&["replay", session]);
    assert!(shown.starts_with("exit 0"), "{shown}");
}
