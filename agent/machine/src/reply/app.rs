//! The AppAgent's reply.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{
    HealReply, ProposedAction, ReplyError, UserQuestion, extract_json,
    fields::{ReplyFields, notes},
};
use crate::{
    agent::AgentSteps,
    blackboard::PictureAudience,
    reference::{ANNOTATION, to_own_tools},
    states::{AppStatus, UnknownStatus},
};

/// An AppAgent's decision.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AppReply {
    /// Observation of the agent.
    pub observation: String,
    /// Its reasoning.
    pub thought: String,
    /// The status after the actions succeed; never `Error`, which is reserved for the system.
    pub status: AppStatus,
    /// The status as the agent's kind spells it.
    pub word: String,
    /// The actions, in order; the first failure ends the step.
    pub actions: Vec<ProposedAction>,
    /// The steps that follow.
    pub plan: Vec<String>,
    /// A note for the user.
    pub comment: String,
    /// Questions for the user; at least one if the status is PENDING.
    pub questions: Vec<UserQuestion>,
    /// The result of the sub-task, or the reason for its failure.
    pub result: Option<String>,
    /// The controls to annotate in the next observation; empty for all.
    pub control_reannotate: Vec<String>,
    /// Facts to keep, for later steps and for other agents.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// The current picture for the blackboard; `None` to drop it.
    pub save_picture: Option<KeptPicture>,
    /// Decision about a workflow step that cannot be done as written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub heal: Option<HealReply>,
}

/// A picture that an agent keeps for others.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptPicture {
    /// Why.
    pub reason: String,
    /// Whom for.
    #[serde(default)]
    pub audience: PictureAudience,
}

/// The most actions in one reply.
pub(super) const ACTIONS_MAX: usize = 60;

/// Parses the reply of an AppAgent.
///
/// # Errors
/// If a field is missing or invalid.
pub fn parse_app_reply(text: &str) -> Result<AppReply, ReplyError> {
    let mut reply = parse(text, &AppStatus::sayable(), &|said| {
        let status: AppStatus =
            said.parse().map_err(|error: UnknownStatus| ReplyError::field("status", error.to_string()))?;
        // ERROR is reserved for the system.
        Ok((status, if status == AppStatus::Error { AppStatus::Fail } else { status }.to_string()))
    })?;
    convert_annotation(&mut reply);
    check(&reply)?;
    reply.actions = to_own_tools(reply.actions);
    Ok(reply)
}

/// Turns the reference's action `annotation` into SCREENSHOT of the controls that it lists.
fn convert_annotation(reply: &mut AppReply) {
    let looks = matches!(reply.status, AppStatus::Continue | AppStatus::Screenshot);
    let [action] = reply.actions.as_slice() else { return };
    if !looks || action.function != ANNOTATION {
        return;
    }
    let labels = action.arguments.get("control_labels").and_then(Value::as_array);
    let label = |label: &Value| {
        let text = label.as_str().map_or_else(|| label.to_string(), str::to_owned);
        // Our ids start with a letter.
        if text.bytes().all(|byte| byte.is_ascii_digit()) { format!("e{text}") } else { text }
    };
    reply.control_reannotate = labels.into_iter().flatten().map(label).collect();
    reply.actions.clear();
    reply.status = AppStatus::Screenshot;
    reply.word = reply.status.to_string();
}

/// Parses the reply of an agent of another kind, whose last status was `before`.
///
/// # Errors
/// If a field is missing or invalid.
pub fn parse_agent_reply(
    text: &str,
    steps: &AgentSteps,
    before: Option<&str>,
) -> Result<AppReply, ReplyError> {
    let words = steps.words_after(before);
    let reply = parse(text, &words, &|said| {
        let status = steps.status(said).filter(|status| words.contains(&status.word.as_str()));
        status.map(|status| (status.meaning, status.word.clone())).ok_or_else(|| {
            let now = before.map(|word| format!(" after {word}")).unwrap_or_default();
            let said: String = said.chars().take(60).collect();
            let problem = format!("`{said}` is not a status{now}; use one of {}", words.join(", "));
            ReplyError::field("status", problem)
        })
    })?;
    check(&reply)?;
    Ok(reply)
}

/// The status of a word, and its canonical spelling.
type Meaning = Result<(AppStatus, String), ReplyError>;

