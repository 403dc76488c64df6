//! Typing and chords.

use deskhand_ui::{
    Role,
    action::{ActionRoute, Verdict},
};

use super::click::desktop_of;
use deskhand_desktop::{ElementPatterns as _, WindowManagement as _};
use deskhand_desktop_act::{ActLimits, TypeTextOptions, press_keys, type_text};
use deskhand_desktop_fake::{Behaviour, FakeApp, FakeDesktop, FakeElement, FakeWindow, office};

fn entry() -> FakeElement {
    FakeElement::new(Role::ENTRY, "Name").key("target")
}

fn into_target(desktop: &FakeDesktop, text: &str, clear: bool) -> TypeTextOptions {
    TypeTextOptions { element: desktop.find_key("target"), name: None, text: text.to_owned(), clear }
}

async fn text_of_target(desktop: &FakeDesktop) -> String {
    desktop.text(desktop.find_key("target").unwrap(), 1_000).await.unwrap()
}

#[tokio::test]
async fn typed_text_is_read_back() {
    let check = async |name: &str, element: FakeElement, clear: bool, effect: Verdict, text: &str| {
        let (desktop, window) = desktop_of(FakeWindow::normal("Main").elements([element]));
        let request = into_target(&desktop, "grüße €", clear);
        let report = type_text(&desktop, window, &request, &ActLimits::default()).await.unwrap();
        assert_eq!(report.effect(), effect, "{name}: {}", report.summary());
        assert_eq!(text_of_target(&desktop).await, text, "{name}");
    };
    check("empty", entry(), false, Verdict::Seen, "grüße €").await;
    check("added", entry().text("old "), false, Verdict::Seen, "old grüße €").await;
    check("cleared", entry().text("old"), true, Verdict::Seen, "grüße €").await;
    let mut lossy = entry();
    lossy.swallows = 2;
    check("lossy", lossy, true, Verdict::NotSeen, "üße €").await;
    let mut broken = entry();
    broken.swallows = 10;
    check("broken", broken, true, Verdict::NotSeen, "").await;
    check("disabled", entry().disabled(), true, Verdict::Refused, "").await;
}

#[tokio::test]
async fn text_goes_into_the_focus() {
    let window = FakeWindow::normal("Main").elements([entry()]).focus("target");
    let (desktop, window) = desktop_of(window);
    let request = TypeTextOptions { element: None, name: None, text: "abc".into(), clear: false };
    let report = type_text(&desktop, window, &request, &ActLimits::default()).await.unwrap();
    assert_eq!(
        (report.effect(), report.route()),
        (Verdict::Seen, Some(ActionRoute::Input)),
        "{}",
        report.summary()
    );
    assert_eq!(text_of_target(&desktop).await, "abc");
}

#[tokio::test]
async fn chords_are_judged_by_what_they_do() {
    let window = FakeWindow::normal("Main").chord("ctrl+s", Behaviour::Title("Main saved".into()).after(400));
    let (desktop, window) = desktop_of(window);
    let press = async |chord: &str| {
        press_keys(&desktop, window, &[chord.parse().unwrap()], &ActLimits::default()).await.unwrap()
    };
    let report = press("ctrl+s").await;
    assert_eq!(report.effect(), Verdict::Seen, "{}", report.summary());
    assert!(report.summary().contains("the title changed to “Main saved”"), "{}", report.summary());
    let report = press("ctrl+q").await;
    assert_eq!(report.effect(), Verdict::Unknown, "{}", report.summary());
}

/// A page has no file, so its title tells.
#[tokio::test]
async fn what_is_saved_by_itself_does_not_prove_that_a_key_saved() {
    let autosaved = Behaviour::Rename { key: Some("status".to_owned()), name: "Autosaved 7".to_owned() };
    // The mark may come after the key.
    let cases = [
        ("*Page", Some(2_000), Verdict::Seen),
        ("*Page", None, Verdict::Unknown),
        ("Page", Some(2_000), Verdict::Seen),
    ];
    for (title, title_after, expected) in cases {
        let mut all = vec![autosaved.clone().after(300), Behaviour::Title("*Page".to_owned()).after(40)];
        all.extend(title_after.map(|after| Behaviour::Title("Page".to_owned()).after(after)));
        let status = FakeElement::new(Role::LABEL, "Ready").key("status");
        let window = FakeWindow::normal(title).elements([status]).chord("ctrl+s", Behaviour::All(all));
        let desktop = FakeDesktop::new([FakeApp::new("App", "app", [window])], []);
        let window = desktop.windows().await.unwrap()[0].id;
        let save = ["ctrl+s".parse().unwrap()];
        let report = press_keys(&desktop, window, &save, &ActLimits::default()).await.unwrap();
        assert_eq!(report.effect(), expected, "{}", report.summary());
        if title_after.is_some() {
            assert!(report.summary().contains("the title changed to “Page”"), "{}", report.summary());
        }
    }
}

#[tokio::test]
async fn a_chord_opens_a_dialog_and_escape_closes_it() {
    let desktop = office();
    let window = desktop.find_window("Writer").unwrap();
    let dialog = FakeWindow::dialog("Options");
    desktop.open(window, &dialog).unwrap();
    let escape = ["Escape".parse().unwrap()];
    let report = press_keys(&desktop, window, &escape, &ActLimits::default()).await.unwrap();
    assert_eq!(report.effect(), Verdict::Seen, "{}", report.summary());
    assert!(report.summary().contains("“Options” closed"), "{}", report.summary());
}
