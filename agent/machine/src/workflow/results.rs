//! Handling of the results of calls in a workflow in progress.

use super::{
    change::{StepChange, WorkflowEnd},
    file::WorkflowStep,
    performing::{PendingProposal, WorkflowExecution, WorkflowStepFailure},
    selector::mean_the_same,
};
use crate::{
    command::{ActionCommandInfo, CallStatus},
    intent::Does,
};
use deskhand_ui::{action::Verdict, fold_name, text::one_line};

impl WorkflowExecution {
    /// Returns the outcome of the run, or its progress so far.
    pub(crate) fn end(&self) -> WorkflowEnd {
        let stopped_at = self.step().map(|_| self.label());
        WorkflowEnd {
            name: self.run.workflow.name.clone(),
            done: self.done,
            unseen: self.unseen,
            stopped_at,
            changes: self.changes.clone(),
        }
    }

    /// Takes back what was proposed and did not run, so that it can be proposed once more.
    pub(crate) fn anew(&mut self) {
        if let Some(PendingProposal::Document(path)) = self.proposed.take() {
            self.opening.push_front(path);
        }
        (self.started, self.waited) = (false, false);
    }

    /// Takes in what came of the calls that were proposed.
    pub(crate) fn recorded(&mut self, actions: &[ActionCommandInfo]) {
        let Some(proposed) = self.proposed.take() else { return };
        let Some((info, following)) = actions.split_first() else { return };
        match proposed {
            PendingProposal::Wait => {}
            PendingProposal::Document(_) if info.result.is_success() => {}
            PendingProposal::Document(_) => self.fails(info),
            PendingProposal::Scroll => self.scrolled(info),
            PendingProposal::Dialog(change) if info.result.is_success() => {
                self.changes.extend(change.map(|change| *change));
            }
            PendingProposal::Dialog(_) => self.fails(info),
            PendingProposal::Step(changes) => {
                let mut changes = Some(changes);
                for info in std::iter::once(info).chain(following) {
                    let Some(step) = self.step().cloned() else { return };
                    if !info.result.is_success() {
                        // What did not run because of the call before it is looked for anew.
                        if changes.is_some() || info.result.status != CallStatus::Skipped {
                            self.tries_again(info);
                        }
                        return;
                    }
                    self.succeeds(&step, info, changes.take().unwrap_or_default());
                    if self.trouble.is_some() {
                        return;
                    }
                }
            }
        }
    }

    fn succeeds(&mut self, step: &WorkflowStep, info: &ActionCommandInfo, changes: Vec<StepChange>) {
        if let Some(opens) = &step.expect.opens {
            let wanted = self.values.fill(opens).unwrap_or_else(|_| opens.clone());
            if !opened(info, &wanted) {
                let text = format!("“{wanted}” was to open, and did not: {}", info.result.summary());
                self.trouble = Some(WorkflowStepFailure { argument: None, text });
                return;
            }
        }
        if info.result.effect == Some(Verdict::Unknown) && !step.expect.unseen {
            self.unseen = self.unseen.saturating_add(1);
        }
        let label = self.label();
        self.reads.note(&label, step, info);
        if let Some(name) = &step.save {
            self.values.save(name, info.result.output.clone());
        }
        self.changes.extend(changes);
        self.done = self.done.saturating_add(1);
        self.advance();
    }

    /// Retries the step once if it was refused, and so did not happen, or if repeating it leads to the same state.
    fn tries_again(&mut self, info: &ActionCommandInfo) {
        let refused =
            info.result.effect == Some(Verdict::Refused) || info.result.status == CallStatus::Skipped;
        let again = refused
            || matches!(info.command.intent.does, Does::Set | Does::Read | Does::Switch | Does::Point);
        if !again || std::mem::replace(&mut self.tried_again, true) {
            self.fails(info);
        }
    }

    fn fails(&mut self, info: &ActionCommandInfo) {
        let text = format!("{} → {}", info.command.to_line(), one_line(&info.result.summary()));
        self.trouble = Some(WorkflowStepFailure { argument: None, text });
    }
}

/// Returns `true` if a call opened a window or dialog with this title.
fn opened(info: &ActionCommandInfo, title: &str) -> bool {
    let wanted = fold_name(title);
    let is = |known: &str| {
        let known = fold_name(known);
        known.contains(&wanted) || wanted.contains(&known) || mean_the_same(&known, &wanted)
    };
    info.result.window.as_ref().is_some_and(|window| !window.title.is_empty() && is(&window.title))
        || info.result.report.contains(&info.result.output, title)
}
