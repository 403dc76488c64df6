//! Request bodies and successful responses.

use std::{fs, sync::Mutex, time::Duration};

use deskhand_machine::model::{ModelFailureKind, Usage};
use deskhand_model::{
    AnyModel, Endpoint, EndpointConfig, Model, ModelSign, ModelSigns, NoModelSigns, NoPictures, Script,
    SecretSource, StructuredOutput, TokenLimitField, Wire, normalise_base_url,
};
use deskhand_testkit::endpoint::{Behaviour, MockEndpoint, completion, prompt_text};
use deskhand_testkit_models::request::model_request;
use serde_json::{Value, json};

use crate::{OnePicture, looking, request};

fn config(endpoint: &MockEndpoint) -> EndpointConfig {
    EndpointConfig {
        retry_wait_first: Duration::from_millis(1),
        timeout: Duration::from_secs(20),
        ..EndpointConfig::new(endpoint.base_url(), "m")
    }
}

#[tokio::test]
async fn sends_one_request_per_reply() {
    let mut answer = completion(r#"{"status": "FINISH"}"#, Some((120, 7)));
    answer["usage"]["prompt_tokens_details"] = json!({"cached_tokens": 100});
    let endpoint = MockEndpoint::start([Behaviour::status(200, answer.to_string())]).await.unwrap();
    let folder = tempfile::tempdir().unwrap();
    let key = folder.path().join("key");
    fs::write(&key, "canary-7f3a\n").unwrap();
    let config = EndpointConfig {
        key: Some(SecretSource::File(key)),
        temperature: Some(0.2),
        base_url: format!(" {}/chat/completions/ ", endpoint.base_url()),
        ..config(&endpoint)
    };
    let model = Endpoint::new(config).unwrap();
    assert!(!format!("{model:?}").contains("canary"), "{model:?}");
    assert_eq!(model.name(), format!("openai m at {}", endpoint.base_url()));

    let reply = model.ask(&request("hello"), &NoPictures, &NoModelSigns).await.unwrap();
    assert_eq!(reply.text, r#"{"status": "FINISH"}"#);
    assert_eq!(reply.model, "mock-model");
    assert_eq!(
        reply.usage,
        Usage { prompt_tokens: Some(120), cached_tokens: Some(100), completion_tokens: Some(7) }
    );
    assert_eq!(reply.attempts, 1);

    let requests = endpoint.requests();
    assert_eq!(requests.len(), 1);
    let sent = &requests[0];
    assert_eq!((sent.method.as_str(), sent.path.as_str()), ("POST", "/v1/chat/completions"));
    assert_eq!(sent.header("authorization"), Some("Bearer canary-7f3a"));
    let asked = request("hello");
    assert_eq!(
        sent.body,
        json!({
            "model": "m",
            "messages": [
                {"role": "system", "content": "Answer in JSON. Example: [e999] push button \"Finish\""},
                {"role": "user", "content": "hello"},
            ],
            "max_tokens": 500,
            "temperature": 0.2,
            "stream": true,
            "stream_options": {"include_usage": true},
            "response_format": {
                "type": "json_schema",
                "json_schema": {"name": "app_agent_reply", "schema": asked.schema, "strict": true},
            },
        })
    );
}

#[tokio::test]
async fn the_system_message_is_marked_where_a_cache_wants_it() {
    let endpoint = MockEndpoint::start([Behaviour::reply("{}")]).await.unwrap();
    let model = Endpoint::new(EndpointConfig { cache_marks: true, ..config(&endpoint) }).unwrap();
    model.ask(&request("hello"), &NoPictures, &NoModelSigns).await.unwrap();
    let system = "Answer in JSON. Example: [e999] push button \"Finish\"";
    assert_eq!(
        endpoint.requests()[0].body["messages"],
        json!([
            {
                "role": "system",
                "content": [{"type": "text", "text": system, "cache_control": {"type": "ephemeral"}}],
            },
            {"role": "user", "content": "hello"},
        ])
    );
}

#[tokio::test]
async fn pictures_are_sent_to_vision_models() {
    let endpoint = MockEndpoint::start([Behaviour::reply("{}"), Behaviour::reply("{}")]).await.unwrap();
    let mut asked = request("look");
    asked.messages = vec![looking()];
    let seeing = Endpoint::new(config(&endpoint)).unwrap();
    seeing.ask(&asked, &OnePicture, &NoModelSigns).await.unwrap();
    let blind = Endpoint::new(EndpointConfig { vision: false, ..config(&endpoint) }).unwrap();
    blind.ask(&asked, &OnePicture, &NoModelSigns).await.unwrap();
    let contents: Vec<Value> =
        endpoint.requests().into_iter().map(|sent| sent.body["messages"][0]["content"].clone()).collect();
    let text = json!({"type": "text", "text": "look"});
    let image =
        json!({"type": "image_url", "image_url": {"url": "data:image/png;base64,AQID", "detail": "auto"}});
    assert_eq!(contents, [json!([text, image]), json!("look")]);

    let failure = seeing.ask(&asked, &NoPictures, &NoModelSigns).await.unwrap_err();
    assert_eq!((failure.kind, failure.attempts), (ModelFailureKind::Rejected, 0));
    assert_eq!(endpoint.requests().len(), 2, "nothing is sent without its picture");
}

#[tokio::test]
async fn learns_the_dialect_of_the_endpoint() {
    let refuse = |message: &str| Behaviour::error(400, "invalid_request_error", message);
    let endpoint = MockEndpoint::start([
        refuse("Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."),
        refuse("Extra inputs are not permitted: stream_options"),
        refuse("Unsupported value: 'temperature' does not support 0.5 with this model."),
        refuse("Invalid parameter: 'response_format' of type 'json_schema' is not supported with this model."),
        refuse("response_format json_object is not supported"),
        Behaviour::reply("{}"),
        Behaviour::reply("{}"),
    ])
    .await
    .unwrap();
    let model =
        Endpoint::new(EndpointConfig { attempts_max: 1, temperature: Some(0.5), ..config(&endpoint) })
            .unwrap();
    assert_eq!(model.ask(&request("a"), &NoPictures, &NoModelSigns).await.unwrap().attempts, 6);
    // The dialect is kept for later calls.
    assert_eq!(model.ask(&request("b"), &NoPictures, &NoModelSigns).await.unwrap().attempts, 1);
    let forms: Vec<(bool, bool, bool, Value)> = endpoint
        .requests()
        .iter()
        .map(|sent| {
            let form = sent.body["response_format"]["type"].clone();
            let has = |name| sent.body.get(name).is_some();
            (has("max_tokens"), has("stream"), has("temperature"), form)
        })
        .collect();
    let (schema, object) = (json!("json_schema"), json!("json_object"));
    assert_eq!(
        forms,
        [
            (true, true, true, schema.clone()),
            (false, true, true, schema.clone()),
            (false, false, true, schema.clone()),
            (false, false, false, schema),
            (false, false, false, object),
            (false, false, false, Value::Null),
            (false, false, false, Value::Null),
        ]
    );
}

#[derive(Default)]
struct Signs(Mutex<Vec<ModelSign>>);

impl ModelSigns for Signs {
    fn sign(&self, sign: ModelSign) {
        self.0.lock().unwrap().push(sign);
    }
}

#[tokio::test]
async fn replies_are_streamed_and_retries_announced() {
    let texts = vec!["{\"status\": ".to_owned(), "\"FINISH\"}".to_owned()];
    let endpoint = MockEndpoint::start([Behaviour::status(503, "boom"), Behaviour::Stream(texts, (120, 7))])
        .await
        .unwrap();
    let signs = Signs::default();
    let model = Endpoint::new(config(&endpoint)).unwrap();
    let reply = model.ask(&request("a"), &NoPictures, &signs).await.unwrap();
    assert_eq!((reply.text.as_str(), reply.model.as_str()), ("{\"status\": \"FINISH\"}", "mock-model"));
    assert_eq!((reply.usage.prompt_tokens, reply.usage.completion_tokens), (Some(120), Some(7)));
    let signs = signs.0.into_inner().unwrap();
    let [ModelSign::Asked { .. }, ModelSign::Receiving { .. }, retry, ModelSign::Asked { .. }, received @ ..] =
        &signs[..]
    else {
        panic!("{signs:?}");
    };
    let ModelSign::Retrying { reason, after, attempt: 2, attempts_max: 8 } = retry else {
        panic!("{retry:?}")
    };
    assert!(reason.contains("503") && *after <= Duration::from_millis(1), "{retry:?}");
    let Some(ModelSign::Receiving { bytes, words }) = received.last() else { panic!("{received:?}") };
    assert!(*bytes > 200 && words == "{\"status\": \"FINISH\"}", "{received:?}");
}

#[tokio::test]
async fn an_explicit_setting_has_no_fallback() {
    for (output, token_limit_field, message) in [
        (StructuredOutput::Schema, TokenLimitField::Auto, "json_schema is not supported"),
        (StructuredOutput::Off, TokenLimitField::MaxTokens, "max_tokens is not supported"),
        (StructuredOutput::Auto, TokenLimitField::Auto, "max_tokens is too large: 500; supports at most 100"),
        (StructuredOutput::Auto, TokenLimitField::Auto, "context length exceeded"),
    ] {
        let endpoint = MockEndpoint::start([Behaviour::error(400, "bad", message)]).await.unwrap();
        let config = EndpointConfig { structured_output: output, token_limit_field, ..config(&endpoint) };
        let failure =
            Endpoint::new(config).unwrap().ask(&request("a"), &NoPictures, &NoModelSigns).await.unwrap_err();
        assert_eq!((failure.kind, failure.attempts), (ModelFailureKind::Rejected, 1), "{message}");
        assert!(failure.message.contains(message), "{}", failure.message);
    }
}

#[tokio::test]
async fn token_counts_of_all_attempts_are_summed() {
    let endpoint = MockEndpoint::start([
        Behaviour::reply_with_usage(" ", 10, 1),
        Behaviour::reply_with_usage("{}", 10, 2),
    ])
    .await
    .unwrap();
    let reply = Endpoint::new(config(&endpoint))
        .unwrap()
        .ask(&request("a"), &NoPictures, &NoModelSigns)
        .await
        .unwrap();
    assert_eq!(reply.attempts, 2);
    assert_eq!((reply.usage.prompt_tokens, reply.usage.completion_tokens), (Some(20), Some(3)));
}

#[tokio::test]
async fn the_mock_endpoint_can_serve_a_script() {
    let text = "[[turn]]\nagent = \"HostAgent\"\nexpect = \"hello\"\nreply = '''{\"id\": \"{{window \"Calc\"}}\"}'''";
    let script = Script::parse("s.toml", text, std::collections::BTreeMap::new()).unwrap();
    let endpoint = MockEndpoint::answering(move |body| {
        assert!(prompt_text(body).contains("hello"));
        match script.answer(&model_request(body)) {
            Ok(reply) => Behaviour::reply(reply.text),
            Err(failure) => Behaviour::status(400, failure.message),
        }
    })
    .await
    .unwrap();
    let model = AnyModel::Endpoint(Endpoint::new(config(&endpoint)).unwrap());
    let asked =
        request("hello\n- [w4] window \"Untitled 1 — LibreOffice Calc\" of LibreOffice Calc (active)");
    assert_eq!(model.ask(&asked, &NoPictures, &NoModelSigns).await.unwrap().text, r#"{"id": "w4"}"#);
    let failure = model.ask(&asked, &NoPictures, &NoModelSigns).await.unwrap_err();
    assert!(failure.message.contains("has no turns left"), "{}", failure.message);
}

#[test]
fn base_urls_are_normalised() {
    for (given, expected) in [
        ("https://api.openai.com/v1", "https://api.openai.com/v1"),
        (" https://api.openai.com/v1/ ", "https://api.openai.com/v1"),
        ("http://localhost:8000/v1/chat/completions", "http://localhost:8000/v1"),
        ("http://localhost:8000/", "http://localhost:8000"),
    ] {
        assert_eq!(normalise_base_url(given, Wire::Chat).unwrap(), expected);
    }
    for (given, message) in [
        ("localhost:8000", "`localhost:8000` is not a base URL (`localhost` is not http or https)"),
        ("api.openai.com/v1", "`api.openai.com/v1` is not a base URL (relative URL without a base)"),
        ("https://me:secret@host/v1", "`https://…` is not a base URL (it contains a user name or password"),
        ("https://host/v1?key=1", "is not a base URL (it has a query or fragment)"),
    ] {
        let error = normalise_base_url(given, Wire::Chat).unwrap_err().to_string();
        assert!(error.contains(message), "{error}");
        assert!(!error.contains("secret"), "{error}");
    }
}

#[test]
fn a_missing_key_error_names_its_source() {
    let setup = |key| {
        let config = EndpointConfig { key: Some(key), ..EndpointConfig::new("http://localhost:1/v1", "m") };
        Endpoint::new(config).map(|model| model.name().to_owned()).map_err(|error| error.to_string())
    };
    let missing = setup(SecretSource::Environment("DESKHAND_TEST_NO_SUCH_KEY".to_owned()));
    assert_eq!(
        missing.unwrap_err(),
        "no key for http://localhost:1/v1: the environment variable DESKHAND_TEST_NO_SUCH_KEY is not set; set it to the API key"
    );
    setup(SecretSource::Environment("CARGO_PKG_NAME".to_owned())).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("key");
    for (content, problem) in
        [(None, "cannot be read"), (Some(" \n"), "is empty"), (Some("a\u{1}b"), "contains characters")]
    {
        if let Some(content) = content {
            fs::write(&path, content).unwrap();
        }
        let error = setup(SecretSource::File(path.clone())).unwrap_err();
        assert!(error.contains(&path.display().to_string()) && error.contains(problem), "{error}");
    }
    let error = Endpoint::new(EndpointConfig::new("http://localhost:1/v1", " ")).unwrap_err().to_string();
    assert!(error.starts_with("no model is configured for http://localhost:1/v1"), "{error}");
}
