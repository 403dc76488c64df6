//! Events without secrets.

use deskhand_core::{
    command::{CallResult, Verdict},
    observation::ObserveFailure,
    session::{Event, Session, TypedPassword},
};
use deskhand_secret::{SecretValue, Secrets, Veil};

/// An event as it is recorded and applied: without the values of secrets, and with dots in place of the passwords that a reply types.
pub(crate) fn concealed(event: Event, session: &Session, secrets: &Secrets) -> Event {
    let event = match event {
        Event::Replied { mut reply, .. } => {
            let found = session.conceal(&mut reply, &|value| secrets.mark_of_typed(value));
            let found: Vec<_> = with_values(found).collect();
            keep_passwords(&found, secrets);
            let passwords = found.into_iter().map(|(password, _)| password).collect();
            Event::Replied { reply, passwords }
        }
        other => other,
    };
    hidden(event, secrets.veil())
}

/// Hides the passwords of a session that is resumed.
pub(crate) fn keep_passwords(passwords: &[(TypedPassword, SecretValue)], secrets: &Secrets) {
    for (password, value) in passwords {
        secrets.keep_typed(&password.dots, value, password.everywhere);
    }
}

/// Passwords with their values as such.
pub(crate) fn with_values(
    passwords: Vec<(TypedPassword, String)>,
) -> impl Iterator<Item = (TypedPassword, SecretValue)> {
    passwords.into_iter().filter_map(|(password, value)| Some((password, SecretValue::typed(value)?)))
}

/// An event without the values of secrets. The desktop hides them already; this covers agents, tools, people and errors.
fn hidden(event: Event, veil: &Veil) -> Event {
    if veil.is_empty() {
        return event;
    }
    let acts = matches!(event, Event::Returned { .. });
    veil.hide_in(event).unwrap_or_else(|_| {
        let message = "what came back could not be shown without a secret".to_owned();
        if acts {
            Event::Returned { result: CallResult::failure(Some(Verdict::Unknown), message) }
        } else {
            Event::ObserveFailed {
                failure: ObserveFailure { window_gone: false, desktop_gone: false, message },
            }
        }
    })
}
