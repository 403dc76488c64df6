//! The desktop on Wayland, on a headless sway: the contract, and what is particular to it.

use std::time::{Duration, Instant};

use deskhand_desktop::{
    Button, Capture as _, Clipboard as _, Desktop as _, DesktopError, ElementPatterns as _,
    InputInjection as _, LaunchRequest, WindowManagement as _,
};
use deskhand_desktop_act as act;
use deskhand_desktop_act::{ActLimits, ActionReport, ActionTarget, Click, TypeTextOptions};
use deskhand_desktop_linux::LinuxDesktop;
use deskhand_testkit::{
    compositor::{NEEDS, Session},
    fixture::{Fixture, Screen, Toolkit},
};
use deskhand_ui::{
    Element, ElementQuery, Role, WindowInfo,
    action::Verdict,
    geometry::{Point, Rect},
};
use serde_json::json;

use crate::{
    contract::{MOUSEPAD, contract},
    programs::has_programs,
};

/// What a test waits for an application.
const BOUND: Duration = Duration::from_secs(20);

/// A session with a desktop on it; none where something is not installed.
async fn session(configuration: &str, programs: &[&str]) -> Option<(Session, LinuxDesktop)> {
    if !has_programs(&[&NEEDS, programs].concat()) {
        return None;
    }
    let session = Session::start(configuration).unwrap();
    let desktop = LinuxDesktop::connect_to(session.variables().iter().cloned()).await.unwrap();
    Some((session, desktop))
}

async fn launched(desktop: &LinuxDesktop, program: &str, arguments: &[&str]) -> WindowInfo {
    let arguments = arguments.iter().map(|argument| (*argument).to_owned()).collect();
    let request = LaunchRequest { program: program.to_owned(), arguments };
    let report = act::launch(desktop, &request, &ActLimits::default()).await.unwrap();
    report.window.clone().unwrap_or_else(|| panic!("{}", report.summary()))
}

/// An element that comes up in a window.
async fn element(desktop: &LinuxDesktop, window: &WindowInfo, wanted: &ElementQuery) -> Element {
    let deadline = Instant::now() + BOUND;
    loop {
        let known = desktop.windows().await.unwrap();
        match act::find_element(desktop, window.id, wanted).await.unwrap() {
            Some((_, element)) => return element,
            None => assert!(Instant::now() < deadline, "no {wanted:?} in {known:?}"),
        }
        desktop.windows_changed(&known, Duration::from_millis(200)).await.unwrap();
    }
}

/// The text area of an editor.
async fn text_of(desktop: &LinuxDesktop, window: &WindowInfo) -> Element {
    element(desktop, window, &ElementQuery { role: Some(Role::TEXT), name: None }).await
}

fn seen(report: &ActionReport) {
    assert_eq!(report.effect(), Verdict::Seen, "{}", report.summary());
}

