//! Additional data of a fleet's sessions: the location of their tasks, their documents, and their remote
//! desktops.

use std::{sync::Arc, time::Duration};

use axum::{
    body::Bytes,
    extract::{
        Path, State, WebSocketUpgrade,
        ws::{CloseFrame, Message as Frame, WebSocket, close_code},
    },
    http::header::{CONTENT_DISPOSITION, CONTENT_TYPE},
    response::{IntoResponse as _, Response},
};
use deskhand_fleet::{
    journal::{TaskOutcome, WorkerId},
    nats::{FleetFrameStream, NatsStore, WATCH_EVERY},
    pace::pause,
    task::TaskId,
};
use deskhand_machine::outcome::OutcomeKind;
use deskhand_runtime::{catalogue::SessionState, words::duration};
use futures_util::{SinkExt as _, StreamExt as _};
use schemars::JsonSchema;
use serde::Serialize;
use tokio::{
    sync::mpsc,
    time::{Instant, MissedTickBehavior, interval},
};

use super::home::encoded;
use crate::{
    fleet::{
        followed::OverviewFollower,
        mirror::SessionMirror,
        overview::{ending_of, name_of},
    },
    page::{PageService, error::PageApiError, fleet::FleetService, live::LiveSessionStatus},
};

/// The most frames that wait for a browser; then it gets the whole screen anew.
const FRAMES_WAITING_MAX: usize = 4;
/// Maximum time without a frame, after which a browser has to request again.
const SILENT_MAX: Duration = Duration::from_secs(20);
/// The least time between two wishes for the whole screen.
const WHOLE_EVERY: Duration = Duration::from_millis(1_500);
/// The largest side of a screen, in pixels.
const SIDE_MAX: u16 = 8_192;
/// The version, flags, sizes and number of parts at the beginning of a frame.
const HEAD_BYTES: usize = 12;

/// The location and state of a session's task.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(rename = "FleetTask")]
pub(crate) struct ShownTask {
    /// Its id in the fleet.
    id: String,
    /// The request of the task.
    pub(super) request: String,
    /// `queued`, `running`, `needs a decision`, or its outcome.
    state: &'static str,
    tone: &'static str,
    /// Why it is so.
    reason: String,
    /// The worker that has it, or had it last.
    worker: String,
    /// The processes of workers that had it, in order.
    workers: Vec<String>,
    /// `true` if the task has an outcome.
    ended: bool,
    /// `true` if cancellation of the task was requested.
    cancelled: bool,
    /// `true` if the task can be sent again.
    again: bool,
    /// `true` if the session has written anything.
    begun: bool,
    #[serde(skip)]
    pub(super) has_screen: bool,
    /// Words that limits are for.
    labels: Vec<String>,
    /// The needs that a worker must meet.
    needs: Vec<String>,
    /// Tasks that have to be finished before.
    after: Vec<String>,
    /// From 0 to 9.
    priority: u8,
    /// The duration, in words.
    took: String,
    /// Its documents as they are stored now.
    documents: Vec<ShownDocument>,
}

/// A document of a task.
#[derive(Debug, Clone, Serialize, JsonSchema)]
struct ShownDocument {
    /// Its name.
    name: String,
    /// The address of the document.
    address: String,
}

/// The state of a session of a fleet, for its template.
#[derive(Serialize)]
pub(super) struct FleetNow<'a> {
    pub(super) task: &'a ShownTask,
    pub(super) now: &'a LiveSessionStatus,
}

/// The state in a word, and how it looks.
const fn state_of(state: SessionState, kind: Option<OutcomeKind>) -> (&'static str, &'static str) {
    match (kind, state) {
        (Some(OutcomeKind::Finished), _) => ("finished", "good"),
        (Some(kind), _) => (kind.word(), "bad"),
        (None, SessionState::Interrupted) => ("needs a decision", "doubtful"),
        (None, SessionState::Running) => ("running", "good"),
        (None, SessionState::Queued) => ("queued", "plain"),
        (None, SessionState::Ended) => ("ended", "bad"),
    }
}

