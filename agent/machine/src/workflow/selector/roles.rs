//! Families of roles: what the same control may be reported as after another toolkit, theme or version draws it.

use deskhand_ui::Role;

/// The families. A role may be in several; `password text` is in none, since a secret must not be typed into another field.
pub const FAMILIES: &[&[&str]] = &[
    &["push button", "button", "toggle button", "link", "push button menu", "drawn icon"],
    &["check box", "toggle button", "switch"],
    &["radio button", "toggle button"],
    &["check menu item", "menu item", "radio menu item"],
    &["menu", "menu item"],
    &["entry", "text", "editbar", "spin button", "date editor"],
    &["combo box", "list box"],
    &["combo box", "entry"],
    &["list item", "table cell", "tree item", "table row"],
    &["page tab", "radio button"],
    &["list", "list box", "table", "tree", "tree table"],
    &["label", "static", "heading", "paragraph", "drawn text"],
    &[
        "panel",
        "filler",
        "section",
        "grouping",
        "form",
        "landmark",
        "viewport",
        "scroll pane",
        "internal frame",
    ],
    &["dialog", "alert", "frame", "window", "file chooser"],
];

/// Returns `true` if two roles are the same or of one family.
pub fn are_related(one: &Role, other: &Role) -> bool {
    one == other
        || FAMILIES.iter().any(|family| family.contains(&one.name()) && family.contains(&other.name()))
}
