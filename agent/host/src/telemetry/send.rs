//! The task that sends spans. It never holds up the session: what there is no room for is dropped, and the end waits for a moment only.

use std::time::Duration;

use deskhand_http::{HttpTimeout, client, http_url, read_body, root_cause};
use tokio::{sync::mpsc, task::JoinSet, time::timeout};

use super::{
    otlp::{Attribute, Export, OtlpScope, OtlpSpan, OtlpValue, Resource, ResourceSpans, ScopeSpans},
    target::TraceCollector,
};

/// The most spans that wait, and that are sent at once.
const WAITING_MAX: usize = 2048;
const AT_ONCE: usize = 256;
/// Maximum time that spans wait to be sent together with others.
const GATHERED_FOR: Duration = Duration::from_secs(1);
/// Maximum time that the end of a session waits for the last spans.
const END_BOUND: Duration = Duration::from_secs(2);
/// The most of an answer that is read, in bytes.
const ANSWER_MAX: usize = 64 * 1024;

/// Sender of spans to the collector.
pub(super) struct Sender {
    waiting: mpsc::Sender<OtlpSpan>,
    dropped: usize,
    sending: JoinSet<()>,
}

impl Sender {
    /// Begins to send; `None` with a warning if the address is none.
    pub(super) fn new(target: &TraceCollector) -> Option<Self> {
        let requests = http_url(&target.url).map_err(|error| error.redacted(&target.url)).and_then(|url| {
            let built = client(&url, target.timeout, HttpTimeout::Whole(target.timeout));
            built.map(|client| client.post(url)).map_err(|error| root_cause(&error))
        });
        let request = match requests {
            Ok(request) => request,
            Err(problem) => {
                tracing::warn!(%problem, "no traces are sent: the address of the collector is not usable");
                return None;
            }
        };
        let (waiting, spans) = mpsc::channel(WAITING_MAX);
        let mut sending = JoinSet::new();
        let resource = target.resource.clone();
        let headers = target.headers.clone();
        sending.spawn(async move {
            let request =
                headers.into_iter().fold(request, |request, (name, value)| request.header(name, value));
            let send = |body: Vec<u8>| {
                let request = request.try_clone().map(|request| request.body(body));
                async move {
                    let Some(request) = request else {
                        return Err("the request cannot be repeated".to_owned());
                    };
                    let sent = request.header("content-type", "application/json").send().await;
                    let mut response = sent.map_err(|error| root_cause(&error))?;
                    let status = response.status();
                    // Read, so that the connection can be used again.
                    read_body(&mut response, ANSWER_MAX).await.ok();
                    if status.is_success() { Ok(()) } else { Err(format!("it answered {status}")) }
                }
            };
            send_all(spans, &resource, send).await;
        });
        Some(Self { waiting, dropped: 0, sending })
    }

    /// Sends a span later.
    pub(super) fn send(&mut self, span: OtlpSpan) {
        if self.waiting.try_send(span).is_err() {
            self.dropped = self.dropped.saturating_add(1);
        }
    }

    /// Waits a moment for the last ones to be sent.
    pub(super) async fn end(self) {
        let Self { waiting, dropped, mut sending } = self;
        drop(waiting);
        let is_late = timeout(END_BOUND, sending.join_next()).await.is_err();
        if is_late || dropped > 0 {
            tracing::warn!(dropped, is_late, "the collector did not take all traces of the session in");
        }
    }
}

/// Sends spans until there are no more. What is not taken is dropped, and the first time said.
async fn send_all<F: Future<Output = Result<(), String>>>(
    mut spans: mpsc::Receiver<OtlpSpan>,
    resource: &[(String, String)],
    send: impl Fn(Vec<u8>) -> F,
) {
    let mut has_warned = false;
    let mut batch = Vec::new();
    while spans.recv_many(&mut batch, AT_ONCE).await > 0 {
        let gather =
            async { while batch.len() < AT_ONCE && spans.recv_many(&mut batch, AT_ONCE).await > 0 {} };
        timeout(GATHERED_FOR, gather).await.ok();
        if let Err(problem) = send(text_of(&batch, resource)).await
            && !has_warned
        {
            tracing::warn!(%problem, spans = batch.len(), "the collector does not take traces in; they are dropped");
            has_warned = true;
        }
        batch.clear();
    }
}

fn text_of(spans: &[OtlpSpan], resource: &[(String, String)]) -> Vec<u8> {
    let text = |(name, value): &(String, String)| Attribute {
        key: name.clone(),
        value: OtlpValue::StringValue(value.clone()),
    };
    let export = Export {
        resource_spans: [ResourceSpans {
            resource: Resource { attributes: resource.iter().map(text).collect() },
            scope_spans: [ScopeSpans {
                scope: OtlpScope { name: "deskhand", version: env!("CARGO_PKG_VERSION") },
                spans,
            }],
        }],
    };
    serde_json::to_vec(&export).unwrap_or_default()
}
