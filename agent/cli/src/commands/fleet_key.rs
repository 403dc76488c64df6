//! Keys of who submits tasks: made, read, and used.

use std::{fs, io};

use deskhand_fleet::{
    holder::task_key,
    nats::NatsStore,
    signed::{FleetSignature, FleetSigningKey},
    store::FleetStore as _,
    task::{TaskId, TaskRecord, TaskSpec},
};
use deskhand_runtime::private;

use super::fleet_rows::silent;
use crate::{
    args::FleetKeyArgs,
    exit::{CliError, CommandResult, Exit},
    output::{Output, OutputStream, OutputTone, StyledLine},
};

/// Makes a key, or reads one, and prints its public half.
pub(super) fn make_key(args: &FleetKeyArgs) -> CommandResult {
    let file = &args.file;
    let failed = |operation: &str, error: Box<dyn std::error::Error + Send + Sync>| {
        CliError::failed_to(format!("{operation} {}", file.display()), error)
    };
    let (key, told) = match fs::read_to_string(file) {
        Ok(text) => (
            FleetSigningKey::of_text(&text).map_err(|error| failed("read the key", error.into()))?,
            "is a key",
        ),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let key = FleetSigningKey::generate();
            let seed = key.seed().map_err(|error| failed("make the key", error.into()))?;
            private::write_file(file, format!("{seed}\n").as_bytes())
                .map_err(|error| failed("write the key", error.into()))?;
            (key, "is a new key: keep it secret")
        }
        Err(error) => return Err(failed("read the key", error.into())),
    };
    Output::to(OutputStream::Out).text(key.public());
    let told = format!(
        "{} {told}; workers accept it with `fleet.accept.NAME = \"{}\"`",
        file.display(),
        key.public()
    );
    Output::to(OutputStream::Error).line(&StyledLine::of(OutputTone::Faint, told));
    Ok(Exit::Success)
}

/// A task as it is stored.
///
/// # Errors
/// The server does not answer, or the task cannot be read.
async fn spec_of(store: &NatsStore, id: &TaskId) -> Result<TaskSpec, CliError> {
    let damaged =
        |error: &dyn std::fmt::Display| CliError::new(format!("the record of {id} cannot be read: {error}"));
    let record = store.get(&task_key(id)).await.map_err(silent)?;
    let record = record.ok_or_else(|| damaged(&"it is gone"))?;
    let TaskRecord { spec, .. } = serde_json::from_slice(&record.value).map_err(|error| damaged(&error))?;
    Ok(spec)
}

/// The signature of a cancellation, for a task that is signed.
///
/// # Errors
/// Another key signed the task, or the server does not answer.
pub(super) async fn signed_cancel(
    store: &NatsStore,
    key: Option<&FleetSigningKey>,
    id: &TaskId,
) -> Result<Option<FleetSignature>, CliError> {
    let Some(signed) = spec_of(store, id).await?.signed else { return Ok(None) };
    let Some(key) = key.filter(|key| key.public() == signed.key) else {
        return Err(CliError::new(format!("the task {id} is signed with {}", signed.key))
            .with_help("only who has this key cancels it: give it with --key FILE"));
    };
    let made = key.sign_cancel(store.fleet(), id);
    made.map(Some).map_err(|error| CliError::failed_to(format!("sign that {id} is not wanted"), error))
}
