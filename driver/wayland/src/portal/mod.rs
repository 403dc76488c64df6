//! The portals of a desktop: a session of `org.freedesktop.portal.RemoteDesktop` with the streams of `ScreenCast`, which GNOME and KDE offer
//! instead of the protocols of wlroots. A person allows it in a dialog of the desktop.
//!
//! - [`Portal`] is the session; `request` is one question to a portal; `token` keeps what spares the dialog the next time.
//! - `remote` sends pointer and keys, `stream` reads pictures, `changes` finds what was drawn between two of them.

mod changes;
mod remote;
mod request;
mod stream;
mod token;

use std::{collections::HashMap, path::Path, time::Duration};

use deskhand_desktop::{DesktopError, DesktopResult};
use deskhand_ui::geometry::{Rect, Screen};
use serde::Serialize;
use tokio::time::timeout;
use zbus::{
    Connection,
    zvariant::{DynamicType, OwnedFd, OwnedObjectPath, OwnedValue, Value},
};

pub(crate) use remote::Remote;
pub(crate) use stream::{Footage, can_read_streams, catch_up};

use request::{Options, PortalStartResults, SessionMade, ask};
use token::Token;

pub(crate) const SERVICE: &str = "org.freedesktop.portal.Desktop";
pub(crate) const PATH: &str = "/org/freedesktop/portal/desktop";
pub(crate) const REMOTE: &str = "org.freedesktop.portal.RemoteDesktop";
pub(crate) const CAST: &str = "org.freedesktop.portal.ScreenCast";
const PROPERTIES: &str = "org.freedesktop.DBus.Properties";
/// Keyboard and pointer, as bits of the types of devices.
pub(crate) const DEVICES: u32 = 1 | 2;
/// Whole monitors, as a bit of the types of sources.
pub(crate) const MONITORS: u32 = 1;
/// The pointer is not drawn into the pictures.
const NO_CURSOR: u32 = 1;
/// The permission holds until the person takes it back.
const PERSIST: u32 = 2;
/// The first version of `RemoteDesktop` that remembers permissions.
const PERSIST_VERSION: u32 = 2;
/// Maximum time for a portal to answer requests that involve no person.
pub(crate) const ANSWER_BOUND: Duration = Duration::from_secs(10);
/// Maximum time for a person to answer the dialog.
const PERSON_BOUND: Duration = Duration::from_secs(120);

/// A monitor that is shared with us.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SharedMonitor {
    /// The number of its PipeWire node.
    pub(crate) node: u32,
    /// Its place in the layout, if the portal says it; else only its size.
    pub(crate) place: Option<(i32, i32)>,
    /// Its size in units of the layout.
    pub(crate) size: Option<(i32, i32)>,
}

/// A session that a person has allowed.
pub(crate) struct Portal {
    bus: Connection,
    session: OwnedObjectPath,
    /// The service behind the portal and something of the compositor: whoever answers has handled what was sent before.
    passed: [PortalFenceProperty; 2],
}

/// A property whose answer says that everything sent before was handled.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PortalFenceProperty {
    pub(crate) service: &'static str,
    pub(crate) path: &'static str,
    pub(crate) interface: &'static str,
    pub(crate) property: &'static str,
}

impl Portal {
    /// Asks for a session with pointer, keys and the monitors. It waits for the person, at most [`PERSON_BOUND`].
    pub(crate) async fn open(
        bus: &Connection,
        token_file: Option<&Path>,
        passed: [PortalFenceProperty; 2],
    ) -> DesktopResult<(Self, Vec<SharedMonitor>)> {
        let remembers = version(bus, REMOTE).await? >= PERSIST_VERSION;
        let token = Token::of(token_file.filter(|_| remembers));
        let mut options = Options::from([("session_handle_token", Value::from("deskhand"))]);
        let made: SessionMade =
            ask(bus, (REMOTE, "CreateSession"), ANSWER_BOUND, options, |all| (all,)).await?;
        let session = made.path()?;
        options = Options::from([("types", Value::from(DEVICES))]);
        if remembers {
            options.insert("persist_mode", Value::from(PERSIST));
            if let Some(known) = token.read() {
                options.insert("restore_token", Value::from(known));
            }
        }
        let of_session = |all| (session.clone(), all);
        ask::<_, OwnedNothing>(bus, (REMOTE, "SelectDevices"), ANSWER_BOUND, options, of_session).await?;
        options = Options::from([
            ("types", Value::from(MONITORS)),
            ("multiple", Value::from(true)),
            ("cursor_mode", Value::from(NO_CURSOR)),
        ]);
        ask::<_, OwnedNothing>(bus, (CAST, "SelectSources"), ANSWER_BOUND, options, of_session).await?;
        tracing::warn!(
            "the desktop may ask you to share the screen and to allow remote interaction: answer its dialog within {} s",
            PERSON_BOUND.as_secs()
        );
        let start = |all| (session.clone(), "", all);
        let started: PortalStartResults =
            ask(bus, (REMOTE, "Start"), PERSON_BOUND, Options::new(), start).await?;
        if let Some(restore) = started.restore_token.as_deref() {
            token.write(restore);
        }
        let shared = started.shared()?;
        Ok((Self { bus: bus.clone(), session, passed }, shared))
    }

