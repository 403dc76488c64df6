//! The server over streamable HTTP: on the loopback address, for clients that hold its token.
//!
//! All of them share the desktops, as the protocol has had no sessions since 2026-07-28. A request without the token, for another host
//! name (DNS rebinding) or from a page of an origin that was not allowed is refused before it is read.

use std::{net::Ipv4Addr, sync::Arc, time::Duration};

use axum::{
    Router,
    body::{Body, to_bytes},
    extract::{Request, State},
    http::{
        HeaderMap, Method, StatusCode,
        header::{AUTHORIZATION, CONTENT_TYPE},
    },
    middleware::{self, Next},
    response::{IntoResponse as _, Response},
};
use deskhand_host::Host;
use rmcp::transport::{
    StreamableHttpServerConfig, StreamableHttpService,
    streamable_http_server::session::{SessionManager as _, local::LocalSessionManager},
};
use tokio::{
    net::TcpListener,
    sync::mpsc,
    time::{MissedTickBehavior, interval},
};

use super::{
    ServeError,
    deskhand::Deskhand,
    idle::{Visits, attend},
    protocol::{Calls, Catalog, CatalogServer, ClientId, Departures, InvalidJsonRpcMessage, check},
};
use crate::token::{is_same, new_token};

/// The path of the server.
const PATH: &str = "/mcp";
/// The largest request, in bytes.
const REQUEST_MAX: usize = 4 << 20;
/// The random bytes of a new token.
const TOKEN_BYTES: usize = 24;

/// The options with which an HTTP server is started.
#[derive(Debug, Clone)]
pub struct HttpOptions {
    /// The port; 0 takes a free one.
    pub port: u16,
    /// The token that every request carries, as `Authorization: Bearer …`.
    pub token: String,
    /// The origins of pages that may send requests: `http://localhost:6274`. Without them no page may.
    pub origins: Vec<String>,
    /// Time without requests after which a client counts as gone.
    pub idle: Duration,
}

impl HttpOptions {
    /// A token that nobody can guess.
    ///
    /// # Errors
    /// The system has no random numbers.
    pub fn new_token() -> std::io::Result<String> {
        new_token::<TOKEN_BYTES>()
    }
}

/// A server that listens.
pub struct HttpServer {
    listener: TcpListener,
    /// Its address: `http://127.0.0.1:8123/mcp`.
    pub url: String,
    options: HttpOptions,
}

impl HttpServer {
    /// Listens on the loopback address.
    ///
    /// # Errors
    /// The port is taken.
    pub async fn bind(options: HttpOptions) -> std::io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, options.port)).await?;
        let url = format!("http://{}{PATH}", listener.local_addr()?);
        Ok(Self { listener, url, options })
    }

    /// Serves clients until `ending` is done. Their desktops end then as a person would end them.
    ///
    /// # Errors
    /// The server broke off.
    pub async fn serve(self, host: Host, ending: impl Future<Output = ()>) -> Result<(), ServeError> {
        let deskhand = Arc::new(Deskhand::new(host));
        let desks = Arc::clone(deskhand.desks());
        let visits = Visits::new(self.options.idle);
        let unused = async {
            let mut looks = interval(visits.every());
            looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
            loop {
                looks.tick().await;
                desks.end_idle(visits.idle()).await;
            }
        };
        let served = tokio::select! {
            served = self.serve_catalog(Arc::clone(&deskhand), |routes| routes, ending) => served,
            () = unused => Ok(()),
        };
        desks.end_all().await;
        served
    }

    /// The same for another catalog; `outer` may put layers around the routes.
    ///
    /// # Errors
    /// The server broke off.
    pub async fn serve_catalog<C: Catalog>(
        self,
        catalog: Arc<C>,
        outer: impl FnOnce(Router) -> Router,
        ending: impl Future<Output = ()>,
    ) -> Result<(), ServeError> {
        let Self { listener, options, .. } = self;
        let calls = Arc::new(Calls::default());
        let (departures, gone) = Departures::new();
        let config = StreamableHttpServerConfig::default()
            .with_allowed_origins(options.origins.iter().cloned())
            .with_max_request_body_bytes(REQUEST_MAX)
            .enforce_origin_validation();
        let stopped = config.cancellation_token.clone();
        let mut sessions = LocalSessionManager::default();
        // Who has gone is decided here, by what is open too.
        sessions.session_config.keep_alive = None;
        let sessions = Arc::new(sessions);
        let serving = (Arc::clone(&catalog), Arc::clone(&calls));
        let service = StreamableHttpService::new(
            move || CatalogServer::new(Arc::clone(&serving.0), Arc::clone(&serving.1), &departures),
            Arc::clone(&sessions),
            config,
        );
        let visits = Visits::new(options.idle);
        let expected = Arc::<str>::from(options.token);
        let routes = Router::new()
            .route_service(PATH, service)
            .layer(middleware::from_fn_with_state(visits.clone(), attend))
            .layer(middleware::from_fn(well_formed))
            .layer(middleware::from_fn_with_state(expected, with_token));
        let routes = outer(routes);
        let served = async { axum::serve(listener, routes).await };
        let served = tokio::select! {
            served = served => served.map_err(|error| ServeError::Broke(error.to_string())),
            () = depart(&sessions, &visits) => Ok(()),
            () = see_off(catalog, &calls, gone) => Ok(()),
            () = ending => Ok(()),
        };
        calls.cancel_all();
        stopped.cancel();
        served
    }
}

