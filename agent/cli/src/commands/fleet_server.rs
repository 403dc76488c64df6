//! Connection to a fleet: by flags and variables if they name a server, otherwise by `[fleet]` of the
//! configuration.

use std::{fs, path::PathBuf, time::Duration};

use clap::{Args as _, FromArgMatches as _};
use deskhand_fleet::{
    nats::{NatsOptions, NatsStore},
    signed::FleetSigningKey,
};
use deskhand_host::{
    Host,
    config::{Config, FleetSettings},
};
use deskhand_runtime::agents::AgentRegistry;
use deskhand_secret::{SecretValue, Veil};
use deskhand_serve::fleet::machines;

use crate::{
    args::{FleetServerArgs, SignArgs},
    exit::CliError,
};

/// The name of a fleet that has no other one.
const NAME: &str = "deskhand";

/// Connection options of a fleet, and the signing key.
pub(super) struct FleetEndpoint {
    pub(super) options: NatsOptions,
    key: Option<PathBuf>,
}

impl FleetEndpoint {
    /// By flags and variables; `settings` are asked for if these name no server.
    pub(super) fn of<E>(
        args: &FleetServerArgs,
        sign: Option<&SignArgs>,
        settings: impl FnOnce() -> Result<FleetSettings, E>,
    ) -> Result<Self, E> {
        let is_named = !args.servers.is_empty();
        let settings = if is_named { FleetSettings::default() } else { settings()?.with_paths() };
        let own = |file: &Option<PathBuf>, other: Option<PathBuf>| file.clone().or(other);
        let certificate = own(&args.certificate, settings.certificate);
        let name = args.fleet_name.clone().or(settings.name);
        let servers = if is_named { args.servers.clone() } else { settings.servers };
        hide_passwords(&servers);
        let options = NatsOptions {
            servers,
            credentials: own(&args.credentials, settings.credentials),
            roots: own(&args.roots, settings.roots),
            certificate: certificate.zip(own(&args.certificate_key, settings.certificate_key)),
            prefix: name.unwrap_or_else(|| NAME.to_owned()),
            replicas: usize::from(args.replicas),
            lease: Duration::from_secs(u64::from(args.lease)),
        };
        Ok(Self { options, key: sign.and_then(|sign| sign.key.clone()).or(settings.key) })
    }

    /// Connects to the server.
    ///
    /// # Errors
    /// No server answers, or it refuses.
    pub(super) async fn connect(&self) -> Result<NatsStore, CliError> {
        let connected = NatsStore::connect(&self.options).await;
        connected.map_err(|error| CliError::new(error.to_string()).with_help(error.help()))
    }

    /// The key that signs, if there is one.
    ///
    /// # Errors
    /// It cannot be read.
    pub(super) fn key(&self) -> Result<Option<FleetSigningKey>, CliError> {
        let Some(file) = &self.key else { return Ok(None) };
        let operation = format!("read the key {}", file.display());
        let help = "make one with `deskhand fleet key FILE`";
        let text = fs::read_to_string(file)
            .map_err(|error| CliError::failed_to(&operation, error).with_help(help))?;
        FleetSigningKey::of_text(&text)
            .map(Some)
            .map_err(|error| CliError::failed_to(&operation, error).with_help(help))
    }
}

/// Hides passwords in addresses (`nats://user:password@host`) wherever something is written: logs of the client have addresses as they
/// were given.
fn hide_passwords(servers: &[String]) {
    let password = |address: &str| {
        let (before, _) = address.rsplit_once('@')?;
        let user = before.split_once("://").map_or(before, |(_, user)| user);
        let (_, password) = user.split_once(':')?;
        SecretValue::new(password).ok()
    };
    for password in servers.iter().filter_map(|address| password(address)) {
        Veil::of_process().add("fleet password", &password);
    }
}

/// The same host with the agents on other machines that its configuration has.
///
/// # Errors
/// A name of one is not valid.
pub(super) fn with_machines(host: Host) -> Result<Host, CliError> {
    if host.config().agents.machines.is_empty() {
        return Ok(host);
    }
    let kinds = kinds(host.config())?;
    Ok(host.with_kinds(kinds))
}

fn kinds(config: &Config) -> Result<AgentRegistry, CliError> {
    let invalid = |error: clap::Error| CliError::usage(error.to_string());
    // The variables are those of the arguments.
    let command = SignArgs::augment_args(FleetServerArgs::augment_args(clap::Command::new(NAME)));
    let matches = command.try_get_matches_from([NAME]).map_err(invalid)?;
    let args = FleetServerArgs::from_arg_matches(&matches).map_err(invalid)?;
    let sign = SignArgs::from_arg_matches(&matches).map_err(invalid)?;
    let settings = || Ok::<_, CliError>(config.fleet.clone());
    let FleetEndpoint { options, key } = FleetEndpoint::of(&args, Some(&sign), settings)?;
    machines::kinds(config, &options, key)
        .map_err(|error| CliError::failed_to("set up the agents on other machines", error))
}
