//! Selects an item of a list, an option of a combo box, or a tab.

use deskhand_desktop::{Button, Desktop, DesktopError, DesktopResult, ElementAction, keys::NamedKey};
use deskhand_ui::{
    Element, ElementCapability, ElementQuery, ElementSource, Role, State,
    action::{
        ActionKind, ActionProof, ActionRefusal, ActionRoute, SelectionMethod, Shortfall, Uncertainty,
        UnsupportedCapability,
    },
    ids::{ElementId, WindowId},
    names_equal,
};

use crate::{
    checks::{CheckedTarget, TargetRequirement, check},
    click::{Click, click_once, press},
    patience::{comes_within, patiently, read_element, watch_app},
    report::{ActLimits, ActionReport, ActionTarget, CompletedAction, Halt, carry_out},
    select_drawn::select_drawn,
    select_drop_down::{by_drop_down, may_drop_down},
    select_options::{
        ITEMS_MAX, STEPS_MAX, choose_by_keys, click_option, done, is_option, items_of, no_item, press_key,
        reached_by, step_to,
    },
    surfaces::surfaces,
};

/// Selects the item named `item` in a list, combo box, tree or row of tabs, and reads back whether it is selected.
///
/// # Errors
/// [`DesktopError::NoWindow`] if the window is gone, or another error of the desktop.
pub async fn select<D: Desktop>(
    desktop: &D,
    window: WindowId,
    list: ElementId,
    item: &str,
    limits: &ActLimits,
) -> DesktopResult<ActionReport> {
    let act = ActionKind::SelectItem { item: ElementQuery::named(item) };
    carry_out(act, select_and_check(desktop, window, list, item, limits)).await
}

async fn select_and_check<D: Desktop>(
    desktop: &D,
    window: WindowId,
    list: ElementId,
    item: &str,
    limits: &ActLimits,
) -> Result<CompletedAction, Halt> {
    let ready = check(desktop, window, list, None, TargetRequirement::Act).await?;
    if ready.element.source != ElementSource::AtSpi {
        return select_drawn(desktop, window, &ready, item, limits).await;
    }
    let items = items_of(desktop, &ready.element).await?;
    let found = items.iter().find(|element| names_equal(&element.name, item));
    let Some(found) = found else {
        if ready.element.role == Role::COMBO_BOX && !items.iter().any(is_option) {
            return by_opened_list(desktop, window, &ready.element, item, limits).await;
        }
        if items.is_empty() && may_drop_down(&ready.element) {
            return Box::pin(by_drop_down(desktop, window, &ready, item, limits)).await;
        }
        return Err(no_item(&ready.element, item, &items));
    };
    let item = ElementQuery::new(found.role.clone(), &found.name);
    if is_selected(desktop, &ready.element, found).await? {
        return Ok(done(&ready.element, item, ActionProof::Holds { already: true }.into()).into());
    }
    if ready.element.role == Role::COMBO_BOX {
        return by_open_box(desktop, window, &ready, found, limits).await;
    }
    by_item(desktop, window, &ready, found, limits).await
}

/// Selects an item of a list that is open: by a click, because some applications react to nothing else, and where the
/// pointer does not reach it, through the accessibility interface.
async fn by_item<D: Desktop>(
    desktop: &D,
    window: WindowId,
    list: &CheckedTarget,
    item: &Element,
    limits: &ActLimits,
) -> Result<CompletedAction, Halt> {
    let watch = watch_app(desktop, list.surface.id).await?;
    let route = match check(desktop, window, item.id, Some(&item.name), TargetRequirement::Act).await {
        Ok(ready) if ready.point.is_some() => press(desktop, &ready).await?,
        Ok(_) | Err(Halt::Refused(_)) => match desktop.perform(item.id, &ElementAction::Select).await {
            Ok(()) | Err(DesktopError::NotAnswering { .. }) => ActionRoute::Semantic,
            Err(
                DesktopError::NotOffered { .. } | DesktopError::Failed { .. } | DesktopError::NoElement(_),
            ) => return by_keys(desktop, &list.element, item, limits).await,
            Err(error) => return Err(error.into()),
        },
        Err(halt) => return Err(halt),
    };
    let selected = async || is_selected(desktop, &list.element, item).await;
    let came = comes_within(desktop, (list.surface.id, watch), limits.effect, selected).await?;
    let evidence = match (came.holds, route) {
        (true, _) => ActionProof::Holds { already: false }.into(),
        (false, ActionRoute::Semantic) => Uncertainty::NothingShown.into(),
        (false, ActionRoute::Input) => Shortfall::NotReached { way: Some(SelectionMethod::Click) }.into(),
    };
    let action = done(&list.element, ElementQuery::new(item.role.clone(), &item.name), evidence);
    Ok(came.of(action.by(route)).into())
}

