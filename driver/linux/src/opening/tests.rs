//! Which application opens what, on a made-up system and on this one.

use std::{fs, os::unix::fs::PermissionsExt as _, path::PathBuf, process::Command};

use super::*;

const GLOBS: &str = "\
# comment
50:application/pdf:*.pdf
50:application/vnd.oasis.opendocument.text:*.odt
50:application/vnd.oasis.opendocument.presentation:*.odp
50:text/plain:*.txt
50:text/csv:*.csv
50:text/markdown:*.md
50:image/png:*.png
50:image/x-xcf:*.xcf
50:text/html:*.html
50:application/xml:*.xml
50:application/x-shellscript:*.sh
80:text/x-special:special.txt
50:text/x-c:*.C:cs
50:text/x-one:*.two
50:image/x-two:*.two
";

const ENTRIES: &[(&str, &str)] = &[
    (
        "aaa-office-writer",
        "Exec=libreoffice --writer %U\nMimeType=application/vnd.oasis.opendocument.text;text/plain;",
    ),
    (
        "browser",
        "Exec=chromium %U\nMimeType=text/html;text/xml;x-scheme-handler/http;x-scheme-handler/https;",
    ),
    ("console", "Exec=vim %F\nTerminal=true\nMimeType=text/plain;text/markdown;text/x-special;"),
    ("editor", "Exec=mousepad %F\nMimeType=text/plain;"),
    ("gone", "Exec=not-installed %f\nMimeType=image/x-xcf;"),
    ("low", "Exec=viewer-low %f\nMimeType=text/csv;"),
    ("high", "Exec=viewer-high %f\nInitialPreference=5\nMimeType=text/csv;"),
    ("quiet", "Exec=viewer-quiet %f\nNoDisplay=true\nMimeType=inode/directory;"),
    ("removed", "Exec=viewer-low %f\nHidden=true\nMimeType=image/png;"),
    ("shell", "Exec=bash %f\nMimeType=application/x-shellscript;"),
    ("tried", "Exec=viewer-low %f\nTryExec=not-there\nMimeType=image/x-xcf;"),
];

const PROGRAMS: &[&str] =
    &["libreoffice", "chromium", "vim", "mousepad", "viewer-low", "viewer-high", "viewer-quiet", "bash"];

/// A made-up system.
struct System {
    folder: tempfile::TempDir,
    desktop: &'static str,
}

impl System {
    fn new() -> Self {
        let this = Self { folder: tempfile::tempdir().unwrap(), desktop: "" };
        this.write("share/mime/globs2", GLOBS);
        this.write("share/mime/aliases", "text/xml application/xml\n");
        this.write(
            "share/mime/subclasses",
            "application/xml text/plain\napplication/x-shellscript text/plain\nimage/x-xcf image/png\n",
        );
        let magic = b"MIME-Magic\0\n[50:application/pdf]\n>0=\0\x04%PDF\n[50:image/x-two]\n>0=\0\x03TWO\n";
        fs::write(this.folder.path().join("share/mime/magic"), magic).unwrap();
        for (id, text) in ENTRIES {
            this.entry(id, text);
        }
        for program in PROGRAMS {
            this.write(&format!("bin/{program}"), "");
            let file = this.folder.path().join("bin").join(program);
            fs::set_permissions(file, fs::Permissions::from_mode(0o755)).unwrap();
        }
        this
    }

    fn write(&self, path: &str, text: &str) -> PathBuf {
        let file = self.folder.path().join(path);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, text).unwrap();
        file
    }

    fn entry(&self, id: &str, text: &str) {
        let text = format!("[Desktop Entry]\nType=Application\nName={id}\n{text}\n");
        self.write(&format!("share/applications/{id}.desktop"), &text);
    }

    fn openers(&self) -> Openers {
        let folder = self.folder.path();
        Openers::read(|name| {
            Some(match name {
                "PATH" => folder.join("bin").into(),
                "XDG_DATA_HOME" => folder.join("data").into(),
                "XDG_DATA_DIRS" => folder.join("share").into(),
                "XDG_CONFIG_HOME" => folder.join("config").into(),
                "XDG_CONFIG_DIRS" => folder.join("etc").into(),
                "XDG_CURRENT_DESKTOP" => self.desktop.into(),
                _ => return None,
            })
        })
    }

    /// The id of the entry that opens a file of this name and content, or the type for which there is none.
    fn opens(&self, name: &str, content: Option<&[u8]>) -> Result<String, String> {
        let file = self.folder.path().join("files").join(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        if let Some(content) = content {
            fs::write(&file, content).unwrap();
        }
        let chosen = self.openers().choose(&OpenTarget::Path(file));
        chosen.map(|opener| opener.entry).map_err(|none| none.mime)
    }
}

