//! Tables that are only drawn: words that stand in rows and columns.
//!
//! Where a spreadsheet shows its letters and numbers, they say which cell a word is in. Else columns are what stands below each other,
//! aligned at the left, at the right or in the middle.

use deskhand_ui::{
    CellRange, CellRef, TableShape,
    geometry::{Rect, Screen},
};

use crate::type_drawn::is_one_line;

/// Alignment tolerance for the words of a column, in pixels.
const ALIGNED: i32 = 4;
/// Maximum distance to the next row of a table, in per cent of the distance between the rows before.
const ROW_APART_MAX: i32 = 150;
/// The fewest letters of columns, and the fewest numbers of rows, that are distinguished from words of one letter.
const HEADERS_MIN: usize = 3;
const NUMBERS_MIN: usize = 2;
/// The fewest rows and columns.
const SIDE_MIN: usize = 2;

/// A word and where it is.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct DrawnWord {
    pub(crate) text: String,
    pub(crate) bounds: Rect<Screen>,
}

/// A table that was found.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct DrawnTable {
    /// Which cells it shows: counted from the first one unless its letters and numbers are shown.
    pub(crate) range: CellRange,
    /// Their texts; empty where nothing is read.
    pub(crate) rows: Vec<Vec<String>>,
    /// Around its words.
    pub(crate) bounds: Rect<Screen>,
}

impl DrawnTable {
    fn of(first: CellRef, rows: Vec<Vec<String>>, bounds: Rect<Screen>) -> Option<Self> {
        let side = |length: usize| u32::try_from(length).unwrap_or(u32::MAX);
        let columns = rows.first().map_or(0, Vec::len);
        if rows.len() < SIDE_MIN || columns < SIDE_MIN {
            return None;
        }
        let shape = TableShape { rows: side(rows.len()), columns: side(columns) };
        Some(Self { range: CellRange::sized(first, shape), rows, bounds })
    }

    /// Returns the number of cells that have a text.
    pub(crate) fn filled(&self) -> usize {
        self.rows.iter().flatten().filter(|text| !text.is_empty()).count()
    }

    /// The part of a range that it shows, by default all; `None` if it shows nothing of it.
    pub(crate) fn shown_of(&self, range: Option<CellRange>) -> Option<CellRange> {
        let (own, range) = (self.range, range.unwrap_or(self.range));
        let first = CellRef {
            row: own.first.row.max(range.first.row),
            column: own.first.column.max(range.first.column),
        };
        let last =
            CellRef { row: own.last.row.min(range.last.row), column: own.last.column.min(range.last.column) };
        (first.row <= last.row && first.column <= last.column).then_some(CellRange { first, last })
    }

    /// The texts of a range; empty outside of what is shown.
    pub(crate) fn part(&self, range: CellRange) -> Vec<Vec<String>> {
        let text = |row: u32, column: u32| {
            let row = usize::try_from(row.checked_sub(self.range.first.row)?).ok()?;
            let column = usize::try_from(column.checked_sub(self.range.first.column)?).ok()?;
            self.rows.get(row)?.get(column).cloned()
        };
        let row = |row: u32| (range.first.column..=range.last.column).map(move |column| (row, column));
        let texts = |at: u32| row(at).map(|(row, column)| text(row, column).unwrap_or_default()).collect();
        (range.first.row..=range.last.row).map(texts).collect()
    }
}

/// The tables among words; the one with the most texts first.
pub(crate) fn tables(words: Vec<DrawnWord>) -> Vec<DrawnTable> {
    let rows = rows(words);
    let mut found: Vec<DrawnTable> = sheet(&rows).into_iter().collect();
    if found.is_empty() {
        found = (0..rows.len()).filter_map(|start| aligned(rows.get(start..)?)).collect();
    }
    found.sort_by_key(|table| std::cmp::Reverse(table.filled()));
    found
}

/// Words side by side, from the left.
type Row = Vec<DrawnWord>;

/// The rows of words, from the top.
fn rows(mut words: Vec<DrawnWord>) -> Vec<Row> {
    words.sort_by_key(|word| (word.bounds.center().y, word.bounds.x));
    let mut rows: Vec<Row> = Vec::new();
    for word in words {
        let last = rows.last_mut().filter(|row| row.iter().all(|one| is_one_line(&one.bounds, &word.bounds)));
        match last {
            Some(row) => row.push(word),
            None => rows.push(vec![word]),
        }
    }
    for row in &mut rows {
        row.sort_by_key(|word| word.bounds.x);
    }
    rows
}

