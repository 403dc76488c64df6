//! The capabilities of the desktop, passed through; input after the last look, and not once the call is cancelled. Inputs are counted,
//! and waits end when the call is cancelled.

use std::{pin::Pin, time::Duration};

use deskhand_desktop::{
    CancelScope, Capabilities, Capture, Clipboard, Desktop, DesktopError, DesktopResult, Documents,
    ElementAction, ElementChangeKind, ElementPatterns, FileState, IdleReport, IdleWait, InputInjection,
    LaunchRequest, LaunchedProgram, Native, NativeAnswer, NativeCall, Natives, Picture, PointerChord,
    ProcessExit, QuietLimits, Quirks, TreeLimits, UiTree, WindowManagement, WindowTreeSnapshot,
    keys::KeyChord,
};
use deskhand_secret::SecretValue;
use deskhand_ui::{
    CellRange, CellRef, DocumentInfo, Element, ElementTreePath, InstalledApplication, TableContent, Tree,
    WindowInfo,
    action::InputCounts,
    geometry::{Point, Rect, Screen},
    ids::{ElementId, WindowId},
};

use super::{PermittedDesktop, activates, letter, secret::Into};

/// Returns the number of characters typed for a text.
fn characters_of(text: &str) -> u64 {
    u64::try_from(text.replace("\r\n", "\n").chars().count()).unwrap_or(u64::MAX)
}

/// Returns the number of parts sent of an input that has `all` parts.
const fn done_of(sent: &DesktopResult<()>, all: u64) -> u64 {
    match sent {
        Ok(()) => all,
        Err(DesktopError::Cancelled { done }) => *done,
        Err(_) => 0,
    }
}

impl<D: Desktop> PermittedDesktop<'_, D> {
    /// Sends an input that is sent as a whole or not at all, and counts it. It is on the heap: what actions await is large, and they
    /// nest it.
    async fn counted(
        &self,
        count: InputCounts,
        input: Pin<Box<impl Future<Output = DesktopResult<()>>>>,
    ) -> DesktopResult<()> {
        let scope = CancelScope::current();
        scope.check(0)?;
        let sent = input.await;
        if !matches!(sent, Err(DesktopError::Cancelled { .. })) {
            scope.note(count);
        }
        sent
    }

    /// Has an application change something by its own interface.
    async fn edit(&self, edit: Pin<Box<impl Future<Output = DesktopResult<()>>>>) -> DesktopResult<()> {
        self.counted(InputCounts { edits: 1, ..InputCounts::default() }, edit).await
    }
}

impl<D: Desktop> Desktop for PermittedDesktop<'_, D> {
    fn capabilities(&self) -> Capabilities {
        self.desktop.capabilities()
    }

    async fn see(&self, window: WindowId, limits: TreeLimits) -> DesktopResult<WindowTreeSnapshot> {
        self.desktop.see(window, limits).await
    }

    fn reserve_element_id(&self) -> ElementId {
        self.desktop.reserve_element_id()
    }
}

impl<D: Desktop> WindowManagement for PermittedDesktop<'_, D> {
    async fn windows(&self) -> DesktopResult<Vec<WindowInfo>> {
        self.desktop.windows().await
    }

    async fn windows_changed(&self, known: &[WindowInfo], bound: Duration) -> DesktopResult<Vec<WindowInfo>> {
        CancelScope::current().wait(0, self.desktop.windows_changed(known, bound)).await
    }

    async fn activate(&self, window: WindowId) -> DesktopResult<()> {
        CancelScope::current().check(0)?;
        self.desktop.activate(window).await
    }

    async fn close(&self, window: WindowId) -> DesktopResult<()> {
        self.edit(Box::pin(self.desktop.close(window))).await
    }

    async fn launch(&self, request: &LaunchRequest) -> DesktopResult<LaunchedProgram> {
        let scope = CancelScope::current();
        scope.check(0)?;
        let launched = self.desktop.launch(request).await?;
        scope.note(InputCounts { launches: 1, ..InputCounts::default() });
        Ok(launched)
    }

    async fn launch_all(&self, requests: &[LaunchRequest]) -> DesktopResult<Vec<LaunchedProgram>> {
        let scope = CancelScope::current();
        scope.check(0)?;
        let launched = self.desktop.launch_all(requests).await?;
        let launches = u64::try_from(launched.len()).unwrap_or(u64::MAX);
        scope.note(InputCounts { launches, ..InputCounts::default() });
        Ok(launched)
    }

    fn applications(&self) -> Vec<InstalledApplication> {
        self.desktop.applications()
    }

    fn process_ended(&self, pid: u32) -> Option<ProcessExit> {
        self.desktop.process_ended(pid)
    }

    fn last_words(&self, pid: u32) -> String {
        self.desktop.last_words(pid)
    }
}

impl<D: Desktop> Documents for PermittedDesktop<'_, D> {
    async fn document(&self, window: &WindowInfo) -> DesktopResult<Option<DocumentInfo>> {
        self.desktop.document(window).await
    }

    async fn file(&self, path: &str) -> DesktopResult<FileState> {
        self.desktop.file(path).await
    }
}

