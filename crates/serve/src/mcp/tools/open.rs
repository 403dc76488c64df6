//! The tool `open`.

use deskhand_core::known_tools::LAUNCH;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::{Answer, Called, Tool};
use crate::mcp::words;

/// Starts an application, with these files, and waits until its window can be worked in.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Open {
    #[serde(default)]
    desktop: Option<String>,
    /// Such as LibreOffice Calc, or a program.
    application: String,
    #[serde(default)]
    files: Vec<String>,
}

impl Tool for Open {
    const NAME: &'static str = "open";
    const ONLY_READS: bool = false;

    async fn run(self, called: Called) -> Result<Answer, String> {
        let (_, mut desk) = called.desk(self.desktop.as_deref()).await?;
        let arguments = json!({"name": self.application, "files": self.files});
        let arguments = arguments.as_object().cloned().unwrap_or_default();
        let turn = desk.host_act((LAUNCH.to_owned(), arguments)).await?;
        let text = format!("{}\n{}", words::done(&turn), words::windows(&desk.desktop));
        Ok(Answer { failed: !turn.succeeded(), ..Answer::text(text) })
    }
}
