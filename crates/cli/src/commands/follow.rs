//! `deskhand follow`: plans, step by step.

use std::{collections::VecDeque, sync::Arc};

use deskhand_core::outcome::OutcomeKind;
use deskhand_runtime::StopSwitch;

use super::{
    configuration::load,
    many::{Many, TaskResult},
    session::SessionPlan,
    signals::Signals,
    task_file::{Task, read_plans},
};
use crate::{
    args::FollowArgs,
    exit::{CliError, CommandResult, Exit},
    output::{Line, Output, Stream, Tone},
    render::{TaskRow, task_lines},
};

pub(crate) async fn follow(args: &FollowArgs) -> CommandResult {
    let tasks = read_plans(&args.plan)?;
    let base = SessionPlan::of(&args.work, &load(args.work.overrides())?.config)?;
    let mut plans: VecDeque<(Task, SessionPlan)> = tasks
        .into_iter()
        .map(|task| task.plan(&base).map(|plan| (task, plan)))
        .collect::<Result<_, CliError>>()?;
    if !args.plan.is_dir()
        && let Some((_, plan)) = plans.pop_front()
    {
        return plan.carry_out().await;
    }
    let mut signals = Signals::catch()?;
    let stop = StopSwitch::new();
    let (user, listening) = base.asked.open(/*converse*/ false, &stop)?;
    let notes = Output::to(Stream::Error);
    let mut results: Vec<TaskResult> = Vec::new();
    let many = Many { parallel: 1, user: Arc::new(user), stop: stop.clone(), told: true };
    let work = many.run(
        plans,
        |task| notes.line(&Line::of(Tone::Strong, format!("{}: {}", task.id, task.request()))),
        |result| {
            results.push(result);
            Ok(())
        },
    );
    tokio::select! {
        ended = work => ended?,
        never = signals.stop_with(&stop) => match never {},
        never = listening => match never {},
    }
    let rows: Vec<TaskRow> = results.iter().map(TaskResult::row).collect();
    for line in task_lines(&rows) {
        notes.line(&line);
    }
    Ok(exit_of(&results, stop.reason().is_some()))
}

/// How several sessions ended together.
pub(super) fn exit_of(results: &[TaskResult], stopped: bool) -> Exit {
    if stopped {
        Exit::Outcome(OutcomeKind::Cancelled)
    } else if results.iter().all(|result| result.outcome == OutcomeKind::Finished) {
        Exit::Success
    } else {
        Exit::Negative
    }
}
