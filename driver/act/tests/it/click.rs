//! Clicks: inert, renamed, disabled, delayed, vanished, covered and blocked controls.

use deskhand_desktop::{DesktopError, PointerChord, WindowManagement};
use deskhand_desktop_act::{ActLimits, ActionReport, ActionTarget, Click, click};
use deskhand_desktop_fake::{Behaviour, FakeApp, FakeDesktop, FakeElement, FakeWindow, Semantic};
use deskhand_ui::{
    Role, WindowKind,
    action::{ActionRoute, Verdict},
    ids::{ElementId, WindowId},
};

pub(super) fn desktop_with(elements: impl IntoIterator<Item = FakeElement>) -> (FakeDesktop, WindowId) {
    desktop_of(FakeWindow::normal("Main").elements(elements))
}

pub(super) fn desktop_of(window: FakeWindow) -> (FakeDesktop, WindowId) {
    let desktop = FakeDesktop::new([FakeApp::new("App", "app", [window])], []);
    let window = desktop.find_window("Main").unwrap();
    (desktop, window)
}

pub(super) fn button(name: &str, behaviour: Behaviour) -> FakeElement {
    FakeElement::new(Role::PUSH_BUTTON, name).key("target").on_click(behaviour)
}

fn target(desktop: &FakeDesktop) -> ElementId {
    desktop.find_key("target").unwrap()
}

async fn click_target(desktop: &FakeDesktop, window: WindowId) -> ActionReport {
    let request = Click::once(ActionTarget::element(target(desktop)));
    click(desktop, window, &request, &ActLimits::default()).await.unwrap()
}

fn opens_dialog() -> Behaviour {
    Behaviour::Open(Box::new(FakeWindow::dialog("Question")))
}

#[tokio::test]
async fn an_announced_dialog_is_awaited_beyond_another_change() {
    let rename = || Behaviour::Rename { key: Some("other".into()), name: "changed".into() };
    let check = async |name: &str, behaviour: Behaviour, expected: &str| {
        let other = FakeElement::new(Role::LABEL, "other").key("other");
        let (desktop, window) = desktop_with([button(name, behaviour), other]);
        let report = click_target(&desktop, window).await;
        assert_eq!(report.effect(), Verdict::Seen);
        assert!(report.summary().contains(expected), "{name}: {}", report.summary());
    };
    let late = || Behaviour::All(vec![rename(), opens_dialog().after(1_200)]);
    check("Chart…", late(), "“Question” opened").await;
    check("Chart...", late(), "“Question” opened").await;
    // The name announces no dialog, or none opens: the change counts.
    check("Chart", rename(), "says \"changed\"").await;
    check("Chart…", rename(), "says \"changed\"").await;
}

#[tokio::test]
async fn verdicts_are_about_what_happened() {
    let check = async |name: &str, element: FakeElement, effect: Verdict, route: Option<ActionRoute>| {
        let (desktop, window) = desktop_with([element, FakeElement::new(Role::LABEL, "other").key("other")]);
        let report = click_target(&desktop, window).await;
        assert_eq!((report.effect(), report.route()), (effect, route), "{name}: {}", report.summary());
        assert_eq!(desktop.truth().is_empty(), effect != Verdict::Seen, "{name}: {:?}", desktop.truth());
    };
    let rename = Behaviour::Rename { key: Some("other".into()), name: "changed".into() };
    check("inert", button("Ok", Behaviour::Nothing), Verdict::NotSeen, Some(ActionRoute::Input)).await;
    check("dialog", button("Ok", opens_dialog()), Verdict::Seen, Some(ActionRoute::Input)).await;
    check("late", button("Ok", opens_dialog().after(800)), Verdict::Seen, Some(ActionRoute::Input)).await;
    check("other", button("Ok", rename), Verdict::Seen, Some(ActionRoute::Input)).await;
    check("removed", button("Ok", Behaviour::Remove { key: None }), Verdict::Seen, Some(ActionRoute::Input))
        .await;
    check(
        "off",
        button("Ok", Behaviour::Enable { key: None, enabled: false }),
        Verdict::Seen,
        Some(ActionRoute::Input),
    )
    .await;
    check("disabled", button("Ok", opens_dialog()).disabled(), Verdict::Refused, None).await;
    for semantic in [Semantic::Ignored, Semantic::Fails, Semantic::NotOffered] {
        check(
            "by mouse",
            button("Ok", opens_dialog()).semantic(semantic),
            Verdict::Seen,
            Some(ActionRoute::Input),
        )
        .await;
    }
    for (role, kind) in [(Role::PUSH_BUTTON, WindowKind::Popup), (Role::TOGGLE_BUTTON, WindowKind::Tooltip)] {
        let tipped = FakeElement { role, tool_tip: Some(kind), ..button("Ok", Behaviour::Nothing).deaf() };
        check("tool tip", tipped, Verdict::NotSeen, Some(ActionRoute::Input)).await;
    }
    let check_box = FakeElement::new(Role::CHECK_BOX, "Grid").key("target");
    check("check box", check_box.clone(), Verdict::Seen, Some(ActionRoute::Input)).await;
    check(
        "deaf check box",
        check_box.semantic(Semantic::Ignored).deaf(),
        Verdict::NotSeen,
        Some(ActionRoute::Input),
    )
    .await;
}

