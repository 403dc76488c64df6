//! Launches programs; activates and closes windows.

use std::{
    pin::pin,
    time::{Duration, Instant},
};

use deskhand_core::{
    action::{Act, Action, Aim, Evidence, Now, Proof, Refusal, Shortfall},
    command::Route,
    duration::milliseconds,
    ids::WindowId,
    ui::{Role, State, WindowInfo, WindowKind, belongs_to, fold_name, same_app},
};
use deskhand_desktop::{
    Aspect, Change, Desktop, DesktopError, DesktopResult, LaunchRequest, Launched, QuietLimits, TreeLimits,
};
use futures_util::future::{Either, select};

use crate::{
    patience::watch_app,
    report::{ActLimits, ActionReport, refused},
};

/// How often a wait for a window may be interrupted.
const WAITS_MAX: usize = 1_000;
/// How long a window with the focus may take to come to the front.
const RAISE_MAX: Duration = Duration::from_secs(1);
/// The longest wait for one change before the state is read again.
const LOOK_AGAIN: Duration = Duration::from_secs(1);
/// After this time, a window whose application is unknown to assistive technology counts as one without elements.
const SILENT: Duration = Duration::from_secs(12);

/// How long a window that shows its elements must be quiet. LibreOffice goes on to enable single buttons of its toolbars by timers
/// of 50 to 150 ms.
const AT_REST: Duration = Duration::from_millis(25);

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
    let (request, files) = match resolve_files(desktop, request).await? {
        Ok(resolved) => resolved,
        Err(refusal) => return Ok(refused(Act::Launch { program: request.program.clone() }, refusal)),
    };
    let known = desktop.windows().await?;
    let launched = desktop.launch(&request).await?;
    let done = |aim, evidence: Evidence, waited: &Waited| -> ActionReport {
        let act = Act::Launch { program: launched.name.clone() };
        Action::new(act, aim, evidence).by(Route::Semantic).after(waited.spent_ms).into()
    };
    let mut waited = Waited::new(limits.launch);
    let window = loop {
        let windows = desktop.windows().await?;
        // A window that closes before it is idle was a splash screen.
        if let Some(found) = opened_by(desktop, &known, &windows, &launched, &files)
            && let Some(window) = at_rest(desktop, found, &mut waited).await?
        {
            break window;
        }
        if let Some((window, proof)) = taken_over(desktop, &known, &windows, &launched, &files).await? {
            return Ok(done(Aim::window(&window), proof.into(), &waited).with_window(Some(window)));
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

    /// Waits for a change of the windows, or until anything else that changes, such as a new accessibility tree, is quiet.
    async fn for_windows<D: Desktop>(&mut self, desktop: &D, known: &[WindowInfo]) -> DesktopResult<()> {
        self.rounds += 1;
        let begun = Instant::now();
        let watch = desktop.watch(None).await?;
        if desktop.windows().await? != known {
            return Ok(());
        }
        let left = Duration::from_millis(self.bound_ms.saturating_sub(self.spent_ms)).min(LOOK_AGAIN);
        let limits = QuietLimits { first_change: left, bound: left, ..QuietLimits::default() };
        let settled = pin!(desktop.settle(watch, limits));
        let changed = pin!(desktop.windows_changed(known, left));
        let spent_ms = match select(settled, changed).await {
            Either::Left((settled, _)) => settled?.waited_ms,
            Either::Right((windows, _)) => windows.map(|_| milliseconds(begun.elapsed()))?,
        };
        self.spent_ms += spent_ms.max(1);
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
    files: &[String],
) -> Option<WindowInfo> {
    let is_new = |info: &&WindowInfo| {
        info.stands_alone() && !info.bounds.is_empty() && known.iter().all(|before| before.id != info.id)
    };
    let is_of = |info: &&WindowInfo| is_of(info, launched);
    let handed_over = desktop.process_ended(launched.pid).is_some();
    let is_first = |info: &&WindowInfo| known.iter().all(|before| !same_app(before, info));
    let new = || windows.iter().rev().filter(is_new);
    // Of several windows, the one that shows the file.
    let shows = |info: &&WindowInfo| files.iter().any(|file| shows_file(info, file));
    new()
        .find(shows)
        .or_else(|| new().find(is_of))
        .or_else(|| new().find(|info| handed_over || is_first(info)))
        .cloned()
}

/// Whether a window is one of the program that was launched.
fn is_of(info: &WindowInfo, launched: &Launched) -> bool {
    info.app.pid == Some(launched.pid)
        || launched.wm_class.as_ref().is_some_and(|class| *class == info.app.root)
        || fold_name(&launched.name) == fold_name(&info.app.name)
        || fold_name(&launched.name) == fold_name(&info.app.root)
}

/// Whether the title of a window names a file.
fn shows_file(info: &WindowInfo, file: &str) -> bool {
    let name = file.rsplit('/').next().unwrap_or(file);
    !name.is_empty() && info.title.contains(name)
}

/// The request with absolute paths, and its files; refused if one of them does not exist. Options and addresses are passed on as
/// they are, and plain words to what is no installed application.
async fn resolve_files<D: Desktop>(
    desktop: &D,
    request: &LaunchRequest,
) -> DesktopResult<Result<(LaunchRequest, Vec<String>), Refusal>> {
    let (mut arguments, mut files) = (Vec::new(), Vec::new());
    let takes_files = desktop.applications().iter().any(|one| one.is_named(&request.program));
    for argument in &request.arguments {
        let is_address = argument.contains("://") && !argument.starts_with("file://");
        if argument.starts_with('-') || is_address {
            arguments.push(argument.clone());
            continue;
        }
        let state = desktop.file(argument).await?;
        if state.stamp.is_some() || state.is_folder {
            files.push(state.path.clone());
            arguments.push(state.path);
        } else if takes_files || argument.starts_with(['/', '~', '.']) || argument.starts_with("file://") {
            let (path, folder, near) = (state.path, !state.has_folder, state.near);
            return Ok(Err(Refusal::NoFile { path, folder, near }));
        } else {
            arguments.push(argument.clone());
        }
    }
    Ok(Ok((LaunchRequest { program: request.program.clone(), arguments }, files)))
}

/// The window of a running instance that took over the files of a program that has ended, with what shows it: its title or a
/// tab names the file.
async fn taken_over<D: Desktop>(
    desktop: &D,
    known: &[WindowInfo],
    windows: &[WindowInfo],
    launched: &Launched,
    files: &[String],
) -> DesktopResult<Option<(WindowInfo, Proof)>> {
    let handed_over = desktop.process_ended(launched.pid).is_some_and(|how| how.success());
    let Some(file) = files.last().filter(|_| handed_over) else { return Ok(None) };
    let own = || windows.iter().rev().filter(|info| info.stands_alone() && is_of(info, launched));
    if let Some(window) = own().find(|info| shows_file(info, file)) {
        let title_before = known.iter().find(|before| before.id == window.id).map(|before| &before.title);
        let proof = match title_before {
            Some(title) if *title == window.title => Proof::Active { window: window.into() },
            _ => Proof::TitleChanged { title: window.title.clone() },
        };
        let opens_later = matches!(proof, Proof::Active { .. }) && !window.active;
        return Ok((!opens_later).then(|| (window.clone(), proof)));
    }
    for window in own() {
        let tree = match desktop.tree(window.id, TreeLimits::default()).await {
            Err(DesktopError::NoWindow(_)) => continue,
            other => other?,
        };
        let name = file.rsplit('/').next().unwrap_or(file);
        let tab = tree.elements.iter().find(|element| {
            element.role == Role::PAGE_TAB
                && element.name.contains(name)
                && element.states.has(State::Selected)
        });
        if let Some(tab) = tab {
            let proof = Proof::Changed { element: tab.into(), now: Now::Came };
            return Ok(Some((window.clone(), proof)));
        }
    }
    Ok(None)
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
    let mut had_changes = false;
    // What an application does by timers once it has built its window: whether single controls take input, not whether it does.
    let only_enables = |change: &Change| {
        matches!(change, Change::Element { aspect: Aspect::State(State::Enabled | State::Sensitive), .. })
    };
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
        let mut quiet = QuietLimits { quiet: AT_REST, ..QuietLimits::default() };
        if had_changes {
            quiet.first_change = Duration::ZERO;
        }
        let settled = desktop.settle(watch, quiet).await?;
        waited.spent_ms += settled.waited_ms;
        waited.rounds += 1;
        if !window.accessible {
            silent_ms += settled.waited_ms;
        }
        let shows_none = silent_ms >= milliseconds(SILENT);
        let rests = settled.changes.iter().all(|change| had_changes && only_enables(change));
        if ((shown || shows_none) && rests) || waited.is_over() {
            return Ok(Some(window));
        }
        had_changes |= !settled.changes.is_empty();
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
            match in_front_of(desktop, info).await? {
                Some(other) => Shortfall::Behind { window: (&other).into() }.into(),
                None => Proof::Active { window: active.into() }.into(),
            }
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
