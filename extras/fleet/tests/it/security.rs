//! Certificates, credentials and permissions, with real servers.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

use base64::{Engine as _, prelude::BASE64_URL_SAFE_NO_PAD};
use deskhand_fleet::{
    holder::{ANSWERS, QUESTIONS, TASKS, cancel_key, lease_key, outcome_key, task_key},
    journal::{TaskJournalEntry, WorkerId},
    nats::{Attention, NatsOptions, NatsStore, Regard},
    plan::{FleetSummary, SUMMARY},
    signed::FleetSigningKey,
    store::{FleetStore, StoreError},
    task::{MachineCapabilities, TaskId, TaskRecord, TaskRequirements, TaskSpec},
};
use deskhand_testkit::nats_server::Server;
use futures_util::StreamExt as _;
use nkeys::KeyPair;
use serde_json::{Value, json};
use tokio::time::timeout;

/// Far more than anything here takes.
const BOUND: Duration = Duration::from_secs(60);

fn openssl(folder: &Path, words: &str) {
    let mut command = Command::new("openssl");
    let made = command.args(words.split_whitespace()).current_dir(folder).output().unwrap();
    assert!(made.status.success(), "openssl {words}: {}", String::from_utf8_lossy(&made.stderr));
}

/// An authority `NAME-ca.pem`, and a certificate of it for this machine: `NAME.pem` with `NAME.key`.
fn certificates(folder: &Path, name: &str) {
    let key = "-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes";
    openssl(
        folder,
        &format!("req -x509 {key} -days 2 -subj /CN={name}-ca -keyout {name}-ca.key -out {name}-ca.pem"),
    );
    fs::write(folder.join("names"), "subjectAltName=IP:127.0.0.1,DNS:localhost\nbasicConstraints=CA:FALSE\n")
        .unwrap();
    openssl(folder, &format!("req {key} -subj /CN={name} -keyout {name}.key -out {name}.csr"));
    openssl(
        folder,
        &format!(
            "x509 -req -in {name}.csr -CA {name}-ca.pem -CAkey {name}-ca.key -CAcreateserial -days 2 -extfile names -out {name}.pem"
        ),
    );
}

fn options(scheme: &str, server: &Server) -> NatsOptions {
    NatsOptions {
        servers: vec![format!("{scheme}://127.0.0.1:{}", server.port)],
        prefix: "deskhand".to_owned(),
        replicas: 1,
        lease: Duration::from_secs(3),
        ..NatsOptions::default()
    }
}

async fn refused(options: &NatsOptions) -> String {
    match timeout(BOUND, NatsStore::connect(options)).await.unwrap() {
        Ok(_) => panic!("it was let in: {options:?}"),
        Err(error) => format!("{error} [{}]", error.help()),
    }
}

async fn let_in(options: &NatsOptions) -> NatsStore {
    timeout(BOUND, NatsStore::connect(options)).await.unwrap().unwrap()
}

fn tls(folder: &Path, more: &str) -> String {
    let file = |name: &str| folder.join(name).display().to_string();
    format!("tls {{ cert_file: {:?}, key_file: {:?} {more} }}", file("hub.pem"), file("hub.key"))
}

#[tokio::test]
async fn a_certificate_of_an_own_authority_is_accepted_once_it_is_given() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    certificates(folder, "hub");
    certificates(folder, "other");
    let Some(server) = Server::start(folder, &tls(folder, "")).unwrap() else { return };
    let plain = options("tls", &server);
    let shown = refused(&plain).await;
    assert!(
        shown.contains(&plain.servers[0])
            && shown.contains("UnknownIssuer")
            && shown.contains("give it with `--roots"),
        "{shown}"
    );
    let with = |roots: &str| NatsOptions { roots: Some(folder.join(roots)), ..plain.clone() };
    let shown = refused(&with("other-ca.pem")).await;
    assert!(
        shown.contains("UnknownIssuer") && shown.contains("is `--roots` the one of this fleet"),
        "{shown}"
    );
    let shown = refused(&with("none.pem")).await;
    assert!(shown.contains("none.pem: No such file"), "{shown}");
    let store = let_in(&with("hub-ca.pem")).await;
    let hash = store.put_file(b"over TLS").await.unwrap();
    assert_eq!(store.file(&hash).await.unwrap(), b"over TLS");
    let named =
        NatsOptions { servers: vec![format!("tls://127.0.0.2:{}", server.port)], ..with("hub-ca.pem") };
    // Nobody listens there, or the certificate is not for it.
    refused(&named).await;
}