/// The label is looked at between the pieces: before the change is watched, and while a clock is.
#[tokio::test]
async fn a_change_that_comes_in_pieces_is_one_effect() {
    for (clock_ms, pieces) in [(60_000, [100, 200]), (700, [900, 1_000])] {
        let says = |name: &str, after: u64| {
            Behaviour::Rename { key: Some("label".to_owned()), name: name.to_owned() }.after(after)
        };
        let [gone, back] = pieces;
        let elements = [
            button("Count", Behaviour::All(vec![says("", gone), says("Counted 1", back)])),
            FakeElement::new(Role::LABEL, "Counted 0").key("label"),
            FakeElement::new(Role::LABEL, "12:00").key("clock"),
        ];
        let names = ["12:01", "12:02", "12:03", "12:04", "12:05", "12:06", "12:07", "12:08"];
        let window = FakeWindow::normal("Main").elements(elements).noise("clock", clock_ms, &names);
        let (desktop, window) = desktop_of(window);
        let report = click_target(&desktop, window).await;
        assert_eq!(report.effect(), Verdict::Seen, "{clock_ms}: {}", report.summary());
        assert!(report.summary().contains("Counted 1"), "{clock_ms}: {}", report.summary());
    }
}

/// As the text of a web page is when its page is busy: the new one comes long after the old one went.
#[tokio::test]
async fn a_text_that_goes_and_comes_back_is_one_effect() {
    let gone = Behaviour::Remove { key: Some("label".to_owned()) };
    let back = Behaviour::Add(Box::new(FakeElement::new(Role::LABEL, "Counted 1").key("label")));
    let click = Behaviour::All(vec![gone.after(100), back.after(900)]);
    let label = FakeElement::new(Role::LABEL, "Counted 0").key("label");
    let (desktop, window) = desktop_with([button("Count", click), label]);
    let report = click_target(&desktop, window).await;
    assert_eq!(report.effect(), Verdict::Seen, "{}", report.summary());
}

#[tokio::test]
async fn an_application_that_sleeps_is_not_waited_for() {
    let (desktop, window) = desktop_with([button("Ok", Behaviour::Nothing)]);
    let report = click_target(&desktop, window).await;
    assert_eq!(report.effect(), Verdict::NotSeen, "{}", report.summary());
    assert!((60..300).contains(&report.waited_ms()), "{}", report.summary());
    // A timer that is due later than any effect makes no difference, one that is due before does.
    let clock = FakeElement::new(Role::LABEL, "12:00").key("clock");
    let window = |every_ms| {
        let elements = [button("Ok", Behaviour::Nothing), clock.clone()];
        FakeWindow::normal("Main").elements(elements).noise("clock", every_ms, &["12:01", "12:02"])
    };
    for (every_ms, expected_ms) in [(60_000, 60..300), (900, 900..3_000)] {
        let (desktop, window) = desktop_of(window(every_ms));
        let report = click_target(&desktop, window).await;
        assert_eq!(report.effect(), Verdict::NotSeen, "{}", report.summary());
        assert!(expected_ms.contains(&report.waited_ms()), "{every_ms}: {}", report.summary());
    }
}

