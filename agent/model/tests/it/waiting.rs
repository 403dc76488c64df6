//! How long a model is waited for: with the default settings, on a clock that the test sets.

use std::time::Duration;

use deskhand_machine::model::ModelFailureKind::TimedOut;
use deskhand_machine::model::{ModelFailure, ModelReply};
use deskhand_model::{Endpoint, EndpointConfig, Model as _, ModelSign, ModelSigns, NoPictures};
use serde_json::json;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
    sync::{oneshot, watch},
    task::JoinSet,
    time::{Instant, advance, pause},
};

use super::request;

/// One server that does what the test says, and when.
struct Thinker {
    listener: TcpListener,
    /// Held as long as the clock must not move by itself.
    _still: oneshot::Sender<()>,
}

impl Thinker {
    async fn start() -> Self {
        pause();
        // A paused clock of tokio jumps to the next timer whenever nothing is to be done, unless a blocking task runs.
        let (still, moved) = oneshot::channel();
        tokio::task::spawn_blocking(move || moved.blocking_recv().ok());
        Self { listener: TcpListener::bind("127.0.0.1:0").await.unwrap(), _still: still }
    }

    fn config(&self) -> EndpointConfig {
        EndpointConfig::new(format!("http://{}/v1", self.listener.local_addr().unwrap()), "thinker")
    }

    /// The connection of the next request, once it has arrived.
    async fn request(&self) -> TcpStream {
        let (mut connection, _) = self.listener.accept().await.unwrap();
        let mut received = Vec::new();
        while !received.ends_with(b"}") {
            assert_ne!(connection.read_buf(&mut received).await.unwrap(), 0, "the client left");
        }
        connection
    }
}

/// How much of the response has arrived.
struct Received(watch::Sender<usize>);

impl ModelSigns for Received {
    fn sign(&self, sign: ModelSign) {
        if let ModelSign::Receiving { bytes, .. } = sign {
            self.0.send_replace(bytes);
        }
    }
}

/// A question that is on its way.
struct Question {
    asked: JoinSet<Result<ModelReply, ModelFailure>>,
    connection: TcpStream,
    received: watch::Receiver<usize>,
    sent: usize,
}

impl Question {
    async fn ask(thinker: &Thinker, config: EndpointConfig) -> Self {
        let model = Endpoint::new(config).unwrap();
        let signs = Received(watch::Sender::new(0));
        let received = signs.0.subscribe();
        let mut asked = JoinSet::new();
        asked.spawn(async move { model.ask(&request("think"), &NoPictures, &signs).await });
        Self { asked, connection: thinker.request().await, received, sent: 0 }
    }

    /// What the model replied, once it has.
    async fn answer(&mut self) -> Result<ModelReply, ModelFailure> {
        self.asked.join_next().await.unwrap().unwrap()
    }

    async fn head(&mut self) {
        let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n";
        self.connection.write_all(head.as_bytes()).await.unwrap();
    }

    /// Sends a part of the reply, and returns once it has arrived.
    async fn send(&mut self, part: &str) {
        self.connection.write_all(part.as_bytes()).await.unwrap();
        self.sent += part.len();
        self.received.wait_for(|received| *received == self.sent).await.unwrap();
    }
}

fn event(text: &str, finish: Option<&str>) -> String {
    let choice = json!({"index": 0, "delta": {"content": text}, "finish_reason": finish});
    format!("data: {}\n\n", json!({"model": "thinker", "choices": [choice]}))
}

const MINUTE: Duration = Duration::from_secs(60);

#[tokio::test]
async fn ten_minutes_of_silence_and_ten_of_stream_are_waited_for() {
    let thinker = Thinker::start().await;
    let start = Instant::now();
    let mut question = Question::ask(&thinker, thinker.config()).await;
    advance(10 * MINUTE).await;
    assert!(question.asked.try_join_next().is_none(), "given up in silence");
    question.head().await;
    for _ in 0..10 {
        question.send(&event("a", None)).await;
        advance(MINUTE).await;
    }
    assert!(question.asked.try_join_next().is_none(), "given up in the stream");
    question.send(&event("b", Some("stop"))).await;
    question.connection.write_all(b"data: [DONE]\n\n").await.unwrap();
    let reply = question.answer().await.unwrap();
    assert_eq!((reply.text.as_str(), reply.attempts), ("aaaaaaaaaab", 1));
    assert_eq!((start.elapsed(), reply.elapsed_ms), (20 * MINUTE, 20 * 60 * 1000));
}

/// How long a question is waited for after that, and what is said then.
async fn given_up(mut question: Question) -> (u64, String) {
    let start = Instant::now();
    let answer = loop {
        if let Some(answer) = question.asked.try_join_next() {
            break answer.unwrap();
        }
        assert!(start.elapsed() < Duration::from_secs(4_000), "never given up");
        advance(Duration::from_secs(1)).await;
        tokio::task::yield_now().await;
    };
    let failure = answer.unwrap_err();
    // The model may still work on it: another request would be paid as well.
    assert_eq!((failure.kind, failure.attempts), (TimedOut, 1), "{}", failure.message);
    (start.elapsed().as_secs(), failure.message)
}

#[tokio::test]
async fn silence_before_a_reply_has_a_bound_of_its_own() {
    let thinker = Thinker::start().await;
    let config = || EndpointConfig { timeout: Duration::from_secs(100), ..thinker.config() };
    let (seconds, message) = given_up(Question::ask(&thinker, config()).await).await;
    assert!((98..=102).contains(&seconds), "{seconds}");
    assert!(message.contains("sent nothing for 100 s after it accepted"), "{message}");
    let mut question = Question::ask(&thinker, config()).await;
    advance(Duration::from_secs(50)).await;
    question.head().await;
    let (seconds, message) = given_up(question).await;
    assert!((48..=52).contains(&seconds), "response headers do not count as part of the reply: {seconds}");
    assert!(message.contains("model.timeout_s"), "{message}");
}

#[tokio::test]
async fn silence_within_a_reply_has_a_bound_of_its_own() {
    let thinker = Thinker::start().await;
    let config = EndpointConfig { idle_timeout: Duration::from_secs(200), ..thinker.config() };
    let mut question = Question::ask(&thinker, config).await;
    advance(Duration::from_secs(1_000)).await;
    question.head().await;
    question.send(&event("a", None)).await;
    advance(Duration::from_secs(150)).await;
    question.send(&event("b", None)).await;
    let (seconds, message) = given_up(question).await;
    assert!((198..=202).contains(&seconds), "{seconds}");
    assert!(
        message.contains("sent nothing for 200 s after") && message.contains("model.idle_timeout_s"),
        "{message}"
    );
}
