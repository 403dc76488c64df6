//! What shows whether an action worked.

use serde::{Deserialize, Serialize};

use super::{ElementRef, Refusal, WindowRef};
use crate::{
    command::Verdict,
    ui::{CellRange, CellRef, State},
};

/// What shows whether an action worked. Each verdict has its own kind of evidence.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "verdict", rename_all = "snake_case")]
pub enum Evidence {
    /// It worked.
    Seen {
        /// What proves it.
        proof: Proof,
    },
    /// It was carried out, and what was meant did not happen within the bound.
    NotSeen {
        /// What is there instead.
        shortfall: Shortfall,
    },
    /// It was carried out, and there is no way to tell.
    Unknown {
        /// Why not.
        uncertainty: Uncertainty,
    },
    /// Nothing was sent.
    Refused {
        /// Why not.
        refusal: Refusal,
    },
}

impl Evidence {
    /// The verdict that follows from it.
    pub const fn verdict(&self) -> Verdict {
        match self {
            Self::Seen { .. } => Verdict::Seen,
            Self::NotSeen { .. } => Verdict::NotSeen,
            Self::Unknown { .. } => Verdict::Unknown,
            Self::Refused { .. } => Verdict::Refused,
        }
    }
}

impl From<Proof> for Evidence {
    fn from(proof: Proof) -> Self {
        Self::Seen { proof }
    }
}

impl From<Shortfall> for Evidence {
    fn from(shortfall: Shortfall) -> Self {
        Self::NotSeen { shortfall }
    }
}

impl From<Uncertainty> for Evidence {
    fn from(uncertainty: Uncertainty) -> Self {
        Self::Unknown { uncertainty }
    }
}

impl From<Refusal> for Evidence {
    fn from(refusal: Refusal) -> Self {
        Self::Refused { refusal }
    }
}

/// What proves that an action worked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "proof", rename_all = "snake_case")]
pub enum Proof {
    /// A window, dialog or menu opened.
    WindowOpened {
        /// The window.
        window: WindowRef,
    },
    /// A window of the application closed.
    WindowClosed {
        /// The window.
        window: WindowRef,
    },
    /// The title of a window changed.
    TitleChanged {
        /// The new title.
        title: String,
    },
    /// The target is gone.
    Gone {
        /// The target.
        element: ElementRef,
    },
    /// An element is different now.
    Changed {
        /// The element as it was before.
        element: ElementRef,
        /// What it is now.
        now: Now,
    },
    /// What was meant was read back: the state, the selection or the focus.
    Holds {
        /// Whether it held before, so that nothing was sent.
        already: bool,
    },
    /// The window, or a dialog of it, is the active one.
    Active {
        /// The active window.
        window: WindowRef,
    },
    /// The text that was meant was read back.
    Reads {
        /// The text that was read, clipped.
        text: String,
        /// Whether it had to be written twice.
        corrected: bool,
    },
    /// The number that was meant was read back.
    Number {
        /// The number that was read.
        value: f64,
    },
    /// Every cell was read back as it was meant.
    Cells {
        /// How many cells.
        cells: u64,
        /// How many of them were written twice.
        corrected: u64,
    },
    /// Elements moved, came into view or left it.
    Moved,
    /// A text was read; it is in the output.
    TextRead {
        /// Its length in characters.
        characters: u64,
        /// How many of them are in the output.
        given: u64,
    },
    /// Cells were read; they are in the output.
    CellsRead {
        /// The cells.
        range: CellRange,
    },
    /// The clipboard was read; its text is in the output.
    ClipboardRead {
        /// The length of its text in characters; `None` if it has none.
        characters: Option<u64>,
    },
    /// A window was summarized; the summary is in the output.
    Summarized {
        /// The titles of the window, its dialogs and pop-ups.
        titles: Vec<String>,
        /// The number of elements in them.
        elements: u64,
    },
    /// The wait is over; the changes say what happened.
    Waited {
        /// Whether pixels changed.
        drawn: bool,
        /// Whether it was quiet at the end.
        quiet: bool,
    },
}

/// What an element is now that it was not before.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "now", rename_all = "snake_case")]
pub enum Now {
    /// A state came or went.
    State {
        /// The state.
        state: State,
        /// Whether it came.
        on: bool,
    },
    /// It accepts input, or no longer does.
    Enabled {
        /// Whether it accepts input.
        on: bool,
    },
    /// It has another name.
    Named {
        /// The new name, clipped.
        name: String,
    },
    /// It has another value.
    Value {
        /// The new value; `None` if it has none any more.
        value: Option<f64>,
    },
    /// It has another text.
    Reads {
        /// The new text, clipped.
        text: String,
    },
    /// It appeared.
    Came,
    /// It disappeared.
    Went,
    /// The target took the focus.
    Focused,
    /// The focus moved here.
    FocusMovedHere,
    /// It announced a change, and lies outside of what was read of the window.
    Changed,
}

/// A cell with another content than the one that was meant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mismatch {
    /// The cell.
    pub cell: CellRef,
    /// What was meant.
    pub wanted: String,
    /// What it shows.
    pub found: String,
}

/// How an item was selected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Way {
    /// By a click on it.
    Click,
    /// By keys in the closed list.
    Keys,
    /// By keys in the opened list.
    OpenedList,
}

/// What is there instead of what was meant.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "shortfall", rename_all = "snake_case")]
pub enum Shortfall {
    /// Nothing changed.
    NothingChanged {
        /// Whether pixels did.
        pixels: bool,
        /// Why it was not tried by real input afterwards.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        then: Option<Box<Refusal>>,
    },
    /// The state, selection or focus that was meant was not reached.
    NotReached {
        /// How it was tried, where several ways exist.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        way: Option<Way>,
    },
    /// Another window is active.
    OtherActive {
        /// The active window, if any.
        active: Option<WindowRef>,
        /// What the desktop reported.
        error: Option<String>,
    },
    /// Another text was read back.
    ReadsOtherwise {
        /// The text that was read, clipped.
        text: String,
        /// Whether it was written twice.
        corrected: bool,
    },
    /// Some cells show something else.
    Cells {
        /// How many cells were meant.
        cells: u64,
        /// How many of them were written twice.
        corrected: u64,
        /// Those that show something else.
        mismatches: Vec<Mismatch>,
    },
    /// A cell does not accept what is typed; nothing else was written.
    CellTakesNothing {
        /// The cell.
        cell: CellRef,
    },
    /// Nothing moved.
    NothingMoved,
    /// The program showed no window.
    NoWindow {
        /// How it ended, if it did: `exit status: 1`.
        ended: Option<String>,
    },
    /// The application asks a question first.
    Asks {
        /// The dialog.
        dialog: WindowRef,
    },
    /// The window is still open.
    StillOpen,
    /// The condition did not come to hold.
    NotFulfilled,
}

/// Why there is no way to tell whether an action worked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "uncertainty", rename_all = "snake_case")]
pub enum Uncertainty {
    /// Pixels changed, and the application exposes nothing of it.
    Pixels {
        /// Whether the target was found in a picture, so that nothing else was to be expected.
        in_picture: bool,
    },
    /// The target cannot be read any more.
    Unreadable {
        /// The error.
        error: String,
    },
}
