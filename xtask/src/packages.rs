//! The Debian packages that the product and its tests need, each with its reason.

/// One Debian package.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Package {
    /// Its name in Debian and Ubuntu.
    pub(crate) name: &'static str,
    /// A program that it brings, to be looked for on other systems; empty where it brings none.
    pub(crate) program: &'static str,
    /// What it is needed for.
    pub(crate) reason: &'static str,
}

const fn package(name: &'static str, program: &'static str, reason: &'static str) -> Package {
    Package { name, program, reason }
}

/// Every package; what these depend on comes with them.
pub(crate) const PACKAGES: &[Package] = &[
    package("xvfb", "Xvfb", "the screen of a virtual desktop"),
    package("openbox", "openbox", "the window manager of a virtual desktop"),
    package("dbus", "dbus-daemon", "the session bus of a virtual desktop"),
    package("at-spi2-core", "", "the accessibility bus, through which applications show their elements"),
    package("util-linux", "setpriv", "ends the programs of a virtual desktop together with it"),
    package("grep", "grep", "finds programs that a virtual desktop would leave behind"),
    package("fonts-dejavu-core", "", "letters in menus and dialogs"),
    package("fonts-liberation", "", "letters in documents, as wide as the ones that their authors used"),
    package("libreoffice-writer", "soffice", "the application of the demo's document"),
    package("libreoffice-calc", "soffice", "the application of the demo's chart"),
    package("libreoffice-gtk3", "", "LibreOffice shows its elements only through GTK"),
    package("mousepad", "mousepad", "the small application that desktop tests type into"),
    package("tesseract-ocr", "tesseract", "reads the text of windows whose applications show no elements"),
    package("python3-gi", "", "the fixture applications of the tests in GTK"),
    package("python3-gi-cairo", "", "the canvas of the fixture applications in GTK"),
    package("gir1.2-gtk-3.0", "", "the fixture application in GTK 3"),
    package("gir1.2-gtk-4.0", "", "the fixture application in GTK 4"),
    package("python3-pyqt5", "", "the fixture application in Qt"),
    package("python3-pyatspi", "", "the walk in Python that `cargo xtask bench perception` measures against"),
    package("chromium", "chromium", "the fixture application that is a page"),
];
