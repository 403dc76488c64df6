//! What is different in the elements of a window, and whether a difference can be the effect of an action.

use std::collections::{HashMap, HashSet};

use deskhand_core::{
    ids::ElementId,
    ui::{Element, Role, State, Tree},
};
use deskhand_desktop::{Aspect, Change, Desktop, DesktopError, DesktopResult, alike::reads_otherwise};

use crate::effect::{Before, is_menu};

/// The most announcements of elements outside of the tree that are looked into.
const READ_MAX: usize = 20;
/// The longest text that a difference quotes, in characters.
const QUOTE_MAX: usize = 60;

/// One element that is not as it was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Difference {
    /// What it is about.
    pub(crate) part: Part,
    /// What is different, for people.
    pub(crate) what: String,
}

/// An aspect of an element: what is told apart as changing by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Part {
    /// The element; its parent if it was added or removed; `None` if the application does not say.
    pub(crate) element: Option<ElementId>,
    aspect: Aspect,
}

impl Part {
    /// An aspect of an element, in the form in which aspects are compared: toolkits report the text of a label as its name
    /// or as its text, and whether it takes input as enabled or sensitive, not always as both at a time.
    pub(crate) const fn new(element: Option<ElementId>, aspect: Aspect) -> Self {
        let aspect = if matches!(aspect, Aspect::Name) {
            Aspect::Text
        } else if matches!(aspect, Aspect::State(State::Enabled)) {
            Aspect::State(State::Sensitive)
        } else {
            aspect
        };
        Self { element, aspect }
    }

    /// Marks it as self-changing.
    pub(crate) fn mark_self_changing<D: Desktop>(&self, desktop: &D) {
        if let Some(element) = self.element {
            desktop.mark_self_changing(element, self.aspect);
        }
    }

    /// Whether it is known to change by itself.
    pub(crate) fn is_self_changing<D: Desktop>(&self, desktop: &D) -> bool {
        self.element.is_some_and(|element| desktop.is_self_changing(element, self.aspect))
    }
}

/// What is different from before, and how things are now.
#[derive(Debug)]
pub(crate) struct Differences {
    pub(crate) found: Vec<Difference>,
    pub(crate) tree: Tree,
}

impl Difference {
    const fn new(element: ElementId, aspect: Aspect, what: String) -> Self {
        Self { part: Part::new(Some(element), aspect), what }
    }

    /// Whether it may have happened by itself: the element changed lately, or was not watched for long enough, or did
    /// not announce the change, so that nothing is known of when it changes.
    pub(crate) fn is_suspect(&self, before: &Before, announced: &HashSet<Part>) -> bool {
        let is_recent = self.part.element.is_none_or(|element| before.recently_changed.contains(&element));
        is_recent || announced.iter().all(|part| part.element != self.part.element)
    }
}

impl Differences {
    /// What could be the effect: differences of elements that are not known to change by themselves, and
    /// announcements of elements outside of the tree.
    pub(crate) async fn candidates<D: Desktop>(
        &self,
        desktop: &D,
        before: &Before,
        announced: &HashSet<Part>,
        noise: &HashSet<Part>,
    ) -> DesktopResult<Vec<Difference>> {
        let mut candidates: Vec<Difference> =
            self.found.iter().filter(|one| !noise.contains(&one.part)).cloned().collect();
        if before.focus_counts
            && let Some(moved) = self.moved_focus(&before.tree)
        {
            candidates.push(moved);
        }
        let in_tree = |id: ElementId| before.tree.find(id).or_else(|| self.tree.find(id)).is_some();
        let outside = announced.iter().filter(|part| !noise.contains(part));
        for part in outside.take(READ_MAX) {
            let Some(id) = part.element.filter(|id| !in_tree(*id)) else { continue };
            if before.target.as_ref().is_some_and(|target| target.id == id) {
                continue;
            }
            let label = match desktop.element(id).await {
                Ok(found) if is_passing(&found.role) => continue,
                Ok(found) => found.label(),
                Err(DesktopError::NoElement(_) | DesktopError::NotAnswering { .. }) => continue,
                Err(error) => return Err(error),
            };
            candidates.push(Difference { part: *part, what: format!("{label} changed") });
        }
        Ok(candidates)
    }

    fn moved_focus(&self, before: &Tree) -> Option<Difference> {
        let focused =
            |tree: &Tree| tree.elements.iter().rev().find(|one| one.states.has(State::Focused)).cloned();
        let now = focused(&self.tree)?;
        let moved = focused(before).is_none_or(|was| was.id != now.id);
        moved.then(|| Difference::new(now.id, Aspect::Focus, format!("the focus moved to {}", now.label())))
    }
}

/// The elements whose content changed, as the application announced it; none among them stands for elements that are
/// not known by an id.
pub(crate) fn announced(changes: &[Change]) -> HashSet<Part> {
    changes
        .iter()
        .filter_map(|change| match change {
            Change::Element { aspect, element } if aspect.is_content() || *aspect == Aspect::Focus => {
                Some(Part::new(*element, *aspect))
            }
            Change::Element { .. }
            | Change::WindowOpened { .. }
            | Change::WindowClosed { .. }
            | Change::TitleChanged { .. } => None,
        })
        .collect()
}