/// Selects an option of a closed box: opens it by a click and takes the option there, by a click where its list shows it,
/// else by keys.
async fn by_open_box<D: Desktop>(
    desktop: &D,
    window: WindowId,
    list: &CheckedTarget,
    item: &Element,
    limits: &ActLimits,
) -> Result<CompletedAction, Halt> {
    let request = Click::once(ActionTarget::element(list.element.id));
    let opened = click_once(desktop, window, &request, limits).await?;
    let options = items_of(desktop, &list.element).await?;
    let there = options.iter().find(|one| names_equal(&one.name, &item.name)).unwrap_or(item);
    let watch = watch_app(desktop, list.surface.id).await?;
    let clicked = !desktop.quirks(list.element.id).ignores_clicks_in_fresh_lists
        && click_option(desktop, window, there).await?;
    if !clicked && !choose_by_keys(desktop, window, &options, there, limits).await? {
        press_key(desktop, NamedKey::Escape, limits).await?;
        let element = (&list.element).into();
        return Err(ActionRefusal::Unsupported { element, what: UnsupportedCapability::ReachingItem }.into());
    }
    let selected = async || is_selected(desktop, &list.element, there).await;
    let came = comes_within(desktop, (list.surface.id, watch), limits.effect, selected).await?;
    if !came.holds {
        close_list(desktop, window, &opened, limits).await?;
    }
    let way = if clicked { SelectionMethod::Click } else { SelectionMethod::OpenedList };
    let action =
        done(&list.element, ElementQuery::new(item.role.clone(), &item.name), reached_by(came.holds, way));
    let mut action = came.of(action.by(ActionRoute::Input));
    action.waited_ms += opened.action.waited_ms;
    Ok(action.into())
}

/// Closes the list that a click opened, if it is still open.
async fn close_list<D: Desktop>(
    desktop: &D,
    window: WindowId,
    opened: &CompletedAction,
    limits: &ActLimits,
) -> Result<(), Halt> {
    let Some(list) = &opened.window else { return Ok(()) };
    let is_open = surfaces(desktop, window).await?.iter().any(|info| info.id == list.id);
    if is_open {
        press_key(desktop, NamedKey::Escape, limits).await?;
    }
    Ok(())
}

/// By keyboard: closes what is open, focuses the list, and steps through its options.
async fn by_keys<D: Desktop>(
    desktop: &D,
    list: &Element,
    item: &Element,
    limits: &ActLimits,
) -> Result<CompletedAction, Halt> {
    let done = |reached| {
        let item = ElementQuery::new(item.role.clone(), &item.name);
        CompletedAction::from(
            done(list, item, reached_by(reached, SelectionMethod::Keys)).by(ActionRoute::Input),
        )
    };
    press_key(desktop, NamedKey::Escape, limits).await?;
    match desktop.perform(list.id, &ElementAction::Focus).await {
        Ok(()) | Err(DesktopError::NotAnswering { .. }) => {}
        // The click may have focused it.
        Err(DesktopError::NotOffered { .. } | DesktopError::Failed { .. }) => {
            let now = read_element(desktop, list.id).await?;
            if !now.states.has(State::Focused) {
                let Some(bounds) = now.bounds else {
                    let element = list.into();
                    return Err(ActionRefusal::Unsupported {
                        element,
                        what: UnsupportedCapability::ReachingItem,
                    }
                    .into());
                };
                let watch = desktop.watch(None).await?;
                desktop.click(bounds.center(), Button::Left, 1).await?;
                desktop.settle(watch, limits.quiet).await?;
                press_key(desktop, NamedKey::Escape, limits).await?;
            }
        }
        Err(error) => return Err(error.into()),
    }
    press_key(desktop, NamedKey::Home, limits).await?;
    for _ in 0..STEPS_MAX {
        if is_selected(desktop, list, item).await? {
            return Ok(done(true));
        }
        press_key(desktop, NamedKey::Down, limits).await?;
    }
    Ok(done(false))
}

