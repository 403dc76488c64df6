//! Secrets in whole sessions: a field that changes between the judgement and the act, values that come back by other ways than
//! the desktop, and sessions that are resumed.

use std::sync::Mutex;

use deskhand_desktop::{DesktopError, ElementPatterns as _};
use deskhand_desktop_act::{ActLimits, VeiledDesktop};
use deskhand_desktop_fake::{Behaviour, FakeApp, FakeDesktop, FakeElement, FakeWindow};
use deskhand_machine::{
    prompt::PromptSet,
    record::{JournalEntry, JournalRecord},
    session::{Effect, SessionConfig},
};
use deskhand_runtime::{
    HeldSession, RunEnd, RunError, SessionRunOptions, SessionStore, StopSwitch, Toolbox,
    UnsealedJournalPolicy, Waits, agents::EnabledAgents, people::People, resume, run,
};
use deskhand_secret::{ReadValue, SecretReader, SecretValue, Secrets, Veil};
use deskhand_ui::{Role, State, action::Verdict, secret::SecretPermit};

use crate::support::{config, results, script};

const CANARY: &str = "Kanarie-7f3a";

/// A reader that may have lost its secrets.
struct Fixed(Option<&'static str>);

impl SecretReader for Fixed {
    fn read<'a>(&'a self, _name: &'a str) -> ReadValue<'a> {
        let value = self.0.ok_or_else(|| "the file is gone".to_owned());
        Box::pin(async move { value.map(|value| SecretValue::new(value).unwrap()) })
    }
}

fn secrets(value: Option<&'static str>) -> Secrets {
    Secrets::new(Fixed(value), Veil::default())
}

fn with_permit() -> SessionConfig {
    let permit = SecretPermit {
        name: "shop".to_owned(),
        application: "Shop".to_owned(),
        role: "entry".to_owned(),
        host: None,
        window: "*".to_owned(),
    };
    SessionConfig { secrets: vec![permit], ..config() }
}

fn entry(name: &str) -> FakeElement {
    FakeElement::new(Role::ENTRY, name).key("field").at(20, 100, 300, 30)
}

fn desktop() -> FakeDesktop {
    let other = FakeElement::new(Role::ENTRY, "Search").key("other").at(20, 200, 300, 30);
    let window = FakeWindow::normal("Log in").elements([entry("Token"), other]);
    FakeDesktop::new([FakeApp::new("Shop", "shop", [window])], [])
}

/// A model that acts once and then gives up, with this thought.
fn turns(action: &str, thought: &str) -> String {
    format!(
        r#"
[[turn]]
agent = "HostAgent"
reply = '{{"thought": "t", "status": "ASSIGN", "current_subtask": "log in", "control_label": "{{{{window "Log in"}}}}"}}'

[[turn]]
agent = "AppAgent"
reply = '{{"thought": "t", "status": "CONTINUE", "action": [{action}]}}'

[[turn]]
agent = "AppAgent"
reply = '{{"thought": "{thought}", "status": "FAIL", "result": "that is all"}}'

[[turn]]
agent = "HostAgent"
reply = '{{"thought": "t", "status": "FINISH", "result": "done"}}'
"#
    )
}

const TYPE: &str =
    r#"{"function": "type_text", "arguments": {"id": "{{element "entry" "Token"}}", "text": "secret:shop"}}"#;

struct Ran {
    desktop: VeiledDesktop<FakeDesktop>,
    end: RunEnd,
    lines: Vec<JournalEntry>,
    store: SessionStore,
    _folder: tempfile::TempDir,
}

impl Ran {
    /// What the fields really contain.
    async fn truth(&self) -> String {
        let fake = self.desktop.inner();
        let mut all = String::new();
        for key in ["field", "other"] {
            if let Some(id) = fake.find_key(key) {
                match fake.text(id, 100).await {
                    Ok(text) => all.push_str(&text),
                    // A button has none.
                    Err(DesktopError::NotOffered { .. }) => {}
                    Err(error) => panic!("{error}"),
                }
            }
        }
        all
    }
}

fn options<'a>(
    store: &'a SessionStore,
    desktop: &'a VeiledDesktop<FakeDesktop>,
    model: &'a deskhand_model::Script,
    tools: &'a Toolbox<VeiledDesktop<FakeDesktop>>,
    requests: &[&str],
) -> SessionRunOptions<'a, VeiledDesktop<FakeDesktop>> {
    SessionRunOptions {
        id: None,
        store,
        desktop,
        desktop_name: "fake".to_owned(),
        model,
        tools,
        agents: EnabledAgents::default(),
        config: with_permit(),
        prompts: PromptSet::default(),
        requests: requests.iter().map(|request| (*request).into()).collect(),
        people: People::nobody(),
        stop: StopSwitch::new(),
        waits: Waits::default(),
        ranker: None,
        retrieve: None,
        program: "test".to_owned(),
        setup: serde_json::Value::Null,
    }
}

