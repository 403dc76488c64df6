//! Clicking an element or a point.

use deskhand_core::{
    action::{Act, Aim, Refusal, Shortfall, Uncertainty},
    command::Route,
    geometry::{Point, Screen},
    ids::WindowId,
    ui::{Element, Pattern, Role, Source},
};
use deskhand_desktop::{Button, Desktop, DesktopError, DesktopResult, ElementAction};

use crate::{
    before::Before,
    checks::{Need, Ready, check},
    effect::{Effect, wait_for_effect},
    patience::watch_app,
    report::{ActLimits, ActionReport, Done, Halt, Target, report},
    surfaces::{bring_to_front, modal_in_front, surfaces},
};

/// A click.
#[derive(Debug, Clone, PartialEq)]
pub struct Click {
    /// What to click.
    pub target: Target,
    /// Which button.
    pub button: Button,
    /// 1, 2 for a double click, or 3.
    pub count: u8,
}

impl Click {
    /// A single click of the main button.
    pub const fn once(target: Target) -> Self {
        Self { target, button: Button::Left, count: 1 }
    }

    const fn act(&self) -> Act {
        Act::Click { button: self.button, count: self.count }
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
    report(click.act(), click_once(desktop, window, click, limits).await)
}

/// The same, as a part of another action.
pub(crate) async fn click_once<D: Desktop>(
    desktop: &D,
    window: WindowId,
    click: &Click,
    limits: &ActLimits,
) -> Result<Done, Halt> {
    match &click.target {
        Target::Element { id, name } => {
            let ready = check(desktop, window, *id, name.as_deref(), Need::Act).await?;
            click_element(desktop, window, &ready, click, limits).await
        }
        Target::Point(point) => click_point(desktop, window, *point, click, limits).await,
    }
}

async fn click_element<D: Desktop>(
    desktop: &D,
    window: WindowId,
    ready: &Ready,
    click: &Click,
    limits: &ActLimits,
) -> Result<Done, Halt> {
    let aim = Aim::element(&ready.element);
    let before = Before::take(desktop, &ready.surface, Some(&ready.element)).await?;
    let mut first = None;
    if click.button == Button::Left && click.count == 1 && is_pressed_semantically(&ready.element) {
        let effect = act_semantically(desktop, ready, &before, limits).await?;
        if let Some(effect) = effect {
            if effect.proof.is_some() {
                return Ok(effect.to_done(click.act(), aim, Route::Semantic));
            }
            first = Some(effect);
        }
    }
    // The accessibility action is not offered or had no effect: use real input. Check everything again, because time has
    // passed.
    let again = check(desktop, window, ready.element.id, Some(&ready.element.name), Need::Act).await;
    let ready = match (again, first.as_ref()) {
        (Ok(ready), _) => ready,
        // The action was already sent, such as to an item of a menu that has closed since.
        (Err(Halt::Refused(refusal)), Some(effect)) => {
            let mut done = effect.to_done(click.act(), aim, Route::Semantic);
            done.action.evidence = Shortfall::NothingChanged { pixels: false, then: Some(refusal) }.into();
            return Ok(done);
        }
        (Err(halt), _) => return Err(halt),
    };
    let Some(point) = ready.point else {
        return Err(Refusal::NotOnScreen { element: (&ready.element).into() }.into());
    };
    bring_to_front(desktop, ready.surface.id).await?;
    let before = Before::take(desktop, &ready.surface, Some(&ready.element)).await?;
    let watch = watch_app(desktop, ready.surface.id).await?;
    desktop.click(point, click.button, click.count).await?;
    let effect = wait_for_effect(desktop, watch, &before, limits).await?;
    let mut done = effect.to_done(click.act(), aim, Route::Input);
    done.action.waited_ms += first.map_or(0, |effect| effect.waited_ms);
    if !done.is_seen() && effect.damaged {
        done.action.evidence = if ready.element.source == Source::AtSpi {
            Shortfall::NothingChanged { pixels: true, then: None }.into()
        } else {
            Uncertainty::Pixels { in_picture: true }.into()
        };
    }
    Ok(done)
}

/// Invokes the accessibility action; `None` if it is not offered or the toolkit rejects it.
pub(crate) async fn act_semantically<D: Desktop>(
    desktop: &D,
    ready: &Ready,
    before: &Before,
    limits: &ActLimits,
) -> Result<Option<Effect>, Halt> {
    let watch = watch_app(desktop, ready.surface.id).await?;
    match desktop.perform(ready.element.id, &ElementAction::Default).await {
        // A call that times out may have opened a dialog that blocks it: the effect decides.
        Ok(()) | Err(DesktopError::NotAnswering { .. }) => {
            Ok(Some(wait_for_effect(desktop, watch, before, limits).await?))
        }
        Err(DesktopError::NotOffered { .. } | DesktopError::Failed { .. }) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Whether a click on the element means its accessibility action, not a position in it.
fn is_pressed_semantically(element: &Element) -> bool {
    const PLACES: &[Role] = &[
        Role::DOCUMENT_SPREADSHEET,
        Role::DOCUMENT_TEXT,
        Role::DOCUMENT_WEB,
        Role::ENTRY,
        Role::PARAGRAPH,
        Role::PASSWORD_TEXT,
        Role::TABLE,
        Role::TABLE_CELL,
        Role::TEXT,
    ];
    element.offers(Pattern::Action) && !PLACES.contains(&element.role)
}

async fn click_point<D: Desktop>(
    desktop: &D,
    window: WindowId,
    point: Point<Screen>,
    click: &Click,
    limits: &ActLimits,
) -> Result<Done, Halt> {
    let surfaces = surfaces(desktop, window).await?;
    let Some(surface) = surfaces.iter().rev().find(|info| info.bounds.contains(&point)) else {
        let main = surfaces.iter().find(|info| info.id == window);
        let bounds = main.map(|info| info.bounds);
        return Err(Refusal::PointOutside { point, window, bounds }.into());
    };
    if let Some(dialog) = modal_in_front(desktop, &surfaces, surface).await? {
        return Err(Refusal::DialogInFront { dialog: (&dialog).into(), of: None }.into());
    }
    bring_to_front(desktop, surface.id).await?;
    let windows = desktop.windows().await?;
    let top = windows.iter().rev().find(|info| info.bounds.contains(&point));
    if let Some(top) = top.filter(|top| !surfaces.iter().any(|own| own.id == top.id)) {
        return Err(Refusal::PointCovered { point, by: top.into() }.into());
    }
    let target = desktop
        .element_at(surface.id, point)
        .await?
        .filter(|element| element.depth > 0 || element.bounds.is_some());
    let aim = Aim::Point { point, on: target.as_ref().map(Into::into) };
    let before = Before::take(desktop, surface, target.as_ref()).await?;
    let watch = watch_app(desktop, surface.id).await?;
    desktop.click(point, click.button, click.count).await?;
    let effect = wait_for_effect(desktop, watch, &before, limits).await?;
    let done = effect.to_done(click.act(), aim, Route::Input);
    Ok(done.or_unknown(effect.damaged && target.is_none()))
}
