//! Scrolls by the wheel, and scrolls an element into view.

use deskhand_desktop::{CancelScope, Desktop, DesktopError, DesktopResult, ElementAction};
use deskhand_ui::{
    Element, State, WindowInfo,
    action::{
        ActionKind, ActionOutcome, ActionProof, ActionRefusal, ActionRoute, Aim, ArgumentProblem, Evidence,
        Extent, ExtentUnit, Shortfall, Uncertainty, UnsupportedCapability,
    },
    geometry::{Rect, Screen},
    ids::{ElementId, WindowId},
};

use crate::{
    checks::{TargetRequirement, check},
    patience::{read_element, read_tree, watch_app},
    place::surface_at,
    report::{ActLimits, ActionReport, ActionTarget, Halt, cancelled, carry_out},
    surfaces::bring_to_front,
};

/// The most notches per call.
const NOTCHES_MAX: i32 = 100;

/// Distance to scroll, in notches of the wheel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ScrollDistance {
    /// To the right; negative is left.
    pub right: i32,
    /// Down; negative is up.
    pub down: i32,
}

impl ScrollDistance {
    const fn act(self) -> ActionKind {
        ActionKind::Scroll { right: self.right, down: self.down }
    }
}

/// Scrolls over an element or a point. `seen` if elements moved, appeared or disappeared.
///
/// # Errors
/// [`deskhand_desktop::DesktopError::NoWindow`] if the window is gone, or another error of the desktop.
pub async fn scroll<D: Desktop>(
    desktop: &D,
    window: WindowId,
    target: &ActionTarget,
    by: ScrollDistance,
    limits: &ActLimits,
) -> DesktopResult<ActionReport> {
    carry_out(by.act(), scroll_and_check(desktop, window, target, by, limits)).await
}

async fn scroll_and_check<D: Desktop>(
    desktop: &D,
    window: WindowId,
    target: &ActionTarget,
    by: ScrollDistance,
    limits: &ActLimits,
) -> Result<ActionOutcome, Halt> {
    if (by.right, by.down) == (0, 0) || by.right.abs() > NOTCHES_MAX || by.down.abs() > NOTCHES_MAX {
        return Err(ActionRefusal::from(ArgumentProblem::Notches { max: NOTCHES_MAX.unsigned_abs() }).into());
    }
    let (surface, point, within, aim) = match target {
        ActionTarget::Element { id, name } => {
            let ready = check(desktop, window, *id, name.as_deref(), TargetRequirement::Act).await?;
            let point = ready.point.unwrap_or_else(|| ready.surface.bounds.center());
            (ready.surface, point, Some(*id), Aim::element(&ready.element))
        }
        ActionTarget::Point(point) => {
            let surface = surface_at(desktop, window, *point).await?;
            (surface, *point, None, Aim::Point { point: *point, on: None })
        }
    };
    bring_to_front(desktop, surface.id).await?;
    let before = places(desktop, &surface, within).await?;
    let watch = watch_app(desktop, surface.id).await?;
    let begun = CancelScope::current().inputs().notches;
    let scrolled = match desktop.scroll(point, by.right, by.down).await {
        Ok(()) => desktop.settle(watch, limits.quiet).await,
        Err(error) => Err(error),
    };
    let settled = match scrolled {
        Err(DesktopError::Cancelled { .. }) => {
            let done = CancelScope::current().inputs().notches.saturating_sub(begun);
            let total = u64::from(by.right.unsigned_abs().saturating_add(by.down.unsigned_abs()));
            let extent = Extent { unit: ExtentUnit::Notches, done, total, shown: false };
            return Ok(cancelled(by.act(), aim, Some(extent)));
        }
        other => other?,
    };
    let after = places(desktop, &surface, within).await?;
    let moved = before != after;
    let evidence: Evidence = match (moved, settled.damaged) {
        (true, _) => ActionProof::Moved.into(),
        (false, true) => Uncertainty::Pixels { in_picture: false }.into(),
        (false, false) => Shortfall::NothingMoved.into(),
    };
    let action = ActionOutcome::new(by.act(), aim, evidence).by(ActionRoute::Input);
    Ok(action.after(settled.waited_ms).with_changes(settled.changes))
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
    carry_out(ActionKind::ScrollIntoView, bring_into_view(desktop, window, (id, name), limits)).await
}

async fn bring_into_view<D: Desktop>(
    desktop: &D,
    window: WindowId,
    (id, name): (ElementId, Option<&str>),
    limits: &ActLimits,
) -> Result<ActionOutcome, Halt> {
    let ready = check(desktop, window, id, name, TargetRequirement::Read).await?;
    let done =
        |evidence| ActionOutcome::new(ActionKind::ScrollIntoView, Aim::element(&ready.element), evidence);
    let in_view = |element: &Element| {
        let inside = |bounds: Rect<Screen>| ready.surface.bounds.contains(&bounds.center());
        element.states.has(State::Showing) && element.bounds.is_some_and(inside)
    };
    if in_view(&ready.element) {
        return Ok(done(Evidence::from(ActionProof::Holds { already: true })));
    }
    let watch = watch_app(desktop, ready.surface.id).await?;
    match desktop.perform(id, &ElementAction::ScrollIntoView).await {
        Ok(()) | Err(DesktopError::NotAnswering { .. }) => {}
        Err(DesktopError::NotOffered { .. } | DesktopError::Failed { .. }) => {
            let element = (&ready.element).into();
            return Err(
                ActionRefusal::Unsupported { element, what: UnsupportedCapability::ScrollingTo }.into()
            );
        }
        Err(error) => return Err(error.into()),
    }
    let settled = desktop.settle(watch, limits.quiet).await?;
    let evidence = if in_view(&read_element(desktop, id).await?) {
        ActionProof::Holds { already: false }.into()
    } else {
        Shortfall::NotReached { way: None }.into()
    };
    Ok(done(evidence).by(ActionRoute::Semantic).after(settled.waited_ms))
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
