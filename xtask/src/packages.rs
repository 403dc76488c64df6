//! The required Debian packages, each with its reason.

/// One Debian package.
#[derive(Debug, PartialEq, Eq)]
pub struct Package {
    /// The package name in Debian and Ubuntu.
    pub name: &'static str,
    /// A program in the package, to look for on other systems; empty if none.
    pub program: &'static str,
    /// What it is for.
    pub reason: &'static str,
}

const fn package(name: &'static str, program: &'static str, reason: &'static str) -> Package {
    Package { name, program, reason }
}

/// The locales that tests need, with the names of their definitions.
pub const LOCALES: &[(&str, &str)] = &[("de_DE.UTF-8", "de_DE"), ("zh_CN.UTF-8", "zh_CN")];

/// The required packages; their dependencies are implied.
pub const PACKAGES: &[Package] = &[
    package("xvfb", "Xvfb", "the screen of a virtual desktop"),
    package("openbox", "openbox", "the window manager of a virtual desktop"),
    package("sway", "sway", "the compositor of the tests on Wayland, without a screen"),
    package("dbus", "dbus-daemon", "the session bus of a virtual desktop"),
    package("at-spi2-core", "", "the accessibility bus, through which applications expose their elements"),
    package("util-linux", "setpriv", "kills the programs of a virtual desktop with it"),
    package("bubblewrap", "bwrap", "optional for users: namespaces for the programs of agents"),
    package("grep", "grep", "finds leftover programs of a virtual desktop"),
    package("fonts-dejavu-core", "", "the font of menus and dialogs"),
    package("fonts-liberation", "", "metric-compatible fonts for documents"),
    package("libreoffice-writer", "soffice", "the application of the demo's document"),
    package("libreoffice-calc", "soffice", "the application of the demo's chart"),
    package("libreoffice-impress", "soffice", "the slides that native tools are tried on"),
    package("libreoffice-gtk3", "", "LibreOffice exposes its elements only through GTK"),
    package("mousepad", "mousepad", "the small application that desktop tests type into"),
    package("tesseract-ocr", "tesseract", "reads the text of windows without accessible elements"),
    package("python3-gi", "", "the fixture applications of the tests in GTK"),
    package("python3-gi-cairo", "", "the canvas of the fixture applications in GTK"),
    package("gir1.2-gtk-3.0", "", "the fixture application in GTK 3"),
    package("gir1.2-gtk-4.0", "", "the fixture application in GTK 4"),
    package("python3-pyqt5", "", "the fixture application in Qt"),
    package("python3-tk", "", "a window of a toolkit without accessible elements"),
    package("python3-pyatspi", "", "the Python baseline of `cargo xtask bench perception`"),
    package("chromium", "chromium", "the fixture page"),
    package("chromium-driver", "chromedriver", "drives the page of `deskhand serve` in Chromium"),
    package("firefox-esr", "firefox-esr", "a browser with another protocol for its pages"),
    package("xterm", "xterm", "the red team's terminal without an accessibility tree"),
    package("trayer", "trayer", "the tray of which tests open the menu of an icon"),
    package("x11vnc", "x11vnc", "optional for users: shows a virtual desktop to a person"),
    package("xdg-desktop-portal", "", "dialogs of files that applications open over the session bus"),
    package("xdg-desktop-portal-gtk", "", "shows these dialogs"),
    package("locales", "localedef", "the languages in which the README is tried"),
    package("xclip", "xclip", "tells tests of actions what is on the clipboard"),
    package("x11-utils", "xprop", "tells tests of actions which windows are open"),
    package("poppler-utils", "pdftotext", "optional for users: reads the text of PDF files"),
    package("python3-venv", "", "the Python environment of local models"),
    package("python3-uno", "", "optional for users: native tools for documents of LibreOffice"),
];
