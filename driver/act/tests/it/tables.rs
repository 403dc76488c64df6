//! Reading, writing and selecting cells.

use std::collections::BTreeSet;

use deskhand_ui::{
    CellRange, CellRef, Role, State,
    action::{ActionRoute, Verdict},
    ids::WindowId,
};

use super::click::desktop_of;
use deskhand_desktop::ElementPatterns;
use deskhand_desktop_act::{
    ActLimits, ActionReport, TableTarget, cells_equal, read_table, select_cells, write_table,
};
use deskhand_desktop_fake::{
    Behaviour, FakeDesktop, FakeElement, FakeSheet, FakeWindow, OFFICE_SALES, office,
};

fn rows(rows: &[&[&str]]) -> Vec<Vec<String>> {
    rows.iter().map(|row| row.iter().map(|&text| text.to_owned()).collect()).collect()
}

fn cell(text: &str) -> CellRef {
    text.parse().unwrap()
}

fn range(text: &str) -> CellRange {
    text.parse().unwrap()
}

fn spreadsheet(change: impl FnOnce(&mut FakeSheet), has_name_box: bool) -> (FakeDesktop, WindowId) {
    let mut sheet = FakeSheet::empty(1_048_576, 16_384);
    change(&mut sheet);
    let table = FakeElement::new(Role::TABLE, "Sheet1")
        .key("sheet")
        .state(State::Focusable)
        .at(10, 300, 720, 480)
        .sheet(sheet);
    let mut window = FakeWindow::normal("Main").elements([table]).focus("sheet");
    if has_name_box {
        let name_box = FakeElement::new(Role::ENTRY, "Name Box").key("name box").text("A1");
        window = window.elements([name_box.on_enter(Behaviour::GoToCell { sheet: "sheet".into() })]);
    }
    desktop_of(window)
}

async fn write(desktop: &FakeDesktop, window: WindowId, start: &str, text: &[&[&str]]) -> ActionReport {
    let target = TableTarget::Largest;
    write_table(desktop, window, &target, cell(start), &rows(text), &ActLimits::default()).await.unwrap()
}

async fn shown(desktop: &FakeDesktop, wanted: &str) -> Vec<Vec<String>> {
    desktop.cells(desktop.find_key("sheet").unwrap(), range(wanted)).await.unwrap().rows
}

#[tokio::test]
async fn a_table_is_read_by_name() {
    let desktop = office();
    let window = desktop.find_window("Writer").unwrap();
    let read = async |name: &str, part: Option<&str>| {
        let target = TableTarget::Named(name.to_owned());
        read_table(&desktop, window, &target, part.map(range)).await.unwrap()
    };
    let report = read("sales", None).await;
    assert_eq!(
        (report.effect(), report.route()),
        (Verdict::Seen, Some(ActionRoute::Semantic)),
        "{}",
        report.summary()
    );
    assert_eq!(report.output["rows"], serde_json::json!(OFFICE_SALES));
    assert_eq!(report.output["range"], "A1:C5");
    let report = read("Sales", Some("B2:C2")).await;
    assert_eq!(report.output["rows"], serde_json::json!([["1200", "1350"]]));
    let report = read("Sales", Some("A1:D9")).await;
    assert_eq!(report.effect(), Verdict::Refused, "{}", report.summary());
    let report = read("Costs", None).await;
    assert_eq!(report.effect(), Verdict::Refused);
    assert!(report.summary().contains("tables: Sales-1"), "{}", report.summary());
}

#[tokio::test]
async fn a_huge_sheet_is_read_without_being_walked() {
    let (desktop, window) = spreadsheet(
        |sheet| {
            sheet.cells.insert(cell("B3"), "x".into());
        },
        true,
    );
    let report = read_table(&desktop, window, &TableTarget::Largest, None).await.unwrap();
    assert_eq!(report.output["range"], "A1:B3", "{}", report.summary());
    assert_eq!(report.output["rows"], serde_json::json!([["", ""], ["", ""], ["", "x"]]));
}

#[tokio::test]
async fn written_cells_are_all_read_back() {
    let text: Vec<&[&str]> = OFFICE_SALES.iter().map(|row| &row[..]).collect();
    for (name, takes_focus, has_name_box) in [("focus", true, false), ("name box", false, true)] {
        let (desktop, window) = spreadsheet(|sheet| sheet.cells_take_focus = takes_focus, has_name_box);
        let report = write(&desktop, window, "A1", &text).await;
        assert_eq!(report.effect(), Verdict::Seen, "{name}: {}", report.summary());
        assert!(report.summary().contains("15 of 15 cells"), "{}", report.summary());
        assert_eq!(shown(&desktop, "A1:C5").await, rows(&text), "{name}");
        assert_eq!(shown(&desktop, "A6:D6").await, rows(&[&["", "", "", ""]]), "{name}");
    }
}

