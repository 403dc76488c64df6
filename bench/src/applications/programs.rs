//! The applications: one entry each.

use super::documents::Document;

/// An application, and what is tried in it.
#[derive(Debug)]
pub(super) struct Program {
    pub(super) name: &'static str,
    pub(super) toolkit: &'static str,
    /// Its Debian package.
    pub(super) package: &'static str,
    /// Packages that it needs besides.
    pub(super) with: &'static [&'static str],
    /// What a person calls it.
    pub(super) asked: &'static str,
    /// A part of the command line of its process.
    pub(super) process: &'static str,
    pub(super) opens: Document,
    /// The button or the keys that leave a window which comes at the first start, by a part of its title.
    pub(super) first: &'static [(&'static str, &'static str)],
    /// The path of a menu item, or of buttons, that opens a dialog. Empty if it has none.
    pub(super) menu: &'static [&'static str],
    pub(super) list: List,
    pub(super) text: Where,
    /// What is typed.
    pub(super) types: &'static str,
    /// The keys that copy what was typed.
    pub(super) copies: &'static str,
    pub(super) save: Save,
}

/// A list with an item that is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum List {
    None,
    /// It lists this.
    Shows(&'static str),
    /// It lists this, and two clicks on it give a window a title with that.
    Opens(&'static str, &'static str),
}

/// Where text is typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Where {
    No,
    /// Where the focus is.
    Focused,
    /// In an element; without a name, in the only one of its role.
    In {
        role: &'static str,
        name: &'static str,
    },
}

/// How its document is saved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Save {
    No,
    /// To the file that was opened.
    Same,
    /// To a new file of this name.
    As(&'static str),
    /// By these keys, where the application has keys of its own for it.
    Keys(&'static str),
}

/// An application of a toolkit, from a package of its name, of which nothing is tried but the start.
const fn program(name: &'static str, toolkit: &'static str, package: &'static str) -> Program {
    Program {
        name,
        toolkit,
        package,
        with: &[],
        asked: name,
        process: package,
        opens: Document::Nothing,
        first: &[],
        menu: &[],
        list: List::None,
        text: Where::No,
        types: WORD,
        copies: "ctrl+a ctrl+c",
        save: Save::No,
    }
}

impl Program {
    const fn runs(self, process: &'static str) -> Self {
        Self { process, ..self }
    }

    const fn asked(self, asked: &'static str) -> Self {
        Self { asked, ..self }
    }

    const fn opens(self, opens: Document) -> Self {
        Self { opens, ..self }
    }

    const fn with(self, with: &'static [&'static str]) -> Self {
        Self { with, ..self }
    }

    const fn first(self, first: &'static [(&'static str, &'static str)]) -> Self {
        Self { first, ..self }
    }

    const fn menu(self, menu: &'static [&'static str]) -> Self {
        Self { menu, ..self }
    }

    const fn list(self, list: List) -> Self {
        Self { list, ..self }
    }

    const fn text(self, text: Where) -> Self {
        Self { text, ..self }
    }

    const fn types(self, types: &'static str) -> Self {
        Self { types, ..self }
    }

    const fn copies(self, copies: &'static str) -> Self {
        Self { copies, ..self }
    }

    const fn save(self, save: Save) -> Self {
        Self { save, ..self }
    }

    /// It edits a text and saves it.
    const fn edits(self) -> Self {
        self.opens(Document::Text).text(Where::Focused).save(Save::Same)
    }

    /// It shows a folder, and opens the one inside.
    const fn browses(self) -> Self {
        self.opens(Document::Folder).list(List::Opens("drafts", "drafts"))
    }
}

/// A word that no application has of itself.
const WORD: &str = "Quarterly4711";
const ABOUT: &[&str] = &["Help", "About"];
const FIELD: Where = Where::In { role: "text", name: "" };

