//! Kinds of actions.

use serde::{Deserialize, Serialize};

use crate::{
    CellRange, CellRanges, ElementQuery,
    geometry::{Point, Screen},
    keys::KeyModifier,
};

/// The longest text that is kept of what was typed, set or read back, in characters.
pub const TEXT_MAX: usize = 80;

/// A mouse button.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Button {
    /// The main one.
    #[default]
    Left,
    /// The wheel.
    Middle,
    /// The one for context menus.
    Right,
}

/// Kind of an action, with the arguments that define its intended effect. Texts are clipped to [`TEXT_MAX`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "act", rename_all = "snake_case")]
pub enum ActionKind {
    /// Clicks.
    Click {
        /// The button.
        button: Button,
        /// 2 for a double click, 3 for a triple click.
        count: u8,
        /// The keys that are held meanwhile.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        held: Vec<KeyModifier>,
    },
    /// Drags from the point that it is aimed at.
    Drag {
        /// Point where the button is released; `None` if that was not resolved.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        to: Option<Point<Screen>>,
    },
    /// Presses a key chord.
    Press {
        /// The chord: `ctrl+s`.
        chord: String,
    },
    /// Types a text by keyboard.
    Type {
        /// The text.
        text: String,
    },
    /// Pastes a text from the clipboard, in place of the present one.
    Paste {
        /// The text.
        text: String,
    },
    /// Sets the text of a control through the accessibility interface.
    SetText {
        /// The text.
        text: String,
    },
    /// Sets the number of a control through the accessibility interface.
    SetNumber {
        /// The number.
        value: f64,
    },
    /// Checks or unchecks a control.
    Check {
        /// `true` to check it, `false` to uncheck it.
        on: bool,
    },
    /// Expands or collapses an element.
    Expand {
        /// `true` to expand it, `false` to collapse it.
        open: bool,
    },
    /// Selects an item of a list, combo box, tree or row of tabs.
    SelectItem {
        /// The item.
        item: ElementQuery,
    },
    /// Selects several items of a list, tree or table, and no others.
    SelectItems {
        /// Their names.
        items: Vec<String>,
    },
    /// Selects cells of a table.
    SelectCells {
        /// The cells.
        range: CellRanges,
    },
    /// Selects a part of a text.
    SelectText {
        /// The part.
        text: String,
    },
    /// Invokes an accessibility action by its name.
    Invoke {
        /// The name, as the application has it.
        action: String,
    },
    /// Gives the keyboard focus.
    Focus,
    /// Turns the wheel.
    Scroll {
        /// Notches to the right; negative is left.
        right: i32,
        /// Notches down; negative is up.
        down: i32,
    },
    /// Scrolls an element into view.
    ScrollIntoView,
    /// Scrolls until a text is in view.
    ScrollTo {
        /// The text.
        text: String,
    },
    /// Moves the pointer onto what it is aimed at, and leaves it there.
    Hover,
    /// Chooses a file in a dialog for files that opens one.
    ChooseFile {
        /// The path of the file.
        path: String,
    },
    /// Follows a path through menus, tabs and tree items; the last element is what it is aimed at.
    Visit {
        /// The names, as the application has them.
        path: Vec<String>,
    },
    /// Writes cells of a table.
    WriteCells {
        /// The cells.
        range: CellRange,
    },
    /// Reads the text of an element.
    ReadText,
    /// Reads cells of a table.
    ReadCells,
    /// Reads a summary of a window.
    ReadSummary,
    /// Reads the text of the clipboard.
    ReadClipboard,
    /// Puts a text on the clipboard.
    WriteClipboard {
        /// The text.
        text: String,
    },
    /// Starts a program.
    Launch {
        /// Its display name.
        program: String,
    },
    /// Raises and focuses a window.
    Activate,
    /// Asks a window to close.
    Close,
    /// Saves a document to its own file.
    Save,
    /// Saves a document to another file.
    SaveAs {
        /// The path of the file.
        path: String,
    },
    /// Waits until something happens and is over.
    Wait {
        /// At most this long, in milliseconds.
        bound_ms: u64,
    },
    /// Waits until a condition holds.
    WaitFor {
        /// The condition.
        condition: Condition,
    },
}

/// Condition of a wait.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Condition {
    /// An element shows.
    Appears(ElementQuery),
    /// No such element shows any more.
    Disappears(ElementQuery),
    /// The title of the window, or of a dialog of it, contains a text; case does not count.
    TitleContains(String),
}

/// Intended effect of an action, where the application can report whether it holds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum PostCondition<'a> {
    /// The target is checked, or not.
    Checked(bool),
    /// The target is expanded, or collapsed.
    Expanded(bool),
    /// The target has the keyboard focus.
    Focused,
    /// The target is in view.
    InView,
    /// This text is in view.
    TextInView(&'a str),
    /// The application has taken this file.
    FileTaken(&'a str),
    /// The item of the target is selected.
    ItemSelected(&'a ElementQuery),
    /// Exactly these items of the target are selected.
    ItemsSelected(&'a [String]),
    /// Exactly these cells of the target are selected.
    CellsSelected(&'a CellRanges),
    /// This part of the target's text is selected.
    TextSelected(&'a str),
    /// The target, or the clipboard, holds this text; clipped.
    Text(&'a str),
    /// The target has this value.
    Number(f64),
    /// These cells of the target hold what was given.
    Cells(CellRange),
    /// The program has a window.
    WindowOpen(&'a str),
    /// The window is active.
    WindowActive,
    /// The window is closed.
    WindowClosed,
    /// The document is saved; to this file, if it was named.
    Saved(Option<&'a str>),
    /// The condition holds.
    Condition(&'a Condition),
}

impl ActionKind {
    /// Returns the intended effect; `None` if only observed changes can show success, as for a click.
    pub fn postcondition(&self) -> Option<PostCondition<'_>> {
        Some(match self {
            Self::Check { on } => PostCondition::Checked(*on),
            Self::Expand { open } => PostCondition::Expanded(*open),
            Self::Focus => PostCondition::Focused,
            Self::ScrollIntoView => PostCondition::InView,
            Self::ScrollTo { text } => PostCondition::TextInView(text),
            Self::ChooseFile { path } => PostCondition::FileTaken(path),
            Self::SelectItem { item } => PostCondition::ItemSelected(item),
            Self::SelectItems { items } => PostCondition::ItemsSelected(items),
            Self::SelectCells { range } => PostCondition::CellsSelected(range),
            Self::SelectText { text } => PostCondition::TextSelected(text),
            Self::Type { text }
            | Self::Paste { text }
            | Self::SetText { text }
            | Self::WriteClipboard { text } => PostCondition::Text(text),
            Self::SetNumber { value } => PostCondition::Number(*value),
            Self::WriteCells { range } => PostCondition::Cells(*range),
            Self::Launch { program } => PostCondition::WindowOpen(program),
            Self::Activate => PostCondition::WindowActive,
            Self::Close => PostCondition::WindowClosed,
            Self::Save => PostCondition::Saved(None),
            Self::SaveAs { path } => PostCondition::Saved(Some(path)),
            Self::WaitFor { condition } => PostCondition::Condition(condition),
            Self::Click { .. }
            | Self::Drag { .. }
            | Self::Press { .. }
            | Self::Invoke { .. }
            | Self::Scroll { .. }
            | Self::Hover
            | Self::Visit { .. }
            | Self::ReadText
            | Self::ReadCells
            | Self::ReadSummary
            | Self::ReadClipboard
            | Self::Wait { .. } => return None,
        })
    }
}
