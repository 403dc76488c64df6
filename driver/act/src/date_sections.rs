//! Setting a date or a time that is one text, whose parts are selected and typed over one by one, as in Qt.
//!
//! The order of day and month depends on the language. Where the text does not tell it, the 28th is written first, which
//! no month takes. A month that is written as a word is stepped through: the names of twelve months tell which one is meant in any
//! language.

use std::time::Duration;

use deskhand_desktop::{Desktop, DesktopError, ElementAction, keys::NamedKey};
use deskhand_ui::{
    Role,
    action::{
        ActionKind, ActionOutcome, ActionProof, ActionRoute, Aim, Blindness, Evidence, Shortfall, Uncertainty,
    },
};
use serde_json::json;

use crate::{
    checks::CheckedTarget,
    date_parts::{DatePart, Parts, parse},
    focus::focus_element,
    patience::{comes_within, handled, patiently, watch_app},
    report::{ActLimits, ActionReport, Halt},
    text::read,
};

/// Maximum number of attempts to write all parts: a key that ends one part may go to the next one.
const ATTEMPTS_MAX: usize = 3;
/// A day that is no month.
const NO_MONTH: u32 = 28;
/// The months of a year.
const MONTHS: u32 = 12;
/// The longest wait for the name of the next month.
const STEP_MAX: Duration = Duration::from_millis(300);

/// A number in the text of an editor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Section {
    part: DatePart,
    /// Its characters: the first, and the one after the last.
    place: (usize, usize),
    value: u32,
}

/// The text of an editor, in parts.
#[derive(Debug, Clone, PartialEq, Eq)]
struct DateTextLayout {
    sections: Vec<Section>,
    /// Position of the name of the month, and the name.
    month: Option<((usize, usize), String)>,
    /// The characters that say AM or PM, and whether it is PM.
    half: Option<((usize, usize), bool)>,
    /// `true` if the day stands before the month.
    day_first: bool,
    /// `true` if the text determines `day_first`.
    is_certain: bool,
}

/// Sets the date or time of an editor and reads back what it shows; `None` if it is not such an editor, or `text` is nothing that it
/// has all parts of.
///
/// # Errors
/// A refusal if it does not take the focus, or an error of the desktop.
pub(crate) async fn set_sections<D: Desktop>(
    desktop: &D,
    ready: &CheckedTarget,
    text: &str,
    limits: &ActLimits,
) -> Result<Option<ActionReport>, Halt> {
    // One that counts has a range.
    let counts = ready.element.value.is_some_and(|value| value.minimum < value.maximum);
    if ready.element.role != Role::SPIN_BUTTON || counts {
        return Ok(None);
    }
    let (Some(wanted), Some(shown)) = (parse(text), read(desktop, &ready.element).await?) else {
        return Ok(None);
    };
    let Some(layout) = DateTextLayout::of(&shown, None).filter(|layout| layout.has_all(&wanted)) else {
        return Ok(None);
    };
    let hides_century = layout.hides_century(&wanted);
    focus_element(desktop, ready, limits).await?;
    let year_digits = layout.section(DatePart::Year).map_or(0, |year| year.place.1 - year.place.0);
    let day_first = layout.day_first;
    let is_certain = layout.is_certain || !wanted.contains_key(&DatePart::Day);
    let mut editor = Editor { desktop, ready, day_first, is_certain, year_digits, month: None, waited_ms: 0 };
    let (mut reads, mut is_shown) = (shown, false);
    for _ in 0..ATTEMPTS_MAX {
        editor.write(&wanted).await?;
        let (now, layout) = editor.layout().await?;
        is_shown =
            editor.is_certain && layout.is_some_and(|layout| layout.shows(&wanted, editor.month.as_deref()));
        reads = now;
        if is_shown {
            break;
        }
    }
    let evidence: Evidence = match is_shown {
        true if hides_century => Uncertainty::Blind { why: Blindness::Century }.into(),
        true => ActionProof::Reads { text: reads.clone(), completion: None }.into(),
        false => Shortfall::ReadsOtherwise { text: reads.clone(), around: None }.into(),
    };
    let action = ActionOutcome::new(
        ActionKind::SetText { text: text.to_owned() },
        Aim::element(&ready.element),
        evidence,
    );
    let action = action.by(ActionRoute::Input).after(editor.waited_ms);
    Ok(Some(ActionReport::from(action).with_output(json!({ "text": reads }))))
}

