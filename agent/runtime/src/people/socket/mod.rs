//! The control socket of a session: `control.sock` in its folder, through which programs of the same user watch and steer it while it
//! runs, whoever started it. What was started for an agent is refused ([`ControlListener`]).
//!
//! Each client speaks the JSON Lines protocol ([`protocol`](super::protocol)), with two differences: it is told that records were
//! written rather than the records themselves, which it reads from the journal; and when it leaves, the session goes on. All clients
//! are asked, also those who come later; the first answer counts. A client that does not read is cut off, and never waited for.

mod client;
mod listener;

use std::{
    collections::HashSet,
    fs, io,
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use deskhand_ui::ids::SessionId;
use futures_util::{
    future::BoxFuture,
    stream::{FuturesUnordered, StreamExt as _},
};
pub use listener::{CONTROL_SOCKET, ControlListener, connect_control};
use tokio::{
    sync::{mpsc, watch},
    task::JoinSet,
};

use super::{
    ApprovalReply, ApprovalRequest, Console, PauseNotice, PauseSwitch, QuestionReply, QuestionRequest,
    SteeringScope, UserChannel, UserRequest, WORDS_WAITING_MAX,
};
use crate::{stop::StopSwitch, waiting::Waits};

/// The most clients at once.
const CLIENTS_MAX: usize = 32;

/// The switches and the state that a session offers to its clients.
#[derive(Debug, Clone)]
pub struct SessionControls {
    /// Stops it.
    pub stop: StopSwitch,
    /// Pauses it.
    pub pause: PauseSwitch,
    /// Says what it waits for.
    pub waits: Waits,
}

/// A client that may be asked.
#[derive(Clone)]
struct ControlClient {
    number: u64,
    console: Arc<Console>,
}

/// State shared by all clients.
struct ControlSocketState {
    session: SessionControls,
    steering: SteeringScope,
    clients: watch::Sender<Vec<ControlClient>>,
    /// The number of the last record.
    seq: watch::Sender<u64>,
    /// The last number that a client got.
    numbers: AtomicU64,
    /// Unsolicited messages of clients. A client may have left before its message is processed.
    words: mpsc::Sender<String>,
}

/// The behavior of a question while no client is connected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Patience {
    /// If nobody is there, nobody is asked.
    AskWhoIsThere,
    /// The question waits for a client.
    WaitForSomebody,
}

/// The socket, and the channel to all who use it. The socket is gone once this is dropped; clients are cut off then.
pub struct ControlSocket {
    shared: Arc<ControlSocketState>,
    words: tokio::sync::Mutex<mpsc::Receiver<String>>,
    patience: Patience,
    listening: Mutex<Option<ControlSocketGuard>>,
}

struct ControlSocketGuard {
    path: PathBuf,
    /// Aborted when dropped.
    _accepting: JoinSet<()>,
}

impl Drop for ControlSocketGuard {
    fn drop(&mut self) {
        fs::remove_file(&self.path).ok();
    }
}

impl ControlSocket {
    /// The channel; nobody can come before it [listens](Self::listen).
    pub fn new(session: SessionControls, patience: Patience, steering: SteeringScope) -> Self {
        let (said, words) = mpsc::channel(WORDS_WAITING_MAX);
        let shared = Arc::new(ControlSocketState {
            words: said,
            session,
            steering,
            clients: watch::Sender::new(Vec::new()),
            seq: watch::Sender::new(0),
            numbers: AtomicU64::new(0),
        });
        Self { shared, words: tokio::sync::Mutex::new(words), patience, listening: Mutex::new(None) }
    }

