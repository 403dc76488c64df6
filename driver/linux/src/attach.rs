//! Virtual desktops that a keeper process holds: starting one, and taking over one whose last owner died.

use std::{
    io,
    os::{fd::OwnedFd, unix::net::UnixStream as StdStream},
    process::{Command, Stdio},
    time::Duration,
};

use deskhand_desktop::{DesktopError, DesktopResult};
use deskhand_process::{await_exit, check_peer};
use deskhand_ui::ids::IdsSeen;
use tokio::net::UnixStream;

use crate::{
    blocking::run_blocking,
    desktop::LinuxDesktop,
    parts::{DesktopComponents, read_entries},
    server::DisplayServer,
    times::{StartupTimes, elapsed_ms},
    virtual_desktop::{
        environment::Environment,
        kept::LifeLine,
        processes::Processes,
        protocol::{DesktopHandle, KeeperConnection, KeeperReply},
    },
    x11::display::X11Display,
};

/// Maximum time for a keeper to start, including its desktop.
const KEEPER_BOUND: Duration = Duration::from_secs(90);
/// Maximum time for a keeper to answer a new owner.
const ANSWER_BOUND: Duration = Duration::from_secs(10);

impl LinuxDesktop {
    /// Starts a virtual desktop in a keeper process. `keeper` is the command that calls
    /// [`keep_desktop`](crate::keep_desktop) with the connection on its standard input.
    ///
    /// # Errors
    /// [`DesktopError::Start`] when the keeper or the desktop does not come up, with what to do.
    pub async fn start_kept(mut keeper: Command) -> DesktopResult<Self> {
        let begun = tokio::time::Instant::now();
        let cannot = |error: io::Error| DesktopError::Start {
            what: format!("cannot start the keeper of the desktop: {error}"),
            fix: "see `deskhand doctor`".to_owned(),
        };
        let (ours, theirs) = StdStream::pair().map_err(cannot)?;
        keeper.stdin(OwnedFd::from(theirs)).stdout(Stdio::null()).stderr(Stdio::null());
        let child = keeper.spawn().map_err(cannot)?;
        // Our copy of its end goes with the command.
        drop(keeper);
        let ended = await_exit(child, "desktop-keeper").map_err(cannot)?;
        ours.set_nonblocking(true).map_err(cannot)?;
        let mut line = KeeperConnection::over(UnixStream::from_std(ours).map_err(cannot)?);
        let answer = tokio::time::timeout(KEEPER_BOUND, line.receive::<KeeperReply>())
            .await
            .map_err(|_| cannot(io::Error::other("it did not report a desktop in time")))?
            .map_err(cannot)?;
        let stream = line.into_stream().into_std().map_err(cannot)?;
        let life_line = LifeLine::new(stream, Some(ended));
        match answer {
            Some(KeeperReply::Ready { handle, startup }) => {
                let startup = StartupTimes { total_ms: elapsed_ms(begun), ..startup };
                Self::of_kept(handle, startup, life_line, IdsSeen::default()).await
            }
            Some(KeeperReply::Failed { what, fix }) => Err(DesktopError::Start { what, fix }),
            Some(KeeperReply::Busy) | None => {
                Err(cannot(io::Error::other("it exited before reporting a desktop")))
            }
        }
    }

