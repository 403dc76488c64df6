//! A source of tools: `roll_dice` returns numbers that were rolled beforehand.
//!
//! A source is opened with each session. Its tools have a schema, and an audience: the HostAgent, all AppAgents, or those of some
//! applications. Arguments are checked before a call, and results are marked with where they come from.

use std::{path::PathBuf, sync::Mutex};

use deskhand_machine::{
    command::{CallResult, CallStatus, ToolSpec},
    intent::Does,
};
use deskhand_runtime::sources::{OpenSource, OwnTool, SourceCall, ToolAudience, ToolSource};
use deskhand_ui::action::CallReport;
use serde_json::{Value, json};

/// Dice with known results.
#[derive(Debug, Clone)]
pub struct Dice {
    /// What is rolled, in order.
    pub rolls: Vec<u8>,
}

impl ToolSource for Dice {
    fn name(&self) -> &str {
        "dice"
    }

    fn describe(&self) -> String {
        "dice on the table".to_owned()
    }

    async fn open(&self, _: PathBuf) -> Result<impl OpenSource, String> {
        if self.rolls.is_empty() {
            return Err("find the dice: there are none".to_owned());
        }
        Ok(Rolled(Mutex::new(self.rolls.clone().into_iter().collect())))
    }
}

/// The dice of one session.
struct Rolled(Mutex<std::collections::VecDeque<u8>>);

impl OpenSource for Rolled {
    fn tools(&self) -> Vec<OwnTool> {
        vec![OwnTool {
            spec: ToolSpec {
                name: "roll_dice".to_owned(),
                description: "Rolls a die.".to_owned(),
                parameters: json!({
                    "type": "object",
                    "properties": {"times": {"type": "integer", "minimum": 1, "maximum": 10}},
                    "required": ["times"],
                }),
                // It only tells; a tool that acts would be asked about.
                does: Does::Read,
                ..ToolSpec::default()
            },
            audience: vec![ToolAudience::Apps(Vec::new())],
        }]
    }

    fn problems(&self) -> Vec<String> {
        Vec::new()
    }

    async fn call(&self, call: SourceCall<'_>) -> CallResult {
        let times = call.arguments.get("times").and_then(Value::as_u64).unwrap_or(1);
        let Ok(mut rolls) = self.0.lock() else { return CallResult::failure(None, "the dice are lost") };
        let rolled: Vec<u8> = (0..times).map_while(|_| rolls.pop_front()).collect();
        CallResult {
            status: CallStatus::Success,
            report: CallReport::text("rolled"),
            output: json!(rolled),
            ..CallResult::failure(None, "")
        }
    }

    async fn close(&self) {}
}
