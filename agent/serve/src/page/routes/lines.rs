//! The protocol for programs over HTTP: the lines of a session as `deskhand run --json` prints them, and lines to it.

use std::{convert::Infallible, pin::pin, sync::Arc, time::Duration};

use aide::NoApi;
use axum::{
    body::Body,
    extract::{
        Path, Query, State, WebSocketUpgrade,
        ws::{CloseFrame, Message as Frame, WebSocket, close_code, rejection::WebSocketUpgradeRejection},
    },
    http::{HeaderMap, header::CONTENT_TYPE},
    response::{IntoResponse as _, Response},
};
use deskhand_runtime::SessionFolder;
use futures_util::{
    Sink, SinkExt as _, Stream, StreamExt as _,
    stream::{self, SplitSink, SplitStream},
};
use serde_json::{Value, json};
use tokio::{
    sync::mpsc,
    time::{MissedTickBehavior, interval, timeout},
};

use super::{
    api::OfSession,
    events::Since,
    start::{self, StartSessionRequest},
};
use crate::page::{
    PageService,
    error::PageApiError,
    live::{SessionLines, ToSession},
    once::IdempotentAttempt,
};

/// The API description of the lines.
pub(super) const LINES: &str = "The lines that `deskhand run --json` prints ([protocol](../guides/protocol.md)), from the record after \
    `after` (or `Last-Event-ID`) on: first those of the journal, then what comes. Over a WebSocket each line is a message, and a client \
    sends lines of the protocol back; without one the lines are the body, and lines to the session go to `do`. The body ends with a \
    `summary` once the session does not run. A client that is slow gets everything all the same: it is read from the journal when the \
    client has taken in what came before. A WebSocket on which nothing can be sent for a minute is closed.";
/// The API description of running a request.
pub(super) const RUNNING: &str = "The first message is the session to start, as for `POST /api/sessions`. The answer is \
    `{\"kind\": \"started\", \"id\"}`, and then come the lines of the session as from `lines`. The session goes on when the connection ends.";

/// The longest line of a client, in bytes.
const LINE_BYTES_MAX: usize = 1 << 20;
/// Maximum time for a client to accept a line, and to send its request.
const SEND_BOUND: Duration = Duration::from_secs(60);
const REQUEST_BOUND: Duration = Duration::from_secs(60);
/// A client is asked this often whether it is still there.
const PING_EVERY: Duration = Duration::from_secs(20);
/// The most words to a client that wait to be sent.
const ANSWERS_MAX: usize = 16;

/// The lines of a session.
pub(super) async fn lines(
    State(service): State<Arc<PageService>>,
    Path(OfSession { id }): Path<OfSession>,
    Query(since): Query<Since>,
    headers: HeaderMap,
    upgrade: NoApi<Result<WebSocketUpgrade, WebSocketUpgradeRejection>>,
) -> Result<Response, PageApiError> {
    let known = headers.get("last-event-id").and_then(|id| id.to_str().ok()?.parse().ok());
    let (folder, after) = (service.locate(&id).await?.folder, known.unwrap_or(since.after));
    match upgrade.0 {
        Ok(upgrade) => {
            let upgrade = upgrade.max_message_size(LINE_BYTES_MAX);
            Ok(upgrade.on_upgrade(move |socket| speak(socket, folder, after)))
        }
        Err(_) => {
            let lines = lines_of(SessionLines::of(folder, after).await);
            let body = Body::from_stream(lines.map(|line| Ok::<_, Infallible>(format!("{line}\n"))));
            Ok(([(CONTENT_TYPE, "application/jsonl")], body).into_response())
        }
    }
}

/// Starts a session, and follows it.
pub(super) async fn run(
    State(service): State<Arc<PageService>>,
    upgrade: WebSocketUpgrade,
) -> Result<Response, PageApiError> {
    let upgrade = upgrade.max_message_size(LINE_BYTES_MAX);
    Ok(upgrade.on_upgrade(move |mut socket| async move {
        match begin(&service, &mut socket).await {
            Ok(folder) => speak(socket, folder, 0).await,
            Err(error) => {
                let line = json!({"kind": "error", "message": error.words(), "line": 1});
                socket.send(Frame::Text(line.to_string().into())).await.ok();
                socket.send(closing(close_code::POLICY, "the session did not start")).await.ok();
            }
        }
    }))
}

