//! The difference between two snapshots of a tree, by stable element ids.
//!
//! `apply(old, &diff(old, new)) == new` for every pair of trees with unique ids. A diff is plain data: journals store
//! it instead of a full tree, and the changes in prompts are rendered from it.

use std::collections::{HashMap, HashSet};

use serde::{Deserialize, Serialize};

use super::{
    Element, ElementCapability, ElementSource, IncompleteTreeCause, Role, States, TableShape, Tree,
    ValueRange,
};
use crate::{
    geometry::{Rect, Screen},
    ids::ElementId,
};

/// The changes from one tree to the next.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct TreeDiff {
    /// Removed elements.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub removed: Vec<ElementId>,
    /// Elements whose fields changed, wherever they are now.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changed: Vec<ElementChange>,
    /// New and moved elements, in the order of the new tree.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub placed: Vec<PlacedRun>,
    /// [`Tree::partial`] of the new tree.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub partial: Option<IncompleteTreeCause>,
}

/// A changed element.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ElementChange {
    /// Its id.
    pub id: ElementId,
    /// The changed fields with their new values.
    pub fields: Vec<FieldChange>,
}

/// The new value of one field of an element.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FieldChange {
    /// [`Element::depth`]
    Depth(u16),
    /// [`Element::role`]
    Role(Role),
    /// [`Element::name`]
    Name(String),
    /// [`Element::description`]
    Description(String),
    /// [`Element::text`]
    Text(Option<String>),
    /// [`Element::value`]
    Value(Option<ValueRange>),
    /// [`Element::states`]
    States(States),
    /// [`Element::bounds`]
    Bounds(Option<Rect<Screen>>),
    /// [`Element::patterns`]
    Patterns(Vec<ElementCapability>),
    /// [`Element::child_count`]
    ChildCount(u32),
    /// [`Element::table`]
    Table(Option<TableShape>),
    /// [`Element::address`]
    Address(Option<String>),
    /// [`Element::told`]
    Told(Option<String>),
    /// [`Element::source`]
    Source(ElementSource),
}

/// Consecutive elements of the new tree.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PlacedRun {
    /// The element before the run in the new tree; `None` at the start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<ElementId>,
    /// The elements.
    pub elements: Vec<PlacedElement>,
}

/// One element of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PlacedElement {
    /// A new element.
    New(Box<Element>),
    /// An element that moved.
    Moved(ElementId),
}

/// The diff belongs to another tree.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DiffError {
    /// The tree has no such element.
    #[error("diff does not apply: the tree has no element {0}")]
    NoElement(ElementId),
}

impl TreeDiff {
    /// The number of elements in the diff.
    pub fn len(&self) -> usize {
        let placed: usize = self.placed.iter().map(|run| run.elements.len()).sum();
        self.removed.len() + self.changed.len() + placed
    }

    /// Returns `true` if no element changed.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The new elements, in order.
    pub fn added(&self) -> impl Iterator<Item = &Element> {
        self.placed.iter().flat_map(|run| &run.elements).filter_map(|placed| match placed {
            PlacedElement::New(element) => Some(element.as_ref()),
            PlacedElement::Moved(_) => None,
        })
    }
}

/// The diff from `old` to `new`; `None` if an id is not unique in one of them.
pub fn diff(old: &Tree, new: &Tree) -> Option<TreeDiff> {
    let before = index(old)?;
    let after = index(new)?;
    let removed =
        old.elements.iter().map(|element| element.id).filter(|id| !after.contains_key(id)).collect();
    // Common elements that keep their relative order stay; the others moved.
    let ranks: Vec<usize> =
        new.elements.iter().filter_map(|element| before.get(&element.id).copied()).collect();
    let staying: HashSet<usize> = longest_increasing(&ranks).into_iter().collect();
    let mut changed = Vec::new();
    let mut placed: Vec<PlacedRun> = Vec::new();
    let mut last: Option<ElementId> = None;
    // Whether the previous element was placed, so that the run continues.
    let mut in_run = false;
    for element in &new.elements {
        let rank = before.get(&element.id).copied();
        if let Some(was) = rank.and_then(|rank| old.elements.get(rank)) {
            let fields = fields_changed(was, element);
            if !fields.is_empty() {
                changed.push(ElementChange { id: element.id, fields });
            }
        }
        let item = match rank {
            Some(rank) if staying.contains(&rank) => None,
            Some(_) => Some(PlacedElement::Moved(element.id)),
            None => Some(PlacedElement::New(Box::new(element.clone()))),
        };
        let goes_on = item.is_some();
        if let Some(item) = item {
            match placed.last_mut().filter(|_| in_run) {
                Some(run) => run.elements.push(item),
                None => placed.push(PlacedRun { after: last, elements: vec![item] }),
            }
        }
        in_run = goes_on;
        last = Some(element.id);
    }
    Some(TreeDiff { removed, changed, placed, partial: new.partial })
}

