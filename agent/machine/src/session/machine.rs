//! The session: a machine at work and the ledgers.

use serde::{Deserialize, Serialize};

use super::{
    concealing::{conceal, disclose, passwords_of},
    config::SessionConfig,
    dispatch::{dispatch, settle},
    effect::{Effect, EffectRecord},
    error::{ApplyError, answers, event_word},
    event::{EventRecord, IncomingEvent, SessionEvent, StopReason, Suspension},
    hiding::{self, Values, hide},
    ledgers::Ledgers,
    password::{ConcealedTexts, KeptTexts, TypedPassword},
    planned::{PlannedAction, planned},
    resume::resume,
    review::{ReviewedCommand, ShadowPolicyReview},
    round::{RoundTally, SubtaskRecord},
    run::SessionMachine,
    takeover::{ask_again, is_of_person},
    turn::{MachineTurn, NextMove},
};
use crate::{
    blackboard::Blackboard,
    model::ModelReply,
    observation::Observation,
    outcome::OutcomeKind,
    policy::{PathRoots, Policy},
    prompt::PromptSet,
    states::HostStatus,
    target::TargetRegistry,
};
use deskhand_ui::{action::words::CallReportFormatter, secret::SecretPermit};

/// A session: the machine at work, and the ledgers that it works with.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Session {
    machine: SessionMachine,
    ledgers: Ledgers,
}

impl Session {
    /// A session that waits for its first request.
    pub fn new(config: SessionConfig, prompts: PromptSet) -> Self {
        let mut ledgers = Ledgers::new(config, prompts);
        let machine =
            settle(&mut ledgers, MachineTurn::Wait(SessionMachine::Idle, None, Effect::AwaitRequest));
        Self { machine, ledgers }
    }

    /// The same session with other sentences in its prompts. No decision depends on them.
    #[must_use]
    pub const fn with_wording(mut self, wording: CallReportFormatter) -> Self {
        self.ledgers.wording = wording;
        self
    }

    /// The same session, whose commands are also judged by another policy. That decides nothing.
    #[must_use]
    pub fn reviewed_by(mut self, policy: Policy) -> Self {
        self.ledgers.review = Some(Box::new(ShadowPolicyReview::new(policy)));
        self
    }

    /// Changes the configuration and the prompts from the next step on.
    pub fn change(&mut self, config: SessionConfig, prompts: PromptSet) {
        let ledgers = &mut self.ledgers;
        let windows = ledgers.targets.windows().to_vec();
        let targets = TargetRegistry::new(config.agents.clone());
        ledgers.targets = targets.with_workflows(config.workflows.clone());
        ledgers.targets.set_windows(windows);
        let targets = &ledgers.targets;
        ledgers.agents.keep_agents(|id, name| targets.agent(id).is_some_and(|agent| agent.name == name));
        ledgers.config = config;
        ledgers.prompts = prompts;
    }

    /// Applies an event. On an error the machine is unchanged.
    ///
    /// # Errors
    /// [`ApplyError`] if the event does not answer the pending effect.
    pub fn apply(&mut self, record: &EventRecord) -> Result<(), ApplyError> {
        if let SessionEvent::Resumed { desktop_kept } = record.event {
            return resume(&mut self.machine, &mut self.ledgers, desktop_kept, record);
        }
        if self.ledgers.effects.pending().is_none() {
            return Err(ApplyError::Ended);
        }
        if let SessionEvent::Stopped { reason } = record.event {
            self.ledgers.budget.advance(record.at_ms);
            self.stop(reason);
            return Ok(());
        }
        if let SessionEvent::Suspended { reason } = &record.event {
            self.ledgers.budget.advance(record.at_ms);
            if let Suspension::Model { failure } = reason {
                self.ledgers.count_model_failure(failure);
                ask_again(&mut self.machine, &mut self.ledgers);
            }
            return Ok(());
        }
        if let SessionEvent::Disclosed { .. } = record.event {
            self.ledgers.budget.advance(record.at_ms);
            self.take_passwords(record);
            return Ok(());
        }
        if is_of_person(&mut self.machine, &mut self.ledgers, record) {
            return Ok(());
        }
        let pending = self.ledgers.effects.pending().ok_or(ApplyError::Ended)?;
        if record.effect != Some(pending.id) {
            return Err(ApplyError::OtherEffect { wanted: pending.id, came: record.effect });
        }
        if !answers(&pending.effect, &record.event) {
            return Err(ApplyError::NoAnswer { wanted: pending.id, came: event_word(&record.event) });
        }
        let answers = pending.id;
        self.ledgers.budget.advance(record.at_ms);
        self.take_passwords(record);
        dispatch(
            &mut self.machine,
            &mut self.ledgers,
            IncomingEvent { answers, event: record.event.clone() },
        );
        Ok(())
    }

