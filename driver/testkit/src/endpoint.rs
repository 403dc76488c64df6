//! A mock OpenAI-compatible endpoint on the loopback interface, with scripted responses and failures.
//!
//! It implements HTTP/1.1 by hand, because a real server cannot truncate a body.

use std::{
    collections::VecDeque,
    fmt::Write as _,
    io,
    net::SocketAddr,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    sync::{Notify, watch},
    task::JoinSet,
};

/// The maximum request size, in bytes.
const REQUEST_MAX: usize = 64 * 1024 * 1024;

/// The response to one request.
#[derive(Debug, Clone, PartialEq)]
pub enum Behaviour {
    /// Responds 200 with a completion of this text.
    Reply {
        /// The content of the first choice.
        text: String,
        /// Prompt and completion tokens, if reported.
        usage: Option<(u64, u64)>,
    },
    /// Responds with this status.
    Status {
        /// The status code.
        code: u16,
        /// Additional headers.
        headers: Vec<(String, String)>,
        /// The body.
        body: String,
    },
    /// Streams a completion of these texts, one an event, with these prompt and completion tokens.
    Stream(Vec<String>, (u64, u64)),
    /// Responds 200 with a body of this type, one byte at a time.
    Drip {
        /// The media type.
        media_type: String,
        /// The body.
        body: String,
    },
    /// Responds as `Reply` once [`MockEndpoint::release`] was called.
    Held(String),
    /// Reads the request and never responds.
    Hang,
    /// Announces a longer body than it sends, then closes.
    CutBody,
    /// Sends one chunk of a chunked body, then closes without the last one.
    CutChunk,
    /// Sends a part of a file (206), and closes before its end if the part ends earlier.
    CutFile {
        /// The place of the first byte of the part.
        from: usize,
        /// The length of the whole file.
        total: usize,
        /// The bytes that are sent.
        part: Vec<u8>,
    },
    /// Sends the first part of a file of that length (200), and no more.
    HeldFile {
        /// The length of the whole file.
        total: usize,
        /// The bytes that are sent.
        part: Vec<u8>,
    },
    /// Closes the connection without a response.
    Close,
}

impl Behaviour {
    /// A completion without token counts.
    pub fn reply(text: impl Into<String>) -> Self {
        Self::Reply { text: text.into(), usage: None }
    }

    /// A completion with token counts.
    pub fn reply_with_usage(text: impl Into<String>, prompt_tokens: u64, completion_tokens: u64) -> Self {
        Self::Reply { text: text.into(), usage: Some((prompt_tokens, completion_tokens)) }
    }

    /// A status with an arbitrary body.
    pub fn status(code: u16, body: impl Into<String>) -> Self {
        Self::Status { code, headers: Vec::new(), body: body.into() }
    }

    /// An error as the protocol defines it.
    pub fn error(code: u16, kind: &str, message: &str) -> Self {
        let body = json!({"error": {"message": message, "type": kind, "code": kind, "param": null}});
        Self::status(code, body.to_string())
    }

    /// Adds a header to a status; no effect on other responses.
    #[must_use]
    pub fn with_header(mut self, name: &str, value: &str) -> Self {
        match &mut self {
            Self::Status { headers, .. } => headers.push((name.to_owned(), value.to_owned())),
            Self::Reply { .. }
            | Self::Stream(..)
            | Self::Drip { .. }
            | Self::Held(_)
            | Self::Hang
            | Self::CutBody
            | Self::CutChunk
            | Self::CutFile { .. }
            | Self::HeldFile { .. }
            | Self::Close => {}
        }
        self
    }
}

/// A received request.
#[derive(Debug, Clone, PartialEq)]
pub struct RecordedRequest {
    /// `POST`
    pub method: String,
    /// The path with the query.
    pub path: String,
    /// Headers, names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body; null if it is not JSON.
    pub body: Value,
}

impl RecordedRequest {
    /// The first header of that name, given in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

type Responder = Box<dyn FnMut(&RecordedRequest) -> Behaviour + Send>;

#[derive(Default)]
struct State {
    queue: VecDeque<Behaviour>,
    responder: Option<Responder>,
    requests: Vec<RecordedRequest>,
}

struct Shared {
    state: Mutex<State>,
    arrived: Notify,
    released: watch::Sender<bool>,
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The endpoint; it stops when dropped.
pub struct MockEndpoint {
    address: SocketAddr,
    shared: Arc<Shared>,
    tasks: JoinSet<()>,
}

impl MockEndpoint {
    /// Starts an endpoint with these responses, in order; after the last one, it responds 500.
    ///
    /// # Errors
    ///
    /// If no loopback port can be opened.
    pub async fn start(behaviours: impl IntoIterator<Item = Behaviour>) -> io::Result<Self> {
        Self::serve(State { queue: behaviours.into_iter().collect(), ..State::default() }).await
    }

