//! Elements that are gone while another one took their place.

use deskhand_desktop::{TreeLimits, UiTree};
use deskhand_desktop_act::{ActLimits, ActionReport, ActionTarget, Click, click};
use deskhand_desktop_fake::{Behaviour, FakeElement};
use deskhand_ui::{Role, action::Verdict, ids::ElementId};

use super::click::{button, desktop_with};

fn guests() -> FakeElement {
    let counted = Behaviour::Rename { key: Some("count".into()), name: "opened".into() };
    FakeElement::new(Role::PAGE_TAB, "Guests").key("guests").on_click(counted)
}

/// Rebuilds the page tab as `again` some time after a click on "Reload", then clicks the old one.
async fn after_reload(
    more: Vec<FakeElement>,
    again: Vec<FakeElement>,
    late_ms: u64,
) -> (ActionReport, ElementId) {
    let added = again.into_iter().map(|element| Behaviour::Add(Box::new(element)).after(late_ms));
    let mut reload = vec![Behaviour::Remove { key: Some("guests".into()) }];
    reload.extend(added);
    let mut elements = vec![button("Reload", Behaviour::All(reload)), guests()];
    elements.push(FakeElement::new(Role::LABEL, "count").key("count"));
    elements.extend(more);
    let (desktop, window) = desktop_with(elements);
    let old = desktop.find_key("guests").unwrap();
    desktop.tree(window, TreeLimits::default()).await.unwrap();
    let reload = Click::once(ActionTarget::element(desktop.find_key("target").unwrap()));
    click(&desktop, window, &reload, &ActLimits::default()).await.unwrap();
    let old_one = Click::once(ActionTarget::Element { id: old, name: Some("Guests".into()) });
    let report = click(&desktop, window, &old_one, &ActLimits::default()).await.unwrap();
    (report, old)
}

#[tokio::test]
async fn the_one_that_took_the_place_is_used_and_said() {
    for late_ms in [0, 250] {
        let (report, old) = after_reload(Vec::new(), vec![guests()], late_ms).await;
        assert_eq!(report.effect(), Verdict::Seen, "{}", report.summary());
        let aimed = report.actions[0].aim.named_element().unwrap();
        assert_eq!((aimed.instead_of, aimed.name.as_str()), (Some(old), "Guests"));
        let said = format!("({old} is gone; {} took its place)", aimed.id);
        assert!(report.summary().ends_with(&said), "{}", report.summary());
    }
}

#[tokio::test]
async fn another_one_or_one_of_several_is_not_taken() {
    let other = FakeElement::new(Role::PAGE_TAB, "Guest list").key("other");
    for (more, again) in [
        (Vec::new(), Vec::new()),
        (Vec::new(), vec![other]),
        (Vec::new(), vec![guests(), guests().key("second")]),
        (vec![guests().key("second")], Vec::new()),
    ] {
        let (report, old) = after_reload(more, again, 0).await;
        assert_eq!(report.effect(), Verdict::Refused, "{}", report.summary());
        assert!(!report.summary().contains(&format!("({old})")), "{}", report.summary());
    }
}
