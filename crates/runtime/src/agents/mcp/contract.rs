//! The tool call to an MCP agent, and its result.

use deskhand_core::{agent::AgentReport, session::SubtaskStatus, text::clip};
use rmcp::model::{CallToolRequestParams, CallToolResult};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::agents::Assignment;

/// The tool that the server offers.
pub const WORK: &str = "work_on_subtask";
/// The maximum length of a result, in characters.
const RESULT_CHARS_MAX: usize = 6_000;

/// The tool call for a sub-task.
pub(super) fn request(assignment: &Assignment) -> CallToolRequestParams {
    let arguments = json!({
        "subtask": assignment.subtask,
        "message": assignment.message,
        "request": assignment.request,
    });
    let arguments: Map<String, Value> = arguments.as_object().cloned().unwrap_or_default();
    CallToolRequestParams::new(WORK).with_arguments(arguments)
}

/// How the sub-task ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Ended {
    Finished,
    Failed,
    Rejected,
}

#[derive(Debug, Deserialize)]
struct Answer {
    status: Ended,
    #[serde(default)]
    result: String,
}

/// Parses the result. Anything without a valid `finished` status is a failure.
pub(super) fn report(result: &CallToolResult) -> AgentReport {
    let text: Vec<&str> =
        result.content.iter().filter_map(|block| block.as_text()).map(|block| block.text.as_str()).collect();
    let text = text.join("\n");
    let failed = |result: String| AgentReport { status: SubtaskStatus::Failed, result };
    if result.is_error == Some(true) {
        return failed(clip(&text, RESULT_CHARS_MAX));
    }
    let answer = match &result.structured_content {
        Some(value) => serde_json::from_value::<Answer>(value.clone()),
        None => serde_json::from_str::<Answer>(&text),
    };
    match answer {
        Ok(Answer { status, result }) => AgentReport {
            status: match status {
                Ended::Finished => SubtaskStatus::Finished,
                Ended::Failed => SubtaskStatus::Failed,
                Ended::Rejected => SubtaskStatus::Rejected,
            },
            result: clip(&result, RESULT_CHARS_MAX),
        },
        Err(error) => {
            failed(format!("invalid result from the agent ({error}): {}", clip(&text, RESULT_CHARS_MAX)))
        }
    }
}

#[cfg(test)]
mod tests {
    use rmcp::model::ContentBlock;

    use super::*;

    fn check(result: &CallToolResult, status: SubtaskStatus, expected: &str) {
        let report = report(result);
        assert_eq!(report.status, status, "{report:?}");
        assert!(report.result.contains(expected), "{report:?}");
    }

    #[test]
    fn only_an_explicit_finished_status_counts() {
        let structured = |value: Value| CallToolResult::structured(value);
        check(&structured(json!({"status": "finished", "result": "42"})), SubtaskStatus::Finished, "42");
        check(&structured(json!({"status": "rejected", "result": "no"})), SubtaskStatus::Rejected, "no");
        check(&structured(json!({"status": "failed"})), SubtaskStatus::Failed, "");
        check(&structured(json!({"status": "done"})), SubtaskStatus::Failed, "unknown variant `done`");
        let text = |text: &str| CallToolResult::success(vec![ContentBlock::text(text)]);
        check(&text(r#"{"status": "finished", "result": "in text"}"#), SubtaskStatus::Finished, "in text");
        check(&text("All done!"), SubtaskStatus::Failed, "All done!");
        let error = CallToolResult::error(vec![ContentBlock::text("out of paper")]);
        check(&error, SubtaskStatus::Failed, "out of paper");
    }
}