/// For options that exist only while the list is open, as in GTK 4: opens it, steps to the option by keys, and reads back
/// what the box shows.
async fn by_opened_list<D: Desktop>(
    desktop: &D,
    window: WindowId,
    list: &Element,
    item: &str,
    limits: &ActLimits,
) -> Result<CompletedAction, Halt> {
    let before = labels_in(desktop, list.id).await?;
    if before.iter().any(|one| names_equal(&one.name, item) && one.bounds.is_some()) {
        return Ok(done(list, ElementQuery::named(item), ActionProof::Holds { already: true }.into()).into());
    }
    let opened = click_once(desktop, window, &Click::once(ActionTarget::element(list.id)), limits).await?;
    let mut options = labels_in(desktop, list.id).await?;
    options.retain(|one| before.iter().all(|known| known.id != one.id));
    let Some(at) = options.iter().position(|one| names_equal(&one.name, item)) else {
        press_key(desktop, NamedKey::Escape, limits).await?;
        return Err(no_item(list, item, &options));
    };
    let mut waited_ms = opened.action.waited_ms + step_to(desktop, window, at.min(STEPS_MAX)).await?;
    waited_ms += press_key(desktop, NamedKey::Return, limits).await?;
    let shown = labels_in(desktop, list.id).await?;
    let is_shown = |one: &Element| {
        let inside = list.bounds.zip(one.bounds).is_some_and(|(list, one)| list.contains(&one.center()));
        names_equal(&one.name, item) && inside
    };
    let evidence = reached_by(shown.iter().any(is_shown), SelectionMethod::OpenedList);
    Ok(done(list, ElementQuery::named(item), evidence).by(ActionRoute::Input).after(waited_ms).into())
}

/// The labels in an element, in reading order.
async fn labels_in<D: Desktop>(desktop: &D, id: ElementId) -> Result<Vec<Element>, Halt> {
    const LEVELS_MAX: u16 = 12;
    let mut labels = Vec::new();
    let mut open = vec![(id, 0_u16)];
    while let Some((id, depth)) = open.pop() {
        let children = patiently(|| desktop.children(id, ITEMS_MAX)).await?;
        let deeper = children.iter().rev().filter(|child| child.child_count > 0 && depth < LEVELS_MAX);
        open.extend(deeper.map(|child| (child.id, depth + 1)));
        labels.extend(children.into_iter().filter(|one| one.role == Role::LABEL && !one.name.is_empty()));
        if labels.len() > ITEMS_MAX {
            break;
        }
    }
    Ok(labels)
}

/// Returns `true` if the item reports that it is selected, or its combo box shows it.
pub(crate) async fn is_selected<D: Desktop>(
    desktop: &D,
    list: &Element,
    item: &Element,
) -> Result<bool, Halt> {
    let list = read_element(desktop, list.id).await?;
    if list.role == Role::COMBO_BOX {
        let shows = |text: &str| names_equal(text, &item.name);
        if shows(&list.name) || list.text.as_deref().is_some_and(shows) {
            return Ok(true);
        }
        if list.offers(ElementCapability::Selection) {
            let selected = patiently(|| desktop.selected(list.id)).await?;
            return Ok(selected.iter().any(|one| one.id == item.id || shows(&one.name)));
        }
    }
    match read_element(desktop, item.id).await {
        // If a combo box is named after its value, the marked row in its list proves nothing.
        Ok(now) if list.role == Role::COMBO_BOX && now.states.has(State::Selected) => {
            let items = items_of(desktop, &list).await?;
            Ok(items.iter().all(|one| !names_equal(&one.name, &list.name)))
        }
        Ok(now) if now.role == Role::LABEL => Ok(is_in_selected_row(desktop, &list, &now).await?),
        Ok(now) => Ok(now.states.has(State::Selected)),
        Err(DesktopError::NoElement(_)) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// Returns `true` if a label lies in a selected row of a list: rows of GTK 4 have no name of their own.
async fn is_in_selected_row<D: Desktop>(
    desktop: &D,
    list: &Element,
    label: &Element,
) -> Result<bool, DesktopError> {
    for row in patiently(|| desktop.children(list.id, ITEMS_MAX)).await? {
        if row.states.has(State::Selected) && patiently(|| desktop.is_within(label.id, row.id)).await? {
            return Ok(true);
        }
    }
    Ok(false)
}
