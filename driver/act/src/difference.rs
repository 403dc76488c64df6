//! Differences between two snapshots of a window, and which of them can be the effect of an action.

use std::collections::{HashMap, HashSet};

use deskhand_desktop::{
    Desktop, DesktopError, DesktopResult, ElementChangeKind, UiChange, alike::reads_otherwise,
};
use deskhand_ui::{
    DocumentInfo, Element, Role, State, Tree,
    action::{ActionProof, ElementDelta, ElementRef},
    ids::ElementId,
    text::clip,
};

use crate::{before::Before, menus::is_menu};

/// The most announced elements outside of the tree that are read.
const READ_MAX: usize = 20;
/// The longest text kept in a difference, in characters.
const QUOTE_MAX: usize = 60;
/// The longest text that says that something goes on, in characters: a longer one is content.
const UNDER_WAY_MAX: usize = 60;

/// Bearing of a change on the action before it, strongest first.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum ChangeRelevance {
    /// A change of the target, or of an element that belongs to it.
    Target,
    /// Something says what it did not say before.
    Says(ElementRef, String),
    /// Something else changed, and says nothing new.
    Elsewhere,
}

impl ChangeRelevance {
    /// Returns `true` if it says that something goes on, such as `Saving…`: what comes of it is not known yet.
    pub(crate) fn is_under_way(&self) -> bool {
        match self {
            Self::Says(_, text) => {
                text.chars().count() <= UNDER_WAY_MAX && (text.ends_with('…') || text.ends_with("..."))
            }
            Self::Target | Self::Elsewhere => false,
        }
    }
}

/// A changed element.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ElementAspectDiff {
    /// The aspect that changed.
    pub(crate) part: ElementAspect,
    /// The element as it was before.
    pub(crate) of: ElementRef,
    /// Current state.
    pub(crate) now: ElementDelta,
    /// Bearing on the action.
    pub(crate) bearing: ChangeRelevance,
}

/// An aspect of an element, the unit in which self-changing is tracked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct ElementAspect {
    /// The element; its parent if it was added or removed; `None` if the application does not report it.
    pub(crate) element: Option<ElementId>,
    aspect: ElementChangeKind,
}