/// An editor that is being written into.
struct Editor<'a, D> {
    desktop: &'a D,
    ready: &'a CheckedTarget,
    day_first: bool,
    /// `true` if `day_first` is certain.
    is_certain: bool,
    /// Number of digits of a complete year.
    year_digits: usize,
    /// The name of the month that is wanted, once it is known.
    month: Option<String>,
    waited_ms: u64,
}

impl<D: Desktop> Editor<'_, D> {
    /// Reads the text and its layout.
    async fn layout(&self) -> Result<(String, Option<DateTextLayout>), Halt> {
        let shown = read(self.desktop, &self.ready.element).await?.unwrap_or_default();
        let layout = DateTextLayout::of(&shown, Some(self.day_first));
        Ok((shown, layout))
    }

    /// Sets all parts that are not shown as wanted.
    async fn write(&mut self, wanted: &Parts) -> Result<(), Halt> {
        if wanted.contains_key(&DatePart::Day) {
            self.set_date(wanted).await?;
        }
        for part in [DatePart::Hour, DatePart::Minute, DatePart::Second] {
            if let Some(value) = wanted.get(&part) {
                self.set(part, *value).await?;
            }
        }
        Ok(())
    }

    async fn set_date(&mut self, wanted: &Parts) -> Result<(), Halt> {
        let of = |part: DatePart| wanted.get(&part).copied().unwrap_or_default();
        if self.month_shown().await?.is_some() {
            // Every month has that day.
            self.set(DatePart::Day, 1).await?;
            self.set(DatePart::Year, of(DatePart::Year)).await?;
            self.set_month(of(DatePart::Month)).await?;
            return self.set(DatePart::Day, of(DatePart::Day)).await;
        }
        if !self.is_certain {
            self.is_certain = self.shows_after(NO_MONTH).await?;
        }
        if !self.is_certain {
            self.day_first = !self.day_first;
            self.is_certain = self.shows_after(NO_MONTH).await?;
        }
        self.set(DatePart::Year, of(DatePart::Year)).await?;
        self.set(DatePart::Month, of(DatePart::Month)).await?;
        self.set(DatePart::Day, of(DatePart::Day)).await
    }

    /// Sets the day; whether it is shown then.
    async fn shows_after(&mut self, day: u32) -> Result<bool, Halt> {
        self.set(DatePart::Day, day).await?;
        let (_, layout) = self.layout().await?;
        let shown = layout.and_then(|layout| layout.section(DatePart::Day).map(|section| section.value));
        Ok(shown == Some(day))
    }

    /// Sets one part, unless it shows that already.
    async fn set(&mut self, part: DatePart, value: u32) -> Result<(), Halt> {
        let Some(layout) = self.layout().await?.1 else { return Ok(()) };
        let Some(section) = layout.section(part) else { return Ok(()) };
        if let (DatePart::Hour, Some((place, _))) = (part, layout.half) {
            self.overwrite(section.place, &((value + 11) % 12 + 1).to_string()).await?;
            let place = self.layout().await?.1.and_then(|layout| Some(layout.half?.0)).unwrap_or(place);
            return self.overwrite(place, if value < 12 { "AM" } else { "PM" }).await;
        }
        let shown = section.place.1 - section.place.0;
        let digits = if part == DatePart::Year { self.year_digits } else { shown };
        let value = if digits == 2 && part == DatePart::Year { value % 100 } else { value };
        if section.value == value && digits == shown {
            return Ok(());
        }
        self.overwrite(section.place, &format!("{value:0digits$}")).await
    }

    /// The name of the month that is shown.
    async fn month_shown(&self) -> Result<Option<String>, Halt> {
        Ok(self.layout().await?.1.and_then(|layout| Some(layout.month?.1)))
    }

    /// Sets a month whose name is shown. Only the first and the last of twelve tell which one it is.
    async fn set_month(&mut self, month: u32) -> Result<(), Halt> {
        if self.month.is_some() && self.month_shown().await? == self.month {
            return Ok(());
        }
        for _ in 0..MONTHS {
            if self.step(NamedKey::Down).await?.is_none() {
                break;
            }
        }
        let mut names: Vec<String> = self.month_shown().await?.into_iter().collect();
        for _ in 0..MONTHS {
            let Some(next) = self.step(NamedKey::Up).await? else { break };
            names.push(next);
        }
        let at = usize::try_from(month.saturating_sub(1)).unwrap_or_default();
        // In one that begins again after the last month, more would come.
        let is_year = u32::try_from(names.len()) == Ok(MONTHS);
        self.month = names.into_iter().nth(at).filter(|_| is_year);
        for _ in month..MONTHS {
            self.step(NamedKey::Down).await?;
        }
        Ok(())
    }

    /// Presses a key in the name of the month; the name that is shown then, if it is another one.
    async fn step(&mut self, key: NamedKey) -> Result<Option<String>, Halt> {
        let Some((place, name)) = self.layout().await?.1.and_then(|layout| layout.month) else {
            return Ok(None);
        };
        if !self.select(place).await? {
            return Ok(None);
        }
        let (desktop, window) = (self.desktop, self.ready.surface.id);
        let watch = watch_app(desktop, window).await?;
        desktop.press(&key.into()).await?;
        let is_next = async || Ok::<_, Halt>(self.month_shown().await?.is_some_and(|now| now != name));
        let came = comes_within(desktop, (window, watch), STEP_MAX, is_next).await?;
        self.waited_ms += came.waited_ms;
        Ok(self.month_shown().await?.filter(|_| came.holds))
    }

    /// Selects characters; whether they are selected.
    async fn select(&self, (start, end): (usize, usize)) -> Result<bool, Halt> {
        let (desktop, id) = (self.desktop, self.ready.element.id);
        match desktop.perform(id, &ElementAction::SelectText { start, end }).await {
            Ok(()) | Err(DesktopError::NotAnswering { .. }) => {}
            Err(error) => return Err(error.into()),
        }
        Ok(patiently(|| desktop.text_selection(id)).await? == Some((start, end)))
    }

    /// Selects characters and types over them.
    async fn overwrite(&mut self, place: (usize, usize), text: &str) -> Result<(), Halt> {
        // What is typed elsewhere would be read as another date.
        if self.select(place).await? {
            let (desktop, window) = (self.desktop, self.ready.surface.id);
            self.waited_ms += handled(desktop, window, async || desktop.type_text(text).await).await?;
        }
        Ok(())
    }
}