#[tokio::test]
async fn what_changes_by_itself_is_no_effect() {
    for every_ms in [30, 100, 700, 1_000] {
        let clock = FakeElement::new(Role::LABEL, "12:00").key("clock");
        let window = FakeWindow::normal("Main").elements([button("Ok", Behaviour::Nothing), clock]).noise(
            "clock",
            every_ms,
            &["12:01", "12:02"],
        );
        let (desktop, window) = desktop_of(window);
        let report = click_target(&desktop, window).await;
        assert_eq!(report.effect(), Verdict::NotSeen, "{every_ms}: {}", report.summary());
    }
}

#[tokio::test]
async fn a_control_that_renames_itself_is_no_effect() {
    let window = FakeWindow::normal("Main").elements([button("Wait 9", Behaviour::Nothing)]).noise(
        "target",
        1_000,
        &["Wait 8", "Wait 7", "Wait 6", "Wait 5", "Wait 4", "Wait 3", "Wait 2", "Wait 1"],
    );
    let (desktop, window) = desktop_of(window);
    let report = click_target(&desktop, window).await;
    assert_ne!(report.effect(), Verdict::Seen, "{}", report.summary());
}

#[tokio::test]
async fn an_effect_beside_a_clock_is_seen() {
    let clock = FakeElement::new(Role::LABEL, "12:00").key("clock");
    let other = FakeElement::new(Role::LABEL, "0").key("other");
    let rename = Behaviour::Rename { key: Some("other".into()), name: "7".into() };
    let window = FakeWindow::normal("Main").elements([button("7", rename), clock, other]).noise(
        "clock",
        100,
        &["12:01", "12:02"],
    );
    let (desktop, window) = desktop_of(window);
    let report = click_target(&desktop, window).await;
    assert_eq!(
        (report.effect(), report.route()),
        (Verdict::Seen, Some(ActionRoute::Input)),
        "{}",
        report.summary()
    );
    assert_eq!(desktop.truth().len(), 1);
}

#[tokio::test]
async fn a_renamed_control_is_refused_with_what_comes_near() {
    let (desktop, window) =
        desktop_with([button("Finish", opens_dialog()), FakeElement::new(Role::PUSH_BUTTON, "Cancel")]);
    let request = Click::once(ActionTarget::Element { id: target(&desktop), name: Some("Next >".into()) });
    let report = click(&desktop, window, &request, &ActLimits::default()).await.unwrap();
    assert_eq!((report.effect(), report.route()), (Verdict::Refused, None));
    assert!(report.summary().contains("push button \"Cancel\""), "{}", report.summary());
    assert!(desktop.truth().is_empty());
    // Spelling that a person would not notice is not another name.
    let request =
        Click::once(ActionTarget::Element { id: target(&desktop), name: Some("_finish…".into()) });
    let report = click(&desktop, window, &request, &ActLimits::default()).await.unwrap();
    assert_eq!(report.effect(), Verdict::Seen, "{}", report.summary());
}

#[tokio::test]
async fn covered_blocked_and_vanished_targets_are_not_touched() {
    let overlay = FakeElement::new(Role::PANEL, "Overlay").at(0, 0, 1_000, 900);
    let (desktop, window) = desktop_with([button("Ok", opens_dialog()), overlay]);
    let report = click_target(&desktop, window).await;
    assert_eq!(report.effect(), Verdict::Refused);
    assert!(report.summary().contains("covered by panel \"Overlay\""), "{}", report.summary());
    assert_eq!((desktop.inputs(), desktop.truth().len()), (0, 0));

    let (desktop, window) = desktop_with([button("Ok", opens_dialog())]);
    desktop.open(window, &FakeWindow::dialog("Save changes?")).unwrap();
    let report = click_target(&desktop, window).await;
    assert_eq!(report.effect(), Verdict::Refused);
    assert!(report.summary().contains("Save changes?"), "{}", report.summary());
    assert_eq!((desktop.inputs(), desktop.truth().len()), (0, 0));

    let (desktop, window) = desktop_with([button("Ok", opens_dialog()), button("Other", Behaviour::Nothing)]);
    let request = Click::once(ActionTarget::element(target(&desktop)));
    desktop.break_element(target(&desktop));
    let report = click(&desktop, window, &request, &ActLimits::default()).await.unwrap();
    assert_eq!(report.effect(), Verdict::Refused, "{}", report.summary());
    desktop.break_window(window);
    let error = click(&desktop, window, &request, &ActLimits::default()).await.unwrap_err();
    assert!(matches!(error, DesktopError::NoWindow(_)), "{error}");
    desktop.break_display();
    let error = click(&desktop, window, &request, &ActLimits::default()).await.unwrap_err();
    assert!(matches!(error, DesktopError::Gone { .. }), "{error}");
}

