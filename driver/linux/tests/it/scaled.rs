//! Programs that draw twice as large, as for a dense screen, and windows on the second of two monitors: what is listed is where it is
//! drawn, and clicks land there. The application says what it got.

use std::time::Duration;

use deskhand_desktop::{
    Capture as _, IdleWait as _, InputInjection as _, LaunchRequest, PointerChord, QuietLimits,
    WindowManagement as _,
};
use deskhand_desktop_act as act;
use deskhand_desktop_act::{ActLimits, ActionReport, ActionTarget, Click, NewValue};
use deskhand_desktop_detect::{DetectOptions, DetectingDesktop};
use deskhand_desktop_linux::{LinuxDesktop, VirtualOptions};
use deskhand_testkit::fixture::{Fixture, Screen, Toolkit};
use deskhand_ui::{
    Element, ElementQuery, Role,
    action::{Condition, Verdict},
    geometry::{Point, Size},
};
use serde_json::json;

use crate::{
    fixtures::{Stage, outline},
    programs::has_programs,
    x11_client::set_monitors,
};

const BOUND: Duration = Duration::from_secs(30);
const SIZE: Size = Size { width: 3200, height: 1600 };

/// The settings are options of a browser, and else variables.
async fn stage(toolkit: Toolkit, settings: &[&str], monitors: &[u16]) -> Option<Stage> {
    if !has_programs(&[toolkit.needs(), "tesseract"]) {
        return None;
    }
    let options = VirtualOptions { size: SIZE, ..VirtualOptions::default() };
    let desktop = LinuxDesktop::start_virtual(options).await.unwrap();
    if !monitors.is_empty() {
        set_monitors(&desktop, monitors, SIZE.height);
    }
    let fixture = Fixture::prepare(toolkit, Screen::Form).await.unwrap();
    let own = fixture.arguments().iter().cloned();
    let scaling = settings.iter().map(|&one| one.to_owned());
    let request = match toolkit {
        Toolkit::Page => {
            LaunchRequest { program: fixture.program().to_owned(), arguments: scaling.chain(own).collect() }
        }
        Toolkit::Gtk3 | Toolkit::Gtk4 | Toolkit::Qt => {
            let program = [fixture.program().to_owned()];
            let arguments = scaling.chain(program).chain(own).collect();
            LaunchRequest { program: "/usr/bin/env".to_owned(), arguments }
        }
    };
    let launched = act::launch(&desktop, &request, &ActLimits::default()).await.unwrap();
    let window = launched.window.clone().unwrap_or_else(|| panic!("{toolkit}: {}", launched.summary()));
    fixture.ready().await.unwrap();
    // A browser exposes a page some time after its window.
    let count = Condition::Appears(ElementQuery::named("Count"));
    let shown = act::wait_for(&desktop, window.id, &count, BOUND).await.unwrap();
    seen("the form", &shown);
    Some(Stage { desktop, fixture, window })
}

async fn named(stage: &Stage, role: &Role, name: &str) -> Element {
    let tree = stage.tree().await;
    let found = tree.elements.iter().find(|one| one.role == *role && one.name == name);
    found.unwrap_or_else(|| panic!("no {role} {name} in\n{}", outline(&tree))).clone()
}

fn seen(what: &str, report: &ActionReport) {
    assert_eq!(report.effect(), Verdict::Seen, "{what}: {}", report.summary());
}

