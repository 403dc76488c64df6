//! Looking at the desktop while a person works on it.

use std::{
    collections::HashSet,
    convert::Infallible,
    sync::Arc,
    time::{Duration, Instant},
};

use deskhand_desktop::{
    Desktop, DesktopResult, PersonInput, Picture, QuietLimits, TimedPersonInput, TreeLimits,
};
use deskhand_ui::{
    Element, Role, Surface, Tree, WindowInfo, WindowKind, WindowView, belongs_to, ids::WindowId,
};
use tokio::sync::mpsc::Receiver;

use crate::{observe::see_surfaces, stop::StopSwitch};

/// Time that the desktop has to be quiet before an observation, and the maximum time to wait for that.
const REST: QuietLimits = QuietLimits {
    quiet: Duration::from_millis(40),
    first_change: Duration::from_secs(600),
    bound: Duration::from_secs(1),
};
/// After the last input, so long is watched what comes of it.
const AFTERWARDS: Duration = Duration::from_millis(700);
/// Maximum number of consecutive observations that are abandoned for a window that opens.
const INTERRUPTIONS_MAX: u32 = 4;
/// Longer than any look.
const FOREVER: Duration = Duration::from_secs(3_600);
/// A menu or dialog that is clicked is still there for this long.
const STILL_THERE: Duration = Duration::from_millis(100);
/// The most looks and inputs that are kept.
const LOOKS_MAX: usize = 5_000;
const INPUTS_MAX: usize = 50_000;

/// Observation of the desktop at one time.
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
    /// `true` if all elements are as they were at that time, and not only those of dialogs and pop-ups.
    pub(super) whole: bool,
}

impl LookedAt {
    /// The element with the keyboard focus.
    pub(super) fn focused(&self) -> Option<&Element> {
        // Dialogs and pop-ups come after the window that they belong to.
        self.view.as_ref()?.surfaces.iter().rev().find_map(|surface| surface.tree.focused())
    }

    /// The window that is active, or that what is active belongs to.
    fn main(&self) -> Option<&WindowInfo> {
        self.view.as_ref()?.surfaces.first().map(|surface| &surface.window)
    }
}

/// Inputs of a person, and the observations of the desktop meanwhile.
#[derive(Debug, Default)]
pub struct Demonstration {
    pub(super) looks: Vec<LookedAt>,
    /// All windows from a time on, bottom-most first: looking at a busy application takes longer than listing what has opened.
    pub(super) windows: Vec<(Instant, Vec<WindowInfo>)>,
    pub(super) inputs: Vec<TimedPersonInput>,
    /// Set if a limit was reached before the end.
    pub(super) cut: bool,
}

/// The messages to a person who is watched.
pub trait DemonstrationObserver: Send {
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
    inputs: &mut Receiver<TimedPersonInput>,
    stop: &StopSwitch,
    watching: &mut dyn DemonstrationObserver,
) -> DesktopResult<Demonstration> {
    let (made, known) = (Demonstration::default(), HashSet::new());
    let watcher = DemonstrationWatcher { desktop, inputs, stop, watching, made, known, paused: false };
    let mut listed = Vec::new();
    let made = tokio::select! {
        made = watcher.watch() => made?,
        never = list(desktop, &mut listed) => match never {},
    };
    Ok(Demonstration { windows: listed, ..made })
}

/// Lists the windows whenever they change. A desktop that is gone is noticed by whoever looks at it.
async fn list<D: Desktop>(desktop: &D, listed: &mut Vec<(Instant, Vec<WindowInfo>)>) -> Infallible {
    let mut now = desktop.windows().await;
    while let Ok(windows) = now {
        let is_new = listed.last().is_none_or(|(_, last)| *last != windows);
        if is_new && listed.len() < LOOKS_MAX {
            listed.push((Instant::now(), windows.clone()));
        }
        // A desktop in memory never waits.
        tokio::task::yield_now().await;
        now = desktop.windows_changed(&windows, FOREVER).await;
    }
    std::future::pending().await
}

/// Watching in progress.
struct DemonstrationWatcher<'a, D> {
    desktop: &'a D,
    inputs: &'a mut Receiver<TimedPersonInput>,
    stop: &'a StopSwitch,
    watching: &'a mut dyn DemonstrationObserver,
    made: Demonstration,
    /// The windows whose documents are known.
    known: HashSet<WindowId>,
    paused: bool,
}

