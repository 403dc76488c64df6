//! A page to watch, steer and look back: `deskhand serve`.
//!
//! The service runs no session. Each one is a process of its own with a control socket in its folder, and its journal beside that;
//! the service reads the one and speaks over the other, so that its end, or a browser that does not read, stops nothing.
//!
//! - [`door`](self::door): who may come in. [`connections`](self::connections): how many, and for how long.
//! - [`once`](self::once): requests that are carried out once, however often they are sent.
//! - [`live`](self::live): what a session is doing, for all who watch it.
//! - [`workers`](self::workers): starts sessions. [`timing`](self::timing): when schedules are due.
//! - [`routes`](self::routes): one file per part of the page and of its API.

mod appears;
mod bodies;
mod connections;
mod door;
mod error;
mod failed;
mod line;
mod live;
mod metrics;
mod once;
mod routes;
mod timing;
mod views;
mod visit;
mod workers;

use std::{
    io,
    net::{Ipv4Addr, SocketAddr},
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
};

use deskhand_host::{Host, config::Config};
use deskhand_runtime::Catalogue;
use tokio::{
    net::{TcpListener, TcpSocket},
    sync::Semaphore,
};

pub use self::door::Keys;
use self::{
    connections::{CONNECTIONS_MAX, serve_connections},
    door::Door,
    error::PageError,
    live::Hub,
    metrics::Metrics,
    once::Once,
    views::Views,
    workers::Workers,
};

/// The most connections that wait to be taken in. Further ones try again after a second.
const WAITING_MAX: u32 = 4096;

/// What the service is started with.
#[derive(Debug, Clone)]
pub struct PageOptions {
    /// The port on the loopback address; 0 takes a free one.
    pub port: u16,
    /// The program that runs sessions: this one, as a rule.
    pub program: PathBuf,
    /// Arguments of `deskhand run` for sessions that are started from the page, before those that the page gives.
    pub arguments: Vec<String>,
    /// The configuration that holds with these arguments.
    pub defaults: Config,
    /// The folder of the service: the token, the logs of sessions, documents that were dropped into the page.
    pub folder: PathBuf,
}

/// What all requests share.
pub(crate) struct Service {
    pub(crate) host: Host,
    /// What is known of all sessions.
    pub(crate) catalogue: Mutex<Catalogue>,
    pub(crate) door: Door,
    pub(crate) hub: Hub,
    pub(crate) once: Once,
    pub(crate) views: Views,
    pub(crate) workers: Workers,
    pub(crate) metrics: Metrics,
    /// The places of connections that are free.
    places: Arc<Semaphore>,
    /// What holds for a session for which nothing is chosen.
    pub(crate) defaults: Config,
}

/// A service that listens.
pub struct PageServer {
    listener: TcpListener,
    service: Arc<Service>,
    /// The address with the token: who opens it is let in.
    pub url: String,
}

impl PageServer {
    /// Listens on the loopback address.
    ///
    /// # Errors
    /// The port is taken, the folder of the service cannot be written to, or the system has no random numbers.
    pub async fn bind(host: Host, options: PageOptions) -> io::Result<Self> {
        let listener = listen(SocketAddr::from((Ipv4Addr::LOCALHOST, options.port)))?;
        let address: SocketAddr = listener.local_addr()?;
        let keys = Keys::in_folder(&options.folder)?;
        let url = format!("http://{address}/?token={}", keys.token());
        let views = Views::new().map_err(io::Error::other)?;
        let service = Service {
            hub: Hub::new(host.sessions()),
            once: Once::new(&options.folder),
            metrics: Metrics::in_folder(&options.folder),
            places: Arc::new(Semaphore::new(CONNECTIONS_MAX)),
            workers: Workers::new(&options, host.sessions().root().to_owned()),
            door: Door::new(address.port(), keys),
            views,
            defaults: options.defaults,
            catalogue: Mutex::new(host.catalogue()),
            host,
        };
        Ok(Self { listener, service: Arc::new(service), url })
    }

    /// Serves until `ending` is done. Sessions go on.
    ///
    /// # Errors
    /// The service can take no more connections.
    pub async fn serve(self, ending: impl Future<Output = ()>) -> io::Result<()> {
        let router = routes::router(Arc::clone(&self.service));
        let places = Arc::clone(&self.service.places);
        let schedules = self.service.host.schedules();
        tokio::select! {
            served = serve_connections(self.listener, router, places) => served,
            never = timing::keep_schedules(&schedules, &self.service.workers) => match never {},
            () = ending => Ok(()),
        }
    }
}

/// Listens, with room for many who come at once.
fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(WAITING_MAX)
}

impl Service {
    /// The connections that are open.
    pub(crate) fn connections(&self) -> usize {
        CONNECTIONS_MAX.saturating_sub(self.places.available_permits())
    }

    /// Looks something up in the catalogue of sessions, which is brought up to date first.
    ///
    /// # Errors
    /// The folder of the sessions cannot be read.
    pub(crate) async fn looking_back<T: Send + 'static>(
        self: &Arc<Self>,
        look: impl FnOnce(&Catalogue) -> T + Send + 'static,
    ) -> Result<T, PageError> {
        let service = Arc::clone(self);
        let looked = tokio::task::spawn_blocking(move || {
            let mut catalogue = service.catalogue.lock().unwrap_or_else(PoisonError::into_inner);
            catalogue.refresh().map(|()| look(&catalogue))
        });
        let looked = looked.await.map_err(|error| PageError::failed("read the sessions", &error))?;
        looked.map_err(|error| PageError::failed("read the sessions", &error))
    }
}
