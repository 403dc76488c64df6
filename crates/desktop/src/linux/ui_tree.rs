//! The elements of windows behind the [`UiTree`] trait: X windows on one side, the accessibility bus on the
//! other.

use deskhand_core::{
    geometry::{Point, Screen},
    ids::{ElementId, WindowId},
    ui::{CellRange, CellRef, Element, TableContent, Tree},
};

use super::{
    atspi::{Accessibility, WindowFacts},
    desktop::LinuxDesktop,
};
use crate::{DesktopError, DesktopResult, ElementAction, TreeLimits, UiTree, Windowing as _};

impl LinuxDesktop {
    /// What is known of a window, to find its elements by.
    async fn window_facts(&self, window: WindowId) -> DesktopResult<WindowFacts> {
        let info = self
            .windows()
            .await?
            .into_iter()
            .find(|info| info.id == window)
            .ok_or(DesktopError::NoWindow(window))?;
        Ok(WindowFacts { title: info.title, bounds: info.bounds, kind: info.kind, pid: info.app.pid })
    }

    /// Where elements are; none has an id on a desktop without an accessibility bus.
    fn elements(&self, id: ElementId) -> DesktopResult<&Accessibility> {
        self.accessibility().ok_or(DesktopError::NoElement(id))
    }
}

impl UiTree for LinuxDesktop {
    async fn tree(&self, window: WindowId, limits: TreeLimits) -> DesktopResult<Tree> {
        let facts = self.window_facts(window).await?;
        match self.accessibility() {
            Some(accessibility) => accessibility.tree(&facts, limits).await,
            None => Ok(Tree::default()),
        }
    }

    async fn element(&self, id: ElementId) -> DesktopResult<Element> {
        self.elements(id)?.element(id).await
    }

    async fn children(&self, id: ElementId, max: usize) -> DesktopResult<Vec<Element>> {
        self.elements(id)?.children(id, max).await
    }

    async fn selected(&self, id: ElementId) -> DesktopResult<Vec<Element>> {
        self.elements(id)?.selected(id).await
    }

    async fn element_at(&self, window: WindowId, point: Point<Screen>) -> DesktopResult<Option<Element>> {
        let facts = self.window_facts(window).await?;
        match self.accessibility() {
            Some(accessibility) => accessibility.element_at(&facts, point).await,
            None => Ok(None),
        }
    }

    async fn is_within(&self, id: ElementId, ancestor: ElementId) -> DesktopResult<bool> {
        self.elements(id)?.is_within(id, ancestor).await
    }

    async fn perform(&self, id: ElementId, action: &ElementAction) -> DesktopResult<()> {
        self.elements(id)?.perform(id, action).await
    }

    async fn action_names(&self, id: ElementId) -> DesktopResult<Vec<String>> {
        self.elements(id)?.action_names(id).await
    }

    async fn text(&self, id: ElementId, max: usize) -> DesktopResult<String> {
        self.elements(id)?.text(id, max).await
    }

    async fn cells(&self, table: ElementId, range: CellRange) -> DesktopResult<TableContent> {
        self.elements(table)?.cells(table, range).await
    }

    async fn cell(&self, table: ElementId, cell: CellRef) -> DesktopResult<Element> {
        self.elements(table)?.cell(table, cell).await
    }
}
