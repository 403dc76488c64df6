//! Tables and the cells in them.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize, de};

/// The size of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct TableShape {
    /// Number of rows.
    pub rows: u32,
    /// Number of columns.
    pub columns: u32,
}

/// A cell by row and column, both from 0. Formatted as in a spreadsheet: `B3` is row 2, column 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CellRef {
    /// The row, from 0.
    pub row: u32,
    /// The column, from 0.
    pub column: u32,
}

/// A rectangle of cells, both corners included. Formatted as `A1:C5`, or `A1` for a single cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct CellRange {
    /// The cell at the top left.
    pub first: CellRef,
    /// The cell at the bottom right.
    pub last: CellRef,
}

/// Ranges of cells, at least one. Formatted as `A7,D1:D7`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct CellRanges {
    first: CellRange,
    more: Vec<CellRange>,
}

/// A cell or range that cannot be parsed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a cell such as `B3` or a range such as `A1:C5`")]
pub struct ParseCellError(pub String);

impl CellRef {
    /// The letters of a column: 0 is `A`, 26 is `AA`.
    pub fn column_letters(column: u32) -> String {
        let mut letters = Vec::new();
        let mut rest = u64::from(column) + 1;
        while rest > 0 {
            rest -= 1;
            letters.push(char::from(b'A' + u8::try_from(rest % 26).unwrap_or(0)));
            rest /= 26;
        }
        letters.iter().rev().collect()
    }
}

impl CellRange {
    /// The range that starts at `first` and is as large as `shape`; at least one cell.
    pub fn sized(first: CellRef, shape: TableShape) -> Self {
        let last = CellRef {
            row: first.row.saturating_add(shape.rows.max(1) - 1),
            column: first.column.saturating_add(shape.columns.max(1) - 1),
        };
        Self { first, last }
    }

    /// Its size.
    pub fn shape(&self) -> TableShape {
        TableShape {
            rows: self.last.row.saturating_sub(self.first.row).saturating_add(1),
            columns: self.last.column.saturating_sub(self.first.column).saturating_add(1),
        }
    }

    /// Number of cells.
    pub fn cell_count(&self) -> u64 {
        let shape = self.shape();
        u64::from(shape.rows) * u64::from(shape.columns)
    }
}

impl CellRanges {
    /// The only one; `None` if there are several.
    pub fn single(&self) -> Option<CellRange> {
        self.more.is_empty().then_some(self.first)
    }

    /// All of them, in order.
    pub fn ranges(&self) -> impl Iterator<Item = CellRange> {
        std::iter::once(self.first).chain(self.more.iter().copied())
    }
}

impl From<CellRange> for CellRanges {
    fn from(range: CellRange) -> Self {
        Self { first: range, more: Vec::new() }
    }
}

impl fmt::Display for CellRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", Self::column_letters(self.column), u64::from(self.row) + 1)
    }
}

impl FromStr for CellRef {
    type Err = ParseCellError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let error = || ParseCellError(text.to_owned());
        let plain = text.trim().replace('$', "");
        let split = plain.find(|c: char| c.is_ascii_digit()).ok_or_else(error)?;
        let (letters, digits) = plain.split_at(split);
        if letters.is_empty() || letters.len() > 4 {
            return Err(error());
        }
        let mut column: u32 = 0;
        for letter in letters.bytes() {
            if !letter.is_ascii_alphabetic() {
                return Err(error());
            }
            column = column * 26 + u32::from(letter.to_ascii_uppercase() - b'A') + 1;
        }
        let row: u32 = digits.parse().map_err(|_| error())?;
        if row == 0 {
            return Err(error());
        }
        Ok(Self { row: row - 1, column: column - 1 })
    }
}

impl fmt::Display for CellRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.first == self.last { self.first.fmt(f) } else { write!(f, "{}:{}", self.first, self.last) }
    }
}

impl FromStr for CellRange {
    type Err = ParseCellError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (first, last) = text.split_once(':').unwrap_or((text, text));
        let (first, last): (CellRef, CellRef) = (first.parse()?, last.parse()?);
        if last.row < first.row || last.column < first.column {
            return Err(ParseCellError(text.to_owned()));
        }
        Ok(Self { first, last })
    }
}

impl fmt::Display for CellRanges {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.first.fmt(f)?;
        self.more.iter().try_for_each(|range| write!(f, ",{range}"))
    }
}

impl FromStr for CellRanges {
    type Err = ParseCellError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut ranges = text.split([',', ';']).map(str::parse);
        let first = ranges.next().unwrap_or_else(|| Err(ParseCellError(text.to_owned())))?;
        Ok(Self { first, more: ranges.collect::<Result<_, _>>()? })
    }
}

macro_rules! serde_as_text {
    ($($name:ty),*) => {$(
        impl Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
            }
        }
    )*};
}
serde_as_text!(CellRef, CellRange, CellRanges);

/// The displayed content of a range, row by row.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TableContent {
    /// Its position in the table.
    pub range: CellRange,
    /// The text of each cell; every row has the same length.
    pub rows: Vec<Vec<String>>,
}
