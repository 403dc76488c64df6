//! Arguments of `deskhand act`: one action by hand.

use std::{path::PathBuf, str::FromStr};

use clap::{Args, Subcommand, ValueEnum};
use deskhand_core::{
    geometry::{Point, Screen},
    ids::ElementId,
    ui::{CellRange, CellRef},
};
use deskhand_desktop::{Button, keys::KeyChord};

use super::StageArgs;

const EXAMPLES: &str = "\
A target is a name (`Finish`), a role (`text`), both (`push button \"Finish\"`), an id that `deskhand tree` printed
(`e17`), or a point of the screen (`120,48`).

Examples:
  deskhand act --desktop virtual --launch mousepad type --into text \"hello\"
  deskhand act visit Insert \"Chart...\"
  deskhand act --window Calc write-table --at A1 \"Month,Sales\" \"May,120\"
  deskhand act press ctrl+s

The exit code is 0 when the effect was seen, else 1.";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ActArgs {
    #[command(flatten)]
    pub(crate) stage: StageArgs,
    /// The window, by id, title or application [default: the one that was opened, else the active one].
    #[arg(long, short)]
    pub(crate) window: Option<String>,
    /// Save a picture of the screen afterwards.
    #[arg(long, value_name = "FILE")]
    pub(crate) screenshot: Option<PathBuf>,
    /// Write the report as JSON.
    #[arg(long)]
    pub(crate) json: bool,
    #[command(subcommand)]
    pub(crate) action: Action,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Action {
    /// Click an element or a point.
    Click {
        target: TargetText,
        /// Which mouse button.
        #[arg(long, value_enum, default_value_t = ButtonName::Left)]
        button: ButtonName,
        /// Click twice.
        #[arg(long)]
        double: bool,
    },
    /// Type text, as with a keyboard.
    Type {
        /// The text; any Unicode.
        text: String,
        /// Where; by default where the focus is.
        #[arg(long, value_name = "TARGET")]
        into: Option<TargetText>,
        /// Remove what is there first.
        #[arg(long)]
        clear: bool,
    },
    /// Press keys, such as `ctrl+s` or `alt+F4`, one chord after the other.
    Press {
        #[arg(required = true)]
        chords: Vec<KeyChord>,
    },
    /// Set the text or the number of a control in one go.
    SetValue { target: TargetText, value: String },
    /// Switch a check box or toggle on or off.
    Check {
        target: TargetText,
        /// Switch it off.
        #[arg(long)]
        off: bool,
    },
    /// Turn the wheel over an element or a point.
    Scroll {
        target: TargetText,
        /// Notches down; negative is up.
        #[arg(long, default_value_t = 0, allow_negative_numbers = true)]
        down: i32,
        /// Notches to the right; negative is left.
        #[arg(long, default_value_t = 0, allow_negative_numbers = true)]
        right: i32,
    },
    /// Drag from one place to another.
    Drag { from: TargetText, to: TargetText },
    /// Run an action that an element offers to assistive technology.
    Invoke {
        target: TargetText,
        /// Its name, such as `click` or `expand or contract`.
        action: String,
    },
    /// Give an element the keyboard focus.
    Focus { target: TargetText },
    /// Open a menu or other nested control by the names on the way, such as `Insert` `Chart...`.
    Visit {
        #[arg(required = true)]
        path: Vec<String>,
    },
    /// Choose an item of a list.
    Select { list: TargetText, item: String },
    /// Read the whole text of an element.
    ReadText { target: TargetText },
    /// Read the cells of a table.
    ReadTable {
        /// Which cells, such as `A1:C5`; by default what is in use.
        #[arg(long)]
        range: Option<CellRange>,
        /// The table, by id or name; by default the largest one.
        #[arg(long)]
        table: Option<TargetText>,
    },
    /// Write cells of a table and read them back.
    WriteTable {
        /// A row each, with commas between the cells.
        #[arg(required = true)]
        rows: Vec<String>,
        /// The cell at the top left.
        #[arg(long, default_value = "A1")]
        at: CellRef,
        /// The table, by id or name; by default the largest one.
        #[arg(long)]
        table: Option<TargetText>,
    },
    /// Select cells of a table.
    SelectCells {
        range: CellRange,
        /// The table, by id or name; by default the largest one.
        #[arg(long)]
        table: Option<TargetText>,
    },
    /// Start a program and wait for its window.
    Launch {
        program: String,
        /// What it is given, most often files.
        arguments: Vec<String>,
    },
    /// Ask the window to close.
    Close,
    /// Bring the window to the front.
    Activate,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum ButtonName {
    Left,
    Middle,
    Right,
}

impl From<ButtonName> for Button {
    fn from(name: ButtonName) -> Self {
        match name {
            ButtonName::Left => Self::Left,
            ButtonName::Middle => Self::Middle,
            ButtonName::Right => Self::Right,
        }
    }
}

/// What a person wrote.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum TargetText {
    /// `e17`, as `deskhand tree` prints it.
    Id(ElementId),
    /// `120,48`: a point of the screen.
    Point(Point<Screen>),
    /// `Finish`, `push button`, or `push button "Finish"`.
    Words(String),
}

impl FromStr for TargetText {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let text = text.trim();
        if text.is_empty() {
            return Err("say which element: by name, role, id (`e17`), or a point (`120,48`)".to_owned());
        }
        if let Ok(id) = text.parse() {
            return Ok(Self::Id(id));
        }
        let point = text
            .split_once(',')
            .and_then(|(x, y)| Some(Point::new(x.trim().parse().ok()?, y.trim().parse().ok()?)));
        Ok(point.map_or_else(|| Self::Words(text.to_owned()), Self::Point))
    }
}
