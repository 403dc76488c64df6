//! The steps that are done without another look at the window: those that follow calls which only fill in, point, read or save, and whose
//! elements are seen already, just as the workflow describes them.

use super::{file::WorkflowStep, performing::WorkflowExecution};
use crate::{intent::Does, reply::ProposedAction};
use deskhand_ui::{WindowView, ids::WindowId};

/// The most calls after one look.
const CALLS_MAX: usize = 20;

/// Tells what a tool does.
pub(crate) type Tells<'a> = &'a dyn Fn(&str) -> Does;

/// Calls in a window.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct WorkflowCalls {
    /// The calls, in order.
    pub(crate) actions: Vec<ProposedAction>,
    /// Purpose of the calls.
    pub(crate) about: String,
    /// `true` if nothing is left to do in the window once they are done.
    pub(crate) are_last: bool,
}

impl WorkflowCalls {
    /// One call, after which the window is looked at again.
    pub(super) fn one(action: ProposedAction, about: impl Into<String>) -> Self {
        Self { actions: vec![action], about: about.into(), are_last: false }
    }
}

impl WorkflowExecution {
    /// The call of this step in a window of which this is seen, with those that follow it.
    pub(super) fn with_following(
        &self,
        step: &WorkflowStep,
        action: ProposedAction,
        (window, view): (WindowId, &WindowView),
        does: Tells<'_>,
    ) -> WorkflowCalls {
        let mut acts = WorkflowCalls::one(action, step.about.as_str());
        let (mut ahead, mut last) = (self.clone(), step.clone());
        // What a call returns is not known yet, and what follows may be written with it.
        while last.save.is_none() {
            ahead.advance();
            if ahead.trouble.is_some() {
                break;
            }
            let Some(next) = ahead.step().filter(|next| ahead.is_in(next, window)).cloned() else {
                acts.are_last = true;
                break;
            };
            if next.maybe || !leaves_the_view(&last, does) || acts.actions.len() >= CALLS_MAX {
                break;
            }
            let Some(action) = ahead.exact(&next, view) else { break };
            acts.actions.push(action);
            acts.about = format!("{}; {}", acts.about, next.about);
            last = next;
        }
        acts
    }

    /// The call of a step whose elements are all seen just as they are described.
    fn exact(&self, step: &WorkflowStep, view: &WindowView) -> Option<ProposedAction> {
        let (ids, changes) = self.resolve(step, view).ok()?;
        let action = self.action(step, ids).ok()?;
        changes.is_empty().then_some(action)
    }
}

/// Returns `true` if what is seen of a window holds after a step: it opens and shows nothing new.
fn leaves_the_view(step: &WorkflowStep, does: Tells<'_>) -> bool {
    let does = does(&step.call);
    step.expect.opens.is_none() && (does.stays() || matches!(does, Does::Type | Does::Save))
}
