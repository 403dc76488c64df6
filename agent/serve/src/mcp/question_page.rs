//! The page of one question, for clients that open addresses for their users (elicitation in URL mode) and show no forms.
//!
//! It listens on the loopback address while the question waits. The path is random and only the client gets it; the first answer counts.

use std::{collections::BTreeMap, future::pending, io, net::Ipv4Addr, sync::Arc, time::Duration};

use axum::{
    Router,
    body::Bytes,
    extract::State,
    http::{
        HeaderMap, StatusCode,
        header::{
            CACHE_CONTROL, CONTENT_SECURITY_POLICY, HOST, HeaderName, HeaderValue, ORIGIN, REFERRER_POLICY,
            X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS,
        },
    },
    response::{Html, IntoResponse as _, Response},
    routing::get,
};
use deskhand_runtime::report::template_environment;
use minijinja::{
    Environment, context,
    value::{Serde, Value},
};
use serde::Serialize;
use tokio::{
    net::TcpListener,
    sync::{mpsc, oneshot},
};
use url::form_urlencoded;

use crate::token::new_token;

/// The random bytes of a path.
const PATH_BYTES: usize = 24;
/// Maximum time to send the last page.
const LAST_PAGE_BOUND: Duration = Duration::from_secs(2);
/// The name of the template.
const TEMPLATE: &str = "question.html";
/// The field that has the decision, and what it is if the user agrees.
const DECISION: (&str, &str) = ("decision", "accept");
/// The content security policy: the page loads nothing.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// A question as the page shows it.
#[derive(Debug, Clone, Default, Serialize)]
pub(super) struct PageQuestion {
    pub(super) title: String,
    /// The name of the client.
    pub(super) client: Option<String>,
    /// The actions to approve.
    pub(super) actions: Vec<String>,
    pub(super) reason: String,
    pub(super) fields: Vec<PageQuestionField>,
    /// The words of the two buttons.
    pub(super) accept: &'static str,
    pub(super) reject: &'static str,
}

/// A text that is asked for.
#[derive(Debug, Clone, Serialize)]
pub(super) struct PageQuestionField {
    pub(super) name: String,
    pub(super) text: String,
    /// Empty for any text.
    pub(super) choices: Vec<String>,
    pub(super) required: bool,
}

/// The texts of the fields by name; `None` if the user refused.
pub(super) type Decision = Option<BTreeMap<String, String>>;

/// A page that waits for an answer. It ends when it is dropped.
pub(super) struct QuestionPage {
    listener: TcpListener,
    shown: Arc<QuestionPageState>,
    decisions: mpsc::Receiver<Decision>,
    /// Its address.
    pub(super) url: String,
}

struct QuestionPageState {
    question: PageQuestion,
    /// As `Host` names it.
    host: String,
    templates: Environment<'static>,
    decision: mpsc::Sender<Decision>,
}

impl QuestionPage {
    /// Listens on a free port of the loopback address.
    ///
    /// # Errors
    /// No port is free, or the system has no random numbers.
    pub(super) async fn open(question: PageQuestion) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let host = listener.local_addr()?.to_string();
        let url = format!("http://{host}/{}", new_token::<PATH_BYTES>()?);
        let mut templates = template_environment().map_err(io::Error::other)?;
        templates.add_template(TEMPLATE, include_str!("question.html")).map_err(io::Error::other)?;
        let (decision, decisions) = mpsc::channel(1);
        let shown = Arc::new(QuestionPageState { question, host, templates, decision });
        Ok(Self { listener, shown, decisions, url })
    }

    /// Waits for the answer. Its page is sent before this returns.
    ///
    /// # Errors
    /// The page cannot be served.
    pub(super) async fn decided(self) -> io::Result<Decision> {
        let Self { listener, shown, mut decisions, url } = self;
        let path = url.trim_start_matches("http://").trim_start_matches(shown.host.as_str()).to_owned();
        let routes = Router::new().route(&path, get(show).post(decide)).with_state(shown);
        let (ended, end) = oneshot::channel();
        let serving = axum::serve(listener, routes).with_graceful_shutdown(async {
            if end.await.is_err() {
                pending::<()>().await;
            }
        });
        let mut serving = std::pin::pin!(serving.into_future());
        let decision = tokio::select! {
            served = &mut serving => return Err(served.err().unwrap_or_else(|| io::Error::other("it ended"))),
            decision = decisions.recv() => decision.flatten(),
        };
        ended.send(()).ok();
        // A browser may keep its connection.
        tokio::time::timeout(LAST_PAGE_BOUND, serving).await.ok();
        Ok(decision)
    }
}

async fn show(State(shown): State<Arc<QuestionPageState>>, headers: HeaderMap) -> Response {
    if let Some(refusal) = shown.refuses(&headers) {
        return refusal;
    }
    shown.page("")
}

async fn decide(State(shown): State<Arc<QuestionPageState>>, headers: HeaderMap, body: Bytes) -> Response {
    if let Some(refusal) = shown.refuses(&headers) {
        return refusal;
    }
    let mut given: BTreeMap<String, String> =
        form_urlencoded::parse(&body).map(|(name, text)| (name.into_owned(), text.into_owned())).collect();
    let Some(decision) = given.remove(DECISION.0) else {
        return shown.page("");
    };
    let agrees = decision == DECISION.1;
    let is_missing = |field: &PageQuestionField| {
        field.required && given.get(&field.name).is_none_or(|text| text.trim().is_empty())
    };
    if agrees && shown.question.fields.iter().any(is_missing) {
        return shown.page("");
    }
    let words = match shown.decision.try_send(agrees.then_some(given)) {
        Ok(()) if agrees => "Thank you. You can close this page.",
        Ok(()) => "Nothing of it is done. You can close this page.",
        Err(_) => "This was answered already. You can close this page.",
    };
    shown.page(words)
}

impl QuestionPageState {
    /// The refusal of a request that names another host (DNS rebinding) or comes from another page.
    fn refuses(&self, headers: &HeaderMap) -> Option<Response> {
        let is_host = headers.get(HOST).is_some_and(|host| host.as_bytes() == self.host.as_bytes());
        let own = format!("http://{}", self.host);
        let is_own = headers.get(ORIGIN).is_none_or(|origin| origin.as_bytes() == own.as_bytes());
        (!is_host || !is_own).then(|| StatusCode::FORBIDDEN.into_response())
    }

    /// The question, or what came of it.
    fn page(&self, over: &str) -> Response {
        let page = self.templates.get_template(TEMPLATE).and_then(|template| {
            let question = Value::from(Serde(&self.question));
            template.render(context! { over, ..question })
        });
        let Ok(page) = page else { return StatusCode::INTERNAL_SERVER_ERROR.into_response() };
        let fixed = [
            (CONTENT_SECURITY_POLICY, POLICY),
            (X_CONTENT_TYPE_OPTIONS, "nosniff"),
            (X_FRAME_OPTIONS, "DENY"),
            (REFERRER_POLICY, "same-origin"),
            (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
            (CACHE_CONTROL, "no-store"),
        ];
        (fixed.map(|(name, value)| (name, HeaderValue::from_static(value))), Html(page)).into_response()
    }
}
