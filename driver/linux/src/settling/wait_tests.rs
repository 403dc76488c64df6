//! Waits in simulated time, against an application that follows a script. All times are exact milliseconds since the wait
//! began.

use std::{collections::VecDeque, ops::Range};

use deskhand_desktop::DesktopError;
use deskhand_ui::{AppInfo, WindowKind, WindowState};
use tokio::time::sleep_until;

use super::*;

/// How long a fence waits for an answer.
const CALL_BOUND_MS: u64 = 1_000;
const OWN_PID: u32 = 7;
const ELEMENT: ElementId = ElementId(1);

/// What an application does, and when.
#[derive(Debug, Clone, Default)]
struct Script {
    activities: Vec<(u64, Activity)>,
    /// While it handles no input.
    busy: Range<u64>,
    /// How long every answer takes.
    answers_after: u64,
    /// The windows after each change; `[main()]` before the first.
    windows: Vec<(u64, Vec<WindowInfo>)>,
    starts_late: u64,
    /// When the X server ends.
    ends_at: Option<u64>,
    /// From when on it sleeps, and until when; else that is not known.
    asleep: Range<u64>,
}

struct Application {
    script: Script,
    begun: Instant,
}

struct Queue {
    begun: Instant,
    activities: VecDeque<(u64, Activity)>,
    ends_at: Option<u64>,
}

fn gone() -> DesktopError {
    DesktopError::Gone { what: "the X server ended".to_owned() }
}

impl IdleTarget for Application {
    async fn fence(&self) -> DesktopResult<bool> {
        let now = elapsed_ms(self.begun);
        let mut answer = now + self.script.answers_after;
        if self.script.busy.contains(&answer) {
            answer = self.script.busy.end;
        }
        sleep_until(at(self.begun, answer.min(now + CALL_BOUND_MS))).await;
        Ok(answer <= now + CALL_BOUND_MS)
    }

    async fn sleeps_for(&self) -> DesktopResult<Duration> {
        let now = elapsed_ms(self.begun);
        let is_asleep = self.script.asleep.contains(&now);
        Ok(if is_asleep { Duration::from_millis(self.script.asleep.end - now) } else { Duration::ZERO })
    }

    async fn windows(&self) -> DesktopResult<Vec<WindowInfo>> {
        let now = elapsed_ms(self.begun);
        let past = self.script.windows.iter().rfind(|(from, _)| *from <= now);
        Ok(past.map_or_else(|| vec![main_window()], |(_, windows)| windows.clone()))
    }
}

impl Activities for Queue {
    async fn next(&mut self) -> DesktopResult<Activity> {
        let next = self.activities.front().map(|(from, _)| *from);
        let Some(next) = next.into_iter().chain(self.ends_at).min() else { std::future::pending().await };
        sleep_until(at(self.begun, next)).await;
        self.pending()?.ok_or_else(gone)
    }

    fn pending(&mut self) -> DesktopResult<Option<Activity>> {
        let now = elapsed_ms(self.begun);
        let arrived = self.activities.pop_front_if(|(from, _)| *from <= now);
        Ok(arrived.map(|(_, activity)| activity))
    }
}

fn at(begun: Instant, milliseconds: u64) -> Instant {
    begun + Duration::from_millis(milliseconds)
}

fn window(id: u32, title: &str, pid: u32) -> WindowInfo {
    WindowInfo {
        id: WindowId(id),
        title: title.to_owned(),
        app: AppInfo { name: format!("app {pid}"), root: format!("app{pid}"), pid: Some(pid) },
        bounds: Rect::new(0, 0, 800, 600),
        kind: WindowKind::Normal,
        owner: None,
        active: false,
        accessible: true,
        document: None,
        state: WindowState::default(),
        monitor: None,
    }
}

fn main_window() -> WindowInfo {
    window(1, "Document", OWN_PID)
}

const fn changed(aspect: ElementChangeKind) -> Activity {
    Activity::Changed { aspect, element: Some(ELEMENT), self_changing: false }
}

const fn own_drawing() -> Activity {
    Activity::Drawn { window: Some(WindowId(1)) }
}

/// The same activity again and again.
fn every(step: usize, span: Range<u64>, activity: Activity) -> Vec<(u64, Activity)> {
    span.step_by(step).map(|from| (from, activity)).collect()
}

async fn run(script: Script, limits: QuietLimits) -> DesktopResult<IdleReport> {
    let begun = Instant::now();
    let baseline = Baseline {
        windows: vec![main_window(), window(2, "Another", 8)],
        scope: Some(ApplicationScope { pid: Some(OWN_PID), root: "app7".to_owned() }),
        starts_late: Duration::from_millis(script.starts_late),
    };
    let mut queue = Queue { begun, activities: script.activities.clone().into(), ends_at: script.ends_at };
    settle(&Application { script, begun }, &mut queue, &baseline, limits).await
}

