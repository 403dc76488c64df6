//! Values, lists, paths, windows and waits.

use std::time::Duration;

use deskhand_ui::{
    ElementCapability, ElementQuery, Role, State,
    action::{ActionRoute, Condition, Verdict},
    geometry::Point,
};

use super::click::{button, desktop_of, desktop_with};
use deskhand_desktop::{DesktopError, LaunchRequest, PointerChord, UiTree, WindowManagement};
use deskhand_desktop_act::{
    ActLimits, ActionTarget, NewValue, ScrollDistance, activate, close, drag, focus, invoke, launch,
    read_text, scroll, select, set_checked, set_value, visit, wait_for,
};
use deskhand_desktop_fake::{
    Behaviour, FakeApp, FakeDesktop, FakeElement, FakeSheet, FakeWindow, Semantic, office,
};

const LIMITS: fn() -> ActLimits = ActLimits::default;

fn strings(names: &[&str]) -> Vec<String> {
    names.iter().map(|&name| name.to_owned()).collect()
}

#[tokio::test]
async fn values_are_set_and_read_back() {
    let check = async |name: &str,
                       element: FakeElement,
                       value: NewValue,
                       effect: Verdict,
                       route: Option<ActionRoute>| {
        let (desktop, window) = desktop_with([element.key("target")]);
        let id = desktop.find_key("target").unwrap();
        let report = set_value(&desktop, window, id, None, &value, &LIMITS()).await.unwrap();
        assert_eq!((report.effect(), report.route()), (effect, route), "{name}: {}", report.summary());
    };
    let text = || NewValue::Text("new".into());
    let entry = || FakeElement::new(Role::ENTRY, "Name").text("old");
    let slider = || FakeElement::new(Role::SLIDER, "Volume").value(3.0, 0.0, 10.0);
    let area = || FakeElement::new(Role::TEXT, "Notes").state(State::MultiLine).text("old");
    check("entry", entry(), text(), Verdict::Seen, Some(ActionRoute::Input)).await;
    check("area", area(), text(), Verdict::Seen, Some(ActionRoute::Semantic)).await;
    let ignores = area().semantic(Semantic::Ignored);
    check("ignored", ignores, text(), Verdict::NotSeen, Some(ActionRoute::Semantic)).await;
    let mut typed = entry();
    typed.patterns.retain(|pattern| *pattern != ElementCapability::EditableText);
    check("typed", typed, text(), Verdict::Seen, Some(ActionRoute::Input)).await;
    check("disabled", entry().disabled(), text(), Verdict::Refused, None).await;
    check("slider", slider(), NewValue::Number(8.0), Verdict::Seen, Some(ActionRoute::Semantic)).await;
    check("range", slider(), NewValue::Number(11.0), Verdict::Refused, None).await;
    let deaf = slider().semantic(Semantic::Ignored);
    check("deaf slider", deaf, NewValue::Number(8.0), Verdict::NotSeen, Some(ActionRoute::Semantic)).await;
    check("button", FakeElement::new(Role::PUSH_BUTTON, "Ok"), text(), Verdict::Refused, None).await;
}

#[tokio::test]
async fn check_boxes_reach_the_state_that_is_asked_for() {
    let check =
        async |name: &str, element: FakeElement, on: bool, effect: Verdict, route: Option<ActionRoute>| {
            let (desktop, window) = desktop_with([element.key("target")]);
            let id = desktop.find_key("target").unwrap();
            let report = set_checked(&desktop, window, id, None, on, &LIMITS()).await.unwrap();
            assert_eq!((report.effect(), report.route()), (effect, route), "{name}: {}", report.summary());
            let is_on = desktop.element(id).await.unwrap().states.has(State::Checked);
            assert_eq!(is_on == on, effect == Verdict::Seen, "{name}");
        };
    let grid = || FakeElement::new(Role::CHECK_BOX, "Grid");
    check("on", grid(), true, Verdict::Seen, Some(ActionRoute::Input)).await;
    check("already", grid(), false, Verdict::Seen, None).await;
    check("by mouse", grid().semantic(Semantic::Ignored), true, Verdict::Seen, Some(ActionRoute::Input))
        .await;
    check(
        "deaf",
        grid().semantic(Semantic::Ignored).deaf(),
        true,
        Verdict::NotSeen,
        Some(ActionRoute::Input),
    )
    .await;
    let renames = Behaviour::Rename { key: None, name: "Grid!".into() };
    check("renames itself", grid().on_click(renames), true, Verdict::NotSeen, Some(ActionRoute::Input)).await;
    check("button", FakeElement::new(Role::PUSH_BUTTON, "Ok"), true, Verdict::Refused, None).await;
}

