//! Selects an option of a drop-down that is a button without name or options, as LibreOffice makes them: the options are in a pop-up that it
//! opens, and what is chosen is shown there alone.

use deskhand_desktop::{Desktop, keys::NamedKey};
use deskhand_ui::{
    Element, ElementQuery, Role, State, WindowInfo,
    action::{ActionProof, ActionRoute, Evidence, SelectionMethod, Uncertainty},
    ids::WindowId,
    names_equal,
};

use crate::{
    checks::CheckedTarget,
    click::{Click, click_once},
    patience::{comes_within, read_tree, watch_app},
    report::{ActLimits, ActionTarget, CompletedAction, Halt},
    select_options::{choose_by_keys, click_option, done, items_of, no_item, press_key, reached_by},
    surfaces,
};

/// Pop-up and options that a drop-down opened.
struct OpenDropDown {
    pop_up: WindowInfo,
    options: Vec<Element>,
    waited_ms: u64,
}

/// Returns `true` if an element may be such a button: those without a name that only switch something are not wide.
pub(crate) fn may_drop_down(element: &Element) -> bool {
    let is_wide = element.bounds.is_some_and(|bounds| bounds.width >= 2 * bounds.height);
    element.role == Role::TOGGLE_BUTTON && element.name.trim().is_empty() && is_wide
}

/// Opens it, takes the option, and looks into the list once more for what is chosen now.
pub(crate) async fn by_drop_down<D: Desktop>(
    desktop: &D,
    window: WindowId,
    list: &CheckedTarget,
    item: &str,
    limits: &ActLimits,
) -> Result<CompletedAction, Halt> {
    let element = &list.element;
    let Some(opened) = open(desktop, window, list, limits).await? else {
        return Err(no_item(element, item, &[]));
    };
    let mut waited_ms = opened.waited_ms;
    let Some(option) = opened.options.iter().find(|option| names_equal(&option.name, item)) else {
        press_key(desktop, NamedKey::Escape, limits).await?;
        return Err(no_item(element, item, &opened.options));
    };
    let wanted = ElementQuery::new(option.role.clone(), &option.name);
    if option.states.has(State::Selected) {
        waited_ms += press_key(desktop, NamedKey::Escape, limits).await?;
        let action = done(element, wanted, ActionProof::Holds { already: true }.into());
        return Ok(action.by(ActionRoute::Input).after(waited_ms).into());
    }
    let watch = watch_app(desktop, list.surface.id).await?;
    let clicked = click_option(desktop, opened.pop_up.id, option).await?;
    let way = if clicked { SelectionMethod::Click } else { SelectionMethod::OpenedList };
    if !clicked && !choose_by_keys(desktop, window, &opened.options, option, limits).await? {
        press_key(desktop, NamedKey::Escape, limits).await?;
        return Ok(done(element, wanted, reached_by(false, way)).after(waited_ms).into());
    }
    let closed = async || is_closed(desktop, &opened.pop_up).await;
    let came = comes_within(desktop, (list.surface.id, watch), limits.effect, closed).await?;
    let evidence = match came.holds {
        true => chosen(desktop, window, list, &option.name, (limits, way)).await?,
        false => {
            press_key(desktop, NamedKey::Escape, limits).await?;
            reached_by(false, way)
        }
    };
    let mut action = came.of(done(element, wanted, evidence).by(ActionRoute::Input));
    action.waited_ms += waited_ms;
    Ok(action.into())
}

/// Opens the list once more and returns the evidence of the chosen item.
async fn chosen<D: Desktop>(
    desktop: &D,
    window: WindowId,
    list: &CheckedTarget,
    item: &str,
    (limits, way): (&ActLimits, SelectionMethod),
) -> Result<Evidence, Halt> {
    // What was chosen may have closed the dialog, or made the button one that cannot be pressed.
    let opened = match open(desktop, window, list, limits).await {
        Ok(opened) => opened,
        Err(Halt::Refused(_)) => None,
        Err(halt) => return Err(halt),
    };
    let Some(OpenDropDown { options, .. }) = opened else { return Ok(Uncertainty::NothingShown.into()) };
    press_key(desktop, NamedKey::Escape, limits).await?;
    let mut selected = options.iter().filter(|option| option.states.has(State::Selected));
    let is_chosen = selected.next().is_some_and(|option| names_equal(&option.name, item));
    Ok(reached_by(is_chosen && selected.next().is_none(), way))
}

/// Clicks the button, and reads the options in the pop-up that comes; `None` if none comes.
async fn open<D: Desktop>(
    desktop: &D,
    window: WindowId,
    list: &CheckedTarget,
    limits: &ActLimits,
) -> Result<Option<OpenDropDown>, Halt> {
    const LISTS: [Role; 6] =
        [Role::TABLE, Role::LIST, Role::LIST_BOX, Role::TREE, Role::TREE_TABLE, Role::MENU];
    // The pop-up of a dialog may have the main window as its owner.
    let known = desktop.windows().await?;
    let clicked =
        click_once(desktop, window, &Click::once(ActionTarget::element(list.element.id)), limits).await?;
    let Some(pop_up) = surfaces::opened(desktop, &known).await?.filter(|info| info.kind.is_popup()) else {
        return Ok(None);
    };
    let tree = read_tree(desktop, pop_up.id).await?;
    let holder = tree.elements.iter().find(|element| LISTS.contains(&element.role));
    let options = match holder {
        Some(holder) => items_of(desktop, holder).await?,
        None => Vec::new(),
    };
    Ok(Some(OpenDropDown { pop_up, options, waited_ms: clicked.action.waited_ms }))
}

async fn is_closed<D: Desktop>(desktop: &D, pop_up: &WindowInfo) -> Result<bool, Halt> {
    let windows = desktop.windows().await?;
    Ok(windows.iter().all(|info| info.id != pop_up.id))
}