/// Waits with `limits` and compares how long that took, and for what.
async fn check_with(
    limits: QuietLimits,
    script: Script,
    expected_ms: u64,
    waited_for: &[WaitedFor],
) -> IdleReport {
    let label = format!("{script:?}");
    let settled = run(script, limits).await.unwrap();
    assert_eq!((settled.waited_ms, settled.waited_for.as_slice()), (expected_ms, waited_for), "{label}");
    assert!(!settled.timed_out, "{label}");
    settled
}

/// The same with the default limits: 60 ms of quiet, 30 ms for the first change, 5 s in all.
async fn check(script: Script, expected_ms: u64, waited_for: &[WaitedFor]) -> IdleReport {
    check_with(QuietLimits::default(), script, expected_ms, waited_for).await
}

/// Waits until the bound.
async fn check_timeout(limits: QuietLimits, script: Script, waited_for: &[WaitedFor]) {
    let label = format!("{script:?}");
    let bound_ms = u64::try_from(limits.bound.as_millis()).unwrap();
    let settled = run(script, limits).await.unwrap();
    assert_eq!((settled.waited_ms, settled.waited_for.as_slice()), (bound_ms, waited_for), "{label}");
    assert!(settled.timed_out, "{label}");
}

fn does(activities: impl Into<Vec<(u64, Activity)>>) -> Script {
    Script { activities: activities.into(), ..Script::default() }
}

fn limits(quiet: u64, first_change: u64, bound: u64) -> QuietLimits {
    QuietLimits {
        quiet: Duration::from_millis(quiet),
        first_change: Duration::from_millis(first_change),
        bound: Duration::from_millis(bound),
    }
}

const TEXT: Activity = changed(ElementChangeKind::Text);

#[tokio::test(start_paused = true)]
async fn an_idle_application_is_given_the_time_for_a_first_change() {
    let settled = check(Script::default(), 30, &[WaitedFor::FirstChange]).await;
    assert_eq!((settled.changes.as_slice(), settled.damaged), ([].as_slice(), false));
    check_with(QuietLimits::HANDLED, Script::default(), 0, &[WaitedFor::FirstChange]).await;
    // Without a first change to wait for, there is still the frame after the answer.
    check_with(limits(60, 0, 5_000), Script::default(), 25, &[WaitedFor::FirstChange]).await;
}

#[tokio::test(start_paused = true)]
async fn the_quiet_period_runs_from_the_last_change() {
    let settled = check(does([(29, TEXT)]), 89, &[WaitedFor::Announcements]).await;
    let text = UiChange::Element { aspect: ElementChangeKind::Text, element: Some(ELEMENT) };
    assert_eq!(settled.changes, [text]);
    check(does([(10, TEXT), (69, TEXT), (128, TEXT)]), 188, &[WaitedFor::Announcements]).await;
    // A change after the time for the first one is not part of this wait.
    let settled = check(does([(31, TEXT)]), 30, &[WaitedFor::FirstChange]).await;
    assert_eq!(settled.changes, []);
    check_with(limits(60, 500, 5_000), does([(400, TEXT)]), 460, &[WaitedFor::Announcements]).await;
}

#[tokio::test(start_paused = true)]
async fn an_application_that_sleeps_is_quiet_at_once() {
    let sleeping = |activities: &[(u64, Activity)], asleep| Script { asleep, ..does(activities) };
    check(sleeping(&[], 0..1_000), 3, &[WaitedFor::FirstChange]).await;
    check(sleeping(&[(10, TEXT)], 11..1_000), 13, &[WaitedFor::Announcements]).await;
    // A timer of its own is due before the quiet period is over, and then it draws.
    let timer = [(10, TEXT), (40, own_drawing())];
    let both = [WaitedFor::Announcements, WaitedFor::Drawing];
    check(sleeping(&timer, 11..40), 100, &both).await;
    // It is asked again, less and less often.
    check(sleeping(&[(10, TEXT)], 30..1_000), 34, &[WaitedFor::Announcements]).await;
    // A toolkit that starts late sleeps until its timer.
    let late = Script { starts_late: 200, asleep: 0..1_000, ..Script::default() };
    check(late, 3, &[WaitedFor::FirstChange]).await;
    // Whoever waits for a change waits for it.
    let long = limits(60, 500, 5_000);
    check_with(long, sleeping(&[], 0..10_000), 500, &[WaitedFor::FirstChange]).await;
    check_with(long, sleeping(&[(400, TEXT)], 0..10_000), 403, &[WaitedFor::Announcements]).await;
}

