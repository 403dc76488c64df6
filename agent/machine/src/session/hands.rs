//! A person's words and hands in a running session: what they say of their own accord, and what they do when they take over.
//!
//! Words go on the blackboard, and into a question that is next and not sent yet. Who takes over makes what was decided before worthless:
//! the call, question or approval that is next is dropped, and the agent looks again. Steps that have begun keep what they did.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use super::{
    app::App,
    effect::Effect,
    evaluation_state::{EvaluatingPhase, EvaluationState},
    event::{EventRecord, SessionEvent},
    host::HostAgentKind,
    phases::{ActingStep, ObservedStep},
    shown::PromptViewHistory,
    state::{Session, SessionStage, StepPhase},
    step::StepAgentKind,
};
use crate::{
    agent::AgentRef, blackboard::TakeoverSummary, observation::ObservationTarget, workflow::WorkflowExecution,
};
use deskhand_ui::{
    ids::EffectId,
    text::{clip, one_line},
};

/// The longest text that a person says at once, in characters.
pub const WORDS_CHARS_MAX: usize = 4_000;

/// Why a call was not run that was next when a person took over.
const NOT_RUN: &str = "not run, because the user took over mouse and keyboard; look at what is there now";

/// Notice to an agent after a takeover.
const TAKEN_OVER: &str = "The user took over mouse and keyboard, and handed back. What they did is told with the answers of the user. Anything \
                          may have changed: go by what is there now, and do not undo it.";

/// Notice to the HostAgent if the user spoke or acted while it ended the round.
pub(super) const UNHEARD: &str = "The user said or did something while you decided, so the round goes on. It is told with the answers of the user.";

/// Description of a person's work if the process ended meanwhile.
const LOST: &str = "what they did is not known, because the process ended meanwhile";

/// Unprompted messages of the user: the last ones, and their total number.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(super) struct UserRemarks {
    count: u32,
    last: VecDeque<String>,
}

impl UserRemarks {
    /// The most words that are kept for questions that are next. The blackboard has more.
    const LAST_MAX: usize = 20;

    /// Returns the total number of messages.
    pub(super) const fn count(&self) -> u32 {
        self.count
    }

    fn add(&mut self, text: String) {
        self.count = self.count.saturating_add(1);
        while self.last.len() >= Self::LAST_MAX {
            self.last.pop_front();
        }
        self.last.push_back(text);
    }

    /// Those after the first `count`.
    fn after(&self, count: u32) -> impl Iterator<Item = &str> {
        let new = usize::try_from(self.count.saturating_sub(count)).unwrap_or(usize::MAX);
        self.last.iter().skip(self.last.len().saturating_sub(new)).map(String::as_str)
    }
}

/// Adds a line to a notice.
pub(super) fn add_line(notice: &mut String, line: &str) {
    if notice.contains(line) {
        return;
    }
    if !notice.is_empty() {
        notice.push('\n');
    }
    notice.push_str(line);
}

impl Session {
    /// Applies what a person said or did of their own accord; false for all other events.
    pub(super) fn is_of_person(&mut self, record: &EventRecord) -> bool {
        match &record.event {
            SessionEvent::Told { text, during } => {
                self.now_ms = self.now_ms.max(record.at_ms);
                self.told(text);
                if !self.is_pending(*during) {
                    self.ask_with_words();
                }
                true
            }
            SessionEvent::TakenOver { during } => {
                self.now_ms = self.now_ms.max(record.at_ms);
                self.taken_over(*during);
                true
            }
            SessionEvent::HandedBack { acts, unwatched, note } => {
                let away_ms = self.taken_over_ms.map_or(0, |since| record.at_ms.saturating_sub(since));
                self.now_ms = self.now_ms.max(record.at_ms);
                // The time of the person is not the agents'.
                self.round.started_ms = self.round.started_ms.saturating_add(away_ms);
                self.handed_back(acts.clone(), unwatched.clone());
                if let Some(note) = note {
                    self.told(note);
                }
                true
            }
            SessionEvent::Requested { .. }
            | SessionEvent::Ended
            | SessionEvent::Observed { .. }
            | SessionEvent::ObserveFailed { .. }
            | SessionEvent::Ranked { .. }
            | SessionEvent::Retrieved { .. }
            | SessionEvent::Replied { .. }
            | SessionEvent::Disclosed { .. }
            | SessionEvent::ModelFailed { .. }
            | SessionEvent::Returned { .. }
            | SessionEvent::Answered { .. }
            | SessionEvent::Unanswered { .. }
            | SessionEvent::Approved { .. }
            | SessionEvent::Rejected { .. }
            | SessionEvent::Delegated { .. }
            | SessionEvent::Acknowledged { .. }
            | SessionEvent::Stopped { .. }
            | SessionEvent::Suspended { .. }
            | SessionEvent::Resumed { .. } => false,
        }
    }

