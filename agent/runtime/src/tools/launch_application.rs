//! The tool `launch_application`.
use deskhand_desktop::{Desktop, LaunchRequest};
use deskhand_desktop_act::launch;
use deskhand_machine::intent::Does;
use schemars::JsonSchema;
use serde::Deserialize;

use super::tool::{Tool, ToolContext, ToolError, ToolResult};

/// Starts an application, with these files, or opens files alone.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct LaunchApplication {
    /// Such as LibreOffice Calc, or a program.
    #[schemars(extend("x-takes" = "program"))]
    name: Option<String>,
    #[serde(default)]
    #[schemars(extend("x-takes" = "files"))]
    files: Vec<String>,
}

impl<D: Desktop> Tool<D> for LaunchApplication {
    const NAME: &'static str = deskhand_machine::known_tools::LAUNCH;
    const DOES: Does = Does::Open;
    type Input = Self;

    async fn run(input: Self, context: &ToolContext<'_, D>) -> ToolResult {
        let program = input.name.unwrap_or_default();
        if program.is_empty() && input.files.is_empty() {
            return Err(ToolError::Reply(
                "give the `name` of an application, `files` to open, or both".to_owned(),
            ));
        }
        let request = LaunchRequest { program, arguments: input.files };
        Ok(launch(context.desktop, &request, &context.limits).await?.into())
    }
}
