//! A whole fleet in one process: workers with their controllers, those who submit, and what befalls them.

use std::{
    collections::BTreeMap,
    io,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use serde::{Deserialize, Serialize};
use tokio::{
    sync::mpsc::{self, Receiver, Sender},
    task::JoinSet,
    time::Instant,
};

use super::{
    Chance, Faults, Fences, SimLink, SimReport, SimRunner, SimServer, SimStore, Stoppable, Switch, World,
    cluster::Cluster,
    faults::{Mishap, SimFault, Whom, seconds},
    judge::judge,
    link::LinkDirection,
    tasks::{SimTaskGenerator, offer},
};
use crate::{
    controller::{Controller, LEADER},
    holder::{FleetTimeouts, FleetWorker, cancel_key, task_key},
    journal::WorkerId,
    pace::pause,
    plan::LABEL_LIMITS,
    store::{FleetStore as _, StoreError},
    task::TaskRecord,
};

/// Number of clients that submit tasks.
const SUBMITTERS: u64 = 16;
/// Workers of so many groups are cut off together.
const GROUPS: usize = 100;
/// After the last outcome, whoever is still there has so many leases of time to do harm.
const HARM: u32 = 5;
/// The most mishaps that wait until a worker is through with the one before. With so many ahead, it is down all the time anyway.
const MISHAPS_WAITING_MAX: usize = 256;
/// A fleet that takes so many times as long as it should is given up.
const TIMES_TOO_LONG: f64 = 20.0;

/// The setting of a simulation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SimSettings {
    /// Equal settings give equal runs.
    pub seed: u64,
    /// Number of workers. Each does one task at a time and may lead.
    pub workers: usize,
    /// Number of tasks.
    pub tasks: u64,
    /// Load as a fraction of the capacity of the workers: 0.8 for four fifths. 0 for all tasks as fast as they
    /// can be submitted.
    pub load: f64,
    /// Number of tasks per million with a label whose tasks may run on a fiftieth of the workers at once.
    #[serde(default = "limited")]
    pub limited: u32,
    /// The lease, in seconds.
    pub lease_s: f64,
    /// The server's treatment of clients that do not hold a task any more.
    pub fences: Fences,
    /// The faults.
    pub faults: Faults,
}

const fn limited() -> u32 {
    10_000
}

impl SimSettings {
    /// A fleet with the lease that a fleet has if nobody asks for another one.
    pub const fn new(workers: usize, tasks: u64, faults: Faults) -> Self {
        Self {
            seed: 0,
            workers,
            tasks,
            load: 0.8,
            limited: limited(),
            lease_s: 15.0,
            fences: Fences::Kept,
            faults,
        }
    }

    /// The times as a clock with this rate counts them.
    fn times(&self, rate: f64) -> FleetTimeouts {
        // A clock that is too fast has the time of a lease pass sooner: all that anybody asks it for is how much time has passed.
        let time = |time_s: f64| seconds(time_s / rate);
        FleetTimeouts {
            lease: time(self.lease_s),
            call: time((self.lease_s / 3.0).max(2.0)),
            again: time((self.lease_s / 30.0).max(0.1)),
        }
    }
}

enum SimMachineCommand {
    Killed(Duration),
    Stopped(Duration),
}

struct SimMachine {
    link: Arc<SimLink>,
    rate: f64,
    orders: Sender<SimMachineCommand>,
}

struct SimFleet {
    setting: SimSettings,
    tasks: SimTaskGenerator,
    server: Arc<SimServer>,
    world: World,
    machines: Vec<SimMachine>,
    chance: Chance,
    befell: Mutex<BTreeMap<String, u64>>,
}

/// Runs a fleet until each task has an outcome, and judges it.
///
/// # Errors
/// The runtime cannot be made, or the limits cannot be written as JSON.
pub fn simulate(setting: &SimSettings) -> io::Result<SimReport> {
    let mut builder = tokio::runtime::Builder::new_current_thread();
    let runtime = builder.enable_time().start_paused(true).build()?;
    runtime.block_on(run(setting))
}

