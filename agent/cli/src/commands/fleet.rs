//! `deskhand fleet`: tasks that the machines of a fleet carry out.

use std::{fs, path::Path, time::Duration};

use deskhand_fleet::{
    journal::TaskOutcome,
    nats::NatsStore,
    plan::{OutcomeRecord, TaskAttempt},
    store::FleetStore as _,
    task::TaskId,
};
use deskhand_host::config::Overrides;
use deskhand_runtime::{InstructionKind, private};
use deskhand_serve::fleet::{
    again, costs, stays_inside, tasks,
    view::{self, Counts, FleetResult, TaskState},
    watched::FleetTaskWatcher,
};

use super::{
    consent::{ConsentChoice, admit_tasks},
    fleet_key::{make_key, signed_cancel},
    fleet_plans,
    fleet_rows::{line_of, no_task, selected, sentence, server, silent},
    fleet_server::FleetEndpoint,
    fleet_status,
    host::load,
    signals::StopSignals,
};
use crate::{
    args::{FleetArgs, FleetCommand, FleetResultsArgs, FleetSubmitArgs, FleetTasksArgs, FleetWatchArgs},
    exit::{CliError, CommandResult, Exit},
    output::{Output, OutputStream, OutputTone, StyledLine},
};

/// Minimum interval between two updates of `watch`.
const SHOWN_EVERY: Duration = Duration::from_millis(500);

pub(crate) async fn fleet(args: &FleetArgs) -> CommandResult {
    let mut signals = StopSignals::catch()?;
    let work = async {
        match &args.command {
            FleetCommand::Submit(args) => submit(args).await,
            FleetCommand::Status(args) => fleet_status::status(args).await,
            FleetCommand::Watch(args) => watch(args).await,
            FleetCommand::Results(args) => results(args).await,
            FleetCommand::Cancel(args) => cancel(args).await,
            FleetCommand::Retry(args) => retry(args).await,
            FleetCommand::Limit(args) => fleet_plans::limit(args).await,
            FleetCommand::Key(args) => make_key(args),
        }
    };
    signals.unless_stopped(work).await
}

async fn submit(args: &FleetSubmitArgs) -> CommandResult {
    let host = load(Overrides::default())?;
    let mut files = host.read_tasks(&args.tasks, InstructionKind::Tasks)?;
    let prepared =
        tasks::prepare(&files, args.batch.as_deref()).map_err(|error| CliError::new(error.to_string()))?;
    let reached = FleetEndpoint::by(&args.server, Some(&args.sign))?;
    let key = reached.key()?;
    // What is signed counts as the words of who signs. Workers take the rest for a stranger's.
    if key.is_some() {
        admit_tasks(&host, &mut files, (args.trust, ConsentChoice::Trust))?;
    }
    let store = reached.connect().await?;
    let (people, count) = (Output::to(OutputStream::Out), prepared.len());
    if let Some(batch) = &args.batch {
        costs::set_budget(&store, batch, args.budget()).await.map_err(silent)?;
    }
    let sent = tasks::submit_all(&store, prepared, key.as_ref(), |id| people.text(id)).await;
    sent.map_err(|error| CliError::new(error.to_string()))?;
    let tasks = if count == 1 { "task" } else { "tasks" };
    let told =
        StyledLine::of(OutputTone::Faint, format!("{count} {tasks} submitted; see `deskhand fleet watch`"));
    Output::to(OutputStream::Error).line(&told);
    Ok(Exit::Success)
}

async fn watch(args: &FleetWatchArgs) -> CommandResult {
    let store = server(&args.server).await?;
    let out = Output::to(OutputStream::Out);
    let mut watched = FleetTaskWatcher::read(&store, &args.ids).await.map_err(silent)?;
    if let Some(unknown) = watched.unknown() {
        return Err(no_task(unknown));
    }
    loop {
        let (changed, counts) = (watched.take_changed(), watched.counts());
        out.clear_status();
        for row in &changed {
            if args.json {
                out.json(row);
            } else if !matches!(row.state, TaskState::Waits | TaskState::Queued | TaskState::Rows { .. }) {
                out.line(&line_of(row));
            }
        }
        if counts.open() == 0 {
            Output::to(OutputStream::Error).line(&StyledLine::of(OutputTone::Faint, sentence(counts)));
            return Ok(if counts.unfinished == 0 { Exit::Success } else { Exit::Negative });
        }
        if !args.json {
            out.status(&StyledLine::of(OutputTone::Faint, sentence(counts)));
        }
        watched.next(SHOWN_EVERY).await.map_err(silent)?;
    }
}

