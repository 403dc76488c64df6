//! The programs, and how each is brought to show something.

use std::{fs, path::Path};

use deskhand_desktop::LaunchRequest;

use crate::Failure;

/// How it is known what is drawn.
pub(crate) enum Truth {
    /// By the accessibility tree.
    Tree,
    /// These words, in any order.
    Told(&'static str),
}

/// A program and what it shows.
pub(crate) struct Program {
    pub(crate) name: &'static str,
    program: &'static str,
    /// Its arguments; `{}` is a folder of its own, and `{file}` the file.
    arguments: &'static [&'static str],
    /// The name and content of a file.
    file: Option<(&'static str, &'static str)>,
    /// Keys that open what is looked at.
    pub(crate) keys: &'static [&'static str],
    pub(crate) truth: Truth,
    /// A key that changes something small.
    pub(crate) change: &'static str,
}

/// A text in several languages.
const TEXT: &str = "Meeting notes, 14 March\n\nThe quick brown fox jumps over the lazy dog.\nStraße, Größe, Übung, Äpfel, Öl und süße Möhren.\n\
    Déjà vu: garçon, élève, forêt, naïve, œuvre.\n¿Mañana? El niño comió jamón.\nDůležité: žluťoučký kůň; zażółć gęślą jaźń.\n\
    Total: 1,250.00 € (12.5 %)\nhttps://example.org/path?query=1&page=2\nif (x >= 10 && y != 0) { return a[i]; }\n";
/// The same words, and those of the terminal around them.
const TABLE: &str = "Region,Product,Units,Price,Revenue\nNorth,Notebook,120,1.50,180.00\nSouth,Pencil,340,0.40,136.00\n\
    East,Stapler,25,7.90,197.50\nWest,Größe XL,18,22.00,396.00\nCentre,Eraser,410,0.25,102.50\n";
const PAGE: &str = "<!doctype html><meta charset=utf-8><title>Order</title><body style='font:13px sans-serif'><h1>Order form</h1>\
    <p>Please fill in all fields. Fields with a star are required.<p><a href=#a>Terms of service</a> · <a href=#b>Datenschutzerklärung</a>\
    <form><label>First name <input value='Zoë'></label><p><label>City <input value='Kraków'></label>\
    <p><input type=checkbox checked id=n><label for=n>Send me the newsletter</label>\
    <p><input type=radio name=p id=r><label for=r>Pick up in the shop</label> <input type=radio name=p id=s><label for=s>Send by mail</label>\
    <p><button type=button>Place order</button> <button type=button>Cancel</button></form>\
    <table border=1 cellpadding=4><tr><th>Item<th>Quantity<th>Price<tr><td>Desk lamp<td>2<td>39.90<tr><td>Office chair<td>1<td>129.00</table>\
    <div style='background:#203040;color:#fff;padding:6px;margin-top:8px'>Light text on a dark ground, 11 items selected</div>\
    <p style='color:#888;font-size:11px'>Last change on 3 February by the administrator</p>";

const OFFICE: &[&str] = &["-env:UserInstallation=file://{}/profile", "--norestore", "--nologo"];

