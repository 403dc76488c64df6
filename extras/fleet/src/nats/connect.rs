//! The connection, and what is made on the server the first time.

use std::{
    path::PathBuf,
    sync::{Arc, PoisonError},
    time::Duration,
};

use async_nats::{
    Client, ConnectError, ConnectErrorKind, ConnectOptions, Event, ServerAddr,
    jetstream::{
        self, Context,
        kv::{self, CreateErrorKind},
        object_store::{self, ObjectStore},
        stream::RetentionPolicy,
    },
};
use tokio::sync::Mutex;

use super::{Inner, NatsStore};
use crate::signed::FleetSigningKey;

/// The key of the lease of the fleet, in milliseconds.
const LEASE: &str = "fleet.lease_ms";

/// Options for the connection to the server.
#[derive(Debug, Clone, Default)]
pub struct NatsOptions {
    /// Addresses, such as `nats://127.0.0.1:4222` or `tls://host:4222`.
    pub servers: Vec<String>,
    /// A file of credentials: `.creds`, or the private key of a user.
    pub credentials: Option<PathBuf>,
    /// A file of root certificates (PEM).
    pub roots: Option<PathBuf>,
    /// Files of a certificate of the client and its key (PEM).
    pub certificate: Option<(PathBuf, PathBuf)>,
    /// Before the names of all streams, buckets and subjects: fleets with different ones do not see each other.
    pub prefix: String,
    /// On how many servers of a cluster everything is stored: 1, 3 or 5.
    pub replicas: usize,
    /// The lease of a fleet that does not exist yet: how long nobody else takes a task whose worker is silent. A fleet that exists has
    /// its own.
    pub lease: Duration,
}

impl NatsOptions {
    /// The user and password in the addresses.
    fn password(&self) -> Option<(String, String)> {
        self.servers.iter().find_map(|server| {
            let address: ServerAddr = server.parse().ok()?;
            Some((address.username()?.to_owned(), address.password()?.to_owned()))
        })
    }

    /// The addresses as they may be shown: without passwords.
    pub fn shown(&self) -> String {
        let shown = self.servers.iter().map(|server| match server.rsplit_once('@') {
            Some((before, host)) => {
                let scheme = before.split_once("://").map_or("", |(scheme, _)| scheme);
                format!("{scheme}{}{host}", if scheme.is_empty() { "" } else { "://" })
            }
            None => server.clone(),
        });
        shown.collect::<Vec<_>>().join(", ")
    }
}

/// The fleet's server cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("cannot {operation} the server of the fleet at {servers}: {problem}")]
pub struct NatsError {
    operation: &'static str,
    servers: String,
    problem: String,
    help: String,
}

impl NatsError {
    /// Returns the suggested next step.
    pub fn help(&self) -> &str {
        &self.help
    }
}

/// The last refusal of the server.
pub(super) type Refusal = Arc<std::sync::Mutex<Option<String>>>;

impl NatsStore {
    /// Connects, and makes streams and bucket where they are not there.
    ///
    /// # Errors
    /// No server answers, the credentials are refused, or the streams cannot be made.
    pub async fn connect(options: &NatsOptions) -> Result<Self, NatsError> {
        let (client, refusal) = connected(options).await?;
        let failed = |operation: &'static str| {
            let (servers, refusal) = (options.shown(), refusal.clone());
            move |problem: String| {
                let refused = last(&refusal);
                let help = match refused {
                    Some(_) => {
                        "its permissions are those that the configuration of the server gives to these credentials"
                    }
                    None => "the server needs JetStream: start it with `nats-server --jetstream`",
                };
                let problem = refused.unwrap_or(problem);
                NatsError { operation, servers, problem, help: help.to_owned() }
            }
        };
        let context = jetstream::new(client.clone());
        let prefix = &options.prefix;
        let stream = |name: &str, retention: RetentionPolicy| jetstream::stream::Config {
            name: format!("{prefix}-{name}"),
            subjects: vec![format!("{prefix}.{name}.>")],
            retention,
            num_replicas: options.replicas,
            ..jetstream::stream::Config::default()
        };
        let made = async |config| {
            let made = context.get_or_create_stream(config).await;
            made.map_err(|error| failed("make a stream on")(error.to_string()))
        };
        let queue = made(stream("queue", RetentionPolicy::WorkQueue)).await?;
        let journal = made(stream("journal", RetentionPolicy::Limits)).await?;
        let records = records(&context, options).await.map_err(failed("make a bucket on"))?;
        let lease =
            lease_of(&records, options.lease).await.map_err(|error| failed("read the lease on")(error))?;
        let files = files(&context, options).await.map_err(failed("make an object store on"))?;
        Ok(Self(Arc::new(Inner {
            client,
            context,
            prefix: prefix.clone(),
            lease,
            queue,
            journal,
            records,
            files,
            refusal,
            given: Mutex::default(),
            classes: Mutex::default(),
            released: Mutex::default(),
            consumers: Mutex::default(),
            watches: Mutex::default(),
        })))
    }

    /// The name of the fleet.
    pub fn fleet(&self) -> &str {
        &self.0.prefix
    }
}

