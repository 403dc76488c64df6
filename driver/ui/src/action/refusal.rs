//! Why an action was refused before anything was sent.

use serde::{Deserialize, Serialize};

use super::{ElementRef, Evidence, WindowRef};
use crate::{
    CellRange, CellRef, TableShape,
    geometry::{Point, Rect, Screen},
    ids::{ElementId, WindowId},
};

/// Object that covers the target.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TargetObstruction {
    /// A window.
    Window(WindowRef),
    /// Another element.
    Element(ElementRef),
    /// Something that the application does not name.
    Unnamed,
}

/// Why an action was refused: the check that failed, with what was found instead. Nothing was sent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "refusal", rename_all = "snake_case")]
pub enum ActionRefusal {
    /// The element no longer exists.
    Missing {
        /// Its id.
        id: ElementId,
        /// Elements with similar names, best first.
        nearest: Vec<ElementRef>,
    },
    /// The element has another name than the one that was expected.
    OtherName {
        /// The element as it is.
        element: ElementRef,
        /// The name that was expected.
        expected: String,
        /// Elements with similar names, best first.
        nearest: Vec<ElementRef>,
    },
    /// The element is in another window.
    OtherWindow {
        /// The element.
        element: ElementRef,
        /// The window of the action.
        window: WindowId,
    },
    /// A modal dialog is in front.
    DialogInFront {
        /// The dialog.
        dialog: WindowRef,
        /// Window that it blocks, if the target is in another window than that of the action.
        of: Option<WindowRef>,
    },
    /// The element keeps moving.
    Moving {
        /// The element.
        element: ElementRef,
    },
    /// The element is disabled.
    Disabled {
        /// The element.
        element: ElementRef,
    },
    /// The element is not on the screen.
    NotOnScreen {
        /// The element.
        element: ElementRef,
    },
    /// Something covers the element.
    Covered {
        /// The element.
        element: ElementRef,
        /// Object that covers it.
        by: TargetObstruction,
    },
    /// The element found in a picture is no longer drawn there.
    NoLongerDrawn {
        /// The element.
        element: ElementRef,
    },
    /// The picture shows another text there than the application tells, as in a list that was sorted.
    DrawnOtherwise {
        /// The element.
        element: ElementRef,
        /// Text drawn there.
        shows: String,
    },
    /// The point is outside of the window.
    PointOutside {
        /// The point.
        point: Point<Screen>,
        /// The window.
        window: WindowId,
        /// Its bounds, if it has any.
        bounds: Option<Rect<Screen>>,
    },
    /// Another application's window covers the point.
    PointCovered {
        /// The point.
        point: Point<Screen>,
        /// The window.
        by: WindowRef,
    },
    /// The current target differs from the one that was judged.
    LastLook {
        /// Finding just before the input.
        found: LastLook,
    },
    /// The window closed before.
    WindowClosed,
    /// The action was cancelled before anything was sent.
    Cancelled,
    /// The target does not offer what the action needs.
    Unsupported {
        /// The target.
        element: ElementRef,
        /// Missing capability.
        what: UnsupportedCapability,
    },
    /// There is nothing of that name.
    NotFound {
        /// The name that was asked for; empty for any.
        name: String,
        /// Place of the search, with the names available there.
        among: Among,
    },
    /// The cells are outside of the table.
    CellsOutside {
        /// The cells.
        range: CellRange,
        /// The table.
        table: ElementRef,
        /// Its size.
        shape: TableShape,
    },
    /// The cursor of the table does not go to the cell.
    CursorStays {
        /// The table.
        table: ElementRef,
        /// The cell.
        cell: CellRef,
    },
    /// The cell is not on the screen.
    CellNotOnScreen {
        /// The cell.
        cell: CellRef,
    },
    /// The window has no name box to enter a range in.
    NoNameBox {
        /// The window.
        window: WindowRef,
    },
    /// A level of the path did not open.
    NotOpened {
        /// The level that was clicked.
        element: ElementRef,
        /// The path up to there; empty for a context menu.
        path: Vec<String>,
        /// Evidence on the click.
        evidence: Box<Evidence>,
        /// Time spent waiting for it, in milliseconds.
        waited_ms: u64,
    },
    /// There is no such file.
    NoFile {
        /// The path.
        path: String,
        /// `true` if its folder is missing too.
        folder: bool,
        /// Similar names in the folder, best first.
        near: Vec<String>,
    },
    /// No dialog for a file is open.
    NoFileDialog,
    /// There is a file already that would be replaced.
    FileExists {
        /// The path.
        path: String,
        /// `true` if it is a folder.
        is_folder: bool,
    },
    /// The arguments are outside of what a call accepts.
    Arguments {
        /// Problem with the arguments.
        problem: ArgumentProblem,
    },
}

