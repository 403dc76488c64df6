//! `deskhand batch`: many tasks, a file of results for each, and a table at the end.

use std::{
    collections::VecDeque,
    fs, io,
    path::{Path, PathBuf},
    sync::Arc,
};

use deskhand_core::{outcome::OutcomeKind, text::one_line};
use deskhand_host::config::DesktopKind;
use deskhand_runtime::StopSwitch;
use serde::Serialize;

use super::{
    configuration::load,
    follow::exit_of,
    many::{Many, TaskResult},
    session::SessionPlan,
    signals::Signals,
    task_file::{Task, read_tasks},
};
use crate::{
    args::BatchArgs,
    exit::{CliError, CommandResult},
    output::{Line, Output, Stream, Tone},
    render::{TaskRow, Verbosity, outcome_tone, seconds, task_lines},
};

/// The results of a batch, one file a task.
struct Results(PathBuf);

impl Results {
    fn of(args: &BatchArgs) -> Self {
        Self(args.results.clone().unwrap_or_else(|| {
            if args.tasks.is_dir() {
                args.tasks.join("results")
            } else {
                let mut name = args.tasks.file_name().unwrap_or_default().to_os_string();
                name.push(".results");
                args.tasks.with_file_name(name)
            }
        }))
    }

    fn file(&self, id: &str) -> PathBuf {
        self.0.join(format!("{id}.json"))
    }

    /// What came of a task in an earlier run, if this is the same task.
    fn earlier(&self, task: &Task) -> Result<Option<TaskResult>, CliError> {
        let file = self.file(&task.id);
        let text = match fs::read(&file) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(CliError::failed_to(format!("read {}", file.display()), error)),
        };
        let result: TaskResult = serde_json::from_slice(&text).map_err(|error| {
            CliError::failed_to(format!("read {}", file.display()), error).with_help(
                "it is no result of a batch; remove it, or name another folder with `--results DIR`",
            )
        })?;
        Ok((result.request == task.request()).then_some(result))
    }

    /// Writes a result; the file is there whole or not at all.
    fn keep(&self, result: &TaskResult) -> Result<(), CliError> {
        let file = self.file(&result.id);
        let part = self.0.join(format!(".{}.part", result.id));
        let write = || {
            let text = serde_json::to_vec_pretty(result)?;
            fs::create_dir_all(&self.0)?;
            fs::write(&part, text)?;
            fs::rename(&part, &file)
        };
        write().map_err(|error| CliError::failed_to(format!("write {}", file.display()), error))
    }
}

/// What `--json` ends with.
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
    let tasks = read_tasks(&args.tasks)?;
    let base = SessionPlan::of(&args.work, &load(args.work.overrides())?.config)?;
    if args.parallel > 1 && base.stage.kind == DesktopKind::Current {
        return Err(CliError::usage("sessions side by side cannot share the current desktop")
            .with_help("give each one of its own: `--desktop virtual`"));
    }
    let results = Results::of(args);
    let (count, mut rows, mut waiting) = (tasks.len(), Vec::new(), VecDeque::new());
    for task in tasks {
        match results.earlier(&task)? {
            Some(earlier) if args.resume && earlier.is_done() => rows.push(earlier),
            Some(_) if !args.resume => {
                return Err(CliError::usage(format!("there are results in {} already", results.0.display()))
                    .with_help("go on where it ended: `--resume`; or name another folder: `--results DIR`"));
            }
            Some(_) | None => waiting.push_back(task),
        }
    }
    let left_out = rows.len();
    let plans = waiting
        .into_iter()
        .map(|task| task.plan(&base).map(|plan| (task, plan)))
        .collect::<Result<VecDeque<_>, CliError>>()?;
    // A script or key that is missing is told before anything starts.
    base.model.clone().open()?;
    let stopped = work(args, &base, plans, &results, &mut rows).await?;
    let table: Vec<TaskRow> = rows.iter().map(TaskResult::row).collect();
    let people = Output::to(if base.json { Stream::Error } else { Stream::Out });
    for line in task_lines(&table) {
        people.line(&line);
    }
    if left_out > 0 {
        people.line(&Line::of(Tone::Faint, format!("{left_out} of these were done in an earlier run")));
    }
    let not_begun = count - rows.len();
    if not_begun > 0 {
        people.line(&Line::of(Tone::Doubtful, format!("{not_begun} were not begun; `--resume` goes on")));
    }
    people.line(&Line::of(Tone::Faint, format!("results in {}", results.0.display())));
    if base.json {
        let finished = rows.iter().filter(|row| row.outcome == OutcomeKind::Finished).count();
        Output::to(Stream::Out).json(&BatchSummary {
            kind: "batch_summary",
            tasks: count,
            finished,
            left_out,
            not_begun,
            results: &results.0,
        });
    }
    Ok(exit_of(&rows, stopped))
}

/// Runs the tasks; says whether it was stopped.
async fn work(
    args: &BatchArgs,
    base: &SessionPlan,
    plans: VecDeque<(Task, SessionPlan)>,
    results: &Results,
    rows: &mut Vec<TaskResult>,
) -> Result<bool, CliError> {
    let mut signals = Signals::catch()?;
    let stop = StopSwitch::new();
    // Several sessions at once have no way to share one user.
    let (user, listening) = base.asked.clone().nobody().open(/*converse*/ false, &stop)?;
    let people = Output::to(if base.json { Stream::Error } else { Stream::Out });
    let told = base.verbosity > Verbosity::Quiet;
    let many =
        Many { parallel: usize::from(args.parallel), user: Arc::new(user), stop: stop.clone(), told: false };
    let work = many.run(
        plans,
        |task| {
            if told {
                let line = Line::of(Tone::Strong, task.id.clone());
                people.line(
                    &line.with(Tone::Plain, format!("  {}", one_line(task.request()))).cut(people.width()),
                );
            }
        },
        |result| {
            results.keep(&result)?;
            if told {
                let line = Line::of(Tone::Strong, result.id.clone())
                    .with(outcome_tone(result.outcome), format!("  {}", result.outcome))
                    .with(
                        Tone::Plain,
                        format!(" after {}: {}", seconds(result.elapsed_ms), one_line(&result.reason)),
                    );
                people.line(&line.cut(people.width()));
            }
            if base.json {
                Output::to(Stream::Out).json(&ResultLine { kind: "result", result: &result });
            }
            rows.push(result);
            Ok(())
        },
    );
    tokio::select! {
        ended = work => ended?,
        never = signals.stop_with(&stop) => match never {},
        never = listening => match never {},
    }
    Ok(stop.reason().is_some())
}
