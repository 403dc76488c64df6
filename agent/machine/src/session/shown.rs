//! Views of a window that an AppAgent has received, so that later prompts list only changes.
//!
//! The first view of a sub-task is listed in full and stays in the prompt unchanged, so that providers can
//! cache the prefix; later views add the changes since. When these grow too large, or the first view is too
//! many steps ago, the window is listed in full again. Pictures are sent if they changed or are requested.

use serde::{Deserialize, Serialize};

use super::config::ViewConfig;
use crate::prompt::{ViewListOptions, WindowPromptView, changes_text, split_at_dialog, view_text};
use deskhand_ui::{Surface, WindowView, text::tokens};

/// The full views in an agent's prompts, and the picture it saw last.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(super) struct PromptViewHistory {
    /// One for each window in front; most recently used last.
    bases: Vec<Base>,
    picture: Option<ShownPicture>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Base {
    step: u32,
    view: WindowView,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct ShownPicture {
    step: u32,
    sha256: String,
}

impl PromptViewHistory {
    /// Steps after which a window is listed in full again: as many as an agent is shown of its own.
    const STEPS_MAX: u32 = 8;
    /// The most windows in front with a full view.
    const BASES_MAX: usize = 3;

    /// Decides what to show of `view` at `step`.
    pub(super) fn see(
        &mut self,
        view: &WindowView,
        step: u32,
        words: Vec<String>,
        config: &ViewConfig,
        picture_wanted: bool,
    ) -> WindowPromptView {
        let options = ViewListOptions { tokens_max: config.tokens_max, words };
        let (front, behind) = in_front(view);
        let mut sight = self.since_base(&front, step, &options, config).unwrap_or_else(|| {
            let id = front.surfaces.first().map(|surface| surface.window.id);
            self.bases.retain(|base| base.view.surfaces.first().map(|surface| surface.window.id) != id);
            if self.bases.len() >= Self::BASES_MAX {
                self.bases.remove(0);
            }
            self.bases.push(Base { step, view: front.clone() });
            WindowPromptView { whole: view_text(&front, &options), ..WindowPromptView::default() }
        });
        if !behind.is_empty() {
            sight.behind = behind.join("\n");
        }
        sight.notices.clone_from(&view.notices);
        if let Some(picture) = &view.picture {
            let same = self.picture.as_ref().filter(|shown| shown.sha256 == picture.sha256);
            match same.filter(|_| !picture_wanted && sight.whole_step.is_some()) {
                Some(shown) => sight.picture_step = Some(shown.step),
                None => {
                    self.picture = Some(ShownPicture { step, sha256: picture.sha256.clone() });
                    sight.picture = Some(picture.clone());
                }
            }
        }
        sight
    }

    /// The view as changes; `None` if a full listing is better.
    fn since_base(
        &self,
        view: &WindowView,
        step: u32,
        options: &ViewListOptions,
        config: &ViewConfig,
    ) -> Option<WindowPromptView> {
        let id = view.surfaces.first().map(|surface| surface.window.id);
        let of_window = |base: &&Base| base.view.surfaces.first().map(|surface| surface.window.id) == id;
        let base = self.bases.iter().find(of_window).filter(|_| config.changes)?;
        if step.saturating_sub(base.step) > Self::STEPS_MAX {
            return None;
        }
        let changes = changes_text(&base.view, view, options);
        let whole = view_text(&base.view, options);
        // The changes are more than half of it: the old listing would only confuse.
        if tokens(&changes).saturating_mul(2) > tokens(&view_text(view, options)) {
            return None;
        }
        Some(WindowPromptView { whole, whole_step: Some(base.step), changes, ..WindowPromptView::default() })
    }
}

/// The text of a window's second view, given that the prompt still has the first: the changes, or a full listing if that
/// is better.
pub fn later_view_text(first: &WindowView, later: &WindowView, config: &ViewConfig) -> String {
    let mut shown = PromptViewHistory::default();
    shown.see(first, 1, Vec::new(), config, /*picture_wanted*/ false);
    let sight = shown.see(later, 2, Vec::new(), config, /*picture_wanted*/ false);
    let news = if sight.whole_step.is_some() { sight.changes } else { sight.whole };
    [news, sight.behind].join("\n").trim().to_owned()
}

/// Splits a view into what is in front of a modal dialog, and a line for each window that the dialog blocks.
fn in_front(view: &WindowView) -> (WindowView, Vec<String>) {
    let (behind, front) = split_at_dialog(view);
    let line = |surface: &Surface| {
        let id = surface.window.id;
        format!("{id} is blocked by the dialog, which must be handled first; `more` lists its elements")
    };
    let front = WindowView { surfaces: front.to_vec(), picture: None, notices: Vec::new() };
    (front, behind.iter().map(line).collect())
}