/// All of them.
pub(super) const PROGRAMS: &[Program] = &[
    // GTK 3
    program("Mousepad", "GTK 3", "mousepad").edits().menu(ABOUT),
    program("gedit", "GTK 3", "gedit").asked("gedit").edits().menu(&["Menu", "About gedit"]),
    program("Geany", "GTK 3", "geany").edits().menu(ABOUT),
    program("Pluma", "GTK 3", "pluma").edits().menu(ABOUT),
    program("L3afpad", "GTK 3", "l3afpad").edits().menu(ABOUT),
    program("Thunar", "GTK 3", "thunar").browses().menu(&["Help", "About"]),
    program("Document Viewer", "GTK 3", "evince")
        .asked("Evince")
        .opens(Document::Pdf)
        .menu(&["File options", "About Document Viewer"]),
    program("Image Viewer", "GTK 3", "eog").opens(Document::Picture).menu(&["Menu", "About Image Viewer"]),
    program("Gnumeric", "GTK 3", "gnumeric")
        .opens(Document::Table)
        .menu(ABOUT)
        .text(Where::Focused)
        .types("Quarterly4711\n")
        .save(Save::As("sheet.gnumeric")),
    program("AbiWord", "GTK 3", "abiword").edits().menu(&["Help", "About abiword..."]),
    program("Meld", "GTK 3", "meld").menu(&["Menu", "About Meld"]),
    program("Engrampa", "GTK 3", "engrampa").menu(ABOUT),
    program("Galculator", "GTK 3", "galculator").menu(ABOUT),
    program("Xfce Terminal", "GTK 3 (VTE)", "xfce4-terminal").menu(ABOUT),
    // GTK 4
    program("Text Editor", "GTK 4", "gnome-text-editor")
        .asked("GNOME Text Editor")
        .edits()
        .text(FIELD)
        .menu(&["Menu", "About Text Editor"]),
    program("Calculator", "GTK 4", "gnome-calculator")
        .asked("GNOME Calculator")
        .text(Where::Focused)
        .types("4711"),
    program("Disk Usage Analyzer", "GTK 4", "baobab"),
    program("Characters", "GTK 4", "gnome-characters").asked("GNOME Characters").runs("haracters"),
    // GTK 2
    program("GIMP", "GTK 2", "gimp")
        .asked("image editor")
        .opens(Document::Picture)
        .menu(&["Help", "About"])
        .save(Save::As("picture.xcf")),
    program("HexChat", "GTK 2", "hexchat").first(&[("Return", ""), ("Connect", "Network List")]).menu(ABOUT),
    program("Sylpheed", "GTK 2", "sylpheed")
        .first(&[
            ("Escape", "Mailbox setting"),
            ("Return", "Cancel"),
            ("Escape", "New account setup"),
            ("Return", "Cancel"),
        ])
        .menu(ABOUT),
    // Qt 5
    program("FeatherPad", "Qt 5", "featherpad").edits().menu(ABOUT),
    program("KeePassXC", "Qt 5", "keepassxc").menu(&["Help", "About"]),
    program("SpeedCrunch", "Qt 5", "speedcrunch")
        .types("4711")
        .text(Where::Focused)
        .menu(&["Help", "About SpeedCrunch"]),
    program("FocusWriter", "Qt 5", "focuswriter")
        .menu(ABOUT)
        .opens(Document::Text)
        .text(Where::Focused)
        .save(Save::Same),
    program("PCManFM-Qt", "Qt 5", "pcmanfm-qt").browses().menu(&["Help", "About"]),
    // KDE
    program("KWrite", "Qt 5 (KDE)", "kwrite").edits().menu(&["Help", "About KWrite"]),
    program("KCalc", "Qt 5 (KDE)", "kcalc")
        .menu(&["Help", "About KCalc"])
        .text(Where::Focused)
        .types("47")
        .copies("ctrl+c"),
    // Its items take clicks on their icons and names alone.
    program("Dolphin", "Qt 5 (KDE)", "dolphin").with(&["breeze-icon-theme"]).browses(),
    program("Okular", "Qt 5 (KDE)", "okular").opens(Document::Pdf).menu(&["Help", "About Okular"]),
    program("KolourPaint", "Qt 5 (KDE)", "kolourpaint")
        .opens(Document::Picture)
        .menu(&["Help", "About KolourPaint"])
        .save(Save::As("picture.png")),
    // Qt 6
    program("Designer", "Qt 6", "designer-qt6")
        .asked("/usr/lib/qt6/bin/designer")
        .runs("designer")
        .list(List::Shows("Main Window")),
    program("A form in PyQt 6", "Qt 6", "python3-pyqt6")
        .asked("/usr/bin/python3")
        .runs("form6.py")
        .opens(Document::Script { name: "form6.py", text: QT6_FORM })
        .menu(&["Help", "About"])
        .list(List::Shows("Berlin"))
        .text(FIELD),
    // wxWidgets
    program("Audacity", "wxWidgets", "audacity")
        .first(&[("Escape", "Welcome to Audacity")])
        .menu(&["Help", "About Audacity"]),
    program("FileZilla", "wxWidgets", "filezilla")
        .first(&[("Escape", "Welcome to FileZilla")])
        .menu(&["Help", "About..."]),
    program("A form in wxPython", "wxWidgets", "python3-wxgtk4.0")
        .asked("/usr/bin/python3")
        .runs("form_wx.py")
        .opens(Document::Script { name: "form_wx.py", text: WX_FORM })
        .menu(&["Help", "About"])
        .list(List::Shows("Berlin"))
        .text(FIELD),
    // Tk
    program("IDLE", "Tk", "idle-python3.11")
        .with(&["idle3"])
        .asked("IDLE")
        .runs("idle")
        .menu(&["Help", "About IDLE"]),
    program("A form in Tk", "Tk", "python3-tk")
        .asked("/usr/bin/python3")
        .runs("form_tk.py")
        .opens(Document::Script { name: "form_tk.py", text: TK_FORM })
        .menu(&["About"])
        .list(List::Shows("Berlin"))
        .text(Where::Focused)
        .copies("ctrl+/ ctrl+c"),
    // Swing
    program("A form in Swing", "Swing", "openjdk-17-jdk")
        .with(&["libatk-wrapper-java", "libatk-wrapper-java-jni"])
        .asked("java")
        .runs("Form.java")
        .opens(Document::Script { name: "Form.java", text: SWING_FORM })
        .menu(&["Help", "About"])
        .list(List::Shows("Berlin"))
        .text(FIELD),
    program("Freeplane", "Swing", "freeplane").menu(&["Help", "About"]),
    program("jEdit", "Swing", "jedit").edits().menu(&["Help", "About jEdit..."]),
    // Browsers
    program("Firefox", "Gecko", "firefox-esr")
        .asked("Mozilla Firefox")
        .runs("firefox-esr")
        .opens(Document::Page)
        .text(Where::In { role: "entry", name: "Name" }),
    program("Thunderbird", "Gecko", "thunderbird").runs("thunderbird"),
    program("Chromium", "Chromium", "chromium")
        .asked("Chromium")
        .opens(Document::Page)
        .text(Where::In { role: "entry", name: "Name" }),
    program("Falkon", "QtWebEngine", "falkon")
        .opens(Document::Page)
        .text(Where::In { role: "text", name: "Name" }),
    // LibreOffice
    program("LibreOffice Writer", "VCL", "libreoffice-writer")
        .asked("Writer")
        .runs("soffice")
        .opens(Document::Letter)
        .menu(&["Help", "About LibreOffice"])
        .text(Where::Focused)
        .save(Save::Same),
    program("LibreOffice Calc", "VCL", "libreoffice-calc")
        .asked("Calc")
        .runs("soffice")
        .menu(&["Help", "About LibreOffice"])
        .save(Save::As("sheet.ods")),
    program("LibreOffice Impress", "VCL", "libreoffice-impress")
        .asked("Impress")
        .runs("soffice")
        .first(&[("Escape", "Select a Template")])
        .menu(&["Help", "About LibreOffice"]),
    // Without accessibility
    program("XTerm", "Xaw", "xterm").opens(Document::Script { name: "talk.sh", text: TALK }),
    program("Xcalc", "Xaw", "x11-apps").asked("xcalc").runs("xcalc"),
    program("Xedit", "Xaw", "x11-apps").asked("xedit").runs("xedit"),
    program("NEdit", "Motif", "nedit").edits().menu(&["Help", "Version"]),
    program("Xpdf", "Motif", "xpdf").opens(Document::Pdf),
    program("Dillo", "FLTK", "dillo").opens(Document::Page),
    program("Tux Paint", "SDL", "tuxpaint"),
    program("Emacs", "GTK 3 (drawn)", "emacs-gtk")
        .asked("GNU Emacs")
        .runs("emacs")
        .opens(Document::Text)
        .text(Where::Focused)
        .save(Save::Keys("ctrl+x ctrl+s")),
];

