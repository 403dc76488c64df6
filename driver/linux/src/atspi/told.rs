//! Information from an application about an element beyond its text: the page of a document that it is on, the
//! style of a paragraph and what stands out in it, and the stored value of a cell that is shown in another
//! form.

use std::collections::HashMap;

use deskhand_ui::{Element, ElementCapability, Role, text::clip};
use jiff::{ToSpan as _, civil};

use super::{
    bus::{ACCESSIBLE, AtspiCallError, Bus, CallResult, TEXT, VALUE},
    header::AtspiObjectHeader,
    quirks::AtspiToolkit,
    wire::ObjectRef,
};

/// Attributes of an object or a part of a text, by name.
type Attributes = HashMap<String, String>;

/// The most parts of a paragraph that are looked at: each word that is spelled wrong is one.
const RUNS_MAX: usize = 12;
/// The longest quoted part of a paragraph, in characters.
const QUOTE_MAX: usize = 30;
/// Styles of paragraphs that say nothing.
const PLAIN_STYLES: [&str; 3] = ["Default Paragraph Style", "Text Body", "Table Contents"];
/// From this weight on, a text is bold.
const BOLD: u32 = 600;

/// Reads the application's information about an object with this text, if its toolkit provides any; see
/// [`Element::told`].
pub(super) async fn read_told(
    bus: &Bus,
    object: &ObjectRef,
    toolkit: AtspiToolkit,
    head: &AtspiObjectHeader,
    text: Option<&str>,
) -> CallResult<Option<String>> {
    if !toolkit.tells_formats {
        return Ok(None);
    }
    let told = match (&head.role, text) {
        (role, _) if ["document text", "document presentation"].contains(&role.name()) => {
            read_page(bus, object).await
        }
        (role, Some(text)) if [Role::PARAGRAPH, Role::HEADING].contains(role) => {
            read_style(bus, object, text).await
        }
        (role, Some(text))
            if *role == Role::TABLE_CELL && head.patterns.contains(&ElementCapability::Value) =>
        {
            if !text.contains(|letter: char| letter.is_ascii_digit() || letter == '#') {
                return Ok(None);
            }
            bus.property::<f64>(object, VALUE, "CurrentValue").await.map(|value| stored(text, value))
        }
        _ => return Ok(None),
    };
    match told {
        Ok(told) => Ok(told.map(|told| clip(&told, Element::TOLD_MAX))),
        Err(AtspiCallError::NotOffered | AtspiCallError::Refused(_)) => Ok(None),
        Err(error) => Err(error),
    }
}

/// `page 2 of 5`; `None` for a document of one page.
async fn read_page(bus: &Bus, object: &ObjectRef) -> CallResult<Option<String>> {
    let attributes: Attributes = bus.call(object, ACCESSIBLE, "GetAttributes", &()).await?;
    let number = |name: &str| attributes.get(name)?.parse::<u32>().ok();
    let (page, pages) = (number("page-number"), number("total-pages"));
    Ok(page.zip(pages).filter(|(_, pages)| *pages > 1).map(|(page, pages)| format!("page {page} of {pages}")))
}

/// The style of a paragraph, and what stands out in it: `Heading 1`, `bold “north”`.
async fn read_style(bus: &Bus, object: &ObjectRef, text: &str) -> CallResult<Option<String>> {
    let defaults = async { bus.call::<_, Attributes>(object, TEXT, "GetDefaultAttributes", &()).await };
    let first = async {
        bus.call::<_, (Attributes, i32, i32)>(object, TEXT, "GetAttributeRun", &(0_i32, false)).await
    };
    let (defaults, first) = tokio::try_join!(defaults, first)?;
    let end = i32::try_from(text.encode_utf16().count()).unwrap_or(i32::MAX);
    let mut runs = vec![first];
    while let Some((_, _, at)) = runs.last() {
        let (at, count) = (*at, runs.len());
        if at >= end || count >= RUNS_MAX {
            break;
        }
        let run: (Attributes, i32, i32) = bus.call(object, TEXT, "GetAttributeRun", &(at, false)).await?;
        if run.2 <= at {
            break;
        }
        runs.push(run);
    }
    let units: Vec<u16> = text.encode_utf16().collect();
    let style = defaults.get("paragraph-style").filter(|style| !PLAIN_STYLES.contains(&style.as_str()));
    let mut told: Vec<String> = style.cloned().into_iter().collect();
    let runs = runs.into_iter().map(|(attributes, start, end)| (stands_out(&attributes), start, end));
    told.extend(marked(&units, runs));
    Ok((!told.is_empty()).then(|| told.join(", ")))
}

/// Describes how a part of a text stands out, by attributes of its own.
fn stands_out(attributes: &Attributes) -> Option<&'static str> {
    let is = |name: &str, plain: &str| attributes.get(name).is_some_and(|value| value != plain);
    let weight = attributes.get("weight").and_then(|weight| weight.parse::<u32>().ok());
    if weight.is_some_and(|weight| weight >= BOLD) {
        Some("bold")
    } else if is("style", "normal") {
        Some("italic")
    } else if is("strikethrough", "none") {
        Some("struck out")
    } else if is("underline", "none") {
        Some("underlined")
    } else {
        None
    }
}

