//! Starts programs, and waits until they show what they were started for.
//!
//! - [`launch`] starts one, [`open`] several at once with documents; both wait in the same way.
//! - `shown` tells which window or tab shows what, `rest` when a window can be worked on, `waited` counts the time.

mod rest;
mod shown;
mod waited;

use deskhand_desktop::{Desktop, DesktopResult, LaunchRequest, LaunchedProgram};
use deskhand_ui::{
    WindowInfo,
    action::{ActionKind, ActionOutcome, ActionProof, ActionRefusal, ActionRoute, Aim, Evidence, Shortfall},
    duration::milliseconds,
    ids::WindowId,
};
use futures_util::future::join_all;
use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use rest::at_rest;
use shown::{How, LaunchExpectation, LaunchMatch, assign};
pub(crate) use waited::WindowWait;

use crate::report::{ActLimits, ActionReport, refused};

/// Time without a change after which a program that ended well and showed nothing counts as failed. Until then,
/// a running instance may have taken over.
const HANDED_OVER: Duration = Duration::from_secs(5);
/// Time after opening within which a window may have a title that names no document. Later, that title counts
/// as final: a browser shows its window before the page.
const NAMED_WITHIN: Duration = Duration::from_secs(1);

/// A start of a program, with the documents that it opens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DocumentLaunch {
    /// Program to start.
    pub request: LaunchRequest,
    /// The paths and addresses among its arguments: each is waited for.
    pub documents: Vec<String>,
}

/// The end of [`open`].
#[derive(Debug, Clone, PartialEq)]
pub enum DocumentLaunchOutcome {
    /// Everything is open: a report with the window of each document, in the order of the openings and of their documents.
    All(Vec<ActionReport>),
    /// A document did not open. What becomes of the others was not awaited.
    Failed {
        /// The document.
        document: String,
        /// Report on the document.
        report: Box<ActionReport>,
    },
}

/// Launches a program and waits for its window to be idle with its elements. Follows a program that hands over to a running
/// instance; skips splash screens.
///
/// # Errors
/// [`deskhand_desktop::DesktopError::Launch`] if the program does not exist, or another error of the desktop.
pub async fn launch<D: Desktop>(
    desktop: &D,
    request: &LaunchRequest,
    limits: &ActLimits,
) -> DesktopResult<ActionReport> {
    let (request, files) = match resolve_files(desktop, request).await? {
        Ok(resolved) => resolved,
        Err(refusal) => return Ok(refused(ActionKind::Launch { program: request.program.clone() }, refusal)),
    };
    let known = desktop.windows().await?;
    let launched = desktop.launch(&request).await?;
    let wish = LaunchExpectation { start: 0, launched: &launched, files: &files };
    let (ends, waited) = Box::pin(all_shown(desktop, &known, &[wish], limits)).await?;
    let end = ends.into_iter().next().unwrap_or(LaunchWaitOutcome::Pending);
    Ok(end.report(desktop, &launched, &waited))
}

/// Starts several programs at once and waits until each document has a window or a tab of its own, and the windows are idle with
/// their elements. Files that do not exist are passed on: the program begins them.
///
/// # Errors
/// [`deskhand_desktop::DesktopError::Launch`] if a program does not exist, or another error of the desktop.
pub async fn open<D: Desktop>(
    desktop: &D,
    openings: &[DocumentLaunch],
    limits: &ActLimits,
) -> DesktopResult<DocumentLaunchOutcome> {
    for document in openings.iter().flat_map(|opening| &opening.documents) {
        if !document.contains("://") {
            // A title has its name alone; the desktop knows the path from now on.
            desktop.file(document).await?;
        }
    }
    let known = desktop.windows().await?;
    let requests: Vec<LaunchRequest> = openings.iter().map(|opening| opening.request.clone()).collect();
    let launched = desktop.launch_all(&requests).await?;
    let starts = || openings.iter().zip(&launched).enumerate();
    let wishes: Vec<LaunchExpectation<'_>> = starts()
        .flat_map(|(start, (opening, launched))| {
            let each = opening.documents.iter().map(std::slice::from_ref);
            each.map(move |files| LaunchExpectation { start, launched, files })
        })
        .collect();
    let (ends, waited) = all_shown(desktop, &known, &wishes, limits).await?;
    let failed = ends.iter().position(|end| matches!(end, LaunchWaitOutcome::Failed(_)));
    let failed = failed.or_else(|| ends.iter().position(|end| matches!(end, LaunchWaitOutcome::Pending)));
    if let Some((wish, end)) = failed.and_then(|at| Some((wishes.get(at)?, ends.get(at)?))) {
        let document = wish.files.first().cloned().unwrap_or_default();
        let report = Box::new(end.clone().report(desktop, wish.launched, &waited));
        return Ok(DocumentLaunchOutcome::Failed { document, report });
    }
    let reports =
        ends.into_iter().zip(&wishes).map(|(end, wish)| end.report(desktop, wish.launched, &waited));
    Ok(DocumentLaunchOutcome::All(reports.collect()))
}

