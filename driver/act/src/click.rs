//! Clicking an element or a point.

use deskhand_desktop::{Button, Desktop, DesktopError, DesktopResult, ElementAction, PointerChord};
use deskhand_ui::{
    Element, ElementSource, Role, State, Tree, WindowInfo,
    action::{
        ActionKind, ActionProof, ActionRefusal, ActionRoute, Aim, ElementDelta, Evidence, Shortfall,
        Uncertainty,
    },
    geometry::{Point, Screen},
    ids::WindowId,
    same_app,
    text::clip,
};
use serde_json::json;

use crate::{
    before::Before,
    calendar::Month,
    checks::{CheckedTarget, TargetRequirement, check},
    effect::wait_for_effect,
    menus::{is_menu, is_menu_item},
    oracle,
    patience::{settle_earlier, watch_app},
    report::{ActLimits, ActionReport, ActionTarget, CompletedAction, Halt, carry_out},
    surfaces::{bring_to_front, lasting, modal_in_front, surfaces},
    words::drawn_words,
};

/// The longest question of a page that is kept, in characters: it is answered by its words.
const QUESTION_MAX: usize = 300;

/// A click.
#[derive(Debug, Clone, PartialEq)]
pub struct Click {
    /// Element to click.
    pub target: ActionTarget,
    /// Which button, and the keys that are held meanwhile.
    pub held: PointerChord,
    /// 1, 2 for a double click, or 3.
    pub count: u8,
}

impl Click {
    /// A single click of the main button.
    pub fn once(target: ActionTarget) -> Self {
        Self { target, held: PointerChord::default(), count: 1 }
    }

    fn act(&self) -> ActionKind {
        let PointerChord { button, modifiers } = self.held.clone();
        ActionKind::Click { button, count: self.count, held: modifiers }
    }
}

/// Clicks an element or a point of `window` or its dialogs, and verifies the effect.
///
/// # Errors
/// [`DesktopError::NoWindow`] if the window is gone, or another error of the desktop.
pub async fn click<D: Desktop>(
    desktop: &D,
    window: WindowId,
    click: &Click,
    limits: &ActLimits,
) -> DesktopResult<ActionReport> {
    let report = carry_out(click.act(), click_once(desktop, window, click, limits)).await?;
    let words = drawn_in_opened(desktop, &report).await?;
    Ok(if words.is_empty() { report } else { report.with_output(json!({ "drawn": words })) })
}

/// Returns the words drawn in the window that a click on drawn words opened: nothing else identifies it.
async fn drawn_in_opened<D: Desktop>(desktop: &D, report: &ActionReport) -> DesktopResult<Vec<String>> {
    /// The most words that are reported.
    const WORDS_MAX: usize = 40;
    let is_drawn = report.actions.iter().any(|action| {
        let element = action.aim.named_element();
        element.is_some_and(|element| [Role::DRAWN_TEXT, Role::DRAWN_ICON].contains(&element.role))
    });
    match &report.window {
        Some(opened) if is_drawn => {
            let drawn = drawn_words(desktop, opened.id).await?;
            Ok(drawn.into_iter().map(|element| element.name).take(WORDS_MAX).collect())
        }
        Some(_) | None => Ok(Vec::new()),
    }
}

/// The same, as a part of another action.
pub(crate) async fn click_once<D: Desktop>(
    desktop: &D,
    window: WindowId,
    click: &Click,
    limits: &ActLimits,
) -> Result<CompletedAction, Halt> {
    match &click.target {
        ActionTarget::Element { id, name } => {
            let ready = check(desktop, window, *id, name.as_deref(), TargetRequirement::Act).await?;
            click_element(desktop, &ready, None, click, limits).await
        }
        ActionTarget::Point(point) => click_point(desktop, window, *point, click, limits).await,
    }
}

