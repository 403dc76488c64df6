//! Every wire format against a server that speaks it, and that misbehaves.

use std::{fs, time::Duration};

use deskhand_machine::model::{
    ModelFailure,
    ModelFailureKind::{self, CutShort, Malformed, NotFound, RateLimited, Rejected, Server, Unauthorized},
    ModelMessage, Speaker, Usage,
};
use deskhand_model::{
    ApiKeyHeader, Endpoint, EndpointConfig, Model, NoModelSigns, NoPictures, ReasoningEffort, SecretSource,
    Wire,
};
use deskhand_testkit::endpoint::{Behaviour, MockEndpoint};
use deskhand_testkit_models::{
    faults::{Fault, faults},
    wires::{Spoken, THOUGHT, TOKENS},
};
use serde_json::{Value, json};

use crate::{OnePicture, looking, request};

const TEXT: &str = r#"{"status": "FINISH"}"#;

pub(crate) fn config(spoken: Spoken, endpoint: &MockEndpoint) -> EndpointConfig {
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
        attempts_max: 3,
        retry_wait_first: Duration::from_millis(1),
        timeout: Duration::from_secs(20),
        ..EndpointConfig::new(spoken.base_url(endpoint), "m")
    }
}

/// Returns `true` if two texts are the same JSON.
fn same_json(one: &str, other: &str) -> bool {
    serde_json::from_str::<Value>(one).unwrap() == serde_json::from_str::<Value>(other).unwrap()
}

#[tokio::test]
async fn a_reply_arrives_whole_and_streamed() {
    for spoken in Spoken::ALL {
        for stream in [false, true] {
            let endpoint = MockEndpoint::start([spoken.reply(TEXT, stream)]).await.unwrap();
            let model = Endpoint::new(config(spoken, &endpoint)).unwrap();
            let reply = model.ask(&request("hello"), &NoPictures, &NoModelSigns).await.unwrap();
            assert!(same_json(&reply.text, TEXT), "{spoken:?}: {}", reply.text);
            let (read, cached, written) = TOKENS;
            // Ollama does not tell what it had in its cache.
            let cached = Some(cached).filter(|_| spoken != Spoken::Ollama);
            let usage =
                Usage { prompt_tokens: Some(read), cached_tokens: cached, completion_tokens: Some(written) };
            assert_eq!((reply.model.as_str(), reply.usage, reply.attempts), ("m-1", usage, 1), "{spoken:?}");
            // OpenAI's Responses sends a summary of the thoughts, the others the thoughts.
            assert_eq!(reply.reasoning, THOUGHT, "{spoken:?} streamed {stream}");
            let sent = &endpoint.requests()[0];
            assert_eq!((sent.method.as_str(), sent.path.as_str()), ("POST", spoken.path(true)), "{spoken:?}");
            assert!(spoken.wants_stream(&sent.path, &sent.body), "{spoken:?}");
            let asked = spoken.request(&sent.body);
            assert_eq!(asked.messages, request("hello").messages, "{spoken:?}");
        }
    }
}

/// How much a model shall think is said as each provider wants it; one that cannot think is asked without it.
#[tokio::test]
async fn a_model_thinks_as_much_as_it_is_told() {
    for spoken in Spoken::ALL {
        let refusal =
            spoken.error(400, "invalid_request_error", "this model does not support reasoning or thinking");
        let replies = [spoken.reply(TEXT, true), refusal, spoken.reply(TEXT, true)];
        let endpoint = MockEndpoint::start(replies).await.unwrap();
        let told = |reasoning| EndpointConfig { reasoning, ..config(spoken, &endpoint) };
        let model = Endpoint::new(told(ReasoningEffort::Low)).unwrap();
        model.ask(&request("hello"), &NoPictures, &NoModelSigns).await.unwrap();
        let reply = model.ask(&request("hello"), &NoPictures, &NoModelSigns).await.unwrap();
        assert_eq!(reply.attempts, 2, "{spoken:?}");
        let field = match spoken {
            Spoken::Chat => "/reasoning_effort",
            Spoken::Responses => "/reasoning",
            Spoken::Messages => "/thinking",
            Spoken::Gemini => "/generationConfig/thinkingConfig",
            Spoken::Ollama => "/think",
        };
        let said = match spoken {
            Spoken::Chat => json!("low"),
            Spoken::Responses => json!({"effort": "low", "summary": "auto"}),
            Spoken::Messages => json!({"type": "enabled", "budget_tokens": 4096}),
            Spoken::Gemini => json!({"thinkingBudget": 4096, "includeThoughts": true}),
            Spoken::Ollama => json!(true),
        };
        let sent = endpoint.requests();
        assert_eq!(sent[0].body.pointer(field), Some(&said), "{spoken:?}");
        assert_eq!(sent[1].body.pointer(field), Some(&said), "{spoken:?}");
        assert_eq!(sent[2].body.pointer(field), None, "{spoken:?}");
        if spoken == Spoken::Messages {
            // A tool cannot be forced while a model thinks, and the limit leaves room for the reply.
            assert_eq!(sent[0].body["tool_choice"], json!({"type": "auto"}));
            assert_eq!(
                (&sent[0].body["max_tokens"], &sent[2].body["max_tokens"]),
                (&json!(5120), &json!(500))
            );
            assert_eq!(sent[2].body["tool_choice"]["type"], "tool");
        }
    }
}

