//! Endpoint failures: kind, message, and number of requests.

use std::{fs, time::Duration};

use deskhand_machine::model::{
    ModelFailure,
    ModelFailureKind::{
        self, CutShort, Malformed, NotFound, RateLimited, Rejected, Server, TimedOut, Unauthorized,
        Unreachable,
    },
};
use deskhand_model::{Endpoint, EndpointConfig, Model, NoModelSigns, NoPictures, SecretSource};
use deskhand_testkit::endpoint::{Behaviour, MockEndpoint, completion};
use serde_json::json;

use crate::request;

fn config(base_url: String) -> EndpointConfig {
    EndpointConfig {
        attempts_max: 3,
        retry_wait_first: Duration::from_millis(1),
        timeout: Duration::from_secs(20),
        ..EndpointConfig::new(base_url, "m")
    }
}

async fn fail(config: EndpointConfig) -> ModelFailure {
    Endpoint::new(config).unwrap().ask(&request("a"), &NoPictures, &NoModelSigns).await.unwrap_err()
}

/// Every request gets the same response: checks the kind, the number of requests, and parts of the message.
async fn check(behaviour: Behaviour, kind: ModelFailureKind, attempts: u32, words: &[&str]) {
    let endpoint = MockEndpoint::start(vec![behaviour.clone(); 5]).await.unwrap();
    let failure = fail(config(endpoint.base_url())).await;
    assert_eq!((failure.kind, failure.attempts), (kind, attempts), "{behaviour:?}: {}", failure.message);
    assert_eq!(endpoint.requests().len(), attempts as usize, "{behaviour:?}");
    let url = endpoint.base_url();
    for word in words.iter().chain([&url.as_str()]) {
        assert!(failure.message.contains(word), "{word:?} is not in {}", failure.message);
    }
}

