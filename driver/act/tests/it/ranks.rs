//! Ranks of evidence: what proves an effect, and what only says that something happened.

use deskhand_desktop_act::{ActLimits, ActionReport, ActionTarget, Click, click, press_keys};
use deskhand_desktop_fake::{Behaviour, FakeElement, FakeWindow};
use deskhand_ui::{
    Role, State,
    action::{ActionProof, ElementDelta, Evidence, Rank, Uncertainty, Verdict},
};

use super::click::{button, desktop_of, desktop_with};

async fn click_with(behaviour: Behaviour) -> ActionReport {
    let elements = [
        button("Send", behaviour),
        FakeElement::new(Role::LABEL, "Ready").key("status"),
        FakeElement::new(Role::PUSH_BUTTON, "Undo").key("undo").disabled(),
        FakeElement::new(Role::PROGRESS_BAR, "").key("progress"),
        FakeElement::new(Role::PAGE_TAB, "Order - Memory usage - 24.2 MB").key("tab"),
        FakeElement::new(Role::ENTRY, "Mail").key("field"),
    ];
    let (desktop, window) = desktop_with(elements);
    let request = Click::once(ActionTarget::element(desktop.find_key("target").unwrap()));
    click(&desktop, window, &request, &ActLimits::default()).await.unwrap()
}

#[tokio::test]
async fn a_proof_is_of_the_target_or_says_something_new() {
    let check = async |behaviour: Behaviour, rank: Rank, says: &str| {
        let report = click_with(behaviour).await;
        let Evidence::Seen { proof } = &report.actions[0].evidence else { panic!("{}", report.summary()) };
        assert_eq!(proof.rank(), rank, "{}", report.summary());
        assert!(report.summary().contains(says), "{}", report.summary());
    };
    let rename = |key: Option<&str>, name: &str| Behaviour::Rename {
        key: key.map(str::to_owned),
        name: name.to_owned(),
    };
    check(rename(None, "Sent"), Rank::Target, "renamed to \"Sent\"").await;
    check(Behaviour::Remove { key: None }, Rank::Target, "disappeared").await;
    check(rename(Some("status"), "Sent"), Rank::Says, "label says \"Sent\"").await;
    check(Behaviour::SetText { key: "field".to_owned(), text: "a@b.c".to_owned() }, Rank::Says, "a@b.c")
        .await;
    // A form that rejects its input says so, and so does the verdict.
    let rejection = FakeElement::new(Role::PARAGRAPH, "The address is not valid");
    check(Behaviour::Add(Box::new(rejection)), Rank::Says, "says \"The address is not valid\"").await;
    // It is better evidence than what changed before it and says nothing.
    let undo = Behaviour::Enable { key: Some("undo".to_owned()), enabled: true };
    let both = Behaviour::All(vec![undo, rename(Some("status"), "Sent").after(100)]);
    check(both, Rank::Says, "label says \"Sent\"").await;
}

#[tokio::test]
async fn what_says_nothing_new_proves_nothing() {
    let check = async |behaviour: Behaviour, element: &str, is: fn(&ElementDelta) -> bool| {
        let report = click_with(behaviour).await;
        assert_eq!(report.effect(), Verdict::Unknown, "{}", report.summary());
        let Evidence::Unknown { uncertainty: Uncertainty::Elsewhere { element: found, now } } =
            &report.actions[0].evidence
        else {
            panic!("{}", report.summary())
        };
        assert!(found.name == element && is(now), "{}", report.summary());
    };
    let enable = Behaviour::Enable { key: Some("undo".to_owned()), enabled: true };
    check(enable, "Undo", |now| *now == ElementDelta::Enabled { on: true }).await;
    // A browser writes its memory use into the name of a tab; that does not show whether the click worked.
    let (was, is) = ("Order - Memory usage - 24.2 MB", "Order - Memory usage - 31.7 MB");
    let measured = Behaviour::Rename { key: Some("tab".to_owned()), name: is.to_owned() };
    check(measured, was, |now| matches!(now, ElementDelta::Named { .. })).await;
    let went = Behaviour::Remove { key: Some("progress".to_owned()) };
    check(went, "", |now| *now == ElementDelta::Went).await;
    let unnamed = Behaviour::Add(Box::new(FakeElement::new(Role::PANEL, "")));
    check(unnamed, "", |now| *now == ElementDelta::Came).await;
}