#[test]
fn the_type_of_a_file_leads_to_its_application() {
    let system = System::new();
    let check = |name: &str, content: Option<&[u8]>, expected: Result<&str, &str>| {
        let found = system.opens(name, content);
        assert_eq!(found.as_ref().map(String::as_str).map_err(String::as_str), expected, "{name}");
    };
    // The usual editor, although an office suite comes first by name and names the type.
    check("a.txt", None, Ok("editor"));
    check("A.TXT", None, Ok("editor"));
    check("a.odt", None, Ok("aaa-office-writer"));
    // By the content, where the name says nothing or too much.
    check("report", Some(b"%PDF-1.7\n"), Ok("browser"));
    check("notes", Some(b"plain words"), Ok("editor"));
    check("empty", Some(b""), Ok("editor"));
    check("bytes", Some(b"\0\x01\x02"), Err("application/octet-stream"));
    check("x.two", Some(b"TWO"), Err("image/x-two"));
    check("y.two", Some(b"one"), Ok("editor"));
    // A kind of text; one in a terminal comes before it and has no window.
    check("a.md", None, Ok("editor"));
    // An alias: the entry says `text/xml`.
    check("a.xml", None, Ok("browser"));
    check("a.csv", None, Ok("high"));
    check("special.txt", None, Ok("editor"));
    check("a.C", None, Ok("editor"));
    // Not run, but edited.
    check("a.sh", None, Ok("editor"));
    // What no entry names: browsers show pictures; a kind of picture is shown by what shows pictures.
    check("a.png", None, Ok("browser"));
    check("a.xcf", None, Ok("browser"));
    check("a.odp", None, Err("application/vnd.oasis.opendocument.presentation"));
    // Hidden from menus, which does not matter here.
    fs::create_dir_all(system.folder.path().join("files/folder.txt")).unwrap();
    check("folder.txt", None, Ok("quiet"));
}

#[test]
fn what_was_chosen_comes_first() {
    let check = |files: &[(&str, &str)], desktop: &'static str, expected: &str| {
        let system = System { desktop, ..System::new() };
        for (file, text) in files {
            system.write(file, text);
        }
        assert_eq!(system.opens("a.csv", None).as_deref(), Ok(expected), "{files:?}");
    };
    let of = |group: &str, id: &str| format!("[{group}]\ntext/csv={id}.desktop;\n");
    let default = |id: &str| of("Default Applications", id);
    check(&[("config/mimeapps.list", &default("low"))], "", "low");
    check(&[("data/applications/mimeapps.list", &default("low"))], "", "low");
    check(&[("share/applications/defaults.list", &default("low"))], "", "low");
    check(
        &[("etc/mimeapps.list", &default("low")), ("config/mimeapps.list", &default("editor"))],
        "",
        "editor",
    );
    // The list of the desktop environment, before the one for all.
    let both =
        [("config/mimeapps.list", &*default("editor")), ("config/xfce-mimeapps.list", &*default("low"))];
    check(&both, "XFCE", "low");
    check(&both, "GNOME", "editor");
    // What is not installed or has no window is passed over.
    check(&[("config/mimeapps.list", &default("gone"))], "", "high");
    check(
        &[(
            "config/mimeapps.list",
            "[Default Applications]\ntext/csv=nothing.desktop;console.desktop;low.desktop\n",
        )],
        "",
        "low",
    );
    check(&[("config/mimeapps.list", &of("Added Associations", "browser"))], "", "browser");
    check(&[("config/mimeapps.list", &of("Removed Associations", "high"))], "", "low");
    let added_below = of("Added Associations", "browser");
    check(
        &[
            ("config/mimeapps.list", &of("Removed Associations", "browser")),
            ("etc/mimeapps.list", &added_below),
        ],
        "",
        "high",
    );
    check(&[("config/mimeapps.list", "[Other]\ntext/csv=low.desktop\n")], "", "high");
}

