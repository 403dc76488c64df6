//! Messages over the control socket to clients who watch the copy of a session, and their requests.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
};

use deskhand_fleet::{
    journal::{TaskOutcome, WorkerId},
    nats::WATCH_EVERY,
    pace::pause,
};
use deskhand_runtime::people::ControlListener;
use deskhand_ui::ids::SessionId;
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader},
    net::UnixStream,
    sync::watch,
    task::JoinSet,
};

use super::wish::{FleetQuestion, FleetSteering};

/// News for a client who watches the session.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct MirrorUpdate {
    /// The number of the last record.
    pub(super) seq: u64,
    /// The location of the task, in words.
    pub(super) place: String,
    /// The open question of the session.
    pub(super) question: Option<FleetQuestion>,
    /// Nothing more comes: the task has ended, or this copy is of no use any more.
    pub(super) is_over: bool,
}

/// The current state of the task.
#[derive(Debug, Clone, Default)]
pub(super) struct MirrorTaskState {
    pub(super) files: BTreeMap<String, String>,
    pub(super) workers: Vec<WorkerId>,
    pub(super) outcome: Option<TaskOutcome>,
    /// Set if the task began again or the connection was lost: the next client needs another copy.
    pub(super) is_stale: bool,
}

/// State shared by the clients who watch the session.
#[derive(Debug, Default)]
pub(super) struct MirrorSharedState {
    pub(super) known: Mutex<MirrorTaskState>,
    pub(super) news: watch::Sender<MirrorUpdate>,
    /// Number of clients who watch the session.
    pub(super) clients: watch::Sender<usize>,
}

/// Takes in who wants to hear what is new.
pub(super) async fn accept(
    listener: ControlListener,
    session: SessionId,
    steering: FleetSteering,
    shared: Arc<MirrorSharedState>,
) {
    let mut serving = JoinSet::new();
    loop {
        tokio::select! {
            Some(_) = serving.join_next() => {}
            accepted = listener.accept() => match accepted {
                Ok(stream) => {
                    serving.spawn(serve(stream, session.clone(), steering.clone(), Arc::clone(&shared)));
                }
                Err(error) => {
                    tracing::warn!(%error, "the copy of a session takes no more clients");
                    return;
                }
            },
        }
    }
}

/// Says that somebody can be asked, as long as there are clients.
pub(super) async fn attend(FleetSteering { store, task, .. }: FleetSteering, shared: Arc<MirrorSharedState>) {
    let mut clients = shared.clients.subscribe();
    while clients.wait_for(|count| *count > 0).await.is_ok() {
        if let Err(error) = store.attend(&task).await {
            tracing::debug!(%error, %task, "the worker does not hear that somebody is there");
        }
        pause(WATCH_EVERY).await;
    }
}

/// Counts a client as long as it is there.
struct MirrorClientGuard(Arc<MirrorSharedState>);

impl MirrorClientGuard {
    fn new(shared: Arc<MirrorSharedState>) -> Self {
        shared.clients.send_modify(|count| *count += 1);
        Self(shared)
    }
}

impl Drop for MirrorClientGuard {
    fn drop(&mut self) {
        self.0.clients.send_modify(|count| *count = count.saturating_sub(1));
    }
}

/// Says what is new until that is all, or the client leaves; passes on what it wants.
async fn serve(
    stream: UnixStream,
    session: SessionId,
    steering: FleetSteering,
    shared: Arc<MirrorSharedState>,
) {
    let client = MirrorClientGuard::new(shared);
    let (read, mut write) = stream.into_split();
    let mut lines = BufReader::new(read).lines();
    let mut news = client.0.news.subscribe();
    let mut said = MirrorUpdate { seq: news.borrow_and_update().seq, ..MirrorUpdate::default() };
    let mut ready = vec![json!({"kind": "attached", "session": session, "seq": said.seq, "paused": false})];
    loop {
        let now = news.borrow_and_update().clone();
        ready.extend(differences(&said, &now));
        for line in ready.drain(..) {
            if write.write_all(format!("{line}\n").as_bytes()).await.is_err() {
                return;
            }
        }
        if now.is_over {
            return;
        }
        said = now;
        tokio::select! {
            changed = news.changed() => if changed.is_err() { return },
            line = lines.next_line() => {
                let Ok(Some(line)) = line else { return };
                if let Err(problem) = steering.wish(&line).await {
                    ready.push(json!({"kind": "error", "message": problem.to_string(), "line": 0}));
                }
            }
        }
    }
}

/// The lines that say what is new.
fn differences(before: &MirrorUpdate, now: &MirrorUpdate) -> Vec<Value> {
    let mut lines = Vec::new();
    if now.seq != before.seq {
        lines.push(json!({"kind": "recorded", "seq": now.seq}));
    }
    if now.place != before.place {
        // The page shows where it is in words of its own.
        lines.push(json!({"kind": "waiting", "on": "fleet", "detail": now.place, "elapsed_ms": 0}));
    }
    if now.question != before.question {
        lines.extend(
            before.question.as_ref().map(|question| json!({"kind": "withdrawn", "id": question.id()})),
        );
        lines.extend(now.question.as_ref().map(|question| question.line.clone()));
    }
    lines
}
