//! Decides which elements of a tree are listed, and with which text.
//!
//! Layout containers are omitted, a container around a single control is merged into the control, and text that repeats
//! its parent is dropped. A label is listed with the field that it stands beside, if that has no name.

use std::{collections::HashSet, fmt::Write as _};

use serde::{Deserialize, Serialize};

use super::{
    beyond::beyond,
    levels::levels,
    notes::{NOTABLE, notes, repeats_value},
};
use crate::prompt::escape_name;
use deskhand_ui::{
    Element, ElementCapability, Role, State, Tree, ValueRange, WindowInfo, ids::ElementId, labels_beside,
};

/// The longest text of a cell or around a control, in characters.
const SHORT_CHARS_MAX: usize = 120;
/// The longest description that replaces a name, in characters.
const DESCRIPTION_CHARS_MAX: usize = 60;

/// A listed element.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ViewItem<'t> {
    pub(super) element: &'t Element,
    /// Index of the listed item that contains it.
    pub(super) parent: Option<usize>,
    /// `true` if it contains no listed item.
    pub(super) leaf: bool,
    /// Name of the container that was merged into it.
    within: Option<String>,
    /// Text of its unlisted descendants.
    content: Option<String>,
    /// Text of the label beside it, if it has no name.
    beside: Option<String>,
    /// Number of its visible items, if there are more.
    shows: Option<u32>,
    /// Depth in a tree that lists its rows one below the other.
    level: Option<usize>,
    /// On which sides it goes on.
    goes_on: Option<String>,
}

/// The listed elements of a window, in reading order.
pub(super) fn items<'t>(window: &WindowInfo, tree: &'t Tree) -> Vec<ViewItem<'t>> {
    let beyond = beyond(tree);
    let mut nodes = nodes(window, tree);
    for node in nodes.iter_mut().filter(|node| beyond.contains_key(&node.element.id)) {
        node.shown = true;
    }
    take_labels(&mut nodes, tree);
    absorb_texts(&mut nodes);
    fold_chains(&mut nodes);
    fold_containers(&mut nodes);
    let levels = levels(tree);
    let mut places = Vec::with_capacity(nodes.len());
    let mut items: Vec<ViewItem<'t>> = Vec::new();
    for node in &nodes {
        // The parent, or the nearest listed ancestor.
        let parent = node.parent.and_then(|parent| places.get(parent).copied().flatten());
        if !node.shown {
            places.push(parent);
            continue;
        }
        if let Some(parent) = parent.and_then(|parent: usize| items.get_mut(parent)) {
            parent.leaf = false;
        }
        places.push(Some(items.len()));
        let (within, content, beside) = (node.within.clone(), node.content.clone(), node.beside.clone());
        let shows =
            Some(node.inner).filter(|inner| is_list(node.element) && *inner < node.element.child_count);
        let level = levels.get(&node.element.id).copied();
        let goes_on = beyond.get(&node.element.id).cloned();
        let element = node.element;
        items.push(ViewItem { element, parent, leaf: true, within, content, beside, shows, level, goes_on });
    }
    items
}

struct ViewNode<'t> {
    element: &'t Element,
    parent: Option<usize>,
    /// Number of descendants; they follow it.
    size: usize,
    shown: bool,
    within: Option<String>,
    content: Option<String>,
    beside: Option<String>,
    /// Number of children in the tree.
    inner: u32,
}

/// Returns `true` if an element holds items of which some may be out of view. Tables tell their size.
fn is_list(element: &Element) -> bool {
    const HOLDERS: [Role; 4] = [Role::LIST, Role::LIST_BOX, Role::TREE, Role::LAYERED_PANE];
    let holds = HOLDERS.contains(&element.role) || element.child_count == Element::UNCOUNTED;
    holds && element.table.is_none()
}

fn nodes<'t>(window: &WindowInfo, tree: &'t Tree) -> Vec<ViewNode<'t>> {
    let mut nodes: Vec<ViewNode<'t>> = Vec::with_capacity(tree.elements.len());
    let mut around: Vec<usize> = Vec::new();
    for element in &tree.elements {
        while around
            .last()
            .and_then(|at| nodes.get(*at))
            .is_some_and(|node| node.element.depth >= element.depth)
        {
            around.pop();
        }
        for ancestor in &around {
            if let Some(node) = nodes.get_mut(*ancestor) {
                node.size += 1;
            }
        }
        let parent = around.last().copied();
        around.push(nodes.len());
        let shown = is_listed(element) && !is_the_window(window, element);
        nodes.push(ViewNode {
            element,
            parent,
            size: 0,
            shown,
            within: None,
            content: None,
            beside: None,
            inner: 0,
        });
        if let Some(parent) = parent.and_then(|at| nodes.get_mut(at)) {
            parent.inner += 1;
        }
    }
    nodes
}