#[tokio::test]
async fn an_application_that_does_not_answer_is_an_error_and_not_a_verdict() {
    let (desktop, window) = desktop_with([button("Ok", opens_dialog())]);
    let request = Click::once(ActionTarget::element(target(&desktop)));
    desktop.set_answering(window, false);
    let error = click(&desktop, window, &request, &ActLimits::default()).await.unwrap_err();
    assert!(matches!(error, DesktopError::NotAnswering { .. }), "{error}");
    assert_eq!(desktop.inputs(), 0);
}

#[tokio::test]
async fn a_dialog_of_the_window_can_be_clicked() {
    let (desktop, window) = desktop_with([FakeElement::new(Role::LABEL, "text")]);
    let dialog = FakeWindow::dialog("Question").elements([button("Yes", Behaviour::CloseWindow)]);
    desktop.open(window, &dialog).unwrap();
    let report = click_target(&desktop, window).await;
    assert_eq!(report.effect(), Verdict::Seen, "{}", report.summary());
    assert!(report.summary().contains("“Question” closed"), "{}", report.summary());
    assert_eq!(desktop.windows().await.unwrap().len(), 1);
}

#[tokio::test]
async fn points_take_real_clicks() {
    let (desktop, window) =
        desktop_with([FakeElement::new(Role::CHECK_BOX, "Grid").key("target").at(50, 50, 100, 20)]);
    let at = |x, y| Click {
        target: ActionTarget::Point(deskhand_ui::geometry::Point::new(x, y)),
        held: PointerChord::default(),
        count: 1,
    };
    let report = click(&desktop, window, &at(100, 60), &ActLimits::default()).await.unwrap();
    assert_eq!(
        (report.effect(), report.route()),
        (Verdict::Seen, Some(ActionRoute::Input)),
        "{}",
        report.summary()
    );
    let report = click(&desktop, window, &at(500, 600), &ActLimits::default()).await.unwrap();
    assert_eq!(report.effect(), Verdict::NotSeen, "{}", report.summary());
    let report = click(&desktop, window, &at(5_000, 600), &ActLimits::default()).await.unwrap();
    assert_eq!(report.effect(), Verdict::Refused, "{}", report.summary());
}

/// What lies on top at a point decides: another window of the application is clicked, and not moved away.
#[tokio::test]
async fn a_point_under_another_window_of_the_application_goes_to_that_window() {
    let main = FakeWindow::normal("Main").elements([button("Ok", opens_dialog()).at(50, 50, 100, 20)]);
    let console = FakeWindow::normal("Console").at(0, 0, 600, 400);
    let desktop = FakeDesktop::new([FakeApp::new("App", "app", [main, console])], []);
    let window = desktop.find_window("Main").unwrap();
    let point = deskhand_ui::geometry::Point::new(100, 60);
    let request = Click { target: ActionTarget::Point(point), held: PointerChord::default(), count: 1 };
    let report = click(&desktop, window, &request, &ActLimits::default()).await.unwrap();
    assert_ne!(report.effect(), Verdict::Seen, "{}", report.summary());
    assert!(report.summary().contains("Console"), "{}", report.summary());
    assert_eq!(desktop.windows().await.unwrap().len(), 2, "the button below opens a dialog");
    // An element of the window is looked for, so its window is brought to the front.
    let report = click_target(&desktop, window).await;
    assert_eq!(report.effect(), Verdict::Seen, "{}", report.summary());
}

/// A filler that the window draws behind an element is no cover, whatever lies at the point.
#[tokio::test]
async fn parts_of_an_element_do_not_cover_it() {
    let label = FakeElement::new(Role::LABEL, "Ok").at(60, 52, 40, 16);
    let (desktop, window) = desktop_with([button("Ok", opens_dialog()).at(50, 50, 100, 20), label]);
    let report = click_target(&desktop, window).await;
    assert_ne!(report.effect(), Verdict::Refused, "{}", report.summary());
}
