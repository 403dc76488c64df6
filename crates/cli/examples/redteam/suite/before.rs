//! What the first edition of the safe guard would have asked in a session: how many questions are new since.

use std::collections::BTreeSet;

use deskhand_core::{
    policy::{Decision, Edition, Policy},
    session::Reviewed,
};
use deskhand_runtime::{SessionStore, review};

use super::{Failure, world::World};

/// The questions of a session, by both editions.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Before {
    /// How often the user would have been asked by the first edition: once for each step with such a command.
    pub(crate) asked: u32,
    /// What is asked about now and was not, with the reason.
    pub(crate) new: Vec<String>,
}

impl Before {
    /// Judges the session that was recorded in this world once more.
    pub(crate) fn of(world: &World) -> Result<Self, Failure> {
        let state = world.path(".local/state/deskhand");
        let folder = SessionStore::at(state.join("sessions"), state.join("seals")).find("last")?;
        let journal = folder.read()?;
        let prompts = folder.prompts(&journal.header.prompts_sha256)?;
        let policy = Policy { guard: Edition::First, ..journal.header.config.policy.clone() };
        let review = review(&journal, prompts, policy);
        if let Some((record, why)) = review.stopped {
            return Err(format!("the journal cannot be followed from record {record}: {why}").into());
        }
        Ok(Self::among(&review.commands))
    }

    fn among(commands: &[Reviewed]) -> Self {
        let asks = |decision: Decision| decision == Decision::Ask;
        // Programs that are no application were not asked about at first, although that edition does.
        let before = commands.iter().filter(|one| asks(one.now.decision) && one.subject.stranger.is_none());
        let steps: BTreeSet<u32> = before.map(|one| one.step.number).collect();
        let new = commands.iter().filter(|one| asks(one.then.decision) && !steps.contains(&one.step.number));
        let told = |one: &Reviewed| format!("{}: {}", one.command.to_line(), one.then.why);
        Self { asked: u32::try_from(steps.len()).unwrap_or(u32::MAX), new: new.map(told).collect() }
    }
}
