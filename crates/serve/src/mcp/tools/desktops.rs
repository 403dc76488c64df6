//! The tool `desktops`.

use schemars::JsonSchema;
use serde::Deserialize;

use super::{Answer, Called, Tool};

/// Lists the desktops that were started and not ended.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Desktops {}

impl Tool for Desktops {
    const NAME: &'static str = "desktops";
    const ONLY_READS: bool = true;

    async fn run(self, called: Called) -> Result<Answer, String> {
        let mut lines = Vec::new();
        for (name, desk) in called.server.desks().list().await {
            // One at work is listed as such: who asks may wait for it.
            lines.push(match desk.try_lock() {
                Ok(desk) => format!("- {name}: session {}", desk.session().unwrap_or_default()),
                Err(_) => format!("- {name}: at work"),
            });
        }
        if lines.is_empty() {
            lines.push("No desktop is open; `start_desktop` starts one.".to_owned());
        }
        Ok(Answer::text(lines.join("\n")))
    }
}
