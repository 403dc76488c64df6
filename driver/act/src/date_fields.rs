//! Part of a date or a time that each field shows: recognised by its range or, if it has none, by its text and
//! its place.

use deskhand_ui::{Element, Role};

use crate::date_parts::DatePart;

/// The least digits of a year, or letters of its placeholder.
const YEAR_CHARS_MIN: usize = 4;

/// Part of a date or a time that a field shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shows {
    Part(DatePart),
    /// The hour of a 12-hour clock: 12, 1, 2 … 11.
    TwelveHour,
    /// AM or PM: 1 or 2.
    AmPm,
}

/// Parts that the fields of an editor show, in their order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DateFieldOrder {
    pub(crate) shown: Vec<Shows>,
    /// `true` if the day and month fields are distinguished with certainty.
    pub(crate) is_certain: bool,
}

impl DateFieldOrder {
    pub(crate) fn swap_day_and_month(&mut self) {
        for shows in &mut self.shown {
            *shows = match *shows {
                Shows::Part(DatePart::Day) => Shows::Part(DatePart::Month),
                Shows::Part(DatePart::Month) => Shows::Part(DatePart::Day),
                other @ (Shows::Part(_) | Shows::TwelveHour | Shows::AmPm) => other,
            };
        }
    }
}

/// Recognises the parts that these fields show; `None` if one is unknown.
pub(crate) fn recognise(fields: &[Element]) -> Option<DateFieldOrder> {
    let ranges: Option<Vec<(u32, u32)>> = fields.iter().map(range_of).collect();
    match ranges {
        Some(ranges) => Some(DateFieldOrder { shown: by_range(&ranges)?, is_certain: true }),
        None => by_text(fields),
    }
}

/// Returns the current value of a field; 0 if it has none yet.
pub(crate) fn current(field: &Element) -> Option<u32> {
    if let Some(value) = field.value {
        return whole(value.current);
    }
    let text = field.text.as_deref()?.trim();
    match () {
        () if text.eq_ignore_ascii_case("AM") => Some(1),
        () if text.eq_ignore_ascii_case("PM") => Some(2),
        () => text.parse().ok(),
    }
}

/// A value that is a whole number from 0.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "checked to be whole and in range"
)]
fn whole(value: f64) -> Option<u32> {
    let fits = value.fract() == 0.0 && (0.0..=f64::from(u32::MAX)).contains(&value);
    fits.then_some(value as u32)
}

fn range_of(field: &Element) -> Option<(u32, u32)> {
    let value = field.value?;
    Some((whole(value.minimum)?, whole(value.maximum)?))
}

/// Recognises the fields with these ranges, in their order; `None` if one is unknown.
pub(crate) fn by_range(ranges: &[(u32, u32)]) -> Option<Vec<Shows>> {
    const YEAR_MIN: u32 = 9_999;
    let has_date = ranges.iter().any(|(_, maximum)| *maximum == 31 || *maximum >= YEAR_MIN);
    let mut shown: Vec<Shows> = Vec::new();
    for range in ranges {
        let is_new = |shows: Shows| !shown.contains(&shows);
        let shows = match range {
            (_, maximum) if *maximum >= YEAR_MIN => Shows::Part(DatePart::Year),
            (1, 31) => Shows::Part(DatePart::Day),
            // A date stands before a time in every language.
            (1, 12) if has_date && is_new(Shows::Part(DatePart::Month)) => Shows::Part(DatePart::Month),
            (1, 12) => Shows::TwelveHour,
            (0, 23) => Shows::Part(DatePart::Hour),
            (0, 59) if is_new(Shows::Part(DatePart::Minute)) => Shows::Part(DatePart::Minute),
            (0, 59) => Shows::Part(DatePart::Second),
            (1, 2) => Shows::AmPm,
            _ => return None,
        };
        if !is_new(shows) {
            return None;
        }
        shown.push(shows);
    }
    // A 12-hour clock needs a field for AM or PM.
    let [hour, am_pm] = [Shows::TwelveHour, Shows::AmPm].map(|one| shown.contains(&one));
    (!shown.is_empty() && hour == am_pm).then_some(shown)
}

/// Recognises fields without a range, as in Firefox: three of a date, of which the year is the longest, then
/// those of a time, and an entry for AM or PM.
fn by_text(fields: &[Element]) -> Option<DateFieldOrder> {
    let has_half = fields.last().is_some_and(|last| last.role == Role::ENTRY);
    let spins = fields.get(..fields.len() - usize::from(has_half))?;
    let is_plain = |spin: &Element| spin.role == Role::SPIN_BUTTON && spin.value.is_none();
    if !spins.iter().all(is_plain) {
        return None;
    }
    let is_year = |spin: &Element| {
        spin.text.as_deref().is_some_and(|text| text.trim().chars().count() >= YEAR_CHARS_MIN)
    };
    let years = spins.iter().filter(|spin| is_year(spin)).count();
    let (date, time) = spins.split_at_checked(if years == 0 { 0 } else { 3 })?;
    let is_twelve_hour = has_half && !time.is_empty();
    let hour = if is_twelve_hour { Shows::TwelveHour } else { Shows::Part(DatePart::Hour) };
    let times = [hour, Shows::Part(DatePart::Minute), Shows::Part(DatePart::Second)];
    let fits = years <= 1 && [0, 2, 3].contains(&time.len()) && has_half == is_twelve_hour;
    (fits && !spins.is_empty()).then_some(())?;
    let (mut shown, is_certain) = if years == 0 { (Vec::new(), true) } else { dates(date, is_year)? };
    shown.extend(times.into_iter().take(time.len()));
    shown.extend(has_half.then_some(Shows::AmPm));
    Some(DateFieldOrder { shown, is_certain })
}

