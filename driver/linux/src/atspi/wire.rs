//! Data received over the accessibility bus: object references, roles, states and interfaces as numbers.
//!
//! The tables of roles and states are our own. `atspi-common` 0.14 would replace the 20 lines of role names and
//! bring five crates (a macro that reads interface files among them), but it ends before role 130 (`switch`)
//! and calls role 43 `button`, which is `push button` in prompts, policies and journals. Its states would have
//! to be mapped to ours all the same.

use std::{fmt, sync::Arc};

use deskhand_ui::{ElementCapability, Role, State, States};
use zbus::zvariant::OwnedObjectPath;

/// The path of the null object.
const NULL_PATH: &str = "/org/a11y/atspi/null";

/// The path of the root object of an application.
pub(crate) const ROOT_PATH: &str = "/org/a11y/atspi/accessible/root";

/// An object, by the unique name of its application's connection and its path.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct ObjectRef {
    /// The unique bus name, such as `:1.7`.
    pub(crate) bus: Arc<str>,
    /// The object path.
    pub(crate) path: Arc<str>,
}

/// An object reference as it is sent: `(so)`.
pub(crate) type WireRef = (String, OwnedObjectPath);

impl ObjectRef {
    pub(crate) fn new(bus: &str, path: &str) -> Self {
        Self { bus: bus.into(), path: path.into() }
    }

    /// The object that was sent, unless it is the null object.
    pub(crate) fn from_wire(sent: &WireRef) -> Option<Self> {
        let (bus, path) = (sent.0.as_str(), sent.1.as_str());
        (!bus.is_empty() && path != NULL_PATH && path != "/").then(|| Self::new(bus, path))
    }
}

impl fmt::Display for ObjectRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.bus, self.path)
    }
}

/// `AtspiRole`, in the order of its numbers.
#[rustfmt::skip]
const ROLES: [&str; 131] = [
    "invalid", "accelerator label", "alert", "animation", "arrow", "calendar", "canvas", "check box",
    "check menu item", "color chooser", "column header", "combo box", "date editor", "desktop icon",
    "desktop frame", "dial", "dialog", "directory pane", "drawing area", "file chooser", "filler",
    "focus traversable", "font chooser", "frame", "glass pane", "html container", "icon", "image",
    "internal frame", "label", "layered pane", "list", "list item", "menu", "menu bar", "menu item",
    "option pane", "page tab", "page tab list", "panel", "password text", "popup menu", "progress bar",
    "push button", "radio button", "radio menu item", "root pane", "row header", "scroll bar", "scroll pane",
    "separator", "slider", "spin button", "split pane", "status bar", "table", "table cell",
    "table column header", "table row header", "tearoff menu item", "terminal", "text", "toggle button",
    "tool bar", "tool tip", "tree", "tree table", "unknown", "viewport", "window", "extended", "header",
    "footer", "paragraph", "ruler", "application", "autocomplete", "editbar", "embedded", "entry", "chart",
    "caption", "document frame", "heading", "page", "section", "redundant object", "form", "link",
    "input method window", "table row", "tree item", "document spreadsheet", "document presentation",
    "document text", "document web", "document email", "comment", "list box", "grouping", "image map",
    "notification", "info bar", "level bar", "title bar", "block quote", "audio", "video", "definition",
    "article", "landmark", "log", "marquee", "math", "rating", "timer", "static", "math fraction",
    "math root", "subscript", "superscript", "description list", "description term", "description value",
    "footnote", "content deletion", "content insertion", "mark", "suggestion", "push button menu", "switch",
];

/// The role with that number.
pub(crate) fn role(number: u32) -> Role {
    usize::try_from(number).ok().and_then(|at| ROLES.get(at)).map_or(Role::UNKNOWN, |name| Role::new(*name))
}

/// `AtspiStateType` numbers of the states that core knows.
const STATES: [(u32, State); 22] = [
    (1, State::Active),
    (3, State::Busy),
    (4, State::Checked),
    (6, State::Defunct),
    (7, State::Editable),
    (8, State::Enabled),
    (9, State::Expandable),
    (10, State::Expanded),
    (11, State::Focusable),
    (12, State::Focused),
    (16, State::Modal),
    (17, State::MultiLine),
    (20, State::Pressed),
    (22, State::Selectable),
    (23, State::Selected),
    (24, State::Sensitive),
    (25, State::Showing),
    (30, State::Visible),
    (31, State::ManagesDescendants),
    (33, State::Required),
    (41, State::Checkable),
    (43, State::ReadOnly),
];

/// The states in a bit set of two words, low word first.
pub(crate) fn states(words: &[u32]) -> States {
    let word = |at: usize| u64::from(words.get(at).copied().unwrap_or(0));
    let bits = word(0) | (word(1) << 32);
    STATES.iter().filter(|(bit, _)| bits & (1 << bit) != 0).map(|(_, state)| *state).collect()
}

/// The patterns among the names of interfaces.
pub(crate) fn patterns(interfaces: &[String]) -> Vec<ElementCapability> {
    const PATTERNS: [(&str, ElementCapability); 6] = [
        ("org.a11y.atspi.Action", ElementCapability::Action),
        ("org.a11y.atspi.EditableText", ElementCapability::EditableText),
        ("org.a11y.atspi.Selection", ElementCapability::Selection),
        ("org.a11y.atspi.Table", ElementCapability::Table),
        ("org.a11y.atspi.Text", ElementCapability::Text),
        ("org.a11y.atspi.Value", ElementCapability::Value),
    ];
    PATTERNS
        .iter()
        .filter(|(name, _)| interfaces.iter().any(|interface| interface == name))
        .map(|(_, pattern)| *pattern)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn role_and_state_numbers_are_decoded() {
        for (number, name) in [
            (0, "invalid"),
            (23, "frame"),
            (43, "push button"),
            (61, "text"),
            (92, "document spreadsheet"),
            (98, "list box"),
            (129, "push button menu"),
            (130, "switch"),
            (9_999, "unknown"),
        ] {
            assert_eq!(role(number).name(), name);
        }
        let some = states(&[(1 << 25) | (1 << 30) | (1 << 8), 1 << (41 - 32)]);
        assert_eq!(some.to_string(), "checkable, enabled, showing, visible");
        assert_eq!(states(&[]), States::EMPTY);
    }

    #[test]
    fn the_null_object_is_none() {
        let sent = |bus: &str, path: &str| (bus.to_owned(), OwnedObjectPath::try_from(path).unwrap());
        assert_eq!(ObjectRef::from_wire(&sent(":1.2", NULL_PATH)), None);
        assert_eq!(ObjectRef::from_wire(&sent("", "/a")), None);
        assert_eq!(ObjectRef::from_wire(&sent(":1.2", "/a")), Some(ObjectRef::new(":1.2", "/a")));
    }
}
