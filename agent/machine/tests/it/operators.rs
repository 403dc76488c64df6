//! Operators: gestures at places of a picture become the usual commands, and are judged as those.

use deskhand_machine::{
    model::{MessagePart, ReplyKind},
    observation::{Observation, ObservationTarget},
    operator::refine,
    policy::{Policy, PolicyDecision, PolicyRule},
    reply::{ProposedAction, parse_operator_reply},
    session::{Effect, ModelRoles, SessionConfig, SessionEvent},
    states::AppStatus,
};
use deskhand_ui::{
    Element, PictureRef, Role, State, Surface, Tree, WindowKind, WindowView,
    geometry::Rect,
    ids::{ElementId, WindowId},
};
use serde_json::{Value, json};

use crate::harness::{Harness, config, tool, view, window};

/// A picture of this part of the screen, scaled to half its size.
fn half(region: Rect<deskhand_ui::geometry::Screen>) -> PictureRef {
    let side = |length: i32| u32::try_from(length / 2).unwrap();
    PictureRef {
        sha256: "abc".to_owned(),
        media_type: PictureRef::PNG.to_owned(),
        width: side(region.width),
        height: side(region.height),
        region,
    }
}

/// The recorded window of a spreadsheet, with a picture of half its size.
fn calc() -> WindowView {
    let surface: Surface = serde_json::from_str(include_str!("windows/calc.json")).unwrap();
    let picture = Some(half(surface.window.bounds));
    WindowView { surfaces: vec![surface], picture, notices: Vec::new() }
}

/// An element inside of the root, at these bounds of the screen.
fn at(id: u32, depth: u16, role: Role, name: &str, bounds: [i32; 4]) -> Element {
    Element { bounds: Some(bounds.into()), ..crate::harness::element(id, depth, role, name) }
}

/// A window of 800 x 600 at (100, 50), with these elements, and a picture of half its size.
fn showing(elements: Vec<Element>) -> WindowView {
    let mut info = window(1, "sales.odt", "LibreOffice Writer");
    info.bounds = Rect::new(100, 50, 800, 600);
    let root = at(1, 0, Role::FRAME, "sales.odt", [100, 50, 800, 600]);
    let tree = Tree { elements: [vec![root], elements].concat(), partial: None };
    let picture = Some(half(info.bounds));
    WindowView { surfaces: vec![Surface { window: info, tree }], picture, notices: Vec::new() }
}

fn refined(view: &WindowView, action: &Value) -> Result<Vec<(String, Value)>, String> {
    let text = json!({"thought": "t", "action": action}).to_string();
    let reply = parse_operator_reply(&text).map_err(|error| error.to_string())?;
    let actions = refine(&reply, view).map_err(|error| error.to_string())?;
    let pair = |action: ProposedAction| (action.function, Value::Object(action.arguments));
    Ok(actions.into_iter().map(pair).collect())
}

#[expect(clippy::needless_pass_by_value, reason = "the cases are written in place")]
fn check(view: &WindowView, action: Value, tool: &str, arguments: Value) {
    assert_eq!(refined(view, &action), Ok(vec![(tool.to_owned(), arguments)]), "{action}");
}

#[test]
fn a_click_is_one_on_the_control_there() {
    let view = calc();
    // The picture shows the screen from (0, 17) on at half its size: (154, 29) of the screen is the menu Insert.
    check(
        &view,
        json!([{"do": "click", "x": 77, "y": 6}]),
        "click_element",
        json!({"id": "e36", "name": "Insert", "button": "left", "count": 1}),
    );
    check(
        &view,
        json!([{"do": "right_click", "x": 87, "y": 518}]),
        "click_element",
        json!({"id": "e146", "name": "Sheet1", "button": "right", "count": 1}),
    );
    // An empty cell is not listed: the place is kept, and the sheet is what lies there.
    check(
        &view,
        json!([{"do": "double_click", "x": 40, "y": 90}]),
        "click_on_coordinates",
        json!({"x": 0.042_209, "y": 0.170_433, "button": "left", "double": true}),
    );
    check(
        &view,
        json!([{"do": "scroll", "x": 40, "y": 90, "down": 3}]),
        "scroll",
        json!({"id": "e136", "name": "Sheet Sheet1", "down": 3, "right": 0}),
    );
}

