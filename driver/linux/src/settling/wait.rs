//! The wait for idle: decides from activity, answers and time when what is watched is quiet.
//!
//! Knows neither X11 nor AT-SPI. What it needs of a desktop stands in [`Activities`] and [`IdleTarget`]; the clock is tokio's,
//! which tests pause.

use std::{
    collections::{HashMap, HashSet},
    time::Duration,
};

use deskhand_desktop::{DesktopResult, ElementChangeKind, IdleReport, QuietLimits, UiChange, WaitedFor};
use deskhand_ui::{
    WindowInfo,
    geometry::{Rect, Screen},
    ids::{ElementId, WindowId},
};
use tokio::time::{Instant, timeout_at};

use crate::times::elapsed_ms;

/// Maximum time that drawing alone, with no other activity, keeps an application busy: an animation never ends.
const DRAWING_MAX: Duration = Duration::from_millis(500);
/// Once the application has answered, what it draws because of an input comes within a frame or two.
const AFTER_ANSWER: Duration = Duration::from_millis(25);
/// Delay between an activity and the first check whether the application sleeps; it grows while the
/// application does not.
const ASK_AGAIN: Duration = Duration::from_millis(3);
/// After this many slow answers without activity the machine is slow, not the application.
const SLOW_ANSWERS_MAX: u32 = 2;
/// Number of times the same change of the same element may be announced before it counts as self-changing.
const REPEATS_MAX: u32 = 8;

/// Something that an application does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Activity {
    /// An element of the watched application announced a change.
    Changed {
        aspect: ElementChangeKind,
        element: Option<ElementId>,
        /// `true` if the element keeps changing without input.
        self_changing: bool,
    },
    /// Windows may have opened, closed, moved or been renamed.
    Windows,
    /// Pixels of a window changed.
    Drawn { window: Option<WindowId> },
    /// Some activity was missed.
    Missed,
}

/// The activities on a desktop, in order.
pub(super) trait Activities: Send {
    /// The next activity. Dropping the future loses none.
    fn next(&mut self) -> impl Future<Output = DesktopResult<Activity>> + Send;

    /// The next activity that has already arrived.
    fn pending(&mut self) -> DesktopResult<Option<Activity>>;
}

/// The target of a watch: an application, or the whole desktop.
pub(super) trait IdleTarget: Sync {
    /// Waits until all input sent so far has been handled and all activity before that has arrived; `false` if the
    /// application does not answer.
    fn fence(&self) -> impl Future<Output = DesktopResult<bool>> + Send;

    /// Returns how long it will sleep unless an event wakes it; zero if it is working, or if that is unknown.
    fn sleeps_for(&self) -> impl Future<Output = DesktopResult<Duration>> + Send;

    /// The windows of the desktop as they are now.
    fn windows(&self) -> impl Future<Output = DesktopResult<Vec<WindowInfo>>> + Send;
}

/// The windows of one application.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ApplicationScope {
    pub(super) pid: Option<u32>,
    pub(super) root: String,
}

impl ApplicationScope {
    fn has(&self, window: &WindowInfo) -> bool {
        window.app.root == self.root || (self.pid.is_some() && window.app.pid == self.pid)
    }
}

/// The state of the watched target when the watch began.
#[derive(Debug, Clone)]
pub(super) struct Baseline {
    pub(super) windows: Vec<WindowInfo>,
    /// Whose windows count; `None` for all.
    pub(super) scope: Option<ApplicationScope>,
    /// Maximum delay before the toolkit starts to react to an input.
    pub(super) starts_late: Duration,
}

impl Baseline {
    fn has(&self, window: &WindowInfo) -> bool {
        self.scope.as_ref().is_none_or(|scope| scope.has(window))
    }

    /// Returns `true` if a window belongs to an application that is not watched.
    fn is_foreign(&self, id: Option<WindowId>) -> bool {
        self.windows.iter().any(|window| Some(window.id) == id && !self.has(window))
    }

    fn essence_of(&self, windows: &[WindowInfo]) -> Essence {
        let watched = windows.iter().filter(|window| self.has(window));
        watched.map(|window| (window.id, window.title.clone(), window.bounds, window.active)).collect()
    }
}

/// The properties of watched windows whose difference counts as a change.
type Essence = Vec<(WindowId, String, Rect<Screen>, bool)>;

/// The cause that ended a stretch of waiting.
enum WakeReason {
    Activity(Activity),
    /// The application answered the fence (`true`), or did not within its time.
    Answer(bool),
}

