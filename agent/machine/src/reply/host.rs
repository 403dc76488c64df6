//! The HostAgent's reply.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::{
    NextSubtask, ProposedAction, ReplyError, UserQuestion, extract_json,
    fields::{ReplyFields, kind_of, notes},
};
use crate::{
    known_tools::{LAUNCH, SELECT_WINDOW},
    states::HostStatus,
};

/// The HostAgent's decision.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HostReply {
    /// Observation of the agent.
    pub observation: String,
    /// Its reasoning.
    pub thought: String,
    /// The next status; never `Error`, which is reserved for the system.
    pub status: HostStatus,
    /// The sub-task to assign; set if the status is ASSIGN.
    pub subtask: Option<String>,
    /// Context for the AppAgent.
    pub message: Vec<String>,
    /// The id of the target, as the model wrote it.
    pub target: Option<String>,
    /// The name of the target, if the model gave it as well: it has to fit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target_name: Option<String>,
    /// The sub-tasks that follow the current one.
    pub plan: Vec<String>,
    /// A note for the user.
    pub comment: String,
    /// Facts to keep, for later steps and for other agents.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Questions for the user; at least one if the status is PENDING.
    pub questions: Vec<UserQuestion>,
    /// A command to run first.
    pub action: Option<ProposedAction>,
    /// All sub-tasks after the current one; `None` if they depend on its result.
    pub next: Option<Vec<NextSubtask>>,
    /// The result of the request, or the reason for its failure.
    pub result: Option<String>,
}

/// Parses the reply of the HostAgent.
///
/// # Errors
/// If a field is missing or invalid.
pub fn parse_host_reply(text: &str) -> Result<HostReply, ReplyError> {
    let mut fields = ReplyFields::of(extract_json(text)?.value, "")?;
    let said = fields.required_text("status", &format!("use one of {}", HostStatus::sayable().join(", ")))?;
    let mut status: HostStatus = said
        .parse()
        .map_err(|error: crate::states::UnknownStatus| ReplyError::field("status", error.to_string()))?;
    let observation = fields.text("observation")?;
    let thought = fields.required_text("thought", "give the reason for the decision in one sentence")?;
    let subtask = fields.optional_text("current_subtask")?;
    let message = fields.texts("message")?;
    let mut plan = fields.texts("plan")?;
    let next = next(&mut fields)?;
    if let (true, Some(next)) = (plan.is_empty(), &next) {
        plan = next.iter().map(|next| next.subtask.clone()).collect();
    }
    let comment = fields.text("comment")?;
    let questions = fields.questions("questions")?;
    let mut result = fields.any_text("result");
    let label = fields.any_text("control_label");
    let named = fields.any_text("control_text");
    let notes = notes(&mut fields)?;
    let action = fields.proposed_action()?.or_else(|| apps_to_open(&mut fields));
    if status == HostStatus::Error {
        status = HostStatus::Fail;
        result = result.or_else(|| Some(format!("the HostAgent reported ERROR: {thought}")));
    }
    // `select_application_window` and the label are equivalent; both become the target.
    let (target, target_name, action) = match action {
        Some(action) if action.function == SELECT_WINDOW => {
            let name = action.arguments.get("name").and_then(Value::as_str).map(str::to_owned);
            (action.arguments.get("id").and_then(id_text).or(label), name.or(named), None)
        }
        other => (label, named, other),
    };
    let reply = HostReply {
        observation,
        thought,
        status,
        subtask,
        message,
        target: target.filter(|id| !id.is_empty()),
        target_name: target_name.filter(|name| !name.trim().is_empty()),
        plan,
        comment,
        notes,
        questions,
        action,
        next,
        result,
    };
    check(&reply)?;
    Ok(reply)
}

