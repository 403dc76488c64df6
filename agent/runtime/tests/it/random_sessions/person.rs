//! A random user who answers, is absent, does not respond, says something unasked, or takes over and hands back.

use std::sync::{
    Mutex,
    atomic::{AtomicBool, Ordering},
};

use deskhand_machine::session::ApprovalScope;
use deskhand_runtime::people::{
    ApprovalReply, ApprovalRequest, PauseNotice, PauseSwitch, QuestionReply, QuestionRequest, UserChannel,
    UserRequest,
};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use super::chance::Chance;

/// The user.
pub(super) struct RandomPerson {
    chance: Mutex<Chance>,
    /// Whether there is a user at all.
    is_there: bool,
    pub(super) pause: PauseSwitch,
    /// Whether mouse and keyboard are theirs at the moment.
    is_theirs: AtomicBool,
    says: UnboundedSender<String>,
    said: tokio::sync::Mutex<UnboundedReceiver<String>>,
}

impl RandomPerson {
    pub(super) fn new(mut chance: Chance) -> Self {
        let is_there = chance.percent(85);
        let (says, said) = unbounded_channel();
        let (chance, said) = (Mutex::new(chance), tokio::sync::Mutex::new(said));
        let (pause, is_theirs) = (PauseSwitch::default(), AtomicBool::new(false));
        Self { chance, is_there, pause, is_theirs, says, said }
    }

    /// Does something of their own accord, now and then.
    pub(super) fn meddles(&self, chance: &mut Chance) {
        // Who has taken over says so once, and hands back once.
        if !self.is_there || self.is_theirs.load(Ordering::Relaxed) {
            return;
        }
        match chance.below(100) {
            0..3 => self.says.send(format!("word {}", chance.below(1_000))).unwrap(),
            3..5 => drop(self.pause.take_over()),
            5 => drop(self.pause.pause()),
            _ => {}
        }
    }

    fn roll(&self) -> usize {
        self.chance.lock().unwrap().below(100)
    }
}

impl UserChannel for RandomPerson {
    async fn next_request(&self) -> Option<UserRequest> {
        (self.is_there && self.roll() < 50).then(|| "and then something else".into())
    }

    async fn ask(&self, questions: &QuestionRequest) -> QuestionReply {
        if !self.is_there {
            return QuestionReply::Nobody;
        }
        match self.roll() {
            0..20 => std::future::pending().await,
            20..30 => QuestionReply::Answers(Vec::new()),
            _ => QuestionReply::Answers(questions.questions.iter().map(|_| "green".to_owned()).collect()),
        }
    }

    async fn decide(&self, _: &ApprovalRequest) -> ApprovalReply {
        if !self.is_there {
            return ApprovalReply::Nobody;
        }
        match self.roll() {
            0..35 => ApprovalReply::Approved(ApprovalScope::Once),
            35..60 => ApprovalReply::Approved(ApprovalScope::Session),
            60..72 => ApprovalReply::Rejected(None),
            72..84 => ApprovalReply::Rejected(Some("save instead".to_owned())),
            _ => std::future::pending().await,
        }
    }

    async fn notify(&self, notice: PauseNotice) {
        match notice {
            PauseNotice::TakenOver { .. } => {
                self.is_theirs.store(true, Ordering::Relaxed);
                if self.roll() < 20 {
                    self.says.send("while it is mine".to_owned()).unwrap();
                }
                let note = (self.roll() < 50).then(|| "all yours".to_owned());
                if self.roll() < 80 {
                    self.pause.hand_back(note)
                } else {
                    self.pause.resume()
                };
            }
            PauseNotice::Paused { .. } => drop(self.pause.resume()),
            PauseNotice::HandedBack => self.is_theirs.store(false, Ordering::Relaxed),
            PauseNotice::Resumed => {}
        }
    }

    async fn heard(&self) -> String {
        self.said.lock().await.recv().await.unwrap()
    }
}
