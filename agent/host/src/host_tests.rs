//! Tests of the host: what it refuses before anything starts, and work on stored sessions.

use std::fs;

use deskhand_machine::{
    prompt::PromptSet,
    record::{JOURNAL_VERSION, JournalHeader, JournalRecord},
    session::{EventRecord, Session, SessionConfig, SessionEvent},
    workflow::Heal,
};
use deskhand_runtime::{SessionStore, retention::KeepReason};

use super::*;
use crate::{
    RemovalResult,
    batch::BatchError,
    config::{Overrides, Provider},
    model::ModelError,
    session::SessionError,
    workspace::DocumentError,
};

/// A host that stores sessions in `folder`, with a script that is never used.
fn host(folder: &Path) -> Host {
    let script = folder.join("turns.toml");
    fs::write(&script, "[[turn]]\ntitle = 'never asked'\nexpect = 'x'\nreply = '{}'\n").unwrap();
    let mut config = Config::default();
    config.sessions.dir = Some(folder.join("sessions"));
    config.sessions.seals_dir = Some(folder.join("seals"));
    (config.model.provider, config.model.script) = (Some(Provider::Script), Some(script));
    Host::new(&config)
}

#[test]
fn a_session_needs_a_model_and_documents_that_exist() {
    let folder = tempfile::tempdir().unwrap();
    let error = Host::new(&Config::default()).start("do it").err().unwrap();
    assert!(matches!(error, HostError::Model(ModelError::NotConfigured)) && error.is_usage(), "{error}");
    assert!(error.help().unwrap().contains("model.provider"), "{error:?}");

    fs::write(folder.path().join("sales.ods"), "").unwrap();
    let open = vec![folder.path().join("slaes.ods")];
    let request = SessionRequest { open, ..SessionRequest::from("do it") };
    let error = host(folder.path()).start(request).err().unwrap();
    let HostError::Document(DocumentError::Missing { nearest, .. }) = &error else { panic!("{error}") };
    assert_eq!(nearest.as_deref(), Some(folder.path().join("sales.ods").as_path()));

    assert_eq!(host(folder.path()).start("do it").unwrap().id(), None);
    assert!(!folder.path().join("sessions").exists(), "nothing is created before a session runs");
}

/// A workflow of one step on the shelf of a host.
fn shelve(host: &Host, request: &str) -> crate::workflows::StoredWorkflow {
    let text = format!(
        "format = 1\nname = \"note\"\nabout = \"Note it.\"\nrequest = \"{request}\"\n\n[parameters.text]\nexample = \"Hi\"\n\n\
         [[steps]]\ncall = \"type_text\"\nin = {{ application = \"mousepad\", name = \"Mousepad\" }}\nwith = {{ text = \"{{text}}\" }}\n"
    );
    fs::create_dir_all(host.workflows().folder()).unwrap();
    fs::write(host.workflows().path_of("note"), text).unwrap();
    let shelf = host.workflows();
    let mut shelved = shelf.find("note").unwrap();
    shelf.trust(&mut shelved).unwrap();
    shelved
}

#[test]
fn a_workflow_needs_no_model_unless_one_may_heal_it() {
    let folder = tempfile::tempdir().unwrap();
    let mut config = Config::default();
    config.workflows.dir = Some(folder.path().join("workflows"));
    config.sessions.dir = Some(folder.path().join("sessions"));
    config.sessions.seals_dir = Some(folder.path().join("seals"));
    let host = Host::new(&config);
    let shelved = shelve(&host, "Note {text} in the editor");
    let perform = |heal| Perform {
        shelved: shelved.clone(),
        values: [("text".to_owned(), "Hello".to_owned())].into(),
        heal,
        session: SessionRequest::default(),
    };
    let session = host.perform(perform(Heal::Off)).unwrap();
    assert_eq!(session.plan.requests[0].text, "Note Hello in the editor");
    assert_eq!(session.plan.config.workflows, [], "no agent is asked, so none is offered anything");
    let error = host.perform(perform(Heal::Auto)).err().unwrap();
    assert!(matches!(error, HostError::Model(ModelError::NotConfigured)), "{error}");
    let found = host.fitting("note “two words” in the editor.").unwrap();
    assert!(found.is_sure() && found.values["text"] == "two words", "{found:?}");
    assert_eq!(host.fitting("Write a letter"), None);
}

#[test]
fn agents_are_offered_workflows_unless_the_configuration_says_no() {
    let folder = tempfile::tempdir().unwrap();
    let mut config = host(folder.path()).config().clone();
    config.workflows.dir = Some(folder.path().join("workflows"));
    shelve(&Host::new(&config), "Note {text} in the editor");
    let offered = |config: &Config| {
        let session = Host::new(config).start("do it").unwrap();
        session.plan.config.workflows.iter().map(|offer| offer.name.clone()).collect::<Vec<_>>()
    };
    assert_eq!(offered(&config), ["note"]);
    config.workflows.offer = false;
    assert_eq!(offered(&config), [""; 0]);
}

#[test]
fn missing_session_is_neither_resumed_nor_forked() {
    let folder = tempfile::tempdir().unwrap();
    let host = host(folder.path());
    let error = host.resume("last", UnsealedJournalPolicy::Refuse, SessionRequest::default()).err().unwrap();
    assert!(matches!(error, HostError::Session(SessionError::Missing { is_empty: true, .. })), "{error}");
    let fork = ForkRequest { session: "0196".to_owned(), at: 3, ..ForkRequest::default() };
    let error = host.fork(fork).err().unwrap();
    assert!(error.to_string().starts_with("no session `0196` in "), "{error}");
}

