//! The rows of lists that keep what went out of view, as part of a look: only those that are drawn where they report to be.

use deskhand_ui::{
    Element,
    geometry::{Rect, Screen},
};

use super::{
    super::{
        bus::{CallResult, pipelined},
        recycled::{is_elsewhere, placed_in},
        wire::ObjectRef,
    },
    read::Parent,
    walk::{AtspiTreeWalk, WalkNode},
};
use deskhand_desktop::DesktopResult;

impl AtspiTreeWalk<'_, '_> {
    /// Returns `true` if the rows in view of a list are found by the places of all of them.
    pub(super) fn has_rows_by_place(&self, node: &WalkNode) -> bool {
        let Element { role, child_count, .. } = &node.element;
        self.application.toolkit.has_rows_by_place(role, *child_count)
    }

    /// The children of an object, of a list with too many of them those that are placed in view.
    pub(super) async fn children_of(&self, parent: &Parent) -> CallResult<Vec<ObjectRef>> {
        let children = self.bus.safe_children(&parent.object, &parent.role, self.application.toolkit).await?;
        match parent.view {
            Some(area) => {
                let placed = placed_in(&self.bus, children, area).await?;
                Ok(placed.into_iter().map(|(child, _)| child).collect())
            }
            None => Ok(children),
        }
    }

    /// Leaves out the rows that are not where they report to be.
    pub(super) async fn leave_out_rows(&mut self) -> DesktopResult<()> {
        if self.partial.is_some() || self.outdated {
            return Ok(());
        }
        for at in 0..self.nodes.len() {
            let Some(list) = self.nodes.get(at).filter(|node| self.has_rows_by_place(node)) else { continue };
            let (is_virtual, object, seen) = (self.is_virtual(list), list.object.clone(), list.seen);
            if self.reads > 0 {
                let rows = self.placed_rows(list);
                let (bus, list) = (&self.bus, &object);
                let found = pipelined(rows, |(row, object, place)| async move {
                    (row, is_elsewhere(bus, list, &object, place).await)
                })
                .await;
                for (row, elsewhere) in found {
                    match elsewhere {
                        Ok(true) => self.leave_out(at, row, seen),
                        Ok(false) => {}
                        Err(error) => self.note(&error)?,
                    }
                }
            }
            if let Some(list) = self.nodes.get_mut(at).filter(|_| is_virtual) {
                list.element.child_count = Element::UNCOUNTED;
            }
        }
        Ok(())
    }

    /// The rows of a list that report a place in view, and the part of it that is in view.
    fn placed_rows(&self, list: &WalkNode) -> Vec<(usize, ObjectRef, Rect<Screen>)> {
        let rows = list.children.iter().filter_map(|row| Some((*row, self.nodes.get(*row)?)));
        // The pointer passes through those that take no input.
        let rows = rows.filter(|(_, row)| row.element.states.takes_input());
        let placed = rows.filter_map(|(at, row)| {
            Some((at, row.object.clone(), row.reported?.intersection(&list.visible?)?))
        });
        placed.collect()
    }

    /// Leaves a row out until something is drawn in its list.
    fn leave_out(&mut self, list: usize, row: usize, seen: Option<Rect<Screen>>) {
        if let Some(list) = self.nodes.get_mut(list) {
            list.children.retain(|child| *child != row);
        }
        let Some(object) = self.nodes.get(row).map(|row| row.object.clone()) else { return };
        self.with_store(|store| {
            store.update(&object, |node| {
                node.place(seen);
                if let Some(details) = &mut node.details {
                    details.reported = Some(Rect::new(0, 0, 0, 0));
                }
            });
        });
    }
}
