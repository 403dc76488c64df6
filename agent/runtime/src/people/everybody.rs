//! Several channels to the user at once: whoever answers first has answered.

use std::sync::Arc;

use futures_util::future::{Either, select};

use super::{
    AnyUserChannel, ApprovalReply, ApprovalRequest, PauseNotice, QuestionReply, QuestionRequest, UserChannel,
    UserRequest,
};

/// Two channels, of which the first is that of whoever started the session. Both are asked; the first answer counts, and the prompt is withdrawn from the other one. Nobody has answered once
/// there is nobody behind either.
#[derive(Clone)]
pub struct Everybody {
    one: Arc<dyn AnyUserChannel>,
    other: Arc<dyn AnyUserChannel>,
}

impl Everybody {
    /// Asks both of these.
    pub const fn of(one: Arc<dyn AnyUserChannel>, other: Arc<dyn AnyUserChannel>) -> Self {
        Self { one, other }
    }
}

/// The first reply that is one, else the last.
async fn first<T>(
    one: impl Future<Output = T> + Send,
    other: impl Future<Output = T> + Send,
    is_reply: impl Fn(&T) -> bool,
) -> T {
    let (one, other) = (Box::pin(one), Box::pin(other));
    match select(one, other).await {
        Either::Left((reply, _)) | Either::Right((reply, _)) if is_reply(&reply) => reply,
        Either::Left((_, rest)) => rest.await,
        Either::Right((_, rest)) => rest.await,
    }
}

impl UserChannel for Everybody {
    async fn next_request(&self) -> Option<UserRequest> {
        // The end that the first one says is the end; that nobody is at the other one means nothing.
        match select(self.one.next_request_boxed(), self.other.next_request_boxed()).await {
            Either::Left((request, _)) | Either::Right((request @ Some(_), _)) => request,
            Either::Right((None, one)) => one.await,
        }
    }

    async fn heard(&self) -> String {
        match select(self.one.heard_boxed(), self.other.heard_boxed()).await {
            Either::Left((words, _)) | Either::Right((words, _)) => words,
        }
    }

    fn is_nobody(&self) -> bool {
        self.one.is_nobody_boxed() && self.other.is_nobody_boxed()
    }

    async fn ask(&self, questions: &QuestionRequest) -> QuestionReply {
        let is_reply = |answered: &QuestionReply| *answered != QuestionReply::Nobody;
        first(self.one.ask_boxed(questions), self.other.ask_boxed(questions), is_reply).await
    }

    async fn decide(&self, request: &ApprovalRequest) -> ApprovalReply {
        let is_reply = |decided: &ApprovalReply| *decided != ApprovalReply::Nobody;
        first(self.one.decide_boxed(request), self.other.decide_boxed(request), is_reply).await
    }

    async fn notify(&self, notice: PauseNotice) {
        self.one.notify_boxed(notice.clone()).await;
        self.other.notify_boxed(notice).await;
    }
}
