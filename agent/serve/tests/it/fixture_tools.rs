//! The tools that the conformance suite calls.

use std::collections::BTreeMap;

use deskhand_serve::mcp::protocol::{CatalogChange, Level, McpCall};
use rmcp::{
    ErrorData,
    model::{
        CallToolResult, ClientCapabilities, ContentBlock, InputRequest, InputRequests, InputResponses,
        JsonObject, ResourceContents, Tool,
    },
};
use serde_json::{Value, json};
use tokio::sync::broadcast;

/// A picture of one pixel.
pub(crate) const PICTURE: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC";
/// A sound without samples.
const SOUND: &str = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQAAAAA=";

/// The tools without arguments.
const PLAIN: [&str; 24] = [
    "test_simple_text",
    "test_image_content",
    "test_audio_content",
    "test_embedded_resource",
    "test_multiple_content_types",
    "test_tool_with_logging",
    "test_logging_tool",
    "test_error_handling",
    "test_tool_with_progress",
    "test_elicitation_sep1034_defaults",
    "test_elicitation_sep1330_enums",
    "test_missing_capability",
    "test_streaming_elicitation",
    "test_trigger_tool_change",
    "test_trigger_prompt_change",
    "test_input_required_result_elicitation",
    "test_input_required_result_sampling",
    "test_input_required_result_list_roots",
    "test_input_required_result_request_state",
    "test_input_required_result_multiple_inputs",
    "test_input_required_result_multi_round",
    "test_input_required_result_tampered_state",
    "test_input_required_result_capabilities",
    "test_structured_content",
];

pub(crate) fn list() -> Vec<Tool> {
    let schema = |properties: Value, required: &[&str]| {
        let schema = json!({"type": "object", "properties": properties, "required": required});
        schema.as_object().cloned().unwrap_or_default()
    };
    let plain = PLAIN.iter().map(|name| Tool::new(*name, "a test tool", schema(json!({}), &[])));
    let text = |name: &'static str, argument: &str| {
        Tool::new(name, "a test tool", schema(json!({argument: {"type": "string"}}), &[argument]))
    };
    plain
        .chain([text("test_sampling", "prompt"), text("test_elicitation", "message"), full_schema()])
        .collect()
}

/// A tool whose schema uses much of what JSON Schema 2020-12 has.
fn full_schema() -> Tool {
    let schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": {"address": {"$anchor": "addressDef", "type": "object", "properties": {"street": {"type": "string"}, "city": {"type": "string"}}}},
        "properties": {
            "name": {"type": "string"},
            "address": {"$ref": "#/$defs/address"},
            "contactMethod": {"type": "string", "enum": ["phone", "email"]},
            "phone": {"type": "string"},
            "email": {"type": "string"},
        },
        "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
        "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
        "then": {"required": ["phone"]},
        "else": {"required": ["email"]},
        "additionalProperties": false,
    });
    Tool::new("json_schema_2020_12_tool", "a test tool", schema.as_object().cloned().unwrap_or_default())
}

/// A form to fill in.
pub(crate) fn form(message: &str, properties: Value, required: &[&str]) -> InputRequest {
    let mut schema = json!({"type": "object", "required": required});
    schema["properties"] = properties;
    request(
        json!({"method": "elicitation/create", "params": {"mode": "form", "message": message, "requestedSchema": schema}}),
    )
}

fn sampling(prompt: &str) -> InputRequest {
    let message = json!({"role": "user", "content": {"type": "text", "text": prompt}});
    request(json!({"method": "sampling/createMessage", "params": {"messages": [message], "maxTokens": 100}}))
}

fn roots() -> InputRequest {
    request(json!({"method": "roots/list", "params": {}}))
}

fn request(value: Value) -> InputRequest {
    serde_json::from_value(value).unwrap()
}

