//! OpenDocument spreadsheets.

use super::{
    odf::check_encryption,
    package::Package,
    xml::{XmlDescent, XmlElement, XmlNode, nodes},
};
use crate::{
    error::FileParseError,
    format::Format,
    options::ReadOptions,
    tables::{
        COLUMNS_MAX, CellBudget, Collector, SheetCellValue, SheetData, Tables, check_found, sheet_left_out,
    },
};

/// The part with the cells.
const CONTENT: &str = "content.xml";
/// The most rows of a sheet.
const ROWS_MAX: u32 = 1_048_576;
/// The most cells that are gone through: one element may stand for a million of them.
const STEPS_MAX: usize = 5_000_000;
/// The longest text of a cell, in bytes.
const TEXT_MAX: usize = 1_000_000;
/// The most sheets.
const SHEETS_MAX: usize = 10_000;

/// The same cell some times in a row.
struct RepeatedCell {
    column: u32,
    count: u32,
    cell: SheetCellValue,
}

struct OdsParser<'a> {
    options: &'a ReadOptions,
    names: Vec<String>,
    sheets: Vec<SheetData>,
    left_out: Option<String>,
    budget: CellBudget,
    steps: usize,
    sheet: Option<Collector>,
    /// The next row and column, from 1.
    row: u32,
    column: u32,
    rows: u32,
    runs: Vec<RepeatedCell>,
    /// The cell that is open: its value, how often it is there, and its text.
    cell: Option<(SheetCellValue, u32)>,
    text: String,
    paragraphs: usize,
    is_in_paragraph: bool,
}

/// Sheets of a spreadsheet.
pub(crate) fn tables(package: &mut Package, options: &ReadOptions) -> Result<Tables, FileParseError> {
    check_encryption(package)?;
    let xml = package.text(CONTENT)?;
    let mut reading = OdsParser {
        options,
        names: Vec::new(),
        sheets: Vec::new(),
        left_out: None,
        budget: CellBudget::new(options),
        steps: STEPS_MAX,
        sheet: None,
        row: 1,
        column: 1,
        rows: 1,
        runs: Vec::new(),
        cell: None,
        text: String::new(),
        paragraphs: 0,
        is_in_paragraph: false,
    };
    nodes(CONTENT, &xml, |node| reading.node(node))?;
    let OdsParser { names, sheets, left_out, .. } = reading;
    check_found(&sheets, &names, options)?;
    let left_out = left_out.map(|name| sheet_left_out(&name));
    Ok(Tables { format: Format::Ods, names, sheets, left_out, notes: Vec::new() })
}

