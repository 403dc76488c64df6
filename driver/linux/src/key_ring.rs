//! Secrets of the user's key ring, over the Secret Service of the session bus (the `org.freedesktop.secrets` specification 0.2).
//!
//! The bus is that of the user who runs this process, never that of a private desktop. Nothing is unlocked by asking the user: an
//! agent that waits for a password prompt would wait for ever.

use std::{collections::BTreeMap, time::Duration};

use deskhand_secret::{SecretError, SecretValue};
use zbus::{
    Connection,
    zvariant::{ObjectPath, OwnedObjectPath, OwnedValue, Value},
};
use zeroize::Zeroizing;

const SERVICE: &str = "org.freedesktop.secrets";
const ROOT: &str = "/org/freedesktop/secrets";
const SERVICE_INTERFACE: &str = "org.freedesktop.Secret.Service";

/// Maximum total time for the service.
const BOUND: Duration = Duration::from_secs(10);

/// A key ring without a usable secret. The message continues the name of the source.
#[derive(Debug, thiserror::Error)]
pub enum KeyRingError {
    /// There is no session bus, or no service on it.
    #[error("is not there: {0}; start a key ring such as gnome-keyring or KeePassXC, or use `file` or `env`")]
    NoService(String),
    /// The key ring has no such item.
    #[error("has no item with these attributes")]
    NoItem,
    /// The key ring has several such items.
    #[error("has {0} items with these attributes; name more of them")]
    Several(usize),
    /// The item is locked.
    #[error("is locked; unlock the key ring first")]
    Locked,
    /// The key ring does not answer.
    #[error("did not answer within {} s", BOUND.as_secs())]
    NotAnswering,
    /// A call failed.
    #[error("failed: {0}")]
    Call(String),
    /// The value cannot be used.
    #[error("holds a value that {0}")]
    Value(SecretError),
}

/// Reads the secret of the only item with these attributes.
///
/// # Errors
/// [`KeyRingError`] if there is no such item, or it cannot be read.
pub async fn read_key_ring(attributes: &BTreeMap<String, String>) -> Result<SecretValue, KeyRingError> {
    tokio::time::timeout(BOUND, read(attributes)).await.unwrap_or(Err(KeyRingError::NotAnswering))
}

async fn read(attributes: &BTreeMap<String, String>) -> Result<SecretValue, KeyRingError> {
    let bus = Connection::session().await.map_err(|error| KeyRingError::NoService(error.to_string()))?;
    let found = call(&bus, ROOT, SERVICE_INTERFACE, "SearchItems", &(attributes,)).await;
    let found = found.map_err(|error| KeyRingError::NoService(error.to_string()))?;
    let (open, locked): (Vec<OwnedObjectPath>, Vec<OwnedObjectPath>) = body(&found)?;
    let item = match (open.as_slice(), locked.as_slice()) {
        ([item], []) => item.clone(),
        ([], [item]) => unlocked(&bus, item).await?,
        ([], []) => return Err(KeyRingError::NoItem),
        (open, locked) => return Err(KeyRingError::Several(open.len() + locked.len())),
    };
    // Not encrypted: the bus is a socket of this user alone.
    let plain = ("plain", Value::from(""));
    let session = call(&bus, ROOT, SERVICE_INTERFACE, "OpenSession", &plain).await.map_err(failed)?;
    let (_, session): (OwnedValue, OwnedObjectPath) = body(&session)?;
    let answer = call(&bus, item.as_str(), "org.freedesktop.Secret.Item", "GetSecret", &(&session,)).await;
    let value = answer.map_err(failed).and_then(|answer| {
        let (secret,): ((OwnedObjectPath, Vec<u8>, Vec<u8>, String),) = body(&answer)?;
        let bytes = Zeroizing::new(secret.2);
        let text = std::str::from_utf8(&bytes).map_err(|_| KeyRingError::Value(SecretError::Invalid))?;
        SecretValue::new(text).map_err(KeyRingError::Value)
    });
    // The service forgets the session anyway once this connection ends.
    call(&bus, session.as_str(), "org.freedesktop.Secret.Session", "Close", &()).await.ok();
    value
}

/// The item, if it can be unlocked without asking the user.
async fn unlocked(bus: &Connection, item: &OwnedObjectPath) -> Result<OwnedObjectPath, KeyRingError> {
    let answer = call(bus, ROOT, SERVICE_INTERFACE, "Unlock", &(vec![item],)).await.map_err(failed)?;
    let (open, prompt): (Vec<OwnedObjectPath>, OwnedObjectPath) = body(&answer)?;
    if open.contains(item) {
        return Ok(item.clone());
    }
    if prompt.as_str() != "/" {
        call(bus, prompt.as_str(), "org.freedesktop.Secret.Prompt", "Dismiss", &()).await.ok();
    }
    Err(KeyRingError::Locked)
}

async fn call(
    bus: &Connection,
    path: &str,
    interface: &'static str,
    method: &'static str,
    arguments: &(impl serde::Serialize + zbus::zvariant::DynamicType + Sync),
) -> zbus::Result<zbus::Message> {
    let path = ObjectPath::try_from(path)?;
    bus.call_method(Some(SERVICE), path, Some(interface), method, arguments).await
}

fn body<T: serde::de::DeserializeOwned + zbus::zvariant::Type>(
    message: &zbus::Message,
) -> Result<T, KeyRingError> {
    message.body().deserialize().map_err(failed)
}

#[expect(clippy::needless_pass_by_value, reason = "an argument of map_err")]
fn failed(error: zbus::Error) -> KeyRingError {
    KeyRingError::Call(error.to_string())
}
