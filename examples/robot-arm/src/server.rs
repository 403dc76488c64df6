//! The arm as an MCP server with the tool `work_on_subtask`; typing digits needs no model.

use std::sync::{Arc, Mutex, PoisonError};

use rmcp::{
    ErrorData, ServerHandler,
    model::{
        CallToolRequestParams, CallToolResponse, CallToolResult, ListToolsResult, PaginatedRequestParams,
        ServerCapabilities, ServerConfig, Tool,
    },
    service::{RequestContext, RoleServer},
};
use serde_json::{Value, json};

use crate::arm::{Arm, Done, KEYS};

/// The server. The device outlives each request.
#[derive(Debug, Clone, Default)]
pub struct ArmServer {
    arm: Arc<Mutex<Arm>>,
}

impl ArmServer {
    /// Types the keys quoted in the sub-task, then checks the display.
    fn work(&self, subtask: &str) -> Value {
        let failed = |why: String| json!({"status": "failed", "result": why});
        let Some(keys) = subtask.split('"').nth(1) else {
            return failed(format!(
                "the sub-task contains no quoted keys, such as \"12#\"; the keys are {KEYS}"
            ));
        };
        let mut arm = self.arm.lock().unwrap_or_else(PoisonError::into_inner);
        let before = arm.display().to_owned();
        let ready = [arm.connect(), arm.home()];
        let presses = keys.chars().map(|key| arm.press(key.to_string().as_str())).collect::<Vec<_>>();
        for done in ready.into_iter().chain(presses) {
            if let Done::NotSeen(why) | Done::Refused(why) = done {
                return failed(why);
            }
        }
        let expected = format!("{before}{keys}");
        if arm.display() == expected {
            json!({"status": "finished", "result": arm.status()})
        } else {
            failed(format!("{} Expected “{expected}”.", arm.status()))
        }
    }
}

impl ServerHandler for ArmServer {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build()).with_instructions(
            "Moves a robot arm that presses the keys of a keypad; put the keys in quotation marks.",
        )
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let schema = json!({
            "type": "object",
            "properties": {
                "subtask": {"type": "string"},
                "message": {"type": "array", "items": {"type": "string"}},
                "request": {"type": "string"},
            },
            "required": ["subtask"],
        });
        let schema = schema.as_object().cloned().unwrap_or_default();
        let tool = Tool::new("work_on_subtask", "Types keys on the keypad.", schema);
        Ok(ListToolsResult::with_all_items(vec![tool]))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = request.arguments.unwrap_or_default();
        let subtask = arguments.get("subtask").and_then(Value::as_str).unwrap_or_default();
        Ok(CallToolResult::structured(self.work(subtask)).into())
    }
}
