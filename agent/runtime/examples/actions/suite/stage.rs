//! The applications, each on a desktop of its own.

use std::{
    net::TcpListener,
    path::{Path, PathBuf},
    time::Duration,
};

use deskhand_desktop::{IdleWait as _, LaunchRequest, QuietLimits, TreeLimits, UiTree as _};
use deskhand_desktop_act as act;
use deskhand_desktop_act::ActLimits;
use deskhand_desktop_detect::{DetectOptions, DetectingDesktop};
use deskhand_desktop_linux::{LinuxDesktop, VirtualOptions};
use deskhand_process::{PATH_DEFAULT, find_program};
use deskhand_runtime::Toolbox;
use deskhand_testkit::fixture::{Fixture, Screen, Toolkit};
use deskhand_ui::{Element, Role, Tree, WindowInfo, geometry::Size, ids::WindowId};

use super::{Failure, observer::Observer, oracle::Oracle};

/// The text that editors open.
pub(crate) const TEXT: &str = "Alpha beta gamma\n";

/// What kind of application it is, which says what is done to it and who tells the truth.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A fixture; its log tells.
    Fixture(Toolkit, Screen),
    /// An editor of plain text; the file tells.
    Editor {
        /// The program, and its arguments before the file; `PROGRAMS` stands for the folder of our own small programs.
        command: &'static [&'static str],
    },
    /// The fixture page in another browser; its log tells.
    Browser,
    /// A spreadsheet; UNO tells.
    Calc,
    /// A text document; UNO tells.
    Writer,
}

/// An application of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Application {
    /// Its name on the command line.
    pub(crate) name: &'static str,
    /// Its toolkit.
    pub(crate) toolkit: &'static str,
    /// The Debian package.
    pub(crate) package: &'static str,
    /// What is there if it is installed: a program, or a file where it starts with a slash.
    pub(crate) needs: &'static str,
    /// Whether it is played only with `--real`, since its package is not among the required ones.
    pub(crate) real: bool,
    /// What kind it is.
    pub(crate) kind: Kind,
}

const fn fixture(name: &'static str, toolkit: Toolkit, screen: Screen) -> Application {
    let (library, package) = match toolkit {
        Toolkit::Gtk3 => ("GTK 3", "gir1.2-gtk-3.0"),
        Toolkit::Gtk4 => ("GTK 4", "gir1.2-gtk-4.0"),
        Toolkit::Qt => ("Qt 5", "python3-pyqt5"),
        Toolkit::Page => ("Chromium", "chromium"),
    };
    let kind = Kind::Fixture(toolkit, screen);
    Application { name, toolkit: library, package, needs: toolkit.needs(), real: false, kind }
}

const fn editor(
    (name, toolkit): (&'static str, &'static str),
    package: &'static str,
    needs: &'static str,
    command: &'static [&'static str],
) -> Application {
    Application { name, toolkit, package, needs, real: true, kind: Kind::Editor { command } }
}

/// All applications: what the required packages bring, then the others.
pub(crate) const APPLICATIONS: &[Application] = &[
    fixture("gtk3", Toolkit::Gtk3, Screen::Form),
    fixture("gtk3-teeth", Toolkit::Gtk3, Screen::Teeth),
    fixture("gtk4", Toolkit::Gtk4, Screen::Form),
    fixture("gtk4-teeth", Toolkit::Gtk4, Screen::Teeth),
    fixture("qt", Toolkit::Qt, Screen::Form),
    fixture("qt-teeth", Toolkit::Qt, Screen::Teeth),
    fixture("chromium", Toolkit::Page, Screen::Form),
    fixture("chromium-teeth", Toolkit::Page, Screen::Teeth),
    Application { real: false, ..editor(("mousepad", "GTK 3"), "mousepad", "mousepad", &["mousepad"]) },
    Application {
        name: "calc",
        toolkit: "LibreOffice",
        package: "libreoffice-calc",
        needs: "soffice",
        real: false,
        kind: Kind::Calc,
    },
    Application {
        name: "writer",
        toolkit: "LibreOffice",
        package: "libreoffice-writer",
        needs: "soffice",
        real: false,
        kind: Kind::Writer,
    },
    editor(("gedit", "GTK 3"), "gedit", "gedit", &["gedit", "--standalone"]),
    editor(
        ("gtk2-editor", "GTK 2"),
        "libgail-common and libatk-adaptor",
        "/usr/share/doc/libgail-common",
        &["/usr/bin/python3", "-B", "PROGRAMS/editor_gtk2.py"],
    ),
    editor(("l3afpad", "GTK 3"), "l3afpad", "l3afpad", &["l3afpad"]),
    editor(
        ("gnome-text-editor", "GTK 4"),
        "gnome-text-editor",
        "gnome-text-editor",
        &["gnome-text-editor", "-s"],
    ),
    editor(("featherpad", "Qt 5"), "featherpad", "featherpad", &["featherpad", "--standalone"]),
    editor(
        ("qt6-editor", "Qt 6"),
        "python3-pyqt6",
        "/usr/lib/python3/dist-packages/PyQt6",
        &["/usr/bin/python3", "-B", "PROGRAMS/editor_qt6.py"],
    ),
    editor(
        ("wx-editor", "wx"),
        "python3-wxgtk4.0",
        "/usr/lib/python3/dist-packages/wx",
        &["/usr/bin/python3", "-B", "PROGRAMS/editor_wx.py"],
    ),
    editor(
        ("swing-editor", "Swing"),
        "default-jdk-headless and libatk-wrapper-java",
        "/usr/share/java/java-atk-wrapper.jar",
        &[
            "java",
            "-Djavax.accessibility.assistive_technologies=org.GNOME.Accessibility.AtkWrapper",
            "-cp",
            "/usr/share/java/java-atk-wrapper.jar",
            "PROGRAMS/Editor.java",
        ],
    ),
    editor(
        ("geany", "GTK 3"),
        "geany",
        "geany",
        &["geany", "--new-instance", "--no-session", "--no-terminal"],
    ),
    Application {
        name: "firefox",
        toolkit: "Gecko",
        package: "firefox-esr",
        needs: "firefox-esr",
        real: true,
        kind: Kind::Browser,
    },
];

