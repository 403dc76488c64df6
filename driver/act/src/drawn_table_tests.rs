//! Tables of words at places.

use super::*;

/// Words at their left edges and the tops of their lines, eight pixels a letter.
fn words(placed: &[(&str, i32, i32)]) -> Vec<DrawnWord> {
    let word = |(text, x, y): &(&str, i32, i32)| {
        let width = 8 * i32::try_from(text.chars().count()).unwrap();
        DrawnWord { text: (*text).to_owned(), bounds: Rect::new(*x, *y, width, 12) }
    };
    placed.iter().map(word).collect()
}

fn texts(rows: &[&[&str]]) -> Vec<Vec<String>> {
    rows.iter().map(|row| row.iter().map(|text| (*text).to_owned()).collect()).collect()
}

const MENU: [(&str, i32, i32); 4] = [("File", 5, 4), ("Edit", 55, 4), ("View", 105, 4), ("Help", 155, 4)];

#[test]
fn words_below_each_other_are_a_table() {
    // Names from the left, amounts to the right, one of them missing; headings in the middle; a sentence below.
    let table = [
        ("City", 30, 60),
        ("Amount", 140, 60),
        ("Berlin", 20, 80),
        ("1200", 158, 80),
        ("Lima", 20, 100),
        ("7", 182, 100),
        ("Oslo", 20, 120),
        ("Rio", 20, 140),
        ("35", 174, 140),
        ("Four cities are shown here", 20, 200),
    ];
    let found = tables(words(&[&MENU[..], &table].concat()));
    let table = &found[0];
    assert_eq!(table.range.to_string(), "A1:B5");
    assert_eq!(
        table.rows,
        texts(&[&["City", "Amount"], &["Berlin", "1200"], &["Lima", "7"], &["Oslo", ""], &["Rio", "35"]])
    );
    assert_eq!(table.bounds, Rect::new(20, 60, 170, 92));
}

#[test]
fn a_form_and_a_paragraph_are_no_tables() {
    for placed in [
        &[("Name:", 10, 10), ("Save", 300, 40), ("Cancel", 340, 70)][..],
        &[("The quick brown", 10, 10), ("fox jumps", 150, 10), ("over the lazy dog", 10, 30)],
        &MENU,
        &[],
    ] {
        assert_eq!(tables(words(placed)), [], "{placed:?}");
    }
}

#[test]
fn letters_and_numbers_of_a_spreadsheet_say_which_cell_a_word_is_in() {
    // The letter B and the number 3 are not read; C is wider; a long text reaches into the next column.
    let sheet = [
        ("A", 80, 40),
        ("C", 250, 40),
        ("D", 360, 40),
        ("1", 20, 60),
        ("2", 20, 80),
        ("4", 20, 120),
        ("5", 20, 140),
        ("Parts", 128, 60),
        ("Price", 210, 60),
        ("Bolts", 128, 80),
        ("12.50", 252, 80),
        ("A very long remark", 128, 100),
        ("9", 284, 120),
        ("30", 384, 120),
        ("Sheet1", 10, 300),
        ("Sum = 51.50", 300, 330),
    ];
    let found = tables(words(&[&MENU[..], &sheet].concat()));
    assert_eq!(found.len(), 1);
    let table = &found[0];
    assert_eq!(table.range.to_string(), "B1:D4");
    let rows = texts(&[
        &["Parts", "Price", ""],
        &["Bolts", "12.50", ""],
        &["A very long remark", "", ""],
        &["", "9", "30"],
    ]);
    assert_eq!(table.rows, rows);
    let shown = |range: &str| table.shown_of(Some(range.parse().unwrap())).map(|shown| shown.to_string());
    assert_eq!(shown("A2:C100").as_deref(), Some("B2:C4"));
    assert_eq!((shown("F1:G9"), table.shown_of(None)), (None, Some(table.range)));
    let range = "A2:C3".parse().unwrap();
    assert_eq!(table.part(range), texts(&[&["", "Bolts", "12.50"], &["", "A very long remark", ""]]));
}
