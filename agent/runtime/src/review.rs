//! Judges the commands of a recorded session by another policy, offline.

use deskhand_machine::{
    policy::Policy,
    prompt::PromptSet,
    record::JournalRecord,
    session::{ReviewedCommand, Session},
};

use crate::journal::SessionJournal;

/// The decisions of another policy on the commands of a session.
#[derive(Debug, Clone, PartialEq)]
pub struct PolicyReview {
    /// Every command that was proposed, in order.
    pub commands: Vec<ReviewedCommand>,
    /// The record from which the journal could not be followed, and why; `None` if it was followed to its end.
    pub stopped: Option<(u64, String)>,
}

/// Follows a journal with its own prompts, and judges what its agents proposed by `policy`. The session goes the way that it went: what
/// an agent would have done after another decision is not known.
pub fn review(journal: &SessionJournal, prompts: PromptSet, policy: Policy) -> PolicyReview {
    let mut session = Session::new(journal.header.config.clone(), prompts).reviewed_by(policy);
    let mut stopped = None;
    for line in &journal.lines {
        match &line.record {
            JournalRecord::Header(_) | JournalRecord::Effect(_) => {}
            JournalRecord::Changed(change) => session.change(change.config.clone(), change.prompts.clone()),
            JournalRecord::Event(event) => {
                if let Err(error) = session.apply(event) {
                    stopped = Some((line.seq, error.to_string()));
                    break;
                }
            }
        }
    }
    PolicyReview { commands: session.reviewed().to_vec(), stopped }
}
