//! The labels that toolkits and applications translate, as their catalogues have them: how *Delete* is called in the languages of this
//! machine.
//!
//! Catalogues are files of GNU gettext (`.mo`): a magic number, the number of texts, and two tables of lengths and places, one of the
//! originals and one of the translations. Those of Qt (`.qm`) are not read: Qt on a desktop of GTK or KDE brings its words as these do.

use std::{
    collections::BTreeSet,
    ffi::OsString,
    fs::{self, File},
    io::Read,
    path::{Path, PathBuf},
};

/// The most languages that are looked for.
const LANGUAGES_MAX: usize = 16;
/// The most catalogues that are read.
const FILES_MAX: usize = 200;
/// The largest catalogue, in bytes; a larger one is left out.
const FILE_BYTES_MAX: u64 = 4 << 20;
/// The most texts of a catalogue that are looked at.
const TEXTS_MAX: usize = 20_000;
/// The most entries of the folder of the installed locales.
const LOCALES_MAX: usize = 200;

/// Catalogues of toolkits and of applications that ask before they delete, replace, discard or send.
const CATALOGUES: &[&str] = &[
    "gtk20",
    "gtk30",
    "gtk40",
    "libadwaita",
    "glib20",
    "nautilus",
    "thunar",
    "Thunar",
    "nemo",
    "caja",
    "pcmanfm",
    "libfm",
    "file-roller",
    "engrampa",
    "mousepad",
    "gedit",
    "gnome-text-editor",
    "pluma",
    "xed",
    "evince",
    "eog",
    "gimp20",
    "evolution",
    "geary",
    "xfce4-session",
    "gnome-session",
    "gnome-session-47",
    "gnome-shell",
    "libxfce4ui",
    "kio5",
    "kio6",
    "kxmlgui5",
    "kxmlgui6",
    "kwidgetsaddons5",
    "kconfigwidgets5",
    "kconfigwidgets6",
    "kstandardactions6",
    "ktexteditor5",
    "ktexteditor6",
    "dolphin",
    "kmail",
    "sfx",
    "vcl",
    "fps",
    "svx",
    "sw",
    "sc",
];

/// Calls `with` for each label of the installed catalogues and its translation, in the languages of this machine.
pub fn each_translation(with: &mut dyn FnMut(&str, &str)) {
    let roots = [
        "/usr/share/locale",
        "/usr/local/share/locale",
        "/usr/share/locale-langpack",
        "/usr/lib/libreoffice/program/resource",
    ];
    let roots: Vec<PathBuf> = roots.iter().map(PathBuf::from).collect();
    each_in(&roots, &languages(|name| std::env::var_os(name), Path::new("/usr/lib/locale")), with);
}

/// The languages that applications speak, and those of the installed locales: `de_AT` and `de`.
fn languages(variable: impl Fn(&str) -> Option<OsString>, installed: &Path) -> Vec<String> {
    let named = ["LANGUAGE", "LC_ALL", "LC_MESSAGES", "LANG"].into_iter().filter_map(variable);
    let named =
        named.flat_map(|value| value.to_string_lossy().split(':').map(str::to_owned).collect::<Vec<_>>());
    let entries = fs::read_dir(installed).into_iter().flatten().take(LOCALES_MAX).flatten();
    let mut installed: Vec<String> =
        entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    installed.sort();
    let mut known = BTreeSet::new();
    let mut languages = Vec::new();
    for locale in named.chain(installed) {
        let locale = locale.split(['.', '@']).next().unwrap_or_default();
        for one in [locale, locale.split('_').next().unwrap_or_default()] {
            let is_language =
                (2..=12).contains(&one.len()) && one.chars().all(|c| c.is_ascii_alphabetic() || c == '_');
            if is_language && one != "POSIX" && known.insert(one.to_owned()) {
                languages.push(one.to_owned());
            }
        }
    }
    languages.truncate(LANGUAGES_MAX);
    languages
}

/// The same in the catalogues of these languages.
fn each_in(roots: &[PathBuf], languages: &[String], with: &mut dyn FnMut(&str, &str)) {
    let folders = languages
        .iter()
        .flat_map(|language| roots.iter().map(move |root| root.join(language).join("LC_MESSAGES")));
    let files =
        folders.flat_map(|folder| CATALOGUES.iter().map(move |name| folder.join(format!("{name}.mo"))));
    for bytes in files.filter_map(|file| content(&file)).take(FILES_MAX) {
        each(&bytes, &mut *with);
    }
}

/// The content of a catalogue; `None` if there is none, or none of a size to be read.
fn content(file: &Path) -> Option<Vec<u8>> {
    // To open what is no file, such as a pipe, might not return.
    fs::metadata(file).ok().filter(|about| about.is_file() && about.len() <= FILE_BYTES_MAX)?;
    let mut bytes = Vec::new();
    File::open(file).ok()?.take(FILE_BYTES_MAX).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

/// Calls with each original of a catalogue and its translation. What is no catalogue, or is damaged, has none.
fn each(bytes: &[u8], mut with: impl FnMut(&str, &str)) {
    let Some(number) = reader(bytes) else { return };
    let (Some(count), Some(originals), Some(translations)) = (number(8), number(12), number(16)) else {
        return;
    };
    let text = |table: usize, at: usize| {
        let entry = table.checked_add(at.checked_mul(8)?)?;
        let (length, start) = (number(entry)?, number(entry.checked_add(4)?)?);
        std::str::from_utf8(bytes.get(start..start.checked_add(length)?)?).ok()
    };
    for at in 0..count.min(TEXTS_MAX) {
        let (Some(original), Some(translation)) = (text(originals, at), text(translations, at)) else {
            continue;
        };
        // `context U+0004 text`, and `one U+0000 many`.
        let original = original.rsplit('\u{4}').next().unwrap_or_default();
        let first = |text: &str| text.split('\0').next().unwrap_or_default().to_owned();
        with(&first(original), &first(translation));
    }
}

/// Reads numbers of a catalogue, in the byte order that it was written in.
fn reader(bytes: &[u8]) -> Option<impl Fn(usize) -> Option<usize>> {
    const MAGIC: u32 = 0x9504_12de;
    let four = |at: usize| -> Option<[u8; 4]> { bytes.get(at..at.checked_add(4)?)?.try_into().ok() };
    let magic = four(0)?;
    let is_little = u32::from_le_bytes(magic) == MAGIC;
    if !is_little && u32::from_be_bytes(magic) != MAGIC {
        return None;
    }
    Some(move |at: usize| {
        let number = four(at)?;
        usize::try_from(if is_little { u32::from_le_bytes(number) } else { u32::from_be_bytes(number) }).ok()
    })
}

#[cfg(test)]
#[path = "catalogues_tests.rs"]
mod tests;