    /// Starts an endpoint whose responses are computed from request bodies; see [`model_request`] and [`prompt_text`].
    ///
    /// # Errors
    ///
    /// If no loopback port can be opened.
    pub async fn answering(
        mut responder: impl FnMut(&Value) -> Behaviour + Send + 'static,
    ) -> io::Result<Self> {
        Self::answering_requests(move |request| responder(&request.body)).await
    }

    /// Starts an endpoint whose responses are computed from requests, including path and headers.
    ///
    /// # Errors
    ///
    /// If no loopback port can be opened.
    pub async fn answering_requests(
        responder: impl FnMut(&RecordedRequest) -> Behaviour + Send + 'static,
    ) -> io::Result<Self> {
        Self::serve(State { responder: Some(Box::new(responder)), ..State::default() }).await
    }

    async fn serve(state: State) -> io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared {
            state: Mutex::new(state),
            arrived: Notify::new(),
            released: watch::Sender::new(false),
        });
        let mut tasks = JoinSet::new();
        tasks.spawn(accept(listener, Arc::clone(&shared)));
        Ok(Self { address, shared, tasks })
    }

    /// The base URL for a client: `http://127.0.0.1:40123/v1`.
    pub fn base_url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// The URL without a path: `http://127.0.0.1:40123`.
    pub fn root_url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Queues responses; the queue takes precedence over the responder.
    pub fn push(&self, behaviours: impl IntoIterator<Item = Behaviour>) {
        self.shared.state().queue.extend(behaviours);
    }

    /// The requests received so far.
    pub fn requests(&self) -> Vec<RecordedRequest> {
        self.shared.state().requests.clone()
    }

    /// Waits for at least `count` requests, without a timeout.
    pub async fn wait_for_requests(&self, count: usize) {
        loop {
            let arrived = self.shared.arrived.notified();
            tokio::pin!(arrived);
            arrived.as_mut().enable();
            if self.shared.state().requests.len() >= count {
                return;
            }
            arrived.await;
        }
    }

    /// Lets the held responses go, those of later requests as well.
    pub fn release(&self) {
        self.shared.released.send_replace(true);
    }

    /// Closes all connections and the port. Afterwards, connections are refused.
    pub async fn kill(&mut self) {
        self.tasks.shutdown().await;
    }
}

/// Accepts connections, which end with this task.
async fn accept(listener: TcpListener, shared: Arc<Shared>) {
    let mut connections = JoinSet::new();
    loop {
        let Ok((stream, _)) = listener.accept().await else { return };
        let shared = Arc::clone(&shared);
        connections.spawn(async move {
            // Disconnected clients are ignored; tests inspect the requests.
            drop(converse(stream, &shared).await);
        });
        while connections.try_join_next().is_some() {}
    }
}

