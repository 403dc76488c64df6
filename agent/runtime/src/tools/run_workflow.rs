//! The tool `run_workflow`: gives the session machine a workflow with its values, which then performs it.

use std::{collections::BTreeMap, fmt, sync::Arc};

use deskhand_desktop::Desktop;
use deskhand_machine::{
    command::{ToolListingLevel, ToolSpec},
    intent::{Does, Takes},
    known_tools::RUN_WORKFLOW,
    workflow::{WorkflowOffer, WorkflowRun, given_values},
};
use serde_json::{Map, Value, json};
use tokio::task::spawn_blocking;

use super::tool::{Answer, AnyTool, ToolContext, ToolError, ToolOutput, ToolResult, failed, result_of};

/// Reads a workflow by its name, with these values for its parameters; the error is for the agent that asked.
pub type ReadWorkflow =
    Arc<dyn Fn(&str, &BTreeMap<String, String>) -> Result<WorkflowRun, String> + Send + Sync>;

/// The workflows that agents of a session can run.
#[derive(Clone)]
pub struct Workflows {
    /// The workflows as offered to agents.
    pub offers: Vec<WorkflowOffer>,
    /// Reads one. It is read when it is called, so that it is as its file is then.
    pub read: ReadWorkflow,
}

impl fmt::Debug for Workflows {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Workflows").field("offers", &self.offers).finish_non_exhaustive()
    }
}

/// Who has the tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Caller {
    /// The HostAgent, which sees the workflows among its targets.
    Host,
    /// AppAgents, which see them here alone.
    App,
}

/// The tool.
pub(super) struct RunWorkflow {
    pub(super) workflows: Workflows,
    pub(super) caller: Caller,
}

impl RunWorkflow {
    /// The description for models.
    fn description(&self) -> String {
        let does = "Runs a workflow of the user: known steps, fast, without asking you about each. Prefer one that does what is wanted.";
        match self.caller {
            Caller::Host => format!("{does} The targets list them; `name` is what follows `workflow:`."),
            Caller::App => {
                let line = |offer: &WorkflowOffer| format!("`{}`: {}", offer.name, offer.line());
                let lines: Vec<String> = self.workflows.offers.iter().map(line).collect();
                format!("{does} You go on after it. There is {}", lines.join("; "))
            }
        }
    }

    async fn read(&self, arguments: &Map<String, Value>) -> ToolResult {
        let reply = |text: String| ToolError::Reply(text);
        let name = arguments.get("name").and_then(Value::as_str).unwrap_or_default().trim().to_owned();
        let other = arguments.keys().find(|key| !["name", "parameters"].contains(&key.as_str()));
        if let Some(other) = other {
            return Err(reply(format!("there is no argument `{other}`; values are given in `parameters`")));
        }
        if self.workflows.offers.iter().all(|offer| offer.name != name) {
            return Err(reply(format!("there is no workflow `{name}`")));
        }
        let given = given_values(arguments).map_err(reply)?;
        let read = Arc::clone(&self.workflows.read);
        let run = spawn_blocking(move || read(&name, &given)).await;
        let run =
            run.map_err(|error| reply(format!("failed to read the workflow: {error}")))?.map_err(reply)?;
        let calls = run.workflow.calls();
        let message = format!("the workflow {} begins, with {calls} calls", run.workflow.name);
        let output = serde_json::to_value(run)
            .map_err(|error| reply(format!("the workflow cannot be passed on: {error}")))?;
        Ok(ToolOutput::read(message, output))
    }
}

impl<D: Desktop> AnyTool<D> for RunWorkflow {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: RUN_WORKFLOW.to_owned(),
            description: self.description(),
            parameters: json!({
                "type": "object",
                "properties": {
                    "name": {"type": "string"},
                    "parameters": {
                        "type": "object",
                        "additionalProperties": {"type": "string"},
                        "description": "Its values by name; those with a default can be left out.",
                    },
                },
                "required": ["name"],
            }),
            acts: Does::Open.acts(),
            does: Does::Open,
            takes: vec![("name".to_owned(), Takes::Item)],
            listing: ToolListingLevel::Whole,
            only_in: Vec::new(),
            source: None,
        }
    }

    fn acts(&self) -> bool {
        Does::Open.acts()
    }

    fn run<'a>(&'a self, arguments: &'a Map<String, Value>, _: &'a ToolContext<'a, D>) -> Answer<'a> {
        Box::pin(async move {
            match self.read(arguments).await {
                Ok(output) => result_of(output, Does::Open.acts()),
                Err(error) => failed(error, Does::Open.acts()),
            }
        })
    }
}
