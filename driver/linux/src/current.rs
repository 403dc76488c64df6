//! The desktop that the user sits at: on Wayland if a compositor is named, else on X11.

use std::{ffi::OsString, path::PathBuf, time::Duration};

use deskhand_desktop::{DesktopError, DesktopResult};
use deskhand_desktop_wayland as wayland;
use tokio::time::Instant;

use crate::{
    blocking::run_blocking,
    desktop::LinuxDesktop,
    desktop_entries::data_folders,
    parts::{DesktopComponents, read_entries},
    server::DisplayServer,
    times::{StartupTimes, elapsed_ms},
    virtual_desktop::{accessibility_bus, environment::Environment, processes::Processes},
    wayland::Compositor,
    x11::{address::X11Address, display::X11Display},
};

/// Maximum time for the session bus of the user to return the address of the accessibility bus.
const BUS_BOUND: Duration = Duration::from_secs(10);

impl LinuxDesktop {
    /// Connects to the desktop that `WAYLAND_DISPLAY` or else `DISPLAY` names. Its programs keep running when this is dropped.
    ///
    /// # Errors
    /// [`DesktopError::Start`] if there is no display, it refuses the connection, or its compositor does not offer what is needed.
    pub async fn connect_current() -> DesktopResult<Self> {
        Self::connect(Environment::of_this_process()).await
    }

    /// The same for the desktop that these variables name, instead of those of this process.
    ///
    /// # Errors
    /// As [`Self::connect_current`].
    pub async fn connect_to(
        variables: impl IntoIterator<Item = (OsString, OsString)>,
    ) -> DesktopResult<Self> {
        Self::connect(Environment::passed(variables.into_iter())).await
    }

    async fn connect(mut environment: Environment) -> DesktopResult<Self> {
        let begun = Instant::now();
        let server =
            match wayland::CompositorAddress::of(|name| environment.find(name).map(ToOwned::to_owned)) {
                Some(address) => DisplayServer::Wayland(Box::new(compositor(address).await?)),
                None => DisplayServer::X11(x_server(&environment).await?),
            };
        let display_ms = elapsed_ms(begun);
        environment.expose_elements();
        let session_bus_address = environment
            .find("DBUS_SESSION_BUS_ADDRESS")
            .map(|address| address.to_string_lossy().into_owned());
        let accessibility_address = accessibility_address(session_bus_address.as_deref()).await;
        let entries = read_entries(&environment).await?;
        let total_ms = elapsed_ms(begun);
        let parts = DesktopComponents {
            server,
            environment,
            processes: Processes::unguarded(),
            private_folder: None,
            session_bus_address,
            accessibility_address,
            entries,
            startup: StartupTimes { display_ms, total_ms, ..StartupTimes::default() },
            handle: None,
            elements_given: 0,
        };
        Ok(Self::of_parts(parts).await)
    }
}

/// Returns the features of the compositor that `WAYLAND_DISPLAY` names, if a person has to consent before it is
/// used; `None` for every other desktop.
pub async fn portal_support() -> Option<wayland::CompositorSupport> {
    let environment = Environment::of_this_process();
    let address = wayland::CompositorAddress::of(|name| environment.find(name).map(ToOwned::to_owned))?;
    let support = run_blocking(move || wayland::CompositorSupport::of(&address)).await.ok()?.ok()?;
    (support.way == wayland::CompositorBackend::Portals).then_some(support)
}

/// Installs the extension of GNOME Shell that lists windows, for the user and for the GNOME Shell that runs; returns its folder.
///
/// # Errors
/// [`DesktopError::Start`] if no GNOME Shell runs on the session bus of this process, [`DesktopError::Failed`] if a file cannot be written.
pub async fn install_gnome_extension() -> DesktopResult<PathBuf> {
    let version = wayland::gnome_shell_version().await.ok_or_else(|| DesktopError::Start {
        what: "GNOME Shell is not on the session bus".to_owned(),
        fix: "run this in a session of GNOME".to_owned(),
    })?;
    let environment = Environment::of_this_process();
    let folders = data_folders(|name| environment.find(name).map(ToOwned::to_owned));
    let failed = |error: std::io::Error| DesktopError::failed("install the extension of GNOME Shell", error);
    // The first is that of the user.
    let own = folders.into_iter().next().ok_or_else(|| failed(std::io::ErrorKind::NotFound.into()))?;
    let extensions = own.join("gnome-shell/extensions");
    let written = extensions.clone();
    run_blocking(move || wayland::write_gnome_extension(&written, version)).await?.map_err(failed)?;
    Ok(extensions.join(wayland::GNOME_EXTENSION))
}

async fn x_server(environment: &Environment) -> DesktopResult<X11Display> {
    let name =
        environment.find("DISPLAY").filter(|name| !name.is_empty()).ok_or_else(|| DesktopError::Start {
            what: "neither WAYLAND_DISPLAY nor DISPLAY is set".to_owned(),
            fix: "use `--desktop virtual` for a private desktop, or run this in a graphical session"
                .to_owned(),
        })?;
    let name = name.to_string_lossy().into_owned();
    let opened = name.clone();
    let display = run_blocking(move || X11Display::open(&X11Address::Environment, opened)).await?;
    display.map_err(|error| DesktopError::Start {
        what: format!("display {name} refused the connection ({})", error.chain()),
        fix: "check DISPLAY and XAUTHORITY, or use `--desktop virtual` for a private desktop".to_owned(),
    })
}

/// Connects to a compositor that offers what is needed.
async fn compositor(address: wayland::CompositorAddress) -> DesktopResult<Compositor> {
    const FIX: &str = "use `--desktop virtual` for a private desktop, which works as on X11";
    let asked = address.clone();
    let name = address.name();
    let refused = |error: DesktopError| DesktopError::Start {
        what: format!("the Wayland display {name} cannot be used ({})", error.chain()),
        fix: format!("check WAYLAND_DISPLAY, XDG_RUNTIME_DIR and SWAYSOCK, or {FIX}"),
    };
    let support = run_blocking(move || wayland::CompositorSupport::of(&asked)).await?.map_err(refused)?;
    if !support.is_enough() {
        let fix = match support.advice.as_slice() {
            [] => FIX.to_owned(),
            advice => format!("{}; or {FIX}", advice.join("; ")),
        };
        return Err(DesktopError::Start { what: support.describe(), fix });
    }
    let opened = run_blocking(move || Compositor::open(&address, support.way)).await?;
    // One that cannot start names the next step itself.
    opened.map_err(|error| if matches!(error, DesktopError::Start { .. }) { error } else { refused(error) })
}

/// Enables accessibility on the session bus of the user, and returns the address of its bus.
async fn accessibility_address(session_bus: Option<&str>) -> Option<String> {
    let find = async {
        let session = match session_bus {
            Some(address) => accessibility_bus::connect(address).await?,
            None => zbus::Connection::session().await?,
        };
        accessibility_bus::enable(&session).await
    };
    match tokio::time::timeout(BUS_BOUND, find).await {
        Ok(Ok(address)) => Some(address),
        Ok(Err(error)) => {
            tracing::warn!(%error, "cannot reach the accessibility bus; elements are not available");
            None
        }
        Err(_) => {
            tracing::warn!("the session bus did not answer; elements are not available");
            None
        }
    }
}