#[tokio::test]
async fn a_server_may_ask_for_the_certificate_of_its_client() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    for name in ["hub", "lab"] {
        certificates(folder, name);
    }
    let more = format!(", ca_file: {:?}, verify: true", folder.join("lab-ca.pem"));
    let Some(server) = Server::start(folder, &tls(folder, &more)).unwrap() else { return };
    let without = NatsOptions { roots: Some(folder.join("hub-ca.pem")), ..options("tls", &server) };
    let shown = refused(&without).await;
    assert!(shown.contains("--certificate"), "{shown}");
    let pair = |name: &str| (folder.join(format!("{name}.pem")), folder.join(format!("{name}.key")));
    let_in(&NatsOptions { certificate: Some(pair("lab")), ..without.clone() }).await;
    refused(&NatsOptions { certificate: Some(pair("hub")), ..without }).await;
}

/// A token as NATS signs them: who it is about, what it says, and who says it.
fn token(issuer: &KeyPair, subject: &KeyPair, name: &str, kind: &str, more: &Value) -> String {
    let mut about = json!({ "type": kind, "version": 2 });
    about.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let claims = json!({
        "jti": name, "iat": 1_700_000_000, "iss": issuer.public_key(), "name": name, "sub": subject.public_key(), "nats": about
    });
    let encoded = |value: &Value| BASE64_URL_SAFE_NO_PAD.encode(value.to_string());
    let text = format!("{}.{}", encoded(&json!({ "typ": "JWT", "alg": "ed25519-nkey" })), encoded(&claims));
    let signature = issuer.sign(text.as_bytes()).unwrap();
    format!("{text}.{}", BASE64_URL_SAFE_NO_PAD.encode(signature))
}

fn credentials(file: &Path, account: &KeyPair, user: &KeyPair) -> PathBuf {
    let token = token(account, user, "user", "user", &json!({ "subs": -1, "data": -1, "payload": -1 }));
    let seed = user.seed().unwrap();
    let text = format!(
        "-----BEGIN NATS USER JWT-----\n{token}\n------END NATS USER JWT------\n\n\
         -----BEGIN USER NKEY SEED-----\n{seed}\n------END USER NKEY SEED------\n"
    );
    fs::write(file, text).unwrap();
    file.to_owned()
}

#[tokio::test]
async fn an_account_takes_the_credentials_that_it_signed() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let (operator, system, account) =
        (KeyPair::new_operator(), KeyPair::new_account(), KeyPair::new_account());
    let any = -1;
    let limits = json!({ "limits": {
        "subs": any, "data": any, "payload": any, "imports": any, "exports": any, "wildcards": true, "conn": any, "leaf": any,
        "mem_storage": any, "disk_storage": any, "streams": any, "consumer": any
    } });
    let none = json!({ "limits": { "subs": any, "data": any, "payload": any, "imports": any, "exports": any, "wildcards": true, "conn": any, "leaf": any } });
    let config = format!(
        "operator: {}\nsystem_account: {}\nresolver: MEMORY\n\
         resolver_preload: {{ {}: {}, {}: {} }}",
        token(&operator, &operator, "operator", "operator", &json!({})),
        system.public_key(),
        system.public_key(),
        token(&operator, &system, "SYS", "account", &none),
        account.public_key(),
        token(&operator, &account, "fleet", "account", &limits),
    );
    let Some(server) = Server::start(folder, &config).unwrap() else { return };
    let without = options("nats", &server);
    let shown = refused(&without).await;
    assert!(
        shown.contains("authorization violation") && shown.contains("give `--credentials FILE`"),
        "{shown}"
    );
    let with = |file: PathBuf| NatsOptions { credentials: Some(file), ..without.clone() };
    let_in(&with(credentials(&folder.join("me.creds"), &account, &KeyPair::new_user()))).await;
    let stranger = credentials(&folder.join("stranger.creds"), &KeyPair::new_account(), &KeyPair::new_user());
    let shown = refused(&with(stranger)).await;
    assert!(shown.contains("stranger.creds: is its user in"), "{shown}");
    let shown = refused(&with(folder.join("none.creds"))).await;
    assert!(shown.contains("none.creds: No such file") && shown.contains("deskhand fleet key"), "{shown}");
    fs::write(folder.join("empty.creds"), "").unwrap();
    let shown = refused(&with(folder.join("empty.creds"))).await;
    assert!(shown.contains("empty.creds") && shown.contains("no line with a private key"), "{shown}");
}

