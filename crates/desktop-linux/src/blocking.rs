//! Work that blocks, off the async threads.

use deskhand_desktop::{DesktopError, DesktopResult};

/// Runs what blocks where it blocks nobody.
pub(crate) async fn run_blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> DesktopResult<T> {
    tokio::task::spawn_blocking(work)
        .await
        .map_err(|error| DesktopError::failed("run a piece of work on a thread", error))
}
