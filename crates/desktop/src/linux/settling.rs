//! Idle as an event: an application is quiet when it announces nothing, draws nothing, and answers.
//!
//! Events alone cannot tell an idle application from one that is too busy to send any. So quiet counts only
//! once the application has answered a question that it handles in the same loop as its work.

use std::{
    collections::{HashMap, HashSet},
    time::Duration,
};

use deskhand_core::{
    ids::{ElementId, WindowId},
    ui::WindowInfo,
};
use tokio::{
    sync::broadcast::{self, error::RecvError},
    time::{Instant, timeout_at},
};

use super::{
    atspi::{Accessibility, Announcement, Application, is_noise},
    desktop::{LinuxDesktop, elapsed_ms},
    events::XEvent,
};
use crate::{Change, DesktopError, DesktopResult, QuietLimits, Settled, Settling, Windowing as _};

/// How long drawing alone, with no other sign of work, keeps an application busy: an animation never ends.
const DRAWING_MAX: Duration = Duration::from_millis(500);

/// A running watch.
pub struct Watch {
    announcements: Option<broadcast::Receiver<Announcement>>,
    x_events: broadcast::Receiver<XEvent>,
    /// The windows as they were at the start.
    windows: Vec<WindowInfo>,
    /// Whose signs count; all when none.
    scope: Option<Scope>,
}

/// The application that is watched.
#[derive(Debug)]
struct Scope {
    pid: Option<u32>,
    root: String,
    applications: Vec<Application>,
}

impl Scope {
    fn has(&self, window: &WindowInfo) -> bool {
        window.app.root == self.root || (self.pid.is_some() && window.app.pid == self.pid)
    }
}

/// A sign of work.
enum Sign {
    Announced(Announcement),
    Windows,
    Drawn(u32),
    /// Some were missed.
    Missed,
}

/// What was seen so far.
struct Progress {
    settled: Settled,
    seen: HashSet<Change>,
    /// When the last sign was, if there was one.
    last: Option<Instant>,
    /// When the last sign other than drawing was.
    last_work: Instant,
}

impl Settling for LinuxDesktop {
    type Watch = Watch;

    async fn watch(&self, window: Option<WindowId>) -> DesktopResult<Watch> {
        let announcements = self.accessibility().map(Accessibility::announcements);
        let x_events = self.x_events();
        let windows = self.windows().await?;
        let Some(window) = window else {
            return Ok(Watch { announcements, x_events, windows, scope: None });
        };
        let info = windows.iter().find(|info| info.id == window).ok_or(DesktopError::NoWindow(window))?;
        let applications = match (self.accessibility(), info.app.pid) {
            (Some(accessibility), Some(pid)) => accessibility.applications_of(pid).await?,
            _ => Vec::new(),
        };
        let scope = Some(Scope { pid: info.app.pid, root: info.app.root.clone(), applications });
        Ok(Watch { announcements, x_events, windows, scope })
    }

    async fn settle(&self, mut watch: Watch, limits: QuietLimits) -> DesktopResult<Settled> {
        let begun = Instant::now();
        let end = begun + limits.bound;
        let mut progress =
            Progress { settled: Settled::default(), seen: HashSet::new(), last: None, last_work: begun };
        loop {
            let quiet_at =
                progress.last.map_or(begun + limits.first_change, |last| last + limits.quiet).min(end);
            match timeout_at(quiet_at, self.next_sign(&mut watch)).await {
                Ok(sign) => self.take(&watch, sign?, &mut progress),
                Err(_) if Instant::now() >= end => {
                    progress.settled.timed_out = progress.last.is_some_and(|last| last + limits.quiet > end);
                    break;
                }
                Err(_) => {
                    let answered = timeout_at(end, self.answers(&watch)).await.unwrap_or(Ok(false))?;
                    if !answered && Instant::now() >= end {
                        progress.settled.timed_out = true;
                        break;
                    }
                    let before = progress.last;
                    while let Some(sign) = waiting_sign(&mut watch)? {
                        self.take(&watch, sign, &mut progress);
                    }
                    if answered && progress.last == before {
                        break;
                    }
                }
            }
        }
        self.compare_windows(&watch, &mut progress).await?;
        progress.settled.waited_ms = elapsed_ms(begun);
        Ok(progress.settled)
    }

    fn restless(&self, elements: &[ElementId], span: Duration) -> Vec<ElementId> {
        self.history().restless(elements, span)
    }

    fn explain(&self, element: ElementId) {
        self.history().explain(element);
    }
}

impl Progress {
    fn add(&mut self, change: Change) {
        if self.settled.changes.len() < Settled::CHANGES_MAX && self.seen.insert(change.clone()) {
            self.settled.changes.push(change);
        }
    }
}

fn display_gone() -> DesktopError {
    DesktopError::Gone { what: "the X server ended".to_owned() }
}

fn bus_gone() -> DesktopError {
    DesktopError::Gone { what: "the accessibility bus ended".to_owned() }
}