#[tokio::test]
async fn passwords_in_addresses_are_not_shown() {
    let folder = tempfile::tempdir().unwrap();
    let config = "authorization { user: anna, password: \"s3cret\" }";
    let Some(server) = Server::start(folder.path(), config).unwrap() else { return };
    let named = |who: &str| {
        let servers = vec![format!("nats://{who}@127.0.0.1:{}", server.port)];
        NatsOptions { servers, ..options("nats", &server) }
    };
    let_in(&named("anna:s3cret")).await;
    let shown = refused(&named("anna:wr0ng")).await;
    assert!(
        !shown.contains("wr0ng") && shown.contains(&format!("nats://127.0.0.1:{}", server.port)),
        "{shown}"
    );
}

/// A fleet whose server has a user for each role, as the example has them.
struct Roles {
    server: Server,
    folder: tempfile::TempDir,
}

impl Drop for Roles {
    fn drop(&mut self) {
        if std::thread::panicking() {
            println!("{}", self.server.log());
        }
    }
}

impl Roles {
    fn start() -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../packaging/fleet/nats-server.conf");
        let example = fs::read_to_string(example).unwrap();
        // Listening, TLS and storage are those of the test.
        let mut users = example[example.find("authorization {").unwrap()..].to_owned();
        for role in ["ADMIN", "SUBMITTER", "WORKER"] {
            let key = FleetSigningKey::generate();
            assert!(users.contains(&format!("nkey: {role}\n")));
            users = users.replace(&format!("nkey: {role}\n"), &format!("nkey: {}\n", key.public()));
            fs::write(folder.path().join(role), key.seed().unwrap()).unwrap();
        }
        let server = Server::start(folder.path(), &users).unwrap()?;
        Some(Self { server, folder })
    }

    async fn connected(&self, role: &str) -> NatsStore {
        let credentials = Some(self.folder.path().join(role));
        let_in(&NatsOptions { credentials, ..options("nats", &self.server) }).await
    }
}

/// Who submits also watches a task, and answers what it asks.
async fn is_watched_and_answered(submitter: &NatsStore, worker: &NatsStore, id: &TaskId) {
    let name = WorkerId("w".to_owned());
    let mut watchers = worker.watchers(id, Regard::Screen).await.unwrap();
    let mut attending = worker.watchers(id, Regard::Questions).await.unwrap();
    // Each connection is served in order: from here on the worker hears them.
    worker.records(TASKS).await.unwrap();
    let mut frames = submitter.frames(id, &name).await.unwrap();
    submitter.watch(id, true).await.unwrap();
    submitter.attend(id).await.unwrap();
    let heard = timeout(BOUND, watchers.next()).await.unwrap();
    assert_eq!(heard, Attention::By { whole: true });
    assert_eq!(timeout(BOUND, attending.next()).await.unwrap(), Attention::By { whole: false });
    let large = vec![7; 3 << 20];
    worker.send_frame((id, &name), 1, large.clone().into()).await.unwrap();
    worker.send_frame((id, &name), 2, vec![8].into()).await.unwrap();
    let first = timeout(BOUND, frames.next()).await.unwrap().unwrap();
    assert!(first.bytes == large && !first.follows);
    let second = timeout(BOUND, frames.next()).await.unwrap().unwrap();
    assert!(second.bytes == [8_u8].as_slice() && second.follows);
    worker.put(&format!("{QUESTIONS}{id}"), 0, b"{}").await.unwrap();
    submitter.put(&format!("{ANSWERS}{id}.w-1"), 0, b"{}").await.unwrap();
    let mut followed = submitter.follow_records(&[QUESTIONS]).await.unwrap();
    let question = timeout(BOUND, followed.next()).await.unwrap().unwrap().unwrap();
    assert_eq!(question.key, format!("{QUESTIONS}{id}"));
    let mut journal = submitter.follow_journal(id).await.unwrap();
    let (place, _) = timeout(BOUND, journal.entries.next()).await.unwrap().unwrap().unwrap();
    assert_eq!(place, journal.last);
}

