//! Words of the user and hand-overs in whole sessions: over a console, with what is done by hand watched, and as they are told later.

use std::{
    io::Write as _,
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use deskhand_desktop::{
    Button, DesktopResult, InputInjection as _, PERSON_INPUTS_WAITING_MAX, PersonInput, TimedPersonInput,
    UiTree as _,
    keys::{ChordKey, KeyChord},
};
use deskhand_desktop_fake::{FakeApp, FakeDesktop, FakeElement, FakeWindow};
use deskhand_machine::{
    agent::AgentRef,
    model::{MessagePart, ModelFailure, ModelReply, ModelRequest, Usage},
    outcome::OutcomeKind,
    record::{JournalEntry, JournalRecord},
    session::{Effect, SessionEvent, StopReason, Suspension},
};
use deskhand_model::{Model, ModelSigns, PictureSource};
use deskhand_runtime::{
    ForkError, ReportFormat, StopSwitch, UnsealedJournalPolicy, fork,
    people::{
        ApprovalReply, ApprovalRequest, ConsoleListener, HandsWatch, InputLines, JsonFrontend, PauseNotice,
        PauseSwitch, People, QuestionReply, QuestionRequest, UserChannel, UserRequest, WatchHands, console,
        protocol::FromSession,
    },
    replay, run, write_report,
};
use deskhand_ui::{
    Role, WindowInfo,
    geometry::{Point, Screen},
};
use futures_util::future::BoxFuture;
use serde_json::{Value, json};
use tokio::sync::{mpsc, watch};

use crate::support::{World, events};

const PASSWORD: &str = "Zaunkoenig7";
const BOUND: Duration = Duration::from_secs(60);

/// A model that decides by the prompt alone, and waits for nothing.
struct Mind<F>(F);

impl<F: Fn(&ModelRequest, &str) -> Value + Send + Sync> Model for Mind<F> {
    async fn ask(
        &self,
        request: &ModelRequest,
        _: &dyn PictureSource,
        _: &dyn ModelSigns,
    ) -> Result<ModelReply, ModelFailure> {
        let parts = request.messages.iter().skip(1).flat_map(|message| &message.parts);
        let texts = parts.filter_map(|part| match part {
            MessagePart::Text { text } => Some(text.as_str()),
            MessagePart::Picture { .. } => None,
        });
        let text = (self.0)(request, &texts.collect::<Vec<_>>().join("\n")).to_string();
        let usage = Usage { prompt_tokens: Some(1), cached_tokens: None, completion_tokens: Some(1) };
        Ok(ModelReply { text, usage, attempts: 1, ..ModelReply::default() })
    }

    fn name(&self) -> &'static str {
        "mind"
    }
}

pub(crate) fn form() -> FakeDesktop {
    let field =
        |role: Role, name: &str, y: i32| FakeElement::new(role, name).key(name).text("").at(20, y, 300, 30);
    let window = FakeWindow::normal("Order").at(0, 0, 600, 400).elements([
        field(Role::ENTRY, "Customer", 40),
        field(Role::PASSWORD_TEXT, "PIN", 90),
        FakeElement::new(Role::PUSH_BUTTON, "Send").key("Send").at(20, 190, 120, 30),
    ]);
    FakeDesktop::new([FakeApp::new("Orders", "orders", [window])], [])
}

/// Assigns the form, fills in the customer unless that is done, and finishes.
fn fills(request: &ModelRequest, prompt: &str) -> Value {
    if request.agent == AgentRef::HostAgent {
        if prompt.contains("FINISHED") {
            return json!({"thought": "t", "status": "FINISH", "result": "done"});
        }
        let window = prompt.split("[w").nth(1).unwrap().split(']').next().unwrap();
        let target = format!("w{window}");
        return json!({"thought": "t", "status": "ASSIGN", "current_subtask": "fill in the customer",
            "control_label": target});
    }
    if prompt.contains("Acme") {
        return json!({"thought": "it is there", "status": "FINISH", "result": "filled in"});
    }
    let action = json!({"function": "set_value",
        "arguments": {"id": {"role": "field", "name": "Customer"}, "value": "Borg"}});
    json!({"thought": "t", "status": "CONTINUE", "action": [action]})
}

