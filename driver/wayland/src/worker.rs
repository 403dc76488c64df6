//! State of the request thread: the windows, the pictures and the input devices of a compositor, each by the
//! protocols of wlroots and the socket of sway, or by the portals and the session bus.

use deskhand_desktop::{DesktopError, DesktopResult, Picture};
use deskhand_ui::geometry::{Rect, Screen};
use tokio::{
    runtime::{Builder, Runtime},
    sync::watch,
};
use zbus::{Connection, connection};

use crate::{
    address::CompositorAddress,
    capture::ScreencopyCapture,
    client::WaylandClient,
    events::Sink,
    hands::WaylandInputDriver,
    input::VirtualHands,
    portal::{Footage, Portal, Remote, areas},
    shell::{PortalDesktopKind, ShellWindowClient},
    sway::Sway,
    windows::{Toplevel, toplevels},
};

/// See the module documentation.
pub(crate) struct WaylandWorker {
    pub(crate) client: WaylandClient,
    pub(crate) windows: WaylandWindowSource,
    pub(crate) eyes: WaylandCaptureSource,
    pub(crate) hands: WaylandInputDriver,
    /// The runtime of requests to the portals. They do not use the connection of the caller, which may end before
    /// the session is closed.
    _runtime: Option<Runtime>,
}

/// The source of the list of windows.
pub(crate) enum WaylandWindowSource {
    Sway(Sway),
    Shell(ShellWindowClient),
}

/// Who takes pictures.
pub(crate) enum WaylandCaptureSource {
    Camera(ScreencopyCapture),
    Footage(Footage),
}

impl WaylandWindowSource {
    /// All windows, bottom-most first.
    pub(crate) fn toplevels(&mut self) -> DesktopResult<Vec<Toplevel>> {
        match self {
            Self::Sway(sway) => toplevels(&sway.tree()?),
            Self::Shell(shell) => shell.toplevels(),
        }
    }

    /// Asks for the focus for a window; returns whether there is such a window.
    pub(crate) fn focus(&mut self, window: u32) -> DesktopResult<bool> {
        match self {
            Self::Sway(sway) => sway.run("activate a window", &format!("[con_id={window}] focus")),
            Self::Shell(shell) => shell.focus(window),
        }
    }

    /// Asks a window to close; returns whether there is such a window.
    pub(crate) fn close(&mut self, window: u32) -> DesktopResult<bool> {
        match self {
            Self::Sway(sway) => sway.run("close a window", &format!("[con_id={window}] kill")),
            Self::Shell(shell) => shell.close(window),
        }
    }
}

impl WaylandWorker {
    /// By the protocols of wlroots.
    pub(crate) fn of_wlroots(mut client: WaylandClient, sway: Sway) -> DesktopResult<Self> {
        let hands = WaylandInputDriver::Virtual(VirtualHands::new(&mut client)?);
        Ok(Self {
            client,
            windows: WaylandWindowSource::Sway(sway),
            eyes: WaylandCaptureSource::Camera(ScreencopyCapture::default()),
            hands,
            _runtime: None,
        })
    }

    /// By the portals; a person may be asked. For a thread that may block.
    pub(crate) fn of_portals(
        address: &CompositorAddress,
        client: WaylandClient,
        sink: &Sink,
    ) -> DesktopResult<Self> {
        let runtime = runtime()?;
        let monitors: Vec<Rect<Screen>> = client.state.monitors.iter().map(|monitor| monitor.area).collect();
        let open = async {
            let bus = session_bus(address).await?;
            let kind = PortalDesktopKind::running(&bus).await.ok_or_else(|| {
                DesktopError::failed("use the portals", "neither GNOME Shell nor KWin is on the session bus")
            })?;
            let shell = ShellWindowClient::open(kind, &bus, sink).await?;
            let (portal, shared) = Portal::open(&bus, address.token.as_deref(), kind.passed()).await?;
            let areas = areas(&shared, &monitors)?;
            let mut sources = Vec::new();
            for (one, area) in shared.iter().zip(areas) {
                sources.push((one.node, area, portal.pipewire().await?.into()));
            }
            Ok::<_, DesktopError>((shell, portal, sources))
        };
        let (shell, portal, sources) = runtime.block_on(open)?;
        let places = sources.iter().map(|(node, area, _)| (*node, *area)).collect();
        let footage = Footage::open(sources, sink)?;
        if !footage.await_first(&runtime) {
            tracing::warn!(
                "the compositor sends no pictures; windows, elements and input are there without them"
            );
        }
        let remote = Remote::new(portal, runtime.handle().clone(), places);
        remote.announce()?;
        let hands = WaylandInputDriver::Remote(remote);
        let (windows, eyes) = (WaylandWindowSource::Shell(shell), WaylandCaptureSource::Footage(footage));
        Ok(Self { client, windows, eyes, hands, _runtime: Some(runtime) })
    }

    /// Returns the receivers that report new pictures; none where pictures are taken on request.
    pub(crate) fn counts(&self) -> Vec<watch::Receiver<u64>> {
        match &self.eyes {
            WaylandCaptureSource::Camera(_) => Vec::new(),
            WaylandCaptureSource::Footage(footage) => footage.counts(),
        }
    }

    /// The areas of the monitors that are shown.
    pub(crate) fn monitors(&mut self) -> DesktopResult<Vec<Rect<Screen>>> {
        self.client.round_trip()?;
        Ok(match &self.eyes {
            WaylandCaptureSource::Camera(_) => {
                self.client.state.monitors.iter().map(|monitor| monitor.area).collect()
            }
            WaylandCaptureSource::Footage(footage) => footage.areas().collect(),
        })
    }

    /// A picture of all monitors, or of a part of them.
    pub(crate) fn picture(&mut self, region: Option<Rect<Screen>>) -> DesktopResult<Picture> {
        match &mut self.eyes {
            WaylandCaptureSource::Camera(camera) => camera.picture(&mut self.client, region),
            WaylandCaptureSource::Footage(footage) => footage.picture(region),
        }
    }

    /// Ends everything that would stay at the compositor.
    pub(crate) fn end(&mut self) {
        self.hands.end();
        if let WaylandWindowSource::Shell(shell) = &self.windows {
            shell.end();
        }
        // The compositor may have ended before.
        self.client.round_trip().ok();
    }
}

/// A runtime for what is asked over the session bus.
pub(crate) fn runtime() -> DesktopResult<Runtime> {
    let built = Builder::new_multi_thread().worker_threads(1).thread_name("wayland-bus").enable_all().build();
    built.map_err(|error| DesktopError::failed("set up the connection to the session bus", error))
}

/// A connection to the session bus of a compositor.
pub(crate) async fn session_bus(address: &CompositorAddress) -> DesktopResult<Connection> {
    let connect = async {
        match &address.bus {
            Some(bus) => connection::Builder::address(bus.as_str())?.build().await,
            None => Connection::session().await,
        }
    };
    connect.await.map_err(|error| DesktopError::failed("connect to the session bus", error))
}
