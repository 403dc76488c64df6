//! Support of a compositor for the required interfaces, found without a dialog for a person.

use std::fs;

use deskhand_desktop::DesktopResult;
use zbus::Connection;

use crate::{
    address::CompositorAddress,
    client::WaylandClient,
    display::CompositorBackend,
    portal::{self, CAST, DEVICES, MONITORS, REMOTE},
    shell::PortalDesktopKind,
    sway::Sway,
    worker::{runtime, session_bus},
};

/// The support that a compositor offers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompositorSupport {
    /// The name of its process; empty if it is not known.
    pub compositor: String,
    /// The interfaces by which it is used.
    pub way: CompositorBackend,
    /// The supported features, in words.
    pub offered: Vec<&'static str>,
    /// The missing features, in words.
    pub missing: Vec<&'static str>,
    /// Steps that a person can take about them; empty if there are none.
    pub advice: Vec<String>,
}

/// The required interfaces: purpose, name and minimum version.
const NEEDED: [(&str, &str, u32); 5] = [
    ("pictures (wlr-screencopy 2)", "zwlr_screencopy_manager_v1", 2),
    ("the pointer (wlr-virtual-pointer)", "zwlr_virtual_pointer_manager_v1", 1),
    ("keys (virtual-keyboard)", "zwp_virtual_keyboard_manager_v1", 1),
    CLIPBOARD,
    ("places of monitors (xdg-output)", "zxdg_output_manager_v1", 1),
];
const CLIPBOARD: (&str, &str, u32) = ("the clipboard (wlr-data-control)", "zwlr_data_control_manager_v1", 1);
const WINDOWS: &str = "windows with their places (the socket of sway)";
const SCREEN: &str = "pictures (the portal ScreenCast)";
const READER: &str = "a reader of its streams (GStreamer with PipeWire)";
const INPUT: &str = "pointer and keys (the portal RemoteDesktop)";
const READER_PACKAGES: &str = "gstreamer1.0-tools gstreamer1.0-plugins-base gstreamer1.0-pipewire";
const EXTENSION: &str = "run `deskhand doctor --gnome-extension`";

impl CompositorSupport {
    /// Asks the compositor. Blocking; for a thread that may block.
    ///
    /// # Errors
    /// [`deskhand_desktop::DesktopError::Failed`] if it refuses the connection.
    pub fn of(address: &CompositorAddress) -> DesktopResult<Self> {
        let client = WaylandClient::open(address)?;
        let name = client.process().and_then(|pid| fs::read_to_string(format!("/proc/{pid}/comm")).ok());
        let compositor = name.unwrap_or_default().trim().to_owned();
        let of_portals = runtime()?.block_on(async {
            let bus = session_bus(address).await.ok()?;
            let kind = PortalDesktopKind::running(&bus).await?;
            Some(Self::of_portals(compositor.clone(), kind, &bus, &client).await)
        });
        match of_portals {
            Some(support) => support,
            None => Ok(Self::of_protocols(compositor, address, &client)),
        }
    }

    fn of_protocols(compositor: String, address: &CompositorAddress, client: &WaylandClient) -> Self {
        let answers = || Sway::open(address.sway.as_ref()?).ok()?.tree().ok();
        let windows = (WINDOWS, answers().is_some());
        let others = NEEDED.iter().map(|(what, interface, least)| (*what, offers(client, interface, *least)));
        Self::sorted(
            compositor,
            CompositorBackend::Wlroots,
            std::iter::once(windows).chain(others),
            Vec::new(),
        )
    }

    /// Returns the support that the portals of a desktop and its compositor offer.
    async fn of_portals(
        compositor: String,
        kind: PortalDesktopKind,
        bus: &Connection,
        client: &WaylandClient,
    ) -> DesktopResult<Self> {
        let windows = kind.lists_windows(bus).await;
        let devices = portal::number(bus, REMOTE, "AvailableDeviceTypes").await?;
        let sources = portal::number(bus, CAST, "AvailableSourceTypes").await?;
        let reads = portal::can_read_streams();
        let (screen, input) = (sources & MONITORS == MONITORS, devices & DEVICES == DEVICES);
        let mut advice = Vec::new();
        if !windows && kind == PortalDesktopKind::Gnome {
            advice.push(EXTENSION.to_owned());
        }
        if !screen || !input {
            advice.push(format!("install `xdg-desktop-portal` and `{}`", kind.portal_package()));
        }
        if !reads {
            advice.push(format!("install `{READER_PACKAGES}`"));
        }
        let all = [(kind.windows(), windows), (SCREEN, screen), (READER, reads), (INPUT, input)];
        let (clipboard, interface, least) = CLIPBOARD;
        let mut support = Self::sorted(compositor, CompositorBackend::Portals, all.into_iter(), advice);
        if offers(client, interface, least) {
            support.offered.push(clipboard);
        }
        Ok(support)
    }

    fn sorted(
        compositor: String,
        way: CompositorBackend,
        all: impl Iterator<Item = (&'static str, bool)>,
        advice: Vec<String>,
    ) -> Self {
        let (offered, missing): (Vec<_>, Vec<_>) = all.partition(|(_, has)| *has);
        let words = |list: Vec<(&'static str, bool)>| list.into_iter().map(|(what, _)| what).collect();
        Self { compositor, way, offered: words(offered), missing: words(missing), advice }
    }

    /// Returns `true` if all of it is there.
    pub fn is_enough(&self) -> bool {
        self.missing.is_empty()
    }

    /// In one sentence.
    pub fn describe(&self) -> String {
        let name = if self.compositor.is_empty() { "the compositor" } else { &self.compositor };
        if self.is_enough() {
            return format!("{name} offers {}", self.offered.join(", "));
        }
        let offered = if self.offered.is_empty() {
            String::new()
        } else {
            format!("; it offers {}", self.offered.join(", "))
        };
        format!("{name} does not offer {}{offered}", self.missing.join(", "))
    }
}

fn offers(client: &WaylandClient, interface: &str, least: u32) -> bool {
    client
        .globals
        .contents()
        .with_list(|all| all.iter().any(|global| global.interface == interface && global.version >= least))
}
