//! The environment of applications on a desktop.

use std::{
    collections::BTreeMap,
    ffi::{OsStr, OsString},
    path::{Path, PathBuf},
};

use deskhand_process::{PATH_DEFAULT, find_program};

use super::folders::{PORTALS_FOLDER, SETTINGS_FOLDER};
use crate::toolkits;

/// The variable that marks every process of a virtual desktop.
pub(crate) const MARK: &str = "DESKHAND_DESKTOP";

/// The variables that applications get of the user's environment, where they are set. All others stay here: among them may be the
/// key of a model. A trailing `*` stands for any end.
const PASSED: &[&str] = &[
    "BROWSER",
    "COLORTERM",
    "DBUS_*",
    "DESKTOP_*",
    "DISPLAY",
    "FONTCONFIG_*",
    "GDK_*",
    "GI_TYPELIB_PATH",
    "GIO_*",
    "GSETTINGS_*",
    "GST_*",
    "GTK*",
    "HOME",
    "JAVA_HOME",
    "JAVA_TOOL_OPTIONS",
    "KDE_*",
    "LANG",
    "LANGUAGE",
    "LC_*",
    "LD_LIBRARY_PATH",
    "LIBGL_*",
    "LOGNAME",
    "MESA_*",
    "MOZ_*",
    "PATH",
    "QT_*",
    "SAL_*",
    "SHELL",
    "SSL_CERT_*",
    "SWAYSOCK",
    "TMPDIR",
    "TZ",
    "USER",
    "WAYLAND_*",
    "XAUTHORITY",
    "XCURSOR_*",
    "XDG_*",
    "XMODIFIERS",
];

/// Variables that point applications to another display, bus or input method, or that disable accessibility.
const REMOVED: &[&str] = &[
    "AT_SPI_BUS_ADDRESS",
    "DBUS_STARTER_ADDRESS",
    "DBUS_STARTER_BUS_TYPE",
    "DESKTOP_SESSION",
    "DESKTOP_STARTUP_ID",
    "GTK_IM_MODULE",
    "GTK_MODULES",
    "GTK_USE_PORTAL",
    "NO_AT_BRIDGE",
    "QT_ACCESSIBILITY",
    "QT_IM_MODULE",
    "SESSION_MANAGER",
    "SWAYSOCK",
    "WAYLAND_DISPLAY",
    "WAYLAND_SOCKET",
    "WINDOWID",
    "XDG_ACTIVATION_TOKEN",
    "XDG_CURRENT_DESKTOP",
    "XDG_SESSION_DESKTOP",
    "XDG_SESSION_ID",
    "XDG_VTNR",
    "XMODIFIERS",
];

/// Variables that make toolkits draw on X11, and leave the user's settings alone. GTK 4 draws by itself: with OpenGL in software, one turning
/// spinner takes all the time that it has.
const SET: &[(&str, &str)] = &[
    ("GDK_BACKEND", "x11"),
    ("GSETTINGS_BACKEND", "memory"),
    ("GSK_RENDERER", "cairo"),
    ("LIBGL_ALWAYS_SOFTWARE", "1"),
    ("QT_QPA_PLATFORM", "xcb"),
    ("SAL_USE_VCLPLUGIN", "gtk3"),
    ("XDG_SESSION_TYPE", "x11"),
];

/// The whole environment of an application.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Environment {
    variables: BTreeMap<OsString, OsString>,
}

impl Environment {
    /// Returns the part of the environment of this process that applications get.
    pub(crate) fn of_this_process() -> Self {
        Self::passed(std::env::vars_os())
    }

    /// Returns those of these variables that applications get.
    pub(crate) fn passed(variables: impl Iterator<Item = (OsString, OsString)>) -> Self {
        Self { variables: variables.filter(|(name, value)| is_passed(name, value)).collect() }
    }

    /// The user's environment, changed to a virtual desktop in the private `folder`.
    pub(crate) fn of_virtual_desktop(mut self, folder: &Path) -> Self {
        for name in REMOVED {
            self.variables.remove(OsStr::new(name));
        }
        for (name, value) in SET {
            self.set(name, *value);
        }
        self.expose_elements();
        self.set(MARK, folder);
        self.set("XDG_RUNTIME_DIR", folder.join("run"));
        // Programs that are killed with their desktop cannot remove what they left in a shared folder.
        self.set("TMPDIR", folder.join("tmp"));
        self.set("XAUTHORITY", folder.join("Xauthority"));
        self.set("XDG_DESKTOP_PORTAL_DIR", folder.join(PORTALS_FOLDER));
        let mut bus = OsString::from("unix:path=");
        bus.push(folder.join("bus"));
        self.set("DBUS_SESSION_BUS_ADDRESS", bus);
        self = self.with_settings(&folder.join(SETTINGS_FOLDER));
        self.variables.remove(OsStr::new("DISPLAY"));
        self.use_unicode();
        self
    }

    /// Sets what makes toolkits expose their elements, where the user has set nothing else.
    pub(crate) fn expose_elements(&mut self) {
        for (name, value) in toolkits::variables(rustix::process::geteuid().is_root()) {
            if self.find(name).is_none_or(OsStr::is_empty) {
                self.set(name, value);
            }
        }
    }

    /// The same with a folder of settings that hold before all others but those of the user.
    pub(crate) fn with_settings(mut self, folder: &Path) -> Self {
        let others = self.find("XDG_CONFIG_DIRS").filter(|folders| !folders.is_empty());
        let mut folders = folder.as_os_str().to_owned();
        folders.push(":");
        folders.push(others.unwrap_or(OsStr::new("/etc/xdg")));
        self.set("XDG_CONFIG_DIRS", folders);
        self
    }

