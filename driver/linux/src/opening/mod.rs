//! Which installed application opens a file, a folder or an address, as `xdg-open` would choose among those that can be operated here.
//!
//! - `target` reads what is to be opened; `mime` and `magic` tell the type of a file.
//! - `associations` reads what was chosen for types. This module chooses; nothing is started here.
//!
//! The order is that of GLib: for a type and then for each that it is a kind of, the default applications, then those that were
//! added, then those that say themselves that they open it. Of the last, which no file puts in an order, those that [`USUAL`] names
//! come first: `xdg-open` takes the first by name, and an office suite says that it opens plain text too.

mod associations;
mod magic;
mod mime;
mod target;

use std::ffi::OsString;

use associations::Associations;
use deskhand_process::PATH_DEFAULT;
use deskhand_ui::InstalledApplication;
use mime::{FOLDER, MimeTypes, TEXT};
pub use target::OpenTarget;

use crate::{
    desktop_entries::{DesktopEntries, DesktopEntry, data_folders},
    virtual_desktop::environment::Environment,
};

const BROWSERS: &[&str] = &["chromium", "firefox", "firefox-esr", "google-chrome", "org.mozilla.firefox"];

/// Programs for types, by their entry or command: the order of those that no file puts in an order, and what opens a type that no
/// entry names. `xdg-open` leaves the latter to the browser as well.
const USUAL: &[(&[&str], &[&str])] = &[
    (&["text/html", "application/xhtml+xml", "x-scheme-handler/http", "x-scheme-handler/https"], BROWSERS),
    (
        &[TEXT],
        &[
            "org.xfce.mousepad",
            "mousepad",
            "org.gnome.gedit",
            "gedit",
            "org.gnome.TextEditor",
            "kate",
            "featherpad",
        ],
    ),
    (&["application/pdf"], &["org.gnome.Evince", "evince", "okular"]),
    (
        &["image/png", "image/jpeg", "image/gif", "image/bmp", "image/webp"],
        &["org.gnome.eog", "eog", "gwenview", "ristretto"],
    ),
];

/// Types that browsers show although their entries do not declare them.
const SHOWN_BY_BROWSERS: &[&str] = &[
    "application/pdf",
    FOLDER,
    "image/bmp",
    "image/gif",
    "image/jpeg",
    "image/png",
    "image/svg+xml",
    "image/webp",
];

/// The Debian packages that open a type, by its beginning.
const PACKAGES: &[(&str, &str)] = &[
    ("application/pdf", "evince"),
    ("application/vnd.oasis.opendocument.graphics", "libreoffice-draw"),
    ("application/vnd.oasis.opendocument.presentation", "libreoffice-impress"),
    ("application/vnd.ms-powerpoint", "libreoffice-impress"),
    ("application/vnd.openxmlformats-officedocument.presentationml", "libreoffice-impress"),
    ("application/vnd.oasis.opendocument.spreadsheet", "libreoffice-calc"),
    ("application/vnd.ms-excel", "libreoffice-calc"),
    ("application/vnd.openxmlformats-officedocument.spreadsheetml", "libreoffice-calc"),
    ("application/vnd.oasis.opendocument.text", "libreoffice-writer"),
    ("application/vnd.openxmlformats-officedocument.wordprocessingml", "libreoffice-writer"),
    ("application/msword", "libreoffice-writer"),
    ("application/rtf", "libreoffice-writer"),
    ("application/zip", "file-roller"),
    ("audio/", "totem"),
    ("image/", "eog"),
    ("inode/directory", "thunar"),
    ("text/html", "chromium"),
    ("text/", "mousepad"),
    ("video/", "totem"),
    ("x-scheme-handler/http", "chromium"),
];

/// Types of which an empty file is no document.
const NEVER_EMPTY: &[&str] = &["application/pdf", "image/"];

/// Programs that begin a document of a name that does not exist yet, and make the file when it is saved.
const BEGIN: &[&str] = &[
    "emacs",
    "featherpad",
    "geany",
    "gedit",
    "gnome-text-editor",
    "gvim",
    "kate",
    "kwrite",
    "l3afpad",
    "leafpad",
    "mousepad",
    "pluma",
    "xed",
];

/// Programs of LibreOffice: one process for all of them.
const OFFICE: &[&str] =
    &["libreoffice", "soffice", "localc", "lowriter", "loimpress", "lodraw", "lomath", "loffice"];

/// The application that opens something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Opener {
    /// The id of its desktop entry.
    pub entry: String,
    /// Its display name.
    pub name: String,
    /// The file name of its program.
    pub program: String,
    /// The type of what it opens.
    pub mime: String,
    /// `true` if one start of it takes several files.
    pub takes_several: bool,
    /// Group of entries that open files together: those of one suite, which hands over to the running process.
    pub family: String,
    /// The way it begins a file that does not exist.
    pub begins: NewFileMethod,
}

/// The way an application begins a file that does not exist.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NewFileMethod {
    /// Given its path: it makes the file when the document is saved.
    ByPath,
    /// Given an empty file.
    Empty,
    /// An empty file is none of this type.
    Not,
}

/// Nothing that is installed opens something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoOpener {
    /// Its type.
    pub mime: String,
    /// Applications that are registered for it and cannot be used, each with the reason.
    pub unusable: Vec<(String, &'static str)>,
    /// The Debian package that opens it, if one is known.
    pub package: Option<&'static str>,
}

/// The installed applications, and the choices of the user.
#[derive(Debug)]
pub struct Openers {
    entries: DesktopEntries,
    types: MimeTypes,
    associations: Associations,
    path: OsString,
}

