//! Blocking work off the async threads.

use deskhand_desktop::{DesktopError, DesktopResult};

/// Runs blocking work on a thread for it.
pub(crate) async fn run_blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> DesktopResult<T> {
    tokio::task::spawn_blocking(work)
        .await
        .map_err(|error| DesktopError::failed("run blocking work on a thread", error))
}
