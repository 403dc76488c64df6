//! State of agents that work on sub-tasks.

use serde::{Deserialize, Serialize};

use super::{
    agent_desk::AgentDesk,
    config::{RoundLimits, ViewConfig},
    interrupted::ResumedSubtask,
    owner::SubtaskOwner,
    phases::RecordedStep,
    shown::PromptViewHistory,
    verify::Doubt,
};
use crate::{
    agent::{AgentRef, SubtaskWorker},
    memory::{AgentMemory, MemoryItem},
    prompt::{WindowPromptView, relevant_words},
    reply::AppReply,
    states::{AppStatus, AppTrigger, next_app},
};
use deskhand_ui::{WindowInfo, WindowView, ids::ElementId};

/// The most controls that an AppAgent may ask to annotate.
const MARKS_MAX: usize = 100;

/// An agent that works on sub-tasks. Cached by its owner: it keeps its memory across sub-tasks. An AppAgent is dropped
/// when its window closes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct AppAgent {
    owner: SubtaskOwner,
    status: AppStatus,
    /// Its last status word on the current sub-task.
    word: Option<String>,
    subtask: String,
    message: Vec<String>,
    /// The first step of the current sub-task.
    first_step: u32,
    /// Consecutive SCREENSHOT steps.
    screenshots: u32,
    /// Set if its next question includes the picture even if that is unchanged.
    #[serde(default)]
    picture_wanted: bool,
    /// The elements to annotate in its next observation; `None` for all.
    marks: Option<Vec<ElementId>>,
    /// Why its last actions on the current sub-task do not verify it.
    doubt: Option<Doubt>,
    /// Content of its window that it has received in this sub-task.
    #[serde(default)]
    shown: PromptViewHistory,
    desk: AgentDesk,
}

impl AppAgent {
    /// The agent of a sub-task that begins with a step.
    pub(super) fn new(
        owner: SubtaskOwner,
        memory: AgentMemory,
        (subtask, message): (String, Vec<String>),
        first_step: u32,
    ) -> Self {
        Self {
            owner,
            status: AppStatus::Continue,
            word: None,
            subtask,
            message,
            first_step,
            screenshots: 0,
            picture_wanted: false,
            marks: None,
            doubt: Some(Doubt::NothingDone),
            shown: PromptViewHistory::default(),
            desk: AgentDesk::with_memory(memory),
        }
    }

    /// The owner of its sub-task.
    pub(super) const fn owner(&self) -> &SubtaskOwner {
        &self.owner
    }

    /// The worker by which it is found.
    pub(super) fn worker(&self) -> SubtaskWorker {
        self.owner.worker()
    }

    /// The agent in records and prompts.
    pub(super) fn agent(&self) -> AgentRef {
        self.owner.agent()
    }

    /// Its window; `None` if it has none.
    pub(super) const fn window(&self) -> Option<&WindowInfo> {
        match &self.owner {
            SubtaskOwner::Window(window) => Some(window),
            SubtaskOwner::Agent(..) => None,
        }
    }

    /// Its sub-task.
    pub(super) fn subtask(&self) -> &str {
        &self.subtask
    }

    /// The messages of the HostAgent with its sub-task.
    pub(super) fn message(&self) -> &[String] {
        &self.message
    }

    /// The texts that it was given: its sub-task, then the messages.
    pub(super) fn given(&self) -> impl Iterator<Item = &str> {
        std::iter::once(&self.subtask).chain(&self.message).map(String::as_str)
    }

    /// Keywords for what is relevant to it.
    pub(super) fn words(&self) -> Vec<String> {
        relevant_words(self.given())
    }

    /// Its last status word on the current sub-task.
    pub(super) fn word(&self) -> Option<&str> {
        self.word.as_deref()
    }

    /// The first step of the current sub-task.
    pub(super) const fn first_step(&self) -> u32 {
        self.first_step
    }

    /// The elements to annotate in its next observation; `None` for all.
    pub(super) const fn marks(&self) -> Option<&Vec<ElementId>> {
        self.marks.as_ref()
    }

