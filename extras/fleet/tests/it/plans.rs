//! Plans on a virtual clock: rows of tables, further tries, deadlines and budgets, with controllers that die in the middle.

use std::{
    collections::BTreeMap,
    future::Future,
    sync::{Arc, Mutex},
    time::Duration,
};

use deskhand_fleet::{
    controller::Controller,
    holder::{FleetTimeouts, FleetWorker, Lease, LeaseLost, TaskRunner, TaskStart, outcome_key, task_key},
    journal::{TaskJournalEntries, TaskJournalEntry, TaskOutcome, WorkerId},
    plan::{
        BatchBudget, BudgetRecord, ForEach, LABEL_LIMITS, OutcomeRecord, TaskPayload, TaskResultFacts,
        TaskRetryPolicy, TaskUsage, attempts, budget_key, now_ms,
    },
    sim::{Chance, Fences, Network, SimLink, SimServer, SimStore, Tail},
    store::FleetStore,
    task::{MachineCapabilities, OnLoss, TaskId, TaskRecord, TaskSpec},
};
use serde_json::{Value, json};
use tokio::{
    task::JoinSet,
    time::{Instant, sleep},
};

const TIMES: FleetTimeouts = FleetTimeouts {
    lease: Duration::from_secs(12),
    call: Duration::from_secs(1),
    again: Duration::from_millis(200),
};
const DELAY: Tail = Tail { shortest_ms: 0.2, longest_ms: 5.0 };
const FAULTS: Network = Network { delay: DELAY, lost: 1_000, repeated: 100 };
const CALM: Network = Network { lost: 0, repeated: 0, ..FAULTS };

fn id(name: &str) -> TaskId {
    TaskId::new(name).unwrap()
}

/// A task that says something.
fn says(name: &str, request: &str) -> TaskSpec {
    let work = TaskPayload { task: json!({ "request": request }), ..TaskPayload::default() };
    TaskSpec { work: serde_json::to_value(work).unwrap(), ..TaskSpec::new(id(name)) }
}

/// What was done, in order, and how many ran at once.
#[derive(Debug, Default)]
struct Seen {
    requests: Vec<String>,
    now: usize,
    most: usize,
}

/// Does what its tasks say: `fail N` fails the first N times, `table` leaves one.
struct Says {
    seen: Arc<Mutex<Seen>>,
}

impl TaskRunner for Says {
    async fn run<S: FleetStore>(
        &self,
        task: &TaskSpec,
        _: TaskStart,
        lease: &Lease<S>,
    ) -> Result<TaskOutcome, LeaseLost> {
        let request = task.work["task"]["request"].as_str().unwrap_or_default().to_owned();
        {
            let mut seen = self.seen.lock().unwrap();
            seen.now += 1;
            seen.most = seen.most.max(seen.now);
        }
        let acted = lease.act("does".to_owned()).await;
        sleep(Duration::from_secs(3)).await;
        let tries = {
            let mut seen = self.seen.lock().unwrap();
            seen.now -= 1;
            seen.requests.push(request.clone());
            seen.requests.iter().filter(|other| **other == request).count()
        };
        acted?;
        lease.write("did".to_owned()).await?;
        let fails = request.strip_prefix("fail ").and_then(|times| times.parse().ok()).unwrap_or(0);
        let finished = tries > fails;
        let mut result = json!({
            "outcome": if finished { "finished" } else { "failed" },
            "reason": format!("try {tries}"), "model_calls": 1, "prompt_tokens": 10,
        });
        if request == "table" {
            result["documents"] = json!({ "rows.csv": "hash" });
        }
        Ok(TaskOutcome::Done { result, finished })
    }
}

struct Fleet {
    server: Arc<SimServer>,
    store: SimStore,
    seen: Arc<Mutex<Seen>>,
    processes: JoinSet<()>,
}