    /// Without a Unicode locale some toolkits drop every character that is not ASCII.
    fn use_unicode(&mut self) {
        let value = |name: &str| self.find(name).filter(|value| !value.is_empty());
        let locale = value("LC_ALL").or_else(|| value("LC_CTYPE")).or_else(|| value("LANG"));
        let folded = locale.map(|locale| locale.to_string_lossy().to_lowercase()).unwrap_or_default();
        if !folded.contains("utf-8") && !folded.contains("utf8") {
            self.variables.remove(OsStr::new("LC_ALL"));
            self.set("LC_CTYPE", "C.UTF-8");
        }
    }

    pub(crate) fn set(&mut self, name: &str, value: impl Into<OsString>) {
        self.variables.insert(name.into(), value.into());
    }

    /// The value of a variable.
    pub fn find(&self, name: &str) -> Option<&OsStr> {
        self.variables.get(OsStr::new(name)).map(OsString::as_os_str)
    }

    /// All variables, sorted by name; applications get no others.
    pub fn variables(&self) -> impl Iterator<Item = (&OsStr, &OsStr)> {
        self.variables.iter().map(|(name, value)| (name.as_os_str(), value.as_os_str()))
    }

    /// Finds a program that is named as in a shell.
    pub(crate) fn find_program(&self, name: impl AsRef<OsStr>) -> Option<PathBuf> {
        find_program(name, self.path(), Path::new(""))
    }

    /// Returns the search path of programs.
    pub(crate) fn path(&self) -> &OsStr {
        self.find("PATH").unwrap_or_else(|| OsStr::new(PATH_DEFAULT))
    }
}

/// Returns `true` if applications get a variable of the user's environment.
fn is_passed(name: &OsStr, value: &OsStr) -> bool {
    let name = name.to_string_lossy();
    // The address of a proxy may hold a password.
    if name.to_lowercase().ends_with("_proxy") {
        return !value.to_string_lossy().contains('@');
    }
    PASSED.iter().any(|pattern| match pattern.strip_suffix('*') {
        Some(start) => name.starts_with(start),
        None => name == *pattern,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn applications_get_no_variable_that_may_hold_a_secret() {
        let pair = |name: &&str| (OsString::from(name), OsString::from("value"));
        let secret =
            ["OPENAI_API_KEY", "AWS_SECRET_ACCESS_KEY", "GITHUB_TOKEN", "SSH_AUTH_SOCK", "PGPASSWORD"];
        let passed = ["HOME", "PATH", "LANG", "LC_TIME", "TZ", "XDG_DATA_DIRS", "GTK_THEME"];
        let environment = Environment::passed(secret.iter().chain(&passed).map(pair));
        let names: Vec<&str> = environment.variables().filter_map(|(name, _)| name.to_str()).collect();
        let mut expected = passed.to_vec();
        expected.sort_unstable();
        assert_eq!(names, expected);
        let proxy = |value: &str| is_passed(OsStr::new("https_proxy"), OsStr::new(value));
        assert!(proxy("http://proxy:3128") && !proxy("http://ada:secret@proxy:3128"));
    }

    fn of(variables: &[(&str, &str)]) -> Environment {
        let variables = variables.iter().map(|(name, value)| (name.into(), value.into())).collect();
        Environment { variables }.of_virtual_desktop(Path::new("/private"))
    }

    #[test]
    fn no_variable_points_to_the_users_desktop() {
        let environment = of(&[
            ("DISPLAY", ":0"),
            ("WAYLAND_DISPLAY", "wayland-0"),
            ("NO_AT_BRIDGE", "1"),
            ("DBUS_SESSION_BUS_ADDRESS", "unix:path=/run/user/1000/bus"),
            ("XDG_RUNTIME_DIR", "/run/user/1000"),
            ("HOME", "/home/a"),
        ]);
        for name in ["DISPLAY", "WAYLAND_DISPLAY", "NO_AT_BRIDGE"] {
            assert_eq!(environment.find(name), None, "{name}");
        }
        assert_eq!(environment.find("DBUS_SESSION_BUS_ADDRESS").unwrap(), "unix:path=/private/bus");
        assert_eq!(environment.find("XDG_RUNTIME_DIR").unwrap(), "/private/run");
        assert_eq!(environment.find("TMPDIR").unwrap(), "/private/tmp");
        assert_eq!(environment.find("XDG_CONFIG_DIRS").unwrap(), "/private/settings:/etc/xdg");
        assert_eq!(environment.find("GTK_MODULES").unwrap(), "gail:atk-bridge");
        assert_eq!(environment.find("HOME").unwrap(), "/home/a");
        let with_more = environment.with_settings(Path::new("/private/of/one"));
        assert_eq!(with_more.find("XDG_CONFIG_DIRS").unwrap(), "/private/of/one:/private/settings:/etc/xdg");
    }

    #[test]
    fn the_locale_supports_unicode() {
        let check = |variables: &[(&str, &str)], expected: Option<&str>| {
            let environment = of(variables);
            assert_eq!(environment.find("LC_CTYPE").and_then(OsStr::to_str), expected, "{variables:?}");
            assert!(environment.find("LC_ALL").is_none_or(|value| value != "C"));
        };
        check(&[], Some("C.UTF-8"));
        check(&[("LC_ALL", "C")], Some("C.UTF-8"));
        check(&[("LANG", "POSIX")], Some("C.UTF-8"));
        check(&[("LANG", "de_DE.UTF-8")], None);
        check(&[("LANG", "C"), ("LC_ALL", "en_US.utf8")], None);
    }
}