/// Returns the parts that the three fields of a date show, and `true` if that is certain.
fn dates(fields: &[Element], is_year: impl Fn(&Element) -> bool) -> Option<(Vec<Shows>, bool)> {
    let others: Vec<&Element> = fields.iter().filter(|field| !is_year(field)).collect();
    let [one, two] = others.as_slice() else { return None };
    let is_called = |field: &Element, name: &str| field.name.eq_ignore_ascii_case(name);
    let is_day = |field: &Element| is_called(field, "day") || current(field).is_some_and(|value| value > 12);
    let day_first = match () {
        () if is_day(one) || is_called(two, "month") => Some(true),
        () if is_day(two) || is_called(one, "month") => Some(false),
        () => None,
    };
    let parts = if day_first.unwrap_or(true) {
        [DatePart::Day, DatePart::Month]
    } else {
        [DatePart::Month, DatePart::Day]
    };
    let mut parts = parts.into_iter();
    let shown: Option<Vec<Shows>> = fields
        .iter()
        .map(|field| if is_year(field) { Some(DatePart::Year) } else { parts.next() }.map(Shows::Part))
        .collect();
    Some((shown?, day_first.is_some()))
}

#[cfg(test)]
pub(crate) mod tests {
    use deskhand_ui::ids::ElementId;

    use super::*;

    pub(crate) const YEAR: (u32, u32) = (1, 275_760);
    pub(crate) const DAY: (u32, u32) = (1, 31);
    pub(crate) const TWELVE: (u32, u32) = (1, 12);
    pub(crate) const SIXTY: (u32, u32) = (0, 59);

    #[test]
    fn fields_are_recognised_in_any_order() {
        let part = |part| Shows::Part(part);
        let american = [TWELVE, DAY, YEAR, TWELVE, SIXTY, (1, 2)];
        let shown = by_range(&american).unwrap();
        let (month, day, year) = (part(DatePart::Month), part(DatePart::Day), part(DatePart::Year));
        assert_eq!(shown, [month, day, year, Shows::TwelveHour, part(DatePart::Minute), Shows::AmPm]);
        assert_eq!(by_range(&[DAY, TWELVE, YEAR]).unwrap(), [day, month, year]);
        let time = [(0, 23), SIXTY, SIXTY];
        assert_eq!(
            by_range(&time).unwrap(),
            [DatePart::Hour, DatePart::Minute, DatePart::Second].map(Shows::Part)
        );
        assert_eq!(by_range(&[(1, 53), YEAR]), None, "a week");
        assert_eq!(by_range(&[TWELVE, SIXTY]), None, "a 12-hour clock without a field for AM or PM");
        assert_eq!(by_range(&[]), None);
    }

    #[test]
    fn fields_without_ranges_are_recognised_by_text_and_place() {
        let part = |part| Shows::Part(part);
        let check = |fields: &[(&str, &str)], has_half: bool, expected: Option<(&[Shows], bool)>| {
            let mut elements: Vec<Element> = fields.iter().map(|(name, text)| spin(name, text)).collect();
            elements.extend(has_half.then(|| Element { role: Role::ENTRY, ..spin("AM/PM", "--") }));
            let found = recognise(&elements);
            let found = found.as_ref().map(|order| (order.shown.as_slice(), order.is_certain));
            assert_eq!(found, expected, "{fields:?}");
        };
        let (month, day, year) = (part(DatePart::Month), part(DatePart::Day), part(DatePart::Year));
        let (hour, minute) = (part(DatePart::Hour), part(DatePart::Minute));
        let english = [("Month", "mm"), ("Day", "dd"), ("Year", "yyyy"), ("Hours", "--"), ("Minutes", "--")];
        let both = [month, day, year, Shows::TwelveHour, minute, Shows::AmPm];
        check(&english, true, Some((&both, true)));
        check(&[("Hours", "08"), ("Minutes", "30")], false, Some((&[hour, minute], true)));
        let german = [("Tag", "TT"), ("Monat", "MM"), ("Jahr", "JJJJ")];
        check(&german, false, Some((&[day, month, year], false)));
        check(&[("Jahr", "2026"), ("M", "05"), ("T", "31")], false, Some((&[year, month, day], true)));
        check(&[("", "1"), ("", "2"), ("", "3"), ("", "4")], false, None);
        check(&[("", "1"), ("", "2024")], false, None);
        check(&[], false, None);
        check(&[], true, None);
    }

    fn spin(name: &str, text: &str) -> Element {
        let mut element = Element::new(ElementId(0), Role::SPIN_BUTTON, name);
        element.text = Some(text.to_owned());
        element
    }
}
