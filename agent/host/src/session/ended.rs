//! A session that ended, and what became of its desktop.

use std::{path::PathBuf, time::Duration};

use deskhand_machine::{
    outcome::{Outcome, OutcomeKind},
    session::Suspension,
    workflow::WorkflowEnd,
};
use deskhand_runtime::{RunEnd, RunSummary, SessionFolder};
use deskhand_ui::ids::SessionId;
use futures_util::future::BoxFuture;

use crate::{
    Notice,
    config::{DesktopKind, KeepSetting},
    workspace::{DesktopNote, Workspace, WorkspacePlan, remaining_name},
};

/// A session that ended.
pub struct EndedSession {
    /// Its id.
    pub session: SessionId,
    /// Its folder.
    pub folder: SessionFolder,
    /// The outcome of its last round; `None` if there was no request, or the round is not over.
    pub outcome: Option<Outcome>,
    /// Why it ended before its round was over; a resumed session goes on with it.
    pub suspended: Option<Suspension>,
    /// Final state of the desktop.
    pub desktop: DesktopEnd,
    /// The summary of the journal.
    pub summary: RunSummary,
    /// Start-up time of the desktop.
    pub desktop_start_ms: u64,
    /// Duration of the session, including the start and end of the desktop.
    pub elapsed_ms: u64,
    /// The final screenshot, if requested and taken.
    pub screenshot: Option<PathBuf>,
    /// Results of the workflows that its rounds ran as a whole, or that agents ran.
    pub workflows: Vec<WorkflowEnd>,
}

impl EndedSession {
    /// The outcome of the last round; that of its suspension if it is not over, and cancelled if there was no request.
    pub fn outcome(&self) -> Outcome {
        match (&self.outcome, &self.suspended) {
            (Some(outcome), _) => outcome.clone(),
            (None, Some(reason @ Suspension::Model { .. })) => {
                Outcome::new(OutcomeKind::Error, reason.to_string())
            }
            (None, Some(reason @ (Suspension::Signal | Suspension::Elsewhere))) => {
                Outcome::new(OutcomeKind::Cancelled, reason.to_string())
            }
            (None, None) => Outcome::new(OutcomeKind::Cancelled, "stopped before the request began"),
        }
    }

    /// Returns `true` if `deskhand resume` goes on without another request.
    pub fn is_resumable(&self) -> bool {
        self.suspended.is_some()
            || self.outcome.as_ref().is_some_and(|outcome| outcome.kind != OutcomeKind::Finished)
    }
}

/// Final state of the desktop of a session.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DesktopEnd {
    /// Items with unsaved changes: documents by path or name, else titles of windows. If the desktop ended, the
    /// changes are lost.
    pub unsaved: Vec<String>,
    /// Time for which the desktop is kept; `None` if it ended.
    pub kept: Option<Duration>,
}

impl DesktopEnd {
    /// Returns the items with unsaved changes that the outcome does not name.
    pub fn unsaved_besides<'a>(&'a self, outcome: &'a Outcome) -> impl Iterator<Item = &'a String> {
        self.unsaved.iter().filter(|what| !outcome.unsaved.contains(what))
    }

    /// Ends the desktop of a session that sent so many commands, or leaves it to its keeper: if something is unsaved, or if there is
    /// something to go on with. Applications are closed as a person would; what asks before it closes stays.
    pub(super) fn of<'a>(
        plan: &'a WorkspacePlan,
        workspace: Workspace,
        end: &'a RunEnd,
        calls: u32,
    ) -> BoxFuture<'a, (Self, Vec<Notice>)> {
        Box::pin(async move {
            let folder = end.folder.path();
            if plan.kind() == DesktopKind::Current {
                return (Self::default(), workspace.close().await);
            }
            let is_over = end.suspended.is_none();
            let finished =
                is_over && end.outcome.as_ref().is_none_or(|outcome| outcome.kind == OutcomeKind::Finished);
            let keep = plan.keep.as_ref().filter(|keep| keep.when != KeepSetting::Never);
            let anyway = keep.is_some_and(|keep| !finished || keep.when == KeepSetting::Always);
            let (unsaved, wanted) = if anyway {
                let interrupted = matches!(end.suspended, Some(Suspension::Signal | Suspension::Elsewhere));
                let always = keep.is_some_and(|keep| keep.when == KeepSetting::Always);
                // Nothing was done yet: a session that is resumed opens its documents again.
                let is_untouched = calls == 0 && !interrupted && !always;
                let mut unsaved = workspace.unsaved().await;
                unsaved.retain(|what| !(is_untouched && plan.begins(what)));
                let wanted = !unsaved.is_empty() || (!is_untouched && workspace.shows_windows().await);
                (unsaved, wanted || interrupted)
            } else {
                let left = workspace.close_applications().await;
                let unsaved: Vec<String> =
                    left.iter().filter(|one| one.is_unsaved()).map(remaining_name).collect();
                let wanted = !unsaved.is_empty();
                (unsaved, wanted)
            };
            let mut notices = Vec::new();
            let mut kept = None;
            match keep.filter(|_| wanted) {
                Some(keep) => match workspace.leave(keep.duration).await {
                    Ok(()) => kept = Some(keep.duration),
                    Err(error) => notices.push(Notice::not_kept(&error)),
                },
                None => workspace.end().await,
            }
            if kept.is_none() {
                DesktopNote::remove(folder);
                notices.extend(unsaved.iter().map(|what| Notice::Lost { what: what.clone() }));
            }
            (Self { unsaved, kept }, notices)
        })
    }
}