#[tokio::test]
async fn completion_and_number_formats_do_not_deceive() {
    let text: &[&[&str]] = &[&["North-East", "1200"], &["North", "1000000"], &["nor", "12"]];
    let (desktop, window) = spreadsheet(|sheet| sheet.thousands = true, true);
    let report = write(&desktop, window, "B2", text).await;
    assert_eq!(report.effect(), Verdict::Seen, "{}", report.summary());
    let expected = rows(&[&["North-East", "1,200"], &["North", "1,000,000"], &["nor", "12"]]);
    assert_eq!(shown(&desktop, "B2:C4").await, expected);
}

#[tokio::test]
async fn cells_that_take_no_text_are_named() {
    let locked: BTreeSet<CellRef> = [cell("B2")].into();
    let (desktop, window) = spreadsheet(|sheet| sheet.locked = locked, true);
    let report = write(&desktop, window, "A1", &[&["a", "b"], &["c", "d"]]).await;
    assert_eq!(report.effect(), Verdict::NotSeen);
    assert!(report.summary().contains("3 of 4 cells"), "{}", report.summary());
    let mismatches = serde_json::json!([{ "cell": "B2", "wanted": "d", "found": "" }]);
    assert_eq!(report.output["mismatches"], mismatches);
}

#[tokio::test]
async fn nothing_is_typed_where_the_cursor_does_not_go() {
    let (desktop, window) = spreadsheet(|sheet| sheet.cells_take_focus = false, false);
    let report = write(&desktop, window, "C3", &[&["a"]]).await;
    assert_eq!(report.effect(), Verdict::Refused, "{}", report.summary());
    assert_eq!(desktop.truth(), []);
    let report = write(&desktop, window, "A1", &[&["a", "b"], &["c"]]).await;
    assert_eq!(report.effect(), Verdict::Refused, "{}", report.summary());
    desktop.open(window, &FakeWindow::dialog("Recover?")).unwrap();
    let report = write(&desktop, window, "A1", &[&["a"]]).await;
    assert!(report.summary().contains("Recover?"), "{}", report.summary());
    assert_eq!(desktop.truth(), []);
}

#[tokio::test]
async fn empty_texts_clear_their_cells() {
    let (desktop, window) = spreadsheet(
        |sheet| {
            sheet.cells.insert(cell("A1"), "old".into());
            sheet.cells.insert(cell("A2"), "kept".into());
        },
        true,
    );
    let report = write(&desktop, window, "A1", &[&[""]]).await;
    assert_eq!(report.effect(), Verdict::Seen, "{}", report.summary());
    assert_eq!(shown(&desktop, "A1:A2").await, rows(&[&[""], &["kept"]]));
}

#[tokio::test]
async fn a_range_is_selected() {
    let cases = [
        ("A1:C5", false, Verdict::Seen),
        ("B2:C500", true, Verdict::Seen),
        ("B2:C500", false, Verdict::NotSeen),
    ];
    for (wanted, has_name_box, effect) in cases {
        let (desktop, window) = spreadsheet(|_| {}, has_name_box);
        let target = TableTarget::Largest;
        let report = select_cells(&desktop, window, &target, &range(wanted).into(), &ActLimits::default())
            .await
            .unwrap();
        assert_eq!(report.effect(), effect, "{wanted}: {}", report.summary());
        let report =
            select_cells(&desktop, window, &target, &range("A1:A9999999").into(), &ActLimits::default())
                .await
                .unwrap();
        assert_eq!(report.effect(), Verdict::Refused, "{}", report.summary());
    }
}

#[tokio::test]
async fn several_ranges_are_refused_or_missed_where_they_cannot_be_selected() {
    let (desktop, window) = spreadsheet(|_| {}, /*has_name_box*/ true);
    let select = async |ranges: &str| {
        let (target, ranges) = (TableTarget::Largest, ranges.parse().unwrap());
        select_cells(&desktop, window, &target, &ranges, &ActLimits::default()).await.unwrap()
    };
    let report = select("A1:A2,C1").await;
    assert_eq!(report.effect(), Verdict::NotSeen, "{}", report.summary());
    assert!(report.summary().contains("one range after the other"), "{}", report.summary());
    let report = select("A1,C1:C9999999").await;
    assert_eq!(report.effect(), Verdict::Refused, "{}", report.summary());
    let many: Vec<String> = (1..=21).map(|row| format!("A{row}")).collect();
    let report = select(&many.join(",")).await;
    assert!(report.summary().contains("1 to 20 ranges"), "{}", report.summary());
}

#[test]
fn cells_are_compared_by_value() {
    let check = |meant: &str, found: &str, expected: bool| {
        assert_eq!(cells_equal(meant, found), expected, "{meant:?} and {found:?}");
    };
    check("1200", "1,200", true);
    check("1200", "1 200", true);
    check("1200.50", "1,200.5", true);
    check("-5", "-5.00", true);
    check("0.12", "12%", true);
    check("1200", "1201", false);
    check("1200", "12,00", false);
    check("1200", "", false);
    check("", "", true);
    check("North", "North ", true);
    check("North", "north", false);
    check("1e400", "1e401", false);
    check("North", "North-East", false);
    check("nan", "NaN", false);
}
