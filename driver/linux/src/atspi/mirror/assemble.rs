//! From the nodes of a look to a tree whose elements have ids.

use std::collections::HashMap;

use deskhand_ui::{Element, Tree};

use super::{
    super::{shift::Shift, wire::ObjectRef},
    walk::{AtspiTreeWalk, WalkNode},
};
use deskhand_desktop::DesktopResult;

/// An object of the tree, in reading order.
pub(super) struct AssembledElement {
    pub(super) object: ObjectRef,
    pub(super) shift: Shift,
    pub(super) element: Element,
    /// For a cell that is identified by position: the index of its table in this list, its row and column.
    place: Option<(usize, (u32, u32))>,
}

impl AtspiTreeWalk<'_, '_> {
    /// The nodes in reading order, each with its id.
    pub(super) async fn into_tree(self, frame: &ObjectRef) -> DesktopResult<Tree> {
        let Self { accessibility, bus, application, nodes, partial, own, reads, .. } = self;
        let mut nodes: Vec<Option<WalkNode>> = nodes.into_iter().map(Some).collect();
        let mut found: Vec<AssembledElement> = Vec::with_capacity(nodes.len());
        let mut open = if nodes.is_empty() { Vec::new() } else { vec![0] };
        while let Some(at) = open.pop() {
            let Some(node) = nodes.get_mut(at).and_then(Option::take) else { continue };
            let shift = node.shift;
            let table = found.len();
            found.push(AssembledElement { object: node.object, shift, element: node.element, place: None });
            found.extend(node.cells.into_iter().map(|cell| {
                let place = cell.place.map(|place| (table, place));
                AssembledElement { object: cell.object, shift, element: cell.element, place }
            }));
            open.extend(node.children.into_iter().rev());
        }
        let traces = own.is_none() && partial.is_none() && reads > 0;
        if traces {
            accessibility.find_again(&bus, application, frame, &found).await?;
        }
        let otherwise = match own {
            Some(_) => accessibility.known_otherwise(application, frame, &found),
            None => HashMap::new(),
        };
        let elements: Vec<Element> = accessibility.with_ids(|ids| {
            let mut elements: Vec<Element> = Vec::with_capacity(found.len());
            for (at, AssembledElement { object, shift, element, place }) in found.into_iter().enumerate() {
                let table = place.and_then(|(at, place)| Some((elements.get(at)?.id, place)));
                let id = match (table, otherwise.get(&at)) {
                    (_, Some(id)) => *id,
                    (Some((table, place)), None) => ids.id_of_cell(table, place, &object, shift),
                    (None, None) => ids.id_of(&object, shift),
                };
                elements.push(Element { id, ..element });
            }
            elements
        });
        if traces {
            accessibility.keep_traces(application, frame, &elements);
        }
        let tree = Tree { elements, partial };
        if reads > 0 {
            accessibility.with_ids(|ids| ids.keep_places(&tree));
        }
        Ok(tree)
    }
}
