//! The elements of windows behind the [`UiTree`] trait: X windows on one side, the accessibility bus on the other.

use std::time::Duration;

use deskhand_desktop::{
    Capture as _, DesktopError, DesktopResult, ElementAction, ElementPatterns, Quirks, TreeLimits, UiTree,
    WindowManagement as _,
};
use deskhand_ui::{
    CellRange, CellRef, Element, ElementCapability, ElementTreePath, TableContent, Tree, WindowInfo,
    geometry::{Point, Rect, Screen},
    ids::{ElementId, WindowId},
};
use futures_util::future::BoxFuture;

use crate::{
    atspi::{Accessibility, AtspiFrameCriteria, MirrorDiff, WalkSource, WindowScreenshot, lasting},
    blocking::run_blocking,
    desktop::LinuxDesktop,
    toolkits::may_expose,
};

impl LinuxDesktop {
    /// The properties that the frame of a window is found by.
    async fn window_facts(&self, window: WindowId) -> DesktopResult<AtspiFrameCriteria> {
        self.window_facts_and_above(window).await.map(|(facts, _)| facts)
    }

    /// The same, and the areas of the windows above it.
    async fn window_facts_and_above(
        &self,
        window: WindowId,
    ) -> DesktopResult<(AtspiFrameCriteria, Vec<Rect<Screen>>)> {
        let mut windows = self.windows().await?.into_iter().skip_while(|info| info.id != window);
        let info = windows.next().ok_or(DesktopError::NoWindow(window))?;
        let above = windows.map(|info| info.bounds).collect();
        let facts =
            AtspiFrameCriteria { title: info.title, bounds: info.bounds, kind: info.kind, pid: info.app.pid };
        Ok((facts, above))
    }

    /// Marks in the mirror what was drawn so far.
    async fn take_in_drawing(&self, accessibility: &Accessibility) -> DesktopResult<()> {
        self.server().catch_up().await?;
        match self.server().take_drawn() {
            Some(areas) => accessibility.drawn(&areas),
            None => accessibility.drawn_unknown(),
        }
        Ok(())
    }

    /// Waits until the application of a window has announced what it drew last at a point; returns whether that took time. What is
    /// drawn again and again is not waited for any longer.
    async fn announced(
        &self,
        accessibility: &Accessibility,
        window: &AtspiFrameCriteria,
        point: Point<Screen>,
    ) -> DesktopResult<bool> {
        const REPEATED_MAX: u32 = 3;
        let after = accessibility.announces_after(window).await?;
        if after.is_zero() {
            return Ok(false);
        }
        for repeated in 0..REPEATED_MAX {
            self.server().catch_up().await?;
            let drawn = self.server().drawn_at(point).map_or(Duration::MAX, |at| at.elapsed());
            let Some(rest) = after.checked_sub(drawn).filter(|rest| !rest.is_zero()) else {
                return Ok(repeated > 0);
            };
            tokio::time::sleep(rest).await;
        }
        Ok(true)
    }

    /// The tree of a window, read afresh from the application instead of the mirror.
    ///
    /// # Errors
    /// As [`UiTree::tree`].
    pub async fn fresh_tree(&self, window: WindowId, limits: TreeLimits) -> DesktopResult<Tree> {
        let facts = self.window_facts(window).await?;
        match self.accessibility() {
            Some(accessibility) => accessibility.tree(&facts, limits, WalkSource::Fresh, None).await,
            None => Ok(Tree::default()),
        }
    }

    /// Walks the showing elements of a window one call after the other and returns how many there are: the baseline
    /// for the mirror. Containers with more than `children_max` children are not entered.
    ///
    /// # Errors
    /// As [`UiTree::tree`].
    pub async fn naive_walk(&self, window: WindowId, children_max: u32) -> DesktopResult<usize> {
        let facts = self.window_facts(window).await?;
        match self.accessibility() {
            Some(accessibility) => accessibility.naive_walk(&facts, children_max).await,
            None => Ok(0),
        }
    }

    /// The differences between the mirror of a window and its application, without changes that happen meanwhile.
    ///
    /// # Errors
    /// As [`UiTree::tree`].
    pub async fn verify_tree(&self, window: WindowId, limits: TreeLimits) -> DesktopResult<Vec<MirrorDiff>> {
        let before = self.tree(window, limits).await?;
        let fresh = self.fresh_tree(window, limits).await?;
        let after = self.tree(window, limits).await?;
        Ok(lasting(&before, &fresh, &after))
    }

    /// The positions of elements; none has an id on a desktop without an accessibility bus.
    fn elements(&self, id: ElementId) -> DesktopResult<&Accessibility> {
        self.accessibility().ok_or(DesktopError::NoElement(id))
    }
}

