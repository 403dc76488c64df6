//! Launches programs; activates and closes windows.

use std::time::Duration;

use deskhand_core::{
    action::{Act, Action, Aim, Evidence, Proof, Shortfall},
    command::Route,
    duration::milliseconds,
    ids::WindowId,
    ui::{WindowInfo, WindowKind, belongs_to, fold_name, same_app},
};
use deskhand_desktop::{
    Desktop, DesktopError, DesktopResult, LaunchRequest, Launched, QuietLimits, TreeLimits,
};

use crate::{
    patience::watch_app,
    report::{ActLimits, ActionReport},
};

/// How often a wait for a window may be interrupted.
const WAITS_MAX: usize = 1_000;
/// The longest wait for one change before the state is read again.
const LOOK_AGAIN: Duration = Duration::from_secs(1);
/// After this time, a window whose application is unknown to assistive technology counts as one without elements.
const SILENT: Duration = Duration::from_secs(12);

/// Launches a program and waits for its window to be idle with its elements. Follows a program that hands over to a running
/// instance; skips splash screens.
///
/// # Errors
/// [`DesktopError::Launch`] if the program does not exist, or another error of the desktop.
pub async fn launch<D: Desktop>(
    desktop: &D,
    request: &LaunchRequest,
    limits: &ActLimits,
) -> DesktopResult<ActionReport> {
    let known = desktop.windows().await?;
    let launched = desktop.launch(request).await?;
    let done = |aim, evidence: Evidence, waited: &Waited| -> ActionReport {
        let act = Act::Launch { program: launched.name.clone() };
        Action::new(act, aim, evidence).by(Route::Semantic).after(waited.spent_ms).into()
    };
    let mut waited = Waited::new(limits.launch);
    let window = loop {
        let windows = desktop.windows().await?;
        // A window that closes before it is idle was a splash screen.
        if let Some(found) = opened_by(desktop, &known, &windows, &launched)
            && let Some(window) = at_rest(desktop, found, &mut waited).await?
        {
            break window;
        }
        let failed = desktop.process_ended(launched.pid).filter(|how| !how.success());
        if let Some(how) = failed {
            return Ok(done(
                Aim::Unresolved,
                Shortfall::NoWindow { ended: Some(how.to_string()) }.into(),
                &waited,
            ));
        }
        if waited.is_over() {
            return Ok(done(Aim::Unresolved, Shortfall::NoWindow { ended: None }.into(), &waited));
        }
        waited.for_windows(desktop, &windows).await?;
    };
    let proof = Proof::WindowOpened { window: (&window).into() };
    Ok(done(Aim::window(&window), proof.into(), &waited).with_window(Some(window)))
}

/// Time spent waiting.
struct Waited {
    spent_ms: u64,
    bound_ms: u64,
    rounds: usize,
}

impl Waited {
    fn new(bound: Duration) -> Self {
        Self { spent_ms: 0, bound_ms: milliseconds(bound), rounds: 0 }
    }

    const fn is_over(&self) -> bool {
        self.spent_ms >= self.bound_ms || self.rounds >= WAITS_MAX
    }

    /// Waits for a change of the windows or of anything else, such as a new accessibility tree.
    async fn for_windows<D: Desktop>(&mut self, desktop: &D, known: &[WindowInfo]) -> DesktopResult<()> {
        self.rounds += 1;
        let watch = desktop.watch(None).await?;
        if desktop.windows().await? != known {
            return Ok(());
        }
        let left = Duration::from_millis(self.bound_ms.saturating_sub(self.spent_ms)).min(LOOK_AGAIN);
        let limits = QuietLimits { first_change: left, bound: left, ..QuietLimits::default() };
        self.spent_ms += desktop.settle(watch, limits).await?.waited_ms.max(1);
        Ok(())
    }
}

/// The window that a launch opened: by process, class or name; else the first new one of a program that had none, or
/// whose launch handed over to a running instance.
fn opened_by<D: Desktop>(
    desktop: &D,
    known: &[WindowInfo],
    windows: &[WindowInfo],
    launched: &Launched,
) -> Option<WindowInfo> {
    let is_new = |info: &&WindowInfo| {
        info.stands_alone() && !info.bounds.is_empty() && known.iter().all(|before| before.id != info.id)
    };
    let is_of = |info: &&WindowInfo| {
        info.app.pid == Some(launched.pid)
            || launched.wm_class.as_ref().is_some_and(|class| *class == info.app.root)
            || fold_name(&launched.name) == fold_name(&info.app.name)
            || fold_name(&launched.name) == fold_name(&info.app.root)
    };
    let handed_over = desktop.process_ended(launched.pid).is_some();
    let is_first = |info: &&WindowInfo| known.iter().all(|before| !same_app(before, info));
    let new = || windows.iter().rev().filter(is_new);
    new().find(is_of).or_else(|| new().find(|info| handed_over || is_first(info))).cloned()
}

