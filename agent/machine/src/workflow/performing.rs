//! A workflow that is being run: where it is, what it does next, and what it makes of results.
//!
//! Pure: it is given what is seen and what came back, and says what to do. The session machine does it, through the same gate as
//! everything else.

use std::collections::{BTreeMap, VecDeque};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{
    ahead::{Tells, WorkflowCalls},
    change::{Healer, StepChange},
    file::{StepWindow, Workflow, WorkflowStep},
    reads::WorkflowReads,
    run::{WorkflowRun, stranger_of},
    seeking::WorkflowScrollSearch,
    selector::{Obstacle, Selector, SelectorMatch, find},
    values::{TemplateError, Values},
};
use crate::{
    known_tools::{LAUNCH, WAIT_FOR},
    provenance::CarriedValue,
    reply::ProposedAction,
};
use deskhand_ui::{
    WindowInfo, WindowView,
    ids::{ElementId, WindowId},
};

/// Maximum time to wait for an element that is not there yet, in seconds.
const WAIT_SECONDS: u64 = 5;

/// A step in a list of steps, and of a repeated one the row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
struct WorkflowFrame {
    step: usize,
    row: usize,
}

/// Proposal whose result is pending.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum PendingProposal {
    /// The call of the step, with what changed in its selectors, and perhaps the calls of the steps after it.
    Step(Vec<StepChange>),
    /// A wait for its element.
    Wait,
    /// This document was opened.
    Document(String),
    /// A turn of the wheel, to see more of the window.
    Scroll,
    /// A press in a dialog that came in between, with the change if the workflow does not know the dialog.
    Dialog(Option<Box<StepChange>>),
}

/// Problem that prevents a step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct WorkflowStepFailure {
    /// The argument whose element was not found; `None` if the call itself failed.
    pub(crate) argument: Option<String>,
    /// Search or action that failed, and the state found or result instead.
    pub(crate) text: String,
}

/// Next move in a window.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum NextWindowStep {
    /// This.
    Act(WorkflowCalls),
    /// Nothing here: the next step is elsewhere, or there is none.
    Elsewhere,
    /// Nothing: the step cannot be done as it is written.
    Stuck(WorkflowStepFailure),
}

/// Location of the next step.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Where {
    /// In this window.
    Window(WindowId, String),
    /// In a window of an application that has to be started.
    Start(ProposedAction),
    /// A call of the HostAgent.
    Host(Box<ProposedAction>, String),
    /// Nowhere: all steps are done.
    Done,
    /// The step cannot be located.
    Stuck(WorkflowStepFailure),
}

/// A workflow in progress.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct WorkflowExecution {
    pub(crate) run: WorkflowRun,
    pub(super) values: Values,
    /// Outermost first; empty once all steps are done.
    at: Vec<WorkflowFrame>,
    pub(super) proposed: Option<PendingProposal>,
    pub(super) trouble: Option<WorkflowStepFailure>,
    /// Set once the element of the step was waited for, and once the step was retried.
    pub(super) waited: bool,
    pub(super) tried_again: bool,
    /// Progress of scrolling the window in search of the element.
    #[serde(default)]
    pub(super) seeking: WorkflowScrollSearch,
    /// Set once the application of the step was started.
    pub(super) started: bool,
    /// The dialogs that were pressed away before the step, and the questions to a model about it.
    pub(super) dialogs: u32,
    pub(super) asked: u32,
    /// The values that the steps have read.
    #[serde(default)]
    pub(super) reads: WorkflowReads,
    /// The windows that steps worked in, by the roots of their applications.
    windows: BTreeMap<String, WindowId>,
    /// The documents that are opened before the first step, if nobody else opens them.
    #[serde(default, skip_serializing_if = "VecDeque::is_empty")]
    pub(super) opening: VecDeque<String>,
    pub(crate) changes: Vec<StepChange>,
    /// The calls that were done, and those of them whose effect was not seen.
    pub(crate) done: u32,
    pub(crate) unseen: u32,
}

impl WorkflowExecution {
    pub(crate) fn new(run: WorkflowRun) -> Self {
        let values = Values::of(&run.values);
        let mut performing = Self {
            run,
            values,
            at: vec![WorkflowFrame::default()],
            proposed: None,
            trouble: None,
            waited: false,
            tried_again: false,
            seeking: WorkflowScrollSearch::default(),
            started: false,
            dialogs: 0,
            asked: 0,
            reads: WorkflowReads::default(),
            windows: BTreeMap::new(),
            opening: VecDeque::new(),
            changes: Vec::new(),
            done: 0,
            unseen: 0,
        };
        performing.enter();
        performing
    }