#[test]
fn addresses_are_opened_by_what_opens_pages() {
    let system = System::new();
    let address = |address: &str| system.openers().choose(&OpenTarget::Address(address.to_owned()));
    assert_eq!(address("https://example.org").unwrap().entry, "browser");
    system.write("config/mimeapps.list", "[Default Applications]\nx-scheme-handler/https=editor.desktop;\n");
    // It opens files alone.
    assert_eq!(address("https://example.org").unwrap().entry, "browser");
    fs::remove_file(system.folder.path().join("bin/chromium")).unwrap();
    let none = address("HTTP://example.org").unwrap_err();
    let unusable = vec![("browser".to_owned(), "is not installed")];
    assert_eq!(
        none,
        NoOpener { mime: "x-scheme-handler/http".to_owned(), unusable, package: Some("chromium") }
    );
}

#[test]
fn what_cannot_be_used_is_named() {
    let system = System::new();
    fs::remove_file(system.folder.path().join("bin/chromium")).unwrap();
    let none = system.openers().choose(&OpenTarget::Path("a.xcf".into())).unwrap_err();
    let unusable = vec![("gone".to_owned(), "is not installed")];
    assert_eq!(none, NoOpener { mime: "image/x-xcf".to_owned(), unusable, package: Some("eog") });
}

#[test]
fn how_files_are_begun() {
    let system = System::new();
    let check = |name: &str, begins: NewFileMethod, several: bool, family: &str| {
        let opener = system.openers().choose(&OpenTarget::Path(name.into())).unwrap();
        assert_eq!(
            (opener.begins, opener.takes_several, &*opener.family),
            (begins, several, family),
            "{name}"
        );
    };
    check("a.txt", NewFileMethod::ByPath, true, "editor");
    check("a.odt", NewFileMethod::Empty, true, "libreoffice");
    check("a.csv", NewFileMethod::Empty, false, "high");
    check("a.png", NewFileMethod::Not, true, "browser");
}

#[test]
fn without_a_database_the_usual_extensions_are_known() {
    let system = System::new();
    fs::remove_dir_all(system.folder.path().join("share/mime")).unwrap();
    assert_eq!(system.opens("a.odt", None).as_deref(), Ok("aaa-office-writer"));
    assert_eq!(system.opens("notes.txt", None).as_deref(), Ok("editor"));
}

/// On this system, GLib says the same types of the same database.
#[test]
fn the_types_of_this_system_are_those_of_gio() {
    let types = MimeTypes::read(&data_folders(|name| std::env::var_os(name)));
    let folder = tempfile::tempdir().unwrap();
    let files: &[(&str, &[u8])] = &[
        ("a.txt", b"x"),
        ("a.odt", b"x"),
        ("a.csv", b"x"),
        ("a.tar.gz", b"x"),
        ("README", b"words"),
        ("picture", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"),
        ("page", b"<!DOCTYPE html><html></html>"),
        ("document", b"%PDF-1.4\n"),
        ("script", b"#!/bin/sh\nexit 0\n"),
        ("archive", b"PK\x03\x04\x14\0\0\0\0\0"),
        ("a.C", b"x"),
        ("a.c", b"x"),
    ];
    let mut compared = 0;
    for (name, content) in files {
        let file = folder.path().join(name);
        fs::write(&file, content).unwrap();
        let asked = Command::new("gio").args(["info", "-a", "standard::content-type"]).arg(&file).output();
        let said =
            asked.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
        let Some((_, said)) = said.split_once("standard::content-type: ") else { continue };
        let said = said.trim().to_owned();
        compared += 1;
        assert_eq!(types.unaliased(&types.type_of(&file)), types.unaliased(&said), "{name}");
    }
    assert!(compared == files.len() || compared == 0, "{compared}");
}
