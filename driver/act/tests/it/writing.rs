//! What typing replaces, and that nothing is ever written twice.

use deskhand_ui::{
    ElementCapability, Role, State,
    action::{
        ActionKind, ActionProof, ActionRefusal, Blindness, Evidence, Shortfall, Uncertainty,
        UnsupportedCapability, Verdict,
    },
    ids::{ElementId, WindowId},
};

use super::{click::desktop_of, truth::Dice};
use deskhand_desktop::{ElementAction, ElementPatterns, InputInjection};
use deskhand_desktop_act::{
    ActLimits, ActionReport, NewValue, TableTarget, TypeTextOptions, paste, select_text, set_value,
    type_text, write_table,
};
use deskhand_desktop_fake::{Corrects, FakeDesktop, FakeElement, FakeSheet, FakeWindow, Semantic};

const LIMITS: fn() -> ActLimits = ActLimits::default;

fn field(element: FakeElement) -> (FakeDesktop, WindowId, ElementId) {
    let window = FakeWindow::normal("Main").elements([element.key("target")]).focus("target");
    let (desktop, window) = desktop_of(window);
    let target = desktop.find_key("target").unwrap();
    (desktop, window, target)
}

async fn type_into(
    (desktop, window): (&FakeDesktop, WindowId),
    element: Option<ElementId>,
    text: &str,
    clear: bool,
) -> ActionReport {
    let request = TypeTextOptions { element, name: None, text: text.to_owned(), clear };
    type_text(desktop, window, &request, &LIMITS()).await.unwrap()
}

async fn text_of(desktop: &FakeDesktop) -> String {
    desktop.text(desktop.find_key("target").unwrap(), 10_000).await.unwrap()
}

#[tokio::test]
async fn typed_text_replaces_what_is_selected() {
    let check = async |start: usize, end: usize, expected: &str| {
        let (desktop, window, target) = field(FakeElement::new(Role::ENTRY, "Name").text("Sheet5"));
        desktop.perform(target, &ElementAction::SelectText { start, end }).await.unwrap();
        let report = type_into((&desktop, window), None, "Out", false).await;
        assert_eq!(report.effect(), Verdict::Seen, "{}", report.summary());
        assert_eq!(text_of(&desktop).await, expected);
        assert_eq!(report.output["text"], expected);
    };
    check(0, 6, "Out").await;
    check(5, 6, "SheetOut").await;
    let (desktop, window, _) = field(FakeElement::new(Role::ENTRY, "Name").text("Sheet5"));
    desktop.press(&"ctrl+a".parse().unwrap()).await.unwrap();
    let report = type_into((&desktop, window), None, "Out", false).await;
    assert_eq!((report.effect(), text_of(&desktop).await.as_str()), (Verdict::Seen, "Out"));
}

#[tokio::test]
async fn selected_text_is_what_typing_replaces() {
    let (desktop, window, target) = field(FakeElement::new(Role::ENTRY, "Name").text("value: 228 units"));
    let report = select_text(&desktop, window, (target, None), "228", &LIMITS()).await.unwrap();
    assert_eq!(report.effect(), Verdict::Seen, "{}", report.summary());
    type_into((&desktop, window), None, "7", false).await;
    assert_eq!(text_of(&desktop).await, "value: 7 units");
    let entry = FakeElement::new(Role::ENTRY, "Name").text("value: 228 units").semantic(Semantic::Ignored);
    let (desktop, window, target) = field(entry);
    let report = select_text(&desktop, window, (target, None), "228", &LIMITS()).await.unwrap();
    assert_eq!(report.effect(), Verdict::NotSeen, "{}", report.summary());
}

#[tokio::test]
async fn a_correction_of_the_application_is_reported_with_what_stands_around_it() {
    let check = async |corrects: Corrects, typed: &str, result: &str| {
        let long = "word ".repeat(60);
        let mut entry = FakeElement::new(Role::TEXT, "Body").text(&long);
        entry.corrects = corrects;
        let (desktop, window, _) = field(entry);
        let report = type_into((&desktop, window), None, typed, false).await;
        assert_eq!(report.effect(), Verdict::NotSeen, "{}", report.summary());
        let Evidence::NotSeen { shortfall: Shortfall::ReadsOtherwise { around: Some(around), .. } } =
            &report.actions[0].evidence
        else {
            panic!("{:?}", report.actions)
        };
        assert!(around.after.ends_with(result) && around.before.ends_with("word "), "{around:?}");
        assert!(around.after.chars().count() <= 80);
        assert_eq!(text_of(&desktop).await, format!("{long}{result}"));
    };
    check(Corrects::Dashes, "a -- b", "a – b").await;
    check(Corrects::Case, "north", "NORTH").await;
    check(Corrects::Brackets, "f(x", "f(x)").await;
}

