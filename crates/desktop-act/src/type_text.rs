//! Types text into an element or the focused one, and reads it back.

use deskhand_core::{
    action::{Act, Action, Aim, Change, TEXT_MAX},
    command::Route,
    ids::{ElementId, WindowId},
    text::clip,
    ui::State,
};
use deskhand_desktop::{Desktop, DesktopResult};
use serde_json::json;

use crate::{
    before::Before,
    checks::{Need, Ready, check},
    clipboard::paste_here,
    effect::wait_for_effect,
    focus::focus_element,
    patience::{read_tree, watch_app},
    report::{ActLimits, ActionReport, Halt, report},
    surfaces::{bring_to_front, surface_of, surfaces},
    text::{Expected, Reading, clear, plain, read, read_back, read_when_done},
};

/// What to type, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TypeText {
    /// The element; `None` for the focused one.
    pub element: Option<ElementId>,
    /// Its expected name.
    pub name: Option<String>,
    /// The text; `\n` is Return, `\t` is Tab.
    pub text: String,
    /// Whether to clear the existing text first.
    pub clear: bool,
}

impl TypeText {
    fn act(&self) -> Act {
        Act::Type { text: clip(&self.text, TEXT_MAX) }
    }
}

/// Types text by keyboard. If the element's text is readable, it is read back and corrected once, and decides the verdict;
/// otherwise changes of the window decide.
///
/// # Errors
/// [`DesktopError::NoWindow`] if the window is gone, or another error of the desktop.
pub async fn type_text<D: Desktop>(
    desktop: &D,
    window: WindowId,
    request: &TypeText,
    limits: &ActLimits,
) -> DesktopResult<ActionReport> {
    report(request.act(), type_and_check(desktop, window, request, limits).await)
}

async fn type_and_check<D: Desktop>(
    desktop: &D,
    window: WindowId,
    request: &TypeText,
    limits: &ActLimits,
) -> Result<ActionReport, Halt> {
    let target = match request.element {
        Some(id) => {
            let ready = check(desktop, window, id, request.name.as_deref(), Need::Act).await?;
            focus_element(desktop, &ready, limits).await?;
            Some(ready)
        }
        None => focused_element(desktop, window).await?,
    };
    let readable = match &target {
        Some(ready) => read(desktop, &ready.element).await?,
        None => None,
    };
    let commits = request.text.contains(['\n', '\t']);
    match (target, readable) {
        (Some(ready), Some(present)) if !commits => {
            let expected = if request.clear { Expected::Whole } else { Expected::Added(present) };
            type_readable(desktop, &ready, request, &expected, limits).await
        }
        (target, _) => type_blindly(desktop, window, target, request, limits).await,
    }
}

async fn type_readable<D: Desktop>(
    desktop: &D,
    ready: &Ready,
    request: &TypeText,
    expected: &Expected,
    limits: &ActLimits,
) -> Result<ActionReport, Halt> {
    let before = Before::take(desktop, &ready.surface, Some(&ready.element)).await?;
    let stale = read(desktop, &ready.element).await?.unwrap_or_default();
    if request.clear {
        clear(desktop, ready, limits).await?;
    }
    let (mut waited_ms, mut changes) = type_once(desktop, ready, &request.text, limits).await?;
    let judge = |found: &str| expected.judge(&request.text, &stale, found);
    let keys = request.text.chars().count();
    let (mut found, more_ms) = read_when_done(desktop, ready, keys, &judge, limits).await?;
    waited_ms += more_ms;
    let mut met = judge(&found) == Reading::Met;
    let corrected = !met;
    if corrected {
        let meant = match expected {
            Expected::Whole => request.text.clone(),
            Expected::Added(before) => format!("{}{}", plain(before), request.text),
        };
        clear(desktop, ready, limits).await?;
        // A busy machine may drop keys; the clipboard does not.
        let (paste_ms, taken) = paste_here(desktop, ready, &meant, limits).await?;
        waited_ms += paste_ms;
        if !taken {
            // It does not support pasting.
            let (more_ms, more) = type_once(desktop, ready, &meant, limits).await?;
            waited_ms += more_ms;
            changes.extend(more);
        }
        let wrong = found.clone();
        let judge = |found: &str| Expected::Whole.judge(&meant, &wrong, found);
        found = read_when_done(desktop, ready, meant.chars().count(), &judge, limits).await?.0;
        met = judge(&found) == Reading::Met;
    }
    let evidence = read_back(&found, met, corrected);
    let action = Action::new(request.act(), Aim::element(&ready.element), evidence).by(Route::Input);
    let opened = desktop.windows().await?;
    let opened = opened.into_iter().find(|info| before.windows.iter().all(|known| known.id != info.id));
    Ok(ActionReport::from(action.after(waited_ms).with_changes(changes))
        .with_window(opened)
        .with_output(json!({ "text": clip(&found, TEXT_MAX) })))
}

async fn type_once<D: Desktop>(
    desktop: &D,
    ready: &Ready,
    text: &str,
    limits: &ActLimits,
) -> Result<(u64, Vec<Change>), Halt> {
    let watch = watch_app(desktop, ready.surface.id).await?;
    desktop.type_text(text).await?;
    let settled = desktop.settle(watch, limits.quiet).await?;
    Ok((settled.waited_ms, settled.changes))
}

async fn type_blindly<D: Desktop>(
    desktop: &D,
    window: WindowId,
    target: Option<Ready>,
    request: &TypeText,
    limits: &ActLimits,
) -> Result<ActionReport, Halt> {
    let front = bring_to_front(desktop, window).await?;
    let aim = target.as_ref().map_or_else(|| Aim::focus_of(&front), |ready| Aim::element(&ready.element));
    if let Some(ready) = target.as_ref().filter(|_| request.clear) {
        clear(desktop, ready, limits).await?;
    }
    let element = target.as_ref().map(|ready| &ready.element);
    let before = Before { focus_counts: true, ..Before::take(desktop, &front, element).await? };
    let watch = watch_app(desktop, front.id).await?;
    desktop.type_text(&request.text).await?;
    let effect = wait_for_effect(desktop, watch, &before, limits).await?;
    Ok(effect.to_done(request.act(), aim, Route::Input).or_unknown(effect.damaged).into())
}

/// The focused element of the topmost surface that has one.
async fn focused_element<D: Desktop>(desktop: &D, window: WindowId) -> Result<Option<Ready>, Halt> {
    let front = bring_to_front(desktop, window).await?;
    let tree = read_tree(desktop, front.id).await?;
    let focused = tree.elements.into_iter().rev().find(|element| element.states.has(State::Focused));
    let Some(element) = focused else { return Ok(None) };
    let all = surfaces(desktop, window).await?;
    let surface = surface_of(desktop, &all, element.id).await?.unwrap_or(front);
    let point = element.bounds.map(|bounds| bounds.center());
    Ok(Some(Ready { surface, element, point }))
}
