//! Cassettes in every wire format: recorded from a server that also fails, and played without it.

use std::{fs, os::unix::fs::PermissionsExt as _, path::Path, time::Duration};

use deskhand_machine::model::{
    ModelFailure, ModelFailureKind, ModelMessage, ModelReply, ModelRequest, Speaker,
};
use deskhand_model::{
    Cassette, CassetteError, Endpoint, EndpointConfig, EndpointSetupError, Model as _, NoModelSigns,
    NoPictures, SecretSource, recorded,
};
use deskhand_testkit::endpoint::{Behaviour, MockEndpoint};
use deskhand_testkit_models::wires::{Ending, Spoken};
use serde_json::{Value, json};

use crate::{OnePicture, looking, request, wires::config};

const KEY: &str = "canary-7f3a";

/// A reply without what a clock says.
fn said(answer: Result<ModelReply, ModelFailure>) -> Result<ModelReply, ModelFailure> {
    match answer {
        Ok(reply) => Ok(ModelReply { elapsed_ms: 0, ..reply }),
        Err(failure) => Err(ModelFailure { elapsed_ms: 0, ..failure }),
    }
}

/// Three questions, one of them with a picture.
async fn ask_thrice(model: &Endpoint) -> Vec<Result<ModelReply, ModelFailure>> {
    let mut shown = request("look");
    shown.messages = vec![ModelMessage::text(Speaker::System, format!("your key is {KEY}")), looking()];
    let mut answers = Vec::new();
    for asked in [request("one"), shown, request("three")] {
        answers.push(said(model.ask(&asked, &OnePicture, &NoModelSigns).await));
    }
    answers
}

fn with(cassette: Cassette, config: EndpointConfig) -> EndpointConfig {
    EndpointConfig { cassette: Some(cassette), ..config }
}

#[tokio::test]
async fn what_was_recorded_is_played_without_the_server_and_its_key() {
    for spoken in Spoken::ALL {
        let limited = spoken.error(429, "rate_limit_error", &format!("{KEY} is too fast"));
        let refused = spoken.whole("I will not", Ending::Refused).to_string();
        let mut endpoint = MockEndpoint::start([
            limited.with_header("retry-after", "0.01"),
            spoken.reply(r#"{"status": "FINISH"}"#, true),
            Behaviour::CutBody,
            spoken.reply(r#"{"status": "CONTINUE"}"#, false),
            Behaviour::status(200, refused),
        ])
        .await
        .unwrap();
        let folder = tempfile::tempdir().unwrap();
        let (key, file) = (folder.path().join("key"), folder.path().join("wire.jsonl"));
        fs::write(&key, KEY).unwrap();
        let config =
            EndpointConfig { key: Some(SecretSource::File(key.clone())), ..config(spoken, &endpoint) };
        let live = with(Cassette::Record(file.clone()), config.clone());
        let answers = ask_thrice(&Endpoint::new(live).unwrap()).await;
        assert_eq!(answers[0].as_ref().unwrap().attempts, 2, "{spoken:?}");
        assert_eq!(answers[1].as_ref().unwrap().attempts, 2, "{spoken:?}");
        // Ollama has no word for a refusal.
        assert_eq!(answers[2].is_err(), spoken != Spoken::Ollama, "{spoken:?}");

        let held = fs::read_to_string(&file).unwrap();
        assert!(!held.contains(KEY) && held.contains("[redacted] is too fast"), "{spoken:?}: {held}");
        assert!(!held.contains("AQID") && held.contains("sha256:abc"), "{spoken:?}: {held}");
        assert_eq!(held.lines().count(), 6, "{spoken:?}: {held}");
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);

        endpoint.kill().await;
        fs::remove_file(&key).unwrap();
        let slow = Duration::from_secs(600);
        let played = EndpointConfig { retry_wait_first: slow, ..with(Cassette::Play(file.clone()), config) };
        let model = Endpoint::new(played).unwrap();
        let again = ask_thrice(&model).await;
        let masked =
            |answers: &[Result<ModelReply, ModelFailure>]| format!("{answers:?}").replace(KEY, "[redacted]");
        assert_eq!(masked(&again), masked(&answers), "{spoken:?}");
        assert!(model.name().contains(&format!("in the cassette {}", file.display())), "{}", model.name());
        let end = model.ask(&request("four"), &NoPictures, &NoModelSigns).await.unwrap_err();
        assert_eq!((end.kind, end.attempts), (ModelFailureKind::Rejected, 1));
        assert!(end.message.contains("has no more than 5 exchanges"), "{}", end.message);

        let (name, exchanges) = recorded(&file).unwrap();
        assert!(name.contains(" m at http://127.0.0.1:"), "{name}");
        let statuses: Vec<Option<u16>> = exchanges.iter().map(|one| one.status).collect();
        assert_eq!(statuses, [Some(429), Some(200), None, Some(200), Some(200)], "{spoken:?}");
        assert!(exchanges[1].reading.as_deref().unwrap().contains("FINISH"), "{spoken:?}");
        assert!(
            exchanges[2].reading.as_ref().unwrap_err().contains("truncated after 13 bytes"),
            "{spoken:?}"
        );
    }
}

/// A cassette of one reply.
async fn one_reply(file: &Path) -> EndpointConfig {
    let endpoint = MockEndpoint::start([Behaviour::reply("{}")]).await.unwrap();
    let config = config(Spoken::Chat, &endpoint);
    let model = Endpoint::new(with(Cassette::Record(file.to_owned()), config.clone())).unwrap();
    model.ask(&request("one"), &NoPictures, &NoModelSigns).await.unwrap();
    config
}

#[tokio::test]
async fn a_request_that_was_not_recorded_gets_no_reply() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("wire.jsonl");
    let config = one_reply(&file).await;
    let play = with(Cassette::Play(file.clone()), config);
    let check = async |asked: ModelRequest, words: &str| {
        let model = Endpoint::new(play.clone()).unwrap();
        let failure = model.ask(&asked, &NoPictures, &NoModelSigns).await.unwrap_err();
        assert!(failure.message.contains(words), "{words}: {}", failure.message);
    };
    check(
        ModelRequest { completion_tokens_max: 501, ..request("one") },
        "request 1 is another one than in the cassette",
    )
    .await;
    check(ModelRequest { completion_tokens_max: 501, ..request("one") }, "`/max_tokens` is 501, and was 500")
        .await;
    let schema = json!({"type": "object", "properties": {}, "required": [], "additionalProperties": false});
    check(ModelRequest { schema, ..request("one") }, "/response_format/json_schema/schema/properties").await;
    // Prompts may differ: no two desktops show the same.
    let model = Endpoint::new(play).unwrap();
    model.ask(&request("two"), &NoPictures, &NoModelSigns).await.unwrap();
}

