//! The HostAgent's reply.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::{ProposedAction, Question, ReplyError, extract_json, fields::Fields};
use crate::states::HostStatus;

/// What the HostAgent decided.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HostReply {
    /// What it sees.
    pub observation: String,
    /// Why it decides as it does.
    pub thought: String,
    /// What is next; never `Error`, which a model may not say.
    pub status: HostStatus,
    /// The sub-task to assign; set whenever the status is ASSIGN.
    pub subtask: Option<String>,
    /// What the AppAgent should know.
    pub message: Vec<String>,
    /// The id of the target, as the model wrote it.
    pub target: Option<String>,
    /// The sub-tasks that follow the current one.
    pub plan: Vec<String>,
    /// A word to the user.
    pub comment: String,
    /// Questions for the user; at least one whenever the status is PENDING.
    pub questions: Vec<Question>,
    /// A command to run first.
    pub action: Option<ProposedAction>,
    /// The result of the whole request, or the reason of a failure.
    pub result: Option<String>,
}

/// The tool that picks a window; what `control_label` stands for.
pub const SELECT_WINDOW: &str = "select_application_window";
/// The tool that starts an application; what `apps_to_open` stands for.
pub const LAUNCH: &str = "launch_application";

/// Reads the reply of a HostAgent.
///
/// # Errors
/// [`ReplyError`] says which field is wrong and what is expected there.
pub fn parse_host_reply(text: &str) -> Result<HostReply, ReplyError> {
    let mut fields = Fields::of(extract_json(text)?.value, "")?;
    let said = fields.required_text("status", &format!("say one of {}", HostStatus::sayable().join(", ")))?;
    let mut status: HostStatus = said
        .parse()
        .map_err(|error: crate::states::UnknownStatus| ReplyError::field("status", error.to_string()))?;
    let observation = fields.text("observation")?;
    let thought = fields.required_text("thought", "say in a sentence why you decide so")?;
    let subtask = fields.optional_text("current_subtask")?;
    let message = fields.texts("message")?;
    let plan = fields.texts("plan")?;
    let comment = fields.text("comment")?;
    let questions = fields.questions("questions")?;
    let mut result = fields.any_text("result");
    let label = fields.any_text("control_label");
    let action = fields.proposed_action()?.or_else(|| apps_to_open(&mut fields));
    if status == HostStatus::Error {
        status = HostStatus::Fail;
        result = result.or_else(|| Some(format!("the HostAgent said ERROR: {thought}")));
    }
    // `select_application_window` and the label mean the same thing; it is kept as the target.
    let (target, action) = match action {
        Some(action) if action.function == SELECT_WINDOW => {
            (action.arguments.get("id").and_then(id_text).or(label), None)
        }
        other => (label, other),
    };
    let reply = HostReply {
        observation,
        thought,
        status,
        subtask,
        message,
        target: target.filter(|id| !id.is_empty()),
        plan,
        comment,
        questions,
        action,
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
            Err(ReplyError::field("function", "missing; CONFIRM needs the action that is to be approved"))
        }
        HostStatus::Continue if reply.action.is_none() && reply.target.is_none() => Err(ReplyError::field(
            "function",
            "missing; CONTINUE needs an action to run, else say ASSIGN, FINISH, FAIL or PENDING",
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

/// `{"APP": "soffice", "file_path": "a.odt"}` of the older seeds, as a command.
fn apps_to_open(fields: &mut Fields) -> Option<ProposedAction> {
    let mut apps = Fields::of(fields.take("apps_to_open")?, "apps_to_open").ok()?;
    let name = apps.text("app").ok().filter(|name| !name.is_empty())?;
    let files = apps.texts("file_path").unwrap_or_default();
    let mut arguments = Map::new();
    arguments.insert("name".to_owned(), json!(name));
    if !files.is_empty() {
        arguments.insert("files".to_owned(), json!(files));
    }
    Some(ProposedAction { function: LAUNCH.to_owned(), arguments })
}
