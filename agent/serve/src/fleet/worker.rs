//! A worker: takes tasks as long as there is room, and runs each as a session.

use std::{
    collections::BTreeSet,
    convert::Infallible,
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
    time::Duration,
};

use deskhand_fleet::{
    controller::Controller,
    holder::{DeliveryOutcome, FleetWorker},
    journal::WorkerId,
    nats::NatsStore,
    store::{FleetStore as _, StoreError, TaskDelivery},
    task::{MachineCapabilities, TaskId},
};
use deskhand_host::Host;
use deskhand_runtime::{StopSwitch, new_id, private};
use futures_util::future::BoxFuture;
use tokio::{
    sync::{Notify, mpsc, watch},
    task::JoinSet,
    time::timeout,
};

use super::{
    admission::{AcceptError, Rules},
    metrics::{MetricsListener, WorkerFigures},
    presence::WorkerPresence,
    room::{MachineHeadroom, Over},
    rows::RowTableCache,
    runner::SessionRunner,
    watchdog,
};

/// Interval between measurements of the room while there is none.
const MEASURE: Duration = Duration::from_secs(2);

/// The options with which a worker is started.
#[derive(Debug, Clone, Default)]
pub struct WorkerOptions {
    /// The name of the worker; each start also gets an id of its own.
    pub name: String,
    /// Its words: tasks may need them.
    pub labels: BTreeSet<String>,
    /// The most sessions at once; `None` for as many as there is room for.
    pub most: Option<usize>,
    /// The folder of tasks and their sessions while they run.
    pub folder: PathBuf,
}

/// Receives what happens to the tasks of a worker.
pub trait WorkerObserver: Send {
    /// A task was given to it.
    fn taken(&mut self, task: &TaskId);
    /// A task could not be done here, and why.
    fn given_up(&mut self, task: &TaskId, reason: &str);
    /// A task is not with it any more.
    fn left(&mut self, task: &TaskId, held: &DeliveryOutcome);
}

