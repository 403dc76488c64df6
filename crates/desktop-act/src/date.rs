//! Setting a date or a time that has a field for each of its parts, as in web pages.
//!
//! The order of the fields depends on the language, so each is recognised by its range and set by itself.

use std::collections::{BTreeMap, VecDeque};

use deskhand_core::{
    action::{Act, Action, Aim, Evidence, Proof, Refusal, Shortfall, Unsupported},
    command::Route,
    ids::ElementId,
    ui::{Element, Role},
};
use deskhand_desktop::{Desktop, keys::NamedKey};
use jiff::civil::Date;
use serde_json::json;

use crate::{
    checks::{Need, Ready, check},
    focus::focus_element,
    patience::{comes_within, handled, patiently, read_element, watch_app},
    report::{ActLimits, ActionReport, Halt},
};

/// The most children read per level.
const CHILDREN_MAX: usize = 50;
/// How deep the fields lie.
const LEVELS_MAX: u16 = 4;
/// The most presses until AM or PM is reached.
const AM_PM_PRESSES_MAX: usize = 3;

/// A part of a date or a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Part {
    Year,
    Month,
    Day,
    /// From 0 to 23.
    Hour,
    Minute,
    Second,
}

/// A date, a time or both.
type Parts = BTreeMap<Part, u32>;

/// What a field shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shows {
    Part(Part),
    /// The hour of a 12-hour clock: 12, 1, 2 … 11.
    TwelveHour,
    /// AM or PM: 1 or 2.
    AmPm,
}

/// Sets the date or time of an editor and reads back what its fields show; `None` if they are not known.
///
/// # Errors
/// A refusal if `text` is no date or time that fits the fields.
pub(crate) async fn set_date<D: Desktop>(
    desktop: &D,
    ready: &Ready,
    text: &str,
    limits: &ActLimits,
) -> Result<Option<ActionReport>, Halt> {
    if ready.element.role != Role::DATE_EDITOR {
        return Ok(None);
    }
    let spins = spins_in(desktop, ready.element.id).await?;
    let ranges: Option<Vec<(u32, u32)>> = spins.iter().map(range_of).collect();
    let Some(shown) = ranges.and_then(|ranges| recognise(&ranges)) else { return Ok(None) };
    let wanted: Option<Vec<u32>> =
        parse(text).and_then(|parts| shown.iter().map(|shows| value_of(*shows, &parts)).collect());
    let Some(wanted) = wanted else {
        let element = (&ready.element).into();
        return Err(Refusal::Unsupported { element, what: Unsupported::NoDate }.into());
    };
    let mut waited_ms = 0;
    for ((spin, shows), value) in spins.iter().zip(&shown).zip(&wanted) {
        if current(spin) != Some(*value) {
            waited_ms += set_field(desktop, ready, (spin, *shows), *value, limits).await?;
        }
    }
    let watch = watch_app(desktop, ready.surface.id).await?;
    // A page takes over the last digit after the window has handled the key.
    let holds = async || Ok::<_, Halt>(read_all(desktop, &spins).await? == wanted);
    let came = comes_within(desktop, (ready.surface.id, watch), limits.effect, holds).await?;
    let found = if came.holds { wanted.clone() } else { read_all(desktop, &spins).await? };
    let reads = to_text(&shown, &found);
    let evidence: Evidence = if found == wanted {
        Proof::Reads { text: reads.clone(), corrected: false, completion: None }.into()
    } else {
        Shortfall::ReadsOtherwise { text: reads.clone(), corrected: false, around: None }.into()
    };
    let action = Action::new(Act::SetText { text: text.to_owned() }, Aim::element(&ready.element), evidence);
    let action = action.by(Route::Input).after(waited_ms + came.waited_ms);
    Ok(Some(ActionReport::from(action).with_output(json!({ "text": reads }))))
}

/// What the fields show now.
async fn read_all<D: Desktop>(desktop: &D, spins: &[Element]) -> Result<Vec<u32>, Halt> {
    let mut found = Vec::new();
    for spin in spins {
        found.push(current(&read_element(desktop, spin.id).await?).unwrap_or_default());
    }
    Ok(found)
}