/// Connects to one of the servers.
async fn connected(options: &NatsOptions) -> Result<(Client, Refusal), NatsError> {
    let failed = |operation: &'static str, problem: String, help: &str| NatsError {
        operation,
        servers: options.shown(),
        problem,
        help: help.to_owned(),
    };
    let refusal = Refusal::default();
    let mut connecting = ConnectOptions::new().name("deskhand").event_callback(remember(&refusal));
    if let Some((user, password)) = options.password() {
        connecting = connecting.user_and_password(user, password);
    }
    if let Some(file) = &options.credentials {
        let unread = |problem: String| {
            failed(
                "read the credentials for",
                format!("{}: {problem}", file.display()),
                "`--credentials` takes a `.creds` file, or one that `deskhand fleet key` made",
            )
        };
        let text = std::fs::read_to_string(file).map_err(|error| unread(error.to_string()))?;
        connecting = if text.contains("NATS USER JWT") {
            connecting.credentials(&text).map_err(|error| unread(error.to_string()))?
        } else {
            let key = FleetSigningKey::of_text(&text).map_err(|error| unread(error.to_string()))?;
            connecting.nkey(key.seed().map_err(|error| unread(error.to_string()))?)
        };
    }
    if let Some(roots) = &options.roots {
        let readable = std::fs::File::open(roots);
        readable.map_err(|error| {
            failed(
                "read the certificates for",
                format!("{}: {error}", roots.display()),
                "`--roots` takes a file of root certificates (PEM)",
            )
        })?;
        connecting = connecting.add_root_certificates(roots.clone()).require_tls(true);
    }
    if let Some((certificate, key)) = &options.certificate {
        connecting = connecting.add_client_certificate(certificate.clone(), key.clone()).require_tls(true);
    }
    let connected = connecting.connect(options.servers.clone()).await;
    let client = connected.map_err(|error| {
        let problem = error_chain(&error);
        let help = help_of(&error, &problem, options);
        failed("connect to", problem, &help)
    })?;
    Ok((client, refusal))
}

/// Remembers what the server refuses.
fn remember(refusal: &Refusal) -> impl Fn(Event) -> std::future::Ready<()> + Send + Sync + 'static {
    let refusal = refusal.clone();
    move |event| {
        if let Event::ServerError(error) = event {
            let text = error.to_string();
            tracing::warn!(error = %text, "the server of the fleet refuses something");
            *refusal.lock().unwrap_or_else(PoisonError::into_inner) = Some(text);
        }
        std::future::ready(())
    }
}

/// Takes the last refusal of the server, which is then forgotten.
pub(super) fn last(refusal: &Refusal) -> Option<String> {
    refusal.lock().unwrap_or_else(PoisonError::into_inner).take()
}

/// An error with its causes.
fn error_chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(one) = cause {
        let more = one.to_string();
        if !text.contains(&more) {
            text = format!("{text}: {more}");
        }
        cause = one.source();
    }
    text
}

fn help_of(error: &ConnectError, problem: &str, options: &NatsOptions) -> String {
    match (error.kind(), &options.credentials) {
        (ConnectErrorKind::AuthorizationViolation | ConnectErrorKind::Authentication, Some(file)) => {
            format!(
                "the server does not accept {}: is its user in the configuration of the server?",
                file.display()
            )
        }
        (ConnectErrorKind::AuthorizationViolation | ConnectErrorKind::Authentication, None) => {
            "the server asks who you are: give `--credentials FILE`".to_owned()
        }
        _ if problem.contains("UnknownIssuer") && options.roots.is_some() => {
            "another authority signed the certificate of the server: is `--roots` the one of this fleet?"
                .to_owned()
        }
        _ if problem.contains("UnknownIssuer") => {
            "this system does not know the authority of the server's certificate: give it with `--roots FILE`"
                .to_owned()
        }
        _ if problem.contains("not valid for name") || problem.contains("NotValidForName") => {
            "the certificate of the server has to name the address that `--fleet` names".to_owned()
        }
        _ if problem.to_lowercase().contains("certificate") && options.certificate.is_none() => {
            "the server asks for a certificate of yours: give `--certificate FILE --certificate-key FILE`"
                .to_owned()
        }
        _ => "start one with `nats-server --jetstream`, or name another one with --fleet".to_owned(),
    }
}

async fn records(context: &Context, options: &NatsOptions) -> Result<kv::Store, String> {
    let bucket = format!("{}-records", options.prefix);
    if let Ok(records) = context.get_key_value(&bucket).await {
        return Ok(records);
    }
    let config = kv::Config { bucket, history: 1, num_replicas: options.replicas, ..kv::Config::default() };
    context.create_key_value(config).await.map_err(|error| error.to_string())
}

async fn files(context: &Context, options: &NatsOptions) -> Result<ObjectStore, String> {
    let bucket = format!("{}-files", options.prefix);
    if let Ok(files) = context.get_object_store(&bucket).await {
        return Ok(files);
    }
    let config =
        object_store::Config { bucket, num_replicas: options.replicas, ..object_store::Config::default() };
    context.create_object_store(config).await.map_err(|error| error.to_string())
}

/// The lease of the fleet: who comes first decides.
async fn lease_of(records: &kv::Store, wanted: Duration) -> Result<Duration, String> {
    let known = async || {
        let known = records.get(LEASE).await.map_err(|error| error.to_string())?;
        let Some(known) = known else { return Ok(None) };
        let number = std::str::from_utf8(&known).ok().and_then(|known| known.parse().ok());
        number
            .map(|known| Some(Duration::from_millis(known)))
            .ok_or_else(|| format!("the record `{LEASE}` is damaged"))
    };
    // Who only submits tasks may not write it.
    if let Some(known) = known().await? {
        return Ok(known);
    }
    let written = u64::try_from(wanted.as_millis()).unwrap_or(u64::MAX);
    match records.create(LEASE, written.to_string().into()).await {
        Ok(_) => Ok(wanted),
        Err(error) if error.kind() == CreateErrorKind::AlreadyExists => Ok(known().await?.unwrap_or(wanted)),
        Err(error) => Err(error.to_string()),
    }
}
