//! The windows of GNOME Shell. It tells other programs nothing of them, so an extension of ours does, which a person installs and enables.

use std::{fs, io, path::Path, time::Duration};

use deskhand_desktop::{DesktopError, DesktopResult};
use futures_util::StreamExt as _;
use serde::Serialize;
use tokio::{task::JoinSet, time::timeout};
use zbus::{
    Connection, MatchRule, MessageStream,
    zvariant::{DynamicType, OwnedValue},
};

use crate::events::{CompositorEvent, Sink};

pub(crate) const SERVICE: &str = "org.gnome.Shell";
const PATH: &str = "/org/deskhand/Windows";
const INTERFACE: &str = "org.deskhand.Windows";
/// The name of the extension, which is that of its folder.
pub const GNOME_EXTENSION: &str = "windows@deskhand";
/// The first version of GNOME Shell whose extensions are modules.
const MODULES: u32 = 45;
/// Maximum time for GNOME Shell to answer.
const BOUND: Duration = Duration::from_secs(4);

/// The body of the extension, in the JavaScript of all versions, and the code around it for modules and for
/// older scripts.
const BODY: &str = include_str!("gnome/body.js");
const MODULE: [&str; 2] =
    [include_str!("gnome/module-head.js"), "\nexport default class extends Windows {}\n"];
const SCRIPT: [&str; 2] =
    [include_str!("gnome/script-head.js"), "\nfunction init() {\n    return new Windows();\n}\n"];

/// A connection to the extension.
pub(super) struct Gnome {
    bus: Connection,
    /// Aborted when it is dropped.
    _follow: JoinSet<()>,
}

impl Gnome {
    pub(super) async fn open(bus: &Connection, sink: &Sink) -> DesktopResult<Self> {
        let failed = |error: zbus::Error| DesktopError::failed("follow the windows of GNOME Shell", error);
        let rule = MatchRule::builder()
            .msg_type(zbus::message::Type::Signal)
            .interface(INTERFACE)
            .and_then(|rule| rule.path(PATH))
            .and_then(|rule| rule.sender(SERVICE))
            .map_err(failed)?
            .build();
        let mut changes = MessageStream::for_match_rule(rule, bus, None).await.map_err(failed)?;
        let sink = sink.clone();
        let mut follow = JoinSet::new();
        follow.spawn(async move {
            while let Some(Ok(_)) = changes.next().await {
                sink(CompositorEvent::WindowsChanged);
            }
        });
        Ok(Self { bus: bus.clone(), _follow: follow })
    }

    async fn ask<B: Serialize + DynamicType + Sync>(
        &self,
        operation: &'static str,
        method: &'static str,
        body: &B,
    ) -> DesktopResult<zbus::Message> {
        let call = self.bus.call_method(Some(SERVICE), PATH, Some(INTERFACE), method, body);
        match timeout(BOUND, call).await {
            Ok(Ok(reply)) => Ok(reply),
            Ok(Err(error)) => Err(DesktopError::failed(operation, error)),
            Err(_) => Err(DesktopError::failed(operation, "GNOME Shell did not answer")),
        }
    }

    pub(super) async fn list(&self) -> DesktopResult<String> {
        const OPERATION: &str = "list the windows";
        let reply = self.ask(OPERATION, "List", &()).await?;
        reply.body().deserialize().map_err(|error| DesktopError::failed(OPERATION, error))
    }

    pub(super) async fn change(
        &self,
        operation: &'static str,
        method: &'static str,
        id: &str,
    ) -> DesktopResult<bool> {
        let reply = self.ask(operation, method, &(id,)).await?;
        reply.body().deserialize().map_err(|error| DesktopError::failed(operation, error))
    }
}

/// Returns `true` if the extension runs.
pub(super) async fn is_there(bus: &Connection) -> bool {
    let call = bus.call_method(Some(SERVICE), PATH, Some(INTERFACE), "List", &());
    matches!(timeout(BOUND, call).await, Ok(Ok(_)))
}

/// The major version of the GNOME Shell on the session bus of this process, such as 43; `None` if there is none.
pub async fn gnome_shell_version() -> Option<u32> {
    let bus = Connection::session().await.ok()?;
    let body = (SERVICE, "ShellVersion");
    let properties = Some("org.freedesktop.DBus.Properties");
    let call = bus.call_method(Some(SERVICE), "/org/gnome/Shell", properties, "Get", &body);
    let reply = timeout(BOUND, call).await.ok()?.ok()?;
    let value = reply.body().deserialize::<OwnedValue>().ok()?;
    String::try_from(value).ok()?.split('.').next()?.parse().ok()
}

/// Writes the extension that lists windows into a folder of extensions, for a major version of GNOME Shell. Blocking.
///
/// # Errors
/// If a file cannot be written.
pub fn write_gnome_extension(extensions: &Path, version: u32) -> io::Result<()> {
    let folder = extensions.join(GNOME_EXTENSION);
    fs::create_dir_all(&folder)?;
    let [head, end] = if version >= MODULES { MODULE } else { SCRIPT };
    let facts = serde_json::json!({
        "uuid": GNOME_EXTENSION,
        "name": "Deskhand",
        "description": "Tells Deskhand which windows are where, and activates and closes them for it.",
        "shell-version": [version.to_string()],
    });
    fs::write(folder.join("metadata.json"), facts.to_string())?;
    fs::write(folder.join("extension.js"), [head, BODY, end].concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_extension_is_written_as_a_version_needs_it() {
        let extensions = std::env::temp_dir().join(format!("deskhand-extension-{}", std::process::id()));
        let written = |version: u32| {
            write_gnome_extension(&extensions, version).unwrap();
            let read = |name: &str| fs::read_to_string(extensions.join(GNOME_EXTENSION).join(name)).unwrap();
            (read("metadata.json"), read("extension.js"))
        };
        let (facts, script) = written(43);
        assert!(facts.contains(r#""shell-version":["43"]"#), "{facts}");
        assert!(script.contains("imports.gi") && script.contains("function init()") && script.contains(PATH));
        let (_, module) = written(46);
        assert!(
            module.contains("gi://Meta") && module.contains("export default") && !module.contains("imports.")
        );
        fs::remove_dir_all(extensions).unwrap();
    }
}