/// Clicks an entry of a menu that was opened for it. `seen` are the elements of `window` before that: a menu changes none of
/// them, and to read them all anew takes long in an office program.
pub(crate) async fn click_entry<D: Desktop>(
    desktop: &D,
    window: WindowId,
    entry: &Element,
    seen: &Tree,
    limits: &ActLimits,
) -> Result<CompletedAction, Halt> {
    let ready = check(desktop, window, entry.id, Some(&entry.name), TargetRequirement::Act).await?;
    let seen = Some(seen).filter(|_| ready.surface.id == window);
    click_element(desktop, &ready, seen, &Click::once(ActionTarget::element(entry.id)), limits).await
}

/// Clicks an element by pointer where that reaches it, and else through its accessibility action. Never both: what the
/// first way brings about may only come later.
pub(crate) async fn click_element<D: Desktop>(
    desktop: &D,
    ready: &CheckedTarget,
    seen: Option<&Tree>,
    click: &Click,
    limits: &ActLimits,
) -> Result<CompletedAction, Halt> {
    let element = &ready.element;
    let point = match (pointer_at(desktop, ready), ready.point) {
        (Some(point), _) => point,
        (None, otherwise) => match (act_semantically(desktop, ready, click, limits).await, otherwise) {
            // It has no such action, so nothing was sent: it is no item of a popover.
            (Err(Halt::Refused(refusal)), Some(point)) if is_not_on_screen(&refusal) => point,
            (done, _) => return done,
        },
    };
    bring_to_front(desktop, ready.surface.id).await?;
    let shows = lasting(desktop, &ready.surface).await?;
    let before = match seen {
        Some(seen) => Before::with_tree(desktop, &shows, Some(element), seen.clone()).await?,
        None => Before::take(desktop, &shows, Some(element)).await?,
    };
    let before = before.with_target_in(ready.surface.id).clicked_with(click.held.button);
    let before = before.with_caret(desktop).await?;
    let month = Month::of(desktop, (ready.surface.id, &before.tree), element).await?;
    let watch = watch_app(desktop, ready.surface.id).await?;
    desktop.click(point, click.held.clone(), click.count).await?;
    let effect = wait_for_effect(desktop, watch, &before, limits).await?;
    let mut done = effect.to_done(click.act(), Aim::element(element), ActionRoute::Input);
    if effect.damaged && matches!(done.action.evidence, Evidence::NotSeen { .. }) {
        done.action.evidence = if element.source == ElementSource::AtSpi {
            Shortfall::NothingChanged { pixels: true, then: None }.into()
        } else {
            Uncertainty::Pixels { in_picture: true }.into()
        };
    }
    if let Some(month) = month.filter(|_| !done.is_seen())
        && month.comes_to_show(desktop, ready.surface.id).await?
    {
        let now = ElementDelta::State { state: State::Selected, on: true };
        done.action.evidence = ActionProof::Changed { element: element.into(), now }.into();
    }
    if !done.is_seen()
        && let Some(message) = oracle::question_of_page(desktop, &shows).await
    {
        done.action.evidence = ActionProof::PageAsks { message: clip(&message, QUESTION_MAX) }.into();
    }
    Ok(done)
}

fn is_not_on_screen(refusal: &ActionRefusal) -> bool {
    matches!(refusal, ActionRefusal::NotOnScreen { .. })
}

/// Returns the point at which the pointer reaches an element; `None` if there is none.
fn pointer_at<D: Desktop>(desktop: &D, ready: &CheckedTarget) -> Option<Point<Screen>> {
    let misplaced = is_menu(&ready.element.role) && desktop.quirks(ready.element.id).misplaces_menu_items;
    ready.point.filter(|_| !misplaced)
}