    /// Takes over a desktop whose last owner died. Windows have the ids that they had; new ids start above those
    /// that were `seen`.
    ///
    /// # Errors
    /// [`DesktopError::Gone`] when the desktop is not kept any more, or has another owner.
    pub async fn attach(handle: &DesktopHandle, seen: IdsSeen) -> DesktopResult<Self> {
        let gone = |reason: String| DesktopError::Gone {
            what: format!("the virtual desktop {} is no longer available ({reason})", handle.display),
        };
        let connect = async {
            let stream = UnixStream::connect(&handle.socket).await?;
            // An application that listens in its place must not choose our desktop.
            check_peer(&stream).map_err(io::Error::other)?;
            let mut line = KeeperConnection::over(stream);
            let answer = line.receive::<KeeperReply>().await?;
            Ok::<_, io::Error>((answer, line.into_stream().into_std()?))
        };
        let (answer, stream) = tokio::time::timeout(ANSWER_BOUND, connect)
            .await
            .map_err(|_| gone("its keeper does not answer".to_owned()))?
            .map_err(|error| gone(error.to_string()))?;
        match answer {
            Some(KeeperReply::Ready { handle: ready, startup }) if ready == *handle => {
                let life_line = LifeLine::new(stream, None);
                Self::of_kept(ready, startup, life_line, seen).await
            }
            Some(KeeperReply::Ready { .. }) => Err(gone("another desktop uses its socket".to_owned())),
            Some(KeeperReply::Busy) => Err(gone("another process uses it".to_owned())),
            Some(KeeperReply::Failed { .. }) | None => Err(gone("its keeper has ended".to_owned())),
        }
    }

    /// From now on, if this process dies, the keeper holds the desktop for `grace` so that another process can
    /// [attach](Self::attach) to it. Does nothing for a desktop without a keeper.
    ///
    /// # Errors
    /// [`DesktopError::Gone`] if the keeper has ended.
    pub fn keep_for(&self, grace: Duration) -> DesktopResult<()> {
        self.processes()
            .with_life_line(|line| line.keep(grace))
            .unwrap_or(Ok(()))
            .map_err(|error| keeper_gone(&error))
    }

    /// Disconnects from a desktop that a keeper holds, and leaves it there with everything on it: another process can
    /// [attach](Self::attach) to it within `grace`. A desktop without a keeper ends.
    ///
    /// # Errors
    /// [`DesktopError::Gone`] if the keeper has ended, and the desktop with it.
    pub async fn leave(self, grace: Duration) -> DesktopResult<()> {
        let left = self.processes().leave(grace).map_err(|error| keeper_gone(&error))?;
        if !left {
            self.shut_down().await;
        }
        Ok(())
    }

    async fn of_kept(
        handle: DesktopHandle,
        startup: StartupTimes,
        life_line: LifeLine,
        seen: IdsSeen,
    ) -> DesktopResult<Self> {
        let mut environment = Environment::of_this_process().of_virtual_desktop(&handle.private_folder);
        let processes = Processes::kept(life_line, &handle.private_folder, environment.path());
        environment.set("DISPLAY", &handle.display);
        let opened = handle.clone();
        let open = move || X11Display::open(&opened.address()?, opened.display);
        let (display, entries) = tokio::try_join!(run_blocking(open), read_entries(&environment))?;
        let display = display?;
        take_over(&display, seen).await?;
        let parts = DesktopComponents {
            server: DisplayServer::X11(display),
            environment,
            processes,
            private_folder: Some(handle.private_folder.clone()),
            session_bus_address: Some(handle.session_bus_address.clone()),
            accessibility_address: Some(handle.accessibility_address.clone()),
            entries,
            startup,
            handle: Some(handle),
            elements_given: seen.element,
        };
        Ok(Self::of_parts(parts).await)
    }
}

/// Cleans up after a former owner: releases keys and buttons, and restores the ids of windows. Nothing may list windows before: they would
/// get new ids, which would replace those that are stored on them.
async fn take_over(display: &X11Display, seen: IdsSeen) -> DesktopResult<()> {
    let marked = display
        .call("take over a desktop", |worker| {
            worker.release_all()?;
            worker.marked_windows()
        })
        .await?;
    display.with_registry(|registry| {
        registry.restore(marked);
        registry.mark_from(seen.window);
    });
    Ok(())
}

fn keeper_gone(error: &io::Error) -> DesktopError {
    DesktopError::Gone { what: format!("the keeper of the desktop has ended ({error})") }
}
