//! Several ranges of cells selected at once in a real spreadsheet, which says over its own interface what is selected.

use std::{
    process::{Command, Stdio},
    time::{SystemTime, UNIX_EPOCH},
};

use deskhand_core::command::Verdict;
use deskhand_desktop::LaunchRequest;
use deskhand_desktop_act as act;
use deskhand_desktop_act::{ActLimits, TableTarget};
use deskhand_desktop_linux::{LinuxDesktop, VirtualOptions};

use crate::programs::has_programs;

/// Prints the addresses of what is selected; the office listens on the pipe that is named to it some time after its window is there.
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
print(",".join(sorted(name(one.StartColumn, one.StartRow) + ":" + name(one.EndColumn, one.EndRow) for one in ranges)), flush=True)
# The bridge of UNO crashes now and then when the interpreter is taken down.
os._exit(0)
"#;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn several_ranges_are_selected_in_calc() {
    if !has_programs(&["soffice", "/usr/bin/python3"]) {
        return;
    }
    let desktop = LinuxDesktop::start_virtual(VirtualOptions::default()).await.unwrap();
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_nanos();
    let pipe = format!("deskhand-ranges-{}-{now}", std::process::id());
    let arguments = vec!["--calc".to_owned(), format!("--accept=pipe,name={pipe};urp;")];
    let request = LaunchRequest { program: "soffice".to_owned(), arguments };
    let limits = ActLimits::default();
    let launched = act::launch(&desktop, &request, &limits).await.unwrap();
    let calc = launched.window.clone().unwrap_or_else(|| panic!("{}", launched.summary())).id;
    let selected = || {
        let mut judge = Command::new("/usr/bin/python3");
        judge.args(["-B", "-c", JUDGE, &pipe]).env_clear().envs(desktop.environment().variables());
        let output = judge.stdin(Stdio::null()).output().unwrap();
        assert!(output.status.success(), "{}: {}", output.status, String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    };
    for (ranges, expected) in [
        ("A7,D1:D7", "A7:A7,D1:D7"),
        ("B2:C3,E5,F1:G2", "B2:C3,E5:E5,F1:G2"),
        // The second one is out of view.
        ("A1:A2,C90:D92", "A1:A2,C90:D92"),
        ("B2:C3", "B2:C3"),
    ] {
        let wanted = ranges.parse().unwrap();
        let select = act::select_cells(&desktop, calc, &TableTarget::Largest, &wanted, &limits);
        let report = Box::pin(select).await.unwrap();
        assert_eq!(selected(), expected, "{ranges}: {}", report.summary());
        assert_eq!(report.effect(), Verdict::Seen, "{ranges}: {}", report.summary());
    }
    desktop.shut_down().await;
}