/// What a person does who has taken over; what they say when they hand back.
type Works = Box<dyn Fn() -> BoxFuture<'static, Option<String>> + Send + Sync>;

/// A user who takes over when they are asked for an approval, and works.
struct Owner {
    pause: PauseSwitch,
    words: tokio::sync::Mutex<mpsc::UnboundedReceiver<String>>,
    says: mpsc::UnboundedSender<String>,
    told: Mutex<Vec<PauseNotice>>,
    works: Works,
}

impl Owner {
    fn new(works: Works) -> Self {
        let (says, words) = mpsc::unbounded_channel();
        let words = tokio::sync::Mutex::new(words);
        Self { pause: PauseSwitch::default(), words, says, told: Mutex::default(), works }
    }

    fn people<'a>(&'a self, hands: Option<&'a dyn WatchHands>) -> People<'a> {
        People { channel: self, pause: self.pause.clone(), hands, ..People::nobody() }
    }
}

impl UserChannel for Owner {
    async fn next_request(&self) -> Option<UserRequest> {
        None
    }

    async fn ask(&self, _: &QuestionRequest) -> QuestionReply {
        QuestionReply::Nobody
    }

    async fn decide(&self, _: &ApprovalRequest) -> ApprovalReply {
        self.pause.take_over();
        std::future::pending().await
    }

    async fn notify(&self, notice: PauseNotice) {
        self.told.lock().unwrap().push(notice.clone());
        if matches!(notice, PauseNotice::TakenOver { .. }) {
            let note = (self.works)().await;
            assert!(self.pause.hand_back(note));
        }
    }

    async fn heard(&self) -> String {
        self.words.lock().await.recv().await.unwrap()
    }
}

fn nothing() -> Works {
    Box::new(|| Box::pin(async { None }))
}

/// A person's mouse and keyboard on the desktop in memory.
struct Hands(Mutex<Option<mpsc::Receiver<TimedPersonInput>>>);

struct Inputs(mpsc::Receiver<TimedPersonInput>);

impl HandsWatch for Inputs {
    fn inputs(&mut self) -> &mut mpsc::Receiver<TimedPersonInput> {
        &mut self.0
    }
}

impl WatchHands for Hands {
    fn begin(&self) -> BoxFuture<'_, DesktopResult<Box<dyn HandsWatch>>> {
        let inputs: Box<dyn HandsWatch> = Box::new(Inputs(self.0.lock().unwrap().take().unwrap()));
        Box::pin(async { Ok(inputs) })
    }

    fn leaves_out(&self, _: &WindowInfo) -> bool {
        false
    }
}

/// Clicks into a field and types a text there.
async fn fills_in(desktop: &FakeDesktop, inputs: &mpsc::Sender<TimedPersonInput>, key: &str, text: &str) {
    let does = |input: PersonInput| inputs.try_send(TimedPersonInput { at: Instant::now(), input }).unwrap();
    let id = desktop.find_key(key).unwrap();
    let at: Point<Screen> = desktop.element(id).await.unwrap().bounds.unwrap().center();
    does(PersonInput::Pressed { button: 1, at, held: Vec::new() });
    desktop.click(at, Button::Left, 1).await.unwrap();
    does(PersonInput::Released { button: 1, at });
    // What is watched sees the focus before the text.
    for _ in 0..200 {
        tokio::task::yield_now().await;
    }
    for character in text.chars() {
        does(PersonInput::Key { chord: KeyChord { modifiers: Vec::new(), key: ChordKey::Char(character) } });
    }
    desktop.type_text(text).await.unwrap();
    for _ in 0..200 {
        tokio::task::yield_now().await;
    }
}

fn effects(lines: &[JournalEntry]) -> impl Iterator<Item = (u64, &Effect)> {
    lines.iter().filter_map(|line| match &line.record {
        JournalRecord::Effect(record) => Some((line.seq, &record.effect)),
        JournalRecord::Header(_) | JournalRecord::Event(_) | JournalRecord::Changed(_) => None,
    })
}

