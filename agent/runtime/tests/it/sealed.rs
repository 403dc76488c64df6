//! Journals changed by somebody who can write to the session, and has no key.

use std::{
    fs,
    io::{Seek as _, SeekFrom, Write as _},
    ops::Range,
    sync::Arc,
};

use deskhand_desktop_fake::office;
use deskhand_machine::{
    record::{JOURNAL_VERSION, JournalEntry, JournalRecord},
    session::{Effect, SessionConfig, SessionEvent},
};
use deskhand_model::Script;
use deskhand_runtime::{
    HeldSession, HoldError, IntegrityFinding, JournalError, JournalProblem, SealProof, SessionFolder,
    StopSwitch, Unproven, UnsealedJournalPolicy, fork, people::People, resume, retention, run, verify,
};
use deskhand_ui::ids::SessionId;
use hmac::{Hmac, Mac as _};
use sha2::{Digest as _, Sha256};
use tokio::task::JoinSet;

use crate::{
    random_sessions::Chance,
    support::{REQUEST, Ran, World, config, office_script, run_people, run_with, script},
};

const TAMPERINGS: u64 = 1_000;
/// How often files beside the journal are tampered with; so often as `DESKHAND_TAMPERINGS` says, if it is set.
const FILE_TAMPERINGS: u64 = 200;

fn within(chance: &mut Chance, range: Range<usize>) -> usize {
    range.start + chance.below(range.end - range.start)
}

fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

const HASH: &str = ",\"sha256\":\"";
const SEAL: &str = ",\"seal\":\"";

/// The text between `start` and the next `end`, replaced.
fn replaced(text: &str, start: &str, end: &str, new: &str) -> String {
    let at = text.find(start).unwrap() + start.len();
    let length = text[at..].find(end).unwrap();
    format!("{}{new}{}", &text[..at], &text[at + length..])
}

/// What the forger writes as the seal of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Seals {
    /// What was there.
    Kept,
    /// None.
    Removed,
    /// Those of a key of the forger.
    Own,
}

/// A line with another number and predecessor, and everything recomputed that needs no key.
fn resealed(line: &str, seq: usize, prev: &str, seals: Seals) -> String {
    let line = replaced(line, "\"seq\":", ",", &seq.to_string());
    let line = replaced(&line, "\"prev\":\"", "\"", prev);
    let mut body = line[..line.rfind(HASH).unwrap_or(line.len() - 1)].to_owned();
    if seals != Seals::Kept {
        body.truncate(body.rfind(SEAL).unwrap());
    }
    if seals == Seals::Own {
        let mac = Hmac::<Sha256>::new_from_slice(b"a key of the forger").unwrap();
        let mac = mac.chain_update(format!("{body}}}")).finalize().into_bytes();
        let mac: String = mac.iter().map(|byte| format!("{byte:02x}")).collect();
        body = format!("{body}{SEAL}0123456789abcdef:{mac}\"");
    }
    let hash = sha256(format!("{body}}}").as_bytes());
    format!("{body}{HASH}{hash}\"}}")
}

/// Reseals all lines from index `from` on.
fn reseal(lines: &mut [String], from: usize, seals: Seals) {
    for at in from..lines.len() {
        let prev = at.checked_sub(1).map_or_else(String::new, |before| sha256(lines[before].as_bytes()));
        lines[at] = resealed(&lines[at], at + 1, &prev, seals);
    }
}

/// Changes a letter of the content of a line that is nowhere a key or a number.
fn changed(line: &str, chance: &mut Chance) -> String {
    let content = line.find("\"record\":").unwrap()..line.rfind(SEAL).unwrap();
    let mut bytes = line.as_bytes().to_vec();
    let start = within(chance, content.clone());
    let value = |at: &usize| bytes[*at].is_ascii_digit() && bytes[*at - 1].is_ascii_hexdigit();
    let at = (start..content.end).chain(content.clone()).find(value).unwrap_or(start);
    bytes[at] = if bytes[at] == b'7' { b'3' } else { b'7' };
    String::from_utf8(bytes).unwrap()
}

