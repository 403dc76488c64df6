//! Whether the toolkit of a process can expose elements: by the libraries that it has loaded.

use std::fs;

/// Parts of the names of files whose code, or whose application, connects to the accessibility bus: bridges of GTK 2 and 3, GTK 4, Qt,
/// LibreOffice, Firefox, Java, Chromium with what is built on it, and any other that speaks D-Bus.
const SPEAK: &[&str] = &[
    "/libatk-bridge",
    "/libatspi",
    "/libgtk-4",
    "/libQt5",
    "/libQt6",
    "/libvcl",
    "/libxul",
    "/libjvm",
    "/libdbus-1",
    "/libgio-2",
    "/icudtl.dat",
    "/resources.pak",
    "/v8_context_snapshot",
];
/// What a program loads that shows windows: without one it has brought its toolkit along, and nothing is known of that.
const SHOW: &[&str] = &["/libX11.so", "/libxcb.so"];

/// Whether a process may still come to expose its elements. `true` where nothing is known, as of a process of another user.
pub(crate) fn may_expose(pid: u32) -> bool {
    let loaded = fs::read(format!("/proc/{pid}/maps")).unwrap_or_default();
    let loaded = String::from_utf8_lossy(&loaded);
    let has = |names: &[&str]| names.iter().any(|name| loaded.contains(name));
    has(SPEAK) || !has(SHOW)
}
