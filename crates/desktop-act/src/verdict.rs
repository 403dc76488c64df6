//! The checks before an action: attached, showing, enabled, at rest, not covered, nothing modal in front.

use deskhand_core::{
    geometry::{Point, Rect, Screen},
    ids::{ElementId, WindowId},
    ui::{self, Element, Partial, Role, Source, State, WindowInfo, WindowKind, belongs_to},
};
use deskhand_desktop::{Desktop, DesktopError, DesktopResult, ElementAction, QuietLimits, TreeLimits};

use crate::{
    effect::milliseconds,
    find::{names_equal, nearest},
    patience::{patiently, read_element},
    report::Halt,
};

/// How often the place of an element is read until two reads agree.
const STABLE_READS_MAX: usize = 6;

/// Reads nothing but the root of a window.
const ROOT_ONLY: TreeLimits =
    TreeLimits { nodes_max: 1, children_max: 1, deadline: std::time::Duration::from_secs(2) };

/// An element that may be acted on.
#[derive(Debug, Clone)]
pub(crate) struct Ready {
    /// The window, dialog or pop-up that it lies in.
    pub(crate) surface: WindowInfo,
    /// The element, as it is now.
    pub(crate) element: Element,
    /// Where a click reaches it; none where it can be acted on by the semantic route only.
    pub(crate) point: Option<Point<Screen>>,
}

/// What an action needs of its target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Need {
    /// It will be acted on.
    Act,
    /// It will only be read or scrolled to; it may be disabled or out of sight.
    Read,
}

/// A window with the dialogs and pop-ups that belong to it, bottom-most first.
pub(crate) async fn surfaces<D: Desktop>(desktop: &D, window: WindowId) -> DesktopResult<Vec<WindowInfo>> {
    let windows = desktop.windows().await?;
    let own = ui::surfaces(&windows, window).ok_or(DesktopError::NoWindow(window))?;
    Ok(own.into_iter().cloned().collect())
}

/// Checks an element; waits for it to come to rest, and scrolls it into view.
pub(crate) async fn check<D: Desktop>(
    desktop: &D,
    window: WindowId,
    id: ElementId,
    name: Option<&str>,
    need: Need,
) -> Result<Ready, Halt> {
    let surfaces = surfaces(desktop, window).await?;
    let element = match read_element(desktop, id).await {
        Ok(element) => element,
        Err(DesktopError::NoElement(_)) => {
            let near = nearest(desktop, window, name.unwrap_or_default(), None).await?;
            return Err(Halt::Refused(format!("{id} does not exist any more{near}")));
        }
        Err(error) => return Err(error.into()),
    };
    if let Some(name) = name.filter(|name| !names_equal(name, &element.name)) {
        let near = nearest(desktop, window, name, Some(&element.role)).await?;
        return Err(Halt::Refused(format!("{id} is {} and not \"{name}\"{near}", element.label())));
    }
    let surface = surface_of(desktop, &surfaces, id).await?;
    let Some(surface) = surface else {
        return Err(Halt::Refused(format!(
            "{} ({id}) does not lie in {window} or its dialogs",
            element.label()
        )));
    };
    if need == Need::Read {
        let point = element.bounds.map(|bounds| bounds.center());
        return Ok(Ready { surface, element, point });
    }
    if let Some(dialog) = modal_in_front(desktop, &surfaces, &surface).await? {
        return Err(Halt::Refused(format!(
            "the dialog {} is in front of {} and must be answered first",
            dialog.label(),
            surface.label()
        )));
    }
    let element = at_rest(desktop, element).await?;
    if !element.states.takes_input() {
        return Err(Halt::Refused(format!("{} ({id}) is disabled", element.label())));
    }
    let Some(bounds) =
        element.bounds.filter(|bounds| !bounds.is_empty() && element.states.has(State::Showing))
    else {
        return Err(Halt::Refused(format!("{} ({id}) is not on the screen", element.label())));
    };
    let point = uncovered(desktop, &surface, &element, bounds).await?;
    Ok(Ready { surface, element, point: Some(point) })
}

