//! Selects several items of a list, tree or table, and no others.

use deskhand_desktop::{Button, Desktop, DesktopResult, PointerChord};
use deskhand_ui::{
    Element, Role, State,
    action::{
        ActionKind, ActionOutcome, ActionProof, ActionRoute, Aim, ArgumentProblem, Evidence, SelectionMethod,
        Shortfall,
    },
    geometry::{Point, Rect, Screen},
    ids::{ElementId, WindowId},
    keys::KeyModifier,
    names_equal,
};

use crate::{
    checks::{CheckedTarget, TargetRequirement, check},
    patience::{comes_within, handled, patiently, watch_app},
    report::{ActLimits, ActionReport, CompletedAction, Halt, carry_out, refused},
    scroll_to::scroll_to,
    select::is_selected,
    select_options::{ITEMS_MAX, items_of, no_item},
    surfaces::bring_to_front,
};

/// The most items of one call.
const WANTED_MAX: usize = 50;

/// Selects the items with these names, by a click on the first one and clicks with Ctrl on the others, and reads back whether they and
/// no others are selected.
///
/// # Errors
/// [`deskhand_desktop::DesktopError::NoWindow`] if the window is gone, or another error of the desktop.
pub async fn select_items<D: Desktop>(
    desktop: &D,
    window: WindowId,
    list: ElementId,
    items: &[String],
    limits: &ActLimits,
) -> DesktopResult<ActionReport> {
    let act = ActionKind::SelectItems { items: items.to_vec() };
    if items.is_empty() || items.len() > WANTED_MAX {
        let max = u64::try_from(WANTED_MAX).unwrap_or(u64::MAX);
        return Ok(refused(act, ArgumentProblem::Items { max }));
    }
    carry_out(act.clone(), select_all(desktop, window, list, (items, act), limits)).await
}

async fn select_all<D: Desktop>(
    desktop: &D,
    window: WindowId,
    list: ElementId,
    (names, act): (&[String], ActionKind),
    limits: &ActLimits,
) -> Result<CompletedAction, Halt> {
    let ready = check(desktop, window, list, None, TargetRequirement::Act).await?;
    let shown = items_of(desktop, &ready.element).await?;
    if let Some(missing) = names.iter().find(|name| item_of(&shown, name).is_none()) {
        return Err(no_item(&ready.element, missing, &shown));
    }
    let done = |evidence: Evidence| ActionOutcome::new(act.clone(), Aim::element(&ready.element), evidence);
    if are_selected(desktop, &ready.element, names, &shown).await? {
        return Ok(done(ActionProof::Holds { already: true }.into()).into());
    }
    bring_to_front(desktop, ready.surface.id).await?;
    let mut waited_ms = 0;
    let not_reached = |waited_ms| {
        let shortfall = Shortfall::NotReached { way: Some(SelectionMethod::Click) };
        CompletedAction::from(done(shortfall.into()).by(ActionRoute::Input).after(waited_ms))
    };
    let mut clicked: Vec<&String> = Vec::new();
    for name in names {
        if clicked.iter().any(|before| names_equal(before, name)) {
            continue;
        }
        let modifiers = if clicked.is_empty() { Vec::new() } else { vec![KeyModifier::Ctrl] };
        let (point, scrolled_ms) = reached(desktop, window, &ready, name, limits).await?;
        waited_ms += scrolled_ms;
        let Some(point) = point else {
            // What is selected by now is not what was meant.
            return Ok(not_reached(waited_ms));
        };
        let held = PointerChord { button: Button::Left, modifiers };
        // The next click comes once this one is handled.
        waited_ms += handled(desktop, window, async || desktop.click(point, held, 1).await).await?;
        clicked.push(name);
    }
    let watch = watch_app(desktop, ready.surface.id).await?;
    let selected = async || {
        let shown = items_of(desktop, &ready.element).await?;
        are_selected(desktop, &ready.element, names, &shown).await
    };
    let came = comes_within(desktop, (ready.surface.id, watch), limits.effect, selected).await?;
    if !came.holds {
        return Ok(not_reached(waited_ms + came.waited_ms));
    }
    let mut action = came.of(done(ActionProof::Holds { already: false }.into()).by(ActionRoute::Input));
    action.waited_ms += waited_ms;
    Ok(action.into())
}

fn item_of<'a>(items: &'a [Element], name: &str) -> Option<&'a Element> {
    items.iter().find(|one| names_equal(&one.name, name))
}

/// Scrolls to an item and returns the point at which the pointer reaches it, and the time that it took.
async fn reached<D: Desktop>(
    desktop: &D,
    window: WindowId,
    list: &CheckedTarget,
    name: &str,
    limits: &ActLimits,
) -> Result<(Option<Point<Screen>>, u64), Halt> {
    let mut waited_ms = 0;
    for up in [None, Some(false), Some(true)] {
        if let Some(up) = up {
            let target = (list.element.id, None);
            let scrolled = scroll_to(desktop, window, target, (name, up), limits).await?;
            waited_ms += scrolled.waited_ms();
        }
        let items = items_of(desktop, &list.element).await?;
        let Some(item) = item_of(&items, name) else { continue };
        let point = match check(desktop, window, item.id, Some(&item.name), TargetRequirement::Act).await {
            Ok(ready) => ready.point,
            Err(Halt::Refused(_)) => None,
            Err(halt) => return Err(halt),
        };
        let bounds = list.element.bounds;
        let inside = point.filter(|point| bounds.is_none_or(|bounds| bounds.contains(point)));
        if inside.is_some() {
            return Ok((inside, waited_ms));
        }
    }
    Ok((None, waited_ms))
}

/// Returns `true` if the items with these names are selected, and none of the others, as they were just read.
async fn are_selected<D: Desktop>(
    desktop: &D,
    list: &Element,
    names: &[String],
    items: &[Element],
) -> Result<bool, Halt> {
    let mut wanted = Vec::new();
    for name in names {
        match item_of(items, name) {
            Some(item) if is_selected(desktop, list, item).await? => wanted.push(item),
            Some(_) | None => return Ok(false),
        }
    }
    // All cells of a row are selected with one of them.
    let cells = wanted.iter().filter(|one| one.role == Role::TABLE_CELL);
    let rows: Vec<Rect<Screen>> = cells.filter_map(|one| one.bounds).collect();
    let is_in_row = |one: &Element| {
        one.bounds.is_some_and(|bounds| {
            rows.iter().any(|row| (row.y..row.y.saturating_add(row.height)).contains(&bounds.center().y))
        })
    };
    let is_meant = |one: &Element| wanted.iter().any(|item| item.id == one.id) || is_in_row(one);
    if items.iter().any(|one| one.states.has(State::Selected) && !is_meant(one)) {
        return Ok(false);
    }
    // Rows of GTK 4 have no names: their labels are the items.
    for row in patiently(|| desktop.children(list.id, ITEMS_MAX)).await? {
        if row.states.has(State::Selected) && !is_meant(&row) && !holds_any(desktop, &row, &wanted).await? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Returns `true` if one of the items lies in a row.
async fn holds_any<D: Desktop>(desktop: &D, row: &Element, items: &[&Element]) -> Result<bool, Halt> {
    for item in items {
        if patiently(|| desktop.is_within(item.id, row.id)).await? {
            return Ok(true);
        }
    }
    Ok(false)
}
