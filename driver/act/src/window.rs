//! Activates and closes windows.

use std::time::Duration;

use deskhand_desktop::{Desktop, DesktopError, DesktopResult};
use deskhand_ui::{
    WindowInfo, WindowKind,
    action::{ActionKind, ActionOutcome, ActionProof, ActionRoute, Aim, Evidence, Shortfall},
    belongs_to,
    ids::WindowId,
    is_notice, same_app,
};

use crate::{
    launching::WindowWait,
    report::{ActLimits, ActionReport},
};

/// Maximum time for a window with the focus to come to the front.
const RAISE_MAX: Duration = Duration::from_secs(1);

/// Raises and focuses a window. One that takes no focus, as a notification or a panel, is in front or not.
///
/// # Errors
/// [`DesktopError::NoWindow`] if the window is gone, or another error of the desktop.
pub async fn activate<D: Desktop>(desktop: &D, window: WindowId) -> DesktopResult<ActionReport> {
    let windows = desktop.windows().await?;
    let info = windows.iter().find(|info| info.id == window).ok_or(DesktopError::NoWindow(window))?;
    if info.kind == WindowKind::Panel || is_notice(&windows, info) {
        let evidence: Evidence = match in_front_of(desktop, info).await? {
            Some(other) => Shortfall::Behind { window: (&other).into() }.into(),
            None => ActionProof::InFront { window: info.into() }.into(),
        };
        let action =
            ActionOutcome::new(ActionKind::Activate, Aim::window(info), evidence).by(ActionRoute::Semantic);
        return Ok(ActionReport::from(action).with_window(Some(info.clone())));
    }
    let outcome = desktop.activate(window).await;
    let windows = desktop.windows().await?;
    let info = windows.iter().find(|info| info.id == window).ok_or(DesktopError::NoWindow(window))?;
    let active = windows.iter().find(|other| other.active);
    let evidence: Evidence = match (active, outcome) {
        (Some(active), _) if active.id == window || belongs_to(&windows, active, info) => {
            match in_front_of(desktop, info).await? {
                Some(other) => Shortfall::Behind { window: (&other).into() }.into(),
                None => ActionProof::Active { window: active.into() }.into(),
            }
        }
        (_, Err(error @ DesktopError::Gone { .. })) => return Err(error),
        (other, outcome) => {
            let error = outcome.err().map(|error| error.chain());
            Shortfall::OtherActive { active: other.map(Into::into), error }.into()
        }
    };
    let action =
        ActionOutcome::new(ActionKind::Activate, Aim::window(info), evidence).by(ActionRoute::Semantic);
    Ok(ActionReport::from(action).with_window(Some(info.clone())))
}

/// The window of another application, or another document, that still covers the middle of a window after a bounded wait.
async fn in_front_of<D: Desktop>(desktop: &D, info: &WindowInfo) -> DesktopResult<Option<WindowInfo>> {
    let mut windows = desktop.windows().await?;
    for last in [false, true] {
        let middle = info.bounds.center();
        let above = windows.iter().skip_while(|other| other.id != info.id).skip(1);
        let covers = |other: &&WindowInfo| {
            !other.kind.is_popup() && other.bounds.contains(&middle) && !belongs_to(&windows, other, info)
        };
        let Some(other) = above.into_iter().find(covers).cloned() else { return Ok(None) };
        if last {
            return Ok(Some(other));
        }
        windows = desktop.windows_changed(&windows, RAISE_MAX).await?;
    }
    Ok(None)
}

/// Asks a window to close. If the application asks a question instead, the report names that dialog.
///
/// # Errors
/// [`DesktopError::NoWindow`] if the window is already gone, or another error of the desktop.
pub async fn close<D: Desktop>(
    desktop: &D,
    window: WindowId,
    limits: &ActLimits,
) -> DesktopResult<ActionReport> {
    let known = desktop.windows().await?;
    let info = known.iter().find(|info| info.id == window).ok_or(DesktopError::NoWindow(window))?.clone();
    desktop.close(window).await?;
    let done = |evidence: Evidence, waited: &WindowWait| -> ActionReport {
        let action =
            ActionOutcome::new(ActionKind::Close, Aim::window(&info), evidence).by(ActionRoute::Semantic);
        action.after(waited.spent_ms).into()
    };
    let mut waited = WindowWait::new(limits.quiet.bound);
    loop {
        let windows = desktop.windows().await?;
        if windows.iter().all(|other| other.id != window) {
            let proof = ActionProof::WindowClosed { window: (&info).into() };
            return Ok(done(proof.into(), &waited).with_window(Some(info.clone())));
        }
        if let Some(question) = question_of(&info, &known, &windows) {
            let asks = Shortfall::Asks { dialog: question.into() };
            return Ok(done(asks.into(), &waited).with_window(Some(question.clone())));
        }
        if waited.is_over() {
            return Ok(done(Shortfall::StillOpen.into(), &waited).with_window(Some(info.clone())));
        }
        waited.for_windows(desktop, &windows).await?;
    }
}

/// The dialog with which an application asks before `window` closes: its own, else one of the same application, that was not among the
/// `known` windows.
pub(crate) fn question_of<'a>(
    window: &WindowInfo,
    known: &[WindowInfo],
    windows: &'a [WindowInfo],
) -> Option<&'a WindowInfo> {
    let is_new = |other: &&WindowInfo| known.iter().all(|before| before.id != other.id);
    let dialogs = || windows.iter().filter(|other| other.kind == WindowKind::Dialog).filter(is_new);
    let own = dialogs().find(|other| belongs_to(windows, other, window));
    own.or_else(|| dialogs().find(|other| same_app(other, window)))
}
