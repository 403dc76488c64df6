//! Journals of earlier format versions.

use std::{fs, path::Path, sync::Arc};

use deskhand_core::{
    action::Report,
    agent::AgentRef,
    ids::SessionId,
    intent::Does,
    model::ReplyKind,
    observation::Observation,
    outcome::OutcomeKind,
    record::{JOURNAL_VERSION, Record},
    session::{Effect, Event},
};
use deskhand_desktop_fake::office;
use deskhand_runtime::{
    HeldSession, ReportFormat, RunSummary, SessionFolder, Unsealed, replay, resume, verify,
    words::result_words, write_report,
};

use crate::support::{World, results, script};

/// A session of format version 1, copied to a store.
fn session(world: &World<deskhand_model::Script>) -> SessionFolder {
    copied(world, "v1", &["v1"])
}

/// The sessions of format version 2, which share their prompts.
const VERSION_2: [&str; 3] = ["demo", "talk", "resumed"];

fn version_2(world: &World<deskhand_model::Script>, name: &str) -> SessionFolder {
    copied(world, name, &["v2", &format!("v2/{name}")])
}

/// Copies these folders into a session of the store.
fn copied(world: &World<deskhand_model::Script>, name: &str, sources: &[&str]) -> SessionFolder {
    let folder = world.store.create(&SessionId(name.to_owned())).unwrap();
    let sessions = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/sessions");
    let entries = sources.iter().flat_map(|source| fs::read_dir(sessions.join(source)).unwrap());
    for entry in entries.map(Result::unwrap).filter(|entry| entry.path().is_file()) {
        let mut bytes = fs::read(entry.path()).unwrap();
        // Text files of this repository end with the end of a line; the prompt set was written without one.
        if entry.path().extension().is_some_and(|extension| extension == "json") {
            bytes.pop();
        }
        fs::write(folder.path().join(entry.file_name()), bytes).unwrap();
    }
    folder
}

/// Keeps the first `lines` of a journal.
fn cut(folder: &SessionFolder, lines: usize) {
    let text = fs::read_to_string(folder.journal_path()).unwrap();
    let kept: Vec<&str> = text.lines().take(lines).collect();
    fs::write(folder.journal_path(), kept.join("\n") + "\n").unwrap();
}

/// Resumes a session of an earlier version after its first `lines`.
async fn assert_resumes(world: &World<deskhand_model::Script>, folder: SessionFolder, lines: usize) {
    cut(&folder, lines);
    let held = HeldSession::take(folder, Unsealed::Accept, &mut |_| ()).unwrap();
    let requests = if held.in_round() { Vec::new() } else { vec!["and now?".to_owned()] };
    let ended = resume(held, /*desktop_kept*/ false, world.options(requests), &mut |_| ()).await.unwrap();
    let place = format!("{} after {lines} lines", ended.folder.path().display());
    assert_eq!(ended.outcome.unwrap().reason, "resumed", "{place}");
    assert_eq!(ended.folder.read().unwrap().problems, [], "{place}");
    assert_eq!(verify(&ended.folder).unwrap().findings, [], "{place}");
}

/// Replays a session of an earlier version to its end.
fn assert_replays(folder: &SessionFolder) {
    let journal = folder.read().unwrap();
    let prompts = folder.prompts(&journal.header.prompts_sha256).unwrap();
    let replayed = replay(&journal, prompts);
    assert_eq!(
        replayed.difference,
        None,
        "{}: wording may differ, decisions may not",
        folder.path().display()
    );
    assert!(replayed.complete, "{}", folder.path().display());
}

const FINISH: &str = r#"
[[turn]]
agent = "HostAgent"
reply = '{"thought": "seen", "status": "FINISH", "result": "resumed"}'
"#;

fn world() -> World<deskhand_model::Script> {
    World::new(script(FINISH), Arc::new(office()))
}

