//! Texts of editors, in parts.

use super::*;

fn parts(text: &str, day_first: Option<bool>) -> Option<Vec<(DatePart, u32)>> {
    let layout = DateTextLayout::of(text, day_first)?;
    Some(layout.sections.iter().map(|section| (section.part, section.value)).collect())
}

#[test]
fn parts_stand_in_the_order_of_the_language() {
    use DatePart::{Day, Hour, Minute, Month, Second, Year};
    let check = |text: &str, expected: &[(DatePart, u32)], is_certain: bool| {
        assert_eq!(parts(text, None).as_deref(), Some(expected), "{text}");
        assert_eq!(DateTextLayout::of(text, None).unwrap().is_certain, is_certain, "{text}");
    };
    check("31.01.25", &[(Day, 31), (Month, 1), (Year, 25)], true);
    check("1/31/2025", &[(Month, 1), (Day, 31), (Year, 2025)], true);
    check("3/4/25", &[(Month, 3), (Day, 4), (Year, 25)], false);
    check("03.04.2025", &[(Day, 3), (Month, 4), (Year, 2025)], false);
    check("2025-04-03", &[(Year, 2025), (Month, 4), (Day, 3)], true);
    check("09:30", &[(Hour, 9), (Minute, 30)], true);
    check(
        "31.01.25 09:30:15",
        &[(Day, 31), (Month, 1), (Year, 25), (Hour, 9), (Minute, 30), (Second, 15)],
        true,
    );
    assert_eq!(parts("3/4/25", Some(true)).unwrap()[0], (Day, 3), "as it was found");
}

#[test]
fn a_month_may_be_a_word() {
    use DatePart::{Day, Hour, Minute, Year};
    let check = |text: &str, month: &str, expected: &[(DatePart, u32)]| {
        assert_eq!(parts(text, None).as_deref(), Some(expected), "{text}");
        let layout = DateTextLayout::of(text, None).unwrap();
        assert_eq!(layout.month.clone().unwrap().1, month, "{text}");
        let wanted = parse("2025-01-31").unwrap();
        assert!(layout.has_all(&wanted) && layout.shows(&wanted, Some(month)), "{text}");
        assert!(!layout.shows(&wanted, None) && !layout.shows(&wanted, Some("Mai")), "{text}");
    };
    check("31. Januar 2025", "Januar", &[(Day, 31), (Year, 2025)]);
    check("Jan 31, 2025", "Jan", &[(Day, 31), (Year, 2025)]);
    check("2025 gennaio 31 09:30", "gennaio", &[(Year, 2025), (Day, 31), (Hour, 9), (Minute, 30)]);
}

#[test]
fn other_texts_are_no_date() {
    for text in [
        "",
        "12",
        "3.5",
        "So, 5. Juli 2026",
        "1 Mai 25",
        "10 kg",
        "1:2:3:4",
        "12:30 Uhr",
        "192.168.1.10",
        "a:b",
    ] {
        assert_eq!(parts(text, None), None, "{text:?}");
    }
}

#[test]
fn what_is_shown_is_compared_with_what_is_wanted() {
    let check = |text: &str, wanted: &str, expected: bool| {
        let layout = DateTextLayout::of(text, None).unwrap();
        assert_eq!(layout.shows(&parse(wanted).unwrap(), None), expected, "{text} {wanted}");
    };
    check("31.01.25", "2025-01-31", true);
    check("31.01.25", "2025-01-30", false);
    check("9:30 AM", "09:30", true);
    check("9:30 PM", "21:30", true);
    check("12:00 AM", "00:00", true);
    check("12:00 PM", "00:00", false);
    let layout = DateTextLayout::of("31.01.25", None).unwrap();
    assert!(layout.hides_century(&parse("2025-01-31").unwrap()));
    assert!(!layout.has_all(&parse("08:30").unwrap()) && !layout.has_all(&parse("2025-01").unwrap()));
}
