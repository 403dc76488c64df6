//! Takes connections in: so many at once, each with a bound on how long it may take to say what it wants and to take the answer.
//!
//! Who has been let in keeps their place. When all places are taken, the one who has waited longest without having been let in makes
//! room: thousands of silent connections keep nobody out.

use std::{collections::VecDeque, io, sync::Arc, time::Duration};

use axum::Router;
use hyper::{Request, body::Incoming, service::Service as _, service::service_fn};
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    service::TowerToHyperService,
};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::{TcpListener, TcpStream},
    sync::{OwnedSemaphorePermit, Semaphore},
    task::{AbortHandle, JoinSet},
    time::timeout,
};
use tokio_rustls::TlsAcceptor;

use super::{line::PageConnection, visit::ConnectionAdmission};

/// The most connections at once. Each may be a page that stays open.
pub(super) const CONNECTIONS_MAX: usize = 400;
/// The places that are kept free for those who come while others are on their way out.
const SPARE: usize = 50;
/// Maximum time to receive the head of a request.
const HEAD_BOUND: Duration = Duration::from_secs(10);
/// The most bytes of a head.
const HEAD_BYTES_MAX: usize = 64 * 1024;
/// Delay for another connection to end when the system has no room for one.
const NO_ROOM: Duration = Duration::from_secs(1);

/// The connections that are served, and the places that are left.
struct Connections {
    tls: Option<TlsAcceptor>,
    router: Router,
    places: Arc<Semaphore>,
    serving: JoinSet<()>,
    /// Those that were not let in when this was looked at last, the first one first.
    strangers: VecDeque<(ConnectionAdmission, AbortHandle)>,
}

/// Serves connections; never returns but for an error of the listener.
///
/// # Errors
/// The listener is gone.
pub(super) async fn serve_connections(
    listener: TcpListener,
    tls: Option<TlsAcceptor>,
    router: Router,
    places: Arc<Semaphore>,
) -> io::Result<()> {
    let mut connections =
        Connections { tls, router, places, serving: JoinSet::new(), strangers: VecDeque::new() };
    loop {
        let accepted = tokio::select! {
            Some(_) = connections.serving.join_next() => continue,
            accepted = listener.accept() => accepted,
        };
        match accepted {
            Ok((stream, _)) => connections.take_in(stream).await,
            Err(error) if is_of_one(&error) => {}
            // No file descriptors are left for now.
            Err(error) if error.raw_os_error().is_some() => {
                tracing::warn!(%error, "no connection can be taken in");
                timeout(NO_ROOM, connections.serving.join_next()).await.ok();
            }
            Err(error) => return Err(error),
        }
    }
}

/// Returns `true` if an error is that of one connection.
fn is_of_one(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::ConnectionAborted | io::ErrorKind::ConnectionRefused | io::ErrorKind::ConnectionReset
    )
}

impl Connections {
    /// Serves a connection, or closes it if all places are taken by others who were let in.
    async fn take_in(&mut self, stream: TcpStream) {
        let Some(place) = self.place().await else { return };
        stream.set_nodelay(true).ok();
        let visit = ConnectionAdmission::default();
        let line = PageConnection::new(stream, place);
        let served = serve_one(line, self.tls.clone(), visit.clone(), self.router.clone());
        let serving = self.serving.spawn(served);
        self.strangers.push_back((visit, serving));
        if self.strangers.len() > CONNECTIONS_MAX.saturating_mul(2) {
            self.strangers.retain(|(visit, serving)| !visit.is_let_in() && !serving.is_finished());
        }
    }

    /// A place; while few are left, somebody makes room for it first.
    async fn place(&mut self) -> Option<OwnedSemaphorePermit> {
        while self.places.available_permits() <= SPARE
            && let Some((visit, serving)) = self.strangers.pop_front()
        {
            if !visit.is_let_in() && !serving.is_finished() {
                serving.abort();
                break;
            }
        }
        timeout(NO_ROOM, Arc::clone(&self.places).acquire_owned()).await.ok()?.ok()
    }
}

async fn serve_one(
    line: PageConnection<TcpStream>,
    tls: Option<TlsAcceptor>,
    visit: ConnectionAdmission,
    router: Router,
) {
    let served = match tls {
        None => serve_http(line, visit, router).await,
        Some(tls) => match timeout(HEAD_BOUND, tls.accept(line)).await {
            Ok(Ok(line)) => serve_http(line, visit, router).await,
            Ok(Err(_)) | Err(_) => return,
        },
    };
    if let Err(error) = served {
        tracing::debug!(%error, "a connection ended");
    }
}

async fn serve_http<S>(line: S, visit: ConnectionAdmission, router: Router) -> hyper::Result<()>
where
    S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    let router = TowerToHyperService::new(router);
    let service = service_fn(move |mut request: Request<Incoming>| {
        request.extensions_mut().insert(visit.clone());
        router.call(request)
    });
    hyper::server::conn::http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_BOUND)
        .max_buf_size(HEAD_BYTES_MAX)
        .serve_connection(TokioIo::new(line), service)
        .with_upgrades()
        .await
}