    /// Returns its step and workflow, as a label, if this user has not made the workflow.
    pub(crate) fn stranger(&self) -> Option<String> {
        let WorkflowRun { workflow, provenance, .. } = &self.run;
        let place = || format!("step {} of {}", self.label(), stranger_of(&workflow.name));
        (!provenance.is_users()).then(place)
    }

    /// Returns the value that a paste enters.
    pub(crate) fn pasted(&self) -> CarriedValue {
        self.reads.pasted(self.run.provenance)
    }

    /// One that opens its documents itself, because nobody has opened them for it.
    pub(crate) fn opening_documents(run: WorkflowRun) -> Self {
        let documents = run.documents();
        let mut performing = Self::new(run);
        match documents {
            Ok(documents) => performing.opening = documents.into(),
            Err(error) => {
                performing.trouble = Some(WorkflowStepFailure { argument: None, text: error.to_string() });
            }
        }
        performing
    }

    /// The steps of the list that the frame at `depth` is in.
    fn steps_at(&self, depth: usize) -> &[WorkflowStep] {
        let mut steps = self.run.workflow.steps.as_slice();
        for frame in self.at.iter().take(depth) {
            steps = steps.get(frame.step).map_or(&[], |step| step.steps.as_slice());
        }
        steps
    }

    /// The step that is next.
    pub(crate) fn step(&self) -> Option<&WorkflowStep> {
        let last = self.at.last()?;
        self.steps_at(self.at.len().saturating_sub(1)).get(last.step)
    }

    /// Its number, as in 3 or 4.2.
    pub(crate) fn label(&self) -> String {
        self.at.iter().map(|frame| frame.step.saturating_add(1).to_string()).collect::<Vec<_>>().join(".")
    }

    /// Returns the problem that prevents it.
    pub(crate) const fn trouble(&self) -> Option<&WorkflowStepFailure> {
        self.trouble.as_ref()
    }

    /// The rows of a repeated step.
    fn rows(&self, step: &WorkflowStep) -> Result<Vec<Value>, WorkflowStepFailure> {
        let Some(each) = &step.each else { return Ok(Vec::new()) };
        let fails = |text: String| WorkflowStepFailure { argument: None, text };
        let value = self.values.at(&each.of).map_err(|error| fails(error.to_string()))?;
        let Value::Array(rows) = &*value else {
            return Err(fails(format!(
                "`{}` is no list of rows, so nothing can be repeated for each of them",
                each.of
            )));
        };
        Ok(rows.iter().skip(each.skip).cloned().collect())
    }

    /// Goes into repeated steps until the next step is a call, and past the end of lists.
    fn enter(&mut self) {
        // Bounded: each turn goes on in a finite list, or ends.
        for _ in 0..Workflow::STEPS_MAX.saturating_mul(2) {
            let Some(last) = self.at.last().copied() else { return };
            let Some(step) = self.step().cloned() else {
                // The end of a list: the next row of the outer step, or what follows it.
                self.at.pop();
                if let Some(outer) = self.at.last_mut() {
                    outer.row = outer.row.saturating_add(1);
                }
                continue;
            };
            let Some(each) = step.each.as_ref().filter(|_| step.call.is_empty()) else { return };
            match self.rows(&step).map(|rows| rows.get(last.row).cloned()) {
                Ok(Some(row)) => {
                    self.values.save(&each.called, row);
                    self.reads.row(&each.of, &each.called);
                    self.at.push(WorkflowFrame::default());
                }
                Ok(None) => {
                    if let Some(frame) = self.at.last_mut() {
                        *frame = WorkflowFrame { step: frame.step.saturating_add(1), row: 0 };
                    }
                }
                Err(trouble) => {
                    self.trouble = Some(trouble);
                    return;
                }
            }
        }
    }

    /// Goes on to the next step.
    pub(super) fn advance(&mut self) {
        (self.waited, self.tried_again, self.started) = (false, false, false);
        (self.dialogs, self.asked) = (0, 0);
        (self.trouble, self.proposed, self.seeking) = (None, None, WorkflowScrollSearch::default());
        if let Some(last) = self.at.last_mut() {
            *last = WorkflowFrame { step: last.step.saturating_add(1), row: 0 };
        }
        self.enter();
    }

