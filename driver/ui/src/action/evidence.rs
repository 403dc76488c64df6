//! Evidence on the success of an action.

use serde::{Deserialize, Serialize};

pub use super::uncertainty::Uncertainty;
use super::{ActionRefusal, Cancellation, ElementRef, Extent, WindowRef};
use crate::{CellRange, CellRef, State, action::Verdict};

/// Evidence on the success of an action. Each verdict has its own kind of evidence.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "verdict", rename_all = "snake_case")]
pub enum Evidence {
    /// The action worked.
    Seen {
        /// Proof of success.
        proof: ActionProof,
    },
    /// The action was carried out, and the intended effect did not occur within the time limit.
    NotSeen {
        /// Actual state in place of the intended one.
        shortfall: Shortfall,
    },
    /// The action was carried out, and there is no way to determine its success.
    Unknown {
        /// Why not.
        uncertainty: Uncertainty,
    },
    /// Nothing was sent.
    Refused {
        /// Why not.
        refusal: ActionRefusal,
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
                | Self::Refused { refusal: ActionRefusal::Cancelled }
        )
    }
}

impl From<ActionProof> for Evidence {
    fn from(proof: ActionProof) -> Self {
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

impl From<ActionRefusal> for Evidence {
    fn from(refusal: ActionRefusal) -> Self {
        Self::Refused { refusal }
    }
}

/// Proof that an action worked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "proof", rename_all = "snake_case")]
pub enum ActionProof {
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
        /// Message of the question, clipped.
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
        /// Its new state.
        now: ElementDelta,
    },
    /// Something in the window says what it did not say before: a label, an alert, an entry of a list.
    Says {
        /// The element as it is now.
        element: ElementRef,
        /// New text, clipped.
        text: String,
    },
    /// The intended state, selection or focus was read back.
    Holds {
        /// `true` if it held before, so that nothing was sent.
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
        /// Selected completion that the application added after the text, and that the next key replaces.
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
        /// Number of cells.
        cells: u64,
        /// Number of those that were written again because they still had their old content.
        #[serde(default, skip_serializing_if = "is_zero")]
        corrected: u64,
        /// Those that show something else than what was written: the result of a formula, or a value in another format.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        shown: Vec<CellMismatch>,
    },
    /// Elements moved, came into view or left it.
    Moved,
    /// A text was read; it is in the output.
    TextRead {
        /// Its length in characters.
        characters: u64,
        /// Number of those that are in the output.
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
        /// `true` if there were no changes to save, so that nothing was sent.
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
        /// `true` if pixels changed.
        drawn: bool,
        /// `true` if it was quiet at the end.
        quiet: bool,
    },
}

impl ActionProof {
    /// Returns how directly it proves that the action worked.
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

/// Directness of a proof that an action worked; the strongest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rank {
    /// The intended state was read back.
    PostCondition,
    /// The target itself changed.
    Target,
    /// Something newly says something, or a window opened, closed or has another title. Whether that is what was meant, the
    /// quoted text tells.
    Says,
}

/// New state of an element that it did not have before.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "now", rename_all = "snake_case")]
pub enum ElementDelta {
    /// A state came or went.
    State {
        /// The state.
        state: State,
        /// `true` if the state was set, `false` if it was cleared.
        on: bool,
    },
    /// Started or stopped accepting input.
    Enabled {
        /// `true` if it accepts input.
        on: bool,
    },
    /// Has another name.
    Named {
        /// The new name, clipped.
        name: String,
    },
    /// Has another value.
    Value {
        /// The new value; `None` if it has none any more.
        value: Option<f64>,
    },
    /// Has another text.
    Reads {
        /// The new text, clipped.
        text: String,
    },
    /// Appeared.
    Came,
    /// Disappeared.
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
        /// Number of selected characters; 0 if nothing is selected any more.
        characters: u64,
    },
    /// Announced a change, and lies outside of the part of the window that was read.
    Changed,
}

/// A cell with another content than the one that was meant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CellMismatch {
    /// The cell.
    pub cell: CellRef,
    /// Intended content.
    pub wanted: String,
    /// Displayed content.
    pub found: String,
}

/// Method used to select an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SelectionMethod {
    /// By a click on it.
    Click,
    /// By keys in the closed list.
    Keys,
    /// By keys in the opened list.
    OpenedList,
}

/// Actual state in place of the intended one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "shortfall", rename_all = "snake_case")]
pub enum Shortfall {
    /// Nothing changed.
    NothingChanged {
        /// `true` if pixels changed.
        pixels: bool,
        /// Why it was not tried by real input afterwards.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        then: Option<Box<ActionRefusal>>,
    },
    /// The state, selection or focus that was meant was not reached.
    NotReached {
        /// Method used, where several exist.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        way: Option<SelectionMethod>,
    },
    /// Another window is active.
    OtherActive {
        /// The active window, if any.
        active: Option<WindowRef>,
        /// Error reported by the desktop.
        error: Option<String>,
    },
    /// Another text was read back.
    ReadsOtherwise {
        /// The text that was read, clipped around the place of what was written.
        text: String,
        /// Text around the place of writing, if available.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        around: Option<TextContextDiff>,
    },
    /// A field that hides its text holds another number of characters.
    OtherLength {
        /// Actual number of characters.
        characters: u64,
        /// Expected number of characters.
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
        /// Number of cells to be written.
        cells: u64,
        /// Number of those that were written again because they still had their old content.
        #[serde(default, skip_serializing_if = "is_zero")]
        corrected: u64,
        /// Those that show something else.
        mismatches: Vec<CellMismatch>,
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
        /// Exit of the program, if it ended: `exit status: 1`.
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
        /// `true` if it has unsaved changes; `None` if the application does not report this.
        modified: Option<bool>,
        /// `true` if the file changed nevertheless, for example by an automatic copy.
        changed: bool,
    },
    /// The window has the focus, and another one is in front of it.
    Behind {
        /// The window in front.
        window: WindowRef,
    },
    /// A part of a long text did not arrive as it was typed, so that the rest was not typed.
    StoppedTyping {
        /// Typed part of the text.
        extent: Extent,
        /// Text around the place of typing.
        around: TextContextDiff,
    },
    /// The action was cancelled, with a definite record of its completed part.
    Cancelled {
        /// Completed part.
        cancellation: Cancellation,
    },
}

/// Text around a place before and after an action, each clipped.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TextContextDiff {
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
