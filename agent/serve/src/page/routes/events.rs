//! News of a session, as it comes: as server-sent events, and over a WebSocket, of which a browser allows more at
//! once.
//!
//! Both have the same messages. `parts` are elements of the page: `{"seq", "anew", "parts": [{"id", "html"}]}`; a
//! later part replaces an earlier one with its id. `now` is the state beside the journal. The id of a message is
//! the number of the last record that it covers. A client that sends it again (`Last-Event-ID`, or `after`) gets
//! what is newer.

use std::{convert::Infallible, sync::Arc};

use axum::{
    extract::{
        Path, Query, State, WebSocketUpgrade,
        ws::{Message as Frame, WebSocket},
    },
    http::HeaderMap,
    response::{
        IntoResponse as _, Response, Sse,
        sse::{Event, KeepAlive},
    },
};
use deskhand_runtime::LivePart;
use futures_util::{StreamExt as _, stream};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    api::{Events, OfSession},
    fleet::{FleetNow, ShownTask, shown_task},
    steer::prompt_view,
};
use crate::page::{
    PageService,
    error::PageApiError,
    fleet::SessionLocation,
    live::{LiveSession, LiveSessionStatus, LiveSessionUpdate},
};

/// The API description of the events.
pub(super) const FOLLOWING: &str = "Server-sent events. The id of an event is the number of the last record that it shows; \
    `Last-Event-ID` has the place of `after`. The name of an event is that of its message.";
/// The API description of the WebSocket.
pub(super) const WATCHING: &str = "Of WebSockets a browser allows more at once. They have the same messages.";

/// From where on.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Since {
    /// The number of the last record that is known.
    #[serde(default)]
    #[schemars(range(max = u64::MAX))]
    pub(super) after: u64,
}

/// A message to who watches a session.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "PageMessage")]
#[serde(tag = "event", rename_all = "snake_case")]
pub(super) enum PageMessage {
    /// Parts of the page that are new or changed.
    Parts {
        /// The number of the last record that they show.
        seq: u64,
        /// `true` if everything sent before is void.
        anew: bool,
        /// The parts; one takes the place of an earlier one with its id.
        parts: Vec<PageFragment>,
    },
    /// The state beside the journal.
    Now(Box<ShownNow>),
}

/// A part of the page.
#[derive(Serialize, JsonSchema)]
pub(super) struct PageFragment {
    /// The id of the element.
    id: String,
    /// The element.
    html: String,
}

impl From<LivePart> for PageFragment {
    fn from(part: LivePart) -> Self {
        Self { id: part.id, html: part.html }
    }
}

/// The state beside the journal, as the page shows it.
#[derive(Serialize, JsonSchema)]
pub(super) struct ShownNow {
    /// `true` if the process runs.
    running: bool,
    /// `true` if the desktop can be displayed. That takes a moment after a session has begun.
    pub(super) has_screen: bool,
    /// `true` if the session is paused.
    paused: bool,
    /// `true` if a person has taken over.
    taken_over: bool,
    /// The current activity, as an element.
    pub(super) now: String,
    /// The open question, as an element.
    pub(super) prompt: Option<ShownPrompt>,
    /// The same as data.
    state: LiveSessionStatus,
    /// The location and state of the task, for a session of a fleet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) task: Option<ShownTask>,
}

/// The open question, as a form.
#[derive(Serialize, JsonSchema)]
pub(super) struct ShownPrompt {
    /// Another prompt has another key.
    pub(super) key: String,
    /// The form that answers it.
    pub(super) html: String,
}

/// The state of a session beside its journal, as elements of the page.
///
/// # Errors
/// A template is broken.
pub(super) fn shown_now(
    service: &PageService,
    located: &SessionLocation,
    now: &LiveSessionStatus,
) -> Result<ShownNow, PageApiError> {
    let id = &located.id();
    let task = located.mirror.as_ref().and_then(|mirror| shown_task(service, mirror));
    let prompt = now.prompt.as_ref().map(|prompt| {
        let key =
            format!("{}{}", prompt.kind, prompt.id.as_ref().map(ToString::to_string).unwrap_or_default());
        let html = service.views.text("prompt", &prompt_view(id, prompt));
        html.map(|html| ShownPrompt { key, html })
    });
    Ok(ShownNow {
        running: now.running,
        has_screen: match &task {
            Some(task) => now.running && task.has_screen,
            None => now.running && service.host.has_live_desktop(id),
        },
        paused: now.paused,
        taken_over: now.taken_over,
        now: match &task {
            Some(task) => service.views.text("fleet_now", &FleetNow { task, now })?,
            None => service.views.text("now", now)?,
        },
        prompt: prompt.transpose()?,
        state: now.clone(),
        task,
    })
}

