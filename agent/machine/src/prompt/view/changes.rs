//! The changes of a window since the agent last saw it.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::{
    items::{ViewItem, items},
    lines::{cost, lines, usually_listed, worth_listing},
    whole::{ViewListOptions, partial_line, surface_text},
};
use crate::prompt::window_line;
use deskhand_ui::{
    Element, PlacedElement, State, Surface, WindowInfo, WindowView, diff, ids::ElementId, text::untrusted,
};

/// The most id ranges in the list of removed elements.
const RANGES_MAX: usize = 60;

/// The listed changes from `old`, which the agent was shown, to `new`; empty if there are none.
pub fn changes_text(old: &WindowView, new: &WindowView, options: &ViewListOptions) -> String {
    let mut parts = Vec::new();
    let mut left = options.tokens_max;
    // If the newly focused element is reported, the one that lost focus need not be.
    let takes_it = |element: &Element| element.states.has(State::Focused) && element.role.is_interactive();
    let focus_reported = new.elements().any(takes_it);
    for surface in new.surfaces.iter().rev() {
        let known = old.surfaces.iter().find(|known| known.window.id == surface.window.id);
        let options = ViewListOptions { tokens_max: left, words: options.words.clone() };
        let part = match known {
            Some(known) => surface_changes(known, surface, focus_reported, &options),
            None => format!("new window:\n{}", surface_text(surface, &options)),
        };
        if !part.is_empty() {
            left = left.saturating_sub(deskhand_ui::text::tokens(&part));
            parts.push(untrusted("screen", &part));
        }
    }
    for surface in &old.surfaces {
        if !new.surfaces.iter().any(|kept| kept.window.id == surface.window.id) {
            let ids = surface.tree.elements.iter().map(|element| element.id);
            let line = window_line(&surface.window);
            parts.push(untrusted(
                "screen",
                &format!("gone with its elements: {}\ngone: {}", line, ranges(ids)),
            ));
        }
    }
    parts.join("\n")
}

fn surface_changes(old: &Surface, new: &Surface, focus_reported: bool, options: &ViewListOptions) -> String {
    let before = items(&old.window, &old.tree);
    let after = items(&new.window, &new.tree);
    let known: HashMap<ElementId, &ViewItem<'_>> = usually_listed(&before, &old.window)
        .into_iter()
        .filter_map(|at| before.get(at))
        .map(|item| (item.element.id, item))
        .collect();
    // An element that was listed before stays listed, so that its changes are reported.
    let is_known = |at: &usize| after.get(*at).is_some_and(|item| known.contains_key(&item.element.id));
    let usual: HashSet<usize> = usually_listed(&after, &new.window).into_iter().collect();
    let mut listed = worth_listing(&after);
    listed.retain(|at| usual.contains(at) || is_known(at));
    let now: HashSet<ElementId> =
        listed.iter().filter_map(|at| after.get(*at)).map(|item| item.element.id).collect();
    let (mut changed, mut added) = (HashSet::new(), HashSet::new());
    for place in listed {
        let Some(item) = after.get(place) else { continue };
        match known.get(&item.element.id) {
            Some(was) if was.text(true) == item.text(true) => {}
            Some(was) if focus_reported && was.text_unfocused() == item.text(true) => {}
            Some(_) => {
                changed.insert(place);
            }
            None => {
                added.insert(place);
            }
        }
    }
    let mut left_out = 0;
    let mut left = options.tokens_max;
    for places in [&mut changed, &mut added] {
        let mut fits = |place: &usize| {
            let cost = after.get(*place).map_or(0, cost);
            left.checked_sub(cost).map(|rest| left = rest).is_some()
        };
        let mut ordered: Vec<usize> = places.iter().copied().collect();
        ordered.sort_unstable();
        let kept: HashSet<usize> = ordered.into_iter().filter(|place| fits(place)).collect();
        left_out += places.len() - kept.len();
        *places = kept;
    }
    let mut text = Vec::new();
    if !changed.is_empty() {
        text.push("changed:".to_owned());
        text.extend(lines(&after, &changed));
    }
    text.extend(added_lines(&after, &added));
    let gone: Vec<ElementId> = known.keys().filter(|id| !now.contains(id)).copied().collect();
    if !gone.is_empty() {
        text.push(format!("gone: {}", ranges(gone.into_iter())));
    }
    let moved = moved(old, new).into_iter().filter(|id| known.contains_key(id) && now.contains(id));
    let moved: Vec<ElementId> = moved.collect();
    if !moved.is_empty() {
        text.push(format!("moved: {}", ranges(moved.into_iter())));
    }
    if left_out > 0 {
        text.push(format!("({left_out} more changed elements omitted; `more` lists them)"));
    }
    if new.tree.partial != old.tree.partial {
        text.extend(new.tree.partial.map(partial_line).map(str::to_owned));
    }
    // A window that is no longer active is implied by the one that is.
    let but_active = |window: &WindowInfo| window_line(&WindowInfo { active: false, ..window.clone() });
    if text.is_empty() && but_active(&new.window) == but_active(&old.window) {
        return String::new();
    }
    text.insert(0, window_line(&new.window));
    text.join("\n")
}

/// New items, grouped by their containers.
fn added_lines(after: &[ViewItem<'_>], added: &HashSet<usize>) -> Vec<String> {
    // By the nearest listed ancestor that is not new itself.
    let mut groups: BTreeMap<Option<usize>, HashSet<usize>> = BTreeMap::new();
    for place in added {
        let mut around = after.get(*place).and_then(|item| item.parent);
        while let Some(at) = around.filter(|at| added.contains(at)) {
            around = after.get(at).and_then(|item| item.parent);
        }
        groups.entry(around).or_default().insert(*place);
    }
    let mut text = Vec::new();
    for (around, places) in groups {
        let inside = around.and_then(|at| after.get(at)).map(|item| format!(" in {}", item.element.id));
        text.push(format!("new{}:", inside.unwrap_or_default()));
        text.extend(lines(after, &places));
    }
    text
}

fn moved(old: &Surface, new: &Surface) -> Vec<ElementId> {
    let Some(change) = diff(&old.tree, &new.tree) else { return Vec::new() };
    let placed = change.placed.iter().flat_map(|run| &run.elements);
    placed
        .filter_map(|placed| match placed {
            PlacedElement::Moved(id) => Some(*id),
            PlacedElement::New(_) => None,
        })
        .collect()
}

/// `e3, e5 to e9`.
fn ranges(ids: impl Iterator<Item = ElementId>) -> String {
    let mut ids: Vec<u32> = ids.map(|id| id.0).collect();
    ids.sort_unstable();
    ids.dedup();
    let mut ranges: Vec<(u32, u32)> = Vec::new();
    for id in ids {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == id => *last = id,
            _ => ranges.push((id, id)),
        }
    }
    let more = ranges.len().saturating_sub(RANGES_MAX);
    let mut text: Vec<String> = ranges
        .iter()
        .take(RANGES_MAX)
        .map(|(first, last)| match last - first {
            0 => format!("e{first}"),
            1 => format!("e{first}, e{last}"),
            _ => format!("e{first} to e{last}"),
        })
        .collect();
    if more > 0 {
        text.push(format!("and {more} more"));
    }
    text.join(", ")
}
