//! LibreOffice by its own interface, on documents that are open on a real desktop. Judged by the files that it saves by keys.

use std::{
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

use deskhand_desktop::{LaunchRequest, Native as _, NativeAnswer, NativeCall, NativeEffect};
use deskhand_desktop_act as act;
use deskhand_desktop_act::{ActLimits, TableTarget};
use deskhand_desktop_linux::{LinuxDesktop, VirtualOptions};
use deskhand_ui::{
    action::{Condition, Verdict},
    ids::WindowId,
};
use serde_json::{Value, json};

use crate::programs::has_programs;

const HEAD: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<office:document xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0"
 xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0"
 xmlns:draw="urn:oasis:names:tc:opendocument:xmlns:drawing:1.0"
 xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0""#;

/// A sheet with one cell.
fn sheet(text: &str) -> String {
    format!(
        r#"{HEAD} office:version="1.3" office:mimetype="application/vnd.oasis.opendocument.spreadsheet">
<office:body><office:spreadsheet><table:table table:name="Sheet1"><table:table-row>
<table:table-cell office:value-type="string"><text:p>{text}</text:p></table:table-cell>
</table:table-row></table:table></office:spreadsheet></office:body></office:document>
"#
    )
}

fn text(paragraphs: &[&str]) -> String {
    let body: String = paragraphs.iter().map(|one| format!("<text:p>{one}</text:p>")).collect();
    format!(
        r#"{HEAD} office:version="1.3" office:mimetype="application/vnd.oasis.opendocument.text">
<office:body><office:text>{body}</office:text></office:body></office:document>
"#
    )
}

struct Office {
    desktop: LinuxDesktop,
    folder: tempfile::TempDir,
    limits: ActLimits,
}

impl Office {
    async fn start() -> Self {
        let desktop = LinuxDesktop::start_virtual(VirtualOptions::default()).await.unwrap();
        Self { desktop, folder: tempfile::tempdir().unwrap(), limits: ActLimits::default() }
    }

    async fn open(&self, name: &str, content: &str) -> (WindowId, PathBuf) {
        let document = self.folder.path().join(name);
        fs::write(&document, content).unwrap();
        let arguments = vec![document.display().to_string()];
        let request = LaunchRequest { program: "soffice".to_owned(), arguments };
        let opened = act::launch(&self.desktop, &request, &self.limits).await.unwrap();
        (opened.window.unwrap_or_else(|| panic!("{name} opened no window")).id, document)
    }

    async fn call(&self, window: WindowId, operation: &str, arguments: Value) -> NativeAnswer {
        let arguments = arguments.as_object().cloned().unwrap();
        let call = NativeCall { operation: operation.to_owned(), arguments };
        self.desktop.native(window, &call).await.unwrap()
    }

    /// A call that works: what it says, what it returns, and what was read back.
    async fn done(
        &self,
        window: WindowId,
        operation: &str,
        arguments: Value,
    ) -> (String, Value, Option<NativeEffect>) {
        match self.call(window, operation, arguments).await {
            NativeAnswer::Done { said, output, effect } => {
                assert!(effect.as_ref().is_none_or(|effect| effect.seen), "{operation}: {effect:?}");
                (said, output, effect)
            }
            other @ (NativeAnswer::Refused(_) | NativeAnswer::Failed(_)) => panic!("{operation}: {other:?}"),
        }
    }

    async fn refused(&self, window: WindowId, operation: &str, arguments: Value) -> String {
        match self.call(window, operation, arguments).await {
            NativeAnswer::Refused(reason) => reason,
            other @ (NativeAnswer::Done { .. } | NativeAnswer::Failed(_)) => panic!("{operation}: {other:?}"),
        }
    }

    async fn keys(&self, window: WindowId, chord: &str) {
        act::press_keys(&self.desktop, window, &[chord.parse().unwrap()], &self.limits).await.unwrap();
    }

    /// Saves by keys, and returns the file.
    async fn saved(&self, window: WindowId, document: &Path) -> String {
        let before = fs::metadata(document).unwrap().modified().unwrap();
        self.keys(window, "ctrl+s").await;
        let deadline = std::time::Instant::now() + Duration::from_secs(30);
        loop {
            let is_later = fs::metadata(document).is_ok_and(|now| now.modified().unwrap() > before);
            let text = fs::read_to_string(document).unwrap_or_default();
            if is_later && text.trim_end().ends_with("</office:document>") {
                return text;
            }
            assert!(std::time::Instant::now() < deadline, "{} was not saved", document.display());
            tokio::task::yield_now().await;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thousand_rows_with_formulas_are_one_call_and_one_step_of_undo() {
    if !has_programs(&["soffice"]) {
        return;
    }
    let office = Office::start().await;
    assert!(office.desktop.natives().documents);
    let (calc, document) = office.open("large.fods", &sheet("before")).await;
    let (other, second) = office.open("other.fods", &sheet("untouched")).await;
    let row = |row: usize| {
        let cell = |column: usize| match column {
            0 => json!(format!("item {row}")),
            19 => json!(format!("=SUM(B{0}:S{0})", row + 1)),
            column => json!(row * 100 + column),
        };
        (0..20).map(cell).collect::<Vec<Value>>()
    };
    let rows: Vec<Vec<Value>> = (0..1_000).map(row).collect();
    let (said, _, effect) = office.done(calc, "set_range_values", json!({"start": "A1", "rows": rows})).await;
    println!("{said} {effect:?}");
    let (_, sums, _) =
        office.done(calc, "get_range_values", json!({"range": "T1:T1000", "what": "values"})).await;
    let sum = |row: i64| (1..=18).map(|column| row * 100 + column).sum::<i64>();
    let expected: Vec<Value> = (0..1_000).map(|row| json!([sum(row)])).collect();
    assert_eq!(sums.as_array().or_else(|| sums["rows"].as_array()), Some(&expected));

    let saved = office.saved(calc, &document).await;
    assert!(saved.contains("of:=SUM([.B1000:.S1000])"), "the last formula is in the file");
    assert!(saved.contains("<text:p>item 999</text:p>") && !saved.contains("<text:p>before</text:p>"));
    assert_eq!(fs::read_to_string(&second).unwrap(), sheet("untouched"));

    // A person's own undo takes all of it back, in one step.
    office.keys(calc, "ctrl+z").await;
    let saved = office.saved(calc, &document).await;
    assert!(saved.contains("<text:p>before</text:p>") && !saved.contains("item 999"));

    // What is typed and what is called stand in one history.
    let typed = [vec!["typed".to_owned()]];
    act::write_table(
        &office.desktop,
        calc,
        &TableTarget::Largest,
        "B1".parse().unwrap(),
        &typed,
        &office.limits,
    )
    .await
    .unwrap();
    office.done(calc, "set_range_values", json!({"start": "C1", "rows": [["called"]]})).await;
    office.keys(calc, "ctrl+z").await;
    let saved = office.saved(calc, &document).await;
    assert!(saved.contains("typed") && !saved.contains("called"));
    office.keys(calc, "ctrl+z").await;
    assert!(!office.saved(calc, &document).await.contains("typed"));
    let (_, info, _) = office.done(other, "document_info", json!({})).await;
    assert!(info["path"].as_str().unwrap().ends_with("other.fods"), "{info}");
    office.desktop.shut_down().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sheets_are_sorted_charted_and_formatted() {
    if !has_programs(&["soffice"]) {
        return;
    }
    let office = Office::start().await;
    let (calc, document) = office.open("sales.fods", &sheet("Region")).await;
    let rows = json!([["Region", "Sales"], ["North", 12.5], ["South", 7], ["East", 31]]);
    office.done(calc, "set_range_values", json!({"rows": rows, "formats": ["@", "0.00"]})).await;
    office.done(calc, "sort", json!({"by": [{"column": "Sales", "descending": true}]})).await;
    office.done(calc, "create_chart", json!({"range": "A1:B4", "kind": "bar", "title": "By region"})).await;
    office.done(calc, "format_range", json!({"range": "A1:B1", "bold": true})).await;
    let (_, table, _) = office.done(calc, "table2markdown", json!({})).await;
    let table = table.as_str().unwrap();
    let at = |name: &str| table.find(name).unwrap_or_else(|| panic!("{name}: {table}"));
    assert!(at("East") < at("North") && at("North") < at("South"), "{table}");
    let saved = office.saved(calc, &document).await;
    assert!(saved.contains("chart:class=\"chart:bar\"") && saved.contains("By region"));
    assert!(saved.contains("fo:font-weight=\"bold\""));

    // What would read from elsewhere is refused, and nothing is written.
    let risky = json!({"rows": [["=WEBSERVICE(\"http://127.0.0.1:9/\")"]], "start": "D1"});
    let reason = office.refused(calc, "set_range_values", risky).await;
    assert!(reason.contains("WEBSERVICE"), "{reason}");
    let reason = office.refused(calc, "get_range_values", json!({"range": "nowhere"})).await;
    assert!(reason.ends_with("nothing was done"), "{reason}");
    let reason = office.refused(calc, "read_document", json!({})).await;
    println!("{reason}");
    office.desktop.shut_down().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_dialog_keeps_nobody_waiting_for_long() {
    if !has_programs(&["soffice"]) {
        return;
    }
    let office = Office::start().await;
    let (calc, document) = office.open("busy.fods", &sheet("before")).await;
    office.keys(calc, "ctrl+1").await;
    let title = Condition::TitleContains("Format Cells".into());
    act::wait_for(&office.desktop, calc, &title, Duration::from_secs(20)).await.unwrap();
    let answer = office.call(calc, "set_range_values", json!({"rows": [["late"]]})).await;
    println!("{answer:?}");
    office.keys(calc, "Escape").await;
    office.done(calc, "set_range_values", json!({"rows": [["after"]]})).await;
    assert!(office.saved(calc, &document).await.contains("after"));
    // A window that has closed is none.
    act::close(&office.desktop, calc, &office.limits).await.unwrap();
    let call = NativeCall { operation: "document_info".to_owned(), arguments: serde_json::Map::new() };
    let gone = office.desktop.native(calc, &call).await.unwrap_err();
    assert!(gone.to_string().contains("no longer exists"), "{gone}");
    office.desktop.shut_down().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn texts_are_written_styled_and_searched() {
    if !has_programs(&["soffice"]) {
        return;
    }
    let office = Office::start().await;
    let (writer, document) = office.open("letter.fodt", &text(&["Dear Ada", "See you in Bergen."])).await;
    office.done(writer, "insert_text", json!({"text": "Plan", "at": "start", "style": "Heading 1"})).await;
    office.done(writer, "find_replace", json!({"find": "Bergen", "replace": "Oslo"})).await;
    office
        .done(writer, "insert_table", json!({"data": [["Day", "Place"], ["Mon", "Oslo"]], "at": "end"}))
        .await;
    let (_, read, _) = office.done(writer, "read_document", json!({})).await;
    let read = read.as_str().map_or_else(|| read.to_string(), str::to_owned);
    assert!(read.contains("# Plan") && read.contains("See you in Oslo"), "{read}");
    let saved = office.saved(writer, &document).await;
    assert!(
        saved.contains("See you in Oslo.")
            && saved.contains("Mon")
            && saved.contains("text:outline-level=\"1\"")
    );
    office.keys(writer, "ctrl+z").await;
    assert!(!office.saved(writer, &document).await.contains("Mon"));
    office.desktop.shut_down().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn actions_on_elements_know_what_the_application_says_of_its_document() {
    if !has_programs(&["soffice"]) {
        return;
    }
    let office = Office::start().await;
    let (calc, document) = office.open("told.fods", &sheet("before")).await;
    let Office { desktop, limits, .. } = &office;
    // A call, its undo, and then keys into the same cell: what was read in between is not taken for what is there.
    office.done(calc, "set_range_values", json!({"start": "A1", "rows": [["called"]]})).await;
    office.done(calc, "undo", json!({})).await;
    let rows = [vec!["typed".to_owned(), "0.5".to_owned()]];
    let start = "A1".parse().unwrap();
    let written = act::write_table(desktop, calc, &TableTarget::Largest, start, &rows, limits).await.unwrap();
    assert_eq!(written.effect(), Verdict::Seen, "{}", written.summary());

    // The used cells of a large sheet, formulas and formats.
    office.done(calc, "set_range_values", json!({"start": "C120", "rows": [["=B1*2"]]})).await;
    office.done(calc, "format_range", json!({"range": "B1", "number_format": "0.00%"})).await;
    let read = act::read_table(desktop, calc, &TableTarget::Largest, None).await.unwrap();
    assert_eq!(read.output["used"], "A1:C120", "{}", read.output);
    assert_eq!(read.output["range"], "A1:C120");
    assert_eq!(read.output["formulas"], json!({"C120": "=B1*2"}));
    assert_eq!(read.output["formats"]["B1"], "0.00%", "{}", read.output["formats"]);

    // Whether there is something to save, which its title does not tell.
    let saved = act::save(desktop, calc, None, limits).await.unwrap();
    assert_eq!(saved.effect(), Verdict::Seen, "{}", saved.summary());
    assert!(saved.summary().contains("is saved"), "{}", saved.summary());
    assert!(fs::read_to_string(&document).unwrap().contains("typed"));
    let again = act::save(desktop, calc, None, limits).await.unwrap();
    assert_eq!(again.effect(), Verdict::Seen, "{}", again.summary());
    office.desktop.shut_down().await;
}