#[tokio::test]
async fn items_are_selected_by_name() {
    let list = |semantic| {
        let items =
            ["Column", "Bar", "Pie"].map(|name| FakeElement::new(Role::LIST_ITEM, name).semantic(semantic));
        FakeElement::new(Role::LIST, "Types").key("target").children(items)
    };
    for (semantic, route) in
        [(Semantic::Works, Some(ActionRoute::Input)), (Semantic::Ignored, Some(ActionRoute::Input))]
    {
        let (desktop, window) = desktop_with([list(semantic)]);
        let id = desktop.find_key("target").unwrap();
        let report = select(&desktop, window, id, "bar", &LIMITS()).await.unwrap();
        assert_eq!((report.effect(), report.route()), (Verdict::Seen, route), "{}", report.summary());
        let report = select(&desktop, window, id, "Bar", &LIMITS()).await.unwrap();
        assert_eq!((report.effect(), report.route()), (Verdict::Seen, None), "{}", report.summary());
        let report = select(&desktop, window, id, "Radar", &LIMITS()).await.unwrap();
        assert_eq!(report.effect(), Verdict::Refused);
        assert!(report.summary().contains("Bar"), "{}", report.summary());
    }
    let options = ["Left", "Right"].map(|name| FakeElement::new(Role::LIST_ITEM, name));
    let combo = FakeElement::new(Role::COMBO_BOX, "Left").key("target").children(options);
    let (desktop, window) = desktop_with([combo]);
    let id = desktop.find_key("target").unwrap();
    let report = select(&desktop, window, id, "Right", &LIMITS()).await.unwrap();
    assert_eq!(report.effect(), Verdict::Seen, "{}", report.summary());
    assert_eq!(desktop.element(id).await.unwrap().name, "Right");
}

#[tokio::test]
async fn an_application_is_started_with_files_that_exist() {
    let desktop = office();
    for word in ["run", "x.ods", "/no/such.ods"] {
        let request = LaunchRequest { program: "LibreOffice Calc".into(), arguments: strings(&[word]) };
        let report = launch(&desktop, &request, &LIMITS()).await.unwrap();
        assert_eq!(report.effect(), Verdict::Refused, "{word}: {}", report.summary());
        assert!(report.summary().contains(word), "{}", report.summary());
    }
}

#[tokio::test]
async fn paths_lead_through_menus() {
    let desktop = office();
    let request = LaunchRequest { program: "LibreOffice Calc".into(), arguments: vec![] };
    let calc = launch(&desktop, &request, &LIMITS()).await.unwrap().window.unwrap().id;
    let report = visit(&desktop, calc, &strings(&["insert", "Chart..."]), &LIMITS()).await.unwrap();
    assert_eq!(report.effect(), Verdict::Seen, "{}", report.summary());
    assert_eq!(report.window.unwrap().title, "Chart Type");
    let report = visit(&desktop, calc, &strings(&["Insert", "Chart…"]), &LIMITS()).await.unwrap();
    assert_eq!(report.effect(), Verdict::Refused, "{}", report.summary());
    assert!(report.summary().contains("Chart Type"), "{}", report.summary());
    let report = visit(&desktop, calc, &strings(&["Cancel"]), &LIMITS()).await.unwrap();
    assert_eq!(report.effect(), Verdict::Seen, "{}", report.summary());
}

