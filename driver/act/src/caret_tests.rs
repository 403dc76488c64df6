//! A line of letters in a white window, with and without carets.

use deskhand_desktop::picture::Colour;

use super::*;

const WORDS: Rect<Screen> = Rect::new(100, 50, 60, 12);

/// A window with these black areas.
fn window(black: &[[i32; 4]]) -> Picture {
    let region = Rect::new(20, 10, 200, 100);
    let mut picture = Picture { region, rgb: vec![255; 200 * 100 * 3] };
    for area in black {
        let place = picture.place(&Rect::from(*area)).unwrap();
        picture.fill(&place, Colour([0, 0, 0]));
    }
    picture
}

/// Letters: the last one ends with a stem.
const LETTERS: [[i32; 4]; 2] = [[100, 53, 50, 8], [158, 50, 2, 12]];

#[test]
fn words_without_a_caret_prove_nothing() {
    let check = |before: &[[i32; 4]], last: Option<&[[i32; 4]]>, now: &[[i32; 4]], expected: bool| {
        let (before, now) = (window(before), window(&[&LETTERS, now].concat()));
        let last = last.map(|last| window(&[&LETTERS, last].concat()));
        let looks = CaretPictures { before: Some(&before), last: last.as_ref(), now: Some(&now) };
        assert_eq!(looks.show_caret(&WORDS), expected, "{last:?}");
    };
    let nothing: &[[i32; 4]] = &[];
    check(nothing, None, nothing, false);
    check(nothing, Some(nothing), nothing, false);
    // A caret in the place before, or a block.
    check(&[[99, 48, 1, 16]], None, nothing, true);
    check(&[[100, 49, 8, 14]], None, nothing, true);
    // Behind the words, as wide as a caret or a block.
    check(nothing, None, &[[161, 48, 1, 16]], true);
    check(nothing, None, &[[161, 48, 2, 16]], true);
    // What stands farther away, and what is no higher than letters.
    check(nothing, None, &[[166, 30, 1, 60]], false);
    check(nothing, None, &[[161, 50, 1, 12]], false);
    // It blinks, even where it touches the letters.
    check(nothing, Some(&[[160, 50, 1, 12]]), nothing, true);
    // Something else changes elsewhere.
    check(nothing, Some(&[[30, 20, 5, 5]]), nothing, false);
    check(&[[100, 20, 60, 12]], None, nothing, false);
    let looks = CaretPictures { before: None, last: None, now: None };
    assert!(!looks.show_caret(&WORDS));
}