impl DateTextLayout {
    /// The parts of a text, given whether the day stands before the month (or the year, where that is a word), if that is known; `None` if it
    /// has other parts than a date, a time or both.
    fn of(text: &str, day_first: Option<bool>) -> Option<Self> {
        let letters: Vec<char> = text.chars().collect();
        let at = |place: usize| letters.get(place).copied();
        let (mut dates, mut times) = (Vec::new(), Vec::new());
        let (mut half, mut month) = (None, None);
        let mut next = 0;
        for run in letters.chunk_by(|one, other| kind(*one) == kind(*other)) {
            let place = (next, next + run.len());
            next = place.1;
            let word: String = run.iter().collect();
            match run.first().map(|letter| kind(*letter)) {
                Some(DateCharacterKind::Digit) => {
                    let value: u32 = word.parse().ok()?;
                    let is_time =
                        at(place.1) == Some(':') || place.0.checked_sub(1).and_then(at) == Some(':');
                    if is_time { &mut times } else { &mut dates }.push((place, value));
                }
                Some(DateCharacterKind::Letter) if !times.is_empty() && half.is_none() => {
                    let is_pm = word.eq_ignore_ascii_case("PM");
                    (is_pm || word.eq_ignore_ascii_case("AM")).then_some(())?;
                    half = Some((place, is_pm));
                }
                Some(DateCharacterKind::Letter) if times.is_empty() && month.is_none() => {
                    month = Some((place, word));
                }
                Some(DateCharacterKind::Letter) => return None,
                Some(DateCharacterKind::Other) | None => {}
            }
        }
        let (order, is_certain) = match &month {
            Some(_) => (order_without_month(&dates, day_first)?, true),
            None => order_of(&dates, day_first, &letters)?,
        };
        let with = |parts: &[DatePart], numbers: &[((usize, usize), u32)]| -> Vec<Section> {
            let both = parts.iter().zip(numbers);
            both.map(|(part, (place, value))| Section { part: *part, place: *place, value: *value }).collect()
        };
        let mut sections = with(&order, &dates);
        ([0, 2, 3].contains(&times.len()) && dates.len() + times.len() > 0).then_some(())?;
        sections.extend(with(&[DatePart::Hour, DatePart::Minute, DatePart::Second], &times));
        let day_first = order.first() == Some(&DatePart::Day);
        Some(Self { sections, month, half, day_first, is_certain })
    }

