//! The way of a request: to a server, into a cassette, or out of one.

use std::time::Duration;

use deskhand_core::duration::milliseconds;
use deskhand_http::{Secret, Silence, read_body_until};
use reqwest::{
    Client, Method,
    header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, LOCATION, RETRY_AFTER},
};
use serde_json::Value;
use tokio::time::{Instant, timeout_at};

use super::{
    config::{EndpointConfig, KeyHeader},
    failure::{Fault, Named},
};
use crate::cassette::{
    Cassette, CassetteError, End, Exchange, Failed, Label, Player, Received, Recorder, Sent,
};

/// The maximum response size, in bytes.
const ANSWER_MAX: usize = 8 * 1024 * 1024;

/// Route of requests.
#[derive(Debug)]
enum Route {
    /// To the server.
    Live,
    /// To the server, and into a cassette.
    Recorded(Recorder),
    /// Nowhere: a cassette has the responses.
    Played(Player),
}

/// Sends the requests of an endpoint.
#[derive(Debug)]
pub(super) struct Transport {
    client: Client,
    route: Route,
    key: Option<Secret>,
    key_header: KeyHeader,
    headers: Vec<(&'static str, &'static str)>,
    /// Maximum time that the server may be silent before its response, and between parts of it.
    silence: (Duration, Duration),
}

/// A request.
pub(super) struct Outgoing {
    pub(super) method: Method,
    pub(super) body: Option<String>,
    /// The body with the hashes of pictures in place of the pictures, if [`Transport::is_taped`].
    pub(super) shown: Option<Value>,
}

impl Transport {
    /// The transport of an endpoint; opens its cassette.
    pub(super) fn new(
        config: &EndpointConfig,
        client: Client,
        key: Option<Secret>,
        base_url: &str,
    ) -> Result<Self, CassetteError> {
        let label =
            || Label::new(config.provider.clone(), config.wire, base_url.to_owned(), config.model.clone());
        let route = match &config.cassette {
            None => Route::Live,
            Some(Cassette::Record(path)) => Route::Recorded(Recorder::open(path, &label())?),
            Some(Cassette::Play(path)) => Route::Played(Player::open(path, &label())?),
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
        !matches!(self.route, Route::Live)
    }

    /// Returns `true` if nothing is sent.
    pub(super) const fn is_played(&self) -> bool {
        matches!(self.route, Route::Played(_))
    }

    /// Sends a request and reads its response, until its end or until `is_whole` says so; bounded by silence, not by length.
    pub(super) async fn send(
        &self,
        outgoing: Outgoing,
        endpoint: &Named,
        is_whole: impl FnMut(&[u8]) -> bool,
    ) -> Result<Received, Fault> {
        let path = endpoint.url.strip_prefix(&endpoint.base_url).unwrap_or(&endpoint.url).to_owned();
        let body = outgoing.shown.unwrap_or_default();
        let sent = Sent { method: outgoing.method.to_string(), path, body };
        let recorder = match &self.route {
            Route::Live => None,
            Route::Recorded(recorder) => Some(recorder),
            Route::Played(player) => return play(player, &sent, endpoint),
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
        endpoint: &Named,
        is_whole: impl FnMut(&[u8]) -> bool,
    ) -> Result<Received, Fault> {
        let mut request = self.client.request(method, &endpoint.url);
        request = request.header(ACCEPT, "application/json, text/event-stream");
        for (name, value) in &self.headers {
            request = request.header(*name, *value);
        }
        request = match (&self.key, self.key_header) {
            (None, _) => request,
            (Some(key), header @ KeyHeader::Bearer) => request.header(header.name(), key.bearer()),
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
        Ok(Received {
            status: response.status().as_u16(),
            content_type: header(CONTENT_TYPE),
            retry_after: header(RETRY_AFTER),
            location: header(LOCATION),
            body: String::from_utf8_lossy(&bytes).into_owned(),
        })
    }

    fn end(&self, response: &Result<Received, Fault>) -> End {
        match response {
            Ok(response) => End::Response(Received {
                location: response.location.as_deref().map(|to| self.redact(to)),
                body: self.redact(&response.body),
                ..response.clone()
            }),
            Err(fault) => End::Failed(Failed {
                kind: fault.kind,
                message: self.redact(&fault.message),
                is_retried: fault.is_retried(),
            }),
        }
    }

    /// Removes the key from a sent request, in case a prompt contained the model's own key.
    fn without_key(&self, sent: Sent) -> Sent {
        let Some(key) = &self.key else { return sent };
        let body = serde_json::from_str(&key.redact(&sent.body.to_string())).unwrap_or_default();
        Sent { body, ..sent }
    }

    /// Removes the key from external text, so that it cannot be quoted.
    pub(super) fn redact(&self, text: &str) -> String {
        self.key.as_ref().map_or_else(|| text.to_owned(), |key| key.redact(text))
    }
}

fn play(player: &Player, sent: &Sent, endpoint: &Named) -> Result<Received, Fault> {
    match player.next(sent) {
        Ok(End::Response(response)) => Ok(response),
        Ok(End::Failed(Failed { kind, message, is_retried })) => {
            Err(Fault::recorded(kind, message, is_retried))
        }
        Err(none) => Err(endpoint.not_recorded(&none)),
    }
}

fn header(headers: &HeaderMap, name: HeaderName) -> Option<String> {
    headers.get(name).and_then(|value| value.to_str().ok()).map(str::to_owned)
}
