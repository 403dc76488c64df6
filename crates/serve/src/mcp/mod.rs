//! A Model Context Protocol server: desktops, windows and verified actions for any agent.
//!
//! Each desktop that a client starts is a session. The server holds no state but these; what it says is made of their journals.

mod ask;
mod desks;
mod http;
mod install;
mod prompts;
mod resources;
mod server;
mod task;
mod tools;
mod words;

use deskhand_host::Host;
use rmcp::service::ServerInitializeError;
use tokio::io::{AsyncRead, AsyncWrite};

pub use http::{HttpOptions, HttpServer};
pub use install::{ClientKind, InstallError, Installed, install};
use server::Server;

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
    let server = Server::new(host);
    let desks = server.desks();
    let served = async {
        let service = rmcp::serve_server(server, (input, output)).await;
        let service = service.map_err(|error| ServeError::Initialise(Box::new(error)))?;
        service.waiting().await.map(drop).map_err(|error| ServeError::Broke(error.to_string()))
    };
    let served = tokio::select! {
        served = served => served,
        () = ending => Ok(()),
    };
    desks.end_all().await;
    served
}
