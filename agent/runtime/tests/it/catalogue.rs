//! The catalogue says what the journals say: judged by an oracle that reads their JSON, after every way in which a journal can change.

use std::{
    collections::BTreeMap,
    fs,
    io::Write as _,
    path::{Path, PathBuf},
    sync::atomic::{AtomicBool, Ordering},
};

use deskhand_desktop_fake::office;
use deskhand_machine::{
    outcome::OutcomeKind,
    record::JournalRecord,
    session::{Effect, RoundLimits, SessionConfig, SessionEvent, StopReason},
};
use deskhand_runtime::{
    Catalogue, Query, SessionFolder, SessionStore, StopSwitch, UnsealedJournalPolicy,
    catalogue::{LIMIT_MAX, OutcomeFilter, SessionFacts, SessionState},
    fork,
};
use serde_json::{Value, json};

use crate::{
    people::CONFIRMS,
    support::{Ran, config, office_script, run_office, run_with, script},
};

const FAILS: &str = r#"
[[turn]]
reply = '{"observation": "o", "thought": "t", "status": "FAIL", "result": "there is no sales table"}'
"#;

/// Sessions in a store of their own.
pub(crate) struct Shelf {
    pub(crate) store: SessionStore,
    folder: tempfile::TempDir,
}

impl Shelf {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        Self { store: SessionStore::at(folder.path().join("sessions"), folder.path().join("seals")), folder }
    }

    fn root(&self) -> PathBuf {
        self.folder.path().join("sessions")
    }

    fn index(&self) -> PathBuf {
        self.root().join("sessions.index")
    }

    fn journal(&self, id: &str) -> PathBuf {
        self.root().join(id).join("journal.jsonl")
    }

    /// Puts the journal of a session here.
    pub(crate) fn put(&self, ran: &Ran) -> String {
        self.put_text(&ran.end.session.0, &fs::read(ran.end.folder.journal_path()).unwrap())
    }

    fn put_text(&self, id: &str, journal: &[u8]) -> String {
        fs::create_dir_all(self.root().join(id)).unwrap();
        fs::write(self.journal(id), journal).unwrap();
        id.to_owned()
    }

    pub(crate) fn session(&self, id: &str) -> SessionFolder {
        self.store.find(id).unwrap()
    }

    /// What a catalogue says that begins with the index.
    fn listed(&self) -> BTreeMap<String, (SessionState, SessionFacts)> {
        listed(&refreshed(&self.store))
    }
}

fn refreshed(store: &SessionStore) -> Catalogue {
    let mut catalogue = Catalogue::open(store.clone());
    catalogue.refresh().unwrap();
    catalogue
}

fn listed(catalogue: &Catalogue) -> BTreeMap<String, (SessionState, SessionFacts)> {
    catalogue.rows().map(|row| (row.id.to_owned(), (row.state, row.facts.clone()))).collect()
}

