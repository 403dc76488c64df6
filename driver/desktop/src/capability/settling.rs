//! Idle as an event, and what changed before it.

use std::time::Duration;

pub use deskhand_ui::action::{ElementChangeKind, UiChange, WaitedFor};
use deskhand_ui::ids::{ElementId, WindowId};
use serde::Serialize;

use crate::DesktopResult;

/// The limits of a wait for quiet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QuietLimits {
    /// Time without activity that counts as quiet.
    pub quiet: Duration,
    /// Maximum wait for a first change before the application counts as unchanged. By then it has handled all
    /// input in any case; choose a longer time if it may start late. Zero if no change is expected: then a
    /// toolkit that starts late is not waited for.
    pub first_change: Duration,
    /// The timeout of the whole wait.
    pub bound: Duration,
}

impl QuietLimits {
    /// Waits until all input has been handled, as far as the application reports it, but not for what it continues to
    /// do. For a condition that is then read from the application itself.
    pub const HANDLED: Self =
        Self { quiet: Duration::ZERO, first_change: Duration::ZERO, bound: Duration::from_secs(5) };

    /// Waits until the application shows the state after the last input: like [`Self::HANDLED`], and long enough for a
    /// toolkit that updates its controls by a timer. For a state that is read before anything is sent, such as
    /// whether a control is checked already.
    pub const UP_TO_DATE: Self = Self {
        quiet: Duration::from_millis(30),
        first_change: Duration::from_millis(1),
        bound: Duration::from_secs(5),
    };
}

impl Default for QuietLimits {
    fn default() -> Self {
        Self {
            quiet: Duration::from_millis(60),
            first_change: Duration::from_millis(30),
            bound: Duration::from_secs(5),
        }
    }
}

/// The activity between the start of a watch and quiet.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct IdleReport {
    /// The changes, in order, without repeats; at most [`IdleReport::CHANGES_MAX`].
    pub changes: Vec<UiChange>,
    /// `true` if pixels of the watched application changed.
    pub damaged: bool,
    /// Duration of the wait, in milliseconds.
    pub waited_ms: u64,
    /// `true` if the timeout was reached before quiet.
    pub timed_out: bool,
    /// The causes of waiting, in order of first occurrence.
    pub waited_for: Vec<WaitedFor>,
}

impl IdleReport {
    /// The most changes that are kept.
    pub const CHANGES_MAX: usize = 200;
}

/// Idle as an event: no accessibility events and no screen damage for a while, with a timeout.
pub trait IdleWait {
    /// A running watch, started before an action so that nothing is missed.
    type Watch: Send;

    /// Starts to watch the application of a window, or the whole desktop.
    ///
    /// # Errors
    /// [`crate::DesktopError::Gone`] if the display does not answer.
    fn watch(&self, window: Option<WindowId>) -> impl Future<Output = DesktopResult<Self::Watch>> + Send;

    /// Waits until the application is quiet and reports what happened since the watch began.
    ///
    /// # Errors
    /// [`crate::DesktopError::Gone`] if the display does not answer.
    fn settle(
        &self,
        watch: Self::Watch,
        limits: QuietLimits,
    ) -> impl Future<Output = DesktopResult<IdleReport>> + Send;

    /// Returns the minimum time for which everything of the application of a window will sleep, unless an input
    /// or another program wakes it: then nothing more results from input sent to it before. Zero if it works, if
    /// it waits for an answer from elsewhere, or if the operating system does not report it; [`Duration::MAX`] if
    /// it has no timer.
    ///
    /// # Errors
    /// [`crate::DesktopError::Gone`] if the display does not answer.
    fn sleeps_for(&self, window: WindowId) -> impl Future<Output = DesktopResult<Duration>> + Send;

    /// Which of these elements changed within the last `span` other than through an action, or have been tracked for
    /// less than that: a change of theirs proves nothing by itself. A change at once after an input, of what had been quiet
    /// for a while before, is one through an action. Starts to track elements that are new to it.
    fn recently_changed(&self, elements: &[ElementId], span: Duration) -> Vec<ElementId>;

    /// Attributes the changes of an element so far to an action: they do not count as recent changes of its own.
    fn attribute_to_action(&self, element: ElementId);

    /// Marks an aspect of an element that was observed to change repeatedly without input. It is not waited for as
    /// long as it keeps changing.
    fn mark_self_changing(&self, element: ElementId, aspect: ElementChangeKind);

    /// Returns `true` if an aspect was marked as self-changing recently and the element still keeps changing.
    fn is_self_changing(&self, element: ElementId, aspect: ElementChangeKind) -> bool;
}
