//! Reads a saved spreadsheet: cells and charts. Shares no code with the agent that wrote it.

use std::{
    collections::BTreeMap,
    fs::File,
    io::{BufReader, Read},
    path::Path,
};

use anyhow::{Context, Result, ensure};
use quick_xml::{
    Reader, XmlVersion, escape,
    events::{BytesStart, Event},
};
use zip::ZipArchive;

/// The most repeats of a filled cell; more are not a real table.
const REPEATS_MAX: u32 = 10_000;
/// The maximum size of an archive member, in bytes.
const PART_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// A cell by column and row, from 0: `B3` is `(1, 2)`.
pub type Position = (u32, u32);

/// A spreadsheet.
#[derive(Debug, PartialEq)]
pub struct Spreadsheet {
    /// The sheets, in order.
    pub sheets: Vec<Sheet>,
    /// The charts of all sheets, in order.
    pub charts: Vec<Chart>,
}

/// One sheet.
#[derive(Debug, PartialEq)]
pub struct Sheet {
    /// The name.
    pub name: String,
    /// The non-empty cells.
    pub cells: BTreeMap<Position, Cell>,
}

/// The content of a cell.
#[derive(Debug, Clone, PartialEq)]
pub enum Cell {
    /// A number, as stored.
    Number(f64),
    /// A text.
    Text(String),
    /// Anything else (a date, a percentage, an error), with its type and text.
    Other(String),
}

/// A chart.
#[derive(Debug, PartialEq)]
pub struct Chart {
    /// `chart:bar`, `chart:line`, …
    pub class: String,
    /// The ranges that it uses: values, labels and categories.
    pub ranges: Vec<Range>,
}

/// A range of cells of one sheet, inclusive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Range {
    /// The sheet name; empty if the address has none.
    pub sheet: String,
    /// The top left cell.
    pub first: Position,
    /// The bottom right cell.
    pub last: Position,
}

impl Range {
    /// Parses `Sheet1.A1:Sheet1.C5`, `$Sheet1.$A$1:.$C$5`, `A1:C5` or `B2`.
    pub fn parse(address: &str) -> Result<Self> {
        let (first, last) = split_unquoted(address, ':').unwrap_or((address, address));
        let (sheet, first) = parse_corner(first).with_context(|| format!("read the range `{address}`"))?;
        let (_, last) = parse_corner(last).with_context(|| format!("read the range `{address}`"))?;
        Ok(Self {
            sheet,
            first: (first.0.min(last.0), first.1.min(last.1)),
            last: (first.0.max(last.0), first.1.max(last.1)),
        })
    }

    /// The cells of the range, row by row.
    pub fn positions(&self) -> impl Iterator<Item = Position> + use<> {
        let (columns, rows) = (self.first.0..=self.last.0, self.first.1..=self.last.1);
        rows.flat_map(move |row| columns.clone().map(move |column| (column, row)))
    }
}

/// `B3` for `(1, 2)`.
pub fn name_of((column, row): Position) -> String {
    let mut letters = Vec::new();
    let mut rest = column + 1;
    while rest > 0 {
        letters.push(char::from_digit((rest - 1) % 26 + 10, 36).unwrap_or('?').to_ascii_uppercase());
        rest = (rest - 1) / 26;
    }
    letters.iter().rev().chain((row + 1).to_string().chars().collect::<Vec<_>>().iter()).collect()
}

fn split_unquoted(text: &str, separator: char) -> Option<(&str, &str)> {
    let mut quoted = false;
    for (position, character) in text.char_indices() {
        if character == '\'' {
            quoted = !quoted;
        } else if character == separator && !quoted {
            return Some((text.get(..position)?, text.get(position + separator.len_utf8()..)?));
        }
    }
    None
}

fn parse_corner(text: &str) -> Result<(String, Position)> {
    let (sheet, cell) = split_unquoted(text, '.').unwrap_or(("", text));
    let sheet = sheet.trim_start_matches('$');
    let sheet = match sheet.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\'')) {
        Some(quoted) => quoted.replace("''", "'"),
        None => sheet.to_owned(),
    };
    let cell = cell.replace('$', "");
    let letters = cell.trim_end_matches(|character: char| character.is_ascii_digit());
    let digits = cell.get(letters.len()..).unwrap_or_default();
    ensure!(!letters.is_empty() && letters.len() <= 3, "`{cell}` is not a cell");
    let mut column = 0;
    for letter in letters.chars() {
        let value = letter.to_digit(36).filter(|value| *value >= 10).context("a column has letters only")?;
        column = column * 26 + value - 9;
    }
    let row: u32 = digits.parse().with_context(|| format!("`{cell}` has no row"))?;
    ensure!(row > 0, "rows count from 1");
    Ok((sheet, (column - 1, row - 1)))
}