fn check(reply: &HostReply) -> Result<(), ReplyError> {
    let launches = reply.action.as_ref().is_some_and(|action| action.function == LAUNCH);
    match reply.status {
        HostStatus::Assign if reply.subtask.is_none() => {
            Err(ReplyError::field("current_subtask", "missing; ASSIGN needs the sub-task to assign"))
        }
        HostStatus::Assign if reply.target.is_none() && !launches => Err(ReplyError::field(
            "control_label",
            "missing; ASSIGN needs the id of a target from the list, or `function` launch_application",
        )),
        HostStatus::Pending if reply.questions.is_empty() => {
            Err(ReplyError::field("questions", "missing; PENDING needs the questions to ask"))
        }
        HostStatus::Confirm if reply.action.is_none() => {
            Err(ReplyError::field("function", "missing; CONFIRM needs the action to approve"))
        }
        HostStatus::Continue if reply.action.is_none() && reply.target.is_none() => Err(ReplyError::field(
            "function",
            "missing; CONTINUE needs an action to run; otherwise use ASSIGN, FINISH, FAIL or PENDING",
        )),
        HostStatus::Assign
        | HostStatus::Continue
        | HostStatus::Pending
        | HostStatus::Confirm
        | HostStatus::Finish
        | HostStatus::Fail
        | HostStatus::Error => Ok(()),
    }
}

fn id_text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.trim().to_owned()),
        Value::Number(number) => Some(number.to_string()),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

/// The most sub-tasks planned ahead.
const NEXT_MAX: usize = 10;

/// The sub-tasks in `next`, each with its target or the arguments to launch its application.
fn next(fields: &mut ReplyFields) -> Result<Option<Vec<NextSubtask>>, ReplyError> {
    let Some(value) = fields.take("next") else { return Ok(None) };
    let Value::Array(items) = value else {
        return Err(ReplyError::field(
            "next",
            format!("expected a list of sub-tasks, found {}", kind_of(&value)),
        ));
    };
    if items.len() > NEXT_MAX {
        return Err(ReplyError::field(
            "next",
            format!("{} are too many; the limit is {NEXT_MAX}", items.len()),
        ));
    }
    let mut all = Vec::with_capacity(items.len());
    for (index, item) in items.into_iter().enumerate() {
        let mut item = ReplyFields::of(item, &format!("next[{index}]"))?;
        let subtask = item.required_text("current_subtask", "describe the sub-task")?;
        let target = item.any_text("control_label");
        let launch = match item.take("launch") {
            None => None,
            Some(Value::String(name)) => Some(Map::from_iter([("name".to_owned(), Value::String(name))])),
            Some(Value::Object(arguments)) => Some(arguments),
            Some(other) => {
                let problem = format!("expected the arguments of {LAUNCH}, found {}", kind_of(&other));
                return Err(ReplyError::field(item.at("launch"), problem));
            }
        };
        if target.is_none() && launch.is_none() {
            let hint =
                "missing; give the id of a target, or `launch` with the arguments of launch_application";
            return Err(ReplyError::field(item.at("control_label"), hint));
        }
        let launch = launch.map(|arguments| ProposedAction {
            function: LAUNCH.to_owned(),
            arguments,
            expect: None,
            carries: Vec::new(),
        });
        all.push(NextSubtask { subtask, message: item.texts("message")?, target, launch });
    }
    Ok(Some(all))
}

/// Turns the older `{"APP": "soffice", "file_path": "a.odt"}` into a command.
fn apps_to_open(fields: &mut ReplyFields) -> Option<ProposedAction> {
    let mut apps = ReplyFields::of(fields.take("apps_to_open")?, "apps_to_open").ok()?;
    let name = apps.text("app").unwrap_or_default();
    let files = apps.texts("file_path").unwrap_or_default();
    if name.is_empty() && files.is_empty() {
        return None;
    }
    let mut arguments = Map::new();
    if !name.is_empty() {
        arguments.insert("name".to_owned(), json!(name));
    }
    if !files.is_empty() {
        arguments.insert("files".to_owned(), json!(files));
    }
    Some(ProposedAction { function: LAUNCH.to_owned(), arguments, expect: None, carries: Vec::new() })
}
