//! What an action is aimed at, and what it reports.

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

/// What an action is aimed at.
#[derive(Debug, Clone, PartialEq)]
pub enum Target {
    /// An element, with the name that it is believed to have. Where the name does not hold any more the action
    /// is refused.
    Element {
        /// Its id.
        id: ElementId,
        /// Its expected name; none to take whatever has the id.
        name: Option<String>,
    },
    /// A point of the screen.
    Point(Point<Screen>),
}

impl Target {
    /// An element whose name does not matter.
    pub const fn element(id: ElementId) -> Self {
        Self::Element { id, name: None }
    }
}

/// The bounds of one action.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ActLimits {
    /// The wait for quiet after each event that is sent.
    pub quiet: QuietLimits,
    /// How long an effect may take to begin in an application that has nothing else to do; one that is busy is waited
    /// for longer, until it answers. What begins later, as after a slow network, is `not_seen`. An application that did
    /// nothing until now cannot be told from one that will do something in a moment, and an element that did nothing
    /// through its accessibility interface is clicked as well: a short wait would press slow buttons twice.
    pub effect: Duration,
    /// How long the window is watched, without touching it, to tell an effect from what changes by itself. Only
    /// done where the effect is nothing but a changed name or text.
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

/// Which way an action went.
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

/// What an action did.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ActionReport {
    /// Whether its effect was seen.
    pub effect: Verdict,
    /// One or two sentences: what happened, or why not and what to do.
    pub summary: String,
    /// Which way it went.
    pub route: Route,
    /// What changed, in order.
    pub changes: Vec<Change>,
    /// The window that it opened, activated or closed.
    pub window: Option<WindowInfo>,
    /// What it returns as data; null where there is nothing.
    pub output: Value,
    /// How long the waits for its effect took, in milliseconds.
    pub settled_ms: u64,
}

impl ActionReport {
    /// A report with a verdict and nothing else.
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

    /// Nothing was sent, and why.
    pub fn refused(reason: impl Into<String>) -> Self {
        Self::new(Verdict::Refused, Route::None, reason)
    }

    /// With data.
    #[must_use]
    pub fn with_output(mut self, output: Value) -> Self {
        self.output = output;
        self
    }
}

/// Why an action ends before its end.
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