/// Presses an element without waiting for the effect: by pointer where that reaches it, and else through its accessibility
/// action.
pub(crate) async fn press<D: Desktop>(desktop: &D, ready: &CheckedTarget) -> Result<ActionRoute, Halt> {
    if let Some(point) = pointer_at(desktop, ready) {
        bring_to_front(desktop, ready.surface.id).await?;
        desktop.click(point, Button::Left, 1).await?;
        return Ok(ActionRoute::Input);
    }
    if desktop.quirks(ready.element.id).blocks_in_actions && is_menu_item(&ready.element.role) {
        // Items of menus open dialogs. Once its menu is open, the pointer reaches it.
        return Err(ActionRefusal::NotOnScreen { element: (&ready.element).into() }.into());
    }
    match desktop.perform(ready.element.id, &ElementAction::Default).await {
        // A call that times out may have opened a dialog that blocks it: the effect decides.
        Ok(()) | Err(DesktopError::NotAnswering { .. }) => Ok(ActionRoute::Semantic),
        Err(DesktopError::NotOffered { .. } | DesktopError::Failed { .. }) => {
            Err(ActionRefusal::NotOnScreen { element: (&ready.element).into() }.into())
        }
        Err(error) => Err(error.into()),
    }
}

/// Invokes the accessibility action of an element that the pointer does not reach.
async fn act_semantically<D: Desktop>(
    desktop: &D,
    ready: &CheckedTarget,
    click: &Click,
    limits: &ActLimits,
) -> Result<CompletedAction, Halt> {
    if click.held != PointerChord::default() || click.count != 1 {
        return Err(ActionRefusal::NotOnScreen { element: (&ready.element).into() }.into());
    }
    let shows = lasting(desktop, &ready.surface).await?;
    let before = Before::take(desktop, &shows, Some(&ready.element)).await?;
    let before = before.with_target_in(ready.surface.id);
    let watch = watch_app(desktop, ready.surface.id).await?;
    press(desktop, ready).await?;
    let effect = wait_for_effect(desktop, watch, &before, limits).await?.accepted();
    Ok(effect.to_done(click.act(), Aim::element(&ready.element), ActionRoute::Semantic))
}

async fn click_point<D: Desktop>(
    desktop: &D,
    window: WindowId,
    point: Point<Screen>,
    click: &Click,
    limits: &ActLimits,
) -> Result<CompletedAction, Halt> {
    let surfaces = surfaces(desktop, window).await?;
    let Some(surface) = surfaces.iter().rev().find(|info| info.bounds.contains(&point)) else {
        let main = surfaces.iter().find(|info| info.id == window);
        let bounds = main.map(|info| info.bounds);
        return Err(ActionRefusal::PointOutside { point, window, bounds }.into());
    };
    if let Some(dialog) = modal_in_front(desktop, &surfaces, surface).await? {
        return Err(ActionRefusal::DialogInFront { dialog: (&dialog).into(), of: None }.into());
    }
    settle_earlier(desktop, surface.id).await?;
    // What lies on top decides. Raising the window below another one of its application would click what nobody saw.
    let is_other = |top: &&WindowInfo| {
        let same = same_app(top, surface) || top.app.root == surface.app.root;
        same && !top.kind.is_popup() && surfaces.iter().all(|own| own.id != top.id)
    };
    let windows = desktop.windows().await?;
    let top = windows.iter().rev().find(|info| info.bounds.contains(&point));
    if let Some(top) = top.filter(is_other) {
        return Err(ActionRefusal::PointCovered { point, by: top.into() }.into());
    }
    bring_to_front(desktop, surface.id).await?;
    let windows = desktop.windows().await?;
    let top = windows.iter().rev().find(|info| info.bounds.contains(&point));
    if let Some(top) = top.filter(|top| !surfaces.iter().any(|own| own.id == top.id)) {
        return Err(ActionRefusal::PointCovered { point, by: top.into() }.into());
    }
    let target = desktop
        .element_at(surface.id, point)
        .await?
        .filter(|element| element.depth > 0 || element.bounds.is_some());
    let aim = Aim::Point { point, on: target.as_ref().map(Into::into) };
    let before = Before::take(desktop, surface, target.as_ref()).await?;
    let before = before.clicked_with(click.held.button);
    let watch = watch_app(desktop, surface.id).await?;
    desktop.click(point, click.held.clone(), click.count).await?;
    let effect = wait_for_effect(desktop, watch, &before, limits).await?;
    let done = effect.to_done(click.act(), aim, ActionRoute::Input);
    Ok(done.or_unknown(effect.damaged && target.is_none()))
}
