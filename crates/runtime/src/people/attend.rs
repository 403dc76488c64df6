//! Asks the user on behalf of the driver, with timeouts, and converts the replies to events.

use std::time::Duration;

use deskhand_core::{
    agent::AgentRef,
    ids::EffectId,
    reply::Question,
    session::{Approval, ApprovalScope, Effect, EffectRecord, Event, NoAnswer, PlannedAction},
};

use super::{
    Answered, AnyUserChannel, ApprovalRequest, Decided, Nobody, PauseNotice, PauseSwitch, Questions, Request,
};

/// The user channel of a session and its settings.
#[derive(Clone)]
pub struct People<'a> {
    /// The channel.
    pub channel: &'a dyn AnyUserChannel,
    /// Whether the channel delivers further requests after the given ones. If so, stopping a request does not end the
    /// session.
    pub converse: bool,
    /// Who decides on approvals.
    pub approvals: Approvals,
    /// The timeout of questions; `None` for no timeout.
    pub question_timeout: Option<Duration>,
    /// The timeout of approvals; `None` for no timeout.
    pub approval_timeout: Option<Duration>,
    /// Pauses the session.
    pub pause: PauseSwitch,
}

/// Who decides on an action that needs approval. Denials by policy always hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Approvals {
    /// The user; without an answer the action is not approved.
    #[default]
    Ask,
    /// Every action is approved without asking.
    All,
    /// No action is approved, without asking.
    None,
}

impl People<'static> {
    /// No user: questions and approvals stay unanswered.
    pub fn nobody() -> Self {
        Self {
            channel: &Nobody,
            converse: false,
            approvals: Approvals::Ask,
            question_timeout: None,
            approval_timeout: None,
            pause: PauseSwitch::default(),
        }
    }
}

impl People<'_> {
    /// The next request from the channel.
    pub(crate) async fn next_request(&self) -> Option<Request> {
        if self.converse { self.channel.next_request_boxed().await } else { None }
    }

    /// Waits before an effect on the desktop or model while the session is paused, until `ended` completes. The wall-time
    /// budget of the round keeps running. Whether it was paused.
    pub(crate) async fn hold(&self, effect: &Effect, ended: impl Future) -> bool {
        let Some(before) = held(effect).filter(|_| self.pause.is_paused()) else { return false };
        self.channel.notify_boxed(PauseNotice::Paused { before: before.to_owned() }).await;
        tokio::select! {
            () = self.pause.wait_until_resumed() => {}
            _ = ended => {}
        }
        self.channel.notify_boxed(PauseNotice::Resumed).await;
        true
    }

    /// Asks the questions of an agent.
    pub(crate) async fn ask(&self, id: EffectId, questions: &[Question]) -> Event {
        let asking = Questions { id, questions: questions.to_vec(), timeout: self.question_timeout };
        match bounded(self.question_timeout, self.channel.ask_boxed(&asking)).await {
            None => Event::Unanswered { why: NoAnswer::TimedOut },
            Some(Answered::Nobody) => Event::Unanswered { why: NoAnswer::NoChannel },
            Some(Answered::Answers(answers)) => {
                Event::Answered { answers: with_defaults(questions, answers) }
            }
        }
    }

    /// Asks for approval of a parked action.
    pub(crate) async fn decide(
        &self,
        record: &EffectRecord,
        approval: &Approval,
        actions: Vec<PlannedAction>,
    ) -> Event {
        let asking = ApprovalRequest {
            id: record.id,
            agent: record.step.as_ref().map_or(AgentRef::Unnamed, |step| step.agent.clone()),
            actions,
            reason: approval.reason.clone(),
            asked_by: approval.asked_by.clone(),
            covers: approval.covers.clone(),
            timeout: self.approval_timeout,
        };
        match self.approvals {
            Approvals::Ask => {}
            Approvals::All => return Event::Approved { scope: ApprovalScope::Once },
            Approvals::None => return Event::Rejected { instruction: None },
        }
        match bounded(self.approval_timeout, self.channel.decide_boxed(&asking)).await {
            None => Event::Unanswered { why: NoAnswer::TimedOut },
            Some(Decided::Nobody) => Event::Unanswered { why: NoAnswer::NoChannel },
            Some(Decided::Approved(scope)) => Event::Approved { scope },
            Some(Decided::Rejected(instruction)) => Event::Rejected {
                instruction: instruction.filter(|instruction| !instruction.trim().is_empty()),
            },
        }
    }
}

/// The effect that a pause holds back, for the notice; `None` if a pause does not affect it.
fn held(effect: &Effect) -> Option<&str> {
    match effect {
        Effect::Observe { .. } => Some("looking at the screen"),
        Effect::Rank { .. } => Some("sorting what it saw"),
        Effect::Retrieve { .. } => Some("looking up help"),
        Effect::Ask { .. } => Some("asking the model"),
        Effect::Call { command } => Some(&command.tool),
        Effect::Delegate { .. } => Some("handing over a sub-task"),
        Effect::AwaitRequest
        | Effect::AskUser { .. }
        | Effect::AwaitApproval { .. }
        | Effect::Finish { .. } => None,
    }
}

/// Runs `work`; `None` if it times out.
async fn bounded<T>(timeout: Option<Duration>, work: impl Future<Output = T>) -> Option<T> {
    match timeout {
        Some(timeout) => tokio::time::timeout(timeout, work).await.ok(),
        None => Some(work.await),
    }
}

/// One answer per question; empty answers get the default.
fn with_defaults(questions: &[Question], answers: Vec<String>) -> Vec<String> {
    let mut answers = answers.into_iter();
    questions
        .iter()
        .map(|question| {
            let answer = answers.next().map(|answer| answer.trim().to_owned()).unwrap_or_default();
            if answer.is_empty() { question.default.clone().unwrap_or_default() } else { answer }
        })
        .collect()
}
