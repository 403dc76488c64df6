//! Excel 97 workbooks, and the compound files that they and encrypted documents are stored in.

use std::{
    fs::File,
    io::{BufReader, Cursor, Read as _, Seek as _},
};

use calamine::{Data, Reader as _, Xls, XlsError};
use cfb::CompoundFile;

use super::xlsx::{of_error, of_time};
use crate::{
    error::FileParseError,
    format::Format,
    options::ReadOptions,
    tables::{CellBudget, Collector, SheetCellValue, Tables, check_found, sheet_left_out},
};

/// The largest file, in bytes. It is parsed in memory.
const BYTES_MAX: u64 = 64 * 1024 * 1024;
/// The most cells of one sheet, the empty ones between others included: the parser makes room for them.
const AREA_MAX: u64 = 6_000_000;
/// The most cells of all sheets.
const AREAS_MAX: u64 = 12_000_000;
/// The most sheets.
const SHEETS_MAX: usize = 1_000;
/// The most records that are gone through.
const RECORDS_MAX: usize = 20_000_000;
/// Streams that may contain the workbook.
const STREAMS: [&str; 2] = ["Workbook", "Book"];
/// Records with cells, all of which start with a row and a column.
const CELL_RECORDS: [u16; 8] = [0x0006, 0x00bd, 0x00d6, 0x00fd, 0x0203, 0x0204, 0x0205, 0x027e];
const DIMENSIONS: u16 = 0x0200;
const SHEET: u16 = 0x0085;
const END: u16 = 0x000a;

/// Returns `true` if the compound file is an Office Open XML document with a password.
pub(crate) fn is_encrypted_package(file: &File) -> bool {
    has_stream(file, &["EncryptedPackage"])
}

/// Returns `true` if the compound file is a workbook.
pub(crate) fn is_workbook(file: &File) -> bool {
    has_stream(file, &STREAMS)
}

fn has_stream(file: &File, names: &[&str]) -> bool {
    let compound = CompoundFile::open(BufReader::new(file));
    compound.is_ok_and(|compound| names.iter().any(|name| compound.is_stream(name)))
}

/// Sheets of a workbook.
pub(crate) fn tables(mut file: File, options: &ReadOptions) -> Result<Tables, FileParseError> {
    if file.metadata()?.len() > BYTES_MAX {
        return Err(FileParseError::TooLarge(format!(
            "{BYTES_MAX} bytes is the limit for xls; save it as xlsx"
        )));
    }
    let mut bytes = Vec::new();
    file.rewind()?;
    file.take(BYTES_MAX).read_to_end(&mut bytes)?;
    check_areas(&bytes)?;
    let mut workbook = Xls::new(Cursor::new(bytes)).map_err(fault)?;
    let names = workbook.sheet_names();
    let mut budget = CellBudget::new(options);
    let mut sheets = Vec::new();
    let mut left_out = None;
    for name in &names {
        if options.sheet.as_ref().is_some_and(|wanted| wanted != name) {
            continue;
        }
        if budget.is_spent() {
            left_out = Some(sheet_left_out(name));
            break;
        }
        let range = workbook.worksheet_range(name).map_err(fault)?;
        let (first_row, first_column) = range.start().unwrap_or_default();
        let mut collector = Collector::new(name, options);
        for (row, column, value) in range.used_cells() {
            let row = u32::try_from(row).unwrap_or(u32::MAX).saturating_add(first_row);
            let column = u32::try_from(column).unwrap_or(u32::MAX).saturating_add(first_column);
            if !matches!(value, Data::String(text) if text.is_empty()) {
                let (row, column) = (row.saturating_add(1), column.saturating_add(1));
                collector.put(row, column, &mut budget, || of_value(value));
            }
        }
        sheets.push(collector.finish());
    }
    check_found(&sheets, &names, options)?;
    Ok(Tables { format: Format::Xls, names, sheets, left_out, notes: Vec::new() })
}

fn of_value(value: &Data) -> SheetCellValue {
    match value {
        Data::Int(number) => number.to_string().parse().map_or(SheetCellValue::Empty, SheetCellValue::Number),
        Data::Float(number) => SheetCellValue::Number(*number),
        Data::String(text) => SheetCellValue::Text(text.clone()),
        Data::Bool(value) => SheetCellValue::Boolean(*value),
        Data::DateTime(time) => of_time(time),
        Data::DateTimeIso(text) | Data::DurationIso(text) => SheetCellValue::Time(text.clone()),
        Data::Error(error) => of_error(error),
        Data::Empty => SheetCellValue::Empty,
    }
}

