//! Whether an application handles input while its window is read.

use std::{
    sync::atomic::{AtomicBool, Ordering},
    time::{Duration, Instant},
};

use deskhand_desktop::{Button, IdleWait as _, InputInjection as _, QuietLimits, TreeLimits, UiTree as _};
use deskhand_ui::geometry::{Point, Screen};
use serde_json::{Value, json};

use crate::{Failure, median, stage::Stage};

/// The number of inputs.
const INPUTS: usize = 11;
/// The timeout for handling an input.
const BOUND: Duration = Duration::from_secs(20);

/// Repeatedly reads the whole window from scratch while clicking a button or pressing a key; measures the duration of reads
/// and of input handling.
pub(crate) async fn measure(stage: &Stage, key: &str) -> Result<Value, Failure> {
    let (desktop, window) = (&stage.desktop, stage.window.id);
    let limits = TreeLimits::default();
    let tree = desktop.tree(window, limits).await?;
    let count = tree.elements.iter().find(|element| element.name == "Count").and_then(|one| one.bounds);
    let button = stage.fixture.as_ref().and(count).map(|bounds| bounds.center());
    let done = AtomicBool::new(false);
    let reading = async {
        let mut readings = Vec::new();
        while !done.load(Ordering::Relaxed) {
            let begun = Instant::now();
            desktop.fresh_tree(window, limits).await?;
            readings.push(begun.elapsed().as_secs_f64() * 1e3);
        }
        Ok::<_, Failure>(readings)
    };
    let sending = async {
        let mut handled = Vec::new();
        let mut result = Ok(());
        for _ in 0..INPUTS {
            match input(stage, button, key).await {
                Ok(ms) => handled.push(ms),
                Err(error) => {
                    result = Err(error);
                    break;
                }
            }
        }
        done.store(true, Ordering::Relaxed);
        result.map(|()| handled)
    };
    let (readings, handled) = tokio::join!(reading, sending);
    let (readings, handled) = (readings?, handled?);
    let most = |all: &[f64]| all.iter().copied().fold(0.0, f64::max);
    let (longest, slowest) = (most(&readings), most(&handled));
    Ok(json!({
        "observed_ms": median(readings),
        "observed_max_ms": longest,
        "input_ms": median(handled),
        "input_max_ms": slowest,
        "inputs": INPUTS,
    }))
}

/// Sends one input and waits until it is handled; returns milliseconds.
async fn input(stage: &Stage, button: Option<Point<Screen>>, key: &str) -> Result<f64, Failure> {
    let desktop = &stage.desktop;
    if let (Some(fixture), Some(at)) = (&stage.fixture, button) {
        let (mark, begun) = (fixture.mark(), Instant::now());
        desktop.click(at, Button::Left, 1).await?;
        fixture.happens(mark, |entry| entry.event == "clicked").await?;
        return Ok(begun.elapsed().as_secs_f64() * 1e3);
    }
    let watch = desktop.watch(Some(stage.window.id)).await?;
    let begun = Instant::now();
    desktop.press(&key.parse()?).await?;
    let limits = QuietLimits { quiet: Duration::from_millis(1), first_change: BOUND, bound: BOUND };
    let settled = desktop.settle(watch, limits).await?;
    if settled.changes.is_empty() && !settled.damaged {
        return Err("a key press changed nothing".into());
    }
    Ok(begun.elapsed().as_secs_f64() * 1e3)
}