/// Tampers with a journal. Returns what was done, the new text, and the first record that is not as it was.
fn tampered(whole: &[String], chance: &mut Chance) -> (String, String, usize) {
    let mut lines = whole.to_vec();
    let count = lines.len();
    let seals = [Seals::Kept, Seals::Removed, Seals::Own][chance.below(3)];
    let is_resealed = chance.below(3) > 0;
    let mut torn = String::new();
    let (what, at) = match chance.below(8) {
        0 => {
            let at = chance.below(count);
            lines[at] = changed(&lines[at], chance);
            ("change", at)
        }
        1 => {
            let at = within(chance, 1..count);
            let end = within(chance, at + 1..count + 1);
            lines.drain(at..end);
            ("drop", at)
        }
        2 => {
            let at = within(chance, 1..count - 1);
            lines.swap(at, within(chance, at + 1..count));
            ("swap", at)
        }
        3 => {
            let at = within(chance, 1..count);
            // Another line than the one that it is put before.
            let from = (at + chance.below(count - 1)) % count;
            lines.insert(at, lines[(from + 1) % count].clone());
            ("insert", at)
        }
        4 => {
            let at = within(chance, 1..count);
            lines.truncate(at);
            ("truncate", at)
        }
        5 => {
            let at = within(chance, 1..count - 1);
            lines[at..].rotate_left(1);
            ("rotate", at)
        }
        6 => {
            // Also within the header, so that no record is left.
            let at = chance.below(count);
            let cut = chance.below(lines[at].len());
            torn = (0..=cut).rev().find_map(|end| lines[at].get(..end)).unwrap_or_default().to_owned();
            lines.truncate(at);
            ("cut", at)
        }
        _ => {
            let at = within(chance, 1..count);
            let cut = within(chance, 1..lines[at].len());
            torn = (1..=cut).rev().find_map(|end| lines[at].get(..end)).unwrap_or_default().to_owned();
            lines.truncate(at);
            ("tear", at)
        }
    };
    if is_resealed {
        // A forger may also reseal everything, so that all seals are of one key.
        let from = if seals == Seals::Own && chance.below(2) == 0 { 0 } else { at };
        reseal(&mut lines, from, seals);
        let at = if from < lines.len() { from } else { at };
        return (format!("{what}, resealed {seals:?}"), joined(&lines) + &torn, at + 1);
    }
    (what.to_owned(), joined(&lines) + &torn, at + 1)
}

fn joined(lines: &[String]) -> String {
    lines.iter().map(|line| format!("{line}\n")).collect()
}

async fn ran() -> Ran {
    let config = SessionConfig { pictures: false, ..config() };
    run_with(&office_script(), config, office(), &StopSwitch::new(), |_, _| {}).await
}

fn lines_of(folder: &SessionFolder) -> Vec<String> {
    fs::read_to_string(folder.journal_path()).unwrap().lines().map(str::to_owned).collect()
}

#[tokio::test]
async fn every_tampering_without_the_key_is_named_and_not_resumed() {
    let ran = ran().await;
    let folder = &ran.end.folder;
    let whole = lines_of(folder);
    assert_eq!(verify(folder).unwrap().proof, SealProof::Sealed { since: 1 });
    let mut chance = Chance::new(11);
    let mut kinds = std::collections::BTreeMap::<String, u32>::new();
    for number in 0..TAMPERINGS {
        let (what, text, record) = tampered(&whole, &mut chance);
        let case = format!("tampering {number}: {what} at record {record}");
        assert_ne!(text, whole.join("\n") + "\n", "{case}");
        fs::write(folder.journal_path(), &text).unwrap();
        match verify(folder) {
            Ok(verified) => {
                let first = verified.findings.first().unwrap_or_else(|| panic!("{case} is not found"));
                let first = first.to_string();
                let named =
                    [format!("record {record}:"), format!("record {record} "), format!("records {record} ")];
                assert!(named.iter().any(|named| first.starts_with(named)), "{case}: {first}");
            }
            // A header of another version is refused at once.
            Err(error) => {
                assert!(record == 1 && matches!(error, JournalError::Version { .. }), "{case}: {error}");
            }
        }
        let error =
            HeldSession::take(folder.clone(), UnsealedJournalPolicy::Accept, &mut |_| ()).unwrap_err();
        assert!(!matches!(error, HoldError::Unproven { .. }), "{case}: {error}");
        assert_eq!(fs::read_to_string(folder.journal_path()).unwrap(), text, "{case}: nothing is cut off");
        *kinds.entry(what).or_default() += 1;
    }
    assert!(kinds.len() == 32 && kinds.values().all(|count| *count > 10), "{kinds:?}");
}

