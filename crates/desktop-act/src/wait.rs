//! Waiting until something happens and is over, with a bound.

use std::time::Duration;

use deskhand_core::{
    command::Verdict,
    ids::{ElementId, WindowId},
};
use deskhand_desktop::{Aspect, Change, Desktop, DesktopResult, QuietLimits, Settled};

use crate::{
    effect::{milliseconds, watch_app},
    report::{ActionReport, Route},
};

/// How long nothing must happen before what happened counts as over.
const QUIET: Duration = Duration::from_millis(400);
/// The most changes that are told.
const TOLD_MAX: usize = 6;

/// Waits until something happens in the application of `window` and is over, at most `bound`, and tells what it was.
///
/// # Errors
/// [`deskhand_desktop::DesktopError::NoWindow`] if the window is gone, or another error of the desktop.
pub async fn wait<D: Desktop>(desktop: &D, window: WindowId, bound: Duration) -> DesktopResult<ActionReport> {
    let watch = watch_app(desktop, window).await?;
    let limits = QuietLimits { quiet: QUIET.min(bound), first_change: bound, bound };
    let settled = desktop.settle(watch, limits).await?;
    let summary = told(&settled, milliseconds(bound));
    let report = ActionReport::new(Verdict::Seen, Route::None, summary);
    Ok(ActionReport { settled_ms: settled.waited_ms, changes: settled.changes, ..report })
}

fn told(settled: &Settled, bound_ms: u64) -> String {
    let mut news: Vec<String> = Vec::new();
    let mut elements: Vec<Option<ElementId>> = Vec::new();
    for change in &settled.changes {
        match change {
            Change::WindowOpened { title } => news.push(format!("\"{title}\" opened")),
            Change::WindowClosed { title } => news.push(format!("\"{title}\" closed")),
            Change::TitleChanged { title } => news.push(format!("the title became \"{title}\"")),
            Change::Element { aspect: Aspect::Focus, element: Some(id) } => {
                news.push(format!("the focus went to {id}"));
            }
            Change::Element { aspect: Aspect::Focus, element: None } => {}
            Change::Element { element, .. } if !elements.contains(element) => elements.push(*element),
            Change::Element { .. } => {}
        }
    }
    let more = news.len().saturating_sub(TOLD_MAX);
    news.truncate(TOLD_MAX);
    if more > 0 {
        news.push(format!("{more} more changes of windows and focus"));
    }
    match elements.as_slice() {
        [] if settled.damaged && news.is_empty() => news.push("it was drawn".to_owned()),
        [] => {}
        [Some(one)] => news.push(format!("{one} changed")),
        many => news.push(format!("{} elements changed", many.len())),
    }
    let spent = settled.waited_ms;
    if news.is_empty() {
        return format!("nothing happened within {bound_ms} ms");
    }
    let how = if settled.timed_out { "it still goes on" } else { "it is quiet now" };
    format!("{} within {spent} ms; {how}", news.join(", "))
}