/// Waits until a window shows its elements and is idle; returns its current properties, or `None` if it closes.
async fn at_rest<D: Desktop>(
    desktop: &D,
    opened: WindowInfo,
    waited: &mut Waited,
) -> DesktopResult<Option<WindowInfo>> {
    const ELEMENTS_MIN: usize = 3;
    let few = TreeLimits { nodes_max: ELEMENTS_MIN, ..TreeLimits::default() };
    let mut window = opened;
    let mut silent_ms = 0;
    loop {
        let watch = match watch_app(desktop, window.id).await {
            Ok(watch) => watch,
            Err(DesktopError::NoWindow(_)) => return Ok(None),
            Err(error) => return Err(error),
        };
        let windows = desktop.windows().await?;
        window = match windows.iter().find(|info| info.id == window.id) {
            Some(now) => now.clone(),
            None => return Ok(None),
        };
        let elements = match desktop.tree(window.id, few).await {
            Ok(tree) => tree.elements.len(),
            Err(DesktopError::NoWindow(_)) => return Ok(None),
            Err(error) => return Err(error),
        };
        let shown = window.accessible && elements >= ELEMENTS_MIN;
        let settled = desktop.settle(watch, QuietLimits::default()).await?;
        waited.spent_ms += settled.waited_ms;
        waited.rounds += 1;
        if !window.accessible {
            silent_ms += settled.waited_ms;
        }
        let shows_none = silent_ms >= milliseconds(SILENT);
        if ((shown || shows_none) && settled.changes.is_empty()) || waited.is_over() {
            return Ok(Some(window));
        }
    }
}

/// Raises and focuses a window.
///
/// # Errors
/// [`DesktopError::NoWindow`] if the window is gone, or another error of the desktop.
pub async fn activate<D: Desktop>(desktop: &D, window: WindowId) -> DesktopResult<ActionReport> {
    let outcome = desktop.activate(window).await;
    let windows = desktop.windows().await?;
    let info = windows.iter().find(|info| info.id == window).ok_or(DesktopError::NoWindow(window))?;
    let active = windows.iter().find(|other| other.active);
    let evidence: Evidence = match (active, outcome) {
        (Some(active), _) if active.id == window || belongs_to(&windows, active, info) => {
            Proof::Active { window: active.into() }.into()
        }
        (_, Err(error @ DesktopError::Gone { .. })) => return Err(error),
        (other, outcome) => {
            let error = outcome.err().map(|error| error.chain());
            Shortfall::OtherActive { active: other.map(Into::into), error }.into()
        }
    };
    let action = Action::new(Act::Activate, Aim::window(info), evidence).by(Route::Semantic);
    Ok(ActionReport::from(action).with_window(Some(info.clone())))
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
    let done = |evidence: Evidence, waited: &Waited| -> ActionReport {
        let action = Action::new(Act::Close, Aim::window(&info), evidence).by(Route::Semantic);
        action.after(waited.spent_ms).into()
    };
    let mut waited = Waited::new(limits.quiet.bound);
    loop {
        let windows = desktop.windows().await?;
        if windows.iter().all(|other| other.id != window) {
            let proof = Proof::WindowClosed { window: (&info).into() };
            return Ok(done(proof.into(), &waited).with_window(Some(info.clone())));
        }
        let question = windows.iter().find(|other| {
            other.kind == WindowKind::Dialog
                && known.iter().all(|before| before.id != other.id)
                && (belongs_to(&windows, other, &info) || same_app(other, &info))
        });
        if let Some(question) = question {
            let asks = Shortfall::Asks { dialog: question.into() };
            return Ok(done(asks.into(), &waited).with_window(Some(question.clone())));
        }
        if waited.is_over() {
            return Ok(done(Shortfall::StillOpen.into(), &waited).with_window(Some(info.clone())));
        }
        waited.for_windows(desktop, &windows).await?;
    }
}
