//! A random user who answers, is absent, or does not respond.

use std::sync::Mutex;

use deskhand_core::session::ApprovalScope;
use deskhand_runtime::people::{
    Answered, ApprovalRequest, Decided, PauseNotice, Questions, Request, UserChannel,
};

use super::chance::Chance;

/// The user.
pub(super) struct RandomPerson {
    chance: Mutex<Chance>,
    /// Whether there is a user at all.
    is_there: bool,
}

impl RandomPerson {
    pub(super) fn new(mut chance: Chance) -> Self {
        let is_there = chance.percent(85);
        Self { chance: Mutex::new(chance), is_there }
    }

    fn roll(&self) -> usize {
        self.chance.lock().unwrap().below(100)
    }
}

impl UserChannel for RandomPerson {
    async fn next_request(&self) -> Option<Request> {
        (self.is_there && self.roll() < 50).then(|| "and then something else".into())
    }

    async fn ask(&self, questions: &Questions) -> Answered {
        if !self.is_there {
            return Answered::Nobody;
        }
        match self.roll() {
            0..20 => std::future::pending().await,
            20..30 => Answered::Answers(Vec::new()),
            _ => Answered::Answers(questions.questions.iter().map(|_| "green".to_owned()).collect()),
        }
    }

    async fn decide(&self, _: &ApprovalRequest) -> Decided {
        if !self.is_there {
            return Decided::Nobody;
        }
        match self.roll() {
            0..35 => Decided::Approved(ApprovalScope::Once),
            35..60 => Decided::Approved(ApprovalScope::Session),
            60..72 => Decided::Rejected(None),
            72..84 => Decided::Rejected(Some("save instead".to_owned())),
            _ => std::future::pending().await,
        }
    }

    async fn notify(&self, _: PauseNotice) {}
}