fn denied<T: std::fmt::Debug>(what: &str, result: &Result<T, StoreError>) {
    let shown = format!("{result:?}");
    assert!(result.is_err() && shown.to_lowercase().contains("permissions violation"), "{what}: {shown}");
}

#[tokio::test]
async fn the_permissions_of_the_example_suffice_and_what_is_more_is_refused() {
    let Some(roles) = Roles::start() else { return };
    let shown = {
        let credentials = Some(roles.folder.path().join("WORKER"));
        refused(&NatsOptions { credentials, ..options("nats", &roles.server) }).await
    };
    assert!(
        shown.contains("make a stream") && shown.to_lowercase().contains("permissions violation"),
        "{shown}"
    );
    roles.connected("ADMIN").await;
    let (submitter, worker) = (roles.connected("SUBMITTER").await, roles.connected("WORKER").await);
    let id = TaskId::new("one").unwrap();
    let record = TaskRecord { spec: TaskSpec::new(id.clone()), released: 0 };
    let value = serde_json::to_vec(&record).unwrap();
    // Who submits.
    let hash = submitter.put_file(b"a document").await.unwrap();
    let revision = submitter.put(&task_key(&id), 0, &value).await.unwrap();
    assert_eq!(submitter.records(TASKS).await.unwrap().len(), 1);
    assert_eq!(submitter.records("lease.").await.unwrap().len(), 0);
    // Who works.
    assert_eq!(worker.file(&hash).await.unwrap(), b"a document");
    assert_eq!(worker.changes(TASKS, 0).await.unwrap().len(), 1);
    worker.release(&id, &TaskRequirements::default(), 3, "one/1").await.unwrap();
    worker.put(&task_key(&id), revision, &value).await.unwrap();
    let delivery = timeout(BOUND, worker.pull(&MachineCapabilities::default())).await.unwrap().unwrap();
    worker.keep(&delivery).await.unwrap();
    let taken = TaskJournalEntry::Taken { worker: WorkerId("w".to_owned()) };
    let place = worker.append(&id, 0, &taken).await.unwrap();
    worker.put(&lease_key(&id), 0, b"w").await.unwrap();
    let written = worker.put_file(b"what came of it").await.unwrap();
    worker.put(&outcome_key(&id), 0, b"{}").await.unwrap();
    worker.finish(&delivery).await.unwrap();
    // What came of it.
    assert_eq!(submitter.journal(&id).await.unwrap(), [(place, taken.clone())]);
    assert_eq!(submitter.file(&written).await.unwrap(), b"what came of it");
    assert!(submitter.get(&outcome_key(&id)).await.unwrap().is_some());
    submitter.put(&cancel_key(&id), 0, b"").await.unwrap();
    worker.put(SUMMARY, 0, &serde_json::to_vec(&FleetSummary::default()).unwrap()).await.unwrap();
    let told = submitter.summary().await.unwrap().unwrap();
    assert_eq!(told.changes, 2, "a task and its outcome: {told:?}");
    is_watched_and_answered(&submitter, &worker, &id).await;
    // More than that.
    let (two, needs, offer) =
        (TaskId::new("two").unwrap(), TaskRequirements::default(), MachineCapabilities::default());
    let (of_lease, of_outcome) = (lease_key(&two), outcome_key(&two));
    // Each is waited for until the client gives up. A connection remembers one refusal.
    let another = || roles.connected("SUBMITTER");
    let (second, third, fourth, fifth) = tokio::join!(another(), another(), another(), another());
    let (lease, outcome, journal, queue, stolen) = tokio::join!(
        second.put(&of_lease, 0, b"me"),
        third.put(&of_outcome, 0, b"{}"),
        fourth.append(&id, place, &taken),
        fifth.release(&id, &needs, 3, "one/2"),
        timeout(Duration::from_secs(6), submitter.pull(&offer)),
    );
    denied("a lease", &lease);
    denied("an outcome", &outcome);
    denied("a journal", &journal);
    denied("the queue", &queue);
    assert!(!matches!(stolen, Ok(Ok(_))), "{stolen:?}");
}
