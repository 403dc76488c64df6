//! Questions and approvals that are answered, time out, or find no user.

use std::{
    io::Write as _,
    sync::{Arc, Mutex},
    time::Duration,
};

use deskhand_desktop_fake::office;
use deskhand_machine::{
    agent::AgentRef,
    outcome::OutcomeKind,
    record::{JournalEntry, JournalRecord},
    reply::UserQuestion,
    session::{Effect, NoAnswer, SessionEvent, StopReason},
};
use deskhand_runtime::{
    StopSwitch,
    people::{
        ApprovalReply, Approvals, Console, Frontend, InputLine, InputLines, PauseNotice, PauseSwitch, People,
        QuestionReply, QuestionRequest, UserChannel, UserInput, UserPrompt, UserRequest, console,
    },
};
use deskhand_ui::ids::EffectId;

use crate::support::{Ran, config, events, run_people, script};

const ASKS: &str = r#"
[[turn]]
title = "ask"
reply = '''{"observation": "o", "thought": "t", "status": "PENDING",
  "questions": [{"question": "Which?", "default": "the first"}, {"question": "Why?"}]}'''

[[turn]]
title = "end"
reply = '''{"observation": "o", "thought": "t", "status": "FINISH", "result": "done"}'''
"#;

pub(crate) const CONFIRMS: &str = r#"
[[turn]]
title = "want approval"
reply = '''{"observation": "o", "thought": "it costs", "status": "CONFIRM", "function": "launch_application",
  "arguments": {"name": "libreoffice-calc"}}'''

[[turn]]
title = "end"
reply = '''{"observation": "o", "thought": "t", "status": "FINISH", "result": "done"}'''
"#;

/// Replies as configured; without a configured reply, never completes.
#[derive(Default)]
struct Someone {
    answers: Option<Vec<String>>,
    decided: Option<ApprovalReply>,
    told: Mutex<Vec<PauseNotice>>,
}

impl UserChannel for Someone {
    async fn next_request(&self) -> Option<UserRequest> {
        None
    }

    async fn ask(&self, _: &QuestionRequest) -> QuestionReply {
        match &self.answers {
            Some(answers) => QuestionReply::Answers(answers.clone()),
            None => std::future::pending().await,
        }
    }

    async fn decide(&self, asked: &deskhand_runtime::people::ApprovalRequest) -> ApprovalReply {
        assert_eq!((&asked.agent, asked.reason.as_str()), (&AgentRef::HostAgent, "it costs"));
        assert_eq!(asked.actions[0].command.tool, "launch_application");
        match &self.decided {
            Some(decided) => decided.clone(),
            None => std::future::pending().await,
        }
    }

    async fn notify(&self, notice: PauseNotice) {
        self.told.lock().unwrap().push(notice);
    }
}

fn people(someone: &Someone) -> People<'_> {
    People { channel: someone, ..People::nobody() }
}

async fn ran(turns: &str, people: People<'_>) -> Ran {
    run_people(&script(turns), config(), office(), &StopSwitch::new(), people, |_, _| {}).await
}

fn launched(ran: &Ran) -> bool {
    events(&ran.lines).any(|event| matches!(event, SessionEvent::Returned { .. }))
}

#[tokio::test]
async fn answers_reach_the_agent_and_empty_ones_get_the_default() {
    let someone = Someone { answers: Some(vec![String::new()]), ..Someone::default() };
    let ran = ran(ASKS, people(&someone)).await;
    let answered = events(&ran.lines).find(|event| matches!(event, SessionEvent::Answered { .. })).unwrap();
    assert_eq!(*answered, SessionEvent::Answered { answers: vec!["the first".to_owned(), String::new()] });
    assert_eq!(ran.end.outcome.unwrap().kind, OutcomeKind::Finished);
}

#[tokio::test]
async fn unanswered_questions_time_out() {
    let someone = Someone::default();
    let waits = People { question_timeout: Some(Duration::from_millis(20)), ..people(&someone) };
    let with_time = ran(ASKS, waits).await;
    assert!(
        events(&with_time.lines).any(|event| *event == SessionEvent::Unanswered { why: NoAnswer::TimedOut })
    );
    let nobody = ran(ASKS, People::nobody()).await;
    assert!(
        events(&nobody.lines).any(|event| *event == SessionEvent::Unanswered { why: NoAnswer::NoChannel })
    );
}

#[tokio::test]
async fn only_approved_actions_run() {
    let yes = ApprovalReply::Approved(deskhand_machine::session::ApprovalScope::Once);
    let approving = Someone { decided: Some(yes), ..Someone::default() };
    assert!(launched(&ran(CONFIRMS, people(&approving)).await));
    let rejecting = Someone { decided: Some(ApprovalReply::Rejected(None)), ..Someone::default() };
    let ended = ran(CONFIRMS, people(&rejecting)).await;
    assert!(!launched(&ended));
    assert_eq!(ended.end.outcome.unwrap().kind, OutcomeKind::Rejected);
    // No user, no reply in time, nobody asked.
    let silent = Someone::default();
    let in_time = People { approval_timeout: Some(Duration::from_millis(20)), ..people(&silent) };
    let none = People { approvals: Approvals::None, ..people(&approving) };
    for unapproved in [People::nobody(), in_time, none] {
        let ended = ran(CONFIRMS, unapproved).await;
        assert!(!launched(&ended));
        assert_eq!(ended.end.outcome.unwrap().kind, OutcomeKind::Rejected);
    }
    let all = People { approvals: Approvals::All, ..people(&rejecting) };
    assert!(launched(&ran(CONFIRMS, all).await), "approved without asking");
}

