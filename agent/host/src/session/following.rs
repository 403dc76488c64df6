//! The lines of a session as its story, and as what it teaches.

use deskhand_machine::{
    record::{JournalEntry, JournalRecord},
    session::Effect,
    workflow::WorkflowEnd,
};
use deskhand_runtime::{HeldSession, RunSummary, Story};
use deskhand_ui::text::error_chain;
use tokio::task::spawn_blocking;

use super::SessionError;
use crate::{
    Notice,
    knowledge::{Knowledge, KnowledgeError, Lessons},
};

/// State that was read of a session so far.
pub(super) struct SessionFollower {
    story: Story,
    lessons: Lessons,
    /// Results of the workflows of its rounds.
    workflows: Vec<WorkflowEnd>,
}

/// The most ends of workflows that are kept.
const WORKFLOWS_MAX: usize = 200;

impl SessionFollower {
    /// Of a session from its beginning, or with what it has done before.
    ///
    /// # Errors
    /// Its journal cannot be read.
    pub(super) fn of(held: Option<&HeldSession>) -> Result<Self, SessionError> {
        let mut following =
            Self { story: Story::default(), lessons: Lessons::default(), workflows: Vec::new() };
        if let Some(held) = held {
            let past = held.folder().read_lines(&mut |line| following.read(line));
            past.map_err(SessionError::Journal)?;
            following.lessons.begin_here();
            following.workflows.clear();
        }
        Ok(following)
    }

    /// Takes in a line.
    pub(super) fn read(&mut self, line: &JournalEntry) {
        let updates = self.story.read(line);
        self.lessons.read(&updates, line.at_ms);
        if let JournalRecord::Effect(record) = &line.record
            && let Effect::Finish { outcome } = &record.effect
            && self.workflows.len() < WORKFLOWS_MAX
        {
            self.workflows.extend(outcome.workflow.as_deref().into_iter().chain(&outcome.nested).cloned());
        }
    }

    /// Takes the results of the workflows of the rounds since the session was started or resumed.
    pub(super) fn take_workflows(&mut self) -> Vec<WorkflowEnd> {
        std::mem::take(&mut self.workflows)
    }

    /// The summary of the session. What it taught goes to the experiences of `knowledge`; a failure is only reported.
    pub(super) async fn end(
        self,
        session: &str,
        knowledge: Option<Knowledge>,
    ) -> (RunSummary, Option<Notice>) {
        let summary = self.story.into_summary();
        let (lessons, session) = (self.lessons, session.to_owned());
        let Some(knowledge) = knowledge.filter(|_| lessons.has_taught()) else { return (summary, None) };
        let kept = spawn_blocking(move || keep(lessons, &session, &knowledge)).await;
        let problem = match kept {
            Ok(Ok(())) => return (summary, None),
            Ok(Err(error)) => error_chain(&error),
            Err(error) => error.to_string(),
        };
        (summary, Some(Notice::NotLearnt { problem }))
    }
}

/// Keeps what a session taught. Blocking.
fn keep(lessons: Lessons, session: &str, knowledge: &Knowledge) -> Result<(), KnowledgeError> {
    let store = knowledge.experiences()?;
    let (experiences, used) = lessons.into_taught(session);
    for (id, worked) in used {
        store.note_result(&id, worked)?;
    }
    store.add_all(experiences)?;
    Ok(())
}
