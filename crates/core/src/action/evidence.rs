//! What shows whether an action worked.

use serde::{Deserialize, Serialize};

pub use super::uncertainty::Uncertainty;
use super::{Cancellation, ElementRef, Extent, Refusal, WindowRef};
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

impl Evidence {
    /// Returns `true` if the action was cancelled.
    pub const fn is_cancelled(&self) -> bool {
        matches!(
            self,
            Self::NotSeen { shortfall: Shortfall::Cancelled { .. } }
                | Self::Unknown { uncertainty: Uncertainty::Cancelled { .. } }
                | Self::Refused { refusal: Refusal::Cancelled }
        )
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
    /// The script of the page asks something, which the browser tells and no element does.
    PageAsks {
        /// What it asks, clipped.
        message: String,
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
    /// The target is different now, or something that belongs to it.
    Changed {
        /// The element as it was before.
        element: ElementRef,
        /// What it is now.
        now: Now,
    },
    /// Something in the window says what it did not say before: a label, an alert, an entry of a list.
    Says {
        /// The element as it is now.
        element: ElementRef,
        /// What it says, clipped.
        text: String,
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
    /// The window, which never takes the focus, is in front: a notification or a panel.
    InFront {
        /// The window.
        window: WindowRef,
    },
    /// The text that was meant was read back.
    Reads {
        /// The text that was read, clipped around the place of what was written.
        text: String,
        /// What the application added behind it as a selected completion, which the next key replaces.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        completion: Option<String>,
    },
    /// A field that hides its text holds as many characters as it should.
    HasLength,
    /// The number that was meant was read back.
    Number {
        /// The number that was read.
        value: f64,
    },
    /// Every cell was read back as it was meant.
    Cells {
        /// How many cells.
        cells: u64,
        /// How many of them were written again because they still had their old content.
        #[serde(default, skip_serializing_if = "is_zero")]
        corrected: u64,
        /// Those that show something else than what was written: the result of a formula, or a value in another format.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        shown: Vec<Mismatch>,
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
    /// The file of the document was written completely, and the document has no unsaved changes.
    Saved {
        /// The file.
        path: String,
        /// Its size.
        bytes: u64,
        /// Whether there were no changes to save, so that nothing was sent.
        #[serde(default)]
        already: bool,
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

impl Proof {
    /// How directly it proves that the action worked.
    pub const fn rank(&self) -> Rank {
        match self {
            Self::Gone { .. } | Self::Changed { .. } => Rank::Target,
            Self::Says { .. }
            | Self::PageAsks { .. }
            | Self::WindowOpened { .. }
            | Self::WindowClosed { .. }
            | Self::TitleChanged { .. } => Rank::Says,
            Self::Holds { .. }
            | Self::Active { .. }
            | Self::InFront { .. }
            | Self::Reads { .. }
            | Self::HasLength
            | Self::Number { .. }
            | Self::Cells { .. }
            | Self::Moved
            | Self::TextRead { .. }
            | Self::CellsRead { .. }
            | Self::ClipboardRead { .. }
            | Self::Saved { .. }
            | Self::Summarized { .. }
            | Self::Waited { .. } => Rank::PostCondition,
        }
    }
}

/// How directly a proof shows that an action worked; the strongest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rank {
    /// What was meant was read back.
    PostCondition,
    /// The target itself changed.
    Target,
    /// Something newly says something, or a window opened, closed or has another title. Whether that is what was meant, the
    /// quoted text tells.
    Says,
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
    /// Its caret moved.
    Caret {
        /// The character before which it is, from 0.
        at: u64,
    },
    /// Another part of its text is selected.
    TextSelected {
        /// How many characters; 0 if nothing is selected any more.
        characters: u64,
    },
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
        /// The text that was read, clipped around the place of what was written.
        text: String,
        /// What stands around the place where it was written, if that is known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        around: Option<Surroundings>,
    },
    /// A field that hides its text holds another number of characters.
    OtherLength {
        /// How many it holds.
        characters: u64,
        /// How many it should hold.
        expected: u64,
    },
    /// The text could not be cleared; nothing was written.
    NotCleared {
        /// The text that is there, clipped.
        text: String,
    },
    /// The control has another number.
    OtherNumber {
        /// The number that was read; `None` if it has none any more.
        value: Option<f64>,
        /// The text that it shows, if it differs from the number, clipped.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        text: Option<String>,
    },
    /// Some cells show something else.
    Cells {
        /// How many cells were meant.
        cells: u64,
        /// How many of them were written again because they still had their old content.
        #[serde(default, skip_serializing_if = "is_zero")]
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
        /// The last lines that it said.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        said: String,
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
    /// The document was not saved.
    NotSaved {
        /// Its file, if that is known.
        path: Option<String>,
        /// Whether it has unsaved changes, if the application tells.
        modified: Option<bool>,
        /// Whether the file changed all the same, as by an automatic copy.
        changed: bool,
    },
    /// The window has the focus, and another one is in front of it.
    Behind {
        /// The window in front.
        window: WindowRef,
    },
    /// A part of a long text did not arrive as it was typed, so that the rest was not typed.
    StoppedTyping {
        /// How much was typed.
        extent: Extent,
        /// What stands around the place where it was typed.
        around: Surroundings,
    },
    /// It was cancelled, and what was done of it is known.
    Cancelled {
        /// What was done.
        cancellation: Cancellation,
    },
}

/// What stands around a place in a text before and after an action, each clipped.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Surroundings {
    /// Before the action.
    pub before: String,
    /// After it.
    pub after: String,
}

/// Why a text is written without being read back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Blindness {
    /// A terminal: what it shows is up to the program that runs in it.
    Terminal,
    /// A password field: its text is never read.
    Password,
    /// A date whose year shows two digits.
    Century,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
const fn is_zero(count: &u64) -> bool {
    *count == 0
}
