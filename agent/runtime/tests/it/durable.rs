//! Resuming, forking, verifying and removing sessions.

use std::{
    fs,
    sync::Arc,
    time::{Duration, SystemTime},
};

use deskhand_desktop_fake::office;
use deskhand_machine::{
    record::{JournalEntry, JournalRecord},
    session::{Effect, SessionEvent},
};
use deskhand_model::Script;
use deskhand_runtime::{
    ForkError, HeldSession, HoldError, IntegrityFinding, JournalError, UnsealedJournalPolicy, fork, replay,
    resume,
    retention::{self, KeepReason, Retention},
    run, verify,
};

use crate::support::{REQUEST, World, office_script, run_office, script};

const SECOND: &str = r#"
[[turn]]
agent = "HostAgent"
expect = ['what did you do', 'Extract the sales table']
reply = '{"thought": "it is in the memory", "status": "FINISH", "result": "charted the table"}'
"#;

fn world(text: &str) -> World<Script> {
    World::new(script(text), Arc::new(office()))
}

async fn ran(world: &World<Script>) -> HeldSession {
    run(world.options(vec![REQUEST.to_owned()]), &mut |_| ()).await.unwrap();
    HeldSession::take(world.store.find("last").unwrap(), UnsealedJournalPolicy::Refuse, &mut |_| ()).unwrap()
}

#[tokio::test]
async fn an_ended_session_accepts_another_request() {
    let world = world(&format!("{}{SECOND}", include_str!("office.script.toml")));
    let held = ran(&world).await;
    assert!(held.has_ended() && !held.in_round());
    let options = world.options(vec!["what did you do?".to_owned()]);
    let ended = resume(held, /*desktop_kept*/ false, options, &mut |_| ()).await.unwrap();
    assert_eq!(ended.outcome.unwrap().reason, "charted the table");
    let journal = ended.folder.read().unwrap();
    let prompts = ended.folder.prompts(&journal.header.prompts_sha256).unwrap();
    let replayed = replay(&journal, prompts);
    assert_eq!((replayed.difference, replayed.complete), (None, true));
    assert_eq!(verify(&ended.folder).unwrap().findings, []);
}

#[tokio::test]
async fn only_one_process_holds_a_session() {
    let world = world(include_str!("office.script.toml"));
    let held = ran(&world).await;
    let folder = held.folder().clone();
    assert!(folder.is_in_use().unwrap());
    let error = HeldSession::take(folder.clone(), UnsealedJournalPolicy::Refuse, &mut |_| ()).unwrap_err();
    let HoldError::Journal(JournalError::InUse { holder, .. }) = &error else { panic!("{error:?}") };
    assert_eq!(holder, &format!("process {}", std::process::id()));
    let keep_none = Retention { older_than: Duration::ZERO, keep: Some(0), unfinished: true };
    let plan = retention::plan(&world.store, keep_none, SystemTime::now()).unwrap();
    assert_eq!(plan[0].kept, Some(KeepReason::InUse));
    drop(held);
    assert!(!folder.is_in_use().unwrap());
    HeldSession::take(folder, UnsealedJournalPolicy::Refuse, &mut |_| ()).unwrap();
}