    fn stop(&mut self, reason: StopReason) {
        let next = match &self.machine {
            SessionMachine::Idle | SessionMachine::Over => {
                self.machine = SessionMachine::Over;
                self.ledgers.effects.end();
                return;
            }
            SessionMachine::Done(_) => return,
            SessionMachine::Evaluating(state) => state.stop(&self.ledgers),
            SessionMachine::Host(_) | SessionMachine::App(..) | SessionMachine::Delegated(_) => {
                let ledgers = &mut self.ledgers;
                ledgers.agents.stop();
                let (kind, reason) = match reason {
                    StopReason::WallTime => {
                        let reason = ledgers.budget.time_is_up(&ledgers.config, ledgers.plans.is_nested());
                        (OutcomeKind::BudgetExhausted, reason)
                    }
                    StopReason::User => (OutcomeKind::Cancelled, "stopped by the user".to_owned()),
                    StopReason::Signal => {
                        (OutcomeKind::Cancelled, "stopped by a termination signal".to_owned())
                    }
                };
                NextMove::Finish(kind, reason)
            }
        };
        self.machine = settle(&mut self.ledgers, next.into());
    }

    /// Takes in the passwords of a reply: where they may be typed, and that dots stand for them in all that the session has.
    fn take_passwords(&mut self, record: &EventRecord) {
        let passwords = if let SessionEvent::Replied { passwords, withheld, .. } = &record.event {
            self.ledgers.passwords.add_withheld(withheld);
            passwords
        } else if let SessionEvent::Disclosed { passwords, texts } = &record.event {
            let values = texts.iter().map(|one| (one.dots.clone(), one.text.clone())).collect();
            hiding::disclose(&mut self.machine, &values);
            passwords
        } else {
            return;
        };
        if passwords.is_empty() {
            return;
        }
        let values: Values = self
            .passwords_of(record)
            .into_iter()
            .filter(|(password, _)| password.everywhere)
            .map(|(password, value)| (password.dots, value))
            .collect();
        self.ledgers.take_passwords(passwords, &values);
        if values.is_empty() {
            return;
        }
        if let SessionMachine::App(_, phase) = &mut self.machine
            && let Some(observed) = phase.asking_mut()
        {
            hide(&mut observed.messages, &values);
            hide(&mut observed.step, &values);
        }
    }

    /// Puts dots in place of the passwords that a reply types into fields for them, and of the texts that may be passwords because their
    /// field is not known yet. Returns those that have no dots so far.
    pub fn conceal(&self, reply: &mut ModelReply, kept: &KeptTexts<'_>) -> ConcealedTexts {
        if let SessionMachine::App(worker, phase) = &self.machine
            && let Some(observed) = phase.asking()
        {
            return conceal(&self.ledgers, (*worker, observed), reply, kept);
        }
        ConcealedTexts::default()
    }

