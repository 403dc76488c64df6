//! Dates and times in their parts, as ISO 8601 writes them. Pure.

use std::collections::BTreeMap;

use jiff::civil::Date;

/// A part of a date or a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum DatePart {
    Year,
    Month,
    Day,
    /// From 0 to 23.
    Hour,
    Minute,
    Second,
}

/// A date, a time or both.
pub(crate) type Parts = BTreeMap<DatePart, u32>;

/// A date, a month, a time, or a date and a time as ISO 8601 writes them: `2025-12-31`, `2025-12`, `08:30`, `2025-12-31T08:30:00`.
pub(crate) fn parse(text: &str) -> Option<Parts> {
    let text = text.trim();
    let (date, time) = match text.split_once(['T', ' ']) {
        Some((date, time)) => (Some(date), Some(time)),
        None if text.contains(':') => (None, Some(text)),
        None => (Some(text), None),
    };
    let mut parts = Parts::new();
    let mut read = |text: &str, between: char, of: &[(DatePart, u32, u32)], least: usize| {
        let numbers: Vec<&str> = text.split(between).collect();
        let is_whole = (least..=of.len()).contains(&numbers.len());
        is_whole.then_some(())?;
        for (number, (part, minimum, maximum)) in numbers.into_iter().zip(of) {
            let is_number = number.bytes().all(|byte| byte.is_ascii_digit());
            let value: u32 = number.parse().ok().filter(|_| is_number)?;
            (*minimum..=*maximum).contains(&value).then_some(())?;
            parts.insert(*part, value);
        }
        Some(())
    };
    if let Some(date) = date {
        read(date, '-', &[(DatePart::Year, 1, 9_999), (DatePart::Month, 1, 12), (DatePart::Day, 1, 31)], 2)?;
    }
    if let Some(time) = time {
        read(time, ':', &[(DatePart::Hour, 0, 23), (DatePart::Minute, 0, 59), (DatePart::Second, 0, 59)], 2)?;
    }
    is_in_calendar(&parts).then_some(parts)
}

/// Returns `true` if the calendar has such a day.
fn is_in_calendar(parts: &Parts) -> bool {
    let (Some(year), Some(month)) = (parts.get(&DatePart::Year), parts.get(&DatePart::Month)) else {
        return true;
    };
    let day = parts.get(&DatePart::Day).unwrap_or(&1);
    let (Ok(year), Ok(month), Ok(day)) = (i16::try_from(*year), i8::try_from(*month), i8::try_from(*day))
    else {
        return false;
    };
    Date::new(year, month, day).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_forms_are_no_date() {
        assert!(parse("2000-02-29").is_some() && parse("2024-02-29").is_some());
        for text in [
            "31.12.2025",
            "12/31/2025",
            "2025-13-01",
            "2025-12-32",
            "24:00",
            "2025",
            "+2025-01-01",
            "",
            "08:30:61",
            "2025-02-29",
            "2100-02-29",
        ] {
            assert_eq!(parse(text), None, "{text:?}");
        }
    }
}
