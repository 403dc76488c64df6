//! Checks the saved spreadsheet against the expected content.

use std::{collections::BTreeSet, fs, path::Path};

use anyhow::{Context, Result};
use serde::Deserialize;
use serde_json::Value;

use crate::ods::{self, Cell, Chart, Position, Range, Sheet, Spreadsheet};

/// The expected result of the demo: `examples/sales/expected.json`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Expected {
    /// The sheet name.
    sheet: String,
    /// The range of the table.
    range: String,
    /// The table rows: texts and numbers.
    cells: Vec<Vec<Value>>,
    /// The class of the chart.
    chart: String,
}

impl Expected {
    pub(super) fn read(path: &Path) -> Result<Self> {
        let text = fs::read_to_string(path).with_context(|| format!("read {}", path.display()))?;
        serde_json::from_str(&text).with_context(|| format!("read {}", path.display()))
    }
}

/// The result of the checks.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Checks {
    /// The number of passed checks.
    pub(super) passed: usize,
    /// The failure messages.
    pub(super) failed: Vec<String>,
}

impl Checks {
    fn note(&mut self, passed: bool, failure: impl FnOnce() -> String) {
        if passed {
            self.passed += 1;
        } else {
            self.failed.push(failure());
        }
    }
}

/// Checks the file at `path`; an unreadable file is one failed check.
pub(super) fn check_file(expected: &Expected, path: &Path) -> Result<Checks> {
    match ods::read(path) {
        Ok(spreadsheet) => check(expected, &spreadsheet),
        Err(error) => Ok(Checks { passed: 0, failed: vec![format!("{error:#}")] }),
    }
}

fn check(expected: &Expected, spreadsheet: &Spreadsheet) -> Result<Checks> {
    let range = Range::parse(&expected.range)?;
    let mut checks = Checks::default();
    let sheet = spreadsheet.sheets.iter().find(|sheet| sheet.name == expected.sheet);
    checks.note(sheet.is_some(), || format!("sheet `{}` is missing", expected.sheet));
    if let Some(sheet) = sheet {
        check_cells(expected, &range, sheet, &mut checks);
    }
    let count = spreadsheet.charts.len();
    checks.note(count == 1, || format!("expected 1 chart, found {count}"));
    for chart in &spreadsheet.charts {
        check_chart(expected, &range, chart, &mut checks);
    }
    Ok(checks)
}

fn check_cells(expected: &Expected, range: &Range, sheet: &Sheet, checks: &mut Checks) {
    let values = expected.cells.iter().flatten().collect::<Vec<_>>();
    let positions: Vec<Position> = range.positions().collect();
    checks.note(values.len() == positions.len(), || {
        format!("{} expected values for the {} cells of {}", values.len(), positions.len(), expected.range)
    });
    for (position, value) in positions.iter().zip(values) {
        let found = sheet.cells.get(position);
        checks.note(found.is_some_and(|cell| matches(cell, value)), || {
            let found = found.map_or_else(|| "empty".to_owned(), describe);
            format!("{} is {found}, expected {value}", ods::name_of(*position))
        });
    }
    let others: Vec<String> = sheet
        .cells
        .keys()
        .filter(|position| !positions.contains(position))
        .map(|at| ods::name_of(*at))
        .collect();
    checks
        .note(others.is_empty(), || format!("unexpected cells outside of the table: {}", others.join(", ")));
}

fn matches(cell: &Cell, value: &Value) -> bool {
    match cell {
        Cell::Number(number) => value.as_f64() == Some(*number),
        Cell::Text(text) => value.as_str() == Some(text),
        Cell::Other(_) => false,
    }
}

fn describe(cell: &Cell) -> String {
    match cell {
        Cell::Number(number) => format!("the number {number}"),
        Cell::Text(text) => format!("the text {text:?}"),
        Cell::Other(what) => format!("the {what}"),
    }
}

/// Checks that the chart uses the whole table and nothing else, except the corner cell above the labels, which is
/// optional.
fn check_chart(expected: &Expected, range: &Range, chart: &Chart, checks: &mut Checks) {
    checks.note(chart.class == expected.chart, || {
        format!("the chart class is `{}`, expected `{}`", chart.class, expected.chart)
    });
    let elsewhere: Vec<&str> = chart
        .ranges
        .iter()
        .map(|range| range.sheet.as_str())
        .filter(|sheet| *sheet != expected.sheet)
        .collect();
    checks.note(elsewhere.is_empty(), || format!("the chart uses other sheets: {}", elsewhere.join(", ")));
    let table: BTreeSet<Position> = range.positions().collect();
    let drawn: BTreeSet<Position> = chart.ranges.iter().flat_map(within_limits).collect();
    let missing: Vec<String> = table
        .difference(&drawn)
        .filter(|position| **position != range.first)
        .map(|at| ods::name_of(*at))
        .collect();
    checks.note(missing.is_empty(), || format!("the chart omits {}", missing.join(", ")));
    let strange: Vec<String> = drawn.difference(&table).take(10).map(|at| ods::name_of(*at)).collect();
    checks.note(strange.is_empty(), || {
        format!("the chart uses cells outside of the table: {}", strange.join(", "))
    });
}