/// What the complete lines of a journal say, read as JSON.
fn told(journal: &Path) -> Value {
    // An incomplete line may end within a letter.
    let text = String::from_utf8_lossy(&fs::read(journal).unwrap()).into_owned();
    let whole = text.rfind('\n').map_or("", |end| &text[..=end]);
    let lines: Vec<Value> = whole.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let records = || lines.iter().map(|line| &line["record"]);
    let effects: Vec<&Value> = records().filter(|record| record["kind"] == "effect").collect();
    let events: Vec<&Value> = lines.iter().filter_map(|line| line.pointer("/record/event")).collect();
    let came = |word: &str| events.iter().filter(|event| event["came"] == word).copied().collect::<Vec<_>>();
    let number = |value: &Value| value.as_u64().unwrap_or(0);
    let requests: Vec<&Value> = came("requested").into_iter().map(|event| &event["text"]).collect();
    let last = |wanted: &dyn Fn(&Value) -> bool| lines.iter().rposition(|line| wanted(&line["record"]));
    let requested = last(&|record| record.pointer("/event/came").is_some_and(|came| came == "requested"));
    let finished = last(&|record| record.pointer("/effect/want").is_some_and(|want| want == "finish"));
    let outcome =
        finished.filter(|at| Some(*at) > requested).map(|at| &lines[at]["record"]["effect"]["outcome"]);
    let results: Vec<&Value> = effects
        .iter()
        .flat_map(|effect| {
            effect["refused"].as_array().into_iter().flatten().map(|refused| &refused["result"])
        })
        .chain(came("returned").into_iter().map(|event| &event["result"]))
        .collect();
    let with = |effect: &str| results.iter().filter(|result| result["effect"] == effect).count();
    let without = |status: &str| {
        results.iter().filter(|result| result["effect"].is_null() && result["status"] == status).count()
    };
    // A call that nothing came of, unless it is still in progress.
    let answered =
        |call: &Value| records().any(|record| record["kind"] == "event" && record["effect"] == call["id"]);
    let before_last = effects.iter().rev().skip(1);
    let lost = before_last.filter(|effect| effect["effect"]["want"] == "call" && !answered(effect)).count();
    let mut applications: Vec<&str> = Vec::new();
    for event in came("observed") {
        let first = &event["observation"]["surfaces"][0];
        let window = [&first["window"], &first["kept"]["window"], &first["new"]["window"]];
        let name = window.into_iter().find_map(|window| window["app"]["name"].as_str());
        applications.extend(name.filter(|name| !applications.contains(name)));
    }
    let replies = || came("replied").into_iter().map(|event| &event["reply"]);
    let tokens = |name: &str| replies().map(|reply| number(&reply["usage"][name])).sum::<u64>();
    json!({
        "records": lines.len(),
        "begun": lines[0]["record"]["created_ms"],
        "last": lines.last().unwrap()["at_ms"],
        "elapsed": number(&lines.last().unwrap()["at_ms"]) - number(&lines[0]["at_ms"]),
        "requests": requests,
        "outcome": outcome.map(|outcome| &outcome["kind"]),
        "reason": outcome.map_or("", |outcome| outcome["reason"].as_str().unwrap()),
        "steps": effects.iter().map(|effect| number(&effect["step"]["number"])).max().unwrap_or(0),
        "calls": came("returned").len(),
        "replies": replies().map(|reply| number(&reply["attempts"])).sum::<u64>(),
        "tokens": tokens("prompt_tokens") + tokens("completion_tokens"),
        "applications": applications,
        "verdicts": [with("seen"), with("not_seen"), with("refused"), with("unknown") + lost, without("success"), without("failure")],
    })
}

/// The same of facts.
fn as_told(facts: &SessionFacts) -> Value {
    let verdicts = facts.verdicts;
    json!({
        "records": facts.records,
        "begun": facts.begun_ms,
        "last": facts.last_ms,
        "elapsed": facts.elapsed_ms,
        "requests": facts.requests,
        "outcome": facts.outcome,
        "reason": facts.reason,
        "steps": facts.steps,
        "calls": facts.calls,
        "replies": facts.model_calls,
        "tokens": facts.prompt_tokens + facts.completion_tokens,
        "applications": facts.applications,
        "verdicts": [verdicts.seen, verdicts.not_seen, verdicts.refused, verdicts.unknown, verdicts.read, verdicts.failed],
    })
}

/// Compares every session of a store with its journal.
#[track_caller]
fn agrees(shelf: &Shelf, listed: &BTreeMap<String, (SessionState, SessionFacts)>) {
    let ids: Vec<String> = shelf.store.list().unwrap().into_iter().map(|id| id.0).rev().collect();
    assert_eq!(listed.keys().cloned().collect::<Vec<_>>(), ids);
    for (id, (_, facts)) in listed {
        let told = told(&shelf.journal(id));
        assert_eq!(as_told(facts), told, "{id}");
    }
}

/// One session of each outcome.
async fn of_every_outcome() -> Vec<(OutcomeKind, Ran)> {
    let never = StopSwitch::new();
    let few = SessionConfig { limits: RoundLimits { steps_max: 3, ..config().limits }, ..config() };
    let stop = StopSwitch::new();
    let mut returned = 0;
    vec![
        (OutcomeKind::Finished, run_office(&office_script()).await),
        (OutcomeKind::Failed, run_office(&script(FAILS)).await),
        (OutcomeKind::Rejected, run_office(&script(CONFIRMS)).await),
        (OutcomeKind::BudgetExhausted, run_with(&office_script(), few, office(), &never, |_, _| {}).await),
        (
            OutcomeKind::Cancelled,
            run_with(&office_script(), config(), office(), &stop, |line, _| {
                if let JournalRecord::Effect(record) = &line.record
                    && matches!(&record.effect, Effect::Call { command } if command.tool == "write_table")
                {
                    stop.cancel(StopReason::User);
                }
            })
            .await,
        ),
        (
            OutcomeKind::Error,
            run_with(&office_script(), config(), office(), &never, |line, desktop| {
                if let JournalRecord::Event(record) = &line.record
                    && matches!(record.event, SessionEvent::Returned { .. })
                {
                    returned += 1;
                    if returned == 3 {
                        desktop.break_display();
                    }
                }
            })
            .await,
        ),
    ]
}

