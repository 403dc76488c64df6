//! JSON schemas of the replies, for models with structured output.

use serde_json::{Value, json};

use crate::states::{AppStatus, HostStatus};

fn strings(description: &str) -> Value {
    json!({"type": "array", "items": {"type": "string"}, "description": description})
}

fn text(description: &str) -> Value {
    json!({"type": "string", "description": description})
}

/// Schema of the HostAgent's reply.
pub fn host_reply_schema() -> Value {
    let statuses = HostStatus::sayable();
    json!({
        "type": "object",
        "properties": {
            "observation": text("What you see on the desktop that matters for the request."),
            "thought": text("Reason for the decision."),
            "status": {"type": "string", "enum": statuses},
            "current_subtask": text("The sub-task to assign, self-contained."),
            "message": strings("Context for the AppAgent."),
            "control_label": text("The id of the target, such as w2."),
            "control_text": text("The name of the target, if you want it checked."),
            "plan": strings("The sub-tasks that follow."),
            "next": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {
                        "subtask": text("The sub-task, self-contained."),
                        "message": strings("Context for the AppAgent."),
                        "control_label": text("The id of the target, such as w2."),
                        "launch": {"type": "object", "description": "The arguments of launch_application, instead of a target."},
                    },
                    "required": ["subtask"],
                },
                "description": "With ASSIGN: all sub-tasks that follow, assigned without asking you again; [] if there are none.",
            },
            "comment": text("A note for the user."),
            "notes": strings("Facts that are needed later."),
            "questions": strings("Questions for the user."),
            "function": text("A tool to run first; empty for none."),
            "arguments": {"type": "object", "description": "The arguments of that tool."},
            "result": text("With FINISH the result for the user, with FAIL the reason."),
        },
        "required": ["observation", "thought", "status"],
    })
}

/// Schema of an AppAgent's reply.
pub fn app_reply_schema() -> Value {
    agent_reply_schema(&AppStatus::sayable())
}

/// Schema of the reply of an agent with these statuses.
pub fn agent_reply_schema(statuses: &[&str]) -> Value {
    let action = json!({
        "type": "object",
        "properties": {
            "function": text("The name of a tool."),
            "arguments": {"type": "object", "description": "Its arguments."},
            "expect": text("A few words that the result contains if the action worked."),
        },
        "required": ["function", "arguments"],
    });
    json!({
        "type": "object",
        "properties": {
            "observation": text("What you see in the window that matters for the sub-task."),
            "thought": text("Reason for the decision."),
            "action": {"type": "array", "items": action, "description": "Actions, run in order until one fails."},
            "status": {"type": "string", "enum": statuses},
            "plan": strings("The steps that follow."),
            "comment": text("A note for the user."),
            "notes": strings("Facts that you or others need later."),
            "questions": strings("Questions for the user."),
            "result": text("With FINISH the result of the sub-task, with FAIL the reason."),
            "control_reannotate": strings("With SCREENSHOT: ids of the controls to annotate."),
            "save_screenshot": {
                "type": "object",
                "properties": {
                    "save": {"type": "boolean"},
                    "reason": {"type": "string"},
                    "for": text("HostAgent, an application or an agent; empty for all."),
                },
                "description": "Whether other agents should see the current picture.",
            },
        },
        "required": ["observation", "thought", "status"],
    })
}

/// Schema of an operator's reply.
pub fn operator_reply_schema() -> Value {
    let number = |description: &str| json!({"type": "number", "description": description});
    let gesture = json!({
        "type": "object",
        "properties": {
            "do": {
                "type": "string",
                "enum": [
                    "click", "double_click", "triple_click", "right_click", "middle_click", "drag", "scroll", "type", "keys",
                    "wait", "screenshot", "done", "fail", "ask",
                ],
            },
            "x": number("Of a click, a scroll or the start of a drag: pixels from the left edge of the picture."),
            "y": number("Pixels from its top edge."),
            "to_x": number("Where a drag ends."),
            "to_y": number("Where a drag ends."),
            "down": number("Notches to scroll; negative for up."),
            "right": number("Notches to scroll; negative for left."),
            "text": text("What to type; with done the result, with fail the reason, with ask the question."),
            "keys": text("Chords separated by spaces: \"ctrl+s\", \"Tab Return\"."),
            "seconds": number("The longest wait."),
        },
        "required": ["do"],
    });
    json!({
        "type": "object",
        "properties": {
            "thought": text("Reason for what you do."),
            "action": {"type": "array", "items": gesture, "description": "What you do, in order."},
        },
        "required": ["thought", "action"],
    })
}

/// Schema of the EvaluationAgent's reply.
pub fn evaluation_reply_schema() -> Value {
    let judgement = |description: &str| json!({"type": "string", "enum": ["yes", "no", "unsure"], "description": description});
    let score = json!({
        "type": "object",
        "properties": {
            "name": text("A part of the request, in a few words."),
            "evaluation": judgement("Whether it is fulfilled."),
        },
        "required": ["name", "evaluation"],
    });
    json!({
        "type": "object",
        "properties": {
            "reason": text("Reason for the judgement; what is missing or wrong, if anything."),
            "sub_scores": {"type": "array", "items": score, "description": "The parts of the request."},
            "complete": judgement("Whether the whole request is fulfilled."),
        },
        "required": ["reason", "complete"],
    })
}