fn fault(error: XlsError) -> FileParseError {
    if matches!(error, XlsError::Password) {
        FileParseError::PasswordProtected
    } else {
        FileParseError::damaged(error)
    }
}

/// The parser makes room for all cells up to the last one of each sheet, so the records are checked before it
/// gets them.
fn check_areas(bytes: &[u8]) -> Result<(), FileParseError> {
    let mut compound = CompoundFile::open(Cursor::new(bytes)).map_err(FileParseError::damaged)?;
    let name = STREAMS.iter().find(|name| compound.is_stream(name));
    let name = name.ok_or_else(|| FileParseError::damaged("it contains no workbook"))?;
    let mut stream = Vec::new();
    let source = compound.open_stream(name).map_err(FileParseError::damaged)?;
    source.take(BYTES_MAX).read_to_end(&mut stream).map_err(FileParseError::damaged)?;
    let mut records_left = RECORDS_MAX;
    let mut offsets = Vec::new();
    for (kind, data) in records(&stream, 0, &mut records_left) {
        if kind == SHEET
            && let Some(offset) = number_at(data, 0, 4)
        {
            offsets.push(usize::try_from(offset).unwrap_or(usize::MAX));
        }
    }
    if offsets.len() > SHEETS_MAX {
        return Err(FileParseError::TooLarge(format!("it has more than {SHEETS_MAX} sheets")));
    }
    let mut left = AREAS_MAX;
    for offset in offsets {
        let area = area(&stream, offset, &mut records_left);
        if area > AREA_MAX.min(left) {
            return Err(FileParseError::TooLarge(format!(
                "a sheet spans {area} cells; {AREA_MAX} in a sheet and {AREAS_MAX} in all are the limits \
                 for xls, \
                 so save it as xlsx"
            )));
        }
        left -= area;
    }
    if records_left == 0 {
        return Err(FileParseError::TooLarge(format!(
            "it has more than {RECORDS_MAX} records; save it as xlsx"
        )));
    }
    Ok(())
}

/// Returns the number of cells that the sheet at this offset spans.
fn area(stream: &[u8], offset: usize, records_left: &mut usize) -> u64 {
    let (mut rows, mut columns, mut claimed) = (0, 0, 0);
    for (kind, data) in records(stream, offset, records_left) {
        if CELL_RECORDS.contains(&kind) {
            rows = rows.max(number_at(data, 0, 2).unwrap_or_default() + 1);
            // A record of many numbers starts at its column and has six bytes for each.
            let more = u64::try_from(data.len() / 6).unwrap_or(u64::MAX);
            columns = columns
                .max(number_at(data, 2, 2).unwrap_or_default() + 1 + if kind == 0x00bd { more } else { 0 });
        } else if kind == DIMENSIONS {
            claimed = claimed.max(claimed_area(data));
        }
    }
    (rows * columns).max(claimed)
}

/// The area that a record of dimensions claims.
fn claimed_area(data: &[u8]) -> u64 {
    let width = if data.len() >= 14 { 4 } else { 2 };
    let number = |offset: usize, width: usize| number_at(data, offset, width).unwrap_or_default();
    let rows = number(width, width).saturating_sub(number(0, width));
    let (first, last) = (number(2 * width, 2), number(2 * width + 2, 2));
    let first = if first > 0xff || last < first { 0 } else { first };
    rows.saturating_mul(last.saturating_sub(first))
}

/// Kind and data of the records from an offset to the end of the sheet.
fn records<'a>(
    stream: &'a [u8],
    offset: usize,
    left: &'a mut usize,
) -> impl Iterator<Item = (u16, &'a [u8])> + use<'a> {
    let mut rest = stream.get(offset..).unwrap_or_default();
    std::iter::from_fn(move || {
        *left = left.checked_sub(1)?;
        let kind = u16::try_from(number_at(rest, 0, 2)?).ok()?;
        let length = usize::try_from(number_at(rest, 2, 2)?).ok()?;
        let data = rest.get(4..4 + length)?;
        rest = rest.get(4 + length..)?;
        (kind != END).then_some((kind, data))
    })
}

/// A number of up to eight bytes, the lowest first.
fn number_at(data: &[u8], offset: usize, width: usize) -> Option<u64> {
    let bytes = data.get(offset..offset + width)?;
    Some(bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte)))
}