/// Finding of a last look, just before the input.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "look", rename_all = "snake_case")]
pub enum LastLook {
    /// Another element is there now than the one that was judged: it was renamed, replaced, moved away or covered.
    Replaced {
        /// The element that was judged.
        judged: Box<ElementRef>,
        /// Element that is there now.
        found: ElementRef,
    },
    /// The keyboard goes to another application.
    OtherWindowActive {
        /// The active window.
        active: WindowRef,
        /// The window of the action.
        window: WindowRef,
    },
    /// The rules want a person to approve what is there now.
    NeedsApproval {
        /// Element that is there.
        element: ElementRef,
        /// The rule.
        rule: String,
    },
    /// A secret may not be typed into what is there now.
    Secret {
        /// Element that is there.
        element: ElementRef,
        /// Why not.
        reason: String,
    },
    /// The rules deny what is there now.
    Denied {
        /// Element that is there.
        element: ElementRef,
        /// The rule.
        rule: String,
    },
}

/// Capability that a target does not offer.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(tag = "what", rename_all = "snake_case")]
pub enum UnsupportedCapability {
    /// The keyboard focus.
    Focus,
    /// Text input.
    Text,
    /// Text or numbers.
    Value,
    /// A number outside of its range.
    Number {
        /// The number.
        value: f64,
        /// The smallest value.
        minimum: f64,
        /// The largest value.
        maximum: f64,
    },
    /// The text: it takes dates and times as ISO 8601 writes them.
    NoDate,
    /// Being checked.
    Checking,
    /// Being expanded.
    Expanding,
    /// Being scrolled to.
    ScrollingTo,
    /// Reaching its item by mouse or keys.
    ReachingItem,
    /// Selecting the text; it is too far away for keys.
    SelectingText,
    /// Clearing its text without touching anything else.
    Clearing,
    /// The cells of a table: it is none.
    Table,
    /// Cells: the table has none.
    Cells,
}

/// Place of a search for a name, with the names available there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "among", rename_all = "snake_case")]
pub enum Among {
    /// The accessibility actions of an element.
    Actions {
        /// The element.
        element: ElementRef,
        /// The actions that it has, most similar first.
        offered: Vec<String>,
    },
    /// The items of a list.
    Items {
        /// The list.
        list: ElementRef,
        /// The items that it has, most similar first.
        items: Vec<String>,
    },
    /// The text of an element.
    Text {
        /// The element.
        element: ElementRef,
    },
    /// The tables of a window.
    Tables {
        /// The window.
        window: WindowId,
        /// The tables that it shows, most similar first.
        tables: Vec<String>,
    },
    /// The entries of a menu, or of a window and its dialogs.
    Entries {
        /// The menu; `None` for the window.
        inside: Option<ElementRef>,
        /// The window.
        window: WindowId,
        /// The entries that exist; of a window the most similar first.
        entries: Vec<String>,
    },
}

/// Problem with the arguments of an action.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "problem", rename_all = "snake_case")]
pub enum ArgumentProblem {
    /// The number of chords.
    Chords {
        /// Given number.
        given: u64,
        /// The most.
        max: u64,
    },
    /// Number of times that chords are pressed.
    Times {
        /// The most.
        max: u32,
    },
    /// The number of notches of the wheel.
    Notches {
        /// The most to one side.
        max: u32,
    },
    /// The number of names in a path.
    Path {
        /// The most.
        max: u64,
    },
    /// The number of items.
    Items {
        /// The most.
        max: u64,
    },
    /// The number of ranges of cells.
    Ranges {
        /// The most.
        max: u64,
    },
    /// Rows of different lengths, or none.
    Rows,
    /// The number of cells.
    Cells {
        /// Given number.
        given: u64,
        /// The most.
        max: u64,
    },
    /// A line break or tab in a cell.
    LineBreakInCell,
}

impl ActionRefusal {
    /// The reason in words, without what was refused.
    pub fn reason(&self) -> String {
        super::words::reason(self)
    }
}

impl From<LastLook> for ActionRefusal {
    fn from(found: LastLook) -> Self {
        Self::LastLook { found }
    }
}

impl From<ArgumentProblem> for ActionRefusal {
    fn from(problem: ArgumentProblem) -> Self {
        Self::Arguments { problem }
    }
}
