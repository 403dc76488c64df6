//! Asks the user on behalf of the driver, with timeouts, and converts the replies to events.

use std::time::Duration;

use deskhand_machine::{
    agent::AgentRef,
    reply::UserQuestion,
    session::{Approval, ApprovalScope, Effect, EffectRecord, NoAnswer, PlannedAction, SessionEvent},
};
use deskhand_ui::ids::EffectId;

use super::{
    AnyUserChannel, ApprovalReply, ApprovalRequest, Nobody, PauseSwitch, QuestionReply, QuestionRequest,
    UserRequest, WatchHands,
};

/// The user channel of a session and its settings.
#[derive(Clone)]
pub struct People<'a> {
    /// The channel.
    pub channel: &'a dyn AnyUserChannel,
    /// If `true`, the channel delivers further requests after the given ones, and stopping a request does not end the
    /// session.
    pub converse: bool,
    /// Who decides on approvals.
    pub approvals: Approvals,
    /// The timeout of questions; `None` for no timeout.
    pub question_timeout: Option<Duration>,
    /// The timeout of approvals; `None` for no timeout.
    pub approval_timeout: Option<Duration>,
    /// Pauses the session, and hands its desktop over.
    pub pause: PauseSwitch,
    /// Watches what a person does who has taken over; `None` if it cannot be watched.
    pub hands: Option<&'a dyn WatchHands>,
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
            hands: None,
        }
    }
}

impl People<'_> {
    /// The next request from the channel.
    pub(crate) async fn next_request(&self) -> Option<UserRequest> {
        if self.converse { self.channel.next_request_boxed().await } else { None }
    }

    /// Asks the questions of an agent.
    pub(crate) async fn ask(&self, id: EffectId, questions: &[UserQuestion]) -> SessionEvent {
        let asking = QuestionRequest { id, questions: questions.to_vec(), timeout: self.question_timeout };
        match bounded(self.question_timeout, self.channel.ask_boxed(&asking)).await {
            None => SessionEvent::Unanswered { why: NoAnswer::TimedOut },
            Some(QuestionReply::Nobody) => SessionEvent::Unanswered { why: NoAnswer::NoChannel },
            Some(QuestionReply::Answers(answers)) => {
                SessionEvent::Answered { answers: with_defaults(questions, answers) }
            }
        }
    }

    /// Asks for approval of a parked action.
    pub(crate) async fn decide(
        &self,
        record: &EffectRecord,
        approval: &Approval,
        actions: Vec<PlannedAction>,
    ) -> SessionEvent {
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
            Approvals::All => return SessionEvent::Approved { scope: ApprovalScope::Once },
            Approvals::None => return SessionEvent::Rejected { instruction: None, is_message: false },
        }
        match bounded(self.approval_timeout, self.channel.decide_boxed(&asking)).await {
            None => SessionEvent::Unanswered { why: NoAnswer::TimedOut },
            Some(ApprovalReply::Nobody) => SessionEvent::Unanswered { why: NoAnswer::NoChannel },
            Some(ApprovalReply::Approved(scope)) => SessionEvent::Approved { scope },
            Some(ApprovalReply::Rejected(instruction)) => SessionEvent::Rejected {
                instruction: instruction.filter(|instruction| !instruction.trim().is_empty()),
                is_message: false,
            },
            Some(ApprovalReply::Refused(message)) => {
                SessionEvent::Rejected { instruction: Some(message), is_message: true }
            }
        }
    }
}

/// The effect that a pause holds back, for the notice; `None` if a pause does not affect it.
pub(crate) fn held_by_pause(effect: &Effect) -> Option<&str> {
    match effect {
        Effect::AskUser { .. } | Effect::AwaitApproval { .. } => None,
        Effect::AwaitRequest
        | Effect::Observe { .. }
        | Effect::Rank { .. }
        | Effect::Retrieve { .. }
        | Effect::Ask { .. }
        | Effect::Call { .. }
        | Effect::Delegate { .. }
        | Effect::Finish { .. } => held_by_hands(effect),
    }
}

/// The effect that a person who has taken over holds back, for the notice; `None` if it goes on all the same.
pub(crate) fn held_by_hands(effect: &Effect) -> Option<&str> {
    match effect {
        Effect::Observe { .. } => Some("looking at the screen"),
        Effect::Rank { .. } => Some("sorting what it saw"),
        Effect::Retrieve { .. } => Some("looking up help"),
        Effect::Ask { .. } => Some("asking the model"),
        Effect::Call { command } => Some(&command.tool),
        Effect::Delegate { .. } => Some("handing over a sub-task"),
        Effect::AskUser { .. } => Some("asking you"),
        Effect::AwaitApproval { .. } => Some("asking for an approval"),
        Effect::AwaitRequest | Effect::Finish { .. } => None,
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
fn with_defaults(questions: &[UserQuestion], answers: Vec<String>) -> Vec<String> {
    let mut answers = answers.into_iter();
    questions
        .iter()
        .map(|question| {
            let answer = answers.next().map(|answer| answer.trim().to_owned()).unwrap_or_default();
            if answer.is_empty() { question.default.clone().unwrap_or_default() } else { answer }
        })
        .collect()
}