impl<D: Desktop> Native for PermittedDesktop<'_, D> {
    fn natives(&self) -> Natives {
        self.desktop.natives()
    }

    async fn native(&self, window: WindowId, call: &NativeCall) -> DesktopResult<NativeAnswer> {
        CancelScope::current().check(0)?;
        self.desktop.native(window, call).await
    }
}

impl<D: Desktop> UiTree for PermittedDesktop<'_, D> {
    async fn tree(&self, window: WindowId, limits: TreeLimits) -> DesktopResult<Tree> {
        self.desktop.tree(window, limits).await
    }

    async fn element(&self, id: ElementId) -> DesktopResult<Element> {
        self.desktop.element(id).await
    }

    async fn children(&self, id: ElementId, max: usize) -> DesktopResult<Vec<Element>> {
        self.desktop.children(id, max).await
    }

    async fn selected(&self, id: ElementId) -> DesktopResult<Vec<Element>> {
        self.desktop.selected(id).await
    }

    async fn element_at(&self, window: WindowId, point: Point<Screen>) -> DesktopResult<Option<Element>> {
        self.desktop.element_at(window, point).await
    }

    async fn is_within(&self, id: ElementId, ancestor: ElementId) -> DesktopResult<bool> {
        self.desktop.is_within(id, ancestor).await
    }

    async fn may_show_elements(&self, window: &WindowInfo) -> DesktopResult<bool> {
        self.desktop.may_show_elements(window).await
    }

    async fn known_focus(&self, window: WindowId) -> DesktopResult<Option<Element>> {
        self.desktop.known_focus(window).await
    }

    fn last_place(&self, id: ElementId) -> Option<ElementTreePath> {
        self.desktop.last_place(id)
    }
}

impl<D: Desktop> ElementPatterns for PermittedDesktop<'_, D> {
    async fn perform(&self, id: ElementId, action: &ElementAction) -> DesktopResult<()> {
        match action {
            ElementAction::Default
            | ElementAction::Named(_)
            | ElementAction::SetText(_)
            | ElementAction::SetValue(_)
            | ElementAction::Select => self.show(&self.there(id).await?, /*focused*/ false).await?,
            // These move the focus, the view or the selection of a text alone.
            ElementAction::Focus
            | ElementAction::ScrollIntoView
            | ElementAction::MoveBar(_)
            | ElementAction::SelectText { .. } => {
                CancelScope::current().check(0)?;
                return self.desktop.perform(id, action).await;
            }
        }
        if let ElementAction::SetText(text) = action
            && let Some(value) = self.value_of(text, Into::Element(id)).await?
        {
            let set = ElementAction::SetText(value.expose().to_owned());
            return self.edit(Box::pin(self.desktop.perform(id, &set))).await;
        }
        if let ElementAction::SetText(text) = action {
            self.show_clear(text, Into::Element(id)).await?;
        }
        self.edit(Box::pin(self.desktop.perform(id, action))).await
    }

    fn quirks(&self, id: ElementId) -> Quirks {
        self.desktop.quirks(id)
    }

    async fn action_names(&self, id: ElementId) -> DesktopResult<Vec<String>> {
        self.desktop.action_names(id).await
    }

    async fn text(&self, id: ElementId, max: usize) -> DesktopResult<String> {
        self.desktop.text(id, max).await
    }

    async fn text_selection(&self, id: ElementId) -> DesktopResult<Option<(usize, usize)>> {
        self.desktop.text_selection(id).await
    }

    async fn caret(&self, id: ElementId) -> DesktopResult<Option<usize>> {
        self.desktop.caret(id).await
    }

    async fn formula(&self, table: ElementId, cell: CellRef) -> DesktopResult<Option<String>> {
        self.desktop.formula(table, cell).await
    }

    async fn cells(&self, table: ElementId, range: CellRange) -> DesktopResult<TableContent> {
        self.desktop.cells(table, range).await
    }

    async fn cell(&self, table: ElementId, cell: CellRef) -> DesktopResult<Element> {
        self.desktop.cell(table, cell).await
    }
}

