//! Sleep detection for an application and everything that may work for it: the X server, the window manager,
//! and the services behind the session bus.

use std::time::Duration;

use deskhand_desktop::DesktopResult;

use crate::{blocking::run_blocking, desktop::LinuxDesktop, kernel};

/// Returns how long the process of an application and its descendants will sleep; zero if they or the
/// services they use are working, or if that is unknown.
pub(super) async fn sleeps_for(desktop: &LinuxDesktop, pid: Option<u32>) -> DesktopResult<Duration> {
    let Some(pid) = pid else { return Ok(Duration::ZERO) };
    let servers = desktop.servers().await?.to_vec();
    let since = desktop.history().since_sent();
    let look = move || {
        let before = kernel::work_of(pid)?;
        // The application last: a server that has just answered it is at rest, and the application is not.
        if !servers.iter().all(|server| kernel::is_at_rest(*server)) {
            return None;
        }
        let sleeps = kernel::sleeps_for(pid, since)?;
        (kernel::work_of(pid)? == before).then_some(sleeps)
    };
    Ok(run_blocking(look).await?.unwrap_or(Duration::ZERO))
}