impl Fleet {
    /// Workers, and controllers that die again and again if they are `restless`.
    fn start(seed: u64, workers: u64, restless: bool) -> Self {
        let server = SimServer::new(TIMES.lease, DELAY, Fences::Kept, seed);
        let store = SimStore::new(Arc::clone(&server), SimLink::new(CALM, 1.0, seed));
        let seen = Arc::<Mutex<Seen>>::default();
        let mut processes = JoinSet::new();
        let runs = Arc::clone(&server);
        processes.spawn(async move { runs.run().await });
        for number in 0..workers {
            let worker = FleetWorker {
                store: SimStore::new(Arc::clone(&server), SimLink::new(FAULTS, 1.0, seed ^ number)),
                runner: Arc::new(Says { seen: Arc::clone(&seen) }),
                id: WorkerId(format!("w{number}")),
                times: TIMES,
            };
            processes.spawn(async move {
                loop {
                    let Ok(delivery) = worker.store.pull(&MachineCapabilities::default()).await else {
                        continue;
                    };
                    worker.hold(&delivery).await;
                }
            });
        }
        let chance = Chance::new(seed ^ 0xC0);
        let of_controllers = Arc::clone(&server);
        processes.spawn(async move {
            for life in 0.. {
                let store = SimStore::new(
                    Arc::clone(&of_controllers),
                    SimLink::new(FAULTS, 1.0, seed ^ (life << 32)),
                );
                let controller = Controller { store, name: format!("c{life}"), times: TIMES };
                let mut process = JoinSet::from_iter([async move { match controller.run().await {} }]);
                let life = if restless {
                    chance.between(Duration::from_millis(12_010), Duration::from_millis(13_500))
                } else {
                    Duration::from_secs(1_000_000)
                };
                sleep(life).await;
                process.abort_all();
                while process.join_next().await.is_some() {}
            }
        });
        Self { server, store, seen, processes }
    }

    async fn submit(&self, spec: TaskSpec) {
        let record = TaskRecord { spec, released: 0 };
        let value = serde_json::to_vec(&record).unwrap();
        self.store.put(&task_key(&record.spec.id), 0, &value).await.unwrap();
    }

    async fn put(&self, key: &str, value: &impl serde::Serialize) {
        let revision = self.store.get(key).await.unwrap().map_or(0, |record| record.revision);
        self.store.put(key, revision, &serde_json::to_vec(value).unwrap()).await.unwrap();
    }

    /// Waits for the outcome of a task.
    async fn outcome(&self, name: &str) -> OutcomeRecord {
        let begun = Instant::now();
        loop {
            if let Some(record) = self.store.get(&outcome_key(&id(name))).await.unwrap() {
                return serde_json::from_slice(&record.value).unwrap();
            }
            assert!(begun.elapsed() < Duration::from_secs(24 * 3_600), "{name} has no outcome");
            sleep(Duration::from_secs(1)).await;
        }
    }

    fn requests(&self) -> Vec<String> {
        let mut requests = self.seen.lock().unwrap().requests.clone();
        requests.sort();
        requests
    }
}

/// Runs on a virtual clock.
fn virtually<F: Future>(run: F) -> F::Output {
    tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .unwrap()
        .block_on(run)
}

fn words(record: &OutcomeRecord) -> (String, String) {
    let facts = TaskResultFacts::of(&record.outcome);
    (facts.outcome, facts.reason)
}