/// Why a worker cannot begin.
#[derive(Debug, thiserror::Error)]
pub enum WorkerError {
    /// Its folder cannot be made.
    #[error("make the folder {} for tasks", folder.display())]
    Folder {
        /// The folder.
        folder: PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// Nothing can watch over it.
    #[error("start the process that ends this worker if it is stopped for too long")]
    Watchdog(#[source] std::io::Error),
    /// Who may submit tasks is not configured as it must be.
    #[error("read who may submit tasks")]
    Accept(#[from] AcceptError),
}

/// Takes tasks until `drains` is true, then lets those that run come to their ends, unless `stop` stops them.
///
/// # Errors
/// The folder for tasks cannot be made, a key of who may submit tasks is none, or `helper`, the program of this process, cannot watch over
/// it.
pub async fn work(
    host: &Host,
    helper: PathBuf,
    store: NatsStore,
    options: &WorkerOptions,
    metrics: Option<MetricsListener>,
    (mut drains, stop): (watch::Receiver<bool>, StopSwitch),
    observer: &mut dyn WorkerObserver,
) -> Result<(), WorkerError> {
    let folder = options.folder.clone();
    make(&folder)?;
    let _watched = watchdog::start(&helper, store.times().lease).map_err(WorkerError::Watchdog)?;
    let own = host_of(host, helper, &folder);
    let offer = offer(&own, options);
    let (changed, over) = (Arc::new(Notify::new()), Arc::new(Over::default()));
    let (problems, mut given_up) = mpsc::unbounded_channel();
    let presence = presence(&own, &store, options, &offer)?;
    let figures = Arc::clone(&presence.figures);
    let runner = SessionRunner {
        host: own,
        store: store.clone(),
        presence: Arc::clone(&presence),
        folder: folder.join("tasks"),
        stop,
        changed: Arc::clone(&changed),
        over: Arc::clone(&over),
        problems,
    };
    let worker = Arc::new(worker(&presence, runner));
    // They go on while a desktop starts, and end with this.
    let mut others = JoinSet::new();
    others.spawn(beside(controller(&presence), Arc::clone(&presence), metrics));
    let mut running: JoinSet<(TaskId, DeliveryOutcome)> = JoinSet::new();
    // It is kept until it has come to an end: a task that was given to a wait that nobody waits for would be late.
    let mut pulling: Option<BoxFuture<'_, Result<TaskDelivery, StoreError>>> = None;
    loop {
        let is_draining = *drains.borrow();
        figures.running(running.len());
        if is_draining && running.is_empty() {
            // Otherwise it is known to be gone after a while.
            let _ = store.leave(&presence.worker).await;
            return Ok(());
        }
        if !is_draining && pulling.is_none() && has_room(options, running.len(), &over) {
            pulling = Some(Box::pin(store.pull(&offer)));
        }
        let has_ended = tokio::select! {
            biased;
            Some((task, reason)) = given_up.recv() => {
                observer.given_up(&task, &reason);
                None
            }
            ended = running.join_next(), if !running.is_empty() => ended,
            _ = drains.changed(), if !is_draining => None,
            delivery = pulled(&mut pulling), if pulling.is_some() => {
                pulling = None;
                match delivery {
                    Ok(delivery) => {
                        observer.taken(&delivery.task);
                        begin(&mut running, &worker, delivery, (&changed, &over));
                        // What the new one takes is measured before another one is taken.
                        let _ = timeout(MEASURE * 5, changed.notified()).await;
                    }
                    Err(error) => {
                        tracing::warn!(%error, "no task can be taken");
                        let _ = timeout(MEASURE, changed.notified()).await;
                    }
                }
                None
            }
            _ = timeout(MEASURE, changed.notified()), if pulling.is_none() => None,
        };
        match has_ended {
            Some(Ok((task, held))) => {
                figures.left(&held);
                observer.left(&task, &held);
            }
            Some(Err(error)) => tracing::error!(%error, "a task ended with a fault of ours"),
            None => {}
        }
    }
}

/// Creates the presence that a starting worker announces to the others.
fn presence(
    host: &Host,
    store: &NatsStore,
    options: &WorkerOptions,
    offer: &MachineCapabilities,
) -> Result<Arc<WorkerPresence>, AcceptError> {
    Ok(Arc::new(WorkerPresence {
        store: store.clone(),
        worker: WorkerId(format!("{}-{}", options.name, new_id().0)),
        rules: Rules::new(store.fleet(), &host.config().fleet, offer.clone())?,
        figures: Arc::new(WorkerFigures::default()),
        refused: Mutex::default(),
        rows: RowTableCache::default(),
    }))
}

fn worker(presence: &WorkerPresence, runner: SessionRunner) -> FleetWorker<NatsStore, SessionRunner> {
    FleetWorker {
        store: presence.store.clone(),
        runner: Arc::new(runner),
        id: presence.worker.clone(),
        times: presence.store.times(),
    }
}

fn controller(presence: &WorkerPresence) -> Controller<NatsStore> {
    Controller {
        store: presence.store.clone(),
        name: presence.worker.0.clone(),
        times: presence.store.times(),
    }
}

/// Runs the background work of a worker: leads if no other worker does, announces the worker, and serves its
/// figures.
async fn beside(
    controller: Controller<NatsStore>,
    presence: Arc<WorkerPresence>,
    metrics: Option<MetricsListener>,
) -> Infallible {
    let figures = async {
        if let Some(metrics) = metrics
            && let Err(error) = metrics.serve(Arc::clone(&presence)).await
        {
            tracing::error!(%error, "figures are not given any more");
        }
    };
    let (never, _, ()) = tokio::join!(controller.run(), presence.run(), figures);
    never
}

fn make(folder: &Path) -> Result<(), WorkerError> {
    let made = private::create_folders(folder);
    made.map_err(|source| WorkerError::Folder { folder: folder.to_owned(), source })
}

/// The host of a worker. Journals that other machines wrote are no part of those of this one, and are sealed apart from them.
fn host_of(host: &Host, helper: PathBuf, folder: &Path) -> Host {
    let mut config = host.config().clone();
    config.sessions.dir = Some(folder.join("sessions"));
    config.sessions.seals_dir = Some(folder.join("seals"));
    // What was handed over is not handed over again: it could come back here, and wait for itself.
    config.agents.enabled.retain(|agent| !config.agents.machines.contains_key(agent));
    if let Some(agents) = &config.fleet.agents {
        config.agents.enabled.retain(|agent| agents.contains(agent));
    }
    Host::new(&config).with_helper(helper)
}

/// Returns `true` if another task may be taken.
fn has_room(options: &WorkerOptions, tasks: usize, over: &Over) -> bool {
    let running = tasks.saturating_sub(over.count());
    options.most.is_none_or(|most| running < most) && MachineHeadroom::now().has_place(running)
}

async fn pulled(
    pulling: &mut Option<BoxFuture<'_, Result<TaskDelivery, StoreError>>>,
) -> Result<TaskDelivery, StoreError> {
    match pulling {
        Some(pulling) => pulling.await,
        None => std::future::pending().await,
    }
}

fn begin(
    running: &mut JoinSet<(TaskId, DeliveryOutcome)>,
    worker: &Arc<FleetWorker<NatsStore, SessionRunner>>,
    delivery: TaskDelivery,
    (changed, over): (&Arc<Notify>, &Arc<Over>),
) {
    let (worker, changed, over) = (Arc::clone(worker), Arc::clone(changed), Arc::clone(over));
    running.spawn(async move {
        let held = worker.hold(&delivery).await;
        over.remove(&delivery.task);
        // One that it does not do takes no room, and begins no session that would say so.
        changed.notify_one();
        (delivery.task, held)
    });
}

/// Returns the offer of this machine.
fn offer(host: &Host, options: &WorkerOptions) -> MachineCapabilities {
    let allowed = host.config().fleet.applications.as_ref();
    let mut applications: BTreeSet<String> = host.installed_applications().into_iter().collect();
    applications.retain(|name| allowed.is_none_or(|allowed| allowed.contains(name)));
    MachineCapabilities {
        applications,
        desktop: None,
        agents: host.config().agents.enabled.iter().cloned().collect(),
        labels: options.labels.clone(),
    }
}
