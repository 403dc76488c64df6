//! The configuration of this run: file, environment, flags.

use deskhand_host::config::{self, Loaded, Overrides, Sources};

use crate::exit::CliError;

/// Reads the configuration of the user, with the flags of this run.
///
/// # Errors
/// Names the place of what is wrong.
pub(super) fn load(flags: Overrides) -> Result<Loaded, CliError> {
    Ok(config::load(&Sources::of_user().with(flags))?)
}
