//! Elements by what they are, for those whose ids are not known yet.

use std::collections::{HashMap, HashSet};

use serde::Deserialize;

use super::{
    Element, Role, State, Tree,
    beside::{Beside, labels_beside},
    called, element_label, fold_name, names_equal,
};
use crate::{Surface, ids::ElementId};

/// The most elements that a refusal names.
const NAMED_MAX: usize = 5;

/// An element by what it is and where it stands, in place of its id.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Description {
    /// Its role, by the name of AT-SPI or one that people use: `push button`, `button`.
    #[serde(default)]
    pub role: Option<String>,
    /// Its accessible name; of a field without one, the label beside it.
    #[serde(default)]
    pub name: Option<String>,
    /// The name or role of something that it is in, or the title of its window.
    #[serde(default, rename = "in")]
    pub within: Option<String>,
    /// A text that stands in the same row.
    #[serde(default)]
    pub row: Option<String>,
    /// The header of its column.
    #[serde(default)]
    pub column: Option<String>,
    /// Which of several, from 1, in reading order.
    #[serde(default)]
    pub nth: Option<u32>,
}

/// Why a description leads to no element.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotDescribed {
    /// The description is empty.
    #[error("the description of an element needs at least `role` or `name`")]
    Empty,
    /// There is no such element.
    #[error("no {wanted} is shown{}", listed("; there are: ", .like))]
    Nothing {
        /// Description that was searched for.
        wanted: String,
        /// Others of the same role, or with a similar name.
        like: Vec<String>,
    },
    /// There are several.
    #[error("{count} elements are {wanted}{}; add `in`, `row`, `column` or `nth`", listed(": ", .found))]
    Several {
        /// Description that was searched for.
        wanted: String,
        /// Number of matches.
        count: usize,
        /// The first of them.
        found: Vec<String>,
    },
}

fn listed(before: &str, labels: &[String]) -> String {
    if labels.is_empty() { String::new() } else { format!("{before}{}", labels.join(", ")) }
}

impl Description {
    /// The element in these surfaces of one window.
    ///
    /// # Errors
    /// [`NotDescribed`] if there is none, or if there are several.
    pub fn find(&self, surfaces: &[Surface]) -> Result<ElementId, NotDescribed> {
        if self.role.is_none() && self.name.is_none() {
            return Err(NotDescribed::Empty);
        }
        // A modal dialog blocks what is below.
        let front = surfaces.iter().rposition(Surface::is_modal).unwrap_or(0);
        let is_shown = |element: &Element| element.states.has(State::Showing) || !element.source.is_tree();
        let all: Vec<(&Surface, &Element)> = surfaces
            .iter()
            .skip(front)
            .flat_map(|surface| surface.tree.elements.iter().map(move |element| (surface, element)))
            .filter(|(_, element)| is_shown(element))
            .collect();
        let labels: HashMap<ElementId, Beside<'_>> =
            surfaces.iter().skip(front).flat_map(|surface| labels_beside(&surface.tree)).collect();
        let is_it = |(surface, element): &&(&Surface, &Element)| {
            self.is(surface, element, labels.get(&element.id).map(|beside| beside.text))
        };
        let mut found: Vec<&Element> = all.iter().filter(is_it).map(|(_, element)| *element).collect();
        // The text of a label stands for its field.
        let told: HashSet<ElementId> =
            found.iter().filter_map(|field| labels.get(&field.id)).map(|beside| beside.label).collect();
        found.retain(|element| !told.contains(&element.id));
        if let Some(nth) = self.nth {
            let at = usize::try_from(nth).ok().and_then(|nth| nth.checked_sub(1));
            return match at.and_then(|at| found.get(at)) {
                Some(element) => Ok(element.id),
                None => Err(self.nothing(&all, &found)),
            };
        }
        match found.as_slice() {
            [] => Err(self.nothing(&all, &[])),
            [element] => Ok(element.id),
            several => Err(NotDescribed::Several {
                wanted: self.label(),
                count: several.len(),
                found: several.iter().take(NAMED_MAX).map(|one| shown(one)).collect(),
            }),
        }
    }

