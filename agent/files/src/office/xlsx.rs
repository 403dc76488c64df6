//! Excel workbooks (Office Open XML), cell by cell.

use std::io::{Read, Seek};

use calamine::{CellErrorType, DataRef, ExcelDateTime, Reader as _, SheetType, Xlsx, XlsxError};

use super::{
    package::Package,
    xml::{XmlDescent, XmlNode, nodes},
};
use crate::{
    error::FileParseError,
    format::Format,
    options::ReadOptions,
    tables::{CellBudget, Collector, SheetCellValue, Tables, check_found, sheet_left_out},
};

/// The fewest bytes that a shared text takes in the file.
const SHARED_TEXT_MIN: usize = 5;
/// The most cells of all sheets that are gone through.
const CELLS_MAX: usize = 20_000_000;

/// Sheets of a workbook.
pub(crate) fn tables(mut package: Package, options: &ReadOptions) -> Result<Tables, FileParseError> {
    package.check_expanded()?;
    check_shared_texts(&mut package)?;
    let mut workbook = Xlsx::new(package.into_file()).map_err(fault)?;
    let sheets = workbook.sheets_metadata().iter();
    let names: Vec<String> =
        sheets.filter(|sheet| sheet.typ == SheetType::WorkSheet).map(|sheet| sheet.name.clone()).collect();
    let mut budget = CellBudget::new(options);
    let mut found = Vec::new();
    let mut left_out = None;
    let mut cells_left = CELLS_MAX;
    for name in &names {
        if options.sheet.as_ref().is_some_and(|wanted| wanted != name) {
            continue;
        }
        if budget.is_spent() {
            left_out = Some(sheet_left_out(name));
            break;
        }
        let mut collector = Collector::new(name, options);
        read_sheet(&mut workbook, name, &mut collector, &mut budget, &mut cells_left)?;
        found.push(collector.finish());
    }
    check_found(&found, &names, options)?;
    Ok(Tables { format: Format::Xlsx, names, sheets: found, left_out, notes: Vec::new() })
}

fn read_sheet<R: Read + Seek>(
    workbook: &mut Xlsx<R>,
    name: &str,
    collector: &mut Collector,
    budget: &mut CellBudget,
    cells_left: &mut usize,
) -> Result<(), FileParseError> {
    let mut cells = workbook.worksheet_cells_reader(name).map_err(fault)?;
    while let Some(cell) = cells.next_cell().map_err(fault)? {
        let (row, column) = cell.get_position();
        if *cells_left == 0 {
            collector.stop(&format!("everything after the first {CELLS_MAX} cells"));
            return Ok(());
        }
        *cells_left -= 1;
        let value = cell.get_value();
        if !is_empty(value) {
            collector.put(row.saturating_add(1), column.saturating_add(1), budget, || of_value(value));
        }
    }
    Ok(())
}

/// The parser reserves room for as many shared texts as the file says.
fn check_shared_texts(package: &mut Package) -> Result<(), FileParseError> {
    for part in package.names_with("sharedstrings.xml") {
        let xml = package.text(&part)?;
        nodes(&part, &xml, |node| {
            if let XmlNode::Open(element) = node
                && let Some(count) = element.number("uniqueCount")
                && count > xml.len() / SHARED_TEXT_MIN
            {
                return Err(FileParseError::damaged(format!("{part} claims {count} texts")));
            }
            Ok(XmlDescent::Skip)
        })?;
    }
    Ok(())
}

fn is_empty(value: &DataRef<'_>) -> bool {
    match value {
        DataRef::Empty => true,
        DataRef::String(text) => text.is_empty(),
        DataRef::SharedString(text) => text.is_empty(),
        DataRef::Int(_)
        | DataRef::Float(_)
        | DataRef::Bool(_)
        | DataRef::DateTime(_)
        | DataRef::DateTimeIso(_)
        | DataRef::DurationIso(_)
        | DataRef::Error(_) => false,
    }
}

fn of_value(value: &DataRef<'_>) -> SheetCellValue {
    match value {
        DataRef::Int(number) => {
            number.to_string().parse().map_or(SheetCellValue::Empty, SheetCellValue::Number)
        }
        DataRef::Float(number) => SheetCellValue::Number(*number),
        DataRef::String(text) => SheetCellValue::Text(text.clone()),
        DataRef::SharedString(text) => SheetCellValue::Text((*text).to_owned()),
        DataRef::Bool(value) => SheetCellValue::Boolean(*value),
        DataRef::DateTime(time) => of_time(time),
        DataRef::DateTimeIso(text) | DataRef::DurationIso(text) => SheetCellValue::Time(text.clone()),
        DataRef::Error(error) => of_error(error),
        DataRef::Empty => SheetCellValue::Empty,
    }
}

pub(super) fn of_error(error: &CellErrorType) -> SheetCellValue {
    SheetCellValue::Error(error.to_string())
}

/// A serial number as a date, a time, both or a duration.
pub(super) fn of_time(time: &ExcelDateTime) -> SheetCellValue {
    let value = time.as_f64();
    // From 1900 to 9999; anything else is shown as the number that it is.
    if !(0.0..2_958_466.0).contains(&value) {
        return SheetCellValue::Number(value);
    }
    if time.is_duration() {
        let seconds = (value * 86_400.0).round();
        let (hours, rest) = ((seconds / 3_600.0).floor(), seconds % 3_600.0);
        return SheetCellValue::Time(format!("{hours:02}:{:02}:{:02}", (rest / 60.0).floor(), rest % 60.0));
    }
    let (year, month, day, hour, minute, second, _) = time.to_ymd_hms_milli();
    let clock = format!("{hour:02}:{minute:02}:{second:02}");
    let date = format!("{year:04}-{month:02}-{day:02}");
    SheetCellValue::Time(match (value < 1.0, value.fract() == 0.0) {
        (true, _) => clock,
        (false, true) => date,
        (false, false) => format!("{date}T{clock}"),
    })
}

fn fault(error: XlsxError) -> FileParseError {
    if matches!(error, XlsxError::Password) {
        FileParseError::PasswordProtected
    } else {
        FileParseError::damaged(error)
    }
}
