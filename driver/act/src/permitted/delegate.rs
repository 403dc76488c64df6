//! The capabilities of the desktop, passed through; input after the last look, and not once the call is cancelled. Inputs are counted,
//! and waits end when the call is cancelled.

use std::{pin::Pin, time::Duration};

use deskhand_desktop::{
    CancelScope, Capture, Clipboard, Desktop, DesktopError, DesktopResult, Documents, ElementAction,
    ElementPatterns, IdleReport, IdleWait, InputInjection, LaunchRequest, LaunchedProgram, Native,
    NativeAnswer, NativeCall, PointerChord, QuietLimits, UiTree, WindowManagement, delegate, keys::KeyChord,
};
use deskhand_secret::SecretValue;
use deskhand_ui::{
    WindowInfo,
    action::InputCounts,
    geometry::{Point, Screen},
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
    delegate!(desktop => capabilities, see, reserve_element_id);
}

impl<D: Desktop> WindowManagement for PermittedDesktop<'_, D> {
    delegate!(desktop => windows, applications, process_ended, last_words);

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
}

impl<D: Desktop> Documents for PermittedDesktop<'_, D> {
    delegate!(desktop => document, file);
}

impl<D: Desktop> Native for PermittedDesktop<'_, D> {
    delegate!(desktop => natives);

    async fn native(&self, window: WindowId, call: &NativeCall) -> DesktopResult<NativeAnswer> {
        CancelScope::current().check(0)?;
        self.desktop.native(window, call).await
    }
}

impl<D: Desktop> UiTree for PermittedDesktop<'_, D> {
    delegate!(
        desktop =>
            tree, element, children, selected, element_at, is_within, may_show_elements, known_focus,
            last_place
    );
}

impl<D: Desktop> ElementPatterns for PermittedDesktop<'_, D> {
    delegate!(desktop => quirks, action_names, text, text_selection, caret, formula, cells, cell);

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
    delegate!(desktop => clipboard);

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
    delegate!(desktop => screen, region, drawn_text);
}

impl<D: Desktop> IdleWait for PermittedDesktop<'_, D> {
    type Watch = D::Watch;

    delegate!(
        desktop =>
            watch, sleeps_for, recently_changed, attribute_to_action, mark_self_changing, is_self_changing
    );

    async fn settle(&self, watch: Self::Watch, limits: QuietLimits) -> DesktopResult<IdleReport> {
        CancelScope::current().wait(0, self.desktop.settle(watch, limits)).await
    }
}