    /// Its text in messages: `push button "Save" in "Options"`.
    pub fn label(&self) -> String {
        let mut text = match (&self.role, &self.name) {
            (Some(role), Some(name)) => format!("{role} \"{name}\""),
            (Some(role), None) => role.clone(),
            (None, name) => format!("element \"{}\"", name.as_deref().unwrap_or_default()),
        };
        if let Some(within) = &self.within {
            text.push_str(&format!(" in \"{within}\""));
        }
        if let Some(row) = &self.row {
            text.push_str(&format!(" in the row of \"{row}\""));
        }
        if let Some(column) = &self.column {
            text.push_str(&format!(" in the column \"{column}\""));
        }
        if let Some(nth) = self.nth {
            text.push_str(&format!(", number {nth}"));
        }
        text
    }

    /// Returns `true` if an element of a role may be meant.
    pub fn may_have(&self, role: &Role) -> bool {
        self.role.as_ref().is_none_or(|wanted| is_role(role, wanted))
    }

    fn nothing(&self, all: &[(&Surface, &Element)], found: &[&Element]) -> NotDescribed {
        let named = |element: &Element| {
            self.name.as_ref().is_some_and(|name| fold_name(&element.name).contains(&fold_name(name)))
        };
        let alike = |element: &Element| {
            !element.name.trim().is_empty()
                && (named(element) || self.role.as_ref().is_some_and(|role| has_role(element, role)))
        };
        let like = all.iter().map(|(_, element)| *element).filter(|element| alike(element));
        let like: Vec<&Element> = if found.is_empty() { like.collect() } else { found.to_vec() };
        NotDescribed::Nothing {
            wanted: self.label(),
            like: like.into_iter().take(NAMED_MAX).map(shown).collect(),
        }
    }

    fn is(&self, surface: &Surface, element: &Element, beside: Option<&str>) -> bool {
        let tree = &surface.tree;
        let fits =
            |wanted: &Option<String>, holds: &dyn Fn(&str) -> bool| wanted.as_deref().is_none_or(holds);
        fits(&self.role, &|role| has_role(element, role))
            && fits(&self.name, &|name| {
                names_equal(name, called(element)) || beside.is_some_and(|beside| names_equal(name, beside))
            })
            && fits(&self.within, &|within| is_within(surface, element, within))
            && fits(&self.row, &|row| is_in_row(tree, element, row))
            && fits(&self.column, &|column| is_in_column(tree, element, column))
    }
}

/// An element in a refusal: `e7 push button "Save"`.
fn shown(element: &Element) -> String {
    format!("{} {}", element.id, element_label(&element.role, &element.name))
}

/// Returns `true` if an element has a role, by the name of AT-SPI or by one that people use for it.
fn has_role(element: &Element, wanted: &str) -> bool {
    is_role(&element.role, wanted)
}

fn is_role(role: &Role, wanted: &str) -> bool {
    let letters = |text: &str| -> String {
        text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
    };
    let wanted = letters(wanted);
    let is_one_of = |roles: &[Role]| roles.contains(role);
    wanted == letters(role.name())
        || match wanted.as_str() {
            "button" => is_one_of(&[Role::PUSH_BUTTON, Role::TOGGLE_BUTTON]),
            "field" | "input" | "textbox" | "textfield" | "edit" => {
                is_one_of(&[Role::ENTRY, Role::TEXT, Role::PASSWORD_TEXT, Role::SPIN_BUTTON])
            }
            "checkbox" => is_one_of(&[Role::CHECK_BOX, Role::CHECK_MENU_ITEM]),
            "radio" => is_one_of(&[Role::RADIO_BUTTON, Role::RADIO_MENU_ITEM]),
            "combobox" | "dropdown" | "select" => is_one_of(&[Role::COMBO_BOX]),
            "tab" => is_one_of(&[Role::PAGE_TAB]),
            "cell" => is_one_of(&[Role::TABLE_CELL]),
            "item" => is_one_of(&[Role::LIST_ITEM, Role::MENU_ITEM, Role::TREE_ITEM]),
            "password" => is_one_of(&[Role::PASSWORD_TEXT]),
            _ => false,
        }
}

