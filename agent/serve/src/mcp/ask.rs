//! Questions to the user of a client, by elicitation.

use std::{
    collections::BTreeMap,
    io,
    sync::{Arc, Mutex, PoisonError},
};

use deskhand_runtime::{
    people::{ApprovalRequest, QuestionRequest},
    words::whole_command_words,
};
use rmcp::model::{
    ElicitRequest, ElicitRequestParams, ElicitResult, ElicitationAction, ElicitationSchema, InputRequest,
};
use serde_json::{Map, Value, json};

use super::{
    protocol::{ANSWER_BOUND, McpCall, QuestionError},
    question_page::{Decision, PageQuestion, PageQuestionField, QuestionPage},
};
use crate::desk::{Attending, ClientAnswer, ClientCallbacks, ClientQuestion, Telling};

/// The reason for the model of the client when its user cannot be asked.
const NOBODY: &str = "this needs the user's approval, and this client cannot ask (it does not offer elicitation); the user can \
    allow it with a rule under [[policy.rules]] in Deskhand's configuration. Do it another way, or tell the user";
/// The same when the user said no.
const REFUSED: &str = "the user did not approve it";
/// The names of the questions.
const APPROVAL: &str = "approval";
const QUESTIONS: &str = "questions";

/// The call through which a session reaches its client now. Clones share it.
#[derive(Clone, Default)]
pub(super) struct ActiveCall(Arc<Mutex<Option<Arc<McpCall>>>>);

impl ActiveCall {
    /// One of a call that is the only one.
    pub(super) fn of(call: &Arc<McpCall>) -> Self {
        Self(Arc::new(Mutex::new(Some(Arc::clone(call)))))
    }

    fn set(&self, call: Option<Arc<McpCall>>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = call;
    }

    /// The call, while there is one.
    pub(super) fn call(&self) -> Option<Arc<McpCall>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Reaches the client by this call, until the guard is dropped.
    pub(super) fn hold(&self, call: &Arc<McpCall>) -> ActiveCallGuard {
        self.set(Some(Arc::clone(call)));
        ActiveCallGuard(self.clone())
    }

    /// Returns the connection from a session to its client.
    pub(super) fn reach(&self) -> ClientCallbacks {
        let line = self.clone();
        let telling: Telling = Arc::new(move |words| {
            if let Some(call) = line.call() {
                call.progress(words);
            }
        });
        ClientCallbacks { attending: self.attending(), telling }
    }

    /// Asks the user of the client.
    pub(super) fn attending(&self) -> Attending {
        let line = self.clone();
        Arc::new(move |asking| {
            let call = line.call();
            Box::pin(async move {
                match (asking, call) {
                    (ClientQuestion::Approval(request), call) => approve(call.as_deref(), &request).await,
                    (ClientQuestion::Questions(questions), Some(call)) => answer(&call, &questions).await,
                    (ClientQuestion::Questions(_), None) => ClientAnswer::No(NOBODY.to_owned()),
                }
            })
        })
    }
}

/// A line that is in use.
pub(super) struct ActiveCallGuard(ActiveCall);

impl Drop for ActiveCallGuard {
    fn drop(&mut self) {
        self.0.set(None);
    }
}

async fn approve(call: Option<&McpCall>, request: &ApprovalRequest) -> ClientAnswer {
    let no = |why: &str| ClientAnswer::No(format!("{why}. It needs approval because: {}", request.reason));
    let Some((call, way)) = call.and_then(|call| Some((call, ElicitationChannel::of(call)?))) else {
        return no(NOBODY);
    };
    let actions = request.actions.iter().map(|action| {
        let within = action.application.as_ref().map(|name| format!(" in {name}")).unwrap_or_default();
        format!("{}{within}", whole_command_words(&action.command, action.target.as_deref()))
    });
    let actions: Vec<String> = actions.collect();
    let lines: Vec<String> = actions.iter().map(|action| format!("- {action}")).collect();
    let message = format!("Deskhand asks to approve:\n{}\nReason: {}", lines.join("\n"), request.reason);
    let answered = match way {
        ElicitationChannel::Form => {
            elicit(call, APPROVAL, form(message, &[])).await.map(|result| is_accepted(&result))
        }
        ElicitationChannel::Page => {
            let question = PageQuestion {
                title: "Deskhand asks to approve".to_owned(),
                client: call.client.name.clone(),
                actions,
                reason: request.reason.clone(),
                fields: Vec::new(),
                accept: "Approve",
                reject: "Reject",
            };
            on_a_page(call, APPROVAL, message, question).await.map(|decision| decision.is_some())
        }
    };
    match answered {
        Ok(true) => ClientAnswer::Approved,
        Ok(false) => no(REFUSED),
        Err(QuestionError::Cancelled) => no("the call was cancelled before the user answered"),
        Err(QuestionError::Nobody) => no("the user did not answer"),
    }
}