#[tokio::test]
async fn a_path_that_ends_is_closed_again_and_told() {
    let desktop = office();
    let writer = desktop.find_window("Writer").unwrap();
    let before = desktop.windows().await.unwrap();
    let report = visit(&desktop, writer, &strings(&["Table", "Delete"]), &LIMITS()).await.unwrap();
    assert_eq!(report.effect(), Verdict::Refused);
    assert!(report.summary().contains("Properties…"), "{}", report.summary());
    assert_eq!(desktop.windows().await.unwrap(), before);
    let report = visit(&desktop, writer, &strings(&["Tabel"]), &LIMITS()).await.unwrap();
    assert!(report.summary().contains("Table"), "{}", report.summary());
    let report = visit(&desktop, writer, &strings(&["Table", "Properties…"]), &LIMITS()).await.unwrap();
    assert_eq!(report.effect(), Verdict::NotSeen, "an inert item: {}", report.summary());
}

#[tokio::test]
async fn launches_pass_over_splash_screens_and_follow_a_running_instance() {
    let desktop = office();
    let request = LaunchRequest { program: "LibreOffice Calc".into(), arguments: vec![] };
    let report = launch(&desktop, &request, &LIMITS()).await.unwrap();
    assert_eq!(report.effect(), Verdict::Seen, "{}", report.summary());
    assert_eq!(report.window.unwrap().title, "Untitled 1 — LibreOffice Calc");

    let mut app = FakeApp::new(
        "Suite",
        "suite",
        [FakeWindow::normal("First")
            .elements([FakeElement::new(Role::LABEL, "one"), FakeElement::new(Role::LABEL, "two")])],
    );
    app.single_instance = true;
    let desktop = FakeDesktop::new([app], []);
    let request = LaunchRequest { program: "suite".into(), arguments: vec![] };
    let report = launch(&desktop, &request, &LIMITS()).await.unwrap();
    assert_eq!(report.effect(), Verdict::Seen, "{}", report.summary());
    assert_eq!(desktop.windows().await.unwrap().len(), 2);

    let error =
        launch(&desktop, &LaunchRequest { program: "nothing".into(), arguments: vec![] }, &LIMITS()).await;
    assert!(matches!(error, Err(DesktopError::Launch { .. })), "{error:?}");
    let hidden = FakeDesktop::new([], [FakeApp::new("Hidden", "hidden", [])]);
    let request = LaunchRequest { program: "Hidden".into(), arguments: vec![] };
    let report = launch(&hidden, &request, &LIMITS()).await.unwrap();
    assert_eq!(report.effect(), Verdict::NotSeen, "{}", report.summary());
}

#[tokio::test]
async fn closing_tells_of_the_question() {
    let question = FakeWindow::dialog("Save changes?").elements([button("Discard", Behaviour::CloseWindow)]);
    let window =
        FakeWindow { on_close: Some(Behaviour::Open(Box::new(question))), ..FakeWindow::normal("Main") };
    let (desktop, window) = desktop_of(window);
    let report = close(&desktop, window, &LIMITS()).await.unwrap();
    assert_eq!(report.effect(), Verdict::NotSeen, "{}", report.summary());
    assert_eq!(report.window.unwrap().title, "Save changes?");
    let (desktop, window) = desktop_with([]);
    let report = close(&desktop, window, &LIMITS()).await.unwrap();
    assert_eq!(report.effect(), Verdict::Seen, "{}", report.summary());
    let error = close(&desktop, window, &LIMITS()).await.unwrap_err();
    assert!(matches!(error, DesktopError::NoWindow(_)), "{error}");
    let window = FakeWindow { on_close: Some(Behaviour::Nothing), ..FakeWindow::normal("Main") };
    let (desktop, window) = desktop_of(window);
    let report = close(&desktop, window, &LIMITS()).await.unwrap();
    assert_eq!(report.effect(), Verdict::NotSeen, "{}", report.summary());
}