pub(crate) const ALL: &[Program] = &[
    Program {
        name: "mousepad",
        program: "mousepad",
        arguments: &["--disable-server", "{file}"],
        file: Some(("notes.txt", TEXT)),
        keys: &[],
        truth: Truth::Tree,
        change: "a",
    },
    Program {
        name: "mousepad-replace",
        program: "mousepad",
        arguments: &["--disable-server", "{file}"],
        file: Some(("notes.txt", TEXT)),
        keys: &["ctrl+r"],
        truth: Truth::Tree,
        change: "a",
    },
    Program {
        name: "writer",
        program: "soffice",
        arguments: &["--writer", "{file}"],
        file: Some(("notes.txt", TEXT)),
        keys: &[],
        truth: Truth::Tree,
        change: "a",
    },
    Program {
        name: "writer-replace",
        program: "soffice",
        arguments: &["--writer"],
        file: None,
        keys: &["ctrl+h"],
        truth: Truth::Tree,
        change: "a",
    },
    Program {
        name: "calc",
        program: "soffice",
        arguments: &["--infilter=CSV:44,34,UTF8", "{file}"],
        file: Some(("sales.csv", TABLE)),
        keys: &[],
        truth: Truth::Tree,
        change: "Down",
    },
    Program {
        name: "calc-format",
        program: "soffice",
        arguments: &["--calc"],
        file: None,
        keys: &["ctrl+1"],
        truth: Truth::Tree,
        change: "Down",
    },
    Program {
        name: "chromium",
        program: "chromium",
        arguments: &["{file}"],
        file: Some(("order.html", PAGE)),
        keys: &[],
        truth: Truth::Tree,
        change: "Tab",
    },
    Program {
        name: "chromium-settings",
        program: "chromium",
        arguments: &["chrome://settings/appearance"],
        file: None,
        keys: &[],
        truth: Truth::Tree,
        change: "Tab",
    },
    Program {
        name: "firefox",
        program: "firefox-esr",
        arguments: &["--profile", "{}", "{file}"],
        file: Some(("order.html", PAGE)),
        keys: &[],
        truth: Truth::Tree,
        change: "Tab",
    },
    Program {
        name: "firefox-settings",
        program: "firefox-esr",
        arguments: &["--profile", "{}", "--preferences"],
        file: None,
        keys: &[],
        truth: Truth::Tree,
        change: "Tab",
    },
    Program {
        name: "xterm",
        program: "xterm",
        arguments: &["-fa", "DejaVu Sans Mono", "-fs", "10", "-e", "sh", "-c", "cat {file}; read line"],
        file: Some(("notes.txt", TEXT)),
        keys: &[],
        truth: Truth::Told(TEXT),
        change: "a",
    },
    Program {
        name: "xmessage",
        program: "xmessage",
        arguments: &["-buttons", "Save,Discard changes,Cancel,Help", "-file", "{file}"],
        file: Some(("plain.txt", PLAIN)),
        keys: &[],
        truth: Truth::Told(QUESTION),
        change: "Tab",
    },
    Program {
        name: "idle",
        program: "idle",
        arguments: &["-e", "{file}"],
        file: Some(("shapes.py", CODE)),
        keys: &[],
        truth: Truth::Told(EDITOR),
        change: "a",
    },
];

const PLAIN: &str =
    "The file report.txt was changed by another program.\nDo you want to save your changes before closing?\n";
const QUESTION: &str = "The file report.txt was changed by another program. Do you want to save your changes before closing? Save \
    Discard changes Cancel Help";
const CODE: &str = "import math\n\nclass Circle:\n    def __init__(self, radius):\n        self.radius = radius\n\n    def area(self):\n        \
    return math.pi * self.radius ** 2\n\nprint(Circle(2.5).area())\n";
const EDITOR: &str = "File Edit Format Run Options Window Help import math class Circle: def __init__(self, radius): self.radius = radius \
    def area(self): return math.pi * self.radius ** 2 print(Circle(2.5).area()) Ln: 1 Col: 0";

impl Program {
    /// What to start, with its files in a folder.
    pub(crate) fn request(&self, folder: &Path) -> Result<LaunchRequest, Failure> {
        let folder = folder.join("ocr");
        fs::create_dir_all(&folder)?;
        let mut path = folder.clone();
        if let Some((name, content)) = self.file {
            path.push(name);
            fs::write(&path, content)?;
        }
        let filled = |argument: &&str| {
            argument
                .replace("{file}", &path.display().to_string())
                .replace("{}", &folder.display().to_string())
        };
        let usual: &[&str] = if self.program == "soffice" { OFFICE } else { &[] };
        let arguments = usual.iter().chain(self.arguments).map(filled).collect();
        Ok(LaunchRequest { program: self.program.to_owned(), arguments })
    }
}
