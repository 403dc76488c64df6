//! Signs of life: what a session waits for, while it waits.

use std::{
    convert::Infallible,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use deskhand_runtime::{SessionWait, WaitReason, Waits, people::protocol::FromSession};
use tokio::{
    sync::watch,
    time::{Instant, interval, timeout_at},
};

use super::print_options::SessionPrintOptions;
use crate::{
    output::{Output, OutputStream, OutputTone, StyledLine},
    render::{Verbosity, waiting_line},
};

/// Delay before a wait is displayed.
const FIRST: Duration = Duration::from_secs(2);

/// Update interval of the status line on a terminal.
const TICK: Duration = Duration::from_secs(1);

/// Interval between status lines on outputs where lines remain.
const LINE: Duration = Duration::from_secs(10);

/// Interval at which the words of a model are sent to a program.
const WORDS: Duration = Duration::from_millis(500);

/// Shows what a session waits for: on a terminal in one line that changes, else now and then as a line, and over `--json`.
/// Never returns; to be run beside the session.
pub(super) async fn show_waits(waits: &Waits, shown: &SessionPrintOptions) -> Infallible {
    let mut views = Vec::new();
    if shown.verbosity > Verbosity::Quiet {
        views.push(WaitDisplay::for_people(shown.people()));
    }
    if shown.json {
        views.push(WaitDisplay { kind: WaitDisplayKind::Json, output: Output::to(OutputStream::Out) });
    }
    // Prompts on a terminal say themselves what is waited for.
    show(waits, &views, shown.asked.at_terminal()).await
}

/// Shows what work by hand waits for, on standard error. Never returns; to be run beside the work.
pub(super) async fn show_waits_by_hand(waits: &Waits) -> Infallible {
    show(waits, &[WaitDisplay::for_people(Output::to(OutputStream::Error))], /*prompts_elsewhere*/ false)
        .await
}

async fn show(waits: &Waits, views: &[WaitDisplay], prompts_elsewhere: bool) -> Infallible {
    let mut waits = waits.follow();
    loop {
        let waiting = waits.borrow_and_update().clone();
        match waiting.filter(|waiting| !(prompts_elsewhere && waiting.on.is_for_user())) {
            Some(waiting) => show_wait(&waiting, &mut waits, views).await,
            None => next(&mut waits, None).await,
        }
    }
}

/// Shows one wait until it is over. What is known of it may change meanwhile.
async fn show_wait(
    first: &SessionWait,
    waits: &mut watch::Receiver<Option<SessionWait>>,
    views: &[WaitDisplay],
) {
    let turn =
        |view: &WaitDisplay| WaitDisplayTimes { due: view.first(first), shown: first.since, received: 0 };
    let mut turns: Vec<WaitDisplayTimes> = views.iter().map(turn).collect();
    let mut known = first.clone();
    loop {
        let due = views.iter().zip(&turns).map(|(view, turn)| turn.next(view.kind, &known)).min();
        next(waits, due).await;
        let current = waits.borrow_and_update().clone();
        let Some(waiting) = current.filter(|current| current.since == first.since) else { break };
        let now = Instant::now();
        for (view, turn) in views.iter().zip(&mut turns) {
            if turn.next(view.kind, &waiting) <= now {
                view.show(&waiting, now);
                *turn = WaitDisplayTimes {
                    due: now + view.kind.period(),
                    shown: now,
                    received: streamed(&waiting),
                };
            }
        }
        known = waiting;
    }
    views.iter().for_each(|view| view.output.clear_status());
    waits.mark_changed();
}

/// When a view shows a wait.
struct WaitDisplayTimes {
    /// When next, whatever is known then.
    due: Instant,
    /// When last, or since when it is waited.
    shown: Instant,
    /// Displayed part of a streamed reply, in bytes of the response.
    received: usize,
}

impl WaitDisplayTimes {
    /// When the wait is shown next. A program gets the words of a model as they come.
    fn next(&self, kind: WaitDisplayKind, waiting: &SessionWait) -> Instant {
        let has_news = kind == WaitDisplayKind::Json && streamed(waiting) > self.received;
        if has_news { self.due.min(self.shown + WORDS) } else { self.due }
    }
}

/// Returns the received part of a streamed reply, in bytes of the response; 0 if none is streamed.
fn streamed(waiting: &SessionWait) -> usize {
    let WaitReason::Reply { received, words, .. } = &waiting.on else { return 0 };
    if words.is_empty() { 0 } else { *received }
}

/// Waits of the tasks of a batch; clones share them.
#[derive(Debug, Clone, Default)]
pub(super) struct TaskSigns(Arc<Mutex<Vec<TaskWaits>>>);

/// Wait of one task.
#[derive(Debug)]
struct TaskWaits {
    task: String,
    waits: watch::Receiver<Option<SessionWait>>,
}

impl TaskSigns {
    /// Adds a task that begins.
    pub(super) fn add(&self, task: &str, waits: &Waits) {
        let waits = TaskWaits { task: task.to_owned(), waits: waits.follow() };
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(waits);
    }

    /// Writes a line now and then for each task that waits for long. Never returns; to be run beside the tasks.
    pub(super) async fn show(&self, shown: &SessionPrintOptions) -> Infallible {
        let people = shown.people();
        let mut ticks = interval(LINE);
        loop {
            ticks.tick().await;
            if shown.verbosity > Verbosity::Quiet {
                self.lines(Instant::now())
                    .iter()
                    .for_each(|line| people.line(&line.clone().cut(people.width())));
            }
        }
    }

    fn lines(&self, now: Instant) -> Vec<StyledLine> {
        let mut tasks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // A task that has ended says nothing more.
        tasks.retain(|task| task.waits.has_changed().is_ok());
        let long = |waiting: &SessionWait| {
            matches!(waiting.on, WaitReason::Retry { .. })
                || now.saturating_duration_since(waiting.since) >= FIRST
        };
        let line = |task: &TaskWaits| {
            let waiting = task.waits.borrow().clone().filter(long)?;
            let words = waiting_line(&waiting, now).to_string();
            Some(StyledLine::of(OutputTone::Faint, format!("{}{words}", task.task)))
        };
        tasks.iter().filter_map(line).collect()
    }
}

/// Waits until the wait changes, or until `due`.
async fn next(waits: &mut watch::Receiver<Option<SessionWait>>, due: Option<Instant>) {
    let changed = match due {
        Some(due) => timeout_at(due, waits.changed()).await.unwrap_or(Ok(())),
        None => waits.changed().await,
    };
    if changed.is_err() {
        // The session is over.
        std::future::pending::<()>().await;
    }
}

/// Display style of waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum WaitDisplayKind {
    /// One line of a terminal, replaced by what comes next.
    Status,
    /// Lines that stay.
    Lines,
    /// Lines of the protocol for programs.
    Json,
}

