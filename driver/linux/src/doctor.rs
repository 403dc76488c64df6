//! Checks what Deskhand needs on this machine, and says what to install.

use std::{ffi::OsStr, path::PathBuf};

use deskhand_desktop::DesktopError;
use serde::Serialize;

use crate::{desktop_entries::data_folders, native, toolkits, virtual_desktop::environment::Environment};

/// The result of one check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DependencyCheck {
    /// Item that was checked: `Xvfb (virtual display)`.
    pub name: String,
    /// `true` if it is installed.
    pub ok: bool,
    /// `true` if a virtual desktop cannot start without it.
    pub required: bool,
    /// Location of the item, or the features that do not work without it.
    pub detail: String,
    /// The command that fixes it; empty if there is nothing to fix.
    pub fix: String,
}

/// Something to check for.
struct DependencySpec {
    /// Any of these programs, or a file below a data folder.
    programs: &'static [&'static str],
    data_file: Option<&'static str>,
    /// Its purpose.
    purpose: &'static str,
    /// The Debian packages that contain it.
    packages: &'static str,
    required: bool,
}

const WANTED: &[DependencySpec] = &[
    required(&["Xvfb"], "virtual display", "xvfb"),
    required(&["openbox"], "window manager", "openbox"),
    required(&["dbus-daemon"], "session bus", "dbus"),
    DependencySpec {
        programs: &[],
        data_file: Some("dbus-1/services/org.a11y.Bus.service"),
        purpose: "accessibility bus",
        packages: "at-spi2-core",
        required: true,
    },
    required(&["setpriv"], "ends programs with Deskhand", "util-linux"),
    required(&["grep"], "finds what programs left behind", "grep"),
    DependencySpec {
        programs: &["soffice", "libreoffice"],
        data_file: None,
        purpose: "documents and spreadsheets",
        packages: "libreoffice-writer libreoffice-calc libreoffice-gtk3",
        required: false,
    },
    DependencySpec {
        programs: &["chromium", "chromium-browser", "google-chrome", "firefox", "firefox-esr"],
        data_file: None,
        purpose: "web pages",
        packages: "chromium",
        required: false,
    },
    DependencySpec {
        programs: &["mousepad", "gedit", "gnome-text-editor", "kate", "featherpad"],
        data_file: None,
        purpose: "plain text",
        packages: "mousepad",
        required: false,
    },
    DependencySpec {
        programs: &["bwrap"],
        data_file: None,
        purpose: "keeps secrets from applications and agents",
        packages: "bubblewrap",
        required: false,
    },
    DependencySpec {
        programs: &["tesseract"],
        data_file: None,
        purpose: "reads text that is only drawn",
        packages: "tesseract-ocr",
        required: false,
    },
    DependencySpec {
        programs: &["pdftotext"],
        data_file: None,
        purpose: "reads the text of PDF files",
        packages: "poppler-utils",
        required: false,
    },
    DependencySpec {
        programs: &[],
        data_file: Some("fonts"),
        purpose: "fonts",
        packages: "fonts-dejavu-core",
        required: false,
    },
];

const fn required(
    programs: &'static [&'static str],
    purpose: &'static str,
    packages: &'static str,
) -> DependencySpec {
    DependencySpec { programs, data_file: None, purpose, packages, required: true }
}

impl DependencySpec {
    fn label(&self) -> &'static str {
        self.programs.first().copied().unwrap_or(self.packages)
    }

    fn find(&self, environment: &Environment) -> Option<PathBuf> {
        let program = || self.programs.iter().find_map(|name| environment.find_program(name));
        let data = || {
            let file = self.data_file?;
            let folders = data_folders(|name| environment.find(name).map(ToOwned::to_owned));
            folders.into_iter().map(|folder| folder.join(file)).find(|file| file.exists())
        };
        program().or_else(data)
    }

    fn finding(&self, environment: &Environment) -> DependencyCheck {
        let found = self.find(environment);
        let name = format!("{} ({})", self.label(), self.purpose);
        let (detail, fix) = match &found {
            Some(place) => (place.display().to_string(), String::new()),
            None => ("not installed".to_owned(), install(&[self.packages])),
        };
        DependencyCheck { name, ok: found.is_some(), required: self.required, detail, fix }
    }
}

