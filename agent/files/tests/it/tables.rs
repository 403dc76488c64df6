//! Workbooks and delimited files: the same cells out of each, and parts of them.

use deskhand_files::{
    ContentForm, ReadContinuation, ReadOptions, SheetCellRange, SheetCellValue, SheetData, SheetRow,
    column_letters,
};

use crate::support::{file, fixture, message, tables_of, text_of};

fn text(text: &str) -> SheetCellValue {
    SheetCellValue::Text(text.to_owned())
}

fn orders() -> SheetData {
    let time = |text: &str| SheetCellValue::Time(text.to_owned());
    let row = |number: u32, cells: Vec<SheetCellValue>| SheetRow { number, cells };
    let rows = vec![
        row(1, ["Article", "Count", "Price", "Due"].map(text).to_vec()),
        row(
            2,
            vec![
                text("Rope | hemp"),
                SheetCellValue::Number(12.0),
                SheetCellValue::Number(3.5),
                time("2026-03-31"),
            ],
        ),
        row(
            3,
            vec![text("Öl"), SheetCellValue::Number(4.0), SheetCellValue::Number(20.25), time("2026-04-01")],
        ),
        row(7, vec![text("Sum"), SheetCellValue::Number(16.0), SheetCellValue::Error("#DIV/0!".to_owned())]),
    ];
    SheetData {
        name: "Orders".to_owned(),
        rows_total: 7,
        columns_total: 4,
        first_column: 1,
        rows,
        left_out: None,
    }
}

#[test]
fn the_same_cells_come_out_of_all_workbooks() {
    for name in ["workbook.xlsx", "workbook.xls", "workbook.ods"] {
        let tables = tables_of(&fixture(name), &ReadOptions::default()).unwrap();
        assert_eq!(tables.names, ["Orders", "Notes"], "{name}");
        assert_eq!(tables.sheets[0], orders(), "{name}");
        assert_eq!(tables.sheets[1].rows[0].cells[0], text("first line\nsecond line"), "{name}");
    }
}

#[test]
fn cells_can_be_addressed_in_markdown_and_json() {
    let tables = tables_of(&fixture("workbook.xlsx"), &ReadOptions::default()).unwrap();
    let markdown = tables.to_markdown(20_000);
    let expected = "## Orders (used cells: A1:D7)\n\n| | A | B | C | D |\n|---|---|---|---|---|\n\
        | 1 | Article | Count | Price | Due |\n| 2 | Rope \\| hemp | 12 | 3.5 | 2026-03-31 |\n\
        | 3 | Öl | 4 | 20.25 | 2026-04-01 |\n| 7 | Sum | 16 | #DIV/0! |  |\n\n## Notes (used cells: A1:B1)\n";
    assert!(markdown.starts_with(expected), "{markdown}");
    let json = tables.to_json();
    assert_eq!(json["sheets"][0]["rows"][1]["B"], 12);
    assert_eq!(json["sheets"][0]["rows"][3]["row"], 7);
    // What does not fit is named.
    let short = tables.to_markdown(60);
    assert!(short.contains("[left out: rows 2 to 7; read on with sheet \"Orders\", cells A2:D7]"), "{short}");
    assert!(short.contains("sheet \"Notes\""), "{short}");
    let options = ReadOptions { what: ContentForm::Text, ..ReadOptions::default() };
    assert_eq!(text_of(&fixture("workbook.xlsx"), &options).unwrap().text, markdown);
}

#[test]
fn a_sheet_and_a_range_are_chosen() {
    for name in ["workbook.xlsx", "workbook.xls", "workbook.ods"] {
        let options = ReadOptions {
            sheet: Some("Orders".to_owned()),
            cells: Some("B2:C3".parse().unwrap()),
            ..ReadOptions::default()
        };
        let tables = tables_of(&fixture(name), &options).unwrap();
        let rows = vec![
            SheetRow { number: 2, cells: vec![SheetCellValue::Number(12.0), SheetCellValue::Number(3.5)] },
            SheetRow { number: 3, cells: vec![SheetCellValue::Number(4.0), SheetCellValue::Number(20.25)] },
        ];
        assert_eq!(tables.sheets, [SheetData { first_column: 2, rows, ..orders() }], "{name}");
        let options = ReadOptions { sheet: Some("Odrers".to_owned()), ..ReadOptions::default() };
        let error = message(tables_of(&fixture(name), &options));
        assert!(error.starts_with("find sheet \"Odrers\""), "{error}");
        assert!(error.ends_with("its sheets are \"Orders\", \"Notes\""), "{error}");
    }
}

