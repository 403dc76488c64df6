//! The tool `run_task`.

use std::path::PathBuf;

use deskhand_core::outcome::OutcomeKind;
use deskhand_host::SessionRequest;
use schemars::JsonSchema;
use serde::Deserialize;

use super::{Answer, Called, Tool};
use crate::mcp::{task, words::ended};

/// Gives a whole request to Deskhand's own agents, on a desktop of its own, and waits for the outcome. They ask the model of Deskhand's
/// configuration.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct RunTask {
    /// What to do, with all that is needed for it: file names, values, where to save.
    request: String,
    /// Absolute paths or addresses to open first.
    #[serde(default)]
    open: Vec<PathBuf>,
}

impl Tool for RunTask {
    const NAME: &'static str = "run_task";
    const ONLY_READS: bool = false;

    async fn run(self, called: Called) -> Result<Answer, String> {
        let request = SessionRequest {
            requests: vec![self.request.into()],
            open: self.open,
            ..SessionRequest::default()
        };
        let end = task::run(called.server.host(), request, &called.context).await?;
        called.server.desks().add_session(end.session.0.clone()).await;
        let failed = end.outcome().kind != OutcomeKind::Finished;
        Ok(Answer { failed, ..Answer::text(ended(&end)) })
    }
}