/// The text of every question to a model.
fn prompts(lines: &[JournalEntry]) -> Vec<String> {
    let asks = effects(lines).filter_map(|(_, effect)| {
        let Effect::Ask { request } = effect else { return None };
        Some(serde_json::to_string(&request.messages).unwrap())
    });
    asks.collect()
}

/// Returns `true` if a line is a reply of an agent with a sub-task.
fn is_app_reply(line: &JournalEntry) -> bool {
    let JournalRecord::Event(record) = &line.record else { return false };
    let SessionEvent::Replied { reply, .. } = &record.event else { return false };
    reply.text.contains("set_value")
}

#[tokio::test]
async fn what_a_person_did_is_told_with_the_new_state_and_without_their_password() {
    let desktop = Arc::new(form());
    let world = World::new(Mind(fills), desktop.clone());
    let (inputs, receiver) = mpsc::channel(PERSON_INPUTS_WAITING_MAX);
    let hands = Hands(Mutex::new(Some(receiver)));
    let hand = desktop.clone();
    let owner = Owner::new(Box::new(move || {
        let (desktop, inputs) = (hand.clone(), inputs.clone());
        Box::pin(async move {
            fills_in(&desktop, &inputs, "Customer", "Acme").await;
            fills_in(&desktop, &inputs, "PIN", PASSWORD).await;
            Some("the customer is right now".to_owned())
        })
    }));
    let mut lines = Vec::new();
    let mut observer = |line: &JournalEntry| {
        if is_app_reply(line) {
            owner.pause.take_over();
        }
        lines.push(line.clone());
    };
    let options = deskhand_runtime::SessionRunOptions {
        people: owner.people(Some(&hands)),
        ..world.options(vec!["fill it in".to_owned()])
    };
    let end = tokio::time::timeout(BOUND, run(options, &mut observer)).await.unwrap().unwrap();
    assert_eq!(end.outcome.unwrap().kind, OutcomeKind::Finished);
    let called: Vec<&Effect> = effects(&lines)
        .map(|(_, effect)| effect)
        .filter(|effect| matches!(effect, Effect::Call { command } if command.tool == "set_value"))
        .collect();
    assert!(called.is_empty(), "what was decided before was dropped: {called:?}");
    let taken = owner.told.lock().unwrap().clone();
    let before = "set_value".to_owned();
    assert_eq!(taken, [PauseNotice::TakenOver { before, watched: true }, PauseNotice::HandedBack]);

    let handed = events(&lines).find_map(|event| {
        let SessionEvent::HandedBack { acts, unwatched, note } = event else { return None };
        Some((acts.clone(), unwatched.clone(), note.clone()))
    });
    let (acts, unwatched, note) = handed.unwrap();
    assert!(acts.iter().any(|act| act.contains("Customer") && act.contains("Acme")), "{acts:?}");
    assert!(unwatched.iter().any(|what| what.contains("a password was typed into “PIN”")), "{unwatched:?}");
    assert_eq!(note.as_deref(), Some("the customer is right now"));
    let last = prompts(&lines).into_iter().filter(|prompt| prompt.contains("took over")).collect::<Vec<_>>();
    let next = last.first().unwrap();
    for part in [&acts[0], "the customer is right now", "entry \\\"Customer\\\"", "Acme"] {
        assert!(next.contains(&part.replace('"', "\\\"")) || next.contains(part), "{part} in {next}");
    }
    let journal = std::fs::read_to_string(end.folder.journal_path()).unwrap();
    assert!(!journal.contains(PASSWORD) && journal.contains("secret:password"));

    let read = end.folder.read().unwrap();
    let prompts = end.folder.prompts(&read.header.prompts_sha256).unwrap();
    let replayed = replay(&read, prompts);
    assert_eq!((replayed.difference, replayed.complete), (None, true));
    // Reports tell it as the user's.
    for format in [ReportFormat::Markdown, ReportFormat::Html, ReportFormat::Jsonl] {
        let path = write_report(&end.folder, format, None).unwrap();
        let text = std::fs::read_to_string(path).unwrap();
        for part in
            ["the user took over mouse and keyboard", "having done themselves", "the customer is right now"]
        {
            assert!(text.contains(part), "{part} in {format:?}");
        }
    }
}

