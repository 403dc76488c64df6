//! Targets, limits and reports of actions.

use std::time::Duration;

use deskhand_desktop::{CancelScope, DesktopError, DesktopResult, QuietLimits, UiChange};
use deskhand_ui::{
    WindowInfo,
    action::{
        ActionKind, ActionOutcome, ActionRefusal, ActionRoute, Aim, CallReport, Cancellation, Evidence,
        Extent, Shortfall, Uncertainty, Verdict,
    },
    geometry::{Point, Screen},
    ids::ElementId,
};
use futures_util::future::BoxFuture;
use serde::Serialize;
use serde_json::Value;

/// The target of an action.
#[derive(Debug, Clone, PartialEq)]
pub enum ActionTarget {
    /// An element with its expected name. The action is refused if the name differs.
    Element {
        /// Its id.
        id: ElementId,
        /// Its expected name; `None` to accept any.
        name: Option<String>,
    },
    /// A point of the screen.
    Point(Point<Screen>),
}

impl ActionTarget {
    /// An element with any name.
    pub const fn element(id: ElementId) -> Self {
        Self::Element { id, name: None }
    }
}

/// The time limits of an action.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ActLimits {
    /// The wait for idle after each input event.
    pub quiet: QuietLimits,
    /// Maximum time for an idle application to start an effect; a busy one is awaited until it responds. A later
    /// effect, as after a slow network, is `not_seen`.
    pub effect: Duration,
    /// Maximum time to observe an element without input, to distinguish an effect from changes that occur by
    /// themselves. Only done for elements that were not observed for long enough before.
    pub control: Duration,
    /// Maximum time for a program to show its window.
    pub launch: Duration,
}

impl Default for ActLimits {
    fn default() -> Self {
        Self {
            quiet: QuietLimits::default(),
            effect: Duration::from_millis(1_000),
            control: Duration::from_millis(1_500),
            launch: Duration::from_secs(60),
        }
    }
}

/// The result of one action, or of several in one call such as the chords of a key sequence.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ActionReport {
    /// The actions with their evidence, in order; at least one.
    pub actions: Vec<ActionOutcome>,
    /// The window that it opened, activated or closed.
    pub window: Option<WindowInfo>,
    /// Data that it returns; null if none.
    pub output: Value,
}

impl ActionReport {
    /// The verdict: of several actions, `seen` if one of them was.
    pub fn effect(&self) -> Verdict {
        let verdicts = || self.actions.iter().map(|action| action.evidence.verdict());
        let cancelled = self.actions.iter().find(|action| action.evidence.is_cancelled());
        match (cancelled, self.actions.as_slice()) {
            // What was cancelled was not seen as a whole, whatever came of its parts.
            (Some(action), _) | (None, [action]) => action.evidence.verdict(),
            (None, _) if verdicts().any(|verdict| verdict == Verdict::Seen) => Verdict::Seen,
            (None, _) => Verdict::NotSeen,
        }
    }

    /// Summarises what happened, or why nothing did and what to do, in one or two sentences for people.
    pub fn summary(&self) -> String {
        CallReport::from(self.clone()).sentence()
    }

    /// The last route taken; `None` if nothing was sent.
    pub fn route(&self) -> Option<ActionRoute> {
        self.actions.iter().rev().find_map(|action| action.route)
    }

    /// All changes, in order.
    pub fn changes(&self) -> impl Iterator<Item = &UiChange> {
        self.actions.iter().flat_map(|action| &action.changes)
    }

    /// The time spent waiting for the effect, in milliseconds.
    pub fn waited_ms(&self) -> u64 {
        self.actions.iter().map(|action| action.waited_ms).sum()
    }

    /// Adds data.
    #[must_use]
    pub fn with_output(mut self, output: Value) -> Self {
        self.output = output;
        self
    }

    /// Adds the window of the action.
    #[must_use]
    pub fn with_window(mut self, window: Option<WindowInfo>) -> Self {
        self.window = window;
        self
    }
}

impl From<ActionOutcome> for ActionReport {
    fn from(action: ActionOutcome) -> Self {
        Self { actions: vec![action], window: None, output: Value::Null }
    }
}

