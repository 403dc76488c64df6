//! Events without secrets.

use std::collections::{BTreeMap, BTreeSet};

use deskhand_machine::{
    command::CallResult,
    observation::ObserveFailure,
    session::{KeptTexts, Session, SessionEvent, TypedPassword},
};
use deskhand_secret::{SecretValue, Secrets, Veil};
use deskhand_ui::{action::Verdict, ids::ElementId, secret::is_dots};

use crate::options::RunError;

/// An event as it is recorded and applied: without the values of secrets, and with dots in place of the passwords that a reply types.
pub(crate) fn concealed(event: SessionEvent, session: &Session, secrets: &Secrets) -> SessionEvent {
    let event = if let SessionEvent::Replied { mut reply, .. } = event {
        let found = with_kept(secrets, |kept| session.conceal(&mut reply, kept));
        let withheld = found.withheld.into_iter().filter_map(|(dots, text)| {
            secrets.keep_withheld(&dots, &SecretValue::typed(text)?);
            Some(dots)
        });
        let withheld = withheld.collect();
        let passwords = kept_passwords(found.passwords, secrets);
        SessionEvent::Replied { reply, passwords, withheld }
    } else {
        event
    };
    hidden(event, secrets.veil())
}

/// The event that tells what becomes of withheld texts by what another look shows, to be recorded before that look.
pub(crate) fn disclosed(event: &SessionEvent, session: &Session, secrets: &Secrets) -> Option<SessionEvent> {
    let SessionEvent::Observed { observation } = event else { return None };
    let (event, passwords) = with_kept(secrets, |kept| session.disclose(observation, kept))?;
    kept_passwords(passwords, secrets);
    Some(event)
}

fn with_kept<T>(secrets: &Secrets, run: impl FnOnce(&KeptTexts<'_>) -> T) -> T {
    let dots_of = |value: &str| secrets.mark_of_typed(value);
    let value_of = |dots: &str| secrets.withheld(dots).map(|value| value.expose().to_owned());
    run(&KeptTexts { dots_of: &dots_of, value_of: &value_of })
}

fn kept_passwords(found: Vec<(TypedPassword, String)>, secrets: &Secrets) -> Vec<TypedPassword> {
    let found: Vec<_> = with_values(found).collect();
    keep_passwords(&found, secrets);
    found.into_iter().map(|(password, _)| password).collect()
}

/// Hides what a session has typed that is resumed, as it may still be shown: passwords, and secrets by their names with the elements
/// that they went into.
///
/// # Errors
/// A secret of the configuration cannot be read.
pub(crate) async fn hide_typed(
    passwords: &[(TypedPassword, SecretValue)],
    typed: &BTreeMap<String, BTreeSet<ElementId>>,
    secrets: &Secrets,
) -> Result<(), RunError> {
    keep_passwords(passwords, secrets);
    for (name, fields) in typed {
        let revealed = secrets.reveal(name).await;
        // A password that the journal does not have is known no more.
        if is_dots(name) && revealed.is_err() {
            continue;
        }
        revealed.map_err(|reason| RunError::Secret { name: name.clone(), reason })?;
        fields.iter().for_each(|field| secrets.veil().typed_into(field.0, name));
    }
    Ok(())
}

/// Keeps passwords, so that they are hidden and can be typed again.
fn keep_passwords(passwords: &[(TypedPassword, SecretValue)], secrets: &Secrets) {
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
fn hidden(event: SessionEvent, veil: &Veil) -> SessionEvent {
    if veil.is_empty() {
        return event;
    }
    let acts = matches!(event, SessionEvent::Returned { .. });
    veil.hide_in(event).unwrap_or_else(|_| {
        let message = "what came back could not be shown without a secret".to_owned();
        if acts {
            SessionEvent::Returned { result: CallResult::failure(Some(Verdict::Unknown), message) }
        } else {
            SessionEvent::ObserveFailed {
                failure: ObserveFailure { window_gone: false, desktop_gone: false, message },
            }
        }
    })
}
