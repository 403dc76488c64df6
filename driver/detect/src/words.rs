//! From the TSV output of tesseract to labels: words that belong together, with their bounds.

use deskhand_ui::geometry::{Image, Point, Rect, Screen};

use crate::overlap::around;

/// The level of a word in the table; pages, blocks, paragraphs and lines have lower ones.
const WORD_LEVEL: u32 = 5;
/// The most words of a picture that are used.
const WORDS_MAX: usize = 5_000;
/// A gap of at least this share of the line height separates two labels.
const GAP_MAX: f64 = 0.85;
/// The least confidence of a single character, in per cent: signs and edges are often read as letters.
const SINGLE_CONFIDENCE: f64 = 85.0;

/// A word as it was read.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct OcrWord {
    /// The block, paragraph and line that contain it.
    line: (u32, u32, u32),
    /// Its bounds in the enlarged picture.
    place: Rect<Image>,
    /// The confidence, in per cent.
    confidence: f64,
    text: String,
}

/// Words that belong together.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct OcrLabel {
    /// Their text.
    pub(crate) text: String,
    /// Their bounds.
    pub(crate) bounds: Rect<Screen>,
}

/// The words of a table with enough confidence, in order; other lines are skipped.
pub(crate) fn words_of_table(table: &str, confidence_min: u8) -> Vec<OcrWord> {
    let words = table.lines().filter_map(word_of_line);
    words.filter(|word| word.confidence >= f64::from(confidence_min)).take(WORDS_MAX).collect()
}

/// Level, page, block, paragraph, line, word, left, top, width, height, confidence, text.
fn word_of_line(line: &str) -> Option<OcrWord> {
    let mut columns = line.splitn(12, '\t');
    let mut number = || columns.next()?.trim().parse::<u32>().ok();
    let (level, _, block, paragraph, line, _) =
        (number()?, number()?, number()?, number()?, number()?, number()?);
    let mut side = || i32::try_from(number()?).ok();
    let (x, y, width, height) = (side()?, side()?, side()?, side()?);
    let confidence = columns.next()?.trim().parse::<f64>().ok()?;
    let text = columns.next()?.trim().to_owned();
    let says = text.chars().any(char::is_alphanumeric);
    (level == WORD_LEVEL && says && width > 0 && height > 0).then_some(OcrWord {
        line: (block, paragraph, line),
        place: Rect::new(x, y, width, height),
        confidence,
        text,
    })
}

/// Joins the words of a line where no wide gap separates them, and maps them to the screen: `origin` is the corner of
/// the picture, which was enlarged `scale` times.
pub(crate) fn labels_of_words(words: &[OcrWord], origin: Point<Screen>, scale: u32) -> Vec<OcrLabel> {
    let mut labels = Vec::new();
    let mut open: Vec<&OcrWord> = Vec::new();
    for word in words {
        let joins = open.last().is_some_and(|last| {
            let height = open.iter().map(|word| word.place.height).max().unwrap_or(0).max(word.place.height);
            let gap = word.place.x - last.place.right();
            last.line == word.line && f64::from(gap) <= GAP_MAX * f64::from(height) && gap > -height
        });
        if !joins {
            labels.extend(label(&open, origin, scale));
            open.clear();
        }
        open.push(word);
    }
    labels.extend(label(&open, origin, scale));
    labels
}

fn label(words: &[&OcrWord], origin: Point<Screen>, scale: u32) -> Option<OcrLabel> {
    let place = words.iter().map(|word| word.place).reduce(|one, other| around(&one, &other))?;
    let text = words.iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join(" ");
    let single = text.chars().filter(|letter| letter.is_alphanumeric()).count() < 2;
    if single && words.iter().any(|word| word.confidence < SINGLE_CONFIDENCE) {
        return None;
    }
    Some(OcrLabel { text, bounds: to_screen(&place, origin, scale) })
}

/// The pixels of the screen that an area in the enlarged picture covers, at least partly.
fn to_screen(place: &Rect<Image>, origin: Point<Screen>, scale: u32) -> Rect<Screen> {
    let scale = i32::try_from(scale.max(1)).unwrap_or(1);
    let (left, top) = (place.x.div_euclid(scale), place.y.div_euclid(scale));
    let up = |edge: i32| edge.div_euclid(scale) + i32::from(edge.rem_euclid(scale) > 0);
    Rect::new(origin.x + left, origin.y + top, up(place.right()) - left, up(place.bottom()) - top)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = "level\tpage_num\tblock_num\tpar_num\tline_num\tword_num\tleft\ttop\twidth\theight\tconf\ttext\n\
        1\t1\t0\t0\t0\t0\t0\t0\t2000\t1000\t-1\t\n\
        4\t1\t1\t1\t1\t0\t20\t30\t400\t20\t-1\t\n\
        5\t1\t1\t1\t1\t1\t20\t30\t61\t20\t96.5\tSave\n\
        5\t1\t1\t1\t1\t2\t89\t30\t40\t20\t95\tas…\n\
        5\t1\t1\t1\t1\t3\t180\t30\t50\t20\t93\tOpen\n\
        5\t1\t1\t1\t1\t4\t300\t30\t50\t20\t12\tblurred\n\
        5\t1\t2\t1\t1\t1\t500\t100\t10\t20\t70\tx\n\
        5\t1\t3\t1\t1\t1\t600\t100\t12\t20\t91\tB\n\
        5\t1\t4\t1\t1\t1\t700\t100\t12\t20\t91\t—\n\
        5\t1\tgarbage\n";

    #[test]
    fn words_are_joined_unless_a_gap_separates_them() {
        let words = words_of_table(TABLE, 50);
        assert_eq!(words.len(), 5, "{words:?}");
        let labels = labels_of_words(&words, Point::new(100, 200), 2);
        let found: Vec<(&str, [i32; 4])> =
            labels.iter().map(|label| (label.text.as_str(), label.bounds.into())).collect();
        assert_eq!(
            found,
            [("Save as…", [110, 215, 55, 10]), ("Open", [190, 215, 25, 10]), ("B", [400, 250, 6, 10]),]
        );
    }

    #[test]
    fn areas_are_mapped_back_to_whole_pixels() {
        let check = |place: [i32; 4], scale, expected: [i32; 4]| {
            let mapped = to_screen(&Rect::from(place), Point::new(-5, 7), scale);
            assert_eq!(<[i32; 4]>::from(mapped), expected);
        };
        check([0, 0, 9, 9], 3, [-5, 7, 3, 3]);
        check([1, 2, 9, 9], 3, [-5, 7, 4, 4]);
        check([10, 10, 1, 1], 1, [5, 17, 1, 1]);
        check([11, 11, 2, 2], 2, [0, 12, 2, 2]);
    }

    #[test]
    fn a_table_without_words_has_no_labels() {
        for table in ["", "level\tpage_num\n", "5\t1\t1\t1\t1\t1\t-3\t0\t5\t5\t90\tx", "\u{0}\t\t\t"] {
            assert!(words_of_table(table, 0).is_empty(), "{table:?}");
        }
        assert!(labels_of_words(&[], Point::new(0, 0), 2).is_empty());
    }
}
