//! The host with the configuration of this run (file, environment, flags), and work by hand on one of its desktops.

use std::time::Duration;

use deskhand_desktop::CancelScope;
use deskhand_host::{
    Host, Notice, Workspace, WorkspacePlan,
    config::{Overrides, Sources},
};
use deskhand_machine::outcome::OutcomeKind;
use deskhand_runtime::{WaitReason, Waits};

use super::{fleet_server::with_machines, signals::StopSignals, signs::show_waits_by_hand};
use crate::{
    args::StageArgs,
    exit::{CliError, CommandResult, Exit},
    output::{Output, OutputStream, OutputTone, StyledLine},
};

/// The host of the user, with the flags of this run. This program is its helper for desktops and sandboxes.
///
/// # Errors
/// The configuration is not valid.
pub(super) fn load(flags: Overrides) -> Result<Host, CliError> {
    let helper = std::env::current_exe()
        .map_err(|error| CliError::failed_to("find the path of this program", error))?;
    with_machines(Host::load(&Sources::of_user().with(flags))?.with_helper(helper))
}

/// The desktop to inspect or to act on by hand.
///
/// # Errors
/// A document cannot be opened, or the current desktop has no display.
pub(super) fn by_hand(args: &StageArgs) -> Result<WorkspacePlan, CliError> {
    Ok(load(args.overrides())?.workspace(&args.documents.open, args.launch.as_deref())?)
}

/// Starts or connects to the desktop, opens documents, works on it, and closes it in any case. A signal ends the work.
///
/// # Errors
/// The desktop or a program does not start, or the work fails.
pub(super) async fn work(
    plan: &WorkspacePlan,
    work: impl AsyncFnOnce(&Workspace) -> CommandResult,
) -> CommandResult {
    work_in(plan, None, work).await
}

/// Maximum time for a cancelled action to report its effects.
const REPORT_BOUND: Duration = Duration::from_secs(5);

/// The same for an action. A signal cancels it, and it reports what it did; a second one does not wait for that.
///
/// # Errors
/// As [`work`].
pub(super) async fn act_on(
    plan: &WorkspacePlan,
    act: impl AsyncFnOnce(&Workspace) -> CommandResult,
) -> CommandResult {
    let scope = CancelScope::default();
    work_in(plan, Some(&scope), async |workspace| scope.run(act(workspace)).await).await
}

async fn work_in(
    plan: &WorkspacePlan,
    scope: Option<&CancelScope>,
    work: impl AsyncFnOnce(&Workspace) -> CommandResult,
) -> CommandResult {
    let mut signals = StopSignals::catch()?;
    let cancelled = || Ok(Exit::Outcome(OutcomeKind::Cancelled));
    let waits = Waits::default();
    let mut workspace = tokio::select! {
        workspace = async {
            let _waiting = waits.begin(WaitReason::Desktop);
            plan.start().await
        } => workspace?,
        never = show_waits_by_hand(&waits) => match never {},
        _ = signals.next() => return cancelled(),
    };
    let opened = tokio::select! {
        opened = async {
            let _waiting = waits.begin(WaitReason::Opening(plan.opens()));
            plan.open_on(&mut workspace).await
        } => Some(opened),
        never = show_waits_by_hand(&waits) => match never {},
        _ = signals.next() => None,
    };
    let worked = match opened {
        None => cancelled(),
        Some(Err(error)) => Err(error.into()),
        Some(Ok(())) => {
            let working = work(&workspace);
            tokio::pin!(working);
            tokio::select! {
                result = &mut working => result,
                never = show_waits_by_hand(&waits) => match never {},
                _ = signals.next() => match scope {
                    None => cancelled(),
                    Some(scope) => {
                        scope.cancel();
                        tokio::select! {
                            result = tokio::time::timeout(REPORT_BOUND, &mut working) => {
                                result.unwrap_or_else(|_| cancelled()).and_then(|_| cancelled())
                            }
                            _ = signals.next() => cancelled(),
                        }
                    }
                },
            }
        }
    };
    for notice in workspace.close().await {
        warn(&notice);
    }
    worked
}

/// Prints a warning.
pub(super) fn warn(notice: &Notice) {
    let line = StyledLine::of(OutputTone::Doubtful, "warning:").with(OutputTone::Plain, format!(" {notice}"));
    Output::to(OutputStream::Error).line(&line);
}
