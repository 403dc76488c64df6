//! Scrolls by the wheel, and scrolls an element into view.

use deskhand_core::{
    command::Verdict,
    geometry::{Point, Rect, Screen},
    ids::{ElementId, WindowId},
    ui::{Element, State, WindowInfo},
};
use deskhand_desktop::{Desktop, DesktopError, DesktopResult, ElementAction};

use crate::{
    effect::watch_app,
    patience::{read_element, read_tree},
    report::{ActLimits, ActionReport, Halt, Route, Target, report},
    verdict::{Need, bring_to_front, check, surfaces},
};

/// The most notches per call.
const NOTCHES_MAX: i32 = 100;

/// How far to scroll, in notches of the wheel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Scroll {
    /// To the right; negative is left.
    pub right: i32,
    /// Down; negative is up.
    pub down: i32,
}

/// Scrolls over an element or a point. `seen` if elements moved, appeared or disappeared.
///
/// # Errors
/// [`deskhand_desktop::DesktopError::NoWindow`] if the window is gone, or another error of the desktop.
pub async fn scroll<D: Desktop>(
    desktop: &D,
    window: WindowId,
    target: &Target,
    by: Scroll,
    limits: &ActLimits,
) -> DesktopResult<ActionReport> {
    report(scroll_and_check(desktop, window, target, by, limits).await)
}

async fn scroll_and_check<D: Desktop>(
    desktop: &D,
    window: WindowId,
    target: &Target,
    by: Scroll,
    limits: &ActLimits,
) -> Result<ActionReport, Halt> {
    if (by.right, by.down) == (0, 0) || by.right.abs() > NOTCHES_MAX || by.down.abs() > NOTCHES_MAX {
        return Err(Halt::Refused(format!("scroll by 1 to {NOTCHES_MAX} notches to one side")));
    }
    let (surface, point, within) = match target {
        Target::Element { id, name } => {
            let ready = check(desktop, window, *id, name.as_deref(), Need::Act).await?;
            let point = ready.point.unwrap_or_else(|| ready.surface.bounds.center());
            (ready.surface, point, Some(*id))
        }
        Target::Point(point) => (surface_at(desktop, window, *point).await?, *point, None),
    };
    bring_to_front(desktop, surface.id).await?;
    let before = places(desktop, &surface, within).await?;
    let watch = watch_app(desktop, surface.id).await?;
    desktop.scroll(point, by.right, by.down).await?;
    let settled = desktop.settle(watch, limits.quiet).await?;
    let after = places(desktop, &surface, within).await?;
    let moved = before != after;
    let (effect, summary) = match (moved, settled.damaged) {
        (true, _) => (Verdict::Seen, "scrolled: elements moved"),
        (false, true) => (Verdict::Unknown, "pixels changed, and no element moved"),
        (false, false) => (Verdict::NotSeen, "nothing moved; it may be at its end"),
    };
    Ok(ActionReport {
        changes: settled.changes,
        settled_ms: settled.waited_ms,
        ..ActionReport::new(effect, Route::Input, summary)
    })
}

/// Scrolls an element into view, and reads back that it is inside its window.
///
/// # Errors
/// [`deskhand_desktop::DesktopError::NoWindow`] if the window is gone, or another error of the desktop.
pub async fn scroll_into_view<D: Desktop>(
    desktop: &D,
    window: WindowId,
    (id, name): (ElementId, Option<&str>),
    limits: &ActLimits,
) -> DesktopResult<ActionReport> {
    report(bring_into_view(desktop, window, (id, name), limits).await)
}

async fn bring_into_view<D: Desktop>(
    desktop: &D,
    window: WindowId,
    (id, name): (ElementId, Option<&str>),
    limits: &ActLimits,
) -> Result<ActionReport, Halt> {
    let ready = check(desktop, window, id, name, Need::Read).await?;
    let label = ready.element.label();
    let in_view = |element: &Element| {
        let inside = |bounds: Rect<Screen>| ready.surface.bounds.contains(&bounds.center());
        element.states.has(State::Showing) && element.bounds.is_some_and(inside)
    };
    if in_view(&ready.element) {
        return Ok(ActionReport::new(Verdict::Seen, Route::None, format!("{label} is in view already")));
    }
    let watch = watch_app(desktop, ready.surface.id).await?;
    match desktop.perform(id, &ElementAction::ScrollIntoView).await {
        Ok(()) | Err(DesktopError::NotAnswering { .. }) => {}
        Err(DesktopError::NotOffered { .. } | DesktopError::Failed { .. }) => {
            return Err(Halt::Refused(format!("{label} cannot be scrolled to; turn the wheel instead")));
        }
        Err(error) => return Err(error.into()),
    }
    let settled = desktop.settle(watch, limits.quiet).await?;
    let (effect, summary) = if in_view(&read_element(desktop, id).await?) {
        (Verdict::Seen, format!("{label} is in view"))
    } else {
        (Verdict::NotSeen, format!("{label} did not come into view; turn the wheel instead"))
    };
    Ok(ActionReport { settled_ms: settled.waited_ms, ..ActionReport::new(effect, Route::Semantic, summary) })
}

async fn surface_at<D: Desktop>(
    desktop: &D,
    window: WindowId,
    point: Point<Screen>,
) -> Result<WindowInfo, Halt> {
    let all = surfaces(desktop, window).await?;
    all.into_iter()
        .rev()
        .find(|surface| surface.bounds.contains(&point))
        .ok_or_else(|| Halt::Refused(format!("({}, {}) lies outside of {window}", point.x, point.y)))
}

type Places = Vec<(ElementId, String, Option<Rect<Screen>>)>;

/// The bounds of the elements in `within`, or in the whole window.
async fn places<D: Desktop>(
    desktop: &D,
    surface: &WindowInfo,
    within: Option<ElementId>,
) -> DesktopResult<Places> {
    let tree = read_tree(desktop, surface.id).await?;
    let place = |element: &Element| (element.id, element.name.clone(), element.bounds);
    let inside: Places = within.map(|id| tree.descendants(id).map(place).collect()).unwrap_or_default();
    // An element without descendants is scrolled by the window around it.
    Ok(if inside.is_empty() { tree.elements.iter().map(place).collect() } else { inside })
}
