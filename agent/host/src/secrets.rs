//! The secrets of the configuration: reads them from where they are.

use std::collections::BTreeMap;

use deskhand_desktop_linux::read_key_ring;
use deskhand_secret::{
    ReadValue, SecretReader, SecretSource, SecretValue, Secrets, Veil, read_environment, read_file,
};
use deskhand_ui::secret::SecretPermit;

use crate::{
    HostError,
    config::{Config, SecretOrigin, expanded},
};

/// Information about a secret that is available without reading it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SecretInfo {
    /// Its name.
    pub name: String,
    /// Source of the secret, in words.
    pub source: String,
    /// Places where the secret may be typed.
    pub permit: SecretPermit,
}

/// Reads the configured secrets.
struct ConfigSecretReader(BTreeMap<String, SecretOrigin>);

impl SecretReader for ConfigSecretReader {
    fn read<'a>(&'a self, name: &'a str) -> ReadValue<'a> {
        Box::pin(async move {
            let none =
                || format!("no secret `{name}` is configured; `[secrets.{name}]` would say where it is");
            let origin = self.0.get(name).ok_or_else(none)?;
            read(origin).await.map_err(|problem| format!("{} {problem}", words(origin)))
        })
    }
}

async fn read(origin: &SecretOrigin) -> Result<SecretValue, String> {
    match origin {
        SecretOrigin::File(path) => {
            let path = expanded(path);
            let read = tokio::task::spawn_blocking(move || read_file(&path)).await;
            read.map_err(|error| error.to_string())?.map_err(|error| error.to_string())
        }
        SecretOrigin::Environment(name) => read_environment(name).map_err(|error| error.to_string()),
        SecretOrigin::Service(attributes) => {
            read_key_ring(attributes).await.map_err(|error| error.to_string())
        }
    }
}

/// The source in words: `the file ~/.secrets/shop`.
fn words(origin: &SecretOrigin) -> String {
    match origin {
        SecretOrigin::File(path) => SecretSource::File(path.clone()).to_string(),
        SecretOrigin::Environment(name) => SecretSource::Environment(name.clone()).to_string(),
        SecretOrigin::Service(attributes) => {
            let all: Vec<String> = attributes.iter().map(|(name, value)| format!("{name}={value}")).collect();
            format!("the Secret Service ({})", all.join(", "))
        }
    }
}

/// The secrets of a configuration, hidden by `veil` once they are read.
///
/// # Errors
/// A secret has no name, no source, or more than one.
pub(crate) fn secrets(config: &Config, veil: &Veil) -> Result<Secrets, HostError> {
    let all = config.secrets.iter().map(|(name, secret)| Ok((name.clone(), secret.origin(name)?)));
    let all = all.collect::<Result<BTreeMap<_, _>, HostError>>()?;
    Ok(Secrets::new(ConfigSecretReader(all), veil.clone()))
}

/// Returns the places where the secrets of a configuration may be typed.
pub(crate) fn permits(config: &Config) -> Vec<SecretPermit> {
    config.secrets.iter().map(|(name, secret)| secret.to_permit(name)).collect()
}

/// Returns information about the secrets of a configuration without reading them.
///
/// # Errors
/// As [`secrets`].
pub(crate) fn infos(config: &Config) -> Result<Vec<SecretInfo>, HostError> {
    let info = |(name, secret): (&String, &crate::config::SecretSettings)| {
        let source = words(&secret.origin(name)?);
        Ok(SecretInfo { name: name.clone(), source, permit: secret.to_permit(name) })
    };
    config.secrets.iter().map(info).collect()
}

/// The environment variables that hold secrets: no program that is started gets them.
pub(crate) fn variables(config: &Config) -> Vec<String> {
    let engine = config.knowledge.engine.key.as_ref().and_then(|key| key.env.clone());
    let webhook = config.notify.webhook_from.as_ref().and_then(|address| address.env.clone());
    config.secrets.values().filter_map(|secret| secret.env.clone()).chain(engine).chain(webhook).collect()
}