fn around<'w>(words: impl Iterator<Item = &'w DrawnWord>) -> Option<Rect<Screen>> {
    words.map(|word| word.bounds).reduce(|all, one| all.enclosing(&one))
}

/// Several words of one cell.
fn join(cell: &mut String, word: &str) {
    if !cell.is_empty() {
        cell.push(' ');
    }
    cell.push_str(word);
}

/// The table that begins with the first of these rows.
fn aligned(rows: &[Row]) -> Option<DrawnTable> {
    let first = rows.first().filter(|row| row.len() >= SIDE_MIN)?;
    let mut columns: Vec<DrawnColumn> = first.iter().map(DrawnColumn::of).collect();
    let mut count = 1;
    let mut apart: Option<i32> = None;
    for (above, row) in rows.iter().zip(rows.iter().skip(1)) {
        let distance = middle(row)? - middle(above)?;
        let is_far = apart.is_some_and(|apart| distance * 100 > apart * ROW_APART_MAX);
        let Some(more) = with_row(&columns, row, count).filter(|_| !is_far) else { break };
        apart = Some(apart.map_or(distance, |apart| apart.min(distance)));
        columns = more;
        count += 1;
    }
    let full = columns.iter().filter(|column| column.cells.len() >= SIDE_MIN).count();
    if full < SIDE_MIN || !columns.iter().all(DrawnColumn::is_aligned) {
        return None;
    }
    let bounds = around(columns.iter().flat_map(|column| column.cells.iter().map(|(_, word)| word)))?;
    let mut texts = vec![vec![String::new(); columns.len()]; count];
    for (place, column) in columns.iter().enumerate() {
        for (row, word) in &column.cells {
            if let Some(cell) = texts.get_mut(*row).and_then(|row| row.get_mut(place)) {
                join(cell, &word.text);
            }
        }
    }
    DrawnTable::of(CellRef { row: 0, column: 0 }, texts, bounds)
}

fn middle(row: &Row) -> Option<i32> {
    row.first().map(|word| word.bounds.center().y)
}

/// Words that stand below each other.
#[derive(Debug, Clone)]
struct DrawnColumn {
    left: i32,
    right: i32,
    /// The words, each with the number of its row.
    cells: Vec<(usize, DrawnWord)>,
}

impl DrawnColumn {
    fn of(word: &DrawnWord) -> Self {
        Self { left: word.bounds.x, right: word.bounds.right(), cells: vec![(0, word.clone())] }
    }

    fn meets(&self, word: &DrawnWord) -> bool {
        word.bounds.x < self.right && self.left < word.bounds.right()
    }

    /// Returns `true` if all words but that of the first row, which may be a heading, begin, end or have their middles below each other.
    fn is_aligned(&self) -> bool {
        let is_one = |edge: fn(&Rect<Screen>) -> i32| {
            let edges = || self.cells.iter().filter(|(row, _)| *row > 0).map(|(_, word)| edge(&word.bounds));
            edges().max().unwrap_or(0) - edges().min().unwrap_or(0) <= ALIGNED
        };
        is_one(|bounds| bounds.x) || is_one(Rect::right) || is_one(|bounds| bounds.center().x)
    }
}

/// The columns with one more row; `None` if a word of it stands in two of them.
fn with_row(columns: &[DrawnColumn], row: &Row, number: usize) -> Option<Vec<DrawnColumn>> {
    let mut columns = columns.to_vec();
    for word in row {
        let mut met = columns.iter_mut().filter(|column| column.meets(word));
        match (met.next(), met.next()) {
            (Some(_), Some(_)) => return None,
            (Some(column), None) => {
                column.left = column.left.min(word.bounds.x);
                column.right = column.right.max(word.bounds.right());
                column.cells.push((number, word.clone()));
            }
            (None, _) => {
                let at =
                    columns.iter().position(|column| column.left > word.bounds.x).unwrap_or(columns.len());
                columns
                    .insert(at, DrawnColumn { cells: vec![(number, word.clone())], ..DrawnColumn::of(word) });
            }
        }
    }
    let overlap = |(one, next): (&DrawnColumn, &DrawnColumn)| one.right > next.left;
    (!columns.iter().zip(columns.iter().skip(1)).any(overlap)).then_some(columns)
}