#[tokio::test]
async fn statuses() {
    let error = Behaviour::error;
    check(
        error(401, "invalid_api_key", "bad key"),
        Unauthorized,
        1,
        &["401", "bad key", "no key is configured"],
    )
    .await;
    check(error(403, "forbidden", "no"), Unauthorized, 1, &["403"]).await;
    let blind = "this model does not support image input";
    check(error(400, "bad", blind), Rejected, 1, &[blind, "--no-pictures", "model.vision = false"]).await;
    check(error(404, "none", blind), Rejected, 1, &["--no-pictures"]).await;
    check(error(404, "model_not_found", "no m"), NotFound, 1, &["no m", "check base_url", "/models"]).await;
    check(
        error(400, "context_length_exceeded", "too long"),
        Rejected,
        1,
        &["too long", "rejected the request"],
    )
    .await;
    check(Behaviour::status(422, r#"{"detail": "bad"}"#), Rejected, 1, &["422", ": bad;"]).await;
    check(error(429, "rate_limit", "slow down"), RateLimited, 3, &["slow down", "(after 3 requests)"]).await;
    check(
        error(429, "insufficient_quota", "pay"),
        RateLimited,
        1,
        &["quota of the account is exhausted", "billing"],
    )
    .await;
    check(Behaviour::status(500, "boom"), Server, 3, &["500", "boom", "(after 3 requests)"]).await;
    check(Behaviour::status(503, ""), Server, 3, &["503"]).await;
    let moved = Behaviour::status(301, "").with_header("location", "https://elsewhere/v1");
    check(moved, NotFound, 1, &["moved to https://elsewhere/v1"]).await;
}

#[tokio::test]
async fn broken_responses() {
    check(Behaviour::CutBody, CutShort, 3, &["truncated after 13 bytes"]).await;
    check(Behaviour::CutChunk, CutShort, 3, &["truncated after 13 bytes"]).await;
    check(Behaviour::Close, CutShort, 3, &["closed the connection before responding"]).await;
    let page =
        Behaviour::status(200, "<html><title>Sign in</title>").with_header("content-type", "text/html");
    check(page, Malformed, 1, &["other than JSON: `<html><title>Sign in</title>`", "proxy"]).await;
    check(Behaviour::status(200, ""), Malformed, 1, &["other than JSON: an empty body"]).await;
    check(Behaviour::status(200, r#"{"ok": true}"#), Malformed, 1, &["no `choices`: `{\"ok\": true}`"]).await;
    check(Behaviour::status(200, r#"{"choices": []}"#), Malformed, 1, &["no `choices`"]).await;
    check(Behaviour::reply("  "), Malformed, 3, &["empty reply from model m"]).await;
    let late = json!({"error": {"code": 502, "message": "upstream"}}).to_string();
    check(Behaviour::status(200, late), Server, 3, &["502", "upstream"]).await;
    let big = Behaviour::status(200, " ".repeat(9 * 1024 * 1024));
    check(big, Malformed, 1, &["exceeds 8388608 bytes"]).await;
}

#[tokio::test]
async fn unusable_replies() {
    let mut cut = completion("{\"status\": \"CONT", None);
    cut["choices"][0]["finish_reason"] = json!("length");
    check(
        Behaviour::status(200, cut.to_string()),
        CutShort,
        1,
        &["truncated at 500 tokens", "limits.completion_tokens_max", "--max-reply-tokens 2000"],
    )
    .await;
    let mut refusal = completion("", None);
    refusal["choices"][0]["message"]["refusal"] = json!("I will not");
    check(Behaviour::status(200, refusal.to_string()), Rejected, 1, &["refused to answer: I will not"]).await;
    let mut filtered = completion("x", None);
    filtered["choices"][0]["finish_reason"] = json!("content_filter");
    check(Behaviour::status(200, filtered.to_string()), Rejected, 1, &["content filter"]).await;
}

#[tokio::test]
async fn retry_after_is_honoured_up_to_the_maximum() {
    let limited = |after: &str| Behaviour::error(429, "rate_limit", "slow").with_header("retry-after", after);
    let endpoint = MockEndpoint::start([
        limited("0"),
        limited("Sun, 06 Nov 1994 08:49:37 GMT"),
        Behaviour::reply("{}"),
        limited("36000"),
        limited("0.2"),
        Behaviour::reply("{}"),
    ])
    .await
    .unwrap();
    // The configured back-off is too long: only `Retry-After` shortens the delays.
    let config = EndpointConfig { retry_wait_first: Duration::from_secs(60), ..config(endpoint.base_url()) };
    let model = Endpoint::new(config).unwrap();
    assert_eq!(model.ask(&request("a"), &NoPictures, &NoModelSigns).await.unwrap().attempts, 3);
    let failure = model.ask(&request("a"), &NoPictures, &NoModelSigns).await.unwrap_err();
    assert_eq!((failure.kind, failure.attempts), (RateLimited, 1));
    assert!(
        failure.message.contains("`Retry-After` is 36000 s, above the maximum of 600 s"),
        "{}",
        failure.message
    );
    let reply = model.ask(&request("a"), &NoPictures, &NoModelSigns).await.unwrap();
    assert!(reply.elapsed_ms >= 200, "waited {} ms", reply.elapsed_ms);
}

#[tokio::test]
async fn a_silent_endpoint_is_given_up_and_not_asked_again() {
    let endpoint = MockEndpoint::start(vec![Behaviour::Hang; 2]).await.unwrap();
    let config = EndpointConfig {
        timeout: Duration::from_millis(150),
        attempts_max: 2,
        ..config(endpoint.base_url())
    };
    let failure = fail(config).await;
    // The model may still work on the request: another one would be paid as well.
    assert_eq!((failure.kind, failure.attempts, endpoint.requests().len()), (TimedOut, 1, 1));
    for words in ["sent nothing for 0.15 s", "model.timeout_s", "--timeout 1"] {
        assert!(failure.message.contains(words), "{words}: {}", failure.message);
    }
    assert!(failure.elapsed_ms >= 150, "{}", failure.elapsed_ms);
}

#[tokio::test]
async fn a_closed_port_is_unreachable() {
    let mut endpoint = MockEndpoint::start([]).await.unwrap();
    let base_url = endpoint.base_url();
    endpoint.kill().await;
    let failure = fail(config(base_url.clone())).await;
    assert_eq!((failure.kind, failure.attempts), (Unreachable, 3), "{}", failure.message);
    assert!(failure.message.contains(&format!("cannot connect to {base_url}")), "{}", failure.message);
}

#[tokio::test]
async fn an_endpoint_that_stops_mid_request() {
    let mut endpoint = MockEndpoint::start([Behaviour::Hang]).await.unwrap();
    let model = Endpoint::new(config(endpoint.base_url())).unwrap();
    let asked = request("a");
    let failure = tokio::join!(model.ask(&asked, &NoPictures, &NoModelSigns), async {
        endpoint.wait_for_requests(1).await;
        endpoint.kill().await;
    })
    .0
    .unwrap_err();
    assert_eq!((failure.kind, failure.attempts), (Unreachable, 3), "{}", failure.message);
}

#[tokio::test]
async fn dropping_the_request_cancels_the_retry_delay() {
    let endpoint = MockEndpoint::start(vec![Behaviour::status(500, ""); 2]).await.unwrap();
    let config = EndpointConfig { retry_wait_first: Duration::from_secs(60), ..config(endpoint.base_url()) };
    let model = Endpoint::new(config).unwrap();
    let asked = request("a");
    tokio::select! {
        reply = model.ask(&asked, &NoPictures, &NoModelSigns) => panic!("{reply:?}"),
        () = endpoint.wait_for_requests(1) => {}
    }
    assert_eq!(endpoint.requests().len(), 1);
}

#[tokio::test]
async fn no_message_contains_the_key() {
    let folder = tempfile::tempdir().unwrap();
    let key = folder.path().join("key");
    fs::write(&key, "canary-7f3a").unwrap();
    // Long enough for a quote to end inside the key.
    for filler in [0, 290, 70, 110] {
        let told = format!("{} the key canary-7f3a is wrong", "x".repeat(filler));
        for behaviour in [
            Behaviour::error(401, "invalid_api_key", &told),
            Behaviour::error(500, "canary-7f3a", &told),
            Behaviour::status(200, told.clone()),
            Behaviour::status(200, json!({"told": told}).to_string()),
            Behaviour::status(302, "").with_header("location", "https://host/?key=canary-7f3a"),
        ] {
            let endpoint = MockEndpoint::start(vec![behaviour; 3]).await.unwrap();
            let config =
                EndpointConfig { key: Some(SecretSource::File(key.clone())), ..config(endpoint.base_url()) };
            let failure = fail(config).await;
            assert!(!failure.message.contains("canary"), "{}", failure.message);
            if failure.kind == Unauthorized {
                let place = format!("the key comes from the file {}", key.display());
                assert!(failure.message.contains(&place), "{}", failure.message);
            }
        }
    }
}