async fn run(setting: &SimSettings) -> io::Result<SimReport> {
    let began = Instant::now();
    let seed = setting.seed.wrapping_mul(0xD134_2543_DE82_EF95);
    let chance = Chance::new(seed);
    let lease = seconds(setting.lease_s);
    let server = SimServer::new(lease, setting.faults.disk, setting.fences, chance.next());
    let tasks = SimTaskGenerator::new(setting, seed);
    let limits = serde_json::to_vec(&tasks.limits())?;
    // Nobody else writes now.
    let _ = server.state().put(LABEL_LIMITS, 0, &limits);
    let mut orders = Vec::new();
    let machines = std::iter::repeat_with(|| {
        let (sender, receiver) = mpsc::channel(MISHAPS_WAITING_MAX);
        orders.push(receiver);
        let rate = chance.within(setting.faults.clocks);
        SimMachine { link: SimLink::new(setting.faults.network, rate, chance.next()), rate, orders: sender }
    });
    let machines = machines.take(setting.workers).collect();
    let (world, befell) = (World::default(), Mutex::default());
    let setting = setting.clone();
    let fleet = Arc::new(SimFleet { setting, tasks, server, world, machines, chance, befell });
    let mut all = JoinSet::new();
    let server = Arc::clone(&fleet.server);
    all.spawn(async move { server.run().await });
    for (number, orders) in orders.into_iter().enumerate() {
        all.spawn(Arc::clone(&fleet).lives(number, orders));
    }
    for mishap in fleet.setting.faults.mishaps.clone() {
        all.spawn(Arc::clone(&fleet).befalls(mishap));
    }
    for number in 0..SUBMITTERS {
        all.spawn(Arc::clone(&fleet).submits(number));
    }
    let most = fleet.tasks.ideal().mul_f64(TIMES_TOO_LONG) + lease * 1_000;
    while fleet.server.state().ended < fleet.setting.tasks && began.elapsed() < most {
        pause(Duration::from_secs(1)).await;
    }
    pause(lease * HARM).await;
    all.shutdown().await;
    let befell = fleet.befell.lock().unwrap_or_else(PoisonError::into_inner).clone();
    Ok(judge(&fleet.setting, &fleet.tasks, &fleet.server, &fleet.world, befell))
}

impl SimFleet {
    /// A worker that begins anew each time that it was killed.
    async fn lives(self: Arc<Self>, number: usize, mut orders: Receiver<SimMachineCommand>) {
        for life in 0.. {
            let switch = Switch::default();
            let process = Arc::clone(&self).process(number, life);
            let mut process = JoinSet::from_iter([Stoppable::new(process, switch.clone())]);
            let down = loop {
                match orders.recv().await {
                    None => return,
                    Some(SimMachineCommand::Stopped(lasts)) => {
                        switch.stop();
                        pause(lasts).await;
                        switch.go_on();
                    }
                    Some(SimMachineCommand::Killed(lasts)) => break lasts,
                }
            };
            process.shutdown().await;
            pause(down).await;
        }
    }

    /// Runs the process of a worker: the same as in `deskhand worker`, with other tasks.
    async fn process(self: Arc<Self>, number: usize, life: u32) {
        let Some(machine) = self.machines.get(number) else { return };
        let store = SimStore::new(Arc::clone(&self.server), Arc::clone(&machine.link));
        let (times, name) = (self.setting.times(machine.rate), format!("w{number}-{life}"));
        let (thinks, takes) = self.tasks.times();
        let runner = SimRunner::with_times(self.world.clone(), thinks, takes, self.chance.next());
        let controller = Controller { store: store.clone(), name: name.clone(), times };
        let id = WorkerId(name);
        let worker = FleetWorker { store, runner: Arc::new(runner), id, times };
        let offer = offer(number);
        let works = async {
            loop {
                match worker.store.pull(&offer).await {
                    Ok(delivery) => {
                        worker.hold(&delivery).await;
                    }
                    Err(StoreError::Changed | StoreError::Unknown(_)) => pause(times.again).await,
                }
            }
        };
        tokio::select! {
            biased;
            () = works => {}
            never = controller.run() => match never {},
        }
    }

