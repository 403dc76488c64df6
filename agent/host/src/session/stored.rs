//! Operations on a stored session without running it: verify, replay, report, remove.

use std::{
    path::{Path, PathBuf},
    time::SystemTime,
};

use deskhand_machine::policy::Policy;
use deskhand_runtime::{
    PolicyReview, Replay, ReportFormat, SessionFolder, SessionStore, Verification,
    retention::{self, KeepReason, Retention},
};
use deskhand_ui::ids::SessionId;

use super::SessionError;

/// Mode for old sessions: remove them or only list them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RemovalMode {
    /// Removes them.
    Remove,
    /// Only says which ones would be removed.
    DryRun,
}

/// Removal of one old session.
#[derive(Debug)]
pub struct Removal {
    /// The session.
    pub session: SessionId,
    /// The total size of its files, in bytes.
    pub bytes: u64,
    /// Result of the removal.
    pub result: RemovalResult,
}

/// Result of the removal of an old session.
#[derive(Debug)]
pub enum RemovalResult {
    /// The session was removed, or would be in a dry run.
    Removed,
    /// The session was kept.
    Kept(KeepReason),
    /// The session could not be removed.
    Failed(SessionError),
}

/// Checks a session against its hashes, its seals and its anchor.
pub(crate) fn verify(folder: &SessionFolder) -> Result<Verification, SessionError> {
    Ok(deskhand_runtime::verify(folder)?)
}

/// Replays a session with its own prompts.
pub(crate) fn replay(folder: &SessionFolder) -> Result<Replay, SessionError> {
    let journal = folder.read()?;
    let prompts = folder.prompts(&journal.header.prompts_sha256)?;
    Ok(deskhand_runtime::replay(&journal, prompts))
}

/// Judges the commands of a session by another policy.
pub(crate) fn review(folder: &SessionFolder, policy: Policy) -> Result<PolicyReview, SessionError> {
    let journal = folder.read()?;
    let prompts = folder.prompts(&journal.header.prompts_sha256)?;
    Ok(deskhand_runtime::review(&journal, prompts, policy))
}

/// Writes the report of a session and returns its path.
pub(crate) fn report(
    folder: &SessionFolder,
    format: ReportFormat,
    output: Option<&Path>,
) -> Result<PathBuf, SessionError> {
    deskhand_runtime::write_report(folder, format, output).map_err(SessionError::Report)
}

/// Removes the sessions that `retention` does not keep. One that cannot be removed does not stop the others.
pub(crate) fn remove(
    store: &SessionStore,
    retention: Retention,
    mode: RemovalMode,
) -> Result<Vec<Removal>, SessionError> {
    let decisions = retention::plan(store, retention, SystemTime::now())?;
    let remove = |session: &SessionId| match mode {
        RemovalMode::DryRun => Ok(()),
        RemovalMode::Remove => retention::remove(store, session).map_err(SessionError::from),
    };
    let removals = decisions.into_iter().map(|decision| {
        let result = match decision.kept {
            Some(reason) => RemovalResult::Kept(reason),
            None => remove(&decision.session).map_or_else(RemovalResult::Failed, |()| RemovalResult::Removed),
        };
        Removal { session: decision.session, bytes: decision.bytes, result }
    });
    Ok(removals.collect())
}