impl<D: Desktop> DemonstrationWatcher<'_, D> {
    /// Watches until it is over.
    async fn watch(mut self) -> DesktopResult<Demonstration> {
        let (desktop, mut interrupted) = (self.desktop, 0);
        loop {
            // A desktop in memory never waits.
            tokio::task::yield_now().await;
            // What changes during the look is seen by the next one.
            let changes = desktop.watch(None).await?;
            let glance = self.glance().await?;
            // A menu or dialog that opens meanwhile is looked at first: a busy application may take seconds for all of a window.
            let windows = glance.windows.clone();
            let opened = desktop.windows_changed(&windows, FOREVER);
            let looking = async {
                tokio::select! {
                    look = look(desktop, glance) => Ok(Some(look)),
                    opened = opened, if interrupted < INTERRUPTIONS_MAX => opened.map(|_| None),
                }
            };
            let Some(looked) = self.meanwhile(looking).await? else { break };
            let Some(look) = looked? else {
                interrupted += 1;
                continue;
            };
            interrupted = 0;
            self.looked(look).await;
            let Some(settled) = self.meanwhile(desktop.settle(changes, REST)).await? else { break };
            settled?;
            if self.stop.reason().is_some() && self.made.is_over() {
                break;
            }
        }
        Ok(self.made)
    }

    /// Glances at the desktop.
    async fn glance(&mut self) -> DesktopResult<LookedAt> {
        let glance = glance(self.desktop, &mut self.known, self.made.looks.last()).await?;
        self.made.add(glance.clone());
        if self.made.looks.len() == 1 {
            self.watching.begun();
        }
        Ok(glance)
    }

    /// Takes in a look, with a picture.
    async fn looked(&mut self, look: LookedAt) {
        // A field for a password may show the last character for a moment.
        let is_shown = !self.paused && look.focused().is_none_or(|field| field.role != Role::PASSWORD_TEXT);
        if let Some(window) = look.main().filter(|_| is_shown)
            && let Ok(picture) = self.desktop.region(window.bounds).await
        {
            self.watching.picture(look.to, picture);
        }
        self.made.add(look);
    }

    /// Takes in what is done while something goes on; `None` if it is over before that.
    async fn meanwhile<T>(&mut self, work: impl Future<Output = T>) -> DesktopResult<Option<T>> {
        tokio::pin!(work);
        loop {
            tokio::select! {
                biased;
                input = self.inputs.recv() => match input {
                    Some(input) => self.done(input).await?,
                    None => return Ok(None),
                },
                done = &mut work => return Ok(Some(done)),
                _ = self.stop.wait(), if self.made.is_over() => return Ok(None),
            }
        }
    }

    async fn done(&mut self, input: TimedPersonInput) -> DesktopResult<()> {
        if input.input == PersonInput::Pause {
            self.paused = !self.paused;
            self.watching.paused(self.paused);
            self.made.done(input);
            return Ok(());
        }
        if self.paused {
            return Ok(());
        }
        // A press that is heard of late, because an application was busy, may have closed what was clicked.
        if matches!(input.input, PersonInput::Pressed { .. }) && input.at.elapsed() < STILL_THERE {
            let glance = glance(self.desktop, &mut self.known, self.made.looks.last()).await?;
            let at = input.at;
            self.made.add(LookedAt { from: at, to: at, again: at, ..glance });
        }
        self.made.done(input);
        self.watching.done(self.made.inputs.len());
        Ok(())
    }
}

impl Demonstration {
    fn add(&mut self, look: LookedAt) {
        let is_full = self.looks.len() >= LOOKS_MAX;
        // A glance that shows what a look has shown adds nothing to it.
        let is_known = |last: &&mut LookedAt| {
            (last.whole || !look.whole) && last.view == look.view && last.windows == look.windows
        };
        match self.looks.last_mut().filter(is_known) {
            Some(last) if last.whole == look.whole => last.again = look.from,
            Some(_) => {}
            None if is_full => self.cut = true,
            None => self.looks.push(look),
        }
    }

    fn done(&mut self, input: TimedPersonInput) {
        if self.inputs.len() < INPUTS_MAX { self.inputs.push(input) } else { self.cut = true }
    }

    /// Returns `true` if what came of the last input was waited for.
    fn is_over(&self) -> bool {
        self.inputs.last().is_none_or(|last| last.at.elapsed() > AFTERWARDS)
    }

