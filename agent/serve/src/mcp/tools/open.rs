//! The tool `open`.

use deskhand_machine::known_tools::LAUNCH;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::{McpToolContext, McpToolHandler, McpToolOutput, WindowsOutput, unless_cancelled};
use crate::mcp::{unread::UndeliveredReport, words};

/// Starts an application, with these files, and waits until its window can be worked in.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct OpenToolArgs {
    #[serde(default)]
    desktop: Option<String>,
    /// Such as LibreOffice Calc, or a program.
    application: String,
    #[serde(default)]
    files: Vec<String>,
}

impl McpToolHandler for OpenToolArgs {
    type Output = WindowsOutput;
    const NAME: &'static str = "open";
    const ONLY_READS: bool = false;
    const IS_DESTRUCTIVE: bool = true;

    async fn run(self, called: McpToolContext) -> Result<McpToolOutput, String> {
        let mut desk = called.desk(self.desktop.as_deref()).await?;
        let arguments = json!({"name": self.application, "files": self.files});
        let arguments = arguments.as_object().cloned().unwrap_or_default();
        let interrupter = desk.interrupter();
        let turn =
            unless_cancelled(&called.call, &interrupter, desk.host_act((LAUNCH.to_owned(), arguments)))
                .await?;
        let done = words::done(&turn);
        desk.unread =
            turn.did_something().then(|| UndeliveredReport::new(&called.call, Self::NAME, done.as_str()));
        called.service.desks.worked_on(&desk.name);
        let text = format!("{done}\n{}", words::windows(&desk.desktop));
        Ok(McpToolOutput {
            failed: !turn.succeeded(),
            ..McpToolOutput::of(text.clone(), &WindowsOutput::of(&desk, &text))
        })
    }
}