#[tokio::test]
async fn terminals_are_written_blind_and_passwords_are_verified_by_their_length() {
    const SECRET: &str = "hunter2!";
    let blind = |report: &ActionReport, expected: Blindness| {
        let evidence = &report.actions[0].evidence;
        let Evidence::Unknown { uncertainty: Uncertainty::Blind { why } } = evidence else {
            panic!("{evidence:?}")
        };
        assert_eq!(*why, expected);
    };
    let has_length = |report: &ActionReport| {
        let evidence = &report.actions[0].evidence;
        assert!(matches!(evidence, Evidence::Seen { proof: ActionProof::HasLength }), "{evidence:?}");
    };
    let editable = |role: Role, text: &str| {
        let mut element = FakeElement::new(Role::ENTRY, "Field").text(text).state(State::Focusable);
        element.role = role;
        element
    };
    let (desktop, window, _) = field(editable(Role::TERMINAL, "$ "));
    let report = type_into((&desktop, window), None, "ls", false).await;
    blind(&report, Blindness::Terminal);
    let report = type_into((&desktop, window), None, "ls", true).await;
    let Evidence::Refused { refusal } = &report.actions[0].evidence else { panic!("{}", report.summary()) };
    assert!(
        matches!(refusal, ActionRefusal::Unsupported { what: UnsupportedCapability::Clearing, .. }),
        "{refusal:?}"
    );
    assert_eq!(text_of(&desktop).await, "$ ls", "nothing was typed twice");

    let (desktop, window, target) = field(editable(Role::PASSWORD_TEXT, "old"));
    let said = |report: &ActionReport| {
        assert!(
            matches!(&report.actions[0].act, ActionKind::Type { text } | ActionKind::Paste { text } | ActionKind::SetText { text } if text == "••••••••")
        );
        let all = format!("{report:?} {}", report.summary());
        assert!(!all.contains(SECRET), "{all}");
    };
    let report = type_into((&desktop, window), Some(target), SECRET, true).await;
    has_length(&report);
    said(&report);
    assert_eq!(text_of(&desktop).await, SECRET);
    let report = paste(&desktop, window, (target, None), SECRET, &LIMITS()).await.unwrap();
    has_length(&report);
    said(&report);
    let value = NewValue::Text(SECRET.to_owned());
    let report = set_value(&desktop, window, target, None, &value, &LIMITS()).await.unwrap();
    has_length(&report);
    said(&report);

    let mut lossy = editable(Role::PASSWORD_TEXT, "");
    lossy.swallows = 2;
    let (desktop, window, _) = field(lossy);
    let report = type_into((&desktop, window), None, SECRET, false).await;
    let Evidence::NotSeen { shortfall: Shortfall::OtherLength { characters: 6, expected: 8 } } =
        &report.actions[0].evidence
    else {
        panic!("{:?}", report.actions)
    };
    said(&report);
}