/// Asks the client; it has to be able to answer.
pub(crate) async fn need<const N: usize>(
    call: &McpCall,
    requests: [(&str, InputRequest); N],
) -> Result<InputResponses, ErrorData> {
    let can = &call.client.capabilities;
    let mut missing = ClientCapabilities::default();
    for (_, request) in &requests {
        if matches!(request, InputRequest::Elicitation(_)) && can.elicitation.is_none() {
            missing.elicitation = Some(Default::default());
        } else if matches!(request, InputRequest::CreateMessage(_)) && can.sampling.is_none() {
            missing.sampling = Some(Default::default());
        } else if matches!(request, InputRequest::ListRoots(_)) && can.roots.is_none() {
            missing.roots = Some(Default::default());
        }
    }
    if missing != ClientCapabilities::default() {
        return Err(ErrorData::missing_required_client_capability(missing));
    }
    if requests.iter().all(|(name, _)| call.given.get(*name).is_some_and(Value::is_object)) {
        return Ok(call.given.clone());
    }
    let requests: InputRequests = requests.map(|(name, request)| (name.to_owned(), request)).into();
    call.ask(requests).await.map_err(|error| ErrorData::internal_error(error.to_string(), None))
}

fn embedded(uri: &str, kind: &str, text: &str) -> ContentBlock {
    ContentBlock::resource(ResourceContents::text(text, uri).with_mime_type(kind))
}

fn name_form() -> InputRequest {
    form("What is your name?", json!({"name": {"type": "string"}}), &["name"])
}

fn defaults() -> InputRequest {
    let properties = json!({
        "name": {"type": "string", "default": "John Doe"},
        "age": {"type": "integer", "default": 30},
        "score": {"type": "number", "default": 95.5},
        "status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
        "verified": {"type": "boolean", "default": true},
    });
    form("Fill this in", properties, &[])
}

fn enums() -> InputRequest {
    let titled = |names: [(&str, &str); 3]| -> Vec<Value> {
        names.map(|(value, title)| json!({"const": value, "title": title})).into()
    };
    let options =
        titled([("value1", "First Option"), ("value2", "Second Option"), ("value3", "Third Option")]);
    let choices =
        titled([("value1", "First Choice"), ("value2", "Second Choice"), ("value3", "Third Choice")]);
    let plain = ["option1", "option2", "option3"];
    let properties = json!({
        "untitledSingle": {"type": "string", "enum": plain},
        "titledSingle": {"type": "string", "oneOf": options},
        "legacyEnum": {"type": "string", "enum": ["opt1", "opt2", "opt3"], "enumNames": ["Option One", "Option Two", "Option Three"]},
        "untitledMulti": {"type": "array", "items": {"type": "string", "enum": plain}},
        "titledMulti": {"type": "array", "items": {"anyOf": choices}},
    });
    form("Choose", properties, &[])
}

/// Runs a tool that asks.
async fn asking(name: &str, arguments: &JsonObject, call: &McpCall) -> Result<String, ErrorData> {
    let given = |name: &str| arguments.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    let told = |answer: &Value| {
        format!("action={}, content={}", answer["action"].as_str().unwrap_or_default(), answer["content"])
    };
    Ok(match name {
        "test_elicitation" => {
            let properties = json!({
                "username": {"type": "string", "description": "User's response"},
                "email": {"type": "string", "description": "User's email address"},
            });
            let question = form(&given("message"), properties, &["username", "email"]);
            let answers = need(call, [("user", question)]).await?;
            format!("User response: {}", told(&answers["user"]))
        }
        "test_elicitation_sep1034_defaults" => {
            format!("Elicitation completed: {}", told(&need(call, [("it", defaults())]).await?["it"]))
        }
        "test_elicitation_sep1330_enums" => {
            format!("Elicitation completed: {}", told(&need(call, [("it", enums())]).await?["it"]))
        }
        "test_sampling" => {
            let answers = need(call, [("it", sampling(&given("prompt")))]).await?;
            let content = &answers["it"]["content"];
            let text = content["text"].as_str().or(content[0]["text"].as_str());
            format!("LLM response: {}", text.unwrap_or_default())
        }
        "test_missing_capability" => need(call, [("it", sampling("Hello"))]).await?["it"].to_string(),
        "test_streaming_elicitation" | "test_input_required_result_elicitation" => {
            let answers = need(call, [("user_name", name_form())]).await?;
            format!("Hello, {}!", answers["user_name"]["content"]["name"].as_str().unwrap_or_default())
        }
        _ => return asking_by_result(name, call).await,
    })
}

