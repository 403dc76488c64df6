//! The store of experiences: what is found, counted, replaced and forgotten.

use std::{fs, path::Path};

use deskhand_knowledge::experience::{
    Experience, ExperienceError, ExperienceKind, ExperienceOutcome, ExperienceStore, FAILURES_MAX,
    FailedApproach, Forget, Uses, sample,
};
use deskhand_machine::retrieval::{Retriever, Trust};
use serde_json::{Value, json};

/// An experience with a request, made now.
pub(crate) fn made(id: &str, request: &str, application: &str) -> Experience {
    Experience {
        id: id.to_owned(),
        session: format!("of {id}"),
        request: request.to_owned(),
        applications: vec![application.to_owned()],
        plan: vec!["open the menu".to_owned()],
        steps: Vec::new(),
        worked: Vec::new(),
        failed: Vec::new(),
        outcome: ExperienceOutcome::Worked,
        ..sample(0)
    }
}

fn store() -> (tempfile::TempDir, ExperienceStore) {
    let folder = tempfile::tempdir().unwrap();
    let store = ExperienceStore::open(&folder.path().join("store")).unwrap();
    (folder, store)
}

fn ids(store: &ExperienceStore) -> Vec<String> {
    store.list().unwrap().into_iter().map(|one| one.id).collect()
}

fn found(store: &ExperienceStore, wanted: &str, application: Option<&str>) -> Vec<String> {
    store.find(wanted, application, 10).unwrap().into_iter().map(|hit| hit.origin).collect()
}

#[test]
fn what_worked_comes_first_and_what_failed_is_a_warning() {
    let (_folder, store) = store();
    let lesson =
        FailedApproach { what: "typing into the name box".to_owned(), why: "it was disabled".to_owned() };
    let failed = Experience {
        outcome: ExperienceOutcome::Failed,
        failed: vec![lesson],
        ..made("bad", "sort the invoices by date", "calc")
    };
    store.add(failed).unwrap();
    store.add(made("good", "sort the invoices by amount and then export them", "calc")).unwrap();
    store.add(made("other", "rename a picture", "gimp")).unwrap();
    let shown =
        Experience { kind: ExperienceKind::Demonstration, ..made("shown", "sorting invoices", "writer") };
    store.add(shown).unwrap();
    let hits = store.find("sort invoices by date", Some("calc"), 10).unwrap();
    let order: Vec<_> = hits.iter().map(|hit| (hit.origin.as_str(), hit.retriever, hit.trust)).collect();
    let expected = [
        ("good", Retriever::Experience, Trust::Session),
        ("shown", Retriever::Demonstration, Trust::User),
        ("bad", Retriever::Experience, Trust::Session),
    ];
    assert_eq!(order, expected);
    assert_eq!(hits[2].title, "warning, this failed before: sort the invoices by date");
    assert!(hits[2].text.contains("typing into the name box: it was disabled"), "{}", hits[2].text);
    assert!(hits[0].text.contains("Plan:\n- open the menu"), "{}", hits[0].text);
    assert!(hits.iter().all(|hit| hit.score <= 1_000));
    assert_eq!(store.find("sort invoices", Some("calc"), 1).unwrap().len(), 1);
    assert!(found(&store, "quantum chromodynamics", None).is_empty());
    assert!(found(&store, "", None).is_empty());
}

#[test]
fn the_same_request_with_other_values_is_replaced_and_its_counters_are_kept() {
    let (_folder, store) = store();
    let now_ms = sample(0).at_ms;
    let add = |id: &str, request: &str, application: &str, outcome: ExperienceOutcome, at: u64| {
        let one = made(id, request, application);
        let at_ms = now_ms + at;
        store.add(Experience { outcome, at_ms, ..one }).unwrap()
    };
    assert!(add("a", "set A1 to \"x\"", "calc", ExperienceOutcome::Worked, 0));
    assert!(store.note_result("a", true).unwrap());
    assert!(store.note_result("a", false).unwrap());
    assert!(!store.note_result("none", true).unwrap());
    assert!(add("b", "set A7 to \"long text\"", "calc", ExperienceOutcome::Worked, 1));
    assert_eq!(ids(&store), ["b"]);
    let uses = store.show("b").unwrap().unwrap().uses;
    assert_eq!((uses.used, uses.succeeded, uses.failed), (2, 1, 1));
    assert!(
        !add("late", "set A9 to \"\"", "calc", ExperienceOutcome::Worked, 0),
        "an earlier one does not replace a later one"
    );
    assert!(
        add("c", "set A1 to \"x\"", "writer", ExperienceOutcome::Worked, 2),
        "another application is another experience"
    );
    assert!(
        add("d", "set A2 to \"x\"", "calc", ExperienceOutcome::Failed, 3),
        "a failure does not hide what worked"
    );
    assert_eq!(ids(&store), ["b", "c", "d"]);
    assert!(
        add("e", "set A3 to \"x\"", "calc", ExperienceOutcome::Worked, 4),
        "what works now ends the warning"
    );
    assert_eq!(ids(&store), ["c", "e"]);
    assert_eq!(store.show("e").unwrap().unwrap().uses.used, 2);
    assert!(store.show("a").unwrap().is_none());
    assert_eq!(found(&store, "set A5 to something", Some("calc")), ["e", "c"]);
}

