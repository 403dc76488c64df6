//! Looking at the desktop while a person works on it.

use std::{
    collections::HashSet,
    sync::Arc,
    time::{Duration, Instant},
};

use deskhand_core::{
    ids::WindowId,
    observation::WindowView,
    ui::{Element, Role, WindowInfo, WindowKind, belongs_to},
};
use deskhand_desktop::{Desktop, DesktopResult, PersonInput, Picture, QuietLimits, TreeLimits, Watched};
use tokio::sync::mpsc::UnboundedReceiver;

use crate::{observe::see_surfaces, stop::StopSwitch};

/// How long the desktop has to be quiet before it is looked at, and how long it is waited for at most.
const REST: QuietLimits = QuietLimits {
    quiet: Duration::from_millis(40),
    first_change: Duration::from_secs(600),
    bound: Duration::from_secs(1),
};
/// After the last input, so long is watched what comes of it.
const AFTERWARDS: Duration = Duration::from_millis(700);
/// The most looks and inputs that are kept.
const LOOKS_MAX: usize = 5_000;
const INPUTS_MAX: usize = 50_000;

/// What the desktop showed at a time.
#[derive(Debug, Clone)]
pub(super) struct LookedAt {
    /// When the look began and ended.
    pub(super) from: Instant,
    pub(super) to: Instant,
    /// When the last look began that showed the same.
    pub(super) again: Instant,
    /// All windows, bottom-most first.
    pub(super) windows: Vec<WindowInfo>,
    /// The active window with its dialogs and pop-ups.
    pub(super) view: Option<Arc<WindowView>>,
}

impl LookedAt {
    /// The element with the keyboard focus.
    pub(super) fn focused(&self) -> Option<&Element> {
        // Dialogs and pop-ups come after the window that they belong to.
        self.view.as_ref()?.surfaces.iter().rev().find_map(|surface| surface.tree.focused())
    }
}

/// What a person did, and what the desktop showed meanwhile.
#[derive(Debug, Default)]
pub struct Demonstration {
    pub(super) looks: Vec<LookedAt>,
    pub(super) inputs: Vec<Watched>,
    /// Whether a limit was reached before the end.
    pub(super) cut: bool,
}

/// What a person who is watched is told.
pub trait Watching: Send {
    /// The desktop was seen; nothing that was done before has been missed.
    fn begun(&mut self) {}

    /// Something was done: how many inputs there are.
    fn done(&mut self, _inputs: usize) {}

    /// Watching pauses, or goes on.
    fn paused(&mut self, _paused: bool) {}

    /// A picture of what was there at a time.
    fn picture(&mut self, _at: Instant, _picture: Picture) {}
}

/// Watches until it is stopped, or the desktop ends. What is done while it is paused is not kept.
///
/// # Errors
/// [`deskhand_desktop::DesktopError`] if the desktop cannot be looked at.
pub async fn watch<D: Desktop>(
    desktop: &D,
    inputs: &mut UnboundedReceiver<Watched>,
    stop: &StopSwitch,
    watching: &mut dyn Watching,
) -> DesktopResult<Demonstration> {
    let mut made = Demonstration::default();
    let mut paused = false;
    let mut known: HashSet<WindowId> = HashSet::new();
    loop {
        // What changes during the look is seen by the next one.
        let changes = desktop.watch(None).await?;
        let look = look(desktop, &mut known).await?;
        if made.looks.is_empty() {
            watching.begun();
        }
        // A field for a password may show the last character for a moment.
        let is_shown = !paused && look.focused().is_none_or(|field| field.role != Role::PASSWORD_TEXT);
        if let Some(window) = look.view.as_ref().and_then(|view| view.surfaces.first()).filter(|_| is_shown)
            && let Ok(picture) = desktop.region(window.window.bounds).await
        {
            watching.picture(look.to, picture);
        }
        made.add(look);
        let rest = desktop.settle(changes, REST);
        tokio::pin!(rest);
        loop {
            tokio::select! {
                biased;
                input = inputs.recv() => match input {
                    Some(Watched { input: PersonInput::Pause, .. }) => {
                        paused = !paused;
                        watching.paused(paused);
                    }
                    Some(input) if !paused => {
                        made.done(input);
                        watching.done(made.inputs.len());
                    }
                    Some(_) => {}
                    None => return Ok(made),
                },
                settled = &mut rest => {
                    settled?;
                    break;
                }
                _ = stop.wait(), if made.is_over() => return Ok(made),
            }
        }
        if stop.reason().is_some() && made.is_over() {
            return Ok(made);
        }
    }
}

impl Demonstration {
    fn add(&mut self, look: LookedAt) {
        let is_full = self.looks.len() >= LOOKS_MAX;
        let is_same = |last: &&mut LookedAt| last.view == look.view && last.windows == look.windows;
        match self.looks.last_mut().filter(is_same) {
            Some(last) => last.again = look.from,
            None if is_full => self.cut = true,
            None => self.looks.push(look),
        }
    }

    fn done(&mut self, input: Watched) {
        if self.inputs.len() < INPUTS_MAX { self.inputs.push(input) } else { self.cut = true }
    }

    /// Whether what came of the last input was waited for.
    fn is_over(&self) -> bool {
        self.inputs.last().is_none_or(|last| last.at.elapsed() > AFTERWARDS)
    }

    /// What the desktop showed when something was done at this time.
    pub(super) fn before(&self, at: Instant) -> Option<&LookedAt> {
        self.looks.iter().rev().find(|look| look.to <= at).or(self.looks.first())
    }

    /// What it showed after something that ended at this time, and before the next thing was done.
    pub(super) fn after(&self, at: Instant, next: Option<Instant>) -> Option<&LookedAt> {
        let is_in_time = |look: &&LookedAt| next.is_none_or(|next| look.from <= next);
        let after = || self.looks.iter().filter(|look| look.again >= at);
        after().rfind(is_in_time).or_else(|| after().next()).or(self.looks.last())
    }
}

async fn look<D: Desktop>(desktop: &D, known: &mut HashSet<WindowId>) -> DesktopResult<LookedAt> {
    let from = Instant::now();
    let mut windows = desktop.windows().await?;
    let active = windows.iter().rev().find(|window| window.active);
    // Pop-ups and dialogs are seen with the window that they belong to.
    let main = active.map(|active| owner_of(&windows, active));
    for window in &mut windows {
        if known.insert(window.id) || Some(window.id) == main {
            window.document = desktop.document(window).await.unwrap_or_default();
        }
    }
    let view = match main {
        // A window may close while it is looked at.
        Some(main) => see_surfaces(desktop, main, TreeLimits::default()).await.ok().map(Arc::new),
        None => None,
    };
    Ok(LookedAt { from, to: Instant::now(), again: from, windows, view })
}

/// The window that a dialog or pop-up belongs to in the end.
fn owner_of(windows: &[WindowInfo], window: &WindowInfo) -> WindowId {
    let is_main =
        |other: &&WindowInfo| other.kind == WindowKind::Normal && belongs_to(windows, window, other);
    windows.iter().rev().find(is_main).map_or(window.id, |main| main.id)
}