/// Outcome of the wait for one item.
#[derive(Debug, Clone)]
enum LaunchWaitOutcome {
    /// The item is shown.
    Shown(Box<LaunchMatch>),
    /// Its program ended without showing it.
    Failed(String),
    /// Not shown in time, or not awaited.
    Pending,
}

impl LaunchWaitOutcome {
    fn report<D: Desktop>(
        self,
        desktop: &D,
        launched: &LaunchedProgram,
        waited: &WindowWait,
    ) -> ActionReport {
        let act = ActionKind::Launch { program: launched.name.clone() };
        let done = |aim, evidence: Evidence| -> ActionReport {
            ActionOutcome::new(act, aim, evidence).by(ActionRoute::Semantic).after(waited.spent_ms).into()
        };
        let ended = match self {
            Self::Shown(shown) => {
                let LaunchMatch { window, how } = *shown;
                let proof = match how {
                    How::Opened => ActionProof::WindowOpened { window: (&window).into() },
                    How::Tab { proof, .. } | How::Proven(proof) => proof,
                };
                return done(Aim::window(&window), proof.into()).with_window(Some(window));
            }
            Self::Failed(how) => Some(how),
            Self::Pending => None,
        };
        let said = desktop.last_words(launched.pid);
        done(Aim::Unresolved, Shortfall::NoWindow { ended, said }.into())
    }
}

/// Waits until everything is shown and at rest, one program has failed, or the time is over.
async fn all_shown<D: Desktop>(
    desktop: &D,
    known: &[WindowInfo],
    wishes: &[LaunchExpectation<'_>],
    limits: &ActLimits,
) -> DesktopResult<(Vec<LaunchWaitOutcome>, WindowWait)> {
    let mut waited = WindowWait::new(limits.launch);
    // How each window came: when, and with which title.
    let mut came: BTreeMap<WindowId, (Instant, String)> = BTreeMap::new();
    loop {
        let windows = desktop.windows().await?;
        for window in &windows {
            came.entry(window.id).or_insert_with(|| (Instant::now(), window.title.clone()));
        }
        let mut shown = assign(desktop, known, &windows, wishes).await?;
        if shown.iter().all(Option::is_some) {
            // A window that closes before it is idle was a splash screen.
            if all_rest(desktop, &mut shown, &came, &mut waited, limits).await? {
                let unnamed = shown.iter().flatten().zip(wishes).filter_map(|(one, wish)| {
                    let (at, title) = came.get(&one.window.id)?;
                    (one.may_be_named(wish) && *title == one.window.title).then_some(*at)
                });
                let left = unnamed.max().map(|at| NAMED_WITHIN.saturating_sub(at.elapsed()));
                if let Some(left) = left.filter(|left| !left.is_zero() && !waited.is_over()) {
                    let before = desktop.windows().await?;
                    let begun = Instant::now();
                    let changed = desktop.windows_changed(&before, left).await? != before;
                    waited.spent(milliseconds(begun.elapsed()));
                    if changed {
                        continue;
                    }
                }
                let ends = shown.into_iter().flatten().map(|shown| LaunchWaitOutcome::Shown(Box::new(shown)));
                return Ok((ends.collect(), waited));
            }
        }
        let over = waited.is_over();
        let missing: Vec<usize> = shown
            .iter()
            .zip(wishes)
            .filter(|(shown, _)| shown.is_none())
            .map(|(_, wish)| wish.start)
            .collect();
        // One that still starts may be the instance that another one has handed over to.
        let starts = |wish: &LaunchExpectation<'_>| {
            let mut others = wishes.iter().filter(|other| other.start != wish.start);
            others.any(|other| {
                missing.contains(&other.start) && desktop.process_ended(other.launched.pid).is_none()
            })
        };
        let still = waited.still_ms >= milliseconds(HANDED_OVER);
        let ends: Vec<LaunchWaitOutcome> = shown
            .into_iter()
            .zip(wishes)
            .map(|(shown, wish)| match (shown, failure(desktop, wish, still && !starts(wish))) {
                (Some(shown), _) => LaunchWaitOutcome::Shown(Box::new(shown)),
                (None, Some(how)) => LaunchWaitOutcome::Failed(how),
                (None, None) => LaunchWaitOutcome::Pending,
            })
            .collect();
        if over || ends.iter().any(|end| matches!(end, LaunchWaitOutcome::Failed(_))) {
            return Ok((ends, waited));
        }
        waited.for_windows(desktop, &windows).await?;
    }
}

