//! Recovery of a step that cannot be done as written: dialogs in its way, and the decision of a model.

use serde_json::{Map, Value};

use super::{
    ahead::WorkflowCalls,
    change::{Healer, StepChange},
    dialogs::dismissal,
    performing::{NextWindowStep, PendingProposal, UnresolvedElement, WorkflowExecution},
    run::Heal,
    selector::{Selector, find},
};
use crate::{
    known_tools::CLICK,
    reply::{HealChoice, HealReply, ProposedAction},
};
use deskhand_ui::{WindowView, ids::ElementId, text::one_line};

/// The most questions to a model about one step: one for a dialog that is in the way, one for the step itself.
const HEALS_MAX: u32 = 2;
/// The most dialogs in a row that are pressed away before a step.
const DIALOGS_MAX: u32 = 5;

impl WorkflowExecution {
    /// A press in a dialog that stands in the way: one that the workflow knows, or one that only says something.
    pub(super) fn dialog(
        &mut self,
        unresolved: &UnresolvedElement,
        view: &WindowView,
    ) -> Option<NextWindowStep> {
        if !unresolved.blocked || self.dialogs >= DIALOGS_MAX {
            return None;
        }
        let rules = &self.run.workflow.dialogs;
        let known =
            rules.iter().find_map(|rule| Some((find(&rule.press, view).element()?, rule.about.clone())));
        let (element, about, change) = match known {
            Some((element, about)) => (element, about, None),
            None => {
                let (element, press) = dismissal(view)?;
                let title =
                    view.surfaces.last().map(|surface| surface.window.title.clone()).unwrap_or_default();
                let why = format!("the dialog “{title}” came, which only says something");
                let change =
                    StepChange::Dialog { press: Box::new(press), why: why.clone(), by: Healer::Rule };
                (element, why, Some(Box::new(change)))
            }
        };
        self.dialogs = self.dialogs.saturating_add(1);
        self.proposed = Some(PendingProposal::Dialog(change));
        Some(NextWindowStep::Act(WorkflowCalls::one(press(element), about)))
    }

    /// Returns `true` if a model is asked about the step that cannot be done.
    pub(crate) fn heals(&self) -> bool {
        self.run.heal != Heal::Off && self.asked < HEALS_MAX
    }

    /// The call that a model's decision about the step leads to; `None` if it leads to none.
    ///
    /// # Errors
    /// The element is not in the window, or the step is aimed at none.
    pub(crate) fn chosen(
        &self,
        choice: HealChoice,
        view: &WindowView,
    ) -> Result<Option<ProposedAction>, String> {
        let is_there = |id: ElementId| {
            let shown = view.elements().any(|element| element.id == id);
            if shown { Ok(()) } else { Err(format!("`{id}` is not in the window")) }
        };
        match choice {
            HealChoice::Use(element) => {
                is_there(element)?;
                self.with_element(element, view).map(Some)
            }
            HealChoice::Press(element) => is_there(element).map(|()| Some(press(element))),
            HealChoice::Skip | HealChoice::Stop => Ok(None),
        }
    }

    /// Takes in a model's decision about the step.
    pub(crate) fn choose(&mut self, reply: &HealReply, view: &WindowView) {
        self.asked = self.asked.saturating_add(1);
        let because = || (one_line(&reply.thought), Healer::Model);
        match reply.choice {
            HealChoice::Use(element) => {
                let (step, argument) = (self.step().cloned(), self.missing());
                let selector =
                    step.as_ref().zip(argument.as_ref()).and_then(|(step, name)| step.aims.get(name));
                let change = argument
                    .as_ref()
                    .zip(selector)
                    .and_then(|(name, was)| self.change(name, was, view, element, because()));
                self.proposed = Some(PendingProposal::Step(change.into_iter().collect()));
            }
            HealChoice::Press(element) => {
                let (why, by) = because();
                let press = Selector::of(view, element);
                let change =
                    press.map(|press| Box::new(StepChange::Dialog { press: Box::new(press), why, by }));
                self.dialogs = self.dialogs.saturating_add(1);
                self.proposed = Some(PendingProposal::Dialog(change));
            }
            HealChoice::Skip => {
                self.advance();
                return;
            }
            HealChoice::Stop => return,
        }
        self.trouble = None;
    }

    /// The argument whose element is missing; of a call that failed, the first one that is an element.
    fn missing(&self) -> Option<String> {
        let missing = self.trouble.as_ref().and_then(|trouble| trouble.argument.clone());
        missing.or_else(|| self.step()?.aims.keys().next().cloned())
    }

    /// The call of the step with this element for the one that is missing.
    fn with_element(&self, element: ElementId, view: &WindowView) -> Result<ProposedAction, String> {
        let step = self.step().ok_or("all steps are done")?;
        let missing = self.missing().ok_or("the step is aimed at no element; use another choice")?;
        let mut ids = Map::new();
        for (name, selector) in &step.aims {
            let found = if *name == missing {
                element
            } else {
                let filled = selector.filled(&self.values).map_err(|error| error.to_string())?;
                let found = find(&filled, view);
                found.element().ok_or_else(|| found.explain(&filled))?
            };
            ids.insert(name.clone(), Value::from(found.to_string()));
        }
        self.action(step, ids).map_err(|error| error.to_string())
    }
}

/// A press of an element.
fn press(element: ElementId) -> ProposedAction {
    let arguments = Map::from_iter([("id".to_owned(), Value::from(element.to_string()))]);
    ProposedAction { function: CLICK.to_owned(), arguments, expect: None, carries: Vec::new() }
}