#[tokio::test]
async fn who_is_asked_for_an_approval_can_take_over_instead() {
    let confirms = |request: &ModelRequest, prompt: &str| {
        if request.agent == AgentRef::HostAgent || prompt.contains("Acme") {
            return fills(request, prompt);
        }
        let mut reply = fills(request, prompt);
        reply["status"] = "CONFIRM".into();
        reply
    };
    let desktop = Arc::new(form());
    let world = World::new(Mind(confirms), desktop.clone());
    let hand = desktop.clone();
    let owner = Owner::new(Box::new(move || {
        let desktop = hand.clone();
        Box::pin(async move {
            let field = desktop.find_key("Customer").unwrap();
            let at = desktop.element(field).await.unwrap().bounds.unwrap().center();
            desktop.click(at, Button::Left, 1).await.unwrap();
            desktop.type_text("Acme").await.unwrap();
            None
        })
    }));
    let mut lines = Vec::new();
    let mut observer = |line: &JournalEntry| lines.push(line.clone());
    let options = deskhand_runtime::SessionRunOptions {
        people: owner.people(None),
        ..world.options(vec!["fill it in".to_owned()])
    };
    let end = tokio::time::timeout(BOUND, run(options, &mut observer)).await.unwrap().unwrap();
    assert_eq!(end.outcome.unwrap().kind, OutcomeKind::Finished);
    let asked = effects(&lines).filter(|(_, effect)| matches!(effect, Effect::AwaitApproval { .. })).count();
    let called = effects(&lines)
        .any(|(_, effect)| matches!(effect, Effect::Call { command } if command.tool == "set_value"));
    assert_eq!((asked, called), (1, false), "what nobody approved is dropped");
    let decided =
        |event: &SessionEvent| matches!(event, SessionEvent::Approved { .. } | SessionEvent::Rejected { .. });
    assert!(!events(&lines).any(decided));
    let unwatched = events(&lines).find_map(|event| {
        let SessionEvent::HandedBack { unwatched, .. } = event else { return None };
        Some(unwatched.concat())
    });
    assert!(unwatched.unwrap().contains("cannot be watched"), "it is said that nothing was watched");
    let read = end.folder.read().unwrap();
    let prompts = end.folder.prompts(&read.header.prompts_sha256).unwrap();
    assert_eq!(replay(&read, prompts).difference, None);
}

/// A model that answers its first question only once the user's words in between are in the journal.
struct Patient {
    says: mpsc::UnboundedSender<String>,
    told: watch::Receiver<bool>,
    asked: Mutex<u32>,
}

impl Model for Patient {
    async fn ask(
        &self,
        request: &ModelRequest,
        _: &dyn PictureSource,
        _: &dyn ModelSigns,
    ) -> Result<ModelReply, ModelFailure> {
        let first = std::mem::replace(&mut *self.asked.lock().unwrap(), 1) == 0;
        let asked = serde_json::to_string(&request.messages).unwrap();
        if first {
            self.says.send("also the third one".to_owned()).unwrap();
            self.told.clone().wait_for(|told| *told).await.unwrap();
        } else {
            assert!(asked.contains("also the third one"), "{asked}");
        }
        let text = json!({"thought": "t", "status": "FINISH", "result": "done"}).to_string();
        Ok(ModelReply { text, attempts: 1, ..ModelReply::default() })
    }

    fn name(&self) -> &'static str {
        "patient"
    }
}

