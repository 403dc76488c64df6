//! Learns a workflow from a finished request of a session.
//!
//! [`learn`] reads the journal: which calls had an effect, on which elements, with which values. What came from what was read becomes a
//! reference to it, what stands in the request becomes a parameter, and steps that repeat for the rows of a table become one. The result
//! is a draft: what it is not sure of is a question to the person who keeps the file.

mod acts;
mod parameters;
mod readings;
mod rows;
mod steps;

use std::fmt;

use deskhand_machine::{
    command::ToolSpec,
    provenance::Provenance,
    workflow::{FORMAT, Workflow, WorkflowOrigin},
};

pub use parameters::Unsure;

use self::acts::{FulfilledRequest, ObservedCall};
use crate::{
    demonstration::DemonstratedActs,
    journal::{JournalError, SessionFolder},
};

/// A workflow that cannot be learnt.
#[derive(Debug, thiserror::Error)]
pub enum LearnError {
    /// The journal cannot be read.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// There is no finished request.
    #[error("{0}")]
    NothingToLearn(String),
}

/// A workflow learnt from a session, as a draft.
#[derive(Debug, Clone, PartialEq)]
pub struct WorkflowDraft {
    /// The workflow.
    pub workflow: Workflow,
    /// Texts that may be parameters. To confirm one, call [`WorkflowDraft::accept`].
    pub unsure: Vec<Unsure>,
    /// Parts that were left out or may not hold, a sentence each.
    pub notes: Vec<String>,
    /// Who made what it was learnt from: a session that did what a stranger's file says makes nothing of the user's.
    pub provenance: Provenance,
}

impl fmt::Display for WorkflowDraft {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let workflow = &self.workflow;
        let names: Vec<&str> = workflow.parameters.keys().map(String::as_str).collect();
        let parameters = if names.is_empty() { "no parameters".to_owned() } else { names.join(", ") };
        write!(f, "{}: {} calls, {parameters}", workflow.name, workflow.calls())
    }
}

/// A request to learn a workflow from a session.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LearnOptions {
    /// The name of the workflow.
    pub name: String,
    /// The request, from 1; `None` for the last one that was finished.
    pub round: Option<u32>,
    /// The documents that were opened with the session.
    pub documents: Vec<String>,
}

/// Learns a workflow from a session. Blocking.
///
/// # Errors
/// [`LearnError`] if the journal cannot be read, or no request of it was finished.
pub fn learn(folder: &SessionFolder, lesson: &LearnOptions) -> Result<WorkflowDraft, LearnError> {
    let taught = acts::taught(folder, lesson.round)?;
    drafted(taught, lesson, WorkflowOrigin { session: folder.name(), demonstrated: false, on: String::new() })
}

/// Learns a workflow from what a person did. `id` names the demonstration; `on` is its day.
///
/// # Errors
/// [`LearnError::NothingToLearn`] if nothing was done that had an effect.
pub fn learn_shown(
    shown: DemonstratedActs,
    request: &str,
    tools: &[ToolSpec],
    lesson: &LearnOptions,
    id: &str,
) -> Result<WorkflowDraft, LearnError> {
    let acts = shown.acts.into_iter().map(|act| ObservedCall {
        about: act.about,
        command: act.command,
        result: act.result,
        view: Some(act.view),
        is_host: false,
    });
    let taught = FulfilledRequest {
        request: request.to_owned(),
        acts: acts.collect(),
        on: acts::day(crate::now_ms()),
        tools: tools.to_vec(),
        notes: shown.notes,
        provenance: Provenance::Made,
    };
    drafted(taught, lesson, WorkflowOrigin { session: id.to_owned(), demonstrated: true, on: String::new() })
}

fn drafted(
    taught: FulfilledRequest,
    lesson: &LearnOptions,
    learnt: WorkflowOrigin,
) -> Result<WorkflowDraft, LearnError> {
    let mut notes = taught.notes;
    let kept = readings::find(&taught.acts, &taught.request);
    let mut made = steps::steps(&taught.acts, &kept, &taught.tools, &mut notes);
    if made.is_empty() {
        let text = "nothing was done that had an effect; there is nothing to repeat";
        return Err(LearnError::NothingToLearn(text.to_owned()));
    }
    parameters::follow_sizes(&mut made, &|path| kept.corner(&taught.acts, path));
    rows::fold(&mut made, &|path| kept.rows(&taught.acts, path));
    let workflow = Workflow {
        format: FORMAT,
        name: lesson.name.clone(),
        about: taught.request.clone(),
        request: deskhand_machine::workflow::literal(&taught.request),
        documents: lesson.documents.iter().map(|path| deskhand_machine::workflow::literal(path)).collect(),
        learnt: Some(WorkflowOrigin { on: taught.on.clone(), ..learnt }),
        parameters: std::collections::BTreeMap::new(),
        dialogs: Vec::new(),
        steps: made,
    };
    let provenance = taught.provenance;
    if !provenance.is_users() {
        notes.push("it was learnt from what a stranger's file says, so it is not trusted yet".to_owned());
    }
    let mut draft = WorkflowDraft { workflow, unsure: Vec::new(), notes, provenance };
    parameters::find(&mut draft, &taught.request);
    Ok(draft)
}
