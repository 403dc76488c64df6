//! All toolkits.

use super::{
    chromium,
    definition::{ToolkitDefinition, exposing, silent},
    elements::{ElementTraits, ToolkitNames},
    gecko, gtk2, gtk3, gtk4, java, libreoffice, other, qt,
};

/// All toolkits. The first one counts of which a process has loaded something: LibreOffice loads Java and GTK, Java loads GTK, and
/// what is drawn by SDL may ask GTK for its dialogs.
pub(super) const TOOLKITS: &[ToolkitDefinition] = &[
    libreoffice::DEFINITION,
    gecko::DEFINITION,
    qt::WEB_ENGINE,
    chromium::DEFINITION,
    exposing("SWT", &["/libswt-gtk", "/libswt-pi"]),
    java::DEFINITION,
    exposing("wxWidgets", &["/libwx_gtk3", "/libwx_baseu"]),
    gtk4::DEFINITION,
    gtk3::DEFINITION,
    qt::QT_6,
    qt::QT_5,
    gtk2::DEFINITION,
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

/// The toolkits whose elements have traits of their own; the first one counts that recognises an application.
const TRAITS: [&ElementTraits; 7] = [
    &gtk2::ELEMENTS,
    &libreoffice::ELEMENTS,
    &gtk4::ELEMENTS,
    &gtk3::ELEMENTS,
    &qt::ELEMENTS,
    &chromium::ELEMENTS,
    &java::ELEMENTS,
];

/// The traits of the elements of an application.
pub(crate) fn traits_of(names: &ToolkitNames<'_>) -> &'static ElementTraits {
    TRAITS.into_iter().find(|traits| (traits.recognises)(names)).unwrap_or(&other::ELEMENTS)
}

/// The variables with which programs of all toolkits expose their elements.
pub(crate) fn variables(superuser: bool) -> impl Iterator<Item = (&'static str, &'static str)> {
    let more = move |toolkit: &'static ToolkitDefinition| if superuser { toolkit.as_superuser } else { &[] };
    TOOLKITS.iter().flat_map(move |toolkit| toolkit.variables.iter().chain(more(toolkit)).copied())
}