/// A button, a box, a field, a menu and a list of options.
async fn works(toolkit: Toolkit, stage: &Stage) {
    let (desktop, window, limits) = (&stage.desktop, stage.window.id, &ActLimits::default());
    let button = named(stage, &Role::PUSH_BUTTON, "Count").await;
    let click = Click::once(ActionTarget::element(button.id));
    seen("click", &act::click(desktop, window, &click, limits).await.unwrap());
    let agree = named(stage, &Role::CHECK_BOX, "Agree").await;
    seen("check", &act::set_checked(desktop, window, agree.id, None, true, limits).await.unwrap());
    // Qt names it by its value.
    let combo = stage.tree().await.elements.into_iter().find(|one| one.role == Role::COMBO_BOX).unwrap();
    seen("select", &act::select(desktop, window, combo.id, "Large", limits).await.unwrap());
    let name = stage
        .tree()
        .await
        .elements
        .into_iter()
        .find(|one| one.name == "Name" && [Role::ENTRY, Role::TEXT].contains(&one.role));
    let text = NewValue::Text("Anna".to_owned());
    seen("write", &act::set_value(desktop, window, name.unwrap().id, None, &text, limits).await.unwrap());
    let path = ["Insert", "Line"].map(str::to_owned);
    seen("visit", &act::visit(desktop, window, &path, limits).await.unwrap());
    let state = stage.fixture.state().await.unwrap();
    assert_eq!(state["Agree"], json!(true), "{toolkit}: {state}");
    assert_eq!(state["Size"], json!("Large"), "{toolkit}: {state}");
    assert_eq!(state["Name"], json!("Anna"), "{toolkit}: {state}");
    let events: Vec<String> = stage.fixture.since(0).into_iter().map(|one| one.event).collect();
    assert!(events.iter().any(|one| one == "clicked"), "{toolkit}: {events:?}");
    assert!(events.iter().any(|one| one == "chosen"), "{toolkit}: {events:?}");
}

async fn twice_as_large(toolkit: Toolkit, settings: &[&str]) {
    let Some(stage) = stage(toolkit, settings, &[]).await else { return };
    let button = named(&stage, &Role::PUSH_BUTTON, "Count").await;
    let bounds = button.bounds.unwrap();
    // At the usual size it is at most 40 pixels high, and in a page about 21.
    let height_min = if toolkit == Toolkit::Page { 40 } else { 44 };
    assert!(bounds.height >= height_min, "{toolkit}: {bounds:?}");
    works(toolkit, &stage).await;
    // The picture of the place shows the button.
    let Stage { desktop, .. } = stage;
    let desktop = DetectingDesktop::new(desktop, DetectOptions::default());
    assert_eq!(desktop.drawn_text(bounds).await.unwrap().as_deref(), Some("Count"), "{toolkit}: {bounds:?}");
    desktop.into_inner().shut_down().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_program_in_gtk_3_twice_as_large() {
    twice_as_large(Toolkit::Gtk3, &["GDK_SCALE=2"]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_program_in_gtk_4_twice_as_large() {
    twice_as_large(Toolkit::Gtk4, &["GDK_SCALE=2"]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_program_in_qt_twice_as_large() {
    twice_as_large(Toolkit::Qt, &["QT_SCALE_FACTOR=2"]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_in_chromium_twice_as_large() {
    twice_as_large(Toolkit::Page, &["--force-device-scale-factor=2"]).await;
}

async fn on_the_second_monitor(toolkit: Toolkit, settings: &[&str]) {
    let Some(mut stage) = stage(toolkit, settings, &[800, 2400]).await else { return };
    let (from, desktop) = (stage.window.bounds, &stage.desktop);
    // By its title bar.
    let (x, y) = (from.x + 150, from.y - 8);
    let to = Point::new(x + 900 - from.x, y + 60 - from.y);
    let watch = desktop.watch(Some(stage.window.id)).await.unwrap();
    desktop.drag(Point::new(x, y), to, &PointerChord::default()).await.unwrap();
    desktop.settle(watch, QuietLimits::default()).await.unwrap();
    let windows = desktop.windows().await.unwrap();
    stage.window = windows.into_iter().find(|info| info.id == stage.window.id).unwrap();
    assert_eq!(stage.window.monitor, Some(2), "{:?}", stage.window);
    works(toolkit, &stage).await;
    stage.desktop.shut_down().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_program_in_gtk_3_on_the_second_monitor() {
    on_the_second_monitor(Toolkit::Gtk3, &[]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_program_in_qt_on_the_second_monitor_twice_as_large() {
    on_the_second_monitor(Toolkit::Qt, &["QT_SCALE_FACTOR=2"]).await;
}
