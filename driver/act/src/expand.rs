//! Expanding and collapsing an item of a tree, a combo box or a section.

use deskhand_desktop::{Button, Desktop, DesktopError, DesktopResult, ElementAction, keys::NamedKey};
use deskhand_ui::{
    State,
    action::{
        ActionKind, ActionOutcome, ActionProof, ActionRefusal, ActionRoute, Aim, Evidence, Shortfall,
        Uncertainty, UnsupportedCapability,
    },
    ids::{ElementId, WindowId},
};

use crate::{
    checks::{CheckedTarget, TargetRequirement, check},
    focus::{focus_element, has_focus},
    patience::{comes_within, read_element, watch_app},
    report::{ActLimits, ActionReport, Halt, carry_out},
};

/// Names of actions that expand and collapse an element. Not `Toggle`, which selects a cell in Qt.
const OPENERS: [&str; 3] = ["expand or contract", "expand", "collapse"];

/// Expands or collapses an element, and reads it back; does nothing if it already is in that state.
///
/// # Errors
/// [`DesktopError::NoWindow`] if the window is gone, or another error of the desktop.
pub async fn expand<D: Desktop>(
    desktop: &D,
    window: WindowId,
    (id, name): (ElementId, Option<&str>),
    open: bool,
    limits: &ActLimits,
) -> DesktopResult<ActionReport> {
    carry_out(ActionKind::Expand { open }, expand_and_check(desktop, window, (id, name), open, limits)).await
}

/// The ways to expand an element, best first.
#[derive(Debug, Clone)]
enum ExpandMethod {
    Action(String),
    ArrowKey,
    /// The same, if only a click focuses it.
    ClickAndArrowKey,
    DoubleClick,
}

async fn expand_and_check<D: Desktop>(
    desktop: &D,
    window: WindowId,
    (id, name): (ElementId, Option<&str>),
    open: bool,
    limits: &ActLimits,
) -> Result<ActionOutcome, Halt> {
    let ready = check(desktop, window, id, name, TargetRequirement::Act).await?;
    let is_so = |states: deskhand_ui::States| states.has(State::Expanded) == open;
    if is_so(ready.element.states) {
        return Ok(done(&ready, open, ActionProof::Holds { already: true }));
    }
    let offered = desktop.action_names(id).await?;
    let opener = |name: &String| OPENERS.iter().any(|opener| name.eq_ignore_ascii_case(opener));
    let actions = offered.into_iter().filter(opener).map(ExpandMethod::Action);
    if !ready.element.states.has(State::Expandable) && open {
        let element = (&ready.element).into();
        return Err(ActionRefusal::Unsupported { element, what: UnsupportedCapability::Expanding }.into());
    }
    // The first way that was taken decides: another one would revert it if it works late.
    for way in
        actions.chain([ExpandMethod::ArrowKey, ExpandMethod::ClickAndArrowKey, ExpandMethod::DoubleClick])
    {
        let watch = watch_app(desktop, ready.surface.id).await?;
        if !go(desktop, &ready, &way, open, limits).await? {
            continue;
        }
        let read = async || Ok::<_, Halt>(is_so(read_element(desktop, id).await?.states));
        let came = comes_within(desktop, (ready.surface.id, watch), limits.effect, read).await?;
        let (route, is_accepted) = match way {
            ExpandMethod::Action(_) => (ActionRoute::Semantic, true),
            ExpandMethod::ArrowKey | ExpandMethod::ClickAndArrowKey | ExpandMethod::DoubleClick => {
                (ActionRoute::Input, false)
            }
        };
        let evidence: Evidence = match (came.holds, is_accepted) {
            (true, _) => ActionProof::Holds { already: false }.into(),
            (false, true) => Uncertainty::NothingShown.into(),
            (false, false) => Shortfall::NotReached { way: None }.into(),
        };
        return Ok(came.of(done(&ready, open, evidence).by(route)));
    }
    let element = (&ready.element).into();
    Err(ActionRefusal::Unsupported { element, what: UnsupportedCapability::Expanding }.into())
}

fn done(ready: &CheckedTarget, open: bool, evidence: impl Into<Evidence>) -> ActionOutcome {
    ActionOutcome::new(ActionKind::Expand { open }, Aim::element(&ready.element), evidence)
}

/// Expands or collapses the element; returns `true` if anything was sent.
async fn go<D: Desktop>(
    desktop: &D,
    ready: &CheckedTarget,
    way: &ExpandMethod,
    open: bool,
    limits: &ActLimits,
) -> Result<bool, Halt> {
    match way {
        ExpandMethod::Action(name) => {
            match desktop.perform(ready.element.id, &ElementAction::Named(name.clone())).await {
                Ok(()) | Err(DesktopError::NotAnswering { .. }) => Ok(true),
                Err(DesktopError::NotOffered { .. } | DesktopError::Failed { .. }) => Ok(false),
                Err(error) => Err(error.into()),
            }
        }
        ExpandMethod::ArrowKey => {
            focus_element(desktop, ready, limits).await?;
            press_arrow(desktop, ready, open).await
        }
        ExpandMethod::ClickAndArrowKey => {
            let Some(point) = ready.point else { return Ok(false) };
            let watch = watch_app(desktop, ready.surface.id).await?;
            desktop.click(point, Button::Left, 1).await?;
            desktop.settle(watch, limits.quiet).await?;
            press_arrow(desktop, ready, open).await
        }
        ExpandMethod::DoubleClick => {
            let Some(point) = ready.point else { return Ok(false) };
            desktop.click(point, Button::Left, 2).await?;
            Ok(true)
        }
    }
}

/// Presses the arrow key that expands or collapses the focused item; any other would move the focus.
async fn press_arrow<D: Desktop>(desktop: &D, ready: &CheckedTarget, open: bool) -> Result<bool, Halt> {
    if !has_focus(desktop, ready.surface.id, ready.element.id).await? {
        return Ok(false);
    }
    let key = if open { NamedKey::Right } else { NamedKey::Left };
    desktop.press(&key.into()).await?;
    Ok(true)
}