#[tokio::test]
async fn sessions_of_every_outcome_are_listed_as_their_journals_are() {
    let shelf = Shelf::new();
    let ran = of_every_outcome().await;
    let ids: Vec<(OutcomeKind, String)> = ran.iter().map(|(kind, ran)| (*kind, shelf.put(ran))).collect();
    assert_eq!(ids.iter().map(|(kind, _)| *kind).collect::<Vec<_>>(), OutcomeKind::ALL);
    // Read from journals, then from the index.
    for _ in 0..2 {
        let listed = shelf.listed();
        agrees(&shelf, &listed);
        for (kind, id) in &ids {
            let (state, facts) = &listed[id];
            assert_eq!(
                (facts.outcome, *state, facts.ended),
                (Some(*kind), SessionState::Ended, true),
                "{id}"
            );
        }
    }
    let by_index = listed(&Catalogue::open(shelf.store.clone()));
    agrees(&shelf, &by_index);
    let finished = &by_index[&ids[0].1].1;
    assert_eq!(finished.applications, ["LibreOffice Writer", "LibreOffice Calc"]);
    assert_eq!((finished.desktop.as_str(), finished.program.as_str()), ("fake", "test"));
    let table = refreshed(&shelf.store).table(&Query {
        outcomes: vec![OutcomeFilter::Is(OutcomeKind::Failed)],
        words: vec!["NO SALES".to_owned()],
        ..Query::default()
    });
    assert_eq!((table.total, table.all, table.rows[0].id.as_str()), (1, 6, ids[1].1.as_str()));
}

#[tokio::test]
async fn a_session_that_is_broken_off_anywhere_is_listed_as_far_as_it_came() {
    let shelf = Shelf::new();
    let ran = run_office(&office_script()).await;
    let journal = fs::read(ran.end.folder.journal_path()).unwrap();
    let ends: Vec<usize> = (1..=journal.len()).filter(|end| journal[end - 1] == b'\n').collect();
    for (place, end) in ends.iter().enumerate() {
        // Half of the lines end in the middle of the next one.
        let next = ends.get(place + 1).copied().unwrap_or(*end);
        let cut = if place % 2 == 0 { *end } else { usize::midpoint(*end, next) };
        shelf.put_text(&format!("cut-{place:03}"), &journal[..cut]);
    }
    let listed = shelf.listed();
    agrees(&shelf, &listed);
    let states: Vec<SessionState> = listed.values().map(|(state, _)| *state).collect();
    // Before its request and after its outcome there is nothing to go on with.
    let interrupted = states.iter().filter(|state| **state == SessionState::Interrupted).count();
    assert!(interrupted > ends.len() - 8 && interrupted < ends.len(), "{interrupted} of {}", ends.len());
    assert_eq!(states.last(), Some(&SessionState::Ended));
}

#[tokio::test]
async fn a_session_in_progress_is_followed_line_by_line() {
    let shelf = Shelf::new();
    let ran = run_office(&office_script()).await;
    let whole = fs::read(ran.end.folder.journal_path()).unwrap();
    let lines: Vec<&[u8]> = whole.split_inclusive(|byte| *byte == b'\n').collect();
    let id = shelf.put_text("followed", lines[0]);
    let lock = shelf.session(&id).lock().unwrap();
    let mut catalogue = refreshed(&shelf.store);
    let mut journal = fs::OpenOptions::new().append(true).open(shelf.journal(&id)).unwrap();
    for line in &lines[1..] {
        let (head, tail) = line.split_at(line.len() / 2);
        journal.write_all(head).unwrap();
        catalogue.refresh().unwrap();
        agrees(&shelf, &listed(&catalogue));
        journal.write_all(tail).unwrap();
        catalogue.refresh().unwrap();
        let now = listed(&catalogue);
        agrees(&shelf, &now);
        assert_eq!(now[&id].0, SessionState::Running);
    }
    // Another process reads the whole journal and says the same.
    assert_eq!(listed(&catalogue), shelf.listed());
    drop(lock);
    catalogue.refresh().unwrap();
    assert_eq!(listed(&catalogue)[&id].0, SessionState::Ended);
    assert_eq!(listed(&catalogue), shelf.listed());
}

