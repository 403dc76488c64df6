//! A Model Context Protocol server: desktops, windows and verified actions for any agent.
//!
//! Each desktop that a client starts is a session. The server holds no state but these; what it says is made of their journals.

mod addresses;
mod ask;
mod deskhand;
mod desks;
mod http;
mod idle;
mod install;
mod prompts;
pub mod protocol;
mod question_page;
mod resources;
mod service;
mod task;
mod tools;
mod unread;
mod words;

use std::sync::Arc;

use deskhand_host::Host;
use rmcp::service::ServerInitializeError;
use tokio::io::{AsyncRead, AsyncWrite};

use deskhand::Deskhand;
pub use http::{HttpOptions, HttpServer};
pub use install::{ClientKind, InstallError, McpInstallation, install};
use protocol::{Calls, CatalogServer, Departures, JsonRpcLineReader};

/// A server that does not start or breaks off.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The client does not speak the protocol.
    #[error("the client did not initialise the protocol")]
    Initialise(#[source] Box<ServerInitializeError>),
    /// The server broke off.
    #[error("the server broke off: {0}")]
    Broke(String),
}

/// Serves one client over a pair of streams until it closes them or `ending` is done. Its desktops end then as a person would end them: what has unsaved
/// changes is kept as `desktop.keep` says.
///
/// # Errors
/// The client does not speak the protocol.
pub async fn serve<R, W>(
    host: Host,
    input: R,
    output: W,
    ending: impl Future<Output = ()>,
) -> Result<(), ServeError>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let deskhand = Arc::new(Deskhand::new(host));
    let desks = Arc::clone(deskhand.desks());
    let calls = Arc::new(Calls::default());
    // With the connection of its one client, the server itself ends.
    let (departures, _gone) = Departures::new();
    let server = CatalogServer::new(deskhand, Arc::clone(&calls), &departures)
        .map_err(|error| ServeError::Broke(error.to_string()))?;
    let served = async {
        let service = rmcp::serve_server(server, JsonRpcLineReader::new(input, output)).await;
        let service = service.map_err(|error| ServeError::Initialise(Box::new(error)))?;
        service.waiting().await.map(drop).map_err(|error| ServeError::Broke(error.to_string()))
    };
    let served = tokio::select! {
        served = served => served,
        () = ending => Ok(()),
    };
    calls.cancel_all();
    desks.end_all().await;
    served
}