#[tokio::test(start_paused = true)]
async fn a_toolkit_that_starts_late_is_given_more_time() {
    let late = |activities: &[(u64, Activity)]| Script { starts_late: 200, ..does(activities) };
    check(late(&[]), 200, &[WaitedFor::FirstChange]).await;
    check(late(&[(190, TEXT)]), 250, &[WaitedFor::Announcements]).await;
    // Not when no change is expected.
    check_with(limits(60, 0, 5_000), late(&[]), 25, &[WaitedFor::FirstChange]).await;
}

#[tokio::test(start_paused = true)]
async fn a_storm_of_changes_is_waited_out_up_to_the_bound() {
    check(does(every(10, 0..1_001, TEXT)), 1_060, &[WaitedFor::Announcements]).await;
    let storm = does(every(10, 0..10_000, TEXT));
    check_timeout(QuietLimits::default(), storm, &[WaitedFor::Announcements]).await;
}

#[tokio::test(start_paused = true)]
async fn the_bound_cuts_the_quiet_period_short() {
    let short = limits(60, 30, 100);
    check_with(short, does([(30, TEXT)]), 90, &[WaitedFor::Announcements]).await;
    check_timeout(short, does([(30, TEXT), (41, TEXT)]), &[WaitedFor::Announcements]).await;
    // Quiet for exactly long enough when the bound is reached.
    check_with(short, does([(30, TEXT), (40, TEXT)]), 100, &[WaitedFor::Announcements]).await;
}

#[tokio::test(start_paused = true)]
async fn a_busy_application_is_waited_for_until_it_answers() {
    let busy = |activities: &[(u64, Activity)]| Script { busy: 0..400, ..does(activities) };
    check(busy(&[]), 425, &[WaitedFor::Answer, WaitedFor::FirstChange]).await;
    let settled = check(busy(&[(410, own_drawing())]), 470, &[WaitedFor::Answer, WaitedFor::Drawing]).await;
    assert!(settled.damaged);
    // What it announces before it answers does not end the wait.
    check(busy(&[(10, TEXT)]), 425, &[WaitedFor::Announcements, WaitedFor::Answer]).await;
    // Its first fence times out, its second is answered.
    let very_busy = Script { busy: 0..1_500, ..Script::default() };
    check(very_busy, 1_525, &[WaitedFor::Answer, WaitedFor::FirstChange]).await;
    check_with(QuietLimits::HANDLED, busy(&[]), 400, &[WaitedFor::Answer, WaitedFor::FirstChange]).await;
}

#[tokio::test(start_paused = true)]
async fn an_application_that_never_answers_times_out() {
    let stuck = Script { busy: 0..60_000, ..Script::default() };
    check_timeout(QuietLimits::default(), stuck, &[WaitedFor::Answer]).await;
}

#[tokio::test(start_paused = true)]
async fn work_that_begins_after_the_first_answer_is_noticed_by_the_second_fence() {
    let busy = |activities: &[(u64, Activity)]| Script { busy: 20..300, ..does(activities) };
    check(busy(&[]), 325, &[WaitedFor::FirstChange]).await;
    check(busy(&[(300, TEXT)]), 360, &[WaitedFor::Announcements]).await;
    let stuck = Script { busy: 20..60_000, ..Script::default() };
    check_timeout(QuietLimits::default(), stuck, &[WaitedFor::Answer]).await;
}

#[tokio::test(start_paused = true)]
async fn answers_that_are_always_slow_are_put_down_to_the_machine() {
    let slow = Script { answers_after: 40, ..Script::default() };
    // The first answer at 40, then three fences of 40 ms, each 25 ms after the answer before it.
    check(slow, 235, &[WaitedFor::Answer, WaitedFor::FirstChange]).await;
}

#[tokio::test(start_paused = true)]
async fn drawing_alone_is_waited_for_half_a_second() {
    let drawing = every(16, 0..5_000, own_drawing());
    let settled = check(does(drawing.clone()), 556, &[WaitedFor::Drawing]).await;
    assert!(settled.damaged);
    // A change starts the half second again.
    let mut with_change = drawing;
    with_change.push((400, TEXT));
    with_change.sort_by_key(|(from, _)| *from);
    check(does(with_change), 956, &[WaitedFor::Drawing, WaitedFor::Announcements]).await;
}

#[tokio::test(start_paused = true)]
async fn drawing_of_another_application_is_ignored() {
    let foreign = Activity::Drawn { window: Some(WindowId(2)) };
    let settled = check(does(every(10, 0..2_000, foreign)), 30, &[WaitedFor::FirstChange]).await;
    assert!(!settled.damaged);
    // A window that is not listed yet may belong to the watched application.
    let settled = check(does([(5, Activity::Drawn { window: None })]), 65, &[WaitedFor::Drawing]).await;
    assert!(settled.damaged);
}

