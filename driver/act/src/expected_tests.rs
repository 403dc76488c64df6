//! Expected texts, completions and excerpts.

use super::*;

fn present(text: &str, place: InsertionPoint) -> EditableText {
    EditableText { text: text.to_owned(), place }
}

#[test]
fn typed_text_takes_the_place_of_the_selection() {
    let check = |text: &str, place: InsertionPoint, typed: &str, found: &str, expected: ReadBackVerdict| {
        let wanted = present(text, place).expected();
        assert_eq!(wanted.judge(typed, text, found), expected, "{text:?} {place:?} {typed:?} {found:?}");
    };
    check("Sheet5", InsertionPoint::Selected(0, 6), "Out", "Out", ReadBackVerdict::Met);
    check("Sheet5", InsertionPoint::Selected(0, 6), "Out", "Sheet5Out", ReadBackVerdict::Wrong);
    check("a 228 b", InsertionPoint::Selected(2, 5), "7", "a 7 b", ReadBackVerdict::Met);
    check("a 228 b", InsertionPoint::Selected(2, 5), "7", "a 228 b7", ReadBackVerdict::Wrong);
    check("a 228 b", InsertionPoint::Selected(2, 5), "73", "a 7 b", ReadBackVerdict::OnItsWay);
    check("ab", InsertionPoint::Caret(1), "--", "a--b", ReadBackVerdict::Met);
    check("ab", InsertionPoint::Caret(1), "--", "a–b", ReadBackVerdict::Wrong);
    check("ab", InsertionPoint::Caret(1), "x", "ab", ReadBackVerdict::OnItsWay);
    check("ab", InsertionPoint::Caret(1), "x", "abx", ReadBackVerdict::Wrong);
    check("ab", InsertionPoint::Unknown, "x", "axb", ReadBackVerdict::Met);
    check("ab", InsertionPoint::Unknown, "x", "ax", ReadBackVerdict::Wrong);
    check("", InsertionPoint::Unknown, "x", "x\n", ReadBackVerdict::Met);
    // A line end that was not typed is no matter; one that was typed is.
    check("ab\n", InsertionPoint::Caret(2), "x", "abx", ReadBackVerdict::Met);
    check("ab", InsertionPoint::Caret(2), "\n", "ab", ReadBackVerdict::OnItsWay);
    check("ab", InsertionPoint::Caret(2), "\n", "ab\n", ReadBackVerdict::Met);
    check("ab", InsertionPoint::Caret(1), "x\n", "ax\nb", ReadBackVerdict::Met);
    check("ab", InsertionPoint::Caret(1), "x\n", "ax\n  b", ReadBackVerdict::Wrong);
    check("ab", InsertionPoint::Caret(2), "two words", "abtwo\u{a0}words", ReadBackVerdict::Met);
}

#[test]
fn a_completion_is_told_from_another_text() {
    let empty = present("", InsertionPoint::Caret(0)).expected();
    let completed = |found: &str, selected| empty.completion("exa", found, selected);
    assert_eq!(completed("example", Some((3, 7))).as_deref(), Some("mple"));
    assert_eq!(completed("example", Some((2, 7))), None);
    assert_eq!(completed("example", None), None);
    assert_eq!(completed("Example", Some((3, 7))), None);
}

#[test]
fn evidence_shows_the_place_and_what_stands_around_it() {
    let long = format!("{}NEEDLE{}", "a".repeat(500), "b".repeat(500));
    let wanted = present(&long, InsertionPoint::Selected(500, 506)).expected();
    let found = long.replace("NEEDLE", "needles");
    let (evidence, output) = wanted.evidence("needles", &long, &found);
    assert!(
        matches!(&evidence, Evidence::Seen { proof: ActionProof::Reads { text, .. } } if text.contains("aneedlesb")),
        "{evidence:?}"
    );
    assert!(output.contains("needles") && output.chars().count() <= OUTPUT_MAX, "{output}");
    let damaged = long.replace("NEEDLE", "Needles");
    let (evidence, output) = wanted.evidence("needles", &long, &damaged);
    let Evidence::NotSeen { shortfall: Shortfall::ReadsOtherwise { around: Some(around), .. } } = evidence
    else {
        panic!("{evidence:?}")
    };
    assert!(around.before.contains("NEEDLE") && around.after.contains("Needles"), "{around:?}");
    assert!(around.before.chars().count() <= TEXT_MAX && output.contains("Needles"));
}

#[test]
fn an_excerpt_is_cut_on_both_sides() {
    assert_eq!(excerpt("short", (0, 1), 10), "short");
    assert_eq!(excerpt("abcdefghijklmnop", (8, 9), 8), "…fghijk…");
    assert_eq!(excerpt("abcdefghijklmnop", (0, 1), 8), "abcdef…");
    assert_eq!(excerpt("abcdefghijklmnop", (16, 16), 8), "…klmnop");
}