#[tokio::test]
async fn of_a_session_in_progress_only_the_new_part_is_read() {
    let shelf = Shelf::new();
    let ran = run_office(&office_script()).await;
    let whole = fs::read(ran.end.folder.journal_path()).unwrap();
    let ends: Vec<usize> = (1..=whole.len()).filter(|end| whole[end - 1] == b'\n').collect();
    let half = ends[ends.len() / 2];
    let id = shelf.put_text("followed", &whole[..half]);
    let _lock = shelf.session(&id).lock().unwrap();
    let mut catalogue = refreshed(&shelf.store);
    // What was read before cannot be read any more.
    let mut journal = fs::OpenOptions::new().write(true).open(shelf.journal(&id)).unwrap();
    journal.write_all(&vec![b'#'; ends[1]]).unwrap();
    let mut journal = fs::OpenOptions::new().append(true).open(shelf.journal(&id)).unwrap();
    journal.write_all(&whole[half..]).unwrap();
    catalogue.refresh().unwrap();
    let followed = listed(&catalogue)[&id].1.clone();
    fs::write(shelf.journal(&id), &whole).unwrap();
    assert_eq!(as_told(&followed), told(&shelf.journal(&id)));
}

#[tokio::test]
async fn journals_that_change_are_read_again() {
    let shelf = Shelf::new();
    let ran = run_office(&office_script()).await;
    let id = shelf.put(&ran);
    let gone = shelf.put_text("gone", &fs::read(shelf.journal(&id)).unwrap());
    let mut catalogue = refreshed(&shelf.store);
    let check = |catalogue: &mut Catalogue| {
        catalogue.refresh().unwrap();
        agrees(&shelf, &listed(catalogue));
        agrees(&shelf, &shelf.listed());
    };
    check(&mut catalogue);
    // Removed.
    fs::remove_dir_all(shelf.root().join(&gone)).unwrap();
    check(&mut catalogue);
    assert!(!fs::read_to_string(shelf.index()).unwrap().contains("\"gone\""));
    // Changed in place: same length, same times.
    let path = shelf.journal(&id);
    let whole = fs::read_to_string(&path).unwrap();
    let modified = fs::metadata(&path).unwrap().modified().unwrap();
    let changed = whole.replace("charted and saved", "charted and lost!");
    assert_eq!((changed.len(), changed == whole), (whole.len(), false));
    let mut file = fs::OpenOptions::new().write(true).open(&path).unwrap();
    file.write_all(changed.as_bytes()).unwrap();
    file.set_modified(modified).unwrap();
    check(&mut catalogue);
    assert_eq!(listed(&catalogue)[&id].1.reason, "charted and lost!");
    // Truncated, and grown again.
    let half = whole.len() / 2;
    fs::write(&path, &whole[..half]).unwrap();
    check(&mut catalogue);
    assert_eq!(listed(&catalogue)[&id].0, SessionState::Interrupted);
    fs::OpenOptions::new().append(true).open(&path).unwrap().write_all(&whole.as_bytes()[half..]).unwrap();
    check(&mut catalogue);
    // Replaced by another one.
    fs::write(&path, fs::read(run_office(&script(FAILS)).await.end.folder.journal_path()).unwrap()).unwrap();
    check(&mut catalogue);
    assert_eq!(listed(&catalogue)[&id].1.outcome, Some(OutcomeKind::Failed));
    // All gone.
    fs::remove_dir_all(shelf.root()).unwrap();
    catalogue.refresh().unwrap();
    assert_eq!(catalogue.rows().count(), 0);
}

#[tokio::test]
async fn a_fork_is_listed_with_its_origin() {
    let ran = run_office(&office_script()).await;
    let store = &ran.store.0;
    let mut catalogue = refreshed(store);
    let observed = ran.lines.iter().filter(|line| {
        matches!(&line.record, JournalRecord::Event(record) if matches!(record.event, SessionEvent::Observed { .. }))
    });
    let at = observed.map(|line| line.seq).nth(2).unwrap();
    let held = fork(store, &ran.end.folder, at, UnsealedJournalPolicy::Refuse).unwrap();
    catalogue.refresh().unwrap();
    let row = catalogue.row(&held.id().0).unwrap();
    let origin = row.facts.origin.as_ref().unwrap();
    assert_eq!((origin.session.0.as_str(), origin.record), (ran.end.session.0.as_str(), at));
    assert_eq!(row.state, SessionState::Running);
    assert_eq!(as_told(row.facts), told(&held.folder().journal_path()));
    drop(held);
    catalogue.refresh().unwrap();
    assert_eq!(catalogue.rows().next().unwrap().state, SessionState::Interrupted);
}