/// Returns the location and state of a copy's task; `None` once the fleet no longer has it.
pub(super) fn shown_task(service: &PageService, mirror: &SessionMirror) -> Option<ShownTask> {
    let followed = service.fleet.as_ref()?.followed();
    let id = &mirror.spec.id;
    let row = followed.overview().row(id)?.clone();
    let now = followed.whereabouts(id)?;
    let outcome = mirror.outcome();
    // The journal has it before the records do.
    let (state, kind, reason) = match &outcome {
        Some(outcome) => ending_of(outcome),
        None => (row.state, row.facts.outcome, row.facts.reason.clone()),
    };
    let (state, tone) = state_of(state, kind);
    let ended = outcome.is_some() || now.is_ended;
    let workers = mirror.workers();
    let worker = now.worker.as_ref().or(workers.last()).map(|worker| name_of(worker).to_owned());
    let needs = &mirror.spec.needs;
    let words = [&needs.applications, &needs.agents, &needs.labels].into_iter().flatten().cloned();
    let documents = mirror.documents().into_keys().map(|name| ShownDocument {
        address: format!("/sessions/{}/documents/{}", row.id, path_of(&name)),
        name,
    });
    Some(ShownTask {
        id: id.to_string(),
        request: row.facts.requests.first().cloned().unwrap_or_default(),
        state,
        tone,
        reason,
        worker: worker.unwrap_or_default(),
        workers: workers.into_iter().map(|worker| worker.0).collect(),
        ended,
        cancelled: now.is_cancelled && !ended,
        again: ended && !matches!(outcome, Some(TaskOutcome::Done { finished: true, .. })),
        begun: mirror.has_begun(),
        has_screen: !ended && now.worker.is_some() && mirror.has_begun(),
        labels: mirror.spec.labels.iter().cloned().collect(),
        needs: words.collect(),
        after: mirror.spec.after.iter().map(ToString::to_string).collect(),
        priority: mirror.spec.priority,
        took: if row.facts.elapsed_ms > 0 { duration(row.facts.elapsed_ms) } else { String::new() },
        documents: documents.collect(),
    })
}

/// A name of a document in an address.
fn path_of(name: &str) -> String {
    name.split('/').map(encoded).collect::<Vec<_>>().join("/")
}

/// A document of a task, to keep. It is never shown by the browser itself: others made it.
pub(super) async fn document(
    State(service): State<Arc<PageService>>,
    Path((id, name)): Path<(String, String)>,
) -> Result<Response, PageApiError> {
    let missing = || PageApiError::missing(format!("the task has no document {name}"));
    let mirror = service.locate(&id).await?.mirror.ok_or_else(missing)?;
    let hash = mirror.documents().remove(&name).ok_or_else(missing)?;
    let bytes =
        mirror.file(&hash).await.map_err(|error| PageApiError::failed("fetch the document", &error))?;
    let file = name.rsplit('/').next().unwrap_or_default();
    let headers = [
        (CONTENT_TYPE, "application/octet-stream".to_owned()),
        (CONTENT_DISPOSITION, format!("attachment; filename*=UTF-8''{}", encoded(file))),
    ];
    Ok((headers, bytes).into_response())
}

/// The desktop of a session that a worker has. Only looking: what a browser sends is not taken in.
pub(super) async fn screen(
    fleet: &FleetService,
    task: TaskId,
    upgrade: WebSocketUpgrade,
) -> Result<Response, PageApiError> {
    let now = fleet.followed().whereabouts(&task).filter(|now| !now.is_ended);
    let worker =
        now.and_then(|now| now.worker).ok_or_else(|| PageApiError::missing("no worker has the session"))?;
    let store = fleet.store()?;
    let frames = store.frames(&task, &worker).await;
    let frames = frames.map_err(|error| PageApiError::failed("watch the session", &error))?;
    let followed = Arc::clone(fleet.followed());
    let relay = DesktopFrameRelay { store, followed, task, worker, asked_at: None, is_whole: false };
    Ok(upgrade.max_message_size(1024).on_upgrade(move |socket| show(socket, relay, frames)).into_response())
}

/// Passes frames on.
struct DesktopFrameRelay {
    store: NatsStore,
    followed: Arc<OverviewFollower>,
    task: TaskId,
    worker: WorkerId,
    /// When the whole screen was asked for last.
    asked_at: Option<Instant>,
    /// `true` if the browser has the whole screen.
    is_whole: bool,
}