impl<D: Desktop> InputInjection for PermittedDesktop<'_, D> {
    async fn click(
        &self,
        at: Point<Screen>,
        held: impl std::convert::Into<PointerChord> + Send,
        count: u8,
    ) -> DesktopResult<()> {
        CancelScope::current().check(0)?;
        self.show_place(at).await?;
        let clicked = InputCounts { clicks: 1, ..InputCounts::default() };
        self.counted(clicked, Box::pin(self.desktop.click(at, held, count))).await
    }

    async fn drag(&self, from: Point<Screen>, to: Point<Screen>, held: &PointerChord) -> DesktopResult<()> {
        let scope = CancelScope::current();
        scope.check(0)?;
        self.show_place(from).await?;
        self.show_place(to).await?;
        let dragged = self.desktop.drag(from, to, held).await;
        match dragged {
            Ok(()) => scope.note(InputCounts { drags: 1, ..InputCounts::default() }),
            Err(DesktopError::Cancelled { done }) => {
                scope.note(InputCounts { drags_taken_back: done, ..InputCounts::default() });
            }
            Err(_) => {}
        }
        dragged
    }

    async fn scroll(&self, at: Point<Screen>, right: i32, down: i32) -> DesktopResult<()> {
        let scope = CancelScope::current();
        scope.check(0)?;
        let scrolled = self.desktop.scroll(at, right, down).await;
        let notches = u64::from(right.unsigned_abs().saturating_add(down.unsigned_abs()));
        let notches = done_of(&scrolled, notches);
        scope.note(InputCounts { notches, ..InputCounts::default() });
        scrolled
    }

    async fn hover(&self, at: Point<Screen>) -> DesktopResult<()> {
        let moved = InputCounts { moves: 1, ..InputCounts::default() };
        self.counted(moved, Box::pin(self.desktop.hover(at))).await
    }

    async fn press(&self, chord: &KeyChord) -> DesktopResult<()> {
        CancelScope::current().check(0)?;
        self.show_focus(activates(chord), "").await?;
        if let Some(letter) = letter(chord) {
            self.show_clear(letter.encode_utf8(&mut [0; 4]), Into::Focus).await?;
        }
        let pressed = InputCounts { chords: 1, ..InputCounts::default() };
        self.counted(pressed, Box::pin(self.desktop.press(chord))).await
    }

    async fn type_text(&self, text: &str) -> DesktopResult<()> {
        self.enter(text, &[]).await
    }

    async fn enter(&self, text: &str, then: &[KeyChord]) -> DesktopResult<()> {
        let scope = CancelScope::current();
        scope.check(0)?;
        self.show_focus(text.contains(['\n', '\r']) || then.iter().any(activates), text).await?;
        let value = self.value_of(text, Into::Focus).await?;
        let entered = match &value {
            Some(value) => self.desktop.enter(value.expose(), then).await,
            None => {
                self.show_clear(text, Into::Focus).await?;
                self.desktop.enter(text, then).await
            }
        };
        let all = characters_of(value.as_ref().map_or(text, SecretValue::expose));
        let done = done_of(&entered, all.saturating_add(u64::try_from(then.len()).unwrap_or(u64::MAX)));
        let (characters, chords) = (done.min(all), done.saturating_sub(all));
        scope.note(match value {
            // How long a secret is, nobody learns.
            Some(_) => InputCounts { secrets: characters.min(1), chords, ..InputCounts::default() },
            None => InputCounts { characters, chords, ..InputCounts::default() },
        });
        entered
    }
}

impl<D: Desktop> Clipboard for PermittedDesktop<'_, D> {
    async fn clipboard(&self) -> DesktopResult<Option<String>> {
        self.desktop.clipboard().await
    }

    async fn set_clipboard(&self, text: Option<&str>) -> DesktopResult<()> {
        CancelScope::current().check(0)?;
        self.desktop.set_clipboard(text).await
    }

    async fn set_clipboard_as(&self, format: &str, content: &str) -> DesktopResult<()> {
        CancelScope::current().check(0)?;
        self.desktop.set_clipboard_as(format, content).await
    }

    async fn clipboard_taken(&self, bound: Duration) -> DesktopResult<bool> {
        CancelScope::current().wait(0, self.desktop.clipboard_taken(bound)).await
    }
}

impl<D: Desktop> Capture for PermittedDesktop<'_, D> {
    async fn screen(&self) -> DesktopResult<Picture> {
        self.desktop.screen().await
    }

    async fn region(&self, region: Rect<Screen>) -> DesktopResult<Picture> {
        self.desktop.region(region).await
    }

    async fn drawn_text(&self, region: Rect<Screen>) -> DesktopResult<Option<String>> {
        self.desktop.drawn_text(region).await
    }
}

impl<D: Desktop> IdleWait for PermittedDesktop<'_, D> {
    type Watch = D::Watch;

    async fn watch(&self, window: Option<WindowId>) -> DesktopResult<Self::Watch> {
        self.desktop.watch(window).await
    }

    async fn settle(&self, watch: Self::Watch, limits: QuietLimits) -> DesktopResult<IdleReport> {
        CancelScope::current().wait(0, self.desktop.settle(watch, limits)).await
    }

    async fn sleeps_for(&self, window: WindowId) -> DesktopResult<Duration> {
        self.desktop.sleeps_for(window).await
    }

    fn recently_changed(&self, elements: &[ElementId], span: Duration) -> Vec<ElementId> {
        self.desktop.recently_changed(elements, span)
    }

    fn attribute_to_action(&self, element: ElementId) {
        self.desktop.attribute_to_action(element);
    }

    fn mark_self_changing(&self, element: ElementId, aspect: ElementChangeKind) {
        self.desktop.mark_self_changing(element, aspect);
    }

    fn is_self_changing(&self, element: ElementId, aspect: ElementChangeKind) -> bool {
        self.desktop.is_self_changing(element, aspect)
    }
}