impl From<ActionReport> for CallReport {
    fn from(report: ActionReport) -> Self {
        let mut actions = report.actions;
        match (actions.pop(), actions.is_empty()) {
            (Some(action), true) => action.into(),
            (last, _) => {
                actions.extend(last);
                Self::Sequence { actions }
            }
        }
    }
}

/// A completed action, for actions that are composed of others.
#[derive(Debug)]
pub(crate) struct CompletedAction {
    pub(crate) action: ActionOutcome,
    /// The window that opened.
    pub(crate) window: Option<WindowInfo>,
}

impl CompletedAction {
    /// Returns `true` if the effect was seen.
    pub(crate) const fn is_seen(&self) -> bool {
        matches!(self.action.evidence, Evidence::Seen { .. })
    }

    /// The same with unknown effect if pixels are all that changed, where the application exposes nothing else.
    pub(crate) fn or_unknown(mut self, only_pixels: bool) -> Self {
        if only_pixels && !self.is_seen() {
            self.action.evidence = Uncertainty::Pixels { in_picture: false }.into();
        }
        self
    }
}

impl From<ActionOutcome> for CompletedAction {
    fn from(action: ActionOutcome) -> Self {
        Self { action, window: None }
    }
}

impl From<CompletedAction> for ActionReport {
    fn from(done: CompletedAction) -> Self {
        Self::from(done.action).with_window(done.window)
    }
}

/// Why an action stops early.
#[derive(Debug)]
pub(crate) enum Halt {
    /// A check failed and nothing was sent.
    Refused(Box<ActionRefusal>),
    /// The desktop failed.
    Failed(DesktopError),
}

impl Halt {
    /// Returns `true` if the call was cancelled.
    pub(crate) const fn is_cancelled(&self) -> bool {
        matches!(self, Self::Failed(DesktopError::Cancelled { .. }))
    }
}

impl From<DesktopError> for Halt {
    fn from(error: DesktopError) -> Self {
        if let DesktopError::Refused(refusal) = error { Self::Refused(refusal) } else { Self::Failed(error) }
    }
}

impl From<ActionRefusal> for Halt {
    fn from(refusal: ActionRefusal) -> Self {
        Self::Refused(Box::new(refusal))
    }
}

/// Turns a refusal of an action into its report.
pub(crate) fn report(
    act: ActionKind,
    result: Result<impl Into<ActionReport>, Halt>,
) -> DesktopResult<ActionReport> {
    match result {
        Ok(report) => Ok(report.into()),
        Err(Halt::Refused(refusal)) => Ok(refused(act, *refusal)),
        Err(Halt::Failed(DesktopError::Cancelled { .. })) => Ok(cancelled(act, Aim::Unresolved, None).into()),
        Err(Halt::Failed(error)) => Err(error),
    }
}

/// Carries an action out and reports it. Its future is boxed here: it has to fit on the stack of everybody who awaits several actions.
pub(crate) fn carry_out<'a, R: Into<ActionReport>>(
    act: ActionKind,
    work: impl Future<Output = Result<R, Halt>> + Send + 'a,
) -> BoxFuture<'a, DesktopResult<ActionReport>> {
    Box::pin(async move { report(act, work.await) })
}

/// A cancelled action, with what the call has sent and how far it came.
pub(crate) fn cancelled(act: ActionKind, aim: Aim, extent: Option<Extent>) -> ActionOutcome {
    let inputs = CancelScope::current().inputs();
    let cancellation = Cancellation { inputs, extent };
    match extent {
        _ if inputs.is_empty() => ActionOutcome::new(act, aim, ActionRefusal::Cancelled),
        Some(Extent { shown: true, .. }) => {
            ActionOutcome::new(act, aim, Shortfall::Cancelled { cancellation }).by(ActionRoute::Input)
        }
        Some(Extent { shown: false, .. }) | None => {
            ActionOutcome::new(act, aim, Uncertainty::Cancelled { cancellation }).by(ActionRoute::Input)
        }
    }
}

/// The report of an action that was refused before its target was resolved.
pub(crate) fn refused(act: ActionKind, refusal: impl Into<ActionRefusal>) -> ActionReport {
    ActionOutcome::new(act, Aim::Unresolved, refusal.into()).into()
}