/// Waits until what is watched is quiet, at most `limits.bound`, and reports what happened.
pub(super) async fn settle<W: IdleTarget>(
    watched: &W,
    activities: &mut impl Activities,
    baseline: &Baseline,
    limits: QuietLimits,
) -> DesktopResult<IdleReport> {
    let mut progress = IdleWaitProgress::new(baseline);
    let begun = progress.begun;
    let end = begun + limits.bound;
    let late = if limits.first_change.is_zero() { Duration::ZERO } else { baseline.starts_late };
    let first_change = begun + limits.first_change.max(late);
    // An early change may belong to something else than the update of a toolkit that starts late.
    let least = if limits == QuietLimits::UP_TO_DATE { first_change } else { begun };
    let after_answer = if limits == QuietLimits::HANDLED { Duration::ZERO } else { AFTER_ANSWER };
    let mut answered_at: Option<Instant> = None;
    let mut slow_answers = 0;
    let mut sleep = SleepCheck { at: begun, again: ASK_AGAIN };
    let mut answer = Box::pin(watched.fence());
    loop {
        let quiet_at = progress.last.map_or(first_change, |last| (last + limits.quiet).max(least));
        let look_at = answered_at.map_or(end, |at| quiet_at.max(at + after_answer)).min(end);
        // Whoever names a long time for the first change expects one, whatever the application does now.
        let is_brief = progress.last.is_some() || limits.first_change <= QuietLimits::default().first_change;
        let wake_at = if answered_at.is_some() && is_brief { look_at.min(sleep.at) } else { look_at };
        let woken = async {
            tokio::select! {
                biased;
                activity = activities.next() => activity.map(WakeReason::Activity),
                answered = &mut answer, if answered_at.is_none() => answered.map(WakeReason::Answer),
            }
        };
        if let Ok(woken) = timeout_at(wake_at, woken).await {
            sleep = SleepCheck { at: Instant::now() + ASK_AGAIN, again: ASK_AGAIN };
            match woken? {
                WakeReason::Activity(activity) => progress.record(watched, activity).await?,
                WakeReason::Answer(answered) => {
                    progress.waits(WaitedFor::Answer);
                    answered_at = answered.then(Instant::now);
                    if !answered {
                        answer.set(watched.fence());
                    }
                }
            }
            continue;
        }
        if Instant::now() < look_at && !sleep.lasts_until(look_at, watched).await? {
            continue;
        }
        if Instant::now() >= end {
            let busy = progress.last.is_some_and(|last| last + limits.quiet > end);
            progress.settled.timed_out = busy || answered_at.is_none();
            break;
        }
        // A second fence: more may be on its way.
        let asked = Instant::now();
        answer.set(watched.fence());
        let answered = timeout_at(end, &mut answer).await.unwrap_or(Ok(false))?;
        let before = progress.last;
        while let Some(activity) = activities.pending()? {
            progress.record(watched, activity).await?;
        }
        // A slow answer may come from work that is not drawn yet, or from a slow machine.
        slow_answers += u32::from(asked.elapsed() >= AFTER_ANSWER);
        let at_rest = asked.elapsed() < AFTER_ANSWER || slow_answers > SLOW_ANSWERS_MAX;
        if answered && progress.last == before && at_rest {
            progress.waits(WaitedFor::FirstChange);
            break;
        }
        answered_at = answered.then(Instant::now);
        if !answered {
            answer.set(watched.fence());
        }
    }
    drop(answer);
    progress.compare_windows(&watched.windows().await?);
    progress.settled.waited_ms = elapsed_ms(begun);
    Ok(progress.settled)
}

/// When it is asked next whether what is watched sleeps, and how much later again.
struct SleepCheck {
    at: Instant,
    again: Duration,
}

impl SleepCheck {
    /// Returns `true` if it sleeps past a time; if not, the next check is when it wakes, at growing intervals.
    async fn lasts_until(&mut self, time: Instant, watched: &impl IdleTarget) -> DesktopResult<bool> {
        let sleeps = watched.sleeps_for().await?;
        let now = Instant::now();
        if sleeps > time.saturating_duration_since(now) {
            return Ok(true);
        }
        self.at = now + sleeps.max(self.again);
        self.again *= 2;
        Ok(false)
    }
}

