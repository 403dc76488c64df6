//! The checks before an action: attached, showing, enabled, at rest, not covered, nothing modal in front.

use deskhand_desktop::{Desktop, DesktopError, DesktopResult, ElementAction, QuietLimits};
use deskhand_ui::{
    Element, ElementCapability, ElementSource, Role, State, Tree, WindowInfo, WindowKind,
    action::{ActionRefusal, TargetObstruction},
    belongs_to,
    geometry::{Point, Rect, Screen},
    ids::{ElementId, WindowId},
    names_equal,
};
use futures_util::future::BoxFuture;

use crate::{
    before::{look, look_at_places},
    drawn::check_drawn,
    find::nearest,
    ink::drawn_point,
    menus::{is_menu, open_items},
    patience::{patiently, read_element, settle_earlier},
    recover::recover,
    report::Halt,
    surfaces::{modal_in_front, root_of, surface_of, surfaces},
};

/// Maximum number of reads of the bounds until two agree.
const STABLE_READS_MAX: usize = 6;

/// A target that passed the checks.
#[derive(Debug, Clone)]
pub(crate) struct CheckedTarget {
    /// The window, dialog or pop-up that contains it.
    pub(crate) surface: WindowInfo,
    /// The element as of the check.
    pub(crate) element: Element,
    /// Point at which a click reaches it; `None` if only the semantic route is possible.
    pub(crate) point: Option<Point<Screen>>,
}

/// Requirement of an action on its target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TargetRequirement {
    /// The target has to accept input.
    Act,
    /// The target is only read or scrolled to; it may be disabled or off-screen.
    Read,
}

/// Checks an element; waits until it is stable, and scrolls it into view.
pub(crate) fn check<'a, D: Desktop>(
    desktop: &'a D,
    window: WindowId,
    id: ElementId,
    name: Option<&'a str>,
    need: TargetRequirement,
) -> BoxFuture<'a, Result<CheckedTarget, Halt>> {
    Box::pin(async move {
        if need == TargetRequirement::Act {
            settle_earlier(desktop, window).await?;
        }
        let surfaces = surfaces(desktop, window).await?;
        let element = match read_element(desktop, id).await {
            Ok(element) => element,
            Err(DesktopError::NoElement(_)) => match recover(desktop, window, id).await? {
                Some(element) => element,
                None => return Err(missing(desktop, window, id, name).await?.into()),
            },
            Err(error) => return Err(error.into()),
        };
        if let Some(name) = name.filter(|name| !names_equal(name, &element.name)) {
            let nearest = nearest(desktop, window, name, Some(&element.role)).await?;
            let (element, expected) = ((&element).into(), name.to_owned());
            return Err(ActionRefusal::OtherName { element, expected, nearest }.into());
        }
        let surface = surface_of(desktop, &surfaces, element.id).await?;
        let Some(surface) = surface else {
            return Err(ActionRefusal::OtherWindow { element: (&element).into(), window }.into());
        };
        if need == TargetRequirement::Read {
            let point = element.bounds.map(|bounds| bounds.center());
            return Ok(CheckedTarget { surface, element, point });
        }
        if let Some(dialog) = modal_in_front(desktop, &surfaces, &surface).await? {
            let of = Some((&surface).into());
            return Err(ActionRefusal::DialogInFront { dialog: (&dialog).into(), of }.into());
        }
        let element = at_rest(desktop, element).await?;
        if !element.states.takes_input() {
            return Err(ActionRefusal::Disabled { element: (&element).into() }.into());
        }
        let is_without_place = element.bounds.is_none_or(|bounds| bounds.is_empty());
        if is_without_place && element.states.has(State::Showing) && element.offers(ElementCapability::Action)
        {
            return Ok(CheckedTarget { surface, element, point: None });
        }
        let Some(bounds) =
            element.bounds.filter(|bounds| !bounds.is_empty() && element.states.has(State::Showing))
        else {
            return Err(ActionRefusal::NotOnScreen { element: (&element).into() }.into());
        };
        if !Box::pin(is_on_own(desktop, window, &surface, bounds.center())).await? {
            // A popover of GTK 3 that is larger than its window is cut off there.
            if element.offers(ElementCapability::Action) {
                return Ok(CheckedTarget { surface, element, point: None });
            }
            return Err(ActionRefusal::NotOnScreen { element: (&element).into() }.into());
        }
        let point = uncovered(desktop, &surface, &element, bounds).await?;
        check_drawn(desktop, &surface, &element).await?;
        Ok(CheckedTarget { surface, element, point: Some(point) })
    })
}