/// Closes the sessions of clients that have gone without a word.
async fn depart(sessions: &LocalSessionManager, visits: &Visits) {
    let mut looks = interval(visits.every());
    looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        looks.tick().await;
        for session in visits.gone() {
            if let Err(error) = sessions.close_session(&session.into()).await {
                tracing::debug!(%error, "closing the session of a client that has gone");
            }
        }
    }
}

/// Ends what belongs to clients that have gone.
async fn see_off<C: Catalog>(catalog: Arc<C>, calls: &Calls, mut gone: mpsc::Receiver<ClientId>) {
    while let Some(client) = gone.recv().await {
        calls.cancel_of(client);
        Arc::clone(&catalog).gone(client).await;
    }
}

/// Lets a request with the token pass.
async fn with_token(State(expected): State<Arc<str>>, request: Request, next: Next) -> Response {
    if bears(request.headers(), &expected) {
        return next.run(request).await;
    }
    let words = "the token is missing or wrong; send `Authorization: Bearer TOKEN` as `deskhand mcp --http` printed it";
    (StatusCode::UNAUTHORIZED, words).into_response()
}

/// Returns `true` if a request has the token. The name of the scheme has no case (RFC 9110, section 11.1).
fn bears(headers: &HeaderMap, token: &str) -> bool {
    const SCHEME: &[u8] = b"bearer ";
    let given = headers.get(AUTHORIZATION).map_or(&b""[..], |value| value.as_bytes());
    let (scheme, rest) = given.split_at_checked(SCHEME.len()).unwrap_or_default();
    scheme.eq_ignore_ascii_case(SCHEME) && is_same(rest.trim_ascii_start(), token.as_bytes())
}

/// Answers what is no message of JSON-RPC with its code.
async fn well_formed(request: Request, next: Next) -> Response {
    let is_json = request
        .headers()
        .get(CONTENT_TYPE)
        .and_then(|kind| kind.to_str().ok())
        .and_then(|kind| kind.split(';').next())
        .is_some_and(|kind| kind.trim().eq_ignore_ascii_case("application/json"));
    if request.method() != Method::POST || !is_json {
        return next.run(request).await;
    }
    let (parts, body) = request.into_parts();
    let refused = |status: StatusCode, refusal: &InvalidJsonRpcMessage| {
        (status, [(CONTENT_TYPE, "application/json")], refusal.to_answer().to_string()).into_response()
    };
    let Ok(bytes) = to_bytes(body, REQUEST_MAX).await else {
        return refused(StatusCode::PAYLOAD_TOO_LARGE, &InvalidJsonRpcMessage::too_large(REQUEST_MAX));
    };
    match check(&bytes) {
        Ok(message)
            if serde_json::from_value::<rmcp::model::ClientJsonRpcMessage>(message.clone()).is_err() =>
        {
            refused(StatusCode::BAD_REQUEST, &InvalidJsonRpcMessage::unknown_form(&message))
        }
        Ok(_) => next.run(Request::from_parts(parts, Body::from(bytes))).await,
        Err(refusal) => refused(StatusCode::BAD_REQUEST, &refusal),
    }
}