/// Sets one field by keyboard; returns how long was waited.
async fn set_field<D: Desktop>(
    desktop: &D,
    editor: &Ready,
    (spin, shows): (&Element, Shows),
    value: u32,
    limits: &ActLimits,
) -> Result<u64, Halt> {
    let ready = check(desktop, editor.surface.id, spin.id, Some(&spin.name), Need::Act).await?;
    focus_element(desktop, &ready, limits).await?;
    let mut waited_ms = 0;
    for _ in 0..AM_PM_PRESSES_MAX {
        let input = async || match shows {
            // Its letters depend on the language.
            Shows::AmPm => desktop.press(&NamedKey::Up.into()).await,
            Shows::Part(Part::Year) => desktop.type_text(&format!("{value:04}")).await,
            Shows::Part(_) | Shows::TwelveHour => desktop.type_text(&format!("{value:02}")).await,
        };
        waited_ms += handled(desktop, ready.surface.id, input).await?;
        if shows != Shows::AmPm || current(&read_element(desktop, spin.id).await?) == Some(value) {
            break;
        }
    }
    Ok(waited_ms)
}

/// The spin buttons in an editor, in the order in which they stand.
async fn spins_in<D: Desktop>(desktop: &D, editor: ElementId) -> Result<Vec<Element>, Halt> {
    let mut spins = Vec::new();
    let mut queue = VecDeque::from([(editor, 0_u16)]);
    while let Some((id, level)) = queue.pop_front() {
        for child in patiently(|| desktop.children(id, CHILDREN_MAX)).await? {
            if child.role == Role::SPIN_BUTTON {
                spins.push(child);
            } else if child.child_count > 0 && level < LEVELS_MAX {
                queue.push_back((child.id, level + 1));
            }
        }
    }
    Ok(spins)
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

/// What a field shows now; 0 is none yet.
fn current(spin: &Element) -> Option<u32> {
    whole(spin.value?.current)
}

fn range_of(spin: &Element) -> Option<(u32, u32)> {
    let value = spin.value?;
    Some((whole(value.minimum)?, whole(value.maximum)?))
}

/// What the fields with these ranges show, in their order; `None` if one is not known.
fn recognise(ranges: &[(u32, u32)]) -> Option<Vec<Shows>> {
    const YEAR_MIN: u32 = 9_999;
    let has_date = ranges.iter().any(|(_, maximum)| *maximum == 31 || *maximum >= YEAR_MIN);
    let mut shown: Vec<Shows> = Vec::new();
    for range in ranges {
        let is_new = |shows: Shows| !shown.contains(&shows);
        let shows = match range {
            (_, maximum) if *maximum >= YEAR_MIN => Shows::Part(Part::Year),
            (1, 31) => Shows::Part(Part::Day),
            // A date stands before a time in every language.
            (1, 12) if has_date && is_new(Shows::Part(Part::Month)) => Shows::Part(Part::Month),
            (1, 12) => Shows::TwelveHour,
            (0, 23) => Shows::Part(Part::Hour),
            (0, 59) if is_new(Shows::Part(Part::Minute)) => Shows::Part(Part::Minute),
            (0, 59) => Shows::Part(Part::Second),
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

/// The value of a field for a date or time; `None` if it has no such part.
fn value_of(shows: Shows, parts: &Parts) -> Option<u32> {
    let hour = parts.get(&Part::Hour);
    match shows {
        Shows::Part(part) => parts.get(&part).copied(),
        Shows::TwelveHour => hour.map(|hour| (hour + 11) % 12 + 1),
        Shows::AmPm => hour.map(|hour| hour / 12 + 1),
    }
}

/// A date, a month, a time, or a date and a time as ISO 8601 writes them: `2025-12-31`, `2025-12`, `08:30`, `2025-12-31T08:30:00`.
fn parse(text: &str) -> Option<Parts> {
    let text = text.trim();
    let (date, time) = match text.split_once(['T', ' ']) {
        Some((date, time)) => (Some(date), Some(time)),
        None if text.contains(':') => (None, Some(text)),
        None => (Some(text), None),
    };
    let mut parts = Parts::new();
    let mut read = |text: &str, between: char, of: &[(Part, u32, u32)], least: usize| {
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
        read(date, '-', &[(Part::Year, 1, 9_999), (Part::Month, 1, 12), (Part::Day, 1, 31)], 2)?;
    }
    if let Some(time) = time {
        read(time, ':', &[(Part::Hour, 0, 23), (Part::Minute, 0, 59), (Part::Second, 0, 59)], 2)?;
    }
    is_in_calendar(&parts).then_some(parts)
}

/// Whether the calendar has such a day.
fn is_in_calendar(parts: &Parts) -> bool {
    let (Some(year), Some(month)) = (parts.get(&Part::Year), parts.get(&Part::Month)) else { return true };
    let day = parts.get(&Part::Day).unwrap_or(&1);
    let (Ok(year), Ok(month), Ok(day)) = (i16::try_from(*year), i8::try_from(*month), i8::try_from(*day))
    else {
        return false;
    };
    Date::new(year, month, day).is_ok()
}

/// What fields show, as ISO 8601 writes it.
fn to_text(shown: &[Shows], values: &[u32]) -> String {
    let of = |wanted: Shows| {
        shown.iter().zip(values).find(|(shows, _)| **shows == wanted).map(|(_, value)| *value)
    };
    let hour = of(Shows::Part(Part::Hour)).or_else(|| {
        let is_pm = of(Shows::AmPm)? == 2;
        Some(of(Shows::TwelveHour)? % 12 + if is_pm { 12 } else { 0 })
    });
    let part = |part| of(Shows::Part(part));
    let two = |value: u32| format!("{value:02}");
    let date = [
        part(Part::Year).map(|year| format!("{year:04}")),
        part(Part::Month).map(two),
        part(Part::Day).map(two),
    ];
    let time = [hour, part(Part::Minute), part(Part::Second)].map(|one| one.map(two));
    let joined = |parts: [Option<String>; 3], between: &str| {
        parts.into_iter().flatten().collect::<Vec<_>>().join(between)
    };
    let both = [joined(date, "-"), joined(time, ":")];
    both.into_iter().filter(|one| !one.is_empty()).collect::<Vec<_>>().join("T")
}

#[cfg(test)]
mod tests {
    use super::*;

    const YEAR: (u32, u32) = (1, 275_760);
    const DAY: (u32, u32) = (1, 31);
    const TWELVE: (u32, u32) = (1, 12);
    const SIXTY: (u32, u32) = (0, 59);

    #[test]
    fn fields_are_recognised_in_any_order() {
        let part = |part| Shows::Part(part);
        let american = [TWELVE, DAY, YEAR, TWELVE, SIXTY, (1, 2)];
        let shown = recognise(&american).unwrap();
        let (month, day, year) = (part(Part::Month), part(Part::Day), part(Part::Year));
        assert_eq!(shown, [month, day, year, Shows::TwelveHour, part(Part::Minute), Shows::AmPm]);
        assert_eq!(recognise(&[DAY, TWELVE, YEAR]).unwrap(), [day, month, year]);
        let time = [(0, 23), SIXTY, SIXTY];
        assert_eq!(recognise(&time).unwrap(), [Part::Hour, Part::Minute, Part::Second].map(Shows::Part));
        assert_eq!(recognise(&[(1, 53), YEAR]), None, "a week");
        assert_eq!(recognise(&[TWELVE, SIXTY]), None, "a 12-hour clock without a field for AM or PM");
        assert_eq!(recognise(&[]), None);
    }

    #[test]
    fn what_is_read_is_what_was_written() {
        let american = recognise(&[TWELVE, DAY, YEAR, TWELVE, SIXTY, (1, 2)]).unwrap();
        for text in ["2025-12-31T00:05", "2025-12-31T11:59", "2025-02-01T12:00", "2025-02-01T23:30"] {
            let parts = parse(text).unwrap();
            let values: Vec<u32> = american.iter().map(|shows| value_of(*shows, &parts).unwrap()).collect();
            assert_eq!(to_text(&american, &values), text);
        }
        let month = recognise(&[TWELVE, YEAR]).unwrap();
        assert_eq!(to_text(&month, &[2, 2025]), "2025-02");
        assert_eq!(value_of(Shows::Part(Part::Day), &parse("2025-02").unwrap()), None);
    }

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