    /// Returns the location of the next step, given the open windows, topmost last.
    pub(crate) fn place(&mut self, windows: &[WindowInfo]) -> Where {
        if let Some(trouble) = &self.trouble {
            return Where::Stuck(trouble.clone());
        }
        while let Some(document) = self.opening.pop_front() {
            if windows.iter().all(|window| !shows(window, &document)) {
                self.proposed = Some(PendingProposal::Document(document.clone()));
                let arguments = Map::from_iter([("files".to_owned(), Value::from(vec![document]))]);
                let function = LAUNCH.to_owned();
                return Where::Start(ProposedAction {
                    function,
                    arguments,
                    expect: None,
                    carries: Vec::new(),
                });
            }
        }
        let Some(step) = self.step().cloned() else { return Where::Done };
        let Some(wanted) = &step.window else {
            return match self.action(&step, Map::new()) {
                Ok(action) => {
                    self.proposed = Some(PendingProposal::Step(Vec::new()));
                    Where::Host(Box::new(action), step.about.clone())
                }
                Err(error) => Where::Stuck(WorkflowStepFailure { argument: None, text: error.to_string() }),
            };
        };
        if let Some(window) = self.window(wanted, windows) {
            self.windows.insert(wanted.application.clone(), window);
            return Where::Window(window, step.about.clone());
        }
        if std::mem::replace(&mut self.started, true) {
            let text = format!("no window of {} is open", wanted.name);
            return Where::Stuck(WorkflowStepFailure { argument: None, text });
        }
        let arguments = Map::from_iter([("name".to_owned(), Value::from(wanted.name.clone()))]);
        let function = LAUNCH.to_owned();
        Where::Start(ProposedAction { function, arguments, expect: None, carries: Vec::new() })
    }

    /// The window for a step: of its application, by its title; the one used before if several fit.
    fn window(&self, wanted: &StepWindow, windows: &[WindowInfo]) -> Option<WindowId> {
        let is_of =
            |window: &&WindowInfo| window.app.root == wanted.application || window.app.name == wanted.name;
        let of_app: Vec<&WindowInfo> = windows.iter().rev().filter(is_of).collect();
        let has_title =
            |window: &&&WindowInfo| wanted.title.as_ref().is_none_or(|title| title.matches(&window.title));
        let fitting: Vec<&WindowInfo> = of_app.iter().filter(has_title).copied().collect();
        // A title changes with the document. It tells windows apart; it does not hide the only one.
        let among = if fitting.is_empty() { of_app } else { fitting };
        let used = self.windows.get(&wanted.application);
        let again = among.iter().find(|window| Some(&window.id) == used);
        again.or_else(|| among.first()).map(|window| window.id)
    }

    /// Returns `true` if a step is done in this window.
    pub(super) fn is_in(&self, step: &WorkflowStep, window: WindowId) -> bool {
        let wanted = step.window.as_ref();
        wanted.is_some_and(|wanted| self.windows.get(&wanted.application) == Some(&window))
    }

    /// Returns the next move in this window, given its view. `does` returns the kind of action of a tool.
    pub(crate) fn next_in(&mut self, window: WindowId, view: &WindowView, does: Tells<'_>) -> NextWindowStep {
        if let Some(trouble) = &self.trouble {
            return NextWindowStep::Stuck(trouble.clone());
        }
        loop {
            let Some(step) = self.step().cloned() else { return NextWindowStep::Elsewhere };
            if !self.is_in(&step, window) {
                return NextWindowStep::Elsewhere;
            }
            match self.resolve(&step, view) {
                Ok((ids, changes)) => {
                    return match self.action(&step, ids) {
                        Ok(action) => {
                            self.proposed = Some(PendingProposal::Step(changes));
                            NextWindowStep::Act(self.with_following(&step, action, (window, view), does))
                        }
                        Err(error) => {
                            let trouble = WorkflowStepFailure { argument: None, text: error.to_string() };
                            self.trouble = Some(trouble.clone());
                            NextWindowStep::Stuck(trouble)
                        }
                    };
                }
                Err(unresolved) => {
                    if let Some(next) = self.dialog(&unresolved, view) {
                        return next;
                    }
                    if step.maybe {
                        self.advance();
                        if let Some(trouble) = &self.trouble {
                            return NextWindowStep::Stuck(trouble.clone());
                        }
                        continue;
                    }
                    if let Some(next) = self.seeks(&unresolved, view) {
                        return next;
                    }
                    if let Some(wait) =
                        unresolved.wait().filter(|_| !std::mem::replace(&mut self.waited, true))
                    {
                        self.proposed = Some(PendingProposal::Wait);
                        return NextWindowStep::Act(WorkflowCalls::one(
                            wait,
                            "what the step is aimed at is not there yet",
                        ));
                    }
                    let trouble =
                        WorkflowStepFailure { argument: Some(unresolved.argument), text: unresolved.text };
                    self.trouble = Some(trouble.clone());
                    return NextWindowStep::Stuck(trouble);
                }
            }
        }
    }

