//! The visible children of virtual containers, as part of a look.

use std::sync::Arc;

use deskhand_ui::{IncompleteTreeCause, Role};

use super::{
    super::{
        view::{Container, Viewer, VirtualContainerView},
        wire::ObjectRef,
    },
    parts::AspectMoments,
    store::ViewStale,
    walk::{AtspiTreeWalk, InView},
};
use deskhand_desktop::DesktopResult;

impl AtspiTreeWalk<'_, '_> {
    /// Adds the visible cells of the virtual tables among the nodes from `first` on.
    pub(super) async fn read_views(&mut self, first: usize) -> DesktopResult<()> {
        for at in first..self.nodes.len() {
            let Some(node) = self.nodes.get(at).filter(|node| self.has_view(node)) else { continue };
            let (table, shift, below) = (node.object.clone(), node.shift, node.below);
            let depth = node.element.depth.saturating_add(1);
            let role = node.element.role.clone();
            let toolkit = self.application.toolkit;
            let container = Container {
                is_icons: toolkit.shows_by_place(&Role::ICON, Some(&role)),
                shape: node.element.table,
                child_count: node.element.child_count,
                area: node.visible,
                shift,
            };
            let by_place = container.shape.is_some() && toolkit.names_cells_by_place;
            if by_place && !self.limits.cells {
                continue;
            }
            let Some(view) = self.view(&table, container, &below).await? else { continue };
            let room = self.limits.nodes_max.saturating_sub(self.nodes.len());
            if view.cells.len() > room {
                self.partial = Some(IncompleteTreeCause::NodeLimit);
            }
            let cells = view.cells.iter().take(room).map(|(place, cell)| {
                let (head, details) = (cell.head.clone(), cell.details.clone());
                let element =
                    self.accessibility.to_element(toolkit, shift, (depth, Some(&role)), head, details);
                InView { object: cell.object.clone(), element, place: by_place.then_some(*place) }
            });
            let cells = cells.collect();
            if let Some(node) = self.nodes.get_mut(at) {
                node.cells = cells;
                node.view = Some(view.range);
            }
        }
        Ok(())
    }

    /// The visible children of a virtual container; `None` if they cannot be read.
    async fn view(
        &mut self,
        table: &ObjectRef,
        container: Container,
        below: &AspectMoments,
    ) -> DesktopResult<Option<Arc<VirtualContainerView>>> {
        let (read_at, (known, stale)) = self.with_store(|store| (store.now(), store.ask_view(table, below)));
        if stale == ViewStale::Nothing || self.partial.is_some() {
            return Ok(known);
        }
        let viewer = Viewer { bus: &self.bus, toolkit: self.application.toolkit, pixels: self.pixels };
        let read = async {
            match (&known, stale) {
                (Some(known), ViewStale::States) => match viewer.states(known).await? {
                    Some(view) => Ok(view),
                    None => viewer.view(table, container, None).await,
                },
                (Some(known), ViewStale::Drawn(areas)) => {
                    let before = viewer.states(known).await?.map(|known| (known, areas));
                    viewer.view(table, container, before).await
                }
                _ => viewer.view(table, container, None).await,
            }
        };
        let read = read.await;
        match read {
            Ok(view) => {
                self.reads += 1;
                self.with_store(|store| {
                    store.update(table, |node| node.keep_view(Arc::clone(&view), read_at));
                });
                Ok(Some(view))
            }
            Err(error) => {
                self.note(&error)?;
                Ok(known)
            }
        }
    }
}
