//! What is refused before anything starts, and that it says what to do next.

use std::fs;

use super::*;
use crate::{
    batch::BatchError,
    config::{Overrides, Provider},
    model::ModelError,
    session::SessionError,
    workspace::DocumentError,
};

/// A host whose sessions are kept in `folder`, with a script that is never asked.
fn host(folder: &Path) -> Host {
    let script = folder.join("turns.toml");
    fs::write(&script, "[[turn]]\ntitle = 'never asked'\nexpect = 'x'\nreply = '{}'\n").unwrap();
    let mut config = Config::default();
    config.sessions.dir = Some(folder.join("sessions"));
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
    assert!(!folder.path().join("sessions").exists(), "nothing is made before a session runs");
}

#[test]
fn a_session_that_does_not_exist_is_neither_resumed_nor_forked() {
    let folder = tempfile::tempdir().unwrap();
    let host = host(folder.path());
    let error = host.resume("last", SessionRequest::default()).err().unwrap();
    assert!(matches!(error, HostError::Session(SessionError::Missing { is_empty: true, .. })), "{error}");
    let fork = ForkRequest { session: "0196".to_owned(), at: 3, ..ForkRequest::default() };
    let error = host.fork(fork).err().unwrap();
    assert!(error.to_string().starts_with("there is no session `0196` in "), "{error}");
}

#[test]
fn a_batch_does_not_overwrite_results() {
    let folder = tempfile::tempdir().unwrap();
    let host = host(folder.path());
    let tasks = folder.path().join("tasks.jsonl");
    fs::write(&tasks, "{\"request\": \"look\", \"id\": \"a\"}\n{\"request\": \"look again\"}\n").unwrap();
    let batch =
        |resume: bool| host.batch(&BatchRequest { tasks: tasks.clone(), resume, ..BatchRequest::default() });
    assert_eq!(batch(false).unwrap().count(), 2);
    let result = serde_json::json!({
        "id": "a", "request": "look", "outcome": "finished", "reason": "seen", "session_id": null,
        "session_path": null, "steps": 1, "calls": 0, "model_calls": 1, "prompt_tokens": 1,
        "completion_tokens": 1, "cost": deskhand_core::money::Cost::default(), "elapsed_ms": 1, "exit_code": 0,
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
fn a_host_of_its_own_configuration_takes_no_overrides_with_it() {
    let config = Config::default();
    assert_eq!(Host::new(&config).config(), &config);
    let sources = Sources::default().with(Overrides::default().set("limits.steps_max", 3, "the caller"));
    assert_eq!(Host::load(&sources).unwrap().config().limits.steps_max, 3);
}