    /// Submits a part of the tasks, each when its time has come, and cancels some of them later.
    async fn submits(self: Arc<Self>, part: u64) {
        let link = SimLink::new(self.setting.faults.network, 1.0, self.chance.next());
        let store = SimStore::new(Arc::clone(&self.server), link);
        let (times, began) = (self.setting.times(1.0), Instant::now());
        let put = async |key: &str, value: &[u8]| {
            // It is there if another try was stored whose answer was lost.
            while let Ok(Err(StoreError::Unknown(_))) | Err(_) =
                tokio::time::timeout(times.call, store.put(key, 0, value)).await
            {
                pause(times.again).await;
            }
        };
        let mut cancelled = std::collections::VecDeque::new();
        let step = usize::try_from(SUBMITTERS).unwrap_or(usize::MAX);
        for number in (part..self.setting.tasks).step_by(step) {
            pause(self.tasks.comes(number).saturating_sub(began.elapsed())).await;
            let Some(spec) = self.tasks.spec(number) else { continue };
            let key = task_key(&spec.id);
            if let Some(after) = self.tasks.is_cancelled(number) {
                cancelled.push_back((Instant::now() + after, cancel_key(&spec.id)));
            }
            // What cannot be written is missed in the end.
            let record = serde_json::to_vec(&TaskRecord { spec, released: 0 }).unwrap_or_default();
            put(&key, &record).await;
            while cancelled.front().is_some_and(|(when, _)| *when <= Instant::now()) {
                let Some((_, key)) = cancelled.pop_front() else { break };
                put(&key, b"{}").await;
            }
        }
        for (when, key) in cancelled {
            pause(when.saturating_duration_since(Instant::now())).await;
            put(&key, b"{}").await;
        }
    }

    async fn befalls(self: Arc<Self>, mishap: Mishap) {
        let groups = GROUPS.min(self.machines.len());
        let members = match mishap.whom {
            Whom::Worker => self.machines.len(),
            Whom::Group => groups,
            Whom::Leader => 1,
            Whom::Server => Cluster::NODES,
        };
        loop {
            pause(self.chance.until(mishap.every_s / members as f64)).await;
            let lasts = seconds(self.chance.within(mishap.lasts_s));
            let member = usize::try_from(self.chance.below(members as u64)).unwrap_or_default();
            let name = format!("{:?} {:?}", mishap.whom, mishap.what).to_lowercase();
            *self.befell.lock().unwrap_or_else(PoisonError::into_inner).entry(name).or_default() += 1;
            match mishap.whom {
                Whom::Server => self.befalls_server(member, mishap.what, lasts).await,
                Whom::Worker => self.befalls_worker(member, mishap.what, lasts),
                Whom::Group => {
                    let numbers = (member..self.machines.len()).step_by(groups);
                    numbers.for_each(|number| self.befalls_worker(number, mishap.what, lasts));
                }
                Whom::Leader => {
                    let leader = self.server.state().get(LEADER, Duration::ZERO);
                    let name = leader.and_then(|leader| String::from_utf8(leader.value).ok());
                    let number =
                        name.and_then(|name| name.strip_prefix('w')?.split('-').next()?.parse().ok());
                    if let Some(number) = number {
                        self.befalls_worker(number, mishap.what, lasts);
                    }
                }
            }
        }
    }

    fn befalls_worker(&self, number: usize, what: SimFault, lasts: Duration) {
        let Some(machine) = self.machines.get(number) else { return };
        let until = Instant::now() + lasts;
        // Who is not there any more when all comes to its end does not hear of it, nor who has too much ahead.
        match what {
            SimFault::Killed => drop(machine.orders.try_send(SimMachineCommand::Killed(lasts))),
            SimFault::Stopped => drop(machine.orders.try_send(SimMachineCommand::Stopped(lasts))),
            SimFault::Cut => machine.link.close(&[LinkDirection::There, LinkDirection::Back], until),
            SimFault::Mute => machine.link.close(&[LinkDirection::There], until),
            SimFault::Deaf => machine.link.close(&[LinkDirection::Back], until),
            SimFault::Slow => {}
        }
    }

    async fn befalls_server(&self, node: usize, what: SimFault, lasts: Duration) {
        let cluster = &self.server.cluster;
        match what {
            SimFault::Slow => cluster.slow(node, Instant::now() + lasts),
            // For the others, one that does not speak is not there.
            SimFault::Killed | SimFault::Stopped | SimFault::Cut | SimFault::Mute | SimFault::Deaf => {
                cluster.down(node, true);
                pause(lasts).await;
                cluster.down(node, false);
            }
        }
    }
}
