//! Tests of the spreadsheet reader on a LibreOffice file and on small samples.

use super::*;

#[test]
fn reads_a_libreoffice_file() {
    let path = workspace_file("bench/fixtures/chart.ods");
    let spreadsheet = read(&path).unwrap();
    assert_eq!(spreadsheet.sheets.len(), 1);
    let sheet = &spreadsheet.sheets[0];
    assert_eq!(sheet.name, "Sheet1");
    assert_eq!(sheet.cells.len(), 15);
    assert_eq!(sheet.cells[&(0, 0)], Cell::Text("Region".to_owned()));
    assert_eq!(sheet.cells[&(0, 1)], Cell::Text("North-East".to_owned()));
    assert_eq!(sheet.cells[&(2, 4)], Cell::Number(5600.0));
    assert_eq!(spreadsheet.charts.len(), 1);
    let chart = &spreadsheet.charts[0];
    assert_eq!(chart.class, "chart:bar");
    assert!(chart.ranges.contains(&Range::parse("Sheet1.A2:Sheet1.A5").unwrap()), "{:?}", chart.ranges);
    assert!(chart.ranges.contains(&Range::parse("Sheet1.C2:Sheet1.C5").unwrap()), "{:?}", chart.ranges);
}

fn workspace_file(path: &str) -> std::path::PathBuf {
    crate::workspace::root().join(path)
}

#[test]
fn ranges_parse_in_every_notation() {
    let check = |address: &str, sheet: &str, first: Position, last: Position| {
        assert_eq!(
            Range::parse(address).unwrap(),
            Range { sheet: sheet.to_owned(), first, last },
            "{address}"
        );
    };
    check("Sheet1.A1:Sheet1.C5", "Sheet1", (0, 0), (2, 4));
    check("$Sheet1.$A$1:.$C$5", "Sheet1", (0, 0), (2, 4));
    check("A1:C5", "", (0, 0), (2, 4));
    check("C5:A1", "", (0, 0), (2, 4));
    check("Sheet1.B2", "Sheet1", (1, 1), (1, 1));
    check("$'Mary''s: 1.5'.AA10:.AB11", "Mary's: 1.5", (26, 9), (27, 10));
    for wrong in ["", "A", "1", "A0", "local-table", "Sheet1.A1:Sheet1.", "ABCD1"] {
        assert!(Range::parse(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn names_and_positions_are_inverse() {
    for name in ["A1", "Z9", "AA10", "AZ1", "BA2", "ZZ3", "AAA4", "XFD1048576"] {
        assert_eq!(name_of(Range::parse(name).unwrap().first), name);
    }
}

#[test]
fn a_range_lists_its_cells_row_by_row() {
    let cells: Vec<Position> = Range::parse("A1:B2").unwrap().positions().collect();
    assert_eq!(cells, [(0, 0), (1, 0), (0, 1), (1, 1)]);
}

fn cells_of(rows: &str) -> Vec<(String, Cell)> {
    let xml = format!("<office:body><table:table table:name=\"S\">{rows}</table:table></office:body>");
    let (sheets, _) = parse_content(&xml).unwrap();
    sheets[0].cells.iter().map(|(position, cell)| (name_of(*position), cell.clone())).collect()
}

#[test]
fn repeated_cells_shift_later_ones() {
    let rows = "<table:table-row table:number-rows-repeated=\"2\"><table:table-cell/></table:table-row>\
                <table:table-row><table:table-cell table:number-columns-repeated=\"3\"/>\
                <table:table-cell office:value-type=\"float\" office:value=\"1.5\" table:number-columns-repeated=\"2\">\
                <text:p>1.50</text:p></table:table-cell></table:table-row>\
                <table:table-row table:number-rows-repeated=\"1048573\">\
                <table:table-cell table:number-columns-repeated=\"16384\"/></table:table-row>";
    assert_eq!(cells_of(rows), [("D3".to_owned(), Cell::Number(1.5)), ("E3".to_owned(), Cell::Number(1.5))]);
}

#[test]
fn numbers_texts_and_dates_are_distinguished() {
    let rows = "<table:table-row><table:table-cell office:value-type=\"string\"><text:p>120</text:p></table:table-cell>\
                <table:table-cell office:value-type=\"date\" office:date-value=\"2026-01-02\"><text:p>01/02/26</text:p>\
                </table:table-cell></table:table-row>";
    let expected = [
        ("A1".to_owned(), Cell::Text("120".to_owned())),
        ("B1".to_owned(), Cell::Other("date `01/02/26`".to_owned())),
    ];
    assert_eq!(cells_of(rows), expected);
}

#[test]
fn comments_are_excluded_from_the_text() {
    let rows = "<table:table-row><table:table-cell office:value-type=\"string\"><office:annotation><text:p>note</text:p>\
                </office:annotation><text:p>a &amp; <text:span>b</text:span></text:p></table:table-cell></table:table-row>";
    assert_eq!(cells_of(rows), [("A1".to_owned(), Cell::Text("a & b".to_owned()))]);
}

#[test]
fn excessive_repeats_are_an_error() {
    let xml = "<table:table><table:table-row table:number-rows-repeated=\"1048576\">\
               <table:table-cell office:value-type=\"string\"><text:p>x</text:p></table:table-cell></table:table-row>\
               </table:table>";
    assert!(parse_content(xml).unwrap_err().to_string().contains("repeated too often"));
}

#[test]
fn other_objects_are_skipped() {
    assert_eq!(parse_chart("<math:math/>").unwrap(), None);
    let chart = parse_chart(
        "<chart:chart chart:class=\"chart:line\"><chart:plot-area><chart:series \
         chart:values-cell-range-address=\"S.B2:S.B3\" chart:label-cell-address=\"S.B1\"/></chart:plot-area></chart:chart>",
    );
    let ranges = vec![Range::parse("S.B2:S.B3").unwrap(), Range::parse("S.B1").unwrap()];
    assert_eq!(chart.unwrap(), Some(Chart { class: "chart:line".to_owned(), ranges }));
}
