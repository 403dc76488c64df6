//! The tool `run_task`.

use std::path::PathBuf;

use deskhand_host::SessionRequest;
use deskhand_machine::outcome::OutcomeKind;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{McpToolContext, McpToolHandler, McpToolOutput};
use crate::mcp::{task, words::ended};

/// Gives a whole request to Deskhand's own agents, on a desktop of its own, and waits for the outcome. They ask the model of Deskhand's
/// configuration.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct RunTask {
    /// The task, with everything needed for it: file names, values, where to save.
    request: String,
    /// Absolute paths or addresses to open first.
    #[serde(default)]
    open: Vec<PathBuf>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Output {
    session: String,
    /// Such as `finished`.
    outcome: String,
    text: String,
}

impl McpToolHandler for RunTask {
    type Output = Output;
    const NAME: &'static str = "run_task";
    const ONLY_READS: bool = false;
    const IS_DESTRUCTIVE: bool = true;

    async fn run(self, called: McpToolContext) -> Result<McpToolOutput, String> {
        let request = SessionRequest {
            requests: vec![self.request.into()],
            open: self.open,
            ..SessionRequest::default()
        };
        let end = task::run(called.service.host(), request, &called.call).await?;
        called.service.desks.add_session(end.session.0.clone()).await;
        let (text, outcome) = (ended(&end), end.outcome());
        let failed = outcome.kind != OutcomeKind::Finished;
        let output =
            Output { session: end.session.0.clone(), outcome: outcome.kind.to_string(), text: text.clone() };
        Ok(McpToolOutput { failed, ..McpToolOutput::of(text, &output) })
    }
}