#[tokio::test]
async fn a_journal_that_cannot_be_read_hides_no_other() {
    let shelf = Shelf::new();
    let id = shelf.put(&run_office(&office_script()).await);
    let text = fs::read_to_string(shelf.journal(&id)).unwrap();
    shelf.put_text("bad", text.replacen("\"record\":", "\"former\":", 3).as_bytes());
    shelf.put_text("empty", b"");
    fs::create_dir(shelf.root().join("no-journal")).unwrap();
    fs::write(shelf.root().join("a file"), "").unwrap();
    let mut catalogue = refreshed(&shelf.store);
    for _ in 0..2 {
        assert_eq!(catalogue.rows().map(|row| row.id.to_owned()).collect::<Vec<_>>(), [id.as_str()]);
        let unread: Vec<String> = catalogue.unreadable().map(|unread| unread.id).collect();
        assert_eq!(unread, ["empty", "bad"]);
        assert!(catalogue.unreadable().last().unwrap().problem.contains("missing field"));
        catalogue.refresh().unwrap();
    }
    fs::write(shelf.journal("bad"), &text).unwrap();
    catalogue.refresh().unwrap();
    assert_eq!((catalogue.rows().count(), catalogue.unreadable().count()), (2, 1));
}

#[tokio::test]
async fn an_index_that_is_damaged_foreign_or_old_is_as_good_as_none() {
    let shelf = Shelf::new();
    for (_, ran) in of_every_outcome().await {
        shelf.put(&ran);
    }
    let truth = shelf.listed();
    agrees(&shelf, &truth);
    let index = fs::read(shelf.index()).unwrap();
    let check = |what: &str, bytes: &[u8]| {
        fs::write(shelf.index(), bytes).unwrap();
        // What it says by itself is true, or nothing.
        for (id, found) in listed(&Catalogue::open(shelf.store.clone())) {
            assert_eq!(Some(&found), truth.get(&id), "{what}");
        }
        assert_eq!(shelf.listed(), truth, "{what}");
    };
    check("empty", b"");
    check("foreign", b"SQLite format 3\0\xff\xfe\n\n\n{}\n");
    check("zeros", &vec![0; index.len()]);
    check("twice", &[index.as_slice(), index.as_slice()].concat());
    let mut old = index.clone();
    old[0] = if old[0] == b'0' { b'1' } else { b'0' };
    check("another version", &old);
    for part in 1..8 {
        check("half written", &index[..index.len() * part / 8]);
    }
    // One bit anywhere.
    for at in (0..index.len()).step_by(index.len() / 60) {
        let mut flipped = index.clone();
        flipped[at] ^= 1 << (at % 7);
        check(&format!("bit at {at}"), &flipped);
    }
    fs::remove_file(shelf.index()).unwrap();
    fs::create_dir(shelf.index()).unwrap();
    assert_eq!(shelf.listed(), truth, "a folder in its place");
}

#[tokio::test]
async fn several_catalogues_at_once_agree() {
    let shelf = Shelf::new();
    let journal = fs::read(run_office(&office_script()).await.end.folder.journal_path()).unwrap();
    shelf.put_text("session-000", &journal);
    let is_written = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for number in 1..60 {
                shelf.put_text(&format!("session-{number:03}"), &journal);
                if number % 3 == 0 {
                    fs::remove_dir_all(shelf.root().join(format!("session-{:03}", number - 1))).unwrap();
                }
            }
            is_written.store(true, Ordering::Release);
        });
        for _ in 0..3 {
            scope.spawn(|| {
                let mut kept = Catalogue::open(shelf.store.clone());
                while !is_written.load(Ordering::Acquire) {
                    kept.refresh().unwrap();
                    drop(refreshed(&shelf.store));
                }
            });
        }
    });
    agrees(&shelf, &shelf.listed());
    let table = refreshed(&shelf.store).table(&Query { limit: LIMIT_MAX, ..Query::default() });
    assert_eq!((table.total, table.rows.len()), (41, 41));
}
