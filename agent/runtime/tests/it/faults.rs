//! What becomes of a session when its model's server does something wrong: every fault in every wire format, once and always. The page
//! of the documentation is what came of them.

use std::{fs, sync::Mutex, time::Duration};

use deskhand_desktop_fake::office;
use deskhand_machine::{outcome::OutcomeKind, session::SessionConfig};
use deskhand_model::{ApiKeyHeader, Endpoint, EndpointConfig, Script, Wire};
use deskhand_runtime::StopSwitch;
use deskhand_testkit::endpoint::{Behaviour, MockEndpoint, RecordedRequest};
use deskhand_testkit_models::{faults::faults, wires::Spoken};

use crate::support::{self, Ran, office_script, run_with};

/// Requests of one question. Sessions allow more by default.
const ATTEMPTS: u32 = 3;

fn config(spoken: Spoken, endpoint: &MockEndpoint) -> EndpointConfig {
    let (wire, key_header) = match spoken {
        Spoken::Chat => (Wire::Chat, ApiKeyHeader::Bearer),
        Spoken::Responses => (Wire::Responses, ApiKeyHeader::Bearer),
        Spoken::Messages => (Wire::Messages, ApiKeyHeader::XApiKey),
        Spoken::Gemini => (Wire::Gemini, ApiKeyHeader::XGoogApiKey),
        Spoken::Ollama => (Wire::Ollama, ApiKeyHeader::Bearer),
    };
    EndpointConfig {
        wire,
        key_header,
        attempts_max: ATTEMPTS,
        retry_wait_first: Duration::from_millis(1),
        ..EndpointConfig::new(spoken.base_url(endpoint), "m")
    }
}

/// What a server replies that has a script, and a fault once or always.
struct Faulty {
    spoken: Spoken,
    script: Script,
    what: Option<&'static str>,
    always: bool,
    /// The right reply to the first question, once it was asked.
    first: Option<String>,
}

impl Faulty {
    fn reply(&mut self, request: &RecordedRequest) -> Behaviour {
        let answer = self.script.answer(&self.spoken.request(&request.body));
        let text = match (answer, &self.first) {
            (Ok(reply), _) => reply.text,
            // The script is ahead: it is the first question again.
            (Err(_), Some(first)) => first.clone(),
            (Err(failure), None) => panic!("{}", failure.message),
        };
        let is_first = self.first.is_none();
        let first = self.first.get_or_insert_with(|| text.clone());
        let fault = self.what.filter(|_| is_first || self.always);
        let wrong = |what| faults(self.spoken, first).into_iter().find(|fault| fault.what == what);
        match fault.and_then(wrong) {
            Some(fault) => fault.behaviour,
            None => self.spoken.reply(&text, true),
        }
    }
}

/// The main job with that fault, and the number of requests that it took.
async fn job(spoken: Spoken, what: Option<&'static str>, always: bool) -> (Ran, usize) {
    let faulty = Mutex::new(Faulty { spoken, script: office_script(), what, always, first: None });
    let endpoint = MockEndpoint::answering_requests(move |request| faulty.lock().unwrap().reply(request));
    let endpoint = endpoint.await.unwrap();
    let model = Endpoint::new(config(spoken, &endpoint)).unwrap();
    // Encoding pictures would take most of the time.
    let config = SessionConfig { pictures: false, ..support::config() };
    let ran = run_with(&model, config, office(), &StopSwitch::new(), |_, _| {}).await;
    (ran, endpoint.requests().len())
}

/// How a session ended, and what it says about it.
fn end(ran: &Ran) -> (&'static str, String) {
    match (&ran.end.suspended, &ran.end.outcome) {
        (Some(suspension), _) => ("suspended", suspension.to_string()),
        (None, Some(outcome)) if outcome.kind == OutcomeKind::Finished => ("finished", String::new()),
        (None, Some(outcome)) if outcome.kind == OutcomeKind::Error => ("error", outcome.reason.clone()),
        (None, other) => panic!("{other:?}"),
    }
}

fn counted(count: usize) -> String {
    if count == 1 { "1 request".to_owned() } else { format!("{count} requests") }
}

/// A message without what differs from one run to the next.
fn without_port(message: &str) -> String {
    let mut parts = message.split("127.0.0.1:");
    let first = parts.next().unwrap_or_default().to_owned();
    let rest = parts.map(|part| part.trim_start_matches(|letter: char| letter.is_ascii_digit()));
    rest.fold(first, |text, part| format!("{text}127.0.0.1:8000{part}"))
}

/// The rows of a format.
async fn rows(spoken: Spoken) -> Vec<String> {
    let (ran, usual) = job(spoken, None, false).await;
    assert_eq!(end(&ran).0, "finished", "{spoken:?}");
    let mut rows = Vec::new();
    for fault in faults(spoken, "{}") {
        let (ran, requests) = job(spoken, Some(fault.what), false).await;
        let (once, message) = end(&ran);
        let (once, always, message) = match once {
            "finished" if requests == usual => ("goes on".to_owned(), "goes on".to_owned(), String::new()),
            "finished" => {
                let (ran, asked) = job(spoken, Some(fault.what), true).await;
                let (always, message) = end(&ran);
                assert_ne!(always, "finished", "{spoken:?}, {}", fault.what);
                let once = format!("goes on after {} more", counted(requests - usual));
                (once, format!("{always} after {}", counted(asked)), message)
            }
            ended => {
                let ended = format!("{ended} after {}", counted(requests));
                (ended.clone(), ended, message)
            }
        };
        let message = without_port(&message).replace('|', "\\|").replace('\n', " ");
        rows.push(format!("| {} | {once} | {always} | {message} |", fault.what));
    }
    rows
}

#[tokio::test]
async fn what_becomes_of_a_session_is_documented() {
    let mut page = INTRODUCTION.to_owned();
    for spoken in Spoken::ALL {
        let title = match spoken {
            Spoken::Chat => "OpenAI's chat completions, and what is compatible with them",
            Spoken::Responses => "OpenAI's Responses",
            Spoken::Messages => "Anthropic's Messages",
            Spoken::Gemini => "Gemini",
            Spoken::Ollama => "Ollama",
        };
        let rows = rows(spoken).await.join("\n");
        page.push_str(&format!("\n## {title}\n\n{HEAD}\n{rows}\n"));
    }
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/model-failures.md");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        fs::write(path, &page).unwrap();
    }
    let current = fs::read_to_string(path).unwrap_or_default();
    assert!(current == page, "docs/reference/model-failures.md is out of date; run with UPDATE_DOCS=1");
}

const HEAD: &str = "| what the endpoint does | once | always | message |\n| --- | --- | --- | --- |";

/// The beginning of the page.
const INTRODUCTION: &str = "\
# Model errors

Generated by a test that runs a session with every fault in every wire format: once, in the reply to the first question, and always.
The test allows three requests for a question; `model.attempts_max` is 8 by default, with waits that double from one second to a minute,
or as long as `Retry-After` says. A request that was accepted and then met with silence is not sent again.

*Suspended* means that nothing is lost: `deskhand resume` goes on where the session stopped. *Error* ends the request: the model was told
what is wrong with its reply as often as `limits.repairs_max` allows. With `model.backups`, another model is asked before either.
";
