//! Several ranges of cells selected at once in a real spreadsheet, also one that is drawn twice as large, as for a dense screen. It says
//! over its own interface what is selected, and whether that is bold.

use std::{
    process::{Command, Stdio},
    time::{SystemTime, UNIX_EPOCH},
};

use deskhand_desktop::{ElementPatterns as _, LaunchRequest, TreeLimits, UiTree as _};
use deskhand_desktop_act as act;
use deskhand_desktop_act::{ActLimits, ActionReport, ActionTarget, Click, TableTarget};
use deskhand_desktop_linux::{LinuxDesktop, VirtualOptions};
use deskhand_ui::{CellRef, Element, Role, WindowInfo, action::Verdict, geometry::Size};
use x11rb::{
    protocol::xproto::{AtomEnum, PropMode},
    wrapper::ConnectionExt as _,
};

use crate::{fixtures::outline, programs::has_programs, x11_client::connect};

/// Prints the addresses of what is selected, and its weight; the office listens on the pipe that is named to it some time after its window is there.
const JUDGE: &str = r#"
import os, select, sys, time, uno
from com.sun.star.connection import NoConnectException
local = uno.getComponentContext()
resolver = local.ServiceManager.createInstanceWithContext("com.sun.star.bridge.UnoUrlResolver", local)
deadline = time.monotonic() + 60
while True:
    try:
        context = resolver.resolve("uno:pipe,name=%s;urp;StarOffice.ComponentContext" % sys.argv[1])
        break
    except NoConnectException:
        if time.monotonic() > deadline:
            raise
        select.select([], [], [], 0.2)
desktop = context.ServiceManager.createInstanceWithContext("com.sun.star.frame.Desktop", context)
selection = desktop.CurrentComponent.CurrentController.Selection
ranges = selection.RangeAddresses if hasattr(selection, "RangeAddresses") else [selection.RangeAddress]
name = lambda column, row: chr(ord("A") + column) + str(row + 1)
print(",".join(sorted(name(one.StartColumn, one.StartRow) + ":" + name(one.EndColumn, one.EndRow) for one in ranges)), selection.CharWeight, flush=True)
# The bridge of UNO crashes now and then when the interpreter is taken down.
os._exit(0)
"#;

/// A spreadsheet, and the pipe that it listens on.
struct Sheet {
    desktop: LinuxDesktop,
    window: WindowInfo,
    pipe: String,
}

impl Sheet {
    /// On a screen of so many dots per inch.
    async fn open(dots: u32) -> Option<Self> {
        if !has_programs(&["soffice", "/usr/bin/python3"]) {
            return None;
        }
        let size = Size { width: 2400, height: 1500 };
        let desktop =
            LinuxDesktop::start_virtual(VirtualOptions { size, ..VirtualOptions::default() }).await.unwrap();
        let (connection, root) = connect(&desktop);
        let resources = format!("Xft.dpi:\t{dots}\n");
        let (name, kind) = (AtomEnum::RESOURCE_MANAGER, AtomEnum::STRING);
        let set =
            connection.change_property8(PropMode::REPLACE, root, name, kind, resources.as_bytes()).unwrap();
        set.check().unwrap();
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_nanos();
        let pipe = format!("deskhand-ranges-{}-{now}", std::process::id());
        let arguments = vec!["--calc".to_owned(), format!("--accept=pipe,name={pipe};urp;")];
        let request = LaunchRequest { program: "soffice".to_owned(), arguments };
        let launched = act::launch(&desktop, &request, &ActLimits::default()).await.unwrap();
        let window = launched.window.clone().unwrap_or_else(|| panic!("{}", launched.summary()));
        Some(Self { desktop, window, pipe })
    }

    /// What is selected, and its weight.
    fn selected(&self) -> (String, String) {
        let mut judge = Command::new("/usr/bin/python3");
        judge.args(["-B", "-c", JUDGE, &self.pipe]).env_clear().envs(self.desktop.environment().variables());
        let output = judge.stdin(Stdio::null()).output().unwrap();
        assert!(output.status.success(), "{}: {}", output.status, String::from_utf8_lossy(&output.stderr));
        let said = String::from_utf8(output.stdout).unwrap();
        let (ranges, weight) = said.trim().split_once(' ').unwrap();
        (ranges.to_owned(), weight.to_owned())
    }

    async fn selects(&self, ranges: &str, expected: &str) {
        let (wanted, limits) = (ranges.parse().unwrap(), ActLimits::default());
        let select =
            act::select_cells(&self.desktop, self.window.id, &TableTarget::Largest, &wanted, &limits);
        let report = Box::pin(select).await.unwrap();
        assert_eq!(self.selected().0, expected, "{ranges}: {}", report.summary());
        assert_eq!(report.effect(), Verdict::Seen, "{ranges}: {}", report.summary());
    }

    async fn find(&self, is_it: impl Fn(&Element) -> bool) -> Element {
        let tree = self.desktop.tree(self.window.id, TreeLimits::default()).await.unwrap();
        let found = tree.elements.iter().find(|one| is_it(one));
        found.unwrap_or_else(|| panic!("it is not in\n{}", outline(&tree))).clone()
    }

    async fn click(&self, target: ActionTarget) -> ActionReport {
        let (click, limits) = (Click::once(target), ActLimits::default());
        Box::pin(act::click(&self.desktop, self.window.id, &click, &limits)).await.unwrap()
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn several_ranges_are_selected_in_calc() {
    let Some(sheet) = Sheet::open(96).await else { return };
    for (ranges, expected) in [
        ("A7,D1:D7", "A7:A7,D1:D7"),
        ("B2:C3,E5,F1:G2", "B2:C3,E5:E5,F1:G2"),
        // The second one is out of view.
        ("A1:A2,C90:D92", "A1:A2,C90:D92"),
        ("B2:C3", "B2:C3"),
    ] {
        sheet.selects(ranges, expected).await;
    }
    sheet.desktop.shut_down().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn cells_and_buttons_are_hit_in_calc_twice_as_large() {
    let Some(sheet) = Sheet::open(192).await else { return };
    sheet.selects("A7,D1:D7", "A7:A7,D1:D7").await;
    let table = sheet.find(|one| one.role == Role::TABLE).await;
    let cell = sheet.desktop.cell(table.id, CellRef { row: 3, column: 2 }).await.unwrap();
    let bounds = cell.bounds.unwrap();
    // At the usual size it is about 17 pixels high.
    assert!(bounds.height >= 28, "{bounds:?}");
    sheet.selects("B2:C3", "B2:C3").await;
    let bold = sheet.find(|one| one.role == Role::TOGGLE_BUTTON && one.name == "Bold").await;
    let report = sheet.click(ActionTarget::element(bold.id)).await;
    assert_eq!(sheet.selected(), ("B2:C3".to_owned(), "150.0".to_owned()), "{}", report.summary());
    assert_eq!(report.effect(), Verdict::Seen, "{}", report.summary());
    sheet.desktop.shut_down().await;
}
