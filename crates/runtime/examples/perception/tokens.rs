//! What a view costs a model, by the rule of `deskhand_core::text::tokens`: whole, and as what changed.

use std::time::Duration;

use deskhand_core::{
    observation::{Surface, WindowView},
    prompt::{ListOptions, changes_text, view_text},
    text::tokens,
};
use deskhand_desktop::{Input as _, TreeLimits, UiTree as _, Windowing as _};
use serde_json::{Value, json};

use crate::{Failure, stage::Stage};

/// The longest wait for a dialog.
const DIALOG_BOUND: Duration = Duration::from_secs(20);

/// The window with its dialogs and pop-ups.
async fn view(stage: &Stage) -> Result<WindowView, Failure> {
    let mut surfaces = Vec::new();
    for window in stage.desktop.windows().await? {
        if window.id == stage.window.id || window.owner == Some(stage.window.id) {
            let tree = stage.desktop.tree(window.id, TreeLimits::default()).await?;
            surfaces.push(Surface { window, tree });
        }
    }
    surfaces.sort_by_key(|surface| surface.window.id != stage.window.id);
    Ok(WindowView { surfaces, picture: None, notices: Vec::new() })
}

fn full(view: &WindowView) -> usize {
    tokens(&view_text(view, &ListOptions::default()))
}

fn changed(old: &WindowView, new: &WindowView) -> usize {
    tokens(&changes_text(old, new, &ListOptions::default()))
}

/// One edited cell.
pub(crate) async fn calc(stage: &Stage, result: &mut Value) -> Result<(), Failure> {
    let first = view(stage).await?;
    stage.desktop.type_text("1234\n").await?;
    stage.settle(Duration::from_millis(400)).await?;
    let later = view(stage).await?;
    let (full_later, diff) = (full(&later), changed(&first, &later));
    let tokens = &mut result["tokens"];
    tokens["calc_first"] = json!(full(&first));
    tokens["calc_full"] = json!(full_later);
    tokens["calc_diff"] = json!(diff);
    tokens["calc_full_to_diff"] = json!(ratio(full_later, diff));
    Ok(())
}

/// One opened dialog.
pub(crate) async fn writer(stage: &Stage, result: &mut Value) -> Result<(), Failure> {
    let first = view(stage).await?;
    let mut windows = stage.desktop.windows().await?;
    stage.desktop.press(&"ctrl+shift+s".parse()?).await?;
    let begun = std::time::Instant::now();
    while !windows.iter().any(|window| window.owner == Some(stage.window.id)) {
        if begun.elapsed() > DIALOG_BOUND {
            return Err("no dialog opened".into());
        }
        windows = stage.desktop.windows_changed(&windows, Duration::from_secs(1)).await?;
    }
    stage.settle(Duration::from_millis(700)).await?;
    let later = view(stage).await?;
    let (full_later, diff) = (full(&later), changed(&first, &later));
    let tokens = &mut result["tokens"];
    tokens["writer_first"] = json!(full(&first));
    tokens["writer_full"] = json!(full_later);
    tokens["writer_diff"] = json!(diff);
    tokens["writer_full_to_diff"] = json!(ratio(full_later, diff));
    Ok(())
}

fn ratio(full: usize, diff: usize) -> f64 {
    let number = |count: usize| f64::from(u32::try_from(count).unwrap_or(u32::MAX));
    number(full) / number(diff.max(1))
}