    /// Returns the event that discloses withheld texts according to another look, with the values of those that are
    /// passwords. The event has to be applied before the look. `None` if nothing changes.
    pub fn disclose(
        &self,
        observation: &Observation,
        kept: &KeptTexts<'_>,
    ) -> Option<(SessionEvent, Vec<(TypedPassword, String)>)> {
        let SessionMachine::App(worker, phase) = &self.machine else { return None };
        disclose(&self.ledgers, (*worker, phase.looking()?.waiting()), observation, kept)
    }

    /// The passwords that an event is the first to hide, with the dots that stand for them, as far as the session has them in clear.
    /// It has to be asked before the event is applied.
    pub fn passwords_of(&self, record: &EventRecord) -> Vec<(TypedPassword, String)> {
        passwords_of(&self.ledgers, self.machine.worker(), record)
    }

    /// Returns the permits for typing secrets: those of the configuration, and passwords that were typed before.
    pub fn secrets(&self) -> Vec<SecretPermit> {
        self.ledgers.secrets()
    }

    /// The policy in force.
    pub const fn policy(&self) -> &Policy {
        &self.ledgers.config.policy
    }

    /// Returns the directories that paths are relative to.
    pub const fn places(&self) -> &PathRoots {
        &self.ledgers.config.places
    }

    /// The pending effect; `None` once the session has ended.
    pub const fn next(&self) -> Option<&EffectRecord> {
        self.ledgers.effects.pending()
    }

    /// Returns `true` if the session has ended. [`SessionEvent::Resumed`] reopens it for another request.
    pub const fn has_ended(&self) -> bool {
        self.next().is_none()
    }

    /// Returns `true` if a round is in progress.
    pub const fn in_round(&self) -> bool {
        self.machine.is_in_round()
    }

    /// Returns `true` if the round could go on if the model answered: it is asked for a decision of an agent, not for a judgement, without
    /// which a round can end.
    pub const fn needs_model(&self) -> bool {
        self.machine.asking().is_some()
    }

    /// Returns `true` if the round is a workflow that asks no model about its steps.
    pub fn performs_without_model(&self) -> bool {
        let plans = &self.ledgers.plans;
        self.in_round() && !plans.is_nested() && plans.acts_without_model()
    }

    /// The commands that currently wait for approval, in order.
    pub fn planned(&self) -> Vec<PlannedAction> {
        planned(&self.machine, self.next())
    }

    /// Every command that was proposed since another policy judges them, in order, with both decisions.
    pub fn reviewed(&self) -> &[ReviewedCommand] {
        self.ledgers.review.as_ref().map_or(&[], |review| review.commands())
    }

    /// The resources used by the current round.
    pub const fn tally(&self) -> &RoundTally {
        self.ledgers.budget.tally()
    }

    /// The resources used by all rounds.
    pub const fn session_tally(&self) -> &RoundTally {
        self.ledgers.budget.session_tally()
    }

    /// The time of the current round up to the last event, in milliseconds.
    pub const fn elapsed_ms(&self) -> u64 {
        self.ledgers.budget.elapsed_ms()
    }

    /// The time left in the current round, in milliseconds; `None` without a limit.
    pub fn wall_ms_left(&self) -> Option<u64> {
        let Ledgers { budget, config, plans, .. } = &self.ledgers;
        budget.wall_ms_left(config, plans.is_nested())
    }

    /// The finished sub-tasks of the current round.
    pub fn subtasks(&self) -> &[SubtaskRecord] {
        self.ledgers.round.subtasks()
    }

    /// The state of the HostAgent.
    pub const fn host_status(&self) -> HostStatus {
        self.ledgers.agents.host().status()
    }

    /// The shared memory.
    pub const fn blackboard(&self) -> &Blackboard {
        &self.ledgers.blackboard
    }

    /// The files that the session has saved, by the proofs of its actions: the last ones.
    pub fn saved_files(&self) -> impl Iterator<Item = &str> {
        self.ledgers.sources.saved_files()
    }
}