#[tokio::test]
async fn formulas_are_judged_by_cell_and_result() {
    let sheet = |result: &str| {
        let mut sheet = FakeSheet::empty(1_048_576, 16_384);
        sheet.result_of_formulas = Some(result.to_owned());
        let mut table = FakeElement::new(Role::TABLE, "Sheet").key("target").at(0, 0, 900, 600);
        table.sheet = Some(sheet);
        table.patterns.push(ElementCapability::Table);
        FakeWindow::normal("Main").elements([table.state(State::Focusable)]).focus("target")
    };
    let rows = vec![vec!["12".to_owned()], vec!["=sum(a1:a1)".to_owned()]];
    let start = "A1".parse().unwrap();
    let (desktop, window) = desktop_of(sheet("38709.83"));
    let write = async |desktop: &FakeDesktop, window: WindowId| {
        write_table(desktop, window, &TableTarget::Largest, start, &rows, &LIMITS()).await.unwrap()
    };
    let report = write(&desktop, window).await;
    assert_eq!(report.effect(), Verdict::Seen, "{}", report.summary());
    assert!(report.summary().contains("A2 with \"=sum(a1:a1)\" shows \"38709.83\""), "{}", report.summary());
    let before = desktop.inputs();
    let report = write(&desktop, window).await;
    assert_eq!(report.effect(), Verdict::Seen, "{}", report.summary());
    // Escape leaves drawings; nothing is written to cells that hold it already.
    assert!(desktop.inputs() <= before + 3, "{} and {before}", desktop.inputs());
    let (desktop, window) = desktop_of(sheet("#NAME?"));
    let report = write(&desktop, window).await;
    assert_eq!(report.effect(), Verdict::NotSeen, "{}", report.summary());
    assert!(report.summary().contains("#NAME?"), "{}", report.summary());
}

fn random_text(dice: &mut Dice, letters: &[char], length_max: u64) -> String {
    let length = dice.below(length_max + 1);
    let bound = u64::try_from(letters.len()).unwrap();
    (0..length).map(|_| letters[usize::try_from(dice.below(bound)).unwrap()]).collect()
}

/// For random texts, selections and faults: keys go out once and nothing follows them, and `seen` means that the final text
/// is exactly what it should be.
#[tokio::test]
async fn typing_sends_each_key_once_and_is_seen_only_if_the_text_is_right() {
    const ACTIONS: u64 = 3_000;
    let (mut seen, mut not_seen) = (0, 0);
    for seed in 0..ACTIONS {
        let mut dice = Dice::new(seed ^ 0x07e5_7001);
        let old = random_text(&mut dice, &['a', 'B', ' ', 'é', '😀'], 12);
        let mut typed = random_text(&mut dice, &['a', 'x', '-', '(', ' ', '9', 'ß'], 8);
        typed.push('z');
        let mut entry = FakeElement::new(Role::ENTRY, "Name").text(&old);
        entry.swallows =
            u32::try_from([0, 0, 0, 0, 1, 2, 30][usize::try_from(dice.below(7)).unwrap()]).unwrap();
        entry.corrects =
            [Corrects::Nothing, Corrects::Nothing, Corrects::Case, Corrects::Dashes, Corrects::Brackets]
                [usize::try_from(dice.below(5)).unwrap()];
        let (desktop, window, target) = field(entry);
        let length = u64::try_from(old.chars().count()).unwrap();
        let start = usize::try_from(dice.below(length + 1)).unwrap();
        let end = start + usize::try_from(dice.below(length - u64::try_from(start).unwrap() + 1)).unwrap();
        desktop.perform(target, &ElementAction::SelectText { start, end }).await.unwrap();
        let clear = dice.below(4) == 0;
        let (inputs, events) = (desktop.inputs(), desktop.truth().len());
        let report = type_into((&desktop, window), Some(target), &typed, clear).await;
        let letters: Vec<char> = old.chars().collect();
        let (head, tail): (String, String) = if clear {
            Default::default()
        } else {
            (letters[..start].iter().collect(), letters[end..].iter().collect())
        };
        let is_right = text_of(&desktop).await == format!("{head}{typed}{tail}");
        let is_seen = report.effect() == Verdict::Seen;
        assert_eq!(is_seen, is_right, "seed {seed}: {:?}: {}", text_of(&desktop).await, report.summary());
        let keys = u64::try_from(typed.chars().count()).unwrap();
        let clearing = if clear && !old.is_empty() { 2 } else { 0 };
        assert_eq!(desktop.inputs() - inputs, keys + clearing, "seed {seed}: keys were sent twice");
        let changes = desktop.truth().len() - events;
        assert!(
            changes <= usize::try_from(keys + clearing).unwrap(),
            "seed {seed}: the text was set as well"
        );
        *(if is_seen { &mut seen } else { &mut not_seen }) += 1;
    }
    assert!(seen > ACTIONS / 4 && not_seen > ACTIONS / 4, "{seen} seen, {not_seen} not");
}