/// The session that a client watches, and its position.
struct SessionEventStream {
    service: Arc<PageService>,
    session: Arc<LiveSession>,
    located: SessionLocation,
    versions: tokio::sync::watch::Receiver<u64>,
    version: u64,
    after: u64,
}

impl SessionEventStream {
    async fn new(service: Arc<PageService>, id: &str, after: u64) -> Result<Self, PageApiError> {
        let (located, session) = service.session(id).await?;
        let mut versions = session.versions();
        versions.mark_changed();
        Ok(Self { service, session, located, versions, version: 0, after })
    }

    /// The next messages, with the number that they go up to; `None` once nothing more can come.
    async fn next(&mut self) -> Option<(u64, Vec<PageMessage>)> {
        loop {
            if self.session.is_over() && !self.versions.has_changed().unwrap_or_default() {
                return None;
            }
            self.versions.changed().await.ok()?;
            let news = self.session.news(self.version, self.after);
            (self.version, self.after) = (news.version, 0);
            let seq = news.seq;
            let messages = self.messages(news);
            if !messages.is_empty() {
                return Some((seq, messages));
            }
        }
    }

    fn messages(&self, news: LiveSessionUpdate) -> Vec<PageMessage> {
        let LiveSessionUpdate { parts, anew, now, seq, .. } = news;
        let mut messages = Vec::new();
        if anew || !parts.is_empty() {
            let parts = parts.into_iter().map(PageFragment::from).collect();
            messages.push(PageMessage::Parts { seq, anew, parts });
        }
        if let Some(now) = now
            && let Ok(shown) = shown_now(&self.service, &self.located, &now)
        {
            messages.push(PageMessage::Now(Box::new(shown)));
        }
        messages
    }
}

/// Server-sent events.
pub(super) async fn stream(
    State(service): State<Arc<PageService>>,
    Path(OfSession { id }): Path<OfSession>,
    Query(since): Query<Since>,
    headers: HeaderMap,
) -> Result<Events<PageMessage>, PageApiError> {
    let known = headers.get("last-event-id").and_then(|id| id.to_str().ok()?.parse().ok());
    let watching = SessionEventStream::new(service, &id, known.unwrap_or(since.after)).await?;
    let batches = stream::unfold(watching, |mut watching| async {
        let (seq, messages) = watching.next().await?;
        let events = messages.into_iter().filter_map(move |message| {
            let name = match &message {
                PageMessage::Parts { .. } => "parts",
                PageMessage::Now(_) => "now",
            };
            Event::default().event(name).id(seq.to_string()).json_data(&message).ok()
        });
        Some((events.collect::<Vec<_>>(), watching))
    });
    let events = batches.flat_map(stream::iter);
    let events = events.map(Ok::<_, Infallible>);
    Ok(Events::of(Sse::new(events).keep_alive(KeepAlive::default())))
}

/// The same over a WebSocket, each message as JSON.
pub(super) async fn socket(
    State(service): State<Arc<PageService>>,
    Path(OfSession { id }): Path<OfSession>,
    Query(since): Query<Since>,
    upgrade: WebSocketUpgrade,
) -> Result<Response, PageApiError> {
    let watching = SessionEventStream::new(service, &id, since.after).await?;
    Ok(upgrade.on_upgrade(move |socket| send_all(socket, watching)).into_response())
}

async fn send_all(mut socket: WebSocket, mut watching: SessionEventStream) {
    loop {
        let batch = tokio::select! {
            batch = watching.next() => batch,
            // Nothing is expected but the end.
            received = socket.recv() => match received {
                Some(Ok(Frame::Close(_)) | Err(_)) | None => return,
                Some(Ok(Frame::Text(_) | Frame::Binary(_) | Frame::Ping(_) | Frame::Pong(_))) => continue,
            },
        };
        let Some((_, messages)) = batch else { return };
        for message in messages {
            let Ok(text) = serde_json::to_string(&message) else { continue };
            if socket.send(Frame::Text(text.into())).await.is_err() {
                return;
            }
        }
    }
}