    /// A connection to PipeWire that shows the shared monitors.
    pub(crate) async fn pipewire(&self) -> DesktopResult<OwnedFd> {
        const OPERATION: &str = "open the stream of the screen";
        let options: HashMap<&str, Value<'_>> = HashMap::new();
        let body = (&self.session, options);
        let call = self.bus.call_method(Some(SERVICE), PATH, Some(CAST), "OpenPipeWireRemote", &body);
        let failed = |error: zbus::Error| DesktopError::failed(OPERATION, error);
        let late = |_| DesktopError::failed(OPERATION, "the portal did not answer");
        let reply = timeout(ANSWER_BOUND, call).await.map_err(late)?.map_err(failed)?;
        reply.body().deserialize::<OwnedFd>().map_err(failed)
    }

    /// Sends one event of a device. `rest` follows the session and the options.
    async fn notify<B>(
        &self,
        method: &'static str,
        body: impl FnOnce(OwnedObjectPath, HashMap<&'static str, Value<'static>>) -> B,
    ) -> DesktopResult<()>
    where
        B: Serialize + DynamicType + Send + Sync,
    {
        let body = body(self.session.clone(), HashMap::new());
        let call = self.bus.call_method(Some(SERVICE), PATH, Some(REMOTE), method, &body);
        match timeout(ANSWER_BOUND, call).await {
            Ok(Ok(_)) => Ok(()),
            Ok(Err(error)) => {
                tracing::debug!(%error, method, "the portal refused an event");
                let reason = "the portal refused it; has the permission been taken back?";
                Err(DesktopError::failed("use pointer and keys", reason))
            }
            Err(_) => Err(DesktopError::failed("use pointer and keys", "the portal did not answer")),
        }
    }

    /// Waits until the compositor has got what was sent.
    async fn pass(&self) {
        for PortalFenceProperty { service, path, interface, property } in self.passed {
            let body = (interface, property);
            let call = self.bus.call_method(Some(service), path, Some(PROPERTIES), "Get", &body);
            // An error is an answer, too.
            if timeout(ANSWER_BOUND, call).await.is_err() {
                tracing::debug!(service, "no answer");
            }
        }
    }

    /// Ends the session.
    async fn close(&self) {
        let end = self.bus.call_method(
            Some(SERVICE),
            &self.session,
            Some("org.freedesktop.portal.Session"),
            "Close",
            &(),
        );
        timeout(ANSWER_BOUND, end).await.ok();
    }
}

/// The result of a request that has none.
type OwnedNothing = HashMap<String, OwnedValue>;

/// A number that a portal tells; 0 if there is no such portal.
///
/// # Errors
/// [`DesktopError::Failed`] if the bus does not answer.
pub(crate) async fn number(bus: &Connection, interface: &str, property: &str) -> DesktopResult<u32> {
    let body = (interface, property);
    let call = bus.call_method(Some(SERVICE), PATH, Some(PROPERTIES), "Get", &body);
    match timeout(ANSWER_BOUND, call).await {
        Ok(Ok(reply)) => {
            let value = reply.body().deserialize::<OwnedValue>().ok();
            Ok(value.and_then(|value| u32::try_from(value).ok()).unwrap_or(0))
        }
        Ok(Err(error)) => {
            tracing::debug!(%error, interface, property, "no such portal");
            Ok(0)
        }
        Err(_) => Err(DesktopError::failed("ask the portal of the desktop", "it did not answer")),
    }
}

async fn version(bus: &Connection, interface: &str) -> DesktopResult<u32> {
    number(bus, interface, "version").await
}

/// Returns the areas of the shared monitors. Values that the portal does not report for one are found among
/// the monitors of the compositor, by its size.
pub(crate) fn areas(shared: &[SharedMonitor], monitors: &[Rect<Screen>]) -> DesktopResult<Vec<Rect<Screen>>> {
    let area = |one: &SharedMonitor| {
        if let (Some((x, y)), Some((width, height))) = (one.place, one.size) {
            return Ok(Rect::new(x, y, width, height));
        }
        let is_it = |area: &&Rect<Screen>| one.size.is_none_or(|size| size == (area.width, area.height));
        let mut fitting = monitors.iter().filter(is_it);
        match (fitting.next(), fitting.next()) {
            (Some(area), None) => Ok(*area),
            (Some(_), Some(_)) | (None, _) => Err(DesktopError::failed(
                "place a shared monitor",
                "the portal does not say where it is; share a single monitor",
            )),
        }
    };
    shared.iter().map(area).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shared_monitor_without_a_place_is_found_by_its_size() {
        let monitors = [Rect::new(0, 0, 800, 600), Rect::new(800, 0, 1280, 800)];
        let shared = |place, size| SharedMonitor { node: 7, place, size };
        let found = areas(&[shared(None, Some((1280, 800)))], &monitors).unwrap();
        assert_eq!(found, [monitors[1]]);
        let found = areas(&[shared(Some((5, 6)), Some((70, 80)))], &monitors).unwrap();
        assert_eq!(found, [Rect::new(5, 6, 70, 80)]);
        assert!(areas(&[shared(None, None)], &monitors).is_err());
        assert_eq!(areas(&[shared(None, None)], &monitors[..1]).unwrap(), [monitors[0]]);
    }
}
