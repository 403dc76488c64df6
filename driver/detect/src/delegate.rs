//! The capabilities of the wrapped desktop, passed through except for detected elements.

use std::time::Duration;

use deskhand_desktop::{
    Capture, Clipboard, Desktop, DesktopError, DesktopResult, Documents, ElementAction, ElementChangeKind,
    ElementPatterns, IdleWait, InputInjection, Native, Quirks, TreeLimits, UiTree, WindowManagement,
    WindowTreeSnapshot, delegate,
};
use deskhand_ui::{
    CellRange, CellRef, Element, TableContent, Tree, WindowInfo,
    geometry::{Point, Rect, Screen},
    ids::{ElementId, WindowId},
};

use crate::DetectingDesktop;

impl<D: Desktop> DetectingDesktop<D> {
    fn has(&self, id: ElementId) -> bool {
        self.registry().has(id)
    }

    /// The error of an operation that needs an accessibility interface, which detected elements lack.
    fn not_offered(&self, operation: &'static str, id: ElementId) -> DesktopError {
        let found = self.registry().find(id);
        let element =
            found.map_or_else(|| id.to_string(), |(_, known)| format!("\"{}\" ({id})", known.words));
        let needs = "an accessibility interface, because it was detected in a picture".to_owned();
        DesktopError::NotOffered { operation, element, needs }
    }
}

impl<D: Desktop> Desktop for DetectingDesktop<D> {
    delegate!(inner() => capabilities, reserve_element_id);

    async fn see(&self, window: WindowId, limits: TreeLimits) -> DesktopResult<WindowTreeSnapshot> {
        self.look(window, limits).await
    }
}

impl<D: Desktop> WindowManagement for DetectingDesktop<D> {
    delegate!(
        inner() =>
            windows, windows_changed, activate, close, launch, launch_all, applications, process_ended,
            last_words
    );
}

impl<D: Desktop> Documents for DetectingDesktop<D> {
    delegate!(inner() => document, file);
}

impl<D: Desktop> Native for DetectingDesktop<D> {
    delegate!(inner() => natives, native);
}

impl<D: Desktop> UiTree for DetectingDesktop<D> {
    delegate!(inner() => known_focus, last_place);

    async fn tree(&self, window: WindowId, limits: TreeLimits) -> DesktopResult<Tree> {
        self.tree_or_root(window, limits).await
    }

    async fn element(&self, id: ElementId) -> DesktopResult<Element> {
        match self.has(id) {
            true => self.look_again(id).await,
            false => self.inner().element(id).await,
        }
    }

    async fn children(&self, id: ElementId, max: usize) -> DesktopResult<Vec<Element>> {
        match self.has(id) {
            true => Ok(Vec::new()),
            false => self.inner().children(id, max).await,
        }
    }

    async fn selected(&self, id: ElementId) -> DesktopResult<Vec<Element>> {
        match self.has(id) {
            true => Err(self.not_offered("read the selection", id)),
            false => self.inner().selected(id).await,
        }
    }

    async fn element_at(&self, window: WindowId, point: Point<Screen>) -> DesktopResult<Option<Element>> {
        match self.look_again_at(window, point).await? {
            Some(found) => Ok(Some(found)),
            None => self.inner().element_at(window, point).await,
        }
    }

    async fn is_within(&self, id: ElementId, ancestor: ElementId) -> DesktopResult<bool> {
        match (self.has(id), self.has(ancestor)) {
            (true, _) => self.lies_in(id, ancestor).await,
            (false, true) => Ok(false),
            (false, false) => self.inner().is_within(id, ancestor).await,
        }
    }

    async fn may_show_elements(&self, window: &WindowInfo) -> DesktopResult<bool> {
        let may = self.inner().may_show_elements(window).await?;
        if !may {
            self.prepare();
        }
        Ok(may)
    }
}

impl<D: Desktop> ElementPatterns for DetectingDesktop<D> {
    async fn perform(&self, id: ElementId, action: &ElementAction) -> DesktopResult<()> {
        match self.has(id) {
            true => Err(self.not_offered("act", id)),
            false => self.inner().perform(id, action).await,
        }
    }

    fn quirks(&self, id: ElementId) -> Quirks {
        if self.has(id) { Quirks::default() } else { self.inner().quirks(id) }
    }

    async fn action_names(&self, id: ElementId) -> DesktopResult<Vec<String>> {
        match self.has(id) {
            true => Ok(Vec::new()),
            false => self.inner().action_names(id).await,
        }
    }

    async fn text(&self, id: ElementId, max: usize) -> DesktopResult<String> {
        match self.has(id) {
            true => Ok(self.look_again(id).await?.name.chars().take(max).collect()),
            false => self.inner().text(id, max).await,
        }
    }

    async fn text_selection(&self, id: ElementId) -> DesktopResult<Option<(usize, usize)>> {
        match self.has(id) {
            true => Ok(None),
            false => self.inner().text_selection(id).await,
        }
    }

    async fn caret(&self, id: ElementId) -> DesktopResult<Option<usize>> {
        match self.has(id) {
            true => Ok(None),
            false => self.inner().caret(id).await,
        }
    }

    async fn cells(&self, table: ElementId, range: CellRange) -> DesktopResult<TableContent> {
        match self.has(table) {
            true => Err(self.not_offered("read cells", table)),
            false => self.inner().cells(table, range).await,
        }
    }

    async fn formula(&self, table: ElementId, cell: CellRef) -> DesktopResult<Option<String>> {
        match self.has(table) {
            true => Ok(None),
            false => self.inner().formula(table, cell).await,
        }
    }

    async fn cell(&self, table: ElementId, cell: CellRef) -> DesktopResult<Element> {
        match self.has(table) {
            true => Err(self.not_offered("find a cell", table)),
            false => self.inner().cell(table, cell).await,
        }
    }
}

impl<D: Desktop> InputInjection for DetectingDesktop<D> {
    delegate!(inner() => click, drag, scroll, hover, press, type_text, enter);
}

impl<D: Desktop> Clipboard for DetectingDesktop<D> {
    delegate!(inner() => clipboard, set_clipboard, set_clipboard_as, clipboard_taken);
}

impl<D: Desktop> Capture for DetectingDesktop<D> {
    delegate!(inner() => screen, region);

    async fn drawn_text(&self, region: Rect<Screen>) -> DesktopResult<Option<String>> {
        self.read_region(region).await
    }
}

impl<D: Desktop> IdleWait for DetectingDesktop<D> {
    type Watch = D::Watch;

    delegate!(inner() => watch, settle, sleeps_for);

    fn recently_changed(&self, elements: &[ElementId], span: Duration) -> Vec<ElementId> {
        // Changes in a picture are not announced, so they never prove anything at once.
        let (found, of_tree): (Vec<ElementId>, Vec<ElementId>) =
            elements.iter().copied().partition(|id| self.has(*id));
        let mut recent = self.inner().recently_changed(&of_tree, span);
        recent.extend(found);
        recent
    }

    fn attribute_to_action(&self, element: ElementId) {
        if !self.has(element) {
            self.inner().attribute_to_action(element);
        }
    }

    fn mark_self_changing(&self, element: ElementId, aspect: ElementChangeKind) {
        if !self.has(element) {
            self.inner().mark_self_changing(element, aspect);
        }
    }

    fn is_self_changing(&self, element: ElementId, aspect: ElementChangeKind) -> bool {
        // Changes in a picture are not tracked; each action watches its target itself.
        !self.has(element) && self.inner().is_self_changing(element, aspect)
    }
}