/// Changes a file without leaving it as it was; returns what was done.
fn spoil(file: &std::path::Path, others: &[std::path::PathBuf], chance: &mut Chance) -> &'static str {
    let kept = fs::read(file).unwrap();
    let mut bytes = kept.clone();
    let what = match chance.below(5) {
        0 => {
            let at = chance.below(bytes.len());
            bytes[at] ^= 1 << chance.below(8);
            "change"
        }
        1 => {
            bytes.truncate(chance.below(bytes.len()));
            "truncate"
        }
        2 => {
            bytes.push(b'\n');
            "extend"
        }
        3 => {
            bytes = fs::read(&others[chance.below(others.len())]).unwrap();
            "replace"
        }
        _ => {
            fs::remove_file(file).unwrap();
            return "remove";
        }
    };
    if bytes == kept {
        bytes.clear();
    }
    fs::write(file, bytes).unwrap();
    what
}

#[tokio::test]
async fn every_changed_picture_and_prompt_set_is_named() {
    let ran = run_with(&office_script(), config(), office(), &StopSwitch::new(), |_, _| {}).await;
    let folder = &ran.end.folder;
    let entries = |path: std::path::PathBuf| fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path());
    let is_prompts =
        |path: &std::path::PathBuf| path.extension().is_some_and(|extension| extension == "json");
    let mut files: Vec<_> = entries(folder.path().join("pictures")).collect();
    files.extend(entries(folder.path().to_owned()).filter(is_prompts));
    assert!(files.len() > 3, "{files:?}");
    let mut chance = Chance::new(12);
    let wanted = std::env::var("DESKHAND_TAMPERINGS").ok().and_then(|text| text.parse().ok());
    let mut kinds = std::collections::BTreeSet::new();
    for number in 0..wanted.unwrap_or(FILE_TAMPERINGS) {
        let file = &files[chance.below(files.len())];
        let kept = fs::read(file).unwrap();
        let what = spoil(file, &files, &mut chance);
        let name = file.file_stem().unwrap().to_str().unwrap().trim_start_matches("prompts-");
        let findings = verify(folder).unwrap().findings;
        let named = match findings.as_slice() {
            [
                IntegrityFinding::PictureChanged { sha256, .. }
                | IntegrityFinding::PictureMissing { sha256, .. }
                | IntegrityFinding::PromptsChanged { sha256 }
                | IntegrityFinding::PromptsMissing { sha256 },
            ] => sha256 == name,
            _ => false,
        };
        assert!(named, "tampering {number}: {what} {}: {findings:?}", file.display());
        kinds.insert(what);
        fs::write(file, kept).unwrap();
    }
    assert_eq!(verify(folder).unwrap().findings, []);
    assert_eq!(kinds.len(), 5, "{kinds:?}");
}