    /// Returns the observation that was current when an input was made at this time.
    pub(super) fn before(&self, at: Instant) -> Option<&LookedAt> {
        self.looks.iter().rev().find(|look| look.to <= at).or(self.looks.first())
    }

    /// The windows that were there when something was done at this time. What was seen at a press may already lack the menu or dialog that
    /// the press closed; a list never does, since it is dated when it is complete.
    pub(super) fn windows_at(&self, at: Instant) -> Option<&[WindowInfo]> {
        let listed = self.windows.iter().rev().find(|(from, _)| *from <= at);
        let listed = listed.map(|(_, windows)| windows.as_slice());
        listed.or_else(|| self.before(at).map(|look| look.windows.as_slice()))
    }

    /// Returns the observation after an input that ended at this time, and before the next input.
    pub(super) fn after(&self, at: Instant, next: Option<Instant>) -> Option<&LookedAt> {
        let is_in_time = |look: &&LookedAt| next.is_none_or(|next| look.from <= next);
        let is_whole = |look: &&LookedAt| look.whole;
        let after = || self.looks.iter().filter(|look| look.again >= at);
        let best = after().filter(is_whole).rfind(is_in_time).or_else(|| after().rfind(is_in_time));
        best.or_else(|| after().next()).or(self.looks.last())
    }
}

/// The windows, and what dialogs and pop-ups of the active one show: a menu is gone with the next click. The window itself is as it was
/// seen last, or still without elements.
async fn glance<D: Desktop>(
    desktop: &D,
    known: &mut HashSet<WindowId>,
    last: Option<&LookedAt>,
) -> DesktopResult<LookedAt> {
    let from = Instant::now();
    let mut windows = desktop.windows().await?;
    for window in windows.iter_mut().filter(|window| known.insert(window.id)) {
        window.document = desktop.document(window).await.unwrap_or_default();
    }
    let active = windows.iter().rev().find(|window| window.active);
    let main = active.map(|active| owner_of(&windows, active));
    let seen_last = last.and_then(|last| last.view.as_ref()).filter(|view| main_of(view) == main);
    let mut surfaces = Vec::new();
    for window in windows.iter().filter(|window| main.is_some_and(|main| shows_with(&windows, window, main)))
    {
        let is_main = Some(window.id) == main;
        let before = seen_last.and_then(|view| view.surfaces.iter().find(|one| one.window.id == window.id));
        let tree = match before {
            Some(before) if is_main => before.tree.clone(),
            None if is_main => Tree::default(),
            // A pop-up may close while it is looked at.
            Some(_) | None => match desktop.see(window.id, TreeLimits::default()).await {
                Ok(sight) => sight.tree,
                Err(_) => continue,
            },
        };
        surfaces.push(Surface { window: window.clone(), tree });
    }
    surfaces.sort_by_key(|surface| Some(surface.window.id) != main);
    let view = WindowView { surfaces, picture: None, notices: Vec::new() };
    let view = Some(view).filter(|view| !view.surfaces.is_empty()).map(Arc::new);
    Ok(LookedAt { from, to: Instant::now(), again: from, windows, view, whole: false })
}

/// The same, with all elements as they are now. A window may close meanwhile.
async fn look<D: Desktop>(desktop: &D, glance: LookedAt) -> LookedAt {
    let Some(main) = glance.main().map(|window| window.id) else { return glance };
    let seen = see_surfaces(desktop, main, TreeLimits::default()).await.ok();
    let view = seen.map(Arc::new).or(glance.view);
    let to = Instant::now();
    tracing::debug!(glance = ?(glance.to - glance.from), look = ?(to - glance.to), "looked at {main}");
    LookedAt { to, view, whole: true, ..glance }
}

fn main_of(view: &WindowView) -> Option<WindowId> {
    view.surfaces.first().map(|surface| surface.window.id)
}

/// Returns `true` if a window is another one or belongs to it.
fn shows_with(windows: &[WindowInfo], window: &WindowInfo, main: WindowId) -> bool {
    window.kind != WindowKind::Tooltip && (window.id == main || owner_of(windows, window) == main)
}

/// The window that a dialog or pop-up belongs to in the end.
fn owner_of(windows: &[WindowInfo], window: &WindowInfo) -> WindowId {
    let is_main =
        |other: &&WindowInfo| other.kind == WindowKind::Normal && belongs_to(windows, window, other);
    windows.iter().rev().find(is_main).map_or(window.id, |main| main.id)
}