const TALK: &str = "#!/bin/sh\necho Orders of today are complete\necho Nothing is left\necho Come again tomorrow\nexec cat\n";

const QT6_FORM: &str = r#"import sys
from PyQt6.QtWidgets import (QApplication, QLineEdit, QListWidget, QMainWindow, QMessageBox, QVBoxLayout, QWidget)
app = QApplication(sys.argv)
window = QMainWindow()
window.setWindowTitle("Form")
menu = window.menuBar().addMenu("Help")
menu.addAction("About").triggered.connect(lambda: QMessageBox.information(window, "About this form", "A form in Qt 6"))
body = QWidget()
column = QVBoxLayout(body)
column.addWidget(QLineEdit())
cities = QListWidget()
cities.addItems(["Berlin", "Oslo", "Lima"])
column.addWidget(cities)
window.setCentralWidget(body)
window.show()
app.exec()
"#;

const WX_FORM: &str = r#"import wx
app = wx.App()
frame = wx.Frame(None, title="Form")
bar = wx.MenuBar()
menu = wx.Menu()
about = menu.Append(wx.ID_ANY, "About")
bar.Append(menu, "Help")
frame.SetMenuBar(bar)
frame.Bind(wx.EVT_MENU, lambda event: wx.MessageBox("A form in wx", "About this form"), about)
panel = wx.Panel(frame)
column = wx.BoxSizer(wx.VERTICAL)
column.Add(wx.TextCtrl(panel), 0, wx.EXPAND)
column.Add(wx.ListBox(panel, choices=["Berlin", "Oslo", "Lima"]), 1, wx.EXPAND)
panel.SetSizer(column)
frame.Show()
app.MainLoop()
"#;