/// The schema, the picture, the stable part and the key are where each provider wants them.
#[tokio::test]
async fn requests_are_what_providers_want() {
    for spoken in Spoken::ALL {
        let endpoint = MockEndpoint::start([spoken.reply(TEXT, true)]).await.unwrap();
        let folder = tempfile::tempdir().unwrap();
        let key = folder.path().join("key");
        fs::write(&key, "canary-7f3a\n").unwrap();
        let mut config = config(spoken, &endpoint);
        config.key = Some(SecretSource::File(key));
        config.temperature = Some(0.2);
        let mut asked = request("look");
        asked.messages = vec![ModelMessage::text(Speaker::System, "be brief"), looking()];
        Endpoint::new(config).unwrap().ask(&asked, &OnePicture, &NoModelSigns).await.unwrap();
        let sent = &endpoint.requests()[0];
        let (name, value) = match spoken {
            Spoken::Chat | Spoken::Responses | Spoken::Ollama => ("authorization", "Bearer canary-7f3a"),
            Spoken::Messages => ("x-api-key", "canary-7f3a"),
            Spoken::Gemini => ("x-goog-api-key", "canary-7f3a"),
        };
        assert_eq!(sent.header(name), Some(value), "{spoken:?}");
        let schema = &asked.schema;
        let expected = match spoken {
            // A test of its own has the whole request.
            Spoken::Chat => continue,
            Spoken::Responses => json!({
                "model": "m", "stream": true, "store": false, "temperature": 0.2, "max_output_tokens": 500,
                "input": [
                    {"role": "system", "content": [{"type": "input_text", "text": "be brief"}]},
                    {"role": "user", "content": [
                        {"type": "input_text", "text": "look"},
                        {"type": "input_image", "image_url": "data:image/png;base64,AQID", "detail": "auto"},
                    ]},
                ],
                "text": {"format": {
                    "type": "json_schema", "name": "app_agent_reply", "schema": schema, "strict": true,
                }},
            }),
            Spoken::Messages => json!({
                "model": "m", "stream": true, "temperature": 0.2, "max_tokens": 500,
                "system": [{"type": "text", "text": "be brief", "cache_control": {"type": "ephemeral"}}],
                "messages": [{"role": "user", "content": [
                    {"type": "text", "text": "look"},
                    {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AQID"}},
                ]}],
                "tools": [{"name": "app_agent_reply", "description": "Takes the reply.", "input_schema": schema}],
                "tool_choice": {"type": "tool", "name": "app_agent_reply"},
            }),
            Spoken::Gemini => json!({
                "systemInstruction": {"parts": [{"text": "be brief"}]},
                "contents": [{"role": "user", "parts": [
                    {"text": "look"}, {"inlineData": {"mimeType": "image/png", "data": "AQID"}},
                ]}],
                "generationConfig": {
                    "maxOutputTokens": 500, "temperature": 0.2, "responseMimeType": "application/json",
                    "responseJsonSchema": schema,
                },
            }),
            Spoken::Ollama => json!({
                "model": "m", "stream": true, "format": schema,
                "messages": [
                    {"role": "system", "content": "be brief"},
                    {"role": "user", "content": "look", "images": ["AQID"]},
                ],
                "options": {"num_predict": 500, "num_ctx": 8192, "temperature": 0.2},
            }),
        };
        assert_eq!(sent.body, expected, "{spoken:?}");
    }
}

/// Every request gets the same response.
async fn fail(spoken: Spoken, behaviour: Behaviour) -> ModelFailure {
    let endpoint = MockEndpoint::start(vec![behaviour; 5]).await.unwrap();
    let model = Endpoint::new(config(spoken, &endpoint)).unwrap();
    let failure = model.ask(&request("a"), &NoPictures, &NoModelSigns).await.unwrap_err();
    assert_eq!(endpoint.requests().len(), failure.attempts as usize, "{spoken:?}: {failure:?}");
    failure
}

/// What comes of a fault: its kind, the number of requests, of at most three, and a part of the message. `None` if there is a reply.
fn expected(what: &str) -> Option<(ModelFailureKind, u32, &'static str)> {
    Some(match what {
        "401, the key is wrong" => (Unauthorized, 1, "bad key"),
        "404, no such model" => (NotFound, 1, "no m"),
        "400, the prompt is too long" => (Rejected, 1, "too long"),
        "429, too many requests" => (RateLimited, 3, "slow down"),
        "500" => (Server, 3, "boom"),
        "529, overloaded" | "an error in a stream" => (Server, 3, "Overloaded"),
        "301, moved" => (NotFound, 1, "moved to https://elsewhere/v1"),
        "a web page" => (Malformed, 1, "other than JSON: `<html>Sign in`"),
        "nothing" => (Malformed, 1, "an empty body"),
        "JSON that is no reply" => (Malformed, 1, "has no `"),
        "9 MiB" => (Malformed, 1, "exceeds 8388608 bytes"),
        "a body that is cut off" => (CutShort, 3, "truncated after"),
        "no response" => (CutShort, 3, "closed the connection before responding"),
        "a stream without its end" | "a stream that breaks off" => (CutShort, 3, "before the reply did"),
        "a stream with a part that is not JSON" => (Malformed, 1, "other than JSON: `soon`"),
        "a reply that reaches the limit of tokens" => (CutShort, 1, "--max-reply-tokens 2000"),
        "an empty reply" => (Malformed, 3, "empty reply"),
        "a refusal" => (Rejected, 1, "refused to answer"),
        "a content filter" => (Rejected, 1, "filter"),
        // What a reply means is not for this crate to say.
        "a stream of single bytes"
        | "prose in place of JSON"
        | "JSON of another form"
        | "two JSON objects"
        | "two different JSON objects"
        | "a tool call where text was asked"
        | "the reply in a tool call" => return None,
        other => panic!("nothing is expected of {other:?}"),
    })
}

#[tokio::test]
async fn failures_are_named_and_retried_where_that_may_help() {
    for spoken in Spoken::ALL {
        for Fault { what, behaviour } in faults(spoken, TEXT) {
            let Some((kind, requests, words)) = expected(what) else {
                let endpoint = MockEndpoint::start([behaviour]).await.unwrap();
                let model = Endpoint::new(config(spoken, &endpoint)).unwrap();
                let reply = model.ask(&request("a"), &NoPictures, &NoModelSigns).await.unwrap();
                assert!(reply.attempts == 1 && !reply.text.is_empty(), "{spoken:?}, {what}: {reply:?}");
                continue;
            };
            let failure = fail(spoken, behaviour).await;
            let message = &failure.message;
            assert_eq!((failure.kind, failure.attempts), (kind, requests), "{spoken:?}, {what}: {message}");
            assert!(message.contains(words), "{spoken:?}, {what}: {words:?} is not in {message}");
        }
    }
}

#[tokio::test]
async fn a_refused_schema_is_left_to_the_prompt() {
    for spoken in Spoken::ALL {
        let refused = match spoken {
            Spoken::Chat => "response_format json_schema is not supported",
            Spoken::Responses => "text.format json_schema is not supported with this model",
            Spoken::Messages => "tool_choice: not supported by this model",
            Spoken::Gemini => "Unknown name \"responseJsonSchema\"",
            Spoken::Ollama => "invalid format: json_schema is not supported",
        };
        let endpoint = MockEndpoint::start([spoken.error(400, "invalid", refused), spoken.reply(TEXT, true)])
            .await
            .unwrap();
        let model = Endpoint::new(config(spoken, &endpoint)).unwrap();
        assert_eq!(
            model.ask(&request("a"), &NoPictures, &NoModelSigns).await.unwrap().attempts,
            2,
            "{spoken:?}"
        );
        // It is remembered.
        endpoint.push([spoken.reply(TEXT, true)]);
        assert_eq!(
            model.ask(&request("b"), &NoPictures, &NoModelSigns).await.unwrap().attempts,
            1,
            "{spoken:?}"
        );
        let schema = endpoint.requests().last().unwrap().body.to_string().contains("additionalProperties");
        assert!(!schema, "{spoken:?}");
    }
}

#[tokio::test]
async fn an_ollama_server_is_asked_for_as_much_context_as_the_prompt_needs() {
    let endpoint = MockEndpoint::start([Spoken::Ollama.reply(TEXT, true)]).await.unwrap();
    let model = Endpoint::new(config(Spoken::Ollama, &endpoint)).unwrap();
    model.ask(&request(&"word ".repeat(12_000)), &NoPictures, &NoModelSigns).await.unwrap();
    assert_eq!(endpoint.requests()[0].body["options"]["num_ctx"], 32_768);
}

#[tokio::test]
async fn models_are_listed() {
    let listed = r#"{"data": [{"id": "b"}, {"id": "a", "context_length": 9}]}"#;
    let endpoint = MockEndpoint::start([
        Behaviour::status(200, listed),
        Spoken::Chat.error(401, "invalid", "bad key"),
        Behaviour::status(200, "<html>"),
    ])
    .await
    .unwrap();
    let model = Endpoint::new(config(Spoken::Chat, &endpoint)).unwrap();
    let names: Vec<String> = model.models().await.unwrap().into_iter().map(|one| one.name).collect();
    assert_eq!(names, ["a", "b"]);
    assert_eq!(endpoint.requests()[0].path, "/v1/models");
    assert_eq!(model.models().await.unwrap_err().kind, Unauthorized);
    assert_eq!(model.models().await.unwrap_err().kind, Malformed);
}