#[test]
fn a_part_stands_for_its_control_and_a_place_that_matters_is_kept() {
    let mut tree = at(8, 1, Role::TREE_ITEM, "Folder", [100, 450, 200, 40]);
    tree.states.insert(State::Expandable);
    let view = showing(vec![
        at(2, 1, Role::PUSH_BUTTON, "Save", [110, 60, 80, 20]),
        at(3, 2, Role::LABEL, "Save", [130, 62, 40, 16]),
        at(4, 1, Role::TEXT, "", [100, 100, 800, 200]),
        at(5, 1, Role::TABLE_CELL, "A1", [100, 400, 80, 20]),
        at(6, 2, Role::TEXT, "", [100, 400, 80, 20]),
        at(7, 1, Role::TABLE_CELL, "B1", [180, 400, 80, 20]),
        tree,
    ]);
    let save = json!({"id": "e2", "name": "Save", "button": "left", "count": 1});
    check(&view, json!([{"do": "click", "x": 25, "y": 10}]), "click_element", save);
    let in_text = json!({"x": 0.501_877, "y": 0.168_614, "button": "left", "double": false});
    check(&view, json!([{"do": "click", "x": 200, "y": 50}]), "click_on_coordinates", in_text);
    // Three clicks select all of a text.
    let all = json!({"id": "e4", "button": "left", "count": 3});
    check(&view, json!([{"do": "triple_click", "x": 200, "y": 50}]), "click_element", all);
    let one = |x: i64, y: i64| refined(&view, &json!([{"do": "click", "x": x, "y": y}])).unwrap().remove(0).0;
    assert_eq!(one(10, 180), "click_on_coordinates", "a field in a cell");
    assert_eq!(one(50, 180), "click_element", "a cell");
    assert_eq!(one(10, 210), "click_on_coordinates", "what expands at one place and is selected at another");
    // Cells are dragged over by name, anything else by place.
    let drag = |x: i64| json!([{"do": "drag", "x": 50, "y": 180, "to_x": x, "to_y": 180}]);
    let mut two = view.clone();
    two.surfaces[0].tree.elements.push(at(9, 1, Role::TABLE_CELL, "C1", [260, 400, 80, 20]));
    check(&two, drag(90), "drag", json!({"from": "e7", "to": "e9"}));
    assert_eq!(refined(&two, &drag(51)).unwrap()[0].0, "drag_on_coordinates", "within one cell");
}

#[test]
fn typing_goes_where_the_focus_is_and_a_secret_into_the_field_that_has_it() {
    let mut field = at(2, 1, Role::ENTRY, "Name", [110, 60, 80, 20]);
    field.states.insert(State::Focused);
    let view = showing(vec![field, at(3, 1, Role::PASSWORD_TEXT, "Password", [110, 100, 80, 20])]);
    check(&view, json!([{"do": "type", "text": "a\tb\n"}]), "type_text", json!({"text": "a\tb\n"}));
    let secret = json!({"text": "secret:mail", "id": "e2", "name": "Name"});
    check(&view, json!([{"do": "type", "text": "secret:mail"}]), "type_text", secret);
    let both = json!([{"do": "click", "x": 10, "y": 30}, {"do": "type", "text": "secret:mail"}]);
    let typed = refined(&view, &both).unwrap().remove(1);
    assert_eq!(
        typed.1,
        json!({"text": "secret:mail", "id": "e3", "name": "Password"}),
        "the one clicked before"
    );
    check(
        &view,
        json!([{"do": "keys", "keys": "CTRL+S ENTER"}]),
        "press_keys",
        json!({"keys": "ctrl+s Return"}),
    );
    check(&view, json!([{"do": "wait", "seconds": 1.2}]), "wait", json!({"seconds": 2}));
}