/// The refusal of an element that is gone.
async fn missing<D: Desktop>(
    desktop: &D,
    window: WindowId,
    id: ElementId,
    name: Option<&str>,
) -> DesktopResult<ActionRefusal> {
    let mut nearest = nearest(desktop, window, name.unwrap_or_default(), None).await?;
    nearest.retain(|element| element.id != id);
    Ok(ActionRefusal::Missing { id, nearest })
}

/// Reads an element until its bounds are stable.
async fn at_rest<D: Desktop>(desktop: &D, first: Element) -> Result<Element, Halt> {
    let mut before = first;
    for attempt in 0..STABLE_READS_MAX {
        let watch = desktop.watch(None).await?;
        if before.bounds.is_none() && attempt == 0 {
            // Off-screen: toolkits that can scroll to it do, the others fail.
            let _: DesktopResult<()> = desktop.perform(before.id, &ElementAction::ScrollIntoView).await;
        }
        let now = read_element(desktop, before.id).await?;
        let now = Element { instead_of: before.instead_of, ..now };
        if now.bounds == before.bounds && (now.bounds.is_some() || attempt > 0) {
            return Ok(now);
        }
        desktop.settle(watch, QuietLimits::default()).await?;
        before = now;
    }
    Err(ActionRefusal::Moving { element: (&before).into() }.into())
}

/// Returns `true` if a place of an element in `surface` is on it, or on another window or pop-up of `window`.
async fn is_on_own<D: Desktop>(
    desktop: &D,
    window: WindowId,
    surface: &WindowInfo,
    place: Point<Screen>,
) -> DesktopResult<bool> {
    if surface.bounds.contains(&place) {
        return Ok(true);
    }
    // A pop-up may have come since.
    Ok(surfaces(desktop, window).await?.iter().any(|own| own.bounds.contains(&place)))
}

/// A point of an element that nothing covers.
async fn uncovered<D: Desktop>(
    desktop: &D,
    surface: &WindowInfo,
    element: &Element,
    bounds: Rect<Screen>,
) -> Result<Point<Screen>, Halt> {
    let windows = desktop.windows().await?;
    if let Some(coverer) = window_over(&windows, surface, element, bounds.center()) {
        // Raise the window first, as a person would.
        let is_panel = surface.kind == WindowKind::Panel;
        if !is_panel && !belongs_to(&windows, &coverer, surface) {
            desktop.activate(surface.id).await?;
            let windows = desktop.windows().await?;
            if let Some(coverer) = window_over(&windows, surface, element, bounds.center()) {
                return Err(covered(element, TargetObstruction::Window((&coverer).into())));
            }
        } else if is_panel || !shows_elements_of(desktop, &coverer, surface).await? {
            return Err(covered(element, TargetObstruction::Window((&coverer).into())));
        }
    }
    let above = windows.iter().skip_while(|info| info.id != surface.id).skip(1);
    let in_popup =
        above.filter(|info| info.kind.is_popup()).any(|info| info.bounds.contains(&bounds.center()));
    if in_popup {
        // The window's tree does not contain what its pop-up shows here.
        return Ok(bounds.center());
    }
    if element.source != ElementSource::AtSpi {
        return still_drawn(desktop, surface, element, bounds).await;
    }
    let mut bounds = bounds;
    if !is_menu(&element.role) {
        // As far as is known. The last look asks the application once more.
        let tree = look(desktop, surface.id).await?;
        // Of a row that is cut off, only what is in view is listed.
        let listed = tree.find(element.id);
        if listed.is_some_and(|listed| listed.bounds.is_none()) {
            return Err(ActionRefusal::NotOnScreen { element: element.into() }.into());
        }
        let shown = listed.and_then(|listed| listed.bounds?.intersection(&bounds));
        bounds = shown.unwrap_or(bounds);
        let center = bounds.center();
        if menu_over(desktop, &tree, element, center).is_some() {
            let tree = look_at_places(desktop, surface.id).await?;
            if let Some(item) = menu_over(desktop, &tree, element, center) {
                return Err(covered(element, TargetObstruction::Element(item.into())));
            }
        }
        if tree.partial.is_none() && is_on_top(&tree, element.id, center) {
            return Ok(drawn_point(desktop, element, bounds).await?);
        }
    }
    let mut coverer = None;
    for point in probes(bounds) {
        match patiently(|| desktop.element_at(surface.id, point)).await? {
            None => return Ok(point),
            Some(found) if is_same_place(desktop, &found, element).await? => return Ok(point),
            Some(found) if is_beneath(desktop, surface, &found, element).await? => return Ok(point),
            Some(found) => coverer = Some(found),
        }
    }
    Err(covered(
        element,
        coverer.map_or(TargetObstruction::Unnamed, |found| TargetObstruction::Element((&found).into())),
    ))
}

