//! Expectations are matched with what is proven, never with what was asked for.

use serde_json::{Value, json};

use super::*;
use crate::{
    ElementQuery, Role, State, WindowKind,
    action::{ActionKind, Aim, Button, Shortfall, WindowRef},
    ids::{ElementId, WindowId},
};

fn element(role: Role, name: &str) -> ElementRef {
    ElementRef { id: ElementId(5), role, name: name.to_owned(), instead_of: None }
}

fn click(evidence: impl Into<Evidence>) -> CallReport {
    let aim = Aim::Element { element: element(Role::PUSH_BUTTON, "Finish") };
    ActionOutcome::new(ActionKind::Click { button: Button::Left, count: 1, held: Vec::new() }, aim, evidence)
        .into()
}

fn dialog(title: &str) -> WindowRef {
    WindowRef { id: WindowId(2), kind: WindowKind::Dialog, title: title.to_owned() }
}

#[test]
fn expected_words_are_found_in_facts() {
    let check = |report: &CallReport, expected: &str, is_in: bool| {
        assert_eq!(report.contains(&Value::Null, expected), is_in, "{expected:?} in {:?}", report.facts());
    };
    let closed = click(ActionProof::WindowClosed { window: dialog("Chart Wizard") });
    check(&closed, "the “Chart Wizard” closed", true);
    check(&closed, "chart  wizard is closed.", true);
    check(&closed, "closed", true);
    check(&closed, "wizard", true);
    // What was clicked is no fact, nor is a part of a word, or a word that says nothing.
    check(&closed, "Finish", false);
    check(&closed, "lose", false);
    check(&closed, "the", false);
    check(&closed, "c", false);

    let bold = |now| click(ActionProof::Changed { element: element(Role::CHECK_BOX, "Bold"), now });
    check(
        &bold(ElementDelta::State { state: State::Checked, on: true }),
        "check box \"Bold\" is checked",
        true,
    );
    check(&bold(ElementDelta::State { state: State::Checked, on: false }), "checked", false);
    check(&bold(ElementDelta::Reads { text: "合計金額".to_owned() }), "金額", true);

    let aim = Aim::Element { element: element(Role::LIST, "Sizes") };
    let item = ElementQuery::new(Role::LIST_ITEM, "A4");
    let selected =
        ActionOutcome::new(ActionKind::SelectItem { item }, aim, ActionProof::Holds { already: false })
            .into();
    check(&selected, "A4 is selected", true);

    // A condition that holds was read from the application.
    let wait = |condition| -> CallReport {
        ActionOutcome::new(
            ActionKind::WaitFor { condition },
            Aim::Unresolved,
            ActionProof::Holds { already: false },
        )
        .into()
    };
    check(&wait(Condition::TitleContains("sales.ods".to_owned())), "sales.ods", true);
    check(&wait(Condition::Disappears(ElementQuery::named("Save As"))), "Save As gone", true);

    // An effect that was not seen proves nothing, nor does a message.
    check(&click(Shortfall::NothingChanged { pixels: false, then: None }), "nothing changed", false);
    check(&CallReport::text("`ls` exited with code 0"), "exited with code 0", false);
}

#[test]
fn expected_words_are_found_in_the_output() {
    let report = CallReport::text("done");
    let output = json!({"rows": [["Region", "Units"], ["North", "1200"]], "exit_code": 0, "done": true});
    for (expected, is_in) in [
        ("north", true),
        ("1200", true),
        ("120", false),
        ("Region Units", false),
        ("true", true),
        ("rows", false),
    ] {
        assert_eq!(report.contains(&output, expected), is_in, "{expected}");
    }
}
