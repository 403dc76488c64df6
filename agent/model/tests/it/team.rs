//! Which model of a session is asked, and which one instead.

use std::{collections::BTreeMap, time::Duration};

use deskhand_machine::model::{ModelFailureKind, ModelRequest};
use deskhand_model::{AnyModel, Endpoint, EndpointConfig, Model as _, ModelTeam, NoModelSigns, NoPictures};
use deskhand_testkit::endpoint::{Behaviour, MockEndpoint};

use super::request;

fn member(endpoint: &MockEndpoint, model: &str) -> AnyModel {
    let config = EndpointConfig {
        retry_wait_first: Duration::from_millis(1),
        ..EndpointConfig::new(endpoint.base_url(), model)
    };
    AnyModel::Endpoint(Endpoint::new(config).unwrap())
}

fn asking(models: &[&str]) -> ModelRequest {
    ModelRequest { models: models.iter().map(ToString::to_string).collect(), ..request("hello") }
}

struct Pair {
    first: MockEndpoint,
    second: MockEndpoint,
    team: ModelTeam,
}

impl Pair {
    async fn start(
        first: impl IntoIterator<Item = Behaviour>,
        second: impl IntoIterator<Item = Behaviour>,
    ) -> Self {
        let (first, second) =
            (MockEndpoint::start(first).await.unwrap(), MockEndpoint::start(second).await.unwrap());
        let members = [("a", member(&first, "big")), ("b", member(&second, "small"))];
        let members: BTreeMap<_, _> =
            members.into_iter().map(|(name, model)| (name.to_owned(), model)).collect();
        Self { team: ModelTeam::new("a", members).unwrap(), first, second }
    }

    fn requests(&self) -> (usize, usize) {
        (self.first.requests().len(), self.second.requests().len())
    }
}

#[tokio::test]
async fn a_backup_answers_and_an_endpoint_that_keeps_failing_is_left_alone() {
    let down = || Behaviour::status(500, "overloaded");
    let pair = Pair::start(vec![down(); 4], vec![Behaviour::reply("{}"); 3]).await;
    for (question, asked) in [(1, (2, 1)), (2, (4, 2)), (3, (4, 3))] {
        let reply = pair.team.ask(&asking(&["a", "b"]), &NoPictures, &NoModelSigns).await.unwrap();
        assert_eq!((reply.text.as_str(), reply.by.as_deref(), reply.attempts), ("{}", Some("b"), 1));
        assert_eq!(pair.requests(), asked, "question {question}");
        match reply.failed.as_slice() {
            [failure] if question < 3 => {
                let seen = (failure.by.as_deref(), failure.kind, failure.attempts);
                assert_eq!(seen, (Some("a"), ModelFailureKind::Server, 2));
                assert!(failure.message.contains("for model big: overloaded"), "{}", failure.message);
            }
            [] if question == 3 => {}
            other => panic!("question {question}: {other:?}"),
        }
    }
}

#[tokio::test]
async fn a_question_that_no_model_answers_says_why_of_each() {
    let pair = Pair::start(
        [Behaviour::error(401, "invalid_api_key", "no such key")],
        [Behaviour::error(404, "model_not_found", "no such model")],
    )
    .await;
    let failure = pair.team.ask(&asking(&["a", "b"]), &NoPictures, &NoModelSigns).await.unwrap_err();
    assert_eq!((failure.kind, failure.by.as_deref()), (ModelFailureKind::NotFound, Some("b")));
    let before: u32 = failure.before.iter().map(|one| one.attempts).sum();
    assert_eq!((failure.attempts, failure.attempts + before), (1, 2));
    assert!(failure.message.contains("no such model") && failure.message.contains("; before it, "));
    assert!(failure.message.contains("no such key"), "{}", failure.message);
}

#[tokio::test]
async fn the_budget_of_requests_holds_for_all_together() {
    let pair = Pair::start(vec![Behaviour::status(500, ""); 2], [Behaviour::reply("{}")]).await;
    let one = ModelRequest { attempts_max: 1, ..asking(&["a", "b"]) };
    let failure = pair.team.ask(&one, &NoPictures, &NoModelSigns).await.unwrap_err();
    assert_eq!((failure.by.as_deref(), pair.requests()), (Some("a"), (1, 0)));
    // A second failure in a row: from now on the first one rests, and the only request goes to the second.
    let failure = pair.team.ask(&one, &NoPictures, &NoModelSigns).await.unwrap_err();
    assert_eq!((failure.by.as_deref(), pair.requests()), (Some("a"), (2, 0)));
    let reply = pair.team.ask(&one, &NoPictures, &NoModelSigns).await.unwrap();
    assert_eq!((reply.by.as_deref(), pair.requests()), (Some("b"), (2, 1)));
}

#[tokio::test]
async fn a_request_that_names_no_model_of_the_session_goes_to_the_usual_one() {
    let pair = Pair::start(vec![Behaviour::reply("{}"); 2], []).await;
    let reply = pair.team.ask(&asking(&[]), &NoPictures, &NoModelSigns).await.unwrap();
    assert_eq!((reply.by, pair.requests()), (None, (1, 0)));
    // The models of a session that was resumed with others.
    let reply = pair.team.ask(&asking(&["gone"]), &NoPictures, &NoModelSigns).await.unwrap();
    assert_eq!((reply.by.as_deref(), pair.requests()), (Some("a"), (2, 0)));
    assert!(pair.team.name().ends_with(", and one more model"), "{}", pair.team.name());
}