#[tokio::test]
async fn windows_are_brought_to_the_front() {
    let apps = ["One", "Two"].map(|name| FakeApp::new(name, name, [FakeWindow::normal(name)]));
    let desktop = FakeDesktop::new(apps, []);
    let one = desktop.find_window("One").unwrap();
    let report = activate(&desktop, one).await.unwrap();
    assert_eq!(report.effect(), Verdict::Seen, "{}", report.summary());
    assert_eq!(desktop.windows().await.unwrap().last().unwrap().id, one);
}

#[tokio::test]
async fn the_focus_is_read_back() {
    let (desktop, window) = desktop_with([FakeElement::new(Role::ENTRY, "Name").key("target")]);
    let id = desktop.find_key("target").unwrap();
    let report = focus(&desktop, window, id, Some("Name"), &LIMITS()).await.unwrap();
    assert_eq!(
        (report.effect(), report.route()),
        (Verdict::Seen, Some(ActionRoute::Semantic)),
        "{}",
        report.summary()
    );
    let mut label = FakeElement::new(Role::LABEL, "Text").key("target");
    label.patterns = vec![ElementCapability::Text];
    let (desktop, window) = desktop_with([label]);
    let id = desktop.find_key("target").unwrap();
    let report = focus(&desktop, window, id, None, &LIMITS()).await.unwrap();
    assert_eq!(report.effect(), Verdict::NotSeen, "{}", report.summary());
}

#[tokio::test]
async fn actions_are_invoked_by_name() {
    let dialog = Behaviour::Open(Box::new(FakeWindow::dialog("Question")));
    let (desktop, window) = desktop_with([button("Ok", dialog)]);
    let id = desktop.find_key("target").unwrap();
    let report = invoke(&desktop, window, id, None, "expand", &LIMITS()).await.unwrap();
    assert_eq!(report.effect(), Verdict::Refused);
    assert!(report.summary().contains("it has: click"), "{}", report.summary());
    let report = invoke(&desktop, window, id, None, "Click", &LIMITS()).await.unwrap();
    assert_eq!(report.effect(), Verdict::Seen, "{}", report.summary());
    let (desktop, window) = desktop_with([button("Ok", Behaviour::Nothing)]);
    let id = desktop.find_key("target").unwrap();
    let report = invoke(&desktop, window, id, None, "click", &LIMITS()).await.unwrap();
    assert_eq!(report.effect(), Verdict::Unknown, "{}", report.summary());
}

#[tokio::test]
async fn scrolling_and_dragging_are_seen_when_something_moves() {
    let mut sheet = FakeSheet::empty(200, 3);
    for row in 0..200 {
        sheet.cells.insert(deskhand_ui::CellRef { row, column: 0 }, format!("row {row}"));
    }
    let table = FakeElement::new(Role::TABLE, "Rows").key("target").at(10, 300, 720, 480).sheet(sheet);
    let slider =
        FakeElement::new(Role::SLIDER, "Volume").key("slider").value(3.0, 0.0, 10.0).at(10, 50, 100, 20);
    let (desktop, window) = desktop_with([table, slider]);
    let target = ActionTarget::element(desktop.find_key("target").unwrap());
    let report =
        scroll(&desktop, window, &target, ScrollDistance { right: 0, down: 3 }, &LIMITS()).await.unwrap();
    assert_eq!(report.effect(), Verdict::Seen, "{}", report.summary());
    for _ in 0..2 {
        scroll(&desktop, window, &target, ScrollDistance { right: 0, down: -100 }, &LIMITS()).await.unwrap();
    }
    let report =
        scroll(&desktop, window, &target, ScrollDistance { right: 0, down: -1 }, &LIMITS()).await.unwrap();
    assert_eq!(report.effect(), Verdict::NotSeen, "{}", report.summary());

    let from = ActionTarget::Point(Point::new(40, 60));
    let report = drag(
        &desktop,
        window,
        (&from, &ActionTarget::Point(Point::new(90, 60))),
        &PointerChord::default(),
        &LIMITS(),
    )
    .await
    .unwrap();
    assert_eq!(report.effect(), Verdict::Seen, "{}", report.summary());
    let from = ActionTarget::Point(Point::new(600, 100));
    let report = drag(
        &desktop,
        window,
        (&from, &ActionTarget::Point(Point::new(700, 100))),
        &PointerChord::default(),
        &LIMITS(),
    )
    .await
    .unwrap();
    assert_eq!(report.effect(), Verdict::NotSeen, "{}", report.summary());
}