#[tokio::test]
async fn a_file_that_is_no_cassette_of_this_model_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let config = one_reply(&path("wire.jsonl")).await;
    let open = |cassette| match Endpoint::new(with(cassette, config.clone())) {
        Ok(_) => panic!("opened"),
        Err(EndpointSetupError::Cassette(error)) => error,
        Err(error) => panic!("{error}"),
    };
    fs::write(path("letter.txt"), "Dear Sir,\n").unwrap();
    fs::write(path("picture.png"), [0x89, 0x50, 0xff, 0x0a]).unwrap();
    for name in ["letter.txt", "picture.png"] {
        let before = fs::read(path(name)).unwrap();
        for cassette in [Cassette::Record(path(name)), Cassette::Play(path(name))] {
            let error = open(cassette);
            assert!(matches!(error, CassetteError::Other { .. }), "{error}");
        }
        assert_eq!(fs::read(path(name)).unwrap(), before);
    }
    assert!(matches!(open(Cassette::Play(path("none"))), CassetteError::Io { .. }));
    assert!(matches!(open(Cassette::Record(path("no/folder"))), CassetteError::Io { .. }));
    let other = EndpointConfig { model: "n".to_owned(), ..config.clone() };
    let error = Endpoint::new(with(Cassette::Play(path("wire.jsonl")), other)).unwrap_err().to_string();
    assert!(error.contains("holds the exchanges of openai:m, not of openai:n"), "{error}");
    let text = fs::read_to_string(path("wire.jsonl")).unwrap();
    fs::write(path("later"), text.replace("{\"cassette\":1", "{\"cassette\":2")).unwrap();
    assert!(matches!(open(Cassette::Play(path("later"))), CassetteError::Newer { version: 2, .. }));
    fs::write(path("torn"), format!("{text}{{\"request\": ")).unwrap();
    let error = open(Cassette::Play(path("torn")));
    assert!(matches!(&error, CassetteError::Line { line: 3, .. }), "{error}");
}

/// A process that died while it wrote leaves half a line; the next one goes on after it.
#[tokio::test]
async fn recording_goes_on_after_a_line_that_broke_off() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("wire.jsonl");
    one_reply(&file).await;
    let whole = fs::read_to_string(&file).unwrap();
    fs::write(&file, whole.trim_end().get(..whole.len() - 20).unwrap()).unwrap();
    one_reply(&file).await;
    let lines: Vec<bool> = fs::read_to_string(&file)
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).is_ok())
        .collect();
    assert_eq!(lines, [true, false, true]);
}