/// The cells of a spreadsheet that shows the letters of its columns and the numbers of its rows.
fn sheet(rows: &[Row]) -> Option<DrawnTable> {
    let (top, letters) = rows.iter().enumerate().find_map(|(at, row)| Some((at, letters(row)?)))?;
    let below = rows.get(top + 1..)?;
    let first_letter = letters.first()?.1;
    let numbers = numbers(below, first_letter)?;
    let lines = DrawnRowGrid::through(&numbers)?;
    let last = numbers.last().map(|(number, _)| *number)?;
    let content: Vec<&DrawnWord> = below
        .iter()
        .flatten()
        .filter(|word| word.bounds.center().x > numbers_right(below, first_letter))
        .collect();
    let edges = Edges::between(&letters, &content)?;
    let mut cells: Vec<(u32, u32, &DrawnWord)> = Vec::new();
    for word in content {
        let row = lines.at(word.bounds.center().y).filter(|row| (1..=last).contains(row));
        if let (Some(row), Some(column)) = (row, edges.column_of(word)) {
            cells.push((row - 1, column, word));
        }
    }
    let least = |of: fn(&(u32, u32, &DrawnWord)) -> u32| cells.iter().map(of).min();
    let most = |of: fn(&(u32, u32, &DrawnWord)) -> u32| cells.iter().map(of).max();
    let first = CellRef { row: least(|cell| cell.0)?, column: least(|cell| cell.1)? };
    let shape = (most(|cell| cell.0)? - first.row + 1, most(|cell| cell.1)? - first.column + 1);
    let side = |length: u32| usize::try_from(length).unwrap_or(0);
    let mut texts = vec![vec![String::new(); side(shape.1)]; side(shape.0)];
    for (row, column, word) in &cells {
        let row = texts.get_mut(side(row - first.row));
        if let Some(cell) = row.and_then(|row| row.get_mut(side(column - first.column))) {
            join(cell, &word.text);
        }
    }
    DrawnTable::of(first, texts, around(cells.iter().map(|(_, _, word)| *word))?)
}

/// The columns that the letters in a row name, each with its middle; `None` if these are no letters of columns.
fn letters(row: &Row) -> Option<Vec<(u32, i32)>> {
    const LETTERS_MAX: usize = 3;
    let letter = |word: &DrawnWord| {
        let is_letters =
            word.text.len() <= LETTERS_MAX && word.text.bytes().all(|byte| byte.is_ascii_uppercase());
        let cell: CellRef = format!("{}1", word.text).parse().ok()?;
        is_letters.then_some((cell.column, word.bounds.center().x))
    };
    let found: Vec<(u32, i32)> = row.iter().filter_map(letter).collect();
    let rises = found.iter().zip(found.iter().skip(1)).all(|(one, next)| one.0 < next.0);
    // What cannot be read is in between.
    let others = row.len() - found.len();
    (found.len() >= HEADERS_MIN && rises && others <= found.len() / 2).then_some(found)
}

fn is_number_of_row(word: &DrawnWord, before: i32) -> bool {
    word.bounds.right() < before && word.text.parse::<u32>().is_ok_and(|number| number > 0)
}

/// The numbers of rows left of the first letter, each with the middle of its row: as many as rise one by one with their places.
fn numbers(rows: &[Row], before: i32) -> Option<Vec<(u32, i32)>> {
    let first = rows.iter().filter_map(|row| row.first()).filter(|word| is_number_of_row(word, before));
    let placed = first.filter_map(|word| Some((word.text.parse().ok()?, word.bounds.center().y)));
    let mut numbers: Vec<(u32, i32)> = Vec::new();
    for (number, middle) in placed {
        if numbers.last().is_none_or(|(last, _)| *last < number) {
            numbers.push((number, middle));
        }
    }
    (numbers.len() >= NUMBERS_MIN).then_some(numbers)
}

/// Returns the right edge of the row numbers.
fn numbers_right(rows: &[Row], before: i32) -> i32 {
    let first = rows.iter().filter_map(|row| row.first()).filter(|word| is_number_of_row(word, before));
    first.map(|word| word.bounds.right()).max().unwrap_or(0)
}

/// Rows of equal height.
struct DrawnRowGrid {
    number: u32,
    middle: i32,
    /// The height of a row.
    apart: f64,
}