#[test]
fn a_place_that_shows_nothing_of_the_window_is_refused() {
    let mut view = showing(Vec::new());
    let wrong = |view: &WindowView, x: i64, y: i64| {
        refined(view, &json!([{"do": "wait"}, {"do": "click", "x": x, "y": y}])).unwrap_err()
    };
    let outside = "`action[1]`: (400, 0) is not in the picture, which is 400 x 300 pixels";
    assert_eq!(wrong(&view, 400, 0), outside);
    assert!(wrong(&view, -1, 0).contains("(-1, 0) is not in the picture"));
    // The picture of a window and a dialog beside it shows what lies between them, too.
    let mut dialog = window(2, "Export", "LibreOffice Writer");
    (dialog.bounds, dialog.kind, dialog.owner) =
        (Rect::new(900, 50, 100, 100), WindowKind::Dialog, Some(WindowId(1)));
    let elements = vec![
        at(10, 0, Role::DIALOG, "Export", [900, 50, 100, 100]),
        at(11, 1, Role::PUSH_BUTTON, "OK", [910, 60, 40, 20]),
        at(12, 1, Role::TEXT, "", [910, 90, 80, 20]),
    ];
    view.surfaces.push(Surface { window: dialog, tree: Tree { elements, partial: None } });
    view.picture = Some(half(Rect::new(100, 50, 900, 600)));
    assert!(wrong(&view, 430, 200).contains("(430, 200) shows no part of the window or its dialogs"));
    let id = |x: i64, y: i64| {
        let (tool, arguments) = refined(&view, &json!([{"do": "click", "x": x, "y": y}])).unwrap().remove(0);
        (tool, arguments["id"].as_str().map(str::to_owned))
    };
    let element = |id: &str| ("click_element".to_owned(), Some(id.to_owned()));
    assert_eq!(id(410, 10), element("e11"), "the dialog's button");
    assert_eq!(id(410, 25), element("e12"), "outside of the window there are no fractions of it");
    assert_eq!(id(200, 100), ("click_on_coordinates".to_owned(), None));
    view.picture = None;
    assert!(wrong(&view, 0, 0).contains("there was no picture"));
}

/// Menus of some toolkits are listed in the tree of the window, below the menu, and lie in a pop-up of their own.
#[test]
fn an_entry_of_an_open_menu_covers_what_lies_behind_it() {
    let mut view = showing(vec![
        at(2, 1, Role::MENU, "Insert", [110, 50, 60, 20]),
        at(3, 2, Role::MENU_ITEM, "Chart...", [110, 70, 300, 30]),
        at(4, 1, Role::TABLE, "Sheet", [100, 70, 800, 500]),
        at(5, 2, Role::TABLE_CELL, "A1", [120, 75, 80, 20]),
    ]);
    let click =
        |view: &WindowView| refined(view, &json!([{"do": "click", "x": 20, "y": 17}])).unwrap().remove(0);
    assert_eq!(click(&view).1["id"], "e5", "no menu is open");
    let mut menu = window(2, "", "LibreOffice Writer");
    (menu.bounds, menu.kind, menu.owner) =
        (Rect::new(110, 70, 300, 200), WindowKind::Popup, Some(WindowId(1)));
    view.surfaces.push(Surface { window: menu, tree: Tree::default() });
    assert_eq!(click(&view).1["id"], "e3");
    // Between the entries there is none, and nothing behind the menu is clicked by its name.
    let between = refined(&view, &json!([{"do": "click", "x": 20, "y": 60}])).unwrap().remove(0);
    assert_eq!(between.0, "click_on_coordinates");
}

/// A session whose AppAgent is an operator.
fn operated(policy: Policy) -> SessionConfig {
    let mut config = config();
    config.app_tools.extend(["press_keys", "type_text", "click_on_coordinates"].map(tool));
    config.pictures = true;
    config.policy = policy;
    config.roles = ModelRoles {
        all: vec!["model".to_owned()],
        app: vec!["eyes".to_owned(), "model".to_owned()],
        operators: vec!["eyes".to_owned()],
        repair: vec!["small".to_owned()],
        ..ModelRoles::default()
    };
    config
}

/// What the operator of these tests sees: the usual view with the button e3, and a picture.
fn seen(h: &Harness) -> WindowView {
    let mut seen = view(h.windows[0].clone(), "Finish");
    seen.picture = Some(half(h.windows[0].bounds));
    seen
}

fn looks(h: &mut Harness) {
    let Effect::Observe { look } = h.effect() else { panic!("a look is wanted, not {:?}", h.effect()) };
    let unmarked = ObservationTarget::Window {
        window: WindowId(1),
        picture: true,
        marks: Some(Vec::new()),
        words: Vec::new(),
    };
    assert_eq!(look, unmarked);
    let seen = seen(h);
    h.answer(SessionEvent::Observed { observation: Observation::Window(seen) });
}

#[expect(clippy::needless_pass_by_value, reason = "the cases are written in place")]
fn says(h: &mut Harness, action: Value) {
    h.reply(&json!({"thought": "because", "action": action}).to_string());
}