/// Somebody who can write to the seals, too, but has no key.
#[tokio::test]
async fn with_a_spoilt_anchor_a_tampered_journal_is_never_proven() {
    let ran = ran().await;
    let folder = &ran.end.folder;
    let whole = lines_of(folder);
    let anchor = folder.seals().anchor_path(&ran.end.session.0);
    let kept = fs::read(&anchor).unwrap();
    let mut chance = Chance::new(13);
    for number in 0..100 {
        let (what, text, _) = tampered(&whole, &mut chance);
        fs::write(folder.journal_path(), text).unwrap();
        let mut spoilt = kept.clone();
        match chance.below(3) {
            0 => drop(fs::remove_file(&anchor)),
            1 => spoilt.truncate(chance.below(kept.len())),
            _ => spoilt.iter_mut().step_by(100).for_each(|byte| *byte ^= 1),
        }
        if anchor.exists() {
            fs::write(&anchor, &spoilt).unwrap();
        }
        let is_proven = verify(folder).is_ok_and(|verified| {
            verified.findings.is_empty() && matches!(verified.proof, SealProof::Sealed { .. })
        });
        assert!(!is_proven, "tampering {number}: {what}");
        fs::write(&anchor, &kept).unwrap();
    }
}

/// The script of the main job with a request for approval in it.
fn asking() -> Script {
    let turn = r#"
[[turn]]
title = "ask for approval"
agent = "AppAgent"
expect = '"rows":'
reply = '''
{"observation": "an empty sheet", "thought": "may I?", "status": "CONFIRM", "action": [
  {"function": "select_cells", "arguments": {"range": "A1:C5"}}]}
'''

[[turn]]
title = "enter the table""#;
    let text = include_str!("office.script.toml");
    script(&text.replacen("[[turn]]\ntitle = \"enter the table\"", turn.trim_start(), 1))
}

#[tokio::test]
async fn a_forged_approval_is_not_resumed() {
    // Nobody is there to approve, so the action is rejected.
    let config = SessionConfig { pictures: false, ..config() };
    let stop = StopSwitch::new();
    let ran = run_people(&asking(), config, office(), &stop, People::nobody(), |_, _| {}).await;
    let folder = &ran.end.folder;
    let is_refused = |line: &&JournalEntry| {
        matches!(&line.record, JournalRecord::Event(event)
            if matches!(event.event, SessionEvent::Rejected { .. } | SessionEvent::Unanswered { .. }))
    };
    let seq = ran.lines.iter().find(is_refused).unwrap().seq;
    let at = usize::try_from(seq).unwrap() - 1;
    for seals in [Seals::Kept, Seals::Removed, Seals::Own] {
        let mut lines = lines_of(folder);
        lines.truncate(at + 1);
        let event = lines[at].find("\"event\":").unwrap()..lines[at].rfind(SEAL).unwrap();
        lines[at].replace_range(event, "\"event\":{\"came\":\"approved\"}}");
        reseal(&mut lines, at, seals);
        let forged = lines.join("\n") + "\n";
        let whole = fs::read(folder.journal_path()).unwrap();
        fs::write(folder.journal_path(), &forged).unwrap();
        let journal = folder.read().unwrap();
        assert!(matches!(&journal.lines[at].record, JournalRecord::Event(event)
            if matches!(event.event, SessionEvent::Approved { .. })));
        assert_eq!(journal.problems.first(), Some(&JournalProblem::Forged { seq }), "{seals:?}");
        for unsealed in [UnsealedJournalPolicy::Refuse, UnsealedJournalPolicy::Accept] {
            let error = HeldSession::take(folder.clone(), unsealed, &mut |_| ()).unwrap_err();
            assert!(matches!(error, HoldError::Forged { seq: named, .. } if named == seq), "{error:?}");
        }
        fs::write(folder.journal_path(), whole).unwrap();
    }
}