#[tokio::test(start_paused = true)]
async fn a_self_changing_element_is_reported_and_not_waited_for() {
    let clock = |aspect| Activity::Changed { aspect, element: Some(ElementId(9)), self_changing: true };
    let settled =
        check(does(every(10, 5..5_000, clock(ElementChangeKind::Text))), 30, &[WaitedFor::FirstChange]).await;
    assert_eq!(
        settled.changes,
        [UiChange::Element { aspect: ElementChangeKind::Text, element: Some(ElementId(9)) }]
    );
    // Children that come into it may be the effect that is waited for.
    check(does([(5, clock(ElementChangeKind::Children))]), 65, &[WaitedFor::Announcements]).await;
}

#[tokio::test(start_paused = true)]
async fn the_same_property_is_waited_for_eight_times() {
    let clock = |aspect| does(every(20, 20..5_000, changed(aspect)));
    for aspect in [ElementChangeKind::Name, ElementChangeKind::Description, ElementChangeKind::Value] {
        check(clock(aspect), 220, &[WaitedFor::Announcements]).await;
    }
    check_timeout(QuietLimits::default(), clock(ElementChangeKind::Children), &[WaitedFor::Announcements])
        .await;
}

#[tokio::test(start_paused = true)]
async fn windows_that_open_close_or_are_renamed_are_waited_for() {
    let with = |windows: &[(u64, Vec<WindowInfo>)], reports: &[u64]| Script {
        windows: windows.to_vec(),
        ..does(reports.iter().map(|from| (*from, Activity::Windows)).collect::<Vec<_>>())
    };
    let dialog = vec![main_window(), window(3, "Save", OWN_PID)];
    let opens = with(&[(20, dialog.clone())], &[20]);
    let settled = check(opens, 80, &[WaitedFor::Windows]).await;
    assert_eq!(settled.changes, [UiChange::WindowOpened { title: "Save".to_owned() }]);

    // A report without a change is not waited for.
    check(with(&[(20, dialog.clone())], &[20, 50, 70]), 80, &[WaitedFor::Windows]).await;
    check(with(&[], &[10, 20]), 30, &[WaitedFor::FirstChange]).await;
    let another_opens = vec![main_window(), window(4, "Mail", 8)];
    let settled = check(with(&[(5, another_opens)], &[5]), 30, &[WaitedFor::FirstChange]).await;
    assert_eq!(settled.changes, []);

    // A dialog that opens and closes again leaves no trace.
    let blinks = with(&[(10, dialog), (40, vec![main_window()])], &[10, 40]);
    let settled = check(blinks, 100, &[WaitedFor::Windows]).await;
    assert_eq!(settled.changes, []);

    let saved = vec![window(1, "Document *", OWN_PID)];
    let settled = check(with(&[(5, saved)], &[5]), 65, &[WaitedFor::Windows]).await;
    assert_eq!(settled.changes, [UiChange::TitleChanged { title: "Document *".to_owned() }]);
    let settled = check(with(&[(5, Vec::new())], &[5]), 65, &[WaitedFor::Windows]).await;
    assert_eq!(settled.changes, [UiChange::WindowClosed { title: "Document".to_owned() }]);
}

#[tokio::test(start_paused = true)]
async fn after_missed_activity_the_windows_are_compared() {
    check(does([(10, Activity::Missed)]), 30, &[WaitedFor::FirstChange]).await;
    let opened = vec![(5, vec![main_window(), window(3, "Save", OWN_PID)])];
    let missed = Script { windows: opened, ..does([(10, Activity::Missed)]) };
    check(missed, 70, &[WaitedFor::Windows]).await;
}

#[tokio::test(start_paused = true)]
async fn changes_are_kept_without_repeats_up_to_a_limit() {
    let of = |id| Activity::Changed {
        aspect: ElementChangeKind::Text,
        element: Some(ElementId(id)),
        self_changing: false,
    };
    let twice: Vec<(u64, Activity)> = (0..600).map(|at| (u64::from(at), of(at % 300))).collect();
    let settled = check(does(twice), 659, &[WaitedFor::Announcements]).await;
    assert_eq!(settled.changes.len(), IdleReport::CHANGES_MAX);
    let first = UiChange::Element { aspect: ElementChangeKind::Text, element: Some(ElementId(0)) };
    assert_eq!(settled.changes.iter().filter(|change| **change == first).count(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_display_that_ends_fails_the_wait() {
    let ends = Script { ends_at: Some(200), ..does(every(10, 0..1_000, TEXT)[..15].to_vec()) };
    assert!(matches!(run(ends, limits(60, 500, 5_000)).await, Err(DesktopError::Gone { .. })));
}