impl Application {
    /// Returns `true` if it can be started here.
    pub(crate) fn is_installed(&self) -> bool {
        if self.needs.starts_with('/') {
            Path::new(self.needs).exists()
        } else {
            let path = std::env::var_os("PATH").unwrap_or_else(|| PATH_DEFAULT.into());
            find_program(self.needs, &path, Path::new("/")).is_some()
        }
    }
}

/// A running application.
pub(crate) struct Stage {
    /// As agents have it: with pictures read where the application tells nothing, or what is out of date.
    pub(crate) desktop: DetectingDesktop<LinuxDesktop>,
    pub(crate) window: WindowInfo,
    pub(crate) tools: Toolbox<DetectingDesktop<LinuxDesktop>>,
    pub(crate) observer: Observer,
    pub(crate) oracle: Oracle,
    /// The fixture, for our own applications.
    pub(crate) fixture: Option<Fixture>,
    /// The document, for others.
    pub(crate) file: PathBuf,
}

impl Stage {
    /// Starts an application and waits until it is idle.
    pub(crate) async fn start(application: &Application) -> Result<Self, Failure> {
        let size = Size { width: 1280, height: 900 };
        let options = VirtualOptions { size, ..VirtualOptions::default() };
        let desktop = LinuxDesktop::start_virtual(options).await?;
        let folder = desktop.private_folder().ok_or("the desktop has no folder")?.to_owned();
        let port = TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port();
        let (request, fixture, file) = request(application, &folder, port).await?;
        let observer = Observer::start(&desktop).await?;
        let oracle = Oracle::start(&desktop, port)?;
        let desktop = DetectingDesktop::new(desktop, DetectOptions::default());
        let launched = act::launch(&desktop, &request, &ActLimits::default()).await?;
        let window = launched.window.clone().ok_or_else(|| launched.summary())?;
        if let Some(fixture) = &fixture {
            fixture.ready().await?;
        }
        let tools = Toolbox::standard(ActLimits::default())?;
        let stage = Self { desktop, window, tools, observer, oracle, fixture, file };
        // As long as a model thinks before its first action, so that what changes by itself is known by then.
        stage.tree(stage.window.id).await?;
        stage.settle(Duration::from_millis(2_600)).await?;
        Ok(stage)
    }

    /// Waits until nothing has happened for `quiet`.
    pub(crate) async fn settle(&self, quiet: Duration) -> Result<(), Failure> {
        let watch = self.desktop.watch(Some(self.window.id)).await?;
        let limits = QuietLimits { quiet, first_change: quiet, bound: Duration::from_secs(20) };
        self.desktop.settle(watch, limits).await?;
        Ok(())
    }

    /// The elements of a window.
    pub(crate) async fn tree(&self, window: WindowId) -> Result<Tree, Failure> {
        Ok(self.desktop.tree(window, TreeLimits::default()).await?)
    }

