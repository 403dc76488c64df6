//! Tests of finding elements.

use deskhand_ui::{Element, Role};

use super::{TargetElementMatch, TargetText, choose};

fn element(id: u32, role: Role, name: &str) -> Element {
    Element { depth: 1, ..Element::new(deskhand_ui::ids::ElementId(id), role, name) }
}

#[track_caller]
fn check(words: &str, expected: &str) {
    let elements = [
        element(1, Role::LABEL, "Name"),
        element(2, Role::ENTRY, "Name"),
        element(3, Role::PUSH_BUTTON, "Save"),
        element(4, Role::PUSH_BUTTON, "Save"),
        element(5, Role::TEXT, ""),
        element(6, Role::MENU, "_File"),
        element(7, Role::MENU_ITEM, "text"),
    ];
    let found = match choose(&elements, &words.parse::<TargetText>().unwrap()) {
        TargetElementMatch::One(element) => element.id.to_string(),
        TargetElementMatch::Several(elements) => {
            elements.iter().map(|element| element.id.to_string()).collect::<Vec<_>>().join(" or ")
        }
        TargetElementMatch::None => "none".to_owned(),
    };
    assert_eq!(found, expected, "{words}");
}

#[test]
fn a_name_wins_over_a_role_and_what_is_acted_on_over_what_is_read() {
    check("e3", "e3");
    check("Name", "e2");
    check("label \"Name\"", "e1");
    check("Save", "e3 or e4");
    check("push button", "e3 or e4");
    check("entry", "e2");
    check("file", "e6");
    check("text", "e7");
    check("Text \"\"", "none");
    check("e99", "none");
    check("10,20", "none");
}

#[test]
fn points_and_ids_are_told_from_words() {
    assert_eq!("120, 48".parse(), Ok(TargetText::Point(deskhand_ui::geometry::Point::new(120, 48))));
    assert_eq!("Hello, world".parse(), Ok(TargetText::Words("Hello, world".to_owned())));
    assert!(" ".parse::<TargetText>().is_err());
}