/// Records a session that does nothing but end, into the folder of the sessions.
fn store_session(host: &Host, name: &str) -> PathBuf {
    let sessions = &host.config().sessions;
    let dirs = [&sessions.dir, &sessions.seals_dir].map(|dir| dir.clone().unwrap());
    let [dir, seals] = dirs;
    let folder = SessionStore::at(dir, seals).create(&SessionId(name.to_owned())).unwrap();
    let config = SessionConfig::default();
    let header = JournalHeader {
        version: JOURNAL_VERSION,
        session: SessionId(name.to_owned()),
        created_ms: 1,
        config: config.clone(),
        prompts_sha256: folder.keep_prompts(&PromptSet::default()).unwrap(),
        model: String::new(),
        desktop: String::new(),
        program: String::new(),
        setup: serde_json::Value::Null,
        forked_from: None,
    };
    let mut writer = folder.begin().unwrap();
    writer.append(1, JournalRecord::Header(Box::new(header))).unwrap();
    let mut session = Session::new(config, PromptSet::default());
    let effect = session.next().unwrap().clone();
    let event = EventRecord { effect: Some(effect.id), at_ms: 1, event: SessionEvent::Ended };
    writer.append(1, JournalRecord::Effect(Box::new(effect))).unwrap();
    session.apply(&event).unwrap();
    writer.append(1, JournalRecord::Event(Box::new(event))).unwrap();
    folder.path().to_owned()
}

#[test]
fn a_stored_session_is_verified_replayed_and_reported() {
    let folder = tempfile::tempdir().unwrap();
    let host = host(folder.path());
    let stored = store_session(&host, "kept");
    let replay = host.replay("kept").unwrap();
    assert!(replay.difference.is_none() && replay.effects_equal > 0, "{replay:?}");
    let path = host.report("kept", ReportFormat::Html, None).unwrap();
    assert!(fs::metadata(&path).unwrap().len() > 0 && path.starts_with(&stored), "{path:?}");
    let error = host.report("kept", ReportFormat::Jsonl, Some(Path::new("/dev/null/report"))).unwrap_err();
    assert!(error.to_string().starts_with("failed to write the report"), "{error}");
    assert_eq!(error.help().as_deref(), Some("name another output file"));

    let journal = stored.join("journal.jsonl");
    let text = fs::read_to_string(&journal).unwrap();
    let intact = host.verify("kept").unwrap().1.findings.len();
    fs::write(&journal, text.replacen("\"seq\":3,", "\"seq\": 3,", 1)).unwrap();
    assert_eq!(host.verify("kept").unwrap().1.findings.len(), intact + 1);
}

#[test]
fn old_sessions_are_listed_in_a_dry_run_and_removed_otherwise() {
    let folder = tempfile::tempdir().unwrap();
    let host = host(folder.path());
    let stored = store_session(&host, "old");
    let all = Retention { older_than: std::time::Duration::ZERO, keep: None, unfinished: true };
    let month = Retention { older_than: std::time::Duration::from_hours(720), ..all };
    let kept = host.remove_sessions(month, RemovalMode::Remove).unwrap();
    assert!(matches!(kept[0].result, RemovalResult::Kept(KeepReason::Recent)), "{kept:?}");
    for (mode, left) in [(RemovalMode::DryRun, true), (RemovalMode::Remove, false)] {
        let removals = host.remove_sessions(all, mode).unwrap();
        assert_eq!((removals.len(), removals[0].session.0.as_str()), (1, "old"));
        assert!(
            matches!(removals[0].result, RemovalResult::Removed) && removals[0].bytes > 0,
            "{removals:?}"
        );
        assert_eq!(stored.exists(), left, "{mode:?}");
    }
}

#[test]
fn a_batch_does_not_overwrite_results() {
    let folder = tempfile::tempdir().unwrap();
    let host = host(folder.path());
    let tasks = folder.path().join("tasks.jsonl");
    fs::write(&tasks, "{\"request\": \"look\", \"id\": \"a\"}\n{\"request\": \"look again\"}\n").unwrap();
    let batch = |resume: bool| {
        let files = host.read_tasks(&tasks, InstructionKind::Tasks).unwrap();
        host.batch(&BatchRequest { tasks: tasks.clone(), resume, ..BatchRequest::default() }, &files)
    };
    assert_eq!(batch(false).unwrap().count(), 2);
    let result = serde_json::json!({
        "id": "a", "request": "look", "outcome": "finished", "reason": "seen", "session_id": null,
        "session_path": null, "steps": 1, "calls": 0, "model_calls": 1, "prompt_tokens": 1,
        "completion_tokens": 1, "cost": deskhand_machine::money::Cost::default(), "elapsed_ms": 1, "exit_code": 0,
    });
    fs::create_dir_all(folder.path().join("tasks.jsonl.results")).unwrap();
    fs::write(folder.path().join("tasks.jsonl.results/a.json"), result.to_string()).unwrap();
    let error = batch(false).err().unwrap();
    assert!(matches!(error, HostError::Batch(BatchError::HasResults { .. })) && error.is_usage(), "{error}");
    let tasks = batch(true).unwrap();
    assert_eq!((tasks.count(), tasks.earlier().len()), (2, 1));
    let ids: Vec<String> = tasks.into_sessions().map(|(task, _)| task.id().to_owned()).collect();
    assert_eq!(ids, ["line-2"]);
}

#[test]
fn host_with_its_own_configuration_has_no_overrides() {
    let config = Config::default();
    assert_eq!(Host::new(&config).config(), &config);
    let sources = Sources::default().with(Overrides::default().set("limits.steps_max", 3, "the caller"));
    assert_eq!(Host::load(&sources).unwrap().config().limits.steps_max, 3);
}
