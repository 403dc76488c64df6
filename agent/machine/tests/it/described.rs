//! Elements by description: found when their turn comes, judged by what is there then.

use deskhand_machine::{
    intent::{Does, Takes},
    observation::{Observation, ObservationTarget},
    policy::{Policy, PolicyDecision, PolicyRule},
    session::{ApprovalScope, Effect, SessionConfig, SessionEvent},
};
use deskhand_ui::{Element, Role, Surface, TableShape, Tree, WindowKind, WindowView, ids::ElementId};
use serde_json::{Value, json};

use crate::harness::{Harness, config, element, tool, window};

fn with_forms() -> SessionConfig {
    let mut config = config();
    config.app_tools = ["set_value", "click_element", "read_text", "choose_file"].map(tool).to_vec();
    let chooses = config.app_tools.iter_mut().find(|tool| tool.name == "choose_file").unwrap();
    (chooses.does, chooses.takes) = (Does::Open, vec![("path".to_owned(), Takes::Chosen)]);
    config
}

/// A page of a form with these elements, from e3 on.
fn page(from: u32, elements: &[(Role, &str)]) -> WindowView {
    let mut all = vec![element(1, 0, Role::FRAME, "Form")];
    let numbered = (from..).zip(elements);
    all.extend(numbered.map(|(id, (role, name))| element(id, 1, role.clone(), name)));
    WindowView {
        surfaces: vec![Surface {
            window: window(1, "Form", "Forms"),
            tree: Tree { elements: all, partial: None },
        }],
        picture: None,
        notices: Vec::new(),
    }
}

fn first_page() -> WindowView {
    page(3, &[(Role::ENTRY, "Name"), (Role::PUSH_BUTTON, "Next")])
}

fn two_pages() -> Value {
    json!([
        {"function": "set_value", "arguments": {"id": {"role": "field", "name": "Name"}, "value": "Ada"}},
        {"function": "click_element", "arguments": {"id": {"name": "Next"}}},
        {"function": "set_value", "arguments": {"id": {"role": "field", "name": "City"}, "value": "Paris"}},
        {"function": "click_element", "arguments": {"id": {"role": "button", "name": "Finish"}}},
    ])
}

/// The element that the pending command is aimed at.
fn aim(h: &Harness) -> (String, Option<ElementId>) {
    let command = h.command();
    (command.tool.clone(), command.intent.elements().next())
}

/// Answers another look, which takes no picture.
fn looks_again(h: &mut Harness, seen: WindowView) {
    let Effect::Observe { look: ObservationTarget::Window { picture, .. } } = h.effect() else {
        panic!("a look is wanted, not {:?}", h.effect())
    };
    assert!(!picture);
    h.answer(SessionEvent::Observed { observation: Observation::Window(seen) });
}

