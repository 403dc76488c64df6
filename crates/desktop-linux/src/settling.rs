//! Idle as an event: an application is quiet when it announces nothing, draws nothing, and answers.
//!
//! Events alone cannot tell an idle application from one that is too busy to send any. So quiet counts only
//! once the application has answered a question that it handles in the same loop as its work.

use std::{
    collections::{HashMap, HashSet},
    time::Duration,
};

use deskhand_core::{
    geometry::{Rect, Screen},
    ids::{ElementId, WindowId},
    ui::WindowInfo,
};
use deskhand_desktop::{
    Aspect, Change, DesktopError, DesktopResult, QuietLimits, Settled, Settling, WaitedFor, Windowing as _,
};
use tokio::{
    sync::broadcast::{self, error::RecvError},
    time::{Instant, timeout_at},
};

use crate::{
    atspi::{Accessibility, Announcement, Application, is_noise},
    desktop::{LinuxDesktop, elapsed_ms},
    x11::events::XEvent,
};

/// How long drawing alone, with no other sign of work, keeps an application busy: an animation never ends.
const DRAWING_MAX: Duration = Duration::from_millis(500);

/// After the application has answered, what it draws because of an input comes within a frame or two.
const AFTER_ANSWER: Duration = Duration::from_millis(25);
/// How long a window may take to answer a ping before its application is asked by the accessibility bus alone.
const PONG_BOUND: Duration = Duration::from_millis(500);
/// After so many slow answers without a sign of work the machine is slow and not the application.
const SLOW_ANSWERS_MAX: u32 = 2;
/// How often the same thing of the same element may be announced before it counts as going on by itself.
const REPEATS_MAX: u32 = 8;

/// A running watch.
pub struct Watch {
    signs: Signs,
    /// The windows as they were at the start.
    windows: Vec<WindowInfo>,
    /// Whose signs count; all when none.
    scope: Option<Scope>,
}

/// Where signs of work come from.
struct Signs {
    announcements: Option<broadcast::Receiver<Announcement>>,
    x_events: broadcast::Receiver<XEvent>,
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
    Drawn {
        window: u32,
        by_itself: bool,
    },
    /// Some were missed.
    Missed,
}

/// What ended a piece of a wait.
enum Happened {
    /// A sign of work.
    Sign(Sign),
    /// The application answered, or did not within its time.
    Answer(bool),
}

/// What was seen so far.
struct Progress {
    settled: Settled,
    seen: HashSet<Change>,
    /// How often changes that may go on by themselves were announced.
    repeats: HashMap<Change, u32>,
    /// What was seen of the windows.
    windows: Option<Essence>,
    /// When the last sign was, if there was one.
    last: Option<Instant>,
    /// When the last sign other than drawing was.
    last_work: Instant,
}

impl Settling for LinuxDesktop {
    type Watch = Watch;

    async fn watch(&self, window: Option<WindowId>) -> DesktopResult<Watch> {
        let announcements = self.accessibility().map(Accessibility::announcements);
        let signs = Signs { announcements, x_events: self.x_events() };
        let windows = self.windows().await?;
        let Some(window) = window else {
            return Ok(Watch { signs, windows, scope: None });
        };
        let info = windows.iter().find(|info| info.id == window).ok_or(DesktopError::NoWindow(window))?;
        let applications = match (self.accessibility(), info.app.pid) {
            (Some(accessibility), Some(pid)) => accessibility.applications_of(pid).await?,
            _ => Vec::new(),
        };
        let scope = Some(Scope { pid: info.app.pid, root: info.app.root.clone(), applications });
        Ok(Watch { signs, windows, scope })
    }

