//! Qt, and its engine for pages.
//!
//! QtWebEngine reads from a variable that it is to expose pages.
//!
//! Qt 5: no `Cache.GetItems`; `Properties.GetAll` crashed some versions, so it is never called. An expanded item of a
//! tree exposes its leaves as further children of the tree without an event; only their number shows it. `GrabFocus`
//! does nothing for a combo box, and the cells of a table are new objects after each change. Those of a tree are new
//! objects each time its children are read, while the former ones keep answering. The list of a combo box takes a click
//! within the time of a double click after it opened for the end of the click that opened it, and ignores it.

use deskhand_desktop::Quirks;
use deskhand_ui::Role;

use super::{
    chromium::EXPOSE_PAGES,
    definition::{ToolkitDefinition, exposing},
    elements::{DrawnChanges, ElementTraits, NO_QUIRKS, PLAIN},
};

/// Programs of Qt 6.
pub(super) const QT_6: ToolkitDefinition = exposing("Qt 6 and KDE", &["/libQt6Gui"]).with(VARIABLES);

/// Programs of Qt 5.
pub(super) const QT_5: ToolkitDefinition = exposing("Qt 5 and KDE", &["/libQt5Gui"]).with(VARIABLES);

const VARIABLES: &[(&str, &str)] = &[("QT_LINUX_ACCESSIBILITY_ALWAYS_ON", "1")];

/// Programs that show pages by the engine of Qt.
pub(super) const WEB_ENGINE: ToolkitDefinition = ToolkitDefinition {
    as_superuser: &[("QTWEBENGINE_DISABLE_SANDBOX", "1")],
    ..exposing("QtWebEngine", &["/libQt5WebEngineCore", "/libQt6WebEngineCore"])
        .with(&[("QTWEBENGINE_CHROMIUM_FLAGS", EXPOSE_PAGES)])
};

/// Its elements.
pub(crate) static ELEMENTS: ElementTraits = ElementTraits {
    name: "Qt",
    recognises: |names| names.toolkit.eq_ignore_ascii_case("qt"),
    makes_anew: |role| *role == Role::TABLE_CELL,
    drawn_changes: DrawnChanges::PlacesStatesContents,
    announces_children: false,
    // It answers what an object does not offer as if there were no such object.
    tells_addresses: false,
    quirks: Quirks { ignores_clicks_in_fresh_lists: true, ..NO_QUIRKS },
    ends_bars_where_told: true,
    ..PLAIN
};
