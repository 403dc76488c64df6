//! New text in a window, and the bearing of a change on an action.

use std::collections::{HashMap, HashSet};

use deskhand_ui::{Element, Role, Tree, action::ElementDelta, ids::ElementId, text::clip};

use crate::{
    before::Before,
    difference::{ChangeRelevance, ElementAspectDiff},
    row_roles::{ROW_ABOVE_MAX, is_row},
};

/// The longest text that is quoted, in characters.
const SAID_MAX: usize = 160;

/// Judges how each difference bears on the action.
pub(crate) fn judge(found: &mut [ElementAspectDiff], before: &Before, now: &Tree) {
    let news = ChangeClassifier::new(before, now);
    for one in found {
        one.bearing = news.bearing(one);
        // A row that has no name of its own is called by the part of it that was aimed at.
        if let (ChangeRelevance::Target, true, Some(target)) =
            (&one.bearing, one.of.name.is_empty(), &before.target)
        {
            one.of.name.clone_from(&target.name);
        }
    }
}

/// Data that determines the bearing of a change on an action.
struct ChangeClassifier<'a> {
    before: &'a Tree,
    now: &'a Tree,
    /// Number of occurrences of each text, before and now.
    texts: [HashMap<&'a str, u32>; 2],
    /// The target, and what belongs to it.
    family: HashSet<ElementId>,
}

impl<'a> ChangeClassifier<'a> {
    /// Compares the snapshot before an action with the elements now.
    fn new(before: &'a Before, now: &'a Tree) -> Self {
        let mut family = HashSet::new();
        if let Some(target) = &before.target {
            family.insert(target.id);
            for tree in [&before.tree, now] {
                family.extend(belonging_to(tree, target));
                // A page tab is selected by a click on its label.
                family.extend(tree.elements.iter().filter(|one| one.role == Role::PAGE_TAB).filter_map(
                    |tab| tree.descendants(tab.id).any(|inner| inner.id == target.id).then_some(tab.id),
                ));
            }
        }
        Self { before: &before.tree, now, texts: [texts_of(&before.tree), texts_of(now)], family }
    }

    /// Returns the bearing of a change on the action.
    fn bearing(&self, change: &ElementAspectDiff) -> ChangeRelevance {
        let is_own = |id: &ElementId| self.family.contains(id);
        if is_own(&change.of.id) || change.part.element.as_ref().is_some_and(is_own) {
            return ChangeRelevance::Target;
        }
        let Some(now) = self.now.find(change.of.id) else { return ChangeRelevance::Elsewhere };
        let said = match &change.now {
            ElementDelta::Came => self.said_within(now),
            // Other headers come with other rows.
            ElementDelta::Named { .. } if !is_control(&now.role) && !now.role.is_header() => {
                self.if_new(&now.name).map(ToOwned::to_owned)
            }
            ElementDelta::Reads { .. } if !shows_number(&now.role) => {
                let was = self.before.find(now.id).and_then(|was| was.text.as_deref());
                let text = now.text.as_deref().and_then(|text| self.if_new(text));
                text.and_then(|text| inserted_lines(was.unwrap_or_default(), text))
            }
            ElementDelta::Named { .. }
            | ElementDelta::Reads { .. }
            | ElementDelta::State { .. }
            | ElementDelta::Enabled { .. }
            | ElementDelta::Value { .. }
            | ElementDelta::Went
            | ElementDelta::Focused
            | ElementDelta::FocusMovedHere
            | ElementDelta::Caret { .. }
            | ElementDelta::TextSelected { .. }
            | ElementDelta::Changed => None,
        };
        match said.filter(|text| !text.trim().is_empty()) {
            Some(text) => ChangeRelevance::Says(now.into(), clip(text.trim(), SAID_MAX)),
            None => ChangeRelevance::Elsewhere,
        }
    }

    /// A text, if it is shown more often now than before.
    fn if_new<'t>(&self, text: &'t str) -> Option<&'t str> {
        let [before, now] = &self.texts;
        let count = |texts: &HashMap<&str, u32>| texts.get(text.trim()).copied().unwrap_or_default();
        (count(now) > count(before)).then_some(text)
    }

    /// The new texts of an element that appeared and of everything in it.
    fn said_within(&self, element: &Element) -> Option<String> {
        let mut said: Vec<&str> = Vec::new();
        let mut length = 0;
        let inside = std::iter::once(element).chain(self.now.descendants(element.id));
        for text in inside.flat_map(texts).filter_map(|text| self.if_new(text)) {
            let text = text.trim();
            if length < SAID_MAX && !said.iter().any(|known| known.contains(text)) {
                length += text.chars().count();
                said.push(text);
            }
        }
        (!said.is_empty()).then(|| said.join(" "))
    }
}

