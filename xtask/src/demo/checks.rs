//! Checks of the saved spreadsheet against what must be in it.

use std::{collections::BTreeSet, fs, path::Path};

use anyhow::{Context, Result};
use serde::Deserialize;
use serde_json::Value;

use crate::ods::{self, Cell, Chart, Position, Range, Sheet, Spreadsheet};

/// What the demo must produce: `examples/sales/expected.json`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Expected {
    /// The name of the sheet.
    sheet: String,
    /// The range that the table fills.
    range: String,
    /// The table, row by row: texts and numbers.
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

/// How the checks went.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Checks {
    /// How many passed.
    pub(super) passed: usize,
    /// What each failed one found.
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

/// Checks the file at `path`; a file that cannot be read is one failed check.
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
    checks.note(sheet.is_some(), || format!("there is no sheet `{}`", expected.sheet));
    if let Some(sheet) = sheet {
        check_cells(expected, &range, sheet, &mut checks);
    }
    let count = spreadsheet.charts.len();
    checks.note(count == 1, || format!("there are {count} charts, not one"));
    for chart in &spreadsheet.charts {
        check_chart(expected, &range, chart, &mut checks);
    }
    Ok(checks)
}

fn check_cells(expected: &Expected, range: &Range, sheet: &Sheet, checks: &mut Checks) {
    let values = expected.cells.iter().flatten().collect::<Vec<_>>();
    let positions: Vec<Position> = range.positions().collect();
    checks.note(values.len() == positions.len(), || {
        format!("{} values are expected in the {} cells of {}", values.len(), positions.len(), expected.range)
    });
    for (position, value) in positions.iter().zip(values) {
        let found = sheet.cells.get(position);
        checks.note(found.is_some_and(|cell| matches(cell, value)), || {
            let found = found.map_or_else(|| "nothing".to_owned(), describe);
            format!("{} holds {found}, not {value}", ods::name_of(*position))
        });
    }
    let others: Vec<String> = sheet
        .cells
        .keys()
        .filter(|position| !positions.contains(position))
        .map(|at| ods::name_of(*at))
        .collect();
    checks.note(others.is_empty(), || format!("cells beside the table are filled: {}", others.join(", ")));
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

/// The chart draws from the whole table and from nothing else. The cell in the corner heads the column of
/// labels; a chart may leave it out.
fn check_chart(expected: &Expected, range: &Range, chart: &Chart, checks: &mut Checks) {
    checks.note(chart.class == expected.chart, || {
        format!("the chart is a `{}`, not a `{}`", chart.class, expected.chart)
    });
    let elsewhere: Vec<&str> = chart
        .ranges
        .iter()
        .map(|range| range.sheet.as_str())
        .filter(|sheet| *sheet != expected.sheet)
        .collect();
    checks.note(elsewhere.is_empty(), || {
        format!("the chart draws from other sheets: {}", elsewhere.join(", "))
    });
    let table: BTreeSet<Position> = range.positions().collect();
    let drawn: BTreeSet<Position> = chart.ranges.iter().flat_map(within_limits).collect();
    let missing: Vec<String> = table
        .difference(&drawn)
        .filter(|position| **position != range.first)
        .map(|at| ods::name_of(*at))
        .collect();
    checks.note(missing.is_empty(), || format!("the chart leaves out {}", missing.join(", ")));
    let strange: Vec<String> = drawn.difference(&table).take(10).map(|at| ods::name_of(*at)).collect();
    checks.note(strange.is_empty(), || {
        format!("the chart draws from outside of the table: {}", strange.join(", "))
    });
}

/// The cells of a range, which may be as large as a whole sheet: enough of them to see that it is too large.
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
        ods::read(&workspace::root().join("xtask/src/fixtures/chart.ods")).unwrap()
    }

    fn check_failures(change: impl FnOnce(&mut Spreadsheet), failures: &[&str]) {
        let mut spreadsheet = good();
        change(&mut spreadsheet);
        assert_eq!(check(&expected(), &spreadsheet).unwrap().failed, failures);
    }

    #[test]
    fn a_good_file_passes_every_check() {
        let checks = check(&expected(), &good()).unwrap();
        assert_eq!(checks, Checks { passed: 23, failed: Vec::new() });
    }

    #[test]
    fn the_document_of_the_example_holds_the_expected_table() {
        let document = ods::read(&workspace::root().join("examples/sales/sales.odt")).unwrap();
        let expected = Expected { sheet: "Sales".to_owned(), ..expected() };
        let checks = check(&expected, &document).unwrap();
        assert_eq!(checks, Checks { passed: 18, failed: vec!["there are 0 charts, not one".to_owned()] });
    }

    #[test]
    fn wrong_cells_are_named() {
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
        check_cell((1, 2), Some(Cell::Number(121.0)), "B3 holds the number 121, not 120");
        check_cell((1, 2), Some(Cell::Text("120".to_owned())), "B3 holds the text \"120\", not 120");
        check_cell(
            (0, 2),
            Some(Cell::Text("North-East".to_owned())),
            "A3 holds the text \"North-East\", not \"North\"",
        );
        check_cell((2, 4), Some(Cell::Other("date `x`".to_owned())), "C5 holds the date `x`, not 5600");
        check_cell((2, 4), None, "C5 holds nothing, not 5600");
        check_cell((3, 0), Some(Cell::Number(1.0)), "cells beside the table are filled: D1");
    }

    #[test]
    fn wrong_sheets_and_charts_are_named() {
        let chart_missing = "there are 0 charts, not one";
        check_failures(|spreadsheet| spreadsheet.charts.clear(), &[chart_missing]);
        check_failures(
            |spreadsheet| spreadsheet.sheets[0].name = "Other".to_owned(),
            &["there is no sheet `Sheet1`"],
        );
        check_failures(
            |spreadsheet| spreadsheet.charts[0].class = "chart:line".to_owned(),
            &["the chart is a `chart:line`, not a `chart:bar`"],
        );
        check_failures(
            |spreadsheet| spreadsheet.charts[0].ranges = vec![Range::parse("Sheet1.A1:Sheet1.B5").unwrap()],
            &["the chart leaves out C1, C2, C3, C4, C5"],
        );
        check_failures(
            |spreadsheet| spreadsheet.charts[0].ranges.push(Range::parse("Sheet1.C6").unwrap()),
            &["the chart draws from outside of the table: C6"],
        );
        check_failures(
            |spreadsheet| spreadsheet.charts[0].ranges.push(Range::parse("Sheet2.C5").unwrap()),
            &["the chart draws from other sheets: Sheet2"],
        );
    }

    #[test]
    fn a_file_that_is_not_there_is_a_failed_check() {
        let checks = check_file(&expected(), Path::new("no/such/file.ods")).unwrap();
        assert_eq!(checks.passed, 0);
        assert!(checks.failed[0].starts_with("open no/such/file.ods"), "{:?}", checks.failed);
    }
}
