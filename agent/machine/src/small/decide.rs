//! The replies of small models, and the decisions that they become.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::{ALL_DONE, DONE, FAIL, NONE, NOTHING_FITS, OfferTarget, SmallModelOffer, SmallValuesReply};
use crate::{
    known_tools::LAUNCH,
    reply::{AppReply, HostReply, ProposedAction, ReplyError},
    states::{AppStatus, HostStatus},
};

/// Outcome of a reply.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum SmallModelDecision<R> {
    /// A decision.
    Finally(R),
    /// Another question has to be answered first.
    Further(SmallModelOffer),
}

/// The reply of a HostAgent that asks a small model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SmallHostReply {
    /// Kind of program that is needed.
    pub(crate) needs: String,
    /// A title.
    pub(crate) window: String,
    /// Task there; the result if all is done; the reason if nothing fits.
    pub(crate) task: String,
}

/// The reply of an AppAgent that asks a small model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SmallAppReply {
    /// Kind of control that the next step needs.
    pub(crate) needs: String,
    /// An action, or the word for an end.
    pub(crate) action: String,
    /// The title of an element, or the word for none.
    pub(crate) element: String,
    /// Further input of the action; the result or the reason at an end.
    pub(crate) text: String,
}

/// The longest texts that small models may write, in characters: without a limit, some never end.
const NEEDS_CHARS_MAX: usize = 80;
pub(super) const TEXT_CHARS_MAX: usize = 600;

fn short_text() -> Value {
    json!({"type": "string", "maxLength": NEEDS_CHARS_MAX})
}

/// The schema of a HostAgent's reply to an offer.
pub(crate) fn small_host_schema(offer: &SmallModelOffer) -> Value {
    let titles: Vec<&str> = offer.titles().chain(offer.ends()).collect();
    json!({
        "type": "object",
        "properties": {
            "needs": short_text(),
            "window": {"type": "string", "enum": titles},
            "task": {"type": "string", "maxLength": TEXT_CHARS_MAX},
        },
        "required": ["needs", "window", "task"],
    })
}

/// The schema of an AppAgent's reply to an offer.
pub(crate) fn small_app_schema(offer: &SmallModelOffer) -> Value {
    let actions: Vec<&str> =
        offer.actions().iter().map(|form| form.name.as_str()).chain(offer.ends()).collect();
    let elements: Vec<&str> = offer.titles().chain([NONE]).collect();
    json!({
        "type": "object",
        "properties": {
            "needs": short_text(),
            "element": {"type": "string", "enum": elements},
            "action": {"type": "string", "enum": actions},
            "text": {"type": "string", "maxLength": TEXT_CHARS_MAX},
        },
        "required": ["needs", "element", "action", "text"],
    })
}

impl SmallHostReply {
    /// The decision, with what the title means in the offer; `request` is the task where the model names none. A workflow has to be given
    /// its values first.
    ///
    /// # Errors
    /// The title was not offered.
    pub(crate) fn decided(
        self,
        offer: &SmallModelOffer,
        request: &str,
    ) -> Result<SmallModelDecision<HostReply>, ReplyError> {
        let mut reply = self.unresolved();
        if reply.status != HostStatus::Assign {
            return Ok(SmallModelDecision::Finally(reply));
        }
        let window = reply.target.take().unwrap_or_default();
        match offer.find(&window) {
            Some(OfferTarget::Target(id)) => reply.target = Some(id.clone()),
            Some(OfferTarget::Launch(name)) => {
                let arguments = Map::from_iter([("name".to_owned(), Value::String(name.clone()))]);
                reply.action = Some(ProposedAction {
                    function: LAUNCH.to_owned(),
                    arguments,
                    expect: None,
                    carries: Vec::new(),
                });
            }
            Some(OfferTarget::Workflow(workflow)) if workflow.parameters.is_empty() => {
                return SmallValuesReply(BTreeMap::new()).decided(workflow).map(SmallModelDecision::Finally);
            }
            Some(OfferTarget::Workflow(workflow)) => {
                return Ok(SmallModelDecision::Further(SmallModelOffer::values_of(
                    request.to_owned(),
                    workflow.clone(),
                )));
            }
            Some(OfferTarget::Element(_)) | None => {
                let problem = format!("`{window}` is not one of the titles; copy one exactly");
                return Err(ReplyError::field("window", problem));
            }
        }
        reply.subtask = reply.subtask.or_else(|| Some(request.to_owned()));
        Ok(SmallModelDecision::Finally(reply))
    }

    /// The decision as it was recorded, with the title in place of a target.
    pub(crate) fn unresolved(self) -> HostReply {
        let Self { needs, window, task } = self;
        let task = Some(task).filter(|task| !task.trim().is_empty());
        let status = match window.trim() {
            ALL_DONE => HostStatus::Finish,
            NOTHING_FITS => HostStatus::Fail,
            _ => HostStatus::Assign,
        };
        let assigns = status == HostStatus::Assign;
        HostReply {
            observation: String::new(),
            thought: needs,
            status,
            subtask: task.clone().filter(|_| assigns),
            message: Vec::new(),
            target: Some(window).filter(|_| assigns),
            plan: Vec::new(),
            target_name: None,
            comment: String::new(),
            notes: Vec::new(),
            questions: Vec::new(),
            action: None,
            next: None,
            result: task.filter(|_| !assigns),
        }
    }
}

impl SmallAppReply {
    /// The decision, with what action and element mean in the offer.
    ///
    /// # Errors
    /// One of them was not offered, or they do not fit together.
    pub(crate) fn decided(self, offer: &SmallModelOffer) -> Result<AppReply, ReplyError> {
        let Self { action, element, text, .. } = self.clone();
        let mut reply = self.unresolved();
        if reply.status != AppStatus::Continue {
            return Ok(reply);
        }
        let form = offer.actions().iter().find(|form| form.name == action.trim()).ok_or_else(|| {
            ReplyError::field("action", format!("`{action}` is not one of the actions; copy one exactly"))
        })?;
        let element = match element.trim() {
            NONE | "" => None,
            title => match offer.find(title) {
                Some(OfferTarget::Element(id)) => Some(*id),
                Some(OfferTarget::Target(_) | OfferTarget::Launch(_) | OfferTarget::Workflow(_)) | None => {
                    let problem = format!("`{title}` is not one of the elements; copy one exactly");
                    return Err(ReplyError::field("element", problem));
                }
            },
        };
        reply.actions = vec![form.action(element, &text)?];
        Ok(reply)
    }

    /// The decision as it was recorded, without its action.
    pub(crate) fn unresolved(self) -> AppReply {
        let Self { needs, action, element: _, text } = self;
        let status = match action.trim() {
            DONE => AppStatus::Finish,
            FAIL => AppStatus::Fail,
            _ => AppStatus::Continue,
        };
        let ends = status != AppStatus::Continue;
        AppReply {
            observation: String::new(),
            thought: needs,
            status,
            word: status.to_string(),
            actions: Vec::new(),
            plan: Vec::new(),
            comment: String::new(),
            questions: Vec::new(),
            result: Some(text).filter(|text| ends && !text.trim().is_empty()),
            control_reannotate: Vec::new(),
            notes: Vec::new(),
            save_picture: None,
            heal: None,
        }
    }
}