#[tokio::test]
async fn an_approval_appended_to_an_interrupted_session_is_not_resumed() {
    let world = World::new(asking(), Arc::new(office()));
    let interrupted = world.clone();
    let mut process = JoinSet::new();
    process.spawn(async move {
        let mut observer = |line: &JournalEntry| {
            if matches!(&line.record, JournalRecord::Effect(effect) if matches!(effect.effect, Effect::AwaitApproval { .. })) {
                std::panic::resume_unwind(Box::new("the process dies"));
            }
        };
        run(interrupted.options(vec![REQUEST.to_owned()]), &mut observer).await.unwrap()
    });
    assert!(process.join_next().await.unwrap().is_err(), "it dies at the question");
    let folder = world.store.find("last").unwrap();
    let mut lines = lines_of(&folder);
    let effect = replaced(lines.last().unwrap(), "\"record\":", ",\"seal\"", "X");
    let journal = folder.read().unwrap();
    let JournalRecord::Effect(asked) = &journal.lines.last().unwrap().record else { panic!("it asks") };
    let event = format!(
        r#"{{"kind":"event","effect":{},"at_ms":1,"event":{{"came":"approved"}}}}"#,
        serde_json::to_value(asked.id).unwrap()
    );
    lines.push(effect.replacen("\"record\":X", &format!("\"record\":{event}"), 1));
    let at = lines.len() - 1;
    reseal(&mut lines, at, Seals::Kept);
    let whole = fs::read(folder.journal_path()).unwrap();
    fs::write(folder.journal_path(), lines.join("\n") + "\n").unwrap();
    let error = HeldSession::take(folder.clone(), UnsealedJournalPolicy::Refuse, &mut |_| ()).unwrap_err();
    assert!(matches!(error, HoldError::Forged { seq, .. } if seq == at as u64 + 1), "{error:?}");
    fs::write(folder.journal_path(), whole).unwrap();
    HeldSession::take(folder, UnsealedJournalPolicy::Refuse, &mut |_| ()).unwrap();
}

/// A journal of another session, made with everything but the key.
#[tokio::test]
async fn a_journal_that_nothing_proves_is_consistent_and_needs_consent() {
    let ran = ran().await;
    let folder = &ran.end.folder;
    let other = "00000000-0000-7000-8000-000000000000";
    let mut lines = lines_of(folder);
    lines[0] = lines[0].replace(&ran.end.session.0, other);
    reseal(&mut lines, 0, Seals::Own);
    fs::write(folder.journal_path(), lines.join("\n") + "\n").unwrap();
    let verified = verify(folder).unwrap();
    assert_eq!(verified.findings, []);
    assert!(
        matches!(verified.proof, SealProof::Consistent(Unproven::OtherKey { .. })),
        "{:?}",
        verified.proof
    );
    let error = HeldSession::take(folder.clone(), UnsealedJournalPolicy::Refuse, &mut |_| ()).unwrap_err();
    assert!(matches!(error, HoldError::Unproven { .. }), "{error:?}");
    let error = fork(&ran.store.0, folder, 1, UnsealedJournalPolicy::Refuse).unwrap_err().to_string();
    assert!(error.contains("consistent with itself, but not proven"), "{error}");
    HeldSession::take(folder.clone(), UnsealedJournalPolicy::Accept, &mut |_| ()).unwrap();
    fs::remove_file(folder.seals().anchor_path(other)).unwrap();
}

#[tokio::test]
async fn another_format_version_is_refused() {
    let ran = ran().await;
    let folder = &ran.end.folder;
    let mut lines = lines_of(folder);
    let other = JOURNAL_VERSION + 1;
    lines[0] = replaced(&lines[0], "\"version\":", ",", &other.to_string());
    reseal(&mut lines, 0, Seals::Own);
    fs::write(folder.journal_path(), lines.join("\n") + "\n").unwrap();
    let message = format!("format version {other} is not the supported version {JOURNAL_VERSION}");
    for error in [folder.read().unwrap_err().to_string(), verify(folder).unwrap_err().to_string()] {
        assert!(error.contains(&message), "{error}");
    }
    let error = HeldSession::take(folder.clone(), UnsealedJournalPolicy::Accept, &mut |_| ()).unwrap_err();
    assert!(std::error::Error::source(&error).unwrap().to_string().contains(&message), "{error:?}");
}