#[test]
fn an_operator_is_shown_pictures_and_its_gestures_are_recorded_as_commands() {
    let mut h = Harness::started(operated(Policy::default()));
    h.assign();
    looks(&mut h);
    let Effect::Ask { request } = h.effect() else { panic!("a question is wanted") };
    assert_eq!(
        (request.reply, request.models.as_slice()),
        (ReplyKind::Operator, &["eyes".to_owned(), "model".to_owned()][..])
    );
    assert_eq!(request.picture().map(|picture| (picture.width, picture.height)), Some((400, 300)));
    let prompt = h.prompt();
    assert!(prompt.contains("read the sales table") && !prompt.contains("[e3]"), "{prompt}");
    insta::assert_snapshot!("operator_first_step", prompt);
    says(&mut h, json!([{"do": "click", "x": 20, "y": 7}]));
    let command = h.command();
    assert_eq!((command.tool.as_str(), command.arguments["id"].as_str()), ("click_element", Some("e3")));
    h.succeeds(None, Value::Null);
    // The picture comes again, although it is the same.
    looks(&mut h);
    let Effect::Ask { request } = h.effect() else { panic!("a question is wanted") };
    let pictures = request
        .messages
        .iter()
        .flat_map(|one| &one.parts)
        .filter(|one| matches!(one, MessagePart::Picture { .. }));
    assert_eq!(pictures.count(), 1);
    assert!(h.prompt().contains("Step 2: because\n- seen: done"), "{}", h.prompt());
    h.reply(r#"{"thought": "DONE: read", "action": []}"#);
    h.look();
    let Effect::Ask { request } = h.effect() else { panic!("the HostAgent is asked") };
    assert_eq!((request.reply, request.models.as_slice()), (ReplyKind::HostAgent, &["model".to_owned()][..]));
    assert!(h.prompt().contains("read"));
}

#[test]
fn a_wrong_place_is_repaired_by_the_operator_itself() {
    let mut h = Harness::started(operated(Policy::default()));
    h.assign();
    looks(&mut h);
    says(&mut h, json!([{"do": "click", "x": 5000, "y": 7}]));
    let Effect::Ask { request } = h.effect() else { panic!("a repair is wanted, not {:?}", h.effect()) };
    assert_eq!(request.models[0], "eyes");
    let prompt = h.prompt();
    assert!(prompt.contains("(5000, 7) is not in the picture, which is 400 x 300 pixels"), "{prompt}");
    assert!(prompt.contains("Reply again as described"), "{prompt}");
    says(&mut h, json!([{"do": "keys", "keys": "Return"}]));
    assert_eq!(h.command().tool, "press_keys");
}

#[test]
fn a_rule_about_a_name_holds_for_a_click_at_its_place() {
    let rule = PolicyRule {
        role: "push button".to_owned(),
        label: "fin?sh".to_owned(),
        ..PolicyRule::new(PolicyDecision::Deny, "house rule 7")
    };
    let denied = |bounds: [i32; 4], role: Role| {
        let mut h = Harness::started(operated(Policy { rules: vec![rule.clone()], ..Policy::default() }));
        h.assign();
        let mut seen = seen(&h);
        let button = seen.surfaces[0].tree.elements.iter_mut().find(|one| one.id == ElementId(3)).unwrap();
        (button.bounds, button.role) = (Some(bounds.into()), role);
        h.answer(SessionEvent::Observed { observation: Observation::Window(seen) });
        says(&mut h, json!([{"do": "click", "x": 20, "y": 7}]));
        if matches!(h.effect(), Effect::Call { .. }) {
            return false;
        }
        looks(&mut h);
        h.prompt().contains("refused: not run: denied by the policy (house rule 7)")
    };
    assert!(denied([10, 10, 80, 20], Role::PUSH_BUTTON));
    assert!(!denied([200, 200, 80, 20], Role::PUSH_BUTTON), "another place");
    assert!(!denied([10, 10, 80, 20], Role::PAGE_TAB), "another role");
}

#[test]
fn statuses_are_those_of_an_app_agent() {
    let status = |reply: Value| parse_operator_reply(&reply.to_string()).unwrap();
    let ask = status(json!({"action": [{"do": "ask", "text": "Which sheet?"}]})).deciding(Vec::new());
    assert_eq!((ask.status, ask.questions[0].text.as_str()), (AppStatus::Pending, "Which sheet?"));
    let fail = status(json!({"action": [{"do": "fail", "text": "no sheet"}]})).deciding(Vec::new());
    assert_eq!((fail.word.as_str(), fail.result.as_deref()), ("FAIL", Some("no sheet")));
    let done = status(json!({"action": [{"do": "wait"}, {"do": "done", "text": "saved"}]}));
    assert_eq!((done.status, done.gestures.len()), (AppStatus::Finish, 1));
}