#[tokio::test]
async fn words_during_a_question_are_journaled_at_once_and_the_round_hears_them() {
    let owner = Owner::new(nothing());
    let told = watch::Sender::new(false);
    let model = Patient { says: owner.says.clone(), told: told.subscribe(), asked: Mutex::new(0) };
    let world = World::new(model, Arc::new(form()));
    let mut lines = Vec::new();
    let mut observer = |line: &JournalEntry| {
        if matches!(&line.record, JournalRecord::Event(record) if matches!(record.event, SessionEvent::Told { .. }))
        {
            told.send_replace(true);
        }
        lines.push(line.clone());
    };
    let options = deskhand_runtime::SessionRunOptions {
        people: owner.people(None),
        ..world.options(vec!["fill it in".to_owned()])
    };
    let end = tokio::time::timeout(BOUND, run(options, &mut observer)).await.unwrap().unwrap();
    assert_eq!(end.outcome.unwrap().kind, OutcomeKind::Finished);
    assert_eq!(prompts(&lines).len(), 2, "the first FINISH did not know them");
    let at = lines.iter().position(|line| {
        matches!(&line.record, JournalRecord::Event(record) if matches!(record.event, SessionEvent::Told { during: Some(_), .. }))
    });
    let seq = lines[at.unwrap()].seq;
    // A fork there would have a question in progress.
    let refused = fork(&world.store, &end.folder, seq, UnsealedJournalPolicy::Refuse).unwrap_err();
    assert!(matches!(&refused, ForkError::Between { what, .. } if what == "ask"), "{refused}");
    let forked = fork(&world.store, &end.folder, seq + 1, UnsealedJournalPolicy::Refuse).unwrap();
    assert!(forked.in_round());
    let read = end.folder.read().unwrap();
    let prompts = end.folder.prompts(&read.header.prompts_sha256).unwrap();
    assert_eq!(replay(&read, prompts).difference, None);
}

/// A console of JSON lines: what it writes, and how to write to it.
struct Talk {
    written: Arc<Mutex<Vec<Value>>>,
    writer: Option<std::io::PipeWriter>,
}

impl Talk {
    fn writes(&mut self, line: &Value) {
        writeln!(self.writer.as_mut().unwrap(), "{line}").unwrap();
    }

    /// The next line of this kind after the first `from` lines.
    async fn until(&self, from: usize, kind: &str) -> Value {
        let seen = async {
            loop {
                let found =
                    self.written.lock().unwrap().iter().skip(from).find(|line| line["kind"] == kind).cloned();
                match found {
                    Some(line) => return line,
                    None => tokio::task::yield_now().await,
                }
            }
        };
        let found = tokio::time::timeout(BOUND / 3, seen).await;
        found.unwrap_or_else(|_| panic!("no {kind} in {:?}", self.written.lock().unwrap()))
    }

    fn count(&self) -> usize {
        self.written.lock().unwrap().len()
    }

    async fn refused(&mut self, line: Value, why: &str) {
        let from = self.count();
        self.writes(&line);
        let error = self.until(from, "error").await;
        assert!(error["message"].as_str().unwrap().contains(why), "{line}: {error}");
    }
}

fn talk(
    stop: &StopSwitch,
    pause: &PauseSwitch,
) -> (deskhand_runtime::people::Console, ConsoleListener<JsonFrontend>, Talk) {
    let (reader, writer) = std::io::pipe().unwrap();
    let written = Arc::new(Mutex::new(Vec::new()));
    let to = written.clone();
    let frontend = JsonFrontend::new(Box::new(move |line| {
        to.lock().unwrap().push(serde_json::to_value(line).unwrap());
    }));
    let lines = InputLines::of(reader).unwrap();
    let (console, listener) = console(lines, frontend, stop.clone(), pause.clone());
    (console, listener, Talk { written, writer: Some(writer) })
}