/// Returns `true` if an element stands in something of that name or role, or in a window of that title.
fn is_within(surface: &Surface, element: &Element, within: &str) -> bool {
    let is_named = |one: &Element| names_equal(&one.name, within) || names_equal(one.role.name(), within);
    surface.tree.ancestors(element.id).any(is_named)
        || fold_name(&surface.window.title).contains(&fold_name(within))
}

/// Returns `true` if a text stands in the same row as an element: in the row that both are in, else at the same height.
fn is_in_row(tree: &Tree, element: &Element, row: &str) -> bool {
    let says = |one: &Element| {
        one.id != element.id
            && (names_equal(&one.name, row) || one.text.as_deref().is_some_and(|text| names_equal(text, row)))
    };
    let holds_row = |one: &&Element| one.role.is_row_or_cell() && one.role != Role::TABLE_CELL;
    if let Some(container) = tree.ancestors(element.id).find(holds_row) {
        let texts = [Some(container.name.as_str()), container.text.as_deref()];
        return texts.into_iter().flatten().any(|text| has_words(text, row))
            || tree.descendants(container.id).any(says);
    }
    let Some(bounds) = element.bounds else { return false };
    let at_same_height = |one: &Element| {
        let Some(other) = one.bounds.filter(|other| other.height <= bounds.height.saturating_mul(3)) else {
            return false;
        };
        let (own, its) = (bounds.center().y, other.center().y);
        (other.y..other.bottom()).contains(&own) && (bounds.y..bounds.bottom()).contains(&its)
    };
    tree.elements.iter().any(|one| says(one) && at_same_height(one))
}

/// Returns `true` if a text has these words, whole: the text of a row, with a sign in the place of each control (U+FFFC).
fn has_words(text: &str, words: &str) -> bool {
    let (text, words) = (fold_name(text), fold_name(words));
    let is_part = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
    !words.is_empty()
        && text.match_indices(&words).any(|(at, found)| {
            let before = text.get(..at).and_then(|before| before.chars().next_back());
            let after = text.get(at + found.len()..).and_then(|after| after.chars().next());
            !is_part(before) && !is_part(after)
        })
}

