//! The arm as a kind of agent in this process: its own statuses, instructions and tools.

use std::sync::{Arc, Mutex, PoisonError};

use deskhand_core::{
    agent::{AGENT_SYSTEM_PROMPT, AGENT_USER_PROMPT, AgentHome, AgentStatus, AgentSteps},
    command::{CallResult, CallStatus, Command, Listing, ToolSpec, Verdict},
    states::AppStatus,
};
use deskhand_runtime::agents::{AgentError, AgentKind, AgentSetup, OpenAgent, Sight, StepsAgent};
use serde_json::{Value, json};

use crate::arm::{Arm, Done};

/// The kind `arm`. All its agents move the one device.
#[derive(Debug, Clone, Default)]
pub struct ArmKind {
    arm: Arc<Mutex<Arm>>,
}

impl ArmKind {
    /// The device as it is now.
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
        listing: Listing::Whole,
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
                status("REACHING", AppStatus::Continue, "press keys and see what the display shows.", &[]),
                status("MAY I", AppStatus::Confirm, "the movement could do harm; a person is asked.", &[]),
                status("TYPED", AppStatus::Finish, "the display shows what was asked for.", &[]),
                status("STUCK", AppStatus::Fail, "it cannot be done with this arm.", &[]),
            ],
            instructions: "You move a robot arm over a keypad. What counts is what the display shows."
                .to_owned(),
            system_prompt: AGENT_SYSTEM_PROMPT.to_owned(),
            user_prompt: AGENT_USER_PROMPT.to_owned(),
            tools: vec![
                tool("connect", "Switches the arm on.", nothing.clone()),
                tool("home_arm", "Moves the arm to its home, from where it knows its way.", nothing),
                tool("press_key", "Presses a key of the keypad and reads its display.", key),
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
    async fn look(&self, _picture: bool) -> Result<Sight, String> {
        let arm = self.arm.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(Sight { text: arm.status(), png: None })
    }

    async fn call(&self, command: &Command) -> CallResult {
        let mut arm = self.arm.lock().unwrap_or_else(PoisonError::into_inner);
        let key = command.arguments.get("key").and_then(Value::as_str).unwrap_or_default();
        let done = match command.tool.as_str() {
            "connect" => arm.connect(),
            "home_arm" => arm.home(),
            "press_key" => arm.press(key),
            other => Done::Refused(format!("there is no tool `{other}`")),
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