/// Lists labels with the fields that they stand beside.
fn take_labels(nodes: &mut [ViewNode<'_>], tree: &Tree) {
    let labels = labels_beside(tree);
    let mut told: HashSet<ElementId> = HashSet::new();
    for node in nodes.iter_mut() {
        let Some(beside) = labels.get(&node.element.id) else { continue };
        node.beside = Some(deskhand_ui::text::clip(beside.text, DESCRIPTION_CHARS_MAX));
        node.shown = true;
        told.insert(beside.label);
    }
    for node in nodes.iter_mut().filter(|node| node.size == 0 && told.contains(&node.element.id)) {
        node.shown = false;
    }
}

/// Returns `true` if the element carries information for a model.
fn is_listed(element: &Element) -> bool {
    let says = !element.name.is_empty() || element.text.as_ref().is_some_and(|text| !text.is_empty());
    match () {
        () if element.states.has(State::Defunct) => false,
        () if element.role == Role::SEPARATOR || element.role == Role::SCROLL_BAR => false,
        () if element.role == Role::FILLER => element.text.as_ref().is_some_and(|text| !text.is_empty()),
        // An icon view, in which items are selected.
        () if element.role == Role::LAYERED_PANE => says || element.offers(ElementCapability::Selection),
        () if element.role.is_structural() => says,
        () => says || element.role.is_interactive() || element.table.is_some(),
    }
}

/// Returns `true` if the element is the window's own frame, which the window's line already names.
fn is_the_window(window: &WindowInfo, element: &Element) -> bool {
    let frame = [Role::FRAME, Role::DIALOG, Role::WINDOW, Role::ALERT, Role::FILE_CHOOSER, Role::ROOT_PANE];
    frame.contains(&element.role) && element.text.is_none() && element.name.trim() == window.title.trim()
}

/// Returns `true` if the element is static text.
fn is_plain(element: &Element) -> bool {
    let plain = [Role::PARAGRAPH, Role::LABEL, Role::HEADING, Role::SECTION, Role::STATIC, Role::TEXT];
    plain.contains(&element.role) && !(element.role == Role::TEXT && element.states.has(State::Editable))
}

fn own_text(element: &Element) -> Option<&str> {
    let text = element.text.as_deref().filter(|text| !text.trim().is_empty());
    text.or_else(|| Some(element.name.as_str()).filter(|name| !name.trim().is_empty()))
}

/// Returns `true` if the element is a picture; in a list it belongs to the text beside it.
fn is_picture(element: &Element) -> bool {
    element.role == Role::ICON || element.role == Role::IMAGE
}

/// Returns `true` if the element absorbs the texts inside it, because people see it as one thing. A button does not: the policy
/// decides by its name.
fn takes_texts(element: &Element) -> bool {
    let item = element.role == Role::LIST_ITEM || element.role == Role::TREE_ITEM;
    element.role == Role::TABLE_CELL || (item && own_text(element).is_none())
}

/// Moves text into the cells and unnamed items around it, and drops text that repeats its parent.
fn absorb_texts(nodes: &mut [ViewNode<'_>]) {
    for place in 0..nodes.len() {
        let Some((node, inside)) = nodes.get_mut(place..).and_then(<[_]>::split_first_mut) else { return };
        if !node.shown {
            continue;
        }
        let inside = inside.get_mut(..node.size).unwrap_or_default();
        let own = own_text(node.element).unwrap_or_default();
        if takes_texts(node.element) {
            let goes_up = |node: &ViewNode<'_>| {
                is_plain(node.element) || node.element.role.is_structural() || is_picture(node.element)
            };
            if inside.iter().any(|node| node.shown && !goes_up(node)) {
                let cells = inside.iter().any(|node| node.shown && node.element.role == Role::TABLE_CELL);
                let mut shown = inside.iter().filter(|node| node.shown);
                // A cell that is nothing but the control in it.
                let only = shown.next().filter(|_| shown.next().is_none());
                let repeats = only.is_some_and(|only| only.size == 0 && own_text(only.element) == Some(own));
                let is_cell = node.element.role == Role::TABLE_CELL;
                node.shown = !(is_cell && ((cells && own.is_empty()) || repeats));
                continue;
            }
            let said = |pictures: bool| -> Vec<&str> {
                let fits = |node: &&ViewNode<'_>| node.shown && is_picture(node.element) == pictures;
                inside.iter().filter(fits).filter_map(|node| own_text(node.element)).collect()
            };
            // The name of a picture counts only if there is no other text.
            let texts = Some(said(false)).filter(|texts| !texts.is_empty()).unwrap_or_else(|| said(true));
            let text = texts.join(" ");
            if !text.is_empty() && text != own {
                node.content = Some(deskhand_ui::text::clip(&text, SHORT_CHARS_MAX));
            }
            inside.iter_mut().for_each(|node| node.shown = false);
        } else if !own.is_empty() {
            for node in inside.iter_mut().filter(|node| node.shown && node.size == 0) {
                if is_plain(node.element) && own_text(node.element) == Some(own) {
                    node.shown = false;
                }
            }
        }
    }
}

/// Keeps only the outermost of containers that contain nothing but each other.
fn fold_chains(nodes: &mut [ViewNode<'_>]) {
    let mut children = vec![0_usize; nodes.len()];
    let mut around = vec![None; nodes.len()];
    for place in 0..nodes.len() {
        let Some(node) = nodes.get(place) else { continue };
        let mut next = node.parent;
        while let Some(at) = next.filter(|at| nodes.get(*at).is_some_and(|node| !node.shown)) {
            next = nodes.get(at).and_then(|node| node.parent);
        }
        if let Some(count) = next.filter(|_| node.shown).and_then(|at| children.get_mut(at)) {
            *count += 1;
        }
        if let Some(slot) = around.get_mut(place) {
            *slot = next;
        }
    }
    for place in 0..nodes.len() {
        let alone = around.get(place).copied().flatten().filter(|at| children.get(*at) == Some(&1));
        let groups =
            |at: usize| nodes.get(at).is_some_and(|node| node.shown && node.element.role.is_structural());
        let holds = children.get(place).is_some_and(|count| *count > 0);
        let only =
            alone.is_some_and(|at| nodes.get(at).is_some_and(|node| node.element.role.is_structural()));
        if only
            && holds
            && groups(place)
            && let Some(node) = nodes.get_mut(place)
            && node.element.text.is_none()
        {
            node.shown = false;
        }
    }
}

/// Merges a container around a single control into the control.
fn fold_containers(nodes: &mut [ViewNode<'_>]) {
    let mut counts = vec![0_usize; nodes.len()];
    for (place, node) in nodes.iter().enumerate().rev() {
        let own = counts.get(place).copied().unwrap_or(0) + usize::from(node.shown);
        if let Some(count) = node.parent.and_then(|parent| counts.get_mut(parent)) {
            *count += own;
        }
    }
    for place in 0..nodes.len() {
        let Some(node) = nodes.get(place).filter(|node| node.shown) else { continue };
        if counts.get(place) != Some(&0) {
            continue;
        }
        let nameless = node.element.name.is_empty() && node.element.description.is_empty();
        let interactive = node.element.role.is_interactive();
        let mut next = node.parent;
        let mut within = None;
        while let Some(at) = next.filter(|at| counts.get(*at) == Some(&1)) {
            let Some(around) = nodes.get_mut(at) else { break };
            let named =
                [&around.element.name, &around.element.description].into_iter().find(|name| !name.is_empty());
            if around.shown {
                if !is_container(&around.element.role) || !interactive {
                    break;
                }
                around.shown = false;
                within = within.or_else(|| named.cloned());
            } else if nameless && interactive && is_container(&around.element.role) {
                within = within.or_else(|| named.cloned());
            }
            next = around.parent;
        }
        if let Some(node) = nodes.get_mut(place) {
            node.within = within.map(|name| deskhand_ui::text::clip(&name, SHORT_CHARS_MAX));
        }
    }
}

/// Returns `true` if the element only groups others.
fn is_container(role: &Role) -> bool {
    role.is_structural() || *role == Role::TOOL_BAR || *role == Role::MENU_BAR || *role == Role::PAGE_TAB_LIST
}

/// Content of a listing about an element, as data: two listings with equal items read the same.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct ListedElement {
    id: ElementId,
    role: Role,
    name: String,
    notable: Vec<State>,
    takes_input: bool,
    value: Option<ValueRange>,
    text: Option<String>,
    description: String,
    within: Option<String>,
    beside: Option<String>,
    shows: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    level: Option<usize>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    told: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    goes_on: Option<String>,
}

impl ViewItem<'_> {
    /// Returns its listed content.
    pub(super) fn listed(&self) -> ListedElement {
        let Element { id, role, name, states, value, text, description, told, .. } = self.element;
        ListedElement {
            id: *id,
            role: role.clone(),
            name: name.clone(),
            notable: NOTABLE.iter().copied().filter(|state| states.has(*state)).collect(),
            takes_input: states.takes_input(),
            value: *value,
            text: text.clone().or_else(|| self.content.clone()),
            description: description.clone(),
            within: self.within.clone(),
            beside: self.beside.clone(),
            shows: self.shows,
            level: self.level,
            told: told.clone(),
            goes_on: self.goes_on.clone(),
        }
    }

    /// The item's text; without its role if the previous item on the line has the same.
    pub(super) fn text(&self, with_role: bool) -> String {
        let element = self.element;
        let mut text = format!("[{}]", element.id);
        if with_role {
            let _ = write!(text, " {}", element.role);
        }
        // A scroll bar that says where it is needs no name: it is an upright one.
        let says_enough = element.role == Role::SCROLL_BAR && self.goes_on.is_some();
        if !element.name.is_empty() && !says_enough {
            let _ = write!(text, " \"{}\"", escape_name(&element.name));
        }
        if let Some(beside) = &self.beside {
            let _ = write!(text, " beside \"{}\"", escape_name(beside));
        }
        text.push_str(&self.state_text());
        if self.beside.is_some() {
            return text;
        }
        if !element.description.is_empty() && element.name.is_empty() && self.content.is_none() {
            let description = deskhand_ui::text::clip(&element.description, DESCRIPTION_CHARS_MAX);
            let _ = write!(text, " — {}", escape_name(&description));
        } else if let Some(within) = &self.within {
            let _ = write!(text, " in \"{}\"", escape_name(within));
        }
        text
    }

    /// Its states, value and text.
    pub(super) fn state_text(&self) -> String {
        let element = self.element;
        let mut text = String::new();
        let mut notes = notes(element);
        notes.extend(self.level.map(|level| format!("level {level}")));
        notes.extend(self.shows.map(|shows| match element.child_count {
            Element::UNCOUNTED => format!("shows {shows} of more"),
            all => format!("shows {shows} of {all}"),
        }));
        notes.extend(element.told.as_deref().map(escape_name));
        notes.extend(self.goes_on.clone());
        if !notes.is_empty() {
            let _ = write!(text, " ({})", notes.join(", "));
        }
        // Where a scroll bar is says more than its numbers.
        let value =
            element.value.filter(|_| element.offers(ElementCapability::Value) && self.goes_on.is_none());
        let has_value = value.is_some();
        if let Some(value) = value {
            let _ = write!(text, " value {}", value.current);
            if value.maximum > value.minimum && value.maximum < 1e15 && value.minimum > -1e15 {
                let _ = write!(text, " of {} to {}", value.minimum, value.maximum);
            }
        }
        let told = |text: &str| text == element.name || (has_value && repeats_value(element, text));
        let own = element.text.as_ref().filter(|text| !text.is_empty() && !told(text));
        if let Some(own) = own.or(self.content.as_ref()) {
            let _ = write!(text, " = \"{}\"", escape_name(own));
            if own.chars().count() >= Element::TEXT_MAX {
                text.push_str(" (goes on; `read_text` has all)");
            }
        }
        text
    }

    /// A title for it, without its id and state: role and name, or what is nearest to a name.
    pub(super) fn title(&self) -> String {
        let element = self.element;
        let (beside, within) = (self.beside.as_ref(), self.within.as_ref());
        let named = [Some(&element.name), beside, Some(&element.description), within, self.content.as_ref()];
        let name = named.into_iter().flatten().find(|name| !name.trim().is_empty());
        match name.or(element.text.as_ref()) {
            Some(name) => format!("{} \"{}\"", element.role, escape_name(name)),
            None => element.role.to_string(),
        }
    }

    /// The item's text as if it had no focus.
    pub(super) fn text_unfocused(&self) -> String {
        let mut element = self.element.clone();
        element.states.remove(State::Focused);
        ViewItem { element: &element, ..self.clone() }.text(/*with_role*/ true)
    }

    /// Returns `true` if it has neither name nor text.
    pub(super) fn is_empty(&self) -> bool {
        own_text(self.element).is_none() && self.content.is_none() && self.beside.is_none()
    }

    /// Returns `true` if no container was merged into it.
    pub(super) const fn is_alone(&self) -> bool {
        self.within.is_none()
    }

    /// All of its text, in lower case.
    pub(super) fn words(&self) -> String {
        let element = self.element;
        let beside = self.beside.as_deref();
        let parts = [element.text.as_deref(), self.content.as_deref(), self.within.as_deref(), beside];
        let mut words = format!("{} {} {}", element.role, element.name, element.description);
        for part in parts.into_iter().flatten() {
            words.push(' ');
            words.push_str(part);
        }
        words.to_lowercase()
    }
}

/// The line for a single element.
pub fn element_line(element: &Element) -> String {
    let item = ViewItem {
        element,
        parent: None,
        leaf: true,
        within: None,
        content: None,
        beside: None,
        shows: None,
        level: None,
        goes_on: None,
    };
    item.text(/*with_role*/ true)
}
