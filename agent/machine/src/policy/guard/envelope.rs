//! Questions about what leaves the envelope of the user's request, and about lines that are run.

use super::{
    PressedLabels,
    labels::{DELETES_ALL, DELETES_NOTHING, Peril},
};
use crate::policy::subject::Subject;
use deskhand_ui::Role;

/// Why a person is asked about a file that a page gets.
pub(super) fn gives_file(subject: &Subject) -> Option<String> {
    let value = subject.uploads.as_ref()?;
    Some(format!(
        "it gives the file `{}` to a page, which the user has not named; {}",
        value.text, value.origin
    ))
}

/// Why a person is asked; `None` if the other reasons decide.
pub(super) fn reason(subject: &Subject) -> Option<String> {
    let in_terminal = subject.presses_return && subject.role.as_deref() == Some(Role::TERMINAL.name());
    if subject.enters_line && !in_terminal {
        let where_to = &subject.application;
        return Some(format!("it may run a command: {where_to} runs what is entered there"));
    }
    if let Some(value) = &subject.elsewhere {
        return Some(format!(
            "it goes to `{}`, which neither the user nor the plan has named; {}",
            value.text, value.origin
        ));
    }
    subject.fills_password.as_ref().map(|place| {
        format!("it fills in a field for a password with what the user has not said; it stands in {place}")
    })
}

/// What labels bring about that delete only because of what they name: *Remove account*, *Clear all*.
pub(super) fn peril(pressed: &PressedLabels<'_>) -> Option<Peril> {
    let deletes = pressed.seems(&DELETES_ALL) && !pressed.is(&DELETES_NOTHING);
    deletes.then_some(Peril::Deletes)
}

/// The reason for a question about a deletion, with the text from outside that names what is pressed.
pub(super) fn told(subject: &Subject, peril: Peril, why: String) -> String {
    match &subject.told {
        Some(value) if peril == Peril::Deletes => {
            format!("{why}; of “{}”, {}", value.text, value.origin)
        }
        Some(_) | None => why,
    }
}