impl UiTree for LinuxDesktop {
    async fn tree(&self, window: WindowId, limits: TreeLimits) -> DesktopResult<Tree> {
        let (facts, above) = self.window_facts_and_above(window).await?;
        match self.accessibility() {
            Some(accessibility) => {
                self.take_in_drawing(accessibility).await?;
                let pixels = |area: Rect<Screen>| {
                    let covered = above.iter().filter_map(|other| other.intersection(&area)).collect();
                    let taking = async move {
                        Some(WindowScreenshot { picture: self.region(area).await.ok()?, covered })
                    };
                    Box::pin(taking) as BoxFuture<'_, Option<WindowScreenshot>>
                };
                // Actions await many looks: what one needs is kept out of their own size, which has to fit on a stack.
                let look = Box::pin(accessibility.tree(&facts, limits, WalkSource::Mirror, Some(&pixels)));
                let tree = look.await?;
                self.history().track(tree.elements.iter().map(|element| element.id));
                Ok(tree)
            }
            None => Ok(Tree::default()),
        }
    }

    async fn element(&self, id: ElementId) -> DesktopResult<Element> {
        Box::pin(self.elements(id)?.element(id)).await
    }

    async fn children(&self, id: ElementId, max: usize) -> DesktopResult<Vec<Element>> {
        Box::pin(self.elements(id)?.children(id, max)).await
    }

    async fn selected(&self, id: ElementId) -> DesktopResult<Vec<Element>> {
        self.elements(id)?.selected(id).await
    }

    async fn element_at(&self, window: WindowId, point: Point<Screen>) -> DesktopResult<Option<Element>> {
        let facts = self.window_facts(window).await?;
        let Some(accessibility) = self.accessibility() else { return Ok(None) };
        self.announced(accessibility, &facts, point).await?;
        Box::pin(accessibility.element_at(&facts, point)).await
    }

    async fn is_within(&self, id: ElementId, ancestor: ElementId) -> DesktopResult<bool> {
        self.elements(id)?.is_within(id, ancestor).await
    }

    async fn may_show_elements(&self, window: &WindowInfo) -> DesktopResult<bool> {
        // Elements are found by the process of their window.
        let Some(pid) = window.app.pid else { return Ok(false) };
        run_blocking(move || may_expose(pid)).await
    }

    async fn known_focus(&self, window: WindowId) -> DesktopResult<Option<Element>> {
        let facts = self.window_facts(window).await?;
        let Some(accessibility) = self.accessibility() else { return Ok(None) };
        let known = accessibility.known_focus(&facts).await?;
        // What stands in a field changes with each letter; its name does not.
        let named =
            known.as_ref().filter(|element| !element.patterns.contains(&ElementCapability::EditableText));
        if let Some(bounds) = named.and_then(|element| element.bounds)
            && self.announced(accessibility, &facts, bounds.center()).await?
        {
            return accessibility.known_focus(&facts).await;
        }
        Ok(known)
    }

    fn last_place(&self, id: ElementId) -> Option<ElementTreePath> {
        self.accessibility()?.last_place(id)
    }
}

impl ElementPatterns for LinuxDesktop {
    async fn perform(&self, id: ElementId, action: &ElementAction) -> DesktopResult<()> {
        self.history().record_input();
        let performed = self.elements(id)?.perform(id, action).await;
        self.history().record_input();
        performed
    }

    fn quirks(&self, id: ElementId) -> Quirks {
        self.accessibility().map(|accessibility| accessibility.quirks(id)).unwrap_or_default()
    }

    async fn action_names(&self, id: ElementId) -> DesktopResult<Vec<String>> {
        self.elements(id)?.action_names(id).await
    }

    async fn text(&self, id: ElementId, max: usize) -> DesktopResult<String> {
        self.elements(id)?.text(id, max).await
    }

    async fn text_selection(&self, id: ElementId) -> DesktopResult<Option<(usize, usize)>> {
        self.elements(id)?.text_selection(id).await
    }

    async fn caret(&self, id: ElementId) -> DesktopResult<Option<usize>> {
        self.elements(id)?.caret(id).await
    }

    async fn formula(&self, table: ElementId, cell: CellRef) -> DesktopResult<Option<String>> {
        self.elements(table)?.formula(table, cell).await
    }

    async fn cells(&self, table: ElementId, range: CellRange) -> DesktopResult<TableContent> {
        self.elements(table)?.cells(table, range).await
    }

    async fn cell(&self, table: ElementId, cell: CellRef) -> DesktopResult<Element> {
        self.elements(table)?.cell(table, cell).await
    }
}