    /// Listens in the folder of a session, which this process holds. Once is enough; a second call does nothing.
    ///
    /// # Errors
    /// The socket cannot be made.
    pub fn listen(&self, session: &SessionId, folder: &Path) -> io::Result<()> {
        let mut listening = self.listening.lock().unwrap_or_else(PoisonError::into_inner);
        if listening.is_some() {
            return Ok(());
        }
        let path = folder.join(CONTROL_SOCKET);
        let listener = ControlListener::bind(folder)?;
        let mut accepting = JoinSet::new();
        accepting.spawn(accept(listener, session.clone(), Arc::clone(&self.shared)));
        *listening = Some(ControlSocketGuard { path, _accepting: accepting });
        Ok(())
    }

    /// A record was written.
    pub fn recorded(&self, seq: u64) {
        self.shared.seq.send_replace(seq);
    }

    /// Asks all clients, and those who come meanwhile; `None` if there is nobody.
    async fn first_of<T: Send>(
        &self,
        ask: impl Fn(ControlClient) -> BoxFuture<'static, Option<T>> + Send + Sync,
    ) -> Option<T> {
        if self.shared.steering == SteeringScope::StopOnly {
            return None;
        }
        let mut clients = self.shared.clients.subscribe();
        let mut asked = HashSet::new();
        let mut asking = FuturesUnordered::new();
        loop {
            let now = clients.borrow_and_update().clone();
            for client in now.into_iter().filter(|client| asked.insert(client.number)) {
                asking.push(ask(client));
            }
            if asking.is_empty() && self.patience == Patience::AskWhoIsThere {
                return None;
            }
            tokio::select! {
                Some(reply) = asking.next(), if !asking.is_empty() => {
                    if reply.is_some() {
                        return reply;
                    }
                }
                changed = clients.changed() => if changed.is_err() { return None },
            }
        }
    }
}

impl UserChannel for ControlSocket {
    async fn next_request(&self) -> Option<UserRequest> {
        self.first_of(|client| Box::pin(async move { client.console.next_request().await })).await
    }

    async fn ask(&self, questions: &QuestionRequest) -> QuestionReply {
        let ask = |client: ControlClient| -> BoxFuture<'static, Option<QuestionReply>> {
            let questions = questions.clone();
            Box::pin(async move {
                let answered = client.console.ask(&questions).await;
                Some(answered).filter(|answered| *answered != QuestionReply::Nobody)
            })
        };
        self.first_of(ask).await.unwrap_or(QuestionReply::Nobody)
    }

    async fn decide(&self, request: &ApprovalRequest) -> ApprovalReply {
        let decide = |client: ControlClient| -> BoxFuture<'static, Option<ApprovalReply>> {
            let request = request.clone();
            Box::pin(async move {
                let decided = client.console.decide(&request).await;
                Some(decided).filter(|decided| *decided != ApprovalReply::Nobody)
            })
        };
        self.first_of(decide).await.unwrap_or(ApprovalReply::Nobody)
    }

    async fn heard(&self) -> String {
        match self.words.lock().await.recv().await {
            Some(words) => words,
            // `shared` holds a sender.
            None => std::future::pending().await,
        }
    }

    async fn notify(&self, notice: PauseNotice) {
        let clients = self.shared.clients.borrow().clone();
        for client in clients {
            client.console.notify(notice.clone()).await;
        }
    }
}

/// Takes clients in until it is aborted.
async fn accept(listener: ControlListener, session: SessionId, shared: Arc<ControlSocketState>) {
    let mut serving = JoinSet::new();
    loop {
        tokio::select! {
            Some(_) = serving.join_next() => {}
            accepted = listener.accept() => match accepted {
                Ok(stream) if serving.len() < CLIENTS_MAX => {
                    let number = shared.numbers.fetch_add(1, Ordering::Relaxed);
                    serving.spawn(client::serve(stream, number, session.clone(), Arc::clone(&shared)));
                }
                // Refused: the connection is closed.
                Ok(_) => {}
                Err(error) => {
                    tracing::warn!(%error, "the control socket takes no more clients");
                    return;
                }
            },
        }
    }
}

#[cfg(test)]
mod socket_tests;