/// Runs a session in which `fault` happens when the command is on its way. The model knows no value.
async fn runs(action: &str, fault: impl Fn(&FakeDesktop) + Send + Sync) -> Ran {
    runs_with(action, "t", fault).await
}

/// The same with what the model thinks afterwards.
async fn runs_with(action: &str, thought: &str, fault: impl Fn(&FakeDesktop) + Send + Sync) -> Ran {
    let folder = tempfile::tempdir().unwrap();
    let store = SessionStore::at(folder.path().join("sessions"), folder.path().join("seals"));
    let secrets = secrets(Some(CANARY));
    let desktop = VeiledDesktop::new(desktop(), secrets.veil().clone());
    let tools = Toolbox::standard(ActLimits::default()).unwrap().with_secrets(secrets);
    let lines = Mutex::new(Vec::new());
    let mut observer = |line: &JournalEntry| {
        if let JournalRecord::Effect(record) = &line.record
            && let Effect::Call { command } = &record.effect
            && command.window.is_some()
        {
            fault(desktop.inner());
        }
        lines.lock().unwrap().push(line.clone());
    };
    let model = script(&turns(action, thought));
    let end = run(options(&store, &desktop, &model, &tools, &["log in"]), &mut observer).await.unwrap();
    let lines = lines.into_inner().unwrap();
    Ran { desktop, end, lines, store, _folder: folder }
}

fn journal(ran: &Ran) -> String {
    std::fs::read_to_string(ran.end.folder.journal_path()).unwrap()
}

#[tokio::test]
async fn a_secret_is_typed_and_hidden_in_what_a_model_says() {
    let ran = runs_with(TYPE, &format!("it was {CANARY}"), |_| ()).await;
    let result = results(&ran.lines).last().unwrap();
    assert_eq!(result.effect, Some(Verdict::Seen), "{}", result.summary());
    assert_eq!(ran.truth().await, CANARY);
    let journal = journal(&ran);
    assert!(!journal.contains(CANARY), "{journal}");
    assert!(journal.contains("it was secret:shop"), "the model guessed it");
}

/// Nothing may be typed, and the journal may not say what.
async fn refused(ran: &Ran, why: &str) {
    let result = results(&ran.lines).last().unwrap();
    assert_eq!(result.effect, Some(Verdict::Refused), "{}", result.summary());
    assert!(result.summary().contains(why), "{}", result.summary());
    assert_eq!(ran.truth().await, "");
    assert!(!journal(ran).contains(CANARY));
}

#[tokio::test]
async fn a_field_that_another_one_replaced_gets_no_secret() {
    let ran = runs(TYPE, |desktop| {
        desktop.happens("field", &Behaviour::Remove { key: None });
        desktop.happens("other", &Behaviour::Add(Box::new(entry("Token"))));
    })
    .await;
    refused(&ran, "").await;
}

#[tokio::test]
async fn a_field_of_another_role_gets_no_secret() {
    let button = FakeElement::new(Role::PUSH_BUTTON, "Token").key("field").at(20, 100, 300, 30);
    let ran = runs(TYPE, |desktop| {
        desktop.happens("field", &Behaviour::Remove { key: None });
        desktop.happens("other", &Behaviour::Add(Box::new(button.clone().state(State::Focusable))));
    })
    .await;
    refused(&ran, "").await;
}