impl Openers {
    /// Reads the desktop entries and the databases of this system. Blocking.
    pub fn of_this_system() -> Self {
        let environment = Environment::of_this_process();
        Self::read(|name| environment.find(name).map(OsString::from))
    }

    fn read(variable: impl Fn(&str) -> Option<OsString>) -> Self {
        let data = data_folders(&variable);
        let path = variable("PATH").unwrap_or_else(|| PATH_DEFAULT.into());
        Self {
            entries: DesktopEntries::read(&data, &path),
            types: MimeTypes::read(&data),
            associations: Associations::read(&variable),
            path,
        }
    }

    /// The installed applications that a person would start from a menu, sorted by id.
    pub fn applications(&self) -> Vec<InstalledApplication> {
        self.entries.applications()
    }

    /// The application that opens this. Blocking: a file whose name does not tell its type is read.
    ///
    /// # Errors
    /// Nothing that is installed does.
    pub fn choose(&self, target: &OpenTarget) -> Result<Opener, NoOpener> {
        let mime = match target {
            OpenTarget::Path(path) => self.types.type_of(path),
            OpenTarget::Address(address) => {
                let scheme = address.split(':').next().unwrap_or_default().to_ascii_lowercase();
                format!("x-scheme-handler/{scheme}")
            }
        };
        let is_address = matches!(target, OpenTarget::Address(_));
        let mut unusable: Vec<(String, &'static str)> = Vec::new();
        let mut kinds = self.types.kinds_of(&mime);
        // What opens pages opens addresses.
        kinds.extend(is_address.then(|| "text/html".to_owned()));
        for kind in &kinds {
            for entry in self.candidates(kind) {
                match self.problem(entry, is_address) {
                    None => return Ok(self.opener(entry, mime)),
                    Some(why) if !unusable.iter().any(|(name, _)| *name == entry.name) => {
                        unusable.push((entry.name.clone(), why));
                    }
                    Some(_) => {}
                }
            }
        }
        let of_last_resort = self.last_resort(&kinds).find(|entry| self.problem(entry, is_address).is_none());
        if let Some(entry) = of_last_resort {
            return Ok(self.opener(entry, mime));
        }
        let package = PACKAGES.iter().find(|(start, _)| mime.starts_with(start)).map(|(_, package)| *package);
        Err(NoOpener { mime, unusable, package })
    }

    /// The entries for a type, the first choice first; some may be there twice.
    fn candidates<'a>(&'a self, mime: &'a str) -> impl Iterator<Item = &'a DesktopEntry> {
        let chosen = self.associations.defaults(mime).chain(self.associations.added(mime));
        let chosen = chosen.filter_map(|id| self.entries.all().iter().find(|entry| entry.id == id));
        let says = |entry: &&DesktopEntry| {
            entry.mime_types.iter().any(|own| own == mime || self.types.unaliased(own) == mime)
                && !self.associations.is_removed(mime, &entry.id)
        };
        let usual = usual(mime);
        let rank =
            |entry: &DesktopEntry| usual.iter().position(|one| is_named(entry, one)).unwrap_or(usual.len());
        let mut others: Vec<&DesktopEntry> = self.entries.all().iter().filter(says).collect();
        others.sort_by_key(|entry| (rank(entry), std::cmp::Reverse(entry.preference)));
        chosen.chain(others)
    }

    /// Entries for types that no entry names, and browsers for what they show all the same.
    fn last_resort<'a>(&'a self, kinds: &'a [String]) -> impl Iterator<Item = &'a DesktopEntry> {
        let shown = kinds.iter().any(|kind| SHOWN_BY_BROWSERS.contains(&kind.as_str()));
        let browsers = if shown { BROWSERS } else { &[] };
        let names = kinds.iter().flat_map(|kind| usual(kind)).chain(browsers);
        names.filter_map(|name| self.entries.all().iter().find(|entry| is_named(entry, name)))
    }

    /// Why an application cannot be used.
    fn problem(&self, entry: &DesktopEntry, is_address: bool) -> Option<&'static str> {
        if entry.terminal {
            Some("runs in a terminal")
        } else if entry.runs_what_it_is_given() {
            Some("would run it")
        } else if !entry.is_installed(&self.path) {
            Some("is not installed")
        } else {
            (is_address && !entry.takes_addresses()).then_some("opens files and no addresses")
        }
    }

    fn opener(&self, entry: &DesktopEntry, mime: String) -> Opener {
        let program = entry.program_name();
        let is_office = OFFICE.contains(&program.as_str());
        let is_text = self.types.kinds_of(&mime).iter().any(|kind| kind == TEXT);
        let begins = match (is_text, is_office) {
            (true, _) if BEGIN.contains(&program.as_str()) => NewFileMethod::ByPath,
            // An empty file is no document of these, though an office shows them.
            (false, true) if NEVER_EMPTY.iter().any(|start| mime.starts_with(start)) => NewFileMethod::Not,
            (true, _) | (_, true) => NewFileMethod::Empty,
            (false, false) => NewFileMethod::Not,
        };
        Opener {
            entry: entry.id.clone(),
            name: entry.name.clone(),
            takes_several: entry.takes_several(),
            family: if is_office { "libreoffice".to_owned() } else { entry.id.clone() },
            program,
            begins,
            mime,
        }
    }
}

/// The programs for a type, by preference.
fn usual(mime: &str) -> &'static [&'static str] {
    USUAL.iter().find(|(types, _)| types.contains(&mime)).map_or(&[], |(_, programs)| programs)
}

fn is_named(entry: &DesktopEntry, name: &str) -> bool {
    entry.id == name || entry.program_name() == name && !entry.hidden
}

#[cfg(test)]
mod tests;
