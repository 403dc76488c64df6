//! Running a workflow: a session whose request is the workflow.

use std::{collections::BTreeMap, path::PathBuf};

use deskhand_machine::{
    session::FollowerPlan,
    workflow::{Heal, WorkflowRun},
};
use deskhand_runtime::people::UserRequest;

use super::{StoredWorkflow, WorkflowFileError};
use crate::SessionRequest;

/// A run of a workflow.
#[derive(Debug, Clone, PartialEq)]
pub struct Perform {
    /// The workflow.
    pub shelved: StoredWorkflow,
    /// The values that were given for its parameters.
    pub values: BTreeMap<String, String>,
    /// Handling of a step that cannot be done as it is written.
    pub heal: Heal,
    /// Documents to open besides its own, and where to save a final picture.
    pub session: SessionRequest,
}

impl Perform {
    /// The request for a session.
    ///
    /// # Errors
    /// A parameter is missing, no parameter, or no number.
    pub(crate) fn into_session(self) -> Result<SessionRequest, WorkflowFileError> {
        let Self { shelved, values, heal, session } = self;
        let name = shelved.workflow.name.clone();
        let unfit = |problem| WorkflowFileError::Unfit { name: name.clone(), problem };
        let text_of = |problem| WorkflowFileError::Text { name: name.clone(), problem };
        let values = shelved.workflow.values(&values).map_err(unfit)?;
        let provenance = shelved.file.provenance;
        let run = WorkflowRun { workflow: shelved.workflow, values, heal, provenance };
        let text = run.request().map_err(text_of)?;
        // The session opens those of a stranger's workflow itself: each goes through the gate.
        let own = run.documents().map_err(text_of)?.into_iter().filter(|_| provenance.is_users());
        let mut open: Vec<PathBuf> = own.map(PathBuf::from).collect();
        let besides = session.open.iter().filter(|document| !open.contains(document)).cloned();
        open.extend(besides.collect::<Vec<_>>());
        let plan = FollowerPlan { workflow: Some(Box::new(run)), ..FollowerPlan::of_file(provenance) };
        Ok(SessionRequest { requests: vec![UserRequest { text, plan: Some(plan) }], open, ..session })
    }
}
