//! What is not there yet: a text further down, a file in a dialog, what shows only under the pointer. Judged by the page's own log
//! and by the titles of windows.

use std::time::Duration;

use deskhand_desktop::{LaunchRequest, WindowManagement as _};
use deskhand_desktop_act as act;
use deskhand_desktop_act::{ActLimits, ActionTarget, Click};
use deskhand_desktop_linux::{LinuxDesktop, VirtualOptions};
use deskhand_testkit::pages::PageServer;
use deskhand_ui::{
    ElementQuery, Role,
    action::{Condition, Verdict},
    ids::{ElementId, WindowId},
};

use crate::programs::has_programs;

const BOUND: Duration = Duration::from_secs(30);

/// A list of 5,000 rows of which only those in view exist, a file field, a menu that shows under the pointer, and a counter of keys.
const PAGE: &str = r##"<!doctype html><title>Reach</title>
<style>#view{height:240px;overflow:auto;border:1px solid} #menu:hover>div{display:block} #menu>div{display:none}</style>
<h1>Reach</h1>
<div id="view" role="list" aria-label="Rows" tabindex="0"><div id="all" style="height:120000px;position:relative"></div></div>
<p><label>Letter <input type="file" id="file" aria-label="Letter"></label></p>
<div id="menu" style="width:200px;height:30px;background:#ddd">Hover here<div>Hidden entry</div></div>
<p><label>Count <input id="count" aria-label="Count"></label></p>
<script>
const tell = (what) => fetch("/log", {method: "POST", body: what});
const view = document.getElementById("view"), all = document.getElementById("all");
function draw() {
  const first = Math.floor(view.scrollTop / 24), rows = [];
  for (let row = first; row < Math.min(first + 12, 5000); row++)
    rows.push(`<div role="listitem" style="position:absolute;top:${row * 24}px;height:24px">Row ${row} of the list</div>`);
  all.innerHTML = rows.join("");
}
view.addEventListener("scroll", draw); draw();
document.getElementById("file").addEventListener("change", async (event) => {
  const file = event.target.files[0]; tell(`file ${file.name}: ${await file.text()}`); });
document.getElementById("menu").addEventListener("mouseenter", () => tell("hovered"));
let keys = 0;
document.getElementById("count").addEventListener("keydown", () => tell(`key ${++keys}`));
</script>"##;

/// A browser with the page.
struct Page {
    desktop: LinuxDesktop,
    window: WindowId,
    server: PageServer,
    limits: ActLimits,
}

impl Page {
    async fn open() -> Self {
        let server = PageServer::start(|path, _| match path {
            "/" => ("text/html", PAGE.to_owned()),
            _ => ("text/html", String::new()),
        })
        .unwrap();
        let desktop = LinuxDesktop::start_virtual(VirtualOptions::default()).await.unwrap();
        let arguments = vec![server.url("/"), "--window-size=1040,860".to_owned()];
        let request = LaunchRequest { program: "chromium".to_owned(), arguments };
        let limits = ActLimits::default();
        let launched = act::launch(&desktop, &request, &limits).await.unwrap();
        let window = launched.window.clone().unwrap_or_else(|| panic!("{}", launched.summary())).id;
        let page = Self { desktop, window, server, limits };
        page.element(Role::HEADING, "Reach").await;
        page
    }

    async fn element(&self, role: Role, name: &str) -> ElementId {
        let wanted = ElementQuery::new(role, name);
        let condition = Condition::Appears(wanted.clone());
        let shown = act::wait_for(&self.desktop, self.window, &condition, BOUND).await.unwrap();
        assert_eq!(shown.effect(), Verdict::Seen, "{}", shown.summary());
        act::find_element(&self.desktop, self.window, &wanted).await.unwrap().unwrap().1.id
    }