/// The Python module that calls LibreOffice.
fn native_documents() -> DependencyCheck {
    let ok = native::office_python().is_some();
    DependencyCheck {
        name: "python3-uno (documents of LibreOffice by its own interface)".to_owned(),
        ok,
        required: false,
        detail: if ok { "installed" } else { "not installed" }.to_owned(),
        fix: if ok { String::new() } else { install(&["python3-uno"]) },
    }
}

/// The bridges of toolkits that are installed and expose nothing by themselves.
fn bridges() -> impl Iterator<Item = DependencyCheck> {
    let installed = toolkits::bridged().into_iter().filter(|toolkit| toolkit.installed);
    installed.map(|toolkit| DependencyCheck {
        name: format!("{} (elements of {} programs)", toolkit.package, toolkit.name),
        ok: toolkit.bridge.is_some(),
        required: false,
        fix: if toolkit.bridge.is_some() { String::new() } else { install(&[toolkit.package]) },
        detail: match toolkit.bridge {
            Some(file) => file.display().to_string(),
            None => "not installed; their windows are read as pictures".to_owned(),
        },
    })
}

fn install(packages: &[&str]) -> String {
    let sudo = if rustix::process::geteuid().is_root() { "" } else { "sudo " };
    format!("{sudo}apt-get install -y --no-install-recommends {}", packages.join(" "))
}

/// The path of a program, named as in a shell: by path, or found on `PATH`.
pub fn find_program(program: &OsStr) -> Option<PathBuf> {
    Environment::of_this_process().find_program(program)
}

/// All checks, each with its fix. Blocking, but only reads files.
pub fn diagnose() -> Vec<DependencyCheck> {
    let environment = Environment::of_this_process();
    let mut findings: Vec<DependencyCheck> =
        WANTED.iter().map(|wanted| wanted.finding(&environment)).collect();
    findings.push(native_documents());
    findings.extend(bridges());
    let named = ["WAYLAND_DISPLAY", "DISPLAY"]
        .map(|name| environment.find(name).filter(|value| !value.is_empty()).map(|value| (name, value)));
    let (variable, display) = match named {
        [Some((name, value)), _] | [None, Some((name, value))] => (name, Some(value)),
        [None, None] => ("DISPLAY", None),
    };
    findings.push(DependencyCheck {
        name: format!("{variable} (the desktop you sit at)"),
        ok: display.is_some(),
        required: false,
        detail: display.map_or_else(
            || "not set; only `--desktop virtual` works here".to_owned(),
            |name| name.to_string_lossy().into_owned(),
        ),
        fix: String::new(),
    });
    findings
}

/// One error that names everything a virtual desktop lacks.
pub(crate) fn missing_programs(environment: &Environment) -> Option<DesktopError> {
    let missing: Vec<&DependencySpec> =
        WANTED.iter().filter(|wanted| wanted.required && wanted.find(environment).is_none()).collect();
    if missing.is_empty() {
        return None;
    }
    let names: Vec<&str> = missing.iter().map(|wanted| wanted.label()).collect();
    let packages: Vec<&str> = missing.iter().map(|wanted| wanted.packages).collect();
    Some(DesktopError::Start {
        what: format!("not installed: {}", names.join(", ")),
        fix: format!("run `{}`", install(&packages)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_image_of_a_worker_has_all_that_is_looked_for() {
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../packaging/fleet/Containerfile");
        let text = std::fs::read_to_string(file).unwrap();
        let installed: Vec<&str> = text.lines().map(|line| line.trim().trim_end_matches(" \\")).collect();
        for package in WANTED.iter().flat_map(|wanted| wanted.packages.split_whitespace()) {
            assert!(installed.contains(&package), "{package} is not in the Containerfile");
        }
    }

    #[test]
    fn everything_that_is_missing_is_named_at_once() {
        let mut environment = Environment::default();
        environment.set("PATH", "/nowhere");
        environment.set("XDG_DATA_HOME", "/nowhere");
        environment.set("XDG_DATA_DIRS", "/nowhere");
        let text = missing_programs(&environment).unwrap().to_string();
        for part in
            ["Xvfb, openbox, dbus-daemon", "xvfb openbox dbus at-spi2-core util-linux", "apt-get install"]
        {
            assert!(text.contains(part), "{part} in {text}");
        }
        for wanted in WANTED {
            let finding = wanted.finding(&environment);
            assert!(!finding.ok && finding.fix.contains(wanted.packages), "{finding:?}");
        }
    }
}