impl OdsParser<'_> {
    fn node(&mut self, node: XmlNode<'_>) -> Result<XmlDescent, FileParseError> {
        match node {
            XmlNode::Open(element) => return self.open(&element),
            XmlNode::Close(name) => self.close(name),
            XmlNode::Text(text) if self.is_in_paragraph => {
                self.add_text(&text.replace(['\n', '\r', '\t'], " "));
            }
            XmlNode::Text(_) => {}
        }
        Ok(XmlDescent::Into)
    }

    fn open(&mut self, element: &XmlElement<'_>) -> Result<XmlDescent, FileParseError> {
        let repeats = |name: &str, max: u32| {
            let count = element.number(name).unwrap_or(1);
            u32::try_from(count).unwrap_or(max).clamp(1, max)
        };
        match element.name() {
            "table:shapes"
            | "office:annotation"
            | "table:tracked-changes"
            | "office:forms"
            | "table:dde-links"
            | "table:named-expressions" => return Ok(XmlDescent::Skip),
            "table:table" => return self.open_sheet(element),
            "table:table-row" => {
                self.rows = repeats("table:number-rows-repeated", ROWS_MAX);
                self.column = 1;
                self.runs.clear();
            }
            "table:table-cell" | "table:covered-table-cell" => {
                let count = repeats("table:number-columns-repeated", COLUMNS_MAX);
                self.cell = Some((value(element), count));
                self.text.clear();
                self.paragraphs = 0;
            }
            "text:p" if self.cell.is_some() => {
                if self.paragraphs > 0 {
                    self.add_text("\n");
                }
                self.paragraphs += 1;
                self.is_in_paragraph = true;
            }
            "text:s" => self.add_text(&" ".repeat(element.number("text:c").unwrap_or(1).min(1_000))),
            "text:line-break" => self.add_text("\n"),
            "text:tab" => self.add_text("\t"),
            _ => {}
        }
        Ok(XmlDescent::Into)
    }

    fn open_sheet(&mut self, element: &XmlElement<'_>) -> Result<XmlDescent, FileParseError> {
        let name =
            element.attribute("table:name").unwrap_or_else(|| format!("sheet {}", self.names.len() + 1));
        if self.names.len() >= SHEETS_MAX {
            return Err(FileParseError::TooLarge(format!("it has more than {SHEETS_MAX} sheets")));
        }
        self.names.push(name.clone());
        if self.options.sheet.as_ref().is_some_and(|wanted| *wanted != name) {
            return Ok(XmlDescent::Skip);
        }
        if self.budget.is_spent() {
            self.left_out.get_or_insert(name);
            return Ok(XmlDescent::Skip);
        }
        self.sheet = Some(Collector::new(&name, self.options));
        self.row = 1;
        Ok(XmlDescent::Into)
    }

    fn add_text(&mut self, text: &str) {
        if self.cell.is_some() && self.text.len() + text.len() <= TEXT_MAX {
            self.text.push_str(text);
        }
    }

    fn close(&mut self, name: &str) {
        match name {
            "text:p" => self.is_in_paragraph = false,
            "table:table-cell" | "table:covered-table-cell" => self.close_cell(),
            "table:table-row" => self.close_row(),
            "table:table" => {
                if let Some(sheet) = self.sheet.take() {
                    self.sheets.push(sheet.finish());
                }
            }
            _ => {}
        }
    }

    fn close_cell(&mut self) {
        let Some((cell, count)) = self.cell.take() else { return };
        let text = std::mem::take(&mut self.text);
        let cell = match cell {
            SheetCellValue::Empty => SheetCellValue::Text(text),
            SheetCellValue::Error(_) => SheetCellValue::Error(text),
            cell @ (SheetCellValue::Text(_)
            | SheetCellValue::Number(_)
            | SheetCellValue::Boolean(_)
            | SheetCellValue::Time(_)) => cell,
        };
        let count = count.min((COLUMNS_MAX + 1).saturating_sub(self.column));
        if !cell.is_empty() && count > 0 {
            self.runs.push(RepeatedCell { column: self.column, count, cell });
        }
        self.column += count;
    }

    fn close_row(&mut self) {
        let last = self.row.saturating_add(self.rows).min(ROWS_MAX + 1);
        let runs = std::mem::take(&mut self.runs);
        let Some(sheet) = &mut self.sheet else { return };
        let cells: usize = runs.iter().map(|run| usize::try_from(run.count).unwrap_or(usize::MAX)).sum();
        for row in if runs.is_empty() { 0..0 } else { self.row..last } {
            if self.steps < cells || (sheet.is_full() && row + 1 < last) {
                sheet.stop(&format!("equal rows from {row} to {}", last - 1));
                let columns = runs.iter().map(|run| run.column + run.count - 1);
                sheet.see(last - 1, columns.max().unwrap_or(1));
                break;
            }
            self.steps -= cells;
            for run in &runs {
                for column in run.column..run.column + run.count {
                    sheet.put(row, column, &mut self.budget, || run.cell.clone());
                }
            }
        }
        self.row = last;
    }
}

/// The value of a cell by its attributes, [`SheetCellValue::Empty`] if its text is the value.
fn value(element: &XmlElement<'_>) -> SheetCellValue {
    let attribute = |name: &str| element.attribute(name);
    let number = || attribute("office:value").and_then(|value| value.parse().ok());
    if attribute("calcext:value-type").as_deref() == Some("error") {
        // What kind of error it is, its text says.
        return SheetCellValue::Error(String::new());
    }
    match attribute("office:value-type").as_deref() {
        Some("float" | "currency" | "percentage") => {
            number().map_or(SheetCellValue::Empty, SheetCellValue::Number)
        }
        Some("boolean") => {
            SheetCellValue::Boolean(attribute("office:boolean-value").as_deref() == Some("true"))
        }
        Some("date") => attribute("office:date-value").map_or(SheetCellValue::Empty, SheetCellValue::Time),
        Some("time") => attribute("office:time-value")
            .map_or(SheetCellValue::Empty, |value| SheetCellValue::Time(duration(&value))),
        Some(_) | None => SheetCellValue::Empty,
    }
}

/// `PT26H30M00S` as `26:30:00`. Anything else stays as it is.
fn duration(value: &str) -> String {
    let parts = || {
        let (hours, rest) = value.strip_prefix("PT")?.split_once('H')?;
        let (minutes, rest) = rest.split_once('M')?;
        let seconds = rest.strip_suffix('S')?.split(['.', ',']).next()?;
        let (hours, minutes): (u64, u64) = (hours.parse().ok()?, minutes.parse().ok()?);
        Some(format!("{hours:02}:{minutes:02}:{:02}", seconds.parse::<u64>().ok()?))
    };
    parts().unwrap_or_else(|| value.to_owned())
}
