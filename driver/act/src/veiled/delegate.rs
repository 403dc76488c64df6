//! The capabilities of the desktop, with marks in place of secrets in everything that is read.

use std::time::Duration;

use deskhand_desktop::{
    Capture, Clipboard, Desktop, DesktopResult, Documents, ElementAction, ElementPatterns, FileState,
    IdleReport, IdleWait, InputInjection, Native, Picture, QuietLimits, TreeLimits, UiTree, WindowManagement,
    WindowTreeSnapshot, delegate, keys::KeyChord,
};
use deskhand_ui::{
    CellRange, CellRef, DocumentInfo, Element, TableContent, Tree, WindowInfo,
    geometry::{Point, Rect, Screen},
    ids::{ElementId, WindowId},
};

use super::{BEYOND, VeiledDesktop};

impl<D: Desktop> Desktop for VeiledDesktop<D> {
    delegate!(inner => capabilities, reserve_element_id);

    async fn see(&self, window: WindowId, limits: TreeLimits) -> DesktopResult<WindowTreeSnapshot> {
        let sight = self.inner.see(window, limits).await?;
        let notices = sight.notices.into_iter().map(|notice| self.veil.hide(&notice).into_owned()).collect();
        Ok(WindowTreeSnapshot { tree: self.tree(sight.tree), notices })
    }
}

impl<D: Desktop> WindowManagement for VeiledDesktop<D> {
    delegate!(inner => activate, close, launch, launch_all, applications, process_ended);

    async fn windows(&self) -> DesktopResult<Vec<WindowInfo>> {
        Ok(self.windows(self.inner.windows().await?))
    }

    async fn windows_changed(&self, known: &[WindowInfo], bound: Duration) -> DesktopResult<Vec<WindowInfo>> {
        if self.veil.is_empty() {
            return self.inner.windows_changed(known, bound).await;
        }
        // A title with a mark is the title that it was made of.
        let now = self.inner.windows().await?;
        let shown = |known: &WindowInfo| {
            let same = now.iter().find(|now| now.id == known.id);
            let same = same.filter(|now| self.window((*now).clone()).title == known.title);
            WindowInfo {
                title: same.map_or_else(|| known.title.clone(), |now| now.title.clone()),
                ..known.clone()
            }
        };
        let known: Vec<WindowInfo> = known.iter().map(shown).collect();
        Ok(self.windows(self.inner.windows_changed(&known, bound).await?))
    }

    fn last_words(&self, pid: u32) -> String {
        let mut said = self.inner.last_words(pid);
        self.hide(&mut said);
        said
    }
}

impl<D: Desktop> Documents for VeiledDesktop<D> {
    async fn document(&self, window: &WindowInfo) -> DesktopResult<Option<DocumentInfo>> {
        let mut document = self.inner.document(window).await?;
        if let Some(document) = &mut document {
            self.hide(&mut document.name);
            self.hide_optional(&mut document.path);
        }
        Ok(document)
    }

    async fn file(&self, path: &str) -> DesktopResult<FileState> {
        let mut file = self.inner.file(path).await?;
        self.hide(&mut file.path);
        file.near.iter_mut().for_each(|name| self.hide(name));
        Ok(file)
    }
}

impl<D: Desktop> Native for VeiledDesktop<D> {
    delegate!(inner => natives, native);
}

impl<D: Desktop> UiTree for VeiledDesktop<D> {
    delegate!(inner => is_within, may_show_elements, last_place);

    async fn tree(&self, window: WindowId, limits: TreeLimits) -> DesktopResult<Tree> {
        Ok(self.tree(self.inner.tree(window, limits).await?))
    }

    async fn element(&self, id: ElementId) -> DesktopResult<Element> {
        Ok(self.element(self.inner.element(id).await?))
    }

    async fn children(&self, id: ElementId, max: usize) -> DesktopResult<Vec<Element>> {
        Ok(self.elements(self.inner.children(id, max).await?))
    }

    async fn selected(&self, id: ElementId) -> DesktopResult<Vec<Element>> {
        Ok(self.elements(self.inner.selected(id).await?))
    }

    async fn element_at(&self, window: WindowId, point: Point<Screen>) -> DesktopResult<Option<Element>> {
        Ok(self.inner.element_at(window, point).await?.map(|element| self.element(element)))
    }

