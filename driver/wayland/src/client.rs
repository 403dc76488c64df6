//! One connection to a compositor.

use std::{
    os::{fd::AsFd as _, unix::net::UnixStream},
    time::{Duration, Instant},
};

use deskhand_desktop::{DesktopError, DesktopResult};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use wayland_client::{
    Connection, Dispatch, EventQueue, Proxy,
    globals::{GlobalList, registry_queue_init},
    protocol::wl_output::WlOutput,
};

use crate::{address::CompositorAddress, state::WaylandState};

/// Maximum time for a compositor to answer before it counts as gone.
pub(crate) const ANSWER_BOUND: Duration = Duration::from_secs(4);

/// One connection.
pub(crate) struct WaylandClient {
    pub(crate) connection: Connection,
    pub(crate) queue: EventQueue<WaylandState>,
    pub(crate) globals: GlobalList,
    pub(crate) state: WaylandState,
    name: String,
}

impl WaylandClient {
    /// Connects, and learns what is offered and where the monitors are. Blocking.
    pub(crate) fn open(address: &CompositorAddress) -> DesktopResult<Self> {
        let name = address.name();
        let operation = format!("connect to the compositor of {name}");
        let stream = UnixStream::connect(&address.socket)
            .map_err(|error| DesktopError::failed(operation.as_str(), error))?;
        let connection = Connection::from_socket(stream)
            .map_err(|error| DesktopError::failed(operation.as_str(), error))?;
        let (globals, queue) = registry_queue_init::<WaylandState>(&connection)
            .map_err(|error| DesktopError::failed(operation.as_str(), error))?;
        let mut client = Self { connection, queue, globals, state: WaylandState::default(), name };
        let handle = client.queue.handle();
        client.state.places = client.globals.bind(&handle, 1..=3, ()).ok();
        let outputs: Vec<(u32, u32)> = client.globals.contents().with_list(|all| {
            let outputs = all.iter().filter(|global| global.interface == WlOutput::interface().name);
            outputs.map(|global| (global.name, global.version)).collect()
        });
        for (name, version) in outputs {
            client.state.add_monitor(client.globals.registry(), name, version, &handle);
        }
        client.round_trip()?;
        Ok(client)
    }

    /// Waits until the compositor has handled all requests so far.
    pub(crate) fn round_trip(&mut self) -> DesktopResult<()> {
        let Self { queue, state, .. } = self;
        match queue.roundtrip(state) {
            Ok(_) => Ok(()),
            Err(error) => {
                tracing::debug!(%error, "the compositor is gone");
                Err(self.gone())
            }
        }
    }

    /// Handles what arrives until `done`, at most `bound`; returns whether it is.
    pub(crate) fn wait(
        &mut self,
        bound: Duration,
        done: impl Fn(&WaylandState) -> bool,
    ) -> DesktopResult<bool> {
        let until = Instant::now() + bound;
        loop {
            self.dispatch()?;
            if done(&self.state) {
                return Ok(true);
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(false);
            }
            self.queue.flush().map_err(|_| self.gone())?;
            let Some(guard) = self.queue.prepare_read() else { continue };
            let timeout = Timespec::try_from(left).ok();
            let socket = guard.connection_fd();
            match poll(&mut [PollFd::new(&socket, PollFlags::IN)], timeout.as_ref()) {
                Ok(0) | Err(rustix::io::Errno::INTR) => drop(guard),
                Ok(_) => read(guard).map_err(|()| self.gone())?,
                Err(error) => return Err(DesktopError::failed("wait for the compositor", error)),
            }
        }
    }

    /// Handles what has arrived.
    pub(crate) fn dispatch(&mut self) -> DesktopResult<()> {
        let Self { queue, state, .. } = self;
        queue.dispatch_pending(state).map(drop).map_err(|_| self.gone())
    }

    /// The error of a compositor that has ended.
    pub(crate) fn gone(&self) -> DesktopError {
        gone(&self.name)
    }

    /// Something that the compositor offers, in one of these versions.
    pub(crate) fn bind<I>(&self, operation: &str, versions: std::ops::RangeInclusive<u32>) -> DesktopResult<I>
    where
        I: Proxy + 'static,
        WaylandState: Dispatch<I, ()>,
    {
        self.globals.bind(&self.queue.handle(), versions, ()).map_err(|_| {
            DesktopError::failed(operation, format!("the compositor does not offer {}", I::interface().name))
        })
    }

    /// The process of the compositor.
    pub(crate) fn process(&self) -> Option<u32> {
        let backend = self.connection.backend();
        let peer = rustix::net::sockopt::socket_peercred(backend.poll_fd().as_fd()).ok()?;
        u32::try_from(peer.pid.as_raw_nonzero().get()).ok()
    }
}

/// Reads what has arrived; another thread may have done so.
pub(crate) fn read(guard: wayland_client::backend::ReadEventsGuard) -> Result<(), ()> {
    use wayland_client::backend::WaylandError;
    match guard.read() {
        Ok(_) => Ok(()),
        Err(WaylandError::Io(error)) if error.kind() == std::io::ErrorKind::WouldBlock => Ok(()),
        Err(error) => {
            tracing::debug!(%error, "the compositor is gone");
            Err(())
        }
    }
}

/// The error of a compositor that has ended.
pub(crate) fn gone(name: &str) -> DesktopError {
    DesktopError::Gone { what: format!("the compositor of {name} has ended") }
}
