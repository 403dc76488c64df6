//! Signatures, and what they do not cover.

use std::collections::BTreeSet;

use super::*;
use crate::{
    plan::{ForEach, TaskRetryPolicy, TaskTable, is_row_of, row_task},
    task::OnLoss,
};

fn task(id: &str) -> TaskSpec {
    let work = serde_json::json!({ "task": { "request": "Write it", "b": 1, "a": 0.1 }, "documents": { "n.md": "00" } });
    TaskSpec { work, ..TaskSpec::new(TaskId::new(id).unwrap()) }
}

/// As it is stored and read again.
fn stored(spec: &TaskSpec) -> TaskSpec {
    serde_json::from_slice(&serde_json::to_vec(spec).unwrap()).unwrap()
}

#[test]
fn a_signature_covers_each_field_and_survives_being_stored() {
    let key = FleetSigningKey::generate();
    let signed = stored(&key.sign("dh", task("one")).unwrap());
    assert!(signed.is_as_signed());
    assert!(!task("one").is_as_signed(), "one without a signature is not");
    let other = || TaskId::new("other").unwrap();
    let label = || BTreeSet::from(["x".to_owned()]);
    let altered: [fn(&mut TaskSpec, TaskId, BTreeSet<String>); 13] = [
        |spec, id, _| spec.id = id,
        |spec, id, _| spec.after = BTreeSet::from([id]),
        |spec, _, label| spec.needs.labels = label,
        |spec, _, _| spec.priority = 9,
        |spec, _, _| spec.on_loss = OnLoss::Afresh,
        |spec, _, _| spec.taken_max = 6,
        |spec, _, label| spec.labels = label,
        |spec, _, _| spec.work["documents"]["n.md"] = "01".into(),
        |spec, _, _| spec.batch = Some("x".to_owned()),
        |spec, _, label| spec.retry = Some(TaskRetryPolicy { on: label, most: 2, wait_ms: 0 }),
        |spec, _, _| spec.deadline_ms = Some(1),
        |spec, id, _| {
            spec.for_each = Some(ForEach { of: Some(id), document: "t.csv".to_owned(), rows: None });
        },
        |spec, id, _| spec.row_of = Some(id),
    ];
    for (number, alter) in altered.iter().enumerate() {
        let mut changed = signed.clone();
        alter(&mut changed, other(), label());
        assert!(!changed.is_as_signed(), "{number}");
    }
    let mut moved = signed.clone();
    moved.signed.as_mut().unwrap().fleet = "production".to_owned();
    assert!(!moved.is_as_signed(), "it is for its fleet");
    let mut claimed = signed;
    claimed.signed.as_mut().unwrap().key = FleetSigningKey::generate().public();
    assert!(!claimed.is_as_signed(), "nobody signs in the name of another");
}

#[test]
fn rows_of_a_later_table_follow_from_the_task_that_was_signed() {
    let of = TaskId::new("first").unwrap();
    let mut group = task("all");
    group.work = serde_json::json!({ "task": { "request": "Write {name}" }, "documents": {} });
    group.for_each = Some(ForEach { of: Some(of), document: "t.csv".to_owned(), rows: None });
    let mut group = stored(&FleetSigningKey::generate().sign("dh", group).unwrap());
    let table = TaskTable::read(b"name\nACME\nBolt\n").unwrap();
    let row = stored(&row_task(&group, &table.columns, &table.rows[1], 2).unwrap());
    group.for_each.as_mut().unwrap().rows = Some(2);
    assert!(group.is_as_signed(), "how many rows there are is known later");
    assert!(is_row_of(&row, &group, &table));
    assert!(!row.is_as_signed());
    let other = TaskTable::read(b"name\nACME\nEve\n").unwrap();
    assert!(!is_row_of(&row, &group, &other));
    for id in ["all-0001", "all-0003", "all-2", "all-0000", "all-x", "other-0002"] {
        assert!(
            !is_row_of(&TaskSpec { id: TaskId::new(id).unwrap(), ..row.clone() }, &group, &table),
            "{id}"
        );
    }
    assert!(!is_row_of(&TaskSpec { priority: 9, ..row.clone() }, &group, &table));
    let request = serde_json::json!({ "task": { "request": "Send it" }, "documents": {} });
    assert!(!is_row_of(&TaskSpec { work: request, ..row }, &group, &table));
}

