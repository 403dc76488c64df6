//! The user of a session that a client steers: asked through the client.

use std::{pin::Pin, sync::Arc};

use deskhand_runtime::people::{
    Answered, ApprovalRequest, Decided, PauseNotice, Questions, Request, UserChannel,
};
use tokio::sync::{Mutex, mpsc};

/// A question to the user of a client.
#[derive(Debug, Clone)]
pub(crate) enum Asking {
    /// To approve something.
    Approval(Box<ApprovalRequest>),
    /// To answer an agent.
    Questions(Questions),
}

/// A reply of a client's user.
#[derive(Debug, Clone)]
pub(crate) enum Said {
    /// Yes to an approval.
    Approved,
    /// No, with a reason for whoever proposed it.
    No(String),
    /// Answers, in order.
    Answers(Vec<String>),
}

/// Asks the user of a client.
pub(crate) type Attending = Arc<dyn Fn(Asking) -> Pin<Box<dyn Future<Output = Said> + Send>> + Send + Sync>;

/// The user channel of a client.
pub(crate) struct Client {
    attending: Attending,
    idle: mpsc::UnboundedSender<()>,
    requests: Mutex<mpsc::UnboundedReceiver<Option<Request>>>,
}

impl Client {
    /// The channel, the end of it that hears when a round is over, and the one that gives the next request, or none to end.
    pub(super) fn new(
        attending: Attending,
    ) -> (Self, mpsc::UnboundedReceiver<()>, mpsc::UnboundedSender<Option<Request>>) {
        let (idle, is_idle) = mpsc::unbounded_channel();
        let (give, requests) = mpsc::unbounded_channel();
        (Self { attending, idle, requests: Mutex::new(requests) }, is_idle, give)
    }

    /// A channel without further requests.
    pub(crate) fn alone(attending: Attending) -> Self {
        Self::new(attending).0
    }
}

impl UserChannel for Client {
    async fn next_request(&self) -> Option<Request> {
        self.idle.send(()).ok()?;
        self.requests.lock().await.recv().await?
    }

    async fn ask(&self, questions: &Questions) -> Answered {
        match (self.attending)(Asking::Questions(questions.clone())).await {
            Said::Answers(answers) => Answered::Answers(answers),
            Said::Approved | Said::No(_) => Answered::Nobody,
        }
    }

    async fn decide(&self, request: &ApprovalRequest) -> Decided {
        match (self.attending)(Asking::Approval(Box::new(request.clone()))).await {
            Said::Approved => Decided::Approved(deskhand_core::session::ApprovalScope::Once),
            Said::No(reason) => Decided::Refused(reason),
            Said::Answers(_) => Decided::Nobody,
        }
    }

    async fn notify(&self, _: PauseNotice) {}
}