/// Parses a reply whose status is one of `words`.
fn parse(text: &str, words: &[&str], status_of: &dyn Fn(&str) -> Meaning) -> Result<AppReply, ReplyError> {
    let mut fields = ReplyFields::of(extract_json(text)?.value, "")?;
    let (actions, action_status) = actions(&mut fields)?;
    let said = match fields.text("status")? {
        said if said.is_empty() => action_status.ok_or_else(|| {
            ReplyError::field("status", format!("missing; use one of {}", words.join(", ")))
        })?,
        said => said,
    };
    let (mut status, word) = status_of(&said)?;
    let thought = fields.required_text("thought", "give the reason for the decision in one sentence")?;
    let mut result = fields.any_text("result");
    if status == AppStatus::Error {
        status = AppStatus::Fail;
        result = result.or_else(|| Some(format!("the AppAgent reported ERROR: {thought}")));
    }
    Ok(AppReply {
        observation: fields.text("observation")?,
        thought,
        status,
        word,
        actions,
        plan: fields.texts("plan")?,
        comment: fields.text("comment")?,
        questions: fields.questions("questions")?,
        result,
        control_reannotate: fields.texts("control_reannotate")?,
        notes: notes(&mut fields)?,
        save_picture: save_picture(&mut fields),
        heal: None,
    })
}

fn check(reply: &AppReply) -> Result<(), ReplyError> {
    if reply.actions.len() > ACTIONS_MAX {
        return Err(ReplyError::field(
            "action",
            format!("{} actions are too many; the limit is {ACTIONS_MAX} per reply", reply.actions.len()),
        ));
    }
    let word = &reply.word;
    match reply.status {
        AppStatus::Continue if reply.actions.is_empty() => Err(ReplyError::field(
            "action",
            format!("missing; {word} needs an action; otherwise use another status"),
        )),
        AppStatus::Pending if reply.questions.is_empty() => {
            Err(ReplyError::field("questions", format!("missing; {word} needs the questions to ask")))
        }
        AppStatus::Confirm if reply.actions.is_empty() => {
            Err(ReplyError::field("action", format!("missing; {word} needs the action to approve")))
        }
        AppStatus::Continue
        | AppStatus::Screenshot
        | AppStatus::Pending
        | AppStatus::Confirm
        | AppStatus::Finish
        | AppStatus::Fail
        | AppStatus::Error => Ok(()),
    }
}

/// The actions in `action` (one or a list), or in the older `function`, `args`, `control_label`,
/// and the status given by the last of them.
fn actions(fields: &mut ReplyFields) -> Result<(Vec<ProposedAction>, Option<String>), ReplyError> {
    let items = match fields.take("action") {
        Some(Value::Array(items)) => items,
        Some(Value::String(text)) if text.trim().is_empty() => Vec::new(),
        Some(single) => vec![single],
        None => {
            let label = fields.any_text("control_label");
            let name = fields.any_text("control_text");
            let mut action = fields.proposed_action()?;
            if let Some(action) = &mut action {
                for (key, value) in [("id", label), ("name", name)] {
                    if let Some(value) = value {
                        action.arguments.entry(key).or_insert(Value::String(value));
                    }
                }
            }
            return Ok((action.into_iter().collect(), None));
        }
    };
    let (mut actions, mut status) = (Vec::new(), None);
    for (index, item) in items.into_iter().enumerate() {
        let mut item = ReplyFields::of(item, &format!("action[{index}]"))?;
        status = item.optional_text("status")?;
        actions.extend(item.proposed_action()?);
    }
    Ok((actions, status))
}

/// Reads `{"save": true, "reason": "…", "for": "…"}`, or just the reason.
fn save_picture(fields: &mut ReplyFields) -> Option<KeptPicture> {
    const NO_REASON: &str = "kept by the agent";
    let kept = |reason: &str, audience: PictureAudience| KeptPicture { reason: reason.to_owned(), audience };
    match fields.take("save_screenshot")? {
        Value::String(reason) if !reason.trim().is_empty() => Some(kept(&reason, PictureAudience::All)),
        Value::Bool(true) => Some(kept(NO_REASON, PictureAudience::All)),
        Value::Object(object) => {
            let text = |name: &str| object.get(name).and_then(Value::as_str).filter(|text| !text.is_empty());
            let save = object.get("save").and_then(Value::as_bool).unwrap_or(false);
            let named = text("for").filter(|name| !name.eq_ignore_ascii_case("all"));
            let audience = named.map_or(PictureAudience::All, |name| PictureAudience::Named(name.to_owned()));
            save.then(|| kept(text("reason").unwrap_or(NO_REASON), audience))
        }
        Value::String(_) | Value::Bool(false) | Value::Null | Value::Number(_) | Value::Array(_) => None,
    }
}
