//! The table of 40 drifts: what an upgrade changes, and what a model would choose.

use std::fmt;

use serde::Serialize;

use super::changes::Change;

/// What kind of change it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Kind {
    /// A control, a label or a group has another name.
    Renamed,
    /// Something stands elsewhere.
    Moved,
    /// Another theme, toolkit or kind of control.
    Redrawn,
    /// Another language.
    Language,
    /// Another size of window or screen.
    Size,
    /// A dialog that was not there before.
    Dialog,
    /// A new control that looks like one of the task.
    Decoy,
    /// A control of the task is gone: the run must stop.
    Removed,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Renamed => "renamed",
            Self::Moved => "moved",
            Self::Redrawn => "redrawn",
            Self::Language => "language",
            Self::Size => "size",
            Self::Dialog => "dialog",
            Self::Decoy => "decoy",
            Self::Removed => "removed",
        })
    }
}

/// A drift.
#[derive(Debug, Clone, Copy)]
pub(super) struct Drift {
    pub(super) name: &'static str,
    pub(super) kind: Kind,
    pub(super) changes: &'static [Change],
    /// Variables of the application's environment.
    pub(super) variables: &'static [(&'static str, &'static str)],
    pub(super) screen: Option<&'static str>,
    /// What a model replies about the step that stops: a choice and an element, or `STOP`.
    pub(super) choice: Choice,
    /// Controls that may be used besides those of the task: the buttons of a dialog that is closed.
    pub(super) may_use: &'static [&'static str],
}

/// What a model replies about a step. Elements are written as in a placeholder of a script: role, name, number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Choice {
    /// The step is done with this element.
    Use(&'static str),
    /// This element is pressed, then the step is tried again.
    Press(&'static str),
    /// The run stops.
    Stop,
}

const fn drift(kind: Kind, name: &'static str, changes: &'static [Change]) -> Drift {
    Drift { name, kind, changes, variables: &[], screen: None, choice: Choice::Stop, may_use: &[] }
}

impl Drift {
    const fn with(self, variables: &'static [(&'static str, &'static str)]) -> Self {
        Self { variables, ..self }
    }

    const fn on(self, screen: &'static str) -> Self {
        Self { screen: Some(screen), ..self }
    }

    const fn choose(self, choice: Choice) -> Self {
        Self { choice, ..self }
    }

    const fn may_use(self, may_use: &'static [&'static str]) -> Self {
        Self { may_use, ..self }
    }
}

const GERMAN: &[(&str, &str)] = &[
    ("New", "Neu"),
    ("Print", "Drucken"),
    ("Settings", "Einstellungen"),
    ("Filter", "Filter"),
    ("Part number:", "Teilenummer:"),
    ("Maker:", "Hersteller:"),
    ("Only in stock", "Nur vorrätige"),
    ("Discontinued", "Ausgelaufene"),
    ("Warehouse:", "Lager:"),
    ("Reset", "Zurücksetzen"),
    ("Search", "Suchen"),
    ("Results", "Ergebnisse"),
    ("Nothing searched yet", "Noch nichts gesucht"),
    ("Compare", "Vergleichen"),
    ("Export", "Exportieren"),
    ("Copy", "Kopieren"),
    ("Ready", "Bereit"),
];
/// A translation that only reached the buttons.
const FRENCH_BUTTONS: &[(&str, &str)] = &[
    ("New", "Nouveau"),
    ("Print", "Imprimer"),
    ("Settings", "Paramètres"),
    ("Search", "Rechercher"),
    ("Export", "Exporter"),
    ("Copy", "Copier"),
];
const POLISH_SEARCH: &[(&str, &str)] = &[("Search", "Szukaj"), ("Export", "Eksportuj")];
/// English words for the same things.
const BRITISH: &[(&str, &str)] =
    &[("Search", "Find"), ("Settings", "Preferences"), ("Only in stock", "Only in stock…")];

const HELP: Change = Change::Help("export", "Writes the parts that were found into a file");