#[test]
fn damaged_signatures_and_keys_are_refused() {
    let key = FleetSigningKey::generate();
    let signed = key.sign("dh", task("one")).unwrap();
    for signature in ["", "AAAA", "no base64!", &BASE64_STANDARD.encode([0_u8; 64]), &"A".repeat(10_000)] {
        let mut damaged = signed.clone();
        damaged.signed.as_mut().unwrap().signature = signature.to_owned();
        assert!(!damaged.is_as_signed(), "{signature}");
    }
    for text in ["", "U", "UAAA", "ä", &key.seed().unwrap(), &key.public().to_lowercase()] {
        assert_eq!(check_public(text), Err(KeyError::Public(text.to_owned())));
    }
    assert_eq!(check_public(&key.public()), Ok(()));
    assert_eq!(FleetSigningKey::of_text("nothing").unwrap_err(), KeyError::NoSeed);
    assert!(matches!(FleetSigningKey::of_text("SUAAAA").unwrap_err(), KeyError::Seed(_)));
    assert!(!format!("{key:?}").contains(&key.seed().unwrap()));
}

#[test]
fn a_key_is_read_from_its_file_and_from_credentials() {
    let key = FleetSigningKey::generate();
    let seed = key.seed().unwrap();
    let credentials = format!(
        "-----BEGIN NATS USER JWT-----\neyJ0\n------END NATS USER JWT------\n\n\
         -----BEGIN USER NKEY SEED-----\n{seed}\n------END USER NKEY SEED------\n"
    );
    for text in [format!("{seed}\n"), credentials] {
        assert_eq!(FleetSigningKey::of_text(&text).unwrap().public(), key.public());
    }
}

#[test]
fn only_who_signed_a_task_cancels_it() {
    let (key, other) = (FleetSigningKey::generate(), FleetSigningKey::generate());
    let signed = key.sign("dh", task("one")).unwrap();
    let record = |cancel: FleetSignature| serde_json::to_vec(&cancel).unwrap();
    let id = |id: &str| TaskId::new(id).unwrap();
    assert!(signed.is_cancelled_by(&record(key.sign_cancel("dh", &id("one")).unwrap())));
    assert!(!signed.is_cancelled_by(&record(other.sign_cancel("dh", &id("one")).unwrap())));
    assert!(!signed.is_cancelled_by(&record(key.sign_cancel("dh", &id("two")).unwrap())));
    assert!(!signed.is_cancelled_by(&record(key.sign_cancel("x", &id("one")).unwrap())));
    assert!(!signed.is_cancelled_by(&record(signed.signed.clone().unwrap())), "a task is no cancellation");
    assert!(!signed.is_cancelled_by(b""));
    assert!(task("one").is_cancelled_by(b""));
}

#[test]
fn only_who_signed_a_task_answers_it() {
    let (key, other) = (FleetSigningKey::generate(), FleetSigningKey::generate());
    let signed = key.sign("dh", task("one")).unwrap();
    let id = |id: &str| TaskId::new(id).unwrap();
    let counts = |answer: FleetSignature| signed.is_answered_by("w-1", "yes", Some(&answer));
    assert!(counts(key.sign_answer("dh", &id("one"), "w-1", "yes").unwrap()));
    assert!(!counts(other.sign_answer("dh", &id("one"), "w-1", "yes").unwrap()));
    assert!(!counts(key.sign_answer("dh", &id("two"), "w-1", "yes").unwrap()));
    assert!(!counts(key.sign_answer("dh", &id("one"), "w-2", "yes").unwrap()));
    assert!(!counts(key.sign_answer("dh", &id("one"), "w-1", "no").unwrap()));
    assert!(!counts(key.sign_answer("x", &id("one"), "w-1", "yes").unwrap()));
    assert!(!counts(key.sign_cancel("dh", &id("one")).unwrap()));
    assert!(!signed.is_answered_by("w-1", "yes", None));
    assert!(task("one").is_answered_by("w-1", "yes", None));
}
