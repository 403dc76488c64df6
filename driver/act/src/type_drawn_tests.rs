//! Words of a form before and after something was typed.

use deskhand_ui::ids::ElementId;

use super::*;

/// Lines of words, each with its left edge and the middle of its height.
fn read(words: &[(&str, i32, i32)]) -> Vec<DrawnLine> {
    let elements: Vec<Element> = words
        .iter()
        .map(|(text, x, y)| {
            let width = 8 * i32::try_from(text.len()).unwrap();
            let bounds = Some(Rect::new(*x, y - 6, width, 12));
            Element {
                source: ElementSource::Ocr,
                depth: 1,
                bounds,
                ..Element::new(ElementId(1), Role::DRAWN_TEXT, *text)
            }
        })
        .collect();
    lines(elements.iter())
}

const FORM: [(&str, i32, i32); 3] = [("Name:", 10, 20), ("Ready", 10, 200), ("Berlin", 10, 100)];

#[test]
fn words_are_put_into_lines() {
    let found = read(&[("Quarterly", 70, 21), ("Name:", 10, 20), ("far", 400, 20), ("below", 10, 40)]);
    let texts: Vec<&str> = found.iter().map(|line| line.text.as_str()).collect();
    assert_eq!(texts, ["Name: Quarterly", "far", "below"]);
}

#[test]
fn only_words_that_came_where_they_were_typed_prove_that() {
    let check =
        |now: &[(&str, i32, i32)], typed: &str, place: Option<Rect<Screen>>, expected: Option<&str>| {
            let found = typed_line(&read(&FORM), &read(now), typed, place);
            assert_eq!(found.as_ref().map(|found| found.text.as_str()), expected, "{now:?} {typed}");
        };
    let with = |more: &[(&'static str, i32, i32)]| [&FORM[..], more].concat();
    let field = Some(Rect::new(60, 10, 200, 20));
    // In an empty field beside its label, with a caret that is read as a letter, and into a line.
    check(&with(&[("Quarterly4711", 60, 20)]), "Quarterly4711", None, Some("Name: Quarterly4711"));
    check(&with(&[("Quarterly4711", 60, 20)]), "Quarterly4711", field, Some("Name: Quarterly4711"));
    check(&with(&[("Quarterly4711I", 60, 20)]), "Quarterly4711", field, Some("Name: Quarterly4711I"));
    check(
        &[("Name:", 10, 20), ("Ready", 10, 200), ("Berlin Mitte", 10, 100)],
        " Mitte",
        None,
        Some("Berlin Mitte"),
    );
    // Elsewhere than it was typed, twice, with other words, or in place of others.
    check(&with(&[("Quarterly4711", 60, 150)]), "Quarterly4711", field, None);
    check(&with(&[("Quarterly4711", 60, 20), ("Quarterly4711", 10, 150)]), "Quarterly4711", None, None);
    check(&with(&[("Searching for Quarterly4711", 10, 150)]), "Quarterly4711", None, None);
    check(&[("Name:", 10, 20), ("Quarterly4711", 10, 200), ("Berlin", 10, 100)], "Quarterly4711", None, None);
    // It was there before.
    check(&FORM, "Berlin", None, None);
    check(&[("Name:", 10, 20), ("Ready", 10, 200), ("Berlin", 10, 120)], "Berlin", None, None);
    // Misread, too little to tell, and only a part of it.
    check(&with(&[("Quartely4711", 60, 20)]), "Quarterly4711", None, None);
    check(&with(&[("47", 60, 20)]), "47", None, None);
    check(&with(&[("Quarterly4711", 60, 20)]), "Quarterly4711\tsecond", None, None);
    check(
        &with(&[("Quarterly4711", 60, 20), ("second", 60, 60)]),
        "Quarterly4711\tsecond\n",
        None,
        Some("second"),
    );
}

#[test]
fn what_was_typed_is_a_part_of_its_line() {
    let check = |line: (&'static str, i32, i32), typed: &str, expected: ([i32; 4], bool)| {
        let found = typed_line(&read(&FORM), &read(&[&FORM[..], &[line]].concat()), typed, None).unwrap();
        assert_eq!((found.part.into(), found.has_caret), expected, "{line:?}");
    };
    check(("4711", 60, 150), "4711", ([60, 144, 32, 12], false));
    // The letters of the label beside it count for their share.
    check(("4711", 60, 20), "4711", ([51, 14, 41, 12], false));
    check(("4711I", 60, 150), "4711", ([60, 144, 32, 12], true));
}