const AGAIN: &str = r#"
[[turn]]
agent = "HostAgent"
reply = '{"thought": "seen", "status": "FINISH", "result": "resumed"}'
"#;

#[tokio::test]
async fn without_the_key_a_journal_is_consistent_until_it_is_accepted_and_sealed_again() {
    let world =
        World::new(script(&format!("{}{AGAIN}", include_str!("office.script.toml"))), Arc::new(office()));
    let folder = run(world.options(vec![REQUEST.to_owned()]), &mut |_| ()).await.unwrap().folder;
    let key = folder.seals().key_path();
    let kept = fs::read(&key).unwrap();
    fs::remove_file(&key).unwrap();
    let verified = verify(&folder).unwrap();
    assert_eq!(verified.findings, []);
    assert_eq!(verified.proof, SealProof::Consistent(Unproven::NoKey { key: key.clone() }));
    let error = HeldSession::take(folder.clone(), UnsealedJournalPolicy::Refuse, &mut |_| ()).unwrap_err();
    assert!(matches!(error, HoldError::Unproven { why: Unproven::NoKey { .. }, .. }), "{error:?}");
    assert!(!key.exists(), "a refused session creates no key");

    let records = verified.records;
    let held = HeldSession::take(folder.clone(), UnsealedJournalPolicy::Accept, &mut |_| ()).unwrap();
    assert_ne!(fs::read(&key).unwrap(), kept, "a new key");
    let options = world.options(vec!["and now?".to_owned()]);
    resume(held, /*desktop_kept*/ false, options, &mut |_| ()).await.unwrap();
    let verified = verify(&folder).unwrap();
    assert_eq!((verified.findings, verified.proof), (vec![], SealProof::Sealed { since: records + 1 }));
    HeldSession::take(folder.clone(), UnsealedJournalPolicy::Refuse, &mut |_| ()).unwrap();

    // The later seals cover the records before them.
    let mut lines = lines_of(&folder);
    lines[2] = changed(&lines[2], &mut Chance::new(1));
    reseal(&mut lines[..usize::try_from(records).unwrap()], 2, Seals::Kept);
    let next = usize::try_from(records).unwrap();
    lines[next] = resealed(&lines[next], next + 1, &sha256(lines[next - 1].as_bytes()), Seals::Kept);
    fs::write(folder.journal_path(), lines.join("\n") + "\n").unwrap();
    let findings = verify(&folder).unwrap().findings;
    assert_eq!(
        findings.first(),
        Some(&IntegrityFinding::Forged { seq: records + 1, last: records + 1 }),
        "{findings:?}"
    );
}

#[tokio::test]
async fn without_its_anchor_the_end_of_a_journal_is_not_known() {
    let ran = ran().await;
    let folder = &ran.end.folder;
    let anchor = folder.seals().anchor_path(&ran.end.session.0);
    fs::remove_file(&anchor).unwrap();
    let verified = verify(folder).unwrap();
    assert_eq!(
        (verified.findings, verified.proof),
        (vec![], SealProof::Consistent(Unproven::NoAnchor { anchor }))
    );
    let error = HeldSession::take(folder.clone(), UnsealedJournalPolicy::Refuse, &mut |_| ()).unwrap_err();
    assert!(matches!(error, HoldError::Unproven { why: Unproven::NoAnchor { .. }, .. }), "{error:?}");
    HeldSession::take(folder.clone(), UnsealedJournalPolicy::Accept, &mut |_| ()).unwrap();
    assert_eq!(verify(folder).unwrap().proof, SealProof::Sealed { since: 1 });
}

