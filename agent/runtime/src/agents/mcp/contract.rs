//! The tool call to an MCP agent, and its result.

use deskhand_machine::{agent::AgentReport, session::SubtaskStatus};
use deskhand_ui::text::clip;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::{agents::Assignment, mcp::McpReply};

/// The tool that the server offers.
pub const WORK: &str = "work_on_subtask";
/// The maximum length of a result, in characters.
const RESULT_CHARS_MAX: usize = 6_000;

/// The arguments of the tool for a sub-task.
pub(super) fn arguments(assignment: &Assignment) -> Map<String, Value> {
    let Assignment { subtask, message, request, context, .. } = assignment.clone();
    let all = [("subtask", subtask.into()), ("message", message.into()), ("request", request.into())];
    // Agents that know the contract without it get none where there is nothing to say.
    let context = (!context.is_empty()).then(|| ("context", context.into()));
    all.into_iter().chain(context).map(|(name, value): (&str, Value)| (name.to_owned(), value)).collect()
}

/// Outcome of the sub-task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum McpSubtaskStatus {
    Finished,
    Failed,
    Rejected,
}

#[derive(Debug, Deserialize)]
struct McpSubtaskResult {
    status: McpSubtaskStatus,
    #[serde(default)]
    result: String,
}

/// Parses the result. Anything without a valid `finished` status is a failure.
pub(super) fn report(answer: &McpReply) -> AgentReport {
    let text = answer.text.as_str();
    let failed = |result: String| AgentReport { status: SubtaskStatus::Failed, result };
    if answer.is_error {
        return failed(clip(text, RESULT_CHARS_MAX));
    }
    let told = if answer.data.is_null() {
        serde_json::from_str::<McpSubtaskResult>(text)
    } else {
        serde_json::from_value::<McpSubtaskResult>(answer.data.clone())
    };
    match told {
        Ok(McpSubtaskResult { status, result }) => AgentReport {
            status: match status {
                McpSubtaskStatus::Finished => SubtaskStatus::Finished,
                McpSubtaskStatus::Failed => SubtaskStatus::Failed,
                McpSubtaskStatus::Rejected => SubtaskStatus::Rejected,
            },
            result: clip(&result, RESULT_CHARS_MAX),
        },
        Err(error) => {
            failed(format!("invalid result from the agent ({error}): {}", clip(text, RESULT_CHARS_MAX)))
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(result: &McpReply, status: SubtaskStatus, expected: &str) {
        let report = report(result);
        assert_eq!(report.status, status, "{report:?}");
        assert!(report.result.contains(expected), "{report:?}");
    }

    #[test]
    fn only_an_explicit_finished_status_counts() {
        let structured = |data: Value| McpReply { data, ..McpReply::default() };
        check(&structured(json!({"status": "finished", "result": "42"})), SubtaskStatus::Finished, "42");
        check(&structured(json!({"status": "rejected", "result": "no"})), SubtaskStatus::Rejected, "no");
        check(&structured(json!({"status": "failed"})), SubtaskStatus::Failed, "");
        check(&structured(json!({"status": "done"})), SubtaskStatus::Failed, "unknown variant `done`");
        let text = |text: &str| McpReply { text: text.to_owned(), ..McpReply::default() };
        check(&text(r#"{"status": "finished", "result": "in text"}"#), SubtaskStatus::Finished, "in text");
        check(&text("All done!"), SubtaskStatus::Failed, "All done!");
        let error = McpReply { is_error: true, ..text("out of paper") };
        check(&error, SubtaskStatus::Failed, "out of paper");
    }
}
