//! Targets and reports of actions.

use std::time::Duration;

use deskhand_core::{
    command::Verdict,
    geometry::{Point, Screen},
    ids::ElementId,
    ui::WindowInfo,
};
use deskhand_desktop::{Change, DesktopError, DesktopResult, QuietLimits};
use serde::Serialize;
use serde_json::Value;

/// The target of an action.
#[derive(Debug, Clone, PartialEq)]
pub enum Target {
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

impl Target {
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
    /// How long an idle application may take to start an effect; a busy one is awaited until it responds. A later effect, as
    /// after a slow network, is `not_seen`. The limit is not short, because an element without an effect through its
    /// accessibility interface is clicked as well: a short wait would press slow buttons twice.
    pub effect: Duration,
    /// How long the window is observed without input, to distinguish an effect from what changes by itself. Only done if the
    /// effect is merely a changed name or text.
    pub control: Duration,
    /// How long a program may take to show its window.
    pub launch: Duration,
}

impl Default for ActLimits {
    fn default() -> Self {
        Self {
            quiet: QuietLimits::default(),
            effect: Duration::from_millis(1_800),
            control: Duration::from_millis(1_500),
            launch: Duration::from_secs(60),
        }
    }
}

/// The route of an action.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Route {
    /// Nothing was sent.
    None,
    /// Through the accessibility interface.
    Semantic,
    /// By real mouse and keyboard events.
    Input,
}

/// The result of an action.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ActionReport {
    /// The verdict.
    pub effect: Verdict,
    /// What happened, or why nothing did and what to do, in one or two sentences.
    pub summary: String,
    /// The route taken.
    pub route: Route,
    /// The changes, in order.
    pub changes: Vec<Change>,
    /// The window that it opened, activated or closed.
    pub window: Option<WindowInfo>,
    /// Data that it returns; null if none.
    pub output: Value,
    /// Time spent waiting for the effect, in milliseconds.
    pub settled_ms: u64,
}

impl ActionReport {
    /// A report with only a verdict.
    pub fn new(effect: Verdict, route: Route, summary: impl Into<String>) -> Self {
        Self {
            effect,
            summary: summary.into(),
            route,
            changes: Vec::new(),
            window: None,
            output: Value::Null,
            settled_ms: 0,
        }
    }

    /// A refusal with its reason; nothing was sent.
    pub fn refused(reason: impl Into<String>) -> Self {
        Self::new(Verdict::Refused, Route::None, reason)
    }

    /// Adds data.
    #[must_use]
    pub fn with_output(mut self, output: Value) -> Self {
        self.output = output;
        self
    }
}

/// Why an action stops early.
#[derive(Debug)]
pub(crate) enum Halt {
    /// A check failed and nothing was sent.
    Refused(String),
    /// The desktop failed.
    Failed(DesktopError),
}

impl From<DesktopError> for Halt {
    fn from(error: DesktopError) -> Self {
        Self::Failed(error)
    }
}

/// Turns a refusal into a report.
pub(crate) fn report(result: Result<ActionReport, Halt>) -> DesktopResult<ActionReport> {
    match result {
        Ok(report) => Ok(report),
        Err(Halt::Refused(reason)) => Ok(ActionReport::refused(reason)),
        Err(Halt::Failed(error)) => Err(error),
    }
}
