//! Idle as an event, and what changed on the way to it.

use std::time::Duration;

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

/// One change that an application announced, or that was seen on the screen.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
#[serde(tag = "change", rename_all = "snake_case")]
pub enum Change {
    /// A window was mapped.
    WindowOpened {
        /// Its title.
        title: String,
    },
    /// A window went away.
    WindowClosed {
        /// Its title.
        title: String,
    },
    /// A title changed.
    TitleChanged {
        /// The new title.
        title: String,
    },
    /// An element's state, name, text, value, selection or children changed.
    Element {
        /// The AT-SPI event, such as `object:state-changed:checked`.
        event: String,
        /// The element, where it is known by an id already.
        element: Option<ElementId>,
    },
    /// The focus moved.
    Focus {
        /// The element that has it, where it is known by an id already.
        element: Option<ElementId>,
    },
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

/// What of an element changes, such as its name or one of its states, as whoever compares them tells them apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Aspect(pub u64);

/// Idle as an event: quiet of accessibility events and screen damage, bounded.
pub trait Settling {
    /// A running watch; started before an action, so that nothing is missed.
    type Watch: Send;

    /// Starts to watch the application of a window (or the whole desktop).
    ///
    /// # Errors
    /// [`crate::DesktopError::Gone`] when the display does not answer.
    fn watch(&self, window: Option<WindowId>) -> impl Future<Output = DesktopResult<Self::Watch>> + Send;

    /// Waits until the application is quiet and tells what happened since the watch began.
    ///
    /// # Errors
    /// [`crate::DesktopError::Gone`] when the display does not answer.
    fn settle(
        &self,
        watch: Self::Watch,
        limits: QuietLimits,
    ) -> impl Future<Output = DesktopResult<Settled>> + Send;

    /// Which of these elements changed within the last `span` other than as the effect of an action, or have not been watched
    /// for so long: a change of theirs proves nothing by itself. Watches those that it was not asked for before.
    fn restless(&self, elements: &[ElementId], span: Duration) -> Vec<ElementId>;

    /// What an element changed so far was the effect of an action and says nothing of what it does by itself.
    fn explain(&self, element: ElementId);

    /// Something of an element was seen to change again and again with nobody touching it. As long as it goes on, nobody
    /// waits for it.
    fn blame(&self, element: ElementId, aspect: Aspect);

    /// Whether this of an element was blamed not long ago and the element still goes on changing: it proves nothing.
    fn changes_by_itself(&self, element: ElementId, aspect: Aspect) -> bool;
}

/// Whether such an event tells of content, as opposed to a pointer or focus that came by.
pub fn tells_of_content(event: &str) -> bool {
    const PASSING: &[&str] = &[
        "focused",
        "armed",
        "pressed",
        "active",
        "active-descendant",
        "caret",
        "bounds",
        "visible-data",
        "defunct",
        "iconified",
        "modal",
        "window:",
        "focus:",
        "mouse:",
    ];
    !PASSING.iter().any(|part| event.contains(part))
}
