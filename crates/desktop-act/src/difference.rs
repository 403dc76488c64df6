//! What is different in the elements of a window, and whether a difference can be the effect of an action.

use std::collections::{HashMap, HashSet};

use deskhand_core::{
    action::{ElementRef, Now, Proof},
    ids::ElementId,
    text::clip,
    ui::{Element, Role, State, Tree},
};
use deskhand_desktop::{Aspect, Change, Desktop, DesktopError, DesktopResult, alike::reads_otherwise};

use crate::{before::Before, menus::is_menu};

/// The most announcements of elements outside of the tree that are looked into.
const READ_MAX: usize = 20;
/// The longest text that a difference quotes, in characters.
const QUOTE_MAX: usize = 60;

/// One element that is not as it was.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Difference {
    /// What it is about.
    pub(crate) part: Part,
    /// The element as it was before.
    pub(crate) of: ElementRef,
    /// What it is now.
    pub(crate) now: Now,
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
    fn new(of: &Element, aspect: Aspect, now: Now) -> Self {
        Self { part: Part::new(Some(of.id), aspect), of: of.into(), now }
    }

    /// The proof that it is.
    pub(crate) fn to_proof(&self) -> Proof {
        Proof::Changed { element: self.of.clone(), now: self.now.clone() }
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
            let of = match desktop.element(id).await {
                Ok(found) if is_passing(&found.role) => continue,
                Ok(found) => ElementRef::from(&found),
                Err(DesktopError::NoElement(_) | DesktopError::NotAnswering { .. }) => continue,
                Err(error) => return Err(error),
            };
            candidates.push(Difference { part: *part, of, now: Now::Changed });
        }
        Ok(candidates)
    }

    fn moved_focus(&self, before: &Tree) -> Option<Difference> {
        let focused =
            |tree: &Tree| tree.elements.iter().rev().find(|one| one.states.has(State::Focused)).cloned();
        let now = focused(&self.tree)?;
        let moved = focused(before).is_none_or(|was| was.id != now.id);
        moved.then(|| Difference::new(&now, Aspect::Focus, Now::FocusMovedHere))
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
                    let (aspect, now) = if came {
                        (Aspect::ChildAdded(place), Now::Came)
                    } else {
                        (Aspect::ChildRemoved(place), Now::Went)
                    };
                    found.push(Difference { part: Part::new(parent, aspect), of: element.into(), now });
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
        found.push(Difference::new(now, Aspect::Focus, Now::Focused));
    }
    found
}

/// What is different at the place of something that was found in a picture, where it certainly reads otherwise now.
pub(crate) fn drawn_difference(before: &Element, words: &str) -> Option<Difference> {
    let reads = || Now::Reads { text: clip(words, QUOTE_MAX) };
    reads_otherwise(&before.name, words).then(|| Difference::new(before, Aspect::Text, reads()))
}

/// What is different in one element.
fn difference(before: &Element, now: &Element) -> Vec<Difference> {
    let watched: &[(State, bool)] = &[
        (State::Checked, true),
        (State::Selected, !is_menu(&before.role)),
        (State::Expanded, true),
        (State::Pressed, before.role == Role::TOGGLE_BUTTON),
    ];
    let mut found = Vec::new();
    let mut push = |aspect, now| found.push(Difference::new(before, aspect, now));
    for (state, counts) in watched {
        let (was, on) = (before.states.has(*state), now.states.has(*state));
        if *counts && was != on {
            push(Aspect::State(*state), Now::State { state: *state, on });
        }
    }
    let on = now.states.takes_input();
    if before.states.takes_input() != on {
        push(Aspect::State(State::Sensitive), Now::Enabled { on });
    }
    if before.name != now.name {
        push(Aspect::Name, Now::Named { name: clip(&now.name, QUOTE_MAX) });
    }
    if before.value != now.value {
        push(Aspect::Value, Now::Value { value: now.value.map(|value| value.current) });
    }
    if before.text != now.text {
        let text = now.text.as_deref().unwrap_or_default();
        push(Aspect::Text, Now::Reads { text: clip(text, QUOTE_MAX) });
    }
    found
}