/// The first cells of a range, enough to see that it is too large.
fn within_limits(range: &Range) -> impl Iterator<Item = Position> + use<> {
    const CELLS_MAX: usize = 10_000;
    range.positions().take(CELLS_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace;

    fn expected() -> Expected {
        Expected::read(&workspace::root().join("examples/sales/expected.json")).unwrap()
    }

    fn good() -> Spreadsheet {
        ods::read(&workspace::root().join("bench/fixtures/chart.ods")).unwrap()
    }

    fn check_failures(change: impl FnOnce(&mut Spreadsheet), failures: &[&str]) {
        let mut spreadsheet = good();
        change(&mut spreadsheet);
        assert_eq!(check(&expected(), &spreadsheet).unwrap().failed, failures);
    }

    #[test]
    fn a_correct_file_passes_all_checks() {
        let checks = check(&expected(), &good()).unwrap();
        assert_eq!(checks, Checks { passed: 23, failed: Vec::new() });
    }

    #[test]
    fn the_example_document_contains_the_expected_table() {
        let document = ods::read(&workspace::root().join("examples/sales/sales.odt")).unwrap();
        let expected = Expected { sheet: "Sales".to_owned(), ..expected() };
        let checks = check(&expected, &document).unwrap();
        assert_eq!(checks, Checks { passed: 18, failed: vec!["expected 1 chart, found 0".to_owned()] });
    }

    #[test]
    fn reports_wrong_cells() {
        let check_cell = |at: Position, cell: Option<Cell>, failure: &str| {
            check_failures(
                |spreadsheet| {
                    let cells = &mut spreadsheet.sheets[0].cells;
                    match cell {
                        Some(cell) => cells.insert(at, cell),
                        None => cells.remove(&at),
                    };
                },
                &[failure],
            );
        };
        check_cell((1, 2), Some(Cell::Number(121.0)), "B3 is the number 121, expected 120");
        check_cell((1, 2), Some(Cell::Text("120".to_owned())), "B3 is the text \"120\", expected 120");
        check_cell(
            (0, 2),
            Some(Cell::Text("North-East".to_owned())),
            "A3 is the text \"North-East\", expected \"North\"",
        );
        check_cell((2, 4), Some(Cell::Other("date `x`".to_owned())), "C5 is the date `x`, expected 5600");
        check_cell((2, 4), None, "C5 is empty, expected 5600");
        check_cell((3, 0), Some(Cell::Number(1.0)), "unexpected cells outside of the table: D1");
    }

    #[test]
    fn reports_wrong_sheets_and_charts() {
        let chart_missing = "expected 1 chart, found 0";
        check_failures(|spreadsheet| spreadsheet.charts.clear(), &[chart_missing]);
        check_failures(
            |spreadsheet| spreadsheet.sheets[0].name = "Other".to_owned(),
            &["sheet `Sheet1` is missing"],
        );
        check_failures(
            |spreadsheet| spreadsheet.charts[0].class = "chart:line".to_owned(),
            &["the chart class is `chart:line`, expected `chart:bar`"],
        );
        check_failures(
            |spreadsheet| spreadsheet.charts[0].ranges = vec![Range::parse("Sheet1.A1:Sheet1.B5").unwrap()],
            &["the chart omits C1, C2, C3, C4, C5"],
        );
        check_failures(
            |spreadsheet| spreadsheet.charts[0].ranges.push(Range::parse("Sheet1.C6").unwrap()),
            &["the chart uses cells outside of the table: C6"],
        );
        check_failures(
            |spreadsheet| spreadsheet.charts[0].ranges.push(Range::parse("Sheet2.C5").unwrap()),
            &["the chart uses other sheets: Sheet2"],
        );
    }

    #[test]
    fn a_missing_file_is_a_failed_check() {
        let checks = check_file(&expected(), Path::new("no/such/file.ods")).unwrap();
        assert_eq!(checks.passed, 0);
        assert!(checks.failed[0].starts_with("open no/such/file.ods"), "{:?}", checks.failed);
    }
}