const TK_FORM: &str = r#"import tkinter
from tkinter import messagebox
root = tkinter.Tk()
root.title("Form")
tkinter.Button(root, text="About", command=lambda: messagebox.showinfo("About this form", "A form in Tk")).pack()
entry = tkinter.Entry(root)
entry.pack()
cities = tkinter.Listbox(root)
for city in ["Berlin", "Oslo", "Lima"]:
    cities.insert("end", city)
cities.pack()
entry.focus_set()
root.mainloop()
"#;

const SWING_FORM: &str = r#"import java.awt.BorderLayout;
import javax.swing.*;
public class Form {
    public static void main(String[] words) {
        SwingUtilities.invokeLater(() -> {
            JFrame frame = new JFrame("Form");
            JMenuBar bar = new JMenuBar();
            JMenu menu = new JMenu("Help");
            JMenuItem about = new JMenuItem("About");
            about.addActionListener(event -> JOptionPane.showMessageDialog(frame, "A form in Swing", "About this form", 1));
            menu.add(about);
            bar.add(menu);
            frame.setJMenuBar(bar);
            frame.add(new JTextField(20), BorderLayout.NORTH);
            frame.add(new JScrollPane(new JList<>(new String[] {"Berlin", "Oslo", "Lima"})), BorderLayout.CENTER);
            frame.setDefaultCloseOperation(JFrame.EXIT_ON_CLOSE);
            frame.setSize(400, 300);
            frame.setVisible(true);
        });
    }
}
"#;