/// Whether an element belongs to a menu or tool tip that merely opened or closed on the way.
fn is_passing(role: &Role) -> bool {
    is_menu(role) || role.name() == "tool tip"
}

/// What is different between two looks at a window. Menus and tool tips come and go on the way; they count where
/// `with_menus` says so.
pub(crate) fn differences(before: &Tree, now: &Tree, with_menus: bool) -> Vec<Difference> {
    if before.elements.is_empty() || now.elements.is_empty() {
        return Vec::new();
    }
    let counts = |element: &Element| with_menus || !is_passing(&element.role);
    let (was, is) = (by_id(before), by_id(now));
    let mut found: Vec<Difference> = before
        .elements
        .iter()
        .filter(|old| counts(old))
        .filter_map(|old| Some(difference(old, is.get(&old.id)?)))
        .flatten()
        .collect();
    // What lies beyond the limits of a look neither came nor went.
    if before.partial.is_none() && now.partial.is_none() {
        for (tree, other, came) in [(now, &was, true), (before, &is, false)] {
            for (element, parent, place) in with_parents(tree) {
                let is_top = parent.is_some_and(|parent| other.contains_key(&parent));
                if is_top && !other.contains_key(&element.id) && counts(element) {
                    let (aspect, verb) = if came {
                        (Aspect::ChildAdded(place), "came")
                    } else {
                        (Aspect::ChildRemoved(place), "went")
                    };
                    let part = Part::new(parent, aspect);
                    found.push(Difference { part, what: format!("{} {verb}", element.label()) });
                }
            }
        }
    }
    found
}

fn by_id(tree: &Tree) -> HashMap<ElementId, &Element> {
    tree.elements.iter().map(|element| (element.id, element)).collect()
}

/// The elements with the one that each lies in, and their places among its children.
fn with_parents(tree: &Tree) -> impl Iterator<Item = (&Element, Option<ElementId>, usize)> {
    // Depth, id and the children so far of what is open.
    let mut path: Vec<(u16, ElementId, usize)> = Vec::new();
    tree.elements.iter().map(move |element| {
        while path.last().is_some_and(|(depth, ..)| *depth >= element.depth) {
            path.pop();
        }
        let mut place = 0;
        let parent = path.last_mut().map(|(_, id, children)| {
            place = *children;
            *children += 1;
            *id
        });
        path.push((element.depth, element.id, 0));
        (element, parent, place)
    })
}

/// What of the target itself is different; a focus that it took counts for controls that are clicked for it.
pub(crate) fn target_difference(before: &Element, now: &Element) -> Vec<Difference> {
    const TAKE_FOCUS: &[Role] = &[
        Role::ENTRY,
        Role::TEXT,
        Role::TABLE_CELL,
        Role::TABLE,
        Role::LIST_ITEM,
        Role::PARAGRAPH,
        Role::PASSWORD_TEXT,
    ];
    let took_focus = !before.states.has(State::Focused) && now.states.has(State::Focused);
    let mut found = difference(before, now);
    if took_focus && TAKE_FOCUS.contains(&before.role) {
        found.push(Difference::new(now.id, Aspect::Focus, "it is now focused".to_owned()));
    }
    found
}

/// What is different at the place of something that was found in a picture, where it certainly reads otherwise now.
pub(crate) fn drawn_difference(before: &Element, words: &str) -> Option<Difference> {
    let what = || format!("{} now reads \"{}\"", before.label(), quote(words));
    reads_otherwise(&before.name, words).then(|| Difference::new(before.id, Aspect::Text, what()))
}

/// What is different in one element.
fn difference(before: &Element, now: &Element) -> Vec<Difference> {
    let watched: &[(State, bool)] = &[
        (State::Checked, true),
        (State::Selected, !is_menu(&before.role)),
        (State::Expanded, true),
        (State::Pressed, before.role == Role::TOGGLE_BUTTON),
    ];
    let label = before.label();
    let mut found = Vec::new();
    let mut push = |aspect, what| found.push(Difference::new(now.id, aspect, what));
    for (state, counts) in watched {
        let (was, is) = (before.states.has(*state), now.states.has(*state));
        if *counts && was != is {
            let word = if is { "now" } else { "no longer" };
            push(Aspect::State(*state), format!("{label} is {word} {}", state.name()));
        }
    }
    if before.states.takes_input() != now.states.takes_input() {
        let word = if now.states.takes_input() { "enabled" } else { "disabled" };
        push(Aspect::State(State::Sensitive), format!("{label} became {word}"));
    }
    if before.name != now.name {
        push(Aspect::Name, format!("{label} is now called \"{}\"", quote(&now.name)));
    }
    if before.value != now.value {
        let current = now.value.map_or(f64::NAN, |value| value.current);
        push(Aspect::Value, format!("{label} is now {current}"));
    }
    if before.text != now.text {
        let text = now.text.as_deref().unwrap_or_default();
        push(Aspect::Text, format!("{label} now reads \"{}\"", quote(text)));
    }
    found
}

fn quote(text: &str) -> String {
    let mut quoted: String = text.chars().take(QUOTE_MAX).collect();
    if quoted.len() < text.len() {
        quoted.push('…');
    }
    quoted
}