/// The texts of an element: what it is called, and what it reads.
fn texts(element: &Element) -> impl Iterator<Item = &str> {
    let text = element.text.as_deref().filter(|text| text.trim() != element.name.trim());
    let numbers = shows_number(&element.role);
    [Some(element.name.as_str()), text.filter(|_| !numbers)]
        .into_iter()
        .flatten()
        .filter(|text| text.chars().any(|one| !one.is_whitespace() && one != '\u{fffc}'))
}

fn texts_of(tree: &Tree) -> HashMap<&str, u32> {
    let mut counts = HashMap::new();
    for text in tree.elements.iter().flat_map(texts) {
        *counts.entry(text.trim()).or_default() += 1;
    }
    counts
}

/// Returns the elements that belong to a target: those inside it, and the row that it is a part of.
fn belonging_to(tree: &Tree, target: &Element) -> Vec<ElementId> {
    let mut own: Vec<ElementId> = Vec::new();
    if !is_area(&target.role) {
        own.extend(tree.descendants(target.id).map(|one| one.id));
    }
    let row = tree.ancestors(target.id).take(ROW_ABOVE_MAX).find(|one| is_row(&one.role));
    own.extend(row.map(|row| row.id));
    own
}

/// The lines of a text that have something inserted; `None` if characters only went.
fn inserted_lines(was: &str, text: &str) -> Option<String> {
    let same = |(one, other): &(char, char)| one == other;
    let head: usize = text.chars().zip(was.chars()).take_while(same).map(|(one, _)| one.len_utf8()).sum();
    let (rest, rest_was) = (text.get(head..)?, was.get(head..)?);
    let tail: usize =
        rest.chars().rev().zip(rest_was.chars().rev()).take_while(same).map(|(one, _)| one.len_utf8()).sum();
    let end = text.len() - tail;
    if end <= head {
        return None;
    }
    let breaks = text.get(head..end)?.chars().take_while(|one| *one == '\n').count();
    let start = text.get(..head + breaks)?.rfind('\n').map_or(0, |at| at + 1);
    let end = text.get(end..)?.find('\n').map_or(text.len(), |at| end + at);
    text.get(start..end).map(ToOwned::to_owned)
}

/// Returns `true` if an element is an area with unrelated things in it, so that a change in it is not its own.
fn is_area(role: &Role) -> bool {
    const AREAS: &[Role] = &[
        Role::APPLICATION,
        Role::DIALOG,
        Role::DOCUMENT_SPREADSHEET,
        Role::DOCUMENT_TEXT,
        Role::DOCUMENT_WEB,
        Role::FILE_CHOOSER,
        Role::FRAME,
        Role::TOOL_BAR,
        Role::WINDOW,
    ];
    role.is_structural() || AREAS.contains(role)
}

/// Returns `true` if an element is a control, whose name says what it does and not what happened.
fn is_control(role: &Role) -> bool {
    const CONTROLS: &[Role] = &[
        Role::CHECK_BOX,
        Role::CHECK_MENU_ITEM,
        Role::MENU,
        Role::MENU_ITEM,
        // Of a page in a browser it also says how much memory it takes; what the page is called, the window's title says too.
        Role::PAGE_TAB,
        Role::PROGRESS_BAR,
        Role::PUSH_BUTTON,
        Role::RADIO_BUTTON,
        Role::RADIO_MENU_ITEM,
        Role::TOGGLE_BUTTON,
    ];
    CONTROLS.contains(role) || shows_number(role)
}

/// Returns `true` if the text of an element is only its value.
fn shows_number(role: &Role) -> bool {
    [Role::PROGRESS_BAR, Role::SCROLL_BAR, Role::SLIDER, Role::SPIN_BUTTON].contains(role)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lines_with_something_new_are_quoted() {
        let check = |was: &str, text: &str, expected: Option<&str>| {
            assert_eq!(inserted_lines(was, text).as_deref(), expected, "{was:?} {text:?}");
        };
        check("", "Sent", Some("Sent"));
        check("one\ntwo", "one\ntwo\nthree", Some("three"));
        check("one\ntwo\nthree", "one\ntwo 2\nthree", Some("two 2"));
        check("grün", "größer", Some("größer"));
        check("one\ntwo", "one", None);
        check("aa", "a", None);
    }
}
