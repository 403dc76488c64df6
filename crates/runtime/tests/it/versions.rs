//! Journals that an earlier version wrote.

use std::{fs, path::Path, sync::Arc};

use deskhand_core::{
    ids::SessionId,
    outcome::OutcomeKind,
    record::{JOURNAL_VERSION, Record},
    session::Event,
};
use deskhand_desktop_fake::office;
use deskhand_runtime::{HeldSession, RunSummary, SessionFolder, replay, resume, verify};

use crate::support::{World, script};

/// A session of format version 1, copied to a store.
fn session(world: &World<deskhand_model::Script>) -> SessionFolder {
    let folder = world.store.create(&SessionId("v1".to_owned())).unwrap();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/sessions/v1");
    for entry in fs::read_dir(source).unwrap() {
        let entry = entry.unwrap();
        let mut bytes = fs::read(entry.path()).unwrap();
        // Text files of this repository end with the end of a line; the prompt set was written without one.
        if entry.path().extension().is_some_and(|extension| extension == "json") {
            bytes.pop();
        }
        fs::write(folder.path().join(entry.file_name()), bytes).unwrap();
    }
    folder
}

const FINISH: &str = r#"
[[turn]]
agent = "HostAgent"
reply = '{"thought": "seen", "status": "FINISH", "result": "gone on"}'
"#;

fn world() -> World<deskhand_model::Script> {
    World::new(script(FINISH), Arc::new(office()))
}

#[test]
fn version_1_is_read_shown_and_verified() {
    let world = world();
    let folder = session(&world);
    let journal = folder.read().unwrap();
    assert_eq!((journal.header.version, journal.lines.len()), (1, 57));
    assert_eq!(journal.problems, []);
    let summary = RunSummary::of(&journal.lines);
    assert_eq!((summary.tally.steps, summary.tally.model_calls), (7, 7));
    assert_eq!(summary.outcome.unwrap().kind, OutcomeKind::Finished);
    assert_eq!(verify(&folder).unwrap().findings, []);
    // Without seals, a changed line is known by the line that follows it.
    let text = fs::read_to_string(folder.journal_path()).unwrap();
    fs::write(folder.journal_path(), text.replacen("Writer is open", "Writer is oben", 1)).unwrap();
    let findings = verify(&folder).unwrap().findings;
    assert_eq!(findings.len(), 1, "{findings:?}");
    let changed = text.lines().position(|line| line.contains("Writer is open")).unwrap() + 1;
    assert!(
        findings[0].to_string().starts_with(&format!("record {changed}: it was changed")),
        "{findings:?}"
    );
}

#[test]
fn version_1_is_replayed_by_its_decisions() {
    let world = world();
    let folder = session(&world);
    let journal = folder.read().unwrap();
    let prompts = folder.prompts(&journal.header.prompts_sha256).unwrap();
    let replayed = replay(&journal, prompts);
    assert_eq!(replayed.difference, None, "the words of questions may be others, what is done may not");
    assert!(replayed.complete);
}

#[tokio::test]
async fn version_1_is_gone_on_with_whether_it_ended_or_not() {
    for lines in [57, 30, 12] {
        let world = world();
        let folder = session(&world);
        let text = fs::read_to_string(folder.journal_path()).unwrap();
        let kept: Vec<&str> = text.lines().take(lines).collect();
        fs::write(folder.journal_path(), kept.join("\n") + "\n").unwrap();
        let held = HeldSession::take(folder, &mut |_| ()).unwrap();
        let requests = if held.has_ended() { vec!["and now?".to_owned()] } else { Vec::new() };
        let options = world.options(requests);
        let ended = resume(held, /*desktop_kept*/ false, options, &mut |_| ()).await.unwrap();
        assert_eq!(ended.outcome.unwrap().reason, "gone on", "after {lines} lines");
        let journal = ended.folder.read().unwrap();
        assert_eq!(journal.problems, []);
        assert!(journal.lines.iter().any(|line| matches!(&line.record, Record::Event(event)
            if matches!(event.event, Event::Resumed { desktop_kept: false }))));
        assert_eq!(verify(&ended.folder).unwrap().findings, []);
    }
}

#[test]
fn a_later_version_is_refused() {
    let world = world();
    let folder = session(&world);
    let text = fs::read_to_string(folder.journal_path()).unwrap();
    let later = format!("\"version\":{}", JOURNAL_VERSION + 1);
    fs::write(folder.journal_path(), text.replacen("\"version\":1", &later, 1)).unwrap();
    let message = format!("has format version {}", JOURNAL_VERSION + 1);
    let error = folder.read().unwrap_err().to_string();
    assert!(error.contains(&message), "{error}");
    let error = HeldSession::take(folder.clone(), &mut |_| ()).unwrap_err();
    assert!(std::error::Error::source(&error).unwrap().to_string().contains(&message), "{error:?}");
    assert!(verify(&folder).unwrap_err().to_string().contains(&message));
}