async fn answer(call: &McpCall, questions: &QuestionRequest) -> ClientAnswer {
    let Some(way) = ElicitationChannel::of(call) else { return ClientAnswer::No(NOBODY.to_owned()) };
    let fields = questions.questions.iter().enumerate().map(|(at, one)| PageQuestionField {
        name: format!("answer_{}", at + 1),
        text: one.text.clone(),
        choices: one.choices.clone(),
        required: one.required,
    });
    let fields: Vec<PageQuestionField> = fields.collect();
    let message = "Deskhand asks you to answer.".to_owned();
    let answered = match way {
        ElicitationChannel::Form => elicit(call, QUESTIONS, form(message, &fields)).await.map(|result| {
            let content = result.content.as_ref().filter(|_| is_accepted(&result))?;
            let text = |field: &PageQuestionField| {
                content.get(&field.name).and_then(Value::as_str).unwrap_or_default()
            };
            Some(fields.iter().map(|field| text(field).to_owned()).collect())
        }),
        ElicitationChannel::Page => {
            let question = PageQuestion {
                title: "Deskhand asks you to answer".to_owned(),
                client: call.client.name.clone(),
                fields: fields.clone(),
                accept: "Send",
                reject: "Do not answer",
                ..PageQuestion::default()
            };
            on_a_page(call, QUESTIONS, message, question).await.map(|decision| {
                let mut texts = decision?;
                Some(fields.iter().map(|field| texts.remove(&field.name).unwrap_or_default()).collect())
            })
        }
    };
    answered.ok().flatten().map_or_else(|| ClientAnswer::No(REFUSED.to_owned()), ClientAnswer::Answers)
}

/// The method of asking the user of a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ElicitationChannel {
    /// By a form that the client shows.
    Form,
    /// By a page of ours, whose address the client opens.
    Page,
}

impl ElicitationChannel {
    /// The way that a client offers, forms first; none if it offers none.
    fn of(call: &McpCall) -> Option<Self> {
        let client = &call.client;
        let page = client.opens_addresses().then_some(Self::Page);
        if client.shows_forms() { Some(Self::Form) } else { page }
    }
}

fn is_accepted(result: &ElicitResult) -> bool {
    result.action == ElicitationAction::Accept
}

/// A form with these fields.
fn form(message: String, fields: &[PageQuestionField]) -> Option<ElicitRequestParams> {
    let property = |field: &PageQuestionField| match field.choices.as_slice() {
        [] => json!({"type": "string", "title": field.text}),
        choices => json!({"type": "string", "title": field.text, "enum": choices}),
    };
    let properties: Map<String, Value> =
        fields.iter().map(|field| (field.name.clone(), property(field))).collect();
    let required: Vec<&str> =
        fields.iter().filter(|field| field.required).map(|field| field.name.as_str()).collect();
    let schema = json!({"type": "object", "properties": properties, "required": required});
    let requested_schema = ElicitationSchema::from_json_schema(schema.as_object().cloned()?).ok()?;
    Some(ElicitRequestParams::FormElicitationParams { meta: None, message, requested_schema })
}

/// Asks on a page of its own. The user agrees in the client to open it, and decides on the page.
async fn on_a_page(
    call: &McpCall,
    name: &str,
    message: String,
    question: PageQuestion,
) -> Result<Decision, QuestionError> {
    let nobody = |error: io::Error| {
        tracing::warn!(%error, "failed to show a question on a page");
        QuestionError::Nobody
    };
    let page = QuestionPage::open(question).await.map_err(nobody)?;
    let id = page.url.rsplit('/').next().unwrap_or_default().to_owned();
    let request = ElicitRequestParams::UrlElicitationParams {
        meta: None,
        message,
        url: page.url.clone(),
        elicitation_id: id,
    };
    let decided = async {
        tokio::select! {
            decided = tokio::time::timeout(ANSWER_BOUND, page.decided()) => match decided {
                Ok(decided) => decided.map_err(nobody),
                Err(_) => Err(QuestionError::Nobody),
            },
            () = call.cancelled() => Err(QuestionError::Cancelled),
        }
    };
    // The page is there before the client opens it, and stays if the client says at once that the user agreed to open it.
    let agreed = async {
        let result = elicit(call, name, Some(request)).await.map_err(Some)?;
        if is_accepted(&result) { Ok(()) } else { Err(None) }
    };
    match tokio::try_join!(async { decided.await.map_err(Some) }, agreed) {
        Ok((decision, ())) => Ok(decision),
        Err(Some(unanswered)) => Err(unanswered),
        Err(None) => Ok(None),
    }
}

/// Asks the client.
async fn elicit(
    call: &McpCall,
    name: &str,
    question: Option<ElicitRequestParams>,
) -> Result<ElicitResult, QuestionError> {
    let question = question.ok_or(QuestionError::Nobody)?;
    let request = InputRequest::Elicitation(ElicitRequest::new(question));
    let answers = call.ask(BTreeMap::from([(name.to_owned(), request)])).await?;
    let answer = answers.get(name).cloned().ok_or(QuestionError::Nobody)?;
    serde_json::from_value(answer).map_err(|_| QuestionError::Nobody)
}
