//! The same on a real cluster of three servers, of which one is killed.

use std::{sync::Arc, time::Duration};

use deskhand_fleet::{
    controller::Controller,
    holder::{FleetTimeouts, FleetWorker, outcome_key, task_key},
    journal::WorkerId,
    nats::{FleetSummarySnapshot, NatsOptions, NatsStore},
    sim::{Chance, SimRunner, Stoppable, Switch, World},
    store::FleetStore,
    task::{MachineCapabilities, TaskId, TaskRecord, TaskSpec},
};
use deskhand_testkit::nats::Cluster;
use tokio::{
    task::JoinSet,
    time::{Instant, sleep},
};

const TIMES: FleetTimeouts = FleetTimeouts {
    lease: Duration::from_secs(3),
    call: Duration::from_secs(2),
    again: Duration::from_millis(100),
};

async fn connected(cluster: &Cluster) -> NatsStore {
    let options = NatsOptions {
        servers: cluster.addresses(),
        credentials: None,
        roots: None,
        certificate: None,
        prefix: "dh".to_owned(),
        replicas: 3,
        lease: TIMES.lease,
    };
    let begun = Instant::now();
    loop {
        match NatsStore::connect(&options).await {
            Ok(store) => return store,
            // The servers have to find each other first.
            Err(error) => assert!(begun.elapsed() < Duration::from_secs(60), "{error}"),
        }
        sleep(Duration::from_millis(200)).await;
    }
}

/// Every third task comes after the one before it.
async fn submit(store: &NatsStore, tasks: u64) {
    for number in 0..tasks {
        let id = TaskId::new(format!("t{number}")).unwrap();
        let after = (number % 3 == 2).then(|| TaskId::new(format!("t{}", number - 1)).unwrap());
        let spec = TaskSpec {
            after: after.into_iter().collect(),
            work: (1 + number % 5).into(),
            taken_max: 1_000,
            ..TaskSpec::new(id.clone())
        };
        let record = serde_json::to_vec(&TaskRecord { spec, released: 0 }).unwrap();
        store.put(&task_key(&id), 0, &record).await.unwrap();
    }
}

/// What the leader says once it has counted everything.
async fn counted(store: &NatsStore) -> FleetSummarySnapshot {
    let begun = Instant::now();
    loop {
        match store.summary().await {
            Ok(Some(told)) if told.changes == 0 && told.age < TIMES.lease * 5 => return told,
            told => assert!(begun.elapsed() < Duration::from_secs(60), "{told:?}"),
        }
        sleep(Duration::from_millis(200)).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_real_cluster_loses_nothing_and_does_nothing_twice() {
    let folder = tempfile::tempdir().unwrap();
    let Some(mut cluster) = Cluster::start(folder.path()).unwrap() else { return };
    let tasks = 24_u64;
    let store = connected(&cluster).await;
    submit(&store, tasks).await;
    let (world, chance) = (World::default(), Arc::new(Chance::new(7)));
    let mut processes = JoinSet::new();
    for number in 0..2 {
        let store = connected(&cluster).await;
        let controller = Controller { store, name: format!("c{number}"), times: TIMES };
        processes.spawn(async move { match controller.run().await {} });
    }
    for number in 0..6 {
        let (world, chance) = (world.clone(), Arc::clone(&chance));
        let options_of = connected(&cluster).await;
        processes.spawn(async move {
            for life in 0.. {
                let worker = FleetWorker {
                    store: options_of.clone(),
                    runner: Arc::new(SimRunner::new(world.clone(), Duration::from_millis(100))),
                    id: WorkerId(format!("w{number}-{life}")),
                    times: TIMES,
                };
                let process = async move {
                    loop {
                        let Ok(delivery) = worker.store.pull(&MachineCapabilities::default()).await else {
                            sleep(TIMES.again).await;
                            continue;
                        };
                        worker.hold(&delivery).await;
                    }
                };
                let switch = Switch::default();
                let mut process = JoinSet::from_iter([Stoppable::new(process, switch.clone())]);
                sleep(chance.between(Duration::from_secs(1), Duration::from_secs(6))).await;
                if chance.below(2) == 0 {
                    switch.stop();
                    sleep(chance.between(Duration::from_secs(1), Duration::from_secs(6))).await;
                    switch.go_on();
                    sleep(Duration::from_secs(2)).await;
                }
                process.abort_all();
                while process.join_next().await.is_some() {}
            }
        });
    }
    let begun = Instant::now();
    let mut killed = 0;
    loop {
        sleep(Duration::from_secs(1)).await;
        let mut ended = 0;
        for number in 0..tasks {
            let id = TaskId::new(format!("t{number}")).unwrap();
            ended += u64::from(matches!(store.get(&outcome_key(&id)).await, Ok(Some(_))));
        }
        println!("{:?}: {ended} of {tasks}", begun.elapsed());
        if ended == tasks {
            break;
        }
        if begun.elapsed() > Duration::from_secs(5 * (killed + 1)) && killed < 3 {
            cluster.restart(killed as usize).unwrap();
            killed += 1;
        }
        assert!(begun.elapsed() < Duration::from_secs(240), "{ended} of {tasks} have an outcome");
    }
    sleep(Duration::from_secs(5)).await;
    let (done, twice) = world.counts();
    assert_eq!((done as u64, twice), ((0..tasks).map(|number| 1 + number % 5).sum(), 0));
    let told = counted(&store).await;
    assert_eq!((told.summary.tally.tasks(), told.summary.tally.finished), (tasks, tasks), "{told:?}");
}
