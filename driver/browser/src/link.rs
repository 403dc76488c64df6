//! The connection to a browser: requests with answers, and events that change the [`BrowserState`].
//!
//! One future, [`drive`], owns the connection and the state. It never waits for anybody who asks, so the browser is never blocked.

use std::{collections::HashMap, io, time::Duration};

use futures_util::{Stream, StreamExt as _};
use serde_json::{Value, json};
use tokio::{
    sync::{mpsc, oneshot, watch},
    time::timeout,
};

use crate::{
    state::BrowserState,
    wire::{BrowserCallError, cleaned, cut},
};

/// Requests that wait to be sent.
const REQUESTS_MAX: usize = 256;
/// Messages that wait until the browser takes them.
const OUTBOUND_MAX: usize = 1024;
/// Requests that wait for an answer; those that nobody waits for any more are dropped first.
const PENDING_MAX: usize = 4096;
/// Timeout for browser replies that involve no page.
const BROWSER_BOUND: Duration = Duration::from_secs(10);
/// The longest message of the browser in an error, in characters.
const MESSAGE_CHARACTERS_MAX: usize = 500;

/// A message to the browser.
#[derive(Debug, Clone)]
pub(crate) struct BrowserCommand {
    pub(crate) method: &'static str,
    pub(crate) parameters: Value,
    pub(crate) session: Option<String>,
    /// Takes the answer into the state, for messages that follow from events.
    pub(crate) on_answer: Option<OnAnswer>,
}

/// Handler for a reply: a function, and the page concerned.
pub(crate) type OnAnswer = (fn(&mut BrowserState, &str, &Value), String);

impl BrowserCommand {
    pub(crate) fn new(method: &'static str, parameters: Value) -> Self {
        Self { method, parameters, session: None, on_answer: None }
    }

    pub(crate) fn in_session(self, session: impl Into<String>) -> Self {
        Self { session: Some(session.into()), ..self }
    }
}

/// A message of the browser that nobody has asked for.
#[derive(Debug)]
pub(crate) struct BrowserEvent {
    pub(crate) method: String,
    pub(crate) parameters: Value,
    pub(crate) session: String,
}

/// Takes an event into the state; returns what is sent in turn.
pub(crate) type OnEvent = fn(&mut BrowserState, &BrowserEvent) -> Vec<BrowserCommand>;

type Reply = Result<Value, String>;

/// Who waits for an answer.
enum BrowserReplyWaiter {
    Asked(oneshot::Sender<Reply>),
    State(OnAnswer),
}

struct QueuedBrowserCommand {
    message: BrowserCommand,
    reply: oneshot::Sender<Reply>,
}

/// Asks the browser.
#[derive(Debug, Clone)]
pub(crate) struct BrowserClient {
    asked: mpsc::Sender<QueuedBrowserCommand>,
    state: watch::Receiver<BrowserState>,
}

/// The other end of a [`BrowserClient`].
pub(crate) struct LinkDriver {
    asked: mpsc::Receiver<QueuedBrowserCommand>,
    state: watch::Sender<BrowserState>,
    on_event: OnEvent,
    outbound: mpsc::Sender<Vec<u8>>,
    pending: HashMap<u64, BrowserReplyWaiter>,
    last: u64,
}

/// A link, its driver, and the messages that are to be written.
pub(crate) fn link(on_event: OnEvent) -> (BrowserClient, LinkDriver, mpsc::Receiver<Vec<u8>>) {
    let (asking, asked) = mpsc::channel(REQUESTS_MAX);
    let (outbound, written) = mpsc::channel(OUTBOUND_MAX);
    let (state, watched) = watch::channel(BrowserState::default());
    let driver = LinkDriver { asked, state, on_event, outbound, pending: HashMap::new(), last: 0 };
    (BrowserClient { asked: asking, state: watched }, driver, written)
}

impl BrowserClient {
    /// Reads the state. It must not be kept across an `await`.
    pub(crate) fn state(&self) -> watch::Ref<'_, BrowserState> {
        self.state.borrow()
    }

    /// Waits until the state says something.
    pub(crate) async fn until<T>(
        &self,
        mut find: impl FnMut(&BrowserState) -> Option<T>,
    ) -> Result<T, BrowserCallError> {
        let mut state = self.state.clone();
        loop {
            if let Some(found) = find(&state.borrow_and_update()) {
                return Ok(found);
            }
            state.changed().await.map_err(|_| gone())?;
        }
    }

    /// Asks the browser itself, which dialogs of pages do not block.
    pub(crate) async fn ask_browser(
        &self,
        method: &'static str,
        parameters: Value,
    ) -> Result<Value, BrowserCallError> {
        timeout(BROWSER_BOUND, self.ask(BrowserCommand::new(method, parameters))).await.unwrap_or_else(|_| {
            Err(BrowserCallError::Busy(format!(
                "the browser does not answer {method} within {BROWSER_BOUND:?}; try again later"
            )))
        })
    }

    /// Asks a page; a dialog of the page ends the wait.
    pub(crate) async fn ask_page(
        &self,
        page: &str,
        message: BrowserCommand,
    ) -> Result<Value, BrowserCallError> {
        let dialog = self.until(|state| match state.page(page) {
            Some(page) => page.dialog.as_ref().map(|_| BrowserCallError::Dialog),
            None => Some(BrowserCallError::NoDocument(
                "the page was closed; look at the windows again".to_owned(),
            )),
        });
        tokio::select! {
            biased;
            trouble = dialog => Err(trouble?),
            answer = self.ask(message) => answer,
        }
    }

    /// Asks without a bound; the caller has one.
    pub(crate) async fn ask(&self, message: BrowserCommand) -> Result<Value, BrowserCallError> {
        let (reply, answer) = oneshot::channel();
        let method = message.method;
        self.asked.send(QueuedBrowserCommand { message, reply }).await.map_err(|_| gone())?;
        answer.await.map_err(|_| gone())?.map_err(|error| {
            let error = cut(&cleaned(&error), MESSAGE_CHARACTERS_MAX);
            BrowserCallError::Failed(format!(
                "the browser refuses {method}: {error}; look at the page and try again"
            ))
        })
    }
}