#[test]
fn what_keeps_failing_is_forgotten() {
    let (_folder, store) = store();
    store.add(made("a", "sort rows", "calc")).unwrap();
    for _ in 0..FAILURES_MAX {
        assert_eq!(found(&store, "sort rows", None), ["a"]);
        store.note_result("a", false).unwrap();
    }
    assert!(found(&store, "sort rows", None).is_empty());
    assert!(ids(&store).is_empty());
}

#[test]
fn forgetting_leaves_nothing_on_the_disk() {
    let (folder, store) = store();
    for (id, request, application) in
        [("a", "walrus feeding", "zoo"), ("b", "penguin counting", "zoo"), ("c", "rows", "calc")]
    {
        store.add(made(id, request, application)).unwrap();
    }
    let old = Experience { at_ms: 5, kind: ExperienceKind::Demonstration, ..made("d", "old", "calc") };
    store.add(old).unwrap();
    assert_eq!(store.forget(&Forget::Id("a".to_owned())).unwrap(), 1);
    assert_eq!(store.forget(&Forget::Id("a".to_owned())).unwrap(), 0);
    let words_on_disk = |word: &str| {
        let file = folder.path().join("store/experience.jsonl");
        fs::read_to_string(file).unwrap().contains(word)
    };
    assert!(!words_on_disk("walrus") && words_on_disk("penguin"));
    assert!(found(&store, "walrus feeding", None).is_empty());
    assert_eq!(store.forget(&Forget::Application("zoo".to_owned())).unwrap(), 1);
    assert_eq!(store.forget(&Forget::Before(1_000)).unwrap(), 1);
    assert_eq!(ids(&store), ["c"]);
    let year_ms = 366 * 24 * 60 * 60 * 1_000;
    let later = store.show("c").unwrap().unwrap().at_ms + year_ms;
    assert_eq!(store.forget_stale(later).unwrap(), 1);
    store.add(Experience { at_ms: 5, ..made("stale", "stale", "calc") }).unwrap();
    assert!(ids(&store).is_empty(), "what is stale already is not kept");
}

#[test]
fn experiences_are_checked_and_bounded() {
    let (_folder, store) = store();
    for (id, request) in [("", "sort"), (" ", "sort"), ("a", " "), (&"x".repeat(300), "sort")] {
        let error = store.add(made(id, request, "calc")).unwrap_err();
        assert!(matches!(error, ExperienceError::Invalid { .. }), "{error}");
    }
    let long = "long ".repeat(100_000);
    let huge =
        Experience { plan: vec![long.clone(); 1_000], agent: long.clone(), ..made("a", &long, "calc") };
    store.add(huge).unwrap();
    let kept = store.show("a").unwrap().unwrap();
    let size = serde_json::to_string(&kept).unwrap().len();
    assert!(size < 100_000, "{size}");
    assert!(store.find("long", None, 1).unwrap()[0].text.len() < 10_000);
}

#[test]
fn several_stores_see_each_other() {
    let (folder, one) = store();
    let other = ExperienceStore::open(&folder.path().join("store")).unwrap();
    one.add(made("a", "sort rows", "calc")).unwrap();
    assert_eq!(found(&other, "sort rows", None), ["a"]);
    other.add(made("b", "filter columns", "calc")).unwrap();
    other.note_result("a", true).unwrap();
    assert_eq!(one.show("a").unwrap().unwrap().uses.succeeded, 1);
    assert_eq!(found(&one, "filter columns", None), ["b"]);
    one.forget(&Forget::Id("a".to_owned())).unwrap();
    assert!(found(&other, "sort rows", None).is_empty());
    assert_eq!(ids(&other), ["b"]);
}

