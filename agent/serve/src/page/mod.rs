//! A page to watch, steer and look back: `deskhand serve`.
//!
//! The service runs no session. Each one is a process of its own with a control socket in its folder, and its journal beside that;
//! the service reads the one and speaks over the other, so that its end, or a browser that does not read, stops nothing.
//!
//! - [`door`](self::door): who may come in. [`connections`](self::connections): how many, and for how long.
//! - [`once`](self::once): requests that are carried out once, however often they are sent.
//! - [`fleet`](self::fleet): sessions of other machines among those of this one.
//! - [`live`](self::live): what a session is doing, for all who watch it.
//! - [`workers`](self::workers): starts sessions. [`timing`](self::timing): when schedules are due.
//! - [`routes`](self::routes): one file per part of the page and of its API.

mod appears;
mod bodies;
mod connections;
mod described;
mod door;
mod error;
mod failed;
mod fleet;
mod json;
mod line;
mod live;
pub(crate) mod metrics;
mod once;
mod routes;
mod time_lines;
mod timing;
mod tls;
mod unit;
mod views;
mod visit;
mod workers;

use std::{
    io,
    net::{SocketAddr, TcpStream},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

use deskhand_host::{Host, config::Config};
use deskhand_machine::provenance::Provenance;
use deskhand_runtime::{Catalogue, InstructionKind, private};
use tokio::{
    net::{TcpListener, TcpSocket},
    sync::Semaphore,
    task::JoinSet,
};
use tokio_rustls::TlsAcceptor;

use self::{
    connections::{CONNECTIONS_MAX, serve_connections},
    door::{Door, ServiceHostNames},
    error::PageApiError,
    fleet::{FleetService, SessionLocation, task_of},
    live::{Hub, LiveSession},
    metrics::Metrics,
    once::IdempotencyStore,
    time_lines::TimeLines,
    views::PageTemplates,
    workers::SessionLauncher,
};
pub use self::{
    door::PageCredentials,
    fleet::FleetView,
    tls::TlsFiles,
    unit::{UNIT, UnitInstallation, install, uninstall, unit_text},
};

/// The file with the address, in the folder of the service.
const ADDRESS: &str = "address";
/// The most connections that wait to be taken in. Further ones try again after a second.
const WAITING_MAX: u32 = 4096;

/// The options with which the service is started.
#[derive(Debug, Clone)]
pub struct PageOptions {
    /// The address and the port; port 0 takes a free one. Anything but a loopback address needs TLS.
    pub address: SocketAddr,
    /// The certificate; `None` goes without TLS.
    pub tls: Option<TlsFiles>,
    /// Further names that the service is asked for by.
    pub hosts: Vec<String>,
    /// The program that runs sessions: this one, as a rule.
    pub program: PathBuf,
    /// Arguments of `deskhand run` for sessions that are started from the page, before those that the page gives.
    pub arguments: Vec<String>,
    /// The configuration that holds with these arguments.
    pub defaults: Config,
    /// The folder of the service: the token, the logs of sessions, tasks and plans. Nothing that agents start may see it.
    pub folder: PathBuf,
    /// The folder of documents that were dropped into the page, which applications open.
    pub documents: PathBuf,
    /// The fleet whose sessions are shown, too.
    pub fleet: Option<FleetView>,
}

/// State shared by all requests.
pub(crate) struct PageService {
    pub(crate) host: Host,
    /// The catalogue of all sessions.
    pub(crate) catalogue: Mutex<Catalogue>,
    pub(crate) door: Door,
    pub(crate) hub: Hub,
    pub(crate) once: IdempotencyStore,
    pub(crate) time_lines: TimeLines,
    pub(crate) views: PageTemplates,
    pub(crate) workers: SessionLauncher,
    /// The fleet whose sessions are shown, too.
    pub(crate) fleet: Option<FleetService>,
    pub(crate) metrics: Metrics,
    /// The places of connections that are free.
    places: Arc<Semaphore>,
    /// The defaults of a session for options that are not set.
    pub(crate) defaults: Config,
}

/// A service that listens.
pub struct PageServer {
    listener: TcpListener,
    tls: Option<TlsAcceptor>,
    service: Arc<PageService>,
    /// The address with the token: who opens it is let in.
    pub url: String,
}

impl PageServer {
    /// Listens.
    ///
    /// # Errors
    /// The address is one that others reach and there is no certificate, or no name for it; the port is taken, the folder of the service
    /// cannot be written to, or the system has no random numbers.
    pub async fn bind(host: Host, options: PageOptions) -> io::Result<Self> {
        options.check()?;
        let tls = options.tls.as_ref().map(tls::acceptor).transpose()?;
        let listener = listen(options.address)?;
        let address: SocketAddr = listener.local_addr()?;
        let keys = PageCredentials::in_folder(&options.folder)?;
        let names = ServiceHostNames::new(address, options.tls.is_some(), &options.hosts);
        let base = names.base();
        private::replace_file(&options.folder.join(ADDRESS), format!("{base}\n{address}\n").as_bytes())?;
        private::create_folders(&options.documents)?;
        let url = url_of(&base, &keys);
        let views = PageTemplates::new().map_err(io::Error::other)?;
        let service = PageService {
            hub: Hub::new(host.sessions()),
            once: IdempotencyStore::new(&options.folder),
            time_lines: TimeLines::default(),
            metrics: Metrics::in_folder(&options.folder),
            places: Arc::new(Semaphore::new(CONNECTIONS_MAX)),
            fleet: options
                .fleet
                .as_ref()
                .map(|fleet| FleetService::new(fleet.clone(), host.config(), &options.folder)),
            workers: SessionLauncher::new(&options, host.sessions().root().to_owned()),
            door: Door::new(names, keys),
            views,
            defaults: options.defaults,
            catalogue: Mutex::new(host.catalogue()),
            host,
        };
        Ok(Self { listener, tls, service: Arc::new(service), url })
    }

    /// The address with the token of the service that runs with this folder.
    ///
    /// # Errors
    /// None runs with it.
    pub fn url_in(folder: &Path) -> io::Result<String> {
        let known = private::read_deciding(&folder.join(ADDRESS))?;
        let known = String::from_utf8(known).map_err(io::Error::other)?;
        let (base, address) = known.split_once('\n').ok_or(io::ErrorKind::InvalidData)?;
        TcpStream::connect(address.trim())?;
        Ok(url_of(base, &PageCredentials::in_folder(folder)?))
    }

    /// Serves until `ending` is done. Sessions go on.
    ///
    /// # Errors
    /// The service can take no more connections.
    pub async fn serve(self, ending: impl Future<Output = ()>) -> io::Result<()> {
        let router = routes::router(Arc::clone(&self.service));
        let places = Arc::clone(&self.service.places);
        let schedules = self.service.host.schedules();
        // The first page does not wait for journals that nobody has read yet.
        let mut reading = JoinSet::new();
        let service = Arc::clone(&self.service);
        reading.spawn(async move { service.looking_back(|_| ()).await.is_ok() });
        tokio::select! {
            served = serve_connections(self.listener, self.tls, router, places) => served,
            never = timing::keep_schedules(&schedules, &self.service.workers) => match never {},
            never = keep_up(self.service.fleet.as_ref()) => match never {},
            () = ending => Ok(()),
        }
    }
}

/// Follows the fleet, if there is one.
async fn keep_up(fleet: Option<&FleetService>) -> std::convert::Infallible {
    match fleet {
        Some(fleet) => fleet.keep_up().await,
        None => std::future::pending().await,
    }
}

fn url_of(base: &str, keys: &PageCredentials) -> String {
    format!("{base}/?token={}", keys.token())
}

impl PageOptions {
    /// Checks that the service may listen on the address.
    fn check(&self) -> io::Result<()> {
        let ip = self.address.ip();
        let problem = if ip.is_loopback() {
            return Ok(());
        } else if self.tls.is_none() {
            "others reach this address: give --tls-certificate and --tls-key, or stay on the loopback address and go through SSH"
        } else if ip.is_unspecified() && self.hosts.is_empty() {
            "say by which name the service is asked for: --host NAME"
        } else {
            return Ok(());
        };
        Err(io::Error::new(io::ErrorKind::InvalidInput, problem))
    }
}

/// Listens, with room for many who come at once.
fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(WAITING_MAX)
}