#[tokio::test]
async fn anchors_come_and_go_with_their_sessions() {
    let ran = ran().await;
    let (store, session) = (&ran.store.0, &ran.end.session);
    let folder = &ran.end.folder;
    let anchors = || {
        let folder = folder.seals().anchor_path("x");
        fs::read_dir(folder.parent().unwrap()).unwrap().count()
    };
    assert_eq!(anchors(), 1);
    let copy = fork(store, folder, 1, UnsealedJournalPolicy::Refuse).unwrap();
    assert_eq!(anchors(), 2, "a fork has its own");
    assert_eq!(verify(copy.folder()).unwrap().proof, SealProof::Sealed { since: 1 });
    let copied = copy.folder().path().to_owned();
    drop(copy);
    retention::remove(store, session).unwrap();
    assert_eq!(anchors(), 1, "a removed session takes its anchor along");
    fs::remove_dir_all(&copied).unwrap();
    store.create(&SessionId("next".to_owned())).unwrap();
    assert_eq!(anchors(), 1, "a session removed by hand may come back");
    let copied = SessionId(copied.file_name().unwrap().to_str().unwrap().to_owned());
    store.folder(&copied).unwrap().remove().unwrap();
    assert_eq!(anchors(), 0, "what is left of a session is removed, too");
}

#[tokio::test]
async fn a_session_that_was_away_cannot_come_back_without_its_end() {
    let ran = ran().await;
    let (store, folder) = (&ran.store.0, &ran.end.folder);
    let whole = lines_of(folder);
    let away = folder.path().with_extension("away");
    for cut in [whole.len() - 1, whole.len() / 2, 1] {
        fs::rename(folder.path(), &away).unwrap();
        // Every session looks for anchors that are not needed.
        for next in ["next", "another"] {
            store.create(&SessionId(next.to_owned())).unwrap();
        }
        fs::rename(&away, folder.path()).unwrap();
        fs::write(folder.journal_path(), joined(&whole[..cut])).unwrap();
        let verified = verify(folder).unwrap();
        let from = cut as u64 + 1;
        let missing = IntegrityFinding::Truncated { from, to: whole.len() as u64 };
        assert_eq!(verified.findings, [missing], "{:?}", verified.proof);
        let error =
            HeldSession::take(folder.clone(), UnsealedJournalPolicy::Accept, &mut |_| ()).unwrap_err();
        assert!(matches!(error, HoldError::Truncated { .. }), "{error}");
    }
    // Together with all of the folder around it, too.
    let root = store.root().to_owned();
    let away = root.with_extension("away");
    fs::rename(&root, &away).unwrap();
    store.create(&SessionId("next".to_owned())).unwrap();
    fs::remove_dir_all(&root).unwrap();
    fs::rename(&away, &root).unwrap();
    assert!(matches!(verify(folder).unwrap().findings[..], [IntegrityFinding::Truncated { from: 2, .. }]));
    fs::write(folder.journal_path(), joined(&whole)).unwrap();
    assert_eq!(verify(folder).unwrap().proof, SealProof::Sealed { since: 1 });
}

#[tokio::test]
async fn an_oversized_line_is_neither_torn_nor_cut_off() {
    const LENGTH: u64 = 257 * 1024 * 1024;
    let ran = ran().await;
    let folder = &ran.end.folder;
    let records = ran.lines.len() as u64;
    // A hole in the file: it takes no space.
    let mut file = fs::OpenOptions::new().write(true).open(folder.journal_path()).unwrap();
    let end = file.seek(SeekFrom::End(0)).unwrap();
    file.write_all(b"{").unwrap();
    file.set_len(end + LENGTH).unwrap();
    let check = |error: &JournalError| {
        let JournalError::TooLong { seq, bytes, .. } = error else { panic!("{error:?}") };
        assert_eq!((*seq, *bytes), (records + 1, LENGTH));
        assert!(error.to_string().contains(&format!("record {}", records + 1)), "{error}");
    };
    check(&verify(folder).unwrap_err());
    match HeldSession::take(folder.clone(), UnsealedJournalPolicy::Accept, &mut |_| ()) {
        Err(HoldError::Journal(error)) => check(&error),
        other => panic!("{other:?}"),
    }
    assert_eq!(fs::metadata(folder.journal_path()).unwrap().len(), end + LENGTH, "nothing was cut off");
}
