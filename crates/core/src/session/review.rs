//! A second policy beside the one in force: what it would decide on the same commands.

use serde::Serialize;

use super::{
    effect::StepRef,
    gate::{Judging, Unread},
    state::Session,
};
use crate::{
    command::Command,
    intent::Does,
    policy::{Policy, Ruling, Subject},
};

/// One command of a session under two policies.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Reviewed {
    /// The step that proposed it.
    pub step: StepRef,
    /// The command, with its arguments in canonical form.
    pub command: Command,
    /// Subject that rules are matched against.
    pub subject: Subject,
    /// The decision of the policy that was in force.
    pub then: Ruling,
    /// The decision of the other policy.
    pub now: Ruling,
}

impl Reviewed {
    /// Returns `true` if the two policies decide otherwise.
    pub fn changes(&self) -> bool {
        self.then.decision != self.now.decision
    }
}

/// The other policy, and what it has decided so far.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Review {
    policy: Policy,
    commands: Vec<Reviewed>,
}

impl Review {
    /// Returns the decisions of both policies on the commands of a step.
    pub(super) fn of(&self, step: &StepRef, commands: Vec<Command>, by: &Judging<'_>) -> Vec<Reviewed> {
        let mut before = Vec::new();
        let mut reviewed = Vec::new();
        for mut command in commands {
            let is_read = command.intent.does == Does::Delegate;
            match if is_read { Ok(()) } else { by.read(&before, &mut command) } {
                Ok(()) => {}
                // They are judged after another look.
                Err(Unread::Later) => break,
                // What cannot be read is never sent.
                Err(Unread::Refused(_)) => continue,
            }
            let subject = by.subject(&before, &command);
            let then = by.policy.decide(&subject);
            let now = self.policy.decide(&subject);
            before.push(command.clone());
            reviewed.push(Reviewed { step: step.clone(), command, subject, then, now });
        }
        reviewed
    }

    pub(super) fn add(&mut self, reviewed: Vec<Reviewed>) {
        self.commands.extend(reviewed);
    }
}

impl Session {
    /// The same session, whose commands are also judged by another policy. That decides nothing.
    #[must_use]
    pub fn reviewed_by(mut self, policy: Policy) -> Self {
        self.review = Some(Box::new(Review { policy, commands: Vec::new() }));
        self
    }

    /// Every command that was proposed since, in order, with both decisions.
    pub fn reviewed(&self) -> &[Reviewed] {
        self.review.as_ref().map_or(&[], |review| &review.commands)
    }
}