/// An application that makes an element anew says nothing with it.
#[tokio::test]
async fn the_same_text_in_another_element_is_no_news() {
    let anew = Behaviour::All(vec![
        Behaviour::Remove { key: Some("status".to_owned()) },
        Behaviour::Add(Box::new(FakeElement::new(Role::LABEL, "Ready"))),
    ]);
    let report = click_with(anew).await;
    assert_eq!(report.effect(), Verdict::Unknown, "{}", report.summary());
    // The same text once more is.
    let again = Behaviour::Add(Box::new(FakeElement::new(Role::LABEL, "Ready")));
    let report = click_with(again).await;
    assert_eq!(report.effect(), Verdict::Seen, "{}", report.summary());
}

#[tokio::test]
async fn one_click_acts_once() {
    let line = Behaviour::Add(Box::new(FakeElement::new(Role::PANEL, "")));
    for behaviour in [line.clone(), line.after(12_000), Behaviour::Nothing] {
        let (desktop, window) = desktop_with([button("Add", behaviour)]);
        let request = Click::once(ActionTarget::element(desktop.find_key("target").unwrap()));
        let report = click(&desktop, window, &request, &ActLimits::default()).await.unwrap();
        assert_ne!(report.effect(), Verdict::Seen, "{}", report.summary());
        assert_eq!(desktop.inputs(), 1);
        assert!(desktop.truth().len() <= 1, "{:?}", desktop.truth());
    }
}

#[tokio::test]
async fn a_dialog_that_closes_again_is_neither_a_proof_nor_a_failure() {
    let mut flash = FakeWindow::dialog("Working…");
    flash.lives_ms = Some(40);
    let window = FakeWindow::normal("Main").chord("F5", Behaviour::Open(Box::new(flash)).after(20));
    let (desktop, window) = desktop_of(window);
    let chords = ["F5".parse().unwrap()];
    let report = press_keys(&desktop, window, &chords, &ActLimits::default()).await.unwrap();
    assert_ne!(report.effect(), Verdict::NotSeen, "{}", report.summary());
}

#[tokio::test]
async fn keys_and_clicks_that_rarely_show_anything_are_no_failures() {
    let mut row = FakeElement::new(Role::LIST_ITEM, "Row").key("target");
    row.states.insert(State::Selected);
    let header = FakeElement::new(Role::new("table column header"), "Size").key("target");
    for element in [row, header] {
        let (desktop, window) = desktop_with([element.on_click(Behaviour::Nothing)]);
        let request = Click::once(ActionTarget::element(desktop.find_key("target").unwrap()));
        // The first click may focus it.
        click(&desktop, window, &request, &ActLimits::default()).await.unwrap();
        let report = click(&desktop, window, &request, &ActLimits::default()).await.unwrap();
        assert_eq!(report.actions[0].evidence, Uncertainty::NothingShown.into(), "{}", report.summary());
        for chord in ["End", "ctrl+Home", "Tab", "ctrl+a", "ctrl+c"] {
            let chords = [chord.parse().unwrap()];
            let report = press_keys(&desktop, window, &chords, &ActLimits::default()).await.unwrap();
            assert_eq!(report.effect(), Verdict::Unknown, "{}", report.summary());
        }
    }
    let (desktop, window) = desktop_with([FakeElement::new(Role::ENTRY, "Name").key("target")]);
    let request = Click::once(ActionTarget::element(desktop.find_key("target").unwrap()));
    for verdict in [Verdict::Seen, Verdict::Unknown] {
        let report = click(&desktop, window, &request, &ActLimits::default()).await.unwrap();
        assert_eq!(report.effect(), verdict, "{}", report.summary());
    }
    let report = press_keys(&desktop, window, &["F5".parse().unwrap()], &ActLimits::default()).await.unwrap();
    assert_eq!(report.effect(), Verdict::NotSeen, "{}", report.summary());
    assert!(matches!(Evidence::from(ActionProof::Moved), Evidence::Seen { .. }));
}