/// Applies `diff` to the tree it starts from.
///
/// # Errors
/// [`DiffError::NoElement`] if the diff starts from another tree.
pub fn apply(old: &Tree, diff: &TreeDiff) -> Result<Tree, DiffError> {
    let mut elements: HashMap<ElementId, Element> =
        old.elements.iter().map(|element| (element.id, element.clone())).collect();
    for change in &diff.changed {
        let element = elements.get_mut(&change.id).ok_or(DiffError::NoElement(change.id))?;
        for field in &change.fields {
            set_field(element, field);
        }
    }
    let mut leaving: HashSet<ElementId> = diff.removed.iter().copied().collect();
    leaving.extend(diff.placed.iter().flat_map(|run| &run.elements).filter_map(|placed| match placed {
        PlacedElement::New(_) => None,
        PlacedElement::Moved(id) => Some(*id),
    }));
    if let Some(unknown) = leaving.iter().find(|id| !elements.contains_key(id)) {
        return Err(DiffError::NoElement(*unknown));
    }
    let mut staying =
        old.elements.iter().map(|element| element.id).filter(|id| !leaving.contains(id)).peekable();
    let mut tree = Tree { elements: Vec::with_capacity(old.elements.len()), partial: diff.partial };
    for run in &diff.placed {
        while tree.elements.last().map(|element| element.id) != run.after {
            let missing = || DiffError::NoElement(run.after.unwrap_or(ElementId(0)));
            let id = staying.next().ok_or_else(missing)?;
            tree.elements.extend(elements.remove(&id));
        }
        for placed in &run.elements {
            match placed {
                PlacedElement::New(element) => tree.elements.push(element.as_ref().clone()),
                PlacedElement::Moved(id) => {
                    tree.elements.push(elements.remove(id).ok_or(DiffError::NoElement(*id))?);
                }
            }
        }
    }
    for id in staying {
        tree.elements.extend(elements.remove(&id));
    }
    Ok(tree)
}

/// The position of each element; `None` if an id is not unique.
fn index(tree: &Tree) -> Option<HashMap<ElementId, usize>> {
    let places: HashMap<ElementId, usize> =
        tree.elements.iter().enumerate().map(|(place, element)| (element.id, place)).collect();
    (places.len() == tree.elements.len()).then_some(places)
}

fn fields_changed(old: &Element, new: &Element) -> Vec<FieldChange> {
    // Destructured, so that a new field cannot be forgotten here.
    let Element {
        id: _,
        depth,
        role,
        name,
        description,
        text,
        value,
        states,
        bounds,
        patterns,
        child_count,
        table,
        address,
        told,
        source,
        // Belongs to one action and is never stored.
        instead_of: _,
    } = new;
    let mut fields = Vec::new();
    let mut note = |differs: bool, change: &dyn Fn() -> FieldChange| {
        if differs {
            fields.push(change());
        }
    };
    note(old.depth != *depth, &|| FieldChange::Depth(*depth));
    note(old.role != *role, &|| FieldChange::Role(role.clone()));
    note(old.name != *name, &|| FieldChange::Name(name.clone()));
    note(old.description != *description, &|| FieldChange::Description(description.clone()));
    note(old.text != *text, &|| FieldChange::Text(text.clone()));
    note(old.value != *value, &|| FieldChange::Value(*value));
    note(old.states != *states, &|| FieldChange::States(*states));
    note(old.bounds != *bounds, &|| FieldChange::Bounds(*bounds));
    note(old.patterns != *patterns, &|| FieldChange::Patterns(patterns.clone()));
    note(old.child_count != *child_count, &|| FieldChange::ChildCount(*child_count));
    note(old.table != *table, &|| FieldChange::Table(*table));
    note(old.address != *address, &|| FieldChange::Address(address.clone()));
    note(old.told != *told, &|| FieldChange::Told(told.clone()));
    note(old.source != *source, &|| FieldChange::Source(*source));
    fields
}

fn set_field(element: &mut Element, field: &FieldChange) {
    match field {
        FieldChange::Depth(depth) => element.depth = *depth,
        FieldChange::Role(role) => element.role = role.clone(),
        FieldChange::Name(name) => element.name.clone_from(name),
        FieldChange::Description(description) => element.description.clone_from(description),
        FieldChange::Text(text) => element.text.clone_from(text),
        FieldChange::Value(value) => element.value = *value,
        FieldChange::States(states) => element.states = *states,
        FieldChange::Bounds(bounds) => element.bounds = *bounds,
        FieldChange::Patterns(patterns) => element.patterns.clone_from(patterns),
        FieldChange::ChildCount(count) => element.child_count = *count,
        FieldChange::Table(table) => element.table = *table,
        FieldChange::Address(address) => element.address.clone_from(address),
        FieldChange::Told(told) => element.told.clone_from(told),
        FieldChange::Source(source) => element.source = *source,
    }
}

/// The longest increasing subsequence of `values` (all distinct).
fn longest_increasing(values: &[usize]) -> Vec<usize> {
    // tails[k]: the end of the increasing subsequence of length k + 1 with the smallest end.
    let mut tails: Vec<usize> = Vec::new();
    let mut before: Vec<Option<usize>> = Vec::with_capacity(values.len());
    let at = |place: usize| values.get(place).copied().unwrap_or(usize::MAX);
    for (place, value) in values.iter().enumerate() {
        let length = tails.partition_point(|tail| at(*tail) < *value);
        before.push(length.checked_sub(1).and_then(|shorter| tails.get(shorter).copied()));
        match tails.get_mut(length) {
            Some(tail) => *tail = place,
            None => tails.push(place),
        }
    }
    let mut rising = Vec::with_capacity(tails.len());
    let mut next = tails.last().copied();
    while let Some(place) = next {
        rising.push(at(place));
        next = before.get(place).copied().flatten();
    }
    rising.reverse();
    rising
}