async fn save(desktop: &LinuxDesktop, window: &WindowInfo) {
    let way = ["File".to_owned(), "Save".to_owned()];
    seen(&act::visit(desktop, window.id, &way, &ActLimits::default()).await.unwrap());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_desktop_on_wayland_keeps_the_contract() {
    let Some((_session, desktop)) = session("", &["mousepad"]).await else { return };
    assert_eq!(desktop.capabilities().platform, "linux-wayland");
    contract(&desktop, &MOUSEPAD).await;
}

/// The form of a fixture application is filled in by its elements; the application itself tells what arrived.
pub(crate) async fn form_is_filled_in(desktop: &LinuxDesktop, toolkit: Toolkit, text: &str) {
    let fixture = Fixture::prepare(toolkit, Screen::Form).await.unwrap();
    let arguments: Vec<&str> = fixture.arguments().iter().map(String::as_str).collect();
    let window = launched(desktop, fixture.program(), &arguments).await;
    fixture.ready().await.unwrap();
    let limits = ActLimits::default();
    let agree = element(desktop, &window, &ElementQuery::named("Agree")).await;
    seen(
        &act::click(desktop, window.id, &Click::once(ActionTarget::element(agree.id)), &limits)
            .await
            .unwrap(),
    );
    let name = element(desktop, &window, &ElementQuery::named("Name")).await;
    let request = TypeTextOptions { element: Some(name.id), name: None, text: text.to_owned(), clear: true };
    seen(&act::type_text(desktop, window.id, &request, &limits).await.unwrap());
    let state = fixture.state().await.unwrap();
    assert_eq!((&state["Agree"], &state["Name"]), (&json!(true), &json!(text)), "{toolkit}: {state}");
}

async fn forms_are_filled_in(toolkit: Toolkit, configuration: &str) {
    let Some((_session, desktop)) = session(configuration, &[toolkit.needs()]).await else { return };
    form_is_filled_in(&desktop, toolkit, "Grüße, 東京 ~").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_form_in_gtk_3_is_filled_in_on_wayland() {
    forms_are_filled_in(Toolkit::Gtk3, "").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_floating_form_in_gtk_4_is_filled_in_on_wayland() {
    forms_are_filled_in(Toolkit::Gtk4, "for_window [app_id=\".*\"] floating enable").await;
}

/// On a monitor with twice as many pixels, all of it counts in the units of the layout.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_document_is_written_and_saved_on_a_monitor_with_a_scale_factor() {
    let Some((session, desktop)) = session("output HEADLESS-1 scale 2", &["mousepad"]).await else { return };
    let file = session.folder().join("note.txt");
    std::fs::write(&file, "").unwrap();
    let window = launched(&desktop, "mousepad", &[file.to_str().unwrap()]).await;
    let screen = desktop.screen().await.unwrap();
    assert_eq!(screen.region, Rect::new(0, 0, 640, 400));
    assert_eq!(screen.region.intersection(&window.bounds), Some(window.bounds), "{window:?}");
    let text = text_of(&desktop, &window).await;
    let words = "Über Wayland geschrieben: 東京 €\nzweite Zeile";
    let request = TypeTextOptions { element: Some(text.id), name: None, text: words.to_owned(), clear: true };
    seen(&act::type_text(&desktop, window.id, &request, &ActLimits::default()).await.unwrap());
    save(&desktop, &window).await;
    assert_eq!(std::fs::read_to_string(&file).unwrap().trim_end(), words);
    let picture = desktop.region(window.bounds).await.unwrap();
    let (width, height) = (usize::try_from(picture.width()), usize::try_from(picture.height()));
    assert_eq!((picture.region, picture.rgb.len()), (window.bounds, width.unwrap() * height.unwrap() * 3));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_clipboard_is_shared_with_applications_on_wayland() {
    let Some((_session, desktop)) = session("", &["mousepad"]).await else { return };
    assert_eq!(desktop.clipboard().await.unwrap(), None);
    desktop.set_clipboard(Some("from us: é")).await.unwrap();
    assert_eq!(desktop.clipboard().await.unwrap().as_deref(), Some("from us: é"));
    let window = launched(&desktop, "mousepad", &[]).await;
    desktop.activate(window.id).await.unwrap();
    let text = text_of(&desktop, &window).await;
    desktop.set_clipboard(Some("pasted")).await.unwrap();
    assert!(!desktop.clipboard_taken(Duration::ZERO).await.unwrap());
    desktop.press(&"ctrl+v".parse().unwrap()).await.unwrap();
    assert!(desktop.clipboard_taken(BOUND).await.unwrap());
    // It reads what is pasted beside its other work.
    let deadline = Instant::now() + BOUND;
    while desktop.text(text.id, 100).await.unwrap() != "pasted" {
        assert!(Instant::now() < deadline, "{:?}", desktop.text(text.id, 100).await);
    }
    desktop.type_text(" and typed").await.unwrap();
    desktop.press(&"ctrl+a".parse().unwrap()).await.unwrap();
    desktop.press(&"ctrl+c".parse().unwrap()).await.unwrap();
    let deadline = Instant::now() + BOUND;
    while desktop.clipboard().await.unwrap().as_deref() != Some("pasted and typed") {
        assert!(Instant::now() < deadline, "{:?}", desktop.clipboard().await);
    }
    desktop.set_clipboard(None).await.unwrap();
    assert_eq!(desktop.clipboard().await.unwrap(), None);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_compositor_lacks_is_named() {
    let Some((session, desktop)) = session("", &[]).await else { return };
    let outside = Point::new(5_000, 10);
    let error = desktop.click(outside, Button::Left, 1).await.unwrap_err().chain();
    assert!(error.contains("5000,10 lies outside the 1280x800 screen"), "{error}");
    let error = desktop.watch_input().await.err().unwrap().chain();
    assert!(error.contains("Wayland") && error.contains("--desktop virtual"), "{error}");
    let without_socket = session.variables().iter().filter(|(name, _)| name != "SWAYSOCK").cloned();
    let error = LinuxDesktop::connect_to(without_socket).await.err().unwrap().to_string();
    assert!(error.contains("sway does not offer windows with their places"), "{error}");
    assert!(error.contains("it offers pictures") && error.contains("--desktop virtual"), "{error}");
    drop(session);
    tokio::time::timeout(BOUND, desktop.display_ended()).await.unwrap();
    let error = desktop.windows().await.unwrap_err();
    assert!(matches!(error, DesktopError::Gone { .. }), "{error}");
}
