//! Thousands of random clicks on a mix of faults: not one false `seen`.

use deskhand_ui::{Role, State, WindowKind, action::Verdict};

use super::click::desktop_of;
use deskhand_desktop::UiTree;
use deskhand_desktop_act::{
    ActLimits, ActionTarget, Click, NewValue, TypeTextOptions, click, select, set_checked, set_value,
    type_text,
};
use deskhand_desktop_fake::{Behaviour, FakeElement, FakeWindow, Semantic};

/// A small generator (splitmix64), so that a failure can be repeated from its seed.
pub(super) struct Dice(u64);

impl Dice {
    pub(super) const fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(super) const fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % bound
    }
}

fn behaviour(dice: &mut Dice) -> Behaviour {
    match dice.below(9) {
        0 => Behaviour::Open(Box::new(FakeWindow::dialog("Question"))),
        1 => Behaviour::Rename { key: None, name: "Done".into() },
        2 => Behaviour::Rename { key: Some("other".into()), name: "7".into() },
        3 => Behaviour::Enable { key: None, enabled: false },
        4 => Behaviour::Title("Main 2".into()),
        5 => Behaviour::Remove { key: None },
        6 => Behaviour::SetText { key: "field".into(), text: "filled".into() },
        _ => Behaviour::Nothing,
    }
}

fn window(dice: &mut Dice) -> FakeWindow {
    let delay_ms = [0, 0, 20, 300, 900, 1_500, 12_000][usize::try_from(dice.below(7)).unwrap()];
    let behaviour = behaviour(dice);
    let behaviour = if delay_ms > 0 { behaviour.after(delay_ms) } else { behaviour };
    let mut target = match dice.below(4) {
        0 => FakeElement::new(Role::CHECK_BOX, "Target"),
        1 => FakeElement::new(Role::MENU_ITEM, "Target").on_click(behaviour),
        _ => FakeElement::new(Role::PUSH_BUTTON, "Target").on_click(behaviour),
    }
    .key("target");
    target = match dice.below(6) {
        0 => target.semantic(Semantic::Ignored),
        1 => target.semantic(Semantic::Fails),
        2 => target.semantic(Semantic::NotOffered),
        _ => target,
    };
    if dice.below(5) == 0 {
        target = target.deaf();
    }
    if dice.below(10) == 0 {
        target = target.disabled();
    }
    target.tool_tip = (dice.below(3) == 0).then_some(WindowKind::Popup);
    let mut window = FakeWindow::normal("Main").elements([
        target,
        FakeElement::new(Role::LABEL, "0").key("other"),
        FakeElement::new(Role::ENTRY, "Field").key("field"),
        FakeElement::new(Role::LABEL, "12:00").key("clock"),
    ]);
    if dice.below(2) == 0 {
        window = window.noise("clock", 20 + dice.below(1_100), &["12:01", "12:02", "12:03"]);
    }
    if dice.below(4) == 0 {
        window = window.noise("target", 100 + dice.below(1_000), &["Target 1", "Target 2"]);
    }
    if dice.below(12) == 0 {
        window = window.elements([FakeElement::new(Role::PANEL, "Overlay").at(0, 0, 900, 900)]);
    }
    window
}

#[tokio::test]
async fn no_false_seen_in_thousands_of_actions() {
    const ACTIONS: u64 = 4_000;
    let (mut seen, mut missed, mut refused) = (0, 0, 0);
    for seed in 0..ACTIONS {
        let mut dice = Dice::new(seed);
        let (desktop, window) = desktop_of(window(&mut dice));
        if dice.below(10) == 0 {
            desktop.open(window, &FakeWindow::dialog("In front")).unwrap();
        }
        let request = Click::once(ActionTarget::element(desktop.find_key("target").unwrap()));
        let report = click(&desktop, window, &request, &ActLimits::default()).await.unwrap();
        let happened = !desktop.truth().is_empty();
        match report.effect() {
            Verdict::Seen => {
                seen += 1;
                assert!(happened, "seed {seed}: seen, and nothing happened: {}", report.summary());
            }
            Verdict::Refused => {
                refused += 1;
                assert!(desktop.inputs() == 0 || !happened, "seed {seed}: refused after it acted");
            }
            Verdict::NotSeen | Verdict::Unknown => missed += u64::from(happened),
        }
    }
    assert!(seen > ACTIONS / 4, "only {seen} of {ACTIONS} had an effect; the mix proves too little");
    assert!(refused > ACTIONS / 20, "only {refused} were refused");
    // What recurs beside an effect of the same kind on the same control cannot be told from it.
    assert!(missed < ACTIONS / 20, "{missed} effects were missed");
}

