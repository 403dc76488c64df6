//! Selects an item of a list that is only drawn: words that were read in the picture of a window.

use deskhand_desktop::{Desktop, DesktopResult, QuietLimits, keys::NamedKey};
use deskhand_ui::{
    Element, ElementQuery,
    action::{
        ActionKind, ActionOutcome, ActionProof, ActionRefusal, ActionRoute, Aim, Among, Evidence,
        SelectionMethod, Shortfall,
    },
    ids::WindowId,
    names_equal,
};

use crate::{
    checks::CheckedTarget,
    click::{Click, click_once},
    find::nearest_names,
    report::{ActLimits, ActionTarget, CompletedAction, Halt},
    surfaces::surfaces,
    words::{LOOKS_MAX, called, drawn_words, find_drawn},
};

/// Clicks a box and then the item in what it opens. Seen if its words stand in place of those of the box then; an item of a list that
/// is always open has the effect of a click.
pub(crate) async fn select_drawn<D: Desktop>(
    desktop: &D,
    window: WindowId,
    list: &CheckedTarget,
    item: &str,
    limits: &ActLimits,
) -> Result<CompletedAction, Halt> {
    let shown = &list.element;
    let wanted = ElementQuery::named(item);
    let done = |item: ElementQuery, evidence: Evidence| {
        ActionOutcome::new(ActionKind::SelectItem { item }, Aim::element(shown), evidence)
    };
    if names_equal(&shown.name, item) {
        return Ok(done(wanted, ActionProof::Holds { already: true }.into()).into());
    }
    let known = surfaces(desktop, window).await?;
    let opened = click_once(desktop, window, &Click::once(ActionTarget::element(shown.id)), limits).await?;
    let found = match find_item(desktop, window, &wanted).await? {
        Ok(found) => found,
        Err(names) => {
            let now = surfaces(desktop, window).await?;
            if now.iter().any(|info| known.iter().all(|before| before.id != info.id)) {
                let watch = desktop.watch(None).await?;
                desktop.press(&NamedKey::Escape.into()).await?;
                desktop.settle(watch, limits.quiet).await?;
            }
            let items = nearest_names(item, names.iter().map(String::as_str));
            let among = Among::Items { list: shown.into(), items };
            return Err(ActionRefusal::NotFound { name: item.to_owned(), among }.into());
        }
    };
    let request = Click::once(ActionTarget::Element { id: found.id, name: Some(found.name.clone()) });
    let clicked = click_once(desktop, window, &request, limits).await?;
    let waited_ms = opened.action.waited_ms + clicked.action.waited_ms;
    let now = drawn_words(desktop, list.surface.id).await?;
    let is_there = |one: &Element| {
        let meet = one.bounds.zip(shown.bounds).is_some_and(|(one, list)| one.intersection(&list).is_some());
        meet && one.id != found.id
    };
    let there: Vec<Element> = now.into_iter().filter(is_there).collect();
    let evidence = match called(&there, &wanted) {
        Some(_) => ActionProof::Holds { already: false }.into(),
        None if opened.window.is_some() => Shortfall::NotReached { way: Some(SelectionMethod::Click) }.into(),
        None => clicked.action.evidence,
    };
    Ok(done(ElementQuery::named(&found.name), evidence).by(ActionRoute::Input).after(waited_ms).into())
}

/// The item in the topmost surface that has it, which may have to be drawn first; else all words that are drawn.
async fn find_item<D: Desktop>(
    desktop: &D,
    window: WindowId,
    wanted: &ElementQuery,
) -> DesktopResult<Result<Element, Vec<String>>> {
    let mut names = Vec::new();
    for _ in 0..LOOKS_MAX {
        let watch = desktop.watch(Some(window)).await?;
        match find_drawn(desktop, surfaces(desktop, window).await?.iter().rev(), wanted).await? {
            Ok(found) => return Ok(Ok(found)),
            Err(drawn) => names = drawn,
        }
        desktop.settle(watch, QuietLimits::default()).await?;
    }
    Ok(Err(names))
}