/// The activity so far.
struct IdleWaitProgress<'a> {
    baseline: &'a Baseline,
    begun: Instant,
    settled: IdleReport,
    seen: HashSet<UiChange>,
    /// Number of announcements of each change that may be self-changing.
    repeats: HashMap<UiChange, u32>,
    /// The windows when they were last compared.
    windows: Option<Essence>,
    /// When the last activity was that is waited for.
    last: Option<Instant>,
    /// When the last one other than drawing was.
    last_work: Instant,
}

impl<'a> IdleWaitProgress<'a> {
    fn new(baseline: &'a Baseline) -> Self {
        let begun = Instant::now();
        Self {
            baseline,
            begun,
            settled: IdleReport::default(),
            seen: HashSet::new(),
            repeats: HashMap::new(),
            windows: None,
            last: None,
            last_work: begun,
        }
    }

    /// Records an activity, and waits for it to end unless it is another application's or goes on by itself.
    async fn record(&mut self, watched: &impl IdleTarget, activity: Activity) -> DesktopResult<()> {
        let now = Instant::now();
        match activity {
            Activity::Changed { aspect, element, self_changing } => {
                let change = UiChange::Element { aspect, element };
                // Children that come into a page with a clock may well be work.
                let is_known = self_changing && aspect != ElementChangeKind::Children;
                let by_itself = self.repeats_by_itself(&change) || is_known;
                self.add(change);
                if by_itself {
                    return Ok(());
                }
                self.waits(WaitedFor::Announcements);
                self.last_work = now;
            }
            Activity::Windows | Activity::Missed => {
                // A window manager also reports what has not changed.
                let seen = self.baseline.essence_of(&watched.windows().await?);
                let known =
                    self.windows.get_or_insert_with(|| self.baseline.essence_of(&self.baseline.windows));
                if *known == seen {
                    return Ok(());
                }
                *known = seen;
                self.waits(WaitedFor::Windows);
                self.last_work = now;
            }
            Activity::Drawn { window } => {
                if self.baseline.is_foreign(window) {
                    return Ok(());
                }
                self.settled.damaged = true;
                if now > self.last_work + DRAWING_MAX {
                    return Ok(());
                }
                self.waits(WaitedFor::Drawing);
            }
        }
        self.last = Some(now);
        Ok(())
    }

    fn add(&mut self, change: UiChange) {
        if self.settled.changes.len() < IdleReport::CHANGES_MAX && self.seen.insert(change.clone()) {
            self.settled.changes.push(change);
        }
    }

    /// Records what is waited for. An answer or first change that comes at once is no wait.
    fn waits(&mut self, what: WaitedFor) {
        let waits = match what {
            WaitedFor::Answer => self.begun.elapsed() > AFTER_ANSWER,
            WaitedFor::FirstChange => self.last.is_none(),
            WaitedFor::Announcements | WaitedFor::Drawing | WaitedFor::Windows => true,
        };
        if waits && !self.settled.waited_for.contains(&what) {
            self.settled.waited_for.push(what);
        }
    }

    /// Returns `true` if a change was announced so often that it goes on by itself, as a clock does. Text may come letter by
    /// letter, and children row by row.
    fn repeats_by_itself(&mut self, change: &UiChange) -> bool {
        let UiChange::Element {
            aspect: ElementChangeKind::Name | ElementChangeKind::Description | ElementChangeKind::Value,
            ..
        } = change
        else {
            return false;
        };
        let count = self.repeats.entry(change.clone()).or_default();
        *count += 1;
        *count > REPEATS_MAX
    }

    /// Adds which windows opened, closed or got another title.
    fn compare_windows(&mut self, now: &[WindowInfo]) {
        let baseline = self.baseline;
        let before: HashMap<WindowId, &WindowInfo> =
            baseline.windows.iter().map(|window| (window.id, window)).collect();
        for window in now.iter().filter(|window| baseline.has(window)) {
            let title = || window.title.clone();
            match before.get(&window.id) {
                None => self.add(UiChange::WindowOpened { title: title() }),
                Some(old) if old.title != window.title => {
                    self.add(UiChange::TitleChanged { title: title() });
                }
                Some(_) => {}
            }
        }
        let remaining: HashSet<WindowId> = now.iter().map(|window| window.id).collect();
        let closed = |window: &&WindowInfo| baseline.has(window) && !remaining.contains(&window.id);
        for window in baseline.windows.iter().filter(closed) {
            self.add(UiChange::WindowClosed { title: window.title.clone() });
        }
    }
}

#[cfg(test)]
#[path = "wait_tests.rs"]
mod tests;
