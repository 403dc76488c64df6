//! JSON schemas of core's types, for what this crate shows to other programs: core knows no schemas.

use deskhand_machine::{evaluation::Judgement, outcome::OutcomeKind};
use schemars::{Schema, SchemaGenerator, json_schema};
use serde_json::Value;

/// One of these words.
fn one_of(words: &[&str]) -> Schema {
    json_schema!({ "type": "string", "enum": words })
}

/// One of these words, or null.
fn one_of_or_null(words: &[&str]) -> Schema {
    let words: Vec<Value> = words.iter().map(|word| Value::from(*word)).chain([Value::Null]).collect();
    json_schema!({ "type": ["string", "null"], "enum": words })
}

pub(crate) fn outcome(_: &mut SchemaGenerator) -> Schema {
    one_of(&OutcomeKind::ALL.map(OutcomeKind::word))
}

pub(crate) fn outcome_or_null(_: &mut SchemaGenerator) -> Schema {
    one_of_or_null(&OutcomeKind::ALL.map(OutcomeKind::word))
}

pub(crate) fn judgement_or_null(_: &mut SchemaGenerator) -> Schema {
    one_of_or_null(&Judgement::ALL.map(Judgement::word))
}

pub(crate) fn speaker(_: &mut SchemaGenerator) -> Schema {
    one_of(&["system", "user", "assistant"])
}

pub(crate) fn route_or_null(_: &mut SchemaGenerator) -> Schema {
    one_of_or_null(&["semantic", "input"])
}

/// A number that names a question or an approval.
pub(crate) fn effect_id(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "integer", "minimum": 0 })
}

pub(crate) fn cost(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "object",
        "required": ["known", "unknown_calls"],
        "properties": {
            "known": { "type": "integer", "description": "Sum of the known costs, in millionths of a US dollar." },
            "unknown_calls": { "type": "integer", "description": "Model requests whose cost is unknown." },
        },
    })
}

pub(crate) fn origin_or_null(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": ["object", "null"],
        "required": ["session", "record"],
        "properties": {
            "session": { "type": "string", "description": "The session." },
            "record": { "type": "integer", "description": "The last record that was copied." },
        },
    })
}

pub(crate) fn tally(generator: &mut SchemaGenerator) -> Schema {
    let (cost, count) = (cost(generator), json_schema!({ "type": "integer", "minimum": 0 }));
    json_schema!({
        "type": "object",
        "properties": {
            "steps": count, "model_calls": count, "calls": count, "prompt_tokens": count, "cached_tokens": count,
            "completion_tokens": count, "cost": cost,
        },
    })
}

pub(crate) fn plan_or_null(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": ["object", "null"],
        "required": ["steps"],
        "properties": {
            "object": { "type": ["string", "null"], "description": "The application or document to work in." },
            "steps": { "type": "array", "items": { "type": "string" }, "description": "The steps, in order." },
        },
    })
}

pub(crate) fn questions(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "array",
        "items": {
            "type": "object",
            "required": ["text", "required"],
            "properties": {
                "text": { "type": "string", "description": "The question." },
                "required": { "type": "boolean", "description": "Whether the request fails without an answer." },
                "default": { "type": "string", "description": "The answer that is assumed after a timeout." },
                "choices": { "type": "array", "items": { "type": "string" }, "description": "None for a free text." },
            },
        },
    })
}

pub(crate) fn planned_actions(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "array",
        "items": {
            "type": "object",
            "required": ["command"],
            "properties": {
                "command": {
                    "type": "object",
                    "required": ["tool", "arguments"],
                    "properties": { "tool": { "type": "string" }, "arguments": { "type": "object" } },
                },
                "target": { "type": ["string", "null"], "description": "What it acts on, in words." },
                "application": { "type": ["string", "null"], "description": "The application it acts in." },
            },
        },
    })
}
