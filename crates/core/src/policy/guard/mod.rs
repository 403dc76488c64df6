//! The safe guard: asks before actions that usually cannot be undone.
//!
//! It goes by what is pressed, by the label in the languages of [`labels`], and by what stands around it: the question of a
//! dialog, the fields of a payment, the terminal that a line is typed into, the trash that something is dropped on. And by what the
//! action names: the host of a page or the recipient of a message that the user has not named.
//!
//! Replays have to decide as the session did. So a guard that asks otherwise than before is another [`Edition`].

mod amounts;
mod first;
mod fourth;
mod labels;
mod questions;
mod words;

pub(super) use labels::SAVES;
use labels::{CANCELS, CLOSES, DECLINES, PERILS, Peril, TRASH};
use questions::Question;
pub use words::Words;

use serde::{Deserialize, Serialize};

use super::{
    decision::{Decision, Ruling},
    looks::{Alike, Known, Looks, poses},
    origin::{Origin, Value, ValueKind},
    pattern::{Names, folded, matches_keys},
    rule::Policy,
    subject::Subject,
};
use crate::{
    intent::Does,
    text::{clip, excerpt},
    ui::Role,
};

/// How much of a dialog is quoted, in characters.
const SAID_MAX: usize = 300;

/// Which safe guard judges.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Edition {
    /// By English labels.
    First,
    /// By labels in many languages, by what stands around, and by who is reached.
    Second,
    /// Also by how labels look, by what fields hold when a message is sent, and by where files are written.
    Third,
    /// Also by terminals that tell nothing of themselves, by the applications that it goes to, by recipients without an address, by
    /// what pages and fields for passwords are given.
    Fourth,
    /// The same. What a person approves for the session is the whole action, with the value that it enters.
    Fifth,
    /// Also by who made the file that says what is done, and by where the values go that its steps have read. A text that goes to whatever
    /// has the keyboard after another action is judged by another look.
    #[default]
    Sixth,
}

impl Edition {
    /// The edition of sessions that do not tell theirs.
    pub(super) const fn first() -> Self {
        Self::First
    }

    /// Returns `true` if it takes names that look alike for the same, and looks at what fields and paths amount to.
    pub(crate) const fn is_third(self) -> bool {
        match self {
            Self::First | Self::Second => false,
            Self::Third | Self::Fourth | Self::Fifth | Self::Sixth => true,
        }
    }

    /// Returns `true` if it looks at the whole envelope of what the user asked for.
    pub(crate) const fn is_fourth(self) -> bool {
        match self {
            Self::First | Self::Second | Self::Third => false,
            Self::Fourth | Self::Fifth | Self::Sixth => true,
        }
    }

    /// Returns `true` if an approval for the session covers the whole action.
    pub(crate) const fn is_fifth(self) -> bool {
        match self {
            Self::First | Self::Second | Self::Third | Self::Fourth => false,
            Self::Fifth | Self::Sixth => true,
        }
    }

    /// Returns `true` if it tells the files that this user made from those of strangers, follows the values that their steps read, and looks again
    /// before a text goes to what has the keyboard after another action.
    pub(crate) const fn is_sixth(self) -> bool {
        match self {
            Self::First | Self::Second | Self::Third | Self::Fourth | Self::Fifth => false,
            Self::Sixth => true,
        }
    }
}

pub(super) fn guard(policy: &Policy, subject: &Subject) -> Option<Ruling> {
    let why = match policy.guard {
        Edition::First => first::reason(subject),
        Edition::Second | Edition::Third | Edition::Fourth | Edition::Fifth | Edition::Sixth => {
            reason(policy, subject)
        }
    };
    why.map(|why| Ruling { decision: Decision::Ask, why: format!("safe guard: {why}") })
}