impl DrawnRowGrid {
    fn through(numbers: &[(u32, i32)]) -> Option<Self> {
        let steps = numbers.iter().zip(numbers.iter().skip(1));
        let mut heights: Vec<f64> =
            steps.map(|(one, next)| f64::from(next.1 - one.1) / f64::from(next.0 - one.0)).collect();
        heights.sort_by(f64::total_cmp);
        let apart = heights.get(heights.len() / 2).copied().filter(|apart| *apart >= 1.0)?;
        let (number, middle) = *numbers.first()?;
        Some(Self { number, middle, apart })
    }

    fn at(&self, middle: i32) -> Option<u32> {
        let rows = (f64::from(middle - self.middle) / self.apart).round();
        let number = f64::from(self.number) + rows;
        (number >= 1.0 && number <= f64::from(u32::MAX)).then_some(number as u32)
    }
}

/// Left and right edges of columns.
struct Edges {
    first: u32,
    /// The left edge of each column, and the right one of the last.
    edges: Vec<f64>,
}

impl Edges {
    /// The edges that have the letters in the middles of their columns, cut few words and make columns equal.
    fn between(letters: &[(u32, i32)], content: &[&DrawnWord]) -> Option<Self> {
        let (first, middles) = middles(letters)?;
        let apart = middles.get(1)? - middles.first()?;
        let tries =
            (1..(apart * 2.0).ceil() as u32).map(|step| middles.first().map(|first| first - f64::from(step)));
        let cut = |edges: &Vec<f64>| {
            let inside = |word: &&&DrawnWord, edge: f64| {
                f64::from(word.bounds.x) < edge && edge < f64::from(word.bounds.right())
            };
            edges
                .iter()
                .map(|edge| content.iter().filter(|word| inside(word, *edge)).count() as f64)
                .sum::<f64>()
        };
        let unequal = |edges: &Vec<f64>| {
            let widths = || edges.iter().zip(edges.iter().skip(1)).map(|(one, next)| next - one);
            widths().fold(0.0, f64::max) - widths().fold(f64::MAX, f64::min)
        };
        // A word that is cut is as bad as columns that differ by this many pixels.
        let cost = |edges: &Vec<f64>| 4.0 * cut(edges) + unequal(edges);
        let candidates = tries.flatten().filter_map(|start| edges_from(start, &middles));
        let best = candidates.min_by(|one, other| cost(one).total_cmp(&cost(other)))?;
        Some(Self { first, edges: best })
    }

    /// The column that a word is in: numbers end in theirs, texts begin there and may reach further.
    fn column_of(&self, word: &DrawnWord) -> Option<u32> {
        let is_number = word.text.bytes().any(|byte| byte.is_ascii_digit())
            && !word.text.bytes().any(|byte| byte.is_ascii_alphabetic());
        let at = if is_number { word.bounds.right() - 1 } else { word.bounds.x + 1 };
        let at = f64::from(at);
        let spans = self.edges.iter().zip(self.edges.iter().skip(1));
        let place = spans.into_iter().position(|(left, right)| *left <= at && at < *right)?;
        Some(self.first + u32::try_from(place).ok()?)
    }
}

/// The middle of each column from the first letter to the last; those of letters that were not read lie evenly in between.
fn middles(letters: &[(u32, i32)]) -> Option<(u32, Vec<f64>)> {
    let first = letters.first()?.0;
    let mut middles = Vec::new();
    for (one, next) in letters.iter().zip(letters.iter().skip(1)) {
        let apart = f64::from(next.1 - one.1) / f64::from(next.0 - one.0);
        middles.extend((0..next.0 - one.0).map(|step| f64::from(one.1) + apart * f64::from(step)));
    }
    middles.push(f64::from(letters.last()?.1));
    Some((first, middles))
}

/// The edges of columns with these middles, the first of which begins at `start`; `None` if one has no width.
fn edges_from(start: f64, middles: &[f64]) -> Option<Vec<f64>> {
    let mut edges = vec![start];
    for middle in middles {
        let left = *edges.last()?;
        edges.push(2.0 * middle - left);
    }
    let grows = edges.iter().zip(edges.iter().skip(1)).all(|(one, next)| next - one >= 2.0);
    grows.then_some(edges)
}

#[cfg(test)]
#[path = "drawn_table_tests.rs"]
mod tests;
