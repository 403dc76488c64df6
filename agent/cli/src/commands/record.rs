//! `deskhand record`: watches a person, and makes a workflow and an example of what they show.

use std::time::Duration;

use deskhand_host::{Host, HostError, Workspace, demonstration::DemonstrationRecording};
use deskhand_machine::session::StopReason;
use deskhand_runtime::{StopSwitch, demonstration::DemonstrationObserver};
use tokio::time::timeout;

use super::{
    desktop::print_variables,
    host::{load, warn},
    signals::StopSignals,
    workflow::shelve,
};
use crate::{
    args::RecordArgs,
    exit::{CliError, CommandResult, Exit},
    output::{Output, OutputStream, OutputTone, StyledLine},
};

/// After Ctrl-C, so long is waited for what the last input does.
const LAST_LOOK: Duration = Duration::from_secs(5);

pub(crate) async fn record(args: &RecordArgs) -> CommandResult {
    let host = load(args.stage.overrides())?;
    if args.request.trim().is_empty() {
        return Err(CliError::usage("say in a sentence what you show, such as \"Send the order of Acme\""));
    }
    if let Some(name) = &args.draft.name {
        host.workflows().check_new(name, args.draft.force).map_err(HostError::from)?;
    }
    let plan = host.workspace(&args.stage.documents.open, args.stage.launch.as_deref())?;
    let mut signals = StopSignals::catch()?;
    let mut workspace = tokio::select! {
        workspace = plan.start() => workspace?,
        _ = signals.next() => return Ok(Exit::Success),
    };
    let recorded = tokio::select! {
        opened = plan.open_on(&mut workspace) => match opened {
            Ok(()) => watch(&host, &workspace, args, &mut signals).await,
            Err(error) => Err(HostError::from(error).into()),
        },
        _ = signals.next() => Err(CliError::new("stopped before the desktop was ready")),
    };
    for notice in workspace.close().await {
        warn(&notice);
    }
    keep(&host, recorded?, args)
}

/// Watches until Ctrl-C.
async fn watch(
    host: &Host,
    workspace: &Workspace,
    args: &RecordArgs,
    signals: &mut StopSignals,
) -> Result<DemonstrationRecording, CliError> {
    if workspace.is_private() {
        print_variables(workspace);
    }
    let stop = StopSwitch::new();
    let mut told = RecordingNotifier { notes: Output::to(OutputStream::Error) };
    let about = (args.request.trim(), args.stage.documents.open.as_slice());
    let watching = host.watch(workspace, about, &stop, &mut told);
    tokio::pin!(watching);
    let recorded = tokio::select! {
        recorded = &mut watching => recorded,
        _ = signals.next() => {
            stop.cancel(StopReason::User);
            tokio::select! {
                recorded = timeout(LAST_LOOK, &mut watching) => recorded.map_err(|_| {
                    CliError::new("the desktop did not answer; nothing is kept")
                })?,
                _ = signals.next() => return Err(CliError::new("stopped; nothing is kept")),
            }
        }
    };
    Output::to(OutputStream::Error).clear_status();
    Ok(recorded?)
}

/// Writes the workflow and the example.
fn keep(host: &Host, recording: DemonstrationRecording, args: &RecordArgs) -> CommandResult {
    let (shown, draft) = recording.learn(args.draft.name.as_deref())?;
    let path = shelve(host, draft.clone(), &args.draft)?;
    let pictures = recording.keep(&shown, &draft.workflow.name, &host.knowledge())?;
    Output::to(OutputStream::Error)
        .line(&StyledLine::of(OutputTone::Faint, format!("pictures of the steps: {}", pictures.display())));
    Output::to(OutputStream::Out).text(path.display());
    Ok(Exit::Success)
}

/// Tells a person that they are watched.
struct RecordingNotifier {
    notes: Output,
}

impl DemonstrationObserver for RecordingNotifier {
    fn begun(&mut self) {
        self.notes.text("watching; the key Pause pauses, Ctrl-C ends it");
    }

    fn done(&mut self, inputs: usize) {
        self.notes.status(&StyledLine::of(OutputTone::Faint, format!("{inputs} keys and clicks")));
    }

    fn paused(&mut self, paused: bool) {
        self.notes.clear_status();
        self.notes.text(if paused { "paused; the key Pause goes on" } else { "watching again" });
    }
}
