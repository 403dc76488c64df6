//! Scrolls until a text is in view, as in lists that only have what they show: through rows that are sorted by leaps, else view by view.

use std::time::Duration;

use deskhand_desktop::{Desktop, DesktopError, DesktopResult, ElementAction, IdleReport, QuietLimits};
use deskhand_ui::{
    Element, Role, State, Tree, WindowInfo,
    action::{ActionKind, ActionOutcome, ActionProof, ActionRoute, Aim, Evidence, Shortfall},
    duration::milliseconds,
    fold_name,
    geometry::{Point, Rect, Screen},
    ids::{ElementId, WindowId},
};
use serde_json::json;

use crate::{
    checks::{TargetRequirement, check},
    order::{is_sorted, natural},
    patience::{patiently, read_element, read_tree, watch_app},
    report::{ActLimits, ActionReport, Halt, carry_out},
    surfaces::bring_to_front,
};

/// The longest time that one call scrolls.
const SCROLLING_MAX: Duration = Duration::from_secs(150);
/// The first turn of the wheel, in notches, which shows how far one goes.
const FIRST_NOTCHES: i32 = 2;
/// The most notches at once.
const NOTCHES_MAX: i32 = 40;
/// Part of the view that is passed at once, in percent: an element cut off at its end is whole in the next one.
const VIEW_PERCENT: i32 = 90;
/// Maximum time for an application to start to scroll.
const STARTS_MAX: Duration = Duration::from_millis(400);
/// Maximum number of turns in a row that draw something while the elements are still reported where they were.
const LATE_MAX: u32 = 8;
/// The first leap, in notches, and the longest.
const LEAP_FIRST: i32 = 16;
const LEAP_MAX: i32 = 200;
/// The most leaps.
const LEAPS_MAX: u32 = 60;
/// Distance of a notch where a scroll bar is moved in place of the wheel, in its own units, which are pixels.
const BAR_NOTCH: f64 = 40.0;
/// Number of turns without movement that mark the end: more may be loaded there.
const STILL_MAX: u32 = 2;

/// Scrolls over an element until a text shows in it, by the wheel: down, or up. `seen` if it is in view; the output has the `id` of
/// the element that shows it.
///
/// # Errors
/// [`deskhand_desktop::DesktopError::NoWindow`] if the window is gone, or another error of the desktop.
pub async fn scroll_to<D: Desktop>(
    desktop: &D,
    window: WindowId,
    (id, name): (ElementId, Option<&str>),
    (text, up): (&str, bool),
    limits: &ActLimits,
) -> DesktopResult<ActionReport> {
    let act = ActionKind::ScrollTo { text: text.to_owned() };
    carry_out(act.clone(), search(desktop, window, (id, name), (act, text, up), limits)).await
}

async fn search<D: Desktop>(
    desktop: &D,
    window: WindowId,
    (id, name): (ElementId, Option<&str>),
    (act, text, up): (ActionKind, &str, bool),
    limits: &ActLimits,
) -> Result<ActionReport, Halt> {
    let ready = check(desktop, window, id, name, TargetRequirement::Act).await?;
    let point = ready.point.unwrap_or_else(|| ready.surface.bounds.center());
    bring_to_front(desktop, ready.surface.id).await?;
    // A browser draws what is scrolled some frames later.
    let first_change = limits.quiet.first_change.max(STARTS_MAX);
    let quiet = QuietLimits { first_change, quiet: limits.quiet.quiet / 2, ..limits.quiet };
    let mut tree = read_tree(desktop, ready.surface.id).await?;
    let bar = match desktop.quirks(id).skips_rows_by_wheel {
        true => bar_beside(desktop, &tree, id).await?,
        false => None,
    };
    let view =
        ScrollSearch { surface: ready.surface.clone(), within: id, text: fold_name(text), point, bar, quiet };
    let done = |evidence: Evidence, waited_ms: u64, found: Option<ElementId>| {
        let action =
            ActionOutcome::new(act.clone(), Aim::element(&ready.element), evidence).by(ActionRoute::Input);
        let output = found.map_or(serde_json::Value::Null, |id| json!({"id": id.to_string()}));
        ActionReport::from(action.after(waited_ms)).with_output(output)
    };
    let mut waited_ms = view.leap(desktop, &mut tree, up).await?;
    let (mut notches, mut still, mut late) = (FIRST_NOTCHES, 0, 0);
    loop {
        if let Some(found) = view.shows(&tree) {
            return Ok(done(ActionProof::Holds { already: waited_ms == 0 }.into(), waited_ms, Some(found)));
        }
        if still >= STILL_MAX || waited_ms >= milliseconds(SCROLLING_MAX) {
            let shortfall = if still >= STILL_MAX {
                Shortfall::NotReached { way: None }
            } else {
                Shortfall::NotFulfilled
            };
            return Ok(done(shortfall.into(), waited_ms, None));
        }
        let settled = view.scroll(desktop, if up { -notches } else { notches }).await?;
        waited_ms += settled.waited_ms.max(1);
        let next = read_tree(desktop, view.surface.id).await?;
        match view.moved(&tree, &next) {
            // It drew something, and reports its elements later.
            ScrollDelta::Nothing if settled.damaged && late < LATE_MAX => late += 1,
            ScrollDelta::Nothing => still += 1,
            ScrollDelta::By(pixels) => {
                (still, late) = (0, 0);
                let wanted = view.height(&next) * VIEW_PERCENT / 100 * notches / pixels.max(1);
                notches = wanted.clamp(1, notches * 2).min(NOTCHES_MAX);
            }
            // Too far, so that something was passed unseen: back, and by smaller steps.
            ScrollDelta::Elsewhere if notches > 1 && view.shows(&next).is_none() => {
                (still, late) = (0, 0);
                waited_ms +=
                    view.scroll(desktop, if up { notches } else { -notches }).await?.waited_ms.max(1);
                notches = (notches / 2).max(1);
                tree = read_tree(desktop, view.surface.id).await?;
                continue;
            }
            ScrollDelta::Elsewhere => (still, late) = (0, 0),
        }
        tree = next;
    }
}

