//! What a worker refuses, and whether another one may take it.

use deskhand_fleet::{signed::FleetSigningKey, task::TaskId};
use serde_json::json;

use super::*;

fn task(work: Value) -> TaskSpec {
    TaskSpec { work, ..TaskSpec::new(TaskId::new("one").unwrap()) }
}

fn plain() -> TaskSpec {
    task(
        json!({ "task": { "request": "Write it", "open": ["n.md"] }, "documents": { "n.md": "0".repeat(64) } }),
    )
}

fn rules(settings: &FleetSettings) -> Rules {
    Rules::new("dh", settings, MachineCapabilities::default()).unwrap()
}

/// What becomes of a task that is signed itself, or not at all.
fn judge(rules: &Rules, spec: &TaskSpec) -> Result<(), TaskRefusal> {
    rules.judge(spec, spec)
}

fn here(refusal: &Result<(), TaskRefusal>, words: &str) {
    assert!(matches!(refusal, Err(TaskRefusal::Here(reason)) if reason.contains(words)), "{refusal:?}");
}

fn everywhere(refusal: &Result<(), TaskRefusal>, words: &str) {
    assert!(
        matches!(refusal, Err(TaskRefusal::Everywhere(reason)) if reason.contains(words)),
        "{words}: {refusal:?}"
    );
}

#[test]
fn keys_decide_who_may_submit() {
    let (anna, stranger) = (FleetSigningKey::generate(), FleetSigningKey::generate());
    let open = rules(&FleetSettings::default());
    let accept = BTreeMap::from([("anna".to_owned(), anna.public())]);
    let closed = rules(&FleetSettings { accept, ..FleetSettings::default() });
    assert_eq!(judge(&open, &plain()), Ok(()));
    here(&judge(&closed, &plain()), "not signed");
    let signed = anna.sign("dh", plain()).unwrap();
    for rules in [&open, &closed] {
        assert_eq!(judge(rules, &signed), Ok(()));
        everywhere(&judge(rules, &TaskSpec { priority: 9, ..signed.clone() }), "somebody changed it");
        everywhere(&judge(rules, &anna.sign("other", plain()).unwrap()), "the fleet \"other\"");
    }
    here(&judge(&closed, &stranger.sign("dh", plain()).unwrap()), &stranger.public());
    let accept = BTreeMap::from([("anna".to_owned(), "Uanna".to_owned())]);
    let wrong = Rules::new(
        "dh",
        &FleetSettings { accept, ..FleetSettings::default() },
        MachineCapabilities::default(),
    );
    assert!(wrong.unwrap_err().to_string().contains("fleet.accept.anna"));
}

#[test]
fn labels_limits_and_needs_decide_what_is_taken() {
    let settings = FleetSettings {
        labels: BTreeSet::from(["night".to_owned()]),
        steps_max: Some(100),
        ..FleetSettings::default()
    };
    let rules = rules(&settings);
    here(&judge(&rules, &plain()), "none of the labels night");
    let mut asked = TaskSpec { labels: settings.labels.clone(), ..plain() };
    assert_eq!(judge(&rules, &asked), Ok(()));
    asked.work["task"]["limits"] = json!({ "steps_max": 100, "tokens_max": u64::MAX });
    assert_eq!(judge(&rules, &asked), Ok(()));
    asked.work["task"]["limits"] = json!({ "steps_max": 101 });
    here(&judge(&rules, &asked), "`limits.steps_max` is 101");
    let mut needy = TaskSpec { labels: settings.labels, ..plain() };
    needy.needs.agents.insert("shell".to_owned());
    here(&judge(&rules, &needy), "does not offer");
}

#[test]
fn a_task_reaches_for_nothing_but_its_documents() {
    let rules = rules(&FleetSettings::default());
    let hash = "0".repeat(64);
    for path in [
        "/etc/passwd",
        "../n.md",
        "n.md/../../x",
        "~/.ssh/id_ed25519",
        "file:///etc/passwd",
        "https://example.org/",
        "other.md",
        "",
        "n.md\0",
    ] {
        let asked = json!({ "task": { "request": "x", "open": [path] }, "documents": { "n.md": hash } });
        everywhere(&judge(&rules, &task(asked)), "none of its documents");
    }
    for object in ["/etc/passwd", "../../x", "a/../../x"] {
        let asked = json!({ "task": { "request": "x", "object": object, "steps": ["y"] }, "documents": {} });
        everywhere(&judge(&rules, &task(asked)), "none of its documents");
    }
    let windows = json!({ "task": { "request": "x", "object": "TCP/IP - Mousepad", "steps": ["y"] } });
    assert_eq!(judge(&rules, &task(windows)), Ok(()));
    for name in ["", ".", "..", "/x", "../x", "a/b", ".config/x", "a\0b", "a\\b", &"x".repeat(300)] {
        let mut asked = json!({ "task": { "request": "x" }, "documents": {} });
        asked["documents"][name] = hash.clone().into();
        everywhere(&judge(&rules, &task(asked)), "no plain name");
    }
    let asked = json!({ "task": { "request": "x" }, "documents": { "n.md": "../0" } });
    everywhere(&judge(&rules, &task(asked)), "no hash");
    let many: serde_json::Map<String, Value> =
        (0..=DOCUMENTS_MAX).map(|number| (number.to_string(), hash.clone().into())).collect();
    everywhere(&judge(&rules, &task(json!({ "task": {}, "documents": many }))), "more than");
    for work in [Value::Null, json!([]), json!({ "task": {}, "policy": "none" }), json!("x".repeat(100_000))]
    {
        everywhere(&judge(&rules, &task(work)), "cannot be read");
    }
}