#[test]
fn version_1_can_be_read_shown_and_verified() {
    let world = world();
    let folder = session(&world);
    let journal = folder.read().unwrap();
    assert_eq!((journal.header.version, journal.lines.len()), (1, 57));
    assert_eq!(journal.problems, []);
    let summary = RunSummary::of(&journal.lines);
    assert_eq!((summary.tally.steps, summary.tally.model_calls), (7, 7));
    assert_eq!(summary.outcome.unwrap().kind, OutcomeKind::Finished);
    assert_eq!(verify(&folder).unwrap().findings, []);
    // Without seals, a modified line is detected by its successor's hash.
    let text = fs::read_to_string(folder.journal_path()).unwrap();
    fs::write(folder.journal_path(), text.replacen("Writer is open", "Writer is oben", 1)).unwrap();
    let findings = verify(&folder).unwrap().findings;
    assert_eq!(findings.len(), 1, "{findings:?}");
    let changed = text.lines().position(|line| line.contains("Writer is open")).unwrap() + 1;
    assert!(findings[0].to_string().starts_with(&format!("record {changed}: modified")), "{findings:?}");
}

#[test]
fn version_1_replay_compares_decisions() {
    let world = world();
    assert_replays(&session(&world));
}

#[tokio::test]
async fn version_1_can_be_resumed_ended_or_not() {
    for lines in [57, 30, 12] {
        let world = world();
        let folder = session(&world);
        cut(&folder, lines);
        let held = HeldSession::take(folder, Unsealed::Accept, &mut |_| ()).unwrap();
        let requests = if held.has_ended() { vec!["and now?".to_owned()] } else { Vec::new() };
        let options = world.options(requests);
        let ended = resume(held, /*desktop_kept*/ false, options, &mut |_| ()).await.unwrap();
        assert_eq!(ended.outcome.unwrap().reason, "resumed", "after {lines} lines");
        let journal = ended.folder.read().unwrap();
        assert_eq!(journal.problems, []);
        assert!(journal.lines.iter().any(|line| matches!(&line.record, Record::Event(event)
            if matches!(event.event, Event::Resumed { desktop_kept: false }))));
        assert_eq!(verify(&ended.folder).unwrap().findings, []);
    }
}

#[test]
fn version_2_can_be_read_shown_and_verified() {
    let world = world();
    let finished = OutcomeKind::Finished;
    for (name, records, steps, outcome) in
        [("demo", 51, 6, finished), ("talk", 45, 7, finished), ("resumed", 32, 5, OutcomeKind::Error)]
    {
        let folder = version_2(&world, name);
        let journal = folder.read().unwrap();
        assert_eq!((journal.header.version, journal.lines.len()), (2, records), "{name}");
        assert_eq!(journal.problems, [], "{name}");
        let summary = RunSummary::of(&journal.lines);
        assert_eq!(summary.tally.steps, steps, "{name}");
        assert_eq!(summary.outcome.unwrap().kind, outcome, "{name}");
        assert_eq!(verify(&folder).unwrap().findings, [], "{name}");
        for format in ReportFormat::ALL {
            write_report(&folder, format, None).unwrap();
        }
    }
}