    /// Its desk.
    pub(super) const fn desk(&self) -> &AgentDesk {
        &self.desk
    }

    /// Its desk, to work at.
    pub(super) const fn desk_mut(&mut self) -> &mut AgentDesk {
        &mut self.desk
    }

    /// Its memory, for another sub-task.
    pub(super) fn into_memory(self) -> AgentMemory {
        self.desk.into_memory()
    }

    /// Moves its status.
    pub(super) const fn moves(&mut self, trigger: AppTrigger) -> AppStatus {
        self.status = next_app(self.status, trigger);
        self.status
    }

    /// The steps of its current sub-task.
    pub(super) fn own_steps(&self) -> impl Iterator<Item = &MemoryItem> {
        self.desk.memory().items().filter(|item| item.step >= self.first_step)
    }

    /// Goes on with a sub-task that was interrupted.
    pub(super) fn resume(&mut self, resumed: ResumedSubtask) {
        self.desk.set_notice(resumed.notice);
        self.first_step = resumed.first_step;
    }

    /// Decides what to show of its window at a step.
    pub(super) fn see(&mut self, view: &WindowView, step: u32, config: &ViewConfig) -> WindowPromptView {
        let words = self.words();
        self.shown.see(view, step, words, config, self.picture_wanted)
    }

    /// Forgets what it was shown, which tells nothing any more.
    pub(super) fn forget_view(&mut self) {
        self.shown = PromptViewHistory::default();
    }

    /// Notes whether its last actions verify the sub-task.
    pub(super) fn doubt(&mut self, doubt: Option<Doubt>) {
        self.doubt = doubt;
    }

    /// Why its last actions on the current sub-task do not verify it.
    pub(super) const fn last_doubt(&self) -> Option<&Doubt> {
        self.doubt.as_ref()
    }

    /// Returns `true` if it took more screenshots in a row than are allowed.
    pub(super) const fn only_looks(&self, limits: &RoundLimits) -> bool {
        self.screenshots > limits.screenshots_max
    }

    /// Returns `true` if its last action on the sub-task was seen to close its window.
    pub(super) fn closed_as_meant(&self) -> bool {
        let SubtaskOwner::Window(window) = &self.owner else { return false };
        let last = self.desk.memory().last().filter(|item| item.step >= self.first_step);
        let action = last.and_then(|item| item.actions.last()).filter(|info| info.result.is_success());
        action.is_some_and(|info| {
            info.result.report.actions().last().is_some_and(|action| action.closed(window.id))
        })
    }

    /// Notes a recorded step and what to say about it in the next one. Returns whether a dialog that its actions raised keeps its
    /// FINISH from standing.
    pub(super) fn note(&mut self, recorded: &RecordedStep<AppReply>, limits: &RoundLimits) -> bool {
        self.word = Some(recorded.reply.word.clone());
        let looks_again = recorded.reply.status == AppStatus::Screenshot;
        let only_looks = looks_again && recorded.actions.is_empty();
        self.screenshots = if only_looks { self.screenshots.saturating_add(1) } else { 0 };
        self.picture_wanted = looks_again;
        self.marks = looks_again.then(|| marks(&recorded.reply)).flatten();
        if self.screenshots > limits.screenshots_max {
            let notice =
                format!("You took {} screenshots without acting. Act now, or reply FAIL.", self.screenshots);
            self.desk.set_notice(notice);
            self.marks = None;
        }
        let finishes = recorded.reply.status == AppStatus::Finish;
        let Some(dialog) = recorded.open_question().filter(|_| finishes) else { return false };
        self.desk.set_notice(format!(
            "Your FINISH does not stand: {} opened and is still open. Handle it, or reply FINISH again if it is meant to stay.",
            dialog.label()
        ));
        true
    }
}

/// The elements that a reply asks to annotate; `None` for all.
fn marks(reply: &AppReply) -> Option<Vec<ElementId>> {
    let ids: Vec<ElementId> =
        reply.control_reannotate.iter().take(MARKS_MAX).filter_map(|id| id.trim().parse().ok()).collect();
    (!ids.is_empty()).then_some(ids)
}