    /// Returns `true` if this effect is the pending one, so that it is in progress.
    fn is_pending(&self, effect: Option<EffectId>) -> bool {
        effect.is_some() && self.pending.as_ref().map(|pending| pending.id) == effect
    }

    fn told(&mut self, text: &str) {
        let text = clip(text.trim(), WORDS_CHARS_MAX);
        if text.is_empty() {
            return;
        }
        self.said.add(&text);
        self.blackboard.add_words(self.steps, &text);
        self.words.add(text);
        self.is_to_be_heard();
    }

    /// The round does not end before the HostAgent was asked once more.
    fn is_to_be_heard(&mut self) {
        if self.in_round() {
            self.round.unheard = true;
            self.round.unverified = true;
        }
    }

    /// A conversation with all words of the user that came since it began.
    pub(super) fn with_words(&mut self, observed: ObservedStep) -> ObservedStep {
        if observed.step.agent == AgentRef::HostAgent {
            self.round.unheard = false;
        }
        let (marks, count) = (self.marks("words"), self.words.count());
        let line = |text: &str| format!("- {}", marks.said(&one_line(text)));
        let words: Vec<String> = self.words.after(observed.words).map(line).collect();
        observed.with_words(&words, count)
    }

    /// Puts words of the user into a question that is next and was not sent yet.
    pub(super) fn ask_with_words(&mut self) {
        let lacks = |observed: &ObservedStep| observed.words < self.words.count();
        let is_late = match &self.stage {
            SessionStage::Host(StepPhase::Asking(observed))
            | SessionStage::App(_, StepPhase::Asking(observed)) => lacks(observed),
            SessionStage::Evaluating(evaluating) => match &evaluating.phase {
                EvaluatingPhase::Asking(observed) => lacks(observed),
                EvaluatingPhase::Looking(_) => false,
            },
            SessionStage::Idle
            | SessionStage::Host(_)
            | SessionStage::App(..)
            | SessionStage::Delegated(_)
            | SessionStage::Done(_)
            | SessionStage::Over => false,
        };
        if !is_late {
            return;
        }
        self.keep_refused();
        match std::mem::replace(&mut self.stage, SessionStage::Over) {
            SessionStage::Evaluating(evaluating) => self.evaluation_asks_again(*evaluating),
            stage @ (SessionStage::Idle
            | SessionStage::Host(_)
            | SessionStage::App(..)
            | SessionStage::Delegated(_)
            | SessionStage::Done(_)
            | SessionStage::Over) => {
                self.stage = stage;
                self.ask_again();
            }
        }
    }

    /// Commands that were refused before an effect that is replaced are told with the one in its place.
    fn keep_refused(&mut self) {
        if let Some(pending) = &mut self.pending {
            let later = std::mem::take(&mut self.refused);
            self.refused = std::mem::take(&mut pending.refused);
            self.refused.extend(later);
        }
    }

    fn taken_over(&mut self, during: Option<EffectId>) {
        self.taken_over_ms = Some(self.now_ms);
        if !self.in_round() {
            return;
        }
        self.is_to_be_heard();
        // What they were shown before tells nothing any more.
        for app in &mut self.apps {
            app.shown = PromptViewHistory::default();
        }
        if !self.is_pending(during) {
            self.keep_refused();
        }
        match std::mem::replace(&mut self.stage, SessionStage::Over) {
            SessionStage::Host(phase) => self.step_taken_over(HostAgentKind, phase),
            SessionStage::App(worker, phase) => self.step_taken_over(App(worker), phase),
            // If it was handed over before the session was resumed, work goes on there.
            SessionStage::Delegated(delegation) if self.is_machine(delegation.agent) => {
                self.stage = SessionStage::Delegated(delegation);
                self.take_back_refused();
                add_line(&mut self.host.notice, TAKEN_OVER);
            }
            SessionStage::Delegated(_) => {
                self.back_to_host();
                add_line(&mut self.host.notice, TAKEN_OVER);
            }
            SessionStage::Evaluating(evaluating) => self.evaluation_taken_over(*evaluating),
            stage @ (SessionStage::Idle | SessionStage::Done(_) | SessionStage::Over) => self.stage = stage,
        }
    }

