//! The tree of one window: from the mirror, by a bulk read, and by naive walks in Rust and Python.

use std::{
    path::Path,
    process::Stdio,
    time::{Duration, Instant},
};

use deskhand_desktop::{
    Button, IdleWait as _, InputInjection as _, QuietLimits, TreeLimits, UiTree as _, WindowManagement as _,
};
use deskhand_ui::{Tree, geometry::Point};
use serde_json::{Value, json};
use tokio::process::Command;

use crate::{Failure, median, stage::Stage};

/// The number of repetitions.
const LOOKS: usize = 41;
const WALKS: usize = 5;
const CLICKS: usize = 21;
/// The timeout of the Python walk.
const PYTHON_BOUND: Duration = Duration::from_secs(120);

fn ms(since: Instant) -> f64 {
    since.elapsed().as_secs_f64() * 1e3
}

pub(crate) async fn measure(stage: &Stage, python: &Path) -> Result<Value, Failure> {
    let (desktop, window) = (&stage.desktop, stage.window.id);
    let limits = TreeLimits::default();
    let begun = Instant::now();
    let first = desktop.tree(window, limits).await?;
    let first_ms = ms(begun);
    let slowest_answer = slowest_answer(stage, &first).await?;
    let mut seeds = Vec::new();
    let mut naives = Vec::new();
    let mut visited = 0;
    for _ in 0..WALKS {
        let begun = Instant::now();
        desktop.fresh_tree(window, limits).await?;
        seeds.push(ms(begun));
        let begun = Instant::now();
        visited = desktop.naive_walk(window, limits.children_max).await?;
        naives.push(ms(begun));
    }
    let mut looks = Vec::new();
    for _ in 0..LOOKS {
        let begun = Instant::now();
        desktop.tree(window, limits).await?;
        looks.push(ms(begun));
    }
    let (mirror_ms, seed_ms, naive_ms) = (median(looks), median(seeds), median(naives));
    let differences = desktop.verify_tree(window, limits).await?;
    let python = in_python(stage, python).await;
    let mut figures = json!({
        "first_ms": first_ms,
        "mirror_ms": mirror_ms,
        "seed_ms": seed_ms,
        "naive_ms": naive_ms,
        "nodes": first.elements.len(),
        "partial": first.partial,
        "naive_nodes": visited,
        "naive_to_mirror": naive_ms / mirror_ms,
        "slowest_answer_ms": slowest_answer,
        "differences": differences.len(),
        "differing": differences,
    });
    match python {
        Ok((ms, nodes)) => {
            figures["pyatspi_ms"] = json!(ms);
            figures["pyatspi_nodes"] = json!(nodes);
            figures["pyatspi_to_mirror"] = json!(ms / mirror_ms);
        }
        Err(error) => {
            figures["pyatspi_ms"] = Value::Null;
            figures["pyatspi_missing"] = json!(error.to_string());
        }
    }
    Ok(figures)
}

/// Reads the whole tree repeatedly while sending other requests to the application; the slowest response, in
/// milliseconds, shows whether the application was blocked.
async fn slowest_answer(stage: &Stage, tree: &Tree) -> Result<f64, Failure> {
    let desktop = &stage.desktop;
    let root = tree.elements.first().map(|element| element.id).ok_or("the window has no elements")?;
    let looking = desktop.fresh_tree(stage.window.id, TreeLimits::default());
    tokio::pin!(looking);
    let mut slowest: f64 = 0.0;
    loop {
        let asking = async {
            let begun = Instant::now();
            let _ = desktop.element(root).await;
            ms(begun)
        };
        tokio::select! {
            biased;
            tree = &mut looking => { tree?; return Ok(slowest); }
            answer = asking => slowest = slowest.max(answer),
        }
    }
}

/// The same walk with pyatspi; returns milliseconds and objects of the second run.
async fn in_python(stage: &Stage, script: &Path) -> Result<(f64, u64), Failure> {
    // A page changes its window title while loading.
    let windows = stage.desktop.windows().await?;
    let title = windows.into_iter().find(|window| window.id == stage.window.id).map(|window| window.title);
    let mut command = Command::new("/usr/bin/python3");
    command.arg(script).arg(title.unwrap_or_default()).env_clear().kill_on_drop(true);
    command.envs(stage.desktop.environment().variables()).stdin(Stdio::null());
    let output = tokio::time::timeout(PYTHON_BOUND, command.output()).await??;
    let printed: Value = serde_json::from_slice(&output.stdout).map_err(|_| {
        let stderr = String::from_utf8_lossy(&output.stderr);
        stderr.lines().last().unwrap_or("no output").to_owned()
    })?;
    let ms = printed["ms"].as_f64().ok_or("no time")?;
    Ok((ms, printed["nodes"].as_u64().unwrap_or_default()))
}

/// How long it takes to detect that a click did nothing, on a static window.
pub(crate) async fn idle(stage: &Stage) -> Result<Value, Failure> {
    let desktop = &stage.desktop;
    let bounds = stage.window.bounds;
    // Clicking the margin of a window does nothing.
    let at = Point::new(bounds.right() - 3, bounds.bottom() - 3);
    let mut waits = Vec::new();
    let mut with_changes = 0;
    for _ in 0..CLICKS {
        let watch = desktop.watch(Some(stage.window.id)).await?;
        let begun = Instant::now();
        desktop.click(at, Button::Left, 1).await?;
        let settled = desktop.settle(watch, QuietLimits::default()).await?;
        waits.push(ms(begun));
        with_changes += usize::from(!settled.changes.is_empty());
    }
    waits.sort_by(f64::total_cmp);
    Ok(json!({
        "noop_p50_ms": median(waits.clone()),
        "noop_max_ms": waits.last(),
        "clicks": CLICKS,
        "with_changes": with_changes,
    }))
}