    async fn settle(&self, watch: Watch, limits: QuietLimits) -> DesktopResult<Settled> {
        let Watch { mut signs, windows, scope } = watch;
        let begun = Instant::now();
        let end = begun + limits.bound;
        let applications = scope.iter().flat_map(|scope| &scope.applications);
        let late = applications.map(|one| one.toolkit.starts_late()).max().unwrap_or_default();
        let late = if limits.first_change.is_zero() { Duration::ZERO } else { late };
        let first_change = begun + limits.first_change.max(late);
        let after_answer = if limits == QuietLimits::HANDLED { Duration::ZERO } else { AFTER_ANSWER };
        let mut progress = Progress::new(begun);
        let mut answered_at: Option<Instant> = None;
        let mut slow_answers = 0;
        let mut answer = Box::pin(self.answers(scope.as_ref()));
        loop {
            let quiet_at = progress.last.map_or(first_change, |last| last + limits.quiet);
            let look_at = answered_at.map_or(end, |at| quiet_at.max(at + after_answer)).min(end);
            let happens = async {
                tokio::select! {
                    biased;
                    sign = signs.next(self) => sign.map(Happened::Sign),
                    answered = &mut answer, if answered_at.is_none() => answered.map(Happened::Answer),
                }
            };
            match timeout_at(look_at, happens).await {
                Ok(Ok(Happened::Sign(sign))) => {
                    self.take(&windows, scope.as_ref(), sign, &mut progress).await?;
                    continue;
                }
                Ok(Ok(Happened::Answer(answered))) => {
                    progress.wait(WaitedFor::Answer, begun);
                    if answered {
                        answered_at = Some(Instant::now());
                    } else {
                        answer.set(self.answers(scope.as_ref()));
                    }
                    continue;
                }
                Ok(Err(error)) => return Err(error),
                Err(_) => {}
            }
            if Instant::now() >= end {
                let busy = progress.last.is_some_and(|last| last + limits.quiet > end);
                progress.settled.timed_out = busy || answered_at.is_none();
                break;
            }
            // Nothing more may be on its way.
            let asked = Instant::now();
            answer.set(self.answers(scope.as_ref()));
            let answered = timeout_at(end, &mut answer).await.unwrap_or(Ok(false))?;
            let before = progress.last;
            while let Some(sign) = signs.waiting()? {
                self.take(&windows, scope.as_ref(), sign, &mut progress).await?;
            }
            // A slow answer may come from work that is not drawn yet, or from a slow machine.
            slow_answers += u32::from(asked.elapsed() >= AFTER_ANSWER);
            let at_rest = asked.elapsed() < AFTER_ANSWER || slow_answers > SLOW_ANSWERS_MAX;
            if answered && progress.last == before && at_rest {
                progress.wait(WaitedFor::FirstChange, begun);
                break;
            }
            answered_at = answered.then(Instant::now);
            if answered_at.is_none() {
                answer.set(self.answers(scope.as_ref()));
            }
        }
        drop(answer);
        self.compare_windows(&windows, scope.as_ref(), &mut progress).await?;
        progress.settled.waited_ms = elapsed_ms(begun);
        Ok(progress.settled)
    }

    fn recently_changed(&self, elements: &[ElementId], span: Duration) -> Vec<ElementId> {
        let mut recent = self.history().recently_changed(elements, span);
        if let Some(accessibility) = self.accessibility() {
            accessibility.with_ids(|ids| {
                recent.extend(elements.iter().filter(|id| ids.was_away(**id, span)));
            });
        }
        recent
    }

    fn attribute_to_action(&self, element: ElementId) {
        self.history().attribute_to_action(element);
    }

    fn mark_self_changing(&self, element: ElementId, aspect: Aspect) {
        self.history().mark_self_changing(element, aspect);
    }

    fn is_self_changing(&self, element: ElementId, aspect: Aspect) -> bool {
        self.history().is_self_changing(element, aspect)
    }
}

impl Progress {
    fn new(begun: Instant) -> Self {
        Self {
            settled: Settled::default(),
            seen: HashSet::new(),
            repeats: HashMap::new(),
            windows: None,
            last: None,
            last_work: begun,
        }
    }

    fn add(&mut self, change: Change) {
        if self.settled.changes.len() < Settled::CHANGES_MAX && self.seen.insert(change.clone()) {
            self.settled.changes.push(change);
        }
    }

    /// Keeps what is waited for. An answer or first change that comes at once is no wait.
    fn wait(&mut self, what: WaitedFor, begun: Instant) {
        let waits = match what {
            WaitedFor::Answer => begun.elapsed() > AFTER_ANSWER,
            WaitedFor::FirstChange => self.last.is_none(),
            WaitedFor::Announcements | WaitedFor::Drawing | WaitedFor::Windows => true,
        };
        if waits && !self.settled.waited_for.contains(&what) {
            self.settled.waited_for.push(what);
        }
    }

    /// Whether a change was announced so often that it goes on by itself, as a clock does. Text may come letter by
    /// letter, and children row by row.
    fn goes_on_by_itself(&mut self, change: &Change) -> bool {
        let Change::Element { aspect: Aspect::Name | Aspect::Description | Aspect::Value, .. } = change
        else {
            return false;
        };
        let count = self.repeats.entry(change.clone()).or_default();
        *count += 1;
        *count > REPEATS_MAX
    }
}

/// What counts as a change of the watched windows.
type Essence = Vec<(WindowId, String, Rect<Screen>, bool)>;