/// Responds to one request and closes the connection.
async fn converse(mut stream: TcpStream, shared: &Shared) -> io::Result<()> {
    let Some(request) = read_request(&mut stream).await? else { return Ok(()) };
    let behaviour = {
        let mut state = shared.state();
        let behaviour = match (state.queue.pop_front(), state.responder.as_mut()) {
            (Some(behaviour), _) => behaviour,
            (None, Some(responder)) => responder(&request),
            (None, None) => Behaviour::error(500, "mock", "the mock endpoint has no responses left"),
        };
        state.requests.push(request);
        behaviour
    };
    shared.arrived.notify_waiters();
    match behaviour {
        Behaviour::Reply { text, usage } => {
            send(&mut stream, 200, &[], &completion(&text, usage).to_string()).await?;
        }
        Behaviour::Status { code, headers, body } => send(&mut stream, code, &headers, &body).await?,
        Behaviour::Stream(texts, usage) => {
            let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
            stream.write_all(head.as_bytes()).await?;
            for event in stream_events(&texts, usage) {
                stream.write_all(format!("data: {event}\n\n").as_bytes()).await?;
                stream.flush().await?;
            }
        }
        Behaviour::Drip { media_type, body } => {
            let head = format!("HTTP/1.1 200 OK\r\ncontent-type: {media_type}\r\nconnection: close\r\n\r\n");
            stream.write_all(head.as_bytes()).await?;
            stream.set_nodelay(true)?;
            for byte in body.bytes() {
                stream.write_all(&[byte]).await?;
                stream.flush().await?;
            }
        }
        Behaviour::Held(text) => {
            // The sender lives as long as the endpoint.
            drop(shared.released.subscribe().wait_for(|released| *released).await);
            send(&mut stream, 200, &[], &completion(&text, None).to_string()).await?;
        }
        Behaviour::Hang => std::future::pending::<()>().await,
        Behaviour::CutBody => {
            let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 1000\r\n\r\n{\"choices\": [";
            stream.write_all(head.as_bytes()).await?;
        }
        Behaviour::CutChunk => {
            let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\nd\r\n{\"choices\": [\r\n";
            stream.write_all(head.as_bytes()).await?;
        }
        Behaviour::CutFile { from, total, part } => {
            let (length, last) = (total - from, total - 1);
            let head = format!(
                "HTTP/1.1 206 Mock\r\ncontent-length: {length}\r\ncontent-range: bytes {from}-{last}/{total}\r\n\r\n"
            );
            stream.write_all(&[head.as_bytes(), &part].concat()).await?;
        }
        Behaviour::HeldFile { total, part } => {
            let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {total}\r\n\r\n");
            stream.write_all(&[head.as_bytes(), &part].concat()).await?;
            std::future::pending::<()>().await;
        }
        Behaviour::Close => {}
    }
    stream.shutdown().await
}

/// Reads a request with a `content-length`; `None` if the client disconnects first.
async fn read_request(stream: &mut TcpStream) -> io::Result<Option<RecordedRequest>> {
    let mut bytes = Vec::new();
    let head_length = loop {
        if let Some(at) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            break at;
        }
        if bytes.len() > REQUEST_MAX || stream.read_buf(&mut bytes).await? == 0 {
            return Ok(None);
        }
    };
    let head = String::from_utf8_lossy(bytes.get(..head_length).unwrap_or_default()).into_owned();
    let mut lines = head.lines();
    let mut words = lines.next().unwrap_or_default().split(' ').map(str::to_owned);
    let method = words.next().unwrap_or_default();
    let path = words.next().unwrap_or_default();
    let headers: Vec<(String, String)> = lines
        .filter_map(|line| line.split_once(':'))
        .map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned()))
        .collect();
    let length: usize = headers
        .iter()
        .find(|(name, _)| name == "content-length")
        .and_then(|(_, value)| value.parse().ok())
        .unwrap_or(0);
    let end = head_length + 4 + length.min(REQUEST_MAX);
    while bytes.len() < end {
        if stream.read_buf(&mut bytes).await? == 0 {
            return Ok(None);
        }
    }
    let body = bytes.get(head_length + 4..end).unwrap_or_default();
    let body = serde_json::from_slice(body).unwrap_or(Value::Null);
    Ok(Some(RecordedRequest { method, path, headers, body }))
}

async fn send(stream: &mut TcpStream, code: u16, headers: &[(String, String)], body: &str) -> io::Result<()> {
    let mut head = format!("HTTP/1.1 {code} Mock\r\ncontent-length: {}\r\nconnection: close\r\n", body.len());
    if !headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("content-type")) {
        head.push_str("content-type: application/json\r\n");
    }
    for (name, value) in headers {
        // Writing to a string cannot fail.
        let _ = write!(head, "{name}: {value}\r\n");
    }
    head.push_str("\r\n");
    stream.write_all(head.as_bytes()).await?;
    stream.write_all(body.as_bytes()).await
}

/// A chat completion of `text`.
pub fn completion(text: &str, usage: Option<(u64, u64)>) -> Value {
    let mut body = json!({
        "id": "mock-1",
        "object": "chat.completion",
        "model": "mock-model",
        "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}],
    });
    if let (Some((prompt, answer)), Some(members)) = (usage, body.as_object_mut()) {
        let usage =
            json!({"prompt_tokens": prompt, "completion_tokens": answer, "total_tokens": prompt + answer});
        members.insert("usage".to_owned(), usage);
    }
    body
}

/// The data of the events of a streamed completion.
fn stream_events(texts: &[String], (prompt, answer): (u64, u64)) -> Vec<String> {
    let chunk = |delta: &Value, finish: Value, usage: Value| {
        let choice = json!({"index": 0, "delta": delta, "finish_reason": finish});
        json!({"object": "chat.completion.chunk", "model": "mock-model", "choices": [choice], "usage": usage})
            .to_string()
    };
    let texts = texts.iter().map(|text| chunk(&json!({"content": text}), Value::Null, Value::Null));
    let usage = json!({"prompt_tokens": prompt, "completion_tokens": answer});
    let last = [chunk(&json!({}), json!("stop"), usage), "[DONE]".to_owned()];
    texts.chain(last).collect()
}

/// All text in the messages of a request body, joined by line breaks.
pub fn prompt_text(body: &Value) -> String {
    let messages = body.get("messages").and_then(Value::as_array).into_iter().flatten();
    messages.map(content_text).collect::<Vec<_>>().join("\n")
}

/// The text of a message, without pictures.
pub fn content_text(message: &Value) -> String {
    match message.get("content") {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(parts)) => {
            let texts = parts.iter().filter_map(|part| part.get("text").and_then(Value::as_str));
            texts.collect::<Vec<_>>().join("\n")
        }
        _ => String::new(),
    }
}
