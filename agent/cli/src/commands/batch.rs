//! `deskhand batch`: many tasks, a result file for each, and a table at the end.

use std::{path::Path, time::Instant};

use deskhand_host::{
    BatchRequest, Control, NewsKind, Notice, Observer, SessionRequest, Task, TaskResult, TasksObserver,
    WorkEndNotification,
};
use deskhand_machine::outcome::OutcomeKind;
use deskhand_runtime::{InstructionKind, Waits};
use deskhand_ui::{duration::milliseconds, text::one_line};
use serde::Serialize;

use super::{
    consent::{ConsentChoice, admit_tasks},
    follow::exit_of,
    host::{load, warn},
    print_options::SessionPrintOptions,
    session::request,
    signals::StopSignals,
    signs::TaskSigns,
};
use crate::{
    args::BatchArgs,
    exit::{CommandResult, Exit},
    output::{Output, OutputStream, OutputTone, StyledLine},
    render::{TaskResultRow, Verbosity, outcome_tone, seconds, task_lines},
};

/// The last line of `--json`.
#[derive(Serialize)]
struct BatchSummary<'a> {
    kind: &'static str,
    tasks: usize,
    finished: usize,
    left_out: usize,
    not_begun: usize,
    results: &'a Path,
}

/// A result as a line of `--json`.
#[derive(Serialize)]
struct ResultLine<'a> {
    kind: &'static str,
    result: &'a TaskResult,
}

pub(crate) async fn batch(args: &BatchArgs) -> CommandResult {
    let host = load(args.work.overrides())?;
    let shown = SessionPrintOptions::of(&args.work, host.config());
    if shown.detached {
        // As in a session of its own, the end of what started it does not end it.
        rustix::process::setsid().ok();
    }
    let mut files = host.read_tasks(&args.tasks, InstructionKind::Tasks)?;
    admit_tasks(&host, &mut files, (args.trust, ConsentChoice::GoOn))?;
    let wanted = BatchRequest {
        id: args.work.id.clone(),
        tasks: args.tasks.clone(),
        parallel: usize::from(args.parallel),
        resume: args.resume,
        results: args.results.clone(),
        session: SessionRequest { id: None, ..request(&args.work, None, None) },
    };
    let tasks = host.batch(&wanted, &files)?;
    let (count, left_out) = (tasks.count(), tasks.earlier().len());
    let folder = tasks.folder().map(Path::to_owned).unwrap_or_default();
    let mut signals = StopSignals::catch()?;
    // Parallel sessions cannot share one user.
    let control = Control::unattended();
    let signs = TaskSigns::default();
    let begun = Instant::now();
    let mut printer = TaskPrinter { shown, people: shown.people(), signs: signs.clone() };
    let rows = tokio::select! {
        ended = tasks.run(&control, &mut printer) => ended?,
        never = signals.stop_with(&control.stop) => match never {},
        never = signs.show(&shown) => match never {},
    };
    let people = shown.people();
    let table: Vec<TaskResultRow> = rows.iter().map(TaskResultRow::of).collect();
    for line in task_lines(&table) {
        people.line(&line);
    }
    if left_out > 0 {
        people.line(&StyledLine::of(
            OutputTone::Faint,
            format!("{left_out} of these have results of an earlier run"),
        ));
    }
    let not_begun = count - rows.len();
    if not_begun > 0 {
        people.line(&StyledLine::of(
            OutputTone::Doubtful,
            format!("{not_begun} not started; run again with `--resume`"),
        ));
    }
    people.line(&StyledLine::of(OutputTone::Faint, format!("results in {}", folder.display())));
    if shown.json {
        let finished = rows.iter().filter(|row| row.outcome == OutcomeKind::Finished).count();
        Output::to(OutputStream::Out).json(&BatchSummary {
            kind: "batch_summary",
            tasks: count,
            finished,
            left_out,
            not_begun,
            results: &folder,
        });
    }
    let exit = exit_of(&rows, control.stop.reason().is_some());
    let mut news = news_of(args, &rows, count, exit);
    news.elapsed_ms = milliseconds(begun.elapsed());
    for problem in host.tell(&news).await {
        warn(&Notice::NotTold { problem });
    }
    Ok(exit)
}

/// Builds the notification about a batch.
fn news_of(args: &BatchArgs, rows: &[TaskResult], tasks: usize, exit: Exit) -> WorkEndNotification {
    let finished = rows.iter().filter(|row| row.outcome == OutcomeKind::Finished).count();
    let outcome = match exit {
        Exit::Outcome(outcome) => outcome,
        Exit::Success => OutcomeKind::Finished,
        Exit::Negative | Exit::Undecided | Exit::Program(_) => OutcomeKind::Failed,
    };
    let reason = format!("{finished} of {tasks} tasks finished");
    let mut news =
        WorkEndNotification::new(NewsKind::Batch, outcome, reason, args.tasks.display().to_string());
    for row in rows {
        news.cost.known = news.cost.known.plus(row.cost.known);
        news.cost.unknown_calls = news.cost.unknown_calls.saturating_add(row.cost.unknown_calls);
    }
    (news.tasks, news.finished) = (Some(tasks), Some(finished));
    news
}

/// Prints the notices of a task.
struct Notices {
    task: String,
    shown: SessionPrintOptions,
}

impl Observer for Notices {
    fn notice(&mut self, notice: &Notice) {
        let people = self.shown.people();
        if notice.is_warning() {
            warn(notice);
        } else if self.shown.verbosity > Verbosity::Quiet {
            let line = StyledLine::of(OutputTone::Faint, format!("{}  {notice}", self.task));
            people.line(&line.cut(people.width()));
        }
    }
}

/// Prints the start and the result of each task.
struct TaskPrinter {
    shown: SessionPrintOptions,
    people: Output,
    signs: TaskSigns,
}

impl TaskPrinter {
    fn line(&self, line: StyledLine) {
        if self.shown.verbosity > Verbosity::Quiet {
            self.people.line(&line.cut(self.people.width()));
        }
    }
}

impl TasksObserver for TaskPrinter {
    fn begun(&mut self, task: &Task, waits: &Waits) -> Box<dyn Observer> {
        self.signs.add(task.id(), waits);
        let line = StyledLine::of(OutputTone::Strong, task.id());
        self.line(line.with(OutputTone::Plain, format!("  {}", one_line(task.request()))));
        Box::new(Notices { task: task.id().to_owned(), shown: self.shown })
    }

    fn ended(&mut self, result: &TaskResult) {
        self.line(
            StyledLine::of(OutputTone::Strong, result.id.as_str())
                .with(outcome_tone(result.outcome), format!("  {}", result.outcome))
                .with(
                    OutputTone::Plain,
                    format!(" after {}: {}", seconds(result.elapsed_ms), one_line(&result.reason)),
                ),
        );
        if self.shown.json {
            Output::to(OutputStream::Out).json(&ResultLine { kind: "result", result });
        }
    }
}
