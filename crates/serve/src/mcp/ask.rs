//! Questions to the user of a client, by elicitation.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
};

use deskhand_runtime::{
    people::{ApprovalRequest, Questions},
    words::whole_command_words,
};
use rmcp::model::{
    ElicitRequest, ElicitRequestParams, ElicitResult, ElicitationAction, ElicitationSchema, InputRequest,
};
use serde_json::{Map, Value, json};

use super::protocol::{Call, Unanswered};
use crate::desk::{Asking, Attending, Reach, Said, Telling};

/// The reason for the model of the client when its user cannot be asked.
const NOBODY: &str = "this needs the user's approval, and this client cannot ask (it does not offer elicitation of forms); the user can \
    allow it with a rule under [[policy.rules]] in Deskhand's configuration. Do it another way, or tell the user";
/// The same when the user said no.
const REFUSED: &str = "the user did not approve it";
/// The names of the questions.
const APPROVAL: &str = "approval";
const QUESTIONS: &str = "questions";

/// The call through which a session reaches its client now. Clones share it.
#[derive(Clone, Default)]
pub(super) struct Line(Arc<Mutex<Option<Arc<Call>>>>);

impl Line {
    /// One of a call that is the only one.
    pub(super) fn of(call: &Arc<Call>) -> Self {
        Self(Arc::new(Mutex::new(Some(Arc::clone(call)))))
    }

    fn set(&self, call: Option<Arc<Call>>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = call;
    }

    /// The call, while there is one.
    pub(super) fn call(&self) -> Option<Arc<Call>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Reaches the client by this call, until the guard is dropped.
    pub(super) fn hold(&self, call: &Arc<Call>) -> Held {
        self.set(Some(Arc::clone(call)));
        Held(self.clone())
    }

    /// What a session reaches its client by.
    pub(super) fn reach(&self) -> Reach {
        let line = self.clone();
        let telling: Telling = Arc::new(move |words| {
            if let Some(call) = line.call() {
                call.progress(words);
            }
        });
        Reach { attending: self.attending(), telling }
    }

    /// Asks the user of the client.
    pub(super) fn attending(&self) -> Attending {
        let line = self.clone();
        Arc::new(move |asking| {
            let call = line.call();
            Box::pin(async move {
                match (asking, call) {
                    (Asking::Approval(request), call) => approve(call.as_deref(), &request).await,
                    (Asking::Questions(questions), Some(call)) => answer(&call, &questions).await,
                    (Asking::Questions(_), None) => Said::No(NOBODY.to_owned()),
                }
            })
        })
    }
}

/// A line that is in use.
pub(super) struct Held(Line);

impl Drop for Held {
    fn drop(&mut self) {
        self.0.set(None);
    }
}

async fn approve(call: Option<&Call>, request: &ApprovalRequest) -> Said {
    let no = |why: &str| Said::No(format!("{why}. It needs approval because: {}", request.reason));
    let Some(call) = call.filter(|call| call.client.shows_forms()) else { return no(NOBODY) };
    let actions = request.actions.iter().map(|action| {
        let within = action.application.as_ref().map(|name| format!(" in {name}")).unwrap_or_default();
        format!("- {}{within}", whole_command_words(&action.command, action.target.as_deref()))
    });
    let actions: Vec<String> = actions.collect();
    let message = format!("Deskhand asks to approve:\n{}\nReason: {}", actions.join("\n"), request.reason);
    match elicit(call, APPROVAL, message, Map::new(), &[]).await {
        Ok(result) if result.action == ElicitationAction::Accept => Said::Approved,
        Ok(_) => no(REFUSED),
        Err(Unanswered::Cancelled) => no("the call was cancelled before the user answered"),
        Err(Unanswered::Nobody) => no("the user did not answer"),
    }
}

async fn answer(call: &Call, questions: &Questions) -> Said {
    if !call.client.shows_forms() {
        return Said::No(NOBODY.to_owned());
    }
    let name = |number: usize| format!("answer_{}", number + 1);
    let property = |question: &deskhand_core::reply::Question| match question.choices.as_slice() {
        [] => json!({"type": "string", "title": question.text}),
        choices => json!({"type": "string", "title": question.text, "enum": choices}),
    };
    let all = questions.questions.iter().enumerate();
    let properties: Map<String, Value> = all.clone().map(|(at, one)| (name(at), property(one))).collect();
    let required: Vec<String> = all.clone().filter(|(_, one)| one.required).map(|(at, _)| name(at)).collect();
    let message = "Deskhand asks you to answer.".to_owned();
    match elicit(call, QUESTIONS, message, properties, &required).await {
        Ok(ElicitResult { action: ElicitationAction::Accept, content: Some(content), .. }) => {
            let text = |at| content.get(name(at)).and_then(Value::as_str).unwrap_or_default().to_owned();
            Said::Answers(all.map(|(at, _)| text(at)).collect())
        }
        Ok(_) | Err(_) => Said::No(REFUSED.to_owned()),
    }
}

/// Shows a form.
async fn elicit(
    call: &Call,
    name: &str,
    message: String,
    properties: Map<String, Value>,
    required: &[String],
) -> Result<ElicitResult, Unanswered> {
    let schema = json!({"type": "object", "properties": properties, "required": required});
    let schema = schema.as_object().cloned().unwrap_or_default();
    let requested_schema = ElicitationSchema::from_json_schema(schema).map_err(|_| Unanswered::Nobody)?;
    let form = ElicitRequestParams::FormElicitationParams { meta: None, message, requested_schema };
    let request = InputRequest::Elicitation(ElicitRequest::new(form));
    let answers = call.ask(BTreeMap::from([(name.to_owned(), request)])).await?;
    let answer = answers.get(name).cloned().ok_or(Unanswered::Nobody)?;
    serde_json::from_value(answer).map_err(|_| Unanswered::Nobody)
}
