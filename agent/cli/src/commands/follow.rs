//! `deskhand follow`: plans, step by step.

use deskhand_host::{Observer, Task, TaskResult, TasksObserver};
use deskhand_machine::outcome::OutcomeKind;
use deskhand_runtime::{InstructionKind, StopSwitch, Waits};

use super::{
    consent::{ConsentChoice, admit_tasks},
    host::load,
    print_options::SessionPrintOptions,
    session::{SessionPrinter, carry_out, request},
    signals::StopSignals,
    signs::TaskSigns,
};
use crate::{
    args::FollowArgs,
    exit::{CommandResult, Exit},
    output::{Output, OutputStream, OutputTone, StyledLine},
    render::{TaskResultRow, task_lines},
};

pub(crate) async fn follow(args: &FollowArgs) -> CommandResult {
    let host = load(args.work.overrides())?;
    let shown = SessionPrintOptions::of(&args.work, host.config());
    let mut plans = host.read_tasks(&args.plan, InstructionKind::Plan)?;
    admit_tasks(&host, &mut plans, (args.trust, ConsentChoice::GoOn))?;
    let plans = host.follow(&plans, request(&args.work, None, None))?;
    if !args.plan.is_dir() {
        return match plans.into_sessions().next() {
            Some((_, session)) => carry_out(session, &shown, /*history*/ None).await,
            None => Ok(Exit::Success),
        };
    }
    let mut signals = StopSignals::catch()?;
    let stop = StopSwitch::new();
    let (control, listening) = shown.asked.open(&stop, /*history*/ None)?;
    let signs = TaskSigns::default();
    let mut printer = PlanPrinter { shown, signs: signs.clone() };
    let results = tokio::select! {
        ended = plans.run(&control, &mut printer) => ended?,
        never = signals.stop_with(&stop) => match never {},
        never = listening => match never {},
        never = signs.show(&shown) => match never {},
    };
    let notes = Output::to(OutputStream::Error);
    let rows: Vec<TaskResultRow> = results.iter().map(TaskResultRow::of).collect();
    for line in task_lines(&rows) {
        notes.line(&line);
    }
    Ok(exit_of(&results, stop.reason().is_some()))
}

/// Prints each session as it runs.
struct PlanPrinter {
    shown: SessionPrintOptions,
    signs: TaskSigns,
}

impl TasksObserver for PlanPrinter {
    fn begun(&mut self, task: &Task, waits: &Waits) -> Box<dyn Observer> {
        self.signs.add(task.id(), waits);
        let line = StyledLine::of(OutputTone::Strong, format!("{}: {}", task.id(), task.request()));
        Output::to(OutputStream::Error).line(&line);
        Box::new(SessionPrinter::new(&self.shown))
    }

    fn ended(&mut self, _: &TaskResult) {}
}

/// The exit of several sessions together.
pub(super) fn exit_of(results: &[TaskResult], stopped: bool) -> Exit {
    if stopped {
        Exit::Outcome(OutcomeKind::Cancelled)
    } else if results.iter().all(|result| result.outcome == OutcomeKind::Finished) {
        Exit::Success
    } else {
        Exit::Negative
    }
}