    /// An element of the window by name; those that accept input first.
    pub(crate) async fn named(&self, name: &str) -> Result<Option<Element>, Failure> {
        let tree = self.tree(self.window.id).await?;
        let mut named = tree.elements.iter().filter(|element| element.name == name);
        let found = named.clone().find(|element| element.role.is_interactive()).or_else(|| named.next());
        Ok(found.cloned())
    }

    /// Whether the window shows a text, as the name or the text of an element.
    pub(crate) async fn says(&self, text: &str) -> Result<bool, Failure> {
        let tree = self.tree(self.window.id).await?;
        Ok(tree.elements.iter().any(|element| element.name == text || element.text.as_deref() == Some(text)))
    }

    /// The text that can be edited: the largest one.
    pub(crate) async fn text_area(&self) -> Result<Option<Element>, Failure> {
        use deskhand_ui::State;
        let tree = self.tree(self.window.id).await?;
        let area = |element: &Element| {
            element.bounds.map_or(0, |bounds| i64::from(bounds.width) * i64::from(bounds.height))
        };
        let editable = |element: &&Element| {
            element.states.has(State::Editable)
                || element.role == Role::new("text")
                || element.role == Role::new("document text")
        };
        Ok(tree.elements.iter().filter(editable).max_by_key(|element| area(element)).cloned())
    }
}

/// How an application is started.
async fn request(
    application: &Application,
    folder: &Path,
    port: u16,
) -> Result<(LaunchRequest, Option<Fixture>, PathBuf), Failure> {
    let mut file = folder.join("document.txt");
    let programs =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/actions/suite/programs").display().to_string();
    Ok(match application.kind {
        Kind::Fixture(toolkit, screen) => {
            let fixture = Fixture::prepare(toolkit, screen).await?;
            (started(&fixture), Some(fixture), file)
        }
        Kind::Browser => {
            let fixture = Fixture::prepare(Toolkit::Page, Screen::Form).await?;
            let page = fixture.arguments().iter().find_map(|one| one.strip_prefix("--app="));
            let page = page.ok_or("the fixture has no page")?;
            // The desktop starts it with this profile.
            let profile = folder.join("firefox");
            std::fs::create_dir_all(&profile)?;
            std::fs::write(profile.join("user.js"), PREFERENCES)?;
            let arguments = vec![page.to_owned()];
            let request = LaunchRequest { program: application.needs.to_owned(), arguments };
            (request, Some(fixture), file)
        }
        Kind::Editor { command } => {
            std::fs::write(&file, TEXT)?;
            let mut words = command.iter().map(|word| word.replace("PROGRAMS", &programs));
            let program = words.next().unwrap_or_default();
            let arguments = words.chain([file.display().to_string()]).collect();
            (LaunchRequest { program, arguments }, None, file)
        }
        Kind::Calc | Kind::Writer => {
            let (name, content) =
                if application.kind == Kind::Calc { ("sheet.fods", SHEET) } else { ("report.fodt", REPORT) };
            file = folder.join(name);
            std::fs::write(&file, content)?;
            let arguments = vec![
                format!("-env:UserInstallation=file://{}/profile", folder.display()),
                format!("--accept=socket,host=127.0.0.1,port={port};urp;"),
                "--norestore".to_owned(),
                "--nologo".to_owned(),
                file.display().to_string(),
            ];
            (LaunchRequest { program: "soffice".to_owned(), arguments }, None, file)
        }
    })
}

fn started(fixture: &Fixture) -> LaunchRequest {
    LaunchRequest { program: fixture.program().to_owned(), arguments: fixture.arguments().to_vec() }
}

/// No pages of its own at the first start, which come in front of ours.
const PREFERENCES: &str = r#"
user_pref("datareporting.policy.dataSubmissionEnabled", false);
user_pref("browser.aboutwelcome.enabled", false);
user_pref("browser.startup.homepage_override.mstone", "ignore");
user_pref("browser.shell.checkDefaultBrowser", false);
user_pref("network.captive-portal-service.enabled", false);
user_pref("network.connectivity-service.enabled", false);
"#;

const SHEET: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<office:document xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0"
 xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0" xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0"
 office:version="1.3" office:mimetype="application/vnd.oasis.opendocument.spreadsheet">
<office:body><office:spreadsheet><table:table table:name="Sheet1">
<table:table-row><table:table-cell office:value-type="string"><text:p>Region</text:p></table:table-cell><table:table-cell office:value-type="float" office:value="120"><text:p>120</text:p></table:table-cell></table:table-row>
</table:table></office:spreadsheet></office:body></office:document>"#;

const REPORT: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<office:document xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0"
 xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0" office:version="1.3"
 office:mimetype="application/vnd.oasis.opendocument.text">
<office:body><office:text><text:p>Report</text:p></office:text></office:body></office:document>"#;