    /// Waits until the page has told something that begins so.
    fn told(&self, start: &str) -> String {
        self.server.told(|line| line.starts_with(start))
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_is_scrolled_hovered_given_a_file_and_keys() {
    if !has_programs(&["chromium"]) {
        return;
    }
    let page = Page::open().await;
    let Page { desktop, window, limits, .. } = &page;
    let list = page.element(Role::LIST, "Rows").await;
    let scrolled =
        act::scroll_to(desktop, *window, (list, None), ("Row 321 of", false), limits).await.unwrap();
    println!("{} after {} ms", scrolled.summary(), scrolled.waited_ms());
    assert_eq!(scrolled.effect(), Verdict::Seen, "{}", scrolled.summary());
    assert!(scrolled.output["id"].is_string(), "{}", scrolled.output);
    let back = act::scroll_to(desktop, *window, (list, None), ("Row 300 of", true), limits).await.unwrap();
    assert_eq!(back.effect(), Verdict::Seen, "{}", back.summary());
    let end = act::scroll_to(desktop, *window, (list, None), ("Row 9999 of", true), limits).await.unwrap();
    assert_eq!(end.effect(), Verdict::NotSeen);
    assert!(end.summary().contains("as far as it goes"), "{}", end.summary());

    // What shows only under the pointer.
    let text =
        act::find_element(desktop, *window, &ElementQuery::named("Hover here")).await.unwrap().unwrap().1.id;
    let hovered = act::hover(desktop, *window, &ActionTarget::element(text), limits).await.unwrap();
    assert_eq!(hovered.effect(), Verdict::Seen, "{}", hovered.summary());
    page.told("hovered");

    // A key, several times.
    let field = page.element(Role::ENTRY, "Count").await;
    act::click(desktop, *window, &Click::once(ActionTarget::element(field)), limits).await.unwrap();
    let chord = ["a".parse().unwrap()];
    let pressed = act::press_again(desktop, *window, (&chord, 12), limits).await.unwrap();
    assert_eq!(pressed.effect(), Verdict::Seen, "{}", pressed.summary());
    assert!(pressed.summary().contains("a, 12 times"), "{}", pressed.summary());
    page.told("key 12");
    let many = act::press_again(desktop, *window, (&chord, 1_000), limits).await.unwrap();
    assert!(many.summary().contains("1 to 200 times"), "{}", many.summary());

    // A file for the page, in the dialog of the browser.
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("letter ä.txt");
    std::fs::write(&file, "Dear Ada").unwrap();
    std::fs::write(folder.path().join("letter ä.txt.bak"), "old").unwrap();
    let path = file.display().to_string();
    let none = act::choose_file(desktop, *window, &path, limits).await.unwrap();
    assert!(none.summary().contains("no dialog for a file is open"), "{}", none.summary());
    let button =
        act::find_element(desktop, *window, &ElementQuery::named("Letter")).await.unwrap().unwrap().1;
    let clicked =
        act::click(desktop, *window, &Click::once(ActionTarget::element(button.id)), limits).await.unwrap();
    println!("{}", clicked.summary());
    let missing = act::choose_file(desktop, *window, "/nowhere/at.all", limits).await.unwrap();
    assert_eq!(missing.effect(), Verdict::Refused, "{}", missing.summary());
    let chosen = act::choose_file(desktop, *window, &path, limits).await.unwrap();
    println!("{}", chosen.summary());
    assert_eq!(page.told("file "), "file letter ä.txt: Dear Ada");
    assert_eq!(chosen.effect(), Verdict::Seen, "{}", chosen.summary());
    page.desktop.shut_down().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_application_is_given_a_file_in_its_own_dialog() {
    if !has_programs(&["mousepad"]) {
        return;
    }
    let desktop = LinuxDesktop::start_virtual(VirtualOptions::default()).await.unwrap();
    let limits = ActLimits::default();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("letter.txt");
    std::fs::write(&file, "Dear Ada").unwrap();
    for (program, arguments) in [("mousepad", vec![]), ("soffice", vec!["--writer".to_owned()])] {
        if !has_programs(&[program]) {
            continue;
        }
        let request = LaunchRequest { program: program.to_owned(), arguments };
        let launched = act::launch(&desktop, &request, &limits).await.unwrap();
        let window = launched.window.clone().unwrap_or_else(|| panic!("{}", launched.summary())).id;
        let opened = act::press_keys(&desktop, window, &["ctrl+o".parse().unwrap()], &limits).await.unwrap();
        assert_eq!(opened.effect(), Verdict::Seen, "{program}: {}", opened.summary());
        let path = file.display().to_string();
        let chosen = act::choose_file(&desktop, window, &path, &limits).await.unwrap();
        println!("{program}: {}", chosen.summary());
        assert_eq!(chosen.effect(), Verdict::Seen, "{program}: {}", chosen.summary());
        let titles: Vec<String> =
            desktop.windows().await.unwrap().into_iter().map(|window| window.title).collect();
        assert!(titles.iter().any(|title| title.contains("letter.txt")), "{program}: {titles:?}");
    }
    desktop.shut_down().await;
}