#[tokio::test]
async fn a_stop_cancels_waiting_for_the_user() {
    for turns in [ASKS, CONFIRMS] {
        let (someone, stop) = (Someone::default(), StopSwitch::new());
        let watch = |line: &JournalEntry| {
            if let JournalRecord::Effect(record) = &line.record
                && matches!(record.effect, Effect::AskUser { .. } | Effect::AwaitApproval { .. })
            {
                stop.cancel(StopReason::User);
            }
        };
        let ended =
            run_people(&script(turns), config(), office(), &stop, people(&someone), |line, _| watch(line))
                .await;
        assert_eq!(ended.end.outcome.as_ref().unwrap().kind, OutcomeKind::Cancelled);
        assert!(!launched(&ended));
    }
}

#[tokio::test]
async fn a_paused_session_starts_nothing_until_resumed() {
    let someone = Someone { answers: Some(Vec::new()), ..Someone::default() };
    let pause = PauseSwitch::default();
    pause.pause();
    let paused = People { pause: pause.clone(), ..people(&someone) };
    let wanted = Mutex::new(0);
    let (model, stop) = (script(ASKS), StopSwitch::new());
    let work = run_people(&model, config(), office(), &stop, paused, |line, _| {
        let held = PauseNotice::Paused { before: "looking at the screen".to_owned() };
        if matches!(&line.record, JournalRecord::Effect(record) if matches!(record.effect, Effect::Observe { .. }))
        {
            *wanted.lock().unwrap() += 1;
            assert_eq!(
                *someone.told.lock().unwrap(),
                [held, PauseNotice::Resumed],
                "paused before the effect, not after"
            );
        }
    });
    let go_on = async {
        while someone.told.lock().unwrap().is_empty() {
            tokio::task::yield_now().await;
        }
        assert_eq!(*wanted.lock().unwrap(), 0);
        pause.resume();
    };
    let (ended, ()) = tokio::join!(work, go_on);
    assert_eq!(ended.end.outcome.unwrap().kind, OutcomeKind::Finished);
}

/// Records what it is shown; `!` stops, `?` pauses, anything else answers the open prompt.
struct Notes(Arc<Mutex<Vec<String>>>);

impl Notes {
    fn note(&self, text: impl Into<String>) {
        self.0.lock().unwrap().push(text.into());
    }
}

impl Frontend for Notes {
    fn show(&mut self, prompt: &UserPrompt) {
        self.note(match prompt {
            UserPrompt::Request => "request".to_owned(),
            UserPrompt::Questions(asked) => format!("questions {}", asked.id),
            UserPrompt::Approval(asked) => format!("approval {}", asked.id),
        });
    }

    fn parse(&mut self, line: &InputLine, open: Option<&UserPrompt>) -> UserInput {
        let InputLine::Text(text) = line else { return UserInput::Handled };
        self.note(format!("parsed {text}"));
        match (text.as_str(), open) {
            ("!", _) => UserInput::Stop { now: false },
            (_, Some(UserPrompt::Questions(_))) => UserInput::Answered(vec![text.clone()]),
            (_, Some(UserPrompt::Request | UserPrompt::Approval(_)) | None) => {
                UserInput::Request(UserRequest::from(text.as_str()))
            }
        }
    }

    fn withdrawn(&mut self, _: &UserPrompt) {
        self.note("withdrawn");
    }

    fn notify(&mut self, _: &PauseNotice) {}

    fn reject(&mut self, problem: &str) {
        self.note(problem);
    }
}

/// A console with a pipe as its input.
fn typed(
    stop: &StopSwitch,
) -> (Console, impl Future<Output = ()> + use<>, std::io::PipeWriter, Arc<Mutex<Vec<String>>>) {
    let (reader, writer) = std::io::pipe().unwrap();
    let notes = Arc::new(Mutex::new(Vec::new()));
    let lines = InputLines::of(reader).unwrap();
    let (console, listener) = console(lines, Notes(notes.clone()), stop.clone(), PauseSwitch::default());
    (console, listener.listen(), writer, notes)
}

async fn until(notes: &Mutex<Vec<String>>, text: &str) {
    let seen = async {
        while !notes.lock().unwrap().iter().any(|note| note == text) {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(30), seen).await.unwrap();
}

#[tokio::test]
async fn an_early_line_does_not_answer_a_prompt() {
    let (console, listening, mut writer, notes) = typed(&StopSwitch::new());
    let asked =
        QuestionRequest { id: EffectId(3), questions: vec![UserQuestion::open("Which?")], timeout: None };
    let talk = async {
        writeln!(writer, "early").unwrap();
        until(&notes, "parsed early").await;
        let answer = async {
            until(&notes, "questions 3").await;
            writeln!(writer, "late").unwrap();
        };
        let (answered, ()) = tokio::join!(console.ask(&asked), answer);
        assert_eq!(answered, QuestionReply::Answers(vec!["late".to_owned()]));
        // The early line was a request and is queued.
        assert_eq!(console.next_request().await, Some(UserRequest::from("early")));
        // A dropped question is withdrawn, and its answer is discarded.
        let dropped = tokio::time::timeout(Duration::from_millis(20), console.ask(&asked)).await;
        assert!(dropped.is_err());
        until(&notes, "withdrawn").await;
        drop(writer);
        assert_eq!(console.ask(&asked).await, QuestionReply::Nobody);
        assert_eq!(console.next_request().await, None);
    };
    tokio::select! {
        () = talk => {}
        () = listening => panic!("the listener outlives its console"),
    }
}

#[tokio::test]
async fn a_stop_is_received_without_an_open_prompt() {
    let stop = StopSwitch::new();
    let (_console, listening, mut writer, _) = typed(&stop);
    writeln!(writer, "!").unwrap();
    tokio::select! {
        reason = stop.wait() => assert_eq!(reason, StopReason::User),
        () = listening => panic!("the listener outlives its console"),
    }
}
