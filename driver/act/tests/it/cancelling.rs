//! Actions that are cancelled: nothing is sent afterwards, and what was done is reported exactly.

use deskhand_ui::{
    CellRange, Role, State,
    action::{Evidence, Shortfall, Uncertainty, Verdict},
    ids::WindowId,
};

use super::click::desktop_of;
use deskhand_desktop::{CancelScope, Clipboard as _, ElementPatterns as _, InputInjection as _};
use deskhand_desktop_act::{
    ActLimits, ActionReport, ByHand, PermittedDesktop, TableTarget, TypeTextOptions, paste, press_keys,
    type_text, write_table,
};
use deskhand_desktop_fake::{FakeDesktop, FakeElement, FakeSheet, FakeWindow};

fn field(element: FakeElement) -> (FakeDesktop, WindowId) {
    desktop_of(FakeWindow::normal("Main").elements([element.key("target")]).focus("target"))
}

/// Runs an action that is cancelled after so many inputs.
async fn cancelled_after<F: Future<Output = ActionReport>>(
    desktop: &FakeDesktop,
    inputs: u64,
    action: F,
) -> ActionReport {
    let scope = CancelScope::default();
    let before = desktop.inputs();
    let cancels = scope.clone();
    desktop.after_inputs(inputs, move || cancels.cancel());
    let report = scope.run(action).await;
    assert!(scope.is_cancelled());
    assert_eq!(desktop.inputs(), before + inputs, "{}", report.summary());
    assert_ne!(report.effect(), Verdict::Seen, "{}", report.summary());
    report
}

async fn type_into(desktop: &FakeDesktop, window: WindowId, text: &str, clear: bool) -> ActionReport {
    let request = TypeTextOptions { element: None, name: None, text: text.to_owned(), clear };
    let desktop = PermittedDesktop::new(desktop, &ByHand, Some(window));
    type_text(&desktop, window, &request, &ActLimits::default()).await.unwrap()
}

async fn text_of(desktop: &FakeDesktop) -> String {
    desktop.text(desktop.find_key("target").unwrap(), 10_000).await.unwrap()
}

#[tokio::test]
async fn a_text_ends_at_each_character() {
    const TEXT: &str = "grüße € and more";
    let total = TEXT.chars().count();
    for done in 0..=total {
        let (desktop, window) = field(FakeElement::new(Role::ENTRY, "Name").text("old "));
        let inputs = u64::try_from(done).unwrap();
        let report = cancelled_after(&desktop, inputs, type_into(&desktop, window, TEXT, false)).await;
        let typed: String = TEXT.chars().take(done).collect();
        assert_eq!(text_of(&desktop).await, format!("old {typed}"), "{done}");
        if done == 0 {
            assert_eq!(report.effect(), Verdict::Refused);
            assert!(report.summary().contains("before anything was sent"), "{}", report.summary());
            continue;
        }
        let Evidence::NotSeen { shortfall: Shortfall::Cancelled { cancellation } } =
            &report.actions[0].evidence
        else {
            panic!("{report:?}");
        };
        let extent = cancellation.extent.unwrap();
        assert_eq!((extent.done, extent.total, extent.shown), (inputs, 16, true), "{report:?}");
        let words = format!("cancelled: typed {done} of 16 characters");
        assert!(report.summary().contains(&words), "{}", report.summary());
        // The desktop is as usable as before.
        let again = type_into(&desktop, window, "!", false).await;
        assert_eq!(again.effect(), Verdict::Seen, "{}", again.summary());
    }
}

#[tokio::test]
async fn what_the_application_shows_counts_and_not_what_was_sent() {
    let mut lossy = FakeElement::new(Role::ENTRY, "Name");
    lossy.swallows = 3;
    let (desktop, window) = field(lossy);
    let report = cancelled_after(&desktop, 3, type_into(&desktop, window, "abcdef", false)).await;
    assert_eq!(text_of(&desktop).await, "");
    assert!(report.summary().contains("typed 0 of 6 characters"), "{}", report.summary());
}

#[tokio::test]
async fn what_was_cleared_is_reported() {
    let (desktop, window) = field(FakeElement::new(Role::ENTRY, "Name").text("old"));
    let report = cancelled_after(&desktop, 2, type_into(&desktop, window, "new text", true)).await;
    assert_eq!(text_of(&desktop).await, "");
    let summary = report.summary();
    assert!(summary.contains("typed 0 of 8 characters") && summary.contains("besides 2 chords"), "{summary}");
}

#[tokio::test]
async fn a_password_tells_what_was_sent() {
    let (desktop, window) = field(FakeElement::new(Role::PASSWORD_TEXT, "Password"));
    let report = cancelled_after(&desktop, 4, type_into(&desktop, window, "secret", false)).await;
    assert!(matches!(
        &report.actions[0].evidence,
        Evidence::Unknown { uncertainty: Uncertainty::Cancelled { .. } }
    ));
    assert!(report.summary().contains("typed 4 of 6 characters"), "{}", report.summary());
    assert!(!report.summary().contains("secret"), "{}", report.summary());
}