#[test]
fn controllers_that_die_make_the_tasks_of_rows_once() {
    for seed in 0..5 {
        virtually(async {
            let mut fleet = Fleet::start(seed, 8, true);
            let rows: String = (0..400).map(|row| format!("{row}\n")).collect();
            fleet.server.put_file("hash", format!("number\n{rows}").as_bytes());
            let table = ForEach { of: Some(id("extract")), document: "rows.csv".to_owned(), rows: None };
            fleet
                .submit(TaskSpec {
                    for_each: Some(table),
                    after: [id("extract")].into(),
                    ..says("all", "row {number}")
                })
                .await;
            fleet.submit(TaskSpec { after: [id("all")].into(), ..says("sum", "sum") }).await;
            fleet.submit(says("extract", "table")).await;
            assert_eq!(words(&fleet.outcome("sum").await).0, "finished", "seed {seed}");
            assert_eq!(words(&fleet.outcome("all").await).1, "400 of 400 rows finished", "seed {seed}");
            let requests = fleet.requests();
            assert_eq!(requests.len(), 402, "seed {seed}");
            assert!(requests.iter().any(|request| request.starts_with("row ⟦399⟧")), "{requests:?}");
            fleet.processes.abort_all();
        });
    }
}

#[test]
fn tables_that_cannot_be_used_end_their_tasks() {
    virtually(async {
        let fleet = Fleet::start(1, 2, false);
        fleet.server.put_file("hash", b"name\nACME\n");
        fleet.submit(says("extract", "table")).await;
        let all = |name: &str, document: &str| TaskSpec {
            for_each: Some(ForEach { of: Some(id("extract")), document: document.to_owned(), rows: None }),
            after: [id("extract")].into(),
            ..says(name, "write {nmae}")
        };
        fleet.submit(all("wrong", "rows.csv")).await;
        fleet.submit(all("missing", "table.csv")).await;
        fleet.submit(TaskSpec { after: [id("wrong")].into(), ..says("sum", "sum") }).await;
        let (_, reason) = words(&fleet.outcome("wrong").await);
        assert_eq!(
            reason,
            "`for_each`: rows.csv of extract: row 1: `{nmae}` is no column of the table, which has `{name}`; \
             write `{{` for a brace"
        );
        let (_, reason) = words(&fleet.outcome("missing").await);
        assert_eq!(reason, "`for_each`: extract left no document `table.csv`; it left rows.csv");
        assert_eq!(fleet.outcome("sum").await.outcome, TaskOutcome::Blocked { by: id("wrong") });
    });
}

#[test]
fn tasks_are_tried_again_with_their_reasons() {
    virtually(async {
        let fleet = Fleet::start(2, 3, true);
        let retry = |most| Some(TaskRetryPolicy { on: ["failed".to_owned()].into(), most, wait_ms: 30_000 });
        fleet.submit(TaskSpec { retry: retry(3), batch: Some("b".into()), ..says("two", "fail 2") }).await;
        fleet.submit(TaskSpec { retry: retry(2), ..says("never", "fail 9") }).await;
        let once = TaskSpec { retry: retry(5), on_loss: OnLoss::Person, ..says("once", "fail 7") };
        fleet.submit(once).await;
        let begun = Instant::now();
        let two = fleet.outcome("two").await;
        assert!(begun.elapsed() > Duration::from_secs(60), "it waits before each try");
        assert_eq!(words(&two), ("finished".to_owned(), "try 3".to_owned()));
        let reasons: Vec<&str> = two.attempts.iter().map(|attempt| attempt.reason.as_str()).collect();
        assert_eq!(reasons, ["try 1", "try 2"]);
        assert_eq!(two.used(), TaskUsage { model_calls: 3, tokens: 30, ..TaskUsage::default() });
        let never = fleet.outcome("never").await;
        assert_eq!((words(&never).1.as_str(), never.attempts.len()), ("try 2", 1));
        let once = fleet.outcome("once").await;
        assert_eq!((words(&once).1.as_str(), once.attempts.len()), ("try 1", 0), "it is for a person");
        let entries = fleet.store.journal(&id("two")).await.unwrap();
        let journal = TaskJournalEntries::new(entries.into_iter().map(|(_, entry)| entry).collect());
        assert_eq!((attempts(&journal), journal.lost()), (two.attempts, 0));
    });
}