/// Returns `true` if nothing that is listed covers an element at a point of it.
fn is_on_top(tree: &Tree, id: ElementId, point: Point<Screen>) -> bool {
    let found = tree.at(point);
    found.is_some_and(|found| found.id == id || tree.ancestors(found.id).any(|one| one.id == id))
}

/// The item of an open menu of the window that lies over a point of an element outside of menus.
fn menu_over<'a, D: Desktop>(
    desktop: &D,
    tree: &'a Tree,
    element: &Element,
    point: Point<Screen>,
) -> Option<&'a Element> {
    if desktop.quirks(element.id).misplaces_menu_items {
        return None;
    }
    let is_own = |item: &Element| {
        item.id == element.id
            || tree.ancestors(element.id).any(|one| one.id == item.id)
            || tree.ancestors(item.id).any(|one| one.id == element.id)
    };
    let lies_over = |item: &&Element| item.bounds.is_some_and(|bounds| bounds.contains(&point));
    open_items(tree).filter(lies_over).find(|item| !is_own(item))
}

/// The centre of an element detected in a picture, if it is detected there again.
async fn still_drawn<D: Desktop>(
    desktop: &D,
    surface: &WindowInfo,
    element: &Element,
    bounds: Rect<Screen>,
) -> Result<Point<Screen>, Halt> {
    let center = bounds.center();
    match desktop.element_at(surface.id, center).await? {
        Some(found) if found.id == element.id => Ok(center),
        Some(found) if found.source != ElementSource::AtSpi => {
            Err(covered(element, TargetObstruction::Element((&found).into())))
        }
        Some(_) | None => Err(ActionRefusal::NoLongerDrawn { element: element.into() }.into()),
    }
}

fn covered(element: &Element, by: TargetObstruction) -> Halt {
    ActionRefusal::Covered { element: element.into(), by }.into()
}

/// The centre first, then the quarter points.
fn probes(bounds: Rect<Screen>) -> [Point<Screen>; 3] {
    let center = bounds.center();
    [
        center,
        Point::new(bounds.x + bounds.width / 4, bounds.y + bounds.height / 4),
        Point::new(bounds.x + bounds.width * 3 / 4, bounds.y + bounds.height * 3 / 4),
    ]
}

/// Returns `true` if a click on `found` is a click on `element`: one contains the other, or they are the same.
pub(crate) async fn is_same_place<D: Desktop>(
    desktop: &D,
    found: &Element,
    element: &Element,
) -> DesktopResult<bool> {
    // Qt reassigns the ids of cells in its views.
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

/// Returns `true` if a pop-up shows elements of the window that it belongs to, and has none of its own: then
/// the elements determine what lies on top. GTK shows popovers and the lists of combo boxes this way.
async fn shows_elements_of<D: Desktop>(
    desktop: &D,
    popup: &WindowInfo,
    surface: &WindowInfo,
) -> DesktopResult<bool> {
    if !popup.kind.is_popup() || popup.owner.is_none_or(|owner| owner != surface.id) {
        return Ok(false);
    }
    Ok(root_of(desktop, popup).await?.is_none_or(|root| root.role.name() == "tool tip"))
}

/// Returns `true` if the element found at a place does not cover the element there: a label inside it, or one
/// without a function of its own that the window lists before it and draws below it.
pub(crate) async fn is_beneath<D: Desktop>(
    desktop: &D,
    surface: &WindowInfo,
    found: &Element,
    element: &Element,
) -> DesktopResult<bool> {
    // An open menu lies on top.
    if is_menu(&element.role) && !is_menu(&found.role) {
        return Ok(true);
    }
    if found.role.is_interactive() || found.offers(ElementCapability::Action) {
        return Ok(false);
    }
    let (Some(inner), Some(outer)) = (found.bounds, element.bounds) else { return Ok(false) };
    if outer.intersection(&inner) == Some(inner) {
        return Ok(true);
    }
    if !found.role.is_structural() {
        return Ok(false);
    }
    let tree = look(desktop, surface.id).await?;
    let place = |id: ElementId| tree.elements.iter().position(|one| one.id == id);
    Ok(place(found.id).zip(place(element.id)).is_some_and(|(found, element)| found < element))
}

/// The window that covers a point of `surface`, other than the pop-up that shows the element itself.
fn window_over(
    windows: &[WindowInfo],
    surface: &WindowInfo,
    element: &Element,
    point: Point<Screen>,
) -> Option<WindowInfo> {
    let above = windows.iter().skip_while(|info| info.id != surface.id).skip(1);
    let mut over = above.filter(|info| info.bounds.contains(&point));
    over.find(|info| !(info.kind.is_popup() && lives_in_popup(element))).cloned()
}

/// Returns `true` if an element is shown in its own pop-up although it is part of another window's tree.
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