/// The drifts, in the order in which they are run.
pub(super) const DRIFTS: &[Drift] = &[
    drift(Kind::Renamed, "synonym on a button", &[Change::Name("search", "Find")]),
    drift(Kind::Renamed, "longer name of a button", &[Change::Name("search", "Search parts")]),
    drift(Kind::Renamed, "longer name of the last button", &[Change::Name("export", "Export list")]),
    drift(Kind::Renamed, "ellipsis and mnemonic", &[Change::Name("export", "Export…"), Change::Name("search", "Search:")]),
    drift(Kind::Renamed, "name without a common word", &[Change::Name("export", "Hand over")])
        .choose(Choice::Use(r#""push button" "Hand over""#)),
    drift(Kind::Renamed, "longer label of a field", &[Change::Name("part", "Part number or code:")]),
    drift(Kind::Renamed, "other label of a field", &[Change::Name("part", "Item code:")])
        .choose(Choice::Use(r#""text" nth=1"#)),
    drift(Kind::Renamed, "longer name of a box", &[Change::Name("stock", "Only parts in stock")]),
    drift(Kind::Renamed, "other label of a choice", &[Change::Name("warehouse", "Depot:")])
        .choose(Choice::Use(r#""combo box" nth=1"#)),
    drift(Kind::Renamed, "other name of a group", &[Change::Name("filter", "Conditions")]),
    drift(
        Kind::Renamed,
        "other names of all neighbours",
        &[Change::Name("reset", "Start over"), Change::Name("compare", "Side by side"), Change::Name("copy", "Duplicate")],
    )
    .choose(Choice::Use(r#""push button" "Export""#)),
    drift(Kind::Moved, "button into the tool bar", &[Change::Move { id: "export", into: "tools", at: 3 }])
        .choose(Choice::Use(r#""push button" "Export""#)),
    drift(Kind::Moved, "button into another group", &[Change::Move { id: "search", into: "taking", at: 0 }])
        .choose(Choice::Use(r#""push button" "Search""#)),
    drift(Kind::Moved, "box into another group", &[Change::Move { id: "stock", into: "results", at: 0 }])
        .choose(Choice::Use(r#""check box" "Only in stock""#)),
    drift(Kind::Moved, "fields in another order", &[Change::Move { id: "maker", into: "filter", at: 0 }]),
    drift(Kind::Moved, "buttons in the opposite order", &[Change::Reverse("asking"), Change::Reverse("taking")]),
    drift(Kind::Moved, "groups in the opposite order", &[Change::Reverse("")]),
    drift(Kind::Moved, "a group around everything", &[Change::Wrap { id: "filter", name: "Parts" }]),
    drift(Kind::Moved, "no groups at all", &[Change::Unwrap("filter"), Change::Unwrap("results")]),
    drift(
        Kind::Moved,
        "field below the boxes",
        &[Change::Move { id: "part", into: "filter", at: 3 }, Change::Move { id: "warehouse", into: "filter", at: 0 }],
    ),
    drift(Kind::Redrawn, "high contrast", &[]).with(&[("GTK_THEME", "HighContrast")]),
    drift(Kind::Redrawn, "dark, with large letters", &[])
        .with(&[("GTK_THEME", "Adwaita:dark"), ("GDK_DPI_SCALE", "1.6")]),
    drift(Kind::Redrawn, "from GTK 3 to GTK 4", &[Change::Toolkit("gtk4")])
        .choose(Choice::Use(r#""combo box" nth=1"#)),
    drift(Kind::Redrawn, "from GTK 3 to Qt", &[Change::Toolkit("qt")]),
    drift(Kind::Redrawn, "button drawn as a toggle button", &[Change::Kind("search", "toggle")])
        .choose(Choice::Use(r#""toggle button" "Search""#)),
    drift(Kind::Redrawn, "button drawn as a link", &[Change::Kind("export", "link")])
        .choose(Choice::Use(r#""link" "Export""#)),
    drift(Kind::Redrawn, "box drawn as a switch", &[Change::Kind("stock", "switch")])
        .choose(Choice::Use(r#""toggle button" nth=1"#)),
    drift(Kind::Redrawn, "help texts", &[HELP, Change::Help("search", "Looks for parts")]),
    drift(Kind::Language, "German", &[Change::Words(GERMAN)]).choose(Choice::Use(r#""text" nth=1"#)),
    drift(Kind::Language, "French on the buttons alone", &[Change::Words(FRENCH_BUTTONS)])
        .choose(Choice::Use(r#""push button" "Exporter""#)),
    drift(Kind::Language, "Polish on two buttons", &[Change::Words(POLISH_SEARCH)]),
    drift(Kind::Language, "other English words", &[Change::Words(BRITISH)]),
    drift(Kind::Size, "small window that scrolls", &[Change::Size([420, 300])]),
    drift(Kind::Size, "large window on a large screen", &[Change::Size([1800, 1100])]).on("2560x1440"),
    drift(
        Kind::Dialog,
        "dialog with one button",
        &[Change::Dialog(
            r#"{"title": "Tip of the day", "text": "Parts can be compared.", "modal": true, "buttons": [{"id": "tip", "name": "Close"}]}"#,
        )],
    )
    .may_use(&["tip"]),
    drift(
        Kind::Dialog,
        "dialog with a choice",
        &[Change::Dialog(
            r#"{"title": "Update", "text": "A new version is available.", "modal": true, "buttons": [{"id": "update", "name": "Update"}, {"id": "later", "name": "Later"}]}"#,
        )],
    )
    .choose(Choice::Press(r#""push button" "Later""#))
    .may_use(&["later"]),
    drift(
        Kind::Decoy,
        "another button of the name in another group",
        &[Change::Add { into: "filter", at: 0, node: r#"{"kind": "button", "id": "export-filter", "name": "Export"}"# }],
    )
    .choose(Choice::Use(r#""push button" "Export" nth=2"#)),
    drift(
        Kind::Decoy,
        "another field above the field",
        &[Change::Add { into: "filter", at: 0, node: r#"{"kind": "entry", "id": "drawing", "name": "Drawing number:"}"# }],
    ),
    drift(Kind::Removed, "button gone, another one in its place", &[
        Change::Remove("export"),
        Change::Add { into: "taking", at: 1, node: r#"{"kind": "button", "id": "discard", "name": "Discard"}"# },
    ]),
    drift(Kind::Removed, "box gone", &[Change::Remove("stock")]),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::learning::{changes::apply, desk};

    #[test]
    fn there_are_40_drifts_of_every_kind_and_each_fits_the_layout() {
        assert_eq!(DRIFTS.len(), 40);
        for drift in DRIFTS {
            let mut layout = desk::layout("gtk3").unwrap();
            let before = layout.clone();
            for change in drift.changes {
                apply(change, &mut layout).unwrap_or_else(|error| panic!("{}: {error:#}", drift.name));
            }
            let is_changed = layout != before || !drift.variables.is_empty() || drift.screen.is_some();
            assert!(is_changed, "{} changes nothing", drift.name);
            assert_eq!(DRIFTS.iter().filter(|other| other.name == drift.name).count(), 1, "{}", drift.name);
        }
        let kinds: std::collections::BTreeSet<Kind> = DRIFTS.iter().map(|drift| drift.kind).collect();
        assert_eq!(kinds.len(), 8);
    }
}
