//! Data returned by a call.

use serde::{Deserialize, Serialize};

use super::{ActionKind, ActionProof, Aim, Evidence, UiChange, WaitedFor, words};
use crate::{WindowInfo, action::ActionRoute, ids::WindowId};

/// One action with what came of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ActionOutcome {
    /// Kind of the action.
    pub act: ActionKind,
    /// Target of the action.
    pub aim: Aim,
    /// Evidence on the success of the action.
    pub evidence: Evidence,
    /// Which way it went; `None` if nothing was sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub route: Option<ActionRoute>,
    /// All changes seen, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<UiChange>,
    /// Time spent waiting for the effect, in milliseconds.
    pub waited_ms: u64,
    /// Events that the application was given time for meanwhile, in order of first occurrence.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub waited_for: Vec<WaitedFor>,
}

impl ActionOutcome {
    /// An action with its evidence; nothing was sent, and nothing was waited for.
    pub fn new(act: ActionKind, aim: Aim, evidence: impl Into<Evidence>) -> Self {
        Self {
            act,
            aim,
            evidence: evidence.into(),
            route: None,
            changes: Vec::new(),
            waited_ms: 0,
            waited_for: Vec::new(),
        }
    }

    /// Sets the route.
    #[must_use]
    pub const fn by(mut self, route: ActionRoute) -> Self {
        self.route = Some(route);
        self
    }

    /// Sets the wait, in milliseconds.
    #[must_use]
    pub const fn after(mut self, waited_ms: u64) -> Self {
        self.waited_ms = waited_ms;
        self
    }

    /// Sets what was waited for.
    #[must_use]
    pub fn waiting_for(mut self, what: Vec<WaitedFor>) -> Self {
        self.waited_for = what;
        self
    }

    /// Returns `true` if it was seen to close a window.
    pub fn closed(&self, window: WindowId) -> bool {
        matches!(&self.evidence, Evidence::Seen { proof: ActionProof::WindowClosed { window: closed } } if closed.id == window)
    }

    /// Sets the changes.
    #[must_use]
    pub fn with_changes(mut self, changes: Vec<UiChange>) -> Self {
        self.changes = changes;
        self
    }
}

/// Data returned by a call. The sentence for it is made where it is displayed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "report", rename_all = "snake_case")]
pub enum CallReport {
    /// One action.
    Action {
        /// The action.
        action: Box<ActionOutcome>,
    },
    /// Several actions of one call, in order, such as the chords of a key sequence.
    Sequence {
        /// The actions.
        actions: Vec<ActionOutcome>,
    },
    /// Effect of a call of an application's own interface, such as UNO of LibreOffice.
    Native {
        /// Description of the effect.
        did: String,
        /// State read back afterwards, which proves it; `None` if nothing was read back.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        read_back: Option<String>,
    },
    /// A message of a tool that is no action on the desktop, or of what kept a call from running.
    Text {
        /// The message.
        text: String,
    },
}

impl CallReport {
    /// A message.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text { text: text.into() }
    }

    /// The actions, in order.
    pub fn actions(&self) -> &[ActionOutcome] {
        match self {
            Self::Action { action } => std::slice::from_ref(action),
            Self::Sequence { actions } => actions,
            Self::Native { .. } | Self::Text { .. } => &[],
        }
    }

    /// Returns `true` if a window that was seen to open is seen to have closed again.
    pub fn shows_closed(&self, window: &WindowInfo) -> bool {
        let mut closed = false;
        for action in self.actions() {
            for change in &action.changes {
                match change {
                    UiChange::WindowOpened { title } if *title == window.title => closed = false,
                    UiChange::WindowClosed { title } if *title == window.title => closed = true,
                    UiChange::WindowOpened { .. }
                    | UiChange::WindowClosed { .. }
                    | UiChange::TitleChanged { .. }
                    | UiChange::Element { .. } => {}
                }
            }
            closed |= action.closed(window.id);
        }
        closed
    }

    /// The sentence for model and person: what happened, or why not and what to do.
    pub fn sentence(&self) -> String {
        words::sentence(self)
    }
}

impl From<ActionOutcome> for CallReport {
    fn from(action: ActionOutcome) -> Self {
        Self::Action { action: Box::new(action) }
    }
}