/// The first piece that does not arrive ends a long text: nobody types on into the unknown.
#[tokio::test]
async fn a_long_text_stops_at_the_first_wrong_piece() {
    let text = "0123456789".repeat(60);
    let mut lossy = FakeElement::new(Role::ENTRY, "Name");
    lossy.swallows = 1;
    let (desktop, window) = field(lossy);
    let report = type_into(&desktop, window, &text, false).await;
    assert_eq!(report.effect(), Verdict::NotSeen);
    assert_eq!(desktop.inputs(), 200, "{}", report.summary());
    assert!(report.summary().contains("stopped after 200 of 600 characters"), "{}", report.summary());

    let (desktop, window) = field(FakeElement::new(Role::ENTRY, "Name"));
    let report = type_into(&desktop, window, &text, false).await;
    assert_eq!((report.effect(), text_of(&desktop).await), (Verdict::Seen, text));
}

#[tokio::test]
async fn a_sequence_of_keys_ends_between_two_chords() {
    let chords: Vec<_> = ["a", "b", "c", "d"].iter().map(|chord| chord.parse().unwrap()).collect();
    for done in 0..=3 {
        let (desktop, window) = field(FakeElement::new(Role::ENTRY, "Name"));
        let permitted = PermittedDesktop::new(&desktop, &ByHand, Some(window));
        let action = async { press_keys(&permitted, window, &chords, &ActLimits::default()).await.unwrap() };
        let report = cancelled_after(&desktop, done, action).await;
        assert_eq!(text_of(&desktop).await, "abcd"[..usize::try_from(done).unwrap()]);
        let words = if done == 0 {
            "before anything was sent".to_owned()
        } else {
            format!("pressed {done} of 4 chords")
        };
        assert!(report.summary().contains(&words), "{}", report.summary());
    }
}

#[tokio::test]
async fn cells_that_were_written_are_counted() {
    let rows: Vec<Vec<String>> =
        (1..=3).map(|row| (1..=2).map(|column| format!("{row}{column}")).collect()).collect();
    for inputs in 0..60 {
        let table = FakeElement::new(Role::TABLE, "Sheet1")
            .key("target")
            .state(State::Focusable)
            .at(10, 300, 720, 480)
            .sheet(FakeSheet::empty(1_048_576, 16_384));
        let (desktop, window) = field(table);
        let scope = CancelScope::default();
        let cancels = scope.clone();
        desktop.after_inputs(inputs, move || cancels.cancel());
        let permitted = PermittedDesktop::new(&desktop, &ByHand, Some(window));
        let start = "A1".parse().unwrap();
        let limits = ActLimits::default();
        let action = write_table(&permitted, window, &TableTarget::Largest, start, &rows, &limits);
        let report = scope.run(action).await.unwrap();
        if !scope.is_cancelled() {
            assert_eq!(report.effect(), Verdict::Seen, "{}", report.summary());
            return;
        }
        assert_ne!(report.effect(), Verdict::Seen, "{}", report.summary());
        let range: CellRange = "A1:B3".parse().unwrap();
        let cells = desktop.cells(desktop.find_key("target").unwrap(), range).await.unwrap().rows;
        let right = cells.iter().flatten().zip(rows.iter().flatten()).filter(|(is, meant)| is == meant);
        let words = match right.count() {
            _ if report.effect() == Verdict::Refused => "before anything was sent".to_owned(),
            // The cursor was on its way to the table.
            0 if report.effect() == Verdict::Unknown => "the effect was not waited for".to_owned(),
            right => format!("{right} of 6 cells read as written"),
        };
        assert!(report.summary().contains(&words), "{inputs}: {words}: {}", report.summary());
        assert!(desktop.inputs() <= inputs, "{inputs}: {}", desktop.inputs());
    }
    panic!("the table is not written after 60 inputs");
}

#[tokio::test]
async fn the_clipboard_is_restored_after_a_cancelled_paste() {
    let (desktop, window) = field(FakeElement::new(Role::ENTRY, "Name"));
    desktop.set_clipboard(Some("kept")).await.unwrap();
    let target = desktop.find_key("target").unwrap();
    let permitted = PermittedDesktop::new(&desktop, &ByHand, Some(window));
    let action =
        async { paste(&permitted, window, (target, None), "pasted", &ActLimits::default()).await.unwrap() };
    let report = cancelled_after(&desktop, 1, action).await;
    assert_eq!(desktop.clipboard().await.unwrap().as_deref(), Some("kept"), "{}", report.summary());
    assert!(report.summary().contains("cancelled after 1 chord"), "{}", report.summary());
}

#[tokio::test]
async fn nothing_is_sent_after_a_cancellation() {
    let (desktop, window) = field(FakeElement::new(Role::ENTRY, "Name"));
    let permitted = PermittedDesktop::new(&desktop, &ByHand, Some(window));
    let scope = CancelScope::default();
    scope.cancel();
    let press = "ctrl+a".parse().unwrap();
    scope
        .run(async {
            assert!(permitted.press(&press).await.is_err());
            assert!(permitted.type_text("a").await.is_err());
            assert!(permitted.set_clipboard(Some("a")).await.is_err());
        })
        .await;
    assert_eq!((desktop.inputs(), desktop.clipboard().await.unwrap()), (0, None));
}
