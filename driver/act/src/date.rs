//! Setting a date or a time that has a field for each of its parts, as in web pages.
//!
//! The order of the fields depends on the language; `date_fields` recognises them. Each is set by itself.

use std::collections::VecDeque;

use deskhand_desktop::{Desktop, keys::NamedKey};
use deskhand_ui::{
    Element, Role,
    action::{
        ActionKind, ActionOutcome, ActionProof, ActionRefusal, ActionRoute, Aim, Evidence, Shortfall,
        UnsupportedCapability,
    },
    ids::ElementId,
};
use serde_json::json;

use crate::{
    checks::{CheckedTarget, TargetRequirement, check},
    date_fields::{DateFieldOrder, Shows, current, recognise},
    date_parts::{DatePart, Parts, parse},
    focus::focus_element,
    patience::{comes_within, handled, patiently, read_element, watch_app},
    report::{ActLimits, ActionReport, Halt},
};

/// The most children read per level.
const CHILDREN_MAX: usize = 50;
/// Depth of the fields.
const LEVELS_MAX: u16 = 4;
/// The most presses until AM or PM is reached.
const AM_PM_PRESSES_MAX: usize = 3;

/// Sets the date or time of an editor and reads back what its fields show; `None` if they are not known.
///
/// # Errors
/// A refusal if `text` is no date or time that fits the fields.
pub(crate) async fn set_date<D: Desktop>(
    desktop: &D,
    ready: &CheckedTarget,
    text: &str,
    limits: &ActLimits,
) -> Result<Option<ActionReport>, Halt> {
    if ready.element.role != Role::DATE_EDITOR {
        return Ok(None);
    }
    let mut fields = fields_in(desktop, ready.element.id).await?;
    let Some(mut order) = recognise(&fields) else { return Ok(None) };
    let has_all = |parts: &Parts| order.shown.iter().all(|shows| value_of(*shows, parts).is_some());
    let Some(parts) = parse(text).filter(has_all) else {
        let element = (&ready.element).into();
        return Err(ActionRefusal::Unsupported { element, what: UnsupportedCapability::NoDate }.into());
    };
    let mut waited_ms = 0;
    if !order.is_certain {
        waited_ms += ascertain(desktop, ready, &fields, &mut order, limits).await?;
        fields = fields_in(desktop, ready.element.id).await?;
    }
    let shown = order.shown;
    let wanted: Vec<u32> = shown.iter().filter_map(|shows| value_of(*shows, &parts)).collect();
    for ((field, shows), value) in fields.iter().zip(&shown).zip(&wanted) {
        if current(field) != Some(*value) {
            waited_ms += set_field(desktop, ready, (field, *shows), *value, limits).await?;
        }
    }
    let watch = watch_app(desktop, ready.surface.id).await?;
    // A page takes over the last digit after the window has handled the key.
    let holds = async || Ok::<_, Halt>(read_all(desktop, &fields).await? == wanted);
    let came = comes_within(desktop, (ready.surface.id, watch), limits.effect, holds).await?;
    let found = if came.holds { wanted.clone() } else { read_all(desktop, &fields).await? };
    let reads = to_text(&shown, &found);
    let evidence: Evidence = if found == wanted && order.is_certain {
        ActionProof::Reads { text: reads.clone(), completion: None }.into()
    } else {
        Shortfall::ReadsOtherwise { text: reads.clone(), around: None }.into()
    };
    let action = ActionOutcome::new(
        ActionKind::SetText { text: text.to_owned() },
        Aim::element(&ready.element),
        evidence,
    );
    let action = action.by(ActionRoute::Input).after(waited_ms + came.waited_ms);
    Ok(Some(ActionReport::from(action).with_output(json!({ "text": reads }))))
}

/// Reads the current values of the fields.
async fn read_all<D: Desktop>(desktop: &D, fields: &[Element]) -> Result<Vec<u32>, Halt> {
    let mut found = Vec::new();
    for field in fields {
        found.push(current(&read_element(desktop, field.id).await?).unwrap_or_default());
    }
    Ok(found)
}

/// Sets one field by keyboard; returns how long was waited.
async fn set_field<D: Desktop>(
    desktop: &D,
    editor: &CheckedTarget,
    (field, shows): (&Element, Shows),
    value: u32,
    limits: &ActLimits,
) -> Result<u64, Halt> {
    let ready =
        check(desktop, editor.surface.id, field.id, Some(&field.name), TargetRequirement::Act).await?;
    focus_element(desktop, &ready, limits).await?;
    let mut waited_ms = 0;
    for _ in 0..AM_PM_PRESSES_MAX {
        let input = async || match shows {
            // Its letters depend on the language.
            Shows::AmPm => desktop.press(&NamedKey::Up.into()).await,
            Shows::Part(DatePart::Year) => desktop.type_text(&format!("{value:04}")).await,
            Shows::Part(_) | Shows::TwelveHour => desktop.type_text(&format!("{value:02}")).await,
        };
        waited_ms += handled(desktop, ready.surface.id, input).await?;
        let watch = watch_app(desktop, ready.surface.id).await?;
        // A page handles keys after its window has: they would go to the next field, and a press too many would turn AM back.
        let holds = async || Ok::<_, Halt>(current(&read_element(desktop, field.id).await?) == Some(value));
        let came = comes_within(desktop, (ready.surface.id, watch), limits.effect, holds).await?;
        waited_ms += came.waited_ms;
        if came.holds || shows != Shows::AmPm {
            break;
        }
    }
    Ok(waited_ms)
}