    async fn known_focus(&self, window: WindowId) -> DesktopResult<Option<Element>> {
        Ok(self.inner.known_focus(window).await?.map(|element| self.element(element)))
    }
}

impl<D: Desktop> ElementPatterns for VeiledDesktop<D> {
    delegate!(inner => quirks, action_names);

    async fn perform(&self, id: ElementId, action: &ElementAction) -> DesktopResult<()> {
        if let ElementAction::SelectText { start, end } = action
            && let Some(hidden) = self.hidden_text(id).await?
        {
            let (start, end) = (hidden.place_before(*start), hidden.place_before(*end));
            return self.inner.perform(id, &ElementAction::SelectText { start, end }).await;
        }
        self.inner.perform(id, action).await
    }

    async fn text(&self, id: ElementId, max: usize) -> DesktopResult<String> {
        if self.veil.is_empty() {
            return self.inner.text(id, max).await;
        }
        let text = self.inner.text(id, max.saturating_add(BEYOND)).await?;
        Ok(self.veil.hide_in_field(id.0, &text).text.chars().take(max).collect())
    }

    async fn text_selection(&self, id: ElementId) -> DesktopResult<Option<(usize, usize)>> {
        let selected = self.inner.text_selection(id).await?;
        let Some((start, end)) = selected else { return Ok(None) };
        let hidden = self.hidden_text(id).await?;
        Ok(Some(hidden.map_or((start, end), |hidden| (hidden.place_now(start), hidden.place_now(end)))))
    }

    async fn caret(&self, id: ElementId) -> DesktopResult<Option<usize>> {
        let Some(at) = self.inner.caret(id).await? else { return Ok(None) };
        Ok(Some(self.hidden_text(id).await?.map_or(at, |hidden| hidden.place_now(at))))
    }

    async fn formula(&self, table: ElementId, cell: CellRef) -> DesktopResult<Option<String>> {
        let mut formula = self.inner.formula(table, cell).await?;
        self.hide_optional(&mut formula);
        Ok(formula)
    }

    async fn cells(&self, table: ElementId, range: CellRange) -> DesktopResult<TableContent> {
        Ok(self.cells(self.inner.cells(table, range).await?))
    }

    async fn cell(&self, table: ElementId, cell: CellRef) -> DesktopResult<Element> {
        Ok(self.element(self.inner.cell(table, cell).await?))
    }
}

impl<D: Desktop> InputInjection for VeiledDesktop<D> {
    delegate!(inner => click, drag, scroll, hover, press);

    async fn type_text(&self, text: &str) -> DesktopResult<()> {
        self.inner.type_text(text).await.map_err(|error| self.input_error(text, error))
    }

    async fn enter(&self, text: &str, then: &[KeyChord]) -> DesktopResult<()> {
        self.inner.enter(text, then).await.map_err(|error| self.input_error(text, error))
    }
}

impl<D: Desktop> Clipboard for VeiledDesktop<D> {
    delegate!(inner => set_clipboard, set_clipboard_as, clipboard_taken);

    async fn clipboard(&self) -> DesktopResult<Option<String>> {
        let mut text = self.inner.clipboard().await?;
        self.hide_optional(&mut text);
        Ok(text)
    }
}

impl<D: Desktop> Capture for VeiledDesktop<D> {
    async fn screen(&self) -> DesktopResult<Picture> {
        self.blackened(self.inner.screen()).await
    }

    async fn region(&self, region: Rect<Screen>) -> DesktopResult<Picture> {
        self.blackened(self.inner.region(region)).await
    }

    async fn drawn_text(&self, region: Rect<Screen>) -> DesktopResult<Option<String>> {
        let mut text = self.inner.drawn_text(region).await?;
        self.hide_optional(&mut text);
        Ok(text)
    }
}

impl<D: Desktop> IdleWait for VeiledDesktop<D> {
    type Watch = D::Watch;

    delegate!(
        inner =>
            watch, sleeps_for, recently_changed, attribute_to_action, mark_self_changing, is_self_changing
    );

    async fn settle(&self, watch: Self::Watch, limits: QuietLimits) -> DesktopResult<IdleReport> {
        let settled = self.inner.settle(watch, limits).await?;
        let changes = settled.changes.into_iter().map(|change| self.change(change)).collect();
        Ok(IdleReport { changes, ..settled })
    }
}
