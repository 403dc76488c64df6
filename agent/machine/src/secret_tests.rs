//! Where a secret may go, and where a command may name one.

use serde_json::json;

use super::*;
use crate::intent;
use deskhand_ui::{
    AppInfo, Element, ElementSource, Role, Surface, Tree, WindowInfo, WindowKind, WindowState,
    geometry::Rect, ids::WindowId,
};

fn permit(role: &str, host: Option<&str>) -> SecretPermit {
    SecretPermit {
        name: "shop".to_owned(),
        application: "Browser".to_owned(),
        role: role.to_owned(),
        host: host.map(str::to_owned),
        window: "*".to_owned(),
    }
}

/// A page with a field for a password and one for a text, and a field beside the page.
fn view(address: Option<&str>) -> Observation {
    let window = WindowInfo {
        id: WindowId(1),
        title: "Log in".to_owned(),
        app: AppInfo { name: "Browser".to_owned(), root: "browser".to_owned(), pid: None },
        bounds: Rect::new(0, 0, 10, 10),
        kind: WindowKind::Normal,
        owner: None,
        active: true,
        accessible: true,
        document: None,
        state: WindowState::default(),
        monitor: None,
    };
    let at = |id: u32, depth: u16, role: Role| Element { depth, ..Element::new(ElementId(id), role, "") };
    let page = Element { address: address.map(str::to_owned), ..at(2, 1, Role::DOCUMENT_WEB) };
    let elements = vec![
        at(1, 0, Role::FRAME),
        page,
        at(3, 2, Role::PASSWORD_TEXT),
        at(4, 2, Role::ENTRY),
        at(5, 1, Role::PASSWORD_TEXT),
        Element { source: ElementSource::Ocr, ..at(6, 1, Role::PASSWORD_TEXT) },
        at(7, 1, Role::TERMINAL),
        at(8, 1, Role::PUSH_BUTTON),
    ];
    let surface = Surface { window, tree: Tree { elements, ..Tree::default() } };
    Observation::Window(WindowView { surfaces: vec![surface], picture: None, notices: Vec::new() })
}

fn tools() -> Vec<ToolSpec> {
    let tool = |name: &str, takes: &[(&str, Takes)]| ToolSpec {
        name: name.to_owned(),
        description: String::new(),
        parameters: Value::Null,
        acts: true,
        does: crate::intent::Does::Type,
        takes: takes.iter().map(|(name, takes)| ((*name).to_owned(), *takes)).collect(),
        ..ToolSpec::default()
    };
    vec![
        tool("type_text", &[("text", Takes::Text), ("id", Takes::Element), ("name", Takes::Name)]),
        tool("set_value", &[("id", Takes::Element), ("value", Takes::Value)]),
        tool("paste_text", &[("id", Takes::Element), ("text", Takes::Pasted)]),
        tool("press_keys", &[("keys", Takes::Keys)]),
        tool("launch_application", &[("name", Takes::Program), ("files", Takes::Files)]),
        tool("write_clipboard", &[]),
    ]
}

/// Why a command is refused; empty if it is not.
fn refused(tool: &str, arguments: Value, permit: SecretPermit, seen: &Observation) -> String {
    let tools = tools();
    let Value::Object(arguments) = arguments else { panic!("not an object: {arguments}") };
    let mut command = ToolCommand { tool: tool.to_owned(), arguments, ..ToolCommand::default() };
    // What cannot be read is refused in any case.
    intent::read(&mut command, &tools).ok();
    refusal(&command, &tools, seen, &[permit]).map(|result| result.summary()).unwrap_or_default()
}

#[track_caller]
fn check(tool: &str, arguments: Value, permit: SecretPermit, seen: &Observation, expected: &str) {
    let why = refused(tool, arguments, permit, seen);
    assert!(if expected.is_empty() { why.is_empty() } else { why.contains(expected) }, "{why}");
}