/// Returns `true` if an element stands below the header of a column.
fn is_in_column(tree: &Tree, element: &Element, column: &str) -> bool {
    let Some(bounds) = element.bounds else { return false };
    let is_above = |header: &Element| {
        header.bounds.is_some_and(|above| {
            above.bottom() <= bounds.center().y && (above.x..above.right()).contains(&bounds.center().x)
        })
    };
    let named = |one: &&Element| one.id != element.id && names_equal(&one.name, column);
    let headers = || tree.elements.iter().filter(named).filter(|one| one.role.is_header());
    if headers().next().is_some() {
        return headers().any(is_above);
    }
    tree.elements.iter().filter(named).any(is_above)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{AppInfo, States, WindowInfo, WindowKind, WindowState, geometry::Rect, ids::WindowId};

    fn element(id: u32, depth: u16, role: Role, name: &str, at: (i32, i32)) -> Element {
        Element {
            depth,
            states: States::EMPTY.with(State::Showing),
            bounds: Some(Rect::new(at.0, at.1, 80, 20)),
            ..Element::new(ElementId(id), role, name)
        }
    }

    fn form() -> Surface {
        let elements = vec![
            element(1, 0, Role::FRAME, "Orders", (0, 0)),
            element(2, 1, Role::PANEL, "Billing", (0, 20)),
            element(3, 2, Role::ENTRY, "Street:", (0, 40)),
            element(4, 1, Role::PANEL, "Shipping", (0, 60)),
            element(5, 2, Role::ENTRY, "Street:", (0, 80)),
            element(6, 1, Role::new("column header"), "Item", (0, 100)),
            element(7, 1, Role::new("column header"), "Action", (100, 100)),
            element(8, 1, Role::LABEL, "Tea", (0, 120)),
            element(9, 1, Role::PUSH_BUTTON, "Delete", (100, 120)),
            element(10, 1, Role::LABEL, "Milk", (0, 140)),
            element(11, 1, Role::PUSH_BUTTON, "Delete", (100, 140)),
            Element { states: States::EMPTY, ..element(12, 1, Role::PUSH_BUTTON, "Hidden", (0, 160)) },
            element(13, 1, Role::LABEL, "Host:", (0, 180)),
            element(14, 1, Role::TEXT, "", (100, 180)),
            Element {
                description: "Open menu".to_owned(),
                ..element(15, 1, Role::TOGGLE_BUTTON, "", (600, 300))
            },
        ];
        let window = WindowInfo {
            id: WindowId(1),
            kind: WindowKind::Normal,
            title: "Orders - Shop".to_owned(),
            app: AppInfo { name: "Shop".to_owned(), root: "shop".to_owned(), pid: None },
            bounds: Rect::new(0, 0, 300, 200),
            owner: None,
            active: true,
            accessible: true,
            document: None,
            state: WindowState::default(),
            monitor: None,
        };
        Surface { window, tree: Tree { elements, partial: None } }
    }

    #[test]
    fn an_element_is_found_by_what_it_is_and_where_it_stands() {
        let find = |json: &str| -> Result<u32, String> {
            let description: Description = serde_json::from_str(json).map_err(|error| error.to_string())?;
            description.find(&[form()]).map(|id| id.0).map_err(|error| error.to_string())
        };
        assert_eq!(find(r#"{"role": "field", "name": "street", "in": "Shipping"}"#), Ok(5));
        assert_eq!(find(r#"{"role": "button", "name": "Delete", "row": "Milk"}"#), Ok(11));
        assert_eq!(find(r#"{"role": "push button", "column": "Action", "row": "Tea"}"#), Ok(9));
        assert_eq!(find(r#"{"name": "Delete", "nth": 2}"#), Ok(11));
        assert_eq!(find(r#"{"name": "Tea", "in": "shop"}"#), Ok(8));
        assert_eq!(find(r#"{"name": "Host"}"#), Ok(14), "the field, not its label");
        assert_eq!(find(r#"{"role": "label", "name": "Host"}"#), Ok(13));
        assert_eq!(find(r#"{"name": "open menu"}"#), Ok(15), "by its description");
        // The text of a row may hold a sign for each control in it, and the text itself may be no element.
        let mut rows = form();
        let row = |id: u32, text: &str| Element {
            text: Some(text.to_owned()),
            ..element(id, 1, Role::LIST_ITEM, "", (0, 200))
        };
        rows.tree.elements.extend([
            row(20, "Row 32 of 50 \u{fffc}"),
            element(21, 2, Role::PUSH_BUTTON, "Take", (0, 200)),
            row(22, "Row 321 of 50 \u{fffc}"),
            element(23, 2, Role::PUSH_BUTTON, "Take", (0, 220)),
        ]);
        let take = |row: &str| {
            let description = Description {
                name: Some("Take".to_owned()),
                row: Some(row.to_owned()),
                ..Description::default()
            };
            description.find(&[rows.clone()]).map(|id| id.0).ok()
        };
        assert_eq!(["Row 32", "Row 321 of 50", "Row 3", "of 50"].map(take), [Some(21), Some(23), None, None]);
        for (json, problem) in [
            (r#"{"name": "Delete"}"#, "2 elements are element \"Delete\": e9 push button \"Delete\", e11"),
            (r#"{"name": "Delete", "nth": 3}"#, "no element \"Delete\", number 3 is shown; there are: e9"),
            (r#"{"name": "Hidden"}"#, "no element \"Hidden\" is shown"),
            (r#"{"name": "Delete", "nth": 0}"#, "number 0"),
            (r#"{"in": "Shipping"}"#, "needs at least `role` or `name`"),
            (r#"{"name": "Delete", "near": "Tea"}"#, "unknown field `near`"),
            (r#"{"role": "button", "name": "Save"}"#, "there are: e9 push button \"Delete\""),
        ] {
            let said = find(json).unwrap_err();
            assert!(said.contains(problem), "{json}: {said}");
        }
    }
}
