//! Figures of a worker and of its fleet for Prometheus, on the loopback address, for who has the token.

use std::{
    fmt, fs, io,
    net::SocketAddr,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use axum::{
    Router,
    extract::State,
    http::{HeaderMap, StatusCode, header},
    response::{IntoResponse as _, Response},
    routing::get,
};
use deskhand_fleet::nats::Depth;
use deskhand_runtime::private;
use tokio::net::TcpListener;

pub use super::figures::WorkerFigures;
use super::presence::WorkerPresence;
use crate::{
    page::metrics::{MetricFamily, number, text},
    token::{is_same, new_token},
};

/// The file with the token, in the folder of the worker.
pub const TOKEN_FILE: &str = "metrics.token";
/// The random bytes of a token.
const TOKEN_BYTES: usize = 24;
/// The type of the answer.
const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";
/// Maximum time for the server of the fleet to answer.
const ASK_MAX: Duration = Duration::from_secs(5);

/// Figures of the whole fleet.
fn fleet(depth: Option<Depth>, workers: Option<(usize, u64)>) -> Vec<MetricFamily> {
    let mut up =
        MetricFamily::gauge("deskhand_fleet_up", "Whether the server of the fleet answers this worker");
    up.add(&[], f64::from(u8::from(depth.is_some())));
    let mut queue =
        MetricFamily::gauge("deskhand_fleet_queue_tasks", "Tasks that wait for a worker or are with one");
    if let Some(depth) = depth {
        queue.add(&[("state", "waiting")], number(depth.waiting));
        queue.add(&[("state", "held")], number(depth.held));
    }
    let mut there = MetricFamily::gauge("deskhand_fleet_workers", "Workers that are there");
    let mut desktops = MetricFamily::gauge("deskhand_fleet_desktops", "Virtual desktops of all workers");
    if let Some((workers, sessions)) = workers {
        there.add(&[], number(workers as u64));
        desktops.add(&[], number(sessions));
    }
    vec![up, queue, there, desktops]
}

/// The listener of the figures.
pub struct MetricsListener {
    listener: TcpListener,
    token: String,
    /// The address of the metrics: `http://127.0.0.1:9464/metrics`.
    pub url: String,
    /// The file with the token.
    pub token_file: PathBuf,
}

impl MetricsListener {
    /// Listens. The token is the one in the folder of the worker, or a new one that is written there.
    ///
    /// # Errors
    /// The address is not a loopback one or is taken, or the token cannot be written.
    pub async fn bind(address: SocketAddr, folder: &Path) -> io::Result<Self> {
        if !address.ip().is_loopback() {
            let problem = "figures are given on a loopback address only; let a Prometheus of this machine read them, or go through SSH";
            return Err(io::Error::new(io::ErrorKind::InvalidInput, problem));
        }
        private::create_folders(folder)?;
        let token_file = folder.join(TOKEN_FILE);
        let known = fs::read_to_string(&token_file).map(|token| token.trim().to_owned()).unwrap_or_default();
        let token = if known.len() == 2 * TOKEN_BYTES { known } else { new_token::<TOKEN_BYTES>()? };
        private::write_file(&token_file, format!("{token}\n").as_bytes())?;
        let listener = TcpListener::bind(address).await?;
        let url = format!("http://{}/metrics", listener.local_addr()?);
        Ok(Self { listener, token, url, token_file })
    }

    /// Answers, for as long as this is waited for.
    ///
    /// # Errors
    /// It broke off.
    pub(super) async fn serve(self, presence: Arc<WorkerPresence>) -> io::Result<()> {
        let shared = Arc::new(MetricsState { token: self.token, presence });
        let router = Router::new().route("/metrics", get(metrics)).with_state(shared);
        axum::serve(self.listener, router).await
    }
}

struct MetricsState {
    token: String,
    presence: Arc<WorkerPresence>,
}

async fn metrics(State(shared): State<Arc<MetricsState>>, headers: HeaderMap) -> Response {
    let given = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
    let given = given.and_then(|value| value.strip_prefix("Bearer ")).unwrap_or_default();
    if !is_same(given.trim().as_bytes(), shared.token.as_bytes()) {
        let help = format!(
            "send `Authorization: Bearer TOKEN`; the token is in {TOKEN_FILE} in the folder of the worker\n"
        );
        return (StatusCode::UNAUTHORIZED, help).into_response();
    }
    match all(&shared.presence).await {
        Ok(text) => ([(header::CONTENT_TYPE, OPEN_METRICS)], text).into_response(),
        Err(error) => (StatusCode::INTERNAL_SERVER_ERROR, error.to_string()).into_response(),
    }
}

async fn all(presence: &WorkerPresence) -> Result<String, fmt::Error> {
    let asked = async {
        let depth = presence.store.depth().await.ok();
        let workers = presence.all().await.ok();
        (depth, workers.map(|all| (all.len(), all.iter().map(|one| one.sessions).sum())))
    };
    let (depth, workers) = tokio::time::timeout(ASK_MAX, asked).await.unwrap_or_default();
    let mut figures = presence.figures.figures();
    figures.extend(fleet(depth, workers));
    let mut build = MetricFamily::gauge("deskhand_build_info", "The program");
    build.add(&[("version", env!("CARGO_PKG_VERSION"))], 1.0);
    figures.push(build);
    text(figures)
}

#[cfg(test)]
#[path = "metrics_tests.rs"]
mod tests;
