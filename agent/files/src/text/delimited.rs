//! Values that are separated by commas, tabs or other characters.

use crate::{
    decode::Bytes,
    error::FileParseError,
    format::Format,
    options::ReadOptions,
    tables::{CellBudget, Collector, SheetCellValue, Tables, check_found},
    text::TextSource,
};

/// The most bytes of a file that are gone through. A quote that is never closed makes one value of all of it.
const BYTES_MAX: u64 = 64 * 1024 * 1024;
/// Lines by which the delimiter is detected.
const SAMPLE_LINES: usize = 50;
/// Delimiters, the likely ones first.
const DELIMITERS: [u8; 4] = [b',', b';', b'\t', b'|'];
/// The one sheet of a delimited file.
const SHEET: &str = "table 1";

/// The rows of the file as one sheet.
pub(crate) fn tables(source: &TextSource, options: &ReadOptions) -> Result<Tables, FileParseError> {
    let delimiter = delimiter(&source.start);
    let reader = Bytes::new(source.reader(BYTES_MAX)?);
    let mut rows =
        csv::ReaderBuilder::new().delimiter(delimiter).flexible(true).has_headers(false).from_reader(reader);
    let mut budget = CellBudget::new(options);
    let mut collector = Collector::new(SHEET, options);
    let mut record = csv::StringRecord::new();
    // Rows count by records, as spreadsheet programs show them: a value may have several lines.
    let mut row = 0;
    while row < u32::MAX && rows.read_record(&mut record).map_err(FileParseError::damaged)? {
        row += 1;
        for (column, value) in (1..).zip(&record) {
            if !value.is_empty() {
                collector.put(row, column, &mut budget, || SheetCellValue::Text(value.to_owned()));
            }
        }
    }
    if source.is_longer_than(BYTES_MAX) {
        collector.stop(&format!("everything after the first {BYTES_MAX} bytes of the file"));
    }
    let name = match delimiter {
        b'\t' => "tab".to_owned(),
        other => format!("{:?}", char::from(other)),
    };
    let names = vec![SHEET.to_owned()];
    let mut sheets = vec![collector.finish()];
    sheets.retain(|_| options.sheet.as_ref().is_none_or(|wanted| wanted == SHEET));
    check_found(&sheets, &names, options)?;
    let notes = vec![format!("delimiter {name}, encoding {}", source.encoding_name())];
    Ok(Tables { format: Format::Delimited, names, sheets, left_out: None, notes })
}

/// The delimiter that splits the first lines into the same number of values most consistently.
fn delimiter(start: &str) -> u8 {
    let lines: Vec<&str> = start.lines().filter(|line| !line.trim().is_empty()).take(SAMPLE_LINES).collect();
    let score = |delimiter: u8| {
        let counts: Vec<usize> = lines.iter().map(|line| outside_quotes(line, delimiter)).collect();
        let most = counts
            .iter()
            .copied()
            .filter(|count| *count > 0)
            .max_by_key(|count| (counts.iter().filter(|other| *other == count).count(), *count));
        most.map_or((0, 0), |most| (counts.iter().filter(|count| **count == most).count(), most))
    };
    let best = DELIMITERS.into_iter().rev().max_by_key(|delimiter| score(*delimiter));
    best.filter(|delimiter| score(*delimiter).0 > 0).unwrap_or(b',')
}

fn outside_quotes(line: &str, delimiter: u8) -> usize {
    let mut is_quoted = false;
    let mut count = 0;
    for byte in line.bytes() {
        is_quoted ^= byte == b'"';
        count += usize::from(byte == delimiter && !is_quoted);
    }
    count
}
