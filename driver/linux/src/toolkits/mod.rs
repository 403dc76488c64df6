//! The toolkits: how a program of each is recognised, what it needs at its start to expose elements, and whether it ever will.
//!
//! One table. `running` recognises the toolkit of a process by the files that it has loaded, `starting` what needs flags of its own
//! before it is started, `bridges` which toolkits expose nothing here for want of a package.
//!
//! What is particular to the elements of a toolkit once they are there is in `atspi/quirks`, and the settings and profiles of single
//! programs, such as browsers, are in `virtual_desktop/programs`. Names of Flatpak and Snap applications are those of their desktop
//! entries (`desktop_entries`), which both export.
//!
//! Observed: GTK 2 loads the modules of `GTK_MODULES` before its first window, and exposes nothing without them; GTK 3 knows these two
//! names and leaves them alone. Swing and AWT load `AtkWrapper` with the first window, and only then. Chromium shows one element a
//! window unless it is told to expose pages, and so does what is made of it; QtWebEngine reads that from a variable. Tk, Xt with its
//! widget sets, FLTK and SDL have no accessibility at all: their windows can only be read as pictures.

mod bridges;
mod running;
mod starting;

pub(crate) use bridges::bridged;
pub(crate) use running::{draws_pages, may_expose};
pub(crate) use starting::{Extras, JAVA_OPTIONS, extras};

/// A toolkit.
struct ToolkitDefinition {
    /// Its name.
    name: &'static str,
    /// Parts of the names of files, any of which a process of it has loaded.
    loads: &'static [&'static str],
    /// The way it exposes elements, if it does.
    exposes: Exposes,
    /// Variables with which its programs expose elements. Those of other toolkits do not mind them.
    variables: &'static [(&'static str, &'static str)],
    /// Variables that its programs need besides if root starts them.
    as_superuser: &'static [(&'static str, &'static str)],
}

/// The way a toolkit exposes elements, if it does.
enum Exposes {
    /// By itself.
    Always,
    /// Through a bridge that is loaded before the first window, or never.
    Through(Bridge),
    /// Never: the toolkit has no accessibility.
    Never,
}

/// A library that exposes the elements of a toolkit.
struct Bridge {
    /// A part of the name of the file that a process has loaded once it is in use.
    loads: &'static str,
    /// Its path, below a folder of libraries.
    file: &'static str,
    /// The Debian package that brings it.
    package: &'static str,
}

const fn exposing(name: &'static str, loads: &'static [&'static str]) -> ToolkitDefinition {
    ToolkitDefinition { name, loads, exposes: Exposes::Always, variables: &[], as_superuser: &[] }
}

const fn silent(name: &'static str, loads: &'static [&'static str]) -> ToolkitDefinition {
    ToolkitDefinition { name, loads, exposes: Exposes::Never, variables: &[], as_superuser: &[] }
}

impl ToolkitDefinition {
    const fn with(self, variables: &'static [(&'static str, &'static str)]) -> Self {
        Self { variables, ..self }
    }
}

/// The engine of Qt for pages.
const WEB_ENGINE: &str = "QtWebEngine";

/// All toolkits. The first one counts of which a process has loaded something: LibreOffice loads Java and GTK, Java loads GTK, and
/// what is drawn by SDL may ask GTK for its dialogs.
const TOOLKITS: &[ToolkitDefinition] = &[
    exposing("LibreOffice", &["/libvcl"]),
    exposing("Gecko", &["/libxul"]).with(&[("GNOME_ACCESSIBILITY", "1")]),
    ToolkitDefinition {
        as_superuser: &[("QTWEBENGINE_DISABLE_SANDBOX", "1")],
        ..exposing(WEB_ENGINE, &["/libQt5WebEngineCore", "/libQt6WebEngineCore"])
            .with(&[("QTWEBENGINE_CHROMIUM_FLAGS", EXPOSE_PAGES)])
    },
    exposing("Chromium and Electron", &["/icudtl.dat", "/resources.pak", "/v8_context_snapshot"])
        .with(&[("ACCESSIBILITY_ENABLED", "1")]),
    exposing("SWT", &["/libswt-gtk", "/libswt-pi"]),
    ToolkitDefinition {
        name: "Swing and AWT",
        loads: &["/libjvm.so"],
        exposes: Exposes::Through(Bridge {
            loads: "/libatk-wrapper.so",
            file: "jni/libatk-wrapper.so",
            package: "libatk-wrapper-java",
        }),
        // What makes it expose elements is per program: `starting`.
        variables: &[],
        as_superuser: &[],
    },
    exposing("wxWidgets", &["/libwx_gtk3", "/libwx_baseu"]),
    exposing("GTK 4", &["/libgtk-4"]),
    exposing("GTK 3", &["/libgtk-3"]),
    exposing("Qt 6 and KDE", &["/libQt6Gui"]).with(QT),
    exposing("Qt 5 and KDE", &["/libQt5Gui"]).with(QT),
    ToolkitDefinition {
        name: "GTK 2",
        loads: &["/libgtk-x11-2.0"],
        exposes: Exposes::Through(Bridge {
            loads: "/libatk-bridge",
            file: "gtk-2.0/modules/libatk-bridge.so",
            package: "libatk-adaptor",
        }),
        variables: &[("GTK_MODULES", "gail:atk-bridge")],
        as_superuser: &[],
    },
    exposing("EFL", &["/libelementary"]),
    // Clutter and others that have taken up the bridge of GNOME.
    exposing("ATK", &["/libatk-bridge"]),
    silent("Tk", &["/libtk8", "/libtk9", "/libtcl9tk"]),
    silent("Motif", &["/libXm.so"]),
    silent("Xaw and Xt", &["/libXaw", "/libXt.so"]),
    silent("FLTK", &["/libfltk"]),
    silent("FOX", &["/libFOX"]),
    silent("SDL", &["/libSDL"]),
    silent("GLFW and GLUT", &["/libglfw", "/libglut"]),
    silent("Allegro", &["/liballeg"]),
    silent("Wine", &["/winex11"]),
];

const QT: &[(&str, &str)] = &[("QT_LINUX_ACCESSIBILITY_ALWAYS_ON", "1")];

/// The argument with which Chromium, and programs based on it, expose the elements of their pages.
pub(crate) const EXPOSE_PAGES: &str = "--force-renderer-accessibility";

/// The variables with which programs of all toolkits expose their elements.
pub(crate) fn variables(superuser: bool) -> impl Iterator<Item = (&'static str, &'static str)> {
    let more = move |toolkit: &'static ToolkitDefinition| if superuser { toolkit.as_superuser } else { &[] };
    TOOLKITS.iter().flat_map(move |toolkit| toolkit.variables.iter().chain(more(toolkit)).copied())
}
