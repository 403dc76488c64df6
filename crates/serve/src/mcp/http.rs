//! The server over streamable HTTP: on the loopback address, for clients that hold its token.
//!
//! All of them share the desktops, as the protocol has had no sessions since 2026-07-28. A request without the token, for another host
//! name (DNS rebinding) or from a page of an origin that was not allowed is refused before it is read.

use std::{net::Ipv4Addr, sync::Arc};

use axum::{
    Router,
    extract::{Request, State},
    http::{StatusCode, header::AUTHORIZATION},
    middleware::{self, Next},
    response::{IntoResponse as _, Response},
};
use deskhand_host::Host;
use rmcp::transport::{
    StreamableHttpServerConfig, StreamableHttpService,
    streamable_http_server::session::local::LocalSessionManager,
};
use tokio::net::TcpListener;

use super::{ServeError, server::Server};
use crate::token::{is_same, new_token};

/// The path of the server.
const PATH: &str = "/mcp";
/// The largest request, in bytes.
const REQUEST_MAX: usize = 4 << 20;
/// The random bytes of a new token.
const TOKEN_BYTES: usize = 24;

/// What an HTTP server is started with.
#[derive(Debug, Clone)]
pub struct HttpOptions {
    /// The port; 0 takes a free one.
    pub port: u16,
    /// The token that every request carries, as `Authorization: Bearer …`.
    pub token: String,
    /// The origins of pages that may send requests: `http://localhost:6274`. Without them no page may.
    pub origins: Vec<String>,
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
        let Self { listener, options, .. } = self;
        let server = Server::new(host);
        let desks = server.desks();
        let config = StreamableHttpServerConfig::default()
            .with_allowed_origins(options.origins.iter().cloned())
            .with_max_request_body_bytes(REQUEST_MAX)
            .enforce_origin_validation();
        let stopped = config.cancellation_token.clone();
        let sessions = Arc::new(LocalSessionManager::default());
        let service = StreamableHttpService::new(move || Ok(server.clone()), sessions, config);
        let expected = Arc::new(format!("Bearer {}", options.token));
        let routes = Router::new()
            .route_service(PATH, service)
            .layer(middleware::from_fn_with_state(expected, with_token));
        let served = async { axum::serve(listener, routes).await };
        let served = tokio::select! {
            served = served => served.map_err(|error| ServeError::Broke(error.to_string())),
            () = ending => Ok(()),
        };
        stopped.cancel();
        desks.end_all().await;
        served
    }
}

/// Lets a request with the token pass.
async fn with_token(State(expected): State<Arc<String>>, request: Request, next: Next) -> Response {
    let given = request.headers().get(AUTHORIZATION).map_or(&b""[..], |value| value.as_bytes());
    if is_same(given, expected.as_bytes()) {
        return next.run(request).await;
    }
    let words = "the token is missing or wrong; send `Authorization: Bearer TOKEN` as `deskhand mcp --http` printed it";
    (StatusCode::UNAUTHORIZED, words).into_response()
}
