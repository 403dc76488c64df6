//! The capabilities of the wrapped desktop, passed through except for detected elements.

use std::time::Duration;

use deskhand_desktop::{
    Capabilities, Capture, Clipboard, Desktop, DesktopError, DesktopResult, Documents, ElementAction,
    ElementChangeKind, ElementPatterns, FileState, IdleReport, IdleWait, InputInjection, LaunchRequest,
    LaunchedProgram, Native, NativeAnswer, NativeCall, Natives, Picture, PointerChord, ProcessExit,
    QuietLimits, Quirks, TreeLimits, UiTree, WindowManagement, WindowTreeSnapshot, keys::KeyChord,
};
use deskhand_ui::{
    CellRange, CellRef, DocumentInfo, Element, ElementTreePath, InstalledApplication, TableContent, Tree,
    WindowInfo,
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
    fn capabilities(&self) -> Capabilities {
        self.inner().capabilities()
    }

    async fn see(&self, window: WindowId, limits: TreeLimits) -> DesktopResult<WindowTreeSnapshot> {
        self.look(window, limits).await
    }

    fn reserve_element_id(&self) -> ElementId {
        self.inner().reserve_element_id()
    }
}

impl<D: Desktop> WindowManagement for DetectingDesktop<D> {
    async fn windows(&self) -> DesktopResult<Vec<WindowInfo>> {
        self.inner().windows().await
    }

    async fn windows_changed(&self, known: &[WindowInfo], bound: Duration) -> DesktopResult<Vec<WindowInfo>> {
        self.inner().windows_changed(known, bound).await
    }

    async fn activate(&self, window: WindowId) -> DesktopResult<()> {
        self.inner().activate(window).await
    }

    async fn close(&self, window: WindowId) -> DesktopResult<()> {
        self.inner().close(window).await
    }

    async fn launch(&self, request: &LaunchRequest) -> DesktopResult<LaunchedProgram> {
        self.inner().launch(request).await
    }

    async fn launch_all(&self, requests: &[LaunchRequest]) -> DesktopResult<Vec<LaunchedProgram>> {
        self.inner().launch_all(requests).await
    }

    fn applications(&self) -> Vec<InstalledApplication> {
        self.inner().applications()
    }

    fn process_ended(&self, pid: u32) -> Option<ProcessExit> {
        self.inner().process_ended(pid)
    }

    fn last_words(&self, pid: u32) -> String {
        self.inner().last_words(pid)
    }
}

impl<D: Desktop> Documents for DetectingDesktop<D> {
    async fn document(&self, window: &WindowInfo) -> DesktopResult<Option<DocumentInfo>> {
        self.inner().document(window).await
    }

    async fn file(&self, path: &str) -> DesktopResult<FileState> {
        self.inner().file(path).await
    }
}

impl<D: Desktop> Native for DetectingDesktop<D> {
    fn natives(&self) -> Natives {
        self.inner().natives()
    }

    async fn native(&self, window: WindowId, call: &NativeCall) -> DesktopResult<NativeAnswer> {
        self.inner().native(window, call).await
    }
}

impl<D: Desktop> UiTree for DetectingDesktop<D> {
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

    async fn known_focus(&self, window: WindowId) -> DesktopResult<Option<Element>> {
        self.inner().known_focus(window).await
    }

    fn last_place(&self, id: ElementId) -> Option<ElementTreePath> {
        self.inner().last_place(id)
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
    async fn click(
        &self,
        at: Point<Screen>,
        held: impl Into<PointerChord> + Send,
        count: u8,
    ) -> DesktopResult<()> {
        self.inner().click(at, held, count).await
    }

    async fn drag(&self, from: Point<Screen>, to: Point<Screen>, held: &PointerChord) -> DesktopResult<()> {
        self.inner().drag(from, to, held).await
    }

    async fn scroll(&self, at: Point<Screen>, right: i32, down: i32) -> DesktopResult<()> {
        self.inner().scroll(at, right, down).await
    }

    async fn hover(&self, at: Point<Screen>) -> DesktopResult<()> {
        self.inner().hover(at).await
    }

    async fn press(&self, chord: &KeyChord) -> DesktopResult<()> {
        self.inner().press(chord).await
    }

    async fn type_text(&self, text: &str) -> DesktopResult<()> {
        self.inner().type_text(text).await
    }

    async fn enter(&self, text: &str, then: &[KeyChord]) -> DesktopResult<()> {
        self.inner().enter(text, then).await
    }
}

impl<D: Desktop> Clipboard for DetectingDesktop<D> {
    async fn clipboard(&self) -> DesktopResult<Option<String>> {
        self.inner().clipboard().await
    }

    async fn set_clipboard(&self, text: Option<&str>) -> DesktopResult<()> {
        self.inner().set_clipboard(text).await
    }

    async fn set_clipboard_as(&self, format: &str, content: &str) -> DesktopResult<()> {
        self.inner().set_clipboard_as(format, content).await
    }

    async fn clipboard_taken(&self, bound: Duration) -> DesktopResult<bool> {
        self.inner().clipboard_taken(bound).await
    }
}

impl<D: Desktop> Capture for DetectingDesktop<D> {
    async fn screen(&self) -> DesktopResult<Picture> {
        self.inner().screen().await
    }

    async fn region(&self, region: Rect<Screen>) -> DesktopResult<Picture> {
        self.inner().region(region).await
    }

    async fn drawn_text(&self, region: Rect<Screen>) -> DesktopResult<Option<String>> {
        self.read_region(region).await
    }
}

impl<D: Desktop> IdleWait for DetectingDesktop<D> {
    type Watch = D::Watch;

    async fn watch(&self, window: Option<WindowId>) -> DesktopResult<Self::Watch> {
        self.inner().watch(window).await
    }

    async fn settle(&self, watch: Self::Watch, limits: QuietLimits) -> DesktopResult<IdleReport> {
        self.inner().settle(watch, limits).await
    }

    async fn sleeps_for(&self, window: WindowId) -> DesktopResult<Duration> {
        self.inner().sleeps_for(window).await
    }

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