/// Starts what the first message asks for.
async fn begin(service: &Arc<PageService>, socket: &mut WebSocket) -> Result<SessionFolder, PageApiError> {
    let first = timeout(REQUEST_BOUND, socket.recv()).await;
    let Ok(Some(Ok(Frame::Text(text)))) = first else {
        return Err(PageApiError::wrong("the first message is the session to start, as JSON"));
    };
    let wanted: StartSessionRequest = serde_json::from_str(&text)
        .map_err(|error| PageApiError::wrong(format!("the first message is no session to start: {error}")))?;
    let id = start::begin(service, IdempotentAttempt::first(), wanted).await?;
    let folder = service.hub.folder(&id)?;
    let line = json!({"kind": "started", "id": id});
    socket.send(Frame::Text(line.to_string().into())).await.ok();
    Ok(folder)
}

fn lines_of(lines: SessionLines) -> impl Stream<Item = String> + Send {
    stream::unfold(lines, |mut lines| async move {
        let line = lines.next().await?;
        Some((line, lines))
    })
}

/// Speaks with a client until the session or the client ends, or the client takes nothing in.
async fn speak(socket: WebSocket, folder: SessionFolder, after: u64) {
    let (mut sink, stream) = socket.split();
    let lines = SessionLines::of(folder, after).await;
    let (answers, answered) = mpsc::channel(ANSWERS_MAX);
    let listening = listen(stream, lines.to_session(), answers);
    let ending = tokio::select! {
        ending = tell(&mut sink, lines_of(lines), answered) => ending,
        () = listening => return,
    };
    timeout(PING_EVERY, sink.send(ending)).await.ok();
}

/// Sends the lines, and what is answered to those of the client; returns how the connection is closed.
async fn tell(
    sink: &mut SplitSink<WebSocket, Frame>,
    lines: impl Stream<Item = String>,
    mut answers: mpsc::Receiver<Value>,
) -> Frame {
    let mut lines = pin!(lines);
    let mut pings = interval(PING_EVERY);
    pings.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        let frame = tokio::select! {
            line = lines.next() => match line {
                Some(line) => Frame::Text(line.into()),
                None => return closing(close_code::NORMAL, "the session does not run"),
            },
            Some(answer) = answers.recv() => Frame::Text(answer.to_string().into()),
            _ = pings.tick() => Frame::Ping(Vec::new().into()),
        };
        if !is_sent(sink, frame).await {
            return closing(
                close_code::AGAIN,
                "the client takes nothing in; come again after the last record",
            );
        }
    }
}

async fn is_sent(sink: &mut (impl Sink<Frame> + Unpin), frame: Frame) -> bool {
    timeout(SEND_BOUND, sink.send(frame)).await.is_ok_and(|sent| sent.is_ok())
}

fn closing(code: u16, reason: &'static str) -> Frame {
    Frame::Close(Some(CloseFrame { code, reason: reason.into() }))
}

/// Passes the lines of a client on, until it leaves.
async fn listen(mut stream: SplitStream<WebSocket>, to_session: ToSession, answers: mpsc::Sender<Value>) {
    let mut number = 0_u64;
    while let Some(Ok(frame)) = stream.next().await {
        let text = match frame {
            Frame::Text(text) => text,
            Frame::Close(_) => return,
            Frame::Binary(_) | Frame::Ping(_) | Frame::Pong(_) => continue,
        };
        number = number.saturating_add(1);
        let problem = if text.contains('\n') {
            Some("a message is one line")
        } else if let Some(writer) = &mut *to_session.lock().await {
            writer.send(&text).await.is_err().then_some("the session has ended")
        } else {
            Some("the session does not run")
        };
        if let Some(message) = problem {
            answers.send(json!({"kind": "error", "message": message, "line": number})).await.ok();
        }
    }
}