/// The parts that stand out, neighbours as one; only how if that is all of the text.
fn marked(
    units: &[u16],
    runs: impl Iterator<Item = (Option<&'static str>, i32, i32)>,
) -> impl Iterator<Item = String> {
    let place = |at: i32| usize::try_from(at).unwrap_or(0).min(units.len());
    let mut parts: Vec<(&'static str, usize, usize)> = Vec::new();
    for (how, start, end) in runs {
        let (Some(how), start, end) = (how, place(start), place(end)) else { continue };
        match parts.last_mut() {
            Some((before, _, last)) if *before == how && *last == start => *last = end,
            _ => parts.push((how, start, end)),
        }
    }
    parts.into_iter().filter_map(|(how, start, end)| {
        let part = String::from_utf16_lossy(units.get(start..end)?);
        let is_all = start == 0 && end == units.len();
        Some(if is_all { how.to_owned() } else { format!("{how} “{}”", clip(part.trim(), QUOTE_MAX)) })
    })
}

/// Returns the stored value of a cell with this text, if the text does not show it for sure: the day for one
/// that is written in some order, else the number.
fn stored(text: &str, value: f64) -> Option<String> {
    // A cell with a text has the value 0.
    if value == 0.0 || !value.is_finite() || says_number(text, value) {
        return None;
    }
    // As many digits as spreadsheets show.
    let shown = format!("{value:.14e}").parse().unwrap_or(value);
    let day = day(value).filter(|day| says_day(text, *day));
    Some(day.map_or_else(|| format!("stored {shown}"), |day| day.to_string()))
}

/// Returns `true` if a text is a number as some language writes it, perhaps with a unit around it.
fn says_number(text: &str, value: f64) -> bool {
    let parts = if text.contains('%') { 100.0 } else { 1.0 };
    let is_of_number = |letter: char| letter.is_ascii_digit() || letter == '-';
    let number = text.trim_matches(|letter: char| !is_of_number(letter));
    let plain = |group: [char; 3], point: char| {
        let digits: String = number.chars().filter(|letter| !group.contains(letter)).collect();
        digits
            .replace(point, ".")
            .parse::<f64>()
            .is_ok_and(|read| (read / parts - value).abs() <= value.abs() * 1e-12)
    };
    plain([',', ' ', '\u{a0}'], '.') || plain(['.', ' ', '\u{a0}'], ',')
}

/// The day that a number stands for in a spreadsheet.
fn day(value: f64) -> Option<civil::Date> {
    const DAYS_MAX: f64 = 2_958_465.0;
    if !(1.0..=DAYS_MAX).contains(&value) {
        return None;
    }
    #[expect(clippy::cast_possible_truncation, reason = "it is in range")]
    let days = value.floor() as i64;
    civil::date(1899, 12, 30).checked_add(days.days()).ok()
}

/// Returns `true` if a text says a day: its number, and its month or year.
fn says_day(text: &str, day: civil::Date) -> bool {
    const MONTH_LETTERS_MIN: usize = 3;
    let parts: Vec<&str> = text.split(|letter: char| !letter.is_alphanumeric()).collect();
    let says = |number: i64| parts.iter().any(|part| part.parse() == Ok(number));
    let year = i64::from(day.year());
    let names =
        |part: &&str| part.chars().count() >= MONTH_LETTERS_MIN && part.chars().all(char::is_alphabetic);
    says(day.day().into())
        && (parts.iter().any(names) || says(day.month().into()) || says(year) || says(year % 100))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_cell_stores_is_told_where_its_text_says_something_else() {
        let check = |text: &str, value: f64, expected: Option<&str>| {
            assert_eq!(stored(text, value).as_deref(), expected, "{text} {value}");
        };
        check("12%", 0.122, Some("stored 0.122"));
        check("0.33", 1.0 / 3.0, Some("stored 0.333333333333333"));
        check("0.30", 0.1 + 0.2, None);
        check("03/03/2025", 45_719.0, Some("2025-03-03"));
        check("3. März", 45_719.0, Some("2025-03-03"));
        check("12:00", 0.5, Some("stored 0.5"));
        check("###", 123_456.0, Some("stored 123456"));
        check("1.2E+3", 1_234.0, Some("stored 1234"));
        for (text, value) in [
            ("20", 20.0),
            ("1,234.50", 1_234.5),
            ("1.234,50 €", 1_234.5),
            ("$-3.00", -3.0),
            ("Head 1", 0.0),
            ("12.2%", 0.122),
        ] {
            check(text, value, None);
        }
    }

    #[test]
    fn parts_that_stand_out_are_quoted() {
        let check = |text: &str, runs: &[(Option<&'static str>, i32, i32)], expected: &[&str]| {
            let units: Vec<u16> = text.encode_utf16().collect();
            assert_eq!(marked(&units, runs.iter().copied()).collect::<Vec<_>>(), expected, "{text}");
        };
        check("All bold.", &[(Some("bold"), 0, 4), (Some("bold"), 4, 9)], &["bold"]);
        check("one two", &[(None, 0, 4), (Some("bold"), 4, 7)], &["bold “two”"]);
        check("one two", &[(Some("italic"), 0, 3), (None, 3, 7)], &["italic “one”"]);
        check("one", &[(None, 0, 3)], &[]);
    }
}