/// Finds the element with the value of the scroll bar beside a list: of several, the one that goes furthest.
/// The bar may be hidden until the pointer moves.
async fn bar_beside<D: Desktop>(desktop: &D, tree: &Tree, id: ElementId) -> DesktopResult<Option<ElementId>> {
    const CHILDREN_MAX: usize = 20;
    let Some(around) = tree.ancestors(id).next() else { return Ok(None) };
    let mut furthest: Option<(f64, ElementId)> = None;
    for bar in patiently(|| desktop.children(around.id, CHILDREN_MAX)).await? {
        if bar.role != Role::SCROLL_BAR {
            continue;
        }
        let parts = patiently(|| desktop.children(bar.id, CHILDREN_MAX)).await?;
        for part in std::iter::once(bar).chain(parts) {
            let Some(value) = part.value else { continue };
            let goes = value.maximum - value.minimum;
            if furthest.is_none_or(|(known, _)| goes > known) {
                furthest = Some((goes, part.id));
            }
        }
    }
    Ok(furthest.map(|(_, id)| id))
}

/// View that is observed while scrolling.
struct ScrollSearch {
    surface: WindowInfo,
    within: ElementId,
    /// The text, folded.
    text: String,
    /// Point at which the wheel is turned.
    point: Point<Screen>,
    /// The scroll bar that is moved in its place.
    bar: Option<ElementId>,
    /// Limits of the wait after each turn.
    quiet: QuietLimits,
}

/// Distance that a view moved.
enum ScrollDelta {
    /// Not at all.
    Nothing,
    /// By so many pixels.
    By(i32),
    /// Further than it is high.
    Elsewhere,
}

impl ScrollSearch {
    /// Turns the wheel by so many notches down, or moves the scroll bar as far.
    async fn scroll<D: Desktop>(&self, desktop: &D, down: i32) -> DesktopResult<IdleReport> {
        let watch = watch_app(desktop, self.surface.id).await?;
        if !self.move_bar(desktop, down).await? {
            desktop.scroll(self.point, 0, down).await?;
        }
        desktop.settle(watch, self.quiet).await
    }

