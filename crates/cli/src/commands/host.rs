//! The host under the configuration of this run: file, environment, flags. And work by hand on a desktop of it.

use deskhand_core::outcome::OutcomeKind;
use deskhand_host::{
    Host, Notice, Workspace, WorkspacePlan,
    config::{Overrides, Sources},
};

use super::signals::Signals;
use crate::{
    args::StageArgs,
    exit::{CliError, CommandResult, Exit},
    output::{Line, Output, Stream, Tone},
};

/// The host of the user, with the flags of this run. This program holds desktops and confines programs for it.
///
/// # Errors
/// Names the place of what is wrong with the configuration.
pub(super) fn load(flags: Overrides) -> Result<Host, CliError> {
    let helper = std::env::current_exe()
        .map_err(|error| CliError::failed_to("find this program, which holds desktops", error))?;
    Ok(Host::load(&Sources::of_user().with(flags))?.with_helper(helper))
}

/// The desktop that is looked at or acted on by hand.
///
/// # Errors
/// A document cannot be opened, or there is no display where one is asked for.
pub(super) fn by_hand(args: &StageArgs) -> Result<WorkspacePlan, CliError> {
    Ok(load(args.overrides())?.workspace(&args.setup.open, args.launch.as_deref())?)
}

/// Starts or connects to the desktop, opens what is to be opened, works on it, and closes it, however that ends; a
/// signal ends it all.
///
/// # Errors
/// The desktop does not come up, a program does not start, or the work fails.
pub(super) async fn work(
    plan: &WorkspacePlan,
    work: impl AsyncFnOnce(&Workspace) -> CommandResult,
) -> CommandResult {
    let mut signals = Signals::catch()?;
    let cancelled = Ok(Exit::Outcome(OutcomeKind::Cancelled));
    let mut workspace = tokio::select! {
        workspace = plan.start() => workspace?,
        _ = signals.next() => return cancelled,
    };
    let worked = tokio::select! {
        result = async {
            plan.open_on(&mut workspace).await?;
            work(&workspace).await
        } => result,
        _ = signals.next() => cancelled,
    };
    for notice in workspace.close().await {
        warn(&notice);
    }
    worked
}

/// Tells people what did not work and does not change the outcome.
pub(super) fn warn(notice: &Notice) {
    let line = Line::of(Tone::Doubtful, "warning:").with(Tone::Plain, format!(" {notice}"));
    Output::to(Stream::Error).line(&line);
}
