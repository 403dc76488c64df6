//! Keeps panics of parsers inside: a hostile file must not end the process.

use std::{
    any::Any,
    panic::{AssertUnwindSafe, catch_unwind},
    path::Path,
};

use crate::error::FileReadError;

/// Runs a parser. A panic becomes an error; state that the parser had is dropped, so nothing half done is
/// seen afterwards.
pub(crate) fn guarded<T>(
    path: &Path,
    parse: impl FnOnce() -> Result<T, FileReadError>,
) -> Result<T, FileReadError> {
    catch_unwind(AssertUnwindSafe(parse)).unwrap_or_else(|payload| {
        Err(FileReadError::Panicked { path: path.to_owned(), problem: message(payload.as_ref()) })
    })
}

fn message(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let text = text.or_else(|| payload.downcast_ref::<String>().cloned());
    text.unwrap_or_else(|| "no message".to_owned()).chars().take(200).collect()
}