#[test]
fn many_changes_are_written_anew_in_one_small_file() {
    let (folder, store) = store();
    store.add(made("a", "sort rows", "calc")).unwrap();
    for _ in 0..700 {
        store.note_result("a", true).unwrap();
    }
    assert_eq!(store.show("a").unwrap().unwrap().uses.used, 700);
    let text = fs::read_to_string(folder.path().join("store/experience.jsonl")).unwrap();
    assert!(text.lines().count() < 400, "{}", text.lines().count());
    assert_eq!(found(&store, "sort rows", None), ["a"]);
}

/// Every file below a folder.
fn files(folder: &Path) -> Vec<std::path::PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.filter(|path| path.is_file()).collect()
}

#[test]
fn a_lost_or_damaged_index_is_built_anew() {
    let (folder, store) = store();
    let folder = folder.path().join("store");
    store.add_all((0..200).map(sample).collect()).unwrap();
    let wanted = sample(151).request;
    let expected = found(&store, &wanted, None);
    assert!(expected.contains(&"sample-151".to_owned()));
    let check = |what: &str| {
        assert_eq!(found(&ExperienceStore::open(&folder).unwrap(), &wanted, None), expected, "{what}");
    };
    fs::remove_dir_all(folder.join("index")).unwrap();
    check("removed");
    let names: Vec<_> =
        files(&folder.join("index")).iter().map(|path| path.file_name().unwrap().to_owned()).collect();
    assert!(names.len() > 4, "{names:?}");
    for content in [&b""[..], b"{", &[0xff; 300]] {
        for at in 0..names.len() {
            // Each build has other names of segments.
            let Some(file) = files(&folder.join("index")).into_iter().nth(at) else { continue };
            if file.extension().is_some_and(|ending| ending == "lock") {
                continue;
            }
            fs::write(&file, content).unwrap();
            check(&format!("{} with {content:?}", file.display()));
        }
    }
    fs::remove_dir_all(folder.join("index")).unwrap();
    fs::write(folder.join("index"), "a file").unwrap();
    let store = ExperienceStore::open(&folder).unwrap();
    assert!(store.find(&wanted, None, 5).is_err(), "the user is told what is in the way");
    assert_eq!(store.list().unwrap().len(), 200, "the records are not affected");
}

#[test]
fn damaged_and_unknown_records_are_left_out() {
    let (folder, store) = store();
    let path = folder.path().join("store/experience.jsonl");
    store.add(made("a", "sort rows", "calc")).unwrap();
    let mut text = fs::read_to_string(&path).unwrap();
    text.push_str("no json\n{\"later\": {\"kind\": 7}}\n{\"add\": {\"experience\": {\"id\": \"cut");
    fs::write(&path, &text).unwrap();
    let reopened = ExperienceStore::open(&folder.path().join("store")).unwrap();
    assert_eq!(ids(&reopened), ["a"]);
    reopened.add(made("b", "filter columns", "calc")).unwrap();
    assert_eq!(ids(&store), ["a", "b"]);
    assert_eq!(found(&reopened, "filter columns", None), ["b"]);
    let text = fs::read_to_string(&path).unwrap();
    assert!(!text.contains("cut"), "an incomplete last line is dropped");
    // Without its first line, the file is still read, and mended by the next writer.
    let body: String = text.lines().skip(1).map(|line| format!("{line}\n")).collect();
    fs::write(&path, body).unwrap();
    assert_eq!(ids(&ExperienceStore::open(&folder.path().join("store")).unwrap()), ["a", "b"]);
    store.add(made("c", "export slides", "impress")).unwrap();
    assert_eq!(ids(&store), ["a", "b", "c"]);
    assert!(fs::read_to_string(&path).unwrap().starts_with("{\"version\":1,"));
}

#[test]
fn fields_of_a_later_version_are_read_and_its_file_is_not_written() {
    let (folder, store) = store();
    let path = folder.path().join("store/experience.jsonl");
    store.add(made("a", "sort rows", "calc")).unwrap();
    let lines: Vec<Value> =
        fs::read_to_string(&path).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let (mut header, mut record) = (lines[0].clone(), lines[1].clone());
    header["version"] = json!(99);
    record["add"]["experience"]["mood"] = json!("good");
    fs::write(&path, format!("{header}\n{record}\n")).unwrap();
    let store = ExperienceStore::open(&folder.path().join("store")).unwrap();
    assert_eq!(found(&store, "sort rows", None), ["a"]);
    let error = store.add(made("b", "filter", "calc")).unwrap_err();
    assert!(matches!(error, ExperienceError::Newer { found: 99, .. }), "{error}");
    // A record with the least that is needed.
    let least: Experience =
        serde_json::from_value(json!({"id": "x", "request": "y", "outcome": "worked"})).unwrap();
    assert_eq!((least.kind, least.uses), (ExperienceKind::Session, Uses::default()));
}