    /// The call of a step with these elements.
    pub(super) fn action(
        &self,
        step: &WorkflowStep,
        ids: Map<String, Value>,
    ) -> Result<ProposedAction, TemplateError> {
        let mut arguments = ids;
        arguments.extend(self.values.fill_map(&step.arguments)?);
        let expect = step.expect.opens.as_ref().map(|opens| self.values.fill(opens)).transpose()?;
        let carries = self.reads.carried(step, self.run.provenance);
        Ok(ProposedAction { function: step.call.clone(), arguments, expect, carries })
    }

    /// The elements of a step, and what changed in its selectors.
    pub(super) fn resolve(
        &self,
        step: &WorkflowStep,
        view: &WindowView,
    ) -> Result<(Map<String, Value>, Vec<StepChange>), UnresolvedElement> {
        let (mut ids, mut changes) = (Map::new(), Vec::new());
        for (argument, selector) in &step.aims {
            let filled = selector.filled(&self.values).map_err(|error| UnresolvedElement {
                argument: argument.clone(),
                selector: Box::new(selector.clone()),
                blocked: false,
                absent: false,
                text: error.to_string(),
            })?;
            let found = find(&filled, view);
            let Some(element) = found.element() else {
                return Err(UnresolvedElement {
                    argument: argument.clone(),
                    blocked: matches!(&found, SelectorMatch::Gone { why: Obstacle::Blocked { .. }, .. }),
                    absent: matches!(
                        &found,
                        SelectorMatch::Gone { why: Obstacle::Nothing | Obstacle::Hidden, .. }
                    ),
                    text: found.explain(&filled),
                    selector: Box::new(filled),
                });
            };
            ids.insert(argument.clone(), Value::from(element.to_string()));
            if matches!(found, SelectorMatch::Drifted { .. }) {
                let why = found.explain(&filled);
                changes.extend(self.change(argument, selector, view, element, (why, Healer::Rule)));
            }
        }
        Ok((ids, changes))
    }

    /// The change of a selector to the element that was found for it; `None` if it stays as it is.
    pub(super) fn change(
        &self,
        argument: &str,
        was: &Selector,
        view: &WindowView,
        element: ElementId,
        (why, by): (String, Healer),
    ) -> Option<StepChange> {
        let now = was.updated(view, element)?.in_place_of(was);
        (now != *was).then(|| StepChange::Selector {
            step: self.label(),
            argument: argument.to_owned(),
            was: Box::new(was.clone()),
            now: Box::new(now),
            why,
            by,
        })
    }
}

/// Returns `true` if a window shows a document.
fn shows(window: &WindowInfo, document: &str) -> bool {
    let path = window.document.as_ref().and_then(|shown| shown.path.as_deref());
    path == Some(document)
}

/// An element that was not found.
pub(super) struct UnresolvedElement {
    pub(super) argument: String,
    pub(super) selector: Box<Selector>,
    /// `true` if a dialog is in front of its window.
    pub(super) blocked: bool,
    /// `true` if no element of its name is visible, and none stands in its place.
    pub(super) absent: bool,
    pub(super) text: String,
}

impl UnresolvedElement {
    /// A wait for it; `None` if it has no name to wait for.
    fn wait(&self) -> Option<ProposedAction> {
        let name = self.selector.name.as_ref().filter(|name| name.is_literal() && !self.blocked)?;
        let mut arguments = Map::from_iter([("name".to_owned(), Value::from(name.plain()))]);
        arguments.insert("seconds".to_owned(), Value::from(WAIT_SECONDS));
        Some(ProposedAction { function: WAIT_FOR.to_owned(), arguments, expect: None, carries: Vec::new() })
    }
}
