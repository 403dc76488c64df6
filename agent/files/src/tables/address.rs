//! Addresses of cells, such as `B7`.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

use crate::error::FileReadError;

/// The most columns of a sheet: 16,384 (`XFD`), as in Excel.
pub(crate) const COLUMNS_MAX: u32 = 16_384;
/// The most rows of a sheet, as in Excel. Delimited files may have more.
const ROWS_MAX: u32 = 4_000_000_000;

/// A rectangle of cells, both corners included; rows and columns count from 1.
///
/// Written as `B2:D9`, `B2` (one cell), `2:9` (rows) or `B:D` (columns).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct SheetCellRange {
    /// The first row.
    pub first_row: u32,
    /// The last row.
    pub last_row: u32,
    /// The first column.
    pub first_column: u32,
    /// The last column.
    pub last_column: u32,
}

impl SheetCellRange {
    /// All rows and columns.
    pub(crate) const ALL: Self =
        Self { first_row: 1, last_row: ROWS_MAX, first_column: 1, last_column: COLUMNS_MAX };
}

impl FromStr for SheetCellRange {
    type Err = FileReadError;

    fn from_str(text: &str) -> Result<Self, FileReadError> {
        let wrong = || FileReadError::Value {
            value: text.chars().take(40).collect(),
            problem: "not a range of cells such as B2:D9, B2, 2:9 or B:D".to_owned(),
        };
        let (one, other) = text.trim().split_once(':').unwrap_or((text.trim(), text.trim()));
        let (one, other) = (corner(one).ok_or_else(wrong)?, corner(other).ok_or_else(wrong)?);
        let pair = |one: Option<u32>, other: Option<u32>, max: u32| match (one, other) {
            (Some(one), Some(other)) => Some((one.min(other), one.max(other))),
            (None, None) => Some((1, max)),
            (Some(_), None) | (None, Some(_)) => None,
        };
        let (first_column, last_column) = pair(one.0, other.0, COLUMNS_MAX).ok_or_else(wrong)?;
        let (first_row, last_row) = pair(one.1, other.1, ROWS_MAX).ok_or_else(wrong)?;
        Ok(Self { first_row, last_row, first_column, last_column })
    }
}

impl TryFrom<String> for SheetCellRange {
    type Error = FileReadError;

    fn try_from(text: String) -> Result<Self, FileReadError> {
        text.parse()
    }
}

impl From<SheetCellRange> for String {
    fn from(range: SheetCellRange) -> Self {
        range.to_string()
    }
}

impl fmt::Display for SheetCellRange {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (first, last) = (column_letters(self.first_column), column_letters(self.last_column));
        write!(formatter, "{first}{}:{last}{}", self.first_row, self.last_row)
    }
}

/// Column and row of `B7`, either of which may be absent. `$` is ignored.
fn corner(text: &str) -> Option<(Option<u32>, Option<u32>)> {
    let text = text.replace('$', "");
    let digits = text.find(|letter: char| letter.is_ascii_digit()).unwrap_or(text.len());
    let (letters, digits) = text.split_at_checked(digits)?;
    let column = match letters {
        "" => None,
        letters => Some(column_number(letters)?),
    };
    let row = match digits {
        "" => None,
        digits => Some(digits.parse().ok().filter(|row| (1..=ROWS_MAX).contains(row))?),
    };
    (column.is_some() || row.is_some()).then_some((column, row))
}

fn column_number(letters: &str) -> Option<u32> {
    let number = letters.chars().try_fold(0_u32, |number, letter| {
        let digit = u32::from(letter.to_ascii_uppercase()).checked_sub(u32::from('A'))?;
        (digit < 26).then(|| number.checked_mul(26)?.checked_add(digit + 1)).flatten()
    })?;
    (1..=COLUMNS_MAX).contains(&number).then_some(number)
}

/// Letters of a column that counts from 1: `A` for 1, `AA` for 27.
#[must_use]
pub fn column_letters(number: u32) -> String {
    let mut letters = Vec::new();
    let mut rest = number;
    while rest > 0 {
        let digit = u8::try_from((rest - 1) % 26).unwrap_or_default();
        letters.push(char::from(b'A' + digit));
        rest = (rest - 1) / 26;
    }
    letters.iter().rev().collect()
}