#[test]
fn one_reply_spans_pages_whose_elements_are_not_known_yet() {
    let mut h = Harness::acting(with_forms(), "Fill in the form.", first_page(), &two_pages());
    assert_eq!(aim(&h), ("set_value".to_owned(), Some(ElementId(3))));
    h.succeeds(None, Value::Null);
    assert_eq!(aim(&h), ("click_element".to_owned(), Some(ElementId(4))));
    h.succeeds(None, Value::Null);
    looks_again(&mut h, page(13, &[(Role::ENTRY, "City"), (Role::PUSH_BUTTON, "Finish")]));
    assert_eq!(aim(&h), ("set_value".to_owned(), Some(ElementId(13))));
    h.succeeds(None, Value::Null);
    assert_eq!(aim(&h), ("click_element".to_owned(), Some(ElementId(14))));
    h.succeeds(None, Value::Null);
    h.look();
    let prompt = h.prompt();
    assert!(prompt.contains(r#"push button "Finish""#), "the target has its name: {prompt}");
}

#[test]
fn what_is_not_there_or_there_twice_is_refused() {
    let check = |actions: &Value, problem: &str| {
        let twice =
            page(3, &[(Role::ENTRY, "Name"), (Role::PUSH_BUTTON, "Next"), (Role::PUSH_BUTTON, "Next")]);
        let mut h = Harness::acting(with_forms(), "Fill in the form.", twice, actions);
        h.look();
        let prompt = h.prompt();
        assert!(prompt.contains(problem), "{problem}: {prompt}");
    };
    check(
        &json!([{"function": "click_element", "arguments": {"id": {"name": "Next"}}}]),
        "2 elements are element \"Next\": e4 push button \"Next\", e5 push button \"Next\"; add `in`, `row`",
    );
    check(
        &json!([{"function": "click_element", "arguments": {"id": {"name": "Nxet"}}}]),
        "no element \"Nxet\" is shown",
    );
    check(
        &json!([{"function": "click_element", "arguments": {"id": {"label": "Next"}}}]),
        "unknown field `label`",
    );
    // After an action it is looked for again, and then it is not there.
    let mut h = Harness::acting(with_forms(), "Fill in the form.", first_page(), &two_pages());
    h.succeeds(None, Value::Null);
    h.succeeds(None, Value::Null);
    looks_again(&mut h, page(13, &[(Role::LABEL, "Please wait")]));
    h.look();
    let prompt = h.prompt();
    assert!(prompt.contains("no field \"City\" is shown"), "{prompt}");
    assert!(prompt.contains("not run"), "what followed did not run: {prompt}");
}

#[test]
fn a_window_that_cannot_be_read_again_ends_the_actions_and_not_the_agent() {
    let mut h = Harness::acting(with_forms(), "Fill in the form.", first_page(), &two_pages());
    h.succeeds(None, Value::Null);
    h.succeeds(None, Value::Null);
    let failure = deskhand_machine::observation::ObserveFailure {
        window_gone: false,
        desktop_gone: false,
        message: "Forms does not answer".to_owned(),
    };
    h.answer(SessionEvent::ObserveFailed { failure });
    h.look();
    assert!(h.prompt().contains("not run: Forms does not answer"), "{}", h.prompt());
}

#[test]
fn what_appears_later_is_judged_by_what_it_is_then() {
    let deny = Policy {
        rules: vec![PolicyRule {
            label: "Finish".to_owned(),
            ..PolicyRule::new(PolicyDecision::Ask, "house rule 7")
        }],
        ..Policy::default()
    };
    let config = || SessionConfig { policy: deny.clone(), ..with_forms() };
    let reached = || {
        let mut h = Harness::acting(config(), "Fill in the form.", first_page(), &two_pages());
        h.succeeds(None, Value::Null);
        h.succeeds(None, Value::Null);
        looks_again(&mut h, page(13, &[(Role::ENTRY, "City"), (Role::PUSH_BUTTON, "Finish")]));
        let Effect::AwaitApproval { approval } = h.effect() else { panic!("{:?}", h.effect()) };
        assert_eq!(approval.commands.len(), 2, "those before have run");
        h
    };
    let mut h = reached();
    h.answer(SessionEvent::Approved { scope: ApprovalScope::Once });
    assert_eq!(aim(&h), ("set_value".to_owned(), Some(ElementId(13))));
    h.succeeds(None, Value::Null);
    assert_eq!(aim(&h), ("click_element".to_owned(), Some(ElementId(14))));
    // A person who says no: what ran before is remembered.
    let mut h = reached();
    h.answer(SessionEvent::Rejected {
        instruction: Some("Leave it as it is.".to_owned()),
        is_message: false,
    });
    h.look();
    let prompt = h.prompt();
    assert!(prompt.contains("set_value(") && prompt.contains("Ada"), "{prompt}");
}

/// The dialog of a page's script shows in no element: it is judged by the words that the agent answers to.
#[test]
fn the_answer_to_a_page_is_judged_by_its_question() {
    let mut config = config();
    let mut answers = tool("answer_dialog");
    let takes = [("message", Takes::Question), ("accept", Takes::Accepts)];
    (answers.does, answers.takes) =
        (Does::Press, takes.map(|(name, takes)| (name.to_owned(), takes)).to_vec());
    config.app_tools.push(answers);
    let asked = |accept: bool, message: &str| {
        let arguments = json!({"accept": accept, "message": message});
        let action = json!([{"function": "answer_dialog", "arguments": arguments}]);
        Harness::acting(config.clone(), "Go on.", first_page(), &action).guarded()
    };
    assert!(asked(true, "Delete the account?").is_some_and(|why| why.contains("Delete the account?")));
    assert_eq!(asked(false, "Delete the account?"), None);
    assert_eq!(asked(true, "Show the next page?"), None);
}

#[test]
fn a_file_is_chosen_in_a_dialog_that_is_there_and_a_page_gets_none_unasked() {
    let chooses = json!({"function": "choose_file", "arguments": {"path": "/home/ada/keys.txt"}});
    let mut h = Harness::acting(with_forms(), "Fill in the form.", first_page(), &json!([chooses]));
    h.look();
    assert!(h.prompt().contains("no dialog for a file is open"), "{}", h.prompt());
    // The dialog is opened in the same reply: it is looked at before anything is chosen there.
    let web = |mut view: WindowView| {
        view.surfaces[0].tree.elements.insert(1, element(2, 1, Role::DOCUMENT_WEB, "Form"));
        view
    };
    let opens = json!([{"function": "click_element", "arguments": {"id": "e4"}}, chooses]);
    let request = |request: &str, chooser: &[Element]| {
        let mut h = Harness::acting(with_forms(), request, web(first_page()), &opens);
        let mut dialog = window(2, "Open File", "Forms");
        dialog.kind = WindowKind::Dialog;
        // It opens unannounced.
        h.succeeds(Some(dialog.clone()), Value::Null);
        let mut seen = web(first_page());
        let tree = Tree { elements: chooser.to_vec(), partial: None };
        seen.surfaces.push(Surface { window: dialog, tree });
        looks_again(&mut h, seen);
        h.guarded()
    };
    let says_so = [element(20, 0, Role::FILE_CHOOSER, "Open File"), element(21, 1, Role::ENTRY, "Name")];
    // That of GTK 2, whose field comes by keys.
    let table = |id: u32, columns: u32| Element {
        table: Some(TableShape { rows: 6, columns }),
        ..element(id, 1, Role::TABLE, "")
    };
    let lists_files = [
        element(20, 0, Role::DIALOG, "Open Image"),
        table(21, 1),
        table(22, 3),
        element(23, 1, Role::PUSH_BUTTON, "Open"),
    ];
    for chooser in [&says_so[..], &lists_files] {
        let asked = request("Fill in the form.", chooser).unwrap();
        assert!(asked.contains("it gives the file `/home/ada/keys.txt` to a page"), "{asked}");
        assert_eq!(request("Upload /home/ada/keys.txt with the form.", chooser), None);
    }
}
