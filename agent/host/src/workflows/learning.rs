//! Learning a workflow from a stored session.

use std::path::PathBuf;

use deskhand_runtime::{
    SessionFolder,
    learn::{LearnOptions, WorkflowDraft, learn},
};
use deskhand_ui::text::excerpt;

use super::WorkflowFileError;

/// Source and name of a workflow to learn.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Learn {
    /// The name of the workflow; `None` for one made of the request.
    pub name: Option<String>,
    /// The request of the session, from 1; `None` for the last finished one.
    pub round: Option<u32>,
}

/// Learns from a session, with the documents that were opened with it.
pub(crate) fn learn_from(
    folder: &SessionFolder,
    documents: &[PathBuf],
    wanted: &Learn,
) -> Result<WorkflowDraft, WorkflowFileError> {
    let lesson = LearnOptions {
        name: wanted.name.clone().unwrap_or_default(),
        round: wanted.round,
        documents: documents.iter().map(|path| path.to_string_lossy().into_owned()).collect(),
    };
    let failed = |problem| WorkflowFileError::Learn { session: folder.name(), problem };
    let draft = learn(folder, &lesson).map_err(failed)?;
    named(draft, wanted.name.as_deref())
}

/// A draft with the name that was given, or one made of its request; checked.
pub(crate) fn named(
    mut draft: WorkflowDraft,
    name: Option<&str>,
) -> Result<WorkflowDraft, WorkflowFileError> {
    draft.workflow.name = name.map_or_else(|| name_of(&draft.workflow.about), str::to_owned);
    let name = draft.workflow.name.clone();
    draft.workflow.check().map_err(|problem| WorkflowFileError::Unfit { name, problem })?;
    Ok(draft)
}

/// A name made of a request: its first words.
fn name_of(request: &str) -> String {
    const WORDS: usize = 4;
    const CHARS: usize = 40;
    let words = request.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let name = words.take(WORDS).map(str::to_lowercase).collect::<Vec<_>>().join("-");
    let name = excerpt(&name, CHARS).trim_end_matches('…').to_owned();
    if name.is_empty() { "workflow".to_owned() } else { name }
}