#[tokio::test]
async fn a_secret_goes_nowhere_else() {
    let other = TYPE.replace("\"Token\"", "\"Search\"");
    let ran = runs(&other, |_| ()).await;
    assert_eq!(ran.truth().await, CANARY, "the permission names no field");
    for (action, why) in [
        (TYPE.replace("secret:shop", "secret:bank"), "no secret `bank` is configured"),
        (TYPE.replace("secret:shop", "my secret:shop"), "can only be the whole text"),
        (r#"{"function": "type_text", "arguments": {"text": "secret:shop"}}"#.to_owned(), "give its id"),
        (
            r#"{"function": "press_keys", "arguments": {"keys": "secret:shop"}}"#.to_owned(),
            "can only be the whole text",
        ),
        (
            r#"{"function": "write_clipboard", "arguments": {"text": "secret:shop"}}"#.to_owned(),
            "can only be the whole text",
        ),
        (
            r#"{"function": "write_table", "arguments": {"rows": [["secret:shop"]]}}"#.to_owned(),
            "can only be the whole text",
        ),
    ] {
        let ran = runs(&action, |_| ()).await;
        let acts = |line: &JournalEntry| {
            matches!(&line.record, JournalRecord::Effect(record)
                if matches!(&record.effect, Effect::Call { command } if command.window.is_some()))
        };
        assert!(!ran.lines.iter().any(acts), "the gate sends nothing: {action}");
        assert_eq!(ran.truth().await, "", "{action}");
        let journal = journal(&ran);
        assert!(journal.contains(why), "{why}: {journal}");
        assert!(!journal.contains(CANARY), "{journal}");
    }
}

/// The hash of the prompts of a session.
fn held_prompts(ran: &Ran) -> String {
    let JournalRecord::Header(header) = &ran.lines[0].record else { panic!("the first line is the header") };
    header.prompts_sha256.clone()
}

/// A session that is resumed reads again what it has typed, because it may still be shown.
#[tokio::test]
async fn a_resumed_session_hides_what_it_has_typed() {
    let ran = runs(TYPE, |_| ()).await;
    let session = ran.end.session.clone();
    let again = async |secrets: Secrets| {
        let folder = ran.store.find("last").unwrap();
        let held = HeldSession::take(folder, UnsealedJournalPolicy::Refuse, &mut |_| ()).unwrap();
        // The window still shows the value.
        let desktop = VeiledDesktop::new(desktop(), secrets.veil().clone());
        let field = desktop.inner().find_key("field").unwrap();
        let shown = deskhand_desktop::ElementAction::SetText(CANARY.to_owned());
        desktop.inner().perform(field, &shown).await.unwrap();
        let tools = Toolbox::standard(ActLimits::default()).unwrap().with_secrets(secrets);
        let look = r#"{"function": "read_text", "arguments": {"id": "{{element "entry" "Token"}}"}}"#;
        let model = script(&turns(look, "t"));
        resume(
            held,
            /*desktop_kept*/ true,
            options(&ran.store, &desktop, &model, &tools, &["and now?"]),
            &mut |_| (),
        )
        .await
    };
    let failed = again(secrets(None)).await.unwrap_err();
    assert!(
        matches!(&failed, RunError::Secret { name, reason } if name == "shop" && reason == "the file is gone"),
        "{failed}"
    );
    let ended = again(secrets(Some(CANARY))).await.unwrap();
    assert_eq!(ended.session, session);
    let journal = journal(&ran);
    assert!(!journal.contains(CANARY), "{journal}");
    assert!(journal.matches("secret:shop").count() > 5, "{journal}");
    let folder = &ran.end.folder;
    let (read, prompts) = (folder.read().unwrap(), folder.prompts(&held_prompts(&ran)).unwrap());
    assert_eq!(deskhand_runtime::replay(&read, prompts).difference, None);
}