/// Runs a tool that asks by a result that needs input.
async fn asking_by_result(name: &str, call: &McpCall) -> Result<String, ErrorData> {
    Ok(match name {
        "test_input_required_result_sampling" => {
            let question = sampling("What is the capital of France?");
            need(call, [("capital_question", question)]).await?["capital_question"]["content"].to_string()
        }
        "test_input_required_result_list_roots" => {
            need(call, [("client_roots", roots())]).await?["client_roots"]["roots"].to_string()
        }
        "test_input_required_result_request_state" | "test_input_required_result_tampered_state" => {
            let question = form("Please confirm", json!({"ok": {"type": "boolean"}}), &["ok"]);
            need(call, [("confirm", question)]).await?;
            "state-ok".to_owned()
        }
        "test_input_required_result_multiple_inputs" => {
            let questions = [
                ("user_name", name_form()),
                ("greeting", sampling("Generate a greeting")),
                ("client_roots", roots()),
            ];
            format!("{} answers", need(call, questions).await?.len())
        }
        "test_input_required_result_multi_round" => {
            let first = form("Step 1: What is your name?", json!({"name": {"type": "string"}}), &["name"]);
            need(call, [("step1", first)]).await?;
            let second = form(
                "Step 2: What is your favorite color?",
                json!({"color": {"type": "string"}}),
                &["color"],
            );
            need(call, [("step2", second)]).await?;
            "both answered".to_owned()
        }
        "test_input_required_result_capabilities" => {
            let can = &call.client.capabilities;
            let mut questions = BTreeMap::new();
            if can.elicitation.is_some() {
                questions.insert("user_name".to_owned(), name_form());
            }
            if can.sampling.is_some() {
                questions.insert("greeting".to_owned(), sampling("Generate a greeting"));
            }
            let asked = call.ask(questions).await;
            format!(
                "{} answers",
                asked.map_err(|error| ErrorData::internal_error(error.to_string(), None))?.len()
            )
        }
        _ => return Err(ErrorData::invalid_params(format!("there is no tool `{name}`"), None)),
    })
}

pub(crate) async fn run(
    name: &str,
    arguments: &JsonObject,
    call: &McpCall,
    changes: &broadcast::Sender<CatalogChange>,
) -> Result<CallToolResult, ErrorData> {
    let text = |text: &str| vec![ContentBlock::text(text)];
    let content = match name {
        "test_simple_text" => text("This is a simple text response for testing."),
        "test_image_content" => vec![ContentBlock::image(PICTURE, "image/png")],
        "test_audio_content" => vec![
            serde_json::from_value(json!({"type": "audio", "data": SOUND, "mimeType": "audio/wav"})).unwrap(),
        ],
        "test_embedded_resource" => {
            vec![embedded("test://embedded-resource", "text/plain", "This is an embedded resource content.")]
        }
        "test_multiple_content_types" => vec![
            ContentBlock::text("Multiple content types test:"),
            ContentBlock::image(PICTURE, "image/png"),
            embedded("test://mixed-content-resource", "application/json", r#"{"test":"data","value":123}"#),
        ],
        "test_tool_with_logging" | "test_logging_tool" => {
            for said in ["Tool execution started", "Tool processing data", "Tool execution completed"] {
                call.log(Level::Info, said);
            }
            text("logged")
        }
        "test_error_handling" => {
            return Ok(CallToolResult::error(text("This tool intentionally returns an error for testing")));
        }
        "test_tool_with_progress" => {
            for done in [0.0, 50.0, 100.0] {
                call.progress_of(format!("{done} of 100"), done, 100.0);
            }
            text("progressed")
        }
        "test_structured_content" => {
            let mut result = CallToolResult::success(text(r#"{"value":7}"#));
            result.structured_content = Some(json!({"value": 7}));
            return Ok(result);
        }
        "test_trigger_tool_change" | "test_trigger_prompt_change" => {
            let change = if name.contains("tool") { CatalogChange::Tools } else { CatalogChange::Prompts };
            changes.send(change).ok();
            text("changed")
        }
        _ => text(&asking(name, arguments, call).await?),
    };
    Ok(CallToolResult::success(content))
}
