//! Roles of elements.

use std::{borrow::Cow, fmt};

use serde::{Deserialize, Serialize};

/// An AT-SPI role by its untranslated name (`push button`, `menu item`, …), as in `AtspiRole` of at-spi2-core.
/// An open set: a role without a constant here is kept as reported.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Role(Cow<'static, str>);

macro_rules! roles {
    ($($name:ident = $text:literal,)*) => {
        impl Role {
            $(#[doc = concat!("`", $text, "`")] pub const $name: Self = Self(Cow::Borrowed($text));)*
        }
    };
}

roles! {
    ALERT = "alert",
    APPLICATION = "application",
    CANVAS = "canvas",
    CHECK_BOX = "check box",
    CHECK_MENU_ITEM = "check menu item",
    COMBO_BOX = "combo box",
    DATE_EDITOR = "date editor",
    DIALOG = "dialog",
    DOCUMENT_SPREADSHEET = "document spreadsheet",
    DOCUMENT_TEXT = "document text",
    DOCUMENT_WEB = "document web",
    DRAWING_AREA = "drawing area",
    DRAWN_ICON = "drawn icon",
    DRAWN_TEXT = "drawn text",
    ENTRY = "entry",
    FILE_CHOOSER = "file chooser",
    FILLER = "filler",
    FRAME = "frame",
    HEADING = "heading",
    ICON = "icon",
    IMAGE = "image",
    LABEL = "label",
    LAYERED_PANE = "layered pane",
    LINK = "link",
    LIST = "list",
    LIST_BOX = "list box",
    LIST_ITEM = "list item",
    MENU = "menu",
    MENU_BAR = "menu bar",
    MENU_ITEM = "menu item",
    PAGE_TAB = "page tab",
    PAGE_TAB_LIST = "page tab list",
    PANEL = "panel",
    PARAGRAPH = "paragraph",
    PASSWORD_TEXT = "password text",
    POPUP_MENU = "popup menu",
    PROGRESS_BAR = "progress bar",
    PUSH_BUTTON = "push button",
    RADIO_BUTTON = "radio button",
    RADIO_MENU_ITEM = "radio menu item",
    ROOT_PANE = "root pane",
    SCROLL_BAR = "scroll bar",
    SCROLL_PANE = "scroll pane",
    SECTION = "section",
    SEPARATOR = "separator",
    SLIDER = "slider",
    SPIN_BUTTON = "spin button",
    SPLIT_PANE = "split pane",
    STATIC = "static",
    STATUS_BAR = "status bar",
    TABLE = "table",
    TABLE_CELL = "table cell",
    TERMINAL = "terminal",
    TEXT = "text",
    TOGGLE_BUTTON = "toggle button",
    TOOL_BAR = "tool bar",
    TREE = "tree",
    TREE_ITEM = "tree item",
    TREE_TABLE = "tree table",
    UNKNOWN = "unknown",
    VIEWPORT = "viewport",
    WINDOW = "window",
}

impl Role {
    /// A role by its AT-SPI name; unknown names are kept.
    pub fn new(name: impl Into<Cow<'static, str>>) -> Self {
        Self(name.into())
    }

    /// The AT-SPI name.
    pub fn name(&self) -> &str {
        &self.0
    }

    /// Returns `true` if people usually act on such a control, as opposed to reading it.
    pub fn is_interactive(&self) -> bool {
        const INTERACTIVE: &[Role] = &[
            Role::CHECK_BOX,
            Role::CHECK_MENU_ITEM,
            Role::COMBO_BOX,
            Role::DATE_EDITOR,
            Role::DOCUMENT_SPREADSHEET,
            Role::DOCUMENT_TEXT,
            Role::DRAWN_ICON,
            Role::DRAWN_TEXT,
            Role::ENTRY,
            Role::ICON,
            Role::LINK,
            Role::LIST_ITEM,
            Role::MENU,
            Role::MENU_ITEM,
            Role::PAGE_TAB,
            Role::PASSWORD_TEXT,
            Role::PUSH_BUTTON,
            Role::RADIO_BUTTON,
            Role::RADIO_MENU_ITEM,
            Role::SLIDER,
            Role::SPIN_BUTTON,
            Role::TABLE,
            Role::TABLE_CELL,
            Role::TERMINAL,
            Role::TEXT,
            Role::TOGGLE_BUTTON,
            Role::TREE_ITEM,
        ];
        INTERACTIVE.contains(self)
    }

    /// Returns `true` if it is a row, a cell or an item of a list, tree or table.
    pub fn is_row_or_cell(&self) -> bool {
        [Role::LIST_ITEM, Role::TABLE_CELL, Role::TREE_ITEM].contains(self) || self.name() == "table row"
    }

    /// Returns `true` if it is the title of a row or column of a table.
    pub fn is_header(&self) -> bool {
        self.name().ends_with("header")
    }

    /// Returns `true` if a control holds a value that people enter or choose, so that a label beside it names it.
    pub fn is_field(&self) -> bool {
        const FIELDS: [&str; 13] = [
            "entry",
            "text",
            "password text",
            "editbar",
            "spin button",
            "date editor",
            "combo box",
            "list box",
            "slider",
            "check box",
            "radio button",
            "switch",
            "toggle button",
        ];
        FIELDS.contains(&self.name())
    }

    /// Returns `true` if an element only shows text that may label or head others.
    pub fn is_caption(&self) -> bool {
        [Self::LABEL, Self::STATIC, Self::HEADING].contains(self)
    }

    /// Returns `true` if the element only groups others and carries no information if unnamed.
    pub fn is_structural(&self) -> bool {
        const STRUCTURAL: &[Role] = &[
            Role::FILLER,
            Role::LAYERED_PANE,
            Role::PANEL,
            Role::ROOT_PANE,
            Role::SCROLL_PANE,
            Role::SECTION,
            Role::SEPARATOR,
            Role::SPLIT_PANE,
            Role::UNKNOWN,
            Role::VIEWPORT,
        ];
        STRUCTURAL.contains(self)
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