fn x_sign(event: &Result<XEvent, RecvError>) -> DesktopResult<Sign> {
    match event {
        Ok(XEvent::WindowsChanged) => Ok(Sign::Windows),
        Ok(XEvent::Damage { window, .. }) => Ok(Sign::Drawn(*window)),
        Err(RecvError::Lagged(_)) => Ok(Sign::Missed),
        Ok(XEvent::DisplayGone) | Err(RecvError::Closed) => Err(display_gone()),
    }
}

fn announced_sign(event: Result<Announcement, RecvError>) -> DesktopResult<Sign> {
    match event {
        Ok(announcement) => Ok(Sign::Announced(announcement)),
        Err(RecvError::Lagged(_)) => Ok(Sign::Missed),
        Err(RecvError::Closed) => Err(bus_gone()),
    }
}

/// A sign that has come already.
fn waiting_sign(watch: &mut Watch) -> DesktopResult<Option<Sign>> {
    use broadcast::error::TryRecvError;
    match watch.x_events.try_recv() {
        Ok(event) => return x_sign(&Ok(event)).map(Some),
        Err(TryRecvError::Lagged(_)) => return Ok(Some(Sign::Missed)),
        Err(TryRecvError::Closed) => return Err(display_gone()),
        Err(TryRecvError::Empty) => {}
    }
    let Some(announcements) = watch.announcements.as_mut() else { return Ok(None) };
    match announcements.try_recv() {
        Ok(announcement) => Ok(Some(Sign::Announced(announcement))),
        Err(TryRecvError::Lagged(_)) => Ok(Some(Sign::Missed)),
        Err(TryRecvError::Closed) => Err(bus_gone()),
        Err(TryRecvError::Empty) => Ok(None),
    }
}

impl LinuxDesktop {
    async fn next_sign(&self, watch: &mut Watch) -> DesktopResult<Sign> {
        let Watch { announcements, x_events, .. } = watch;
        let (Some(announcements), Some(accessibility)) = (announcements.as_mut(), self.accessibility())
        else {
            return x_sign(&x_events.recv().await);
        };
        tokio::select! {
            event = x_events.recv() => x_sign(&event),
            event = announcements.recv() => announced_sign(event),
            () = accessibility.gone() => Err(bus_gone()),
        }
    }

    /// Keeps what a sign tells, if it is one of the watched application.
    fn take(&self, watch: &Watch, sign: Sign, progress: &mut Progress) {
        let now = Instant::now();
        match sign {
            Sign::Announced(announcement) => {
                let counts = watch.scope.as_ref().is_none_or(|scope| {
                    scope.applications.iter().any(|one| one.root.bus == announcement.object.bus)
                });
                if !counts || is_noise(&announcement.event) {
                    return;
                }
                let element =
                    self.accessibility().and_then(|elements| elements.find_id(&announcement.object));
                let change = match announcement.event.as_str() {
                    "object:state-changed:focused" if announcement.detail != 0 => Change::Focus { element },
                    _ => Change::Element { event: announcement.event, element },
                };
                progress.add(change);
                progress.last_work = now;
            }
            Sign::Windows | Sign::Missed => progress.last_work = now,
            Sign::Drawn(x_window) => {
                let id = self.window_id(x_window);
                let of_another = watch.scope.as_ref().is_some_and(|scope| {
                    watch.windows.iter().any(|window| Some(window.id) == id && !scope.has(window))
                });
                if of_another {
                    return;
                }
                progress.settled.damaged = true;
                if now > progress.last_work + DRAWING_MAX {
                    return;
                }
            }
        }
        progress.last = Some(now);
    }

    /// Whether the watched application has done what it was at.
    async fn answers(&self, watch: &Watch) -> DesktopResult<bool> {
        let (Some(scope), Some(accessibility)) = (&watch.scope, self.accessibility()) else {
            return Ok(true);
        };
        for application in &scope.applications {
            if !accessibility.round_trip(application).await? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Adds what became of the windows.
    async fn compare_windows(&self, watch: &Watch, progress: &mut Progress) -> DesktopResult<()> {
        let now = self.windows().await?;
        let counts = |window: &WindowInfo| watch.scope.as_ref().is_none_or(|scope| scope.has(window));
        let before: HashMap<WindowId, &WindowInfo> =
            watch.windows.iter().map(|window| (window.id, window)).collect();
        for window in now.iter().filter(|window| counts(window)) {
            let title = || window.title.clone();
            match before.get(&window.id) {
                None => progress.add(Change::WindowOpened { title: title() }),
                Some(old) if old.title != window.title => {
                    progress.add(Change::TitleChanged { title: title() });
                }
                Some(_) => {}
            }
        }
        let remaining: HashSet<WindowId> = now.iter().map(|window| window.id).collect();
        for window in watch.windows.iter().filter(|window| counts(window) && !remaining.contains(&window.id))
        {
            progress.add(Change::WindowClosed { title: window.title.clone() });
        }
        Ok(())
    }
}
