//! The toolkit of a process, by the files that it has loaded.

use std::fs;

use super::{
    definition::{Exposes, ToolkitDefinition},
    qt::WEB_ENGINE,
    table::TOOLKITS,
};

/// Libraries loaded by programs that show windows. A program with one of them and none of a toolkit of the
/// table draws its elements itself.
const SHOW: &[&str] = &["/libX11.so", "/libxcb.so"];

/// Returns `true` if a process may still come to expose its elements. `true` where nothing is known, as of a process of another user.
pub(crate) fn may_expose(pid: u32) -> bool {
    let loaded = fs::read(format!("/proc/{pid}/maps")).unwrap_or_default();
    may_expose_with(&String::from_utf8_lossy(&loaded))
}

/// Returns `true` if a process shows pages by an engine of Qt.
pub(crate) fn draws_pages(pid: u32) -> bool {
    let loaded = fs::read(format!("/proc/{pid}/maps")).unwrap_or_default();
    toolkit_of(&String::from_utf8_lossy(&loaded)).is_some_and(|toolkit| toolkit.name == WEB_ENGINE.name)
}

/// The same for what a process has loaded, as `/proc/PID/maps` lists it.
fn may_expose_with(loaded: &str) -> bool {
    match toolkit_of(loaded).map(|toolkit| &toolkit.exposes) {
        Some(Exposes::Always) => true,
        Some(Exposes::Through(bridge)) => loaded.contains(bridge.loads),
        Some(Exposes::Never) => false,
        None => !SHOW.iter().any(|name| loaded.contains(name)),
    }
}

fn toolkit_of(loaded: &str) -> Option<&'static ToolkitDefinition> {
    TOOLKITS.iter().find(|toolkit| toolkit.loads.iter().any(|name| loaded.contains(name)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_exposes_elements_if_its_toolkit_does_or_its_bridge_is_loaded() {
        let check = |loaded: &[&str], toolkit: Option<&str>, expected: bool| {
            let maps: String =
                loaded.iter().map(|file| format!("7f00-7f01 r-xp 0 fe:00 1 {file}\n")).collect();
            assert_eq!(toolkit_of(&maps).map(|toolkit| toolkit.name), toolkit, "{loaded:?}");
            assert_eq!(may_expose_with(&maps), expected, "{loaded:?}");
        };
        let x11 = "/usr/lib/x86_64-linux-gnu/libX11.so.6.4.0";
        let bridge = "/usr/lib/x86_64-linux-gnu/libatk-bridge-2.0.so.0.0.0";
        let gtk2 = "/usr/lib/x86_64-linux-gnu/libgtk-x11-2.0.so.0.2400.33";
        let gtk3 = "/usr/lib/x86_64-linux-gnu/libgtk-3.so.0.2406.32";
        let java = "/usr/lib/jvm/java-17-openjdk-amd64/lib/server/libjvm.so";
        let wrapper = "/usr/lib/x86_64-linux-gnu/jni/libatk-wrapper.so.6.0.0";
        check(&[x11, gtk3, bridge], Some("GTK 3"), true);
        check(&[x11, gtk2], Some("GTK 2"), false);
        check(&[x11, gtk2, bridge], Some("GTK 2"), true);
        // The look and feel of Swing asks GTK for its colours.
        check(&[x11, java, gtk3, bridge], Some("Swing and AWT"), false);
        check(&[x11, java, gtk3, bridge, wrapper], Some("Swing and AWT"), true);
        check(&[x11, "/usr/lib/libreoffice/program/libvcllo.so", java], Some("LibreOffice"), true);
        check(&[x11, "/usr/lib/x86_64-linux-gnu/libtk8.6.so"], Some("Tk"), false);
        check(&[x11, "/usr/lib/x86_64-linux-gnu/libXt.so.6.0.0"], Some("Xaw and Xt"), false);
        let dbus = "/usr/lib/x86_64-linux-gnu/libdbus-1.so.3.32.4";
        check(&[x11, "/usr/lib/x86_64-linux-gnu/libSDL2-2.0.so.0.2600.5", dbus], Some("SDL"), false);
        check(&[x11], None, false);
        check(&[], None, true);
    }
}