fn faulty(element: FakeElement, dice: &mut Dice) -> FakeElement {
    let mut element = match dice.below(6) {
        0 => element.semantic(Semantic::Ignored),
        1 => element.semantic(Semantic::Fails),
        2 => element.semantic(Semantic::NotOffered),
        _ => element,
    };
    element.deaf = dice.below(4) == 0;
    element.swallows = u32::try_from([0, 0, 1, 3, 40][usize::try_from(dice.below(5)).unwrap()]).unwrap();
    if dice.below(8) == 0 { element.disabled() } else { element }
}

/// What is asked for is a state, and the desktop in memory tells whether it was reached.
#[tokio::test]
async fn a_state_that_is_seen_is_reached() {
    const ACTIONS: u64 = 4_000;
    let mut seen = 0;
    for seed in 0..ACTIONS {
        let mut dice = Dice::new(seed ^ 0xdead_beef);
        let kind = dice.below(5);
        let role = [Role::CHECK_BOX, Role::ENTRY, Role::SLIDER, Role::LIST, Role::ENTRY]
            [usize::try_from(kind).unwrap()]
        .clone();
        let mut element = faulty(FakeElement::new(role.clone(), "Target"), &mut dice).key("target");
        if role == Role::SLIDER {
            element = element.value(3.0, 0.0, 10.0);
        } else if role == Role::LIST {
            let items = ["One", "Two", "Three"]
                .map(|name| faulty(FakeElement::new(Role::LIST_ITEM, name), &mut dice));
            element = element.children(items);
        } else if role == Role::CHECK_BOX && dice.below(3) == 0 {
            element = element.on_click(Behaviour::Toggle.after(dice.below(12_000)));
        }
        let clock = FakeElement::new(Role::LABEL, "12:00").key("clock");
        let window =
            FakeWindow::normal("Main").elements([element, clock]).noise("clock", 90, &["12:01", "12:02"]);
        let (desktop, window) = desktop_of(window);
        let (id, limits) = (desktop.find_key("target").unwrap(), ActLimits::default());
        let text = "some text";
        let report = match kind {
            0 => set_checked(&desktop, window, id, None, true, &limits).await,
            1 => set_value(&desktop, window, id, None, &NewValue::Text(text.into()), &limits).await,
            2 => set_value(&desktop, window, id, None, &NewValue::Number(7.0), &limits).await,
            3 => select(&desktop, window, id, "Two", &limits).await,
            _ => {
                let request =
                    TypeTextOptions { element: Some(id), name: None, text: text.into(), clear: true };
                type_text(&desktop, window, &request, &limits).await
            }
        }
        .unwrap();
        let now = desktop.element(id).await.unwrap();
        let reached = match kind {
            0 => now.states.has(State::Checked),
            2 => now.value.is_some_and(|value| (value.current - 7.0).abs() < 0.5),
            3 => desktop.children(id, 9).await.unwrap()[1].states.has(State::Selected),
            _ => now.text.as_deref() == Some(text),
        };
        seen += u64::from(report.effect() == Verdict::Seen);
        let is_honest = report.effect() != Verdict::Seen || reached;
        assert!(is_honest, "seed {seed}: {:?} of a {role}: {}", report.effect(), report.summary());
        if report.effect() == Verdict::Refused {
            assert!(!reached, "seed {seed}: refused after it acted: {}", report.summary());
        }
    }
    assert!(seen > ACTIONS / 4, "only {seen} of {ACTIONS} were reached; the mix proves too little");
}
