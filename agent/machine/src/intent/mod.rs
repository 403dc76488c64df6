//! Intent of an action before it runs: its effect, and its targets.
//!
//! A tool declares both as data: [`Does`] for the whole, [`Takes`] for each argument. The gate reads the
//! arguments of a command once ([`read`]) and writes them back in canonical form; policy, approval, journal and
//! executor all take that value. The judged facts are stamped on the command ([`JudgementBasis`]), and the executor
//! compares them with the current state just before input is sent.

mod judged;
mod read;

pub use judged::{JudgedElement, JudgementBasis};
pub use read::{element_id, read, take_declarations};
use serde::{Deserialize, Serialize};

use deskhand_ui::{
    ids::{ElementId, WindowId},
    keys::KeyChord,
};

/// Effect of a tool, as far as a policy needs it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Does {
    /// Not declared; judged like a press.
    #[default]
    Other,
    /// Activates what it is aimed at: a click, a menu entry, an item, a key chord.
    Press,
    /// Enters text, directly or through the clipboard.
    Type,
    /// Drags something to another place.
    Drag,
    /// Sets the state or the value of a control or of cells.
    Set,
    /// Moves the focus, the selection or the view, and nothing else.
    Point,
    /// Starts an application or opens files.
    Open,
    /// Brings a window to the front.
    Switch,
    /// Asks a window to close.
    Close,
    /// Saves a document.
    Save,
    /// Runs a program without a window.
    Run,
    /// Hands a sub-task to an agent that works on its own.
    Delegate,
    /// Only reads.
    Read,
    /// Only waits.
    Wait,
}

impl Does {
    /// Every word.
    pub const ALL: [Self; 14] = [
        Self::Other,
        Self::Press,
        Self::Type,
        Self::Drag,
        Self::Set,
        Self::Point,
        Self::Open,
        Self::Switch,
        Self::Close,
        Self::Save,
        Self::Run,
        Self::Delegate,
        Self::Read,
        Self::Wait,
    ];

    /// Returns `true` if the application stays where it is: it goes on to no other page or dialog.
    pub const fn stays(self) -> bool {
        matches!(self, Self::Set | Self::Point | Self::Read)
    }

    /// The word for rules and listings.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Other => "other",
            Self::Press => "press",
            Self::Type => "type",
            Self::Drag => "drag",
            Self::Set => "set",
            Self::Point => "point",
            Self::Open => "open",
            Self::Switch => "switch",
            Self::Close => "close",
            Self::Save => "save",
            Self::Run => "run",
            Self::Delegate => "delegate",
            Self::Read => "read",
            Self::Wait => "wait",
        }
    }

    /// Returns `true` if it changes the desktop.
    pub const fn acts(self) -> bool {
        !matches!(self, Self::Read | Self::Wait)
    }

    /// Returns `true` if it may activate what it is aimed at, so that the name of that decides.
    pub const fn activates(self) -> bool {
        match self {
            // Typing a line break presses what has the focus.
            Self::Other | Self::Press | Self::Type | Self::Drag => true,
            Self::Set
            | Self::Point
            | Self::Open
            | Self::Switch
            | Self::Close
            | Self::Save
            | Self::Run
            | Self::Delegate
            | Self::Read
            | Self::Wait => false,
        }
    }
}

/// Kind of an argument of a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Takes {
    /// The id of an element of the window.
    Element,
    /// The name that this element is expected to have; without an element, the name that it is found by.
    Name,
    /// A path of names, outermost first; the last one is activated.
    Path,
    /// The name of an item of the element.
    Item,
    /// The names of several items of the element.
    Items,
    /// Key chords, separated by spaces.
    Keys,
    /// Text that is entered.
    Text,
    /// A value that is set: a text or a number.
    Value,
    /// Text that is entered through the clipboard, which every application can read.
    Pasted,
    /// A fraction of the width of the window, followed by an [`Takes::Down`].
    Across,
    /// A fraction of its height.
    Down,
    /// The id of a window.
    Window,
    /// An application or program.
    Program,
    /// Arguments of a program, or files to open.
    Files,
    /// A file that is written.
    File,
    /// A file that is chosen in a dialog for files, which is open by then.
    Chosen,
    /// The address of a page.
    Address,
    /// The question that the command answers, in the words of the dialog.
    Question,
    /// Flag: a question is answered with yes.
    Accepts,
    /// Flag: an existing file may be replaced.
    Replaces,
}

impl Takes {
    /// Returns `true` if it is a text, or a value that may be one.
    pub const fn is_text(self) -> bool {
        matches!(self, Self::Text | Self::Value | Self::Pasted)
    }

    /// The key of JSON schemas under which an argument declares what it is.
    pub const SCHEMA_KEY: &'static str = "x-takes";

    /// The kind with this word, as in JSON.
    pub fn from_word(word: &str) -> Option<Self> {
        serde_json::from_value(serde_json::Value::String(word.to_owned())).ok()
    }
}

/// Effect and targets of a command.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Intent {
    /// Kind of its effect.
    pub does: Does,
    /// Targets, in the order of its arguments.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub aims: Vec<CommandAim>,
}

/// One thing that a command is aimed at.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "at", rename_all = "snake_case")]
pub enum CommandAim {
    /// An element.
    Element {
        /// Its id.
        id: ElementId,
    },
    /// An element that is found by its name, or the name that the element is expected to have.
    Name {
        /// The name.
        name: String,
    },
    /// A place of the window.
    Place {
        /// The fraction of the width, from 0.
        x: f64,
        /// The fraction of the height, from 0.
        y: f64,
    },
    /// A path of names.
    Path {
        /// The names, outermost first.
        names: Vec<String>,
    },
    /// An item of the element.
    Item {
        /// Its name.
        name: String,
    },
    /// Key chords, in order and in canonical form.
    Keys {
        /// The chords.
        #[serde(with = "chords")]
        chords: Vec<KeyChord>,
    },
    /// Text that is entered. It stands in the arguments.
    Text {
        /// `true` if it contains a line break, which presses Return.
        presses_return: bool,
    },
    /// A secret that is entered in place of its name.
    Secret {
        /// Its name.
        name: String,
    },
    /// A window.
    Window {
        /// Its id.
        id: WindowId,
    },
    /// An application or program.
    Program {
        /// Its name.
        name: String,
    },
    /// Arguments of the program, or files to open.
    Files {
        /// The arguments.
        files: Vec<String>,
    },
    /// A file that exists may be replaced.
    Replaces,
}

/// Key chords as text.
mod chords {
    use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

    use deskhand_ui::keys::KeyChord;

    pub(super) fn serialize<S: Serializer>(chords: &[KeyChord], serializer: S) -> Result<S::Ok, S::Error> {
        chords.iter().map(ToString::to_string).collect::<Vec<String>>().serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<KeyChord>, D::Error> {
        let texts = Vec::<String>::deserialize(deserializer)?;
        texts.iter().map(|text| text.parse().map_err(de::Error::custom)).collect()
    }
}