#[tokio::test]
async fn a_fork_shares_history_and_may_use_other_prompts() {
    let world = world(include_str!("office.script.toml"));
    drop(ran(&world).await);
    let source = world.store.find("last").unwrap();
    let whole = source.read().unwrap();
    // After reading the table.
    let is_read = |line: &&JournalEntry| matches!(&line.record, JournalRecord::Event(event) if matches!(event.event, SessionEvent::Returned { .. }));
    let at = whole.lines.iter().filter(is_read).nth(1).unwrap().seq;
    let held = fork(&world.store, &source, at, UnsealedJournalPolicy::Refuse).unwrap();
    assert_eq!((held.records(), held.header().forked_from.clone().unwrap().record), (at, at));
    assert_ne!(held.id(), whole.header.session);

    let rest = r#"
[[turn]]
agent = "HostAgent"
expect = ['SPEAK LIKE A PIRATE', 'resumes on a new desktop']
reply = '{"thought": "arr", "status": "FINISH", "result": "the table is read, and that is enough"}'
"#;
    let other = World { model: Arc::new(script(rest)), desktop: Arc::new(office()), ..world.clone() };
    let mut options = other.options(Vec::new());
    options.prompts.host_system.push_str("\nSPEAK LIKE A PIRATE");
    let ended = resume(held, /*desktop_kept*/ false, options, &mut |_| ()).await.unwrap();
    assert_eq!(ended.outcome.unwrap().reason, "the table is read, and that is enough");

    let journal = ended.folder.read().unwrap();
    assert!(matches!(journal.lines[usize::try_from(at).unwrap()].record, JournalRecord::Changed(_)));
    let prompts = ended.folder.prompts(&journal.header.prompts_sha256).unwrap();
    let replayed = replay(&journal, prompts);
    assert_eq!(
        (replayed.difference, replayed.complete),
        (None, true),
        "each part replays with its own prompts"
    );
    assert_eq!(verify(&ended.folder).unwrap().findings, []);
    assert_eq!(source.read().unwrap(), whole, "the source is unchanged");
}

#[tokio::test]
async fn a_fork_requires_a_record_without_an_effect_in_progress() {
    let world = world(include_str!("office.script.toml"));
    drop(ran(&world).await);
    let source = world.store.find("last").unwrap();
    let lines = source.read().unwrap().lines;
    let last = lines.len() as u64;
    for record in [0, last + 1] {
        let error = fork(&world.store, &source, record, UnsealedJournalPolicy::Refuse).unwrap_err();
        assert!(matches!(error, ForkError::NoRecord { last: known, .. } if known == last), "{error}");
    }
    let is_call = |line: &&JournalEntry| matches!(&line.record, JournalRecord::Effect(effect) if matches!(effect.effect, Effect::Call { .. }));
    let call = lines.iter().find(is_call).unwrap().seq;
    let error = fork(&world.store, &source, call, UnsealedJournalPolicy::Refuse).unwrap_err().to_string();
    assert!(error.contains("an effect was in progress (call select_application_window)"), "{error}");
    assert_eq!(world.store.list().unwrap().len(), 1, "a failed fork is removed");
}

#[tokio::test]
async fn any_modified_byte_is_detected() {
    let ran = run_office(&office_script()).await;
    let folder = ran.end.folder.clone();
    let whole = verify(&folder).unwrap();
    assert_eq!(whole.findings, []);
    assert!(whole.records > 50 && whole.pictures > 2, "{whole:?}");
    let path = folder.journal_path();
    let bytes = fs::read(&path).unwrap();
    // A byte in every part of the file, including the last.
    let mut places: Vec<usize> = (0..bytes.len()).step_by(bytes.len() / 60).collect();
    places.extend([bytes.len() - 1, bytes.len() - 2, bytes.len() - 40]);
    // A line break, which joins two lines.
    places.extend(bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at).nth(12));
    for at in places {
        let mut changed = bytes.clone();
        changed[at] ^= 1;
        fs::write(&path, &changed).unwrap();
        let seq = bytes[..at].iter().filter(|byte| **byte == b'\n').count() as u64 + 1;
        let findings = verify(&folder).unwrap().findings;
        let first =
            findings.first().unwrap_or_else(|| panic!("byte {at} of record {seq} is not found")).to_string();
        // Without its line break, the last record is missing.
        let named = [format!("record {seq}:"), format!("record {seq} is missing:")];
        assert!(named.iter().any(|named| first.starts_with(named)), "byte {at}: {findings:?}");
        // A byte of the hash of a picture or of the prompts makes another file of it, which is missing.
        let follows = |one: &IntegrityFinding| {
            matches!(one, IntegrityFinding::PictureMissing { .. } | IntegrityFinding::PromptsMissing { .. })
        };
        assert!(findings.iter().skip(1).all(follows), "byte {at}: {findings:?}");
    }
    fs::write(&path, &bytes).unwrap();
    // A removed line.
    let text = String::from_utf8(bytes.clone()).unwrap();
    let mut lines: Vec<&str> = text.lines().collect();
    lines.remove(20);
    fs::write(&path, lines.join("\n") + "\n").unwrap();
    assert_eq!(
        verify(&folder).unwrap().findings.first(),
        Some(&IntegrityFinding::OutOfPlace { seq: 21, says: 22 })
    );
    fs::write(&path, &bytes).unwrap();
    for entry in
        fs::read_dir(folder.path()).unwrap().chain(fs::read_dir(folder.path().join("pictures")).unwrap())
    {
        let file = entry.unwrap().path();
        let name = file.file_name().unwrap().to_string_lossy().into_owned();
        if !file.is_file() || ["journal.jsonl", "lock"].contains(&name.as_str()) {
            continue;
        }
        let kept = fs::read(&file).unwrap();
        let mut changed = kept.clone();
        changed[kept.len() / 2] ^= 1;
        fs::write(&file, &changed).unwrap();
        let findings = verify(&folder).unwrap().findings;
        assert!(
            matches!(
                findings.as_slice(),
                [IntegrityFinding::PictureChanged { .. } | IntegrityFinding::PromptsChanged { .. }]
            ),
            "{name}: {findings:?}"
        );
        fs::remove_file(&file).unwrap();
        let findings = verify(&folder).unwrap().findings;
        assert!(
            matches!(
                findings.as_slice(),
                [IntegrityFinding::PictureMissing { .. } | IntegrityFinding::PromptsMissing { .. }]
            ),
            "{name}: {findings:?}"
        );
        fs::write(&file, &kept).unwrap();
    }
    assert_eq!(verify(&folder).unwrap(), whole);
}

