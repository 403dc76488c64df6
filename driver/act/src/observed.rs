//! The observations after an action, and the evidence that they are.

use deskhand_desktop::{IdleReport, UiChange};
use deskhand_ui::{
    Element, WindowInfo,
    action::{
        ActionKind, ActionOutcome, ActionProof, ActionRoute, Aim, ElementChangeKind, ElementDelta,
        ElementRef, Evidence, Shortfall, Uncertainty, WaitedFor,
    },
};

use crate::report::CompletedAction;

/// Observations after an action.
#[derive(Debug, Clone, Default)]
pub(crate) struct ObservedEffect {
    /// The proof that it worked, if there is one.
    pub(crate) proof: Option<ActionProof>,
    /// Change elsewhere that proves nothing.
    pub(crate) elsewhere: Option<(ElementRef, ElementDelta)>,
    /// `true` if it may have had its effect without a visible change.
    pub(crate) may_be_silent: bool,
    pub(crate) changes: Vec<UiChange>,
    /// The window that opened.
    pub(crate) opened: Option<WindowInfo>,
    pub(crate) waited_ms: u64,
    /// Activities of the application that were waited for.
    pub(crate) waited_for: Vec<WaitedFor>,
    /// `true` if pixels changed.
    pub(crate) damaged: bool,
    /// The target as it is now; `None` if it is gone.
    pub(crate) target: Option<Element>,
    /// The text at the position of a target that was detected in a picture.
    pub(crate) words: Option<String>,
}

impl ObservedEffect {
    /// The evidence, for actions without a post-condition of their own.
    pub(crate) fn evidence(&self) -> Evidence {
        match (&self.proof, &self.elsewhere) {
            (Some(proof), _) => proof.clone().into(),
            (None, Some((element, now))) => {
                Uncertainty::Elsewhere { element: element.clone(), now: now.clone() }.into()
            }
            (None, None) if self.may_be_silent || self.changed_out_of_view() => {
                Uncertainty::NothingShown.into()
            }
            (None, None) => Shortfall::NothingChanged { pixels: false, then: None }.into(),
        }
    }

    /// Returns `true` if something that does not show says something else, such as a status line that is scrolled out of view. It is no proof, for it
    /// cannot be looked at, but "nothing changed" would not be true.
    fn changed_out_of_view(&self) -> bool {
        self.changes.iter().any(|change| {
            matches!(
                change,
                UiChange::Element {
                    element: None,
                    aspect: ElementChangeKind::Name | ElementChangeKind::Text | ElementChangeKind::Value
                }
            )
        })
    }

    /// The same for an input that was accepted, so that nothing to see means that there is no way to tell.
    pub(crate) fn accepted(self) -> Self {
        Self { may_be_silent: true, ..self }
    }

    /// The action with this effect.
    pub(crate) fn to_done(&self, act: ActionKind, aim: Aim, route: ActionRoute) -> CompletedAction {
        let action = ActionOutcome::new(act, aim, self.evidence()).by(route).after(self.waited_ms);
        let action = action.with_changes(self.changes.clone()).waiting_for(self.waited_for.clone());
        CompletedAction { action, window: self.opened.clone() }
    }

    pub(crate) fn add(&mut self, settled: IdleReport) {
        self.waited_ms += settled.waited_ms;
        self.damaged |= settled.damaged;
        let new = settled.waited_for.into_iter().filter(|one| !self.waited_for.contains(one));
        let new: Vec<WaitedFor> = new.collect();
        self.waited_for.extend(new);
        for change in settled.changes {
            if !self.changes.contains(&change) && self.changes.len() < IdleReport::CHANGES_MAX {
                self.changes.push(change);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use deskhand_ui::{State, ids::ElementId};

    use super::*;

    #[test]
    fn what_changes_out_of_view_is_not_nothing() {
        let verdict = |element: Option<u32>, aspect: ElementChangeKind| {
            let element = element.map(ElementId);
            let effect = ObservedEffect {
                changes: vec![UiChange::Element { element, aspect }],
                ..ObservedEffect::default()
            };
            effect.evidence()
        };
        assert_eq!(verdict(None, ElementChangeKind::Name), Uncertainty::NothingShown.into());
        let nothing: Evidence = Shortfall::NothingChanged { pixels: false, then: None }.into();
        for (element, aspect) in [
            (Some(7), ElementChangeKind::Name),
            (None, ElementChangeKind::State(State::Focused)),
            (None, ElementChangeKind::Bounds),
        ] {
            assert_eq!(verdict(element, aspect), nothing, "{element:?} {aspect:?}");
        }
    }
}