    /// Moves the scroll bar by so many notches down; `false` if there is none that can be moved.
    async fn move_bar<D: Desktop>(&self, desktop: &D, down: i32) -> DesktopResult<bool> {
        let Some(bar) = self.bar else { return Ok(false) };
        let Some(value) = read_element(desktop, bar).await?.value else { return Ok(false) };
        let to = (value.current + f64::from(down) * BAR_NOTCH).clamp(value.minimum, value.maximum);
        match desktop.perform(bar, &ElementAction::MoveBar(to)).await {
            Ok(()) => Ok(true),
            Err(DesktopError::NotOffered { .. } | DesktopError::Failed { .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Leaps through rows that are sorted to where the text belongs: twice as far each time, and once past it half as far. Where it is not
    /// found so, back to where it began, or further. Returns how long was waited, in milliseconds.
    async fn leap<D: Desktop>(&self, desktop: &D, tree: &mut Tree, up: bool) -> DesktopResult<u64> {
        let (mut waited_ms, mut moved, mut leap) = (0, 0, LEAP_FIRST);
        let mut last: Option<i32> = None;
        let mut closes_in = false;
        for _ in 0..LEAPS_MAX {
            if self.shows(tree).is_some() {
                return Ok(waited_ms);
            }
            let Some(direction) = self.lies(tree) else { break };
            closes_in |= last.is_some_and(|last| last != direction);
            leap = match last {
                // What belongs on the other side is not on this one; a look at all of it shows that they are not sorted after all.
                None if (direction < 0) != up => break,
                None => leap,
                Some(_) if closes_in => (leap / 2).max(1),
                Some(_) => (leap * 2).min(LEAP_MAX),
            };
            last = Some(direction);
            let settled = self.scroll(desktop, direction * leap).await?;
            waited_ms += settled.waited_ms.max(1);
            let mut next = read_tree(desktop, self.surface.id).await?;
            for _ in 0..LATE_MAX {
                if !settled.damaged || !matches!(self.moved(tree, &next), ScrollDelta::Nothing) {
                    break;
                }
                let watch = watch_app(desktop, self.surface.id).await?;
                waited_ms += desktop.settle(watch, self.quiet).await?.waited_ms.max(1);
                next = read_tree(desktop, self.surface.id).await?;
            }
            if let ScrollDelta::Nothing = self.moved(tree, &next) {
                break;
            }
            moved += direction * leap;
            *tree = next;
        }
        let is_past = if up { moved < 0 } else { moved > 0 };
        if self.shows(tree).is_none() && is_past {
            waited_ms += self.scroll(desktop, -moved).await?.waited_ms.max(1);
            *tree = read_tree(desktop, self.surface.id).await?;
        }
        Ok(waited_ms)
    }

    /// Returns the direction of the text, further down (1) or up (-1), by the rows in view if they are sorted;
    /// `None` if they are not, or it belongs between them.
    fn lies(&self, tree: &Tree) -> Option<i32> {
        /// Maximum distance between the starts of names in one column, in pixels.
        const COLUMN: i32 = 4;
        let visible = self.visible(tree);
        let inside: Vec<&Element> = tree.descendants(self.within).collect();
        let mut rows: Vec<(Rect<Screen>, String)> = inside
            .iter()
            .filter(|one| one.child_count == 0 && one.states.has(State::Showing))
            .filter_map(|one| Some((one.bounds?, fold_name(one.text.as_deref().unwrap_or(&one.name)))))
            .filter(|(_, name)| !name.is_empty())
            .filter(|(bounds, _)| visible.contains(&bounds.center()))
            .collect();
        let left = rows.iter().map(|(bounds, _)| bounds.x).min()?;
        rows.retain(|(bounds, _)| bounds.x - left <= COLUMN);
        rows.sort_by_key(|(bounds, _)| bounds.y);
        let names: Vec<String> = rows.into_iter().map(|(_, name)| name).collect();
        let (first, last) = (names.first()?, names.last()?);
        if !is_sorted(&names) {
            return None;
        }
        if natural(&self.text, last).is_gt() {
            Some(1)
        } else if natural(&self.text, first).is_lt() {
            Some(-1)
        } else {
            None
        }
    }

    /// Returns the elements inside the one that is scrolled; an element without parts is scrolled by the window
    /// around it.
    fn inside<'a>(&self, tree: &'a Tree) -> Vec<&'a Element> {
        let inside: Vec<&Element> = tree.descendants(self.within).collect();
        if inside.is_empty() { tree.elements.iter().collect() } else { inside }
    }

    /// Returns its visible part.
    fn visible(&self, tree: &Tree) -> Rect<Screen> {
        let bounds = self.surface.bounds;
        let own = tree.find(self.within).and_then(|element| element.bounds);
        own.and_then(|own| own.intersection(&bounds)).unwrap_or(bounds)
    }

    fn height(&self, tree: &Tree) -> i32 {
        self.visible(tree).height
    }

    /// The innermost element in view that says the text.
    fn shows(&self, tree: &Tree) -> Option<ElementId> {
        let visible = self.visible(tree);
        let in_view = |element: &&&Element| {
            element.states.has(State::Showing)
                && element.bounds.is_some_and(|bounds| visible.contains(&bounds.center()))
        };
        let says = |element: &&&Element| {
            fold_name(&element.name).contains(&self.text)
                || element.text.as_deref().is_some_and(|text| fold_name(text).contains(&self.text))
        };
        let inside = self.inside(tree);
        inside
            .iter()
            .filter(in_view)
            .filter(says)
            .max_by_key(|element| element.depth)
            .map(|element| element.id)
    }

    fn moved(&self, before: &Tree, after: &Tree) -> ScrollDelta {
        let says = |element: &Element| element.text.clone().unwrap_or_else(|| element.name.clone());
        let place = |element: &&Element| Some((element.id, says(element), element.bounds?.y));
        let old: Vec<_> = self.inside(before).iter().filter_map(place).collect();
        let new: Vec<_> = self.inside(after).iter().filter_map(place).collect();
        if old == new {
            return ScrollDelta::Nothing;
        }
        // A list may give the same elements to other rows: what they say tells which row it is.
        let by = |(_, said, y): &(ElementId, String, i32)| {
            let mut same = old.iter().filter(|(_, known, _)| !said.trim().is_empty() && known == said);
            let (Some(same), None) = (same.next(), same.next()) else { return None };
            Some((same.2 - y).abs()).filter(|pixels| *pixels > 0)
        };
        new.iter().filter_map(by).max().map_or(ScrollDelta::Elsewhere, ScrollDelta::By)
    }
}
