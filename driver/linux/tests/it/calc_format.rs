//! Formats and formulas of cells in a real spreadsheet, judged by the file that it saves.

use std::{fs, path::Path};

use deskhand_desktop::{Clipboard as _, LaunchRequest};
use deskhand_desktop_act as act;
use deskhand_desktop_act::{ActLimits, TableTarget};
use deskhand_desktop_linux::{LinuxDesktop, VirtualOptions};
use deskhand_ui::{ElementQuery, Role, action::Verdict, ids::WindowId};

use crate::programs::has_programs;

/// A flat document: A1 is bold, B1 is plain.
const SHEET: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<office:document xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0"
 xmlns:style="urn:oasis:names:tc:opendocument:xmlns:style:1.0"
 xmlns:fo="urn:oasis:names:tc:opendocument:xmlns:xsl-fo-compatible:1.0"
 xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0"
 xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0"
 office:version="1.3" office:mimetype="application/vnd.oasis.opendocument.spreadsheet">
<office:automatic-styles><style:style style:name="b" style:family="table-cell">
<style:text-properties fo:font-weight="bold"/></style:style></office:automatic-styles>
<office:body><office:spreadsheet><table:table table:name="Sheet1"><table:table-row>
<table:table-cell table:style-name="b" office:value-type="string"><text:p>strong</text:p></table:table-cell>
<table:table-cell office:value-type="string"><text:p>plain</text:p></table:table-cell>
</table:table-row></table:table></office:spreadsheet></office:body></office:document>
"#;

async fn select(desktop: &LinuxDesktop, calc: WindowId, cell: &str, limits: &ActLimits) {
    let range = cell.parse().unwrap();
    let report = act::select_cells(desktop, calc, &TableTarget::Largest, &range, limits).await.unwrap();
    assert_eq!(report.effect(), Verdict::Seen, "{}", report.summary());
}

fn attribute<'a>(tag: &'a str, name: &str) -> Option<&'a str> {
    let tag = tag.split('>').next()?;
    tag.split(&format!("{name}=\"")).nth(1)?.split('"').next()
}

/// The style of the cell with this text in the first row: its own, else the one that its column gives to all cells.
fn style_of<'a>(document: &'a str, text: &str) -> Option<&'a str> {
    let before = &document[..document.find(&format!("<text:p>{text}</text:p>"))?];
    let row = &before[before.rfind("<table:table-row")?..];
    let cells: Vec<&str> = row.split("<table:table-cell").skip(1).collect();
    if let Some(style) = attribute(cells.last()?, "table:style-name") {
        return Some(style);
    }
    let columns = before.split("<table:table-column").skip(1).flat_map(|column| {
        let times =
            attribute(column, "table:number-columns-repeated").map_or(1, |times| times.parse().unwrap());
        std::iter::repeat_n(attribute(column, "table:default-cell-style-name"), times)
    });
    columns.into_iter().nth(cells.len() - 1)?
}

fn is_bold(document: &str, text: &str) -> bool {
    let Some(style) = style_of(document, text) else { return false };
    let head = format!("style:name=\"{style}\" style:family=\"table-cell\"");
    let Some(at) = document.find(&head) else { return false };
    let rest = &document[at..];
    let end = rest.find("</style:style>").unwrap_or(rest.len());
    rest[..end].contains("fo:font-weight=\"bold\"")
}

