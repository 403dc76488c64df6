//! A request that is being answered.

use std::{
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

use rmcp::{
    ErrorData,
    model::{ClientCapabilities, InputRequests, InputResponses},
};
use tokio::sync::{broadcast, oneshot, watch};
use tokio_util::sync::CancellationToken;

use super::{answers::are_complete, connection::ClientId, logs::Level, requests::CatalogReply};
use crate::token::new_token;

/// Maximum time for the user of a client to answer.
pub const ANSWER_BOUND: Duration = Duration::from_secs(15 * 60);
/// The news of a call that a slow client may be behind; older ones are dropped.
const NEWS_MAX: usize = 64;
/// The random bytes of a state that a client sends back.
const STATE_BYTES: usize = 24;

/// Who asks.
#[derive(Debug, Clone, Default)]
pub struct ClientInfo {
    /// The connection; `None` over HTTP since 2026-07-28, which has no sessions.
    pub id: Option<ClientId>,
    /// The name of its program, as it says.
    pub name: Option<String>,
    /// The capabilities of the client.
    pub capabilities: ClientCapabilities,
}

impl ClientInfo {
    /// Returns `true` if it can show forms to its user.
    pub fn shows_forms(&self) -> bool {
        // Without a mode, forms are meant.
        self.capabilities.elicitation.as_ref().is_some_and(|can| can.form.is_some() || can.url.is_none())
    }

    /// Returns `true` if it can open addresses for its user.
    pub fn opens_addresses(&self) -> bool {
        self.capabilities.elicitation.as_ref().is_some_and(|can| can.url.is_some())
    }
}

/// Why a question has no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum QuestionError {
    /// The request was cancelled.
    #[error("the call was cancelled")]
    Cancelled,
    /// Nobody answered in time, or the client cannot ask.
    #[error("nobody answered")]
    Nobody,
}

/// A message about a call while it runs.
#[derive(Debug, Clone)]
pub(super) enum CallNotification {
    /// The progress of the call.
    Progress { message: String, done: Option<(f64, f64)> },
    /// Something for the client's log.
    Log { level: Level, text: String },
}

/// The status of a call.
#[derive(Debug, Clone)]
pub(super) enum McpCallState {
    Running,
    /// The call waits for answers.
    Asking(Arc<PendingInputRequests>),
    Done(Arc<Result<CatalogReply, ErrorData>>),
}

/// Questions that wait for their answers.
#[derive(Debug)]
pub(super) struct PendingInputRequests {
    pub(super) requests: InputRequests,
    /// The state token that the client sends back with its answers; it cannot be guessed.
    pub(super) state: String,
    answer: Mutex<Option<oneshot::Sender<InputResponses>>>,
}

impl PendingInputRequests {
    /// Takes answers to all questions; the first ones count. Whether these are complete.
    pub(super) fn answer(&self, responses: &InputResponses) -> bool {
        if !are_complete(&self.requests, responses) {
            return false;
        }
        if let Some(answer) = self.answer.lock().unwrap_or_else(PoisonError::into_inner).take() {
            // The call was cancelled meanwhile.
            answer.send(responses.clone()).ok();
        }
        true
    }

    /// Returns `true` if it waits no more.
    pub(super) fn is_over(&self) -> bool {
        self.answer.lock().unwrap_or_else(PoisonError::into_inner).is_none()
    }

    /// Gives up: the client cannot answer.
    pub(super) fn give_up(&self) {
        self.answer.lock().unwrap_or_else(PoisonError::into_inner).take();
    }
}

/// A request that is being answered, or was. It goes on when its request ends otherwise than by its answer, until it is cancelled.
#[derive(Debug)]
pub struct McpCall {
    /// Who asks.
    pub client: ClientInfo,
    /// The hash of what was asked for: equal for a repeated request.
    pub digest: [u8; 32],
    /// Answers that came with the request, before anything was asked. What has to be seen before it is answered, they do not answer.
    pub given: InputResponses,
    status: watch::Sender<McpCallState>,
    news: broadcast::Sender<CallNotification>,
    /// The news sent before the first subscriber.
    first: Mutex<Option<broadcast::Receiver<CallNotification>>>,
    /// The requests that wait for it.
    waiting: AtomicUsize,
    /// The states that were given out.
    states: Mutex<Vec<String>>,
    delivery: AnswerDelivery,
}

/// The delivery state of a call's answer: whether it reached the client.
#[derive(Debug, Clone)]
pub struct AnswerDelivery {
    done: Arc<AtomicBool>,
    cancelled: CancellationToken,
}

impl AnswerDelivery {
    /// Returns `true` if the answer was sent, to a request that was not cancelled.
    pub fn is_done(&self) -> bool {
        self.done.load(Ordering::SeqCst)
    }

    /// Returns `true` if the answer reaches nobody: the request was cancelled before.
    pub fn has_failed(&self) -> bool {
        self.cancelled.is_cancelled() && !self.is_done()
    }
}

impl McpCall {
    pub(super) fn new(client: ClientInfo, digest: [u8; 32], given: InputResponses) -> Self {
        let (news, first) = broadcast::channel(NEWS_MAX);
        Self {
            client,
            digest,
            given,
            delivery: AnswerDelivery { done: Arc::default(), cancelled: CancellationToken::new() },
            status: watch::Sender::new(McpCallState::Running),
            news,
            first: Mutex::new(Some(first)),
            waiting: AtomicUsize::new(0),
            states: Mutex::default(),
        }
    }

