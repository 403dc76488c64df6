//! Whether an application sleeps, and everyone with it who may be at work for it: the X server, the window manager, and the
//! services behind the session bus.

use std::{os::unix::net::UnixStream, time::Duration};

use deskhand_desktop::DesktopResult;
use rustix::net::sockopt::socket_peercred;

use crate::{blocking::run_blocking, desktop::LinuxDesktop, kernel};

/// How long the process of an application and its descendants sleep on; zero if they or what serves them work, or if that
/// is not known.
pub(super) async fn sleeps_for(desktop: &LinuxDesktop, pid: Option<u32>) -> DesktopResult<Duration> {
    let Some(pid) = pid else { return Ok(Duration::ZERO) };
    let servers = desktop.servers().await?.to_vec();
    let since = desktop.history().since_sent();
    let look = move || {
        let before = kernel::work_of(pid)?;
        kernel::sleeps_for(pid, since)?;
        if !servers.iter().all(|server| kernel::is_at_rest(*server)) {
            return None;
        }
        // A server that has just answered is at rest, and the application is not.
        let sleeps = kernel::sleeps_for(pid, since)?;
        (kernel::work_of(pid)? == before).then_some(sleeps)
    };
    Ok(run_blocking(look).await?.unwrap_or(Duration::ZERO))
}

/// The process that listens at a bus address such as `unix:path=/run/bus,guid=…`; `None` if that is no socket in the file
/// system.
pub(crate) fn bus_process(address: &str) -> Option<u32> {
    let path = address.strip_prefix("unix:path=")?.split([',', ';']).next()?;
    let stream = UnixStream::connect(path).ok()?;
    u32::try_from(socket_peercred(&stream).ok()?.pid.as_raw_nonzero().get()).ok()
}
