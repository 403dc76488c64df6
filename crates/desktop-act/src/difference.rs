//! What is different in the elements of a window, and whether a difference can be the effect of an action.

use std::{
    collections::{HashMap, HashSet},
    hash::{DefaultHasher, Hash, Hasher},
};

use deskhand_core::{
    ids::ElementId,
    ui::{Element, Role, State, Tree},
};
use deskhand_desktop::{
    Aspect, Change, Desktop, DesktopError, DesktopResult, alike::reads_otherwise, tells_of_content,
};

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

/// What of an element is different: what changes again and again by itself is left out by this.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Part {
    /// The element; the one that it lay in where it came or went; none where the application does not tell.
    pub(crate) element: Option<ElementId>,
    kind: Kind,
}

/// What can be different.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Kind {
    State(&'static str),
    Input,
    /// Its name or its text: toolkits give the text of a label as either, and not always as both at a time.
    Words,
    Value,
    Children,
    /// A child that came at this place: what is replaced, as the text of a web page is when it changes, is not the
    /// whole. What goes and comes back is replaced once, so that either counts by itself.
    Came(usize),
    /// A child that went from this place.
    Went(usize),
    Focus,
    Other(String),
}

impl Part {
    fn aspect(&self) -> Aspect {
        let mut hasher = DefaultHasher::new();
        self.kind.hash(&mut hasher);
        Aspect(hasher.finish())
    }

    /// Keeps that it changes by itself.
    pub(crate) fn blame<D: Desktop>(&self, desktop: &D) {
        if let Some(element) = self.element {
            desktop.blame(element, self.aspect());
        }
    }

    /// Whether it is known to change by itself.
    pub(crate) fn changes_by_itself<D: Desktop>(&self, desktop: &D) -> bool {
        self.element.is_some_and(|element| desktop.changes_by_itself(element, self.aspect()))
    }

    /// The words of an element.
    pub(crate) const fn words_of(element: ElementId) -> Self {
        Self { element: Some(element), kind: Kind::Words }
    }
}

impl Kind {
    /// What an event tells of.
    fn of(event: &str) -> Self {
        let end = event.rsplit(':').next().unwrap_or(event);
        if event.contains("text-changed") {
            Self::Words
        } else if event.contains("children-changed") || event.contains("row-") {
            Self::Children
        } else if let Some(state) =
            State::ALL.iter().find(|state| event.contains("state-changed") && state.name() == end)
        {
            if [State::Enabled, State::Sensitive].contains(state) {
                Self::Input
            } else {
                Self::State(state.name())
            }
        } else {
            match end {
                "accessible-name" => Self::Words,
                "accessible-value" => Self::Value,
                _ => Self::Other(event.to_owned()),
            }
        }
    }
}

/// What is different from before, and how things are now.
#[derive(Debug)]
pub(crate) struct Differences {
    pub(crate) found: Vec<Difference>,
    pub(crate) tree: Tree,
}

impl Difference {
    fn new(element: ElementId, kind: Kind, what: String) -> Self {
        Self { part: Part { element: Some(element), kind }, what }
    }

    /// Whether it may have happened by itself: the element changed lately, or was not watched for long enough, or did
    /// not announce the change, so that nothing is known of when it changes.
    pub(crate) fn is_suspect(&self, before: &Before, announced: &HashSet<Part>) -> bool {
        let restless = self.part.element.is_none_or(|element| before.restless.contains(&element));
        restless || announced.iter().all(|part| part.element != self.part.element)
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
            candidates.push(Difference { part: part.clone(), what: format!("{label} changed") });
        }
        Ok(candidates)
    }

    fn moved_focus(&self, before: &Tree) -> Option<Difference> {
        let focused =
            |tree: &Tree| tree.elements.iter().rev().find(|one| one.states.has(State::Focused)).cloned();
        let now = focused(&self.tree)?;
        let moved = focused(before).is_none_or(|was| was.id != now.id);
        moved.then(|| Difference::new(now.id, Kind::Focus, format!("the focus moved to {}", now.label())))
    }
}

/// The elements whose content changed, as the application announced it; none among them stands for elements that are
/// not known by an id.
pub(crate) fn announced(changes: &[Change]) -> HashSet<Part> {
    changes
        .iter()
        .filter_map(|change| match change {
            Change::Element { event, element } if tells_of_content(event) => {
                Some(Part { element: *element, kind: Kind::of(event) })
            }
            Change::Focus { element } => Some(Part { element: *element, kind: Kind::Focus }),
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
                    let (kind, verb) =
                        if came { (Kind::Came(place), "came") } else { (Kind::Went(place), "went") };
                    let part = Part { element: parent, kind };
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
        found.push(Difference::new(now.id, Kind::Focus, "it is now focused".to_owned()));
    }
    found
}

/// What is different at the place of something that was found in a picture, where it certainly reads otherwise now.
pub(crate) fn drawn_difference(before: &Element, words: &str) -> Option<Difference> {
    let what = || format!("{} now reads \"{}\"", before.label(), quote(words));
    reads_otherwise(&before.name, words).then(|| Difference::new(before.id, Kind::Words, what()))
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
    let mut push = |kind, what| found.push(Difference::new(now.id, kind, what));
    for (state, counts) in watched {
        let (was, is) = (before.states.has(*state), now.states.has(*state));
        if *counts && was != is {
            let word = if is { "now" } else { "no longer" };
            push(Kind::State(state.name()), format!("{label} is {word} {}", state.name()));
        }
    }
    if before.states.takes_input() != now.states.takes_input() {
        let word = if now.states.takes_input() { "enabled" } else { "disabled" };
        push(Kind::Input, format!("{label} became {word}"));
    }
    if before.name != now.name {
        push(Kind::Words, format!("{label} is now called \"{}\"", quote(&now.name)));
    }
    if before.value != now.value {
        let current = now.value.map_or(f64::NAN, |value| value.current);
        push(Kind::Value, format!("{label} is now {current}"));
    }
    if before.text != now.text {
        let text = now.text.as_deref().unwrap_or_default();
        push(Kind::Words, format!("{label} now reads \"{}\"", quote(text)));
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
