//! Models that work in pictures, in each protocol: what they are asked, and what their replies become.

use std::time::Duration;

use deskhand_machine::{
    model::{MessagePart, ModelFailureKind, ModelMessage, ModelReply, ModelRequest, ReplyKind, Speaker},
    operator::OperatorGesture,
    reply::{operator_reply_schema, parse_operator_reply},
    states::AppStatus,
};
use deskhand_model::{ApiKeyHeader, ComputerUse, Endpoint, EndpointConfig, Model, NoModelSigns, Wire};
use deskhand_testkit::endpoint::{Behaviour, MockEndpoint};
use deskhand_testkit_models::{
    operators::{Move, Played},
    wires::Spoken,
};
use deskhand_ui::{
    PictureRef,
    action::Button,
    geometry::{Point, Rect},
};
use serde_json::{Value, json};

use crate::{OnePicture, request};

/// The size of the picture of these questions.
const SIZE: (u32, u32) = (1280, 720);

fn usage(played: Played) -> ComputerUse {
    match played {
        Played::OpenAi | Played::OpenAiBatched => ComputerUse::OpenAi,
        Played::Anthropic => ComputerUse::Anthropic,
        Played::UiTars => ComputerUse::UiTars,
        Played::UiTarsPixels => ComputerUse::UiTarsPixels,
        Played::Json => ComputerUse::Json,
    }
}

/// A question to an operator about a picture.
fn question() -> ModelRequest {
    let picture = PictureRef {
        sha256: "abc".to_owned(),
        media_type: "image/png".to_owned(),
        width: SIZE.0,
        height: SIZE.1,
        region: Rect::new(0, 0, 1920, 1080),
    };
    let mut asked = request("click the button");
    asked.messages.pop();
    asked.messages.push(ModelMessage {
        speaker: Speaker::User,
        parts: vec![
            MessagePart::Text { text: "click the button".to_owned() },
            MessagePart::Picture { picture },
        ],
    });
    ModelRequest { reply: ReplyKind::Operator, schema: operator_reply_schema(), ..asked }
}

fn config(played: Played, endpoint: &MockEndpoint) -> EndpointConfig {
    let wire = match played.spoken() {
        Spoken::Responses => Wire::Responses,
        Spoken::Messages => Wire::Messages,
        Spoken::Chat | Spoken::Gemini | Spoken::Ollama => Wire::Chat,
    };
    EndpointConfig {
        wire,
        key_header: ApiKeyHeader::Bearer,
        computer_use: usage(played),
        attempts_max: 1,
        timeout: Duration::from_secs(20),
        ..EndpointConfig::new(endpoint.base_url(), "m")
    }
}

async fn asked(played: Played, behaviour: Behaviour, request: &ModelRequest) -> (ModelReply, Value) {
    let endpoint = MockEndpoint::start([behaviour]).await.unwrap();
    let model = Endpoint::new(config(played, &endpoint)).unwrap();
    let reply = model.ask(request, &OnePicture, &NoModelSigns).await.unwrap();
    let sent = endpoint.requests().remove(0);
    let beta = sent.header("anthropic-beta").map(str::to_owned);
    assert_eq!(beta.is_some(), played == Played::Anthropic, "{played:?}");
    (reply, sent.body)
}

#[tokio::test]
async fn gestures_arrive_from_every_protocol() {
    let moves = [
        Move::Click(640, 359),
        Move::Drag((10, 20), (1270, 700)),
        Move::Type("it's\t1 (one)\n".to_owned()),
        Move::Keys(&["ctrl", "shift", "s"]),
    ];
    for played in Played::ALL {
        for stream in [false, true] {
            let (reply, _) =
                asked(played, played.reply("I see it.", &moves, SIZE, stream), &question()).await;
            let said = parse_operator_reply(&reply.text)
                .unwrap_or_else(|error| panic!("{played:?}: {error}: {}", reply.text));
            let [
                OperatorGesture::Click { at, button: Button::Left, count: 1 },
                OperatorGesture::Drag { from, to },
                typed,
                keys,
            ] = said.gestures.as_slice()
            else {
                panic!("{played:?}: {said:?}")
            };
            // A thousandth of the picture is more than a pixel.
            let near = |place: &Point<_>, x: i32, y: i32| {
                let off = if played == Played::UiTars { 1 } else { 0 };
                (place.x - x).abs() <= off && (place.y - y).abs() <= off
            };
            assert!(near(at, 640, 359) && near(from, 10, 20) && near(to, 1270, 700), "{played:?}: {said:?}");
            assert_eq!(*typed, OperatorGesture::Type { text: "it's\t1 (one)\n".to_owned() }, "{played:?}");
            assert_eq!(
                *keys,
                OperatorGesture::Keys { chords: vec!["ctrl+shift+s".parse().unwrap()] },
                "{played:?}"
            );
            assert_eq!(
                (said.thought.as_str(), said.status),
                ("I see it.", AppStatus::Continue),
                "{played:?}"
            );
            let done = [Move::Done("it is saved".to_owned())];
            let (reply, _) = asked(played, played.reply("Good.", &done, SIZE, stream), &question()).await;
            let said = parse_operator_reply(&reply.text).unwrap();
            assert_eq!((said.status, said.text.as_str()), (AppStatus::Finish, "it is saved"), "{played:?}");
        }
    }
}

