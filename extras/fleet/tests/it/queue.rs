//! What a worker hears of the queue while it waits, by the word of the server.

use std::{
    io::{Read as _, Write as _},
    net::TcpStream,
    time::Duration,
};

use deskhand_fleet::{
    nats::{NatsOptions, NatsStore},
    store::FleetStore,
    task::{MachineCapabilities, TaskId, TaskRequirements},
};
use deskhand_testkit::nats_server::Server;
use futures_util::{StreamExt as _, stream};
use serde_json::Value;
use tokio::time::timeout;

/// How long anything may take on a busy machine.
const BOUND: Duration = Duration::from_secs(120);
/// Tasks that the worker cannot take.
const OTHERS: u64 = 2_000;

async fn connected(server: &Server) -> NatsStore {
    let options = NatsOptions {
        servers: vec![format!("nats://127.0.0.1:{}", server.port)],
        prefix: "dh".to_owned(),
        replicas: 1,
        lease: Duration::from_secs(3),
        ..NatsOptions::default()
    };
    NatsStore::connect(&options).await.unwrap()
}

/// How many messages the server has sent to each of its clients.
fn sent(server: &Server) -> Vec<u64> {
    let monitoring = server.monitoring().unwrap();
    let address = monitoring.trim_start_matches("http://");
    let mut stream = TcpStream::connect(address).unwrap();
    write!(stream, "GET /connz HTTP/1.0\r\nHost: {address}\r\n\r\n").unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    let (_, body) = text.split_once("\r\n\r\n").unwrap();
    let answer: Value = serde_json::from_str(body).unwrap();
    let connections = answer["connections"].as_array().unwrap();
    connections.iter().map(|connection| connection["out_msgs"].as_u64().unwrap()).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_worker_that_waits_hears_of_no_task_that_it_cannot_take() {
    let folder = tempfile::tempdir().unwrap();
    let Some(server) = Server::start(folder.path(), "http: \"127.0.0.1:-1\"").unwrap() else { return };
    let (worker, leader) = (connected(&server).await, connected(&server).await);
    let nowhere = TaskRequirements { labels: ["nowhere".to_owned()].into(), ..TaskRequirements::default() };
    let release = async |id: String, needs: &TaskRequirements| {
        let id = TaskId::new(id).unwrap();
        leader.release(&id, needs, 0, &format!("{id}/1")).await.unwrap();
    };
    let offer = MachineCapabilities::default();
    let others = async {
        stream::iter(0..OTHERS)
            .for_each_concurrent(64, |number| release(format!("other{number}"), &nowhere))
            .await;
        release("own".to_owned(), &TaskRequirements::default()).await;
    };
    let (delivery, ()) = timeout(BOUND, async { tokio::join!(worker.pull(&offer), others) }).await.unwrap();
    assert_eq!(delivery.unwrap().task, TaskId::new("own").unwrap());
    let mut sent = sent(&server);
    sent.sort_unstable();
    assert!(matches!(sent[..], [worker, leader] if worker < OTHERS / 4 && leader >= OTHERS), "{sent:?}");
}