#[test]
fn tasks_that_are_too_late_never_begin() {
    virtually(async {
        let fleet = Fleet::start(3, 1, false);
        fleet.put(LABEL_LIMITS, &BTreeMap::from([("none", 0)])).await;
        let late = Some(now_ms().saturating_sub(1_000));
        fleet.submit(TaskSpec { deadline_ms: late, ..says("late", "late") }).await;
        let waits = TaskSpec { labels: ["none".to_owned()].into(), ..says("waits", "waits") };
        fleet.submit(TaskSpec { deadline_ms: Some(now_ms() + 40), ..waits }).await;
        fleet.submit(TaskSpec { after: [id("waits")].into(), ..says("after", "after") }).await;
        let early = Some(now_ms() + 3_600_000);
        fleet.submit(TaskSpec { deadline_ms: early, ..says("early", "early") }).await;
        for name in ["late", "waits"] {
            let (outcome, reason) = words(&fleet.outcome(name).await);
            assert_eq!(outcome, "expired", "{reason}");
            let journal = fleet.store.journal(&id(name)).await.unwrap();
            assert!(
                matches!(journal.last(), Some((_, TaskJournalEntry::Ended { .. }))),
                "nobody can begin it"
            );
        }
        assert_eq!(fleet.outcome("after").await.outcome, TaskOutcome::Blocked { by: id("waits") });
        assert_eq!(words(&fleet.outcome("early").await).0, "finished");
        assert_eq!(fleet.requests(), ["early"]);
    });
}

#[test]
fn no_task_of_a_batch_begins_once_its_budget_is_reached() {
    virtually(async {
        let fleet = Fleet::start(4, 1, false);
        let allowed = BatchBudget { tokens: Some(50), ..BatchBudget::default() };
        fleet.put(&budget_key("b"), &BudgetRecord { allowed, reached: None }).await;
        for number in 0..40 {
            let task = says(&format!("t{number}"), &format!("t{number}"));
            fleet.submit(TaskSpec { batch: Some("b".to_owned()), ..task }).await;
        }
        fleet.submit(TaskSpec { batch: Some("other".to_owned()), ..says("other", "other") }).await;
        let (mut finished, mut over) = (0, 0);
        for number in 0..40 {
            match fleet.outcome(&format!("t{number}")).await.outcome {
                TaskOutcome::Done { .. } => finished += 1,
                TaskOutcome::OverBudget { reason } => {
                    assert_eq!(reason, "the budget of b is used up: its limit of tokens is reached");
                    over += 1;
                }
                TaskOutcome::Failed { .. }
                | TaskOutcome::DeadLetter { .. }
                | TaskOutcome::Person { .. }
                | TaskOutcome::Cancelled
                | TaskOutcome::Blocked { .. }
                | TaskOutcome::Refused { .. }
                | TaskOutcome::Expired { .. } => panic!("t{number} neither finished nor waits for a budget"),
            }
        }
        // Those that began before the leader knew.
        assert!(
            (5..=9).contains(&finished) && finished + over == 40,
            "{finished} finished, {over} did not begin"
        );
        assert_eq!(words(&fleet.outcome("other").await).0, "finished");
        let record = fleet.store.get(&budget_key("b")).await.unwrap().unwrap();
        let record: Value = serde_json::from_slice(&record.value).unwrap();
        assert_eq!(record, json!({ "allowed": { "tokens": 50 }, "reached": "tokens" }));
    });
}

#[test]
fn a_limit_of_a_label_holds_for_the_fleet() {
    virtually(async {
        let fleet = Fleet::start(5, 6, false);
        fleet.put(LABEL_LIMITS, &BTreeMap::from([("sap", 2)])).await;
        for number in 0..12 {
            let task = says(&format!("t{number}"), &format!("t{number}"));
            fleet.submit(TaskSpec { labels: ["sap".to_owned()].into(), ..task }).await;
        }
        for number in 0..12 {
            assert_eq!(words(&fleet.outcome(&format!("t{number}")).await).0, "finished");
        }
        assert_eq!(fleet.seen.lock().unwrap().most, 2);
    });
}
