//! Connection to a fleet for commands, which read the configuration of the user if no flag names a server.

use deskhand_host::config::Overrides;

use super::{fleet_server::FleetEndpoint, host::load};
use crate::{
    args::{FleetServerArgs, SignArgs},
    exit::CliError,
};

impl FleetEndpoint {
    /// By flags and variables, or the configuration of the user.
    ///
    /// # Errors
    /// Nothing names a server, or the configuration is not valid.
    pub(super) fn by(args: &FleetServerArgs, sign: Option<&SignArgs>) -> Result<Self, CliError> {
        Self::if_named(args, sign)?.ok_or_else(|| {
            CliError::usage("no server of a fleet is named").with_help(
                "name one with `--fleet nats://HOST:4222`, DESKHAND_FLEET, or `fleet.servers` in the configuration",
            )
        })
    }

    /// The same; `None` if nothing names a server.
    ///
    /// # Errors
    /// The configuration is not valid.
    pub(super) fn if_named(
        args: &FleetServerArgs,
        sign: Option<&SignArgs>,
    ) -> Result<Option<Self>, CliError> {
        let settings = || Ok::<_, CliError>(load(Overrides::default())?.config().fleet.clone());
        let reached = Self::of(args, sign, settings)?;
        Ok(Some(reached).filter(|reached| !reached.options.servers.is_empty()))
    }
}
