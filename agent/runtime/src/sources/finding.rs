//! The tool that looks for tools, where there are more than prompts list.

use deskhand_machine::{
    command::{CallResult, CallStatus, ToolCommand, ToolListingLevel, ToolSpec},
    intent::Does,
    prompt::tools_text,
};
use deskhand_ui::action::CallReport;
use serde_json::{Value, json};

/// Its name.
pub(super) const FIND_TOOL: &str = "find_tool";
/// The most tools of sources that prompts list for one agent; with more of them, only this one is listed.
pub(super) const LISTED_MAX: usize = 12;
/// The most tools that it returns.
const FOUND_MAX: usize = 5;

/// The tool for an agent who has `count` tools of these sources.
pub(super) fn spec(count: usize, sources: &str) -> ToolSpec {
    ToolSpec {
        name: FIND_TOOL.to_owned(),
        description: format!(
            "Looks among {count} more tools, of {sources}, and returns those that fit best, with their arguments."
        ),
        parameters: json!({
            "type": "object",
            "properties": {"query": {"type": "string", "description": "What the tool should do."}},
            "required": ["query"],
            "additionalProperties": false,
        }),
        acts: false,
        does: Does::Read,
        ..ToolSpec::default()
    }
}

/// Runs it among these tools.
pub(super) fn find(command: &ToolCommand, tools: &[&ToolSpec]) -> CallResult {
    let query = command.arguments.get("query").and_then(Value::as_str).unwrap_or_default();
    let wanted = words(query);
    if wanted.is_empty() {
        return CallResult::failure(None, "`query` must say what the tool should do");
    }
    let score = |tool: &ToolSpec| {
        let words = words(&format!("{} {}", tool.name, tool.description));
        wanted.iter().filter(|word| words.iter().any(|one| one.starts_with(word.as_str()))).count()
    };
    let mut found: Vec<(usize, &ToolSpec)> =
        tools.iter().map(|tool| (score(tool), *tool)).filter(|(score, _)| *score > 0).collect();
    found.sort_by_key(|(score, _)| std::cmp::Reverse(*score));
    let listed: Vec<ToolSpec> = found
        .into_iter()
        .take(FOUND_MAX)
        .map(|(_, tool)| ToolSpec { listing: ToolListingLevel::Whole, ..tool.clone() })
        .collect();
    if listed.is_empty() {
        return CallResult::failure(None, format!("no tool fits “{query}”; use other words"));
    }
    CallResult {
        status: CallStatus::Success,
        report: CallReport::text(format!("{} tools fit", listed.len())),
        output: Value::String(tools_text(&listed)),
        ..CallResult::failure(None, "")
    }
}

/// The words of a text, in lower case.
fn words(text: &str) -> Vec<String> {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect()
}
