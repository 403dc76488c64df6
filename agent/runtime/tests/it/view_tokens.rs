//! Token cost of view diffs on real office applications, compared with full views.

use std::{collections::VecDeque, sync::Mutex};

use deskhand_desktop::LaunchRequest;
use deskhand_desktop_act as act;
use deskhand_desktop_act::ActLimits;
use deskhand_desktop_linux::{LinuxDesktop, VirtualOptions};
use deskhand_machine::{
    model::{MessagePart, ModelFailure, ModelMessage, ModelReply, ModelRequest},
    observation::Observation,
    outcome::OutcomeKind,
    prompt::{PromptSet, ViewListOptions, view_text},
    record::JournalEntry,
    session::{SessionConfig, SessionEvent, later_view_text},
};
use deskhand_model::{Model, ModelSigns, PictureSource};
use deskhand_runtime::{
    SessionRunOptions, SessionStore, StopSwitch, Toolbox, Waits, agents::EnabledAgents, people::People, run,
};
use deskhand_ui::{WindowInfo, WindowView, text::tokens};
use serde_json::{Value, json};

use crate::{fixture_tools::has_programs, support::events};

/// A model with prepared replies that records its prompts.
struct Told {
    replies: Mutex<VecDeque<Value>>,
    asked: Mutex<Vec<String>>,
}

impl Model for Told {
    async fn ask(
        &self,
        request: &ModelRequest,
        _: &dyn PictureSource,
        _: &dyn ModelSigns,
    ) -> Result<ModelReply, ModelFailure> {
        let texts = |message: &ModelMessage| {
            let text = |part: &MessagePart| {
                if let MessagePart::Text { text } = part { text.clone() } else { String::new() }
            };
            message.parts.iter().map(text).collect::<String>()
        };
        self.asked.lock().unwrap().push(texts(request.messages.last().unwrap()));
        let text = self.replies.lock().unwrap().pop_front().expect("a reply is left").to_string();
        Ok(ModelReply { text, model: "told".to_owned(), attempts: 1, ..ModelReply::default() })
    }

    fn name(&self) -> &'static str {
        "told"
    }
}

/// The prompts and views of the AppAgent's steps in a document, one per action.
async fn steps(document: &str, actions: &[Value]) -> Option<Vec<(String, WindowView)>> {
    if !has_programs(&["soffice"]) {
        return None;
    }
    let desktop = LinuxDesktop::start_virtual(VirtualOptions::default()).await.unwrap();
    let request = LaunchRequest { program: "soffice".to_owned(), arguments: vec![document.to_owned()] };
    let launched = act::launch(&desktop, &request, &ActLimits::default()).await.unwrap();
    let window: WindowInfo = launched.window.clone().unwrap_or_else(|| panic!("{}", launched.summary()));
    let mut replies =
        VecDeque::from([json!({"thought": "t", "status": "ASSIGN", "current_subtask": "do it", "next": [],
               "control_label": window.id.to_string()})]);
    for action in actions {
        replies.push_back(json!({"thought": "t", "status": "CONTINUE", "action": action}));
    }
    replies.push_back(json!({"thought": "t", "status": "FAIL", "result": "enough"}));
    replies.push_back(json!({"thought": "t", "status": "FINISH", "result": "enough"}));
    let model = Told { replies: Mutex::new(replies), asked: Mutex::default() };
    let folder = tempfile::tempdir().unwrap();
    let store = SessionStore::at(folder.path().join("sessions"), folder.path().join("seals"));
    let tools = Toolbox::standard(ActLimits::default()).unwrap();
    let options = SessionRunOptions {
        id: None,
        store: &store,
        desktop: &desktop,
        desktop_name: "test".to_owned(),
        model: &model,
        tools: &tools,
        agents: EnabledAgents::default(),
        config: SessionConfig::default(),
        prompts: PromptSet::default(),
        requests: vec!["do it".into()],
        people: People::nobody(),
        stop: StopSwitch::new(),
        waits: Waits::default(),
        ranker: None,
        retrieve: None,
        program: "test".to_owned(),
        setup: Value::Null,
    };
    let mut lines: Vec<JournalEntry> = Vec::new();
    let end = run(options, &mut |line: &JournalEntry| lines.push(line.clone())).await.unwrap();
    let outcome = end.outcome.unwrap();
    assert_eq!(outcome.kind, OutcomeKind::Finished, "{}", outcome.reason);
    // The journal stores later views as changes; its reader returns whole views.
    let journal = end.folder.read().unwrap();
    let views = events(&journal.lines).filter_map(|event| {
        if let SessionEvent::Observed { observation: Observation::Window(view) } = event {
            Some(view.clone())
        } else {
            None
        }
    });
    let asked = model.asked.into_inner().unwrap();
    // The HostAgent is asked first and last.
    let prompts = asked[1..asked.len() - 1].to_vec();
    Some(prompts.into_iter().zip(views).collect())
}

/// The tokens of a later view in full, and of the diff in the prompt.
fn costs((_, first): &(String, WindowView), (prompt, later): &(String, WindowView)) -> (usize, usize) {
    let told = later_view_text(first, later, &SessionConfig::default().view);
    let is_mark = |line: &&str| line.starts_with("<untrusted") || line.starts_with("</untrusted");
    for line in told.lines().filter(|line| !is_mark(line)) {
        assert!(prompt.contains(line), "diff:\n{told}\nprompt:\n{prompt}");
    }
    let whole = tokens(&view_text(later, &ViewListOptions::default()));
    println!("{whole} tokens in full, {} as a diff:\n{told}", tokens(&told));
    (whole, tokens(&told))
}

#[tokio::test]
async fn the_diff_of_an_edited_cell_takes_a_fifth_of_the_tokens() {
    let typed = json!({"function": "type_text", "arguments": {"text": "1234\n"}});
    let Some(steps) = steps("--calc", &[typed]).await else { return };
    let (whole, told) = costs(&steps[0], &steps[1]);
    assert!(steps[1].0.contains("table cell \"A1\" = \"1234\""), "{}", steps[1].0);
    assert!(whole >= 5 * told, "{whole} tokens in full, {told} as a diff");
}

#[tokio::test]
async fn the_diff_of_an_opened_dialog_takes_a_fifth_of_the_tokens() {
    // A modeless dialog and a modal one.
    for path in [["Tools", "Word Count…"], ["Insert", "Bookmark…"]] {
        // A fresh copy: a document that was not closed is locked.
        let folder = tempfile::tempdir().unwrap();
        let document = folder.path().join("sales.odt");
        std::fs::copy(concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/sales/sales.odt"), &document)
            .unwrap();
        let visit = json!({"function": "visit", "arguments": {"path": path}});
        let Some(steps) = steps(document.to_str().unwrap(), &[visit]).await else { return };
        assert_eq!(steps[1].1.surfaces.len(), 2, "{}", steps[1].0);
        let (whole, told) = costs(&steps[0], &steps[1]);
        assert!(whole >= 5 * told, "{path:?}: {whole} tokens in full, {told} as a diff");
    }
}