#[test]
fn version_2_names_its_agents_and_stores_views_as_changes() {
    let world = world();
    let journal = version_2(&world, "demo").read().unwrap();
    let mut agents: Vec<AgentRef> = Vec::new();
    let mut views = 0;
    for line in &journal.lines {
        match &line.record {
            Record::Effect(record) => {
                agents.extend(record.step.iter().map(|step| step.agent.clone()));
                if let Effect::Ask { request } = &record.effect {
                    assert_eq!(request.agent, record.step.as_ref().unwrap().agent);
                    let host = request.agent == AgentRef::HostAgent;
                    assert_eq!(request.reply == ReplyKind::HostAgent, host);
                }
            }
            Record::Event(record) => {
                views += usize::from(matches!(
                    record.event,
                    Event::Observed { observation: Observation::Window(_) }
                ));
            }
            Record::Header(_) | Record::Changed(_) => {}
        }
    }
    agents.dedup();
    assert_eq!(agents.first(), Some(&AgentRef::HostAgent));
    assert!(
        agents.iter().skip(1).any(|agent| matches!(agent, AgentRef::AppAgent { window: None, .. })),
        "{agents:?}"
    );
    let stored = fs::read_to_string(version_2_path("demo")).unwrap();
    let whole = stored.matches(r#""observation":{"of":"window","#).count();
    assert!(whole < views, "{whole} of {views} views stored whole");
}

fn version_2_path(name: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/it/sessions/v2/{name}/journal.jsonl"))
}

#[test]
fn version_2_replay_compares_decisions() {
    let world = world();
    for name in VERSION_2 {
        assert_replays(&version_2(&world, name));
    }
}

#[tokio::test]
async fn version_2_can_be_resumed_at_any_record() {
    for (name, lines) in [("demo", 51), ("demo", 33), ("demo", 14), ("talk", 27), ("resumed", 20)] {
        let world = world();
        assert_resumes(&world, version_2(&world, name), lines).await;
    }
}

fn version_3(world: &World<deskhand_model::Script>) -> SessionFolder {
    copied(world, "v3", &["v3", "v3/demo"])
}

#[test]
fn version_3_holds_sentences_and_is_read_shown_verified_and_replayed() {
    let world = world();
    let folder = version_3(&world);
    let journal = folder.read().unwrap();
    assert_eq!((journal.header.version, journal.lines.len()), (3, 51));
    assert_eq!(journal.problems, []);
    assert_eq!(verify(&folder).unwrap().findings, []);
    assert!(results(&journal.lines).all(|result| matches!(result.report, Report::Recorded { .. })));
    let words: Vec<String> = results(&journal.lines).map(result_words).collect();
    // The sentence without the command and the wait.
    assert!(words.iter().any(|words| words == "15 of 15 cells read as meant"), "{words:?}");
    for format in ReportFormat::ALL {
        write_report(&folder, format, None).unwrap();
    }
    assert_replays(&folder);
}

#[tokio::test]
async fn version_3_can_be_resumed_at_any_record() {
    for lines in [51, 33, 14] {
        let world = world();
        assert_resumes(&world, version_3(&world), lines).await;
    }
}

/// Its prompts are those of version 3.
fn version_4(world: &World<deskhand_model::Script>) -> SessionFolder {
    copied(world, "v4", &["v3", "v4/demo"])
}

#[test]
fn version_4_tools_declare_nothing_and_it_is_read_shown_verified_and_replayed() {
    let world = world();
    let folder = version_4(&world);
    let journal = folder.read().unwrap();
    assert_eq!((journal.header.version, journal.lines.len()), (4, 51));
    assert_eq!(journal.problems, []);
    assert_eq!(verify(&folder).unwrap().findings, []);
    let written = fs::read_to_string(folder.journal_path()).unwrap();
    assert!(!written.contains("\"does\""));
    let click = journal.header.config.app_tools.iter().find(|tool| tool.name == "click_element").unwrap();
    assert_eq!((click.does, click.takes.len()), (Does::Press, 2));
    for format in ReportFormat::ALL {
        write_report(&folder, format, None).unwrap();
    }
    assert_replays(&folder);
}

#[tokio::test]
async fn version_4_can_be_resumed_at_any_record() {
    for lines in [51, 33, 14] {
        let world = world();
        assert_resumes(&world, version_4(&world), lines).await;
    }
}

#[test]
fn a_later_version_is_rejected() {
    let world = world();
    let folder = session(&world);
    let text = fs::read_to_string(folder.journal_path()).unwrap();
    let later = format!("\"version\":{}", JOURNAL_VERSION + 1);
    fs::write(folder.journal_path(), text.replacen("\"version\":1", &later, 1)).unwrap();
    let message = format!("format version {} is newer", JOURNAL_VERSION + 1);
    let error = folder.read().unwrap_err().to_string();
    assert!(error.contains(&message), "{error}");
    let error = HeldSession::take(folder.clone(), Unsealed::Accept, &mut |_| ()).unwrap_err();
    assert!(std::error::Error::source(&error).unwrap().to_string().contains(&message), "{error:?}");
    assert!(verify(&folder).unwrap_err().to_string().contains(&message));
}
