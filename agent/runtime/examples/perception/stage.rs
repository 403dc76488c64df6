//! The applications to measure, each on its own desktop.

use std::time::Duration;

use deskhand_desktop::{IdleWait as _, LaunchRequest, QuietLimits};
use deskhand_desktop_act as act;
use deskhand_desktop_act::ActLimits;
use deskhand_desktop_linux::{LinuxDesktop, VirtualOptions};
use deskhand_testkit::fixture::{Fixture, Screen, Toolkit};
use deskhand_ui::{WindowInfo, geometry::Size};

use crate::Failure;

/// An application.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Application {
    Gtk3,
    Gtk4,
    Qt,
    Chromium,
    /// 10,000 rows.
    Gtk3List,
    /// 10,000 rows.
    QtList,
    Writer,
    Calc,
}

impl Application {
    pub(crate) const ALL: [Self; 8] = [
        Self::Gtk3,
        Self::Gtk4,
        Self::Qt,
        Self::Chromium,
        Self::Gtk3List,
        Self::QtList,
        Self::Writer,
        Self::Calc,
    ];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Gtk3 => "gtk3",
            Self::Gtk4 => "gtk4",
            Self::Qt => "qt",
            Self::Chromium => "chromium",
            Self::Gtk3List => "gtk3_list",
            Self::QtList => "qt_list",
            Self::Writer => "writer",
            Self::Calc => "calc",
        }
    }

    /// A harmless key with an observable effect on each press. Caret moves do not count.
    pub(crate) fn harmless_key(self) -> &'static str {
        if self == Self::Writer { "x" } else { "Right" }
    }

    fn fixture(self) -> Option<(Toolkit, Screen)> {
        match self {
            Self::Gtk3 => Some((Toolkit::Gtk3, Screen::Form)),
            Self::Gtk4 => Some((Toolkit::Gtk4, Screen::Form)),
            Self::Qt => Some((Toolkit::Qt, Screen::Form)),
            Self::Chromium => Some((Toolkit::Page, Screen::Form)),
            Self::Gtk3List => Some((Toolkit::Gtk3, Screen::List)),
            Self::QtList => Some((Toolkit::Qt, Screen::List)),
            Self::Writer | Self::Calc => None,
        }
    }
}

/// A running, settled application.
pub(crate) struct Stage {
    pub(crate) desktop: LinuxDesktop,
    pub(crate) window: WindowInfo,
    /// The fixture, for our own applications.
    pub(crate) fixture: Option<Fixture>,
}

/// A text document with a table, as flat XML.
const TEXT: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<office:document xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0"
 xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0"
 xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0"
 office:version="1.3" office:mimetype="application/vnd.oasis.opendocument.text">
<office:body><office:text><text:p>Report</text:p>
<table:table table:name="Sales"><table:table-column table:number-columns-repeated="2"/>
<table:table-row><table:table-cell><text:p>Region</text:p></table:table-cell><table:table-cell><text:p>Q1</text:p></table:table-cell></table:table-row>
<table:table-row><table:table-cell><text:p>North</text:p></table:table-cell><table:table-cell><text:p>120</text:p></table:table-cell></table:table-row>
</table:table><text:p>End</text:p></office:text></office:body></office:document>"#;

impl Stage {
    pub(crate) async fn start(application: Application) -> Result<Self, Failure> {
        let size = Size { width: 1920, height: 1080 };
        let options = VirtualOptions { size, ..VirtualOptions::default() };
        let desktop = LinuxDesktop::start_virtual(options).await?;
        let fixture = match application.fixture() {
            Some((toolkit, screen)) => Some(Fixture::prepare(toolkit, screen).await?),
            None => None,
        };
        let request = match (&fixture, application) {
            (Some(fixture), _) => LaunchRequest {
                program: fixture.program().to_owned(),
                arguments: fixture.arguments().to_vec(),
            },
            (None, application) => office(&desktop, application)?,
        };
        let launched = act::launch(&desktop, &request, &ActLimits::default()).await?;
        let window = launched.window.clone().ok_or_else(|| launched.summary())?;
        if let Some(fixture) = &fixture {
            fixture.ready().await?;
        }
        let stage = Self { desktop, window, fixture };
        stage.settle(Duration::from_millis(700)).await?;
        Ok(stage)
    }

    /// Waits until nothing has happened for `quiet`.
    pub(crate) async fn settle(&self, quiet: Duration) -> Result<u64, Failure> {
        let watch = self.desktop.watch(Some(self.window.id)).await?;
        let limits = QuietLimits { quiet, first_change: quiet, bound: Duration::from_secs(20) };
        Ok(self.desktop.settle(watch, limits).await?.waited_ms)
    }
}

fn office(desktop: &LinuxDesktop, application: Application) -> Result<LaunchRequest, Failure> {
    let folder = desktop.private_folder().ok_or("the desktop has no folder")?;
    let mut arguments = vec![
        format!("-env:UserInstallation=file://{}/profile", folder.display()),
        "--norestore".to_owned(),
        "--nologo".to_owned(),
    ];
    if application == Application::Writer {
        let path = folder.join("report.fodt");
        std::fs::write(&path, TEXT)?;
        arguments.push(path.display().to_string());
    } else {
        arguments.push("--calc".to_owned());
    }
    Ok(LaunchRequest { program: "soffice".to_owned(), arguments })
}
