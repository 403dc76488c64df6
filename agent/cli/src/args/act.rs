//! Arguments of `deskhand act`: one action by hand.

use std::{path::PathBuf, str::FromStr};

use clap::{Args, Subcommand, ValueEnum};
use deskhand_desktop::{Button, keys::KeyChord};
use deskhand_ui::{
    CellRange, CellRanges, CellRef,
    geometry::{Point, Screen},
    ids::ElementId,
    keys::KeyModifier,
};

use super::StageArgs;

const EXAMPLES: &str = "\
TARGET is an element or a place: a name (`Finish`), a role (`text`), both (`push button \"Finish\"`),
an id printed by `deskhand tree` (`e17`), or a point on the screen (`120,48`).

Examples:
  deskhand act --desktop virtual --launch mousepad type --into text \"hello\"
  deskhand act visit Insert \"Chart...\"
  deskhand act --window Calc write-table --at A1 \"Month,Sales\" \"May,120\"
  deskhand act press ctrl+s

Exit codes: 0 the effect was seen; 1 it was not.";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ActArgs {
    /// Window to act in, by id, title or application [default: the opened one, else the active one].
    #[arg(long, short)]
    pub(crate) window: Option<String>,
    /// Save a screenshot afterwards.
    #[arg(long, value_name = "FILE", global = true)]
    pub(crate) screenshot: Option<PathBuf>,
    /// Print the result as JSON.
    #[arg(long, global = true)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) stage: StageArgs,
    #[command(subcommand)]
    pub(crate) action: ActCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ActCommand {
    /// Click an element or a point.
    Click {
        target: TargetText,
        /// Mouse button.
        #[arg(long, value_enum, default_value_t = ButtonName::Left)]
        button: ButtonName,
        /// Double-click.
        #[arg(long)]
        double: bool,
        /// Keys held meanwhile, such as `ctrl` or `ctrl,shift`.
        #[arg(long, value_name = "KEYS", value_delimiter = ',')]
        hold: Vec<KeyModifier>,
    },
    /// Type text with the keyboard.
    Type {
        /// Text to type; any Unicode.
        text: String,
        /// Element to type into [default: the focused one].
        #[arg(long, value_name = "TARGET")]
        into: Option<TargetText>,
        /// Clear the element first.
        #[arg(long)]
        clear: bool,
    },
    /// Press key chords in order, such as `ctrl+s` or `alt+F4`.
    Press {
        #[arg(required = true)]
        chords: Vec<KeyChord>,
    },
    /// Set the text or number of a control directly.
    SetValue { target: TargetText, value: String },
    /// Check or uncheck a check box, radio button or toggle.
    Check {
        target: TargetText,
        /// Uncheck it.
        #[arg(long)]
        off: bool,
    },
    /// Turn the mouse wheel over an element or a point.
    Scroll {
        target: TargetText,
        /// Notches down; negative is up.
        #[arg(long, default_value_t = 0, allow_negative_numbers = true)]
        down: i32,
        /// Notches to the right; negative is left.
        #[arg(long, default_value_t = 0, allow_negative_numbers = true)]
        right: i32,
    },
    /// Drag from one element or point to another.
    Drag { from: TargetText, to: TargetText },
    /// Invoke an accessibility action of an element.
    Invoke {
        target: TargetText,
        /// Name of the action, such as `click` or `expand or contract`.
        action: String,
    },
    /// Give an element the keyboard focus.
    Focus { target: TargetText },
    /// Open a menu item or other nested control by its path of names, such as `Insert` `Chart...`.
    Visit {
        #[arg(required = true)]
        path: Vec<String>,
        /// Element whose context menu has the path; a right click opens it.
        #[arg(long, value_name = "TARGET")]
        context_menu_of: Option<TargetText>,
    },
    /// Select an item of a list, combo box or tree.
    Select { list: TargetText, item: String },
    /// Read the whole text of an element.
    ReadText { target: TargetText },
    /// Read the cells of a table.
    ReadTable {
        /// Cells to read, such as `A1:C5` [default: the used cells].
        #[arg(long)]
        range: Option<CellRange>,
        /// Table, by id or name [default: the largest one].
        #[arg(long)]
        table: Option<TargetText>,
    },
    /// Write cells of a table and read them back.
    WriteTable {
        /// Rows to write, each with its cells separated by commas.
        #[arg(required = true)]
        rows: Vec<String>,
        /// Top left cell.
        #[arg(long, default_value = "A1")]
        at: CellRef,
        /// Table, by id or name [default: the largest one].
        #[arg(long)]
        table: Option<TargetText>,
    },
    /// Select cells of a table.
    SelectCells {
        /// Range such as `A1:C5`, or several: `A7,D1:D7`.
        range: CellRanges,
        /// Table, by id or name [default: the largest one].
        #[arg(long)]
        table: Option<TargetText>,
    },
    /// Start a program and wait for its window.
    Launch {
        program: String,
        /// Arguments of the program, usually files.
        arguments: Vec<String>,
    },
    /// Save the document to its own file, and wait until the file is written.
    Save {
        /// Keep the format of the file, if the application asks.
        #[arg(long)]
        keep_format: bool,
    },
    /// Save the document to another file, and wait until the file is written.
    SaveAs {
        path: PathBuf,
        /// Format, by its name in the dialog [default: the one of the extension].
        #[arg(long)]
        format: Option<String>,
        /// Keep that format, if the application asks.
        #[arg(long)]
        keep_format: bool,
        /// Replace a file that exists.
        #[arg(long)]
        overwrite: bool,
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

/// A target as typed on the command line.
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
            return Err("name an element by name, role or id (`e17`), or a point (`120,48`)".to_owned());
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