#[test]
fn a_secret_goes_where_its_permission_says() {
    let page = view(Some("https://shop.example/login"));
    let into = |id: &str| json!({"text": "secret:shop", "id": id});
    let shop = || permit("password text", Some("shop.example"));
    check("type_text", into("e3"), shop(), &page, "");
    check("set_value", json!({"id": "e3", "value": "secret:shop"}), shop(), &page, "");
    check("type_text", into("e4"), shop(), &page, "`secrets.shop.role` is `password text`");
    check("type_text", into("e4"), permit("entry", Some("*.example")), &page, "");
    check("type_text", into("e5"), shop(), &page, "in no page");
    check("type_text", into("e5"), permit("password text", None), &page, "");
    check(
        "type_text",
        into("e3"),
        permit("password text", None),
        &page,
        "`secrets.shop.host` does not name its host",
    );
    check("type_text", into("e6"), permit("*", None), &page, "found in a picture");
    check("type_text", into("e7"), permit("*", None), &page, "a terminal");
    check("type_text", into("e7"), permit("entry|terminal", None), &page, "");
    check("type_text", into("e8"), permit("*", None), &page, "no field for a text");
    check("type_text", into("e9"), permit("*", None), &page, "no element e9");
    check("type_text", json!({"text": "secret:shop"}), shop(), &page, "give its id");
    let evil = view(Some("https://evil.example/login"));
    check("type_text", into("e3"), shop(), &evil, "`evil.example`: `secrets.shop.host` is `shop.example`");
    check("type_text", into("e3"), shop(), &view(None), "does not tell its address");
    let other = SecretPermit { application: "Mail".to_owned(), ..shop() };
    check("type_text", into("e3"), other, &page, "`secrets.shop.application` is `Mail`");
    let window = SecretPermit { window: "Sign up*".to_owned(), ..shop() };
    check("type_text", into("e3"), window, &page, "`secrets.shop.window` is `Sign up*`");
    check(
        "type_text",
        json!({"text": "secret:bank", "id": "e3"}),
        shop(),
        &page,
        "no secret `bank` is configured",
    );
}

#[test]
fn a_reference_is_refused_everywhere_else() {
    let page = view(Some("https://shop.example/login"));
    let shop = || permit("*", Some("*"));
    let only = "can only be the whole text";
    check("type_text", json!({"text": "my secret:shop", "id": "e3"}), shop(), &page, only);
    check("type_text", json!({"text": "Secret:Shop\n", "id": "e3"}), shop(), &page, only);
    check("paste_text", json!({"text": "secret:shop", "id": "e3"}), shop(), &page, only);
    check("write_clipboard", json!({"text": "secret:shop"}), shop(), &page, only);
    check("press_keys", json!({"keys": "secret:shop"}), shop(), &page, only);
    check("launch_application", json!({"name": "x", "files": ["--p=secret:shop"]}), shop(), &page, only);
    check("run_command", json!({"program": "echo", "arguments": ["secret:shop"]}), shop(), &page, only);
    // Other words, and an element whose name stands for a value.
    check(
        "type_text",
        json!({"text": "secret:shopping", "id": "e3", "name": "x"}),
        shop(),
        &page,
        "no secret `shopping`",
    );
    check("type_text", json!({"text": "my secret:shopping", "id": "e3"}), shop(), &page, "");
    check("type_text", json!({"text": "Hello", "id": "e3", "name": "secret:shop"}), shop(), &page, "");
}

#[test]
fn names_are_words() {
    assert_eq!(reference("secret:shop-2_b"), Some("shop-2_b"));
    for text in ["secret:", "secret:a b", "Secret:a", "a secret:b", "secret:ä", "secret:a\n"] {
        assert_eq!(reference(text), None, "{text}");
    }
}

#[test]
fn agents_are_told_of_the_secrets_of_their_application() {
    let other =
        SecretPermit { application: "Mail".to_owned(), name: "mail".to_owned(), ..permit("entry", None) };
    let all = [permit("password text", Some("shop.example")), other];
    assert_eq!(
        listing(&all, "Browser", "browser"),
        "- `secret:shop` for: password text in a page of shop.example"
    );
    assert_eq!(listing(&all, "Editor", "editor"), "");
}