fn gone() -> BrowserCallError {
    BrowserCallError::NoPages("the connection to the browser has ended; open the browser again".to_owned())
}

/// Serves a link until the browser closes the connection.
pub(crate) async fn drive(
    mut driver: LinkDriver,
    first: Vec<BrowserCommand>,
    mut inbound: impl Stream<Item = io::Result<Vec<u8>>> + Unpin,
) -> io::Result<()> {
    for message in first {
        driver.send(message, None);
    }
    loop {
        tokio::select! {
            message = inbound.next() => match message {
                Some(message) => driver.take(&message?),
                None => return Ok(()),
            },
            asked = driver.asked.recv() => match asked {
                Some(QueuedBrowserCommand { message, reply }) => driver.send(message, Some(reply)),
                // Nobody can ask any more, but the browser must not block.
                None => while let Some(message) = inbound.next().await { message?; },
            },
        }
    }
}

impl LinkDriver {
    fn send(&mut self, message: BrowserCommand, reply: Option<oneshot::Sender<Reply>>) {
        self.last += 1;
        let mut text = json!({"id": self.last, "method": message.method, "params": message.parameters});
        if let (Some(session), Value::Object(text)) = (message.session, &mut text) {
            text.insert("sessionId".to_owned(), Value::from(session));
        }
        if self.pending.len() >= PENDING_MAX {
            self.pending.retain(
                |_, waiting| matches!(waiting, BrowserReplyWaiter::Asked(reply) if !reply.is_closed()),
            );
        }
        if let Some(waiting) =
            reply.map(BrowserReplyWaiter::Asked).or(message.on_answer.map(BrowserReplyWaiter::State))
        {
            self.pending.insert(self.last, waiting);
        }
        if self.outbound.try_send(text.to_string().into_bytes()).is_err()
            && let Some(BrowserReplyWaiter::Asked(reply)) = self.pending.remove(&self.last)
        {
            // Who asked may have given up.
            let _ = reply.send(Err("it takes no more messages".to_owned()));
        }
    }

    fn take(&mut self, message: &[u8]) {
        let Ok(Value::Object(mut message)) = serde_json::from_slice(message) else {
            tracing::warn!("the browser sent no JSON");
            return;
        };
        if let Some(id) = message.get("id").and_then(Value::as_u64) {
            let Some(waiting) = self.pending.remove(&id) else { return };
            let answer = match (message.remove("error"), message.remove("result")) {
                (Some(error), _) => Err(error_text(&error, message.get("message"))),
                (None, result) => Ok(result.unwrap_or_default()),
            };
            match (waiting, answer) {
                // Who asked may have given up.
                (BrowserReplyWaiter::Asked(reply), answer) => drop(reply.send(answer)),
                (BrowserReplyWaiter::State((take, page)), Ok(answer)) => {
                    self.state.send_modify(|state| take(state, &page, &answer));
                }
                (BrowserReplyWaiter::State(_), Err(_)) => {}
            }
            return;
        }
        let Some(Value::String(method)) = message.remove("method") else { return };
        let session = match message.remove("sessionId") {
            Some(Value::String(session)) => session,
            Some(_) | None => String::new(),
        };
        let event =
            BrowserEvent { method, parameters: message.remove("params").unwrap_or_default(), session };
        let mut answers = Vec::new();
        self.state.send_modify(|state| answers = (self.on_event)(state, &event));
        for answer in answers {
            self.send(answer, None);
        }
    }
}

/// Chromium's errors are objects; Firefox's have a code beside a message.
fn error_text(error: &Value, beside: Option<&Value>) -> String {
    let message = error.get("message").or(beside).and_then(Value::as_str);
    message.or(error.as_str()).unwrap_or("it gives no reason").to_owned()
}

/// A text of an event; empty if there is none.
pub(crate) fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value.get(name).and_then(Value::as_str).unwrap_or_default()
}