#[tokio::test]
async fn a_request_declares_the_tool_with_the_size_of_the_picture_or_says_how_to_reply() {
    for played in Played::ALL {
        let wait = [Move::Keys(&["Return"])];
        let (_, body) = asked(played, played.reply("t", &wait, SIZE, true), &question()).await;
        let text = body.to_string();
        let has_tool = matches!(played, Played::OpenAi | Played::OpenAiBatched | Played::Anthropic);
        assert_eq!(played.declared(&body), has_tool.then_some((1280, 720)), "{played:?}");
        assert_eq!(
            text.contains("operator_reply"),
            played == Played::Json,
            "{played:?}: the schema is that of JSON"
        );
        assert_eq!(
            text.contains("start_box="),
            matches!(played, Played::UiTars | Played::UiTarsPixels),
            "{played:?}"
        );
        let told_size = text.contains("1280 wide and 720 high");
        assert_eq!(told_size, matches!(played, Played::UiTarsPixels | Played::Json), "{played:?}");
        assert!(!text.contains("{places}"), "{played:?}");
        if played.spoken() == Spoken::Responses {
            assert_eq!((&body["truncation"], body.get("text")), (&json!("auto"), None));
            assert_eq!(body["tools"][0]["environment"], "linux");
        }
        if played == Played::Anthropic {
            assert_eq!((&body["tools"][0]["name"], body.get("tool_choice")), (&json!("computer"), None));
        }
        // Other agents ask the same model as usual.
        let host = request("plan");
        let answer = played.spoken().reply(r#"{"status": "FINISH"}"#, false);
        let (reply, body) = asked(played, answer, &host).await;
        assert_eq!(reply.text, r#"{"status": "FINISH"}"#, "{played:?}");
        assert_eq!(played.declared(&body), None, "{played:?}");
        assert!(body.to_string().contains("app_agent_reply"), "{played:?}");
    }
}

#[tokio::test]
async fn a_backup_that_is_no_operator_is_asked_for_json_and_a_blind_one_not_at_all() {
    let json = r#"{"thought": "t", "action": [{"do": "click", "x": 3, "y": 4}]}"#;
    let endpoint = MockEndpoint::start([Spoken::Chat.reply(json, true)]).await.unwrap();
    let backup = EndpointConfig { computer_use: ComputerUse::Off, ..config(Played::Json, &endpoint) };
    let model = Endpoint::new(backup.clone()).unwrap();
    let reply = model.ask(&question(), &OnePicture, &NoModelSigns).await.unwrap();
    assert_eq!(reply.text, json);
    assert!(endpoint.requests()[0].body.to_string().contains("How to reply"));
    let blind = Endpoint::new(EndpointConfig { vision: false, ..backup }).unwrap();
    let failure = blind.ask(&question(), &OnePicture, &NoModelSigns).await.unwrap_err();
    assert_eq!((failure.kind, failure.attempts), (ModelFailureKind::Rejected, 0));
    assert!(failure.message.contains("takes no pictures"), "{failure}");
}

#[tokio::test]
async fn hostile_replies_are_passed_on_to_be_refused() {
    let refused = |text: &str| parse_operator_reply(text).unwrap_err().to_string();
    let calls = |action: Value| {
        let call = json!({"type": "computer_call", "call_id": "c", "action": action});
        Behaviour::status(200, json!({"model": "m-1", "status": "completed", "output": [call]}).to_string())
    };
    for (action, problem) in [
        (json!({"type": "click", "x": "NaN", "y": 1, "button": "left"}), "`action[0].x`: must be a number"),
        (json!({"type": "click", "x": 1e300, "y": 1, "button": "left"}), "is no pixel"),
        (json!({"type": "click", "x": 1, "y": 1, "button": "back"}), "`back click` cannot be done here"),
        (json!({"type": "move", "x": 1, "y": 1}), "`move` cannot be done here"),
        (json!({"type": "scroll", "x": 1, "y": 1, "scroll_x": 0, "scroll_y": 1e12}), "notches are too many"),
        (json!({"type": "type", "text": "x".repeat(20_000)}), "type it in parts"),
        (json!({}), "`action[0].do`: missing"),
    ] {
        let (reply, _) = asked(Played::OpenAi, calls(action.clone()), &question()).await;
        assert!(refused(&reply.text).contains(problem), "{action}: {}", reply.text);
    }
    let tars = |text: &str| Spoken::Chat.reply(text, false);
    let (reply, _) =
        asked(Played::UiTars, tars("Thought: t\nAction: click(start_box='(2000,1)')"), &question()).await;
    let OperatorGesture::Click { at, .. } = &parse_operator_reply(&reply.text).unwrap().gestures[0] else {
        panic!()
    };
    assert!(at.x >= 1280, "what is not in the picture does not get into it: {at:?}");
    let (reply, _) = asked(Played::UiTars, tars("I would rather talk."), &question()).await;
    assert!(refused(&reply.text).contains("begin a line with DONE:"));
}
