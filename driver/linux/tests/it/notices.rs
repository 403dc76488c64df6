//! Windows that take no focus: panels, and pop-ups of programs without another window, as notifications are. They are clicked where they
//! are, and get what is sent.

use std::{
    fs,
    time::{Duration, Instant},
};

use deskhand_desktop::{
    Button, IdleWait as _, LaunchRequest, PointerChord, QuietLimits, WindowManagement as _,
};
use deskhand_desktop_act as act;
use deskhand_desktop_act::{ActLimits, ActionTarget, Click};
use deskhand_ui::{ElementQuery, WindowKind, action::Verdict, geometry::Point, is_notice};

use crate::{
    linux_x11::{desktop, window_titled},
    programs::has_programs,
    x11_client::{Client, Place},
};

/// An icon in a tray, with a menu; it writes what was chosen.
const ICON: &str = r#"
import sys, gi
gi.require_version("Gtk", "3.0")
from gi.repository import Gtk
def happened(what):
    with open(sys.argv[1], "a") as log:
        log.write(what + "\n")
def show(icon, button, time):
    happened("menu")
    menu.show_all()
    menu.popup(None, None, Gtk.StatusIcon.position_menu, icon, button, time)
menu = Gtk.Menu()
for name in ("Open", "Quit"):
    item = Gtk.MenuItem(label=name)
    item.connect("activate", lambda _, name=name: happened(name))
    menu.append(item)
icon = Gtk.StatusIcon.new_from_icon_name("dialog-information")
icon.connect("popup-menu", show)
icon.connect("notify::embedded", lambda *_: happened("embedded"))
Gtk.main()
"#;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_menu_of_an_icon_in_a_tray_is_seen_to_open_and_its_entries_are_clicked() {
    if !has_programs(&["python3", "trayer"]) {
        return;
    }
    let desktop = desktop().await;
    let folder = tempfile::tempdir().unwrap();
    let (script, log) = (folder.path().join("icon.py"), folder.path().join("log"));
    fs::write(&script, ICON).unwrap();
    let start = async |program: &str, arguments: &[&str]| {
        let arguments = arguments.iter().map(|&one| one.to_owned()).collect();
        desktop.launch(&LaunchRequest { program: program.to_owned(), arguments }).await.unwrap();
    };
    start("trayer", &["--edge", "bottom", "--align", "right", "--width", "10", "--height", "40"]).await;
    let panel = window_titled(&desktop, "panel").await;
    assert_eq!(panel.kind, WindowKind::Panel);
    start("/usr/bin/python3", &["-B", script.to_str().unwrap(), log.to_str().unwrap()]).await;
    let happened = || fs::read_to_string(&log).unwrap_or_default().lines().last().map(ToOwned::to_owned);
    let until = async |what: &str| {
        let begun = Instant::now();
        while happened().as_deref() != Some(what) {
            assert!(begun.elapsed() < Duration::from_secs(30), "no {what}: {:?}", happened());
            let watch = desktop.watch(None).await.unwrap();
            desktop.settle(watch, QuietLimits::default()).await.unwrap();
        }
    };
    until("embedded").await;
    let limits = ActLimits::default();
    // Its place is known once the tray has drawn it.
    let at = Point::new(panel.bounds.right() - 20, panel.bounds.bottom() - 20);
    let held = PointerChord { button: Button::Right, ..PointerChord::default() };
    let click = Click { target: ActionTarget::Point(at), held, count: 1 };
    let report = act::click(&desktop, panel.id, &click, &limits).await.unwrap();
    assert_eq!(happened().as_deref(), Some("menu"), "{}", report.summary());
    assert_eq!(report.effect(), Verdict::Seen, "{}", report.summary());
    let menu = report.window.unwrap();
    let found = act::find_element(&desktop, menu.id, &ElementQuery::named("Quit")).await.unwrap();
    let target = ActionTarget::element(found.expect("the entry").1.id);
    let report = act::click(&desktop, menu.id, &Click::once(target), &limits).await.unwrap();
    println!("{} {}", report.effect(), report.summary());
    until("Quit").await;
    desktop.shut_down().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn windows_that_take_no_focus_are_clicked_where_they_are() {
    if !has_programs(&["soffice"]) {
        return;
    }
    let panel = Place { panel: true, ..Place::default() };
    let notice = Place { pop_up: true, ..Place::default() };
    for (title, place, kind) in [("Bar", panel, WindowKind::Panel), ("Notice", notice, WindowKind::Popup)] {
        let desktop = desktop().await;
        let mut client = Client::open(&desktop, title, place);
        let window = window_titled(&desktop, title).await;
        client.wait_until_drawn();
        assert_eq!(window.kind, kind);
        let windows = desktop.windows().await.unwrap();
        assert_eq!(is_notice(&windows, &window), kind == WindowKind::Popup, "{windows:?}");
        let report = act::activate(&desktop, window.id).await.unwrap();
        assert_eq!(report.effect(), Verdict::Seen, "{title}: {}", report.summary());
        let at = Point::new(window.bounds.x + 11, window.bounds.y + 12);
        let click = Click::once(ActionTarget::Point(at));
        let limits = ActLimits::default();
        let report = act::click(&desktop, window.id, &click, &limits).await.unwrap();
        assert_eq!(client.read_buttons(2), ["+1 11,12", "-1 11,12"], "{title}: {}", report.summary());
        desktop.shut_down().await;
    }
}