    /// Returns the delivery state of the answer.
    pub fn delivery(&self) -> AnswerDelivery {
        self.delivery.clone()
    }

    pub(super) fn delivered(&self) {
        self.delivery.done.store(true, Ordering::SeqCst);
    }

    /// Returns `true` if it was cancelled.
    pub fn is_cancelled(&self) -> bool {
        self.delivery.cancelled.is_cancelled()
    }

    /// Waits until it is cancelled.
    pub async fn cancelled(&self) {
        self.delivery.cancelled.cancelled().await;
    }

    pub(super) fn cancel(&self) {
        self.delivery.cancelled.cancel();
    }

    /// Tells the client what is being done. It is repeated at least every second.
    pub fn progress(&self, message: impl Into<String>) {
        self.tell(CallNotification::Progress { message: message.into(), done: None });
    }

    /// The same with how much of how much is done; this has to increase.
    pub fn progress_of(&self, message: impl Into<String>, done: f64, total: f64) {
        self.tell(CallNotification::Progress { message: message.into(), done: Some((done, total)) });
    }

    /// Writes into the client's log, if it wants this level.
    pub fn log(&self, level: Level, text: impl Into<String>) {
        self.tell(CallNotification::Log { level, text: text.into() });
    }

    fn tell(&self, news: CallNotification) {
        // Nobody listens: the request was cancelled, or waits for answers.
        self.news.send(news).ok();
    }

    /// Asks the client, or its user. Only what the client can do may be asked.
    ///
    /// # Errors
    /// Nobody answers, or the call is cancelled.
    pub async fn ask(&self, requests: InputRequests) -> Result<InputResponses, QuestionError> {
        if self.is_cancelled() {
            return Err(QuestionError::Cancelled);
        }
        let state = new_token::<STATE_BYTES>().map_err(|_| QuestionError::Nobody)?;
        let (answer, answered) = oneshot::channel();
        self.states.lock().unwrap_or_else(PoisonError::into_inner).push(state.clone());
        let asked = PendingInputRequests { requests, state, answer: Mutex::new(Some(answer)) };
        self.status.send_replace(McpCallState::Asking(Arc::new(asked)));
        let answers = tokio::select! {
            answers = tokio::time::timeout(ANSWER_BOUND, answered) => match answers {
                Ok(Ok(answers)) => Ok(answers),
                Ok(Err(_)) | Err(_) => Err(QuestionError::Nobody),
            },
            () = self.cancelled() => Err(QuestionError::Cancelled),
        };
        self.status.send_replace(McpCallState::Running);
        answers
    }

    pub(super) fn finish(&self, served: Result<CatalogReply, ErrorData>) {
        self.status.send_replace(McpCallState::Done(Arc::new(served)));
    }

    pub(super) fn status(&self) -> watch::Receiver<McpCallState> {
        let mut status = self.status.subscribe();
        status.mark_changed();
        status
    }

    pub(super) fn is_done(&self) -> bool {
        matches!(*self.status.borrow(), McpCallState::Done(_))
    }

    /// Gives up a question that no request waits for: its client went on without an answer.
    pub fn withdraw_question(&self) {
        if self.waiting.load(Ordering::SeqCst) == 0
            && let Some(asked) = self.asked()
        {
            asked.give_up();
        }
    }

    /// The questions that wait for answers.
    pub(super) fn asked(&self) -> Option<Arc<PendingInputRequests>> {
        match &*self.status.borrow() {
            McpCallState::Asking(asked) => Some(Arc::clone(asked)),
            McpCallState::Running | McpCallState::Done(_) => None,
        }
    }

    /// Returns `true` if it gave out this state.
    pub(super) fn gave(&self, state: &str) -> bool {
        self.states.lock().unwrap_or_else(PoisonError::into_inner).iter().any(|given| given == state)
    }

    pub(super) fn has_states(&self) -> bool {
        !self.states.lock().unwrap_or_else(PoisonError::into_inner).is_empty()
    }

    pub(super) fn news(&self) -> broadcast::Receiver<CallNotification> {
        let first = self.first.lock().unwrap_or_else(PoisonError::into_inner).take();
        first.unwrap_or_else(|| self.news.subscribe())
    }

    /// Counts a request that waits for it, until the guard is dropped.
    pub(super) fn wait_for(self: &Arc<Self>) -> McpCallWaiter {
        self.waiting.fetch_add(1, Ordering::SeqCst);
        McpCallWaiter(Arc::clone(self))
    }
}

/// A request that waits for a call.
pub(super) struct McpCallWaiter(Arc<McpCall>);

impl McpCallWaiter {
    /// The request was cancelled: so is the call, unless a repeated request waits for it too.
    pub(super) fn cancel(self) {
        if self.0.waiting.load(Ordering::SeqCst) <= 1 {
            self.0.cancel();
        }
    }
}

impl Drop for McpCallWaiter {
    fn drop(&mut self) {
        self.0.waiting.fetch_sub(1, Ordering::SeqCst);
    }
}
