//! Traits by which an element is recognised after it was rebuilt.

use std::{
    hash::{DefaultHasher, Hash as _, Hasher as _},
    sync::Arc,
    time::Instant,
};

use deskhand_ui::{Element, Role, State, ids::ElementId};

/// The states that belong to the content of an element, besides whether it accepts input.
const CONTENT: [State; 4] = [State::Checked, State::Selected, State::Expanded, State::Pressed];

/// Traits by which an element is recognised.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ElementFingerprint {
    /// Its id; `None` if it has none yet.
    pub(super) id: Option<ElementId>,
    pub(super) depth: u16,
    pub(super) role: Role,
    pub(super) name: String,
    /// A hash of what else it shows.
    pub(super) content: u64,
}

impl ElementFingerprint {
    /// The trace of an element.
    pub(super) fn of(id: Option<ElementId>, element: &Element) -> Self {
        let (role, name) = (element.role.clone(), element.name.clone());
        Self { id, depth: element.depth, role, name, content: content(element) }
    }
}

fn content(element: &Element) -> u64 {
    let mut hasher = DefaultHasher::new();
    element.text.hash(&mut hasher);
    element.value.map(|value| value.current.to_bits()).hash(&mut hasher);
    (element.states.takes_input(), CONTENT.map(|state| element.states.has(state))).hash(&mut hasher);
    hasher.finish()
}

/// The traces of the elements of a frame at one look.
#[derive(Debug, Clone)]
pub(crate) struct Snapshot {
    pub(super) traces: Arc<[ElementFingerprint]>,
    pub(super) at: Instant,
}

impl Default for Snapshot {
    fn default() -> Self {
        Self { traces: Arc::default(), at: Instant::now() }
    }
}
