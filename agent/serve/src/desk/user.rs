//! The user of a session that a client steers: asked through the client.

use std::{pin::Pin, sync::Arc};

use deskhand_runtime::people::{
    ApprovalReply, ApprovalRequest, PauseNotice, QuestionReply, QuestionRequest, UserChannel, UserRequest,
};
use tokio::sync::{
    Mutex,
    mpsc::{self, error::TrySendError},
};

/// The most notices that a round is over. It is a state: said twice, it is still one.
const IDLE_MAX: usize = 1;
/// The most requests that wait: one is given each time that a round is over, and one more ends the session.
const REQUESTS_MAX: usize = 2;

/// A question to the user of a client.
#[derive(Debug, Clone)]
pub(crate) enum ClientQuestion {
    /// To approve something.
    Approval(Box<ApprovalRequest>),
    /// To answer an agent.
    Questions(QuestionRequest),
}

/// A reply of a client's user.
#[derive(Debug, Clone)]
pub(crate) enum ClientAnswer {
    /// Yes to an approval.
    Approved,
    /// No, with a reason for whoever proposed it.
    No(String),
    /// Answers, in order.
    Answers(Vec<String>),
}

/// Asks the user of a client.
pub(crate) type Attending =
    Arc<dyn Fn(ClientQuestion) -> Pin<Box<dyn Future<Output = ClientAnswer> + Send>> + Send + Sync>;

/// The user channel of a client.
pub(crate) struct DeskUserChannel {
    attending: Attending,
    idle: mpsc::Sender<()>,
    requests: Mutex<mpsc::Receiver<Option<UserRequest>>>,
}

impl DeskUserChannel {
    /// The channel, the end of it that hears when a round is over, and the one that gives the next request, or none to end.
    pub(super) fn new(attending: Attending) -> (Self, mpsc::Receiver<()>, mpsc::Sender<Option<UserRequest>>) {
        let (idle, is_idle) = mpsc::channel(IDLE_MAX);
        let (give, requests) = mpsc::channel(REQUESTS_MAX);
        (Self { attending, idle, requests: Mutex::new(requests) }, is_idle, give)
    }

    /// A channel without further requests.
    pub(crate) fn alone(attending: Attending) -> Self {
        Self::new(attending).0
    }
}

impl UserChannel for DeskUserChannel {
    async fn next_request(&self) -> Option<UserRequest> {
        if let Err(TrySendError::Closed(())) = self.idle.try_send(()) {
            return None;
        }
        self.requests.lock().await.recv().await?
    }

    async fn ask(&self, questions: &QuestionRequest) -> QuestionReply {
        match (self.attending)(ClientQuestion::Questions(questions.clone())).await {
            ClientAnswer::Answers(answers) => QuestionReply::Answers(answers),
            ClientAnswer::Approved | ClientAnswer::No(_) => QuestionReply::Nobody,
        }
    }

    async fn decide(&self, request: &ApprovalRequest) -> ApprovalReply {
        match (self.attending)(ClientQuestion::Approval(Box::new(request.clone()))).await {
            ClientAnswer::Approved => ApprovalReply::Approved(deskhand_machine::session::ApprovalScope::Once),
            ClientAnswer::No(reason) => ApprovalReply::Refused(reason),
            ClientAnswer::Answers(_) => ApprovalReply::Nobody,
        }
    }

    async fn notify(&self, _: PauseNotice) {}
}
