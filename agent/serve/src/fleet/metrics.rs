//! Figures of a worker and of its fleet for Prometheus, on the loopback address, for who has the token.

use std::{
    collections::BTreeMap,
    fmt, fs, io,
    net::SocketAddr,
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use axum::{
    Router,
    extract::State,
    http::{HeaderMap, StatusCode, header},
    response::{IntoResponse as _, Response},
    routing::get,
};
use deskhand_fleet::{holder::DeliveryOutcome, journal::TaskOutcome, nats::Depth, task::TaskSpec};
use deskhand_host::TaskResult;
use deskhand_runtime::private;
use tokio::net::TcpListener;

use super::presence::WorkerPresence;
use crate::{
    page::metrics::{MetricFamily, number, text},
    token::{is_same, new_token},
};

/// The file with the token, in the folder of the worker.
pub const TOKEN_FILE: &str = "metrics.token";
/// The random bytes of a token.
const TOKEN_BYTES: usize = 24;
/// The most labels of tasks that costs are counted by; the others are counted together.
const LABELS_MAX: usize = 50;
const OTHERS: &str = "others";
/// Bucket bounds for the duration of tasks, in seconds.
const BOUNDS: [f64; 9] = [10.0, 30.0, 60.0, 120.0, 300.0, 600.0, 1_200.0, 3_600.0, 7_200.0];
/// The type of the answer.
const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";
/// Maximum time for the server of the fleet to answer.
const ASK_MAX: Duration = Duration::from_secs(5);

/// The counters of a worker.
#[derive(Debug, Default)]
pub struct WorkerFigures {
    sessions: AtomicU64,
    leases_lost: AtomicU64,
    counted: Mutex<WorkerCounters>,
}

#[derive(Debug, Default, Clone)]
struct WorkerCounters {
    outcomes: BTreeMap<&'static str, u64>,
    dollars: BTreeMap<String, f64>,
    tokens: [u64; 2],
    /// Number of tasks in each bucket of durations; the last bucket exceeds every bound.
    seconds: [u64; BOUNDS.len() + 1],
    seconds_sum: f64,
}

impl WorkerFigures {
    /// The sessions that run.
    pub(super) fn sessions(&self) -> u64 {
        self.sessions.load(Ordering::Relaxed)
    }

    /// Notes how many sessions run.
    pub(super) fn running(&self, sessions: usize) {
        self.sessions.store(sessions as u64, Ordering::Relaxed);
    }

    /// Counts what became of a task.
    pub(super) fn left(&self, held: &DeliveryOutcome) {
        match held {
            DeliveryOutcome::Ended(outcome) => {
                *self.counted().outcomes.entry(name_of(outcome)).or_default() += 1;
            }
            DeliveryOutcome::Lost => {
                self.leases_lost.fetch_add(1, Ordering::Relaxed);
            }
            DeliveryOutcome::Again(_) | DeliveryOutcome::Elsewhere => {}
        }
    }

    /// Counts what a task took.
    pub(super) fn used(&self, spec: &TaskSpec, result: &TaskResult, took: Duration) {
        let mut counted = self.counted();
        let seconds = took.as_secs_f64();
        let place = BOUNDS.iter().position(|bound| seconds <= *bound).unwrap_or(BOUNDS.len());
        if let Some(count) = counted.seconds.get_mut(place) {
            *count += 1;
        }
        counted.seconds_sum += seconds;
        let [read, written] = &mut counted.tokens;
        *read = read.saturating_add(result.prompt_tokens);
        *written = written.saturating_add(result.completion_tokens);
        let dollars = number(result.cost.known.0) / 1e6;
        for label in labels_of(spec) {
            let is_known = counted.dollars.contains_key(label) || counted.dollars.len() < LABELS_MAX;
            let label = if is_known { label } else { OTHERS };
            *counted.dollars.entry(label.to_owned()).or_default() += dollars;
        }
    }

    fn counted(&self) -> std::sync::MutexGuard<'_, WorkerCounters> {
        self.counted.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the current figures of the worker.
    fn figures(&self) -> Vec<MetricFamily> {
        let counted = self.counted().clone();
        let mut sessions =
            MetricFamily::gauge("deskhand_worker_sessions", "Sessions of this worker that run");
        sessions.add(&[], number(self.sessions()));
        let mut lost = MetricFamily::counter(
            "deskhand_worker_leases_lost",
            "Tasks that this worker lost to another one",
        );
        lost.add(&[], number(self.leases_lost.load(Ordering::Relaxed)));
        let mut outcomes =
            MetricFamily::counter("deskhand_worker_tasks", "Tasks that ended with this worker, by outcome");
        for (outcome, count) in &counted.outcomes {
            outcomes.add(&[("outcome", outcome)], number(*count));
        }
        let mut dollars = MetricFamily::counter(
            "deskhand_worker_cost_dollars",
            "What models cost, by the labels of tasks; a task with several labels counts for each",
        );
        for (label, cost) in &counted.dollars {
            dollars.add(&[("label", label)], *cost);
        }
        let mut tokens = MetricFamily::counter("deskhand_worker_tokens", "Tokens that models read and wrote");
        for (kind, count) in ["read", "written"].iter().zip(counted.tokens) {
            tokens.add(&[("kind", kind)], number(count));
        }
        let seconds = MetricFamily::histogram(
            "deskhand_worker_task_seconds",
            "How long tasks took on this worker",
            &BOUNDS,
            &counted.seconds,
            counted.seconds_sum,
        );
        vec![sessions, lost, outcomes, dollars, tokens, seconds]
    }
}

/// The labels that a task counts for; one without labels counts for none of them.
fn labels_of(spec: &TaskSpec) -> impl Iterator<Item = &str> {
    let none = spec.labels.is_empty().then_some("");
    spec.labels.iter().map(String::as_str).chain(none)
}

const fn name_of(outcome: &TaskOutcome) -> &'static str {
    match outcome {
        TaskOutcome::Done { finished: true, .. } => "finished",
        TaskOutcome::Done { finished: false, .. } => "unfinished",
        TaskOutcome::Failed { .. } => "failed",
        TaskOutcome::Refused { .. } => "refused",
        TaskOutcome::DeadLetter { .. } => "dead_letter",
        TaskOutcome::Person { .. } => "person",
        TaskOutcome::Cancelled => "cancelled",
        TaskOutcome::Blocked { .. } => "blocked",
        TaskOutcome::Expired { .. } => "expired",
        TaskOutcome::OverBudget { .. } => "over_budget",
    }
}

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
