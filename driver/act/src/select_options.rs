//! The items of lists and the options of drop-downs: reading them, and going to one by pointer or keys.

use std::{collections::VecDeque, iter};

use deskhand_desktop::{Desktop, keys::NamedKey};
use deskhand_ui::{
    Element, ElementQuery, Role,
    action::{
        ActionKind, ActionOutcome, ActionProof, ActionRefusal, Aim, Among, Evidence, SelectionMethod,
        Shortfall,
    },
    ids::WindowId,
};

use crate::{
    checks::{TargetRequirement, check},
    click::press,
    find::nearest_names,
    menus::is_menu_item,
    patience::{handled, patiently},
    report::{ActLimits, Halt},
};

/// The most items read.
pub(crate) const ITEMS_MAX: usize = 1_000;
/// The most options stepped over by keys.
pub(crate) const STEPS_MAX: usize = 30;
/// The deepest nesting of items in a list (`combo box` › `menu` › `menu item`).
const DEPTH_MAX: u16 = 4;

/// Clicks an option of an opened list; `false` if the pointer does not reach it.
pub(crate) async fn click_option<D: Desktop>(
    desktop: &D,
    window: WindowId,
    option: &Element,
) -> Result<bool, Halt> {
    match check(desktop, window, option.id, Some(&option.name), TargetRequirement::Act).await {
        Ok(ready) if ready.point.is_some() => press(desktop, &ready).await.map(|_| true),
        Ok(_) | Err(Halt::Refused(_)) => Ok(false),
        Err(halt) => Err(halt),
    }
}

/// Steps to an option of an opened list by keys and takes it; `false` if it is too far away.
pub(crate) async fn choose_by_keys<D: Desktop>(
    desktop: &D,
    window: WindowId,
    options: &[Element],
    option: &Element,
    limits: &ActLimits,
) -> Result<bool, Halt> {
    // In Swing they are labels.
    let is_like_it = |one: &&Element| is_option(one) || one.role == option.role;
    let mut reachable = options.iter().filter(|one| is_like_it(one) && one.states.takes_input());
    let Some(at) = reachable.position(|one| one.id == option.id).filter(|at| *at <= STEPS_MAX) else {
        return Ok(false);
    };
    step_to(desktop, window, at).await?;
    press_key(desktop, NamedKey::Return, limits).await?;
    Ok(true)
}

/// Steps to an option of an opened list; returns how long was waited. Each key is handled before the next comes.
pub(crate) async fn step_to<D: Desktop>(desktop: &D, window: WindowId, at: usize) -> Result<u64, Halt> {
    let mut waited_ms = 0;
    for key in iter::once(NamedKey::Home).chain(iter::repeat_n(NamedKey::Down, at)) {
        waited_ms += handled(desktop, window, async || desktop.press(&key.into()).await).await?;
    }
    Ok(waited_ms)
}

pub(crate) async fn press_key<D: Desktop>(
    desktop: &D,
    key: NamedKey,
    limits: &ActLimits,
) -> Result<u64, Halt> {
    let watch = desktop.watch(None).await?;
    desktop.press(&key.into()).await?;
    Ok(desktop.settle(watch, limits.quiet).await?.waited_ms)
}

pub(crate) fn done(list: &Element, item: ElementQuery, evidence: Evidence) -> ActionOutcome {
    ActionOutcome::new(ActionKind::SelectItem { item }, Aim::element(list), evidence)
}

pub(crate) fn no_item(list: &Element, item: &str, items: &[Element]) -> Halt {
    let names = nearest_names(item, items.iter().map(|element| element.name.as_str()));
    let among = Among::Items { list: list.into(), items: names };
    ActionRefusal::NotFound { name: item.to_owned(), among }.into()
}

fn is_row(item: &Element) -> bool {
    [Role::TABLE_CELL, Role::TREE_ITEM, Role::LIST_ITEM].contains(&item.role)
}

/// The evidence of whether an item is selected.
pub(crate) fn reached_by(reached: bool, way: SelectionMethod) -> Evidence {
    if reached {
        ActionProof::Holds { already: false }.into()
    } else {
        Shortfall::NotReached { way: Some(way) }.into()
    }
}

pub(crate) fn is_option(item: &Element) -> bool {
    is_row(item) || is_menu_item(&item.role)
}

/// The items of an open or closed list; nearest levels first.
pub(crate) async fn items_of<D: Desktop>(desktop: &D, list: &Element) -> Result<Vec<Element>, Halt> {
    let mut items = Vec::new();
    let mut queue = VecDeque::from([(list.id, 0_u16)]);
    while let Some((id, depth)) = queue.pop_front() {
        for child in patiently(|| desktop.children(id, ITEMS_MAX)).await? {
            if items.len() >= ITEMS_MAX {
                return Ok(items);
            }
            // Read a table only if it is a short list: Qt's lists are tables.
            let is_short = child.table.is_none_or(|shape| shape.columns <= 1)
                && usize::try_from(child.child_count).is_ok_and(|count| count <= ITEMS_MAX);
            if depth < DEPTH_MAX && child.child_count > 0 && is_short {
                queue.push_back((child.id, depth + 1));
            }
            let holds_items = [Role::LIST, Role::MENU, Role::LIST_BOX].contains(&child.role);
            if !child.name.is_empty() && !holds_items {
                items.push(child);
            }
        }
    }
    Ok(items)
}