    fn section(&self, part: DatePart) -> Option<Section> {
        self.sections.iter().find(|section| section.part == part).copied()
    }

    /// Returns `true` if each part that is wanted is one of the text, and a date is whole.
    fn has_all(&self, wanted: &Parts) -> bool {
        let is_whole = wanted.contains_key(&DatePart::Day) || !wanted.contains_key(&DatePart::Year);
        let has = |part: &DatePart| {
            self.section(*part).is_some() || (*part == DatePart::Month && self.month.is_some())
        };
        is_whole && wanted.keys().all(has)
    }

    /// Returns `true` if the century of another year is not shown.
    fn hides_century(&self, wanted: &Parts) -> bool {
        let year = self.section(DatePart::Year).filter(|year| year.place.1 - year.place.0 == 2);
        year.is_some_and(|_| wanted.contains_key(&DatePart::Year))
    }

    /// Returns `true` if it shows a date or time whose month has this name.
    fn shows(&self, wanted: &Parts, month: Option<&str>) -> bool {
        wanted.iter().all(|(part, value)| {
            if let (DatePart::Month, Some((_, shown))) = (part, &self.month) {
                return month == Some(shown);
            }
            let Some(section) = self.section(*part) else { return false };
            match (part, self.half) {
                (DatePart::Hour, Some((_, is_pm))) => {
                    section.value % 12 + if is_pm { 12 } else { 0 } == *value
                }
                (DatePart::Year, _) if section.place.1 - section.place.0 == 2 => section.value == value % 100,
                _ => section.value == *value,
            }
        })
    }
}

/// The parts that the numbers of a date are whose month is a word; `None` if they are no date.
fn order_without_month(dates: &[((usize, usize), u32)], day_first: Option<bool>) -> Option<Vec<DatePart>> {
    let [(first, _), (last, _)] = dates else { return None };
    let is_year = |place: &(usize, usize)| place.1 - place.0 == 4;
    // While it is written, the year may have fewer.
    let day_first = match day_first {
        Some(day_first) => day_first,
        None if is_year(first) != is_year(last) => is_year(last),
        None => return None,
    };
    Some(if day_first { vec![DatePart::Day, DatePart::Year] } else { vec![DatePart::Year, DatePart::Day] })
}

/// The parts that the numbers of a date are, and whether that is certain; `None` if they are no date.
fn order_of(
    dates: &[((usize, usize), u32)],
    day_first: Option<bool>,
    letters: &[char],
) -> Option<(Vec<DatePart>, bool)> {
    let [(first, one), (_, two), (last, _)] = dates else {
        return dates.is_empty().then(|| (Vec::new(), true));
    };
    let digits = |place: &(usize, usize)| place.1 - place.0;
    if digits(first) == 4 {
        return Some((vec![DatePart::Year, DatePart::Month, DatePart::Day], true));
    }
    // While it is written, the year may have fewer.
    ([2, 4].contains(&digits(last)) || day_first.is_some()).then_some(())?;
    let told = match () {
        () if day_first.is_some() => day_first,
        () if *one > 12 => Some(true),
        () if *two > 12 => Some(false),
        () => None,
    };
    // In English of America, with slashes.
    let day_first = told.unwrap_or(letters.get(first.1) != Some(&'/'));
    let order = if day_first { [DatePart::Day, DatePart::Month] } else { [DatePart::Month, DatePart::Day] };
    Some((order.into_iter().chain([DatePart::Year]).collect(), told.is_some()))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum DateCharacterKind {
    Digit,
    Letter,
    Other,
}

fn kind(letter: char) -> DateCharacterKind {
    match letter {
        '0'..='9' => DateCharacterKind::Digit,
        _ if letter.is_alphabetic() => DateCharacterKind::Letter,
        _ => DateCharacterKind::Other,
    }
}

#[cfg(test)]
#[path = "date_sections_tests.rs"]
mod tests;