impl WaitDisplayKind {
    const fn period(self) -> Duration {
        match self {
            Self::Status => TICK,
            Self::Lines | Self::Json => LINE,
        }
    }
}

/// Output for waits.
#[derive(Debug)]
struct WaitDisplay {
    kind: WaitDisplayKind,
    output: Output,
}

impl WaitDisplay {
    fn for_people(output: Output) -> Self {
        Self {
            kind: if output.is_terminal() { WaitDisplayKind::Status } else { WaitDisplayKind::Lines },
            output,
        }
    }

    /// When a wait is shown first. That a request failed is said at once; what takes seconds as a rule is no line that stays.
    fn first(&self, waiting: &SessionWait) -> Instant {
        match (&waiting.on, self.kind) {
            (
                WaitReason::Retry { .. },
                WaitDisplayKind::Status | WaitDisplayKind::Lines | WaitDisplayKind::Json,
            ) => waiting.since,
            (_, WaitDisplayKind::Status | WaitDisplayKind::Json) => waiting.since + FIRST,
            (_, WaitDisplayKind::Lines) => waiting.since + LINE,
        }
    }

    fn show(&self, waiting: &SessionWait, now: Instant) {
        match self.kind {
            WaitDisplayKind::Status => self.output.status(&waiting_line(waiting, now)),
            WaitDisplayKind::Lines => self.output.line(&waiting_line(waiting, now).cut(self.output.width())),
            WaitDisplayKind::Json => self.output.json(&FromSession::waiting(waiting, now)),
        }
    }
}