/// Waits until all windows that something is shown in are idle, at the same time; `false` if one has closed.
async fn all_rest<D: Desktop>(
    desktop: &D,
    shown: &mut [Option<LaunchMatch>],
    came: &BTreeMap<WindowId, (Instant, String)>,
    waited: &mut WindowWait,
    limits: &ActLimits,
) -> DesktopResult<bool> {
    let mut windows: Vec<WindowInfo> = Vec::new();
    for one in shown.iter().flatten() {
        if one.comes_to_rest() && windows.iter().all(|window| window.id != one.window.id) {
            windows.push(one.window.clone());
        }
    }
    let rests = windows.into_iter().map(async |window| {
        let mut own = WindowWait::new(limits.launch);
        let since = came.get(&window.id).map_or_else(Instant::now, |(at, _)| *at);
        let rested = at_rest(desktop, window, since, &mut own).await;
        rested.map(|window| (window, own.spent_ms))
    });
    let mut longest_ms = 0;
    for rested in join_all(rests).await {
        let (window, ms) = rested?;
        longest_ms = longest_ms.max(ms);
        let Some(window) = window else {
            waited.spent(longest_ms);
            return Ok(false);
        };
        for one in shown.iter_mut().flatten().filter(|one| one.window.id == window.id) {
            one.window = window.clone();
        }
    }
    waited.spent(longest_ms);
    // One may have closed after it rested: a dialog that showed the progress of the start.
    let now = desktop.windows().await?;
    Ok(shown.iter().flatten().all(|one| now.iter().any(|window| window.id == one.window.id)))
}

/// Returns how the program ended that was to show something, if it no longer will: it failed, or no running
/// instance took over.
fn failure<D: Desktop>(desktop: &D, wish: &LaunchExpectation<'_>, still: bool) -> Option<String> {
    let how = desktop.process_ended(wish.launched.pid)?;
    (!how.success() || still).then(|| how.to_string())
}

/// The request with absolute paths, and what it opens; refused if one of the files does not exist. Options and addresses are passed
/// on as they are, and plain words to what is no installed application.
async fn resolve_files<D: Desktop>(
    desktop: &D,
    request: &LaunchRequest,
) -> DesktopResult<Result<(LaunchRequest, Vec<String>), ActionRefusal>> {
    let (mut arguments, mut files) = (Vec::new(), Vec::new());
    let takes_files =
        request.program.is_empty() || desktop.applications().iter().any(|one| one.is_named(&request.program));
    for argument in &request.arguments {
        let is_address = argument.contains("://") && !argument.starts_with("file://");
        if argument.starts_with('-') || is_address {
            files.extend(is_address.then(|| argument.clone()));
            arguments.push(argument.clone());
            continue;
        }
        let state = desktop.file(argument).await?;
        if state.stamp.is_some() || state.is_folder {
            files.push(state.path.clone());
            arguments.push(state.path);
        } else if takes_files || argument.starts_with(['/', '~', '.']) || argument.starts_with("file://") {
            let (path, folder, near) = (state.path, !state.has_folder, state.near);
            return Ok(Err(ActionRefusal::NoFile { path, folder, near }));
        } else {
            arguments.push(argument.clone());
        }
    }
    Ok(Ok((LaunchRequest { program: request.program.clone(), arguments }, files)))
}