    /// Drops what a step was at, and looks again.
    fn step_taken_over<A: StepAgentKind>(&mut self, agent: A, phase: StepPhase<A::Reply>) {
        match phase {
            // Nothing was seen yet.
            phase @ (StepPhase::Retrieving(_) | StepPhase::Observing(_)) => {
                self.stage = agent.stage(phase);
                self.take_back_refused();
            }
            StepPhase::Ranking(ranking) => self.look_as(agent, ranking.start),
            StepPhase::Asking(observed) => {
                agent.not_asked(self, observed.once.clone());
                self.look_as(agent, observed.restart());
            }
            StepPhase::Acting(acting) => {
                self.uncount_call();
                self.give_up(agent, acting);
            }
            StepPhase::Looking(acting) | StepPhase::Parked(acting, _) => self.give_up(agent, acting),
            // The step is over, and its questions are not about what was seen.
            StepPhase::Questioning(questions) => {
                let stage = agent.stage(StepPhase::Questioning(questions.clone()));
                self.want(stage, None, Effect::AskUser { questions });
            }
        }
        agent.notified(self, TAKEN_OVER);
    }

    /// The effect that is next stays as it is.
    fn take_back_refused(&mut self) {
        if let Some(pending) = &mut self.pending
            && pending.refused.is_empty()
        {
            pending.refused = std::mem::take(&mut self.refused);
        }
    }

    /// Ends a step whose commands were decided on what was seen before: it starts over if none of them ran.
    fn give_up<A: StepAgentKind>(&mut self, agent: A, acting: ActingStep<A::Reply>) {
        agent.withdraws(self);
        match acting.given_up(NOT_RUN) {
            Ok(mut acted) => {
                self.refused.append(&mut acted.refused);
                agent.acted(self, acted);
                agent.withdraws(self);
            }
            Err(start) => {
                self.decides_anew();
                self.look_as(agent, start);
            }
        }
    }

    /// Allows decisions that were made without a model, and did not run, to be made once more.
    fn decides_anew(&mut self) {
        if let Some(following) = self.round.following.as_mut().filter(|following| following.is_waiting()) {
            following.anew();
        }
        self.round.performing.iter_mut().for_each(WorkflowExecution::anew);
        self.round.nesting.anew();
    }

    fn evaluation_taken_over(&mut self, evaluating: EvaluationState) {
        let EvaluationState { result, findings, phase } = evaluating;
        let stage = |phase: EvaluatingPhase| {
            SessionStage::Evaluating(Box::new(EvaluationState { result, findings, phase }))
        };
        match phase {
            phase @ EvaluatingPhase::Looking(_) => {
                self.stage = stage(phase);
                self.take_back_refused();
            }
            EvaluatingPhase::Asking(observed) => {
                let start = observed.restart();
                let look = ObservationTarget::Desktop { picture: self.config.pictures };
                let step = start.step.clone();
                self.want(stage(EvaluatingPhase::Looking(start)), Some(step), Effect::Observe { look });
            }
        }
    }

    fn handed_back(&mut self, acts: Vec<String>, unwatched: Vec<String>) {
        self.taken_over_ms = None;
        self.heard.add_hands(&acts);
        self.blackboard.add_hands(TakeoverSummary { step: self.steps, acts, unwatched });
        self.is_to_be_heard();
    }

    /// The process ended while a person had taken over. Whoever resumes the session hands back.
    pub(super) fn hands_are_gone(&mut self) {
        if self.taken_over_ms.is_some() {
            self.handed_back(Vec::new(), vec![LOST.to_owned()]);
        }
    }
}