fn essence(windows: &[WindowInfo], scope: Option<&Scope>) -> Essence {
    let watched = windows.iter().filter(|window| scope.is_none_or(|scope| scope.has(window)));
    watched.map(|window| (window.id, window.title.clone(), window.bounds, window.active)).collect()
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
        Ok(XEvent::Damage { window, by_itself, .. }) => {
            Ok(Sign::Drawn { window: *window, by_itself: *by_itself })
        }
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

impl Signs {
    /// The next sign.
    async fn next(&mut self, desktop: &LinuxDesktop) -> DesktopResult<Sign> {
        let (Some(announcements), Some(accessibility)) =
            (self.announcements.as_mut(), desktop.accessibility())
        else {
            return x_sign(&self.x_events.recv().await);
        };
        tokio::select! {
            event = self.x_events.recv() => x_sign(&event),
            event = announcements.recv() => announced_sign(event),
            () = accessibility.gone() => Err(bus_gone()),
        }
    }

    /// A sign that has come already.
    fn waiting(&mut self) -> DesktopResult<Option<Sign>> {
        use broadcast::error::TryRecvError;
        match self.x_events.try_recv() {
            Ok(event) => return x_sign(&Ok(event)).map(Some),
            Err(TryRecvError::Lagged(_)) => return Ok(Some(Sign::Missed)),
            Err(TryRecvError::Closed) => return Err(display_gone()),
            Err(TryRecvError::Empty) => {}
        }
        let Some(announcements) = self.announcements.as_mut() else { return Ok(None) };
        match announcements.try_recv() {
            Ok(announcement) => Ok(Some(Sign::Announced(announcement))),
            Err(TryRecvError::Lagged(_)) => Ok(Some(Sign::Missed)),
            Err(TryRecvError::Closed) => Err(bus_gone()),
            Err(TryRecvError::Empty) => Ok(None),
        }
    }
}

impl LinuxDesktop {
    /// Keeps what a sign tells, if it is one of the watched application.
    async fn take(
        &self,
        windows: &[WindowInfo],
        scope: Option<&Scope>,
        sign: Sign,
        progress: &mut Progress,
    ) -> DesktopResult<()> {
        let now = Instant::now();
        match sign {
            Sign::Announced(announcement) => {
                let counts = scope.is_none_or(|scope| {
                    scope.applications.iter().any(|one| one.root.bus == announcement.object.bus)
                });
                if !counts || is_noise(announcement.event.aspect()) {
                    return Ok(());
                }
                let element =
                    self.accessibility().and_then(|elements| elements.find_id(&announcement.object));
                // What comes into a page with a clock may well be work.
                let is_known = element.is_some_and(|id| self.history().goes_on(id))
                    && announcement.event.aspect() != Aspect::Children;
                let change = Change::Element { aspect: announcement.event.aspect(), element };
                let by_itself = progress.goes_on_by_itself(&change) || is_known;
                progress.add(change);
                if by_itself {
                    return Ok(());
                }
                progress.wait(WaitedFor::Announcements, now);
                progress.last_work = now;
            }
            Sign::Windows | Sign::Missed => {
                // A window manager tells also what is as it was.
                let seen = essence(&self.windows().await?, scope);
                if *progress.windows.get_or_insert_with(|| essence(windows, scope)) == seen {
                    return Ok(());
                }
                progress.windows = Some(seen);
                progress.wait(WaitedFor::Windows, now);
                progress.last_work = now;
            }
            Sign::Drawn { by_itself: true, .. } => return Ok(()),
            Sign::Drawn { window: x_window, by_itself: false } => {
                let id = self.window_id(x_window);
                let of_another = scope.is_some_and(|scope| {
                    windows.iter().any(|window| Some(window.id) == id && !scope.has(window))
                });
                if of_another {
                    return Ok(());
                }
                progress.settled.damaged = true;
                if now > progress.last_work + DRAWING_MAX {
                    return Ok(());
                }
                progress.wait(WaitedFor::Drawing, now);
            }
        }
        progress.last = Some(now);
        Ok(())
    }

    /// Whether the watched application has handled what was sent to it: its window answers in the order in which
    /// input came, then it answers on the accessibility bus; what it told before is here then.
    async fn answers(&self, scope: Option<&Scope>) -> DesktopResult<bool> {
        let (Some(scope), Some(accessibility)) = (scope, self.accessibility()) else {
            self.display().catch_up().await?;
            return Ok(true);
        };
        self.await_application(PONG_BOUND).await?;
        for application in &scope.applications {
            if !accessibility.round_trip(application).await? {
                return Ok(false);
            }
        }
        self.display().catch_up().await?;
        Ok(true)
    }

    /// Adds what became of the windows.
    async fn compare_windows(
        &self,
        windows: &[WindowInfo],
        scope: Option<&Scope>,
        progress: &mut Progress,
    ) -> DesktopResult<()> {
        let now = self.windows().await?;
        let counts = |window: &WindowInfo| scope.is_none_or(|scope| scope.has(window));
        let before: HashMap<WindowId, &WindowInfo> =
            windows.iter().map(|window| (window.id, window)).collect();
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
        for window in windows.iter().filter(|window| counts(window) && !remaining.contains(&window.id)) {
            progress.add(Change::WindowClosed { title: window.title.clone() });
        }
        Ok(())
    }
}
