//! The whole flow on the office suite in memory: read a table, enter it into a spreadsheet, chart it, save it.

use deskhand_desktop::LaunchRequest;
use deskhand_desktop_act::{
    ActLimits, ActionReport, TableTarget, TypeTextOptions, find_element, launch, press_keys, read_table,
    select, select_cells, type_text, visit, write_table,
};
use deskhand_desktop_fake::{OFFICE_SALES, office};
use deskhand_ui::{ElementQuery, Role, action::Verdict};

fn seen(report: ActionReport) -> ActionReport {
    assert_eq!(report.effect(), Verdict::Seen, "{}", report.summary());
    report
}

#[tokio::test]
async fn a_table_becomes_a_saved_chart() {
    let (desktop, limits) = (office(), ActLimits::default());
    let writer = desktop.find_window("Writer").unwrap();
    let table = TableTarget::Named("Sales".into());
    let read = seen(read_table(&desktop, writer, &table, None).await.unwrap());
    let rows: Vec<Vec<String>> = serde_json::from_value(read.output["rows"].clone()).unwrap();
    let request = LaunchRequest { program: "LibreOffice Calc".into(), arguments: Vec::new() };
    let calc = seen(launch(&desktop, &request, &limits).await.unwrap()).window.unwrap().id;
    let (start, range) = ("A1".parse().unwrap(), "A1:C5".parse().unwrap());
    seen(write_table(&desktop, calc, &TableTarget::Largest, start, &rows, &limits).await.unwrap());
    seen(select_cells(&desktop, calc, &TableTarget::Largest, &range, &limits).await.unwrap());
    let path = ["Insert".to_owned(), "Chart…".to_owned()];
    let wizard = seen(visit(&desktop, calc, &path, &limits).await.unwrap()).window.unwrap();
    assert_eq!(wizard.title, "Chart Type");
    let wanted = ElementQuery { role: Some(Role::LIST), name: None };
    let (_, list) = find_element(&desktop, calc, &wanted).await.unwrap().unwrap();
    seen(select(&desktop, calc, list.id, "Bar", &limits).await.unwrap());
    seen(visit(&desktop, calc, &["Finish".to_owned()], &limits).await.unwrap());
    let chord = ["ctrl+shift+s".parse().unwrap()];
    let dialog = seen(press_keys(&desktop, calc, &chord, &limits).await.unwrap()).window.unwrap();
    assert_eq!(dialog.title, "Save As");
    let (_, entry) =
        find_element(&desktop, calc, &ElementQuery::new(Role::ENTRY, "Name:")).await.unwrap().unwrap();
    let text =
        TypeTextOptions { element: Some(entry.id), name: None, text: "/tmp/sales.ods".into(), clear: true };
    seen(type_text(&desktop, calc, &text, &limits).await.unwrap());
    let saved = seen(visit(&desktop, calc, &["Save".to_owned()], &limits).await.unwrap());
    assert!(saved.summary().contains("closed") || saved.summary().contains("title"), "{}", saved.summary());
    assert!(desktop.find_window("sales.ods — LibreOffice Calc").is_some());
    let lines = OFFICE_SALES.map(|row| row.join(",")).join("\n");
    assert_eq!(desktop.files(), [("/tmp/sales.ods".to_owned(), lines)]);
}