/// Why a person is asked; `None` if nobody is.
fn reason(policy: &Policy, subject: &Subject) -> Option<String> {
    let (third, fourth) = (policy.guard.is_third(), policy.guard.is_fourth());
    if let Some(flow) = &subject.flow {
        return Some(flow.to_string());
    }
    if fourth && let Some(why) = fourth::gives_file(subject) {
        return Some(why);
    }
    if subject.does != Does::Run
        && let Some(value) = subject.values.iter().find(|value| value.reaches_others())
    {
        return Some(reaches(value));
    }
    if third && let Some(why) = amounts::reason(policy, subject) {
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
    if fourth && let Some(why) = fourth::reason(subject) {
        return Some(why);
    }
    if subject.is_harmless(policy.guard) && !subject.presses_return {
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
    let labels: &[String] = if subject.is_harmless(policy.guard) { &[] } else { &subject.labels };
    let pressed = Pressed::new(labels, policy.guard);
    if subject.does == Does::Drag && pressed.seems(&TRASH) {
        return Some("it is dropped where data is deleted".to_owned());
    }
    if let Some(peril) = pressed.peril(&policy.words).or_else(|| fourth::peril(policy.guard, &pressed)) {
        if subject.drawn_there {
            return Some(format!("{}; “{}” is drawn there", peril.why(), subject.labels.join(" ")));
        }
        let said = subject.surroundings.texts.join(" ");
        let why = fourth::told(policy.guard, subject, peril, peril.why().to_owned());
        if said.is_empty() || !policy.guard.is_third() {
            return Some(why);
        }
        return Some(format!("{why}; the dialog says “{}”", excerpt(&said, SAID_MAX)));
    }
    if let Some(label) = amounts::deletes_named(subject).filter(|_| policy.guard.is_third()) {
        let why = format!("“{label}” deletes what it names");
        return Some(fourth::told(policy.guard, subject, Peril::Deletes, why));
    }
    if let Some(name) = pressed.poses {
        return Some(format!("its name “{name}” mixes letters of several scripts to look like another one"));
    }
    if subject.surroundings.texts.is_empty() {
        beside_payment(subject, &pressed, policy.guard)
    } else {
        let (peril, why) = answers(subject, &pressed, policy.guard)?;
        Some(fourth::told(policy.guard, subject, peril, why))
    }
}

/// The reason for a question about who is reached.
fn reaches(value: &Value) -> String {
    let reached = match value.kind {
        ValueKind::Host => "it opens a page of",
        ValueKind::Recipient => "it names the recipient",
        ValueKind::Address => "it opens what an address holds or runs,",
        ValueKind::Path | ValueKind::Program | ValueKind::Argument => "it names",
    };
    format!("{reached} `{}`, which the user has not named; {}", value.text, value.origin)
}

/// The labels of what is pressed; none if they are not known.
struct Pressed<'a> {
    labels: Vec<Vec<char>>,
    /// How they look.
    looks: Vec<Looks>,
    /// The first that mixes scripts.
    poses: Option<&'a str>,
}

impl<'a> Pressed<'a> {
    fn new(labels: &'a [String], edition: Edition) -> Self {
        let looked_at: &[String] = if edition.is_third() { labels } else { &[] };
        Self {
            labels: labels.iter().map(|label| folded(label)).collect(),
            looks: looked_at.iter().map(|label| Looks::of(label)).collect(),
            poses: looked_at.iter().map(String::as_str).find(|label| poses(label)),
        }
    }

    /// Returns `true` if it has one of these names. What spares a question goes by the name alone, whatever it looks like.
    fn is(&self, known: &Names) -> bool {
        self.labels.iter().any(|label| known.have(label))
    }

    /// Returns `true` if it has one of these names, or looks as if it had.
    fn seems(&self, known: &Known) -> bool {
        self.labels.iter().any(|label| known.have(label))
            || self.looks.iter().any(|label| known.look_like(label))
    }

    /// What its labels say that it brings about.
    fn peril(&self, words: &Words) -> Option<Peril> {
        if self.labels.is_empty() {
            return None;
        }
        let known = PERILS.iter().find(|(_, labels)| self.seems(labels)).map(|(peril, _)| *peril);
        let looks = |alike: &Alike| self.looks.iter().any(|label| alike.have(label));
        known.or_else(|| words.peril(&looks))
    }
}

/// Why a person is asked because of a payment in the same window.
fn beside_payment(subject: &Subject, pressed: &Pressed<'_>, edition: Edition) -> Option<String> {
    let around = &subject.surroundings;
    let seems = around.seems_payment.as_ref().filter(|_| edition.is_third());
    let field = around.payment.as_ref().or(seems).filter(|_| subject.submits(edition))?;
    let ends = pressed.is(&CANCELS) || pressed.is(&DECLINES) || pressed.is(&CLOSES);
    (!ends).then(|| format!("it is pressed beside fields for a payment (“{field}”)"))
}

/// Why a person is asked because of the question that it answers.
fn answers(subject: &Subject, pressed: &Pressed<'_>, edition: Edition) -> Option<(Peril, String)> {
    if pressed.is(&CANCELS) {
        return None;
    }
    let texts = &subject.surroundings.texts;
    let Question { perils, asks_to_save } = Question::read(texts, edition);
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