/// The top-most of `surfaces` that an element lies in.
pub(crate) async fn surface_of<D: Desktop>(
    desktop: &D,
    surfaces: &[WindowInfo],
    id: ElementId,
) -> DesktopResult<Option<WindowInfo>> {
    for surface in surfaces.iter().rev() {
        let Some(root) = root_of(desktop, surface).await? else { continue };
        match patiently(|| desktop.is_within(id, root.id)).await {
            Ok(true) => return Ok(Some(surface.clone())),
            Ok(false) | Err(DesktopError::NoElement(_)) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(None)
}

/// The root element of a window, where its application shows it.
pub(crate) async fn root_of<D: Desktop>(desktop: &D, window: &WindowInfo) -> DesktopResult<Option<Element>> {
    const OPERATION: &str = "read the root of a window";
    let read = patiently(|| async {
        let tree = desktop.tree(window.id, ROOT_ONLY).await?;
        match (tree.elements.into_iter().next(), tree.partial) {
            (None, Some(Partial::Deadline | Partial::NotAnswering)) => Err(DesktopError::NotAnswering {
                operation: OPERATION,
                application: window.app.name.clone(),
                limit_ms: milliseconds(ROOT_ONLY.deadline),
            }),
            (root, _) => Ok(root),
        }
    });
    match read.await {
        Err(DesktopError::NoWindow(_)) => Ok(None),
        other => other,
    }
}

/// The modal dialog that stands between a person and `surface`.
pub(crate) async fn modal_in_front<D: Desktop>(
    desktop: &D,
    surfaces: &[WindowInfo],
    surface: &WindowInfo,
) -> DesktopResult<Option<WindowInfo>> {
    for dialog in surfaces.iter().rev() {
        if dialog.id == surface.id {
            break;
        }
        // A wizard may call itself a normal window; that it is modal and has an owner decides.
        if dialog.kind == WindowKind::Popup || surface.owner == Some(dialog.id) {
            continue;
        }
        let root = root_of(desktop, dialog).await?;
        if root.is_some_and(|root| root.states.has(State::Modal)) {
            return Ok(Some(dialog.clone()));
        }
    }
    Ok(None)
}

/// Reads an element until two reads find it at the same place.
async fn at_rest<D: Desktop>(desktop: &D, first: Element) -> Result<Element, Halt> {
    let mut before = first;
    for attempt in 0..STABLE_READS_MAX {
        let watch = desktop.watch(None).await?;
        if before.bounds.is_none() && attempt == 0 {
            // Out of sight: toolkits that can scroll it there do, and the others say no.
            let _: DesktopResult<()> = desktop.perform(before.id, &ElementAction::ScrollIntoView).await;
        }
        let now = read_element(desktop, before.id).await?;
        if now.bounds == before.bounds && (now.bounds.is_some() || attempt > 0) {
            return Ok(now);
        }
        desktop.settle(watch, QuietLimits::default()).await?;
        before = now;
    }
    Err(Halt::Refused(format!("{} ({}) does not come to rest", before.label(), before.id)))
}

/// A point of an element that nothing lies over.
async fn uncovered<D: Desktop>(
    desktop: &D,
    surface: &WindowInfo,
    element: &Element,
    bounds: Rect<Screen>,
) -> Result<Point<Screen>, Halt> {
    let windows = desktop.windows().await?;
    if let Some(coverer) = window_over(&windows, surface, element, bounds.center()) {
        // A person would bring the window to the front first.
        let own = belongs_to(&windows, &coverer, surface);
        if own {
            return Err(covered(element, &coverer.label()));
        }
        desktop.activate(surface.id).await?;
        let windows = desktop.windows().await?;
        if let Some(coverer) = window_over(&windows, surface, element, bounds.center()) {
            return Err(covered(element, &coverer.label()));
        }
    }
    let above = windows.iter().skip_while(|info| info.id != surface.id).skip(1);
    let in_popup = above
        .filter(|info| info.kind == WindowKind::Popup)
        .any(|info| info.bounds.contains(&bounds.center()));
    if in_popup {
        // The window knows nothing of what its pop-up shows at this place.
        return Ok(bounds.center());
    }
    if element.source != Source::AtSpi {
        return still_drawn(desktop, surface, element, bounds).await;
    }
    let mut coverer = None;
    for point in probes(bounds) {
        match patiently(|| desktop.element_at(surface.id, point)).await? {
            None => return Ok(point),
            Some(found) if is_same_place(desktop, &found, element).await? => return Ok(point),
            Some(found) => coverer = Some(found),
        }
    }
    Err(covered(element, &coverer.map_or_else(|| "something".to_owned(), |found| found.label())))
}

/// The middle of something that was found in a picture, where it is found there once more.
async fn still_drawn<D: Desktop>(
    desktop: &D,
    surface: &WindowInfo,
    element: &Element,
    bounds: Rect<Screen>,
) -> Result<Point<Screen>, Halt> {
    let center = bounds.center();
    match desktop.element_at(surface.id, center).await? {
        Some(found) if found.id == element.id => Ok(center),
        Some(found) if found.source != Source::AtSpi => Err(covered(element, &found.label())),
        Some(_) | None => {
            let (label, id) = (element.label(), element.id);
            Err(Halt::Refused(format!("{label} ({id}) is not drawn at its place any more; look again")))
        }
    }
}

fn covered(element: &Element, by: &str) -> Halt {
    Halt::Refused(format!("{} ({}) is covered by {by}", element.label(), element.id))
}

/// The middle first, then the quarters.
fn probes(bounds: Rect<Screen>) -> [Point<Screen>; 3] {
    let center = bounds.center();
    [
        center,
        Point::new(bounds.x + bounds.width / 4, bounds.y + bounds.height / 4),
        Point::new(bounds.x + bounds.width * 3 / 4, bounds.y + bounds.height * 3 / 4),
    ]
}

/// Whether a click on `found` is a click on `element`: one lies in the other, or they are the same.
async fn is_same_place<D: Desktop>(desktop: &D, found: &Element, element: &Element) -> DesktopResult<bool> {
    // Qt gives the cells of its views other ids from time to time.
    let is_twin = found.role == element.role
        && found.name == element.name
        && found.bounds == element.bounds
        && found.bounds.is_some();
    if found.id == element.id || is_twin {
        return Ok(true);
    }
    let within = |result: DesktopResult<bool>| match result {
        Err(DesktopError::NoElement(_)) => Ok(false),
        other => other,
    };
    Ok(within(patiently(|| desktop.is_within(found.id, element.id)).await)?
        || within(patiently(|| desktop.is_within(element.id, found.id)).await)?)
}

/// The window that lies over a point of `surface`, other than the pop-up that shows the element itself.
fn window_over(
    windows: &[WindowInfo],
    surface: &WindowInfo,
    element: &Element,
    point: Point<Screen>,
) -> Option<WindowInfo> {
    let above = windows.iter().skip_while(|info| info.id != surface.id).skip(1);
    let mut over = above.filter(|info| info.bounds.contains(&point));
    over.find(|info| !(info.kind == WindowKind::Popup && lives_in_popup(element))).cloned()
}

/// Whether such an element is shown by a pop-up of its own, although it belongs to the tree of another window.
fn lives_in_popup(element: &Element) -> bool {
    [
        Role::MENU,
        Role::MENU_ITEM,
        Role::CHECK_MENU_ITEM,
        Role::RADIO_MENU_ITEM,
        Role::LIST_ITEM,
        Role::TREE_ITEM,
        Role::TABLE_CELL,
        Role::POPUP_MENU,
    ]
    .contains(&element.role)
}

/// Gives the window, or the top-most dialog of it, the focus, unless one of them has it.
pub(crate) async fn bring_to_front<D: Desktop>(desktop: &D, window: WindowId) -> Result<WindowInfo, Halt> {
    let surfaces = surfaces(desktop, window).await?;
    let fit = |info: &&WindowInfo| info.kind != WindowKind::Popup;
    if let Some(active) = surfaces.iter().filter(fit).find(|info| info.active) {
        return Ok(active.clone());
    }
    let top = surfaces.iter().rev().find(fit);
    let top = top.ok_or(DesktopError::NoWindow(window))?.clone();
    desktop.activate(top.id).await?;
    Ok(top)
}