async fn results(args: &FleetResultsArgs) -> CommandResult {
    let store = server(&args.server).await?;
    let rows = selected(&store, &args.ids).await?;
    let out = Output::to(OutputStream::Out);
    for row in &rows {
        let outcome = match &row.state {
            TaskState::Ended { outcome } => Some(outcome),
            TaskState::Held { .. } => None,
            TaskState::Waits | TaskState::Queued | TaskState::Rows { .. } => continue,
        };
        let folder = args.output.join(row.id.as_str());
        write_result(&store, &row.id, outcome, &row.attempts, &folder).await?;
        out.line(&line_of(row));
    }
    let told = format!("{} in {}", sentence(Counts::of(&rows)), args.output.display());
    Output::to(OutputStream::Error).line(&StyledLine::of(OutputTone::Faint, told));
    Ok(Exit::Success)
}

/// Writes what is stored of a task: its outcome if it has one, the journal and files of its session, and its documents.
async fn write_result(
    store: &NatsStore,
    id: &TaskId,
    outcome: Option<&TaskOutcome>,
    attempts: &[TaskAttempt],
    folder: &Path,
) -> Result<(), CliError> {
    let failed = |path: &Path| {
        let operation = format!("write {}", path.display());
        move |error: std::io::Error| CliError::failed_to(operation, error)
    };
    private::create_folders(folder).map_err(failed(folder))?;
    let write = |name: &str, bytes: &[u8]| {
        if !stays_inside(name) {
            return Err(CliError::new(format!("the worker named a document {name:?}; it is left out")));
        }
        let path = folder.join(name);
        let parent = path.parent().unwrap_or(folder);
        private::create_folders(parent).map_err(failed(parent))?;
        fs::write(&path, bytes).map_err(failed(&path))
    };
    if let Some(outcome) = outcome {
        let record = OutcomeRecord { outcome: outcome.clone(), attempts: attempts.to_vec(), batch: None };
        let text = serde_json::to_vec_pretty(&record)
            .map_err(|error| CliError::failed_to("write the result of a task", error))?;
        write("result.json", &text)?;
    }
    let journal = view::journal(store, id).await.map_err(silent)?;
    write("journal.jsonl", journal.lines.as_bytes())?;
    for (name, hash) in &journal.files {
        write(name.strip_prefix("session/").unwrap_or(name), &store.file(hash).await.map_err(silent)?)?;
    }
    if let Some(TaskOutcome::Done { result, .. }) = outcome
        && let Ok(result) = serde_json::from_value::<FleetResult>(result.clone())
    {
        // Those that nobody changed are in no journal.
        for (name, hash) in &result.documents {
            write(&format!("documents/{name}"), &store.file(hash).await.map_err(silent)?)?;
        }
    }
    Ok(())
}

async fn cancel(args: &FleetTasksArgs) -> CommandResult {
    let reached = FleetEndpoint::by(&args.server, Some(&args.sign))?;
    let (key, store) = (reached.key()?, reached.connect().await?);
    for row in fleet_plans::with_rows(&store, &args.ids).await? {
        if matches!(row.state, TaskState::Ended { .. }) {
            Output::to(OutputStream::Error).line(&line_of(&row));
            continue;
        }
        let signed = signed_cancel(&store, key.as_ref(), &row.id).await?;
        view::cancel(&store, &row.id, signed.as_ref()).await.map_err(silent)?;
        Output::to(OutputStream::Out).text(&row.id);
    }
    Ok(Exit::Success)
}

async fn retry(args: &FleetTasksArgs) -> CommandResult {
    let reached = FleetEndpoint::by(&args.server, Some(&args.sign))?;
    let (key, store) = (reached.key()?, reached.connect().await?);
    for row in selected(&store, &args.ids).await? {
        let again = again::once_more(&store, &row.id, &row.state, key.as_ref()).await.map_err(|error| {
            let help = error.help();
            let failed = CliError::new(error.to_string());
            match help {
                Some(help) => failed.with_help(help),
                None => failed,
            }
        })?;
        Output::to(OutputStream::Out).text(again);
    }
    Ok(Exit::Success)
}
