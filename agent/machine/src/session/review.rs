//! A second policy beside the one in force: what it would decide on the same commands.

use serde::Serialize;

use super::{
    effect::StepRef,
    judging::{GateContext, IntentReadError},
};
use crate::{
    command::ToolCommand,
    intent::Does,
    policy::{Policy, PolicyRuling, Subject},
};

/// One command of a session under two policies.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ReviewedCommand {
    /// The step that proposed it.
    pub step: StepRef,
    /// The command, with its arguments in canonical form.
    pub command: ToolCommand,
    /// Subject that rules are matched against.
    pub subject: Subject,
    /// The decision of the policy that was in force.
    pub then: PolicyRuling,
    /// The decision of the other policy.
    pub now: PolicyRuling,
}

impl ReviewedCommand {
    /// Returns `true` if the two policies decide otherwise.
    pub fn changes(&self) -> bool {
        self.then.decision != self.now.decision
    }
}

/// The other policy, and what it has decided so far.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ShadowPolicyReview {
    policy: Policy,
    commands: Vec<ReviewedCommand>,
}

impl ShadowPolicyReview {
    /// A policy that has judged nothing yet.
    pub(super) const fn new(policy: Policy) -> Self {
        Self { policy, commands: Vec::new() }
    }

    /// Every command that was proposed since, in order.
    pub(super) fn commands(&self) -> &[ReviewedCommand] {
        &self.commands
    }

    /// Returns the decisions of both policies on the commands of a step.
    pub(super) fn of(
        &self,
        step: &StepRef,
        commands: Vec<ToolCommand>,
        by: &GateContext<'_>,
    ) -> Vec<ReviewedCommand> {
        let mut before = Vec::new();
        let mut reviewed = Vec::new();
        for mut command in commands {
            let is_read = command.intent.does == Does::Delegate;
            match if is_read { Ok(()) } else { by.read(&before, &mut command) } {
                Ok(()) => {}
                // They are judged after another look.
                Err(IntentReadError::Later) => break,
                // What cannot be read is never sent.
                Err(IntentReadError::Refused(_)) => continue,
            }
            let subject = by.subject(&before, &command);
            let then = by.policy.decide(&subject);
            let now = self.policy.decide(&subject);
            before.push(command.clone());
            reviewed.push(ReviewedCommand { step: step.clone(), command, subject, then, now });
        }
        reviewed
    }

    /// Keeps the decisions on commands.
    pub(super) fn add(&mut self, reviewed: Vec<ReviewedCommand>) {
        self.commands.extend(reviewed);
    }
}
