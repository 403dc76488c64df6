//! What the driver asks of people: with time-outs, and in the words of core's events.

use std::time::Duration;

use deskhand_core::{
    agent::AgentRef,
    ids::EffectId,
    reply::Question,
    session::{Approval, ApprovalScope, Effect, EffectRecord, Event, NoAnswer, PlannedAction},
};

use super::{
    Answered, AnyUserChannel, ApprovalRequest, Decided, Nobody, Notice, PauseSwitch, Questions, Request,
};

/// The people of a session, and how long it waits for them.
#[derive(Clone)]
pub struct People<'a> {
    /// The way to them.
    pub channel: &'a dyn AnyUserChannel,
    /// Whether further requests come over the channel once the given ones are done. If so, stopping a request does not end
    /// the session.
    pub converse: bool,
    /// Who decides about approvals.
    pub approvals: Approvals,
    /// How long questions wait; none for ever.
    pub question_timeout: Option<Duration>,
    /// How long approvals wait; none for ever.
    pub approval_timeout: Option<Duration>,
    /// Holds the session.
    pub pause: PauseSwitch,
}

/// Who decides about an action that needs approval. What the policy denies is denied whoever decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Approvals {
    /// The user; nobody's approval is none.
    #[default]
    Ask,
    /// Every action is approved without asking.
    All,
    /// No action is approved, and nobody is asked.
    None,
}

impl People<'static> {
    /// Nobody: questions and approvals get no answer.
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
    /// The next request, from those who can give one.
    pub(crate) async fn next_request(&self) -> Option<Request> {
        if self.converse { self.channel.next_request_boxed().await } else { None }
    }

    /// Holds before an effect that touches the desktop or the model, as long as the session is paused and `ended` does not
    /// come. The clock of the round goes on.
    pub(crate) async fn hold(&self, effect: &Effect, ended: impl Future) {
        let Some(before) = held(effect).filter(|_| self.pause.is_on()) else { return };
        self.channel.tell_boxed(Notice::Paused { before: before.to_owned() }).await;
        tokio::select! {
            () = self.pause.wait_until_off() => {}
            _ = ended => {}
        }
        self.channel.tell_boxed(Notice::GoesOn).await;
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

    /// Asks for the approval of a parked action.
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

/// What a paused session does not begin; none for what may go on.
fn held(effect: &Effect) -> Option<&str> {
    match effect {
        Effect::Observe { .. } => Some("looking at the screen"),
        Effect::Ask { .. } => Some("asking the model"),
        Effect::Call { command } => Some(&command.tool),
        Effect::Delegate { .. } => Some("handing over a sub-task"),
        Effect::AwaitRequest
        | Effect::AskUser { .. }
        | Effect::AwaitApproval { .. }
        | Effect::Finish { .. } => None,
    }
}

/// The result, or none when it does not come in time.
async fn bounded<T>(timeout: Option<Duration>, work: impl Future<Output = T>) -> Option<T> {
    match timeout {
        Some(timeout) => tokio::time::timeout(timeout, work).await.ok(),
        None => Some(work.await),
    }
}

/// As many answers as questions; one that was left empty is its default.
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
