//! The safe guard: asks before actions that usually cannot be undone.
//!
//! It goes by what is pressed, by the label in the languages of [`labels`], and by what stands around it: the question of a
//! dialog, the fields of a payment, the terminal that a line is typed into, the trash that something is dropped on. And by what the
//! action names: the host of a page or the recipient of a message that the user has not named.
//!
//! Replays have to decide as the session did. So a guard that asks otherwise than before is another [`Edition`].

mod first;
mod labels;
mod questions;

use labels::{CANCELS, CLOSES, DECLINES, PERILS, Peril, TRASH};
use questions::Question;

use serde::{Deserialize, Serialize};

use super::{
    decision::{Decision, Ruling},
    origin::{Origin, Value, ValueKind},
    pattern::{Names, folded, matches, matches_keys},
    subject::{HARMLESS, Subject},
};
use crate::{intent::Does, ui::Role};

/// Which safe guard judges.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Edition {
    /// By English labels.
    First,
    /// By labels in many languages, by what stands around, and by who is reached.
    #[default]
    Second,
}

impl Edition {
    /// The edition of sessions that do not tell theirs.
    pub(super) const fn first() -> Self {
        Self::First
    }
}

pub(super) fn guard(edition: Edition, subject: &Subject) -> Option<Ruling> {
    let why = match edition {
        Edition::First => first::reason(subject),
        Edition::Second => reason(subject),
    };
    why.map(|why| Ruling { decision: Decision::Ask, why: format!("safe guard: {why}") })
}

/// Why a person is asked; `None` if nobody is.
fn reason(subject: &Subject) -> Option<String> {
    let own = |why: &str| Some(why.to_owned());
    if subject.does != Does::Run
        && let Some(value) = subject.values.iter().find(|value| value.reaches_others())
    {
        return Some(reaches(value));
    }
    let is_harmless = subject.role.as_ref().is_some_and(|role| matches(HARMLESS, role));
    if is_harmless && !subject.presses_return {
        return None;
    }
    if subject.does == Does::Run {
        let line = subject.command_line();
        let from_outside = subject.values.iter().find(|value| matches!(value.origin, Origin::Outside { .. }));
        let source = from_outside.map(|value| format!("; of `{}`, {}", value.text, value.origin));
        return Some(format!("it runs a program: {line}{}", source.unwrap_or_default()));
    }
    if subject.stranger.is_some() {
        return Some(format!("it starts what is no installed application: {}", subject.command_line()));
    }
    if subject.keys.iter().any(|chord| matches_keys("shift+Delete", chord)) {
        return own("it deletes data permanently");
    }
    if !subject.does.activates() {
        return None;
    }
    if subject.presses_return && subject.role.as_deref() == Some(Role::TERMINAL.name()) {
        return own("it runs a command in a terminal");
    }
    // Return in a field presses a button that has another name than the field.
    let pressed = Pressed::new(if is_harmless { &[] } else { &subject.labels });
    if subject.does == Does::Drag && pressed.is(&TRASH) {
        return own("it is dropped where data is deleted");
    }
    if let Some((peril, _)) = PERILS.iter().find(|(_, labels)| pressed.is(labels)) {
        return own(peril.why());
    }
    if subject.surroundings.texts.is_empty() {
        beside_payment(subject, &pressed)
    } else {
        answers(subject, &pressed)
    }
}

/// The reason for a question about who is reached.
fn reaches(value: &Value) -> String {
    let reached = match value.kind {
        ValueKind::Host => "it opens a page of",
        ValueKind::Recipient => "it names the recipient",
        ValueKind::Path | ValueKind::Program => "it names",
    };
    format!("{reached} `{}`, which the user has not named; {}", value.text, value.origin)
}

/// The labels of what is pressed; none if they are not known.
struct Pressed(Vec<Vec<char>>);

impl Pressed {
    fn new(labels: &[String]) -> Self {
        Self(labels.iter().map(|label| folded(label)).collect())
    }

    fn is(&self, known: &Names) -> bool {
        self.0.iter().any(|label| known.have(label))
    }
}

/// Why a person is asked because of a payment in the same window.
fn beside_payment(subject: &Subject, pressed: &Pressed) -> Option<String> {
    let field = subject.surroundings.payment.as_ref().filter(|_| subject.presses_what_submits())?;
    let ends = pressed.is(&CANCELS) || pressed.is(&DECLINES) || pressed.is(&CLOSES);
    (!ends).then(|| format!("it is pressed beside fields for a payment (“{field}”)"))
}

/// Why a person is asked because of the question that it answers.
fn answers(subject: &Subject, pressed: &Pressed) -> Option<String> {
    if pressed.is(&CANCELS) {
        return None;
    }
    let texts = &subject.surroundings.texts;
    let Question { perils, asks_to_save } = Question::read(texts);
    let mut perils = perils.into_iter();
    let peril = match (asks_to_save, pressed.is(&DECLINES)) {
        // "Save the changes?" No.
        (true, true) => Some(Peril::Discards),
        // Saving loses no changes.
        (true, false) => perils.find(|peril| *peril != Peril::Discards),
        (false, true) => None,
        (false, false) if pressed.is(&CLOSES) => perils.find(|peril| *peril == Peril::Discards),
        (false, false) => perils.next(),
    }?;
    let quoted = texts.iter().max_by_key(|text| text.chars().count()).map_or("", String::as_str);
    Some(format!("{}; the dialog says “{quoted}”", peril.why()))
}