async fn show(socket: WebSocket, relay: DesktopFrameRelay, frames: FleetFrameStream) {
    let (mut sink, mut stream) = socket.split();
    let (sender, mut waiting) = mpsc::channel::<Bytes>(FRAMES_WAITING_MAX);
    let sending = async {
        while let Some(frame) = waiting.recv().await {
            if sink.send(Frame::Binary(frame)).await.is_err() {
                return None;
            }
        }
        Some(())
    };
    let leaving = async { while stream.next().await.is_some_and(|received| received.is_ok()) {} };
    let (code, reason) = tokio::select! {
        ending = relay.pass(frames, sender) => ending,
        _ = sending => return,
        () = leaving => return,
    };
    let ending = CloseFrame { code, reason: reason.into() };
    sink.send(Frame::Close(Some(ending))).await.ok();
}

impl DesktopFrameRelay {
    /// Passes frames on until the session has ended or is with another worker; returns how the connection is closed.
    async fn pass(
        mut self,
        mut frames: FleetFrameStream,
        sender: mpsc::Sender<Bytes>,
    ) -> (u16, &'static str) {
        let mut changes = self.followed.changes();
        let mut renewals = interval(WATCH_EVERY);
        renewals.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut silent_at = Instant::now() + SILENT_MAX;
        loop {
            tokio::select! {
                frame = frames.next() => {
                    let Some(frame) = frame else { return (close_code::AGAIN, "the connection has ended") };
                    let Some(shows_all) = check(&frame.bytes) else { continue };
                    silent_at = Instant::now() + SILENT_MAX;
                    self.is_whole = shows_all || (self.is_whole && frame.follows);
                    self.is_whole = self.is_whole && sender.try_send(frame.bytes).is_ok();
                    if !self.is_whole {
                        self.watch().await;
                    }
                }
                _ = renewals.tick() => self.watch().await,
                Ok(()) = changes.changed() => match self.followed.whereabouts(&self.task) {
                    Some(now) if now.is_ended => return (close_code::NORMAL, "the session has ended"),
                    Some(now) if now.worker.as_ref() == Some(&self.worker) => {}
                    Some(_) | None => return (close_code::AGAIN, "another worker has the session"),
                },
                // A desktop on which nothing moves sends nothing: whoever has all of it has it.
                () = pause(silent_at.saturating_duration_since(Instant::now())), if !self.is_whole => {
                    return (close_code::AGAIN, "the worker sends no pictures");
                }
            }
        }
    }

    /// Says that somebody watches, and that the whole screen is wanted if it is.
    async fn watch(&mut self) {
        let is_due = self.asked_at.is_none_or(|at| at.elapsed() > WHOLE_EVERY);
        let whole = !self.is_whole && is_due;
        if whole {
            self.asked_at = Some(Instant::now());
        }
        if let Err(error) = self.store.watch(&self.task, whole).await {
            tracing::debug!(%error, task = %self.task, "the worker does not hear who watches");
        }
    }
}

/// Returns `true` if a frame shows the whole screen; `None` if a browser cannot show it.
fn check(frame: &[u8]) -> Option<bool> {
    let head: &[u8; HEAD_BYTES] = frame.first_chunk()?;
    let [version, flags, w0, w1, h0, h1, ..] = *head;
    let sides = [u16::from_le_bytes([w0, w1]), u16::from_le_bytes([h0, h1])];
    let is_screen = version == 1 && sides.into_iter().all(|side| (1..=SIDE_MAX).contains(&side));
    is_screen.then_some(flags & 1 == 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_that_no_screen_has_is_none() {
        let head = |version: u8, flags: u8, width: u16| {
            let [w0, w1] = width.to_le_bytes();
            [version, flags, w0, w1, 0x20, 0x03, 0, 0, 0, 0, 0, 0]
        };
        assert_eq!(check(&head(1, 1, 1280)), Some(true));
        assert_eq!(check(&head(1, 0, 1280)), Some(false));
        assert_eq!(check(&head(1, 1, 60_000)), None);
        assert_eq!(check(&head(1, 1, 0)), None);
        assert_eq!(check(&head(7, 1, 1280)), None);
        assert_eq!(check(b"<html>"), None);
    }
}
