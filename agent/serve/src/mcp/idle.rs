//! Clients over HTTP that have gone without a word: their sessions end, and with them their desktops.
//!
//! A client of an older version holds a stream open, so that the server can speak to it. Where it is closed and not opened again, the
//! client has gone. One that never opened a stream, or has no session, has gone when it sent nothing for a longer time.

use std::{
    collections::HashMap,
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll},
    time::Duration,
};

use axum::{
    body::{Body, Bytes},
    extract::{Request, State},
    http::{Method, StatusCode},
    middleware::Next,
    response::{IntoResponse as _, Response},
};
use futures_util::{Stream, StreamExt as _, stream::BoxStream};
use tokio::time::Instant;

use super::protocol::SESSION;

/// Maximum time for a client to open its stream again.
const AGAIN_BOUND: Duration = Duration::from_secs(30);
/// The most sessions at once.
const VISITS_MAX: usize = 1_000;

/// Who is there.
#[derive(Debug, Clone)]
pub(super) struct Visits {
    all: Arc<Mutex<HashMap<String, McpSessionActivity>>>,
    /// Maximum time without requests from a client.
    idle: Duration,
    again: Duration,
}

/// A session, as far as requests show it.
#[derive(Debug)]
struct McpSessionActivity {
    /// The answers and streams that are open.
    open: usize,
    /// The streams among them that are no answers.
    streams: usize,
    /// Set once the session had such a stream.
    had_stream: bool,
    last: Instant,
}

impl Visits {
    pub(super) fn new(idle: Duration) -> Self {
        Self { all: Arc::default(), idle, again: AGAIN_BOUND.min(idle) }
    }

    /// Returns the interval between checks for clients that have gone.
    pub(super) fn every(&self) -> Duration {
        const EVERY_MAX: Duration = Duration::from_secs(10);
        const EVERY_MIN: Duration = Duration::from_millis(200);
        (self.again / 4).clamp(EVERY_MIN, EVERY_MAX)
    }

    /// Returns the maximum time without requests from a client.
    pub(super) const fn idle(&self) -> Duration {
        self.idle
    }

    fn all(&self) -> MutexGuard<'_, HashMap<String, McpSessionActivity>> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns `true` if no other session may begin.
    fn is_full(&self) -> bool {
        self.all().len() >= VISITS_MAX
    }

    /// Notes that a client waits for an answer in a session that is known, or `begins`.
    fn note(&self, session: &str, is_stream: bool, begins: bool) -> Option<McpActivityGuard> {
        let mut all = self.all();
        if begins {
            let new = McpSessionActivity { open: 0, streams: 0, had_stream: false, last: Instant::now() };
            all.entry(session.to_owned()).or_insert(new);
        }
        let visit = all.get_mut(session)?;
        visit.open = visit.open.saturating_add(1);
        visit.streams = visit.streams.saturating_add(usize::from(is_stream));
        visit.had_stream |= is_stream;
        visit.last = Instant::now();
        Some(McpActivityGuard { visits: self.clone(), session: session.to_owned(), is_stream })
    }

    /// The sessions whose clients have gone; each is named once.
    pub(super) fn gone(&self) -> Vec<String> {
        let mut all = self.all();
        let is_gone = |visit: &McpSessionActivity| {
            let bound = if visit.had_stream && visit.streams == 0 { self.again } else { self.idle };
            visit.open == 0 && visit.last.elapsed() >= bound
        };
        let gone: Vec<String> =
            all.iter().filter(|(_, visit)| is_gone(visit)).map(|(session, _)| session.clone()).collect();
        for session in &gone {
            all.remove(session);
        }
        gone
    }
}

/// A client that waits for an answer or reads a stream.
struct McpActivityGuard {
    visits: Visits,
    session: String,
    is_stream: bool,
}

impl Drop for McpActivityGuard {
    fn drop(&mut self) {
        if let Some(visit) = self.visits.all().get_mut(&self.session) {
            visit.open = visit.open.saturating_sub(1);
            visit.streams = visit.streams.saturating_sub(usize::from(self.is_stream));
            visit.last = Instant::now();
        }
    }
}

/// An answer; the client is there as long as it is read.
struct GuardedResponseBody {
    body: BoxStream<'static, Result<Bytes, axum::Error>>,
    _presence: Option<McpActivityGuard>,
}

impl Stream for GuardedResponseBody {
    type Item = Result<Bytes, axum::Error>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.body.poll_next_unpin(context)
    }
}

/// Notes who is there.
pub(super) async fn attend(State(visits): State<Visits>, request: Request, next: Next) -> Response {
    let session = |headers: &axum::http::HeaderMap| {
        headers.get(SESSION).and_then(|session| session.to_str().ok()).map(str::to_owned)
    };
    let is_stream = request.method() == Method::GET;
    let asked_in = session(request.headers());
    if asked_in.is_none() && visits.is_full() {
        let words = "too many clients have a session; end one";
        return (StatusCode::SERVICE_UNAVAILABLE, words).into_response();
    }
    let waiting = asked_in.as_deref().and_then(|session| visits.note(session, false, false));
    let response = next.run(request).await;
    // A session that begins is named by its answer. A stream that was refused is none.
    let begun = session(response.headers()).filter(|_| asked_in.is_none());
    let named = begun.as_deref().or(asked_in.as_deref()).filter(|_| response.status().is_success());
    let presence = named.and_then(|session| visits.note(session, is_stream, begun.is_some()));
    drop(waiting);
    let (parts, body) = response.into_parts();
    let body = body.into_data_stream().boxed();
    Response::from_parts(parts, Body::from_stream(GuardedResponseBody { body, _presence: presence }))
}
