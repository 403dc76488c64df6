//! Token cost of views, as counted by `deskhand_ui::text::tokens`: in full and as diffs.

use std::time::Duration;

use deskhand_desktop::{InputInjection as _, TreeLimits, UiTree as _, WindowManagement as _};
use deskhand_desktop_act as act;
use deskhand_desktop_act::ActLimits;
use deskhand_machine::{
    prompt::{ViewListOptions, view_text},
    session::{ViewConfig, later_view_text},
};
use deskhand_ui::{Surface, WindowView, text::tokens};
use serde_json::{Value, json};

use crate::{Failure, stage::Stage};

/// Observes the window with its dialogs and pop-ups.
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

/// Records the cost of full views and of the diff between them.
fn keep(result: &mut Value, name: &str, first: &WindowView, later: &WindowView) {
    let whole = |view: &WindowView| tokens(&view_text(view, &ViewListOptions::default()));
    let (full, diff) = (whole(later), tokens(&later_view_text(first, later, &ViewConfig::default())));
    let tokens = &mut result["tokens"];
    tokens[format!("{name}_first")] = json!(whole(first));
    tokens[format!("{name}_full")] = json!(full);
    tokens[format!("{name}_diff")] = json!(diff);
    tokens[format!("{name}_full_to_diff")] = json!(ratio(full, diff));
}

/// One edited cell.
pub(crate) async fn calc(stage: &Stage, result: &mut Value) -> Result<(), Failure> {
    let first = view(stage).await?;
    stage.desktop.type_text("1234\n").await?;
    stage.settle(Duration::from_millis(400)).await?;
    keep(result, "calc", &first, &view(stage).await?);
    Ok(())
}

/// One opened dialog.
pub(crate) async fn writer(stage: &Stage, result: &mut Value) -> Result<(), Failure> {
    let first = view(stage).await?;
    let path = ["Tools", "Word Count…"].map(str::to_owned);
    let done = act::visit(&stage.desktop, stage.window.id, &path, &ActLimits::default()).await?;
    if done.window.is_none() {
        return Err(done.summary().into());
    }
    stage.settle(Duration::from_millis(700)).await?;
    keep(result, "writer", &first, &view(stage).await?);
    Ok(())
}

fn ratio(full: usize, diff: usize) -> f64 {
    let number = |count: usize| f64::from(u32::try_from(count).unwrap_or(u32::MAX));
    number(full) / number(diff.max(1))
}