/// Reads a spreadsheet from an `.ods` file.
pub fn read(path: &Path) -> Result<Spreadsheet> {
    let file = File::open(path).with_context(|| format!("open {}", path.display()))?;
    let mut archive = ZipArchive::new(BufReader::new(file))
        .with_context(|| format!("read {} as an archive", path.display()))?;
    let content = part(&mut archive, "content.xml")?;
    let (sheets, objects) = parse_content(&content)?;
    let mut charts = Vec::new();
    for object in objects {
        let folder = object.trim_start_matches("./").trim_end_matches('/');
        if let Some(chart) = parse_chart(&part(&mut archive, &format!("{folder}/content.xml"))?)? {
            charts.push(chart);
        }
    }
    Ok(Spreadsheet { sheets, charts })
}

fn part(archive: &mut ZipArchive<BufReader<File>>, name: &str) -> Result<String> {
    let entry = archive.by_name(name).with_context(|| format!("find the part {name}"))?;
    let mut text = String::new();
    entry.take(PART_BYTES_MAX).read_to_string(&mut text).with_context(|| format!("read the part {name}"))?;
    Ok(text)
}

/// Elements within a sheet whose paragraphs and cells do not belong to it.
const FOREIGN: &[&str] = &["office:annotation", "table:shapes", "draw:frame", "draw:g"];
const CELL: &[&str] = &["table:table-cell", "table:covered-table-cell"];

/// Collects the sheets and the paths of embedded objects.
#[derive(Default)]
struct ContentReader {
    sheets: Vec<Sheet>,
    objects: Vec<String>,
    /// The nesting depth in foreign elements.
    foreign_depth: u32,
    row: u32,
    column: u32,
    row_repeats: u32,
    column_repeats: u32,
    kind: String,
    value: Option<String>,
    paragraphs: Vec<String>,
    in_cell: bool,
    in_paragraph: bool,
}

/// Parses the sheets and the paths of embedded objects.
fn parse_content(xml: &str) -> Result<(Vec<Sheet>, Vec<String>)> {
    let mut reader = Reader::from_str(xml);
    reader.config_mut().expand_empty_elements = true;
    let mut content = ContentReader::default();
    loop {
        match reader.read_event().context("read content.xml")? {
            Event::Start(tag) | Event::Empty(tag) => content.start(&tag)?,
            Event::End(tag) => content.end(tag.name().as_ref())?,
            Event::Text(text) => content.add_text(&text.xml10_content()),
            Event::CData(text) => content.add_text(&text.xml10_content()),
            Event::GeneralRef(reference) => {
                let name = reference.xml10_content();
                let text =
                    escape::unescape(&format!("&{name};")).context("resolve a reference")?.into_owned();
                content.add_text(&text);
            }
            Event::Comment(_) | Event::Decl(_) | Event::PI(_) | Event::DocType(_) => {}
            Event::Eof => return Ok((content.sheets, content.objects)),
        }
    }
}

impl ContentReader {
    fn start(&mut self, tag: &BytesStart<'_>) -> Result<()> {
        let name = tag.name();
        let name = name.as_ref();
        if name == "draw:object" {
            self.objects.extend(attribute(tag, "xlink:href")?);
        }
        if FOREIGN.contains(&name) {
            self.foreign_depth += 1;
        }
        if self.foreign_depth > 0 {
            return Ok(());
        }
        if name == "table:table" {
            let name = attribute(tag, "table:name")?.unwrap_or_default();
            self.sheets.push(Sheet { name, cells: BTreeMap::new() });
            self.row = 0;
        } else if name == "table:table-row" {
            self.column = 0;
            self.row_repeats = repeats(tag, "table:number-rows-repeated")?;
        } else if CELL.contains(&name) {
            self.in_cell = true;
            self.paragraphs.clear();
            self.column_repeats = repeats(tag, "table:number-columns-repeated")?;
            self.kind = attribute(tag, "office:value-type")?.unwrap_or_default();
            self.value = attribute(tag, "office:value")?;
        } else if name == "text:p" && self.in_cell {
            self.in_paragraph = true;
            self.paragraphs.push(String::new());
        } else if name == "text:s" {
            let count = repeats(tag, "text:c")?.min(REPEATS_MAX);
            (0..count).for_each(|_| self.add_text(" "));
        }
        Ok(())
    }