impl PageService {
    /// Seals a file that is written for somebody who is let in, and so made it. Blocking.
    ///
    /// # Errors
    /// The seal cannot be written.
    pub(crate) fn seal(&self, kind: InstructionKind, content: &[u8]) -> Result<(), PageApiError> {
        let sealed = self.host.seals().vouch(kind, content, Provenance::Made);
        sealed.map_err(|error| PageApiError::failed("seal what is to be done", &error))
    }

    /// The connections that are open.
    pub(crate) fn connections(&self) -> usize {
        CONNECTIONS_MAX.saturating_sub(self.places.available_permits())
    }

    /// A session of this machine or of the fleet.
    ///
    /// # Errors
    /// There is none of this id, or the server of the fleet does not answer.
    pub(crate) async fn locate(&self, id: &str) -> Result<SessionLocation, PageApiError> {
        match (&self.fleet, task_of(id)) {
            (Some(fleet), Some(task)) => fleet.locate(&task).await,
            (None, Some(_)) => Err(PageApiError::missing(
                "the page shows no fleet; name its server with `deskhand serve --fleet`",
            )),
            (_, None) => {
                Ok(SessionLocation { host: self.host.clone(), folder: self.hub.folder(id)?, mirror: None })
            }
        }
    }

    /// The same, and what it does now.
    ///
    /// # Errors
    /// There is none of this id, its journal cannot be read, or the server of the fleet does not answer.
    pub(crate) async fn session(
        &self,
        id: &str,
    ) -> Result<(SessionLocation, Arc<LiveSession>), PageApiError> {
        let located = self.locate(id).await?;
        let session = self.hub.session(&located.folder).await?;
        Ok((located, session))
    }

    /// Looks something up in the catalogue of sessions, which is brought up to date first.
    ///
    /// # Errors
    /// The folder of the sessions cannot be read.
    pub(crate) async fn looking_back<T: Send + 'static>(
        self: &Arc<Self>,
        look: impl FnOnce(&Catalogue) -> T + Send + 'static,
    ) -> Result<T, PageApiError> {
        let service = Arc::clone(self);
        let looked = tokio::task::spawn_blocking(move || {
            let mut catalogue = service.catalogue.lock().unwrap_or_else(PoisonError::into_inner);
            catalogue.refresh().map(|()| look(&catalogue))
        });
        let looked = looked.await.map_err(|error| PageApiError::failed("read the sessions", &error))?;
        looked.map_err(|error| PageApiError::failed("read the sessions", &error))
    }
}