#[test]
fn rows_that_are_left_out_can_be_read() {
    let content: String = (1..=1_000).map(|number| format!("{number},x{number}\n")).collect();
    let (_folder, path) = file("a.csv", content);
    let mut options = ReadOptions { rows_max: 300, ..ReadOptions::default() };
    let mut numbers = Vec::new();
    for _ in 0..10 {
        let tables = tables_of(&path, &options).unwrap();
        assert_eq!(tables.sheets[0].rows_total, 1_000);
        numbers.extend(tables.sheets[0].rows.iter().map(|row| row.number));
        let Some(left_out) = &tables.sheets[0].left_out else { break };
        let Some(ReadContinuation::Row { cells, .. }) = &left_out.next else { panic!("{left_out}") };
        options.cells = Some(cells.parse().unwrap());
    }
    // A range that was asked for is complete; the reader asks for the next one.
    assert_eq!(numbers, (1..=600).collect::<Vec<u32>>());
    let options = ReadOptions { characters_max: 100, ..ReadOptions::default() };
    let tables = tables_of(&path, &options).unwrap();
    assert!(tables.sheets[0].rows.len() < 30, "{tables:?}");
    assert!(tables.sheets[0].left_out.is_some());
}

#[test]
fn delimiters_are_detected() {
    let check = |content: &[u8], note: &str, expected: &[&[&str]]| {
        let (_folder, path) = file("a.csv", content);
        let tables = tables_of(&path, &ReadOptions::default()).unwrap();
        let cells = |row: &SheetRow| row.cells.iter().map(SheetCellValue::to_string).collect::<Vec<_>>();
        let rows: Vec<Vec<String>> = tables.sheets[0].rows.iter().map(cells).collect();
        assert_eq!(rows, expected, "{content:?}");
        assert_eq!(tables.notes, [note], "{content:?}");
    };
    check(b"a,b\n1,2\n", "delimiter ',', encoding UTF-8", &[&["a", "b"], &["1", "2"]]);
    check(b"a;b\n1,5;\"x;y\"\n", "delimiter ';', encoding UTF-8", &[&["a", "b"], &["1,5", "x;y"]]);
    check(b"a\tb\n1, 2\t\"3\n4\"\n", "delimiter tab, encoding UTF-8", &[&["a", "b"], &["1, 2", "3\n4"]]);
    check(b"G\xf6,\xfc\n1\n", "delimiter ',', encoding windows-1252", &[&["Gö", "ü"], &["1"]]);
    check(b"", "delimiter ',', encoding UTF-8", &[]);
}

#[test]
fn ranges_are_understood() {
    let check = |text: &str, expected: &str| {
        let range: SheetCellRange = text.parse().unwrap();
        assert_eq!(range.to_string(), expected);
    };
    check("b2", "B2:B2");
    check("$D$9:B2", "B2:D9");
    check("2:9", "A2:XFD9");
    check("B:D", "B1:D4000000000");
    for text in ["", ":", "B0", "XFE1", "1A", "A1:B", "A1:B2:C3", "Ä1", "A99999999999"] {
        let error = message(text.parse::<SheetCellRange>());
        assert!(error.contains("not a range of cells such as B2:D9"), "{error}");
    }
    assert_eq!([1, 26, 27, 702, 703, 16_384].map(column_letters), ["A", "Z", "AA", "ZZ", "AAA", "XFD"]);
}

#[test]
fn tables_of_documents_are_read_as_tables() {
    let options = ReadOptions { what: ContentForm::Table, ..ReadOptions::default() };
    for name in ["document.docx", "document.odt"] {
        let tables = tables_of(&fixture(name), &options).unwrap();
        assert_eq!(tables.names, ["table 1"]);
        let last = SheetRow { number: 3, cells: vec![text("Borealis"), text("95")] };
        assert_eq!(tables.sheets[0].rows.last(), Some(&last), "{name}");
    }
    assert!(message(tables_of(&fixture("document.pdf"), &options)).contains("read it as text"));
}
