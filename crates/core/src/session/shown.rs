//! What an AppAgent was shown of its window, and so what need not be shown again.
//!
//! The first look of a sub-task is shown whole and stays in the prompt as it was, so that providers can keep what they
//! read of it; later looks add what changed since. When that grows, or the agent no longer remembers the step of the
//! first look, the window is shown whole again. Pictures are shown when they changed or are asked for.

use serde::{Deserialize, Serialize};

use super::config::ViewConfig;
use crate::{
    observation::{Surface, WindowView},
    prompt::{ListOptions, Sight, changes_text, split_at_dialog, view_text},
    text::tokens,
};

/// The view that stands whole in an agent's prompts, and the picture that it saw last.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(super) struct Shown {
    /// One for each window that was in front; the one that was used last comes last.
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

impl Shown {
    /// After how many steps a window is shown whole again: as many as an agent is told of its own.
    const STEPS_MAX: u32 = 8;
    /// The most windows in front whose first looks are kept.
    const BASES_MAX: usize = 3;

    /// What to show of `view` at `step`.
    pub(super) fn see(
        &mut self,
        view: &WindowView,
        step: u32,
        words: Vec<String>,
        config: &ViewConfig,
        picture_wanted: bool,
    ) -> Sight {
        let options = ListOptions { tokens_max: config.tokens_max, words };
        let (front, behind) = in_front(view);
        let mut sight = self.since_base(&front, step, &options, config).unwrap_or_else(|| {
            let id = front.surfaces.first().map(|surface| surface.window.id);
            self.bases.retain(|base| base.view.surfaces.first().map(|surface| surface.window.id) != id);
            if self.bases.len() >= Self::BASES_MAX {
                self.bases.remove(0);
            }
            self.bases.push(Base { step, view: front.clone() });
            Sight { whole: view_text(&front, &options), ..Sight::default() }
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

    /// The view as changes; none where it is better shown whole.
    fn since_base(
        &self,
        view: &WindowView,
        step: u32,
        options: &ListOptions,
        config: &ViewConfig,
    ) -> Option<Sight> {
        let id = view.surfaces.first().map(|surface| surface.window.id);
        let of_window = |base: &&Base| base.view.surfaces.first().map(|surface| surface.window.id) == id;
        let base = self.bases.iter().find(of_window).filter(|_| config.changes)?;
        if step.saturating_sub(base.step) > Self::STEPS_MAX {
            return None;
        }
        let changes = changes_text(&base.view, view, options);
        let whole = view_text(&base.view, options);
        // More than half of it is new: the old half only confuses.
        if tokens(&changes).saturating_mul(2) > tokens(&view_text(view, options)) {
            return None;
        }
        Some(Sight { whole, whole_step: Some(base.step), changes, ..Sight::default() })
    }
}

/// What an agent is told of a window at its second look, beside its first look, which stays in its prompt as it was: what
/// changed, or all that is in front where that is better.
pub fn told_later(first: &WindowView, later: &WindowView, config: &ViewConfig) -> String {
    let mut shown = Shown::default();
    shown.see(first, 1, Vec::new(), config, /*picture_wanted*/ false);
    let sight = shown.see(later, 2, Vec::new(), config, /*picture_wanted*/ false);
    let news = if sight.whole_step.is_some() { sight.changes } else { sight.whole };
    [news, sight.behind].join("\n").trim().to_owned()
}

/// What can be acted on: what lies in front of everything that a modal dialog blocks. And a line for each window
/// that it blocks.
fn in_front(view: &WindowView) -> (WindowView, Vec<String>) {
    let (behind, front) = split_at_dialog(view);
    let line = |surface: &Surface| {
        let id = surface.window.id;
        format!("{id} lies behind the dialog, which must be answered first; `more` lists what is in it")
    };
    let front = WindowView { surfaces: front.to_vec(), picture: None, notices: Vec::new() };
    (front, behind.iter().map(line).collect())
}