impl ElementAspect {
    /// Creates a part in canonical form: toolkits report the text of a label as its name or as its text, and whether it
    /// accepts input as enabled or as sensitive, not always as both at once.
    pub(crate) const fn new(element: Option<ElementId>, aspect: ElementChangeKind) -> Self {
        let aspect = if matches!(aspect, ElementChangeKind::Name) {
            ElementChangeKind::Text
        } else if matches!(aspect, ElementChangeKind::State(State::Enabled)) {
            ElementChangeKind::State(State::Sensitive)
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

    /// Returns `true` if it is known to change by itself.
    pub(crate) fn is_self_changing<D: Desktop>(&self, desktop: &D) -> bool {
        self.element.is_some_and(|element| desktop.is_self_changing(element, self.aspect))
    }
}

/// The differences from the snapshot before, and the elements now.
#[derive(Debug)]
pub(crate) struct Differences {
    pub(crate) found: Vec<ElementAspectDiff>,
    pub(crate) tree: Tree,
}

impl ElementAspectDiff {
    fn new(of: &Element, aspect: ElementChangeKind, now: ElementDelta) -> Self {
        Self {
            part: ElementAspect::new(Some(of.id), aspect),
            of: of.into(),
            now,
            bearing: ChangeRelevance::Elsewhere,
        }
    }

    /// The caret of the target, or what of its text is selected.
    pub(crate) fn of_caret(target: &Element, now: ElementDelta) -> Self {
        Self::new(target, ElementChangeKind::Caret, now).of_target()
    }

    /// The same, as a change of the target.
    fn of_target(self) -> Self {
        Self { bearing: ChangeRelevance::Target, ..self }
    }

    /// Returns `true` if elements change so by input alone, never by themselves: they are checked, selected, opened or focused.
    const fn is_of_input(&self) -> bool {
        match &self.now {
            ElementDelta::State { .. }
            | ElementDelta::Focused
            | ElementDelta::Caret { .. }
            | ElementDelta::TextSelected { .. } => true,
            ElementDelta::Enabled { .. }
            | ElementDelta::Named { .. }
            | ElementDelta::Value { .. }
            | ElementDelta::Reads { .. }
            | ElementDelta::Came
            | ElementDelta::Went
            | ElementDelta::FocusMovedHere
            | ElementDelta::Changed => false,
        }
    }

    /// Returns `true` if it is a dialog or an alert within the window, which is judged like a window that opened.
    pub(crate) fn is_opened_dialog(&self) -> bool {
        self.now == ElementDelta::Came && [Role::ALERT, Role::DIALOG].contains(&self.of.role)
    }

    /// The difference as a proof; `None` if it is elsewhere and says nothing.
    pub(crate) fn to_proof(&self) -> Option<ActionProof> {
        match &self.bearing {
            ChangeRelevance::Target => {
                Some(ActionProof::Changed { element: self.of.clone(), now: self.now.clone() })
            }
            ChangeRelevance::Says(element, text) => {
                Some(ActionProof::Says { element: element.clone(), text: text.clone() })
            }
            ChangeRelevance::Elsewhere => None,
        }
    }

    /// Returns `true` if the change may have happened by itself: the element changed recently and not just after inputs, was not
    /// observed for long enough, or did not announce the change, so that its history is unknown.
    pub(crate) fn is_suspect(&self, before: &Before, announced: &HashSet<ElementAspect>) -> bool {
        if (self.bearing == ChangeRelevance::Target && self.is_of_input()) || self.is_opened_dialog() {
            return false;
        }
        let is_recent = self.part.element.is_none_or(|element| before.is_restless(element));
        is_recent || announced.iter().all(|part| part.element != self.part.element)
    }
}

impl Differences {
    /// The differences that could be the effect: those of elements that are not self-changing, and announcements of
    /// elements outside of the tree.
    pub(crate) async fn candidates<D: Desktop>(
        &self,
        desktop: &D,
        before: &Before,
        announced: &HashSet<ElementAspect>,
        noise: &HashSet<ElementAspect>,
    ) -> DesktopResult<Vec<ElementAspectDiff>> {
        let mut candidates: Vec<ElementAspectDiff> = self
            .found
            .iter()
            .filter(|one| !noise.contains(&one.part) || one.is_opened_dialog())
            .cloned()
            .collect();
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
            let now = ElementDelta::Changed;
            candidates.push(ElementAspectDiff { part: *part, of, now, bearing: ChangeRelevance::Elsewhere });
        }
        Ok(candidates)
    }

    fn moved_focus(&self, before: &Tree) -> Option<ElementAspectDiff> {
        let now = self.tree.focused()?;
        let moved = before.focused().is_none_or(|was| was.id != now.id);
        moved.then(|| {
            ElementAspectDiff::new(now, ElementChangeKind::Focus, ElementDelta::FocusMovedHere).of_target()
        })
    }
}

/// The parts whose content changed according to the application's announcements; the element is `None` where it has no
/// known id.
pub(crate) fn announced(changes: &[UiChange]) -> HashSet<ElementAspect> {
    changes
        .iter()
        .filter_map(|change| match change {
            UiChange::Element { aspect, element }
                if aspect.is_content() || *aspect == ElementChangeKind::Focus =>
            {
                Some(ElementAspect::new(*element, *aspect))
            }
            UiChange::Element { .. }
            | UiChange::WindowOpened { .. }
            | UiChange::WindowClosed { .. }
            | UiChange::TitleChanged { .. } => None,
        })
        .collect()
}

/// Returns `true` if an element belongs to a menu or tool tip, which open and close along the way.
fn is_passing(role: &Role) -> bool {
    is_menu(role) || role.name() == "tool tip"
}

/// The differences between two snapshots of a window. Menus and tool tips open and close along the way; they only count
/// with `with_menus`.
pub(crate) fn differences(before: &Tree, now: &Tree, with_menus: bool) -> Vec<ElementAspectDiff> {
    if before.elements.is_empty() || now.elements.is_empty() {
        return Vec::new();
    }
    let counts = |element: &Element| with_menus || !is_passing(&element.role);
    let (was, is) = (by_id(before), by_id(now));
    let mut found: Vec<ElementAspectDiff> = before
        .elements
        .iter()
        .filter(|old| counts(old))
        .filter_map(|old| Some(difference(old, is.get(&old.id)?)))
        .flatten()
        .collect();
    // Elements beyond the limits of a partial snapshot count neither as added nor as removed.
    if before.partial.is_none() && now.partial.is_none() {
        for (tree, other, came) in [(now, &was, true), (before, &is, false)] {
            for (element, parent, place) in with_parents(tree) {
                let is_top = parent.is_some_and(|parent| other.contains_key(&parent));
                if is_top && !other.contains_key(&element.id) && counts(element) {
                    let (aspect, now) = if came {
                        (ElementChangeKind::ChildAdded(place), ElementDelta::Came)
                    } else {
                        (ElementChangeKind::ChildRemoved(place), ElementDelta::Went)
                    };
                    let (part, of) = (ElementAspect::new(parent, aspect), element.into());
                    found.push(ElementAspectDiff { part, of, now, bearing: ChangeRelevance::Elsewhere });
                }
            }
        }
    }
    found
}

fn by_id(tree: &Tree) -> HashMap<ElementId, &Element> {
    tree.elements.iter().map(|element| (element.id, element)).collect()
}

/// The elements with their parents and their indices among the children.
fn with_parents(tree: &Tree) -> impl Iterator<Item = (&Element, Option<ElementId>, usize)> {
    // Depth, id and number of children so far of each ancestor.
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

/// The differences of the target itself; taking the focus counts for controls that are clicked to focus them, and for page
/// tabs: in Qt, the current one is focused and none is selected.
pub(crate) fn target_difference(before: &Element, now: &Element) -> Vec<ElementAspectDiff> {
    const TAKE_FOCUS: &[Role] = &[
        Role::ENTRY,
        Role::PAGE_TAB,
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
        found.push(ElementAspectDiff::new(now, ElementChangeKind::Focus, ElementDelta::Focused));
    }
    found.into_iter().map(ElementAspectDiff::of_target).collect()
}

/// The difference of a target that was detected in a picture, if its text certainly changed.
pub(crate) fn drawn_difference(before: &Element, words: &str) -> Option<ElementAspectDiff> {
    let reads = || ElementDelta::Reads { text: clip(words, QUOTE_MAX) };
    reads_otherwise(&before.name, words)
        .then(|| ElementAspectDiff::new(before, ElementChangeKind::Text, reads()).of_target())
}

/// The differences of one element.
fn difference(before: &Element, now: &Element) -> Vec<ElementAspectDiff> {
    let watched: &[(State, bool)] = &[
        (State::Checked, true),
        (State::Selected, !is_menu(&before.role)),
        (State::Expanded, true),
        (State::Pressed, before.role == Role::TOGGLE_BUTTON),
    ];
    let mut found = Vec::new();
    let mut push = |aspect, now| found.push(ElementAspectDiff::new(before, aspect, now));
    for (state, counts) in watched {
        let (was, on) = (before.states.has(*state), now.states.has(*state));
        if *counts && was != on {
            push(ElementChangeKind::State(*state), ElementDelta::State { state: *state, on });
        }
    }
    let on = now.states.takes_input();
    if before.states.takes_input() != on {
        push(ElementChangeKind::State(State::Sensitive), ElementDelta::Enabled { on });
    }
    // A tab or frame may be named after its document. A mark of unsaved changes does not say what was changed.
    if before.name != now.name && !DocumentInfo::only_gets_modified(&before.name, &now.name) {
        push(ElementChangeKind::Name, ElementDelta::Named { name: clip(&now.name, QUOTE_MAX) });
    }
    if before.value != now.value {
        push(ElementChangeKind::Value, ElementDelta::Value { value: now.value.map(|value| value.current) });
    }
    if before.text != now.text {
        let text = now.text.as_deref().unwrap_or_default();
        push(ElementChangeKind::Text, ElementDelta::Reads { text: clip(text, QUOTE_MAX) });
    }
    found
}
