//! Takes connections in: so many at once, each with a bound on how long it may take to say what it wants.

use std::{io, time::Duration};

use axum::Router;
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    service::TowerToHyperService,
};
use tokio::{
    net::{TcpListener, TcpStream},
    task::JoinSet,
    time::timeout,
};

/// The most connections at once. Each may be a page that stays open.
const CONNECTIONS_MAX: usize = 400;
/// How long the head of a request may take.
const HEAD_BOUND: Duration = Duration::from_secs(10);
/// The most bytes of a head.
const HEAD_BYTES_MAX: usize = 64 * 1024;
/// How long is waited for another connection to end when the system has no room for one.
const NO_ROOM: Duration = Duration::from_secs(1);

/// Serves connections; never returns but for an error of the listener.
///
/// # Errors
/// The listener is gone.
pub(super) async fn serve_connections(listener: TcpListener, router: Router) -> io::Result<()> {
    let mut serving = JoinSet::new();
    loop {
        let accepted = tokio::select! {
            Some(_) = serving.join_next() => continue,
            accepted = listener.accept() => accepted,
        };
        let stream = match accepted {
            Ok((stream, _)) => stream,
            Err(error) if is_of_one(&error) => continue,
            // No file descriptors are left for now.
            Err(error) if error.raw_os_error().is_some() => {
                tracing::warn!(%error, "no connection can be taken in");
                timeout(NO_ROOM, serving.join_next()).await.ok();
                continue;
            }
            Err(error) => return Err(error),
        };
        // Who comes when all places are taken is turned away at once rather than kept waiting.
        if serving.len() < CONNECTIONS_MAX {
            serving.spawn(serve_one(stream, router.clone()));
        }
    }
}

/// Whether an error is that of one connection.
fn is_of_one(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::ConnectionAborted | io::ErrorKind::ConnectionRefused | io::ErrorKind::ConnectionReset
    )
}

async fn serve_one(stream: TcpStream, router: Router) {
    stream.set_nodelay(true).ok();
    let served = hyper::server::conn::http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_BOUND)
        .max_buf_size(HEAD_BYTES_MAX)
        .serve_connection(TokioIo::new(stream), TowerToHyperService::new(router))
        .with_upgrades()
        .await;
    if let Err(error) = served {
        tracing::debug!(%error, "a connection ended");
    }
}