/// Finds out which of the first two fields of a date is the day where nothing tells: the 28th is no month.
/// Returns how long was waited.
async fn ascertain<D: Desktop>(
    desktop: &D,
    editor: &CheckedTarget,
    fields: &[Element],
    order: &mut DateFieldOrder,
    limits: &ActLimits,
) -> Result<u64, Halt> {
    const NO_MONTH: u32 = 28;
    let day = Shows::Part(DatePart::Day);
    let mut waited_ms = 0;
    for _ in 0..2 {
        let Some((field, _)) = fields.iter().zip(&order.shown).find(|(_, shows)| **shows == day) else {
            break;
        };
        waited_ms += set_field(desktop, editor, (field, day), NO_MONTH, limits).await?;
        order.is_certain = current(&read_element(desktop, field.id).await?) == Some(NO_MONTH);
        if order.is_certain {
            break;
        }
        order.swap_day_and_month();
    }
    Ok(waited_ms)
}

/// The fields of an editor, in the order in which they stand.
async fn fields_in<D: Desktop>(desktop: &D, editor: ElementId) -> Result<Vec<Element>, Halt> {
    let mut fields = Vec::new();
    let mut queue = VecDeque::from([(editor, 0_u16)]);
    while let Some((id, level)) = queue.pop_front() {
        for child in patiently(|| desktop.children(id, CHILDREN_MAX)).await? {
            if [Role::SPIN_BUTTON, Role::ENTRY].contains(&child.role) {
                fields.push(child);
            } else if child.child_count > 0 && level < LEVELS_MAX {
                queue.push_back((child.id, level + 1));
            }
        }
    }
    Ok(fields)
}

/// The value of a field for a date or time; `None` if it has no such part.
fn value_of(shows: Shows, parts: &Parts) -> Option<u32> {
    let hour = parts.get(&DatePart::Hour);
    match shows {
        Shows::Part(part) => parts.get(&part).copied(),
        Shows::TwelveHour => hour.map(|hour| (hour + 11) % 12 + 1),
        Shows::AmPm => hour.map(|hour| hour / 12 + 1),
    }
}

/// Formats the values of fields as in ISO 8601.
fn to_text(shown: &[Shows], values: &[u32]) -> String {
    let of = |wanted: Shows| {
        shown.iter().zip(values).find(|(shows, _)| **shows == wanted).map(|(_, value)| *value)
    };
    let hour = of(Shows::Part(DatePart::Hour)).or_else(|| {
        let is_pm = of(Shows::AmPm)? == 2;
        Some(of(Shows::TwelveHour)? % 12 + if is_pm { 12 } else { 0 })
    });
    let part = |part| of(Shows::Part(part));
    let two = |value: u32| format!("{value:02}");
    let date = [
        part(DatePart::Year).map(|year| format!("{year:04}")),
        part(DatePart::Month).map(two),
        part(DatePart::Day).map(two),
    ];
    let time = [hour, part(DatePart::Minute), part(DatePart::Second)].map(|one| one.map(two));
    let joined = |parts: [Option<String>; 3], between: &str| {
        parts.into_iter().flatten().collect::<Vec<_>>().join(between)
    };
    let both = [joined(date, "-"), joined(time, ":")];
    both.into_iter().filter(|one| !one.is_empty()).collect::<Vec<_>>().join("T")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::date_fields::{
        by_range,
        tests::{DAY, SIXTY, TWELVE, YEAR},
    };

    #[test]
    fn what_is_read_is_what_was_written() {
        let american = by_range(&[TWELVE, DAY, YEAR, TWELVE, SIXTY, (1, 2)]).unwrap();
        for text in ["2025-12-31T00:05", "2025-12-31T11:59", "2025-02-01T12:00", "2025-02-01T23:30"] {
            let parts = parse(text).unwrap();
            let values: Vec<u32> = american.iter().map(|shows| value_of(*shows, &parts).unwrap()).collect();
            assert_eq!(to_text(&american, &values), text);
        }
        let month = by_range(&[TWELVE, YEAR]).unwrap();
        assert_eq!(to_text(&month, &[2, 2025]), "2025-02");
        assert_eq!(value_of(Shows::Part(DatePart::Day), &parse("2025-02").unwrap()), None);
    }
}