#[tokio::test]
async fn texts_are_read() {
    let panel = FakeElement::new(Role::PANEL, "").key("target").children([
        FakeElement::new(Role::LABEL, "First"),
        FakeElement::new(Role::ENTRY, "Field").text("second"),
    ]);
    let (desktop, window) = desktop_with([panel]);
    let id = desktop.find_key("target").unwrap();
    let report = read_text(&desktop, window, id, None).await.unwrap();
    assert_eq!(report.output["text"], "First\nsecond");
}

#[tokio::test]
async fn conditions_are_waited_for_with_a_bound() {
    let dialog = FakeWindow::dialog("Ready").elements([FakeElement::new(Role::PUSH_BUTTON, "Go")]);
    let opens = Behaviour::Open(Box::new(dialog)).after(700);
    let window = FakeWindow::normal("Main").chord("F5", opens);
    let (desktop, window) = desktop_of(window);
    let bound = Duration::from_secs(3);
    let go = || ElementQuery::new(Role::PUSH_BUTTON, "Go");
    let report = wait_for(&desktop, window, &Condition::Appears(go()), bound).await.unwrap();
    assert_eq!(report.effect(), Verdict::NotSeen, "{}", report.summary());
    assert_eq!(report.waited_ms(), 3_000);
    deskhand_desktop::InputInjection::press(&desktop, &"F5".parse().unwrap()).await.unwrap();
    let report = wait_for(&desktop, window, &Condition::Appears(go()), bound).await.unwrap();
    assert_eq!(report.effect(), Verdict::Seen, "{}", report.summary());
    assert!((700..900).contains(&report.waited_ms()), "{}", report.waited_ms());
    let title = Condition::TitleContains("ready".into());
    assert_eq!(wait_for(&desktop, window, &title, bound).await.unwrap().effect(), Verdict::Seen);
    let gone = Condition::Disappears(go());
    assert_eq!(wait_for(&desktop, window, &gone, bound).await.unwrap().effect(), Verdict::NotSeen);
}

#[tokio::test]
async fn a_condition_is_seen_in_a_window_that_is_never_quiet() {
    let rename = |key: &str, name: String, after: u64| {
        Behaviour::Rename { key: Some(key.to_owned()), name }.after(after)
    };
    let mut ticks: Vec<Behaviour> =
        (1..=200).map(|tick| rename("clock", tick.to_string(), tick * 20)).collect();
    ticks.push(rename("late", "Ready".to_owned(), 500));
    let window = FakeWindow::normal("Main").chord("F5", Behaviour::All(ticks)).elements([
        FakeElement::new(Role::LABEL, "0").key("clock"),
        FakeElement::new(Role::LABEL, "Working").key("late"),
    ]);
    let (desktop, window) = desktop_of(window);
    deskhand_desktop::InputInjection::press(&desktop, &"F5".parse().unwrap()).await.unwrap();
    let ready = Condition::Appears(ElementQuery::named("Ready"));
    let report = wait_for(&desktop, window, &ready, Duration::from_secs(60)).await.unwrap();
    assert_eq!(report.effect(), Verdict::Seen, "{}", report.summary());
    assert!((500..700).contains(&report.waited_ms()), "{}", report.waited_ms());
}
