//! The safe guard: asks before actions that usually cannot be undone.
//!
//! It goes by what is pressed, by the label in the languages of [`labels`], and by what stands around it: the question of a
//! dialog, the fields of a payment, the terminal that a line is typed into, the trash that something is dropped on. And by what the
//! action names: the host of a page or the recipient of a message that the user has not named.

mod amounts;
mod envelope;
mod labels;
mod questions;
mod words;

pub(super) use labels::SAVES;
use labels::{CANCELS, CLOSES, DECLINES, PERILS, Peril, TRASH};
use questions::DialogQuestion;
pub use words::SafeGuardLabels;

use super::{
    decision::{PolicyDecision, PolicyRuling},
    looks::{Alike, KnownNames, NameSkeleton, poses},
    origin::{CommandValue, ValueKind, ValueOrigin},
    rule::Policy,
    subject::Subject,
};
use crate::intent::Does;
use deskhand_ui::pattern::{NameGlobs, folded, matches_keys};
use deskhand_ui::{
    Role,
    text::{clip, excerpt},
};

/// Maximum length of a quoted dialog text, in characters.
const SAID_MAX: usize = 300;

pub(super) fn guard(policy: &Policy, subject: &Subject) -> Option<PolicyRuling> {
    reason(policy, subject)
        .map(|why| PolicyRuling { decision: PolicyDecision::Ask, why: format!("safe guard: {why}") })
}

/// Why a person is asked; `None` if nobody is.
fn reason(policy: &Policy, subject: &Subject) -> Option<String> {
    if let Some(flow) = &subject.flow {
        return Some(flow.to_string());
    }
    if let Some(why) = envelope::gives_file(subject) {
        return Some(why);
    }
    if subject.does != Does::Run
        && let Some(value) = subject.values.iter().find(|value| value.reaches_others())
    {
        return Some(reaches(value));
    }
    if let Some(why) = amounts::reason(policy, subject) {
        return Some(why);
    }
    if let Some(source) = subject.source.as_ref().filter(|_| subject.does.acts()) {
        let given = match subject.arguments.as_slice() {
            [] => String::new(),
            given => format!(": {}", clip(&given.join(", "), SAID_MAX)),
        };
        return Some(format!(
            "it calls `{}` of the {source}, whose effects are not seen{given}",
            subject.tool
        ));
    }
    if let Some(why) = envelope::reason(subject) {
        return Some(why);
    }
    if subject.is_harmless() && !subject.presses_return {
        return None;
    }
    if subject.does == Does::Run {
        let line = subject.command_line();
        let from_outside =
            subject.values.iter().find(|value| matches!(value.origin, ValueOrigin::Outside { .. }));
        let source = from_outside.map(|value| format!("; of `{}`, {}", value.text, value.origin));
        return Some(format!("it runs a program: {line}{}", source.unwrap_or_default()));
    }
    if subject.stranger.is_some() {
        return Some(format!("it starts what is no installed application: {}", subject.command_line()));
    }
    if subject.keys.iter().any(|chord| matches_keys("shift+Delete", chord)) {
        return Some("it deletes data permanently".to_owned());
    }
    if !subject.does.activates() {
        return None;
    }
    if subject.presses_return && subject.role.as_deref() == Some(Role::TERMINAL.name()) {
        return Some("it runs a command in a terminal".to_owned());
    }
    pressed(policy, subject)
}

