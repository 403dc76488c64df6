//! The way of a request: to a server, into a cassette, or out of one.

use std::time::Duration;

use deskhand_http::{HttpCredential, Silence, read_body_until};
use deskhand_ui::duration::milliseconds;
use reqwest::{
    Client, Method,
    header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, LOCATION, RETRY_AFTER},
};
use serde_json::Value;
use tokio::time::{Instant, timeout_at};

use super::{
    config::{ApiKeyHeader, EndpointConfig},
    failure::{AttemptFailure, EndpointIdentity},
};
use crate::cassette::{
    Cassette, CassetteError, CassetteFailure, CassetteHeader, CassetteRecorder, CassetteRequest,
    CassetteResponse, Exchange, ExchangeEnd, Player,
};

/// The maximum response size, in bytes.
const ANSWER_MAX: usize = 8 * 1024 * 1024;

/// Route of requests.
#[derive(Debug)]
enum TransportRoute {
    /// To the server.
    Live,
    /// To the server, and into a cassette.
    Recorded(CassetteRecorder),
    /// Nowhere: a cassette has the responses.
    Played(Player),
}

/// Sends the requests of an endpoint.
#[derive(Debug)]
pub(super) struct EndpointTransport {
    client: Client,
    route: TransportRoute,
    key: Option<HttpCredential>,
    key_header: ApiKeyHeader,
    headers: Vec<(&'static str, &'static str)>,
    /// Maximum time that the server may be silent before its response, and between parts of it.
    silence: (Duration, Duration),
}

/// A request.
pub(super) struct EndpointRequest {
    pub(super) method: Method,
    pub(super) body: Option<String>,
    /// The body with the hashes of pictures in place of the pictures, if [`EndpointTransport::is_taped`].
    pub(super) shown: Option<Value>,
}

impl EndpointTransport {
    /// The transport of an endpoint; opens its cassette.
    pub(super) fn new(
        config: &EndpointConfig,
        client: Client,
        key: Option<HttpCredential>,
        base_url: &str,
    ) -> Result<Self, CassetteError> {
        let label = || {
            CassetteHeader::new(
                config.provider.clone(),
                config.wire,
                base_url.to_owned(),
                config.model.clone(),
            )
        };
        let route = match &config.cassette {
            None => TransportRoute::Live,
            Some(Cassette::Record(path)) => TransportRoute::Recorded(CassetteRecorder::open(path, &label())?),
            Some(Cassette::Play(path)) => TransportRoute::Played(Player::open(path, &label())?),
        };
        Ok(Self {
            client,
            route,
            key,
            key_header: config.key_header,
            headers: [config.wire.headers(), config.computer_use.headers()].concat(),
            silence: (config.timeout, config.idle_timeout),
        })
    }

    /// Returns `true` if a cassette is written or played.
    pub(super) const fn is_taped(&self) -> bool {
        !matches!(self.route, TransportRoute::Live)
    }

    /// Returns `true` if nothing is sent.
    pub(super) const fn is_played(&self) -> bool {
        matches!(self.route, TransportRoute::Played(_))
    }

    /// Sends a request and reads its response, until its end or until `is_whole` says so; bounded by silence, not by length.
    pub(super) async fn send(
        &self,
        outgoing: EndpointRequest,
        endpoint: &EndpointIdentity,
        is_whole: impl FnMut(&[u8]) -> bool,
    ) -> Result<CassetteResponse, AttemptFailure> {
        let path = endpoint.url.strip_prefix(&endpoint.base_url).unwrap_or(&endpoint.url).to_owned();
        let body = outgoing.shown.unwrap_or_default();
        let sent = CassetteRequest { method: outgoing.method.to_string(), path, body };
        let recorder = match &self.route {
            TransportRoute::Live => None,
            TransportRoute::Recorded(recorder) => Some(recorder),
            TransportRoute::Played(player) => return play(player, &sent, endpoint),
        };
        let start = Instant::now();
        let response = self.exchange(outgoing.method, outgoing.body, endpoint, is_whole).await;
        if let Some(recorder) = recorder {
            let took_ms = milliseconds(start.elapsed());
            recorder.add(&Exchange { request: self.without_key(sent), end: self.end(&response), took_ms });
        }
        response
    }

    async fn exchange(
        &self,
        method: Method,
        body: Option<String>,
        endpoint: &EndpointIdentity,
        is_whole: impl FnMut(&[u8]) -> bool,
    ) -> Result<CassetteResponse, AttemptFailure> {
        let mut request = self.client.request(method, &endpoint.url);
        request = request.header(ACCEPT, "application/json, text/event-stream");
        for (name, value) in &self.headers {
            request = request.header(*name, *value);
        }
        request = match (&self.key, self.key_header) {
            (None, _) => request,
            (Some(key), header @ ApiKeyHeader::Bearer) => request.header(header.name(), key.bearer()),
            (Some(key), header) => request.header(header.name(), key.plain()),
        };
        if let Some(body) = body {
            request = request.header(CONTENT_TYPE, "application/json").body(body);
        }
        let (first, between) = self.silence;
        let silence = Silence { first: Instant::now() + first, between };
        let sent = timeout_at(silence.first, request.send()).await;
        let mut response =
            sent.map_err(|_| endpoint.silent(0, first))?.map_err(|error| endpoint.not_sent(&error))?;
        let read = read_body_until(&mut response, ANSWER_MAX, silence, is_whole).await;
        let bytes = read.map_err(|error| endpoint.not_read(&error, first, between))?;
        let header = |name| header(response.headers(), name);
        Ok(CassetteResponse {
            status: response.status().as_u16(),
            content_type: header(CONTENT_TYPE),
            retry_after: header(RETRY_AFTER),
            location: header(LOCATION),
            body: String::from_utf8_lossy(&bytes).into_owned(),
        })
    }

    fn end(&self, response: &Result<CassetteResponse, AttemptFailure>) -> ExchangeEnd {
        match response {
            Ok(response) => ExchangeEnd::Response(CassetteResponse {
                location: response.location.as_deref().map(|to| self.redact(to)),
                body: self.redact(&response.body),
                ..response.clone()
            }),
            Err(fault) => ExchangeEnd::Failed(CassetteFailure {
                kind: fault.kind,
                message: self.redact(&fault.message),
                is_retried: fault.is_retried(),
            }),
        }
    }

    /// Removes the key from a sent request, in case a prompt contained the model's own key.
    fn without_key(&self, sent: CassetteRequest) -> CassetteRequest {
        let Some(key) = &self.key else { return sent };
        let body = serde_json::from_str(&key.redact(&sent.body.to_string())).unwrap_or_default();
        CassetteRequest { body, ..sent }
    }

    /// Removes the key from external text, so that it cannot be quoted.
    pub(super) fn redact(&self, text: &str) -> String {
        self.key.as_ref().map_or_else(|| text.to_owned(), |key| key.redact(text))
    }
}

fn play(
    player: &Player,
    sent: &CassetteRequest,
    endpoint: &EndpointIdentity,
) -> Result<CassetteResponse, AttemptFailure> {
    match player.next(sent) {
        Ok(ExchangeEnd::Response(response)) => Ok(response),
        Ok(ExchangeEnd::Failed(CassetteFailure { kind, message, is_retried })) => {
            Err(AttemptFailure::recorded(kind, message, is_retried))
        }
        Err(none) => Err(endpoint.not_recorded(&none)),
    }
}

fn header(headers: &HeaderMap, name: HeaderName) -> Option<String> {
    headers.get(name).and_then(|value| value.to_str().ok()).map(str::to_owned)
}
