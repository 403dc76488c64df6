//! The arm as an in-process agent kind with its own statuses, instructions and tools.

use std::sync::{Arc, Mutex, PoisonError};

use deskhand_machine::{
    agent::{AGENT_SYSTEM_PROMPT, AGENT_USER_PROMPT, AgentHome, AgentStatus, AgentSteps},
    command::{CallResult, CallStatus, ToolCommand, ToolSpec},
    intent::{Does, Takes},
    states::AppStatus,
};
use deskhand_runtime::agents::{AgentError, AgentKind, AgentObservation, AgentSetup, OpenAgent, StepsAgent};
use deskhand_ui::action::Verdict;
use serde_json::{Value, json};

use crate::arm::{Arm, Done};

/// The kind `arm`. All its agents share one device.
#[derive(Debug, Clone, Default)]
pub struct ArmKind {
    arm: Arc<Mutex<Arm>>,
}

impl ArmKind {
    /// The current state of the device.
    pub fn arm(&self) -> Arm {
        self.arm.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

fn status(word: &str, meaning: AppStatus, description: &str, next: &[&str]) -> AgentStatus {
    AgentStatus {
        word: word.to_owned(),
        meaning,
        description: description.to_owned(),
        next: next.iter().map(|word| (*word).to_owned()).collect(),
    }
}

fn tool(name: &str, description: &str, parameters: Value) -> ToolSpec {
    ToolSpec {
        name: name.to_owned(),
        description: description.to_owned(),
        parameters,
        acts: true,
        does: Does::Press,
        takes: vec![("key".to_owned(), Takes::Item)],
        ..ToolSpec::default()
    }
}

impl AgentKind for ArmKind {
    fn name(&self) -> &str {
        "arm"
    }

    fn introduction(&self) -> String {
        "Moves a robot arm that presses the keys of a keypad.".to_owned()
    }

    fn home(&self) -> AgentHome {
        let key = json!({
            "type": "object",
            "properties": {"key": {"type": "string", "description": "One key, such as 5."}},
            "required": ["key"],
        });
        let nothing = json!({"type": "object", "properties": {}});
        AgentHome::Steps(Box::new(AgentSteps {
            statuses: vec![
                status(
                    "HOMING",
                    AppStatus::Continue,
                    "connect and home the arm first.",
                    &["HOMING", "REACHING", "STUCK"],
                ),
                status("REACHING", AppStatus::Continue, "press keys and check the display.", &[]),
                status("MAY I", AppStatus::Confirm, "the movement could do harm: ask a person.", &[]),
                status("TYPED", AppStatus::Finish, "the display shows the requested keys.", &[]),
                status("STUCK", AppStatus::Fail, "this arm cannot do it.", &[]),
            ],
            instructions: "You move a robot arm over a keypad. Only the display counts.".to_owned(),
            system_prompt: AGENT_SYSTEM_PROMPT.to_owned(),
            user_prompt: AGENT_USER_PROMPT.to_owned(),
            tools: vec![
                tool("connect", "Switches the arm on.", nothing.clone()),
                tool("home_arm", "Moves the arm to its reference position.", nothing),
                tool("press_key", "Presses a key and reads the display.", key),
            ],
            subtask_steps_max: Some(10),
        }))
    }

    async fn open(&self, _: AgentSetup) -> Result<OpenAgent, AgentError> {
        Ok(OpenAgent::steps(ArmAgent { arm: Arc::clone(&self.arm) }))
    }
}

struct ArmAgent {
    arm: Arc<Mutex<Arm>>,
}

impl StepsAgent for ArmAgent {
    async fn observe(&self, _picture: bool) -> Result<AgentObservation, String> {
        let arm = self.arm.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(AgentObservation { text: arm.status(), png: None })
    }

    async fn call(&self, command: &ToolCommand) -> CallResult {
        let mut arm = self.arm.lock().unwrap_or_else(PoisonError::into_inner);
        let key = command.arguments.get("key").and_then(Value::as_str).unwrap_or_default();
        let done = match command.tool.as_str() {
            "connect" => arm.connect(),
            "home_arm" => arm.home(),
            "press_key" => arm.press(key),
            other => Done::Refused(format!("unknown tool `{other}`")),
        };
        match done {
            Done::Seen(summary) => CallResult {
                status: CallStatus::Success,
                ..CallResult::failure(Some(Verdict::Seen), summary)
            },
            Done::NotSeen(summary) => CallResult::failure(Some(Verdict::NotSeen), summary),
            Done::Refused(summary) => CallResult::failure(Some(Verdict::Refused), summary),
        }
    }

    async fn close(&self) {}
}
