//! The selector as it should be after a drift, and what that changes.

use std::fmt::Write as _;

use super::{data::Selector, naming::NamePattern};
use deskhand_ui::{WindowView, ids::ElementId};

/// Maximum distance of a place from the stored one before a new one is proposed, as a fraction of the window.
const PLACE_KEPT: f64 = 0.05;

impl Selector {
    /// The selector of an element that was found or confirmed, as it is now. What a person wrote and still holds stays: patterns of names
    /// and titles, texts of the row, the id. `None` if the view does not show the element.
    pub fn updated(&self, view: &WindowView, element: ElementId) -> Option<Self> {
        let mut seen = Self::of(view, element)?;
        let keeps = |was: &Option<NamePattern>, now: &Option<NamePattern>| {
            was.as_ref().zip(now.as_ref()).is_some_and(|(was, now)| was == now || was.matches(&now.plain()))
        };
        if keeps(&self.name, &seen.name) {
            seen.name.clone_from(&self.name);
        }
        if keeps(&self.scope.title, &seen.scope.title) {
            seen.scope.title.clone_from(&self.scope.title);
        }
        if !self.row.is_empty() {
            seen.row.clone_from(&self.row);
            seen.column = seen.column.or_else(|| self.column.clone());
            if self.name.is_none() && self.label.is_none() {
                seen.name = None;
            }
        }
        let is_there = |was: &[f64; 2], now: &[f64; 2]| {
            was.iter().zip(now).all(|(was, now)| (was - now).abs() <= PLACE_KEPT)
        };
        if self.place.as_ref().zip(seen.place.as_ref()).is_some_and(|(was, now)| is_there(was, now)) {
            seen.place = self.place;
        }
        seen.id.clone_from(&self.id);
        Some(seen)
    }

    /// The fields in which two selectors differ, one on a line: `name: Save → Save file`; empty if they are the same.
    pub fn difference(&self, new: &Self) -> String {
        let mut text = String::new();
        for ((field, was), (_, now)) in self.fields().into_iter().zip(new.fields()) {
            if was != now {
                let shown =
                    |value: &str| if value.is_empty() { "nothing".to_owned() } else { value.to_owned() };
                let _ = writeln!(text, "{field}: {} → {}", shown(&was), shown(&now));
            }
        }
        text
    }

    /// Every field with its value as text, in the order in which they are stored.
    fn fields(&self) -> Vec<(&'static str, String)> {
        // Destructured, so that a new field cannot be forgotten here.
        let Self {
            role,
            name,
            label,
            id,
            row,
            column,
            within,
            before,
            after,
            help,
            keys,
            range,
            nth,
            of,
            place,
            doubles,
            doubles_inside,
            unlike,
            scope,
        } = self;
        let text = |value: &Option<String>| value.clone().unwrap_or_default();
        let list = |items: Vec<String>| items.join(", ");
        let anchors = |items: &[super::SelectorAnchor]| list(items.iter().map(ToString::to_string).collect());
        let pattern =
            |value: &Option<NamePattern>| value.as_ref().map(ToString::to_string).unwrap_or_default();
        let pair = |value: &Option<[f64; 2]>, between: &str| {
            value.map(|[one, other]| format!("{one}{between}{other}")).unwrap_or_default()
        };
        let count = |value: &u32| if *value == 0 { String::new() } else { value.to_string() };
        let kind = match scope.kind {
            deskhand_ui::WindowKind::Normal => "window",
            deskhand_ui::WindowKind::Dialog => "dialog",
            deskhand_ui::WindowKind::Popup => "pop-up",
            deskhand_ui::WindowKind::Tooltip => "tool tip",
            deskhand_ui::WindowKind::Panel => "panel",
        };
        vec![
            ("role", role.to_string()),
            ("name", pattern(name)),
            ("label", text(label)),
            ("id", text(id)),
            ("row", list(row.clone())),
            ("column", text(column)),
            ("within", anchors(within)),
            ("before", anchors(before)),
            ("after", anchors(after)),
            ("help", text(help)),
            ("keys", text(keys)),
            ("range", pair(range, " to ")),
            ("nth", count(nth)),
            ("of", count(of)),
            ("place", pair(place, ", ")),
            ("doubles", count(doubles)),
            ("doubles_inside", count(doubles_inside)),
            ("unlike", list(unlike.clone())),
            ("scope.kind", kind.to_owned()),
            ("scope.title", pattern(&scope.title)),
            ("scope.role", scope.role.as_ref().map(ToString::to_string).unwrap_or_default()),
            ("scope.page", text(&scope.page)),
            ("scope.landmarks", anchors(&scope.landmarks)),
            ("scope.controls", count(&scope.controls)),
        ]
    }
}
