//! Idle as an event, and what changed on the way to it.

use std::time::Duration;

pub use deskhand_core::action::{Aspect, Change};
use deskhand_core::ids::{ElementId, WindowId};
use serde::Serialize;

use crate::DesktopResult;

/// Bounds of a wait for quiet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QuietLimits {
    /// How long nothing must happen.
    pub quiet: Duration,
    /// How long to wait for the first sign of a change before nothing counts as nothing. The application has
    /// handled what was sent to it by then, whatever this says; ask for longer where it may start late. Zero where no
    /// change is expected: a toolkit that starts late is not waited for then.
    pub first_change: Duration,
    /// The longest wait in all.
    pub bound: Duration,
}

impl QuietLimits {
    /// What was sent before has been handled, as far as the application says; what it goes on with is not waited for.
    /// For a condition that is then read from the application itself.
    pub const HANDLED: Self =
        Self { quiet: Duration::ZERO, first_change: Duration::ZERO, bound: Duration::from_secs(5) };
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

/// What a wait for quiet waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum WaitedFor {
    /// The application to answer: it was busy.
    Answer,
    /// A first sign that something changes.
    FirstChange,
    /// The end of what the application announced.
    Announcements,
    /// The end of drawing.
    Drawing,
    /// Windows that opened, closed or changed.
    Windows,
}

/// What happened between the start of a watch and quiet.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Settled {
    /// What changed, in order, without repeats; at most [`Settled::CHANGES_MAX`].
    pub changes: Vec<Change>,
    /// Whether pixels of the watched application changed.
    pub damaged: bool,
    /// How long the wait took, in milliseconds.
    pub waited_ms: u64,
    /// Whether the bound was reached before quiet.
    pub timed_out: bool,
    /// What the wait was for, in the order in which it came up.
    pub waited_for: Vec<WaitedFor>,
}

impl Settled {
    /// The most changes that are kept.
    pub const CHANGES_MAX: usize = 200;
}

/// Idle as an event: quiet of accessibility events and screen damage, bounded.
pub trait Settling {
    /// A running watch; started before an action, so that nothing is missed.
    type Watch: Send;

    /// Starts to watch the application of a window (or the whole desktop).
    ///
    /// # Errors
    /// [`crate::DesktopError::Gone`] when the display does not answer.
    fn watch(&self, window: Option<WindowId>) -> impl Future<Output = DesktopResult<Self::Watch>> + Send;

    /// Waits until the application is quiet and reports what happened since the watch began.
    ///
    /// # Errors
    /// [`crate::DesktopError::Gone`] when the display does not answer.
    fn settle(
        &self,
        watch: Self::Watch,
        limits: QuietLimits,
    ) -> impl Future<Output = DesktopResult<Settled>> + Send;

    /// Which of these elements changed within the last `span` other than through an action, or have been watched for less
    /// than that: a change of theirs proves nothing by itself. Starts to watch elements that are new to it.
    fn recently_changed(&self, elements: &[ElementId], span: Duration) -> Vec<ElementId>;

    /// Attributes the changes of an element so far to an action: they do not count as recent changes of its own.
    fn attribute_to_action(&self, element: ElementId);

    /// Marks an aspect of an element that was seen to change repeatedly without input. While that goes on, nobody waits
    /// for it.
    fn mark_self_changing(&self, element: ElementId, aspect: Aspect);

    /// Whether an aspect was marked as self-changing recently and the element still keeps changing.
    fn is_self_changing(&self, element: ElementId, aspect: Aspect) -> bool;
}
