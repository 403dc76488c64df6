//! The main job against an OpenAI-compatible endpoint with faulty responses.

use deskhand_desktop_fake::office;
use deskhand_machine::{outcome::OutcomeKind, session::SessionEvent};
use deskhand_model::{Endpoint, EndpointConfig};
use deskhand_runtime::{RunSummary, StopSwitch};
use deskhand_testkit::endpoint::{Behaviour, MockEndpoint};
use deskhand_testkit_models::request::model_request;

use crate::support::{config, events, office_script, run_office, run_with};

#[tokio::test]
async fn invalid_replies_are_repaired() {
    let script = office_script();
    let mut asked = 0;
    let endpoint = MockEndpoint::answering(move |body| {
        asked += 1;
        match asked {
            1 => Behaviour::reply("I will look into that for you."),
            2 => Behaviour::reply(r#"{"thought": "t", "status": "DELEGATE"}"#),
            _ => match script.answer(&model_request(body)) {
                Ok(reply) => Behaviour::reply_with_usage(format!("```json\n{}\n```", reply.text), 1_000, 50),
                Err(failure) => Behaviour::error(400, "script", &failure.message),
            },
        }
    })
    .await
    .unwrap();
    let model = Endpoint::new(EndpointConfig::new(endpoint.base_url(), "mock")).unwrap();
    let ran = run_office(&model).await;
    let outcome = ran.end.outcome.unwrap();
    assert_eq!(outcome.kind, OutcomeKind::Finished, "{}", outcome.reason);
    assert_eq!(ran.desktop.files().len(), 1);
    let summary = RunSummary::of(&ran.lines);
    assert_eq!((summary.tally.steps, summary.tally.model_calls), (7, 9), "repairs cost calls, not steps");
}

#[tokio::test]
async fn an_endpoint_that_dies_mid_session_is_an_error() {
    let script = office_script();
    let mut endpoint = MockEndpoint::answering(move |body| match script.answer(&model_request(body)) {
        Ok(reply) => Behaviour::reply(reply.text),
        Err(failure) => Behaviour::error(400, "script", &failure.message),
    })
    .await
    .unwrap();
    let mut setup = EndpointConfig::new(endpoint.base_url(), "mock");
    setup.attempts_max = 2;
    let model = Endpoint::new(setup).unwrap();
    let (killed, mut kill) = tokio::sync::mpsc::unbounded_channel();
    let killer = async {
        kill.recv().await;
        endpoint.kill().await;
    };
    let stop = StopSwitch::new();
    let run = run_with(&model, config(), office(), &stop, |line, _| {
        if let deskhand_machine::record::JournalRecord::Event(record) = &line.record
            && matches!(record.event, SessionEvent::Returned { .. })
        {
            killed.send(()).ok();
        }
    });
    let (ran, ()) = tokio::join!(run, killer);
    assert_eq!(ran.end.outcome, None, "the round is not over");
    let suspended = ran.end.suspended.unwrap().to_string();
    assert!(suspended.contains("the model call failed"), "{suspended}");
    assert!(events(&ran.lines).any(|event| matches!(event, SessionEvent::Suspended { .. })));
}
