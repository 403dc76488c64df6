//! Questions about what an action amounts to, whatever its target is called.

use super::{
    Policy, PressedLabels,
    labels::{CANCELS, CLOSES, DECLINES, DELETES_NAMED, EDITS, MESSAGES, Peril, SAVES},
    pressed,
};
use crate::{intent::Does, policy::subject::Subject};
use deskhand_ui::{
    Role,
    pattern::{folded, matches_keys},
};

/// Why a person is asked; `None` if the other reasons decide.
pub(super) fn reason(policy: &Policy, subject: &Subject) -> Option<String> {
    if let Some(file) = &subject.runs {
        return Some(format!("it opens “{file}”, which is run when it is opened"));
    }
    if subject.feeds_terminal {
        return Some("it may run a command in a terminal".to_owned());
    }
    let typed_into =
        subject.labels.iter().find(|label| MESSAGES.seem(label)).filter(|_| subject.dictated.is_none());
    if let Some(field) = typed_into.filter(|_| subject.presses_return && subject.is_harmless()) {
        return Some(format!("it may send what stands in “{field}”"));
    }
    if subject.deletes_chosen {
        return Some("it deletes what is chosen".to_owned());
    }
    if let Some(file) = &subject.writes_executed {
        return Some(format!("`{file}` is run, or read by what runs, without being opened"));
    }
    if let Some(value) = &subject.opens_secret {
        return Some(format!(
            "it opens `{}`, a place of secrets, which the user has not named; {}",
            value.text, value.origin
        ));
    }
    if let Some(value) = &subject.overwrites {
        let why = "which the user has not named and this session has not saved";
        return Some(format!("it may replace `{}`, {why}; {}", value.text, value.origin));
    }
    if let Some(file) = subject.document.as_ref().filter(|_| subject.document_runs && saves(subject)) {
        return Some(format!("it saves `{file}`, which is run, or read by what runs, without being opened"));
    }
    if let Some(value) =
        subject.standing.iter().find(|value| value.reaches_others()).filter(|_| sends(policy, subject))
    {
        return Some(format!(
            "it may send to `{}`, whom the user has not named; {}",
            value.text, value.origin
        ));
    }
    by_letter(policy, subject).or_else(|| described(policy, subject))
}

/// The label of a button that is named for the thing that it deletes, such as *Delete Bob*.
pub(super) fn deletes_named(subject: &Subject) -> Option<&String> {
    let is_button =
        [Role::PUSH_BUTTON, Role::LINK].iter().any(|role| subject.role.as_deref() == Some(role.name()));
    let names_it = |label: &&String| {
        let label = folded(label);
        DELETES_NAMED.have(&label) && !EDITS.have(&label)
    };
    subject.labels.iter().find(names_it).filter(|_| is_button && subject.does.activates())
}

/// Returns `true` if it saves the document of the window.
fn saves(subject: &Subject) -> bool {
    let names_none = subject.does == Does::Save && subject.paths.is_empty();
    let by_keys = subject.keys.iter().any(|chord| matches_keys("ctrl+s", chord));
    let by_letter = subject.may_press.iter().any(|one| SAVES.seem(&one.name));
    names_none
        || by_keys
        || by_letter
        || (subject.does.activates() && subject.labels.iter().any(|label| SAVES.seem(label)))
}

/// Returns `true` if it may send the message of the window: by the label of the button, by keys, or by any button of a page, which calls its
/// buttons as it likes.
fn sends(policy: &Policy, subject: &Subject) -> bool {
    if !subject.does.activates() {
        return false;
    }
    let by_keys = subject.keys.iter().any(|chord| matches_keys("ctrl+Return|ctrl+shift+Return", chord));
    let labels = subject.labels.iter().chain(subject.may_press.iter().map(|one| &one.name));
    let labels: Vec<String> = labels.cloned().collect();
    let pressed = PressedLabels::new(&labels);
    if by_keys || pressed.peril(&policy.words) == Some(Peril::Sends) {
        return by_keys || !subject.is_harmless();
    }
    let in_page = subject.elements.first().is_some_and(|one| one.in_page);
    let ends = pressed.is(&CANCELS) || pressed.is(&DECLINES) || pressed.is(&CLOSES);
    in_page && !ends && !subject.presses_return && subject.submits()
}

/// Why a letter key needs approval: it presses the button whose mnemonic it is. Applications do not expose mnemonics, so every button whose
/// label contains the letter counts.
fn by_letter(policy: &Policy, subject: &Subject) -> Option<String> {
    subject.may_press.iter().find_map(|one| {
        let alone = Subject {
            does: Does::Press,
            role: Some(one.role.to_string()),
            labels: vec![one.name.clone()],
            surroundings: one.surroundings.clone(),
            ..Subject::default()
        };
        let why = pressed(policy, &alone)?;
        Some(format!("{why}; it may press “{}”", one.name))
    })
}

/// A button may say what it does in its tooltip alone.
fn described(policy: &Policy, subject: &Subject) -> Option<String> {
    if subject.is_harmless() || !subject.does.activates() {
        return None;
    }
    let said = PressedLabels::new(&subject.descriptions);
    said.peril(&policy.words).map(|peril| format!("{}, as its description says", peril.why()))
}