    fn end(&mut self, name: &str) -> Result<()> {
        if FOREIGN.contains(&name) {
            self.foreign_depth = self.foreign_depth.saturating_sub(1);
            return Ok(());
        }
        if self.foreign_depth > 0 {
            return Ok(());
        }
        if name == "table:table-row" {
            self.row += self.row_repeats;
        } else if CELL.contains(&name) {
            self.in_cell = false;
            self.keep_cell()?;
            self.column += self.column_repeats;
        } else if name == "text:p" {
            self.in_paragraph = false;
        }
        Ok(())
    }

    fn add_text(&mut self, text: &str) {
        if self.in_paragraph
            && self.foreign_depth == 0
            && let Some(paragraph) = self.paragraphs.last_mut()
        {
            paragraph.push_str(text);
        }
    }

    fn keep_cell(&mut self) -> Result<()> {
        let text = self.paragraphs.join("\n");
        let cell = match (self.kind.as_str(), &self.value) {
            ("", _) if text.is_empty() => return Ok(()),
            ("float", Some(value)) => {
                Cell::Number(value.parse().with_context(|| format!("read `{value}` as a number"))?)
            }
            ("string", _) => Cell::Text(text),
            (kind, _) => Cell::Other(format!("{kind} `{text}`")),
        };
        ensure!(
            self.row_repeats.max(self.column_repeats) <= REPEATS_MAX,
            "the cell {} is repeated too often",
            name_of((self.column, self.row))
        );
        let sheet = self.sheets.last_mut().context("a cell outside of a sheet")?;
        for row in self.row..self.row + self.row_repeats {
            for column in self.column..self.column + self.column_repeats {
                sheet.cells.insert((column, row), cell.clone());
            }
        }
        Ok(())
    }
}

/// Parses the chart in an embedded object; `None` for other objects.
fn parse_chart(xml: &str) -> Result<Option<Chart>> {
    let mut reader = Reader::from_str(xml);
    reader.config_mut().expand_empty_elements = true;
    let mut chart: Option<Chart> = None;
    loop {
        match reader.read_event().context("read the content.xml of an object")? {
            Event::Start(tag) | Event::Empty(tag) => {
                let addresses: &[&str] = match tag.name().as_ref() {
                    "chart:chart" => {
                        let class = attribute(&tag, "chart:class")?.unwrap_or_default();
                        chart = Some(Chart { class, ranges: Vec::new() });
                        &[]
                    }
                    "chart:plot-area" | "chart:categories" => &["table:cell-range-address"],
                    "chart:series" => &["chart:values-cell-range-address", "chart:label-cell-address"],
                    _ => &[],
                };
                for name in addresses {
                    let (Some(chart), Some(list)) = (chart.as_mut(), attribute(&tag, name)?) else {
                        continue;
                    };
                    for address in list.split_whitespace() {
                        chart.ranges.push(Range::parse(address)?);
                    }
                }
            }
            Event::Eof => return Ok(chart),
            Event::End(_)
            | Event::Text(_)
            | Event::CData(_)
            | Event::GeneralRef(_)
            | Event::Comment(_)
            | Event::Decl(_)
            | Event::PI(_)
            | Event::DocType(_) => {}
        }
    }
}

fn attribute(tag: &BytesStart<'_>, name: &str) -> Result<Option<String>> {
    let attribute = tag.try_get_attribute(name).with_context(|| format!("read the attribute {name}"))?;
    attribute
        .map(|attribute| {
            attribute.normalized_value(XmlVersion::Implicit1_0).map(std::borrow::Cow::into_owned)
        })
        .transpose()
        .with_context(|| format!("decode the attribute {name}"))
}

fn repeats(tag: &BytesStart<'_>, name: &str) -> Result<u32> {
    let text = attribute(tag, name)?;
    text.map_or(Ok(1), |text| text.parse().with_context(|| format!("read {name} `{text}`")))
}

#[cfg(test)]
#[path = "ods_tests.rs"]
mod tests;