async fn bold(desktop: &LinuxDesktop, calc: WindowId, on: bool, limits: &ActLimits) -> act::ActionReport {
    let wanted = ElementQuery::new(Role::TOGGLE_BUTTON, "Bold");
    let (_, button) = act::find_element(desktop, calc, &wanted).await.unwrap().unwrap();
    act::set_checked(desktop, calc, button.id, Some("Bold"), on, limits).await.unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_toggle_for_a_format_belongs_to_the_cell_selected_last() {
    if !has_programs(&["soffice"]) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let document = folder.path().join("formats.fods");
    fs::write(&document, SHEET).unwrap();
    assert!(is_bold(SHEET, "strong") && !is_bold(SHEET, "plain"));
    let desktop = LinuxDesktop::start_virtual(VirtualOptions::default()).await.unwrap();
    let limits = ActLimits::default();
    let profile = format!("-env:UserInstallation=file://{}/profile", folder.path().display());
    let arguments = vec![profile, document.display().to_string()];
    let request = LaunchRequest { program: "libreoffice-calc".to_owned(), arguments };
    let calc = act::launch(&desktop, &request, &limits).await.unwrap().window.unwrap().id;
    // Each cell is selected just before, so that the button still shows the other one.
    for (cell, on) in [("A1", true), ("B1", true), ("C1", false), ("A1", false), ("B1", true)] {
        select(&desktop, calc, cell, &limits).await;
        let report = bold(&desktop, calc, on, &limits).await;
        println!("{cell} {on}: {}", report.summary());
        assert_eq!(report.effect(), Verdict::Seen, "{cell}: {}", report.summary());
    }
    let before = fs::metadata(&document).unwrap().modified().unwrap();
    act::press_keys(&desktop, calc, &["ctrl+s".parse().unwrap()], &limits).await.unwrap();
    let saved = saved_after(&document, before);
    desktop.shut_down().await;
    assert!(!is_bold(&saved, "strong") && is_bold(&saved, "plain"), "{saved}");
}

/// The document, once it was written after `before` and is complete.
fn saved_after(document: &Path, before: std::time::SystemTime) -> String {
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(20);
    loop {
        let is_later = fs::metadata(document).is_ok_and(|now| now.modified().unwrap() > before);
        let text = fs::read_to_string(document).unwrap_or_default();
        if is_later && text.trim_end().ends_with("</office:document>") {
            return text;
        }
        assert!(std::time::Instant::now() < deadline, "the document was not saved");
        std::thread::yield_now();
    }
}

/// A formula is in its cell and has a result; a value that the application shows in a format of its own is what was meant.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn formulas_and_reformatted_values_are_seen_by_what_they_mean() {
    if !has_programs(&["soffice"]) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let document = folder.path().join("formulas.fods");
    fs::write(&document, SHEET).unwrap();
    let desktop = LinuxDesktop::start_virtual(VirtualOptions::default()).await.unwrap();
    let limits = ActLimits::default();
    let profile = format!("-env:UserInstallation=file://{}/profile", folder.path().display());
    let arguments = vec![profile, document.display().to_string()];
    let request = LaunchRequest { program: "libreoffice-calc".to_owned(), arguments };
    let calc = act::launch(&desktop, &request, &limits).await.unwrap().window.unwrap().id;
    let write = async |start: &str, column: &[&str]| {
        let rows: Vec<Vec<String>> = column.iter().map(|text| vec![(*text).to_owned()]).collect();
        let (table, start) = (TableTarget::Largest, start.parse().unwrap());
        let report = act::write_table(&desktop, calc, &table, start, &rows, &limits).await.unwrap();
        println!("{start} {column:?}: {} {}", report.effect(), report.summary());
        report
    };
    let report = write("D1", &["12", "30.5", "=sum(D1:D2)", "=IF(D1>5;\"a b\";2)"]).await;
    assert_eq!(report.effect(), Verdict::Seen, "{}", report.summary());
    assert!(report.summary().contains("D3 with \"=sum(D1:D2)\" shows \"42.5\""), "{}", report.summary());
    let report = write("E1", &["007", "2026-03-05", "50%", "TRUE"]).await;
    assert_eq!(report.effect(), Verdict::Seen, "{}", report.summary());
    // What is pasted at once, and what the clipboard held before.
    desktop.set_clipboard(Some("kept")).await.unwrap();
    let rows = [["Region", "Units", "Share"], ["North", "120", "-3.5"], ["Far  East", "95", "7%"]];
    let rows: Vec<Vec<String>> = rows.iter().map(|row| row.map(str::to_owned).to_vec()).collect();
    let table = TableTarget::Largest;
    let report =
        act::write_table(&desktop, calc, &table, "H2".parse().unwrap(), &rows, &limits).await.unwrap();
    assert_eq!(report.effect(), Verdict::Seen, "{}", report.summary());
    assert_eq!(desktop.clipboard().await.unwrap().as_deref(), Some("kept"));
    let report = write("F1", &["=FOO(1)", "=1/0"]).await;
    assert_eq!(report.effect(), Verdict::NotSeen, "{}", report.summary());
    assert!(
        report.summary().contains("F1 shows \"\"") && report.summary().contains("F2 shows \"\""),
        "{}",
        report.summary()
    );
    let before = fs::metadata(&document).unwrap().modified().unwrap();
    act::press_keys(&desktop, calc, &["ctrl+s".parse().unwrap()], &limits).await.unwrap();
    let saved = saved_after(&document, before);
    desktop.shut_down().await;
    for part in [
        "table:formula=\"of:=SUM([.D1:.D2])\" office:value-type=\"float\" office:value=\"42.5\"",
        "office:date-value=\"2026-03-05\"",
        "office:value-type=\"percentage\" office:value=\"0.5\"",
        "office:boolean-value=\"true\"",
        "office:string-value=\"a b\"",
        "<text:p>Region</text:p>",
        "office:value-type=\"float\" office:value=\"-3.5\"",
        "<text:p>Far <text:s/>East</text:p>",
        "office:value-type=\"percentage\" office:value=\"0.07\"",
    ] {
        assert!(saved.contains(part), "no {part} in {saved}");
    }
}
