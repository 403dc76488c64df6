//! Thousands of random clicks on a mix of faults: not one false `seen`.

use deskhand_core::{command::Verdict, ui::Role};

use super::click::desktop_of;
use crate::{
    act::{ActLimits, Click, Target, click},
    fake::{Behaviour, FakeElement, FakeWindow, Semantic},
};

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
    let delay_ms = [0, 0, 20, 300, 900, 1_900, 5_000][usize::try_from(dice.below(7)).unwrap()];
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
    target.tool_tip = dice.below(3) == 0;
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
        let request = Click::once(Target::element(desktop.find_key("target").unwrap()));
        let report = click(&desktop, window, &request, &ActLimits::default()).await.unwrap();
        let happened = !desktop.truth().is_empty();
        match report.effect {
            Verdict::Seen => {
                seen += 1;
                assert!(happened, "seed {seed}: seen, and nothing happened: {}", report.summary);
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