#[tokio::test]
async fn a_modified_journal_is_not_resumed() {
    let ran = run_office(&office_script()).await;
    let path = ran.end.folder.journal_path();
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replacen("charted and saved", "charted and shaved", 1)).unwrap();
    let error =
        HeldSession::take(ran.end.folder.clone(), UnsealedJournalPolicy::Refuse, &mut |_| ()).unwrap_err();
    assert!(matches!(error, HoldError::Changed { .. }), "{error:?}");
}

#[tokio::test]
async fn old_sessions_are_removed_except_resumable_ones() {
    let world = world(include_str!("office.script.toml"));
    drop(ran(&world).await);
    let ended = world.store.find("last").unwrap();
    let text = fs::read_to_string(ended.journal_path()).unwrap();
    let crashed = world.store.create(&deskhand_ui::ids::SessionId("0-crashed".to_owned())).unwrap();
    let half: Vec<&str> = text.lines().take(30).collect();
    fs::write(crashed.journal_path(), half.join("\n") + "\n").unwrap();
    let now = SystemTime::now();
    let day = Duration::from_hours(24);
    let check = |retention: Retention, now: SystemTime, expected: [Option<KeepReason>; 2]| {
        let plan = retention::plan(&world.store, retention, now).unwrap();
        let order: Vec<bool> = plan.iter().map(|decision| decision.session.0 == "0-crashed").collect();
        assert_eq!(order, [false, true], "newest first");
        assert_eq!(plan.iter().map(|decision| decision.kept).collect::<Vec<_>>(), expected, "{retention:?}");
        assert!(plan.iter().all(|decision| decision.bytes > 1_000));
    };
    let usual = Retention { older_than: 30 * day, keep: None, unfinished: false };
    check(usual, now, [Some(KeepReason::Recent), Some(KeepReason::Recent)]);
    check(usual, now + 31 * day, [None, None]);
    check(Retention { keep: Some(1), ..usual }, now + 31 * day, [Some(KeepReason::Recent), None]);
    check(Retention { keep: Some(0), ..usual }, now, [None, Some(KeepReason::Resumable)]);
    check(Retention { keep: Some(0), unfinished: true, ..usual }, now, [None, None]);
    let id = deskhand_ui::ids::SessionId("0-crashed".to_owned());
    retention::remove(&world.store, &id).unwrap();
    assert!(!crashed.path().exists());
    assert_eq!(world.store.list().unwrap().len(), 1);
}