/// Why a person is asked because of what is pressed and what stands around it.
fn pressed(policy: &Policy, subject: &Subject) -> Option<String> {
    // Return in a field presses a button that has another name than the field.
    let labels: &[String] = if subject.is_harmless() { &[] } else { &subject.labels };
    let pressed = PressedLabels::new(labels);
    if subject.does == Does::Drag && pressed.seems(&TRASH) {
        return Some("it is dropped where data is deleted".to_owned());
    }
    if let Some(peril) = pressed.peril(&policy.words).or_else(|| envelope::peril(&pressed)) {
        if subject.drawn_there {
            return Some(format!("{}; “{}” is drawn there", peril.why(), subject.labels.join(" ")));
        }
        let said = subject.surroundings.texts.join(" ");
        let why = envelope::told(subject, peril, peril.why().to_owned());
        if said.is_empty() {
            return Some(why);
        }
        return Some(format!("{why}; the dialog says “{}”", excerpt(&said, SAID_MAX)));
    }
    if let Some(label) = amounts::deletes_named(subject) {
        let why = format!("“{label}” deletes what it names");
        return Some(envelope::told(subject, Peril::Deletes, why));
    }
    if let Some(name) = pressed.poses {
        return Some(format!("its name “{name}” mixes letters of several scripts to look like another one"));
    }
    if subject.surroundings.texts.is_empty() {
        beside_payment(subject, &pressed)
    } else {
        let (peril, why) = answers(subject, &pressed)?;
        Some(envelope::told(subject, peril, why))
    }
}

/// The reason for a question about who is reached.
fn reaches(value: &CommandValue) -> String {
    let reached = match value.kind {
        ValueKind::Host => "it opens a page of",
        ValueKind::Recipient => "it names the recipient",
        ValueKind::Address => "it opens what an address holds or runs,",
        ValueKind::Path | ValueKind::Program | ValueKind::Argument => "it names",
    };
    format!("{reached} `{}`, which the user has not named; {}", value.text, value.origin)
}

/// The labels of what is pressed; none if they are not known.
struct PressedLabels<'a> {
    labels: Vec<Vec<char>>,
    /// Appearance of the labels.
    looks: Vec<NameSkeleton>,
    /// The first that mixes scripts.
    poses: Option<&'a str>,
}

impl<'a> PressedLabels<'a> {
    fn new(labels: &'a [String]) -> Self {
        Self {
            labels: labels.iter().map(|label| folded(label)).collect(),
            looks: labels.iter().map(|label| NameSkeleton::of(label)).collect(),
            poses: labels.iter().map(String::as_str).find(|label| poses(label)),
        }
    }

    /// Returns `true` if it has one of these names. What spares a question goes by the name alone, whatever it looks like.
    fn is(&self, known: &NameGlobs) -> bool {
        self.labels.iter().any(|label| known.have(label))
    }

    /// Returns `true` if it has one of these names, or looks as if it had.
    fn seems(&self, known: &KnownNames) -> bool {
        self.labels.iter().any(|label| known.have(label))
            || self.looks.iter().any(|label| known.look_like(label))
    }

    /// Returns the peril that its labels announce.
    fn peril(&self, words: &SafeGuardLabels) -> Option<Peril> {
        if self.labels.is_empty() {
            return None;
        }
        let known = PERILS.iter().find(|(_, labels)| self.seems(labels)).map(|(peril, _)| *peril);
        let looks = |alike: &Alike| self.looks.iter().any(|label| alike.have(label));
        known.or_else(|| words.peril(&looks))
    }
}

/// Why a person is asked because of a payment in the same window.
fn beside_payment(subject: &Subject, pressed: &PressedLabels<'_>) -> Option<String> {
    let around = &subject.surroundings;
    let field = around.payment.as_ref().filter(|_| subject.submits())?;
    let ends = pressed.is(&CANCELS) || pressed.is(&DECLINES) || pressed.is(&CLOSES);
    (!ends).then(|| format!("it is pressed beside fields for a payment (“{field}”)"))
}

/// Why a person is asked because of the question that it answers.
fn answers(subject: &Subject, pressed: &PressedLabels<'_>) -> Option<(Peril, String)> {
    if pressed.is(&CANCELS) {
        return None;
    }
    let texts = &subject.surroundings.texts;
    let DialogQuestion { perils, asks_to_save } = DialogQuestion::read(texts);
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
    Some((peril, format!("{}; the dialog says “{quoted}”", peril.why())))
}