#[tokio::test]
async fn a_program_says_something_takes_over_and_hands_back() {
    let (stop, pause) = (StopSwitch::new(), PauseSwitch::default());
    let (console, listener, mut talk) = talk(&stop, &pause);
    pause.pause();
    let ends = |_: &ModelRequest, _: &str| json!({"thought": "t", "status": "FINISH", "result": "done"});
    let world = World::new(Mind(ends), Arc::new(form()));
    let (mut lines, written) = (Vec::new(), talk.written.clone());
    let mut observer = |line: &JournalEntry| {
        written.lock().unwrap().push(serde_json::to_value(FromSession::journal(line)).unwrap());
        lines.push(line.clone());
    };
    let people = People { channel: &console, pause: pause.clone(), ..People::nobody() };
    let options =
        deskhand_runtime::SessionRunOptions { people, stop, ..world.options(vec!["fill it in".to_owned()]) };
    let person = async {
        talk.until(0, "paused").await;
        talk.refused(json!({"do": "say", "text": "  "}), "the text is empty").await;
        talk.refused(json!({"do": "say", "text": "x".repeat(4_001)}), "4001 characters are more than 4000")
            .await;
        talk.refused(json!({"do": "hand_back"}), "nobody has taken over").await;
        let from = talk.count();
        talk.writes(&json!({"do": "say", "text": "be quick"}));
        let told = talk.until(from, "event").await;
        assert_eq!(told["record"]["event"]["text"], "be quick", "{told}");
        talk.writes(&json!({"do": "take_over"}));
        let taken = talk.until(from, "taken_over").await;
        assert_eq!(
            (taken["before"].as_str(), taken["watched"].as_bool()),
            (Some("looking at the screen"), Some(false))
        );
        talk.refused(json!({"do": "take_over"}), "taken over already").await;
        talk.writes(&json!({"do": "hand_back", "note": "it is filled in"}));
        talk.until(from, "handed_back").await;
    };
    // It is listened to beyond the end of the session, as by a program that reads everything.
    let both = async {
        tokio::select! {
            ended = async { tokio::join!(run(options, &mut observer), person) } => ended,
            () = listener.listen() => panic!("the listener outlives its console"),
        }
    };
    let (end, ()) = tokio::time::timeout(BOUND, both).await.unwrap();
    let end = end.unwrap();
    assert_eq!(end.outcome.unwrap().kind, OutcomeKind::Finished);
    let prompt = prompts(&lines).pop().unwrap();
    assert!(prompt.contains("be quick") && prompt.contains("it is filled in"), "{prompt}");
    assert!(prompt.contains("not known: what they did, because this desktop cannot be watched"), "{prompt}");
}

#[tokio::test]
async fn a_session_whose_owner_disappears_stays_theirs_until_it_is_resumed() {
    let (stop, pause) = (StopSwitch::new(), PauseSwitch::default());
    let (console, listener, mut talk) = talk(&stop, &pause);
    pause.pause();
    let ends = |_: &ModelRequest, _: &str| json!({"thought": "t", "status": "FINISH", "result": "done"});
    let world = World::new(Mind(ends), Arc::new(form()));
    let mut lines = Vec::new();
    let mut observer = |line: &JournalEntry| lines.push(line.clone());
    let people = People { channel: &console, pause: pause.clone(), ..People::nobody() };
    let options = deskhand_runtime::SessionRunOptions {
        people,
        stop: stop.clone(),
        ..world.options(vec!["fill it in".to_owned()])
    };
    let person = async {
        talk.writes(&json!({"do": "take_over"}));
        talk.until(0, "taken_over").await;
        talk.writer.take();
        // The end of the input has arrived.
        assert_eq!(console.next_request().await, None);
        assert!(pause.is_taken_over(), "nobody has handed back");
        stop.cancel(StopReason::Signal);
    };
    // It is listened to beyond the end of the session, as by a program that reads everything.
    let both = async {
        tokio::select! {
            ended = async { tokio::join!(run(options, &mut observer), person) } => ended,
            () = listener.listen() => panic!("the listener outlives its console"),
        }
    };
    let (end, ()) = tokio::time::timeout(BOUND, both).await.unwrap();
    let end = end.unwrap();
    assert_eq!(end.suspended, Some(Suspension::Signal));
    let came: Vec<&SessionEvent> = events(&lines).skip(1).collect();
    let [SessionEvent::TakenOver { .. }, SessionEvent::HandedBack { .. }, SessionEvent::Suspended { .. }] =
        came[..]
    else {
        panic!("{came:?}")
    };
    let held =
        deskhand_runtime::HeldSession::take(end.folder, UnsealedJournalPolicy::Refuse, &mut |_| {}).unwrap();
    let mut later = Vec::new();
    let mut observer = |line: &JournalEntry| later.push(line.clone());
    let options = world.options(Vec::new());
    let end = deskhand_runtime::resume(held, true, options, &mut observer).await.unwrap();
    assert_eq!(end.outcome.unwrap().kind, OutcomeKind::Finished);
    assert!(prompts(&later)[0].contains("The user took over"), "{later:?}");
}
