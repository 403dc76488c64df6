//! The tool `wait`.

use std::time::Duration;

use deskhand_desktop::Desktop;
use deskhand_desktop_act::wait;
use deskhand_machine::{command::ToolListingLevel, intent::Does};
use schemars::JsonSchema;
use serde::Deserialize;

use super::tool::{Tool, ToolContext, ToolError, ToolResult};

/// The longest wait, in seconds.
const SECONDS_MAX: f64 = 300.0;

/// Waits until something has happened in the application, for the HostAgent on the desktop, and settled, or the time is up; reports what happened.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct WaitArgs {
    /// The timeout; up to 300.
    seconds: f64,
}

impl<D: Desktop> Tool<D> for WaitArgs {
    const NAME: &'static str = "wait";
    const DOES: Does = Does::Wait;
    const LISTING: ToolListingLevel = ToolListingLevel::Nothing;
    type Input = Self;

    async fn run(input: Self, context: &ToolContext<'_, D>) -> ToolResult {
        let bound = Some(input.seconds).filter(|seconds| *seconds > 0.0 && *seconds <= SECONDS_MAX);
        let bound = bound.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()).ok_or_else(|| {
            let seconds = input.seconds;
            ToolError::Reply(format!(
                "`seconds` must be more than 0 and at most {SECONDS_MAX}, not {seconds}; did not wait"
            ))
        })?;
        Ok(wait(context.desktop, context.window, bound).await?.into())
    }
}
